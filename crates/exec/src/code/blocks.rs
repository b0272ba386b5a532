//! Basic blocks: steps that run one after the other, and their successors.

use super::{Action, Code};
use std::collections::BTreeSet;
use std::ops::Range;

/// A basic block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Its steps.
    pub steps: Range<usize>,
    /// Place of its routine in [`Code::routines`].
    pub routine: usize,
    /// Where its lanes continue. Lanes that wait at a join continue there whenever the running
    /// lanes are past it, so that every block that begins with [`Action::Join`] may also follow any
    /// other block of its routine.
    pub edges: Vec<Edge>,
}

/// A way out of a block, to another one by its place in the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// To the block after it.
    Next(usize),
    /// To the target of a jump.
    Jump(usize),
    /// To the first block of a subroutine or function, which returns to the block after it.
    Call(usize),
}

impl Edge {
    /// The block that follows.
    #[must_use]
    pub const fn block(self) -> usize {
        match self {
            Self::Next(block) | Self::Jump(block) | Self::Call(block) => block,
        }
    }
}

/// The steps that may follow an action besides the next one.
pub(super) fn targets(action: &Action) -> &[usize] {
    match action {
        Action::Jump { target, .. } | Action::Goto { target, .. } | Action::Call { target, .. } => {
            std::slice::from_ref(target)
        }
        Action::Switch { targets, .. } => targets,
        _ => &[],
    }
}

/// Whether a block ends after this action.
fn ends(action: &Action) -> bool {
    !(action.is_straight()
        || matches!(
            action,
            Action::Join
                | Action::ExecutionMask(_)
                | Action::Clock(_)
                | Action::Count(_)
                | Action::Systolic(_)
        ))
}

impl Code {
    /// The table of basic blocks, in the order of the steps.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        let mut starts: BTreeSet<usize> = self.routines.iter().map(|r| r.entry).collect();
        for (place, step) in self.steps.iter().enumerate() {
            starts.extend(targets(&step.action));
            if matches!(step.action, Action::Join) {
                starts.insert(place);
            }
            if ends(&step.action) {
                starts.insert(place + 1);
            }
        }
        let starts: Vec<usize> = starts
            .into_iter()
            .filter(|s| *s < self.steps.len())
            .collect();
        let block_at = |step: usize| starts.binary_search(&step).ok();
        let mut blocks = Vec::with_capacity(starts.len());
        for (number, start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(self.steps.len());
            let Some(last) = self.steps.get(end.saturating_sub(1)) else {
                continue;
            };
            let mut edges = Vec::new();
            let goes_on = match &last.action {
                Action::Jump { .. } => last.predicate.is_some(),
                Action::Switch { .. } | Action::Fault(_) => false,
                _ => true,
            };
            for target in targets(&last.action) {
                let call = matches!(last.action, Action::Call { .. });
                edges.extend(block_at(*target).map(if call { Edge::Call } else { Edge::Jump }));
            }
            if goes_on {
                edges.extend(block_at(end).map(Edge::Next));
            }
            blocks.push(Block {
                steps: *start..end,
                routine: last.origin.routine as usize,
                edges,
            });
        }
        blocks
    }
}
