//! Steps that count for a profile.

use crate::vector::{Done, MASK, RUNNING, Writer};
use iced_x86::{Code, Register};
use visakit_exec::code::{Count, Step};

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
            self.asm.jump(Code::Je_rel32_64, together);
            self.asm.op2(Code::Cmp_r32_rm32, MASK, RUNNING);
            self.asm.jump(Code::Je_rel32_64, together);
            self.asm.op1(Code::Inc_rm64, parts);
            self.asm.place(together);
        }
        Ok(())
    }
}
