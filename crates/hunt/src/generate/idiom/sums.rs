//! Carries, saturation, means, differences, extremes and comparisons.

use super::terms::{bin, bit, by, cast, compare, converted, negated, not, number, pick, shr};
use super::{Generator, Maker};
use crate::ast::{Binary, Expr, Node, Relation};
use crate::features::Feature;
use crate::types::{Type, Value};

pub(super) const MAKERS: [(Option<Feature>, Maker); 16] = [
    (None, carry),
    (None, saturated),
    (None, saturated_signed),
    (None, difference),
    (None, extreme),
    (None, extreme),
    (None, clamped),
    (None, mean),
    (Some(Feature::Conversions), wide_mean),
    (None, conditional),
    (None, order),
    (None, in_range),
    (None, truths),
    (Some(Feature::Division), quotient),
    (Some(Feature::Division), quotient),
    (Some(Feature::Division), quotients),
];

const ORDERS: [Relation; 4] = [
    Relation::Less,
    Relation::LessEqual,
    Relation::Greater,
    Relation::GreaterEqual,
];

/// Whether a sum or a difference wraps, or what it is with a carry in.
fn carry(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let (a, b) = (g.operand(of), g.operand_or_constant(of));
    let sum = bin(Binary::Add, a.clone(), b.clone());
    let made = match g.choices.below(5) {
        0 => bit(compare(Relation::Less, sum, a), of),
        1 => bit(compare(Relation::Greater, b, sum), of),
        2 => bit(compare(Relation::Less, a, b), of),
        3 => {
            let more = bit(compare(Relation::Less, sum, a), of);
            let high = g.operand(of);
            bin(Binary::Add, bin(Binary::Add, high, more), g.operand(of))
        }
        _ => {
            let borrow = bit(compare(Relation::Less, a, b), of);
            let high = g.operand(of);
            bin(Binary::Sub, bin(Binary::Sub, high, g.operand(of)), borrow)
        }
    };
    Some(cast(made, ty))
}

/// Sums of unsigned numbers that do not wrap.
fn saturated(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = ty.of(ty.scalar.unsigned());
    let (a, b) = (g.operand(of), g.operand_or_constant(of));
    let sum = bin(Binary::Add, a.clone(), b.clone());
    let less = bin(Binary::Sub, a.clone(), b.clone());
    let most = number(of, if g.nearly() { 1 } else { -1 });
    let zero = number(of, 0);
    let made = match g.choices.below(6) {
        0 => pick(compare(Relation::Less, sum.clone(), a), most, sum),
        1 => pick(compare(Relation::Greater, a, not(b)), most, sum),
        2 => pick(compare(Relation::Less, a, b), zero, less),
        3 => pick(compare(Relation::Greater, a, b), less, zero),
        4 => {
            let all = negated(bit(compare(Relation::Less, sum.clone(), a), of));
            bin(Binary::Or, sum, all)
        }
        _ => {
            let all = negated(bit(compare(Relation::GreaterEqual, a, b), of));
            bin(Binary::And, less, all)
        }
    };
    Some(cast(made, ty))
}

/// Sums of signed numbers whose overflow the signs tell.
fn saturated_signed(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = ty.of(ty.scalar.signed());
    let (a, b) = (g.operand(of), g.operand_or_constant(of));
    let most = of.scalar.range().1;
    let plus = g.choices.percent(60);
    let op = if plus { Binary::Add } else { Binary::Sub };
    let sum = bin(op, a.clone(), b.clone());
    let changed = bin(Binary::Xor, a.clone(), sum.clone());
    let other = match plus != g.nearly() {
        true => bin(Binary::Xor, b, sum.clone()),
        false => bin(Binary::Xor, a.clone(), b),
    };
    let overflow = bin(Binary::And, changed, other);
    let overflow = compare(Relation::Less, overflow, number(of, 0));
    let bound = by(Binary::Xor, shr(a, of.scalar.bits() - 1), most);
    Some(cast(pick(overflow, bound, sum), ty))
}

