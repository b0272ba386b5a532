//! Choices made by the bytes of the input; after its end the first possibility is taken.

use arbitrary::Unstructured;

/// A source of choices.
#[derive(Debug)]
pub(crate) struct Choices<'a>(Unstructured<'a>);

impl<'a> Choices<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(Unstructured::new(data))
    }

    /// A number below `count`; 0 where `count` is 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        match count {
            0 | 1 => 0,
            _ => self.0.int_in_range(0..=count - 1).unwrap_or(0),
        }
    }

    /// One of the entries.
    pub(crate) fn of<T: Copy>(&mut self, entries: &[T]) -> Option<T> {
        let index = self.below(entries.len());
        entries.get(index).copied()
    }

    /// One of the entries, or `first` if there is none.
    pub(crate) fn of_or<T: Copy>(&mut self, entries: &[T], first: T) -> T {
        self.of(entries).unwrap_or(first)
    }

    /// True once in `count` times.
    pub(crate) fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == count.saturating_sub(1) && count > 0
    }

    pub(crate) fn u8(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub(crate) fn u32(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub(crate) fn u64(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }
}
