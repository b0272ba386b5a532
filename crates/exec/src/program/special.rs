//! Instructions with operands of their own kind: two results, groups of lanes, narrow formats.

use super::build::Builder;
use super::code::{Kind, Step, Systolic};
use super::context::Context;
use super::fields;
use super::operand::{Destination, Problem, Shape, Source, Target};
use super::types::raw;
use crate::fault::Outcome;
use crate::lanes::{dpas, int};
use crate::run::alu::{Alu, AluFn};
use crate::run::registers::{Destinations, Registers, Sources};
use visakit_isa::table::FieldName as F;
use visakit_isa::{DataType, Instruction, Value, VectorOperand};

type Translated = Result<Step, Problem>;

fn three(cx: &Context<'_>, instruction: &Instruction) -> Result<Builder, Problem> {
    Builder::new(cx, instruction, &[F::Src0, F::Src1, F::Src2])
}

/// The lanes of a source in any type.
fn load<C: crate::lanes::convert::Compute>(
    registers: &Registers,
    source: &Source,
    lanes: usize,
    mask: u32,
) -> Result<[C; 32], Box<crate::fault::Trap>>
where
    Registers: Sources<C>,
{
    let mut values = [C::default(); 32];
    registers.load_any(source, values.get_mut(..lanes).unwrap_or_default(), mask)?;
    Ok(values)
}

fn store<C: crate::lanes::convert::Compute>(
    registers: &mut Registers,
    destination: &Destination,
    values: &[C; 32],
    lanes: usize,
    mask: u32,
) -> Outcome
where
    Registers: Destinations<C>,
{
    registers.store_any(destination, values.get(..lanes).unwrap_or_default(), mask)
}

fn two_results(
    cx: &Context<'_>,
    instruction: &Instruction,
    second: F,
    function: AluFn,
) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src0, F::Src1])?;
    for source in &mut b.sources {
        source.data_type = raw(source.data_type);
    }
    let destination = cx.destination(fields::vector(instruction, second)?, b.count())?;
    b.extra().second = Some(destination);
    Ok(b.step(function))
}

fn with_second(
    alu: &Alu,
    registers: &mut Registers,
    mask: u32,
    function: fn(i64, i64) -> (i64, u32),
) -> Outcome {
    let [x, y, _] = &alu.sources;
    let x: [i64; 32] = load(registers, x, alu.lanes, mask)?;
    let y: [i64; 32] = load(registers, y, alu.lanes, mask)?;
    let (mut first, mut second) = ([0i64; 32], [0u32; 32]);
    for (((first, second), x), y) in first.iter_mut().zip(&mut second).zip(x).zip(y) {
        (*first, *second) = function(x, y);
    }
    store(registers, &alu.destination, &first, alu.lanes, mask)?;
    match alu.extra.as_ref().and_then(|extra| extra.second.as_ref()) {
        Some(destination) => store(registers, destination, &second, alu.lanes, mask),
        None => Ok(()),
    }
}

pub(super) fn addc(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    two_results(cx, instruction, F::Carry, |alu, r, m| {
        with_second(alu, r, m, |a, b| {
            (a + b, u32::from(a + b > u32::MAX.into()))
        })
    })
}

pub(super) fn subb(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    two_results(cx, instruction, F::Borrow, |alu, r, m| {
        with_second(alu, r, m, |a, b| (a - b, u32::from(a < b)))
    })
}

pub(super) fn add3_overflow(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = three(cx, instruction)?;
    // The predicate field names the variable that takes the overflow.
    let flag = b
        .predicate
        .take()
        .ok_or_else(|| Problem::form("add3.o without an overflow predicate"))?;
    b.extra().flags = [flag; 3];
    Ok(b.step(overflow_of_three))
}

fn overflow_of_three(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome {
    let mut sums = [0i128; 32];
    for source in &alu.sources {
        let mut values = [0i128; 32];
        let values = values.get_mut(..alu.lanes).unwrap_or_default();
        registers.load_integers(source, values, mask)?;
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += *value;
        }
    }
    let bits = 8 * u32::from(alu.destination.data_type.size());
    let (low, high) = if alu.destination.data_type.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    let overflow = sums.iter().rev().fold(0u32, |mask, sum| {
        mask << 1 | u32::from(!(low..=high).contains(sum))
    });
    store(registers, &alu.destination, &sums, alu.lanes, mask)?;
    if let Some(extra) = &alu.extra {
        let [flag, ..] = &extra.flags;
        flag.write(registers, overflow, mask);
    }
    Ok(())
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
    b.extra().second = Some(high);
    Ok(b.step(|alu, registers, mask| {
        let mut values = [[0i128; 32]; 3];
        for (values, source) in values.iter_mut().zip(&alu.sources) {
            let values = values.get_mut(..alu.lanes).unwrap_or_default();
            registers.load_integers(source, values, mask)?;
        }
        let [x, y, z] = values;
        let mut full = [0i128; 32];
        for (((to, x), y), z) in full.iter_mut().zip(x).zip(y).zip(z) {
            *to = x * y + z;
        }
        store(registers, &alu.destination, &full, alu.lanes, mask)?;
        let high = full.map(|v| v >> 32);
        match alu.extra.as_ref().and_then(|extra| extra.second.as_ref()) {
            Some(destination) => store(registers, destination, &high, alu.lanes, mask),
            None => Ok(()),
        }
    }))
}

