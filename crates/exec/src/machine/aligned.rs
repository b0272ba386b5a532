//! Bytes that machine code accesses as vectors.

use bytemuck::{Pod, Zeroable};
use std::collections::TryReserveError;
use std::ops::{Deref, DerefMut};

/// Bytes that are aligned for the widest vectors of the host, so that no access to an aligned place crosses a cache line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Aligned {
    lines: Vec<Line>,
    bytes: usize,
}

/// A line of the host's cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl Aligned {
    /// Takes this content, in the memory that it has where that will do.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn fill(&mut self, content: &[u8]) -> Result<(), TryReserveError> {
        self.zero(content.len())?;
        self.copy_from_slice(content);
        Ok(())
    }

    /// Becomes this many zeroes, in the memory that it has where that will do.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn zero(&mut self, bytes: usize) -> Result<(), TryReserveError> {
        let lines = bytes.div_ceil(size_of::<Line>());
        self.bytes = 0;
        self.lines.clear();
        self.lines.try_reserve_exact(lines)?;
        self.lines.resize(lines, Line::zeroed());
        self.bytes = bytes;
        Ok(())
    }
}

impl Deref for Aligned {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let bytes = bytemuck::cast_slice(&self.lines);
        bytes.get(..self.bytes).unwrap_or(bytes)
    }
}

impl DerefMut for Aligned {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        let bytes = bytemuck::cast_slice_mut(&mut self.lines);
        let count = self.bytes.min(bytes.len());
        bytes.get_mut(..count).unwrap_or_default()
    }
}

#[cfg(test)]
impl From<&[u8]> for Aligned {
    fn from(content: &[u8]) -> Self {
        let mut all = Self::default();
        all.fill(content).expect("there is memory");
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_at_a_line_whatever_its_size() {
        let mut all = Aligned::default();
        for bytes in [100, 0, 64, 1, 300] {
            all.fill(&vec![7; bytes]).unwrap();
            assert_eq!(*all, vec![7; bytes]);
            assert_eq!(all.as_ptr().align_offset(64), 0);
            all.zero(bytes).unwrap();
            assert_eq!(*all, vec![0; bytes]);
        }
    }
}