/// The absolute difference.
fn difference(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (a, b) = (g.operand(ty), g.operand_or_constant(ty));
    let (x, y) = (
        bin(Binary::Sub, a.clone(), b.clone()),
        bin(Binary::Sub, b.clone(), a.clone()),
    );
    let relation = g.choices.of_or(&ORDERS, Relation::Less);
    let (x, y) = match g.choices.percent(50) {
        true => (x, y),
        false => (y, x),
    };
    Some(pick(compare(relation, a, b), x, y))
}

/// The smaller or the larger one by a selection.
fn extreme(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (a, b) = (g.operand(ty), g.operand_or_constant(ty));
    let relation = g.choices.of_or(&ORDERS, Relation::Less);
    let condition = compare(relation, a.clone(), b.clone());
    let b = match &b.node {
        // A bound that is one off.
        Node::Constant(_) if g.nearly() => by(Binary::Add, b, 1),
        _ => b,
    };
    Some(match g.choices.percent(50) {
        true => pick(condition, a, b),
        false => pick(condition, b, a),
    })
}

/// Between two bounds, or the middle one of three.
fn clamped(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let (low, high) = (g.operand_or_constant(ty), g.operand_or_constant(ty));
    let below = compare(Relation::Less, x.clone(), low.clone());
    Some(match g.choices.percent(50) {
        true => {
            let above = compare(Relation::Greater, x.clone(), high.clone());
            pick(below, low, pick(above, high, x))
        }
        false => {
            let least = pick(below, low, x);
            let above = compare(Relation::Greater, least.clone(), high.clone());
            pick(above, high, least)
        }
    })
}

/// Means that do not overflow.
fn mean(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (a, b) = (g.operand(ty), g.operand_or_constant(ty));
    let half = shr(bin(Binary::Xor, a.clone(), b.clone()), 1);
    Some(match g.choices.below(3) {
        0 => bin(Binary::Add, bin(Binary::And, a, b), half),
        1 => bin(Binary::Sub, bin(Binary::Or, a, b), half),
        // Of unsigned numbers the first of which is smaller.
        _ => {
            let distance = shr(bin(Binary::Sub, b, a.clone()), 1);
            bin(Binary::Add, a, distance)
        }
    })
}

/// The same, and whole products and sums, in twice the size.
fn wide_mean(g: &mut Generator, ty: Type) -> Option<Expr> {
    let wide = ty.of(ty.scalar.wider()?);
    if wide.scalar.bits() == 64 && !g.has(Feature::Longs) {
        return None;
    }
    let (a, b) = (g.operand(ty), g.operand_or_constant(ty));
    let sum = bin(Binary::Add, converted(a, wide), converted(b, wide));
    let round = g.choices.of_or(&[0, 1, 1, 2], 0);
    let shift = g.choices.of_or(&[1, 1, 2], 1);
    let mean = shr(by(Binary::Add, sum, round), shift);
    let saturate = g.choices.percent(30);
    let node = Node::Convert(saturate, Box::new(mean));
    Some(Expr { ty, node })
}

/// A negation or an absolute value by a condition.
fn conditional(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (x, y) = (g.operand(ty), g.operand(ty));
    let zero = number(ty, 0);
    let negative = compare(Relation::Less, y.clone(), zero);
    Some(match g.choices.below(4) {
        0 => pick(negative, negated(x.clone()), x),
        // (x ^ -c) + c
        1 => {
            let one = bit(negative, ty);
            bin(Binary::Add, bin(Binary::Xor, x, negated(one.clone())), one)
        }
        2 => {
            let own = compare(Relation::Less, x.clone(), number(ty, 0));
            pick(own, negated(x.clone()), x)
        }
        _ => {
            let own = compare(Relation::Greater, x.clone(), number(ty, 0));
            pick(own, x.clone(), negated(x))
        }
    })
}

/// Which one is greater, as -1, 0 or 1.
fn order(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (a, b) = (g.operand(ty), g.operand_or_constant(ty));
    let greater = compare(Relation::Greater, a.clone(), b.clone());
    let less = compare(Relation::Less, a, b);
    Some(match g.choices.percent(60) {
        true => bin(Binary::Sub, bit(greater, ty), bit(less, ty)),
        false => pick(less, number(ty, -1), bit(greater, ty)),
    })
}

