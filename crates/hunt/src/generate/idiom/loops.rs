//! Loops that programs write for an operation.

use super::bits::crc_step;
use super::terms::{assign, bin, by, call, compare, load, number, pick, shl, shr, update};
use super::{Generator, Sequence};
use crate::ast::{Binary, Builtin, Count, Expr, Kind, Node, Place, Relation, Statement};
use crate::features::Feature;
use crate::types::Type;

pub(super) const MAKERS: [(Option<Feature>, Sequence); 11] = [
    (Some(Feature::Loops), reversal),
    (Some(Feature::Loops), reversal),
    (Some(Feature::Loops), count),
    (Some(Feature::Loops), zeros),
    (Some(Feature::Loops), crc),
    (Some(Feature::Loops), product),
    (Some(Feature::Loops), quotient),
    (Some(Feature::Loops), bytes),
    (Some(Feature::Arrays), moved),
    (Some(Feature::Arrays), multiword),
    (Some(Feature::Arrays), folded),
];

/// Loops around an idiom that has one.
const DEEPEST: usize = 1;

fn if_so(condition: Expr, statements: Vec<Statement>) -> Statement {
    Statement::If(condition, statements, Vec::new())
}

/// Whether a bit is set.
fn is_set(x: Expr, mask: i128) -> Expr {
    let zero = number(x.ty, 0);
    compare(Relation::NotEqual, by(Binary::And, x, mask), zero)
}

impl Generator {
    /// A loop; `None` where there are some around already.
    fn looped(&mut self, count: Count, body: Vec<Statement>) -> Option<Statement> {
        if self.loops > DEEPEST {
            return None;
        }
        let counter = self.variable(Kind::Counter);
        Some(Statement::Loop {
            counter,
            count,
            last: self.choices.percent(10),
            body,
        })
    }

    /// As often as a number has digits of so many bits, or less often.
    fn rounds(&mut self, ty: Type, digit: u32) -> Count {
        let most = (ty.scalar.bits() / digit.max(1)) as usize;
        let rounds = match self.choices.below(10) {
            0..4 => most,
            4 => most / 2,
            5 => return Count::Modulo8(self.operand(Type::UINT)),
            _ => 1 + self.choices.below(most),
        };
        Count::Fixed(u8::try_from(rounds).unwrap_or(1))
    }

    /// An array of unsigned integers: its variable, elements and length.
    fn words(&mut self) -> Option<(usize, Type, u8)> {
        let fits = |kind: Kind| matches!(kind, Kind::Array(ty, _) if !ty.scalar.is_float());
        let all = self.of_kind(fits);
        let array = self.choices.of(&all)?;
        match self.variables.get(array)?.kind {
            Kind::Array(ty, length) => Some((array, ty, length)),
            _ => None,
        }
    }
}

/// The element of an array at a number.
fn element(array: usize, at: Expr) -> Place {
    Place::Element(array, Box::new(at))
}

fn read(place: Place, ty: Type) -> Expr {
    Expr {
        ty,
        node: Node::Load(place),
    }
}

/// The digits of one number shifted out and into another one.
fn reversal(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(4);
    let ty = ty.of(ty.scalar.unsigned());
    let bits = ty.scalar.bits();
    let digit = g.choices.of_or(&[1, 1, 1, 2, 4, 8], 1).min(bits / 2);
    let mask = (1_i128 << digit) - 1;
    let from = g.operand(ty);
    let (x, first) = g.fresh(from);
    let into = match g.choices.percent(70) {
        true => number(ty, 0),
        false => g.operand(ty),
    };
    let (r, second) = g.fresh(into);
    let joint = g.joint();
    let (out, into) = match g.choices.percent(75) {
        // From below, into below: reversed. Seldom not, which moves them.
        true => (by(Binary::And, load(x, ty), mask), true),
        false => (shr(load(x, ty), bits - digit), false),
    };
    let from_below = into;
    let up = if g.choices.percent(80) {
        from_below
    } else {
        !from_below
    };
    let joined = match up {
        true => g.in_any_order(joint, shl(load(r, ty), digit), out),
        false => {
            let top = shl(out, bits - digit);
            g.in_any_order(joint, shr(load(r, ty), digit), top)
        }
    };
    let step = if from_below { Binary::Shr } else { Binary::Shl };
    let by = if g.nearly() { digit + 1 } else { digit };
    let mut body = vec![assign(r, joined), update(x, step, number(ty, by.into()))];
    if g.choices.percent(15) {
        body.swap(0, 1);
    }
    let count = g.rounds(ty, digit);
    let repeated = g.looped(count, body)?;
    let used = g.used(load(r, ty))?;
    Some(vec![first, second, repeated, used])
}

