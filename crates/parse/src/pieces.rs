//! Assigns the bytes of the file to its pieces.

use crate::container::Container;
use crate::error::{Context, Error, ErrorKind};
use crate::extent::{Extent, ExtentId};
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use visakit_isa::object::{Arrangement, Object, Piece, RoutineKind};

/// The pieces of a file after its header.
#[derive(Debug)]
pub(crate) struct Pieces<'a> {
    /// The places that hold something, with their bytes, in file order.
    pub(crate) held: Vec<(Extent, &'a [u8])>,
    /// Routines with nothing at their place, and why.
    pub(crate) missing: Vec<(Extent, Error)>,
    /// All pieces in file order, fillers included.
    order: Vec<Piece<'a>>,
    /// Faults of the places.
    pub(crate) errors: Vec<Error>,
}

impl<'a> Pieces<'a> {
    /// Assigns the bytes of the file to the places. If several claim the same bytes, the first in
    /// file order gets them; a place cut off by the end of the file keeps the bytes it has.
    pub(crate) fn assign(container: &Container<'a>) -> Self {
        let bytes = container.bytes();
        let length = bytes.len() as u64;
        let mut claims: Vec<&Extent> = container
            .extents()
            .iter()
            .filter(|p| !container.is_placeholder(p))
            .collect();
        // Empty ones first, so that they do not seem to overlap what begins at the same offset.
        claims.sort_by_key(|p| (p.offset, p.size, p.id));
        let mut pieces = Self {
            held: Vec::new(),
            missing: Vec::new(),
            order: Vec::new(),
            errors: Vec::new(),
        };
        let mut at = container.header_end();
        for place in claims {
            let Extent { offset, size, .. } = *place;
            let outside = place.end() > length;
            if u64::from(offset) < at || u64::from(offset) > length {
                let kind = if outside {
                    ErrorKind::OutsideOfFile {
                        offset,
                        size,
                        length,
                    }
                } else {
                    ErrorKind::Overlap { offset, size }
                };
                let error = container.misplaced(kind, place);
                pieces.errors.push(error.clone());
                if matches!(place.id, ExtentId::Routine(_)) {
                    pieces.missing.push((*place, error));
                }
                continue;
            }
            if outside {
                let kind = ErrorKind::OutsideOfFile {
                    offset,
                    size,
                    length,
                };
                pieces.errors.push(container.misplaced(kind, place));
                if matches!(place.id, ExtentId::Binary { .. }) {
                    // A binary has no structure that would reveal that it is cut: it stays a
                    // placeholder and its remaining bytes become a filler.
                    continue;
                }
            }
            let end = place.end().min(length);
            pieces.fill(bytes, at, offset.into());
            pieces.order.push(match place.id {
                ExtentId::Routine(id) => Piece::Routine(id),
                ExtentId::Binary { kernel, index } => Piece::Binary { kernel, index },
            });
            let slice = range(bytes, offset.into(), end);
            pieces.held.push((*place, slice));
            at = end;
        }
        pieces.fill(bytes, at, length);
        pieces
    }

    fn fill(&mut self, bytes: &'a [u8], from: u64, to: u64) {
        if from >= to {
            return;
        }
        let length = to - from;
        self.errors.push(Error::new(
            ErrorKind::Uncovered { length },
            from,
            Context::default(),
        ));
        self.order
            .push(Piece::Filler(Cow::Borrowed(range(bytes, from, to))));
    }

    /// The arrangement with this order.
    pub(crate) fn arrangement(self, header: &Object<'a>) -> Arrangement<'a> {
        let held: BTreeSet<(usize, usize)> = self
            .order
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
        if self.order == interleaved {
            Arrangement::Interleaved
        } else if self.order == grouped {
            Arrangement::Grouped
        } else {
            Arrangement::Custom(self.order)
        }
    }
}

fn range(bytes: &[u8], from: u64, to: u64) -> &[u8] {
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    range
        .and_then(|(from, to)| bytes.get(from..to))
        .unwrap_or_default()
}
