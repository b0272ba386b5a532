//! Which parts of the register file a program may read again.
//!
//! Lanes that have diverged wait while others run, so that liveness has two forms. A dword that is the element of one
//! lane in every step that uses it is live for that lane alone, along the ways that the lane itself takes. All other
//! dwords are live for the thread, which goes on with waiting lanes at any join.

use super::assigned::looks_around;
use super::blocks::Block;
use super::uses::{Lanes, Use, Way, uses};
use super::{Action, Code, Step};
use std::ops::Range;

/// Bytes of a dword.
const DWORD: usize = 4;

/// Used by no step.
const NOBODY: u8 = 0;
/// Used by several lanes, or whatever lanes run. In between are the lanes, from 1 on.
const SHARED: u8 = u8::MAX;

/// Most words of a set for each block: larger programs are not analysed.
const MOST_WORDS: usize = 1 << 21;

/// Most rounds over all blocks, of which real programs take as many as their loops are nested, and a few more.
const MOST_ROUNDS: usize = 50;

/// A set of dwords of the register file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dwords(Vec<u64>);

impl Dwords {
    fn none(words: usize) -> Self {
        Self(vec![0; words])
    }

    fn set(&mut self, dword: usize, on: bool) {
        if let Some(word) = self.0.get_mut(dword / 64) {
            let bit = 1 << (dword % 64);
            *word = if on { *word | bit } else { *word & !bit };
        }
    }

    fn has(&self, dword: usize) -> bool {
        let word = self.0.get(dword / 64).copied().unwrap_or(0);
        word >> (dword % 64) & 1 != 0
    }

    /// Whether it contains any of these bytes.
    #[must_use]
    pub fn any(&self, bytes: &Range<usize>) -> bool {
        dwords(bytes).any(|dword| self.has(dword))
    }

    /// Adds those of another set that are in a third one, and returns whether there are more now.
    fn add(&mut self, other: &Self, only: Option<&Self>) -> bool {
        let mut more = false;
        for (place, (to, from)) in self.0.iter_mut().zip(&other.0).enumerate() {
            let only = only.map_or(u64::MAX, |only| only.0.get(place).copied().unwrap_or(0));
            let all = *to | from & only;
            more |= all != *to;
            *to = all;
        }
        more
    }
}

/// The dwords that bytes are part of.
const fn dwords(bytes: &Range<usize>) -> Range<usize> {
    bytes.start / DWORD..bytes.end.div_ceil(DWORD)
}

/// Which parts of the register file are live: may be read before they are overwritten.
#[derive(Clone, Debug)]
pub struct Liveness {
    blocks: Vec<Block>,
    /// For each dword, who uses it.
    users: Vec<u8>,
    /// Live at the start of each block.
    starts: Vec<Dwords>,
    /// Live at any place, as threads may go on at any join.
    anywhere: Dwords,
    /// What addresses may point at: read by any step that has one.
    addressed: Dwords,
    /// Live for lanes that wait at a join, or not known to belong to one lane each.
    awaited: Dwords,
    /// Live where a thread ends.
    end: Dwords,
    ends: bool,
}

/// What changes from step to step of a block: dwords that are live after a step but not before, or the other way round.
#[derive(Clone, Debug)]
struct Change {
    step: usize,
    dword: usize,
    live: bool,
}

/// Follows a block from its start.
#[derive(Clone, Debug)]
pub struct Walk {
    changes: Vec<Change>,
    live: Dwords,
}

impl Walk {
    /// Goes on to the start of a step.
    pub fn go(&mut self, step: usize) {
        while let Some(change) = self.changes.pop_if(|change| change.step < step) {
            self.live.set(change.dword, change.live);
        }
    }

    /// What is live there.
    #[must_use]
    pub const fn live(&self) -> &Dwords {
        &self.live
    }
}

