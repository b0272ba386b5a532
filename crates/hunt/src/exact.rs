//! Functions of floats whose results are exact, or rounded once, as the specification of OpenCL C defines them. What it leaves
//! open is replaced in the arguments before, and zeros have no sign in the results of some.

use crate::arithmetic::{float, rounded, truth};
use crate::ast::Builtin;
use crate::types::{Scalar, Type, Value};
use half::f16;

/// What a function computes, if it is one of these.
pub(crate) fn call(builtin: Builtin, ty: Type, arguments: [Value; 3]) -> Option<Value> {
    let [a, b, _] = arguments;
    let of = a.ty.scalar;
    if !of.is_float() {
        return None;
    }
    let pair = |lane: usize| (float(of, a.lane(lane)), float(of, b.lane(lane)));
    let relation = |holds: fn(f64, f64) -> bool| {
        Some(truth(a.ty, |lane| {
            let (x, y) = pair(lane);
            holds(x, y)
        }))
    };
    match builtin {
        Builtin::Isnan => relation(|x, _| x.is_nan()),
        Builtin::Isinf => relation(|x, _| x.is_infinite()),
        Builtin::Isfinite => relation(|x, _| x.is_finite()),
        Builtin::Signbit => relation(|x, _| x.is_sign_negative()),
        Builtin::Isequal => relation(|x, y| x == y),
        Builtin::Isnotequal => relation(|x, y| x != y),
        Builtin::Isgreater => relation(|x, y| x > y),
        Builtin::Isgreaterequal => relation(|x, y| x >= y),
        Builtin::Isless => relation(|x, y| x < y),
        Builtin::Islessequal => relation(|x, y| x <= y),
        Builtin::Islessgreater => {
            relation(|x, y| x.partial_cmp(&y).is_some_and(std::cmp::Ordering::is_ne))
        }
        Builtin::Isordered => relation(|x, y| !x.is_nan() && !y.is_nan()),
        Builtin::Isunordered => relation(|x, y| x.is_nan() || y.is_nan()),
        Builtin::Isnormal => Some(truth(a.ty, |lane| {
            let (x, _) = pair(lane);
            is_normal(of, x)
        })),
        Builtin::FrexpExponent | Builtin::Ilogb | Builtin::RemquoQuotient => {
            Some(Value::from_fn(ty, |lane| {
                let (x, y) = pair(lane);
                ty.scalar.wrap(match builtin {
                    Builtin::FrexpExponent if x == 0.0 => 0,
                    Builtin::FrexpExponent => exponent(x) + 1,
                    Builtin::Ilogb => exponent(x),
                    _ => remainder(x, y).1,
                })
            }))
        }
        Builtin::Nextafter => Some(Value::from_fn(ty, |lane| {
            let next = next(of, a.lane(lane), b.lane(lane));
            neutral(of, next)
        })),
        Builtin::Copysign => Some(Value::from_fn(ty, |lane| {
            let sign = 1_u64 << (of.bits() - 1);
            a.lane(lane) & !sign | b.lane(lane) & sign
        })),
        Builtin::Ldexp => Some(Value::from_fn(ty, |lane| {
            scaled(of, pair(lane).0, b.number(lane))
        })),
        _ => {
            let of_lane = |lane: usize| {
                let (x, y) = pair(lane);
                of_pair(builtin, of, x, y)
            };
            of_lane(0)?;
            Some(Value::from_fn(ty, |lane| {
                let bits = rounded(of, of_lane(lane).unwrap_or(0.0));
                match builtin.is_neutral() {
                    true => neutral(of, bits),
                    false => bits,
                }
            }))
        }
    }
}

/// A zero without its sign.
fn neutral(of: Scalar, bits: u64) -> u64 {
    if float(of, bits) == 0.0 { 0 } else { bits }
}

