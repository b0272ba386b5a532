//! Elements of variables as mathematical values.

use crate::float::{Format, Real};
use rustc_apfloat::Round;
use visakit_isa::DataType;

/// The value of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// An integer, without any width.
    Integer(i128),
    /// A floating-point number.
    Real(Real),
}

/// How closely a result is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// To the bit.
    Exact,
    /// Any NaN of the format.
    AnyNan(Format),
    /// Zero, of either sign.
    AnyZero,
    /// At most this many units in the last place from the stored value.
    Ulps(u32),
    /// A difference in absolute terms, as the bits of an `f64`.
    Absolute(u64),
    /// Not at all.
    Undefined,
}

/// A result: a value and how closely it is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The value.
    pub value: Value,
    /// How closely another implementation must match it.
    pub precision: Precision,
}

impl Outcome {
    /// Defined to the bit.
    #[must_use]
    pub const fn exact(value: Value) -> Self {
        Self {
            value,
            precision: Precision::Exact,
        }
    }

    /// Not defined.
    #[must_use]
    pub const fn undefined() -> Self {
        Self {
            value: Value::Integer(0),
            precision: Precision::Undefined,
        }
    }

    /// Defined with the given precision.
    #[must_use]
    pub const fn with(value: Value, precision: Precision) -> Self {
        Self { value, precision }
    }
}

impl From<i128> for Outcome {
    fn from(value: i128) -> Self {
        Self::exact(Value::Integer(value))
    }
}

impl From<Real> for Outcome {
    fn from(value: Real) -> Self {
        Self::exact(Value::Real(value))
    }
}

/// Floating-point mode of a thread, the control register taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// Direction of rounding.
    pub round: Round,
    /// Denormals of `hf` are kept.
    pub keep_half: bool,
    /// Denormals of `f` are kept.
    pub keep_single: bool,
    /// Denormals of `df` are kept.
    pub keep_double: bool,
    /// Conversions to integers follow `round` instead of cutting off.
    pub round_integers: bool,
}

impl Mode {
    /// The mode that a value of the control register asks for.
    #[must_use]
    pub const fn of_control(cr0: u32) -> Self {
        Self {
            round: match cr0 >> 4 & 3 {
                0 => Round::NearestTiesToEven,
                1 => Round::TowardPositive,
                2 => Round::TowardNegative,
                _ => Round::TowardZero,
            },
            keep_double: cr0 & 1 << 6 != 0,
            keep_single: cr0 & 1 << 7 != 0,
            keep_half: cr0 & 1 << 10 != 0,
            round_integers: cr0 & 1 << 12 != 0,
        }
    }

    /// Whether denormals of this format are kept.
    #[must_use]
    pub const fn keeps(self, format: Format) -> bool {
        match format {
            Format::Half => self.keep_half,
            Format::Single | Format::Brain => self.keep_single,
            Format::Double => self.keep_double,
            Format::Quarter | Format::FineQuarter => true,
        }
    }

    /// Zero instead of a denormal where the mode says so.
    #[must_use]
    pub fn settle(self, value: Real) -> Real {
        if self.keeps(value.format) {
            value
        } else {
            value.flushed()
        }
    }
}

/// The format of a floating-point type.
#[must_use]
pub const fn format_of(ty: DataType) -> Option<Format> {
    match ty {
        DataType::Hf => Some(Format::Half),
        DataType::Bf => Some(Format::Brain),
        DataType::F | DataType::Vf => Some(Format::Single),
        DataType::Df => Some(Format::Double),
        _ => None,
    }
}

/// Whether an integer type has negative values.
#[must_use]
pub const fn is_signed(ty: DataType) -> bool {
    matches!(
        ty,
        DataType::D | DataType::W | DataType::B | DataType::Q | DataType::V
    )
}

/// Smallest and largest value of an integer type.
#[must_use]
pub fn range(ty: DataType) -> (i128, i128) {
    let bits = u32::from(ty.size()) * 8;
    if is_signed(ty) {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    }
}

/// Decodes the bits of a type.
#[must_use]
pub fn decode(bits: u64, ty: DataType) -> Value {
    if let Some(format) = format_of(ty) {
        return Value::Real(Real { format, bits });
    }
    let value = i128::from(bits);
    let (_, high) = range(ty);
    if is_signed(ty) && value > high {
        Value::Integer(value - (1i128 << (u32::from(ty.size()) * 8)))
    } else {
        Value::Integer(value)
    }
}

/// The low bits of an integer.
#[must_use]
pub fn truncate(value: i128, bytes: u8) -> u64 {
    let mask = if bytes >= 8 {
        u64::MAX
    } else {
        (1u64 << (8 * u32::from(bytes))) - 1
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the low bits are asked for
    let low = value as u64;
    low & mask
}

/// Converts a result to a type: the bits, and how closely they are defined.
#[must_use]
pub fn encode(outcome: Outcome, ty: DataType, saturate: bool, mode: Mode) -> (u64, Precision) {
    let precision = outcome.precision;
    if precision == Precision::Undefined {
        return (0, precision);
    }
    match (outcome.value, format_of(ty)) {
        (Value::Integer(value), None) => {
            let (low, high) = range(ty);
            let value = if saturate {
                value.clamp(low, high)
            } else {
                value
            };
            (truncate(value, ty.size()), precision)
        }
        (Value::Integer(value), Some(format)) => {
            real(format.of_integer(value, mode.round), saturate, precision)
        }
        (Value::Real(value), None) => integer(value, ty, saturate, mode, precision),
        (Value::Real(value), Some(format)) => {
            if value.format == format {
                return real(value, saturate, precision);
            }
            let narrow = value.to(format, mode.round);
            let doubtful = (value.is_denormal() && !mode.keeps(value.format))
                || (narrow.is_denormal() && !mode.keeps(format));
            if doubtful {
                // It is unspecified whether conversions flush.
                return (narrow.bits, Precision::Undefined);
            }
            real(narrow, saturate, precision)
        }
    }
}

fn real(value: Real, saturate: bool, precision: Precision) -> (u64, Precision) {
    if !saturate {
        let precision = match precision {
            Precision::Exact if value.is_nan() => Precision::AnyNan(value.format),
            other => other,
        };
        return (value.bits, precision);
    }
    if value.is_nan() {
        return (0, precision);
    }
    let one = value.format.one();
    if value.is_zero() {
        return (0, Precision::AnyZero);
    }
    if value.is_negative() {
        let precision = if precision == Precision::Exact {
            Precision::AnyZero
        } else {
            precision
        };
        return (0, precision);
    }
    if value.order(one) == Some(std::cmp::Ordering::Greater) {
        return (one.bits, precision);
    }
    (value.bits, precision)
}

fn integer(
    value: Real,
    ty: DataType,
    saturate: bool,
    mode: Mode,
    precision: Precision,
) -> (u64, Precision) {
    let round = if mode.round_integers {
        mode.round
    } else {
        Round::TowardZero
    };
    let (low, high) = range(ty);
    let Some(whole) = value.to_integer(round) else {
        return (0, precision);
    };
    if whole < low && low == 0 && !saturate {
        // The table of conversions defines no integer for these.
        return (0, Precision::Undefined);
    }
    (truncate(whole.clamp(low, high), ty.size()), precision)
}
