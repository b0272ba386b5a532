//! Floating-point arithmetic of a lane.
//!
//! `apply` is what the host computes: round to nearest even, denormals kept. `in_mode` is the same operation
//! in the format and mode of the thread.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::convert::Compute;
use super::elementary;
use super::exact::{self, Narrow, Rounding, Tried};
use super::int::{Binary, Ternary, Unary};
use crate::operands::Precision;

/// Format and mode of an operation that the host's arithmetic does not do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exact {
    pub(crate) precision: Precision,
    pub(crate) rounding: Rounding,
    pub(crate) flush: bool,
}

impl Exact {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn narrow(self) -> Option<Narrow> {
        match self.precision {
            Precision::Half => Some(Narrow::HALF),
            Precision::BFloat => Some(Narrow::BFLOAT),
            Precision::Float => Some(Narrow::FLOAT),
            Precision::Double => None,
        }
    }

    /// A source as the operation sees it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn source(self, x: f64) -> f64 {
        match (self.flush, self.narrow()) {
            (false, _) => x,
            (true, Some(narrow)) => narrow.flush(x),
            (true, None) => exact::flush_double(x),
        }
    }

    /// A result: exact or rounded to odd for the narrow formats, already rounded for double.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn result(self, x: f64) -> f64 {
        match self.narrow() {
            Some(narrow) => narrow.round(x, self.rounding, self.flush),
            None if self.flush => exact::flush_double(x),
            None => x,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_double(self) -> bool {
        self.precision == Precision::Double
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add(self, a: f64, b: f64) -> f64 {
        if self.is_double() {
            exact::add_double(a, b, self.rounding)
        } else {
            exact::zero_sum(a, b, exact::add_odd(a, b), self.rounding)
        }
    }
}

/// The host's float types.
pub(crate) trait Real: Compute + Into<f64> {
    fn of(x: f64) -> Self;
    fn to(self) -> f64;
    fn add(self, other: Self) -> Self;
    /// Sum rounded to odd: a shorter format is given the same number as by rounding the exact sum once.
    fn add_odd(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn mul_add(self, b: Self, c: Self) -> Self;
    fn sqrt(self) -> Self;
    /// Those of doubles, rounded.
    fn inverse_roots<const N: usize>(a: [Self; N]) -> [Self; N];
    fn exp2(self) -> Self;
    fn log2(self) -> Self;
    /// Of the number without its sign.
    fn power(self, exponent: Self) -> Self;
    /// NaN far from zero, where [`Far`] has the result; so is the cosine.
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn is_nan(self) -> bool;
    /// Whether one of two is a NaN.
    fn is_unordered(self, other: Self) -> bool;
    /// The result of an invalid operation on numbers: the negative quiet NaN without a payload, as x86 has it.
    const INVALID: Self;
    /// A NaN as arithmetic returns it: quiet. Rounding to integers otherwise leaves this to the host.
    fn quiet(self) -> Self;
    /// Zero of the same sign in place of a denormal.
    fn flush(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_ties_even(self) -> Self;
}

macro_rules! real {
    ($($ty:ty, $quiet:literal, $inverse_roots:path);*) => {$(
        impl Real for $ty {
            const INVALID: Self = Self::from_bits($quiet | Self::INFINITY.to_bits() | (-0.0 as $ty).to_bits());
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn of(x: f64) -> Self {
                x as Self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn to(self) -> f64 {
                self as f64
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn add_odd(self, other: Self) -> Self {
                let sum = self + other;
                let added = sum - self;
                // What rounding took away; no number where the sum is infinite or none.
                let rest = (self - (sum - added)) + (other - added);
                let bits = sum.to_bits();
                let further = (rest.to_bits() ^ bits) >> (8 * size_of::<Self>() - 1);
                if rest.abs() > 0.0 {
                    Self::from_bits(bits.wrapping_sub(further) | 1)
                } else {
                    sum
                }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn div(self, other: Self) -> Self {
                self / other
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn mul_add(self, b: Self, c: Self) -> Self {
                <$ty>::mul_add(self, b, c)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn sqrt(self) -> Self {
                <$ty>::sqrt(self)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn inverse_roots<const N: usize>(a: [Self; N]) -> [Self; N] {
                $inverse_roots(a)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn exp2(self) -> Self {
                elementary::exp2(size_of::<Self>() > 4, self.to()) as Self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn log2(self) -> Self {
                elementary::log2(size_of::<Self>() > 4, self.to()) as Self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn power(self, exponent: Self) -> Self {
                elementary::power(size_of::<Self>() > 4, self.to(), exponent.to()) as Self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn sin(self) -> Self {
                elementary::sin(size_of::<Self>() > 4, self.to()) as Self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn cos(self) -> Self {
                elementary::cos(size_of::<Self>() > 4, self.to()) as Self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn is_nan(self) -> bool {
                <$ty>::is_nan(self)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn is_unordered(self, other: Self) -> bool {
                self.is_nan() | other.is_nan()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn quiet(self) -> Self {
                let bits = self.to_bits();
                if self.is_nan() { Self::from_bits(bits | $quiet) } else { self }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn flush(self) -> Self {
                if self.abs() < <$ty>::MIN_POSITIVE {
                    (0.0 as $ty).copysign(self)
                } else {
                    self
                }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn floor(self) -> Self {
                <$ty>::floor(self).quiet()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn ceil(self) -> Self {
                <$ty>::ceil(self).quiet()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn trunc(self) -> Self {
                <$ty>::trunc(self).quiet()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn round_ties_even(self) -> Self {
                <$ty>::round_ties_even(self).quiet()
            }
        }
    )*};
}

real!(
    f32, 0x0040_0000, elementary::inverse_roots;
    f64, 0x0008_0000_0000_0000, elementary::inverse_roots_of_doubles
);

/// Gives the lanes of results that are no numbers the bits of the first source that is none, made quiet, or of
/// [`Real::INVALID`].
///
/// Without this the host's compiler would choose which of two NaNs a sum or product keeps, and its sign: it may exchange
/// sources and move their signs.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn settle<C: Real, const N: usize, const K: usize>(
    mut results: [C; N],
    sources: [[C; N]; K],
) -> [C; N] {
    for lane in 0..N {
        let mut first = C::INVALID;
        for source in sources.iter().rev() {
            let source = source[lane];
            first = if source.is_nan() {
                source.quiet()
            } else {
                first
            };
        }
        let result = results[lane];
        results[lane] = if result.is_nan() { first } else { result };
    }
    results
}

/// Whether a lane of results is no number.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_open<C: Real, const N: usize>(results: &[C; N]) -> bool {
    // Of two lanes at a time, which is one comparison of vectors.
    let mut any = false;
    for lane in 0..N.div_ceil(2) {
        any |= results[lane].is_unordered(results[lane + N / 2]);
    }
    any
}

/// An operation of up to three sources in any mode.
pub(crate) trait InMode {
    /// Whether the operation computes; otherwise it returns one of its sources as it is.
    const COMPUTES: bool;
    /// The sources went through [`Exact::source`]; the result goes through [`Exact::result`].
    fn in_mode(exact: Exact, sources: [f64; 3]) -> f64;
    /// The operation on doubles without branches, for frequent operations.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(_: Exact, _: [f64; 3]) -> Tried {
        (0.0, u64::MAX)
    }
}

macro_rules! operations {
    ($(
        $(#[doc = $doc:literal])*
        $computes:ident $name:ident $kind:ident<$ty:ident>($($arg:ident),*) $fast:expr;
        |$exact:ident, $sources:pat_param| $slow:expr $(=> $attempt:expr)?;
    )*) => {$(
        $(#[doc = $doc])*
        pub(crate) struct $name;
        impl<$ty: Real> $kind<$ty> for $name {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn apply($($arg: $ty),*) -> $ty {
                $fast
            }
            operations!(@settle $computes $ty $($arg)*);
        }
        impl InMode for $name {
            const COMPUTES: bool = operations!(@is $computes);
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn in_mode($exact: Exact, $sources: [f64; 3]) -> f64 {
                $slow
            }
            $(
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn attempt($exact: Exact, $sources: [f64; 3]) -> Tried {
                    $attempt
                }
            )?
        }
    )*};
    (@settle computed $ty:ident $($arg:ident)*) => {
        const SETTLES: bool = true;
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn settle<const N: usize>(
            results: [$ty; N],
            sources: [[$ty; N]; [$(stringify!($arg)),*].len()],
        ) -> [$ty; N] {
            settle(results, sources)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn is_open<const N: usize>(results: &[$ty; N]) -> bool {
            is_open(results)
        }
    };
    (@settle at_once $ty:ident $arg:ident) => {
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn all<const N: usize>([a]: [[$ty; N]; 1]) -> [$ty; N] {
            $ty::inverse_roots(a)
        }
        operations!(@settle computed $ty $arg);
    };
    (@settle near $ty:ident $arg:ident) => {
        const SETTLES: bool = true;
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn settle<const N: usize>(mut results: [$ty; N], sources: [[$ty; N]; 1]) -> [$ty; N] {
            let [source] = sources;
            for (result, x) in results.iter_mut().zip(source) {
                *result = $ty::of(Self::anywhere(result.to(), x.to()));
            }
            settle(results, sources)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn is_open<const N: usize>(results: &[$ty; N]) -> bool {
            is_open(results)
        }
    };
    (@settle chosen $($any:tt)*) => {};
    (@is computed) => { true };
    (@is near) => { true };
    (@is at_once) => { true };
    (@is chosen) => { false };
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn mul(e: Exact, a: f64, b: f64) -> f64 {
    if e.is_double() {
        exact::mul_double(a, b, e.rounding)
    } else {
        a * b
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn mul_add(e: Exact, a: f64, b: f64, c: f64) -> f64 {
    if e.is_double() {
        exact::mul_add_double(a, b, c, e.rounding)
    } else {
        exact::zero_sum(a * b, c, exact::mul_add_odd(a, b, c), e.rounding)
    }
}

fn div(e: Exact, a: f64, b: f64) -> f64 {
    if e.is_double() {
        exact::div_double(a, b, e.rounding)
    } else {
        exact::div_odd(a, b)
    }
}

fn sqrt(e: Exact, a: f64) -> f64 {
    if e.is_double() {
        exact::sqrt_double(a, e.rounding)
    } else {
        exact::sqrt_odd(a)
    }
}

/// The smaller number; a NaN only if both are, then the second.
#[cfg_attr(not(debug_assertions), inline(always))]
fn minimum<C: Real>(a: C, b: C) -> C {
    if a < b || b.is_nan() && !a.is_nan() {
        a
    } else {
        b
    }
}

/// The larger number; a NaN only if both are, then the second.
#[cfg_attr(not(debug_assertions), inline(always))]
fn maximum<C: Real>(a: C, b: C) -> C {
    if a >= b || b.is_nan() && !a.is_nan() {
        a
    } else {
        b
    }
}

/// x - floor(x), below 1 even where the difference rounds to it.
#[cfg_attr(not(debug_assertions), inline(always))]
fn fraction<C: Real>(a: C) -> C {
    a.add(a.floor().neg())
}

/// An operation of which the code for vectors has no result far from zero.
trait Far {
    fn far(x: f64) -> f64;

    /// The result, of which that of the code for vectors is known.
    fn anywhere(result: f64, x: f64) -> f64 {
        if result.is_nan() {
            Self::far(x)
        } else {
            result
        }
    }
}

impl Far for Sin {
    fn far(x: f64) -> f64 {
        x.sin()
    }
}

impl Far for Cos {
    fn far(x: f64) -> f64 {
        x.cos()
    }
}

operations! {
    /// Sum.
    computed Add Binary<C>(a, b) a.add(b); |e, [a, b, _]| e.add(a, b) => exact::try_add(a, b, e.rounding);
    /// Product.
    computed Mul Binary<C>(a, b) a.mul(b); |e, [a, b, _]| mul(e, a, b) => exact::try_mul(a, b, e.rounding);
    /// Quotient.
    computed Div Binary<C>(a, b) a.div(b); |e, [a, b, _]| div(e, a, b);
    /// Fused multiply-add.
    computed Mad Ternary<C>(a, b, c) a.mul_add(b, c);
        |e, [a, b, c]| mul_add(e, a, b, c) => exact::try_mul_add(a, b, c, e.rounding);
    /// Fused multiply-add of halves, whose product is exact in single.
    computed HalfMad Ternary<C>(a, b, c) a.mul(b).add_odd(c); |e, [a, b, c]| mul_add(e, a, b, c);
    /// Smaller one.
    chosen Min Binary<C>(a, b) minimum(a, b); |_e, [a, b, _]| minimum(a, b);
    /// Larger one.
    chosen Max Binary<C>(a, b) maximum(a, b); |_e, [a, b, _]| maximum(a, b);
    /// src1 * src0 + src2 * (1 - src0).
    computed Lrp Ternary<C>(a, b, c) b.mul(a).add(c.mul(C::of(1.0).add(a.neg())));
        |e, [a, b, c]| {
            let one_less = e.result(e.add(1.0, -a));
            let (x, y) = (e.result(mul(e, b, a)), e.result(mul(e, c, one_less)));
            e.add(x, y)
        };
    /// 1 / x.
    computed Inv Unary<C>(a) C::of(1.0).div(a); |e, [a, ..]| div(e, 1.0, a);
    /// Square root.
    computed Sqrt Unary<C>(a) a.sqrt(); |e, [a, ..]| sqrt(e, a);
    /// 1 / square root.
    at_once Rsqrt Unary<C>(a) {
        let [root] = C::inverse_roots([a]);
        root
    }; |_e, [a, ..]| 1.0 / a.sqrt();
    /// 2 to the power of x.
    computed Exp Unary<C>(a) a.exp2(); |e, [a, ..]| elementary::exp2(e.is_double(), a);
    /// Logarithm to the base of 2.
    computed Log Unary<C>(a) a.log2(); |e, [a, ..]| elementary::log2(e.is_double(), a);
    /// Sine.
    near Sin Unary<C>(a) a.sin(); |e, [a, ..]| Sin::anywhere(elementary::sin(e.is_double(), a), a);
    /// Cosine.
    near Cos Unary<C>(a) a.cos(); |e, [a, ..]| Cos::anywhere(elementary::cos(e.is_double(), a), a);
    /// Hyperbolic tangent.
    computed Tanh Unary<C>(a) C::of(a.to().tanh()); |_e, [a, ..]| a.tanh();
    /// 1 / (1 + e^-x).
    computed Sigmoid Unary<C>(a) C::of(1.0 / (1.0 + (-a.to()).exp())); |_e, [a, ..]| 1.0 / (1.0 + (-a).exp());
    /// Power of the base without its sign, as the hardware has it.
    computed Pow Binary<C>(a, b) a.power(b); |e, [a, b, _]| elementary::power(e.is_double(), a, b);
    /// Fractional part.
    computed Frc Unary<C>(a) fraction(a); |e, [a, ..]| e.add(a, -a.floor());
    /// Down to an integer.
    computed Rndd Unary<C>(a) a.floor(); |_e, [a, ..]| a.floor();
    /// Up to an integer.
    computed Rndu Unary<C>(a) a.ceil(); |_e, [a, ..]| a.ceil();
    /// To the nearest integer, ties to even.
    computed Rnde Unary<C>(a) a.round_ties_even(); |_e, [a, ..]| a.round_ties_even();
    /// Towards zero to an integer.
    computed Rndz Unary<C>(a) a.trunc(); |_e, [a, ..]| a.trunc();
}

#[cfg(test)]
mod tests {
    use super::super::convert::Convert;
    use super::*;
    use half::f16;
    use proptest::prelude::*;

    /// Halves, most of them near each other or at an end of the range, where sums are rounded.
    fn half() -> impl Strategy<Value = f16> {
        prop_oneof![
            any::<u16>(),
            0x3800u16..0x4400,
            0..0x0800u16,
            0x7000..0x7c00u16
        ]
        .prop_flat_map(|bits| (Just(bits), any::<bool>()))
        .prop_map(|(bits, sign)| f16::from_bits(bits ^ u16::from(sign) << 15))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// The sum in single, rounded to odd and then to half, is the fused result.
        #[test]
        fn halves_are_fused_in_single(a in half(), b in half(), c in half()) {
            let exact = Exact {
                precision: Precision::Half,
                rounding: Rounding::NearestEven,
                flush: false,
            };
            let [x, y, z] = [a, b, c].map(f16::to_f32);
            let fast: f16 = HalfMad::apply(x, y, z).convert();
            let [x, y, z] = [a, b, c].map(f16::to_f64);
            let slow: f16 = exact.result(HalfMad::in_mode(exact, [x, y, z])).convert();
            if slow.is_nan() {
                prop_assert!(fast.is_nan());
            } else {
                prop_assert_eq!(fast.to_bits(), slow.to_bits(), "{} {} {}", a, b, c);
            }
        }
    }
}
