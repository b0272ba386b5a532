//! Numbers of several words, and bytes packed into numbers.

use super::terms::{bin, bit, built, by, cast, compare, converted, shl, shr, swizzled};
use super::{Generator, Maker};
use crate::ast::{Binary, Expr, Relation};
use crate::features::Feature;
use crate::types::{Scalar, Type};

pub(super) const MAKERS: [(Option<Feature>, Maker); 8] = [
    (Some(Feature::Vectors), of_pairs),
    (Some(Feature::Vectors), sum_of_pairs),
    (Some(Feature::Vectors), packed),
    (None, packed_by_shifts),
    (Some(Feature::Vectors), unpacked),
    (Some(Feature::Vectors), rearranged),
    (Some(Feature::Vectors), doubled),
    (None, narrowed),
];

/// The unsigned integer of that many bits.
fn unsigned_of(bits: u32) -> Option<Scalar> {
    let mut all = Scalar::INTEGERS.into_iter();
    all.find(|s| !s.is_signed() && s.bits() == bits)
}

/// A vector of so many unsigned integers that has the bits of a scalar.
fn vector_of(scalar: Scalar, lanes: u8) -> Option<Type> {
    let scalar = unsigned_of(scalar.bits() / u32::from(lanes))?;
    Some(Type { scalar, lanes })
}

/// A number of two halves, or half of a number of two.
fn of_pairs(g: &mut Generator, ty: Type) -> Option<Expr> {
    if ty.is_vector() {
        return None;
    }
    let scalar = ty.scalar;
    if scalar.bits() >= 16 && g.choices.percent(50) {
        let pair = vector_of(scalar, 2)?;
        let element = pair.element();
        let halves = vec![g.operand(element), g.operand(element)];
        return Some(cast(built(halves)?, ty));
    }
    let wide = scalar.wider()?;
    if wide.bits() == 64 && !g.has(Feature::Longs) {
        return None;
    }
    let of = Type::scalar(wide);
    let pair = Type { scalar, lanes: 2 };
    let at = u8::try_from(g.choices.below(2)).ok()?;
    let whole = g.operand(of);
    Some(swizzled(cast(whole, pair), vec![at]))
}

/// The sum or difference of numbers of two halves, with a carry.
fn sum_of_pairs(g: &mut Generator, ty: Type) -> Option<Expr> {
    let pair = match ty.lanes {
        1 if ty.scalar.bits() == 64 => vector_of(ty.scalar, 2)?,
        2 => ty.of(ty.scalar.unsigned()),
        _ => return None,
    };
    let element = pair.element();
    let (a, b) = match g.choices.percent(50) {
        true => (cast(g.operand(ty), pair), cast(g.operand(ty), pair)),
        false => (g.operand(pair), g.operand(pair)),
    };
    let part = |x: &Expr, at: u8| swizzled(x.clone(), vec![at]);
    let plus = g.choices.percent(60);
    let op = if plus { Binary::Add } else { Binary::Sub };
    let low = bin(op, part(&a, 0), part(&b, 0));
    let carried = match plus {
        true => compare(Relation::Less, low.clone(), part(&a, 0)),
        false => compare(Relation::Less, part(&a, 0), part(&b, 0)),
    };
    let high = bin(op, part(&a, 1), part(&b, 1));
    let high = bin(op, high, bit(carried, element));
    Some(cast(built(vec![low, high])?, ty))
}

/// So many parts that a number has, and the vector of them.
fn in_parts(g: &mut Generator, ty: Type) -> Option<(u8, Type)> {
    if ty.is_vector() || ty.scalar.bits() < 16 {
        return None;
    }
    let lanes = match ty.scalar.bits() {
        16 => 2,
        32 => g.choices.of_or(&[2, 4], 4),
        _ => g.choices.of_or(&[2, 4, 8], 4),
    };
    Some((lanes, vector_of(ty.scalar, lanes)?))
}

/// Bytes or words in a vector that is taken for a number.
fn packed(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (lanes, vector) = in_parts(g, ty)?;
    let whole = g.operand(Type::UINT);
    let mut parts = Vec::new();
    for at in 0..u32::from(lanes) {
        parts.push(match g.choices.percent(50) {
            true => {
                let shifted = shr(whole.clone(), at * 8 % 32);
                converted(shifted, vector.element())
            }
            false => g.operand(vector.element()),
        });
    }
    Some(cast(built(parts)?, ty))
}

