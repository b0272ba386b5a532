//! Putting a computation together from the operands of an instruction.

use super::context::Context;
use super::fields;
use super::operand::Problem;
use super::types;
use crate::code::{
    Action, Compute, Destination, Flag, Lane, Lanes, Operation, Origin, Precision, Source, Step,
    raw,
};
use std::sync::Arc;
use visakit_isa::Instruction;
use visakit_isa::table::FieldName;

/// A computation that is being put together.
pub(super) struct Builder {
    pub(super) lanes: Lanes,
    pub(super) predicate: Option<Flag>,
    pub(super) precision: Precision,
    pub(super) destination: Destination,
    pub(super) second: Option<Destination>,
    pub(super) sets: Option<Flag>,
    pub(super) sources: Vec<Source>,
    pub(super) flags: [Flag; 2],
}

impl Builder {
    /// Takes `dst` and these sources of an instruction, and its predicate.
    pub(super) fn new(
        cx: &Context<'_>,
        instruction: &Instruction,
        sources: &[FieldName],
    ) -> Result<Self, Problem> {
        let mut builder = Self::without_destination(cx, instruction, sources)?;
        let destination = fields::vector(instruction, FieldName::Dst)?;
        builder.destination = cx.destination(destination, builder.count())?;
        Ok(builder)
    }

    /// An instruction without a destination.
    pub(super) fn without_destination(
        cx: &Context<'_>,
        instruction: &Instruction,
        sources: &[FieldName],
    ) -> Result<Self, Problem> {
        let lanes = cx.lanes(instruction)?;
        let count = usize::from(lanes.count);
        let sources = sources
            .iter()
            .map(|name| cx.source(fields::vector(instruction, *name)?, count))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            lanes,
            predicate: cx.predicate(instruction, lanes)?,
            precision: Precision::Float,
            destination: Destination::default(),
            second: None,
            sets: None,
            sources,
            flags: [Flag::default(); 2],
        })
    }

    /// Number of lanes.
    pub(super) fn count(&self) -> usize {
        usize::from(self.lanes.count)
    }

    pub(super) fn source(&self, n: usize) -> Source {
        self.sources.get(n).cloned().unwrap_or_default()
    }

    /// Whether any source is a float.
    pub(super) fn is_float(&self) -> bool {
        self.sources.iter().any(|s| s.data_type.is_float())
    }

    /// Takes all operands as raw bits.
    pub(super) fn take_bits(&mut self) {
        // Saturation needs the range of the type.
        if !self.destination.saturate || self.destination.data_type.is_float() {
            self.destination.data_type = raw(self.destination.data_type);
        }
        for source in &mut self.sources {
            if source.data_type.is_float() {
                source.data_type = raw(source.data_type);
            }
        }
    }

    /// Takes the sources as unsigned numbers of their size.
    pub(super) fn take_unsigned(&mut self) {
        for source in &mut self.sources {
            source.data_type = raw(source.data_type);
        }
    }

    /// Takes the precision from the operands.
    pub(super) fn set_precision(&mut self) -> Precision {
        self.precision = types::precision(&self.destination, &self.sources);
        self.precision
    }

    /// The step that computes this in lanes of a type.
    pub(super) fn step(self, operation: Operation, lane: Lane) -> Step {
        let mut sources = self.sources.into_iter();
        Step {
            lanes: self.lanes,
            predicate: self.predicate,
            action: Action::Compute(Arc::new(Compute {
                operation,
                lane,
                precision: self.precision,
                destination: self.destination,
                second: self.second,
                sets: self.sets,
                sources: std::array::from_fn(|_| sources.next().unwrap_or_default()),
                flags: self.flags,
            })),
            origin: Origin::NONE,
            fused: false,
        }
    }

    /// A step on floats. Double is computed in double; the others in single, and once more rounded
    /// to their format. Operations of three sources would be rounded twice that way: those of brain
    /// floats are computed in double, that of halves so that it is not ([`Operation::Mad`]).
    pub(super) fn real(mut self, operation: Operation) -> Step {
        let lane = match (self.set_precision(), operation.sources()) {
            (Precision::Double, _) | (Precision::BFloat, 3) => Lane::F64,
            _ => Lane::F32,
        };
        self.step(operation, lane)
    }

    /// A step on floats if a source is one, else on integers in lanes of the type that is given.
    pub(super) fn number(self, operation: Operation, integers: fn(&Self) -> Lane) -> Step {
        if self.is_float() {
            return self.real(operation);
        }
        let lane = integers(&self);
        self.step(operation, lane)
    }
}
