//! Determines where the parts of a file begin and end.
//!
//! The parts of a sound file tile it as the header states. In other files some number is wrong, and all others are
//! evidence: offsets of the header, sizes of the header and of the routines, tables that can be read, and whether parts
//! touch each other. No single number is trusted over the rest.

use crate::container::Container;
use crate::error::{Context, Error, ErrorKind};
use crate::extent::{Extent, ExtentId};
use crate::routine::RoutineReader;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use visakit_isa::object::Routine;

/// A place that an extent may have.
struct Claim {
    /// Index of the extent.
    extent: usize,
    start: u64,
    end: u64,
    /// Whether the content of a routine determines its end.
    read: bool,
    /// Whether header and content agree on an end that the file does not reach.
    cut: bool,
    /// Who gets bytes first, the greatest.
    rank: Rank,
}

/// The evidence for a place, the strongest first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The tables can be read, and name the routine as the header does.
    named: bool,
    /// Nothing speaks against it: native code, or a routine whose tables can be read.
    possible: bool,
    /// How many numbers of header and content agree: the size, the offset of the inputs.
    agrees: u8,
    /// No other part begins inside: stale sizes are more frequent than stale offsets.
    alone: bool,
    /// Number of ends at which it touches another part.
    touches: u8,
}

impl<'a> Container<'a> {
    /// Decides which bytes the extents have.
    pub(crate) fn settle(&mut self) {
        let mut order: Vec<usize> = (0..self.extents.len())
            .filter(|&i| self.claims(i))
            .collect();
        if !self.tiles(&order) {
            // Empty ones first, so that they do not seem to overlap what begins at the same offset.
            order.sort_by_key(|&i| self.extents.get(i).map(|e| (e.offset, e.stated_size, e.id)));
            if !self.tiles(&order) {
                return self.weigh(order);
            }
        }
        order.into_iter().for_each(|i| self.hold(i, None));
    }

    fn claims(&self, extent: usize) -> bool {
        self.extents
            .get(extent)
            .is_some_and(|e| !self.is_placeholder(e))
    }

    /// Whether the stated places follow each other from the header to the end of the file, in this order.
    fn tiles(&self, order: &[usize]) -> bool {
        let mut extents = order.iter().filter_map(|&i| self.extents.get(i));
        let end = extents.try_fold(self.header_end(), |at, extent| {
            (u64::from(extent.offset) == at).then(|| extent.stated_end())
        });
        let last = order.last().and_then(|&i| self.extents.get(i));
        end.is_some_and(|end| {
            let whole = end == self.bytes().len() as u64;
            // Only the content tells whether the last bytes of such a file are padding.
            let doubtful = !whole || self.fills_dword(end.saturating_sub(1));
            (whole || self.is_padding(end))
                && (!doubtful || last.is_none_or(|last| self.ends_as_stated(last)))
        })
    }

    /// Whether the content of a routine does not contradict its stated end: its last bytes may look like padding.
    fn ends_as_stated(&self, extent: &Extent) -> bool {
        let stated = extent.stated_end();
        let mut budget = u64::MAX;
        let reader = self.tables_at(extent, &mut budget);
        reader.is_none_or(|reader| {
            let own = own_end(&reader);
            own == stated || own < reader.tables_end() && reader.tables_end() == stated
        })
    }

    /// Whether only padding follows an offset: one to three zero bytes.
    pub(crate) fn is_padding(&self, from: u64) -> bool {
        let rest = usize::try_from(from)
            .ok()
            .and_then(|from| self.bytes().get(from..));
        rest.is_some_and(|rest| matches!(rest, [0] | [0, 0] | [0, 0, 0]))
    }

    /// Whether padding follows an offset and makes the length of the file a multiple of four: then it tells that a part
    /// ends there. Other zeros at the end are no evidence.
    pub(crate) fn fills_dword(&self, from: u64) -> bool {
        self.bytes().len().is_multiple_of(4) && self.is_padding(from)
    }

