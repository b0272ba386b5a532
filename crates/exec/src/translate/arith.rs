//! Arithmetic and mathematics.

use super::compute::Builder;
use super::context::Context;
use super::fields;
use super::operand::Problem;
use super::types::{self, modular, of_products, of_sums};
use crate::code::{Lane, Operation, Region, Step, Target};
use visakit_isa::table::FieldName as F;
use visakit_isa::{Instruction, enums};

type Translated = Result<Step, Problem>;

pub(super) fn two(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    Builder::new(cx, instruction, &[F::Src0, F::Src1])
}

pub(super) fn three(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    Builder::new(cx, instruction, &[F::Src0, F::Src1, F::Src2])
}

/// An operation of two floats or two integers.
pub(super) fn binary(
    cx: &Context<'_>,
    instruction: &Instruction,
    operation: Operation,
    integers: fn(&Builder) -> Lane,
) -> Translated {
    Ok(two(cx, instruction)?.number(operation, integers))
}

/// An operation of two integers that depends on their values.
pub(super) fn of_values(
    cx: &Context<'_>,
    instruction: &Instruction,
    operation: Operation,
) -> Translated {
    let b = two(cx, instruction)?;
    let lane = values(&b);
    Ok(b.step(operation, lane))
}

/// An operation of one float.
pub(super) fn unary(
    cx: &Context<'_>,
    instruction: &Instruction,
    operation: Operation,
) -> Translated {
    Ok(Builder::new(cx, instruction, &[F::Src0])?.real(operation))
}

pub(super) fn pow(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(two(cx, instruction)?.real(Operation::Pow))
}

pub(super) fn mulh(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(two(cx, instruction)?.step(Operation::MulHigh, Lane::U64))
}

pub(super) fn min_max(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let max = fields::number(instruction, F::Op)? == enums::min_max::MAX.into();
    let operation = if max { Operation::Max } else { Operation::Min };
    binary(cx, instruction, operation, values)
}

pub(super) fn mad(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(three(cx, instruction)?.number(Operation::Mad, products))
}

pub(super) fn add3(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = three(cx, instruction)?;
    let lane = sums(&b);
    Ok(b.step(Operation::Add3, lane))
}

/// Lanes of sums: modular, unless the exact value matters.
pub(super) fn sums(b: &Builder) -> Lane {
    if needs_value(b) {
        of_sums(&b.sources)
    } else {
        modular(&b.destination, &b.sources)
    }
}

/// Lanes of products: modular, unless the exact value matters.
pub(super) fn products(b: &Builder) -> Lane {
    if needs_value(b) {
        of_products(&b.sources)
    } else {
        modular(&b.destination, &b.sources)
    }
}

/// The lane type of operations that use the values of their sources.
pub(super) fn values(b: &Builder) -> Lane {
    types::of_values(&b.sources)
}

/// Whether a result is used beyond its low bits.
pub(super) fn needs_value(b: &Builder) -> bool {
    b.destination.saturate || b.destination.data_type.is_float()
}

/// LRP ignores regions: elements follow each other, or one serves all lanes.
pub(super) fn lrp(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = three(cx, instruction)?;
    let lanes = b.count();
    for (source, name) in b.sources.iter_mut().zip([F::Src0, F::Src1, F::Src2]) {
        if source.region != Region::Scalar {
            let operand = fields::vector(instruction, name)?;
            *source = cx.packed_source(operand, lanes)?;
        }
    }
    if matches!(b.destination.target, Target::Strided(_)) {
        b.destination.target = Target::Packed;
    }
    Ok(b.real(Operation::Lrp))
}
