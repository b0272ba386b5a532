//! Arithmetic and mathematics.

use super::build::{Builder, IntegerBinary};
use super::code::Step;
use super::context::Context;
use super::fields;
use super::operand::{Problem, Shape, Target};
use super::types::{self, Class, modular, of_products, of_sums};
use crate::lanes::float::{self, InMode};
use crate::lanes::int::{self, Binary, Unary};
use visakit_isa::table::FieldName as F;
use visakit_isa::{Instruction, enums};

type Translated = Result<Step, Problem>;

fn two(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    Builder::new(cx, instruction, &[F::Src0, F::Src1])
}

fn three(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    Builder::new(cx, instruction, &[F::Src0, F::Src1, F::Src2])
}

fn number<R, I>(b: Builder, class: fn(&Builder) -> Class) -> Step
where
    R: Binary<f32> + Binary<f64> + InMode,
    I: IntegerBinary,
{
    if b.is_float() {
        return b.real_binary::<R>();
    }
    let class = class(&b);
    b.binary::<I>(class)
}

/// An operation of two floats or two integers.
pub(super) fn binary<R, I>(
    cx: &Context<'_>,
    instruction: &Instruction,
    class: fn(&Builder) -> Class,
) -> Translated
where
    R: Binary<f32> + Binary<f64> + InMode,
    I: IntegerBinary,
{
    Ok(number::<R, I>(two(cx, instruction)?, class))
}

/// An operation of two integers that looks at their values.
pub(super) fn of_values<I: IntegerBinary>(
    cx: &Context<'_>,
    instruction: &Instruction,
) -> Translated {
    let b = two(cx, instruction)?;
    let class = value_class(&b);
    Ok(b.binary::<I>(class))
}

/// An operation of one float.
pub(super) fn unary<R: Unary<f32> + Unary<f64> + InMode>(
    cx: &Context<'_>,
    instruction: &Instruction,
) -> Translated {
    Ok(Builder::new(cx, instruction, &[F::Src0])?.real_unary::<R>())
}

pub(super) fn pow(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(two(cx, instruction)?.real_binary::<float::Pow>())
}

pub(super) fn mulh(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(two(cx, instruction)?.binary_fixed::<int::Mulh, u64>())
}

pub(super) fn min_max(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = two(cx, instruction)?;
    Ok(
        if fields::number(instruction, F::Op)? == enums::min_max::MAX.into() {
            number::<float::Max, int::Max>(b, value_class)
        } else {
            number::<float::Min, int::Min>(b, value_class)
        },
    )
}

pub(super) fn mad(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = three(cx, instruction)?;
    if !b.is_float() {
        let class = product_class(&b);
        return Ok(b.ternary::<int::Mad>(class));
    }
    Ok(match b.set_precision() {
        float::Precision::Half => b.real_ternary_in_double::<float::HalfMad>(),
        _ => b.real_ternary::<float::Mad>(),
    })
}

pub(super) fn add3(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = three(cx, instruction)?;
    let class = sum_class(&b);
    Ok(b.ternary::<int::Add3>(class))
}

/// Class of sums: modular, unless the exact value matters.
pub(super) fn sum_class(b: &Builder) -> Class {
    if needs_value(b) {
        of_sums(&b.refs())
    } else {
        modular(&b.destination, &b.refs())
    }
}

/// Class of products: modular, unless the exact value matters.
pub(super) fn product_class(b: &Builder) -> Class {
    if needs_value(b) {
        of_products(&b.refs())
    } else {
        modular(&b.destination, &b.refs())
    }
}

/// Class of operations that look at the values of their sources.
pub(super) fn value_class(b: &Builder) -> Class {
    types::of_values(&b.refs())
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
        if source.shape != Shape::Scalar {
            let operand = fields::vector(instruction, name)?;
            *source = cx.packed_source(operand, lanes)?;
        }
    }
    if matches!(b.destination.target, Target::Strided(_)) {
        b.destination.target = Target::Packed;
    }
    Ok(b.real_ternary::<float::Lrp>())
}
