//! What the translation of an instruction can query about its operands.

use super::layout::{Layout, Place, RoutineLayout};
use super::operand::Problem;
use crate::code::{Combine, Flag, Lanes, Modify, RawPlace, Region, Scalar, StatePlace, extend};
use crate::fault::Unsupported;
use std::cell::RefCell;
use visakit_isa::object::Body;
use visakit_isa::operand::{PredicateCombine, PredicateOperand};
use visakit_isa::{
    ExecMask, FieldName, Format, Instruction, Predicate, PredicateId, RawOperand, SamplerId,
    SurfaceId, Value, VectorOperand,
};

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
        Ok(match source.region {
            Region::Indirect { immediate, .. } | Region::Rows { immediate, .. } => {
                Scalar::Indirect {
                    address: source.offset,
                    offset: immediate,
                    data_type: source.data_type,
                }
            }
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
        if !mask.has(count) {
            return Err(Unsupported::new(
                format!("{count} lanes from lane {} on", mask.first_lane),
                "a thread has 32",
            ));
        }
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
    /// The predication of an instruction with these lanes.
    pub(crate) fn predicate(
        &self,
        instruction: &Instruction,
        lanes: Lanes,
    ) -> Result<Option<Flag>, Problem> {
        instruction
            .predicate()
            .map_or(Ok(None), |word| self.flag(word, lanes))
    }

    /// The predicate variable of a predication word; `None` for none.
    pub(crate) fn flag(&self, word: Predicate, lanes: Lanes) -> Result<Option<Flag>, Problem> {
        if word.id() == PredicateId(0) {
            return Ok(None);
        }
        let mut flag = self.flag_of(word.id(), lanes)?;
        match word.combine() {
            PredicateCombine::PerLane => {}
            PredicateCombine::Any => self.combine(&mut flag, Combine::Any, word.id(), lanes)?,
            PredicateCombine::All => self.combine(&mut flag, Combine::All, word.id(), lanes)?,
            PredicateCombine::Reserved => {
                return Err(Problem::form("a predicate combination that means nothing"));
            }
        }
        flag.invert = word.is_inverted();
        Ok(Some(flag))
    }

    /// Combines elements of a predicate: those of the lanes, as the definition of predication says. For one lane that
    /// would be no combination: there Intel's compilers mean all elements of the variable, and its finalizer tests them.
    fn combine(
        &self,
        flag: &mut Flag,
        combine: Combine,
        id: PredicateId,
        lanes: Lanes,
    ) -> Result<(), Problem> {
        flag.combine = combine;
        flag.tested = lanes.group(self.predicate_place(id)?.elements);
        Ok(())
    }

    fn predicate_place(&self, id: PredicateId) -> Result<&Place, Problem> {
        usize::from(id.0)
            .checked_sub(1)
            .and_then(|index| self.routine.predicates.get(index))
            .ok_or_else(|| Problem::form(format!("predicate {id}, which is not declared")))
    }

    /// A predicate variable as data.
    pub(crate) fn flag_of(&self, id: PredicateId, lanes: Lanes) -> Result<Flag, Problem> {
        let place = self.predicate_place(id)?;
        Ok(Flag {
            offset: u32::try_from(place.offset)
                .map_err(|_| Problem::form("a predicate beyond 4 GiB"))?,
            first: lanes.first,
            window: lanes.window(),
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

fn unsupported(problem: Problem) -> Unsupported {
    match problem {
        Problem::Unsupported(unsupported) => unsupported,
        Problem::Fault(kind) => Unsupported::new("an operand", kind.to_string()),
    }
}
