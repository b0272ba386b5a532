//! Floating-point numbers in six formats, computed by a soft-float library.
//!
//! Nothing here uses the host's arithmetic, except for functions without an exact definition
//! (exponentials, sines), which are compared with a tolerance.

use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use std::cmp::Ordering;

/// A floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `hf`, binary16.
    Half,
    /// `bf`, the upper half of binary32.
    Brain,
    /// `f`, binary32.
    Single,
    /// `df`, binary64.
    Double,
    /// `bf8`: five exponent bits, two mantissa bits.
    Quarter,
    /// `hf8`: four exponent bits, three mantissa bits, no infinities.
    FineQuarter,
}

/// A number in a format, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Real {
    /// Format of the bits.
    pub format: Format,
    /// Bits, in the lowest places.
    pub bits: u64,
}

/// The three formats that arithmetic is done in; `bf` computes in `f`.
macro_rules! in_format {
    ($format:expr, $ty:ident => $body:expr) => {
        match $format {
            Format::Half => {
                type $ty = Half;
                $body
            }
            Format::Brain => {
                type $ty = BFloat;
                $body
            }
            Format::Single => {
                type $ty = Single;
                $body
            }
            Format::Double => {
                type $ty = Double;
                $body
            }
            Format::Quarter => {
                type $ty = Float8E5M2;
                $body
            }
            Format::FineQuarter => {
                type $ty = Float8E4M3FN;
                $body
            }
        }
    };
}

fn bits_of<T: Float>(value: T) -> u64 {
    u64::try_from(value.to_bits()).unwrap_or(u64::MAX)
}

impl Format {
    /// Size in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Quarter | Self::FineQuarter => 1,
            Self::Half | Self::Brain => 2,
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    const fn sign(self) -> u64 {
        1 << (self.size() * 8 - 1)
    }

    /// The number of mantissa bits that are stored.
    #[must_use]
    pub const fn mantissa(self) -> u32 {
        match self {
            Self::Quarter => 2,
            Self::FineQuarter => 3,
            Self::Half => 10,
            Self::Brain => 7,
            Self::Single => 23,
            Self::Double => 52,
        }
    }

    /// One in this format.
    #[must_use]
    pub const fn one(self) -> Real {
        let bits = match self {
            Self::Quarter => 0x3c,
            Self::FineQuarter => 0x38,
            Self::Half => 0x3c00,
            Self::Brain => 0x3f80,
            Self::Single => 0x3f80_0000,
            Self::Double => 0x3ff0_0000_0000_0000,
        };
        Real { format: self, bits }
    }

    /// Positive zero.
    #[must_use]
    pub const fn zero(self) -> Real {
        Real {
            format: self,
            bits: 0,
        }
    }

    /// A quiet NaN.
    #[must_use]
    pub const fn nan(self) -> Real {
        let bits = match self {
            Self::Quarter => 0x7e,
            Self::FineQuarter => 0x7f,
            Self::Half => 0x7e00,
            Self::Brain => 0x7fc0,
            Self::Single => 0x7fc0_0000,
            Self::Double => 0x7ff8_0000_0000_0000,
        };
        Real { format: self, bits }
    }

    /// The integer nearest in this format under `round`.
    #[must_use]
    pub fn of_integer(self, value: i128, round: Round) -> Real {
        let bits = in_format!(self, T => bits_of(T::from_i128_r(value, round).value));
        Real { format: self, bits }
    }
}

impl Real {
    /// From the host's double, rounded once, ties to even.
    #[must_use]
    pub fn from_f64(value: f64, format: Format) -> Self {
        let double = Self {
            format: Format::Double,
            bits: value.to_bits(),
        };
        double.to(format, Round::NearestTiesToEven)
    }

