//! The fields of an instruction as a message needs them.

use crate::fault::Unsupported;
use crate::message::Message;
use crate::message::data::Data;
use crate::message::reach::{Index, Reach, SamplerReach};
use crate::operands::{Lanes, RawPlace, Scalar, StatePlace};
use crate::translate::Context;
use visakit_isa::enums::{lsc_scope, lsc_sfid};
use visakit_isa::operand::StateClass;
use visakit_isa::semantics::Payload;
use visakit_isa::{
    DataType, FieldName, Instruction, RawOperand, SurfaceId, Value, VarId, VectorOperand,
};

/// Bits of the mask of a `fence`: it orders shared local memory alone; it only keeps compilers from moving accesses.
const FENCE_LOCAL: i64 = 1 << 5;
const FENCE_SCHEDULING: i64 = 1 << 7;

/// An instruction being translated.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a, 'c> {
    pub(crate) instruction: &'a Instruction,
    pub(crate) cx: &'a Context<'c>,
    /// The sizes of its operands.
    pub(crate) payload: Payload,
}

impl Fields<'_, '_> {
    pub(crate) fn refuse(&self, why: impl Into<String>) -> Unsupported {
        Unsupported::new(self.instruction.def().mnemonic(), why)
    }

    /// The row has a feature that no message here supports.
    pub(crate) fn unknown(&self) -> Unsupported {
        self.refuse("a message of this form is not modelled")
    }

    fn missing(&self, name: FieldName) -> Unsupported {
        self.refuse(format!("the instruction has no field {name}"))
    }

    /// A number; 0 where the format has no such field.
    pub(crate) fn number(&self, name: FieldName) -> i64 {
        self.instruction
            .get(name)
            .and_then(Value::as_number)
            .unwrap_or(0)
    }

    /// A byte; 0 where the format has no such field.
    pub(crate) fn byte(&self, name: FieldName) -> u8 {
        u8::try_from(self.number(name)).unwrap_or(0)
    }

    /// A fence: that of the load/store cache names a unit and a scope, the older one has a mask.
    pub(crate) fn fence(&self) -> Message {
        let (local, in_group) = match self.instruction.get(FieldName::Scope) {
            Some(_) => (
                self.byte(FieldName::Sfid) == lsc_sfid::SLM,
                self.byte(FieldName::Scope) == lsc_scope::GROUP,
            ),
            // One for the compiler alone is used where local memory needs no fence of the hardware.
            None => (
                self.number(FieldName::Mask) & (FENCE_LOCAL | FENCE_SCHEDULING) != 0,
                false,
            ),
        };
        Message::Fence {
            local,
            beyond_group: !local && !in_group,
        }
    }

    pub(crate) fn lanes(&self) -> Result<Lanes, Unsupported> {
        self.cx.lanes(self.instruction)
    }

    fn raw_operand(&self, name: FieldName) -> Option<RawOperand> {
        match self.instruction.get(name) {
            Some(Value::Raw(operand)) => Some(*operand),
            _ => None,
        }
    }

    /// A raw operand, `None` for the null operand and where the format has no such field.
    pub(crate) fn raw(&self, name: FieldName) -> Result<Option<RawPlace>, Unsupported> {
        self.raw_operand(name)
            .map_or(Ok(None), |operand| self.cx.raw(operand))
    }

    /// A raw operand that must not be null.
    pub(crate) fn needed(&self, name: FieldName) -> Result<RawPlace, Unsupported> {
        self.raw(name)?
            .ok_or_else(|| self.refuse(format!("{name} is null")))
    }

    pub(super) fn data_at(&self, name: FieldName, place: RawPlace) -> Result<Data, Unsupported> {
        let bytes = self.payload.bytes(name, place.data_type);
        let bytes = bytes.ok_or_else(|| self.refuse(format!("{name} has no definite size")))?;
        Ok(Data::new(
            place,
            usize::try_from(bytes).unwrap_or(usize::MAX),
        ))
    }

    /// What the message uses of a raw operand; `None` for the null operand.
    pub(crate) fn data(&self, name: FieldName) -> Result<Option<Data>, Unsupported> {
        let place = self.raw(name)?;
        place.map(|place| self.data_at(name, place)).transpose()
    }

    /// What the message uses of a raw operand that must not be null.
    pub(crate) fn needed_data(&self, name: FieldName) -> Result<Data, Unsupported> {
        self.data_at(name, self.needed(name)?)
    }

