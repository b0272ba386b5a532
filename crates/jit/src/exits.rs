//! Ways out of machine code: to the interpreter, to a fault, to lanes that wait.

use crate::count::Counts;
use crate::flow::{Compiler, step_number};
use crate::kept::Kept;
use crate::mode::Form;
use crate::pages::place as fields;
use crate::path::Path;
use crate::pending::Pending;
use crate::vector::{CONTEXT, LANE_OPERATIONS, RUNNING, field};
use crate::x64::{
    Condition, EAX, ECX, EDX, ESI, Label, Note, Number, R8D, R12, RAX, RCX, RDI, Width,
};

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
    /// What registers hold there, if the others stay in a turn of a loop.
    kept: Option<Box<Kept>>,
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
    /// Some of the running lanes, those in [`TAKEN`], jump to a step; the others go on with the next one, at this label if there is one.
    Branch(usize, Option<Label>),
    /// Lanes that wait at the step join.
    Join,
    /// To the code of the step, of a version.
    Go(usize),
}

/// Lanes that jump.
pub(crate) const TAKEN: Number = EDX;

impl Compiler<'_> {
    /// Leaves machine code; the interpreter continues with a step.
    pub(crate) fn leave(&mut self, step: usize) {
        let asm = &mut self.writer.asm;
        let number = step_number(step);
        asm.mov(EAX, number);
        asm.store(field(fields::PLACE), RAX);
        asm.jump(self.end);
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
            kept: matches!(way, Way::Branch(_, Some(_)))
                .then(|| Box::new(self.writer.kept.clone())),
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
        self.writer.asm.note(Note::Exit(exit.place));
        self.writer.asm.place(exit.label);
        if self.is_for_pairs() {
            self.writer.form = exit.form;
            let kept = exit.kept.as_deref();
            return self.leave_pair((exit.place, exit.way), exit.counts, &exit.pending, kept);
        }
        if let Way::Branch(target, Some(stays)) = exit.way
            && target > exit.place
        {
            self.park_in_turn(exit, target, stays);
        }
        self.store_pending(&exit.pending);
        self.writer.form = exit.form;
        self.count(exit.counts);
        match exit.way {
            Way::Leave => {
                self.writer.takes(Path::Left);
                self.leave(exit.place);
            }
            Way::Fault => {
                self.writer.takes(Path::Fault);
                let fault = field(fields::FAULT);
                self.writer.asm.store_number(fault, 1);
                self.leave(exit.place);
            }
            Way::Jump(target) => {
                self.join_parked(target);
                self.change_with_parked(exit.place + 1, target);
                self.writer.asm.mov(TAKEN, RUNNING);
                self.part(exit.place, step_number(target));
            }
            Way::Branch(target, _) => {
                let next = exit.place + 1;
                let (waits, goes_on) = match target > exit.place {
                    true => (target, next),
                    false => (next, target),
                };
                let host = self.writer.asm.label();
                self.may_park(waits, host);
                if waits == next {
                    // Those that jump run.
                    self.writer.asm.xor(TAKEN, RUNNING);
                }
                self.park();
                self.writer.takes(Path::Park);
                self.go(goes_on, 1);
                self.writer.asm.place(host);
                self.part(exit.place, step_number(target));
            }
            Way::Join => {
                self.join_parked(exit.place);
                self.part(exit.place, fields::NO_TARGET);
            }
            Way::Go(version) => self.go(exit.place, version),
        }
    }

    /// In a turn of a loop: lanes leave it and wait, the others stay in it with their operands in registers.
    fn park_in_turn(&mut self, exit: &Exit, target: usize, stays: Label) {
        let host = self.writer.asm.label();
        self.may_park(target, host);
        let mut pending = exit.pending.clone();
        pending.retain(|one| self.is_live(target, &one.bytes));
        self.store_pending(&pending);
        // What is counted at the end of the turn is counted for those that stay.
        if exit.counts.running != 0 {
            let (ecx, running) = (ECX, exit.counts.running);
            let asm = &mut self.writer.asm;
            asm.popcnt(ecx, TAKEN);
            asm.imul(ecx, ecx, running);
            asm.add(LANE_OPERATIONS, RCX);
        }
        self.park();
        if let Some(kept) = &exit.kept {
            self.writer.load_running(kept);
        }
        self.writer.takes(Path::ParkInTurn);
        self.writer.asm.jump(stays);
        self.writer.asm.place(host);
    }

    /// Goes on if lanes that jump to a step can wait there without the host: where other lanes wait at no step before it,
    /// and the host knows of those that wait after it. Clobbers `rax`.
    pub(crate) fn may_park(&mut self, target: usize, host: Label) {
        let number = step_number(target);
        let there = self.writer.asm.label();
        let asm = &mut self.writer.asm;
        asm.mov(RAX, field(fields::WAITING));
        asm.cmp(RAX, number);
        asm.jump_if(Condition::Equal, there);
        asm.jump_if(Condition::Below, host);
        asm.cmp_memory(Width::Qword, field(fields::PARKED), 0);
        asm.jump_if(Condition::NotEqual, host);
        asm.store_number(field(fields::WAITING), number);
        asm.store(field(fields::BEHIND), RAX);
        asm.place(there);
    }

    /// If all lanes that wait before or at a step wait there, and the host does not know of them, they join those that run,
    /// which go on there. Clobbers `rax`.
    fn join_parked(&mut self, step: usize) {
        let host = self.writer.asm.label();
        self.meet(step, Condition::NotEqual, host);
        let alone = fields::NOT_ALONE;
        let asm = &mut self.writer.asm;
        asm.mov(RAX, field(fields::BEHIND));
        asm.cmp(RAX, alone);
        asm.jump_if(Condition::Equal, host);
        asm.store(field(fields::WAITING), RAX);
        asm.store_number(field(fields::BEHIND), alone);
        asm.or(RUNNING, field(fields::PARKED));
        asm.store_number(field(fields::PARKED), 0);
        asm.store(field(fields::RUNNING), R12);
        let full = asm.label();
        self.writer.takes(Path::JoinParked);
        let asm = &mut self.writer.asm;
        asm.cmp(RUNNING, self.writer.full);
        asm.jump_if(Condition::Equal, full);
        self.go(step, 1);
        self.writer.asm.place(full);
        self.go(step, 0);
        self.writer.asm.place(host);
    }

    /// If all lanes that wait before a step wait at another one, the next, and the host does not know of them, as in front
    /// of the second part of a choice: those run now, and the others wait. Clobbers `rax`.
    fn change_with_parked(&mut self, next: usize, target: usize) {
        if target <= next {
            return;
        }
        let host = self.writer.asm.label();
        self.meet(next, Condition::NotEqual, host);
        let number = step_number(target);
        let asm = &mut self.writer.asm;
        asm.mov(RAX, field(fields::BEHIND));
        asm.cmp(RAX, fields::NOT_ALONE);
        asm.jump_if(Condition::Equal, host);
        asm.cmp(RAX, number);
        asm.jump_if(Condition::BelowOrEqual, host);
        asm.mov(EAX, field(fields::PARKED));
        asm.store(field(fields::PARKED), R12);
        asm.store_number(field(fields::WAITING), number);
        asm.mov(RUNNING, EAX);
        asm.store(field(fields::RUNNING), R12);
        self.writer.takes(Path::ChangePlaces);
        self.go(next, 1);
        self.writer.asm.place(host);
    }

    /// Lets the lanes in [`TAKEN`], which is lost, wait.
    pub(crate) fn park(&mut self) {
        let asm = &mut self.writer.asm;
        asm.or_to(field(fields::PARKED), TAKEN);
        asm.not(TAKEN);
        asm.and(RUNNING, TAKEN);
        asm.store(field(fields::RUNNING), R12);
    }

    /// The host determines which lanes continue, and where, when those in [`TAKEN`] jump from one step to another.
    fn part(&mut self, place: usize, target: u32) {
        self.writer.takes(Path::Part);
        let asm = &mut self.writer.asm;
        asm.mov(RDI, CONTEXT);
        let number = step_number(place);
        asm.mov(ESI, number);
        // The third argument is already in place.
        asm.mov(ECX, RUNNING);
        asm.mov(R8D, target);
        asm.call(field(fields::BRANCH));
        asm.mov(R12, field(fields::RUNNING));
        asm.jump_to(RAX);
    }

    /// Stores what registers hold on a way out.
    pub(crate) fn store_pending(&mut self, pending: &[Pending]) {
        if self.writer.store_pending(pending).is_err() {
            self.writer.asm.give_up();
        }
    }
}
