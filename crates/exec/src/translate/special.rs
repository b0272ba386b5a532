//! Instructions with unusual operands: two results, groups of lanes, narrow formats.

use super::arith::{three, two};
use super::compute::Builder;
use super::context::Context;
use super::fields;
use super::operand::Problem;
use crate::code::{
    Action, Destination, DotTerms, FourBits, Lane, Modify, Narrowing, Operation, Origin, Region,
    Source, Step, Systolic, Target,
};
use crate::lanes::dpas;
use visakit_isa::table::FieldName as F;
use visakit_isa::{DataType, Instruction, Value, VarId, VectorOperand, enums};

type Translated = Result<Step, Problem>;

fn two_results(
    cx: &Context<'_>,
    instruction: &Instruction,
    second: F,
    operation: Operation,
) -> Translated {
    let mut b = two(cx, instruction)?;
    b.take_unsigned();
    b.second = Some(cx.destination(fields::vector(instruction, second)?, b.count())?);
    Ok(b.step(operation, Lane::I64))
}

pub(super) fn addc(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    two_results(cx, instruction, F::Carry, Operation::AddCarry)
}

pub(super) fn subb(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    two_results(cx, instruction, F::Borrow, Operation::SubBorrow)
}

pub(super) fn add3_overflow(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = three(cx, instruction)?;
    // The predicate field names the variable that takes the overflow.
    b.sets = b.predicate.take();
    if b.sets.is_none() {
        return Err(Problem::form("add3.o without an overflow predicate"));
    }
    Ok(b.step(Operation::Add3Overflow, Lane::I128))
}

/// The low halves go to `dst`, the high halves to the registers after them.
pub(super) fn madw(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = three(cx, instruction)?;
    let size = usize::from(b.destination.data_type.size());
    let stride = match b.destination.target {
        Target::Strided(stride) | Target::Indirect { stride, .. } => usize::from(stride),
        Target::Packed | Target::Null => size,
    };
    let low = ((b.count() - 1) * stride + size).next_multiple_of(cx.grf_bytes as usize);
    let mut high = b.destination.clone();
    match &mut high.target {
        Target::Indirect { immediate, .. } => {
            *immediate = immediate.saturating_add(i16::try_from(low).unwrap_or(i16::MAX));
        }
        Target::Null => {}
        Target::Packed | Target::Strided(_) => {
            if let VectorOperand::General(operand) = fields::vector(instruction, F::Dst)? {
                let place = cx.variable(operand.variable)?;
                let end = high.offset + low + (b.count() - 1) * stride + size;
                if end > place.offset + place.available {
                    return Err(Problem::Fault(crate::fault::FaultKind::RegisterOutOfBounds));
                }
            }
            high.offset += low;
        }
    }
    b.second = Some(high);
    Ok(b.step(Operation::MadWide, Lane::I128))
}

pub(super) fn dp4a(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(three(cx, instruction)?.step(Operation::DotBytes, Lane::I64))
}

pub(super) fn sad2(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(two(cx, instruction)?.step(Operation::Differences, Lane::I64))
}

pub(super) fn sad2add(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(three(cx, instruction)?.step(Operation::DifferencesAdd, Lane::I64))
}

/// Products of the first elements of each four, and the next `bare` of the second source.
pub(super) fn dot_product(
    cx: &Context<'_>,
    instruction: &Instruction,
    products: u8,
    bare: u8,
) -> Translated {
    let mut b = two(cx, instruction)?;
    b.set_precision();
    let terms = DotTerms { products, bare };
    Ok(b.step(Operation::DotProduct(terms), Lane::F64))
}

/// p * u + r. The scalars are elements 0 and 3 of the first source.
pub(super) fn line(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src1])?;
    b.set_precision();
    let scalars = cx.packed_source(fields::vector(instruction, F::Src0)?, 4)?;
    b.sources.insert(0, scalars);
    Ok(b.step(Operation::Line, Lane::F64))
}