/// The result before it is rounded, which does not matter twice: it is exact but for differences.
fn of_pair(builtin: Builtin, of: Scalar, x: f64, y: f64) -> Option<f64> {
    Some(match builtin {
        Builtin::Round => x.round(),
        Builtin::Sign if x.is_nan() => 0.0,
        Builtin::Sign if x == 0.0 => x,
        Builtin::Sign => 1_f64.copysign(x),
        // Rounded as a number of the type, and below 1 then.
        Builtin::Fract => float(of, rounded(of, x - x.floor())).min(below_one(of)),
        Builtin::FractWhole => x.floor(),
        Builtin::Modf => x - x.trunc(),
        Builtin::ModfWhole => x.trunc(),
        Builtin::Frexp if x == 0.0 => 0.0,
        Builtin::Frexp => mantissa(x),
        #[allow(clippy::cast_precision_loss, reason = "a small number")]
        Builtin::Logb => exponent(x) as f64,
        Builtin::Fmin => least(x, y),
        Builtin::Fmax => most(x, y),
        Builtin::Maxmag if x.abs() > y.abs() => x,
        Builtin::Maxmag if y.abs() > x.abs() => y,
        Builtin::Maxmag => most(x, y),
        Builtin::Minmag if x.abs() < y.abs() => x,
        Builtin::Minmag if y.abs() < x.abs() => y,
        Builtin::Minmag => least(x, y),
        Builtin::Fmod => x % y,
        Builtin::Remainder | Builtin::Remquo => remainder(x, y).0,
        Builtin::Fdim if x.is_nan() || y.is_nan() => f64::NAN,
        Builtin::Fdim if x > y => x - y,
        Builtin::Fdim => 0.0,
        _ => return None,
    })
}

/// The smaller one; a number if one of them is NaN.
fn least(x: f64, y: f64) -> f64 {
    if y < x || x.is_nan() { y } else { x }
}

/// The larger one, as above.
fn most(x: f64, y: f64) -> f64 {
    if y > x || x.is_nan() { y } else { x }
}

/// The largest number below 1.
fn below_one(of: Scalar) -> f64 {
    let digits = match of {
        Scalar::Half => 11,
        Scalar::Float => 24,
        _ => 53,
    };
    1.0 - f64::from(-digits).exp2()
}

/// Whether a number is one, and has all digits.
pub(crate) fn is_normal(of: Scalar, x: f64) -> bool {
    x.is_finite() && x.abs() >= least_normal(of)
}

/// The smallest number with all digits.
fn least_normal(of: Scalar) -> f64 {
    match of {
        Scalar::Half => f16::MIN_POSITIVE.to_f64(),
        Scalar::Float => f32::MIN_POSITIVE.into(),
        _ => f64::MIN_POSITIVE,
    }
}

/// A number as a whole number of at most 53 bits times a power of two.
fn parts(x: f64) -> (u64, i128) {
    let bits = x.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match bits >> 52 & 0x7ff {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, i128::from(exponent) - 1075),
    }
}

/// The power of two of the highest digit.
fn exponent(x: f64) -> i128 {
    let (whole, power) = parts(x);
    power + i128::from(63 - whole.leading_zeros().min(63))
}

/// The number times a power of two, from 0.5 to 1.
fn mantissa(x: f64) -> f64 {
    let (whole, _) = parts(x);
    #[allow(clippy::cast_precision_loss, reason = "53 bits")]
    let whole = whole as f64;
    // Its exponent is not that of the smallest numbers.
    let power = exponent(whole) + 1;
    let down = i32::try_from(-power).map_or(1.0, |power| f64::from(power).exp2());
    (whole * down).copysign(x)
}

/// A number times a power of two, rounded once.
fn scaled(of: Scalar, x: f64, power: i128) -> u64 {
    if x == 0.0 || !x.is_finite() {
        return rounded(of, x);
    }
    let (whole, own) = parts(x);
    let power = (own + power).clamp(-4000, 4000);
    // Digits below the last one of the type, which may be that of the smallest number.
    let (digits, least) = match of {
        Scalar::Half => (11, -24),
        Scalar::Float => (24, -149),
        _ => (53, -1074),
    };
    let length = i128::from(64 - whole.leading_zeros());
    let excess = (length - digits).max(least - power).max(0);
    let kept = to_even(whole, u32::try_from(excess).unwrap_or(u32::MAX));
    #[allow(clippy::cast_precision_loss, reason = "53 bits")]
    let mut value = kept as f64;
    // Exact steps, as none of them is below what the last one comes to.
    let mut left = power + excess;
    while left != 0 && value != 0.0 && value.is_finite() {
        let step = i32::try_from(left.clamp(-500, 500)).unwrap_or(0);
        value *= f64::from(step).exp2();
        left -= i128::from(step);
    }
    rounded(of, value.copysign(x))
}

/// A number without its lowest bits, rounded to nearest even.
fn to_even(whole: u64, bits: u32) -> u64 {
    if bits == 0 {
        return whole;
    }
    let Some(kept) = whole.checked_shr(bits) else {
        return 0;
    };
    let rest = whole & ((1_u64 << bits) - 1);
    let half = 1_u64 << (bits - 1);
    kept + u64::from(rest > half || rest == half && kept & 1 != 0)
}

