//! The pieces of a file in their order.

use crate::container::Container;
use crate::extent::{Extent, ExtentId};
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Range;
use visakit_isa::object::{Arrangement, Object, Piece, RoutineKind};

/// A part of the file after its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The content of the part.
    pub id: PartId,
    /// Its bytes, from the start of the file.
    pub range: Range<u64>,
}

/// The content of a part of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartId {
    /// A routine or native code.
    Extent(Extent),
    /// Bytes that belong to nothing. Found in damaged files only.
    Filler,
    /// One to three zero bytes at the end, as in an array of words or dwords.
    Padding,
}

impl<'a> Container<'a> {
    /// The parts of the file after its header, in file order. They cover it.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        let mut held: Vec<&Extent> = self.extents().iter().filter(|e| e.held).collect();
        held.sort_by_key(|e| (e.offset, e.size, e.id));
        let mut parts = Vec::with_capacity(held.len() + 1);
        let mut at = self.header_end();
        let gap = |range: Range<u64>| {
            let id = match self.is_padding(range.start) {
                true => PartId::Padding,
                false => PartId::Filler,
            };
            (!range.is_empty()).then_some(Part { id, range })
        };
        for extent in held {
            let start = u64::from(extent.offset);
            parts.extend(gap(at..start));
            at = extent.end();
            parts.push(Part {
                id: PartId::Extent(*extent),
                range: start..at,
            });
        }
        parts.extend(gap(at..self.bytes().len() as u64));
        parts
    }

    /// Bytes of the file; none if the range is not inside of it.
    pub(crate) fn range(&self, range: &Range<u64>) -> &'a [u8] {
        let ends = usize::try_from(range.start).ok();
        let ends = ends.zip(usize::try_from(range.end).ok());
        ends.and_then(|(from, to)| self.bytes().get(from..to))
            .unwrap_or_default()
    }

    /// The arrangement with these parts, and whether the file is padded to a multiple of four. Padding to another length
    /// has no rule that could make it anew: its bytes are kept.
    pub(crate) fn arrangement(&self, parts: &[Part]) -> (Arrangement<'a>, bool) {
        let last = parts.last().filter(|part| part.id == PartId::Padding);
        let padded = last.is_some_and(|part| self.fills_dword(part.range.start));
        let pieces = parts.iter().filter_map(|part| match part.id {
            PartId::Extent(extent) => Some(match extent.id {
                ExtentId::Routine(id) => Piece::Routine(id),
                ExtentId::Binary { kernel, index } => Piece::Binary { kernel, index },
            }),
            PartId::Padding if padded => None,
            PartId::Filler | PartId::Padding => {
                Some(Piece::Filler(Cow::Borrowed(self.range(&part.range))))
            }
        });
        (arrangement(self.header(), pieces.collect()), padded)
    }
}

fn arrangement<'a>(header: &Object<'a>, order: Vec<Piece<'a>>) -> Arrangement<'a> {
    let held: BTreeSet<(usize, usize)> = order
        .iter()
        .filter_map(|piece| match piece {
            Piece::Binary { kernel, index } => Some((*kernel, *index)),
            _ => None,
        })
        .collect();
    let binaries = |kernel: usize| {
        held.range((kernel, 0)..=(kernel, usize::MAX))
            .map(|&(kernel, index)| Piece::Binary { kernel, index })
    };
    let mut interleaved = Vec::new();
    let mut grouped = Vec::new();
    for (id, _) in header.routines() {
        interleaved.push(Piece::Routine(id));
        grouped.push(Piece::Routine(id));
        if id.kind == RoutineKind::Kernel {
            interleaved.extend(binaries(id.index));
        }
    }
    for kernel in 0..header.kernels.len() {
        grouped.extend(binaries(kernel));
    }
    if order == interleaved {
        Arrangement::Interleaved
    } else if order == grouped {
        Arrangement::Grouped
    } else {
        Arrangement::Custom(order)
    }
}
