//! Numbers among the sources of float operations: an integer that a float holds exactly is that float.

use super::{SAMPLES, bits, directed};
use crate::term::{Term, Terms, ones, signed};
use hashbrown::HashMap;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::sync::{LazyLock, Mutex, PoisonError};
use visakit_exec::LaneFunction;
use visakit_exec::code::{Lane, Modify};
use visakit_isa::DataType;

/// A function, and the numbers of some of its sources.
type Known = HashMap<(LaneFunction, [Option<u64>; 4]), bool>;

/// Whether the function of floats is the same, as far as it has been asked for.
static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

/// Answers that are kept.
const MOST_KNOWN: usize = 1 << 14;

/// Samples of other sources.
const MOST_SAMPLES: usize = 4096;

/// The function whose integer sources that are numbers are floats, and its sources. `None` if there are none, or if the executor
/// computes something else.
pub(super) fn of_floats(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
) -> Option<(LaneFunction, Vec<Term>)> {
    let data_type = match function.lane {
        Lane::F32 => DataType::F,
        Lane::F64 => DataType::Df,
        _ => return None,
    };
    let (mut other, mut others) = (*function, elements.to_vec());
    let (mut old, mut new) = ([None; 4], [None; 4]);
    let sources = function.sources.iter().zip(&mut other.sources);
    let places = old.iter_mut().zip(&mut new);
    for (((source, to), element), (old, new)) in sources.zip(&mut others).zip(places) {
        let Some(number) = terms.number(*element) else {
            continue;
        };
        *old = Some(number);
        *new = Some(match source.0.is_float() {
            true => number,
            false => {
                let number = float(number, *source, data_type)?;
                *element = terms.constant(number, bits(data_type));
                *to = (data_type, Modify::None);
                number
            }
        });
    }
    (other != *function).then_some(())?;
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (*function, old);
    let found = known().get(&key).copied();
    let same = found.unwrap_or_else(|| {
        let same = is_same((function, &old), (&other, &new)) == Some(true);
        let mut known = known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, same);
        same
    });
    same.then_some((other, others))
}

/// An integer as the bits of a float that is exactly it.
fn float(number: u64, (from, modify): (DataType, Modify), to: DataType) -> Option<u64> {
    let value = match from.is_signed() {
        true => signed(number, bits(from)),
        false => i64::try_from(number & ones(bits(from))).ok()?,
    };
    let size = value.unsigned_abs();
    let limit = match to {
        DataType::F => 1_u64 << 24,
        _ => 1 << 53,
    };
    (size <= limit).then_some(())?;
    // A negative zero is none of the integers.
    let negative = match modify {
        Modify::None => value < 0,
        Modify::Neg => value > 0,
        Modify::Abs => false,
        Modify::NegAbs => value != 0,
        Modify::Not => return None,
    };
    Some(match to {
        DataType::F => u64::from((size as f32).to_bits()) | u64::from(negative) << 31,
        _ => (size as f64).to_bits() | u64::from(negative) << 63,
    })
}

/// A function and the numbers of some of its sources.
type With<'f> = (&'f LaneFunction, &'f [Option<u64>; 4]);

/// Whether two functions have the same results on samples of those sources that are no numbers.
fn is_same((first, old): With<'_>, (second, new): With<'_>) -> Option<bool> {
    let used = first.operation.sources();
    let list = |(ty, _): &(DataType, Modify)| directed(bits(*ty), ty.is_float());
    let lists: Vec<Vec<u64>> = first.sources.iter().take(used).map(list).collect();
    let mut random = SplitMix64::seed_from_u64(0x5eed);
    for sample in 0..MOST_SAMPLES + SAMPLES {
        let (mut a, mut b) = ([0; 4], [0; 4]);
        let mut place = sample;
        for (number, list) in lists.iter().enumerate() {
            let any = match old.get(number)? {
                Some(_) => 0,
                None if sample >= MOST_SAMPLES => {
                    random.next_u64() & ones(bits(first.sources.get(number)?.0))
                }
                None => {
                    let length = list.len().max(1);
                    let found = list.get(place % length).copied();
                    place /= length;
                    found.unwrap_or(0)
                }
            };
            *a.get_mut(number)? = old.get(number)?.unwrap_or(any);
            *b.get_mut(number)? = new.get(number)?.unwrap_or(any);
        }
        // What comes next has been tried.
        let bit = sample & 1 != 0;
        if first.evaluate(a, bit)? != second.evaluate(b, bit)? {
            return Some(false);
        }
    }
    Some(true)
}
