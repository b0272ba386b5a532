//! Powers, logarithms to the base of 2, sines and cosines, without branches, so that loops over lanes become vector
//! code.
//!
//! Arguments are numbers of single or half precision in double; results are within three units in the last place of
//! double, so that rounding them to single is almost always correct (a test compares all of a sample of singles with
//! the host's functions). Unlike those, they are the same on every host.

use std::f64::consts::LN_2;

/// Added to a number of up to 51 bits, this leaves its integral part in the low bits, rounded to nearest even.
pub const INTEGRAL: f64 = 6_755_399_441_055_744.0;

/// Bits of the mantissa of a double, and the exponent of 1.
const MANTISSA: u32 = 52;
const BIAS: u64 = 1023;

/// Coefficients of 2^x: powers of ln 2 divided by factorials. The first term left out is below 2^-57 for |x| <= 1/2.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
pub const EXP2: [f64; 14] = {
    let mut terms = [1.0; 14];
    let mut n = 1;
    while n < terms.len() {
        terms[n] = terms[n - 1] * LN_2 / n as f64;
        n += 1;
    }
    terms
};

/// Coefficients of atanh(s) / s in powers of s^2: 1, 1/3, 1/5 and so on. The first term left out is below 2^-65 for
/// |s| <= 3 - sqrt(8), which is (m - 1) / (m + 1) for m = sqrt(2).
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
pub const ATANH: [f64; 12] = {
    let mut terms = [1.0; 12];
    let mut n = 1;
    while n < terms.len() {
        terms[n] = 1.0 / (2 * n + 1) as f64;
        n += 1;
    }
    terms
};

/// 2^x and 2^-x are infinite and 0 as singles for this and larger x.
pub const FARTHEST: f64 = 200.0;

/// The mantissas whose logarithms are computed begin with this one, the square root of 1/2.
pub const LEAST: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// What atanh(s) is multiplied by for a logarithm to the base of 2.
pub const PER_LOG2: f64 = 2.0 / LN_2;

/// Coefficients of sin(r) / r and of cos(r) in powers of r^2: signed reciprocals of factorials. The first terms left
/// out are below 2^-54 of the result for |r| <= pi / 4.
pub const SIN: [f64; 8] = alternating(1.0);
/// As [`SIN`].
pub const COS: [f64; 9] = alternating(0.0);

/// 1 / first!, -1 / (first + 2)! and so on.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn alternating<const N: usize>(first: f64) -> [f64; N] {
    let mut terms = [1.0; N];
    let mut n = 1;
    while n < N {
        let last = first + 2.0 * n as f64;
        terms[n] = -terms[n - 1] / (last * (last - 1.0));
        n += 1;
    }
    terms
}

/// Quarters of a turn in a radian.
pub const PER_QUARTER: f64 = std::f64::consts::FRAC_2_PI;

/// A quarter of a turn in radians, as a sum. The product of the first two and a number of up to 22 bits is exact.
pub const QUARTER: [f64; 3] = {
    let whole = std::f64::consts::FRAC_PI_2;
    let first = f64::from_bits(whole.to_bits() & !((1 << 23) - 1));
    [first, whole - first, 6.123_233_995_736_766e-17]
};

/// Sines and cosines of larger numbers are computed by the host.
pub const FAR: f32 = 4_194_304.0;

/// A polynomial, by Horner's rule.
#[cfg_attr(not(debug_assertions), inline(always))]
fn polynomial<const N: usize>(terms: [f64; N], x: f64) -> f64 {
    terms
        .into_iter()
        .rev()
        .fold(0.0, |sum, term| sum * x + term)
}

/// 2^x: for doubles by the host, for singles and halves by the function below.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn exp2(double: bool, x: f64) -> f64 {
    if double { x.exp2() } else { exp2_single(x) }
}

