//! Extents: where routines and native binaries are in the file.

use alloc::vec::Vec;
use visakit_isa::object::{Object, RoutineId, RoutineKind};
use visakit_isa::wire::Derived;

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

impl ExtentId {
    /// The routine, or the kernel of the binary.
    #[must_use]
    pub const fn routine(self) -> RoutineId {
        match self {
            Self::Routine(id) => id,
            Self::Binary { kernel, .. } => RoutineId::new(RoutineKind::Kernel, kernel),
        }
    }
}

/// The extent of a routine or of a native binary in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The content of the extent.
    pub id: ExtentId,
    /// Offset from the start of the file, as the header states it.
    pub offset: u32,
    /// Bytes in the file: the stated size, unless the rest of the file contradicts it; 0 if not held.
    pub size: u32,
    /// Size in bytes, as the header states it.
    pub stated_size: u32,
    /// Whether the file has bytes for it. Entries without code claim no place, and those of damaged files may claim one
    /// outside of the file or inside of another extent.
    pub held: bool,
    /// Offset of the input list from the start of the file, as the header states it; kernels only.
    pub input_offset: Option<u32>,
    /// The offset of the header entry that states it.
    pub stated_at: u64,
}

impl Extent {
    /// The offset of the first byte after it.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset as u64 + self.size as u64
    }

    pub(crate) const fn stated_end(&self) -> u64 {
        self.offset as u64 + self.stated_size as u64
    }
}

/// Pairs the derived numbers of the header with the entries they describe, in the order of the layout.
pub(crate) fn stated(header: &Object<'_>, derived: &[(Derived, u32, u64)]) -> Vec<Extent> {
    let mut extents = Vec::new();
    let mut numbers = derived.iter().peekable();
    let mut take = |what: Derived| {
        numbers
            .next_if(|(d, _, _)| *d == what)
            .map(|(_, number, at)| (*number, *at))
    };
    for (id, routine) in header.routines() {
        let Some((offset, stated_at)) = take(Derived::RoutineOffset) else {
            break;
        };
        let stated_size = take(Derived::RoutineSize).map_or(0, |(n, _)| n);
        let input_offset = take(Derived::InputOffset).map(|(n, _)| n);
        extents.push(Extent {
            id: ExtentId::Routine(id),
            offset,
            size: 0,
            stated_size,
            held: false,
            input_offset,
            stated_at,
        });
        for index in 0..routine.binaries.len() {
            let Some((offset, stated_at)) = take(Derived::BinaryOffset) else {
                break;
            };
            let stated_size = take(Derived::BinarySize).map_or(0, |(n, _)| n);
            extents.push(Extent {
                id: ExtentId::Binary {
                    kernel: id.index,
                    index,
                },
                offset,
                size: 0,
                stated_size,
                held: false,
                input_offset: None,
                stated_at,
            });
        }
    }
    extents
}