    /// As the host's double, exactly.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        f64::from_bits(self.to(Format::Double, Round::NearestTiesToEven).bits)
    }

    /// In another format, rounded once.
    #[must_use]
    pub fn to(self, format: Format, round: Round) -> Self {
        if format == self.format {
            return self;
        }
        let mut lossy = false;
        let bits = in_format!(self.format, S => {
            let value = S::from_bits(self.bits.into());
            match format {
                Format::Half => {
                    let v: Half = value.convert_r(round, &mut lossy).value;
                    bits_of(v)
                }
                Format::Brain => {
                    let v: BFloat = value.convert_r(round, &mut lossy).value;
                    bits_of(v)
                }
                Format::Single => {
                    let v: Single = value.convert_r(round, &mut lossy).value;
                    bits_of(v)
                }
                Format::Double => {
                    let v: Double = value.convert_r(round, &mut lossy).value;
                    bits_of(v)
                }
                Format::Quarter => {
                    let v: Float8E5M2 = value.convert_r(round, &mut lossy).value;
                    bits_of(v)
                }
                Format::FineQuarter => {
                    let v: Float8E4M3FN = value.convert_r(round, &mut lossy).value;
                    bits_of(v)
                }
            }
        });
        Self { format, bits }
    }

    /// Whether it is not a number.
    #[must_use]
    pub fn is_nan(self) -> bool {
        in_format!(self.format, T => T::from_bits(self.bits.into()).is_nan())
    }

    /// Whether it is infinite.
    #[must_use]
    pub fn is_infinite(self) -> bool {
        in_format!(self.format, T => T::from_bits(self.bits.into()).is_infinite())
    }

    /// Whether it is zero of either sign.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.bits & !self.format.sign() == 0
    }

    /// Whether the sign bit is set.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.bits & self.format.sign() != 0
    }

    /// Whether it is below the smallest normal number and not zero.
    #[must_use]
    pub fn is_denormal(self) -> bool {
        in_format!(self.format, T => T::from_bits(self.bits.into()).is_denormal())
    }

    /// Zero of the same sign instead of a denormal.
    #[must_use]
    pub fn flushed(self) -> Self {
        if self.is_denormal() {
            self.with_bits(self.bits & self.format.sign())
        } else {
            self
        }
    }

    const fn with_bits(self, bits: u64) -> Self {
        Self {
            format: self.format,
            bits,
        }
    }

    /// Absolute value, NaNs included.
    #[must_use]
    pub const fn abs(self) -> Self {
        self.with_bits(self.bits & !self.format.sign())
    }

    /// Negation, NaNs included.
    #[must_use]
    pub const fn neg(self) -> Self {
        self.with_bits(self.bits ^ self.format.sign())
    }

    /// Sum.
    #[must_use]
    pub fn add(self, other: Self, round: Round) -> Self {
        self.binary(other, |a, b| {
            in_format!(self.format, T => {
                bits_of(T::from_bits(a).add_r(T::from_bits(b), round).value)
            })
        })
    }

    /// Product.
    #[must_use]
    pub fn mul(self, other: Self, round: Round) -> Self {
        self.binary(other, |a, b| {
            in_format!(self.format, T => {
                bits_of(T::from_bits(a).mul_r(T::from_bits(b), round).value)
            })
        })
    }

    /// Quotient.
    #[must_use]
    pub fn div(self, other: Self, round: Round) -> Self {
        self.binary(other, |a, b| {
            in_format!(self.format, T => {
                bits_of(T::from_bits(a).div_r(T::from_bits(b), round).value)
            })
        })
    }

    /// Product and sum, rounded once.
    #[must_use]
    pub fn mul_add(self, factor: Self, addend: Self, round: Round) -> Self {
        let bits = in_format!(self.format, T => {
            let a = T::from_bits(self.bits.into());
            let b = T::from_bits(factor.bits.into());
            let c = T::from_bits(addend.bits.into());
            bits_of(a.mul_add_r(b, c, round).value)
        });
        self.with_bits(bits)
    }

    fn binary(self, other: Self, f: impl Fn(u128, u128) -> u64) -> Self {
        debug_assert_eq!(self.format, other.format);
        self.with_bits(f(self.bits.into(), other.bits.into()))
    }

    /// The nearest integer in the direction of `round`, as a number of the same format.
    #[must_use]
    pub fn round_to_integral(self, round: Round) -> Self {
        let bits = in_format!(self.format, T => {
            bits_of(T::from_bits(self.bits.into()).round_to_integral(round).value)
        });
        self.with_bits(bits)
    }

    /// The integer of [`Self::round_to_integral`], saturated to 100 bits; `None` for NaN.
    #[must_use]
    pub fn to_integer(self, round: Round) -> Option<i128> {
        if self.is_nan() {
            return None;
        }
        let mut exact = false;
        Some(in_format!(self.format, T => {
            T::from_bits(self.bits.into()).to_i128_r(100, round, &mut exact).value
        }))
    }

    /// IEEE order; `None` if one is NaN.
    #[must_use]
    pub fn order(self, other: Self) -> Option<Ordering> {
        in_format!(self.format, T => {
            T::from_bits(self.bits.into()).partial_cmp(&T::from_bits(other.bits.into()))
        })
    }

    /// Place on the line of all numbers of the format, for distances in units of the last place.
    #[must_use]
    pub fn place(self) -> i128 {
        let magnitude = i128::from(self.bits & !self.format.sign());
        if self.is_negative() {
            -magnitude
        } else {
            magnitude
        }
    }
}