impl Liveness {
    /// Analyses a program. `addressed` are parts of the register file that addresses may point at; `ends` says whether
    /// everything is live where a thread ends. `None` if the program calls functions, has operations that read other
    /// elements than those of their lanes, or is too large.
    #[must_use]
    pub fn new(code: &Code, addressed: &[Range<usize>], ends: bool) -> Option<Self> {
        let blocks = code.blocks();
        let dwords_of_file = code.register_bytes.div_ceil(DWORD);
        let words = dwords_of_file.div_ceil(64);
        if blocks.len().checked_mul(words)? > MOST_WORDS || !code.steps.iter().all(is_known) {
            return None;
        }
        let mut found = Vec::new();
        let mut users = vec![NOBODY; dwords_of_file];
        for step in &code.steps {
            found.clear();
            uses(step, &mut found);
            for one in &found {
                for (lane, bytes) in one.lanes.each() {
                    let user = match lane.and_then(|lane| u8::try_from(lane).ok()) {
                        Some(lane) if one.way != Way::Anyhow && lane < SHARED - 1 => lane + 1,
                        _ => SHARED,
                    };
                    for own in users.get_mut(dwords(&bytes)).into_iter().flatten() {
                        *own = if matches!(*own, NOBODY) || *own == user {
                            user
                        } else {
                            SHARED
                        };
                    }
                }
            }
        }
        let mut anywhere = Dwords::none(words);
        for dword in addressed.iter().flat_map(dwords) {
            anywhere.set(dword, true);
            if let Some(user) = users.get_mut(dword) {
                *user = SHARED;
            }
        }
        let starts = vec![Dwords::none(words); blocks.len()];
        let mut liveness = Self {
            blocks,
            users,
            starts,
            addressed: anywhere.clone(),
            anywhere,
            awaited: Dwords::none(words),
            ends,
            end: Dwords(vec![if ends { u64::MAX } else { 0 }; words]),
        };
        liveness.solve(code)?;
        Some(liveness)
    }

    /// Finds what is live at the start of each block; `None` if that takes too long.
    fn solve(&mut self, code: &Code) -> Option<()> {
        let count = self.blocks.len();
        let words = self.anywhere.0.len();
        // What each block reads before it writes it, and what it surely overwrites.
        let mut reads = vec![Dwords::none(words); count];
        let mut kept = vec![Dwords(vec![u64::MAX; words]); count];
        for (number, (reads, kept)) in reads.iter_mut().zip(&mut kept).enumerate() {
            self.backwards(code, number, |_, dword, live| {
                reads.set(dword, live);
                if !live {
                    kept.set(dword, false);
                }
            });
        }
        let mut shared = Dwords::none(words);
        for (dword, user) in self.users.iter().enumerate() {
            shared.set(dword, *user == SHARED);
        }
        let joins: Vec<bool> = self
            .blocks
            .iter()
            .map(|block| {
                let first = code.steps.get(block.steps.start);
                first.is_some_and(|step| matches!(step.action, Action::Join))
            })
            .collect();
        for _ in 0..MOST_ROUNDS {
            let mut changed = false;
            for number in (0..count).rev() {
                let Some(block) = self.blocks.get(number) else {
                    continue;
                };
                let live = self.after(code, block);
                let (Some(reads), Some(kept), Some(start)) = (
                    reads.get(number),
                    kept.get(number),
                    self.starts.get_mut(number),
                ) else {
                    continue;
                };
                changed |= start.add(&live, Some(kept)) | start.add(reads, None);
                if joins.get(number) == Some(&true) {
                    changed |= self.anywhere.add(start, Some(&shared));
                }
            }
            if !changed {
                // Of lanes that have returned, too. Predicates are not analysed.
                self.awaited = self.end.clone();
                for (dword, user) in self.users.iter().enumerate() {
                    if matches!(*user, SHARED | NOBODY) {
                        self.awaited.set(dword, true);
                    }
                }
                let starts = self.starts.iter().zip(joins);
                for (start, _) in starts.filter(|(_, is_join)| *is_join) {
                    self.awaited.add(start, None);
                }
                return Some(());
            }
        }
        None
    }

    /// What is live at the end of a block.
    fn after(&self, code: &Code, block: &Block) -> Dwords {
        let mut live = self.anywhere.clone();
        for edge in &block.edges {
            if let Some(next) = self.starts.get(edge.block()) {
                live.add(next, None);
            }
        }
        let last = code.steps.get(block.steps.clone()).and_then(<[Step]>::last);
        if last.is_some_and(|step| matches!(step.action, Action::Return { .. } | Action::Fault(_)))
        {
            live.add(&self.end, None);
        }
        live
    }