/// The number of bits that are set, or whether it is odd.
fn count(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(1);
    let from = g.operand(ty);
    let (x, first) = g.fresh(from);
    let (n, second) = g.fresh(number(ty, 0));
    let one = number(ty, 1);
    let body = match g.choices.below(3) {
        0 => {
            let low = by(Binary::And, load(x, ty), 1);
            let op = g
                .choices
                .of_or(&[Binary::Add, Binary::Add, Binary::Xor], Binary::Add);
            vec![update(n, op, low), update(x, Binary::Shr, one)]
        }
        // The lowest bit is removed until there is none.
        1 => {
            let none = compare(Relation::Equal, load(x, ty), number(ty, 0));
            let less = by(Binary::Sub, load(x, ty), 1);
            vec![
                Statement::Break(none),
                update(n, Binary::Add, one),
                update(x, Binary::And, less),
            ]
        }
        _ => {
            let more = vec![update(n, Binary::Add, one.clone())];
            let set = is_set(load(x, ty), 1);
            vec![if_so(set, more), update(x, Binary::Shr, one)]
        }
    };
    let count = g.rounds(ty, 1);
    let repeated = g.looped(count, body)?;
    let used = g.used(load(n, ty))?;
    Some(vec![first, second, repeated, used])
}

/// The number of zeros from one end on, by a loop that ends at the first one.
fn zeros(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(1);
    let from = g.operand(ty);
    let (x, first) = g.fresh(from);
    let (n, second) = g.fresh(number(ty, 0));
    let top = 1_i128 << (ty.scalar.bits() - 1);
    let (op, mask) = match g.choices.percent(50) {
        true => (Binary::Shl, top),
        false => (Binary::Shr, 1),
    };
    let zero = number(ty, 0);
    let one = number(ty, 1);
    let end = match (g.choices.percent(40), op) {
        (true, Binary::Shl) => compare(Relation::Equal, load(x, ty), zero),
        (true, _) => compare(Relation::LessEqual, load(x, ty), zero),
        _ => is_set(load(x, ty), mask),
    };
    let body = vec![
        Statement::Break(end),
        update(x, op, one.clone()),
        update(n, Binary::Add, one),
    ];
    let count = g.rounds(ty, 1);
    let repeated = g.looped(count, body)?;
    let used = g.used(load(n, ty))?;
    Some(vec![first, second, repeated, used])
}

/// A cyclic redundancy check, or a shift register with feedback.
fn crc(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(4);
    let ty = ty.of(ty.scalar.unsigned());
    let from = g.operand(ty);
    let (x, first) = g.fresh(from);
    let polynomial = Expr::constant(g.choices.value(ty));
    let down = g.choices.percent(60);
    let step = crc_step(g, &load(x, ty), &polynomial, down);
    let mut body = vec![assign(x, step)];
    if g.choices.percent(30) {
        let more = g.operand(ty);
        body.insert(0, update(x, Binary::Xor, more));
    }
    let count = match g.choices.percent(60) {
        true => Count::Fixed(8),
        false => g.rounds(ty, 1),
    };
    let repeated = g.looped(count, body)?;
    let used = g.used(load(x, ty))?;
    Some(vec![first, repeated, used])
}

