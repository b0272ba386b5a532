//! What ran: instructions, enabled lanes, and steps that count for a profile.

use crate::flow::Compiler;
use crate::mode::Form;
use crate::vector::{Done, LANE_OPERATIONS, LEFT, MASK, RUNNING, Writer};
use crate::x64::{Condition, ECX, Number, RCX};
use visakit_exec::code::{Count, Step};

/// Counts of a segment up to a place in it.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) instructions: u32,
    /// Lanes that are known to be enabled.
    pub(crate) lanes: u32,
    /// Instructions that all running lanes execute, if it is not known which run.
    pub(crate) running: u32,
}

impl Compiler<'_> {
    /// Adds up what ran since the start of the segment, which is left.
    pub(crate) fn count(&mut self, counts: Counts) {
        if self.writer.form == Form::Directed {
            self.round_as_usual();
        }
        let asm = &mut self.writer.asm;
        if counts.instructions != 0 {
            asm.sub(LEFT, counts.instructions);
        }
        if self.writer.pair.is_some() {
            return self.count_both(RUNNING, counts.running, counts.lanes);
        }
        if counts.lanes != 0 {
            asm.add(LANE_OPERATIONS, counts.lanes);
        }
        if counts.running != 0 {
            asm.popcnt(ECX, RUNNING);
            asm.imul(ECX, ECX, counts.running);
            asm.add(LANE_OPERATIONS, RCX);
        }
    }

    /// Counts the lanes in a register as enabled. Clobbers `ecx`.
    pub(crate) fn count_lanes(&mut self, lanes: Number) {
        let asm = &mut self.writer.asm;
        asm.popcnt(ECX, lanes);
        asm.add(LANE_OPERATIONS, RCX);
    }
}

impl Writer {
    /// Counts that a step is reached, and its lanes; `all` if all of them are enabled. Clobbers `eax`, `ecx` and
    /// [`MASK`].
    pub(crate) fn tally(&mut self, step: &Step, count: &Count, all: bool) -> Done {
        let cell =
            |writer: &mut Self, place: Option<usize>| place.map(|p| writer.file(p, 8)).transpose();
        let times = cell(self, count.times)?;
        let lanes = cell(self, count.lanes)?;
        let parts = cell(self, count.parts)?;
        if parts.is_some() || lanes.is_some() && !all {
            self.exec_mask(step)?;
        }
        if let Some(times) = times {
            self.asm.inc_memory(times);
        }
        match lanes {
            Some(lanes) if all => {
                let number = u32::from(step.lanes.count);
                self.asm.add_to(lanes, number);
            }
            Some(lanes) => {
                self.asm.popcnt(ECX, MASK);
                self.asm.add_to(lanes, RCX);
            }
            None => {}
        }
        if let Some(parts) = parts {
            let shift = u32::from(step.lanes.first);
            self.kept.enabled = None;
            if shift != 0 {
                self.asm.shl(MASK, shift);
            }
            let together = self.asm.label();
            self.asm.test(MASK, MASK);
            self.asm.jump_if(Condition::Equal, together);
            self.asm.cmp(MASK, RUNNING);
            self.asm.jump_if(Condition::Equal, together);
            self.asm.inc_memory(parts);
            self.asm.place(together);
        }
        Ok(())
    }
}
