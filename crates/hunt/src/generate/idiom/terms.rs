//! Terms that idioms are made of.

use crate::arithmetic;
use crate::ast::{Binary, Builtin, Expr, Node, Place, Relation, Statement, Unary};
use crate::types::{Scalar, Type, Value};

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

/// An operator of two operands of one type.
pub(super) fn bin(op: Binary, a: Expr, b: Expr) -> Expr {
    Expr {
        ty: a.ty,
        node: Node::Binary(op, boxed(a), boxed(b)),
    }
}

pub(super) fn not(a: Expr) -> Expr {
    Expr {
        ty: a.ty,
        node: Node::Unary(Unary::Not, boxed(a)),
    }
}

pub(super) fn negated(a: Expr) -> Expr {
    Expr {
        ty: a.ty,
        node: Node::Unary(Unary::Negate, boxed(a)),
    }
}

/// An integer in all lanes, modulo the size.
pub(super) fn number(ty: Type, number: i128) -> Expr {
    Expr::constant(Value::splat(ty, ty.scalar.wrap(number)))
}

/// A float in all lanes.
pub(super) fn real(ty: Type, number: f64) -> Expr {
    Expr::constant(Value::splat(ty, arithmetic::rounded(ty.scalar, number)))
}

/// The operator with a number on the right.
pub(super) fn by(op: Binary, a: Expr, right: i128) -> Expr {
    let right = number(a.ty, right);
    bin(op, a, right)
}

pub(super) fn shl(a: Expr, by: u32) -> Expr {
    self::by(Binary::Shl, a, by.into())
}

pub(super) fn shr(a: Expr, by: u32) -> Expr {
    self::by(Binary::Shr, a, by.into())
}

/// A comparison.
pub(super) fn compare(relation: Relation, a: Expr, b: Expr) -> Expr {
    Expr {
        ty: a.ty.truth(),
        node: Node::Compare(relation, boxed(a), boxed(b)),
    }
}

/// One of two by a comparison of values of as many lanes and equal size.
pub(super) fn pick(condition: Expr, yes: Expr, no: Expr) -> Expr {
    let ty = yes.ty;
    let node = match ty.is_vector() {
        true => Node::Call(Builtin::Select, vec![no, yes, condition]),
        false => Node::Choose(boxed(condition), boxed(yes), boxed(no)),
    };
    Expr { ty, node }
}

/// A comparison as 0 or 1.
pub(super) fn bit(condition: Expr, ty: Type) -> Expr {
    match ty.is_vector() {
        true => by(Binary::And, cast(condition, ty), 1),
        false => converted(condition, ty),
    }
}

/// A conversion that wraps.
pub(super) fn converted(a: Expr, ty: Type) -> Expr {
    if a.ty == ty {
        return a;
    }
    Expr {
        ty,
        node: Node::Convert(false, boxed(a)),
    }
}

/// The bits as another type of equal size.
pub(super) fn cast(a: Expr, ty: Type) -> Expr {
    if a.ty == ty {
        return a;
    }
    Expr {
        ty,
        node: Node::As(boxed(a)),
    }
}

/// A built-in function whose result has the type of the first argument.
pub(super) fn call(builtin: Builtin, arguments: Vec<Expr>) -> Option<Expr> {
    let ty = arguments.first()?.ty;
    let node = Node::Call(builtin, arguments);
    Some(Expr { ty, node })
}

/// Lanes of a vector.
pub(super) fn swizzled(a: Expr, lanes: Vec<u8>) -> Expr {
    let ty = Type {
        lanes: u8::try_from(lanes.len()).unwrap_or(1),
        scalar: a.ty.scalar,
    };
    let node = Node::Swizzle(boxed(a), lanes);
    Expr { ty, node }
}

/// A vector of elements.
pub(super) fn built(parts: Vec<Expr>) -> Option<Expr> {
    let ty = Type {
        lanes: u8::try_from(parts.len()).ok()?,
        ..parts.first()?.ty
    };
    let node = Node::Build(parts);
    Some(Expr { ty, node })
}

/// A number whose digits of so many bits alternate between none and all of them, from all on.
pub(super) fn alternating(scalar: Scalar, bits: u32) -> i128 {
    let digit = (1_i128 << bits) - 1;
    let digits = (0..scalar.bits()).step_by(2 * bits.max(1) as usize);
    digits.fold(0, |mask, at| mask | digit << at)
}

/// A number that repeats a byte.
pub(super) fn repeated(scalar: Scalar, byte: i128) -> i128 {
    let bytes = (0..scalar.bits()).step_by(8);
    bytes.fold(0, |all, at| all | byte << at)
}

/// A variable that is read.
pub(super) fn load(variable: usize, ty: Type) -> Expr {
    Expr {
        ty,
        node: Node::Load(Place::Variable(variable)),
    }
}

/// A variable that is assigned.
pub(super) fn assign(variable: usize, value: Expr) -> Statement {
    Statement::Assign(Place::Variable(variable), value)
}

/// A variable that is changed.
pub(super) fn update(variable: usize, op: Binary, value: Expr) -> Statement {
    Statement::Update(Place::Variable(variable), op, value)
}
