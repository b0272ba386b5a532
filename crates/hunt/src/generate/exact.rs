//! Functions of floats whose results are exact.

use super::Generator;
use crate::ast::{Binary, Builtin, Expr, Node};
use crate::types::{Scalar, Type, Value};

/// Results of the type of the arguments.
const FLOATS: [Builtin; 22] = [
    Builtin::Fract,
    Builtin::Fract,
    Builtin::FractWhole,
    Builtin::Modf,
    Builtin::ModfWhole,
    Builtin::Frexp,
    Builtin::Ldexp,
    Builtin::Logb,
    Builtin::Nextafter,
    Builtin::Copysign,
    Builtin::Fmin,
    Builtin::Fmax,
    Builtin::Maxmag,
    Builtin::Minmag,
    Builtin::Fmod,
    Builtin::Remainder,
    Builtin::Remquo,
    Builtin::Fdim,
    Builtin::Sign,
    Builtin::Round,
    Builtin::Fma,
    Builtin::Bitselect,
];

/// Results that are an `int` for each lane.
const INTS: [Builtin; 3] = [
    Builtin::FrexpExponent,
    Builtin::Ilogb,
    Builtin::RemquoQuotient,
];

/// Results that are truth values.
const TRUTHS: [Builtin; 14] = [
    Builtin::Isnan,
    Builtin::Isinf,
    Builtin::Isfinite,
    Builtin::Isnormal,
    Builtin::Signbit,
    Builtin::Isequal,
    Builtin::Isnotequal,
    Builtin::Isgreater,
    Builtin::Isgreaterequal,
    Builtin::Isless,
    Builtin::Islessequal,
    Builtin::Islessgreater,
    Builtin::Isordered,
    Builtin::Isunordered,
];

impl Generator {
    /// How often such a function has a result of a type.
    pub(super) fn exactness(&self, ty: Type) -> usize {
        let floats = self.palette.iter().any(|ty| ty.scalar.is_float());
        match ty.scalar {
            scalar if scalar.is_float() => 16,
            Scalar::Int if floats => 7,
            scalar if floats && ty.is_vector() && scalar.is_signed() => 4,
            _ => 0,
        }
    }

    /// A call with a result of a type.
    pub(super) fn exact(&mut self, ty: Type, depth: usize) -> Option<Node> {
        if ty.scalar.is_float() {
            let builtin = self.choices.of(&FLOATS)?;
            return Some(self.exact_of(builtin, ty, depth));
        }
        let floats = self.palette.iter().map(|ty| ty.scalar);
        let floats: Vec<Scalar> = floats.filter(|scalar| scalar.is_float()).collect();
        if ty.scalar == Scalar::Int && self.choices.percent(50) {
            let of = ty.of(self.choices.of(&floats)?);
            let builtin = self.choices.of(&INTS)?;
            return Some(self.exact_of(builtin, of, depth));
        }
        // Comparisons of scalars are of type `int`, of vectors of the size of their elements.
        let fits = |scalar: &Scalar| ty.of(*scalar).truth() == ty;
        let floats: Vec<Scalar> = floats.into_iter().filter(fits).collect();
        let of = ty.of(self.choices.of(&floats)?);
        let builtin = self.choices.of(&TRUTHS)?;
        Some(self.exact_of(builtin, of, depth))
    }

    /// A call with arguments of a type.
    fn exact_of(&mut self, builtin: Builtin, of: Type, depth: usize) -> Node {
        let mut arguments = vec![self.expr(of, depth)];
        let more = match builtin {
            Builtin::Fma | Builtin::Bitselect => 2,
            Builtin::Ldexp => {
                arguments.push(self.power(of.of(Scalar::Int), depth));
                0
            }
            Builtin::Nextafter
            | Builtin::Copysign
            | Builtin::Fmin
            | Builtin::Fmax
            | Builtin::Maxmag
            | Builtin::Minmag
            | Builtin::Fmod
            | Builtin::Remainder
            | Builtin::Remquo
            | Builtin::RemquoQuotient
            | Builtin::Fdim
            | Builtin::Isequal
            | Builtin::Isnotequal
            | Builtin::Isgreater
            | Builtin::Isgreaterequal
            | Builtin::Isless
            | Builtin::Islessequal
            | Builtin::Islessgreater
            | Builtin::Isordered
            | Builtin::Isunordered => 1,
            _ => 0,
        };
        for _ in 0..more {
            arguments.push(match self.choices.percent(25) {
                true => Expr::constant(self.choices.value(of)),
                false => self.expr(of, depth),
            });
        }
        Node::Call(builtin, arguments)
    }

    /// A power of two that makes little of a number seldom.
    fn power(&mut self, ty: Type, depth: usize) -> Expr {
        let power = self.expr(ty, depth);
        if self.choices.percent(25) {
            return power;
        }
        let mask = self.choices.of_or(&[7, 31, 31, 255], 31);
        let low = self.masked(power, mask);
        let half = Expr::constant(Value::splat(ty, mask / 2));
        Expr {
            ty,
            node: Node::Binary(Binary::Sub, Box::new(low), Box::new(half)),
        }
    }
}
