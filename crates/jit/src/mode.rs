//! Float modes: which of them a segment has code for, and writes of `%cr0`.
//!
//! A segment that computes floats has code for the usual mode, and a further form for each kind of mode that it may
//! well be entered in. It is left to the interpreter in all others.

use crate::assembler::Label;
use crate::flow::Compiler;
use crate::pages::place as fields;
use crate::vector::{CONSTANTS, field};
use iced_x86::{Code as Op, MemoryOperand, Register};
use std::collections::BTreeSet;
use visakit_exec::code::{Action, Block, Code, Compute, Modify, Operation, Region, Step, Target};
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

    /// `%cr0` was written, at this place. Modes that flush denormals or round to integers are the interpreter's from
    /// there on.
    pub(crate) fn update_mode(&mut self, offset: usize, otherwise: Label) {
        use Register::{EAX, ECX, RCX};
        let Ok(word) = self.writer.file(offset, 4) else {
            self.writer.asm.jump(Op::Jmp_rel32_64, otherwise);
            return;
        };
        let control = self.writer.each_dword(|n| by_rounding(CONTROL, n));
        let directed = fields::DIRECTED;
        let modes = [fields::USUAL, directed, directed, directed];
        let mode = self.writer.each_dword(|n| by_rounding(modes, n));
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
        asm.op2(Op::Mov_r32_rm32, EAX, word);
        asm.op2(Op::Mov_r32_rm32, ECX, EAX);
        asm.op1i(Op::And_rm32_imm32, EAX, MODE_BITS & !ROUNDING_BITS);
        asm.op1i(Op::Cmp_rm32_imm32, EAX, USUAL_MODE);
        asm.jump(Op::Jne_rel32_64, otherwise);
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

/// The blocks, by their first steps, that threads may reach in a flushing mode: those reached by some path on which the
/// last write of `%cr0` may have cleared a bit that keeps denormals, or on which there is no write.
pub(crate) fn may_flush(code: &Code) -> BTreeSet<usize> {
    let blocks = code.blocks();
    let steps = |block: &Block| code.steps.get(block.steps.clone()).unwrap_or(&[]);
    // Whether it flushes after a block: yes, no, or as before it.
    let after = |block: &Block| {
        let all = steps(block);
        let last = all
            .iter()
            .rposition(|s| matches!(s.action, Action::UpdateMode(_)))?;
        let steps = all.get(..=last).unwrap_or(&[]);
        let neutral = write(code, steps).is_some_and(|(compute, value)| {
            compute.operation == Operation::Xor && value & u64::from(USUAL_MODE) == 0
        });
        (!neutral).then(|| !keeps(code, steps))
    };
    let entries = code.routines.iter().map(|r| r.entry);
    let mut todo: Vec<usize> = entries
        .filter_map(|entry| blocks.iter().position(|b| b.steps.start == entry))
        .collect();
    // A callee may have written it.
    for (number, block) in blocks.iter().enumerate() {
        let last = steps(block).last();
        let calls = last
            .is_some_and(|s| matches!(s.action, Action::Call { .. } | Action::CallAddress { .. }));
        if calls {
            todo.push(number + 1);
        }
        if after(block) == Some(true) {
            todo.extend(block.edges.iter().map(|edge| edge.block()));
        }
    }
    let mut found = BTreeSet::new();
    let mut seen = vec![false; blocks.len()];
    while let Some(number) = todo.pop() {
        let (Some(block), Some(seen)) = (blocks.get(number), seen.get_mut(number)) else {
            continue;
        };
        if std::mem::replace(seen, true) {
            continue;
        }
        found.insert(block.steps.start);
        if after(block).is_none() {
            todo.extend(block.edges.iter().map(|edge| edge.block()));
        }
    }
    found
}

/// The write that the last step, which reports a write to `%cr0`, follows, if it is a plain write of a constant or
/// combines with one. Returns the operation and the constant.
fn write<'c>(code: &Code, steps: &'c [Step]) -> Option<(&'c Compute, u64)> {
    let [.., before, last] = steps else {
        return None;
    };
    let (Action::Compute(compute), Action::UpdateMode(place)) = (&before.action, &last.action)
    else {
        return None;
    };
    let constant = match (compute.operation, &compute.sources) {
        (Operation::Copy, [a, ..]) => Some(a),
        (Operation::Or | Operation::Xor, [a, b, ..]) => {
            [a, b].into_iter().find(|s| s.constant.is_some())
        }
        _ => None,
    };
    let constant = constant.filter(|s| s.constant.is_some())?;
    let plain = constant.region == Region::Scalar
        && constant.modify == Modify::None
        && constant.data_type.size() == 4
        && compute.destination.data_type.size() == 4
        && !compute.destination.saturate
        && compute.destination.offset == *place
        && compute.destination.target == Target::Packed
        && before.predicate.is_none()
        && before.lanes.no_mask;
    let value = code.constant(constant.offset).unwrap_or(0);
    plain.then_some((compute, value))
}

/// Whether the last step, which reports a write to `%cr0`, follows one that sets all bits that keep denormals.
fn keeps(code: &Code, steps: &[Step]) -> bool {
    let usual = u64::from(USUAL_MODE);
    write(code, steps).is_some_and(|(compute, value)| {
        compute.operation != Operation::Xor && value & usual == usual
    })
}

/// Whether a segment may well be entered in a mode that rounds to one side: it follows a write of `%cr0` that may have
/// chosen one. Compilers write it before and after the instructions that need it.
pub(crate) fn may_round(code: &Code, start: usize) -> bool {
    let steps = code.steps.get(..start).unwrap_or(&[]);
    let is_write = matches!(steps.last().map(|s| &s.action), Some(Action::UpdateMode(_)));
    let rounding = u64::from(ROUNDING_BITS);
    is_write && write(code, steps).is_none_or(|(_, value)| value & rounding != 0)
}