pub(super) fn dp4a(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(three(cx, instruction)?.step(dot_bytes))
}

fn dot_bytes(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome {
    let [acc, x, y] = &alu.sources;
    let (x_signed, y_signed) = (x.data_type.is_signed(), y.data_type.is_signed());
    let acc: [i64; 32] = load(registers, acc, alu.lanes, mask)?;
    let x: [u32; 32] = load(registers, x, alu.lanes, mask)?;
    let y: [u32; 32] = load(registers, y, alu.lanes, mask)?;
    let mut sums = [0i64; 32];
    for (((to, acc), x), y) in sums.iter_mut().zip(acc).zip(x).zip(y) {
        *to = int::dp4a(acc, x, x_signed, y, y_signed);
    }
    store(registers, &alu.destination, &sums, alu.lanes, mask)
}

pub(super) fn sad2(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(Builder::new(cx, instruction, &[F::Src0, F::Src1])?.step(differences))
}

pub(super) fn sad2add(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    Ok(three(cx, instruction)?.step(differences))
}

/// Pairs of lanes; the result goes to the even one, the odd one keeps its content.
fn differences(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome {
    let mut values = [[0i64; 32]; 3];
    for (values, source) in values.iter_mut().zip(&alu.sources) {
        *values = {
            let mut exact = [0i128; 32];
            let exact_lanes = exact.get_mut(..alu.lanes).unwrap_or_default();
            registers.load_integers(source, exact_lanes, u32::MAX)?;
            exact.map(|v| i64::try_from(v).unwrap_or(0))
        };
    }
    let [x, y, z] = values;
    let has_third = alu
        .sources
        .get(2)
        .is_some_and(|s| *s != super::build::unused());
    let mut result = [0i64; 32];
    let pairs = x
        .chunks_exact(2)
        .zip(y.chunks_exact(2))
        .zip(z.chunks_exact(2));
    for (to, ((x, y), z)) in result.chunks_exact_mut(2).zip(pairs) {
        let sum: i64 = x.iter().zip(y).map(|(x, y)| (x - y).abs()).sum();
        if let ([to, _], [z, _]) = (to, z) {
            *to = sum + if has_third { *z } else { 0 };
        }
    }
    store(
        registers,
        &alu.destination,
        &result,
        alu.lanes,
        mask & 0x5555_5555,
    )
}

/// Products of the first `terms` elements of each four, and the next `bare` of the second source.
pub(super) fn dot_product(
    cx: &Context<'_>,
    instruction: &Instruction,
    terms: usize,
    bare: usize,
) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src0, F::Src1])?;
    b.set_precision();
    b.extra().numbers = [terms, bare, 0, 0];
    Ok(b.step(sum_of_products))
}

/// All four lanes of a group get the dot product, rounded once.
fn sum_of_products(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome {
    let [terms, bare, ..] = alu.extra.as_ref().map_or([0; 4], |extra| extra.numbers);
    let (mut x, mut y) = ([0f64; 32], [0f64; 32]);
    let [first, second, _] = &alu.sources;
    registers.load_exact(first, x.get_mut(..alu.lanes).unwrap_or_default(), u32::MAX)?;
    registers.load_exact(second, y.get_mut(..alu.lanes).unwrap_or_default(), u32::MAX)?;
    let exact = alu.exact(registers);
    let (x, y) = (x.map(|x| exact.source(x)), y.map(|y| exact.source(y)));
    let mut result = [0f64; 32];
    for ((to, x), y) in result
        .chunks_exact_mut(4)
        .zip(x.chunks_exact(4))
        .zip(y.chunks_exact(4))
    {
        let mut sum: f64 = x.iter().zip(y).take(terms).map(|(x, y)| x * y).sum();
        sum += y.iter().skip(terms).take(bare).sum::<f64>();
        to.fill(sum);
    }
    store(registers, &alu.destination, &result, alu.lanes, mask)
}

/// p * u + r. The scalars are elements 0 and 3 of the first source.
pub(super) fn line(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src1])?;
    b.set_precision();
    let scalars = cx.packed_source(fields::vector(instruction, F::Src0)?, 4)?;
    b.sources = vec![scalars, b.source(0), super::build::unused()];
    Ok(b.step(|alu, registers, mask| {
        equation(alu, registers, mask, |[p, _, _, r], u, _| p * u + r)
    }))
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
            shape: Shape::Region(offsets),
            ..all.clone()
        }
    };
    b.sources = vec![scalars, elements(0), elements(8)];
    Ok(b.step(|alu, registers, mask| {
        equation(alu, registers, mask, |[p, q, _, r], u, v| p * u + q * v + r)
    }))
}