/// Whether a number is between two constants, by one comparison or two.
fn in_range(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let unsigned = ty.of(ty.scalar.unsigned());
    let (low, length) = (g.choices.value(ty), g.choices.value(unsigned));
    if g.choices.percent(60) {
        let off = bin(Binary::Sub, x, Expr::constant(low));
        let within = compare(Relation::Less, cast(off, unsigned), Expr::constant(length));
        return Some(bit(within, ty));
    }
    let high = Expr::constant(g.choices.value(ty));
    let above = bit(
        compare(Relation::GreaterEqual, x.clone(), Expr::constant(low)),
        ty,
    );
    let below = bit(compare(Relation::LessEqual, x, high), ty);
    let op = g
        .choices
        .of_or(&[Binary::And, Binary::Or, Binary::Xor], Binary::And);
    Some(bin(op, above, below))
}

/// Truth values that are computed with.
fn truths(g: &mut Generator, ty: Type) -> Option<Expr> {
    let mut made: Option<Expr> = None;
    for _ in 0..2 + g.choices.below(2) {
        let (a, b) = (g.operand(ty), g.operand_or_constant(ty));
        let relation = g
            .choices
            .of_or(&super::super::expression::RELATIONS, Relation::Less);
        let truth = bit(compare(relation, a, b), ty);
        let op = [
            Binary::Add,
            Binary::Sub,
            Binary::And,
            Binary::Or,
            Binary::Xor,
        ];
        let op = g.choices.of_or(&op, Binary::Add);
        made = Some(match made {
            Some(before) => bin(op, before, truth),
            None => truth,
        });
    }
    Some(match g.choices.percent(30) {
        true => bin(Binary::And, negated(made?), g.operand(ty)),
        false => made?,
    })
}

/// A divisor of any sign and size.
fn divisor(g: &mut Generator, ty: Type) -> Value {
    let bits = ty.scalar.bits();
    let length = u32::try_from(g.choices.below(bits as usize)).unwrap_or(0);
    let random = i128::from(g.choices.bits() >> (63 - length));
    let power = 1_i128 << length;
    let decimal = 10_i128.pow(length % 19);
    let small = i128::try_from(g.choices.below(24)).unwrap_or(0);
    let some = [
        random,
        random,
        power,
        power - 1,
        power + 1,
        small + 1,
        small + 1,
        decimal,
        641,
        255,
    ];
    let some = g.choices.of_or(&some, 3);
    let sign = if g.choices.percent(35) { -1 } else { 1 };
    Value::splat(ty, ty.scalar.wrap(some * sign))
}

/// A division or a remainder by a constant.
fn quotient(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let by = match ty.is_vector() && g.choices.percent(30) {
        true => Value::from_fn(ty, |_| divisor(g, ty).lane(0)),
        false => divisor(g, ty),
    };
    // Of a number whose highest bits are known sometimes.
    let x = match g.choices.percent(25) {
        true => shr(x, g.amount(ty)),
        false => x,
    };
    let op = g.choices.of_or(&[Binary::Div, Binary::Rem], Binary::Div);
    Some(bin(op, x, Expr::constant(by)))
}

/// What is made of quotients and remainders.
fn quotients(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let c = Expr::constant(divisor(g, ty));
    let whole = bin(Binary::Div, x.clone(), c.clone());
    let rest = bin(Binary::Rem, x.clone(), c.clone());
    Some(match g.choices.below(8) {
        0 => bin(Binary::Mul, whole, c),
        1 => bin(Binary::Sub, x, bin(Binary::Mul, whole, c)),
        2 => bit(compare(Relation::Equal, rest, number(ty, 0)), ty),
        3 => bin(Binary::Xor, whole, rest),
        4 => {
            let second = Expr::constant(divisor(g, ty));
            bin(Binary::Div, whole, second)
        }
        5 => {
            let second = Expr::constant(divisor(g, ty));
            bin(Binary::Div, bin(Binary::Mul, x, second), c)
        }
        // Rounded up.
        6 => {
            let more = bin(Binary::Sub, c.clone(), number(ty, 1));
            bin(Binary::Div, bin(Binary::Add, x, more), c)
        }
        _ => {
            let sign = compare(Relation::Less, rest.clone(), number(ty, 0));
            pick(sign, bin(Binary::Add, rest.clone(), c), rest)
        }
    })
}
