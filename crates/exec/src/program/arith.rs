//! Arithmetic and mathematics.

use super::build::Builder;
use super::code::Step;
use super::context::Context;
use super::operand::Problem;
use super::types::{Class, modular, of_products, of_sums, of_values};
use crate::lanes::{float, int};
use visakit_isa::table::FieldName as F;
use visakit_isa::{Instruction, Op, enums};

/// Translates an arithmetic instruction; `None` if it is none.
pub(crate) fn translate(
    cx: &Context<'_>,
    instruction: &Instruction,
) -> Result<Option<Step>, Problem> {
    let two = || Builder::new(cx, instruction, &[F::Src0, F::Src1]);
    let three = || Builder::new(cx, instruction, &[F::Src0, F::Src1, F::Src2]);
    let one = || Builder::new(cx, instruction, &[F::Src0]);
    Ok(Some(match instruction.op {
        Op::ADD => {
            let b = two()?;
            if b.is_float() {
                b.real_binary::<float::Add>()
            } else {
                let class = sum_class(&b);
                b.binary::<int::Add>(class)
            }
        }
        Op::MUL => {
            let b = two()?;
            if b.is_float() {
                b.real_binary::<float::Mul>()
            } else {
                let class = product_class(&b);
                b.binary::<int::Mul>(class)
            }
        }
        Op::MAD => {
            let mut b = three()?;
            if b.is_float() && b.set_precision() == float::Precision::Half {
                b.real_ternary_in_double::<float::HalfMad>()
            } else if b.is_float() {
                b.real_ternary::<float::Mad>()
            } else {
                let class = product_class(&b);
                b.ternary::<int::Mad>(class)
            }
        }
        Op::ADD3 => {
            let b = three()?;
            let class = sum_class(&b);
            b.ternary::<int::Add3>(class)
        }
        Op::DIV | Op::DIVM => {
            let b = two()?;
            if b.is_float() {
                b.real_binary::<float::Div>()
            } else {
                let class = value_class(&b);
                b.binary::<int::Div>(class)
            }
        }
        Op::MOD => {
            let b = two()?;
            let class = value_class(&b);
            b.binary::<int::Mod>(class)
        }
        Op::AVG => {
            let b = two()?;
            let class = value_class(&b);
            b.binary::<int::Avg>(class)
        }
        Op::MULH => two()?.binary_fixed::<int::Mulh, u64>(),
        Op::FMINMAX => {
            let maximum = super::fields::number(instruction, F::Op)? == enums::min_max::MAX.into();
            let b = two()?;
            match (b.is_float(), maximum) {
                (true, false) => b.real_binary::<float::Min>(),
                (true, true) => b.real_binary::<float::Max>(),
                (false, false) => {
                    let class = value_class(&b);
                    b.binary::<int::Min>(class)
                }
                (false, true) => {
                    let class = value_class(&b);
                    b.binary::<int::Max>(class)
                }
            }
        }
        Op::LRP => lrp(cx, instruction)?,
        Op::EXP => one()?.real_unary::<float::Exp>(),
        Op::LOG => one()?.real_unary::<float::Log>(),
        Op::SIN => one()?.real_unary::<float::Sin>(),
        Op::COS => one()?.real_unary::<float::Cos>(),
        Op::TANH => one()?.real_unary::<float::Tanh>(),
        Op::SIGM => one()?.real_unary::<float::Sigmoid>(),
        Op::POW => two()?.real_binary::<float::Pow>(),
        Op::INV => one()?.real_unary::<float::Inv>(),
        Op::SQRT | Op::SQRTM => one()?.real_unary::<float::Sqrt>(),
        Op::RSQRT => one()?.real_unary::<float::Rsqrt>(),
        Op::FRC => one()?.real_unary::<float::Frc>(),
        Op::RNDD => one()?.real_unary::<float::Rndd>(),
        Op::RNDU => one()?.real_unary::<float::Rndu>(),
        Op::RNDE => one()?.real_unary::<float::Rnde>(),
        Op::RNDZ => one()?.real_unary::<float::Rndz>(),
        _ => return Ok(None),
    }))
}

/// Class of sums: modular, unless the exact value matters.
fn sum_class(b: &Builder) -> Class {
    if needs_value(b) {
        of_sums(&b.refs())
    } else {
        modular(&b.destination, &b.refs())
    }
}

/// Class of products: modular, unless the exact value matters.
fn product_class(b: &Builder) -> Class {
    if needs_value(b) {
        of_products(&b.refs())
    } else {
        modular(&b.destination, &b.refs())
    }
}

/// Class of operations that look at the values of their sources.
pub(crate) fn value_class(b: &Builder) -> Class {
    of_values(&b.refs())
}

/// Whether a result is used beyond its low bits.
pub(crate) fn needs_value(b: &Builder) -> bool {
    b.destination.saturate || b.destination.data_type.is_float()
}

/// LRP ignores regions: elements follow each other, or one serves all lanes.
fn lrp(cx: &Context<'_>, instruction: &Instruction) -> Result<Step, Problem> {
    let mut b = Builder::new(cx, instruction, &[F::Src0, F::Src1, F::Src2])?;
    let lanes = b.count();
    for (source, name) in b.sources.iter_mut().zip([F::Src0, F::Src1, F::Src2]) {
        if source.shape != super::operand::Shape::Scalar {
            let operand = super::fields::vector(instruction, name)?;
            *source = cx.packed_source(operand, lanes)?;
        }
    }
    if matches!(b.destination.target, super::operand::Target::Strided(_)) {
        b.destination.target = super::operand::Target::Packed;
    }
    Ok(b.real_ternary::<float::Lrp>())
}
