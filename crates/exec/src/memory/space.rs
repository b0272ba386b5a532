//! Byte-addressed storage: words that many threads share, and plain bytes of one thread.

use super::atomic::AtomicElement;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use visakit_isa::semantics::AtomicOp;

/// Bytes that messages read and write, little endian, at byte offsets.
///
/// The caller has checked the bounds. Where it has not, reads give zeroes and writes do nothing.
pub(crate) trait Space {
    /// Number of bytes.
    fn len(&self) -> usize;
    /// Fills `out` with the bytes from `at` on.
    fn read(&self, at: usize, out: &mut [u8]);
    /// Writes `data` from `at` on.
    fn write(&mut self, at: usize, data: &[u8]);
    /// The dword at `at`, of any alignment.
    fn load32(&self, at: usize) -> u32;
    /// Replaces the dword at `at`, of any alignment.
    fn store32(&mut self, at: usize, value: u32);
    /// Atomic operation on an aligned word. Gives what the message returns.
    fn atomic16(&mut self, at: usize, op: AtomicOp, a: u16, b: u16) -> u16;
    /// Atomic operation on an aligned dword.
    fn atomic32(&mut self, at: usize, op: AtomicOp, a: u32, b: u32) -> u32;
    /// Atomic operation on an aligned qword.
    fn atomic64(&mut self, at: usize, op: AtomicOp, a: u64, b: u64) -> u64;
}

/// The locks that stand in for 64-bit atomic words.
#[derive(Debug)]
pub(crate) struct Locks([Mutex<()>; 64]);

