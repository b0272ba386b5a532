//! Bits and shifts.

use super::arith::{needs_value, three, two};
use super::compute::Builder;
use super::context::Context;
use super::fields;
use super::operand::Problem;
use super::types::{is_wide, modular};
use crate::code::{Flag, Lane, Operation, Step, raw};
use visakit_isa::Instruction;
use visakit_isa::table::FieldName as F;

type Translated = Result<Step, Problem>;

/// Two sources as bits.
fn two_of_bits(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    let mut b = two(cx, instruction)?;
    b.take_bits();
    Ok(b)
}

/// One source; counts and reversals use its bits whatever its type.
fn bits(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    let mut b = Builder::new(cx, instruction, &[F::Src0])?;
    b.take_bits();
    b.take_unsigned();
    Ok(b)
}

fn is_wide_operation(b: &Builder) -> bool {
    is_wide(b.destination.data_type) || b.sources.first().is_some_and(|s| is_wide(s.data_type))
}

fn in_modular(b: Builder, operation: Operation) -> Step {
    let lane = modular(&b.destination, &b.sources);
    b.step(operation, lane)
}

/// Logic of two sources: integers or predicates.
pub(super) fn binary(
    cx: &Context<'_>,
    instruction: &Instruction,
    integers: Operation,
    predicates: Operation,
) -> Translated {
    if fields::predicate(instruction, F::Dst)?.is_some() {
        return on_predicates(cx, instruction, &[F::Src0, F::Src1], predicates);
    }
    Ok(in_modular(two_of_bits(cx, instruction)?, integers))
}

pub(super) fn not(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    if fields::predicate(instruction, F::Dst)?.is_some() {
        return on_predicates(cx, instruction, &[F::Src0], Operation::FlagNot);
    }
    let mut b = Builder::new(cx, instruction, &[F::Src0])?;
    b.take_bits();
    Ok(in_modular(b, Operation::Not))
}

/// An operation on the bits of a dword.
pub(super) fn of_bits(
    cx: &Context<'_>,
    instruction: &Instruction,
    operation: Operation,
) -> Translated {
    Ok(bits(cx, instruction)?.step(operation, Lane::U32))
}

pub(super) fn cbit(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = bits(cx, instruction)?;
    let wide = b.sources.iter().any(|s| is_wide(s.data_type));
    Ok(b.step(
        Operation::CountBits,
        if wide { Lane::U64 } else { Lane::U32 },
    ))
}

pub(super) fn fbh(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src0])?;
    b.take_bits();
    if b.sources.iter().any(|s| s.data_type.is_signed()) {
        return Ok(b.step(Operation::FirstBitHighSigned, Lane::U32));
    }
    of_bits(cx, instruction, Operation::FirstBitHighUnsigned)
}

pub(super) fn bfe(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = three(cx, instruction)?;
    let operation = if b.destination.data_type.is_signed() {
        Operation::ExtractSigned
    } else {
        Operation::ExtractUnsigned
    };
    Ok(b.step(operation, Lane::U32))
}

pub(super) fn bfi(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let sources = [F::Src0, F::Src1, F::Src2, F::Src3];
    Ok(Builder::new(cx, instruction, &sources)?.step(Operation::Insert, Lane::U32))
}

pub(super) fn bfn(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = three(cx, instruction)?;
    b.take_bits();
    let [table, ..] = fields::number(instruction, F::BooleanFunc)?.to_le_bytes();
    Ok(b.step(Operation::Boolean(table), Lane::U32))
}

pub(super) fn shl(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = two_of_bits(cx, instruction)?;
    let lane = match (is_wide_operation(&b), needs_value(&b)) {
        (true, true) => Lane::I128,
        (false, true) => Lane::I64,
        (true, false) => Lane::U64,
        (false, false) => Lane::U32,
    };
    Ok(b.step(Operation::Shl, lane))
}

/// Logical shift right of the source's own width.
pub(super) fn shr(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = two_of_bits(cx, instruction)?;
    if let Some(source) = b.sources.first_mut() {
        source.data_type = raw(source.data_type);
    }
    Ok(shift_right(b, Lane::U64, Lane::U32))
}

/// Arithmetic shift right; a logical one for unsigned types.
pub(super) fn asr(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = two_of_bits(cx, instruction)?;
    let unsigned = b.sources.first().is_some_and(|s| !s.data_type.is_signed());
    Ok(if unsigned {
        shift_right(b, Lane::U64, Lane::U32)
    } else {
        shift_right(b, Lane::I64, Lane::I32)
    })
}

fn shift_right(b: Builder, wide: Lane, narrow: Lane) -> Step {
    let lane = if is_wide_operation(&b) { wide } else { narrow };
    b.step(Operation::Shr, lane)
}

/// Rotations stay within the width of the value.
pub(super) fn rotate(
    cx: &Context<'_>,
    instruction: &Instruction,
    operation: Operation,
) -> Translated {
    let mut b = two_of_bits(cx, instruction)?;
    let width = b.sources.first().map_or(4, |s| s.data_type.size());
    if let Some(source) = b.sources.first_mut() {
        source.data_type = raw(source.data_type);
    }
    let lane = match width {
        1 => Lane::U8,
        2 => Lane::U16,
        4 => Lane::U32,
        _ => Lane::U64,
    };
    Ok(b.step(operation, lane))
}

/// Logic on predicate variables.
fn on_predicates(
    cx: &Context<'_>,
    instruction: &Instruction,
    sources: &[F],
    operation: Operation,
) -> Translated {
    let mut b = Builder::without_destination(cx, instruction, &[])?;
    let lanes = b.lanes;
    let operand = |name| -> Result<Flag, Problem> {
        match fields::predicate(instruction, name)? {
            Some(operand) => cx.flag_operand(operand, lanes),
            None => Err(Problem::form(
                "a predicate beside operands of another class",
            )),
        }
    };
    b.sets = Some(operand(F::Dst)?);
    for (flag, name) in b.flags.iter_mut().zip(sources) {
        *flag = operand(*name)?;
    }
    Ok(b.step(operation, Lane::U32))
}