/// p * u + q * v + r. The scalars are elements 0, 1 and 3 of the first source.
pub(super) fn plane(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src1])?;
    b.set_precision();
    let scalars = cx.packed_source(fields::vector(instruction, F::Src0)?, 4)?;
    let lanes = b.count();
    let operand = fields::vector(instruction, F::Src1)?;
    // Eight u, then eight v, for each eight lanes.
    let all = cx.packed_source(operand, if lanes > 8 { 32 } else { 16 })?;
    if lanes > 16 {
        return Err(Problem::form("plane with more than 16 lanes"));
    }
    let size = usize::from(all.data_type.size());
    let elements = |first: usize| {
        let mut offsets = Box::new([0u16; 32]);
        for (lane, offset) in offsets.iter_mut().enumerate() {
            let element = lane / 8 * 16 + lane % 8 + first;
            *offset = u16::try_from(element * size).unwrap_or(u16::MAX);
        }
        Source {
            region: Region::Offsets(offsets),
            ..all.clone()
        }
    };
    b.sources = vec![scalars, elements(0), elements(8)];
    Ok(b.step(Operation::Plane, Lane::F64))
}

/// The quotient itself serves as the first approximation. The predicate marks results that no
/// refinement may touch.
pub(super) fn invm(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    first_step(
        cx,
        instruction,
        &[F::Src0, F::Src1],
        Operation::QuotientStep,
    )
}

pub(super) fn rsqtm(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    first_step(cx, instruction, &[F::Src0], Operation::RsqrtStep)
}

fn first_step(
    cx: &Context<'_>,
    instruction: &Instruction,
    sources: &[F],
    operation: Operation,
) -> Translated {
    let mut b = Builder::new(cx, instruction, sources)?;
    b.set_precision();
    let operand = fields::predicate(instruction, F::PredDst)?
        .ok_or_else(|| Problem::form("an early-out destination that is no predicate"))?;
    b.sets = Some(cx.flag_operand(operand, b.lanes)?);
    Ok(b.step(operation, Lane::F64))
}

/// Conversions from and to formats that no data type names.
pub(super) fn narrow_conversion(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let b = Builder::new(cx, instruction, &[F::Src0])?;
    let narrowing = match (b.source(0).data_type, b.destination.data_type) {
        // bfloat is stored in words, tensor float in dwords.
        (DataType::Uw | DataType::Bf, DataType::F) => Narrowing::BFloatToFloat,
        (DataType::F, DataType::Uw | DataType::Bf) => Narrowing::FloatToBFloat,
        (DataType::F, DataType::Ud) => Narrowing::FloatToTf32,
        (DataType::Ud | DataType::F, DataType::F) => Narrowing::Tf32ToFloat,
        (DataType::Hf, DataType::Ub) => Narrowing::HalfToBf8,
        (DataType::Ub, DataType::Hf) => Narrowing::Bf8ToHalf,
        (DataType::Hf, DataType::B) => Narrowing::HalfToHf8,
        (DataType::B, DataType::Hf) => Narrowing::Hf8ToHalf,
        (from, to) => {
            return Err(Problem::form(format!(
                "a conversion from {from} to {to} by this instruction"
            )));
        }
    };
    Ok(bits_of(b, Operation::Narrow(narrowing)))
}

/// Moves of the floats of 4.2: each has one other type that it is converted from and to.
pub(super) fn small_float(b: Builder) -> Translated {
    let source = b.source(0);
    let (from, to) = (source.data_type, b.destination.data_type);
    let narrowing = match (from, to) {
        (DataType::F, DataType::Tf32) => Some(Narrowing::FloatToTf32),
        (DataType::Tf32, DataType::F) => Some(Narrowing::Tf32ToFloat),
        (DataType::Hf, DataType::Bf8) => Some(Narrowing::HalfToBf8),
        (DataType::Bf8, DataType::Hf) => Some(Narrowing::Bf8ToHalf),
        (DataType::Hf, DataType::Hf8) => Some(Narrowing::HalfToHf8),
        (DataType::Hf8, DataType::Hf) => Some(Narrowing::Hf8ToHalf),
        _ if from == to => None,
        _ => return Err(Problem::form(format!("a move from {from} to {to}"))),
    };
    if source.modify != Modify::None || b.destination.saturate {
        return Err(Problem::form(format!(
            "a modifier or saturation of a move from {from} to {to}"
        )));
    }
    Ok(bits_of(
        b,
        narrowing.map_or(Operation::Copy, Operation::Narrow),
    ))
}