impl Default for Locks {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl Locks {
    fn lock(&self, words: &[AtomicU32], word: usize) -> Option<MutexGuard<'_, ()>> {
        // Neighbouring qwords get different locks, and so do the same places of two buffers mostly.
        let buffer = words.as_ptr().addr() >> 12;
        let lock = self.0.get((word / 2).wrapping_add(buffer) % 64)?;
        // The lock protects no invariant of its own: a panic elsewhere does not spoil it.
        Some(lock.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Words shared by all threads. Plain accesses are relaxed: the order of accesses to different
/// words is what barriers and joins of threads make it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) words: &'a [AtomicU32],
    pub(crate) bytes: usize,
    /// Bytes that may be read: those after the end are zeroes.
    pub(crate) readable: usize,
    pub(crate) locks: &'a Locks,
}

/// Replaces the bits of `mask` in a word.
fn merge(word: &AtomicU32, mask: u32, value: u32) {
    // Another thread may be writing other bytes of the same word.
    let mut old = word.load(Relaxed);
    while let Err(now) =
        word.compare_exchange_weak(old, old & !mask | value & mask, Relaxed, Relaxed)
    {
        old = now;
    }
}

impl Shared<'_> {
    #[inline]
    fn word(&self, index: usize) -> u32 {
        self.words.get(index).map_or(0, |w| w.load(Relaxed))
    }
}

impl Space for Shared<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.bytes
    }

    #[inline]
    fn read(&self, at: usize, mut out: &mut [u8]) {
        let mut index = at >> 2;
        let head = at & 3;
        if head != 0 {
            let bytes = self.word(index).to_le_bytes();
            let rest = bytes.get(head..).unwrap_or_default();
            let count = rest.len().min(out.len());
            let (first, tail) = out.split_at_mut(count);
            first.copy_from_slice(rest.get(..count).unwrap_or_default());
            out = tail;
            index += 1;
        }
        let words = self.words.get(index..).unwrap_or_default();
        let (chunks, rest) = out.as_chunks_mut::<4>();
        for (chunk, word) in chunks.iter_mut().zip(words) {
            *chunk = word.load(Relaxed).to_le_bytes();
        }
        if let Some(word) = words.get(chunks.len()) {
            for (to, from) in rest.iter_mut().zip(word.load(Relaxed).to_le_bytes()) {
                *to = from;
            }
        }
    }

    #[inline]
    fn write(&mut self, at: usize, mut data: &[u8]) {
        let mut index = at >> 2;
        let head = at & 3;
        if head != 0 {
            let count = (4 - head).min(data.len());
            let (first, tail) = data.split_at(count);
            store_part(self.words.get(index), head, first);
            data = tail;
            index += 1;
        }
        let words = self.words.get(index..).unwrap_or_default();
        let (chunks, rest) = data.as_chunks::<4>();
        for (chunk, word) in chunks.iter().zip(words) {
            word.store(u32::from_le_bytes(*chunk), Relaxed);
        }
        if !rest.is_empty() {
            store_part(words.get(chunks.len()), 0, rest);
        }
    }

    #[inline]
    fn load32(&self, at: usize) -> u32 {
        let index = at >> 2;
        match at & 3 {
            0 => self.word(index),
            shift => {
                let pair = u64::from(self.word(index)) | u64::from(self.word(index + 1)) << 32;
                low(pair >> (shift * 8))
            }
        }
    }

    #[inline]
    fn store32(&mut self, at: usize, value: u32) {
        if at & 3 == 0 {
            if let Some(word) = self.words.get(at >> 2) {
                word.store(value, Relaxed);
            }
        } else {
            self.write(at, &value.to_le_bytes());
        }
    }

    fn atomic16(&mut self, at: usize, op: AtomicOp, a: u16, b: u16) -> u16 {
        let Some(word) = self.words.get(at >> 2) else {
            return 0;
        };
        let shift = (at & 2) * 8;
        let mut old = word.load(Relaxed);
        loop {
            #[expect(clippy::cast_possible_truncation, reason = "the addressed half")]
            let half = (old >> shift) as u16;
            let new = u16::apply(op, half, a, b);
            let merged = old & !(0xffff << shift) | u32::from(new) << shift;
            match word.compare_exchange_weak(old, merged, Relaxed, Relaxed) {
                Ok(_) => return u16::returned(op, half, new),
                Err(now) => old = now,
            }
        }
    }

    #[inline]
    fn atomic32(&mut self, at: usize, op: AtomicOp, a: u32, b: u32) -> u32 {
        let Some(word) = self.words.get(at >> 2) else {
            return 0;
        };
        match op {
            AtomicOp::Load => word.load(Relaxed),
            AtomicOp::Store => word.swap(a, Relaxed),
            AtomicOp::Add => word.fetch_add(a, Relaxed),
            AtomicOp::Sub => word.fetch_sub(a, Relaxed),
            AtomicOp::Increment => word.fetch_add(1, Relaxed),
            AtomicOp::Decrement => word.fetch_sub(1, Relaxed),
            AtomicOp::PreDecrement => word.fetch_sub(1, Relaxed).wrapping_sub(1),
            AtomicOp::UnsignedMin => word.fetch_min(a, Relaxed),
            AtomicOp::UnsignedMax => word.fetch_max(a, Relaxed),
            AtomicOp::And => word.fetch_and(a, Relaxed),
            AtomicOp::Or => word.fetch_or(a, Relaxed),
            AtomicOp::Xor => word.fetch_xor(a, Relaxed),
            AtomicOp::CompareExchange => match word.compare_exchange(a, b, Relaxed, Relaxed) {
                Ok(old) | Err(old) => old,
            },
            _ => {
                let mut old = word.load(Relaxed);
                loop {
                    let new = u32::apply(op, old, a, b);
                    match word.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                        Ok(_) => return old,
                        Err(now) => old = now,
                    }
                }
            }
        }
    }

    fn atomic64(&mut self, at: usize, op: AtomicOp, a: u64, b: u64) -> u64 {
        let index = at >> 2;
        let (Some(first), Some(second)) = (self.words.get(index), self.words.get(index + 1)) else {
            return 0;
        };
        let _guard = self.locks.lock(self.words, index);
        let old = u64::from(first.load(Relaxed)) | u64::from(second.load(Relaxed)) << 32;
        let new = u64::apply(op, old, a, b);
        first.store(low(new), Relaxed);
        second.store(low(new >> 32), Relaxed);
        u64::returned(op, old, new)
    }
}

fn store_part(word: Option<&AtomicU32>, head: usize, data: &[u8]) {
    let Some(word) = word else { return };
    let (mut mask, mut value) = (0, 0);
    for (i, byte) in data.iter().enumerate() {
        let shift = (head + i) * 8;
        mask |= 0xff << shift;
        value |= u32::from(*byte) << shift;
    }
    merge(word, mask, value);
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is asked for")]
#[inline]
fn low(value: u64) -> u32 {
    value as u32
}

/// Bytes that only one thread sees.
#[derive(Debug)]
pub(crate) struct Plain<'a>(pub(crate) &'a mut [u8]);

impl Plain<'_> {
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0
            .get(at..)
            .and_then(|s| s.first_chunk())
            .copied()
            .unwrap_or([0; N])
    }

    fn put<const N: usize>(&mut self, at: usize, value: [u8; N]) {
        if let Some(place) = self.0.get_mut(at..).and_then(|s| s.first_chunk_mut()) {
            *place = value;
        }
    }
}

