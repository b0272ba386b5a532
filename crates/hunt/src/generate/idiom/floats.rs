//! What compilers recognise in floats, where the results are exact all the same.

use super::terms::{bin, by, cast, compare, converted, negated, number, pick, real};
use super::{Generator, Maker};
use crate::ast::{Binary, Expr, Relation};
use crate::features::Feature;
use crate::types::{Scalar, Type};

pub(super) const MAKERS: [(Option<Feature>, Maker); 8] = [
    (None, extreme),
    (None, within),
    (None, absolute),
    (Some(Feature::Conversions), of_bits),
    (None, sum_of_products),
    (None, neutral),
    (None, neutral),
    (Some(Feature::Conversions), whole),
];

const ORDERS: [Relation; 4] = [
    Relation::Less,
    Relation::LessEqual,
    Relation::Greater,
    Relation::GreaterEqual,
];

/// The smaller or the larger one by a selection, which tells NaN and the signs of zeros apart.
fn extreme(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (a, b) = (g.operand(ty), g.operand_or_constant(ty));
    let relation = g.choices.of_or(&ORDERS, Relation::Less);
    let condition = compare(relation, a.clone(), b.clone());
    Some(match g.choices.percent(50) {
        true => pick(condition, a, b),
        false => pick(condition, b, a),
    })
}

/// Between two bounds, 0 and 1 mostly.
fn within(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let (low, high) = match g.choices.percent(70) {
        true => (real(ty, 0.0), real(ty, 1.0)),
        false => (g.operand_or_constant(ty), g.operand_or_constant(ty)),
    };
    let below = |x: &Expr| compare(Relation::Less, x.clone(), low.clone());
    let above = |x: &Expr| compare(Relation::Greater, x.clone(), high.clone());
    Some(match g.choices.below(4) {
        0 => pick(below(&x), low.clone(), pick(above(&x), high.clone(), x)),
        1 => {
            let least = pick(below(&x), low.clone(), x);
            pick(above(&least), high.clone(), least)
        }
        2 => {
            let most = pick(above(&x), high.clone(), x);
            pick(below(&most), low.clone(), most)
        }
        // The other way round: NaN becomes a bound.
        _ => {
            let over = compare(Relation::Greater, x.clone(), low.clone());
            let least = pick(over, x, low.clone());
            let under = compare(Relation::Less, least.clone(), high.clone());
            pick(under, least, high.clone())
        }
    })
}

fn absolute(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let zero = real(ty, if g.choices.percent(30) { -0.0 } else { 0.0 });
    let relation = g.choices.of_or(&ORDERS, Relation::Less);
    let condition = compare(relation, x.clone(), zero);
    Some(match g.choices.percent(50) {
        true => pick(condition, negated(x.clone()), x),
        false => pick(condition, x.clone(), negated(x)),
    })
}

/// The sign and the exponent by operations on bits.
fn of_bits(g: &mut Generator, ty: Type) -> Option<Expr> {
    if ty.scalar == Scalar::Double && !g.has(Feature::Longs) {
        return None;
    }
    let bits = ty.of(ty.scalar.unsigned());
    let top = 1_i128 << (ty.scalar.bits() - 1);
    let x = cast(g.operand(ty), bits);
    let made = match g.choices.below(5) {
        0 => by(Binary::And, x, top - 1),
        1 => by(Binary::Or, x, top),
        2 => by(Binary::Xor, x, top),
        3 => {
            let sign = by(Binary::And, cast(g.operand(ty), bits), top);
            bin(Binary::Or, by(Binary::And, x, top - 1), sign)
        }
        _ => {
            let step = g.choices.of_or(&[1, -1, 1 << 10, top >> 8], 1);
            bin(Binary::Add, x, number(bits, step))
        }
    };
    Some(cast(made, ty))
}

/// Products that are added or subtracted, which must not be contracted.
fn sum_of_products(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (a, b) = (g.operand(ty), g.operand_or_constant(ty));
    let (c, d) = (g.operand(ty), g.operand(ty));
    let product = bin(Binary::Mul, a.clone(), b);
    Some(match g.choices.below(7) {
        0 => bin(Binary::Add, product, c),
        1 => bin(Binary::Sub, product, c),
        2 => bin(Binary::Sub, c, product),
        3 => negated(bin(Binary::Add, product, c)),
        4 => bin(Binary::Add, bin(Binary::Mul, negated(a), d), c),
        5 => bin(Binary::Sub, product, bin(Binary::Mul, c, d)),
        _ => bin(Binary::Mul, bin(Binary::Add, product, c), d),
    })
}

/// Operations that seem to change nothing: with zeros of both signs, infinities and NaN they may.
fn neutral(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (x, y) = (g.operand(ty), g.operand(ty));
    let zero = real(ty, if g.choices.percent(50) { -0.0 } else { 0.0 });
    Some(match g.choices.below(11) {
        0 => bin(Binary::Add, x, zero),
        1 => bin(Binary::Sub, x, zero),
        2 => bin(Binary::Sub, zero, x),
        3 => bin(Binary::Mul, x, zero),
        4 => bin(
            Binary::Mul,
            x,
            real(ty, g.choices.of_or(&[1.0, -1.0, 2.0, 0.5], 1.0)),
        ),
        5 => bin(Binary::Sub, x.clone(), x),
        6 => bin(Binary::Add, x.clone(), x),
        7 => negated(bin(Binary::Sub, x, y)),
        8 => bin(Binary::Add, bin(Binary::Sub, x, y.clone()), y),
        9 => bin(Binary::Add, negated(x), y),
        _ => pick(compare(Relation::NotEqual, x.clone(), x.clone()), y, x),
    })
}

/// An integer and back, or another float and back.
fn whole(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let mut between = vec![Scalar::Int, Scalar::Uint, Scalar::Short, Scalar::Char];
    for (feature, scalar) in [
        (Feature::Longs, Scalar::Long),
        (Feature::Halves, Scalar::Half),
        (Feature::Floats, Scalar::Float),
        (Feature::Doubles, Scalar::Double),
    ] {
        if g.has(feature) && scalar != ty.scalar {
            between.push(scalar);
        }
    }
    let of = ty.of(g.choices.of_or(&between, Scalar::Int));
    Some(converted(converted(x, of), ty))
}