/// A product by shifts and sums, with or without carries, or a power by products.
fn product(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(1);
    let ty = ty.of(ty.scalar.unsigned());
    let (from, other) = (g.operand(ty), g.operand(ty));
    let (a, first) = g.fresh(from);
    let (b, second) = g.fresh(other);
    let power = g.choices.percent(30);
    let (r, third) = g.fresh(number(ty, power.into()));
    let op = match power {
        true => Binary::Mul,
        false => g.choices.of_or(&[Binary::Add, Binary::Xor], Binary::Add),
    };
    let set = is_set(load(b, ty), 1);
    let added = vec![update(r, op, load(a, ty))];
    let doubled = match power {
        true => update(a, Binary::Mul, load(a, ty)),
        false => update(a, Binary::Shl, number(ty, 1)),
    };
    let body = vec![
        if_so(set, added),
        doubled,
        update(b, Binary::Shr, number(ty, 1)),
    ];
    let count = g.rounds(ty, 1);
    let repeated = g.looped(count, body)?;
    let used = g.used(load(r, ty))?;
    Some(vec![first, second, third, repeated, used])
}

/// A quotient and a remainder, bit by bit.
fn quotient(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(1);
    let ty = ty.of(ty.scalar.unsigned());
    let top = ty.scalar.bits() - 1;
    let (from, divisor) = (g.operand(ty), g.operand_or_constant(ty));
    let (x, first) = g.fresh(from);
    let (d, second) = g.fresh(divisor);
    let (r, third) = g.fresh(number(ty, 0));
    let high = shr(load(x, ty), top);
    let fits = compare(Relation::GreaterEqual, load(r, ty), load(d, ty));
    let taken = vec![
        update(r, Binary::Sub, load(d, ty)),
        update(x, Binary::Or, number(ty, 1)),
    ];
    let body = vec![
        assign(r, bin(Binary::Or, shl(load(r, ty), 1), high)),
        update(x, Binary::Shl, number(ty, 1)),
        if_so(fits, taken),
    ];
    let count = g.rounds(ty, 1);
    let repeated = g.looped(count, body)?;
    let sum = bin(Binary::Xor, load(r, ty), load(x, ty));
    let used = g.used(sum)?;
    Some(vec![first, second, third, repeated, used])
}

/// The bytes of a number, by shifts by a multiple of the counter.
fn bytes(g: &mut Generator) -> Option<Vec<Statement>> {
    let ty = g.integer_type(2);
    let ty = ty.of(ty.scalar.unsigned());
    let x = g.operand(ty);
    let (r, first) = g.fresh(number(ty, 0));
    let digit = g.choices.of_or(&[4, 8, 8], 8).min(ty.scalar.bits() / 2);
    let counter = g.variable(Kind::Counter);
    let at = by(Binary::Mul, load(counter, Type::UINT), digit.into());
    let at = match ty.is_vector() {
        true => {
            let node = Node::Build(vec![super::terms::converted(at, ty.element())]);
            Expr { ty, node }
        }
        false => super::terms::converted(at, ty),
    };
    let mask = (1_i128 << digit) - 1;
    let byte = by(Binary::And, bin(Binary::Shr, x, at.clone()), mask);
    let joined = match g.choices.below(3) {
        0 => bin(Binary::Or, shl(load(r, ty), digit), byte),
        1 => bin(Binary::Or, load(r, ty), bin(Binary::Shl, byte, at)),
        _ => bin(Binary::Add, load(r, ty), byte),
    };
    if g.loops > DEEPEST {
        return None;
    }
    let repeated = Statement::Loop {
        counter,
        count: g.rounds(ty, digit),
        last: false,
        body: vec![assign(r, joined)],
    };
    let used = g.used(load(r, ty))?;
    Some(vec![first, repeated, used])
}

