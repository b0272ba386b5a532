//! Computations that happen less often, each in one function for operands of any kind.

use super::Alu;
use crate::code::{Destination, DotTerms, Narrowing, Operation, Source, full};
use crate::fault::{Outcome, Trap};
use crate::lanes::convert::Compute;
use crate::lanes::int::{self, Int};
use crate::lanes::narrow;
use crate::machine::Registers;
use crate::machine::registers::{Destinations, Sources};
use half::{bf16, f16};

/// The lanes of a source in any type.
fn load<C: Compute>(
    registers: &Registers,
    source: &Source,
    lanes: usize,
    mask: u32,
) -> Result<[C; 32], Box<Trap>>
where
    Registers: Sources<C>,
{
    let mut values = [C::default(); 32];
    registers.load_any(source, values.get_mut(..lanes).unwrap_or_default(), mask)?;
    Ok(values)
}

/// The lanes of a source as integers, whatever type they have.
fn integers(
    registers: &Registers,
    source: &Source,
    lanes: usize,
    mask: u32,
) -> Result<[i128; 32], Box<Trap>> {
    let mut values = [0i128; 32];
    registers.load_integers(source, values.get_mut(..lanes).unwrap_or_default(), mask)?;
    Ok(values)
}

/// The lanes of a source as floats, exactly.
fn exact(
    registers: &Registers,
    source: &Source,
    lanes: usize,
    mask: u32,
) -> Result<[f64; 32], Box<Trap>> {
    let mut values = [0f64; 32];
    registers.load_exact(source, values.get_mut(..lanes).unwrap_or_default(), mask)?;
    Ok(values)
}

