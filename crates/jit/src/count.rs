//! What ran: instructions, enabled lanes, and steps that count for a profile.

use crate::assembler::Condition;
use crate::flow::Compiler;
use crate::mode::Form;
use crate::vector::{Done, LANE_OPERATIONS, LEFT, MASK, RUNNING, Writer};
use iced_x86::{Code, Register};
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
            asm.op1i(Code::Sub_rm64_imm32, LEFT, counts.instructions);
        }
        if self.writer.pair.is_some() {
            return self.count_both(RUNNING, counts.running, counts.lanes);
        }
        if counts.lanes != 0 {
            asm.op1i(Code::Add_rm64_imm32, LANE_OPERATIONS, counts.lanes);
        }
        if counts.running != 0 {
            asm.op2(Code::Popcnt_r32_rm32, Register::ECX, RUNNING);
            asm.op2i(
                Code::Imul_r32_rm32_imm32,
                Register::ECX,
                Register::ECX,
                counts.running,
            );
            asm.op2(Code::Add_r64_rm64, LANE_OPERATIONS, Register::RCX);
        }
    }

    /// Counts the lanes in a register as enabled. Clobbers `ecx`.
    pub(crate) fn count_lanes(&mut self, lanes: Register) {
        let asm = &mut self.writer.asm;
        asm.op2(Code::Popcnt_r32_rm32, Register::ECX, lanes);
        asm.op2(Code::Add_r64_rm64, LANE_OPERATIONS, Register::RCX);
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
            self.asm.op1(Code::Inc_rm64, times);
        }
        match lanes {
            Some(lanes) if all => {
                let number = u32::from(step.lanes.count);
                self.asm.op1i(Code::Add_rm64_imm32, lanes, number);
            }
            Some(lanes) => {
                self.asm.op2(Code::Popcnt_r32_rm32, Register::ECX, MASK);
                self.asm.op2(Code::Add_rm64_r64, lanes, Register::RCX);
            }
            None => {}
        }
        if let Some(parts) = parts {
            let shift = u32::from(step.lanes.first);
            self.kept.enabled = None;
            if shift != 0 {
                self.asm.op1i(Code::Shl_rm32_imm8, MASK, shift);
            }
            let together = self.asm.label();
            self.asm.op2(Code::Test_rm32_r32, MASK, MASK);
            self.asm.jump_if(Condition::Equal, together);
            self.asm.op2(Code::Cmp_r32_rm32, MASK, RUNNING);
            self.asm.jump_if(Condition::Equal, together);
            self.asm.op1(Code::Inc_rm64, parts);
            self.asm.place(together);
        }
        Ok(())
    }
}
