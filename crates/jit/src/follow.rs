//! From a thread that has stopped to the one that follows it, and from a group to the next.
//!
//! Threads of simple kernels have no more instructions than leaving machine code, preparing the next thread, and entering
//! it again takes.

use crate::assembler::Condition;
use crate::flow::{Compiler, step_number};
use crate::pages::place::{self as fields, follower};
use crate::path::Path;
use crate::vector::{CONTEXT, FILE, LANE_OPERATIONS, LEFT, field};
use iced_x86::{Code as Op, MemoryOperand, Register};
use visakit_exec::code::{Action, Step};

/// A field of the follower at the offset in `rax`.
pub(crate) fn of_follower(place: i64) -> MemoryOperand {
    MemoryOperand::with_base_index_scale_displ_size(CONTEXT, Register::RAX, 1, place, 8)
}

impl Compiler<'_> {
    /// If the thread ends at a step, or waits at a barrier, goes on with the one that follows, if there is any.
    pub(crate) fn follow(&mut self, step: usize, version: usize) {
        use follower::{AHEAD, BYTES, CR0, PLACE, RUNNING as LANES};
        use iced_x86::Register::{R12, RAX, RCX};
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
            asm.op1s(Op::Cmp_rm64_imm32, field(waits), none);
            asm.jump_if(Condition::NotEqual, leaves);
        }
        asm.op2(Op::Mov_r64_rm64, RAX, field(fields::FOLLOWER));
        asm.op2(Op::Cmp_r64_rm64, RAX, field(fields::FOLLOWERS_END));
        asm.jump_if(
            Condition::Equal,
            if after.is_some() { leaves } else { last },
        );
        if self.may_pair {
            // What the next one has run already.
            asm.op2(Op::Cmp_r64_rm64, LEFT, of_follower(AHEAD));
            asm.jump_if(Condition::BelowOrEqual, leaves);
        }
        asm.op1i(Op::Sub_rm64_imm8, LEFT, 1);
        let lacks = asm.label();
        asm.jump_if(Condition::Below, lacks);
        if let Some(after) = after {
            let after = step_number(after);
            asm.op1i(Op::Mov_r32_imm32, Register::ECX, after);
            asm.op2(Op::Mov_rm64_r64, own(PLACE), RCX);
            asm.op2(Op::Mov_rm64_r64, own(LANES), R12);
            asm.op2(Op::Mov_r64_rm64, RCX, field(fields::CR0));
            asm.op2(Op::Mov_rm64_r64, own(CR0), RCX);
        } else {
            asm.op1s(Op::Mov_rm64_imm32, own(PLACE), -1);
        }
        self.writer.takes(match after {
            Some(_) => Path::FollowerAtBarrier,
            None => Path::Follower,
        });
        let asm = &mut self.writer.asm;
        asm.jump(self.next);
        asm.place(lacks);
        asm.op1(Op::Inc_rm64, LEFT);
        if after.is_none() {
            asm.jump(leaves);
            asm.place(last);
            asm.op1i(Op::Cmp_rm64_imm8, field(fields::REPEATS), 0);
            asm.jump_if(Condition::Equal, leaves);
            asm.op2(Op::Test_rm64_r64, LEFT, LEFT);
            asm.jump_if(Condition::Equal, leaves);
            asm.op2(Op::Mov_rm64_r64, field(fields::LEFT), LEFT);
            asm.op2(Op::Mov_r64_rm64, Register::RDI, CONTEXT);
            asm.op0(Op::VEX_Vzeroupper);
            asm.op1(Op::Call_rm64, field(fields::AGAIN));
            asm.op2(Op::Test_rm32_r32, Register::EAX, Register::EAX);
            asm.jump_if(Condition::Equal, leaves);
            asm.op1i(Op::Sub_rm64_imm8, LEFT, 1);
            asm.op2(Op::Xor_r32_rm32, Register::EAX, Register::EAX);
            self.writer.takes(Path::Group);
            self.writer.asm.jump(self.next);
        }
        self.writer.asm.place(leaves);
    }

    /// A thread has stopped, and the follower at the offset in `rax` runs.
    pub(crate) fn go_on_with_follower(&mut self) {
        use follower::{AHEAD, BYTES, OWN, RUNNING as LANES, STATE, TARGET};
        use iced_x86::Register::{R12, RAX, YMM0};
        let asm = &mut self.writer.asm;
        asm.place(self.next);
        asm.op1(Op::Inc_rm64, LANE_OPERATIONS);
        // If the rest of the slice is not enough, the host gives the thread what it lacks.
        asm.op2(Op::Mov_rm64_r64, field(fields::GRANTED), LEFT);
        asm.op2(Op::Mov_r64_rm64, FILE, of_follower(follower::FILE));
        asm.op2(Op::Mov_rm64_r64, field(fields::FILE), FILE);
        asm.op2(Op::Mov_r64_rm64, R12, of_follower(LANES));
        asm.op2(Op::Mov_rm64_r64, field(fields::RUNNING), R12);
        let (load, store) = (Op::VEX_Vmovdqu_ymm_ymmm256, Op::VEX_Vmovdqu_ymmm256_ymm);
        asm.op2(load, YMM0, of_follower(STATE));
        asm.op2(store, field(fields::STATE), YMM0);
        asm.op2(load, YMM0, of_follower(OWN));
        asm.op2(store, field(fields::OWN), YMM0);
        if self.may_pair {
            asm.op2(Op::Sub_r64_rm64, LEFT, of_follower(AHEAD));
            let lanes = of_follower(follower::LANE_OPERATIONS);
            asm.op2(Op::Add_r64_rm64, LANE_OPERATIONS, lanes);
        }
        asm.op2(
            Op::Lea_r64_m,
            RAX,
            MemoryOperand::with_base_displ(RAX, BYTES),
        );
        asm.op2(Op::Mov_rm64_r64, field(fields::FOLLOWER), RAX);
        asm.op1(Op::Jmp_rm64, of_follower(TARGET - BYTES));
    }
}
