//! The stack, calls, and ways out.

use super::super::registers::{RAX, RBX, RDI, slot};
use super::instructions::Flow;
use super::memory::Place;
use super::state::{Flags, Id, State};
use super::{Def, Field, Reason, SAVED, Verifier, entered};
use iced_x86::{Code, Instruction, OpKind};

impl Verifier<'_> {
    /// The stack holds registers of the caller.
    pub(super) fn stack(&self, instruction: &Instruction, state: &mut State) -> Result<(), Reason> {
        let register = slot(instruction.op0_register()).ok_or(Reason::Unknown)?;
        let is_word = instruction.op_count() == 1 || instruction.immediate(1) == 8;
        if !is_word {
            return Err(Reason::Agreement);
        }
        match instruction.code() {
            Code::Push_r64 | Code::Sub_rm64_imm8 => {
                let own = state.stack.get_mut(state.depth).ok_or(Reason::Agreement)?;
                *own = match instruction.code() {
                    Code::Push_r64 => state
                        .registers
                        .get(register)
                        .copied()
                        .unwrap_or(Id::UNDEFINED),
                    _ => Id::UNDEFINED,
                };
                state.depth += 1;
            }
            _ => {
                state.depth = state.depth.checked_sub(1).ok_or(Reason::Agreement)?;
                let own = state.stack.get_mut(state.depth).ok_or(Reason::Agreement)?;
                let value = std::mem::replace(own, Id::UNDEFINED);
                if instruction.code() == Code::Pop_r64 {
                    state.set(register, value);
                }
            }
        }
        state.flags = Flags::Any;
        Ok(())
    }

    /// The caller finds its registers as they were.
    pub(super) fn returns(&self, state: &State) -> Result<Flow, Reason> {
        let is_restored = |register: &usize| state.get(*register) == Id::saved(*register);
        match state.depth == 0 && SAVED.iter().all(is_restored) {
            true => Ok(Flow::Ends),
            false => Err(Reason::Agreement),
        }
    }

    /// Code goes on where the host says.
    pub(super) fn jumps(&self, instruction: &Instruction, state: &State) -> Result<Flow, Reason> {
        let is_code = match instruction.op0_kind() {
            OpKind::Memory => self.memory(instruction, state, 8)? == Place::Shared(Field::Code),
            _ => Self::register(instruction, 0, state).is_some_and(|(_, value)| value == Id::CODE),
        };
        match (is_code, self.agrees(state, &entered())) {
            (false, _) => Err(Reason::Target),
            (true, false) => Err(Reason::Agreement),
            (true, true) => Ok(Flow::Ends),
        }
    }

    /// A function of the host is called.
    pub(super) fn call(
        &mut self,
        place: usize,
        instruction: &Instruction,
        state: &mut State,
    ) -> Result<(), Reason> {
        let Place::Shared(Field::Function {
            keeps_file,
            returns_code,
        }) = self.memory(instruction, state, 8)?
        else {
            return Err(Reason::Target);
        };
        // The stack is in lines of 16 bytes after an odd number of words, as the caller's address is one.
        if state.get(RDI.slot()) != Id::CONTEXT || state.depth.is_multiple_of(2) {
            return Err(Reason::Agreement);
        }
        let mut after = State::new();
        for register in SAVED {
            after.set(register, state.get(register));
        }
        if !keeps_file {
            after.set(RBX.slot(), Id::UNDEFINED);
        }
        let result = match returns_code {
            true => Id::CODE,
            false => self.define(place, Def::Unknown, u64::MAX)?,
        };
        after.set(RAX.slot(), result);
        (after.stack, after.depth) = (state.stack, state.depth);
        *state = after;
        Ok(())
    }
}