/// The remainder of the quotient that is rounded to nearest even, and the sign and seven bits of that.
fn remainder(x: f64, y: f64) -> (f64, i128) {
    let size = y.abs();
    // What overflows is larger than the dividend.
    let mut rest = match size * 128.0 {
        most if most.is_finite() => x.abs() % most,
        _ => x.abs(),
    };
    let mut quotient = 0_i128;
    for bit in (0..7).rev() {
        let part = size * f64::from(bit).exp2();
        if rest >= part {
            // Exact, as neither is more than twice the other.
            rest -= part;
            quotient |= 1 << bit;
        }
    }
    let twice = rest * 2.0;
    if twice > size || twice == size && quotient & 1 != 0 {
        rest -= size;
        quotient += 1;
    }
    let negative = x.is_sign_negative();
    let rest = if negative { -rest } else { rest };
    let quotient = quotient & 127;
    match negative == y.is_sign_negative() {
        true => (rest, quotient),
        false => (rest, -quotient),
    }
}

/// The number next to one in the direction of another.
fn next(of: Scalar, from: u64, to: u64) -> u64 {
    let (x, y) = (float(of, from), float(of, to));
    let sign = 1_u64 << (of.bits() - 1);
    if x.is_nan() || y.is_nan() || x == y {
        return to;
    }
    if x == 0.0 {
        return 1 | to & sign;
    }
    match (x < y) == (x > 0.0) {
        true => from + 1,
        false => from - 1,
    }
}