    /// Gives an extent its place: the stated one, or up to another end.
    fn hold(&mut self, extent: usize, end: Option<u64>) {
        if let Some(extent) = self.extents.get_mut(extent) {
            let size = end.map(|end| end.saturating_sub(extent.offset.into()));
            extent.size = size
                .and_then(|size| u32::try_from(size).ok())
                .unwrap_or(extent.stated_size);
            extent.held = true;
        }
    }

    /// Gives extents their places by the evidence for them, in the order of their offsets.
    fn weigh(&mut self, order: Vec<usize>) {
        let length = self.bytes().len() as u64;
        let mut taken = BTreeSet::new();
        let mut faults = Vec::new();
        for claim in self.ranked(order) {
            let Some(extent) = self.extents.get(claim.extent).copied() else {
                continue;
            };
            let end = (self.header_end()..=length)
                .contains(&claim.start)
                .then(|| free(&taken, claim.start, claim.end))
                .flatten();
            let routine = matches!(extent.id, ExtentId::Routine(_));
            // A binary has no structure that would reveal that it is cut: it stays a placeholder, and its bytes
            // become a filler.
            let end = end.filter(|end| routine || *end == extent.stated_end());
            if let Some(end) = end {
                taken.insert((claim.start, end, claim.extent));
                self.hold(claim.extent, Some(end));
            }
            let stated = extent.stated_end();
            if end == Some(stated) {
                continue;
            }
            let fits = |end: &u64| claim.read && !claim.cut && *end == claim.end;
            faults.push(match end.filter(fits) {
                Some(end) => self.missized(&extent, end),
                None => self.misplaced(&extent),
            });
        }
        let mut at = self.header_end();
        let mut gap = |from, to| {
            if from < to && !(to == length && self.is_padding(from)) {
                let kind = ErrorKind::Uncovered { length: to - from };
                faults.push(Error::new(kind, from, Context::default()));
            }
        };
        for (start, end, _) in taken {
            gap(at, start);
            at = end;
        }
        gap(at, length);
        faults.sort_by_key(Error::offset);
        self.faults = faults;
    }

    /// The places that the extents may have, those with the strongest evidence first.
    fn ranked(&self, order: Vec<usize>) -> Vec<Claim> {
        let length = self.bytes().len() as u64;
        let starts = order.iter().filter_map(|&i| self.extents.get(i));
        let starts = starts
            .map(|e| u64::from(e.offset))
            .filter(|at| *at <= length);
        let mut starts: Vec<u64> = starts.chain([length]).collect();
        starts.dedup();
        // Hostile files may let many entries point into one large table.
        let mut budget = 4 * length + 4096;
        let claims = order.into_iter().filter_map(|i| {
            let extent = self.extents.get(i)?;
            Some(self.claim(i, extent, &starts, &mut budget))
        });
        let mut claims: Vec<Claim> = claims.collect();
        let mut ends: Vec<u64> = claims.iter().map(|claim| claim.end).collect();
        ends.push(self.header_end());
        ends.sort_unstable();
        let possible = claims.iter().filter(|claim| claim.rank.possible);
        let others: Vec<u64> = possible.map(|claim| claim.start).collect();
        for claim in &mut claims {
            let begins = ends.binary_search(&claim.start).is_ok();
            let ends = starts.binary_search(&claim.end).is_ok() || self.fills_dword(claim.end);
            claim.rank.touches = u8::from(begins) + u8::from(ends);
            let next = others.partition_point(|start| *start <= claim.start);
            claim.rank.alone = others.get(next).is_none_or(|next| *next >= claim.end);
        }
        claims.sort_by_key(|claim| core::cmp::Reverse(claim.rank));
        claims
    }

