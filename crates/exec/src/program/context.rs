//! What the translation of an instruction can ask about its operands.

use super::layout::{Layout, RoutineLayout};
use super::operand::{Modify, Problem, Shape};
use crate::fault::Unsupported;
use crate::run::Registers;
use crate::run::alu::Flag;
use crate::run::registers::full;
use std::cell::RefCell;
use visakit_isa::object::Body;
use visakit_isa::operand::{PredicateCombine, PredicateOperand};
use visakit_isa::{
    DataType, ExecMask, FieldName, Format, Instruction, Predicate, PredicateId, RawOperand,
    SamplerId, SurfaceId, Value, VectorOperand,
};

/// A raw operand in the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RawPlace {
    /// First byte in the register file.
    pub(crate) offset: usize,
    /// Bytes from there to the end of the variable's storage (rounded up to a register). A message
    /// that touches more must fault with `RegisterOutOfBounds`.
    pub(crate) available: usize,
    /// Element type of the variable.
    pub(crate) data_type: DataType,
}

/// A scalar source operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    /// A constant, sign- or zero-extended by its type.
    Constant(u64),
    /// An element of the register file.
    Register {
        /// First byte.
        offset: usize,
        /// Type.
        data_type: DataType,
    },
    /// An element that an address variable points at.
    Indirect {
        /// Place of the 16-bit address in the register file.
        address: usize,
        /// Offset added to it.
        offset: i16,
        /// Type.
        data_type: DataType,
    },
}

impl Scalar {
    /// The value, sign- or zero-extended by its type to 64 bits; floats as their bits.
    /// Outside of the register file it reads zero.
    pub(crate) fn read(&self, registers: &Registers) -> u64 {
        let (offset, data_type) = match *self {
            Self::Constant(value) => return value,
            Self::Register { offset, data_type } => (offset, data_type),
            Self::Indirect {
                address,
                offset,
                data_type,
            } => {
                let base = registers.read_u32(address) & 0xffff;
                let place = i64::from(base) + i64::from(offset);
                (usize::try_from(place).unwrap_or(usize::MAX), data_type)
            }
        };
        let size = usize::from(data_type.size());
        let bytes = offset
            .checked_add(size)
            .and_then(|end| registers.file.get(offset..end));
        let mut word = [0u8; 8];
        let Some(bytes) = bytes else { return 0 };
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        extend(u64::from_le_bytes(word), data_type)
    }
}

/// A surface or sampler operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StatePlace {
    /// Index in the routine's table, predefined entries included: surface 0 is `%slm`, 4 `%bss`,
    /// 5 `%scratch` (see [`visakit_isa::PredefinedSurface`]).
    pub(crate) id: u32,
    /// Place of the variable's first element (32 bits) in the register file. Predefined surfaces
    /// start with their binding table index (254, 1, 2, 3, 252, 255), others with 0.
    pub(crate) offset: usize,
    /// Whether the surface is a predefined one.
    pub(crate) predefined: bool,
}

/// Execution size and mask of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lanes {
    /// Number of lanes: 1 to 32.
    pub(crate) count: u8,
    /// First lane of the execution mask.
    pub(crate) first: u8,
    /// Whether the execution mask is ignored.
    pub(crate) no_mask: bool,
}

/// The surroundings of an instruction that is translated.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) grf_bytes: u32,
    pub(crate) format: Format,
    pub(crate) body: &'a Body<'a>,
    pub(crate) routine: &'a RoutineLayout,
    pub(crate) layout: &'a RefCell<Layout>,
}

