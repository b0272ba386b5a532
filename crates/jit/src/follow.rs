//! From a thread that has stopped to the one that follows it, and from a group to the next.
//!
//! Threads of simple kernels have no more instructions than leaving machine code, preparing the next thread, and entering
//! it again takes.

use crate::flow::{Compiler, step_number};
use crate::pages::place::{self as fields, follower};
use crate::path::Path;
use crate::vector::{CONTEXT, FILE, LANE_OPERATIONS, LEFT, field};
use crate::x64::{Condition, EAX, ECX, Memory, Note, R12, RAX, RCX, RDI, Width, ops, ymm};
use visakit_exec::code::{Action, Step};

/// A field of the follower at the offset in `rax`.
pub(crate) fn of_follower(place: i64) -> Memory {
    Memory::at(CONTEXT, place).indexed(RAX, Width::Byte)
}

impl Compiler<'_> {
    /// If the thread ends at a step, or waits at a barrier, goes on with the one that follows, if there is any.
    pub(crate) fn follow(&mut self, step: usize, version: usize) {
        use follower::{AHEAD, BYTES, CR0, PLACE, RUNNING as LANES};
        let after = match self.code.steps.get(step) {
            _ if self.has_calls => return,
            Some(Step {
                action: Action::Return { uniform: true },
                predicate: None,
                ..
            }) => None,
            Some(Step {
                action: Action::Barrier,
                ..
            }) => Some(step + 1),
            _ => return,
        };
        let own = |place: i64| of_follower(place - BYTES);
        let asm = &mut self.writer.asm;
        let [leaves, last] = [(); 2].map(|()| asm.label());
        // The host knows of lanes that wait for as long as their thread runs.
        if version != 0 {
            let (waits, none) = match after {
                None => (fields::WAITING, -1),
                Some(_) => (fields::PARKED, 0),
            };
            asm.cmp_memory(Width::Qword, field(waits), none);
            asm.jump_if(Condition::NotEqual, leaves);
        }
        asm.mov(RAX, field(fields::FOLLOWER));
        asm.cmp(RAX, field(fields::FOLLOWERS_END));
        asm.jump_if(
            Condition::Equal,
            if after.is_some() { leaves } else { last },
        );
        if self.may_pair {
            // What the next one has run already.
            asm.cmp(LEFT, of_follower(AHEAD));
            asm.jump_if(Condition::BelowOrEqual, leaves);
        }
        asm.sub(LEFT, 1);
        let lacks = asm.label();
        asm.jump_if(Condition::Below, lacks);
        if let Some(after) = after {
            let after = step_number(after);
            asm.mov(ECX, after);
            asm.store(own(PLACE), RCX);
            asm.store(own(LANES), R12);
            asm.mov(RCX, field(fields::CR0));
            asm.store(own(CR0), RCX);
        } else {
            asm.store_number(own(PLACE), -1);
        }
        self.writer.takes(match after {
            Some(_) => Path::FollowerAtBarrier,
            None => Path::Follower,
        });
        let asm = &mut self.writer.asm;
        asm.jump(self.next);
        asm.place(lacks);
        asm.inc(LEFT);
        if after.is_none() {
            asm.jump(leaves);
            asm.place(last);
            asm.cmp_memory(Width::Qword, field(fields::REPEATS), 0);
            asm.jump_if(Condition::Equal, leaves);
            asm.test(LEFT, LEFT);
            asm.jump_if(Condition::Equal, leaves);
            asm.store(field(fields::LEFT), LEFT);
            asm.mov(RDI, CONTEXT);
            asm.call(field(fields::AGAIN));
            asm.test(EAX, EAX);
            asm.jump_if(Condition::Equal, leaves);
            asm.sub(LEFT, 1);
            // The first one is the one before that which would follow.
            asm.mov(RAX, field(fields::FOLLOWER));
            asm.lea(RAX, Memory::at(RAX, -BYTES));
            self.writer.takes(Path::Group);
            self.writer.asm.jump(self.next);
        }
        self.writer.asm.place(leaves);
    }

    /// A thread has stopped, and the follower at the offset in `rax` runs.
    pub(crate) fn go_on_with_follower(&mut self) {
        use follower::{AHEAD, BYTES, OWN, RUNNING as LANES, STATE, TARGET};
        let asm = &mut self.writer.asm;
        asm.note(Note::Follower);
        asm.place(self.next);
        asm.inc(LANE_OPERATIONS);
        // If the rest of the slice is not enough, the host gives the thread what it lacks.
        asm.store(field(fields::GRANTED), LEFT);
        asm.mov(FILE, of_follower(follower::FILE));
        asm.store(field(fields::FILE), FILE);
        asm.mov(R12, of_follower(LANES));
        asm.store(field(fields::RUNNING), R12);
        let (load, store) = (ops::MOVE, ops::STORE);
        asm.v2(load, ymm(0), of_follower(STATE));
        asm.v2(store, field(fields::STATE), ymm(0));
        asm.v2(load, ymm(0), of_follower(OWN));
        asm.v2(store, field(fields::OWN), ymm(0));
        if self.may_pair {
            asm.sub(LEFT, of_follower(AHEAD));
            let lanes = of_follower(follower::LANE_OPERATIONS);
            asm.add(LANE_OPERATIONS, lanes);
        }
        asm.lea(RAX, Memory::at(RAX, BYTES));
        asm.store(field(fields::FOLLOWER), RAX);
        asm.jump_to(of_follower(TARGET - BYTES));
    }
}
