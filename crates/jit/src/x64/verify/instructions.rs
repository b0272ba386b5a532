//! What instructions compute, as far as it matters for addresses.

use super::super::registers::{RAX, slot};
use super::memory::Place;
use super::state::{Fact, Flags, Id, MASKS, Operand, Room, State, VECTORS};
use super::tables::*;
use super::{Def, Field, Reason, Verifier};
use iced_x86::{Code, Instruction, OpKind, Register};

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
        let code = instruction.code();
        match code {
            Code::Push_r64 | Code::Pop_r64 => self.stack(instruction, state)?,
            Code::Sub_rm64_imm8 | Code::Add_rm64_imm8
                if instruction.op0_register() == Register::RSP =>
            {
                self.stack(instruction, state)?;
            }
            Code::Retnq => return self.returns(state),
            Code::Ud2 => return Ok(Flow::Ends),
            Code::Jmp_rm64 => return self.jumps(instruction, state),
            Code::Call_rm64 => self.call(place, instruction, state)?,
            Code::VEX_Vzeroupper => {
                for vector in VECTORS..MASKS {
                    state.set(vector, Id::UNDEFINED);
                }
            }
            Code::Mfence => {}
            Code::Nopd => {}
            Code::Lea_r64_m => self.lea(place, instruction, state)?,
            _ => {
                self.reads(instruction, state)?;
                match arithmetic(code) {
                    Some((kind, bytes)) => self.number(place, instruction, state, (kind, bytes))?,
                    None => self.other(place, instruction, state)?,
                }
            }
        }
        Ok(Flow::On)
    }

    /// Registers that an instruction reads were written.
    fn reads(&self, instruction: &Instruction, state: &State) -> Result<(), Reason> {
        let code = instruction.code();
        let is_register = |operand| instruction.op_kind(operand) == OpKind::Register;
        let value = |register| {
            let slot = slot(register).ok_or(Reason::Unknown)?;
            Ok(state.get(slot))
        };
        let count = instruction.op_count();
        let same = ignores_same(code) && count >= 2 && {
            let (a, b) = (count - 2, count - 1);
            is_register(a)
                && is_register(b)
                && instruction.op_register(a) == instruction.op_register(b)
        };
        let merges = instruction.has_op_mask()
            && !instruction.zeroing_masking()
            && is_register(0)
            && matches!(slot(instruction.op0_register()), Some(VECTORS..MASKS))
            && !is_free_merge(code);
        let reads_first = merges || reads_first(code) || arithmetic(code).is_some();
        for operand in u32::from(!reads_first)..count {
            if is_register(operand)
                && !same
                && value(instruction.op_register(operand))? == Id::UNDEFINED
            {
                return Err(Reason::Undefined);
            }
        }
        if instruction.has_op_mask() && value(instruction.op_mask())? == Id::UNDEFINED {
            return Err(Reason::Undefined);
        }
        Ok(())
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

    /// An operand of an instruction on numbers of so many bytes.
    fn operand(
        &self,
        instruction: &Instruction,
        operand: u32,
        state: &State,
        bytes: usize,
    ) -> Result<Number, Reason> {
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let own = Self::register(instruction, operand, state).ok_or(Reason::Unknown)?;
                Ok(Number::Value(own.1))
            }
            OpKind::Memory => Ok(Number::Memory(self.memory(instruction, state, bytes)?)),
            _ => Ok(Number::Immediate(
                instruction.immediate(operand) & low(bytes),
            )),
        }
    }

    /// Arithmetic on numbers.
    fn number(
        &mut self,
        place: usize,
        instruction: &Instruction,
        state: &mut State,
        (kind, bytes): (Arithmetic, usize),
    ) -> Result<(), Reason> {
        let to = self.operand(instruction, 0, state, bytes)?;
        let from = match instruction.op_count() {
            1 => Number::Immediate(0),
            _ => self.operand(instruction, 1, state, bytes)?,
        };
        let Number::Value(old) = to else {
            state.flags = Flags::Any;
            return match to {
                // Only numbers of which nothing is known change in memory.
                Number::Memory(place) if !only_reads(instruction.code()) => match place {
                    Place::Data | Place::Shared(Field::Plain) => Ok(()),
                    // Lanes that wait are more of the program's.
                    Place::Shared(Field::Lanes) if kind == Arithmetic::Or => Ok(()),
                    _ => Err(Reason::Outside),
                },
                _ => Ok(()),
            };
        };
        let whole = bytes == 8;
        match kind {
            Arithmetic::Compare => {
                state.flags = self.compared(old, from, bytes);
                return Ok(());
            }
            Arithmetic::Test => {
                let all = from == to && self.bits_of(old) <= low(bytes);
                state.flags = if all { Flags::Result(old) } else { Flags::Any };
                return Ok(());
            }
            _ => {}
        }
        let (def, bits) = match is_xor(instruction.code()) && from == to {
            true => (Def::Number(0), 0),
            false => self.result(state, kind, (old, from), bytes),
        };
        let value = self.define(place, def, bits)?;
        state.flags = match kind {
            Arithmetic::Sub if whole => Flags::Subtracted(value),
            Arithmetic::And | Arithmetic::Or => Flags::Result(value),
            _ => Flags::Any,
        };
        let (to, _) = Self::register(instruction, 0, state).ok_or(Reason::Unknown)?;
        state.set(to, value);
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
        let other = match from {
            Number::Value(value) => self.bits_of(value),
            Number::Immediate(number) => number,
            Number::Memory(Place::Shared(Field::Lanes)) => self.frame.lanes,
            Number::Memory(_) => u64::MAX,
        } & low(bytes);
        let is_whole = bytes == 8;
        let known = match (kind, from) {
            _ if !is_whole => None,
            (Arithmetic::And, Number::Memory(Place::Shared(Field::StorageMask))) => {
                Some(Def::StorageNumber)
            }
            (Arithmetic::ShiftLeft, Number::Immediate(by))
                if by == u64::from(self.frame.region_shift) =>
            {
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
        let bits = match (kind, from) {
            (Arithmetic::And, _) => Some(own & other),
            (Arithmetic::Or, _) => Some(own | other),
            (Arithmetic::ShiftLeft, Number::Immediate(by)) => {
                let by = u32::try_from(by).ok();
                by.and_then(|by| own.checked_shl(by))
                    .map(|bits| bits & low(bytes))
            }
            (Arithmetic::ShiftRight, Number::Immediate(by)) => {
                u32::try_from(by).ok().and_then(|by| own.checked_shr(by))
            }
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
            _ if !is_whole(a) => Flags::Any,
            Number::Value(b) if is_whole(b) => Flags::Compared(a, b),
            Number::Immediate(number) => Flags::ComparedNumber(a, number),
            Number::Memory(Place::Shared(Field::SurfaceCount)) if bytes == 8 => {
                Flags::ComparedSurfaces(a)
            }
            _ => Flags::Any,
        }
    }

    /// Any other instruction: its first operand is written, or is memory.
    fn other(
        &mut self,
        place: usize,
        instruction: &Instruction,
        state: &mut State,
    ) -> Result<(), Reason> {
        let code = instruction.code();
        let memory =
            (0..instruction.op_count()).find(|n| instruction.op_kind(*n) == OpKind::Memory);
        let there = match memory {
            Some(_) => Some(self.memory(instruction, state, accessed(instruction))?),
            None => None,
        };
        if memory == Some(0) && !only_reads(code) {
            self.stores(instruction, state, there.ok_or(Reason::Unknown)?)?;
        }
        self.sets_flags(instruction, state);
        if let Some(to) = self.written(instruction) {
            let value = self.computed(place, instruction, state, there)?;
            state.set(to, value);
        }
        self.clobbers(place, instruction, state)
    }

    /// The register that an instruction writes.
    fn written(&self, instruction: &Instruction) -> Option<usize> {
        let code = instruction.code();
        if instruction.op0_kind() != OpKind::Register
            || matches!(code, Code::Bt_rm32_imm8)
            || only_sets_flags(code)
        {
            return None;
        }
        slot(instruction.op0_register())
    }

    /// What an instruction writes besides its first operand.
    fn clobbers(
        &mut self,
        place: usize,
        instruction: &Instruction,
        state: &mut State,
    ) -> Result<(), Reason> {
        use Code::*;
        match instruction.code() {
            Cmpxchg_rm16_r16 | Cmpxchg_rm32_r32 | Cmpxchg_rm64_r64 => {
                let value = self.define(place, Def::Unknown, u64::MAX)?;
                state.set(RAX.slot(), value);
            }
            // The mask of lanes that are not done is used up.
            VEX_Vpgatherdd_ymm_vm32y_ymm
            | VEX_Vpgatherdq_ymm_vm32x_ymm
            | VEX_Vpgatherqd_xmm_vm64y_xmm => {
                let mask = slot(instruction.op_register(2)).ok_or(Reason::Unknown)?;
                state.set(mask, Id::UNDEFINED);
            }
            EVEX_Vpgatherdd_ymm_k1_vm32y
            | EVEX_Vpgatherdd_zmm_k1_vm32z
            | EVEX_Vpgatherdq_zmm_k1_vm32y
            | EVEX_Vpgatherqd_ymm_k1_vm64z
            | EVEX_Vpscatterdd_vm32y_k1_ymm
            | EVEX_Vpscatterdd_vm32z_k1_zmm
            | EVEX_Vpscatterqd_vm64z_k1_ymm => {
                let mask = slot(instruction.op_mask()).ok_or(Reason::Unknown)?;
                state.set(mask, Id::UNDEFINED);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether something may be stored in a place.
    fn stores(
        &self,
        instruction: &Instruction,
        state: &mut State,
        there: Place,
    ) -> Result<(), Reason> {
        let value = Self::register(instruction, 1, state).map(|(_, value)| value);
        let field = match there {
            Place::Data => return Ok(()),
            Place::Offsets(at, None) => {
                let value = value.ok_or(Reason::Unknown)?;
                Self::store_offsets(state, at, accessed(instruction), value);
                return Ok(());
            }
            Place::Shared(field) => field,
            _ => return Err(Reason::Outside),
        };
        let fits = match field {
            Field::Plain | Field::Lanes => true,
            Field::File => value == Some(Id::FILE),
            Field::Follower => value == Some(Id::FOLLOWER),
            Field::Own => value == Some(Id::OWN),
            // No code.
            Field::Code => value.is_none() && instruction.immediate(1) == 0,
            _ => false,
        };
        if fits { Ok(()) } else { Err(Reason::Outside) }
    }

    /// The flags after an instruction.
    fn sets_flags(&self, instruction: &Instruction, state: &mut State) {
        use Code::*;
        let value = |operand| Self::register(instruction, operand, state).map(|(_, value)| value);
        state.flags = match instruction.code() {
            VEX_Vptest_ymm_ymmm256 => match value(0) {
                Some(a) => Flags::Common(a, self.source(instruction, 1, state), 32),
                None => Flags::Any,
            },
            VEX_Kortestw_kr_kr => match (value(0), value(1)) {
                (Some(a), Some(b)) if a == b => Flags::Mask(a),
                _ => Flags::Any,
            },
            Bt_rm32_imm8
            | VEX_Vucomiss_xmm_xmmm32
            | VEX_Vucomisd_xmm_xmmm64
            | Popcnt_r32_rm32
            | Bsf_r32_rm32
            | Imul_r32_rm32_imm32
            | VEX_Andn_r32_r32_rm32
            | Cmpxchg_rm16_r16
            | Cmpxchg_rm32_r32
            | Cmpxchg_rm64_r64
            | VEX_Blsr_r32_rm32 => Flags::Any,
            _ => return,
        };
    }

    /// A source of an operation on vectors.
    pub(super) fn source(&self, instruction: &Instruction, operand: u32, state: &State) -> Operand {
        match instruction.op_kind(operand) {
            OpKind::Register => Self::register(instruction, operand, state)
                .map_or(Operand::Unknown, |(_, value)| Operand::Value(value)),
            OpKind::Memory => match self.memory(instruction, state, accessed(instruction)) {
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
        let base = state.get(slot(instruction.memory_base()).ok_or(Reason::Unknown)?);
        let at = instruction.memory_displacement64();
        let index = instruction.memory_index();
        let index = match index {
            Register::None => None,
            index => Some(state.get(slot(index).ok_or(Reason::Unknown)?)),
        };
        if base == Id::UNDEFINED || index == Some(Id::UNDEFINED) {
            return Err(Reason::Undefined);
        }
        let to = slot(instruction.op0_register()).ok_or(Reason::Unknown)?;
        let follower = 8 * self.frame.follower_fields.len() as u64;
        let value = match index {
            None if at == 0 => base,
            None if base == Id::FOLLOWER && at.cast_signed().unsigned_abs() == follower => base,
            None if at < 1 << 31 => self.define(place, Def::Sum(base, at), u64::MAX)?,
            _ => self.define(place, Def::Unknown, u64::MAX)?,
        };
        state.set(to, value);
        Ok(())
    }
}