    fn claim(&self, index: usize, extent: &Extent, starts: &[u64], budget: &mut u64) -> Claim {
        let start = u64::from(extent.offset);
        let stated = extent.stated_end();
        let length = self.bytes().len() as u64;
        let mut claim = Claim {
            extent: index,
            start,
            end: stated.min(length).max(start),
            read: false,
            cut: false,
            rank: Rank {
                possible: matches!(extent.id, ExtentId::Binary { .. }),
                ..Rank::default()
            },
        };
        let Some(reader) = self.tables_at(extent, budget) else {
            return claim;
        };
        let tables = reader.tables_end();
        let own = own_end(&reader);
        let can_be = |end: &u64| (tables..=length).contains(end);
        let next = starts.partition_point(|start| *start < tables);
        let next = starts.get(next).copied().unwrap_or(length);
        let ends = [tables, own, stated].into_iter().filter(can_be);
        let met = ends.filter(|end| starts.binary_search(end).is_ok() || self.fills_dword(*end));
        let sized = own == stated && can_be(&own);
        let inputs = extent.input_offset.map(u64::from) == reader.inputs;
        claim.rank.agrees = u8::from(sized) + u8::from(inputs);
        claim.end = if sized {
            own
        } else if let Some(end) = met.min() {
            end
        } else {
            // Without another part there, the routine is believed before the header.
            [own, stated].into_iter().find(can_be).unwrap_or(next)
        };
        claim.read = true;
        claim.cut = own == stated && stated > length;
        claim.rank.possible = true;
        let name = reader.tables().string(reader.tables().name);
        claim.rank.named = name == Some(reader.name());
        claim
    }

    /// The routine whose tables can be read at the offset of an extent, whatever its size is.
    fn tables_at(&self, extent: &Extent, budget: &mut u64) -> Option<RoutineReader<'a>> {
        let ExtentId::Routine(id) = extent.id else {
            return None;
        };
        let start = u64::from(extent.offset);
        let rest = self.bytes().get(usize::try_from(start).ok()?..)?;
        if *budget == 0 || start < self.header_end() {
            return None;
        }
        let reader = self.routine_in(id, extent, rest);
        let read = match &reader {
            Ok(reader) => reader.tables_end() - start,
            // It was read twice.
            Err(error) => 2 * error.offset().saturating_sub(start),
        };
        *budget = budget.saturating_sub(read.max(1));
        reader.ok()
    }

    /// A routine that has another size than the header states.
    fn missized(&self, extent: &Extent, end: u64) -> Error {
        let expected = end.saturating_sub(extent.offset.into());
        let kind = ErrorKind::Inconsistent {
            stated: extent.stated_size,
            expected: u32::try_from(expected).unwrap_or(u32::MAX),
        };
        // Offset and size are adjacent in the header.
        self.fault_at(kind, extent, extent.stated_at + 4, "size")
    }

    /// An extent that has not the place that the header states.
    pub(crate) fn misplaced(&self, extent: &Extent) -> Error {
        let (offset, size) = (extent.offset, extent.stated_size);
        let length = self.bytes().len() as u64;
        let kind = if extent.stated_end() > length {
            ErrorKind::OutsideOfFile {
                offset,
                size,
                length,
            }
        } else {
            ErrorKind::Overlap { offset, size }
        };
        self.fault_at(kind, extent, extent.stated_at, "offset")
    }

    #[cold]
    fn fault_at(&self, kind: ErrorKind, extent: &Extent, at: u64, field: &'static str) -> Error {
        let mut context = Context::default();
        let id = extent.id.routine();
        if let ExtentId::Binary { index, .. } = extent.id {
            context.path.push(("binaries", u32::try_from(index).ok()));
        }
        context.field = Some(field);
        let name = self.entry(id).map(Routine::display_name);
        Error::new(kind, at, context).in_routine(id, &name.unwrap_or_default())
    }
}

/// The end that a routine states itself.
fn own_end(reader: &RoutineReader<'_>) -> u64 {
    reader.offset() + u64::from(reader.code_entry.0) + u64::from(reader.code_size.0)
}

/// The end of what is free from `start` on, at most `end`; `None` if the start is taken.
fn free(taken: &BTreeSet<(u64, u64, usize)>, start: u64, end: u64) -> Option<u64> {
    let before = taken.range(..(start, 0, 0)).next_back();
    if before.is_some_and(|(_, end, _)| *end > start) {
        return None;
    }
    if end == start {
        return Some(end);
    }
    let mut here = taken.range((start, start + 1, 0)..(start + 1, 0, 0));
    if here.next().is_some() {
        return None;
    }
    let next = taken.range((start + 1, 0, 0)..).next();
    Some(next.map_or(end, |(next, ..)| end.min(*next)))
}
