//! Bits and shifts.

use super::arith::needs_value;
use super::build::{Builder, IntegerBinary, nowhere};
use super::code::Step;
use super::context::Context;
use super::fields;
use super::operand::Problem;
use super::types::{Class, is_wide, modular, raw};
use crate::lanes::int;
use crate::run::alu::{Alu, AluFn, Flag};
use crate::run::registers::{Registers, full};
use visakit_isa::Instruction;
use visakit_isa::table::FieldName as F;

type Translated = Result<Step, Problem>;

fn one(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    let mut b = Builder::new(cx, instruction, &[F::Src0])?;
    b.take_bits();
    Ok(b)
}

fn two(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    let mut b = Builder::new(cx, instruction, &[F::Src0, F::Src1])?;
    b.take_bits();
    Ok(b)
}

fn three(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    Builder::new(cx, instruction, &[F::Src0, F::Src1, F::Src2])
}

/// One source, of which counts and reversals look at the bits whatever its type.
fn bits(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    let mut b = one(cx, instruction)?;
    for source in &mut b.sources {
        source.data_type = raw(source.data_type);
    }
    Ok(b)
}

fn is_wide_operation(b: &Builder) -> bool {
    is_wide(b.destination.data_type) || b.sources.first().is_some_and(|s| is_wide(s.data_type))
}

/// Logic of two sources: integers or predicates.
pub(super) fn binary<O: IntegerBinary>(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    if fields::predicate(instruction, F::Dst)?.is_some() {
        return on_predicates(cx, instruction, F::Src1, |alu, r, m| {
            flags(alu, r, m, <O as int::Binary<u32>>::apply)
        });
    }
    let b = two(cx, instruction)?;
    let class = modular(&b.destination, &b.refs());
    Ok(b.binary::<O>(class))
}

pub(super) fn not(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    if fields::predicate(instruction, F::Dst)?.is_some() {
        return on_predicates(cx, instruction, F::Src0, |alu, r, m| {
            flags(alu, r, m, |a, _| !a)
        });
    }
    let b = one(cx, instruction)?;
    let class = modular(&b.destination, &b.refs());
    Ok(b.unary::<int::Not>(class))
}

/// An operation on the bits of a dword.
pub(super) fn of_bits<O: int::Unary<u32>>(
    cx: &Context<'_>,
    instruction: &Instruction,
) -> Translated {
    Ok(bits(cx, instruction)?.unary_fixed::<O, u32>())
}

pub(super) fn cbit(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = bits(cx, instruction)?;
    Ok(if b.sources.iter().any(|s| is_wide(s.data_type)) {
        b.unary_fixed::<int::Cbit, u64>()
    } else {
        b.unary_fixed::<int::Cbit, u32>()
    })
}

pub(super) fn fbh(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = one(cx, instruction)?;
    if b.sources.iter().any(|s| s.data_type.is_signed()) {
        return Ok(b.unary_fixed::<int::FbhSigned, u32>());
    }
    of_bits::<int::FbhUnsigned>(cx, instruction)
}

pub(super) fn bfe(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = three(cx, instruction)?;
    Ok(if b.destination.data_type.is_signed() {
        b.ternary_fixed::<int::BfeSigned, u32>()
    } else {
        b.ternary_fixed::<int::BfeUnsigned, u32>()
    })
}

pub(super) fn bfi(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = three(cx, instruction)?;
    let lanes = b.count();
    let fourth = cx.source(fields::vector(instruction, F::Src3)?, lanes)?;
    b.extra().fourth = Some(fourth);
    Ok(b.step(insert))
}

pub(super) fn bfn(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = three(cx, instruction)?;
    b.take_bits();
    let table = fields::number(instruction, F::BooleanFunc)?;
    if let Some(first) = b.extra().numbers.first_mut() {
        *first = table as usize;
    }
    Ok(b.boolean())
}