/// A product of halves and a sum, rounded once.
pub(crate) fn fma(p: u64, q: u64, r: u64) -> u64 {
    let of = Scalar::Half;
    let [x, y, z] = [p, q, r].map(|bits| float(of, bits));
    let near = x.mul_add(y, z);
    if near == 0.0 || !near.is_finite() {
        return rounded(of, near);
    }
    // All are whole multiples of powers of two that are small enough.
    let whole = |value: f64, power: f64| {
        #[allow(clippy::cast_possible_truncation, reason = "whole and below 2^41")]
        let whole = (value * power.exp2()) as i128;
        whole
    };
    let sum = whole(x, 24.0) * whole(y, 24.0) + (whole(z, 24.0) << 24);
    let size = sum.unsigned_abs();
    let length = 128 - size.leading_zeros();
    // Digits below the last one, which are kept as one that decides ties.
    let excess = length.saturating_sub(60);
    let kept = size >> excess;
    let sticky = u64::from(kept << excess != size);
    let kept = u64::try_from(kept).unwrap_or(u64::MAX) << 1 | sticky;
    let power = i128::from(excess) - 49;
    let least = -24;
    let digits = i128::from(64 - kept.leading_zeros());
    let below = (digits - 11).max(least - power).max(0);
    let rounded_once = to_even(kept, u32::try_from(below).unwrap_or(u32::MAX));
    #[allow(clippy::cast_precision_loss, reason = "12 bits")]
    let value = rounded_once as f64;
    let scale = i32::try_from(power + below).map_or(1.0, |power| f64::from(power).exp2());
    rounded(of, (value * scale).copysign(near))
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::float_cmp,
        reason = "numbers are small, and results exact"
    )]

    use super::*;
    use crate::choices::Choices;

    fn bits(of: Scalar, value: f64) -> u64 {
        rounded(of, value)
    }

    fn of(builtin: Builtin, scalar: Scalar, x: f64, y: f64) -> f64 {
        let ty = Type::scalar(scalar);
        let [a, b] = [x, y].map(|value| Value::splat(ty, bits(scalar, value)));
        let result = call(builtin, ty, [a, b, b]).map_or(0, |value| value.lane(0));
        float(scalar, result)
    }

    /// Edges from the text of the specification.
    #[test]
    fn edges() {
        use Builtin as B;
        use Scalar::{Double, Float, Half};
        assert_eq!(of(B::Fract, Half, -1e-6, 0.0), 0.999_511_718_75);
        assert_eq!(
            of(B::Fract, Float, -1e-30, 0.0),
            f64::from(1.0_f32.next_down())
        );
        assert_eq!(of(B::Fract, Double, -2.25, 0.0), 0.75);
        assert_eq!(of(B::FractWhole, Half, -1e-6, 0.0), -1.0);
        assert_eq!(of(B::Modf, Float, -2.25, 0.0), -0.25);
        assert_eq!(of(B::Frexp, Double, -5e-324, 0.0), -0.5);
        assert_eq!(of(B::Frexp, Half, 3.0, 0.0), 0.75);
        assert_eq!(of(B::Round, Float, -2.5, 0.0), -3.0);
        assert_eq!(of(B::Fmin, Float, f64::NAN, 2.0), 2.0);
        assert_eq!(of(B::Maxmag, Float, -3.0, 2.0), -3.0);
        assert_eq!(of(B::Minmag, Float, -3.0, 3.0), -3.0);
        assert_eq!(of(B::Fdim, Half, 1.0, 3.0), 0.0);
        assert_eq!(of(B::Logb, Half, 6e-8, 0.0), -24.0);
        assert_eq!(
            of(B::Nextafter, Float, 0.0, -1.0),
            -f64::from(f32::from_bits(1))
        );
        assert_eq!(of(B::Nextafter, Double, -1.0, 0.0), (-1_f64).next_up());
        assert_eq!(of(B::Remainder, Double, 5.0, 2.0), 1.0);
        assert_eq!(of(B::Remainder, Double, 7.0, 2.0), -1.0);
        assert_eq!(of(B::Remainder, Float, 1e10, -3.0).abs(), 1.0);
        assert_eq!(remainder(-7.0, 2.0), (1.0, -4));
        assert_eq!(remainder(1e308, 1.7e308).1, 1);
        assert_eq!(remainder(258.0, 1.0), (0.0, 2));
    }

    /// Powers of two make no difference but where numbers are smallest, where they are rounded once.
    #[test]
    fn scaling() {
        assert_eq!(scaled(Scalar::Float, 3.0, -150), bits(Scalar::Float, 3e-45));
        let odd = f64::from_bits(0x0010_0000_0000_0003);
        assert_eq!(scaled(Scalar::Double, odd, -1), 0x0008_0000_0000_0002);
        assert_eq!(scaled(Scalar::Double, 1.0, 5000), f64::INFINITY.to_bits());
        assert_eq!(scaled(Scalar::Double, -1.0, -5000), (-0.0_f64).to_bits());
        let mut choices = Choices::new(9);
        for _ in 0..20_000 {
            let x = f64::from_bits(choices.bits());
            if !x.is_finite() || x == 0.0 {
                continue;
            }
            let (m, e) = (mantissa(x), exponent(x) + 1);
            assert!((0.5..1.0).contains(&m.abs()));
            assert_eq!(scaled(Scalar::Double, m, e), x.to_bits());
            // Floats scaled in doubles are exact before they are rounded.
            let power = i32::from(choices.bits() as i8);
            let narrow = f64::from(x as f32);
            let right = narrow * f64::from(power).exp2();
            if narrow.is_finite() && narrow != 0.0 {
                let got = scaled(Scalar::Float, narrow, power.into());
                assert_eq!(got, bits(Scalar::Float, right), "{narrow:e} {power}");
            }
        }
    }

    /// Remainders of numbers of few bits, whose quotients are exact.
    #[test]
    fn remainders() {
        let mut choices = Choices::new(10);
        for _ in 0..20_000 {
            let x = (choices.bits() >> 40) as i64 - (1 << 23);
            let y = ((choices.bits() >> (44 + choices.bits() % 16)) as i64 - (1 << 8)) | 1;
            let (rest, quotient) = remainder(x as f64, y as f64);
            let whole = (x - rest as i64) / y;
            assert_eq!(whole * y + rest as i64, x);
            assert!(2 * (rest as i64).abs() <= y.abs());
            assert_eq!(i128::from(whole.abs() & 127), quotient.abs());
        }
    }

    /// Where doubles hold the sum, they are rounded once, too.
    #[test]
    fn sums_of_halves() {
        let mut choices = Choices::new(11);
        for _ in 0..50_000 {
            let [p, q, r] = [(); 3].map(|()| choices.bits() & 0xffff);
            let [x, y, z] = [p, q, r].map(|bits| float(Scalar::Half, bits));
            let sum = x * y + z;
            let got = fma(p, q, r);
            if sum.is_nan() {
                assert!(float(Scalar::Half, got).is_nan());
            } else if sum - x * y == z && sum - z == x * y {
                assert_eq!(got, bits(Scalar::Half, sum), "{x:e} {y:e} {z:e}");
            }
        }
        // 1 + 2^-11 is a tie, and what is far below decides it.
        let [one, half, tiny] = [1.0, 2_f64.powi(-11), 2_f64.powi(-24)];
        let [p, q, r] =
            [1.0 + 2_f64.powi(-10), 1.0 + half * 0.0, half].map(|v| bits(Scalar::Half, v));
        assert_eq!(fma(p, q, r), bits(Scalar::Half, 1.0 + 2_f64.powi(-9)));
        let [p, q, r] = [tiny, tiny, one].map(|v| bits(Scalar::Half, v));
        assert_eq!(fma(p, q, r), bits(Scalar::Half, 1.0));
    }
}