fn store<C: Compute>(
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

pub(super) fn insert(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let mut values = [[0u32; 32]; 4];
    for (to, source) in values.iter_mut().zip(&alu.sources) {
        *to = load(registers, source, alu.lanes, mask)?;
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
    store(registers, &alu.destination, &result, alu.lanes, mask)
}

/// Logic on predicate variables.
pub(super) fn flags(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let [a, b] = alu.flags.map(|flag| flag.read(&registers.file));
    let bits = match alu.operation {
        Operation::FlagAnd => a & b,
        Operation::FlagOr => a | b,
        Operation::FlagXor => a ^ b,
        _ => !a,
    };
    set(alu, registers, bits, mask)
}

/// Writes the lanes of the predicate.
fn set(alu: &Alu<'_>, registers: &mut Registers, bits: u32, mask: u32) -> Outcome {
    if let Some(flag) = &alu.sets {
        flag.write(&mut registers.file, bits, mask);
    }
    Ok(())
}

/// Predicate bits as a number.
pub(super) fn predicate_to_number(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let [flag, _] = &alu.flags;
    let elements = match alu.operation {
        Operation::FlagToNumber(elements) => usize::from(elements),
        _ => 32,
    };
    let bits = (flag.word(&registers.file) & full(elements)) >> flag.first;
    store(registers, &alu.destination, &[bits; 32], alu.lanes, mask)
}

/// Bit n of the source for lane n.
pub(super) fn setp_bits(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let [source, ..] = &alu.sources;
    let [bits, ..] = load::<u32>(registers, source, 1, mask)?;
    set(alu, registers, bits, mask)
}

/// The lowest bit of each element.
pub(super) fn setp_lanes(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let [source, ..] = &alu.sources;
    let values: [u32; 32] = load(registers, source, alu.lanes, mask)?;
    let bits = values.iter().rev().fold(0, |bits, v| bits << 1 | v & 1);
    set(alu, registers, bits, mask)
}

/// A sum or difference, and its carry or borrow.
pub(super) fn carried<O: int::TwoResults<i128>>(
    alu: &Alu<'_>,
    registers: &mut Registers,
    mask: u32,
) -> Outcome {
    let [x, y, ..] = &alu.sources;
    let x: [i128; 32] = load(registers, x, alu.lanes, mask)?;
    let y: [i128; 32] = load(registers, y, alu.lanes, mask)?;
    let (mut first, mut second) = ([0i128; 32], [0u32; 32]);
    for (((first, second), x), y) in first.iter_mut().zip(&mut second).zip(x).zip(y) {
        (*first, *second) = O::apply(x, y);
    }
    store(registers, &alu.destination, &first, alu.lanes, mask)?;
    match &alu.second {
        Some(destination) => store(registers, destination, &second, alu.lanes, mask),
        None => Ok(()),
    }
}

/// The sum of three, and the lanes in which it does not fit.
pub(super) fn overflow_of_three(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let mut sums = [0i128; 32];
    for source in alu.sources.iter().take(3) {
        let values = integers(registers, source, alu.lanes, mask)?;
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = Int::add(*sum, value);
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
    set(alu, registers, overflow, mask)
}

/// The halves of a product and sum.
pub(super) fn mad_wide(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let mut values = [[0i128; 32]; 3];
    for (values, source) in values.iter_mut().zip(&alu.sources) {
        *values = integers(registers, source, alu.lanes, mask)?;
    }
    let [x, y, z] = values;
    let mut full = [0i128; 32];
    for (((to, x), y), z) in full.iter_mut().zip(x).zip(y).zip(z) {
        *to = Int::add(Int::mul(x, y), z);
    }
    store(registers, &alu.destination, &full, alu.lanes, mask)?;
    let high = full.map(|v| v >> 32);
    match &alu.second {
        Some(destination) => store(registers, destination, &high, alu.lanes, mask),
        None => Ok(()),
    }
}

pub(super) fn dot_bytes(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let [acc, x, y, _] = &alu.sources;
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

/// Pairs of lanes; the result goes to the even one, the odd one keeps its content.
pub(super) fn differences(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let mut values = [[0i64; 32]; 3];
    for (values, source) in values.iter_mut().zip(alu.sources.iter().take(3)) {
        let lanes = integers(registers, source, alu.lanes, u32::MAX)?;
        *values = lanes.map(|v| i64::try_from(v).unwrap_or(0));
    }
    let [x, y, z] = values;
    let has_third = alu.operation == Operation::DifferencesAdd;
    let mut result = [0i64; 32];
    let pairs = x
        .chunks_exact(2)
        .zip(y.chunks_exact(2))
        .zip(z.chunks_exact(2));
    for (to, ((x, y), z)) in result.chunks_exact_mut(2).zip(pairs) {
        let sum = x.iter().zip(y).fold(0, |sum: i64, (x, y)| {
            sum.saturating_add(x.saturating_sub(*y).saturating_abs())
        });
        if let ([to, _], [z, _]) = (to, z) {
            *to = sum.saturating_add(if has_third { *z } else { 0 });
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

/// All four lanes of a group get the dot product, rounded once.
pub(super) fn sum_of_products(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let Operation::DotProduct(DotTerms { products, bare }) = alu.operation else {
        return Ok(());
    };
    let [x, y, ..] = &alu.sources;
    let x = exact(registers, x, alu.lanes, u32::MAX)?;
    let y = exact(registers, y, alu.lanes, u32::MAX)?;
    let mode = alu.exact(registers);
    let (x, y) = (x.map(|x| mode.source(x)), y.map(|y| mode.source(y)));
    let mut result = [0f64; 32];
    for ((to, x), y) in result
        .chunks_exact_mut(4)
        .zip(x.chunks_exact(4))
        .zip(y.chunks_exact(4))
    {
        let mut sum: f64 = x
            .iter()
            .zip(y)
            .take(products.into())
            .map(|(x, y)| x * y)
            .sum();
        sum += y
            .iter()
            .skip(products.into())
            .take(bare.into())
            .sum::<f64>();
        to.fill(sum);
    }
    store(registers, &alu.destination, &result, alu.lanes, mask)
}

/// Linear equations.
pub(super) fn equation(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let is_plane = alu.operation == Operation::Plane;
    let [scalars, u, v, _] = &alu.sources;
    let mut pqr = [0f64; 4];
    registers.load_exact(scalars, &mut pqr, u32::MAX)?;
    let us = exact(registers, u, alu.lanes, mask)?;
    let vs = match is_plane {
        true => exact(registers, v, alu.lanes, mask)?,
        false => [0.0; 32],
    };
    let mode = alu.exact(registers);
    let pqr = pqr.map(|x| mode.source(x));
    let [us, vs] = [us, vs].map(|lanes| lanes.map(|x| mode.source(x)));
    let mut result = [0f64; 32];
    for ((to, u), v) in result.iter_mut().zip(us).zip(vs) {
        let [p, q, _, r] = pqr;
        *to = if is_plane {
            p * u + q * v + r
        } else {
            p * u + r
        };
    }
    store(registers, &alu.destination, &result, alu.lanes, mask)
}

/// First approximations, and the lanes that need no other.
pub(super) fn early_out(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let is_quotient = alu.operation == Operation::QuotientStep;
    let [x, y, ..] = &alu.sources;
    let x = exact(registers, x, alu.lanes, mask)?;
    let y = match is_quotient {
        true => exact(registers, y, alu.lanes, mask)?,
        false => [1.0; 32],
    };
    let mut result = [0f64; 32];
    let mut special = 0u32;
    for (lane, ((to, x), y)) in result.iter_mut().zip(x).zip(y).enumerate() {
        *to = if is_quotient { x / y } else { 1.0 / x.sqrt() };
        special |= u32::from(*to == 0.0 || !to.is_finite()) << lane;
    }
    store(registers, &alu.destination, &result, alu.lanes, mask)?;
    set(alu, registers, special, mask)
}

/// Conversions of bits.
pub(super) fn narrow(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let (Operation::Narrow(narrowing) | Operation::NarrowByChance(narrowing)) = alu.operation
    else {
        return Ok(());
    };
    let by_chance = alu.operation.sources() == 2;
    let [source, random, ..] = &alu.sources;
    let values: [u32; 32] = load(registers, source, alu.lanes, mask)?;
    let random: [u32; 32] = match by_chance {
        true => load(registers, random, alu.lanes, mask)?,
        false => [0; 32],
    };
    let mut result = [0u32; 32];
    for ((to, x), random) in result.iter_mut().zip(values).zip(random) {
        *to = match narrowing {
            Narrowing::BFloatToFloat => x << 16,
            Narrowing::FloatToBFloat => bf16::from_f32(f32::from_bits(x)).to_bits().into(),
            Narrowing::FloatToTf32 => narrow::to_tf32(x),
            Narrowing::Tf32ToFloat => x,
            Narrowing::HalfToBf8 => narrow::half_to_bf8(x).into(),
            Narrowing::Bf8ToHalf => x << 8,
            Narrowing::HalfToHf8 => narrow::half_to_hf8(x).into(),
            Narrowing::Hf8ToHalf => {
                let [low, ..] = x.to_le_bytes();
                f16::from_f32(narrow::hf8(low)).to_bits().into()
            }
            Narrowing::FloatToHalfByChance => narrow::srnd_float_to_half(x, random),
            Narrowing::HalfToBf8ByChance => narrow::srnd_half_to_bf8(x, random),
        };
    }
    store(registers, &alu.destination, &result, alu.lanes, mask)
}

/// Elements of a table, which is read whole whatever lanes run.
pub(super) fn shuffle(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let [table, indices, ..] = &alu.sources;
    let table: [u32; 32] = load(registers, table, 16, u32::MAX)?;
    let indices: [u32; 32] = load(registers, indices, alu.lanes, mask)?;
    let bytes = alu.operation == Operation::ShuffleNibbles(true);
    let (count, width) = if bytes { (4, 8) } else { (2, 16) };
    let result = indices.map(|indices| {
        (0..count).fold(0, |bits, n| {
            let element = table.get((indices >> (4 * n) & 0xf) as usize);
            let field = u32::MAX >> (32 - width) << (width * n);
            bits | element.copied().unwrap_or(0) & field
        })
    });
    store(registers, &alu.destination, &result, alu.lanes, mask)
}

/// Pairs of floats to numbers of four bits.
pub(super) fn scale_down(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let Operation::ScaleDown(how) = alu.operation else {
        return Ok(());
    };
    let [low, high, ..] = &alu.sources;
    let low: [u32; 32] = load(registers, low, alu.lanes, mask)?;
    let high: [u32; 32] = load(registers, high, alu.lanes, mask)?;
    let mut result = [0u32; 32];
    for ((to, low), high) in result.iter_mut().zip(low).zip(high) {
        let words = [low & 0xffff, low >> 16, high & 0xffff, high >> 16];
        for (word, place) in words.into_iter().zip(how.places) {
            *to |= u32::from(narrow::to_four_bits(word, how.brain, how.float)) << place;
        }
    }
    store(registers, &alu.destination, &result, alu.lanes, mask)
}