    /// Goes through a block from its end to its start, and tells for each dword that a step uses whether it is live
    /// before it.
    fn backwards(&self, code: &Code, block: usize, mut tell: impl FnMut(usize, usize, bool)) {
        let steps = self.blocks.get(block).map_or(0..0, |b| b.steps.clone());
        let mut found: Vec<Use> = Vec::new();
        for number in steps.rev() {
            let Some(step) = code.steps.get(number) else {
                continue;
            };
            found.clear();
            uses(step, &mut found);
            for one in found.iter().filter(|one| one.way == Way::Writes) {
                self.overwritten(&one.lanes, |dword| {
                    if !self.addressed.has(dword) {
                        tell(number, dword, false);
                    }
                });
            }
            let reads = |way| matches!(way, Way::Reads | Way::Anyhow);
            for one in found.iter().filter(|one| reads(one.way)) {
                for (_, bytes) in one.lanes.each() {
                    for dword in dwords(&bytes) {
                        tell(number, dword, true);
                    }
                }
            }
        }
    }

    /// The dwords that a step that writes these lanes surely overwrites, for those who use them.
    fn overwritten(&self, lanes: &Lanes, mut tell: impl FnMut(usize)) {
        if let Some(all) = lanes.contiguous() {
            for dword in all.start.div_ceil(DWORD)..all.end / DWORD {
                tell(dword);
            }
            return;
        }
        for (lane, bytes) in lanes.each() {
            let own = lane.and_then(|lane| u8::try_from(lane + 1).ok());
            for dword in bytes.start.div_ceil(DWORD)..bytes.end / DWORD {
                let user = self.users.get(dword).copied();
                if user == own || lane.is_none() {
                    tell(dword);
                }
            }
        }
    }

    /// What is live at the start of a step that lanes jump to, or go on with, besides [`Self::anywhere`]; `None` if it is
    /// not the start of a block.
    #[must_use]
    pub fn at(&self, step: usize) -> Option<&Dwords> {
        let place = self.block_at(step)?;
        let block = self.blocks.get(place)?;
        (block.steps.start == step).then(|| self.starts.get(place))?
    }

    /// What is live wherever a thread is.
    #[must_use]
    pub const fn anywhere(&self) -> &Dwords {
        &self.anywhere
    }

    /// Whether everything is live where a thread ends.
    #[must_use]
    pub const fn includes_end(&self) -> bool {
        self.ends
    }

    /// Whether lanes that do not run may read any of these bytes when they go on. If not, a step may leave anything in
    /// their elements.
    #[must_use]
    pub fn is_awaited(&self, bytes: &Range<usize>) -> bool {
        self.awaited.any(bytes)
    }

    /// Whether addresses may point at any of these bytes.
    #[must_use]
    pub fn is_addressed(&self, bytes: &Range<usize>) -> bool {
        self.addressed.any(bytes)
    }

    fn block_at(&self, step: usize) -> Option<usize> {
        self.blocks
            .partition_point(|block| block.steps.start <= step)
            .checked_sub(1)
    }

    /// Follows the block of a step from its start.
    #[must_use]
    pub fn walk(&self, code: &Code, step: usize) -> Option<Walk> {
        let place = self.block_at(step)?;
        let block = self.blocks.get(place)?;
        let mut live = self.after(code, block);
        let mut changes = Vec::new();
        self.backwards(code, place, |step, dword, before| {
            let after = live.has(dword);
            if after != before {
                live.set(dword, before);
                changes.push(Change {
                    step,
                    dword,
                    live: after,
                });
            }
        });
        Some(Walk { changes, live })
    }
}

/// Whether everything that a step reads is known.
fn is_known(step: &Step) -> bool {
    match &step.action {
        Action::Call { .. } | Action::CallAddress { .. } => false,
        Action::Systolic(systolic) => !systolic.fused,
        Action::Compute(compute) => !looks_around(compute.operation),
        _ => true,
    }
}
