//! Ways out of machine code: to the interpreter, to a fault, to lanes that wait.

use crate::assembler::Label;
use crate::flow::{Compiler, Counts};
use crate::mode::Form;
use crate::pages::place as fields;
use crate::pending::Pending;
use crate::vector::{CONTEXT, RUNNING, field};
use iced_x86::{Code as Op, Register};

/// A way out of a segment that is written after it.
pub(crate) struct Exit {
    label: Label,
    /// The step that contains it.
    place: usize,
    counts: Counts,
    way: Way,
    /// The form of the segment that it leaves.
    form: Form,
    /// What registers hold there, and may not be in the file.
    pub(crate) pending: Vec<Pending>,
}

/// Where a way out leads.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// The interpreter continues with the step.
    Leave,
    /// The step had a fault.
    Fault,
    /// All running lanes jump to a step, where others wait.
    Jump(usize),
    /// The lanes in [`TAKEN`] jump to a step.
    Branch(usize),
    /// Lanes that wait at the step join.
    Join,
    /// To the code of the step, of a version.
    Go(usize),
}

/// Lanes that jump.
pub(crate) const TAKEN: Register = Register::EDX;

impl Compiler<'_> {
    /// Leaves machine code; the interpreter continues with a step.
    pub(crate) fn leave(&mut self, step: usize) {
        let asm = &mut self.writer.asm;
        let number = u32::try_from(step).unwrap_or(u32::MAX);
        asm.op1i(Op::Mov_r32_imm32, Register::EAX, number);
        asm.op2(Op::Mov_rm64_r64, field(fields::PLACE), Register::RAX);
        asm.jump(Op::Jmp_rel32_64, self.end);
    }

    pub(crate) fn exit(&mut self, place: usize, counts: Counts, way: Way) -> Label {
        let label = self.writer.asm.label();
        self.exits.push(Exit {
            label,
            place,
            counts,
            way,
            form: self.writer.form,
            pending: self.writer.pending(),
        });
        label
    }

    /// The ways out so far.
    pub(crate) fn leave_by_exits(&mut self) {
        for exit in std::mem::take(&mut self.exits) {
            self.leave_by(&exit);
        }
    }

    fn leave_by(&mut self, exit: &Exit) {
        self.writer.asm.place(exit.label);
        self.store_pending(&exit.pending);
        self.writer.form = exit.form;
        self.count(exit.counts);
        match exit.way {
            Way::Leave => self.leave(exit.place),
            Way::Fault => {
                let fault = field(fields::FAULT);
                self.writer.asm.op1i(Op::Mov_rm64_imm32, fault, 1);
                self.leave(exit.place);
            }
            Way::Jump(target) => {
                self.writer.asm.op2(Op::Mov_r32_rm32, TAKEN, RUNNING);
                self.part(exit.place, u32::try_from(target).unwrap_or(u32::MAX));
            }
            Way::Branch(target) => {
                self.part(exit.place, u32::try_from(target).unwrap_or(u32::MAX));
            }
            Way::Join => self.part(exit.place, fields::NO_TARGET),
            Way::Go(version) => self.go(exit.place, version),
        }
    }

    /// The host determines which lanes continue, and where, when those in [`TAKEN`] jump from one step to another.
    fn part(&mut self, place: usize, target: u32) {
        let asm = &mut self.writer.asm;
        asm.op2(Op::Mov_r64_rm64, Register::RDI, CONTEXT);
        let number = u32::try_from(place).unwrap_or(u32::MAX);
        asm.op1i(Op::Mov_r32_imm32, Register::ESI, number);
        // The third argument is already in place.
        asm.op2(Op::Mov_r32_rm32, Register::ECX, RUNNING);
        asm.op1i(Op::Mov_r32_imm32, Register::R8D, target);
        asm.op0(Op::VEX_Vzeroupper);
        asm.op1(Op::Call_rm64, field(fields::BRANCH));
        asm.op2(Op::Mov_r64_rm64, Register::R12, field(fields::RUNNING));
        asm.op1(Op::Jmp_rm64, Register::RAX);
    }

    /// Stores what registers hold on a way out.
    pub(crate) fn store_pending(&mut self, pending: &[Pending]) {
        if self.writer.store_pending(pending).is_err() {
            self.writer.asm.give_up();
        }
    }
}