/// Elements of an array copied, filled or turned round.
fn moved(g: &mut Generator) -> Option<Vec<Statement>> {
    let (array, ty, length) = g.words()?;
    if g.loops > DEEPEST {
        return None;
    }
    let counter = g.variable(Kind::Counter);
    let at = || load(counter, Type::UINT);
    let place = |at: Expr| element(array, at);
    let value = g.operand_or_constant(ty);
    let step = i128::try_from(1 + g.choices.below(2)).ok()?;
    let body = match g.choices.below(4) {
        0 => vec![Statement::Assign(place(at()), value)],
        1 => {
            let next = read(place(by(Binary::Add, at(), step)), ty);
            vec![Statement::Assign(place(at()), next)]
        }
        2 => {
            let down = bin(Binary::Sub, number(Type::UINT, length.into()), at());
            let before = read(place(by(Binary::Sub, down.clone(), step)), ty);
            vec![Statement::Assign(place(down), before)]
        }
        _ => {
            let opposite = bin(
                Binary::Sub,
                number(Type::UINT, i128::from(length) - 1),
                at(),
            );
            let (kept, first) = g.fresh(read(place(at()), ty));
            vec![
                first,
                Statement::Assign(place(at()), read(place(opposite.clone()), ty)),
                Statement::Assign(place(opposite), load(kept, ty)),
            ]
        }
    };
    let count = match g.choices.below(3) {
        0 => length,
        1 => length - 1,
        _ => length / 2,
    };
    Some(vec![Statement::Loop {
        counter,
        count: Count::Fixed(count),
        last: false,
        body,
    }])
}

/// A number of many words, the elements of an array: added to, shifted or multiplied, with what goes from word to word.
fn multiword(g: &mut Generator) -> Option<Vec<Statement>> {
    let (array, ty, length) = g.words()?;
    if ty.is_vector() || g.loops > DEEPEST {
        return None;
    }
    let counter = g.variable(Kind::Counter);
    let place = element(array, load(counter, Type::UINT));
    let of = ty.of(ty.scalar.unsigned());
    let word = super::terms::cast(read(place.clone(), ty), of);
    let start = g.operand(of);
    let (c, first) = g.fresh(start);
    let back = |value: Expr| super::terms::cast(value, ty);
    let body = match g.choices.below(2) {
        0 => {
            let (s, sum) = g.fresh(bin(Binary::Add, word, load(c, of)));
            let less = compare(Relation::Less, load(s, of), load(c, of));
            let carry = super::terms::bit(less, of);
            let stored = Statement::Assign(place, back(load(s, of)));
            vec![sum, assign(c, carry), stored]
        }
        _ => {
            let n = g.amount(of);
            let (s, kept) = g.fresh(word);
            let shifted = bin(Binary::Or, shl(load(s, of), n), load(c, of));
            let out = shr(load(s, of), of.scalar.bits() - n);
            let stored = Statement::Assign(place, back(shifted));
            vec![kept, stored, assign(c, out)]
        }
    };
    let repeated = Statement::Loop {
        counter,
        count: Count::Fixed(length),
        last: false,
        body,
    };
    let used = g.used(load(c, of))?;
    Some(vec![first, repeated, used])
}

/// The sum, the smallest or the largest element of an array, or a polynomial of them.
fn folded(g: &mut Generator) -> Option<Vec<Statement>> {
    let (array, ty, length) = g.words()?;
    if g.loops > DEEPEST {
        return None;
    }
    let counter = g.variable(Kind::Counter);
    let one = read(element(array, load(counter, Type::UINT)), ty);
    let start = g.operand_or_constant(ty);
    let (r, first) = g.fresh(start);
    let body = match g.choices.below(4) {
        0 => vec![update(r, Binary::Add, one)],
        1 => {
            let relation = g
                .choices
                .of_or(&[Relation::Less, Relation::Greater], Relation::Less);
            let better = compare(relation, one.clone(), load(r, ty));
            vec![assign(r, pick(better, one, load(r, ty)))]
        }
        2 => {
            let c = Expr::constant(g.choices.value(ty));
            let product = bin(Binary::Mul, load(r, ty), c);
            vec![assign(r, bin(Binary::Add, product, one))]
        }
        _ => {
            let op = g
                .choices
                .of_or(&[Builtin::AddSat, Builtin::Max, Builtin::Min], Builtin::Max);
            vec![assign(r, call(op, vec![load(r, ty), one])?)]
        }
    };
    let repeated = Statement::Loop {
        counter,
        count: Count::Fixed(length),
        last: false,
        body,
    };
    let used = g.used(load(r, ty))?;
    Some(vec![first, repeated, used])
}
