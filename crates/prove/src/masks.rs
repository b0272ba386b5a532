//! Masks that make no difference: what a step would leave for lanes that do not run there is not read by them.

use crate::side::{Side, is_indirect, written};
use std::ops::Range;
use visakit_exec::code::{Action, Combine, Flag, Step};

/// How a step reads bits of a predicate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Nothing,
    /// Each lane that runs reads its own.
    Own,
    Others,
}

impl Side<'_> {
    /// Whether a step that heeds the mask may write the elements and bits of lanes that do not run, too: each lane has some of
    /// its own there, and none that waits reads them when it goes on.
    pub(crate) fn may_ignore_mask(&self, place: usize, step: &Step) -> bool {
        let Action::Compute(compute) = &step.action else {
            return false;
        };
        if !compute.operation.is_by_lane() || is_indirect(step) {
            return false;
        }
        let Some(live) = self.live() else {
            return false;
        };
        let mut elements = written(step, self.program).into_iter();
        elements.all(|bytes| !live.is_awaited(&bytes) && !live.is_addressed(&bytes))
            && compute
                .sets
                .as_ref()
                .is_none_or(|flag| self.is_own(flag, (place, step)))
    }

    /// Whether each lane reads its own bits of a predicate alone, and only after it has written them itself since it came to
    /// the basic block of that step: what the step leaves in the bits of other lanes makes no difference.
    fn is_own(&self, flag: &Flag, (place, step): (usize, &Step)) -> bool {
        let word = flag.word_range();
        let addressed = self.program.addressed();
        let blocks = self.code().blocks();
        let block = blocks.iter().find(|block| block.steps.contains(&place));
        let Some(block) = block.map(|block| block.steps.clone()) else {
            return false;
        };
        if addressed.iter().any(|bytes| touches(bytes, &word)) {
            return false;
        }
        let mut is_written = false;
        self.code().steps.iter().enumerate().all(|(number, other)| {
            let reads = reads(other, &word);
            if !block.contains(&number) {
                return reads == Reads::Nothing;
            }
            let right = reads == Reads::Nothing || reads == Reads::Own && is_written;
            is_written |= writes(other, (flag, step));
            right
        })
    }
}

fn touches(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// How a step reads bits of that word.
fn reads(step: &Step, word: &Range<usize>) -> Reads {
    if step.read().iter().any(|bytes| touches(bytes, word)) {
        return Reads::Others;
    }
    let mut flags: Vec<&Flag> = step.predicate.iter().collect();
    let by_lane = match &step.action {
        Action::Compute(compute) => {
            flags.extend(compute.flags.iter().take(compute.operation.flags()));
            compute.operation.is_by_lane()
        }
        Action::Message(message) => matches!(message.name(), "load" | "store" | "atomic"),
        Action::Goto { .. } => true,
        _ => false,
    };
    let mut of_word = flags
        .into_iter()
        .filter(|flag| touches(&flag.word_range(), word))
        .peekable();
    if of_word.peek().is_none() {
        return Reads::Nothing;
    }
    // The bit of each lane is at its own place (`exec::code::verify`).
    let own = |flag: &Flag| flag.word_range() == *word && flag.combine == Combine::PerLane;
    match by_lane && !step.lanes.no_mask && of_word.all(own) {
        true => Reads::Own,
        false => Reads::Others,
    }
}

/// Whether each lane of a step that runs another one writes its bit there for sure.
fn writes(step: &Step, (flag, of): (&Flag, &Step)) -> bool {
    let Action::Compute(compute) = &step.action else {
        return false;
    };
    let covers = |sets: &Flag| sets.word_range() == flag.word_range();
    step.predicate.is_none()
        && step.lanes.first == of.lanes.first
        && step.lanes.count >= of.lanes.count
        && compute.sets.as_ref().is_some_and(covers)
}