impl Context<'_> {
    /// The place of a raw operand; `None` for the null operand.
    pub(crate) fn raw(&self, operand: RawOperand) -> Result<Option<RawPlace>, Unsupported> {
        if operand.is_null() {
            return Ok(None);
        }
        let place = self.variable(operand.variable).map_err(unsupported)?;
        let offset = usize::from(operand.offset);
        Ok(Some(RawPlace {
            offset: place.offset + offset,
            available: place.available.saturating_sub(offset),
            data_type: place.data_type,
        }))
    }

    /// A scalar source.
    pub(crate) fn scalar(&self, operand: &VectorOperand) -> Result<Scalar, Unsupported> {
        if let VectorOperand::Immediate(immediate) = operand {
            return Ok(Scalar::Constant(extend(
                immediate.bits(),
                immediate.data_type(),
            )));
        }
        let source = self.source(operand, 1).map_err(unsupported)?;
        if source.modify != Modify::None {
            return Err(Unsupported::new("a scalar operand", "it has a modifier"));
        }
        Ok(match source.shape {
            Shape::Indirect { immediate, .. } | Shape::Rows { immediate, .. } => Scalar::Indirect {
                address: source.offset,
                offset: immediate,
                data_type: source.data_type,
            },
            _ => Scalar::Register {
                offset: source.offset,
                data_type: source.data_type,
            },
        })
    }

    /// A surface variable.
    pub(crate) fn surface(&self, id: SurfaceId) -> Result<StatePlace, Unsupported> {
        let place = self
            .routine
            .surfaces
            .get(usize::from(id.0))
            .ok_or_else(|| Unsupported::new(format!("surface {id}"), "it is not declared"))?;
        Ok(StatePlace {
            id: id.0.into(),
            offset: place.offset,
            predefined: id.0 < self.format.predefined_surface_count(),
        })
    }

    /// A sampler variable.
    pub(crate) fn sampler(&self, id: SamplerId) -> Result<StatePlace, Unsupported> {
        let index = usize::from(id.0);
        match self.routine.sampler(index) {
            Some(place) => Ok(StatePlace {
                id: id.0.into(),
                offset: place.offset,
                predefined: index >= self.routine.samplers.len(),
            }),
            None => Err(Unsupported::new(
                format!("sampler {id}"),
                "it is not declared",
            )),
        }
    }

    /// Lanes of an instruction with an execution size or an element count; one lane with NoMask
    /// where it has neither.
    pub(crate) fn lanes(&self, instruction: &Instruction) -> Result<Lanes, Unsupported> {
        let unknown = || Unsupported::new("the execution size", "its code means nothing");
        let count = instruction.fields.iter().find_map(|f| match f.value {
            Value::ElementCount(count) => Some(count),
            _ => None,
        });
        let (count, mask) = match (instruction.exec_size(), count) {
            (Some(size), _) => (size.lanes(), size.mask(self.format)),
            (None, Some(count)) => (count.lanes(), count.mask(self.format)),
            (None, None) => (
                Some(1),
                Some(ExecMask {
                    first_lane: 0,
                    no_mask: true,
                }),
            ),
        };
        let (count, mask) = (count.ok_or_else(unknown)?, mask.ok_or_else(unknown)?);
        // Typed messages before 3.2 have the size code 0 and mean eight lanes.
        let count = match instruction.get(FieldName::ChannelsInv) {
            Some(_) => 8,
            None => count,
        };
        Ok(Lanes {
            count,
            first: mask.first_lane,
            no_mask: mask.no_mask,
        })
    }

    /// The place of a constant in the register file.
    pub(crate) fn constant(&self, bytes: &[u8]) -> usize {
        self.layout.borrow_mut().constant(bytes)
    }
}

impl Context<'_> {
    /// The predicate variable of a predication word; `None` for none.
    pub(crate) fn flag(&self, word: Predicate, lanes: Lanes) -> Result<Option<Flag>, Problem> {
        if word.id() == PredicateId(0) {
            return Ok(None);
        }
        let mut flag = self.flag_of(word.id(), lanes)?;
        match word.combine() {
            PredicateCombine::PerLane => {}
            PredicateCombine::Any => flag.any = true,
            PredicateCombine::All => flag.all = true,
            PredicateCombine::Reserved => {
                return Err(Problem::form("a predicate combination that means nothing"));
            }
        }
        flag.invert = word.is_inverted();
        Ok(Some(flag))
    }

    /// A predicate variable as data.
    pub(crate) fn flag_of(&self, id: PredicateId, lanes: Lanes) -> Result<Flag, Problem> {
        let place = usize::from(id.0)
            .checked_sub(1)
            .and_then(|index| self.routine.predicates.get(index))
            .ok_or_else(|| Problem::form(format!("predicate {id}, which is not declared")))?;
        Ok(Flag {
            offset: u32::try_from(place.offset)
                .map_err(|_| Problem::form("a predicate beyond 4 GiB"))?,
            first: lanes.first,
            window: full(usize::from(lanes.count)),
            ..Flag::default()
        })
    }

    /// A predicate operand, with its complement.
    pub(crate) fn flag_operand(
        &self,
        operand: &PredicateOperand,
        lanes: Lanes,
    ) -> Result<Flag, Problem> {
        let mut flag = self.flag_of(operand.predicate.id(), lanes)?;
        flag.invert = operand.modifier == visakit_isa::operand::Modifier::NOT;
        Ok(flag)
    }
}

/// Sign- or zero-extends the low bits by a type.
pub(crate) fn extend(bits: u64, data_type: DataType) -> u64 {
    let unused = 64 - 8 * u32::from(data_type.size());
    let high = bits << unused;
    if data_type.is_signed() {
        #[expect(
            clippy::cast_possible_wrap,
            clippy::cast_sign_loss,
            reason = "sign extension"
        )]
        return (high as i64 >> unused) as u64;
    }
    high >> unused
}

fn unsupported(problem: Problem) -> Unsupported {
    match problem {
        Problem::Unsupported(unsupported) => unsupported,
        Problem::Fault(kind) => Unsupported::new("an operand", kind.to_string()),
    }
}
