//! Products by parts, of wider numbers, by constants, and sums of them.

use super::terms::{bin, by, cast, converted, number, shl, shr};
use super::{Generator, Maker};
use crate::ast::{Binary, Expr};
use crate::features::Feature;
use crate::types::Type;

pub(super) const MAKERS: [(Option<Feature>, Maker); 9] = [
    (None, high_by_parts),
    (Some(Feature::Conversions), high_of_wide),
    (Some(Feature::Conversions), high_of_wide),
    (None, of_parts),
    (None, sum_of_products),
    (None, sum_of_products),
    (None, sum_of_three),
    (None, of_bytes),
    (None, by_constant),
];

/// The high half of a product, by products of halves.
fn high_by_parts(g: &mut Generator, ty: Type) -> Option<Expr> {
    let of = g.mostly_unsigned(ty);
    let half = of.scalar.bits() / 2;
    let mask = (1_i128 << half) - 1;
    let (a, b) = (g.operand(of), g.operand_or_constant(of));
    let low = |x: &Expr| by(Binary::And, x.clone(), mask);
    let high = |x: &Expr| shr(x.clone(), half);
    let product = |x: Expr, y: Expr| bin(Binary::Mul, x, y);
    let first = product(low(&a), low(&b));
    let middle = product(high(&a), low(&b));
    let middle = bin(Binary::Add, middle, shr(first, half));
    let other = product(low(&a), high(&b));
    let other = match g.nearly() {
        true => other,
        false => bin(Binary::Add, other, low(&middle)),
    };
    let whole = bin(Binary::Add, product(high(&a), high(&b)), high(&middle));
    Some(cast(bin(Binary::Add, whole, high(&other)), ty))
}

/// A part of a product, or of a product and a sum, in twice the size.
fn high_of_wide(g: &mut Generator, ty: Type) -> Option<Expr> {
    let wide = ty.of(ty.scalar.wider()?);
    if wide.scalar.bits() == 64 && !g.has(Feature::Longs) {
        return None;
    }
    let bits = ty.scalar.bits();
    let (a, b) = (g.operand(ty), g.operand_or_constant(ty));
    let mut product = bin(Binary::Mul, converted(a, wide), converted(b, wide));
    if g.choices.percent(50) {
        let more = match g.choices.percent(50) {
            true => converted(g.operand(ty), wide),
            false => g.operand(wide),
        };
        let op = g
            .choices
            .of_or(&[Binary::Add, Binary::Add, Binary::Sub], Binary::Add);
        product = g.in_any_order(op, product, more);
    }
    let shift = match g.choices.percent(60) {
        true => bits,
        false => g.amount(wide),
    };
    Some(converted(shr(product, shift), ty))
}

/// Products of numbers that need fewer bits than they have.
fn of_parts(g: &mut Generator, ty: Type) -> Option<Expr> {
    let (a, b) = (g.operand(ty), g.operand(ty));
    let bits = ty.scalar.bits();
    let width = g
        .choices
        .of_or(&[bits / 2, bits / 2, bits / 4, bits * 3 / 4], bits / 2);
    let mask = (1_i128 << width) - 1;
    let mut part = |x: Expr| match g.choices.below(3) {
        0 => by(Binary::And, x, mask),
        1 => shr(x, bits - width),
        _ => shr(shl(x, bits - width), bits - width),
    };
    let (x, y) = (part(a), part(b));
    let product = bin(Binary::Mul, x, y);
    Some(match g.choices.percent(40) {
        true => {
            let more = g.operand(ty);
            g.in_any_order(Binary::Add, product, more)
        }
        false => product,
    })
}

/// Products that are added or subtracted.
fn sum_of_products(g: &mut Generator, ty: Type) -> Option<Expr> {
    let mut all = (0..4)
        .map(|_| g.operand_or_constant(ty))
        .collect::<Vec<_>>();
    let (d, c, b, a) = (all.pop()?, all.pop()?, all.pop()?, all.pop()?);
    let product = |x: &Expr, y: &Expr| bin(Binary::Mul, x.clone(), y.clone());
    Some(match g.choices.below(9) {
        0 => bin(Binary::Add, product(&a, &b), c),
        1 => bin(Binary::Sub, product(&a, &b), c),
        2 => bin(Binary::Sub, c, product(&a, &b)),
        3 => bin(Binary::Add, product(&a, &b), product(&c, &d)),
        4 => bin(Binary::Sub, product(&a, &b), product(&c, &d)),
        5 => bin(Binary::Mul, a, bin(Binary::Add, b, c)),
        6 => bin(
            Binary::Mul,
            bin(Binary::Add, a.clone(), b.clone()),
            bin(Binary::Sub, a, b),
        ),
        7 => bin(Binary::Add, product(&a, &b), product(&a, &c)),
        _ => bin(
            Binary::Add,
            product(&bin(Binary::Add, product(&a, &b), c), &b),
            d,
        ),
    })
}

/// Three numbers that are added or subtracted.
fn sum_of_three(g: &mut Generator, ty: Type) -> Option<Expr> {
    let mut made = g.operand(ty);
    for _ in 0..2 + g.choices.below(2) {
        let next = g.operand_or_constant(ty);
        let op = g
            .choices
            .of_or(&[Binary::Add, Binary::Add, Binary::Sub], Binary::Add);
        let next = match g.choices.percent(20) {
            true => shl(next, g.amount(ty)),
            false => next,
        };
        made = g.in_any_order(op, made, next);
    }
    Some(made)
}

/// The sum of products of the bytes of two numbers, each with a sign or without.
fn of_bytes(g: &mut Generator, ty: Type) -> Option<Expr> {
    let bits = ty.scalar.bits();
    if bits != 32 {
        return None;
    }
    let (a, b) = (g.operand(ty), g.operand(ty));
    let signed = ty.of(ty.scalar.signed());
    let signs = [g.choices.percent(50), g.choices.percent(50)];
    let byte = |x: &Expr, at: u32, sign: bool| match sign {
        true => cast(
            shr(shl(cast(x.clone(), signed), bits - 8 - at), bits - 8),
            ty,
        ),
        false => by(Binary::And, shr(x.clone(), at), 0xff),
    };
    let mut sum = g.operand(ty);
    let count = if g.nearly() { 3 } else { 4 };
    for at in (0..bits).step_by(8).take(count) {
        let product = bin(Binary::Mul, byte(&a, at, signs[0]), byte(&b, at, signs[1]));
        sum = g.in_any_order(Binary::Add, sum, product);
    }
    Some(sum)
}

/// A product by a constant, as such or by shifts.
fn by_constant(g: &mut Generator, ty: Type) -> Option<Expr> {
    let x = g.operand(ty);
    let (n, m) = (g.amount(ty), g.amount(ty));
    let (first, second) = (shl(x.clone(), n), shl(x.clone(), m));
    let power = 1_i128 << n;
    Some(match g.choices.below(6) {
        0 => bin(Binary::Add, first, x),
        1 => bin(Binary::Sub, first, x),
        2 => bin(Binary::Sub, x, first),
        3 => bin(Binary::Add, first, second),
        4 => {
            let c = g
                .choices
                .of_or(&[power + 1, power - 1, -power, 1 - power, -1, 3, 5, 10], 3);
            bin(Binary::Mul, x, number(ty, c))
        }
        _ => {
            let c = Expr::constant(g.choices.value(ty));
            let product = bin(Binary::Mul, x, c);
            let op = g
                .choices
                .of_or(&[Binary::Add, Binary::Sub, Binary::Xor], Binary::Add);
            let more = Expr::constant(g.choices.value(ty));
            bin(op, product, more)
        }
    })
}