/// The logarithm of x, likewise.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn log2(double: bool, x: f64) -> f64 {
    if double { x.log2() } else { log2_single(x) }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn exp2_single(x: f64) -> f64 {
    let near = if x > FARTHEST { FARTHEST } else { x };
    let near = if near < -FARTHEST { -FARTHEST } else { near };
    let shifted = near + INTEGRAL;
    let rest = near - (shifted - INTEGRAL);
    let scale = f64::from_bits((BIAS << MANTISSA).wrapping_add(shifted.to_bits() << MANTISSA));
    let result = polynomial(EXP2, rest) * scale;
    if x.is_nan() { quiet(x) } else { result }
}

/// A NaN as arithmetic returns it.
#[cfg_attr(not(debug_assertions), inline(always))]
fn quiet(x: f64) -> f64 {
    x + x
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn log2_single(x: f64) -> f64 {
    // x is 2^exponent * m, and m between sqrt(1/2) and sqrt(2).
    let above = x.to_bits().wrapping_sub(LEAST.to_bits());
    let exponent = above >> MANTISSA << MANTISSA;
    let m = f64::from_bits(x.to_bits().wrapping_sub(exponent));
    // An exponent with a sign as a double: its low bits are those of an integer that was shifted there.
    let exponent = f64::from_bits(INTEGRAL.to_bits().wrapping_add(signed(above))) - INTEGRAL;
    let s = (m - 1.0) / (m + 1.0);
    let result = exponent + s * (polynomial(ATANH, s * s) * PER_LOG2);
    let result = if x == f64::INFINITY { x } else { result };
    let result = if x < 0.0 { f64::NAN } else { result };
    let result = if x == 0.0 { f64::NEG_INFINITY } else { result };
    if x.is_nan() { quiet(x) } else { result }
}

/// |x| to the power of y, likewise.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn power(double: bool, x: f64, y: f64) -> f64 {
    if double {
        x.abs().powf(y)
    } else {
        power_single(x, y)
    }
}

/// The logarithm's error is that of the result times 150 at most: 2^-45.
#[cfg_attr(not(debug_assertions), inline(always))]
fn power_single(x: f64, y: f64) -> f64 {
    let result = exp2_single(y * log2_single(x.abs()));
    let result = if y.is_nan() { quiet(y) } else { result };
    let result = if x.is_nan() { quiet(x) } else { result };
    // Even of what is no number.
    if y == 0.0 || x.abs() == 1.0 {
        1.0
    } else {
        result
    }
}

/// sin(x), likewise, and NaN for doubles of a single's or half's value beyond [`FAR`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn sin(double: bool, x: f64) -> f64 {
    if double { x.sin() } else { sin_single(x, 0) }
}

/// cos(x), likewise.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn cos(double: bool, x: f64) -> f64 {
    if double { x.cos() } else { sin_single(x, 1) }
}

/// The sine of the sum of a number and some quarters of a turn.
#[cfg_attr(not(debug_assertions), inline(always))]
fn sin_single(x: f64, quarters: u64) -> f64 {
    let shifted = x * PER_QUARTER + INTEGRAL;
    let n = shifted - INTEGRAL;
    let [first, second, third] = QUARTER;
    let rest = x - n * first - n * second - n * third;
    let square = rest * rest;
    let sin = (polynomial(SIN, square) * rest).to_bits();
    let cos = polynomial(COS, square).to_bits();
    // Odd quarters exchange the two; the second half of a turn has the other sign.
    let quarters = shifted.to_bits().wrapping_add(quarters);
    let odd = 0u64.wrapping_sub(quarters & 1);
    let result = f64::from_bits((sin ^ (sin ^ cos) & odd) ^ quarters >> 1 << 63);
    if x.abs() <= FAR.into() {
        result
    } else {
        f64::NAN
    }
}

/// The upper 12 bits as a number with a sign.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn signed(bits: u64) -> u64 {
    // A logical shift and a bias, as older vector units shift numbers of 64 bits without sign only.
    let bias = 1 << (63 - MANTISSA);
    ((bits >> MANTISSA) ^ bias).wrapping_sub(bias)
}