pub(super) fn shl(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = two(cx, instruction)?;
    // The count is taken modulo 64 if the value or the result has 64 bits.
    Ok(match (is_wide_operation(&b), needs_value(&b)) {
        (true, true) => b.binary::<Shl<63>>(Class::I128),
        (false, true) => b.binary::<Shl<31>>(Class::I64),
        (true, false) => b.binary::<Shl<63>>(Class::U64),
        (false, false) => b.binary::<Shl<31>>(Class::U32),
    })
}

/// Shift left with the count under a mask.
struct Shl<const MASK: u32>;

impl<const MASK: u32, C: int::Int> int::Binary<C> for Shl<MASK> {
    const HOT: bool = C::MODULAR && C::BITS == MASK + 1;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: C, b: C) -> C {
        a.shl(b.low() & MASK)
    }
}

/// Logical shift right of the source's own width.
pub(super) fn shr(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = two(cx, instruction)?;
    if let Some(source) = b.sources.first_mut() {
        source.data_type = raw(source.data_type);
    }
    Ok(shift_right(b, Class::U64, Class::U32))
}

/// Arithmetic shift right; a logical one of what has no sign.
pub(super) fn asr(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = two(cx, instruction)?;
    let unsigned = b.sources.first().is_some_and(|s| !s.data_type.is_signed());
    Ok(if unsigned {
        shift_right(b, Class::U64, Class::U32)
    } else {
        shift_right(b, Class::I64, Class::I32)
    })
}

fn shift_right(b: Builder, wide: Class, narrow: Class) -> Step {
    let class = if is_wide_operation(&b) { wide } else { narrow };
    b.binary::<int::Shr>(class)
}

/// Rotations stay within the width of the value.
pub(super) fn rotate<O>(cx: &Context<'_>, instruction: &Instruction) -> Translated
where
    O: int::Binary<u8> + int::Binary<u16> + int::Binary<u32> + int::Binary<u64>,
{
    let mut b = two(cx, instruction)?;
    let width = b.sources.first().map_or(4, |s| s.data_type.size());
    if let Some(source) = b.sources.first_mut() {
        source.data_type = raw(source.data_type);
    }
    Ok(match width {
        1 => b.binary_fixed::<O, u8>(),
        2 => b.binary_fixed::<O, u16>(),
        4 => b.binary_fixed::<O, u32>(),
        _ => b.binary_fixed::<O, u64>(),
    })
}

fn insert(alu: &Alu, registers: &mut Registers, mask: u32) -> crate::fault::Outcome {
    use crate::run::registers::{Destinations, Sources};
    let mut values = [[0u32; 32]; 4];
    let fourth = alu.extra.as_ref().and_then(|extra| extra.fourth.as_ref());
    for (to, source) in values.iter_mut().zip(alu.sources.iter().chain(fourth)) {
        registers.load_any(source, to.get_mut(..alu.lanes).unwrap_or_default(), mask)?;
    }
    let [width, offset, insert, base] = values;
    let mut result = [0u32; 32];
    for ((((to, w), o), i), b) in result
        .iter_mut()
        .zip(width)
        .zip(offset)
        .zip(insert)
        .zip(base)
    {
        *to = int::bfi(w, o, i, b);
    }
    registers.store_any(
        &alu.destination,
        result.get(..alu.lanes).unwrap_or_default(),
        mask,
    )
}

/// Logic on predicate variables, `second` among them.
fn on_predicates(
    cx: &Context<'_>,
    instruction: &Instruction,
    second: F,
    function: AluFn,
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
    b.extra().flags = [operand(F::Dst)?, operand(F::Src0)?, operand(second)?];
    b.destination = nowhere();
    Ok(b.step(function))
}

fn flags(
    alu: &Alu,
    registers: &mut Registers,
    mask: u32,
    function: fn(u32, u32) -> u32,
) -> crate::fault::Outcome {
    if let Some(extra) = &alu.extra {
        let [destination, first, second] = &extra.flags;
        let bits = function(first.read(registers), second.read(registers));
        destination.write(registers, bits & full(alu.lanes), mask);
    }
    Ok(())
}
