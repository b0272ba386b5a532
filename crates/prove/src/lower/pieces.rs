//! Pieces of operations: fields, rotations, bitwise tables, ranges.

use super::bits;
use super::integers::Sources;
use crate::term::{Term, Terms, ones};
use visakit_exec::code::{Modify, Operation};
use visakit_isa::DataType;

/// An accumulator and four products of bytes.
pub(super) fn dot_bytes(of: &mut Sources<'_, '_>, width: u8) -> Option<Term> {
    let [accumulator, x, y, _] = of.function.sources;
    let plain = |(ty, modify): (DataType, Modify)| {
        bits(ty) <= 32 && !ty.is_float() && modify == Modify::None
    };
    let dwords = bits(x.0) == 32 && bits(y.0) == 32;
    let (to, saturate) = of.function.destination?;
    if !dwords || ![accumulator, x, y].into_iter().all(plain) || saturate || bits(to) > width {
        return None;
    }
    let mut sum = of.get(0, width)?;
    for byte in 0..4 {
        let factors = [(1, x.0), (2, y.0)].map(|(number, ty)| {
            let element = *of.elements.get(number)?;
            let byte = of.terms.extract(element, 8 * byte, 8);
            Some(match ty.is_signed() {
                true => of.terms.sign_extend(byte, width),
                false => of.terms.zero_extend(byte, width),
            })
        });
        let [Some(a), Some(b)] = factors else {
            return None;
        };
        let product = of.terms.multiply(a, b);
        sum = of.terms.add(sum, product);
    }
    Some(sum)
}

/// A count of a shift, at most that number, as a term of that width.
pub(super) fn count(of: &mut Sources<'_, '_>, number: usize, most: u64, width: u8) -> Option<Term> {
    let low = of.get(number, 32)?;
    let most = of.terms.constant(most, 32);
    let count = of.terms.and(low, most);
    Some(of.terms.zero_extend(count, width))
}
/// A rotation by a count that is no number.
pub(super) fn rotated(of: &mut Sources<'_, '_>, a: Term, by: Term, left: bool) -> Option<Term> {
    let width = of.terms.width(a);
    let most = of.terms.constant(u64::from(width) - 1, width);
    let by = of.terms.and(by, most);
    let other = of.terms.negate(by);
    let other = of.terms.and(other, most);
    let (up, down) = if left { (by, other) } else { (other, by) };
    let (high, low) = (of.terms.left(a, up), of.terms.right(a, down));
    Some(of.terms.or(high, low))
}

/// A bit field whose place and width are numbers.
pub(super) fn field(of: &mut Sources<'_, '_>) -> Option<Term> {
    let (width, offset, value) = (of.get(0, 32)?, of.get(1, 32)?, of.get(2, 32)?);
    let number = |term| {
        of.terms
            .number(term)
            .and_then(|n| u8::try_from(n & 31).ok())
    };
    let (width, offset) = (number(width)?, number(offset)?);
    let bits = width.min(32 - offset);
    if bits == 0 {
        return Some(of.terms.constant(0, 32));
    }
    let field = of.terms.extract(value, offset, bits);
    let field = of.terms.zero_extend(field, width);
    Some(match of.function.operation {
        Operation::ExtractSigned => of.terms.sign_extend(field, 32),
        _ => of.terms.zero_extend(field, 32),
    })
}

/// A value with another bit field, whose place and width are numbers.
pub(super) fn inserted(of: &mut Sources<'_, '_>) -> Option<Term> {
    let (width, offset) = (of.get(0, 32)?, of.get(1, 32)?);
    let (insert, base) = (of.get(2, 32)?, of.get(3, 32)?);
    let number = |terms: &Terms, term| terms.number(term).map(|n| n & 31);
    let (width, offset) = (number(of.terms, width)?, number(of.terms, offset)?);
    let mask = (((1_u64 << width) - 1) << offset) & ones(32);
    let (mask, offset) = (of.terms.constant(mask, 32), of.terms.constant(offset, 32));
    let other = of.terms.not(mask);
    let moved = of.terms.left(insert, offset);
    let (inside, outside) = (of.terms.and(moved, mask), of.terms.and(base, other));
    Some(of.terms.or(inside, outside))
}

/// A bitwise function of three: bit n of the table is the result for bits n of the sources, the first the lowest.
pub(super) fn boolean(terms: &mut Terms, table: u8, [a, b, c]: [Term; 3]) -> Term {
    let of_two = |terms: &mut Terms, table: u8| {
        let width = terms.width(a);
        let of_one = |terms: &mut Terms, table: u8| match table & 3 {
            0 => terms.constant(0, width),
            1 => terms.not(a),
            2 => a,
            _ => terms.constant(u64::MAX, width),
        };
        let (low, high) = (of_one(terms, table), of_one(terms, table >> 2));
        mixed(terms, b, low, high)
    };
    let (low, high) = (of_two(terms, table), of_two(terms, table >> 4));
    mixed(terms, c, low, high)
}

/// Bits of `high` where `by` is set, else of `low`.
fn mixed(terms: &mut Terms, by: Term, low: Term, high: Term) -> Term {
    if low == high {
        return low;
    }
    if high == terms.not(low) {
        return terms.xor(low, by);
    }
    let other = terms.not(by);
    let (low_zero, low_ones) = (terms.number(low) == Some(0), terms.is_ones(low));
    let (high_zero, high_ones) = (terms.number(high) == Some(0), terms.is_ones(high));
    if low_zero {
        return terms.and(by, high);
    }
    if low_ones {
        return terms.or(other, high);
    }
    if high_zero {
        return terms.and(other, low);
    }
    if high_ones {
        return terms.or(by, low);
    }
    let (x, y) = (terms.and(by, high), terms.and(other, low));
    terms.or(x, y)
}

/// A number of a lane in the range of a type.
pub(super) fn clamped(
    terms: &mut Terms,
    value: Term,
    signed: bool,
    data_type: DataType,
) -> Option<Term> {
    let (own, to) = (terms.width(value), bits(data_type));
    // In 64 bits with sign, if the number fits there.
    let (value, signed) = match (own, signed) {
        (64, signed) => (value, signed),
        (_, true) => (terms.sign_extend(value, 64), true),
        (_, false) => (terms.zero_extend(value, 64), true),
    };
    let (low, high) = match (data_type.is_signed(), to) {
        (true, _) => (ones(64) << (to - 1), ones(to - 1)),
        (false, _) => (0, ones(to)),
    };
    let mut value = value;
    let (low_term, high_term) = (terms.constant(low, 64), terms.constant(high, 64));
    if signed {
        let below = terms.less_signed(value, low_term);
        value = terms.choice(below, low_term, value);
        if to != 64 || data_type.is_signed() {
            let above = terms.less_signed(high_term, value);
            value = terms.choice(above, high_term, value);
        }
    } else {
        let above = terms.less(high_term, value);
        value = terms.choice(above, high_term, value);
    }
    Some(terms.extract(value, 0, to))
}
