//! Rotations, funnels, fields and signs by shifts.

use super::terms::{bin, by, cast, compare, converted, negated, number, pick, shl, shr, swizzled};
use super::{Generator, Maker};
use crate::ast::{Binary, Expr, Relation};
use crate::features::Feature;
use crate::types::{Type, Value};

pub(super) const MAKERS: [(Option<Feature>, Maker); 12] = [
    (None, rotation),
    (None, rotation),
    (None, rotation_by_variable),
    (None, funnel),
    (Some(Feature::Longs), funnel_of_wide),
    (Some(Feature::Vectors), shifted_in_place),
    (None, extended),
    (None, field),
    (None, inserted),
    (None, merged),
    (None, shifted_twice),
    (None, sign),
];

/// What is left of the size after amounts, in each lane.
fn rest(amounts: Value, off: i128) -> Value {
    let scalar = amounts.ty.scalar;
    let bits = i128::from(scalar.bits());
    Value::from_fn(amounts.ty, |lane| {
        scalar.wrap((bits - amounts.number(lane) + off) & (bits - 1))
    })
}

/// `(x << n) | (x >> (bits - n))`
fn rotation(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let x = g.operand(of);
    let amounts = g.amounts(of);
    let nearly = g.nearly();
    let off = match nearly && g.choices.percent(50) {
        true => g.choices.of_or(&[-1, 1, 8], 1),
        false => 0,
    };
    let other = match nearly && off == 0 {
        true => g.operand(of),
        false => x.clone(),
    };
    let left = bin(Binary::Shl, x, Expr::constant(amounts));
    let right = bin(Binary::Shr, other, Expr::constant(rest(amounts, off)));
    let joint = g.joint();
    Some(cast(g.in_any_order(joint, left, right), ty))
}

/// The same by a number that is computed, in the forms that programs have for it.
fn rotation_by_variable(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let (x, n) = (g.operand(of), g.operand(of));
    let bits = i128::from(of.scalar.bits());
    let bits = if g.nearly() { bits - 1 } else { bits };
    let low = by(Binary::And, n.clone(), bits - 1);
    let (first, second) = match g.choices.below(4) {
        0 => (n.clone(), bin(Binary::Sub, number(of, bits), n.clone())),
        1 => (low.clone(), by(Binary::And, negated(n.clone()), bits - 1)),
        2 => (n.clone(), negated(n.clone())),
        _ => (low.clone(), bin(Binary::Sub, number(of, bits), low.clone())),
    };
    let (one, other) = match g.choices.percent(50) {
        true => (Binary::Shl, Binary::Shr),
        false => (Binary::Shr, Binary::Shl),
    };
    let joint = g.joint();
    let first = bin(one, x.clone(), first);
    let second = bin(other, x.clone(), second);
    let rotated = g.in_any_order(joint, first, second);
    let guarded = match g.choices.percent(20) {
        true => pick(compare(Relation::Equal, low, number(of, 0)), x, rotated),
        false => rotated,
    };
    Some(cast(guarded, ty))
}

/// Bits of one number behind those of another.
fn funnel(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let (x, y) = (g.operand(of), g.operand(of));
    let (n, rest) = match g.choices.percent(60) {
        true => {
            let amounts = g.amounts(of);
            let off = if g.nearly() { 1 } else { 0 };
            (Expr::constant(amounts), Expr::constant(rest(amounts, off)))
        }
        false => {
            let n = g.operand(of);
            let bits = number(of, of.scalar.bits().into());
            (n.clone(), bin(Binary::Sub, bits, n))
        }
    };
    let joint = g.joint();
    let (left, right) = (bin(Binary::Shl, x, n), bin(Binary::Shr, y, rest));
    Some(cast(g.in_any_order(joint, left, right), ty))
}

/// The same by a number of twice the size.
fn funnel_of_wide(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = ty.of(ty.scalar.unsigned());
    let wide = of.of(of.scalar.wider()?);
    let bits = of.scalar.bits();
    let (x, y) = (g.operand(of), g.operand(of));
    let (high, low) = (shl(converted(x, wide), bits), converted(y, wide));
    let joint = g.joint();
    let both = g.in_any_order(joint, high, low);
    let n = match g.choices.percent(60) {
        true => number(wide, g.amount(of).into()),
        false => by(Binary::And, g.operand(wide), i128::from(bits) - 1),
    };
    let shifted = match g.choices.percent(50) {
        true => bin(Binary::Shr, both, n),
        false => shr(bin(Binary::Shl, both, n), bits),
    };
    Some(cast(converted(shifted, of), ty))
}

