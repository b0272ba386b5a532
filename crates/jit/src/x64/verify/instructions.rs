//! What instructions compute, as far as it matters for addresses.

use super::super::registers::{RAX, slot};
use super::memory::Place;
use super::state::{Fact, Flags, Id, MASKS, Operand, Room, State, VECTORS};
use super::tables::*;
use super::{Def, Field, Reason, Verifier};
use iced_x86::{Instruction, OpKind, Register};

/// Whether code goes on after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    On,
    Ends,
}

/// An operand of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    Value(Id),
    Immediate(u64),
    Memory(Place),
}

impl Verifier<'_> {
    /// Follows an instruction.
    pub(super) fn instruction(
        &mut self,
        place: usize,
        instruction: &Instruction,
        state: &mut State,
    ) -> Result<Flow, Reason> {
        let row = row(instruction.code()).ok_or(Reason::Unknown)?;
        if is_prefixed(instruction, row) {
            return Err(Reason::Unknown);
        }
        match row.kind {
            Kind::Push | Kind::Pop => self.stack(instruction, row.kind, state)?,
            Kind::Arithmetic(_)
                if instruction.op0_kind() == OpKind::Register
                    && instruction.op0_register() == Register::RSP =>
            {
                self.stack(instruction, row.kind, state)?;
            }
            Kind::Return => return self.returns(state),
            Kind::Trap => return Ok(Flow::Ends),
            Kind::Jump => return self.jumps(instruction, row, state),
            Kind::Call => self.call(place, instruction, row, state)?,
            Kind::ClearUpper => {
                for vector in VECTORS..MASKS {
                    state.set(vector, Id::UNDEFINED);
                }
            }
            Kind::Nothing => {}
            Kind::Address => self.lea(place, instruction, state)?,
            Kind::Arithmetic(kind) => {
                self.reads(instruction, row, state)?;
                self.number(place, instruction, state, (kind, row))?;
            }
            // Most are such, and nothing is known of what they compute.
            Kind::Vector | Kind::Blend if instruction.op0_kind() == OpKind::Register => {
                if self.reads(instruction, row, state)?.is_some() {
                    self.memory(instruction, row, state)?;
                }
                let to = slot(instruction.op0_register()).ok_or(Reason::Unknown)?;
                state.write(to, Id::at(place).ok_or(Reason::Unknown)?)?;
            }
            _ => {
                let memory = self.reads(instruction, row, state)?;
                self.other(place, instruction, row, (memory, state))?;
            }
        }
        Ok(Flow::On)
    }

    /// Registers that an instruction reads were written. The operand that is in memory, if there is one.
    fn reads(
        &self,
        instruction: &Instruction,
        row: Row,
        state: &State,
    ) -> Result<Option<u32>, Reason> {
        let is_written = |register| match slot(register) {
            Some(slot) if state.get(slot) == Id::UNDEFINED => Err(Reason::Undefined),
            Some(_) => Ok(()),
            None => Err(Reason::Unknown),
        };
        let count = instruction.op_count();
        let is_masked = instruction.has_op_mask();
        if is_masked {
            is_written(instruction.op_mask())?;
        }
        let merges = || {
            let to = || slot(instruction.op0_register());
            is_masked && !instruction.zeroing_masking() && matches!(to(), Some(VECTORS..MASKS))
        };
        let is_read = match row.kind {
            // Lanes that are not loaded stay.
            Kind::Gather => {
                let lanes = match is_masked {
                    true => slot(instruction.op_mask()).map(|slot| state.get(slot)),
                    false => Self::register(instruction, 2, state).map(|(_, value)| value),
                };
                lanes.is_none_or(|lanes| self.def(lanes) != Def::Ones)
            }
            // It stays if there is no bit.
            Kind::LowestBit => {
                let from = Self::register(instruction, 1, state);
                from.is_none_or(|(_, from)| !self.is_not_zero(state, from))
            }
            Kind::Blend => false,
            _ => row.does(READS) || merges(),
        };
        let alike = match row.does(ALIKE) && is_same(instruction) {
            true => count - 2,
            false => count,
        };
        let mut memory = None;
        let mut read = |operand, kind, register| match kind {
            OpKind::Register if operand >= alike || operand == 0 && !is_read => Ok(()),
            OpKind::Register => is_written(register),
            OpKind::Memory => {
                memory = Some(operand);
                Ok(())
            }
            _ if operand != 0 && immediate(instruction, operand).is_some() => Ok(()),
            _ => Err(Reason::Unknown),
        };
        if count > 0 {
            read(0, instruction.op0_kind(), instruction.op0_register())?;
        }
        if count > 1 {
            read(1, instruction.op1_kind(), instruction.op1_register())?;
        }
        for operand in 2..count {
            let register = match instruction.op_kind(operand) {
                OpKind::Register => instruction.op_register(operand),
                _ => Register::None,
            };
            read(operand, instruction.op_kind(operand), register)?;
        }
        let no_flags = row.does(TAKES) && state.flags == Flags::Undefined;
        let no_number = row.kind == Kind::Exchange && state.get(RAX.slot()) == Id::UNDEFINED;
        match no_flags || no_number {
            true => Err(Reason::Undefined),
            false => Ok(memory),
        }
    }

    /// The value of a register that is an operand.
    pub(super) fn register(
        instruction: &Instruction,
        operand: u32,
        state: &State,
    ) -> Option<(usize, Id)> {
        if instruction.op_kind(operand) != OpKind::Register {
            return None;
        }
        let slot = slot(instruction.op_register(operand))?;
        Some((slot, state.get(slot)))
    }

    /// An operand of an instruction on numbers.
    fn operand(
        &self,
        instruction: &Instruction,
        operand: u32,
        state: &State,
        row: Row,
    ) -> Result<Number, Reason> {
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let own = Self::register(instruction, operand, state).ok_or(Reason::Unknown)?;
                Ok(Number::Value(own.1))
            }
            OpKind::Memory => Ok(Number::Memory(self.memory(instruction, row, state)?)),
            _ => {
                let number = immediate(instruction, operand).ok_or(Reason::Unknown)?;
                Ok(Number::Immediate(number & low(row.bytes.into())))
            }
        }
    }

    /// Arithmetic on numbers.
    fn number(
        &mut self,
        place: usize,
        instruction: &Instruction,
        state: &mut State,
        (kind, row): (Arithmetic, Row),
    ) -> Result<(), Reason> {
        let bytes = usize::from(row.bytes);
        let to = self.operand(instruction, 0, state, row)?;
        let from = match instruction.op_count() {
            1 => Number::Immediate(0),
            _ => self.operand(instruction, 1, state, row)?,
        };
        let old = match to {
            Number::Value(old) => old,
            Number::Memory(place) => {
                if !row.does(KEEPS) {
                    self.changes(
                        place,
                        kind,
                        self.bits_of_number(from, state) & low(bytes),
                        state,
                    )?;
                }
                state.flags = match (place, kind, from) {
                    (
                        Place::Shared(Field::Companion),
                        Arithmetic::Compare,
                        Number::Immediate(0),
                    ) if bytes == 8 => Flags::ComparedCompanion,
                    _ => Flags::Any,
                };
                return Ok(());
            }
            Number::Immediate(_) => return Err(Reason::Unknown),
        };
        let whole = bytes == 8;
        match kind {
            Arithmetic::Compare => {
                state.flags = self.compared(old, from, bytes);
                return Ok(());
            }
            Arithmetic::Test => {
                let all = from == to;
                state.flags = self.result_flags(old, all);
                return Ok(());
            }
            _ => {}
        }
        let (def, bits) = match kind == Arithmetic::Xor && is_same(instruction) {
            true => (Def::Number(0), 0),
            false => self.result(state, kind, (old, from), bytes),
        };
        let value = self.define(place, def, bits)?;
        state.flags = match kind {
            _ if !row.does(SETS) => state.flags,
            Arithmetic::Sub if whole => Flags::Subtracted(value),
            Arithmetic::And | Arithmetic::Or | Arithmetic::Xor => self.result_flags(value, true),
            _ => Flags::Any,
        };
        let (to, _) = Self::register(instruction, 0, state).ok_or(Reason::Unknown)?;
        state.write(to, value)
    }

    /// Flags that say whether a value, or a part of it, is zero: of all of it only if it has no more than 32 bits.
    pub(super) fn result_flags(&self, value: Id, all: bool) -> Flags {
        match all && value.is_name() && self.bits_of(value) <= low(4) {
            true => Flags::Result(value),
            false => Flags::Any,
        }
    }

    /// The bits of an operand that may be set.
    fn bits_of_number(&self, number: Number, state: &State) -> u64 {
        match number {
            Number::Value(value) => self.bits_of(value),
            Number::Immediate(number) => number,
            Number::Memory(place) => match place.field() {
                Some(Field::Lanes { of_both }) => self.lanes_in(state, of_both),
                _ => u64::MAX,
            },
        }
    }

    /// Lanes that memory may have.
    pub(super) fn lanes_in(&self, state: &State, of_both: bool) -> u64 {
        match of_both && state.of_both {
            true => self.frame.lanes_of_both(),
            false => self.frame.lanes,
        }
    }

    /// A number in memory changes by one that has these bits.
    fn changes(
        &self,
        place: Place,
        kind: Arithmetic,
        bits: u64,
        state: &mut State,
    ) -> Result<(), Reason> {
        match (place, place.field()) {
            (Place::Data, _) | (_, Some(Field::Plain)) => Ok(()),
            // Lanes that wait are more of the program's.
            (_, Some(Field::Lanes { of_both })) if kind == Arithmetic::Or => {
                self.store_lanes(place, of_both, bits, state)
            }
            _ => Err(Reason::Outside),
        }
    }

    /// These lanes are stored, or some more of them.
    fn store_lanes(
        &self,
        place: Place,
        of_both: bool,
        bits: u64,
        state: &mut State,
    ) -> Result<(), Reason> {
        if bits & !self.frame.lanes == 0 {
            return Ok(());
        }
        let is_shared = of_both && matches!(place, Place::Shared(_));
        if !is_shared || bits & !self.frame.lanes_of_both() != 0 {
            return Err(Reason::Outside);
        }
        state.of_both = true;
        Ok(())
    }

    /// The result of an operation on numbers, and its bits that may be set.
    fn result(
        &self,
        state: &State,
        kind: Arithmetic,
        (old, from): (Id, Number),
        bytes: usize,
    ) -> (Def, u64) {
        let own = self.bits_of(old) & low(bytes);
        let other = self.bits_of_number(from, state) & low(bytes);
        let is_whole = bytes == 8;
        // As the host counts.
        let by = match from {
            Number::Immediate(by) => u32::try_from(by % (8 * bytes as u64)).ok(),
            _ => None,
        };
        let known = match (kind, from) {
            _ if !is_whole => None,
            (Arithmetic::And, Number::Memory(Place::Shared(Field::StorageMask))) => {
                Some(Def::StorageNumber)
            }
            (Arithmetic::ShiftLeft, _) if by == Some(self.frame.region_shift) => {
                match self.def(old) {
                    Def::StorageNumber => Some(Def::StorageEntry),
                    _ => state.knows(old, Fact::Surface).then_some(Def::SurfaceEntry),
                }
            }
            (Arithmetic::Add, Number::Memory(Place::Shared(field))) => {
                match (field, self.def(old)) {
                    (Field::Storage, Def::StorageEntry) | (Field::Surfaces, Def::SurfaceEntry) => {
                        Some(Def::Region)
                    }
                    _ => None,
                }
            }
            (Arithmetic::Add, Number::Value(base)) => self.address(state, old, base),
            (Arithmetic::Sub, Number::Immediate(number)) if number < 1 << 31 => {
                self.limit(state, old).and_then(|(room, most)| {
                    let bytes = room.bytes.checked_add(number)?;
                    Some(Def::Limit(Room { bytes, ..room }, most))
                })
            }
            _ => None,
        };
        if let Some(def) = known {
            return (def, u64::MAX);
        }
        let bits = match kind {
            Arithmetic::And => Some(own & other),
            Arithmetic::Or | Arithmetic::Xor => Some(own | other),
            Arithmetic::ShiftLeft => by.map(|by| own << by & low(bytes)),
            Arithmetic::ShiftRight => by.map(|by| own >> by),
            _ => None,
        };
        (Def::Unknown, bits.unwrap_or(low(bytes)))
    }

    /// The sum of two numbers, if one is the address of a region and the other an offset inside.
    fn address(&self, state: &State, a: Id, b: Id) -> Option<Def> {
        let Def::Storage(region) = self.def(b) else {
            return None;
        };
        let room = self.room(state, a).filter(|room| room.region == region);
        room.map(Def::Address)
    }

    /// What a comparison says.
    fn compared(&self, a: Id, b: Number, bytes: usize) -> Flags {
        let is_whole = |value: Id| bytes == 8 || self.bits_of(value) <= low(bytes);
        match b {
            _ if !a.is_name() || !is_whole(a) => Flags::Any,
            Number::Value(b) if b.is_name() && is_whole(b) => Flags::Compared(a, b),
            Number::Immediate(number) => Flags::ComparedNumber(a, number),
            Number::Memory(Place::Shared(Field::SurfaceCount)) if bytes == 8 => {
                Flags::ComparedSurfaces(a)
            }
            Number::Memory(Place::Shared(Field::FollowersEnd))
                if bytes == 8 && self.def(a) == Def::Follower =>
            {
                Flags::ComparedThreads(a)
            }
            _ => Flags::Any,
        }
    }

    /// Any other instruction: its first operand is written, or is memory.
    fn other(
        &mut self,
        place: usize,
        instruction: &Instruction,
        row: Row,
        (memory, state): (Option<u32>, &mut State),
    ) -> Result<(), Reason> {
        let there = match memory {
            Some(_) => Some(self.memory(instruction, row, state)?),
            None => None,
        };
        let needs_memory = matches!(
            row.kind,
            Kind::Store | Kind::StoreNumber | Kind::Scatter | Kind::Exchange
        );
        if needs_memory && memory != Some(0) {
            return Err(Reason::Unknown);
        }
        if memory == Some(0) && !row.does(KEEPS) {
            self.stores(instruction, row, state, there.ok_or(Reason::Unknown)?)?;
        }
        if row.does(SETS) {
            state.flags = self.flags(instruction, row, state);
        }
        if instruction.op0_kind() == OpKind::Register && !row.does(KEEPS) {
            let to = slot(instruction.op0_register()).ok_or(Reason::Unknown)?;
            let value = self.computed(place, instruction, row, state, there)?;
            state.write(to, value)?;
        }
        self.clobbers(place, instruction, row, state)
    }

    /// What an instruction writes besides its first operand.
    fn clobbers(
        &mut self,
        place: usize,
        instruction: &Instruction,
        row: Row,
        state: &mut State,
    ) -> Result<(), Reason> {
        match row.kind {
            Kind::Exchange => {
                let value = self.define(place, Def::Unknown, u64::MAX)?;
                state.write(RAX.slot(), value)
            }
            // The mask of lanes that are not done is used up.
            Kind::Gather | Kind::Scatter => {
                let mask = match instruction.op_count() {
                    3 => instruction.op_register(2),
                    _ => instruction.op_mask(),
                };
                state.write(slot(mask).ok_or(Reason::Unknown)?, Id::UNDEFINED)
            }
            _ => Ok(()),
        }
    }

    /// Whether something may be stored in a place, and what is known then.
    fn stores(
        &self,
        instruction: &Instruction,
        row: Row,
        state: &mut State,
        there: Place,
    ) -> Result<(), Reason> {
        if there == Place::Data {
            return Ok(());
        }
        let bytes = accessed(instruction);
        // What is stored, if it is all of it.
        let is_whole = row.kind == Kind::Store && !instruction.has_op_mask();
        let value = Self::register(instruction, 1, state).filter(|_| is_whole);
        let value = value.map(|(_, value)| value);
        let number = immediate(instruction, 1).filter(|_| row.kind == Kind::StoreNumber);
        let number = number.map(|number| number & low(bytes));
        let field = match there {
            Place::Offsets(at, None) => {
                Self::store_offsets(state, at, bytes, value);
                return Ok(());
            }
            Place::Shared(field) | Place::Thread(_, field) => field,
            _ => return Err(Reason::Outside),
        };
        let is_shared = matches!(there, Place::Shared(_));
        let fits = match field {
            Field::Plain => true,
            Field::Lanes { of_both } => {
                let bits = number.or(value.map(|value| self.bits_of(value) & low(bytes)));
                return self.store_lanes(there, of_both, bits.unwrap_or(u64::MAX), state);
            }
            Field::File => value == Some(Id::FILE) && bytes == 8,
            Field::Companion if is_shared => {
                state.change_companion(true);
                number == Some(0) && bytes == 8
            }
            Field::Own if is_shared && state.owed.is_none() => {
                state.change_companion(false);
                if let Some(Def::Own(thread)) = value.map(|value| self.def(value)) {
                    state.owed = Some(thread);
                }
                state.owed.is_some()
            }
            // The one whose companion the shared data have.
            Field::Follower if bytes == 8 => {
                let owed = state.owed.take().map(Def::After);
                owed.is_some() && owed == value.map(|value| self.def(value))
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(Reason::Outside) }
    }

    /// The flags after an instruction that sets them.
    fn flags(&self, instruction: &Instruction, row: Row, state: &State) -> Flags {
        let value = |operand| Self::register(instruction, operand, state).map(|(_, value)| value);
        match (row.kind, value(0), value(1)) {
            (Kind::Common, Some(a), _) => {
                Flags::Common(a, self.source(instruction, 1, row, state), row.bytes)
            }
            (Kind::AnyOfMask, Some(a), Some(b)) if a == b => Flags::Mask(a),
            _ => Flags::Any,
        }
    }

    /// A source of an operation on vectors.
    pub(super) fn source(
        &self,
        instruction: &Instruction,
        operand: u32,
        row: Row,
        state: &State,
    ) -> Operand {
        match instruction.op_kind(operand) {
            OpKind::Register => Self::register(instruction, operand, state)
                .map_or(Operand::Unknown, |(_, value)| Operand::Value(value)),
            OpKind::Memory => match self.memory(instruction, row, state) {
                Ok(Place::Constant(Some(at))) => Operand::Constant(at),
                _ => Operand::Unknown,
            },
            _ => Operand::Unknown,
        }
    }

    /// The address of a place, which is not accessed.
    fn lea(
        &mut self,
        place: usize,
        instruction: &Instruction,
        state: &mut State,
    ) -> Result<(), Reason> {
        let address = |register: Register| {
            let is_whole = register.is_gpr64();
            let slot = slot(register).filter(|_| is_whole).ok_or(Reason::Unknown)?;
            match state.get(slot) {
                Id::UNDEFINED => Err(Reason::Undefined),
                value => Ok(value),
            }
        };
        let base = address(instruction.memory_base())?;
        let at = instruction.memory_displacement64();
        let index = match instruction.memory_index() {
            Register::None => None,
            index => Some(address(index)?),
        };
        let to = slot(instruction.op0_register()).ok_or(Reason::Unknown)?;
        let thread = self.frame.thread_bytes();
        let is_thread = |value| state.knows(value, Fact::Thread);
        let mut learned = None;
        let (def, bits) = match index {
            None if at == 0 => return state.write(to, base),
            None if at.cast_signed() == thread && is_thread(base) => (Def::After(base), u64::MAX),
            None if at.cast_signed() == -thread && self.def(base) == Def::Follower => {
                learned = Some(Fact::Thread);
                (Def::Unknown, u64::MAX)
            }
            None if at < 1 << 31 => (Def::Sum(base, at), u64::MAX),
            _ => (Def::Unknown, u64::MAX),
        };
        let value = self.define(place, def, bits)?;
        if let Some(fact) = learned {
            state.learn(value, fact);
        }
        state.write(to, value)
    }
}

/// Whether the last two operands are the same register.
pub(super) fn is_same(instruction: &Instruction) -> bool {
    let count = instruction.op_count();
    let is_register = |operand| instruction.op_kind(operand) == OpKind::Register;
    count >= 2
        && is_register(count - 1)
        && is_register(count - 2)
        && instruction.op_register(count - 1) == instruction.op_register(count - 2)
}

/// Whether a prefix changes what an instruction does or accesses.
fn is_prefixed(instruction: &Instruction, row: Row) -> bool {
    instruction.has_lock_prefix() && row.kind != Kind::Exchange
        || instruction.segment_prefix() != Register::None
        || instruction.has_rep_prefix()
        || instruction.has_repne_prefix()
        || instruction.has_xacquire_prefix()
        || instruction.has_xrelease_prefix()
        || instruction.is_broadcast()
}
