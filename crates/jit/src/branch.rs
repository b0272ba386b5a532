//! Jumps, and lanes that diverge or join.

use crate::count::Counts;
use crate::exits::{TAKEN, Way};
use crate::flow::{Compiler, step_number};
use crate::fused::{Outcome, jump_if};
use crate::pages::place as fields;
use crate::vector::{Done, RUNNING, field};
use crate::x64::{Condition, EDX, Label, Width};
use visakit_exec::code::{Flag, Step};

impl Compiler<'_> {
    /// Leaves if lanes wait at this place (`je`) or before it, too (`jbe`).
    pub(crate) fn meet(&mut self, place: usize, how: Condition, label: Label) {
        let number = step_number(place);
        let waiting = field(fields::WAITING);
        self.writer.asm.cmp_memory(Width::Qword, waiting, number);
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
        self.writer.flag(flag, EDX, 1)?;
        self.writer.asm.test(EDX, 1);
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
                    self.writer.asm.not(TAKEN);
                    if wanted & !window != 0 {
                        self.writer.asm.and(TAKEN, window);
                    }
                }
            }
            None => self.writer.asm.mov(TAKEN, window),
        }
        if step.lanes.first != 0 {
            let shift = step.lanes.first.into();
            self.writer.asm.shl(TAKEN, shift);
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
            Some((held, true)) => asm.and_not(TAKEN, held, RUNNING),
            Some((held, false)) => {
                asm.mov(TAKEN, held);
                asm.and(TAKEN, RUNNING);
            }
            None => asm.and(TAKEN, RUNNING),
        }
        if self.writer.pair.is_some() {
            // Also if all lanes leave.
            self.writer.asm.jump_if(Condition::NotEqual, parts);
            self.writer.asm.place(stays);
            return;
        }
        self.writer.asm.jump_if(Condition::Equal, stays);
        self.writer.asm.cmp(TAKEN, RUNNING);
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