/// Inverse square roots: those of doubles, rounded to single.
///
/// Roots and quotients of doubles take hosts longer than a step of Newton's method from those of singles, which ends at
/// the same single for each number. It is done in stages, of which the compiler makes vectors.
#[expect(clippy::indexing_slicing, reason = "lanes below N")]
#[expect(clippy::cast_possible_truncation, reason = "results are rounded")]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn inverse_roots<const N: usize>(x: [f32; N]) -> [f32; N] {
    let mut near = [0.0; N];
    for lane in 0..N {
        near[lane] = 1.0 / x[lane].sqrt();
    }
    let mut exact = [0.0; N];
    for lane in 0..N {
        let (x, y) = (f64::from(x[lane]), f64::from(near[lane]));
        let error = 1.0 - x * y * y;
        exact[lane] = y + y * error * (0.5 + 0.375 * error);
    }
    let mut result = [0.0; N];
    for lane in 0..N {
        let rounded = exact[lane] as f32;
        // Of zeros and infinities no step can be taken.
        result[lane] = if rounded.is_nan() {
            near[lane]
        } else {
            rounded
        };
    }
    result
}

/// Inverse square roots of doubles.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn inverse_roots_of_doubles<const N: usize>(x: [f64; N]) -> [f64; N] {
    x.map(|x| 1.0 / x.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Singles, spread over all there are.
    fn singles(step: usize) -> impl Iterator<Item = f32> {
        (0..=u32::MAX).step_by(step).map(f32::from_bits)
    }

    #[expect(clippy::cast_possible_truncation, reason = "results are rounded")]
    fn compare(step: usize, ours: fn(f64) -> f64, host: fn(f64) -> f64) -> usize {
        singles(step)
            .filter(|&x| {
                let (a, b) = (ours(x.into()) as f32, host(x.into()) as f32);
                assert!(
                    a == b || a.is_nan() && b.is_nan() || a.to_bits().abs_diff(b.to_bits()) == 1,
                    "{x:e}: {a:e} {b:e}"
                );
                a.to_bits() != b.to_bits() && !a.is_nan()
            })
            .count()
    }

    /// A sine where it is computed here.
    fn near(quarters: u64, x: f64, far: fn(f64) -> f64) -> f64 {
        match x.abs() <= FAR.into() {
            true => sin_single(x, quarters),
            false => far(x),
        }
    }

    #[test]
    fn rounded_as_the_functions_of_the_host() {
        for (name, ours, host) in [
            (
                "exp2",
                exp2_single as fn(f64) -> f64,
                f64::exp2 as fn(f64) -> f64,
            ),
            ("log2", log2_single, f64::log2),
            ("sin", |x| near(0, x, f64::sin), f64::sin),
            ("cos", |x| near(1, x, f64::cos), f64::cos),
        ] {
            let differ = compare(4099, ours, host);
            assert_eq!(differ, 0, "{name}");
        }
    }

    fn assert_inverse_root(x: f32) {
        let [got] = inverse_roots([x]);
        #[expect(clippy::cast_possible_truncation, reason = "results are rounded")]
        let expected = (1.0 / f64::from(x).sqrt()) as f32;
        let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
        assert!(same, "{x:e}: {got:e} {expected:e}");
    }

    /// Some of each exponent, those at its ends, what is no number, and some whose results are nearly between two singles.
    #[test]
    fn inverse_roots_are_those_of_doubles() {
        let ends =
            (0..512u32).flat_map(|upper| [0, 1, 2].map(|less| (upper << 23).wrapping_sub(less)));
        let between = [0x0011_3e07, 0x0044_f81c, 0x0109_f038].into_iter();
        let chosen = ends.chain(between).map(f32::from_bits);
        singles(4099).chain(chosen).for_each(assert_inverse_root);
    }

    #[test]
    fn powers_are_rounded_as_those_of_the_host() {
        let mut random = 1u64;
        let mut single = |exponents: u32| {
            random = random.wrapping_mul(6_364_136_223_846_793_005) + 1;
            let exponent = 127 - exponents / 2 + (random >> 60) as u32 % exponents;
            f32::from_bits(exponent << 23 | (random >> 32) as u32 & 0x7f_ffff)
        };
        let differ = (0..200_000).filter(|n| {
            let (x, y) = (f64::from(single(16)), f64::from(single(8)));
            let y = if n % 2 == 0 { y } else { -y };
            #[expect(clippy::cast_possible_truncation, reason = "results are rounded")]
            let [ours, host] = [power_single(x, y), x.powf(y)].map(|z| z as f32);
            ours.to_bits() != host.to_bits()
        });
        assert_eq!(differ.count(), 0);
    }

    /// All of them: `cargo test --release -p visakit-internal-exec -- --ignored every_single`.
    #[test]
    #[ignore = "takes minutes"]
    fn every_single() {
        for (name, ours, host, most) in [
            (
                "exp2",
                exp2_single as fn(f64) -> f64,
                f64::exp2 as fn(f64) -> f64,
                8,
            ),
            ("log2", log2_single, f64::log2, 8),
            ("sin", |x| near(0, x, f64::sin), f64::sin, 8),
            ("cos", |x| near(1, x, f64::cos), f64::cos, 8),
        ] {
            let differ = compare(1, ours, host);
            assert!(differ <= most, "{name}: {differ}");
        }
        singles(1).for_each(assert_inverse_root);
    }

    #[test]
    fn special_values() {
        for (x, result) in [
            (0.0, 1.0),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, 0.0),
            (3.0, 8.0),
            (-1.0, 0.5),
        ] {
            #[expect(clippy::cast_possible_truncation, reason = "results are rounded")]
            let single = exp2_single(x) as f32;
            assert_eq!(f64::from(single), result, "{x}");
        }
        for (x, result) in [
            (0.0, f64::NEG_INFINITY),
            (-0.0, f64::NEG_INFINITY),
            (f64::INFINITY, f64::INFINITY),
            (1.0, 0.0),
            (8.0, 3.0),
            (f64::from(f32::from_bits(1)), -149.0),
        ] {
            assert_eq!(log2_single(x), result, "{x}");
        }
        for (x, y, result) in [
            (0.0, 0.0, 1.0),
            (0.0, 2.5, 0.0),
            (0.0, -2.5, f64::INFINITY),
            (1.0, f64::INFINITY, 1.0),
            (1.0, f64::NAN, 1.0),
            (f64::NAN, 0.0, 1.0),
            (f64::INFINITY, 0.5, f64::INFINITY),
            (f64::INFINITY, -0.5, 0.0),
            (0.5, f64::INFINITY, 0.0),
            (0.5, f64::NEG_INFINITY, f64::INFINITY),
            (2.0, -149.0, f64::from(f32::from_bits(1))),
            (3.0, 4.0, 81.0),
            (3.0, 1e3, f64::INFINITY),
        ] {
            #[expect(clippy::cast_possible_truncation, reason = "results are rounded")]
            let single = power_single(x, y) as f32;
            assert_eq!(f64::from(single), result, "{x}^{y}");
        }
        assert!(power_single(f64::NAN, 2.0).is_nan() && power_single(2.0, f64::NAN).is_nan());
        assert_eq!(sin_single(-0.0, 0).to_bits(), (-0f64).to_bits());
        assert_eq!((sin_single(0.0, 0), sin_single(0.0, 1)), (0.0, 1.0));
        assert!(sin_single(f64::from(FAR) * 2.0, 0).is_nan() && sin_single(f64::NAN, 1).is_nan());
        assert!(log2_single(-1.0).is_nan() && log2_single(f64::NEG_INFINITY).is_nan());
        assert!(log2_single(f64::NAN).is_nan() && exp2_single(f64::NAN).is_nan());
    }
}
