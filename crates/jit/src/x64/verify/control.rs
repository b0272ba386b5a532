//! The stack, calls, and ways out.

use super::super::registers::{RAX, RDI, slot};
use super::instructions::Flow;
use super::memory::Place;
use super::state::{Flags, Id, State};
use super::tables::{Arithmetic, Kind, Row, immediate};
use super::{Def, Field, Reason, SAVED, Verifier};
use iced_x86::{Instruction, OpKind};

impl Verifier<'_> {
    /// The stack holds registers of the caller, in one order, and a word to fill a line. Nothing else is ever there.
    pub(super) fn stack(
        &self,
        instruction: &Instruction,
        kind: Kind,
        state: &mut State,
    ) -> Result<(), Reason> {
        let register = slot(instruction.op0_register()).ok_or(Reason::Unknown)?;
        let all = SAVED.len();
        let is_word = || immediate(instruction, 1) == Some(8);
        let below = state.depth.checked_sub(1);
        state.depth = match (kind, below) {
            (Kind::Push, _) => {
                let own = SAVED.get(state.depth).ok_or(Reason::Agreement)?;
                if state.get(register) != Id::saved(*own) {
                    return Err(Reason::Agreement);
                }
                state.depth + 1
            }
            (Kind::Pop, Some(below)) => {
                let own = SAVED.get(below).ok_or(Reason::Agreement)?;
                state.write(register, Id::saved(*own))?;
                below
            }
            (Kind::Arithmetic(Arithmetic::Sub), _) if state.depth == all && is_word() => all + 1,
            (Kind::Arithmetic(Arithmetic::Add), Some(below)) if below == all && is_word() => all,
            _ => return Err(Reason::Agreement),
        };
        if matches!(kind, Kind::Arithmetic(_)) {
            state.flags = Flags::Any;
        }
        Ok(())
    }

    /// The caller finds its registers, and the shared data, as they were.
    pub(super) fn returns(&self, state: &State) -> Result<Flow, Reason> {
        let is_restored = |register: &usize| state.get(*register) == Id::saved(*register);
        match state.depth == 0 && state.is_settled() && SAVED.iter().all(is_restored) {
            true => Ok(Flow::Ends),
            false => Err(Reason::Agreement),
        }
    }

    /// Code goes on where the host says.
    pub(super) fn jumps(
        &self,
        instruction: &Instruction,
        row: Row,
        state: &State,
    ) -> Result<Flow, Reason> {
        let is_code = match instruction.op0_kind() {
            OpKind::Memory => {
                let there = self.memory(instruction, row, state)?;
                there.field() == Some(Field::Code)
            }
            _ => Self::register(instruction, 0, state).is_some_and(|(_, value)| value == Id::CODE),
        };
        match (is_code, self.agrees(state, &self.entered)) {
            (false, _) => Err(Reason::Target),
            (true, false) => Err(Reason::Agreement),
            (true, true) => Ok(Flow::Ends),
        }
    }

    /// A function of the host is called. It may move and change everything that the host has: of the registers that it
    /// restores only what is true in any case remains.
    pub(super) fn call(
        &mut self,
        place: usize,
        instruction: &Instruction,
        row: Row,
        state: &mut State,
    ) -> Result<(), Reason> {
        if instruction.op0_kind() != OpKind::Memory {
            return Err(Reason::Target);
        }
        let Place::Shared(Field::Function {
            keeps_file,
            returns_code,
            parts,
        }) = self.memory(instruction, row, state)?
        else {
            return Err(Reason::Target);
        };
        // The stack is in lines of 16 bytes after an odd number of words, as the caller's address is one.
        let is_line = !state.depth.is_multiple_of(2);
        let is_ready = state.is_settled() || parts && state.owed.is_none();
        if state.get(RDI.slot()) != Id::CONTEXT || !is_line || !is_ready {
            return Err(Reason::Agreement);
        }
        let mut after = State::new();
        for register in SAVED {
            let kept = match state.get(register) {
                Id::FILE if !keeps_file => Id::UNDEFINED,
                own @ (Id::UNDEFINED | Id::FILE) => own,
                own @ (Id::CONSTANTS | Id::CONTEXT | Id::RUNNING) => own,
                own if own.is_saved() => own,
                own if self.bits_of(own) & !self.frame.lanes == 0 => Id::LANES,
                _ => Id::ANY,
            };
            after.set(register, kept);
        }
        let result = match returns_code {
            true => Id::CODE,
            false => self.define(place, Def::Unknown, u64::MAX)?,
        };
        after.set(RAX.slot(), result);
        after.depth = state.depth;
        *state = after;
        Ok(())
    }
}