/// A step that takes all operands as bits.
fn bits_of(mut b: Builder, operation: Operation) -> Step {
    b.take_bits();
    b.take_unsigned();
    b.step(operation, Lane::U32)
}

/// Values of a table by indices of four bits, as many as the second source has.
pub(super) fn shuffle(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::without_destination(cx, instruction, &[F::Src0, F::Src1])?;
    b.destination = raw_destination(cx, instruction, b.count())?;
    let [table, indices] = [b.source(0), b.source(1)];
    let plain = table.modify == Modify::None && indices.modify == Modify::None;
    let bytes = match indices.data_type {
        DataType::Uw => true,
        DataType::Ub => false,
        _ => return Err(Problem::form("indices that are neither bytes nor words")),
    };
    if !plain || table.data_type != DataType::Ud || b.count() < 16 {
        return Err(Problem::form("a table that is not 16 dwords"));
    }
    Ok(b.step(Operation::ShuffleNibbles(bytes), Lane::U32))
}

/// Pairs of half or brain floats to numbers of four bits.
pub(super) fn scale_down(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    use enums::{dnscl_convert_type as convert, dnscl_mode as mode, dnscl_round_mode as round};
    let mut b = Builder::without_destination(cx, instruction, &[])?;
    let lanes = b.count();
    b.destination = raw_destination(cx, instruction, lanes)?;
    for name in [F::Src0, F::Src1] {
        b.sources.push(raw_source(cx, instruction, name, lanes)?);
    }
    let number = |name| {
        let number = fields::number(instruction, name)?;
        Ok::<u8, Problem>(u8::try_from(number).unwrap_or(u8::MAX))
    };
    if number(F::RoundMode)? != round::RNE {
        return Err(Problem::form(
            "random rounding to four bits, whose bits are not published",
        ));
    }
    let brain = match number(F::ConvertType)? {
        convert::BFTOE2M1 | convert::BFTOINT4 => true,
        convert::HFTOE2M1 | convert::HFTOINT4 => false,
        _ => {
            return Err(Problem::form(
                "a conversion to four bits that means nothing",
            ));
        }
    };
    let float = matches!(
        number(F::ConvertType)?,
        convert::BFTOE2M1 | convert::HFTOE2M1
    );
    let places = match number(F::Mode)? {
        mode::MODE0 => [0, 4, 16, 20],
        mode::MODE1 => [0, 16, 4, 20],
        mode::MODE2 => [8, 12, 24, 28],
        mode::MODE3 => [8, 24, 12, 28],
        _ => return Err(Problem::form("a packing of four bits that means nothing")),
    };
    Ok(b.step(
        Operation::ScaleDown(FourBits {
            brain,
            float,
            places,
        }),
        Lane::U32,
    ))
}

/// The consecutive dwords of a raw destination.
fn raw_destination(
    cx: &Context<'_>,
    instruction: &Instruction,
    lanes: usize,
) -> Result<Destination, Problem> {
    let place = raw_place(cx, instruction, F::Dst, lanes)?;
    Ok(match place {
        Some(offset) => Destination {
            offset,
            data_type: DataType::Ud,
            saturate: false,
            target: Target::Packed,
        },
        None => Destination {
            target: Target::Null,
            ..Destination::default()
        },
    })
}

/// The consecutive dwords of a raw source.
fn raw_source(
    cx: &Context<'_>,
    instruction: &Instruction,
    name: F,
    lanes: usize,
) -> Result<Source, Problem> {
    let offset = raw_place(cx, instruction, name, lanes)?
        .ok_or_else(|| Problem::form(format!("a null operand {name}")))?;
    Ok(Source {
        offset,
        data_type: DataType::Ud,
        modify: Modify::None,
        constant: None,
        region: Region::Packed,
    })
}

/// The first byte of a raw operand with room for a dword per lane; `None` for the null variable.
fn raw_place(
    cx: &Context<'_>,
    instruction: &Instruction,
    name: F,
    lanes: usize,
) -> Result<Option<usize>, Problem> {
    let Some(Value::Raw(operand)) = instruction.get(name) else {
        return Err(Problem::form(format!("an instruction without {name}")));
    };
    match cx.raw(*operand)? {
        Some(place) if place.available < lanes * 4 => {
            Err(Problem::Fault(crate::fault::FaultKind::RegisterOutOfBounds))
        }
        place => Ok(place.map(|place| place.offset)),
    }
}

