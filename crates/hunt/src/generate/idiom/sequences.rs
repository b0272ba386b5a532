//! Sequences of statements that programs write for an operation.

use super::bits::{hash_step, swap_step};
use super::terms::{assign, bin, by, load, negated, repeated, shl, shr, update};
use super::{Generator, Sequence};
use crate::ast::{Binary, Statement};
use crate::features::Feature;
use crate::types::Type;

pub(super) const MAKERS: [(Option<Feature>, Sequence); 5] = [
    (Some(Feature::Vectors), in_place),
    (None, swaps),
    (None, population),
    (None, prefix),
    (None, hashed),
];

/// The elements of a vector shifted as one number, one after the other.
fn in_place(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(8);
    let lanes = g.choices.of_or(&[2, 2, 3, 4], 2);
    let ty = Type {
        scalar: ty.scalar.unsigned(),
        lanes,
    };
    let from = g.operand(ty);
    let (v, first) = g.fresh(from);
    let n = g.amount(ty.element());
    let rest = ty.scalar.bits() - n;
    let up = g.choices.percent(50);
    let (own, other) = match up {
        true => (Binary::Shl, Binary::Shr),
        false => (Binary::Shr, Binary::Shl),
    };
    let mut all = vec![first];
    for step in 0..ty.count() {
        let lane = if up { ty.count() - 1 - step } else { step };
        let neighbour = if up {
            lane.checked_sub(1)
        } else {
            Some(lane + 1)
        };
        let kept = by(own, Generator::lane_of(v, lane, ty)?, n.into());
        let value = match neighbour.filter(|at| *at < ty.count()) {
            Some(at) => {
                let comes = by(other, Generator::lane_of(v, at, ty)?, rest.into());
                let joint = g.joint();
                g.in_any_order(joint, kept, comes)
            }
            None => kept,
        };
        all.push(Statement::Assign(Generator::lane(v, lane)?, value));
    }
    let used = g.used(load(v, ty))?;
    all.push(used);
    Some(all)
}

/// A reversal of bits or bytes by steps.
fn swaps(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(4);
    let ty = ty.of(ty.scalar.unsigned());
    let from = g.operand(ty);
    let (x, first) = g.fresh(from);
    let mut all = vec![first];
    let least = g.choices.of_or(&[1, 1, 8], 1);
    let mut digit = least;
    while digit < ty.scalar.bits() {
        if !g.choices.percent(6) {
            let step = swap_step(g, &load(x, ty), digit);
            all.push(assign(x, step));
        }
        digit *= 2;
    }
    let used = g.used(load(x, ty))?;
    all.push(used);
    Some(all)
}

/// The number of bits that are set, by sums of neighbouring digits.
fn population(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(4);
    let ty = ty.of(ty.scalar.unsigned());
    let bits = ty.scalar.bits();
    let from = g.operand(ty);
    let (x, first) = g.fresh(from);
    let value = || load(x, ty);
    let mut masks = [0x55, 0x33, 0x0f].map(|byte| repeated(ty.scalar, byte));
    if g.nearly() {
        let at = g.choices.below(masks.len());
        let odd = 1 << g.amount(ty);
        if let Some(mask) = masks.get_mut(at) {
            *mask ^= odd;
        }
    }
    let [one, two, four] = masks;
    let pairs = bin(Binary::Sub, value(), by(Binary::And, shr(value(), 1), one));
    let low = by(Binary::And, value(), two);
    let nibbles = bin(Binary::Add, low, by(Binary::And, shr(value(), 2), two));
    let sum = by(
        Binary::And,
        bin(Binary::Add, value(), shr(value(), 4)),
        four,
    );
    let mut all = vec![first, assign(x, pairs), assign(x, nibbles), assign(x, sum)];
    if bits > 8 {
        let product = by(Binary::Mul, value(), repeated(ty.scalar, 1));
        all.push(assign(x, shr(product, bits - 8)));
    }
    let used = g.used(value())?;
    all.push(used);
    Some(all)
}

/// Each bit combined with all those above it or below it.
fn prefix(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(4);
    let ty = ty.of(ty.scalar.unsigned());
    let from = g.operand(ty);
    let (x, first) = g.fresh(from);
    let op = g
        .choices
        .of_or(&[Binary::Or, Binary::Xor, Binary::Add], Binary::Or);
    let down = g.choices.percent(60);
    let mut all = vec![first];
    let mut by = 1;
    while by < ty.scalar.bits() {
        let shifted = match down {
            true => shr(load(x, ty), by),
            false => shl(load(x, ty), by),
        };
        all.push(update(x, op, shifted));
        by *= 2;
    }
    let result = match g.choices.below(3) {
        0 => load(x, ty),
        1 => super::terms::by(Binary::And, load(x, ty), 1),
        _ => bin(Binary::Sub, load(x, ty), shr(load(x, ty), 1)),
    };
    let used = g.used(result)?;
    all.push(used);
    Some(all)
}

/// Steps of a hash.
fn hashed(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(4);
    let ty = ty.of(ty.scalar.unsigned());
    let from = g.operand(ty);
    let (x, first) = g.fresh(from);
    let mut all = vec![first];
    for _ in 0..3 + g.choices.below(4) {
        let step = hash_step(g, &load(x, ty));
        all.push(assign(x, step));
    }
    let result = match g.choices.percent(20) {
        true => negated(load(x, ty)),
        false => load(x, ty),
    };
    let used = g.used(result)?;
    all.push(used);
    Some(all)
}
