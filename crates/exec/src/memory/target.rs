//! Resolves an address of a message: a place in some storage, or outside of it.

use super::Memory;
use super::space::{Shared, Space};

/// The storage addressed by one message.
pub(crate) trait Target {
    /// The storage.
    type Space: Space;

    /// Finds `bytes` bytes at `address`. `None` if any of them lies outside.
    fn locate(&mut self, address: u64, bytes: u64) -> Option<(&mut Self::Space, usize)>;

    /// Finds `bytes` bytes at each address, all of them in one storage. Returns what to subtract from
    /// an address, or `None` if they are not.
    fn all(&mut self, addresses: &[u64], bytes: u64) -> Option<(&mut Self::Space, u64)>;

    /// Whether reads outside return zero and writes are dropped; otherwise they are a fault.
    fn drops(&self) -> bool;
}

/// 64-bit addresses into global memory. Remembers the buffer of the last one.
#[derive(Debug)]
pub(crate) struct Flat<'a> {
    memory: &'a Memory,
    base: u64,
    last: Shared<'a>,
}

impl<'a> Flat<'a> {
    #[inline]
    pub(crate) fn new(memory: &'a Memory, first: u64) -> Self {
        match memory.at(first) {
            Some((base, last)) => Self { memory, base, last },
            None => Self {
                memory,
                base: 0,
                last: memory.nothing(),
            },
        }
    }
}

impl<'a> Target for Flat<'a> {
    type Space = Shared<'a>;

    #[inline]
    fn drops(&self) -> bool {
        self.memory.is_lenient()
    }

    #[inline]
    fn locate(&mut self, address: u64, bytes: u64) -> Option<(&mut Shared<'a>, usize)> {
        let mut at = address.wrapping_sub(self.base);
        if !inside(at, bytes, self.last.room) {
            (self.base, self.last) = self.memory.at(address)?;
            at = address.wrapping_sub(self.base);
            if !inside(at, bytes, self.last.room) {
                return None;
            }
        }
        let at = usize::try_from(at).ok()?;
        Some((&mut self.last, at))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn all(&mut self, addresses: &[u64], bytes: u64) -> Option<(&mut Shared<'a>, u64)> {
        all_inside(addresses, self.base, bytes, self.last.room)
            .then_some((&mut self.last, self.base))
    }
}

/// Whether `bytes` bytes at each address lie within `len` bytes from `base` on.
#[cfg_attr(not(debug_assertions), inline(always))]
fn all_inside(addresses: &[u64], base: u64, bytes: u64, len: usize) -> bool {
    let Some(room) = (len as u64).checked_sub(bytes) else {
        return false;
    };
    let outside = |outside, address: &u64| outside | (address.wrapping_sub(base) > room);
    !addresses.iter().fold(false, outside)
}

#[inline]
fn inside(at: u64, bytes: u64, len: usize) -> bool {
    at < len as u64 && len as u64 - at >= bytes
}

/// Offsets into a surface, into shared local memory or into scratch.
#[derive(Debug)]
pub(crate) struct Window<S> {
    /// The storage.
    pub(crate) space: S,
    /// Where the window starts.
    pub(crate) start: usize,
    /// Its size.
    pub(crate) bytes: usize,
}

impl<S: Space> Window<S> {
    /// All of a storage.
    pub(crate) fn whole(space: S) -> Self {
        let bytes = space.len();
        Self {
            space,
            start: 0,
            bytes,
        }
    }
}

impl<S: Space> Target for Window<S> {
    type Space = S;

    #[inline]
    fn drops(&self) -> bool {
        true
    }

    #[inline]
    fn locate(&mut self, address: u64, bytes: u64) -> Option<(&mut S, usize)> {
        if !inside(address, bytes, self.bytes) {
            return None;
        }
        let at = usize::try_from(address).ok()? + self.start;
        Some((&mut self.space, at))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn all(&mut self, addresses: &[u64], bytes: u64) -> Option<(&mut S, u64)> {
        let start = self.start as u64;
        all_inside(addresses, 0, bytes, self.bytes)
            .then_some((&mut self.space, start.wrapping_neg()))
    }
}
