//! Byte-addressed storage: words that many threads share, and plain bytes of one thread.

use super::atomic::AtomicElement;
use bytemuck::{Pod, bytes_of, bytes_of_mut};
use std::sync::atomic::Ordering::Relaxed;
use visakit_isa::semantics::AtomicOp;
use visakit_storage::{Storage, U16, U32, U64};

/// Bytes that messages read and write, little endian, at byte offsets.
///
/// The caller has checked the bounds. Otherwise reads return zeroes and writes do nothing.
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
    /// The element at `at`, of any alignment.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn element<E: Pod>(&self, at: usize) -> E {
        let mut element = E::zeroed();
        let bytes = bytes_of_mut(&mut element);
        match bytes.as_chunks_mut().0 {
            [word] if size_of::<E>() == 4 => *word = self.load32(at).to_le_bytes(),
            _ => self.read(at, bytes),
        }
        element
    }
    /// Replaces the element at `at`, of any alignment.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn set_element<E: Pod>(&mut self, at: usize, element: E) {
        let bytes = bytes_of(&element);
        match bytes.as_chunks().0 {
            [word] if size_of::<E>() == 4 => self.store32(at, u32::from_le_bytes(*word)),
            _ => self.write(at, bytes),
        }
    }
    /// Atomic operation on an aligned word. Returns the message's result.
    fn atomic16(&mut self, at: usize, op: AtomicOp, a: u16, b: u16) -> u16;
    /// Atomic operation on an aligned dword.
    fn atomic32(&mut self, at: usize, op: AtomicOp, a: u32, b: u32) -> u32;
    /// Atomic operation on an aligned qword.
    fn atomic64(&mut self, at: usize, op: AtomicOp, a: u64, b: u64) -> u64;
}

/// Storage shared by all threads. Plain accesses are relaxed: accesses to different words are ordered only by barriers,
/// fences and joins of threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) storage: &'a Storage,
    pub(crate) bytes: usize,
    /// Bytes that may be accessed by address: to the end of the last page.
    pub(crate) room: usize,
}

/// An atomic operation on a word of the storage: a host instruction if there is one, otherwise a loop.
macro_rules! atomic {
    ($word:ident, $element:ident, $op:ident, $a:ident, $b:ident) => {
        match $op {
            AtomicOp::Load => $word.load(Relaxed),
            AtomicOp::Store => $word.swap($a, Relaxed),
            AtomicOp::Add => $word.fetch_add($a, Relaxed),
            AtomicOp::Sub => $word.fetch_sub($a, Relaxed),
            AtomicOp::Increment => $word.fetch_add(1, Relaxed),
            AtomicOp::Decrement => $word.fetch_sub(1, Relaxed),
            AtomicOp::UnsignedMin => $word.fetch_min($a, Relaxed),
            AtomicOp::UnsignedMax => $word.fetch_max($a, Relaxed),
            AtomicOp::And => $word.fetch_and($a, Relaxed),
            AtomicOp::Or => $word.fetch_or($a, Relaxed),
            AtomicOp::Xor => $word.fetch_xor($a, Relaxed),
            AtomicOp::CompareExchange => match $word.compare_exchange($a, $b, Relaxed, Relaxed) {
                Ok(old) | Err(old) => old,
            },
            _ => {
                let mut old = $word.load(Relaxed);
                loop {
                    let new = $element::apply($op, old, $a, $b);
                    match $word.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                        Ok(_) => return $element::returned($op, old, new),
                        Err(now) => old = now,
                    }
                }
            }
        }
    };
}

/// An atomic operation where the word is not aligned because its surface is not: right for one thread, as no host has more to
/// offer.
macro_rules! unaligned {
    ($space:ident, $at:ident, $element:ident, $op:ident, $a:ident, $b:ident) => {{
        let mut bytes = $element::to_le_bytes(0);
        if !$space.storage.read($at, &mut bytes) {
            return 0;
        }
        let old = $element::from_le_bytes(bytes);
        let new = $element::apply($op, old, $a, $b);
        $space.storage.write($at, &new.to_le_bytes());
        $element::returned($op, old, new)
    }};
}

impl Space for Shared<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.bytes
    }

    #[inline]
    fn read(&self, at: usize, out: &mut [u8]) {
        self.storage.read(at, out);
    }

    #[inline]
    fn write(&mut self, at: usize, data: &[u8]) {
        self.storage.write(at, data);
    }

    #[inline]
    fn load32(&self, at: usize) -> u32 {
        if let Some(word) = self.storage.word::<U32>(at) {
            return word.load(Relaxed);
        }
        let mut bytes = [0; 4];
        self.storage.read(at, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    #[inline]
    fn store32(&mut self, at: usize, value: u32) {
        if let Some(word) = self.storage.word::<U32>(at) {
            return word.store(value, Relaxed);
        }
        self.storage.write(at, &value.to_le_bytes());
    }

    fn atomic16(&mut self, at: usize, op: AtomicOp, a: u16, b: u16) -> u16 {
        let Some(word) = self.storage.word::<U16>(at) else {
            return unaligned!(self, at, u16, op, a, b);
        };
        atomic!(word, u16, op, a, b)
    }

    #[inline]
    fn atomic32(&mut self, at: usize, op: AtomicOp, a: u32, b: u32) -> u32 {
        let Some(word) = self.storage.word::<U32>(at) else {
            return unaligned!(self, at, u32, op, a, b);
        };
        atomic!(word, u32, op, a, b)
    }

    fn atomic64(&mut self, at: usize, op: AtomicOp, a: u64, b: u64) -> u64 {
        let Some(word) = self.storage.word::<U64>(at) else {
            return unaligned!(self, at, u64, op, a, b);
        };
        atomic!(word, u64, op, a, b)
    }
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

    fn storage(bytes: &[u8]) -> Storage {
        let storage = Storage::zeroed(bytes.len()).unwrap();
        assert!(storage.write(0, bytes));
        storage
    }

    /// Both kinds of storage do the same at every offset and length.
    #[test]
    fn shared_is_plain() {
        let start: Vec<u8> = (0..32).collect();
        for at in 0..14usize {
            for len in 0..12usize {
                let storage = storage(&start);
                let mut shared = Shared {
                    storage: &storage,
                    bytes: 32,
                    room: 32,
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
                        shared.atomic32(at, op, 0x0302_0100, 9),
                        plain.atomic32(at, op, 0x0302_0100, 9),
                        "{op:?}"
                    );
                    assert_eq!(
                        shared.atomic16(at + 2, op, 0x0302, 9),
                        plain.atomic16(at + 2, op, 0x0302, 9),
                        "{op:?}"
                    );
                    assert_eq!(
                        shared.atomic64(at, op, 0x0302_0100, 9),
                        plain.atomic64(at, op, 0x0302_0100, 9),
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
        let storage = storage(&[1, 2, 3, 4]);
        let mut shared = Shared {
            storage: &storage,
            bytes: 4,
            room: 4,
        };
        shared.write(6, &[9; 8]);
        shared.store32(usize::MAX & !3, 9);
        assert_eq!(shared.load32(8), 0);
        assert_eq!(shared.atomic32(4, AtomicOp::Add, 1, 0), 0);
        assert_eq!(shared.atomic64(4, AtomicOp::Add, 1, 0), 0);
        assert_eq!(shared.load32(0), 0x0403_0201);
    }
}