fn equation(
    alu: &Alu,
    registers: &mut Registers,
    mask: u32,
    function: fn([f64; 4], f64, f64) -> f64,
) -> Outcome {
    let [scalars, u, v] = &alu.sources;
    let mut pqr = [0f64; 4];
    registers.load_exact(scalars, &mut pqr, u32::MAX)?;
    let (mut us, mut vs) = ([0f64; 32], [0f64; 32]);
    registers.load_exact(u, us.get_mut(..alu.lanes).unwrap_or_default(), mask)?;
    if *v != super::build::unused() {
        registers.load_exact(v, vs.get_mut(..alu.lanes).unwrap_or_default(), mask)?;
    }
    let exact = alu.exact(registers);
    let pqr = pqr.map(|x| exact.source(x));
    let [us, vs] = [us, vs].map(|lanes| lanes.map(|x| exact.source(x)));
    let mut result = [0f64; 32];
    for ((to, u), v) in result.iter_mut().zip(us).zip(vs) {
        *to = function(pqr, u, v);
    }
    store(registers, &alu.destination, &result, alu.lanes, mask)
}

/// The quotient itself serves as the first approximation. The predicate tells of results that no
/// refinement may touch.
pub(super) fn invm(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    first_step(cx, instruction, &[F::Src0, F::Src1], |alu, r, m| {
        early_out(alu, r, m, |a, b| a / b)
    })
}

pub(super) fn rsqtm(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    first_step(cx, instruction, &[F::Src0], |alu, r, m| {
        early_out(alu, r, m, |a, _| 1.0 / a.sqrt())
    })
}

fn first_step(
    cx: &Context<'_>,
    instruction: &Instruction,
    sources: &[F],
    function: AluFn,
) -> Translated {
    let mut b = Builder::new(cx, instruction, sources)?;
    b.set_precision();
    let operand = fields::predicate(instruction, F::PredDst)?
        .ok_or_else(|| Problem::form("an early-out destination that is no predicate"))?;
    let flag = cx.flag_operand(operand, b.lanes)?;
    b.extra().flags = [flag; 3];
    Ok(b.step(function))
}

fn early_out(
    alu: &Alu,
    registers: &mut Registers,
    mask: u32,
    function: fn(f64, f64) -> f64,
) -> Outcome {
    let (mut x, mut y) = ([0f64; 32], [1f64; 32]);
    let [first, second, _] = &alu.sources;
    registers.load_exact(first, x.get_mut(..alu.lanes).unwrap_or_default(), mask)?;
    if *second != super::build::unused() {
        registers.load_exact(second, y.get_mut(..alu.lanes).unwrap_or_default(), mask)?;
    }
    let mut result = [0f64; 32];
    let mut special = 0u32;
    for (lane, ((to, x), y)) in result.iter_mut().zip(x).zip(y).enumerate() {
        *to = function(x, y);
        special |= u32::from(*to == 0.0 || !to.is_finite()) << lane;
    }
    store(registers, &alu.destination, &result, alu.lanes, mask)?;
    if let Some(extra) = &alu.extra {
        let [flag, ..] = &extra.flags;
        flag.write(registers, special, mask);
    }
    Ok(())
}

/// Conversions from and to formats that no data type names.
pub(super) fn narrow_conversion(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src0])?;
    let (from, to) = (b.source(0).data_type, b.destination.data_type);
    let bits = |b: &mut Builder| {
        b.take_bits();
        for source in &mut b.sources {
            source.data_type = raw(source.data_type);
        }
    };
    Ok(match (from, to) {
        // The bits of a bfloat stand in words.
        (DataType::Uw | DataType::Bf, DataType::F) => {
            bits(&mut b);
            b.step(|alu, r, m| by_bits(alu, r, m, |x| x << 16))
        }
        (DataType::F, DataType::Uw | DataType::Bf) => {
            bits(&mut b);
            b.step(|alu, r, m| {
                by_bits(alu, r, m, |x| {
                    half::bf16::from_f32(f32::from_bits(x)).to_bits().into()
                })
            })
        }
        // Tensor float: ten bits of mantissa in a dword.
        (DataType::F, DataType::Ud) => {
            bits(&mut b);
            b.step(|alu, r, m| by_bits(alu, r, m, dpas::to_tf32))
        }
        (DataType::Ud, DataType::F) | (DataType::F, DataType::F) => {
            bits(&mut b);
            b.step(|alu, r, m| by_bits(alu, r, m, |x| x))
        }
        (DataType::Hf, DataType::Ub) => {
            bits(&mut b);
            b.step(|alu, r, m| by_bits(alu, r, m, |x| dpas::half_to_bf8(x).into()))
        }
        (DataType::Ub, DataType::Hf) => {
            bits(&mut b);
            b.step(|alu, r, m| by_bits(alu, r, m, |x| x << 8))
        }
        (DataType::Hf, DataType::B) => {
            bits(&mut b);
            b.step(|alu, r, m| by_bits(alu, r, m, |x| dpas::half_to_hf8(x).into()))
        }
        (DataType::B, DataType::Hf) => {
            bits(&mut b);
            b.step(|alu, r, m| {
                by_bits(alu, r, m, |x| {
                    half::f16::from_f32(dpas::hf8((x & 0xff) as u8))
                        .to_bits()
                        .into()
                })
            })
        }
        _ => {
            return Err(Problem::form(format!(
                "a conversion from {from} to {to} by this instruction"
            )));
        }
    })
}

