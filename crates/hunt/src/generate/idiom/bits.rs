//! Bits counted, reversed, isolated and combined.

use super::terms::{
    alternating, bin, bit, by, call, cast, compare, converted, negated, not, number, pick, shl, shr,
};
use super::{Generator, Maker};
use crate::ast::{Binary, Builtin, Expr, Relation};
use crate::features::Feature;
use crate::types::{Scalar, Type};

pub(super) const MAKERS: [(Option<Feature>, Maker); 11] = [
    (None, swapped),
    (None, bytes_swapped),
    (None, logic),
    (None, logic),
    (None, gray),
    (None, lowest),
    (None, parity),
    (Some(Feature::Builtins), counted),
    (None, tested),
    (None, crc),
    (None, hashed),
];

/// Neighbouring digits of so many bits change places: `((x >> k) & m) | ((x & m) << k)`.
pub(super) fn swap_step(g: &mut Generator, x: &Expr, digit: u32) -> Expr {
    let scalar = x.ty.scalar;
    let mut mask = alternating(scalar, digit);
    if g.choices.percent(6) {
        let odd = g.amount(x.ty);
        mask ^= 1 << odd;
    }
    let down = match g.choices.percent(60) {
        true => by(Binary::And, shr(x.clone(), digit), mask),
        false => shr(by(Binary::And, x.clone(), mask << digit), digit),
    };
    let up = match g.choices.percent(60) {
        true => shl(by(Binary::And, x.clone(), mask), digit),
        false => by(Binary::And, shl(x.clone(), digit), mask << digit),
    };
    let joint = g.joint();
    g.in_any_order(joint, down, up)
}

fn swapped(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let mut x = g.operand(of);
    for _ in 0..1 + g.choices.below(2) {
        let digits = [1, 2, 4, 8, 16, 32];
        let digits = digits.into_iter().filter(|d| *d < of.scalar.bits());
        let digits: Vec<u32> = digits.collect();
        let digit = g.choices.of_or(&digits, 1);
        x = swap_step(g, &x, digit);
    }
    Some(cast(x, ty))
}

/// Each byte by a mask and a shift.
fn bytes_swapped(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let bits = of.scalar.bits();
    if bits < 16 {
        return None;
    }
    let x = g.operand(of);
    let odd = g.nearly().then(|| g.choices.below(of.scalar.bytes()));
    let mut all: Option<Expr> = None;
    for byte in (0..bits).step_by(8) {
        let mut to = bits - 8 - byte;
        if odd == usize::try_from(byte / 8).ok() {
            to = byte;
        }
        let mask = g.choices.percent(60);
        let moved = match (to >= byte, mask) {
            (true, true) => shl(by(Binary::And, x.clone(), 0xff << byte), to - byte),
            (true, false) => by(Binary::And, shl(x.clone(), to - byte), 0xff << to),
            (false, true) => by(Binary::And, shr(x.clone(), byte - to), 0xff << to),
            (false, false) => shr(by(Binary::And, x.clone(), 0xff << byte), byte - to),
        };
        let joint = g.joint();
        all = Some(match all {
            Some(before) => g.in_any_order(joint, before, moved),
            None => moved,
        });
    }
    Some(cast(all?, ty))
}

/// Functions of two or three numbers, bit by bit.
fn logic(g: &mut Generator, ty: Type) -> Option<Expr> {
    let all = [g.operand(ty), g.operand(ty), g.operand_or_constant(ty)];
    let mut made = g
        .choices
        .of(&[0_usize, 1, 2])
        .and_then(|n| all.get(n).cloned())?;
    for _ in 0..2 + g.choices.below(4) {
        let at = g.choices.below(all.len());
        let mut other = all.get(at)?.clone();
        if g.choices.percent(25) {
            other = not(other);
        }
        if g.choices.percent(20) {
            let op = g
                .choices
                .of_or(&[Binary::And, Binary::Or, Binary::Xor], Binary::And);
            let third = all.get(g.choices.below(all.len()))?.clone();
            other = bin(op, other, third);
        }
        let op = g
            .choices
            .of_or(&[Binary::And, Binary::Or, Binary::Xor], Binary::And);
        made = g.in_any_order(op, made, other);
        if g.choices.percent(15) {
            made = not(made);
        }
    }
    Some(made)
}

fn gray(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let x = g.operand(of);
    let n = if g.nearly() { g.amount(of) } else { 1 };
    let shifted = match g.choices.percent(70) {
        true => shr(x.clone(), n),
        false => shl(x.clone(), n),
    };
    Some(cast(g.in_any_order(Binary::Xor, x, shifted), ty))
}

/// The lowest bit that is set, alone, removed, or all around it.
fn lowest(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let less = match g.choices.percent(70) {
        true => by(Binary::Sub, x.clone(), 1),
        false => by(Binary::Add, x.clone(), -1),
    };
    Some(match g.choices.below(7) {
        0 => bin(Binary::And, x.clone(), negated(x)),
        1 => bin(Binary::And, x, less),
        2 => bin(Binary::Xor, x, less),
        3 => bin(Binary::And, not(x), less),
        4 => bin(Binary::Or, x, less),
        5 => bin(Binary::And, not(x.clone()), by(Binary::Add, x, 1)),
        _ => {
            let none = bin(Binary::And, x, less);
            bit(compare(Relation::Equal, none, number(ty, 0)), ty)
        }
    })
}

