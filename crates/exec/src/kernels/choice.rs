//! Comparisons, selections and conversions of lanes.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::Alu;
use super::arithmetic::unary;
use crate::code::{Operation, Relation as Outcomes};
use crate::fault::{Outcome, Trap};
use crate::lanes::convert::{Compute, Convert};
use crate::lanes::int::{Copy, Int};
use crate::lanes::simd::{Host, Plain};
use crate::machine::Registers;
use crate::machine::registers::{Destinations, Sources};
use visakit_isa::DataType;

/// A relation of two values.
pub(crate) trait Relation {
    fn holds<C: PartialOrd>(a: &C, b: &C) -> bool;
}

macro_rules! relations {
    ($($name:ident $op:tt;)*) => {$(
        #[doc = concat!("`", stringify!($op), "`")]
        pub(crate) struct $name;
        impl Relation for $name {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn holds<C: PartialOrd>(a: &C, b: &C) -> bool {
                a $op b
            }
        }
    )*};
}

relations! { Equal ==; Less <; LessEqual <=; }

/// Bit i is set where the relation holds in lane i, of at most 32.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn relate<R: Relation, C: Compute, const N: usize, H: Host>(
    host: H,
    a: &[C; N],
    b: &[C; N],
) -> u32 {
    const VECTOR: usize = 8;
    let mut bits = 0;
    for first in (0..N).step_by(VECTOR) {
        let mut holds = [0; VECTOR];
        for lane in 0..VECTOR.min(N) {
            let lanes = R::holds(&a[first + lane], &b[first + lane]);
            holds[lane] = if lanes { u32::MAX } else { 0 };
        }
        bits |= host.signs(holds) << first;
    }
    bits
}

/// Writes the outcome of a comparison to a predicate, or as all ones or zeros to a variable.
#[cfg_attr(not(debug_assertions), inline(always))]
fn conclude(alu: &Alu<'_>, registers: &mut Registers, bits: u32, mask: u32) -> Outcome {
    let negate = alu.operation == Operation::Compare(Outcomes::NotEqual);
    let bits = if negate { !bits } else { bits };
    match &alu.sets {
        Some(flag) => {
            flag.write(&mut registers.file, bits, mask);
            Ok(())
        }
        None => {
            let mut lanes = [0u64; 32];
            for (lane, value) in lanes.iter_mut().enumerate() {
                *value = if bits >> lane & 1 != 0 { u64::MAX } else { 0 };
            }
            registers.store_any(&alu.destination, &lanes[..alu.lanes], mask)
        }
    }
}

/// Comparison of sources of any kind.
#[inline(never)]
pub(crate) fn compare<R, C>(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome
where
    R: Relation,
    C: Compute,
    Registers: Sources<C>,
{
    let lanes = alu.lanes;
    let bits = if C::FLOAT && alu.is_slow(registers) && alu.exact(registers).flush {
        compare_flushed::<R>(alu, registers, mask)?
    } else {
        let a = registers.load(&alu.sources[0], lanes, mask)?;
        let b = registers.load(&alu.sources[1], lanes, mask)?;
        relate::<R, C, 32, _>(Plain, &a, &b)
    };
    conclude(alu, registers, bits, mask)
}

/// Comparison where denormals count as zero.
fn compare_flushed<R: Relation>(
    alu: &Alu<'_>,
    registers: &Registers,
    mask: u32,
) -> Result<u32, Box<Trap>> {
    let exact = alu.exact(registers);
    let lanes = alu.lanes;
    let (mut a, mut b) = ([0.0f64; 32], [0.0f64; 32]);
    registers.load_exact(&alu.sources[0], &mut a[..lanes], mask)?;
    registers.load_exact(&alu.sources[1], &mut b[..lanes], mask)?;
    let (a, b) = (a.map(|x| exact.source(x)), b.map(|x| exact.source(x)));
    Ok(relate::<R, f64, 32, _>(Plain, &a, &b))
}

/// The first source where the predicate is set, else the second.
#[inline(never)]
pub(crate) fn select<C>(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome
where
    C: Compute,
    Registers: Sources<C> + Destinations<C>,
{
    let [flag, _] = &alu.flags;
    let chosen = flag.read(&registers.file);
    let lanes = alu.lanes;
    let a: [C; 32] = registers.load(&alu.sources[0], lanes, mask & chosen)?;
    let mut result: [C; 32] = registers.load(&alu.sources[1], lanes, mask & !chosen)?;
    for lane in 0..lanes {
        if chosen >> lane & 1 != 0 {
            result[lane] = a[lane];
        }
    }
    registers.store(&alu.destination, &result[..lanes], mask)
}

/// Whether a conversion to double has the same result in all modes: of singles, shorter floats and integers.
fn is_exact(alu: &Alu<'_>) -> bool {
    let [source, ..] = &alu.sources;
    source.data_type.size() <= 4 && alu.destination.data_type == DataType::Df
}

/// Integers to a float destination.
pub(crate) fn integers_to_float<C>(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome
where
    C: Int,
    Registers: Sources<C> + Destinations<C>,
{
    if registers.mode.is_slow() && !is_exact(alu) {
        return convert_in_mode(alu, registers, mask, false);
    }
    unary::<Copy, C>(alu, registers, mask)
}

/// A conversion of operands of any kind.
pub(crate) fn convert<S, D>(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome
where
    S: Compute + Convert<D>,
    D: Compute,
    Registers: Sources<S> + Destinations<D>,
{
    let same = is_exact(alu) || !D::FLOAT && !registers.mode.round_to_int;
    if (S::FLOAT || D::FLOAT) && registers.mode.is_slow() && !same {
        return convert_in_mode(alu, registers, mask, S::FLOAT);
    }
    let lanes = alu.lanes;
    let values: [S; 32] = registers.load(&alu.sources[0], lanes, mask)?;
    let mut result = [D::default(); 32];
    for lane in 0..lanes {
        result[lane] = values[lane].convert();
    }
    registers.store(&alu.destination, &result[..lanes], mask)
}

/// A conversion in the mode of the thread.
#[inline(never)]
fn convert_in_mode(alu: &Alu<'_>, registers: &mut Registers, mask: u32, float: bool) -> Outcome {
    let lanes = alu.lanes;
    if float {
        let mut values = [0.0f64; 32];
        registers.load_exact(&alu.sources[0], &mut values[..lanes], mask)?;
        registers.store_exact(&alu.destination, &values[..lanes], mask)
    } else {
        let mut values = [0i128; 32];
        registers.load_integers(&alu.sources[0], &mut values[..lanes], mask)?;
        registers.store_integers(&alu.destination, &values[..lanes], mask)
    }
}
