//! Built-in functions.

use super::{Expr, Node};

/// Built-in functions. Those of floats that have a second result are two functions here, one for each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are those of OpenCL C")]
pub enum Builtin {
    Abs,
    AbsDiff,
    AddSat,
    SubSat,
    Hadd,
    Rhadd,
    Clz,
    Popcount,
    MadHi,
    MadSat,
    MulHi,
    Min,
    Max,
    Rotate,
    Upsample,
    Mul24,
    Bitselect,
    Select,
    Shuffle,
    Shuffle2,
    Any,
    All,
    Fma,
    Fabs,
    Floor,
    Ceil,
    Trunc,
    Rint,
    Round,
    Isnan,
    Isinf,
    Isfinite,
    Isnormal,
    Signbit,
    Isequal,
    Isnotequal,
    Isgreater,
    Isgreaterequal,
    Isless,
    Islessequal,
    Islessgreater,
    Isordered,
    Isunordered,
    Fract,
    FractWhole,
    Modf,
    ModfWhole,
    Frexp,
    FrexpExponent,
    Ldexp,
    Ilogb,
    Logb,
    Nextafter,
    Copysign,
    Fmin,
    Fmax,
    Maxmag,
    Minmag,
    Fmod,
    Remainder,
    Remquo,
    RemquoQuotient,
    Fdim,
    Sign,
}

/// What is replaced in an argument, as the function leaves open what it makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guard {
    /// Nothing.
    None,
    /// NaN, by 0.
    Number,
    /// NaN and infinities, by 0.
    Finite,
    /// NaN, infinities and 0, by 1.
    Divisor,
    /// NaN, infinities and what is too small for all digits, by 0.
    Normal,
}

impl Builtin {
    /// The name in OpenCL C, or that of a function that calls it for one of its results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::AbsDiff => "abs_diff",
            Self::AddSat => "add_sat",
            Self::SubSat => "sub_sat",
            Self::Hadd => "hadd",
            Self::Rhadd => "rhadd",
            Self::Clz => "clz",
            Self::Popcount => "popcount",
            Self::MadHi => "mad_hi",
            Self::MadSat => "mad_sat",
            Self::MulHi => "mul_hi",
            Self::Min => "min",
            Self::Max => "max",
            Self::Rotate => "rotate",
            Self::Upsample => "upsample",
            Self::Mul24 => "mul24",
            Self::Bitselect => "bitselect",
            Self::Select => "select",
            Self::Shuffle => "shuffle",
            Self::Shuffle2 => "shuffle2",
            Self::Any => "any",
            Self::All => "all",
            Self::Fma => "fma",
            Self::Fabs => "fabs",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Trunc => "trunc",
            Self::Rint => "rint",
            Self::Round => "round",
            Self::Isnan => "isnan",
            Self::Isinf => "isinf",
            Self::Isfinite => "isfinite",
            Self::Isnormal => "isnormal",
            Self::Signbit => "signbit",
            Self::Isequal => "isequal",
            Self::Isnotequal => "isnotequal",
            Self::Isgreater => "isgreater",
            Self::Isgreaterequal => "isgreaterequal",
            Self::Isless => "isless",
            Self::Islessequal => "islessequal",
            Self::Islessgreater => "islessgreater",
            Self::Isordered => "isordered",
            Self::Isunordered => "isunordered",
            Self::Fract => "fract_part",
            Self::FractWhole => "fract_whole",
            Self::Modf => "modf_part",
            Self::ModfWhole => "modf_whole",
            Self::Frexp => "frexp_part",
            Self::FrexpExponent => "frexp_exponent",
            Self::Ldexp => "ldexp",
            Self::Ilogb => "ilogb",
            Self::Logb => "logb",
            Self::Nextafter => "nextafter",
            Self::Copysign => "copysign",
            Self::Fmin => "fmin",
            Self::Fmax => "fmax",
            Self::Maxmag => "maxmag",
            Self::Minmag => "minmag",
            Self::Fmod => "fmod",
            Self::Remainder => "remainder",
            Self::Remquo => "remquo_rest",
            Self::RemquoQuotient => "remquo_quotient",
            Self::Fdim => "fdim",
            Self::Sign => "sign",
        }
    }

    /// What is replaced in an argument.
    #[must_use]
    pub fn guard(self, argument: usize, value: &Expr) -> Guard {
        if !value.ty.scalar.is_float() {
            return Guard::None;
        }
        match (self, argument) {
            // The result for a NaN that signals is open. What programs read as it is has none.
            (Self::Fmin | Self::Fmax | Self::Maxmag | Self::Minmag, _) => match value.node {
                Node::Input(..) | Node::Table(..) | Node::Scalar(_) | Node::Constant(_) => {
                    Guard::None
                }
                _ => Guard::Number,
            },
            (Self::Copysign, 1) | (Self::Nextafter | Self::Signbit | Self::Bitselect, _) => {
                Guard::Number
            }
            (
                Self::Fract
                | Self::FractWhole
                | Self::Modf
                | Self::ModfWhole
                | Self::Frexp
                | Self::FrexpExponent
                | Self::Fmod
                | Self::Remainder
                | Self::Remquo
                | Self::RemquoQuotient,
                0,
            ) => Guard::Finite,
            (Self::Fmod | Self::Remainder | Self::Remquo | Self::RemquoQuotient, _)
            | (Self::Ilogb | Self::Logb, _) => Guard::Divisor,
            _ => Guard::None,
        }
    }

    /// Whether 0 is added to the result, as the sign of a zero is open.
    #[must_use]
    pub const fn is_neutral(self) -> bool {
        matches!(
            self,
            Self::Fract
                | Self::FractWhole
                | Self::Modf
                | Self::ModfWhole
                | Self::Frexp
                | Self::Nextafter
                | Self::Fmin
                | Self::Fmax
                | Self::Maxmag
                | Self::Minmag
                | Self::Fmod
                | Self::Remainder
                | Self::Remquo
                | Self::Fdim
        )
    }

    /// Functions of OpenCL C with a second result: what calls them for one of both, without the name and the type.
    #[must_use]
    pub const fn wrapped(self) -> Option<&'static str> {
        Some(match self {
            Self::Fract => "(T x) { T whole; return fract(x, &whole); }",
            Self::FractWhole => "(T x) { T whole; fract(x, &whole); return whole; }",
            Self::Modf => "(T x) { T whole; return modf(x, &whole); }",
            Self::ModfWhole => "(T x) { T whole; modf(x, &whole); return whole; }",
            Self::Frexp => "(T x) { I exponent; return frexp(x, &exponent); }",
            Self::FrexpExponent => "(T x) { I exponent; frexp(x, &exponent); return exponent; }",
            Self::Remquo => "(T x, T y) { I q; return remquo(x, y, &q); }",
            // Of the quotient the sign and seven bits are defined.
            Self::RemquoQuotient => {
                "(T x, T y) { I q; remquo(x, y, &q); return select(q & 127, -(-q & 127), q < 0); }"
            }
            _ => return None,
        })
    }
}