/// The same by shifts.
fn packed_by_shifts(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let bits = of.scalar.bits();
    let widths = [8, 16, 32].into_iter().filter(|width| *width < bits);
    let widths: Vec<u32> = widths.collect();
    let width = g.choices.of(&widths)?;
    let part = of.of(unsigned_of(width)?);
    let mut all: Option<Expr> = None;
    for at in (0..bits).step_by(usize::try_from(width).ok()?) {
        let one = match g.choices.percent(50) {
            true => converted(g.operand(part), of),
            false => by(Binary::And, g.operand(of), (1 << width) - 1),
        };
        let at = if g.choices.percent(5) { at / 2 } else { at };
        let moved = if at == 0 { one } else { shl(one, at) };
        let joint = g.joint();
        all = Some(match all {
            Some(before) => g.in_any_order(joint, before, moved),
            None => moved,
        });
    }
    Some(cast(all?, ty))
}

/// A byte or word of a number, with a sign or without.
fn unpacked(g: &mut Generator, ty: Type) -> Option<Expr> {
    let whole = match g.has(Feature::Longs) {
        true => g
            .choices
            .of_or(&[Scalar::Uint, Scalar::Ulong], Scalar::Uint),
        false => Scalar::Uint,
    };
    let lanes = g.choices.of_or(&[2, 4], 4);
    let vector = vector_of(whole, lanes)?;
    let vector = match g.choices.percent(50) {
        true => vector.of(vector.scalar.signed()),
        false => vector,
    };
    let bytes = cast(g.operand(Type::scalar(whole)), vector);
    let chosen = (0..ty.lanes).map(|_| u8::try_from(g.choices.below(lanes.into())));
    let chosen = chosen.collect::<Result<Vec<u8>, _>>().ok()?;
    Some(converted(swizzled(bytes, chosen), ty))
}

/// The parts of a number in another order.
fn rearranged(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (lanes, vector) = in_parts(g, ty)?;
    let turned = (0..lanes).rev().collect();
    let order = match g.choices.percent(40) {
        true => turned,
        false => {
            let some = (0..lanes).map(|_| u8::try_from(g.choices.below(lanes.into())));
            some.collect::<Result<Vec<u8>, _>>().ok()?
        }
    };
    let parts = cast(g.operand(ty), vector);
    Some(cast(swizzled(parts, order), ty))
}

/// Lanes in any order, some of them twice, combined with others.
fn doubled(g: &mut Generator, ty: Type) -> Option<Expr> {
    if !ty.is_vector() {
        return None;
    }
    let x = g.operand(ty);
    let y = match g.choices.percent(60) {
        true => x.clone(),
        false => g.operand(ty),
    };
    let mut some = |x: Expr| {
        let lanes = (0..ty.lanes).map(|_| u8::try_from(g.choices.below(ty.count())));
        let lanes = lanes.map(|lane| lane.unwrap_or(0)).collect();
        swizzled(x, lanes)
    };
    let (a, b) = (some(x), some(y));
    let op = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::Xor,
        Binary::And,
    ];
    let op = g.choices.of_or(&op, Binary::Add);
    Some(bin(op, a, b))
}

/// A number in fewer bits and back, with a sign or without.
fn narrowed(g: &mut Generator, ty: Type) -> Option<Expr> {
    let fewer = Scalar::INTEGERS.into_iter();
    let fewer = fewer.filter(|s| s.bits() < ty.scalar.bits());
    let fewer: Vec<Scalar> = fewer.collect();
    let of = ty.of(g.choices.of(&fewer)?);
    let x = g.operand(ty);
    let narrow = converted(x, of);
    let other = g.operand(ty);
    let narrow = match g.choices.below(3) {
        0 => narrow,
        1 => bin(Binary::Mul, narrow, converted(other, of)),
        _ => bin(Binary::Add, narrow, converted(other, of)),
    };
    Some(converted(narrow, ty))
}