fn by_bits(alu: &Alu, registers: &mut Registers, mask: u32, function: fn(u32) -> u32) -> Outcome {
    let [source, ..] = &alu.sources;
    let values: [u32; 32] = load(registers, source, alu.lanes, mask)?;
    store(
        registers,
        &alu.destination,
        &values.map(function),
        alu.lanes,
        mask,
    )
}

/// Stochastic rounding: random bits are added below the result's mantissa, which is truncated.
pub(super) fn stochastic(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src0, F::Src1])?;
    let (from, to) = (b.source(0).data_type, b.destination.data_type);
    b.take_bits();
    for source in &mut b.sources {
        source.data_type = raw(source.data_type);
    }
    Ok(match (from, to) {
        (DataType::F, DataType::Hf) => {
            b.step(|alu, r, m| by_random_bits(alu, r, m, dpas::srnd_float_to_half))
        }
        (DataType::Hf, DataType::Ub) => {
            b.step(|alu, r, m| by_random_bits(alu, r, m, dpas::srnd_half_to_bf8))
        }
        _ => {
            return Err(Problem::form(format!(
                "stochastic rounding from {from} to {to}"
            )));
        }
    })
}

fn by_random_bits(
    alu: &Alu,
    registers: &mut Registers,
    mask: u32,
    function: fn(u32, u32) -> u32,
) -> Outcome {
    let [x, random, _] = &alu.sources;
    let x: [u32; 32] = load(registers, x, alu.lanes, mask)?;
    let random: [u32; 32] = load(registers, random, alu.lanes, mask)?;
    let mut result = [0u32; 32];
    for ((to, x), random) in result.iter_mut().zip(x).zip(random) {
        *to = function(x, random);
    }
    store(registers, &alu.destination, &result, alu.lanes, mask)
}

/// A systolic dot product. The activations of DPASW come from two fused threads.
pub(super) fn systolic(cx: &Context<'_>, instruction: &Instruction, fused: bool) -> Translated {
    let b = Builder::without_destination(cx, instruction, &[])?;
    let info = fields::number(instruction, F::PrecisionInfo)?.to_le_bytes();
    let [weights, activations, depth, repeat] = info;
    let raw_place = |name| match instruction.get(name) {
        Some(Value::Raw(operand)) => Ok(cx.raw(*operand)?),
        _ => Err(Problem::form(format!("dpas without its field {name}"))),
    };
    let destination = raw_place(F::Dst)?;
    let accumulator = raw_place(F::Src0)?;
    let src1 = raw_place(F::Src1)?;
    let operand = match fields::vector(instruction, F::Src2)? {
        VectorOperand::General(operand) => operand,
        _ => return Err(Problem::form("dpas with an operand of another class")),
    };
    let src2 = cx.packed_source(&VectorOperand::General(*operand), 1)?;
    let place = cx.variable(operand.variable)?;
    let src2_available = (place.offset + place.available).saturating_sub(src2.offset);
    let (Some(destination), Some(src1)) = (destination, src1) else {
        return Err(Problem::form("dpas with a null operand"));
    };
    let plan = dpas::Plan::new(weights, activations, depth, repeat, b.count())
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
        || src2_available < own
    {
        return Err(Problem::Fault(crate::fault::FaultKind::RegisterOutOfBounds));
    }
    let predicate = b.predicate;
    Ok(Step {
        first: b.lanes.first,
        no_mask: b.lanes.no_mask,
        window: crate::run::registers::full(b.count()),
        predicate,
        kind: Kind::Systolic(Box::new(Systolic {
            plan,
            places: dpas::Places {
                result: destination.offset,
                accumulator: accumulator.map(|a| a.offset),
                weights: src1.offset,
            },
            activations: src2.offset,
            available: src2_available,
            fused,
        })),
    })
}