/// Stochastic rounding: random bits are added below the result's mantissa, which is truncated.
pub(super) fn stochastic(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = two(cx, instruction)?;
    let narrowing = match (b.source(0).data_type, b.destination.data_type) {
        (DataType::F, DataType::Hf) => Narrowing::FloatToHalfByChance,
        (DataType::Hf, DataType::Ub) => Narrowing::HalfToBf8ByChance,
        (from, to) => {
            return Err(Problem::form(format!(
                "stochastic rounding from {from} to {to}"
            )));
        }
    };
    b.take_bits();
    b.take_unsigned();
    Ok(b.step(Operation::NarrowByChance(narrowing), Lane::U32))
}

/// A systolic dot product: DPAS; DPASW, whose activations come from two fused threads; BDPAS, whose activations are a
/// raw operand and whose weights and activations have scales, a byte for each block.
pub(super) fn systolic(cx: &Context<'_>, instruction: &Instruction, fused: bool) -> Translated {
    let b = Builder::without_destination(cx, instruction, &[])?;
    let info = fields::number(instruction, F::PrecisionInfo)?.to_le_bytes();
    let [of_weights, of_activations, depth, repeat] = info;
    let raw_place = |name| match instruction.get(name) {
        Some(Value::Raw(operand)) => Ok(cx.raw(*operand)?),
        _ => Err(Problem::form(format!("dpas without its field {name}"))),
    };
    let destination = raw_place(F::Dst)?;
    let accumulator = raw_place(F::Src0)?;
    let src1 = raw_place(F::Src1)?;
    // A vector operand with the bytes from it to the end of its variable; `None` if it is null.
    let vector_place = |name| -> Result<Option<(usize, usize)>, Problem> {
        let VectorOperand::General(operand) = fields::vector(instruction, name)? else {
            return Err(Problem::form("dpas with an operand of another class"));
        };
        if operand.variable == VarId::NULL {
            return Ok(None);
        }
        let first = cx.packed_source(&VectorOperand::General(*operand), 1)?;
        let place = cx.variable(operand.variable)?;
        let end = place.offset + place.available;
        Ok(Some((first.offset, end.saturating_sub(first.offset))))
    };
    let src2 = match instruction.get(F::Src2) {
        Some(Value::Raw(_)) => raw_place(F::Src2)?.map(|raw| (raw.offset, raw.available)),
        _ => vector_place(F::Src2)?,
    };
    let scales = |name| match instruction.get(name) {
        Some(_) => vector_place(name),
        None => Ok(None),
    };
    let (weight_scales, activation_scales) = (scales(F::Src3)?, scales(F::Src4)?);
    let (Some(destination), Some(src1), Some((activations, available))) = (destination, src1, src2)
    else {
        return Err(Problem::form("dpas with a null operand"));
    };
    let plan = dpas::Plan::new(of_weights, of_activations, depth, repeat, b.count())
        .and_then(|plan| plan.with_types(destination.data_type, accumulator.map(|a| a.data_type)))
        .ok_or_else(|| Problem::form("dpas with precisions, types or sizes that do not fit"))?;
    let sizes = plan.sizes();
    let own = if fused {
        sizes.activations - sizes.activations / 2
    } else {
        sizes.activations
    };
    if destination.available < sizes.result
        || accumulator.is_some_and(|a| a.available < sizes.accumulator)
        || src1.available < sizes.weights
        || available < own
        || weight_scales.is_some_and(|(_, available)| available < sizes.weight_scales)
        || activation_scales.is_some_and(|(_, available)| available < sizes.activation_scales)
    {
        return Err(Problem::Fault(crate::fault::FaultKind::RegisterOutOfBounds));
    }
    Ok(Step {
        lanes: b.lanes,
        predicate: b.predicate,
        origin: Origin::NONE,
        fused: false,
        action: Action::Systolic(Box::new(Systolic {
            plan,
            places: dpas::Places {
                result: destination.offset,
                accumulator: accumulator.map(|a| a.offset),
                weights: src1.offset,
                weight_scales: weight_scales.map(|(offset, _)| offset),
                activation_scales: activation_scales.map(|(offset, _)| offset),
            },
            activations,
            available,
            fused,
        })),
    })
}