    /// What the message moves. Loads need none: they are prefetches then.
    pub(crate) fn moved(&self, name: FieldName, store: bool) -> Result<Option<Data>, Unsupported> {
        match self.data(name)? {
            None if store => Err(self.refuse("there is no data to store")),
            data => Ok(data),
        }
    }

    fn vector(&self, name: FieldName) -> Result<&VectorOperand, Unsupported> {
        match self.instruction.get(name) {
            Some(Value::Vector(operand)) => Ok(operand),
            _ => Err(self.missing(name)),
        }
    }

    pub(crate) fn scalar(&self, name: FieldName) -> Result<Scalar, Unsupported> {
        self.cx.scalar(self.vector(name)?)
    }

    /// The variable that holds a state, plus an offset.
    fn state_variable(
        &self,
        state: FieldName,
        index: FieldName,
    ) -> Result<Option<Index>, Unsupported> {
        let add = u32::try_from(self.number(index)).unwrap_or(0);
        Ok(self.raw(state)?.map(|place| Index {
            base: Scalar::Register {
                offset: place.offset,
                data_type: DataType::Ud,
            },
            add,
        }))
    }

    /// The first dword of the thread's header.
    pub(crate) fn header(&self) -> Scalar {
        let variables = self.cx.format.predefined_variables();
        let number = variables.iter().position(|v| v.name == "r0");
        let variable = number.and_then(|n| u32::try_from(n).ok()).map(VarId);
        let place = variable.map(|variable| RawOperand {
            variable,
            offset: 0,
        });
        match place.map(|place| self.cx.raw(place)) {
            Some(Ok(Some(place))) => Scalar::Register {
                offset: place.offset,
                data_type: DataType::Ud,
            },
            _ => Scalar::Constant(0),
        }
    }

    /// The surface field of a message that is not LSC.
    pub(crate) fn surface(&self) -> Result<Reach, Unsupported> {
        if let Some(index) =
            self.state_variable(FieldName::SurfaceState, FieldName::SurfaceIndex)?
        {
            return Ok(Reach::Surface(index));
        }
        match self.instruction.get(FieldName::Surface) {
            Some(Value::Surface(id)) => self.surface_variable(*id),
            _ => Err(self.missing(FieldName::Surface)),
        }
    }

    fn surface_variable(&self, id: SurfaceId) -> Result<Reach, Unsupported> {
        let place = self.cx.surface(id)?;
        let index = Index {
            base: state_word(place),
            add: 0,
        };
        Ok(match (place.predefined, place.id) {
            (true, 0) => Reach::Local,
            (true, 4) => Reach::Bindless(index),
            (true, 5) => Reach::Scratch,
            _ => Reach::Table(index),
        })
    }

    pub(crate) fn sampler(&self) -> Result<SamplerReach, Unsupported> {
        if let Some(index) =
            self.state_variable(FieldName::SamplerState, FieldName::SamplerIndex)?
        {
            return Ok(SamplerReach::Handle(index));
        }
        match self.instruction.get(FieldName::Sampler) {
            Some(Value::Sampler(id)) => {
                let place = self.cx.sampler(*id)?;
                let index = Index {
                    base: state_word(place),
                    add: 0,
                };
                Ok(if place.predefined {
                    SamplerReach::Handle(index)
                } else {
                    SamplerReach::Table(index)
                })
            }
            _ => Err(self.missing(FieldName::Sampler)),
        }
    }

    /// The surface operand of an LSC message, as a surface variable or as a number.
    pub(crate) fn lsc_base(&self) -> Result<LscBase, Unsupported> {
        match self.vector(FieldName::Surface)? {
            VectorOperand::State(state) => match (state.class, u8::try_from(state.index)) {
                (StateClass::SURFACE, Ok(id)) => {
                    Ok(LscBase::Variable(self.surface_variable(SurfaceId(id))?))
                }
                _ => Err(self.refuse("the surface operand is no surface")),
            },
            operand => Ok(LscBase::Number(self.cx.scalar(operand)?)),
        }
    }

    /// Bytes rounded up to whole registers.
    pub(crate) fn round(&self, bytes: usize) -> usize {
        bytes.next_multiple_of(self.grf())
    }

    pub(crate) fn grf(&self) -> usize {
        usize::try_from(self.cx.grf_bytes).unwrap_or(32).max(1)
    }
}

/// The surface operand of an LSC message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LscBase {
    Variable(Reach),
    Number(Scalar),
}

fn state_word(place: StatePlace) -> Scalar {
    Scalar::Register {
        offset: place.offset,
        data_type: DataType::Ud,
    }
}