/// Whether the number of bits that are set is odd.
fn parity(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let x = g.operand(of);
    let folded = match g.choices.percent(50) {
        true => bin(Binary::Xor, x.clone(), shr(x, 4)),
        false => x,
    };
    let low = by(Binary::And, folded, 15);
    let table = Type {
        scalar: if of.is_vector() {
            of.scalar
        } else {
            Scalar::Uint
        },
        lanes: of.lanes,
    };
    if table.scalar.bits() < 16 {
        return None;
    }
    let odd = bin(Binary::Shr, number(table, 0x6996), converted(low, table));
    let odd = converted(by(Binary::And, odd, 1), of);
    Some(cast(odd, ty))
}

/// What is counted by built-in functions.
fn counted(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let bits = i128::from(ty.scalar.bits());
    let lowest = |x: &Expr| bin(Binary::And, x.clone(), negated(x.clone()));
    Some(match g.choices.below(6) {
        // The number of zeros below the lowest bit.
        0 => {
            let below = bin(Binary::And, not(x.clone()), by(Binary::Sub, x, 1));
            call(Builtin::Popcount, vec![below])?
        }
        1 => {
            let zeros = call(Builtin::Clz, vec![lowest(&x)])?;
            bin(Binary::Sub, number(ty, bits - 1), zeros)
        }
        // The number of the highest bit.
        2 => bin(
            Binary::Sub,
            number(ty, bits - 1),
            call(Builtin::Clz, vec![x])?,
        ),
        3 => bin(
            Binary::Xor,
            number(ty, bits - 1),
            call(Builtin::Clz, vec![x])?,
        ),
        4 => by(Binary::And, call(Builtin::Popcount, vec![x])?, 1),
        _ => {
            let zero = compare(Relation::Equal, x.clone(), number(ty, 0));
            let special = g.choices.of_or(&[bits, -1, 0, bits - 1], 0);
            pick(zero, number(ty, special), call(Builtin::Clz, vec![x])?)
        }
    })
}

/// A bit of a number by a mask or a shift.
fn tested(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (x, n) = (g.operand(ty), g.operand_or_constant(ty));
    let mask = bin(Binary::Shl, number(ty, 1), n.clone());
    Some(match g.choices.below(5) {
        0 => by(Binary::And, bin(Binary::Shr, x, n), 1),
        1 => {
            let hit = bin(Binary::And, x, mask);
            bit(compare(Relation::NotEqual, hit, number(ty, 0)), ty)
        }
        2 => {
            let hit = bin(Binary::And, x, mask.clone());
            bit(compare(Relation::Equal, hit, mask), ty)
        }
        3 => bin(Binary::And, x, not(mask)),
        _ => {
            let op = g.choices.of_or(&[Binary::Or, Binary::Xor], Binary::Or);
            bin(op, x, mask)
        }
    })
}

/// A step of a cyclic redundancy check: `(x >> 1) ^ (x & 1 ? polynomial : 0)`.
pub(super) fn crc_step(g: &mut Generator, x: &Expr, polynomial: &Expr, down: bool) -> Expr {
    let ty = x.ty;
    let top = ty.scalar.bits() - 1;
    let (shifted, out) = match down {
        true => (shr(x.clone(), 1), by(Binary::And, x.clone(), 1)),
        false => (shl(x.clone(), 1), shr(x.clone(), top)),
    };
    let taken = match g.choices.below(4) {
        0 => bin(
            Binary::And,
            negated(by(Binary::And, out, 1)),
            polynomial.clone(),
        ),
        1 => bin(Binary::Mul, by(Binary::And, out, 1), polynomial.clone()),
        _ => {
            let set = compare(Relation::NotEqual, by(Binary::And, out, 1), number(ty, 0));
            if g.choices.percent(40) {
                let with = bin(Binary::Xor, shifted.clone(), polynomial.clone());
                return pick(set, with, shifted);
            }
            pick(set, polynomial.clone(), number(ty, 0))
        }
    };
    g.in_any_order(Binary::Xor, shifted, taken)
}

fn crc(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let x = g.operand(of);
    let polynomial = Expr::constant(g.choices.value(of));
    let down = g.choices.percent(60);
    Some(cast(crc_step(g, &x, &polynomial, down), ty))
}

/// A step of a hash: a number mixed with itself.
pub(super) fn hash_step(g: &mut Generator, x: &Expr) -> Expr {
    let n = g.amount(x.ty);
    let shifted = match g.choices.percent(60) {
        true => shr(x.clone(), n),
        false => shl(x.clone(), n),
    };
    match g.choices.below(4) {
        0 => {
            let by = Expr::constant(g.choices.value(x.ty));
            bin(Binary::Mul, x.clone(), by)
        }
        1 => bin(Binary::Add, x.clone(), shifted),
        _ => bin(Binary::Xor, x.clone(), shifted),
    }
}

fn hashed(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let mut x = g.operand(of);
    for _ in 0..2 + g.choices.below(2) {
        x = hash_step(g, &x);
    }
    Some(cast(x, ty))
}