impl Space for Plain<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn read(&self, at: usize, out: &mut [u8]) {
        if let Some(bytes) = self.0.get(at..).and_then(|s| s.get(..out.len())) {
            out.copy_from_slice(bytes);
        }
    }

    #[inline]
    fn write(&mut self, at: usize, data: &[u8]) {
        if let Some(place) = self.0.get_mut(at..).and_then(|s| s.get_mut(..data.len())) {
            place.copy_from_slice(data);
        }
    }

    #[inline]
    fn load32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    #[inline]
    fn store32(&mut self, at: usize, value: u32) {
        self.put(at, value.to_le_bytes());
    }

    fn atomic16(&mut self, at: usize, op: AtomicOp, a: u16, b: u16) -> u16 {
        let old = u16::from_le_bytes(self.array(at));
        let new = u16::apply(op, old, a, b);
        self.put(at, new.to_le_bytes());
        u16::returned(op, old, new)
    }

    fn atomic32(&mut self, at: usize, op: AtomicOp, a: u32, b: u32) -> u32 {
        let old = u32::from_le_bytes(self.array(at));
        let new = u32::apply(op, old, a, b);
        self.put(at, new.to_le_bytes());
        u32::returned(op, old, new)
    }

    fn atomic64(&mut self, at: usize, op: AtomicOp, a: u64, b: u64) -> u64 {
        let old = u64::from_le_bytes(self.array(at));
        let new = u64::apply(op, old, a, b);
        self.put(at, new.to_le_bytes());
        u64::returned(op, old, new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<AtomicU32> {
        let (chunks, _) = bytes.as_chunks::<4>();
        chunks
            .iter()
            .map(|c| AtomicU32::new(u32::from_le_bytes(*c)))
            .collect()
    }

    /// Both kinds of storage do the same at every offset and length.
    #[test]
    fn shared_is_plain() {
        let start: Vec<u8> = (0..32).collect();
        let locks = Locks::default();
        for at in 0..14usize {
            for len in 0..12usize {
                let words = words(&start);
                let mut shared = Shared {
                    words: &words,
                    bytes: 32,
                    readable: 32,
                    locks: &locks,
                };
                let mut bytes = start.clone();
                let mut plain = Plain(&mut bytes);
                let data: Vec<u8> = (0xa0..).take(len).collect();
                shared.write(at, &data);
                plain.write(at, &data);
                shared.store32(at + 3, 0x1234_5678);
                plain.store32(at + 3, 0x1234_5678);
                assert_eq!(shared.load32(at + 1), plain.load32(at + 1));
                let mut one = vec![0; len + 5];
                let mut two = vec![0; len + 5];
                shared.read(at + 1, &mut one);
                plain.read(at + 1, &mut two);
                assert_eq!(one, two);
                let place = at & !7;
                for op in [
                    AtomicOp::Load,
                    AtomicOp::Store,
                    AtomicOp::Add,
                    AtomicOp::Sub,
                    AtomicOp::Increment,
                    AtomicOp::Decrement,
                    AtomicOp::PreDecrement,
                    AtomicOp::UnsignedMin,
                    AtomicOp::UnsignedMax,
                    AtomicOp::SignedMin,
                    AtomicOp::SignedMax,
                    AtomicOp::CompareExchange,
                    AtomicOp::And,
                    AtomicOp::Or,
                    AtomicOp::Xor,
                    AtomicOp::FloatAdd,
                    AtomicOp::FloatMax,
                ] {
                    assert_eq!(
                        shared.atomic32(place, op, 0x0302_0100, 9),
                        plain.atomic32(place, op, 0x0302_0100, 9),
                        "{op:?}"
                    );
                    assert_eq!(
                        shared.atomic16(place + 2, op, 0x0302, 9),
                        plain.atomic16(place + 2, op, 0x0302, 9),
                        "{op:?}"
                    );
                    assert_eq!(
                        shared.atomic64(place, op, 0x0302_0100, 9),
                        plain.atomic64(place, op, 0x0302_0100, 9),
                        "{op:?}"
                    );
                }
                let mut all = [0; 32];
                shared.read(0, &mut all);
                assert_eq!(all.as_slice(), plain.0);
            }
        }
    }

    #[test]
    fn outside_does_nothing() {
        let locks = Locks::default();
        let words = words(&[1, 2, 3, 4]);
        let mut shared = Shared {
            words: &words,
            bytes: 4,
            readable: 4,
            locks: &locks,
        };
        shared.write(6, &[9; 8]);
        shared.store32(usize::MAX & !3, 9);
        assert_eq!(shared.load32(8), 0);
        assert_eq!(shared.atomic32(4, AtomicOp::Add, 1, 0), 0);
        assert_eq!(shared.atomic64(4, AtomicOp::Add, 1, 0), 0);
        assert_eq!(shared.load32(0), 0x0403_0201);
    }
}
