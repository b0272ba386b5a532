//! Memory of a work-group and of a thread.

use super::space::Plain;

/// The memory that belongs to one group and one of its threads while that thread runs.
///
/// As in hardware, accesses past the end read zeroes and write nothing.
#[derive(Debug)]
pub(crate) struct Local<'a> {
    /// Shared local memory of the group.
    pub(crate) slm: &'a mut [u8],
    /// Scratch memory of the thread.
    pub(crate) scratch: &'a mut [u8],
}

impl Local<'_> {
    /// The bits of an address into shared local memory that count. Compilers put tags into the
    /// upper ones.
    pub(crate) const SLM_MASK: u64 = 0x0fff_ffff;

    pub(crate) fn slm(&mut self) -> Plain<'_> {
        Plain(self.slm)
    }

    pub(crate) fn scratch(&mut self) -> Plain<'_> {
        Plain(self.scratch)
    }
}
