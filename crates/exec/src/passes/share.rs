//! Places that variables share where their lives do not meet.
//!
//! Compilers use a separate variable for each intermediate value, so that the register files of long kernels are larger
//! than the first level of the host's cache. Most of those values are computed and used within one basic block, and a
//! block runs to its end with the same running lanes: after its last use in the block nobody can observe such a
//! variable, as long as every use reads only what the same run of the block has written. This pass looks for such
//! variables. All others keep a place of their own.

use crate::code::uses::{Lanes, Use, Way, uses};
use crate::code::{Action, Code, alignment};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::ops::Range;

/// The places of everything in the register file after sharing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Moves(Vec<Part>);

/// A part of the register file, up to the next one. Bytes before the first part are not moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    start: usize,
    /// Its place if it were not shared.
    own: usize,
    /// The place that it shares.
    shared: Option<usize>,
}

impl Moves {
    fn part(&self, offset: usize) -> Option<&Part> {
        let after = self.0.partition_point(|part| part.start <= offset);
        self.0.get(after.checked_sub(1)?)
    }

    /// The new place of a byte.
    fn place(&self, offset: usize) -> usize {
        self.part(offset).map_or(offset, |part| {
            part.shared.unwrap_or(part.own) + (offset - part.start)
        })
    }

    /// The new place of a byte that no two variables share.
    pub(crate) fn own(&self, offset: usize) -> Option<usize> {
        let part = self.part(offset);
        let shared = part.is_some_and(|part| part.shared.is_some());
        (!shared).then(|| self.border(offset))
    }

    /// The unshared place of the first byte from this one on that no two variables share.
    fn border(&self, offset: usize) -> usize {
        self.part(offset).map_or(offset, |part| match part.shared {
            Some(_) => part.own,
            None => part.own + (offset - part.start),
        })
    }
}

/// A variable that is written more often before a block has read it keeps its place: each read looks at all writes.
const MOST_WRITES: usize = 64;

/// What is known about a variable.
#[derive(Clone, Debug, Default)]
struct Life {
    /// The block that uses it, and the first and last step; `None` before its first use.
    used: Option<(usize, usize, usize)>,
    /// Whether it must keep its own place.
    keeps: bool,
    /// What has been written in the block.
    written: Vec<Lanes>,
}

impl Life {
    fn add(&mut self, block: usize, step: usize, one: Use) {
        let (used_in, _, last) = self.used.get_or_insert((block, step, step));
        *last = step;
        self.keeps |= *used_in != block;
        if self.keeps {
            return;
        }
        match one.way {
            Way::Writes if self.written.len() == MOST_WRITES => self.keeps = true,
            Way::Writes => self.written.push(one.lanes),
            Way::WritesSome => {}
            Way::Reads => self.keeps = !one.lanes.all_written(&self.written),
            Way::Anyhow => self.keeps = true,
        }
    }
}

/// Assigns shared places to variables. `variables` are ascending.
pub(super) fn share(code: &mut Code, variables: &[Range<usize>]) -> Moves {
    let Some(lives) = lives(code, variables) else {
        return Moves::default();
    };
    let Some(first) = variables.first().map(|v| v.start) else {
        return Moves::default();
    };
    // The first and last step that use a variable within a block, and its number. Steps of blocks follow each other.
    let local = lives.iter().enumerate().filter_map(|(number, life)| {
        let (_, from, to) = life.used.filter(|_| !life.keeps)?;
        Some((from, to, number))
    });
    let mut local: Vec<_> = local.collect();
    local.sort_unstable();
    // Variables of a size take the places of that size that are free, or a new one.
    let mut pool = first.next_multiple_of(alignment(usize::MAX));
    let mut free: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut taken: BinaryHeap<Reverse<(usize, usize, usize)>> = BinaryHeap::new();
    let mut given: Vec<Option<usize>> = vec![None; variables.len()];
    for (from, to, number) in local {
        // Variables that ended before this step release their places.
        while let Some(first) = taken.peek_mut()
            && first.0.0 < from
        {
            let Reverse((_, size, place)) = PeekMut::pop(first);
            free.entry(size).or_default().push(place);
        }
        let size = variables.get(number).map_or(0, ExactSizeIterator::len);
        let place = free.get_mut(&size).and_then(Vec::pop).unwrap_or_else(|| {
            let place = pool.next_multiple_of(alignment(size));
            pool = place + size;
            place
        });
        taken.push(Reverse((to, size, place)));
        if let Some(given) = given.get_mut(number) {
            *given = Some(place);
        }
    }
    // The places of shared variables come first, then everything else in its order.
    let mut parts: Vec<Part> = Vec::with_capacity(2 * variables.len() + 1);
    let mut end = pool;
    let mut add = |part: Range<usize>, shared: Option<usize>| {
        // Aligned as before.
        let own = end + part.start.wrapping_sub(end) % alignment(usize::MAX);
        if shared.is_none() {
            end = own + part.len();
        }
        parts.push(Part {
            start: part.start,
            own,
            shared,
        });
    };
    let mut next = first;
    for (variable, shared) in variables.iter().zip(given) {
        if next < variable.start {
            add(next..variable.start, None);
        }
        add(variable.clone(), shared);
        next = variable.end;
    }
    add(next..code.register_bytes, None);
    let moves = Moves(parts);
    code.relocate(&|offset| moves.place(offset));
    code.register_bytes = end;
    // Shared places are not preserved across calls.
    for routine in &mut code.routines {
        for own in &mut routine.own {
            *own = moves.border(own.start)..moves.border(own.end);
        }
    }
    moves
}

/// What is known about each variable; `None` if an operand is not part of a single variable.
fn lives(code: &Code, variables: &[Range<usize>]) -> Option<Vec<Life>> {
    let mut lives = vec![Life::default(); variables.len()];
    let mut found = Vec::new();
    for (number, block) in code.blocks().iter().enumerate() {
        for place in block.steps.clone() {
            let step = code.steps.get(place)?;
            if let Action::Count(_) = step.action {
                continue;
            }
            found.clear();
            uses(step, &mut found);
            for one in found.drain(..) {
                let range = one.lanes.extent();
                let after = variables.partition_point(|v| v.start <= range.start);
                let at = after.checked_sub(1);
                match at.and_then(|at| variables.get(at)) {
                    Some(variable) if range.start < variable.end => {
                        if range.end > variable.end {
                            return None;
                        }
                        lives.get_mut(at?)?.add(number, place, one);
                    }
                    _ => {
                        if variables.get(after).is_some_and(|v| v.start < range.end) {
                            return None;
                        }
                    }
                }
            }
        }
    }
    Some(lives)
}
