//! Idioms: what programs write for operations that the language has no operator for, which compilers recognise by
//! their pattern.
//!
//! An idiom is a tree like any other. A table has what makes one, of a type that is asked for; many of them are off by one
//! place, sign or operand now and then, so that they only look like what a compiler knows.

mod bits;
mod floats;
mod loops;
mod products;
mod sequences;
mod shifts;
mod sums;
mod terms;
mod words;

use super::Generator;
use crate::ast::{Binary, Expr, Kind, Node, Place, Statement};
use crate::features::Feature;
use crate::types::{Type, Value};

/// Makes an expression of a type, if there is one of the idiom.
type Maker = fn(&mut Generator, Type) -> Option<Expr>;

/// Makes statements.
type Sequence = fn(&mut Generator) -> Option<Vec<Statement>>;

/// Tries to find a maker for a type.
const TRIES: usize = 4;

impl Generator {
    /// An idiom of a type.
    pub(super) fn idiom(&mut self, ty: Type) -> Option<Expr> {
        let tables: &[&[(Option<Feature>, Maker)]] = match ty.scalar.is_float() {
            true => &[&floats::MAKERS],
            false => &[
                &shifts::MAKERS,
                &bits::MAKERS,
                &sums::MAKERS,
                &products::MAKERS,
                &words::MAKERS,
            ],
        };
        for _ in 0..TRIES {
            let table = self.choices.of(tables)?;
            let (needs, make) = self.choices.of(table)?;
            if needs.is_none_or(|feature| self.has(feature))
                && let Some(made) = make(self, ty)
            {
                return Some(made);
            }
        }
        None
    }

    /// Statements that are an idiom, and what they compute added to a variable.
    pub(super) fn idioms(&mut self) -> Vec<Statement> {
        for _ in 0..TRIES {
            let table: &[(Option<Feature>, Sequence)] = match self.choices.percent(65) {
                true => &loops::MAKERS,
                false => &sequences::MAKERS,
            };
            if let Some((needs, make)) = self.choices.of(table)
                && needs.is_none_or(|feature| self.has(feature))
                && let Some(made) = make(self)
            {
                return made;
            }
        }
        Vec::new()
    }

    /// What an idiom is of: something that is read, mostly.
    fn operand(&mut self, ty: Type) -> Expr {
        let leaf = self.leaf(ty);
        if !self.choices.percent(20) {
            return leaf;
        }
        let op = self.operator(ty.scalar);
        let other = self.leaf(ty);
        terms::bin(op, leaf, other)
    }

    /// A variable, or a constant sometimes.
    fn operand_or_constant(&mut self, ty: Type) -> Expr {
        match self.choices.percent(30) {
            true => Expr::constant(self.choices.value(ty)),
            false => self.operand(ty),
        }
    }

    /// A number of bits to shift by, not 0.
    fn amount(&mut self, ty: Type) -> u32 {
        let bits = ty.scalar.bits();
        let whole = [8, 16, 32, bits / 2, bits - 1, 1];
        if self.choices.percent(30) {
            let some = self.choices.of_or(&whole, 1);
            return some.min(bits - 1);
        }
        let below = self.choices.below(bits as usize - 1);
        u32::try_from(below).unwrap_or(0) + 1
    }

    /// Amounts to shift by, mostly equal in all lanes.
    fn amounts(&mut self, ty: Type) -> Value {
        let one = self.amount(ty);
        if ty.is_vector() && self.choices.percent(30) {
            return Value::from_fn(ty, |_| self.amount(ty).into());
        }
        Value::splat(ty, one.into())
    }

    /// Whether an idiom is to be one that only looks like it.
    fn nearly(&mut self) -> bool {
        self.choices.percent(18)
    }

    /// What joins bits that do not overlap.
    fn joint(&mut self) -> Binary {
        self.choices.of_or(
            &[Binary::Or, Binary::Or, Binary::Add, Binary::Xor],
            Binary::Or,
        )
    }

    /// Two operands in any order.
    fn in_any_order(&mut self, op: Binary, a: Expr, b: Expr) -> Expr {
        match self.choices.percent(50) {
            true => terms::bin(op, a, b),
            false => terms::bin(op, b, a),
        }
    }

    /// The unsigned type of equal size mostly, or the type itself.
    fn mostly_unsigned(&mut self, ty: Type) -> Type {
        match self.choices.percent(75) {
            true => ty.of(ty.scalar.unsigned()),
            false => ty,
        }
    }

    /// A statement that adds a value to what a variable has.
    fn used(&mut self, value: Expr) -> Option<Statement> {
        let (place, ty) = self.target()?;
        let value = self.adapted(value, ty);
        Some(match ty.scalar.is_float() {
            true => Statement::Assign(place, value),
            false => Statement::Update(place, Binary::Xor, value),
        })
    }

    /// An integer type with at most so many lanes that the program has, or `uint`.
    fn integer_type(&mut self, lanes: u8) -> Type {
        let fits = |ty: &Type| !ty.scalar.is_float() && ty.lanes <= lanes;
        let all: Vec<Type> = self.palette.iter().copied().filter(fits).collect();
        let ty = self.choices.of_or(&all, Type::UINT);
        match self.choices.percent(60) {
            true => ty.of(ty.scalar.unsigned()),
            false => ty,
        }
    }

    /// A new variable with its value.
    fn fresh(&mut self, value: Expr) -> (usize, Statement) {
        let variable = self.variable(Kind::Plain(value.ty));
        (variable, terms::assign(variable, value))
    }

    /// A place of a lane.
    fn lane(variable: usize, lane: usize) -> Option<Place> {
        Some(Place::Lane(variable, u8::try_from(lane).ok()?))
    }

    /// A lane that is read.
    fn lane_of(variable: usize, lane: usize, ty: Type) -> Option<Expr> {
        let node = Node::Load(Self::lane(variable, lane)?);
        let ty = ty.element();
        Some(Expr { ty, node })
    }
}
