//! Extents: where the header locates routines and native binaries.

use visakit_isa::object::RoutineId;

/// Part of the file that an entry of the header points to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ExtentId {
    /// A routine.
    Routine(RoutineId),
    /// A native binary of a kernel.
    Binary {
        /// Place of the kernel in its table.
        kernel: usize,
        /// Place of the binary in the kernel's list.
        index: usize,
    },
}

/// The extent of a routine or of a native binary in the file, as the header states it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The content of the extent.
    pub id: ExtentId,
    /// Offset from the start of the file.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Offset of the input list from the start of the file; kernels only.
    pub input_offset: Option<u32>,
    /// The offset of the header entry that states it.
    pub stated_at: u64,
}

impl Extent {
    pub(crate) const fn end(&self) -> u64 {
        self.offset as u64 + self.size as u64
    }
}
