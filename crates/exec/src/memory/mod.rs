//! Memory outside of the registers.

/// A buffer of a [`Memory`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BufferId(pub u32);

/// Global memory: buffers, surfaces and samplers.
#[derive(Debug, Default)]
pub struct Memory {}

/// The memory that belongs to one group and one of its threads while that thread runs.
#[derive(Debug)]
pub(crate) struct Local<'a> {
    /// Shared local memory of the group.
    pub(crate) slm: &'a mut [u8],
    /// Scratch memory of the thread.
    pub(crate) scratch: &'a mut [u8],
}
