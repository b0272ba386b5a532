//! The effects of a step on the register file.

use super::uses::{Way, uses};
use super::{Action, Combine, Flag, Step};
use std::ops::Range;

impl Step {
    /// Parts of the register file that it may write. `None` if an address decides where it writes: then
    /// that is any of the variables whose address is taken.
    #[must_use]
    pub fn written(&self) -> Option<impl Iterator<Item = Range<usize>> + use<>> {
        let lanes = usize::from(self.lanes.count);
        let one = |part: Range<usize>| [Some(part), None, None];
        let all = match &self.action {
            Action::Compute(compute) => {
                let second = match &compute.second {
                    Some(second) => Some(second.range(lanes)?),
                    None => None,
                };
                let flag = compute.sets.as_ref().map(Flag::word_range);
                [Some(compute.destination.range(lanes)?), second, flag]
            }
            Action::Message(message) => [message.operands().loaded, None, None],
            Action::Systolic(systolic) => {
                let first = systolic.result();
                one(first..first + systolic.result_bytes())
            }
            Action::ExecutionMask(place) => one(*place..place + 4),
            Action::Clock(place) => one(*place..place + 8),
            // Its counters are not visible to a thread; whoever collects them resets them.
            Action::Count(_)
            | Action::Join
            | Action::Nothing
            | Action::UpdateMode(_)
            | Action::Jump { .. }
            | Action::Goto { .. }
            | Action::Switch { .. }
            | Action::Call { .. }
            | Action::CallAddress { .. }
            | Action::Return { .. }
            | Action::Barrier
            | Action::Signal
            | Action::Wait
            | Action::NamedSignal(_)
            | Action::NamedWait(_)
            | Action::Fault(_) => [None, None, None],
        };
        Some(all.into_iter().flatten())
    }
}

impl Step {
    /// Parts of the register file that it may read, besides what addresses point at.
    #[must_use]
    pub fn read(&self) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        uses(self, &mut all);
        let reads = all
            .iter()
            .filter(|one| matches!(one.way, Way::Reads | Way::Anyhow));
        reads.map(|one| one.lanes.extent()).collect()
    }
}

impl Flag {
    /// The bits of the word that belong to lanes of the instruction.
    #[must_use]
    pub const fn lanes(&self) -> u32 {
        match self.window.checked_shl(self.first as u32) {
            Some(lanes) => lanes,
            None => 0,
        }
    }

    /// The bits of the word that an instruction reads.
    #[must_use]
    pub const fn read_bits(&self) -> u32 {
        match self.combine {
            Combine::PerLane => self.lanes(),
            Combine::Any | Combine::All => self.tested,
        }
    }

    /// The word that it is in.
    #[must_use]
    pub fn word_range(&self) -> Range<usize> {
        let first = self.offset as usize;
        first..first + 4
    }
}