/// All elements of a vector shifted as one number: each gets bits of the one before it.
fn shifted_in_place(g: &mut Generator, ty: Type) -> Option<Expr> {
    if !ty.is_vector() {
        return None;
    }
    let of = g.mostly_unsigned(ty);
    let x = g.operand(of);
    let n = g.amount(of);
    let rest = of.scalar.bits() - n;
    let up = g.choices.percent(50);
    let neighbour = |lane: u8| match up {
        true => lane.saturating_sub(1),
        false => (lane + 1).min(ty.lanes - 1),
    };
    let moved = swizzled(x.clone(), (0..ty.lanes).map(neighbour).collect());
    let (own, from) = match up {
        true => (shl(x, n), shr(moved, rest)),
        false => (shr(x, n), shl(moved, rest)),
    };
    // Nothing comes into the first one, or what it has.
    let from = match g.choices.percent(60) {
        true => {
            let first = if up { 0 } else { ty.count() - 1 };
            let ones = of.scalar.mask();
            let mask = Value::from_fn(of, |lane| if lane == first { 0 } else { ones });
            bin(Binary::And, from, Expr::constant(mask))
        }
        false => from,
    };
    let joint = g.joint();
    Some(cast(g.in_any_order(joint, own, from), ty))
}

/// A sign or zeros from a bit on: two shifts, which need not be by equal amounts.
fn extended(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let up = g.amount(ty);
    let down = match g.nearly() {
        true => g.amount(ty),
        false => up,
    };
    Some(match g.choices.percent(75) {
        true => shr(shl(x, up), down),
        false => shl(shr(x, up), down),
    })
}

/// `(x >> n) & mask`
fn field(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let (n, width) = (g.amount(ty), g.amount(ty));
    let mask = (1_i128 << width) - 1;
    let mask = if g.nearly() { mask << 1 } else { mask };
    Some(match g.choices.percent(60) {
        true => by(Binary::And, shr(x, n), mask),
        false => shr(by(Binary::And, x, mask << n), n),
    })
}

/// `(x & ~(mask << n)) | ((y & mask) << n)`
fn inserted(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (x, y) = (g.operand(ty), g.operand(ty));
    let (n, width) = (g.amount(ty), g.amount(ty));
    let mask = (1_i128 << width) - 1;
    let kept = by(Binary::And, x, !(mask << n));
    let other = if g.nearly() { mask << 1 } else { mask };
    let put = match g.choices.percent(60) {
        true => shl(by(Binary::And, y, other), n),
        false => by(Binary::And, shl(y, n), other << n),
    };
    let joint = g.joint();
    Some(g.in_any_order(joint, kept, put))
}

/// `(x & mask) | (y & ~mask)`, the mask a constant or computed.
fn merged(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (x, y) = (g.operand(ty), g.operand(ty));
    if g.choices.percent(25) {
        // x ^ ((x ^ y) & mask)
        let mask = g.operand_or_constant(ty);
        let differs = bin(Binary::Xor, x.clone(), y);
        return Some(bin(Binary::Xor, x, bin(Binary::And, differs, mask)));
    }
    let mask = g.operand_or_constant(ty);
    let other = match g.nearly() {
        true => mask.clone(),
        false => super::terms::not(mask.clone()),
    };
    let joint = g.joint();
    let (first, second) = (bin(Binary::And, x, mask), bin(Binary::And, y, other));
    Some(g.in_any_order(joint, first, second))
}

/// Shifts of shifts, whose amounts may add up to more than the size.
fn shifted_twice(g: &mut Generator, ty: Type) -> Option<Expr> {
    let mut x = g.operand(ty);
    for _ in 0..2 + g.choices.below(2) {
        let amount = Expr::constant(g.amounts(ty));
        let op = g.choices.of_or(&[Binary::Shl, Binary::Shr], Binary::Shl);
        x = bin(op, x, amount);
    }
    Some(x)
}

/// The sign as all bits or none, and what is made of it.
fn sign(g: &mut Generator, ty: Type) -> Option<Expr> {
    let signed = ty.of(ty.scalar.signed());
    let x = g.operand(signed);
    let sign = shr(x.clone(), signed.scalar.bits() - 1);
    let made = match g.choices.below(4) {
        // The absolute value, and its negation.
        0 => bin(Binary::Sub, bin(Binary::Xor, x, sign.clone()), sign),
        1 => bin(Binary::Sub, sign.clone(), bin(Binary::Xor, x, sign)),
        // Nothing below zero.
        2 => bin(Binary::And, x, super::terms::not(sign)),
        // A division by a power of two towards zero.
        _ => {
            let n = g.amount(signed);
            let bias = by(Binary::And, sign, (1 << n) - 1);
            shr(bin(Binary::Add, x, bias), n)
        }
    };
    Some(cast(made, ty))
}
