//! Jumps, and lanes that diverge or join.

use crate::assembler::{Condition, Label};
use crate::count::Counts;
use crate::exits::{TAKEN, Way};
use crate::flow::{Compiler, step_number};
use crate::fused::{Outcome, jump_if};
use crate::pages::place as fields;
use crate::vector::{Done, RUNNING, field};
use iced_x86::{Code as Op, Register};
use visakit_exec::code::{Flag, Step};

impl Compiler<'_> {
    /// Leaves if lanes wait at this place (`je`) or before it, too (`jbe`).
    pub(crate) fn meet(&mut self, place: usize, how: Condition, label: Label) {
        let number = step_number(place);
        let waiting = field(fields::WAITING);
        self.writer.asm.op1i(Op::Cmp_rm64_imm32, waiting, number);
        self.writer.asm.jump_if(how, label);
    }

    /// All running lanes jump, or none.
    #[expect(clippy::too_many_arguments, reason = "a step and what is known of it")]
    pub(crate) fn jump(
        &mut self,
        place: usize,
        step: &Step,
        full: bool,
        target: usize,
        inverted: bool,
        before: Counts,
        counts: Counts,
    ) {
        let stays = self.writer.asm.label();
        if let Some(flag) = &step.predicate {
            let how = match self.writer.outcome.take() {
                Some(Outcome::Numbers { relation, signed }) => {
                    jump_if(relation, signed, flag.invert != inverted)
                }
                bits => {
                    self.writer.outcome = bits;
                    let Ok(()) = self.condition(flag) else {
                        let label = self.exit(place, before, Way::Leave);
                        self.writer.asm.jump(label);
                        return;
                    };
                    // Zero if the first lane is clear.
                    match inverted {
                        true => Condition::NotEqual,
                        false => Condition::Equal,
                    }
                }
            };
            self.writer.asm.jump_if(how, stays);
        }
        // Where all lanes run, none waits, and none ever waits before those that run.
        if !full && target > place {
            let meets = self.exit(place, counts, Way::Jump(target));
            self.meet(target, Condition::BelowOrEqual, meets);
        }
        self.count(counts);
        self.go(target, usize::from(!full));
        if step.predicate.is_some() {
            self.writer.asm.place(stays);
        } else {
            // Nothing comes after it.
            self.writer.kept.pending.clear();
        }
    }

    fn condition(&mut self, flag: &Flag) -> Done {
        self.writer.flag(flag, Register::EDX, 1)?;
        self.writer.asm.op1i(Op::Test_rm32_imm32, Register::EDX, 1);
        Ok(())
    }

    /// Enabled lanes jump. If only some of them do, the interpreter splits them.
    pub(crate) fn goto(
        &mut self,
        place: usize,
        step: &Step,
        full: bool,
        target: usize,
        inverted: bool,
        counts: &mut Counts,
    ) {
        let before = *counts;
        let window = step.lanes.window();
        let wanted = self.writer.full >> step.lanes.first;
        // A predicate that is in a register, and may stay there; and whether it is inverted.
        let held = step.predicate.as_ref().and_then(|flag| {
            let held = self.writer.held_flag(flag)?;
            let is_whole = step.lanes.first == 0 && wanted & !window == 0;
            is_whole.then_some((held, flag.invert != inverted))
        });
        match &step.predicate {
            _ if held.is_some() => {}
            Some(flag) => {
                if self.writer.flag(flag, TAKEN, wanted).is_err() {
                    let label = self.exit(place, before, Way::Leave);
                    self.writer.asm.jump(label);
                    return;
                }
                if inverted {
                    self.writer.asm.op1(Op::Not_rm32, TAKEN);
                    if wanted & !window != 0 {
                        self.writer.asm.op1i(Op::And_rm32_imm32, TAKEN, window);
                    }
                }
            }
            None => self.writer.asm.op1i(Op::Mov_r32_imm32, TAKEN, window),
        }
        if step.lanes.first != 0 {
            let shift = step.lanes.first.into();
            self.writer.asm.op1i(Op::Shl_rm32_imm8, TAKEN, shift);
        }
        counts.instructions += 1;
        if full {
            counts.lanes += self.writer.full.count_ones();
        } else {
            counts.running += 1;
        }
        let stays = self.writer.asm.label();
        // Other lanes run afterwards.
        self.writer.kept.enabled = None;
        // In the form for full masks nobody stays: the others go on in the other form.
        let in_turn = (self.turn.is_some() && !full).then_some(stays);
        let parts = self.exit(place, *counts, Way::Branch(target, in_turn));
        let asm = &mut self.writer.asm;
        match held {
            Some((held, true)) => asm.op3(Op::VEX_Andn_r32_r32_rm32, TAKEN, held, RUNNING),
            Some((held, false)) => {
                asm.op2(Op::Mov_r32_rm32, TAKEN, held);
                asm.op2(Op::And_r32_rm32, TAKEN, RUNNING);
            }
            None => asm.op2(Op::And_r32_rm32, TAKEN, RUNNING),
        }
        if self.writer.pair.is_some() {
            // Also if all lanes leave.
            self.writer.asm.jump_if(Condition::NotEqual, parts);
            self.writer.asm.place(stays);
            return;
        }
        self.writer.asm.jump_if(Condition::Equal, stays);
        self.writer.asm.op2(Op::Cmp_r32_rm32, TAKEN, RUNNING);
        self.writer.asm.jump_if(Condition::NotEqual, parts);
        if !full && target > place {
            let meets = self.exit(place, *counts, Way::Jump(target));
            self.meet(target, Condition::BelowOrEqual, meets);
        }
        self.count(*counts);
        self.go(target, usize::from(!full));
        self.writer.asm.place(stays);
    }
}
