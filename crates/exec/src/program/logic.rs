//! Bits and shifts.

use super::arith::needs_value;
use super::build::{Builder, nowhere};
use super::code::Step;
use super::context::Context;
use super::fields;
use super::operand::Problem;
use super::types::{Class, is_wide, modular, raw};
use crate::lanes::int;
use crate::run::alu::{Alu, Flag};
use crate::run::registers::{Registers, full};
use visakit_isa::table::FieldName as F;
use visakit_isa::{Instruction, Op};

/// Translates a logic instruction; `None` if it is none.
pub(crate) fn translate(
    cx: &Context<'_>,
    instruction: &Instruction,
) -> Result<Option<Step>, Problem> {
    let op = instruction.op;
    if matches!(op, Op::AND | Op::OR | Op::XOR | Op::NOT)
        && fields::predicate(instruction, F::Dst)?.is_some()
    {
        return on_predicates(cx, instruction).map(Some);
    }
    let two = || {
        let mut b = Builder::new(cx, instruction, &[F::Src0, F::Src1])?;
        b.take_bits();
        Ok::<_, Problem>(b)
    };
    let one = || {
        let mut b = Builder::new(cx, instruction, &[F::Src0])?;
        b.take_bits();
        Ok::<_, Problem>(b)
    };
    // Counts and reversals look at the bits of the source, whatever its type.
    let bits = || {
        let mut b = one()?;
        for source in &mut b.sources {
            source.data_type = raw(source.data_type);
        }
        Ok::<_, Problem>(b)
    };
    Ok(Some(match op {
        Op::AND | Op::OR | Op::XOR => {
            let b = two()?;
            let class = modular(&b.destination, &b.refs());
            match op {
                Op::AND => b.binary::<int::And>(class),
                Op::OR => b.binary::<int::Or>(class),
                _ => b.binary::<int::Xor>(class),
            }
        }
        Op::NOT => {
            let b = one()?;
            let class = modular(&b.destination, &b.refs());
            b.unary::<int::Not>(class)
        }
        Op::SHL => shl(two()?),
        Op::SHR => shr(two()?, true),
        Op::ASR => {
            let b = two()?;
            let unsigned = b.sources.first().is_some_and(|s| !s.data_type.is_signed());
            if unsigned { shr(b, false) } else { asr(b) }
        }
        Op::ROL | Op::ROR => rotate(two()?, op == Op::ROL)?,
        Op::CBIT => {
            let b = bits()?;
            if b.sources.iter().any(|s| is_wide(s.data_type)) {
                b.unary_fixed::<int::Cbit, u64>()
            } else {
                b.unary_fixed::<int::Cbit, u32>()
            }
        }
        Op::LZD => bits()?.unary_fixed::<int::Lzd, u32>(),
        Op::FBL => bits()?.unary_fixed::<int::Fbl, u32>(),
        Op::FBH => {
            let signed = one()?.sources.iter().any(|s| s.data_type.is_signed());
            if signed {
                one()?.unary_fixed::<int::FbhSigned, u32>()
            } else {
                bits()?.unary_fixed::<int::FbhUnsigned, u32>()
            }
        }
        Op::BFREV => bits()?.unary_fixed::<int::Bfrev, u32>(),
        Op::BFE => {
            let b = Builder::new(cx, instruction, &[F::Src0, F::Src1, F::Src2])?;
            if b.destination.data_type.is_signed() {
                b.ternary_fixed::<int::BfeSigned, u32>()
            } else {
                b.ternary_fixed::<int::BfeUnsigned, u32>()
            }
        }
        Op::BFI => {
            let mut b = Builder::new(cx, instruction, &[F::Src0, F::Src1, F::Src2])?;
            let lanes = b.count();
            let fourth = cx.source(fields::vector(instruction, F::Src3)?, lanes)?;
            b.extra().fourth = Some(fourth);
            b.step(bfi)
        }
        Op::BFN => {
            let mut b = Builder::new(cx, instruction, &[F::Src0, F::Src1, F::Src2])?;
            b.take_bits();
            let table = fields::number(instruction, F::BooleanFunc)?;
            if let Some(first) = b.extra().numbers.first_mut() {
                *first = table as usize;
            }
            b.boolean()
        }
        _ => return Ok(None),
    }))
}

fn shl(b: Builder) -> Step {
    // The count is taken modulo 64 if the value or the result has 64 bits.
    let wide =
        is_wide(b.destination.data_type) || b.sources.first().is_some_and(|s| is_wide(s.data_type));
    if needs_value(&b) {
        return if wide {
            b.binary::<Shl<63>>(Class::I128)
        } else {
            b.binary::<Shl<31>>(Class::I64)
        };
    }
    let class = if wide { Class::U64 } else { Class::U32 };
    if wide {
        b.binary::<Shl<63>>(class)
    } else {
        b.binary::<Shl<31>>(class)
    }
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
fn shr(mut b: Builder, as_bits: bool) -> Step {
    if as_bits && let Some(source) = b.sources.first_mut() {
        source.data_type = raw(source.data_type);
    }
    let wide =
        is_wide(b.destination.data_type) || b.sources.first().is_some_and(|s| is_wide(s.data_type));
    b.binary::<int::Shr>(if wide { Class::U64 } else { Class::U32 })
}

fn asr(b: Builder) -> Step {
    let wide =
        is_wide(b.destination.data_type) || b.sources.first().is_some_and(|s| is_wide(s.data_type));
    b.binary::<int::Shr>(if wide { Class::I64 } else { Class::I32 })
}

/// Rotations stay within the width of the value.
fn rotate(mut b: Builder, left: bool) -> Result<Step, Problem> {
    let width = b.sources.first().map_or(4, |s| s.data_type.size());
    if let Some(source) = b.sources.first_mut() {
        source.data_type = raw(source.data_type);
    }
    Ok(match (width, left) {
        (1, true) => b.binary_fixed::<int::Rol, u8>(),
        (1, false) => b.binary_fixed::<int::Ror, u8>(),
        (2, true) => b.binary_fixed::<int::Rol, u16>(),
        (2, false) => b.binary_fixed::<int::Ror, u16>(),
        (4, true) => b.binary_fixed::<int::Rol, u32>(),
        (4, false) => b.binary_fixed::<int::Ror, u32>(),
        (_, true) => b.binary_fixed::<int::Rol, u64>(),
        (_, false) => b.binary_fixed::<int::Ror, u64>(),
    })
}

fn bfi(alu: &Alu, registers: &mut Registers, mask: u32) -> crate::fault::Outcome {
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

/// Logic on predicate variables.
fn on_predicates(cx: &Context<'_>, instruction: &Instruction) -> Result<Step, Problem> {
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
    let destination = operand(F::Dst)?;
    let first = operand(F::Src0)?;
    let second = match instruction.op {
        Op::NOT => first,
        _ => operand(F::Src1)?,
    };
    b.extra().flags = [destination, first, second];
    b.destination = nowhere();
    Ok(match instruction.op {
        Op::AND => b.step(|alu, r, m| flags(alu, r, m, |a, b| a & b)),
        Op::OR => b.step(|alu, r, m| flags(alu, r, m, |a, b| a | b)),
        Op::XOR => b.step(|alu, r, m| flags(alu, r, m, |a, b| a ^ b)),
        _ => b.step(|alu, r, m| flags(alu, r, m, |a, _| !a)),
    })
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
