//! Numbers among the sources of float operations: an integer that a float holds exactly is that float.

use super::bits;
use super::samples::{Answers, is_same};
use crate::term::{Term, Terms, ones, signed};
use visakit_exec::LaneFunction;
use visakit_exec::code::{Lane, Modify};
use visakit_isa::DataType;

/// Whether the function of floats is the same, for these numbers of some sources.
static KNOWN: Answers<(LaneFunction, [Option<u64>; 4]), bool> = Answers::new();

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
    let same = KNOWN.of((*function, old), || {
        let of = |numbers: &[Option<u64>; 4], number: usize| numbers.get(number).copied().flatten();
        let pair = |number, any| [&old, &new].map(|numbers| of(numbers, number).unwrap_or(any));
        is_same([function, &other], old.map(|n| n.is_some()), pair) == Some(true)
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
