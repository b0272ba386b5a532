//! The soft-float library against exact sums and products, in every rounding mode.

#![allow(clippy::unwrap_used)] // tests

use proptest::prelude::*;
use rustc_apfloat::Round;
use visakit_oracle::float::{Format, Real};

fn single(bits: u32) -> Real {
    Real {
        format: Format::Single,
        bits: bits.into(),
    }
}

/// Whether a result is the correctly rounded exact value: the next number in the direction.
fn is_rounded(result: Real, exact: f64, round: Round) -> bool {
    let value = result.to_f64();
    let bits = u32::try_from(result.bits).unwrap();
    let neighbour = |up: bool| {
        let f = f32::from_bits(bits);
        f64::from(if up { f.next_up() } else { f.next_down() })
    };
    match round {
        Round::TowardPositive => value >= exact && neighbour(false) < exact,
        Round::TowardNegative => value <= exact && neighbour(true) > exact,
        Round::TowardZero => {
            value.abs() <= exact.abs() && neighbour(exact > 0.0).abs() > exact.abs()
        }
        _ => {
            let distance = (value - exact).abs();
            distance <= (neighbour(true) - exact).abs()
                && distance <= (neighbour(false) - exact).abs()
        }
    }
}

const ROUNDS: [Round; 4] = [
    Round::NearestTiesToEven,
    Round::TowardPositive,
    Round::TowardNegative,
    Round::TowardZero,
];

proptest! {
    #[test]
    fn products_and_fused_sums(a in 0x3000_0000u32..0x4f00_0000, b in 0x3000_0000u32..0x4f00_0000, flip: bool) {
        let b = if flip { b | 0x8000_0000 } else { b };
        let (x, y) = (single(a), single(b));
        // A product of two 24-bit numbers is exact in binary64.
        let exact = x.to_f64() * y.to_f64();
        for round in ROUNDS {
            prop_assert!(is_rounded(x.mul(y, round), exact, round));
            let zero = Format::Single.zero();
            prop_assert_eq!(x.mul_add(y, zero, round), x.mul(y, round));
        }
        // Ties go to even: the host does that.
        let host = f32::from_bits(a) * f32::from_bits(b);
        prop_assert_eq!(x.mul(y, Round::NearestTiesToEven).bits, u64::from(host.to_bits()));
    }

    #[test]
    fn sums(a in 0x3f00_0000u32..0x4700_0000, b in 0x3f00_0000u32..0x4700_0000, flip: bool) {
        let b = if flip { b | 0x8000_0000 } else { b };
        let (x, y) = (single(a), single(b));
        // Exponents are near enough for an exact sum in binary64.
        let exact = x.to_f64() + y.to_f64();
        prop_assume!(exact != 0.0);
        for round in ROUNDS {
            prop_assert!(is_rounded(x.add(y, round), exact, round));
        }
    }

    #[test]
    fn conversions(bits: u64) {
        let double = Real { format: Format::Double, bits };
        let host = f64::from_bits(bits);
        let narrow = double.to(Format::Single, Round::NearestTiesToEven);
        if host.is_nan() {
            prop_assert!(narrow.is_nan());
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "rounding is the point")]
            let cast = host as f32;
            prop_assert_eq!(narrow.bits, u64::from(cast.to_bits()));
        }
    }

    #[test]
    fn the_host_computes_the_same(a: u64, b: u64, c: u64) {
        let real = |bits| Real { format: Format::Double, bits };
        let host = |bits| f64::from_bits(bits);
        let nearest = Round::NearestTiesToEven;
        let same = |soft: Real, hard: f64| {
            if hard.is_nan() { soft.is_nan() } else { soft.bits == hard.to_bits() }
        };
        prop_assert!(same(real(a).add(real(b), nearest), host(a) + host(b)));
        prop_assert!(same(real(a).mul(real(b), nearest), host(a) * host(b)));
        prop_assert!(same(real(a).div(real(b), nearest), host(a) / host(b)));
        prop_assert!(same(
            real(a).mul_add(real(b), real(c), nearest),
            host(a).mul_add(host(b), host(c))
        ));
    }
}
