//! Float modes: the forms of code for them, and writes of `%cr0`.
//!
//! A segment that computes floats has code for the usual mode, and a further form for each kind of mode that it may
//! well be entered in ([`visakit_exec::code::Modes`]). It is left to the interpreter in all others.

use crate::assembler::{Condition, Label};
use crate::flow::Compiler;
use crate::kept::Content;
use crate::pages::place as fields;
use crate::vector::{CONSTANTS, Chunks, field, xmm};
use iced_x86::{Code as Op, MemoryOperand, Register};
use visakit_exec::code::Modes;
use visakit_exec::{MODE_BITS, ROUNDING_BITS, USUAL_MODE};

/// Float modes that code is written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// The host's usual one.
    Usual,
    /// Modes that flush denormals, which is done by separate instructions.
    Flushing,
    /// Modes with directed rounding. The host's rounding is set while such code runs.
    Directed,
}

/// Control words of the host's vector instructions, indexed by the rounding mode of `%cr0`: to nearest, up, down,
/// towards zero. All exceptions are masked.
const CONTROL: [u32; 4] = [0x1f80, 0x5f80, 0x3f80, 0x7f80];

/// The control word of a mode that rounds to one side.
pub(crate) fn control(rounding: u8) -> u32 {
    by_rounding(CONTROL, rounding.into())
}

impl Compiler<'_> {
    /// Sets the host's rounding from the mode.
    pub(crate) fn round_as_mode(&mut self) {
        let control = field(fields::CONTROL);
        self.writer.asm.op1(Op::VEX_Vldmxcsr_m32, control);
    }

    /// The host rounds to nearest from here on.
    pub(crate) fn round_as_usual(&mut self) {
        let [usual, ..] = CONTROL;
        let usual = self.writer.dwords(usual);
        self.writer.asm.op1(Op::VEX_Vldmxcsr_m32, usual);
    }

    /// `%cr0` was written, at this place, and has these contents. Modes that flush denormals or round to integers are the
    /// interpreter's from there on, and so are others than the expected one.
    pub(crate) fn update_mode(&mut self, offset: usize, modes: Modes, otherwise: Label) {
        use Register::{EAX, ECX, RCX};
        let one = Chunks::new(self.writer.features, 4, 1);
        let held = self.writer.find(one, Content::Bytes { offset, bytes: 4 });
        let word = match held {
            Some(_) => self.writer.place(offset, 4),
            None => self.writer.file(offset, 4),
        };
        let Ok(word) = word else {
            self.writer.asm.jump(otherwise);
            return;
        };
        let asm = &mut self.writer.asm;
        match held {
            Some(n) => asm.op2(Op::VEX_Vmovd_rm32_xmm, EAX, xmm(n)),
            None => asm.op2(Op::Mov_r32_rm32, EAX, word),
        }
        let directed = fields::DIRECTED;
        let names = [fields::USUAL, directed, directed, directed];
        let expected = modes.only();
        if let Some(bits) = expected.filter(|bits| bits & !ROUNDING_BITS == USUAL_MODE) {
            let rounding = ((bits & ROUNDING_BITS) >> ROUNDING_BITS.trailing_zeros()) as usize;
            asm.op1i(Op::And_rm32_imm32, EAX, MODE_BITS);
            asm.op1i(Op::Cmp_rm32_imm32, EAX, bits);
            asm.jump_if(Condition::NotEqual, otherwise);
            for (to, number) in [
                (fields::CR0, bits),
                (fields::CONTROL, by_rounding(CONTROL, rounding)),
                (fields::MODE, by_rounding(names, rounding)),
            ] {
                asm.op1i(Op::Mov_rm64_imm32, field(to), number);
            }
            return;
        }
        let control = self.writer.each_dword(|n| by_rounding(CONTROL, n));
        let mode = self.writer.each_dword(|n| by_rounding(names, n));
        let of_rounding = |table: MemoryOperand| {
            MemoryOperand::with_base_index_scale_displ_size(
                CONSTANTS,
                RCX,
                4,
                table.displacement,
                8,
            )
        };
        let asm = &mut self.writer.asm;
        asm.op2(Op::Mov_r32_rm32, ECX, EAX);
        asm.op1i(Op::And_rm32_imm32, EAX, MODE_BITS & !ROUNDING_BITS);
        asm.op1i(Op::Cmp_rm32_imm32, EAX, USUAL_MODE);
        asm.jump_if(Condition::NotEqual, otherwise);
        asm.op1i(Op::And_rm32_imm32, ECX, ROUNDING_BITS);
        asm.op2(Op::Or_r32_rm32, EAX, ECX);
        asm.op2(Op::Mov_rm64_r64, field(fields::CR0), Register::RAX);
        asm.op1i(Op::Shr_rm32_imm8, ECX, ROUNDING_BITS.trailing_zeros());
        asm.op2(Op::Mov_r32_rm32, EAX, of_rounding(control));
        asm.op2(Op::Mov_rm32_r32, field(fields::CONTROL), EAX);
        asm.op2(Op::Mov_r32_rm32, EAX, of_rounding(mode));
        asm.op2(Op::Mov_rm32_r32, field(fields::MODE), EAX);
    }
}

fn by_rounding(table: [u32; 4], n: usize) -> u32 {
    table.get(n % 4).copied().unwrap_or(0)
}
