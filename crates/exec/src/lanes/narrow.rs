//! Formats of few bits: elements of systolic products and conversions.

use super::exact::{Narrow, Rounding};
use half::{bf16, f16};
use std::fmt::{self, Display, Formatter};
use visakit_isa::enums::{PRECISION, precision as p};

/// Elements of a precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Signed(u32),
    Unsigned(u32),
    Half,
    BFloat,
    Tf32,
    Bf8,
    Hf8,
    E2m1,
}

impl Display for Format {
    /// Its name in texts.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut all = PRECISION.entries.iter();
        let own = all.find(|(code, _)| Self::of(*code) == Some(*self));
        f.write_str(own.map_or("", |(_, name)| name))
    }
}

impl Format {
    pub(crate) fn of(code: u8) -> Option<Self> {
        Some(match code {
            p::U1 => Self::Unsigned(1),
            p::S1 => Self::Signed(1),
            p::U2 => Self::Unsigned(2),
            p::S2 => Self::Signed(2),
            p::U4 => Self::Unsigned(4),
            p::S4 => Self::Signed(4),
            p::U8 => Self::Unsigned(8),
            p::S8 => Self::Signed(8),
            p::BF => Self::BFloat,
            p::HF => Self::Half,
            p::BF8 => Self::Bf8,
            p::TF32 => Self::Tf32,
            p::HF8 => Self::Hf8,
            p::E2M1 => Self::E2m1,
            _ => return None,
        })
    }

    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::Signed(bits) | Self::Unsigned(bits) => bits,
            Self::Half | Self::BFloat => 16,
            Self::Tf32 => 32,
            Self::Bf8 | Self::Hf8 => 8,
            Self::E2m1 => 4,
        }
    }

    pub(crate) const fn is_integer(self) -> bool {
        matches!(self, Self::Signed(_) | Self::Unsigned(_))
    }

    /// Elements that are integers, exactly.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn integers<const N: usize>(self, bits: [u32; N]) -> [f32; N] {
        let shift = match self {
            Self::Signed(width) => 32 - width,
            _ => 0,
        };
        let mut values = [0.0; N];
        for (to, bits) in values.iter_mut().zip(bits) {
            *to = ((bits << shift) as i32 >> shift) as f32;
        }
        values
    }

    /// Elements as floats, exactly.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn floats<const N: usize>(self, bits: [u32; N]) -> [f64; N] {
        // The format is the same for all, so each has a loop of its own.
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn each<const N: usize>(bits: [u32; N], value: impl Fn(u32) -> f64) -> [f64; N] {
            let mut values = [0.0; N];
            for (to, bits) in values.iter_mut().zip(bits) {
                *to = value(bits);
            }
            values
        }
        match self {
            Self::Half => each(bits, |bits| half_to_single(bits as u16).into()),
            Self::BFloat => each(bits, |bits| f64::from(f32::from_bits(bits << 16))),
            // The hardware ignores the bits below the ten of the mantissa.
            Self::Tf32 => each(bits, |bits| f64::from(f32::from_bits(bits & 0xffff_e000))),
            Self::Bf8 => each(bits, |bits| half_to_single((bits << 8) as u16).into()),
            Self::Hf8 => each(bits, |bits| f64::from(hf8(bits as u8))),
            Self::E2m1 => each(bits, |bits| {
                let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
                let value = magnitude.get((bits & 7) as usize).copied().unwrap_or(0.0);
                if bits & 8 != 0 { -value } else { value }
            }),
            Self::Signed(_) | Self::Unsigned(_) => {
                let values = self.integers(bits);
                let mut floats = [0.0; N];
                for (to, value) in floats.iter_mut().zip(values) {
                    *to = value.into();
                }
                floats
            }
        }
    }
}

/// A half as a single, without branches, so that loops over lanes become vector code. NaNs become quiet.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn half_to_single(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let magnitude = bits & 0x7fff;
    // The exponent of a single has 112 more, twice if it is that of infinities and NaNs.
    let rebiased = (magnitude << 13) + (112 << 23);
    let special = (rebiased + (112 << 23)) | if magnitude > 0x7c00 { 1 << 22 } else { 0 };
    let normal = if magnitude < 0x7c00 {
        rebiased
    } else {
        special
    };
    let small = (magnitude as f32 * 2f32.powi(-24)).to_bits();
    let magnitude = if magnitude < 0x400 { small } else { normal };
    f32::from_bits(magnitude | (bits & 0x8000) << 16)
}

/// A single as a half, rounded to nearest even, likewise.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn single_to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // Too large for the exponent after rounding: infinite.
    let rounded = magnitude.wrapping_add(0xfff + (magnitude >> 13 & 1));
    let normal = (rounded.wrapping_sub(112 << 23) >> 13).min(0x7c00);
    // Beside a half, the last bit is the smallest half.
    let small = (f32::from_bits(magnitude) + 0.5)
        .to_bits()
        .wrapping_sub(0.5f32.to_bits());
    let half = if magnitude < 0x3880_0000 {
        small
    } else {
        normal
    };
    let no_number = 0x7e00 | magnitude >> 13 & 0x3ff;
    let half = if magnitude > 0x7f80_0000 {
        no_number
    } else {
        half
    };
    (half | bits >> 16 & 0x8000) as u16
}

/// A float of eight bits with four of exponent: no infinities, all ones is NaN.
pub(crate) fn hf8(bits: u8) -> f32 {
    let sign = if bits & 0x80 != 0 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 3 & 0xf), f32::from(bits & 7));
    let magnitude = match (exponent, bits & 7) {
        (15, 7) => f32::NAN,
        (0, _) => mantissa * 2f32.powi(-9),
        _ => (8.0 + mantissa) * 2f32.powi(exponent - 10),
    };
    sign * magnitude
}

/// Converts half to that format, to nearest even; too large values become NaN.
pub(crate) fn half_to_hf8(bits: u32) -> u8 {
    let value = f16::from_bits(bits as u16).to_f32();
    let sign = if bits & 0x8000 != 0 { 0x80 } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7f;
    }
    let exponent = ((magnitude.to_bits() >> 23) as i32 - 127).max(-6);
    let units = (magnitude * 2f32.powi(3 - exponent)).round_ties_even();
    let units = if magnitude.is_infinite() { 1e9 } else { units };
    // A carry out of the mantissa moves into the exponent.
    let code = units as i64 + i64::from(exponent + 6) * 8;
    let code = if units < 8.0 && exponent == -6 {
        units as i64
    } else {
        code
    };
    if code >= 0x7f {
        sign | 0x7f
    } else {
        sign | code as u8
    }
}

/// Half to a float of eight bits with five of exponent, to nearest even.
pub(crate) fn half_to_bf8(bits: u32) -> u8 {
    let magnitude = bits & 0x7fff;
    let sign = (bits >> 8 & 0x80) as u8;
    if magnitude > 0x7c00 {
        return sign | 0x7e | (magnitude >> 8) as u8;
    }
    let rounded = magnitude + 0x7f + (magnitude >> 8 & 1);
    sign | (rounded >> 8) as u8
}

/// Float to tensor float, to nearest even; denormals become zero.
pub(crate) fn to_tf32(bits: u32) -> u32 {
    let x = f32::from_bits(bits);
    if x.is_nan() {
        return (bits | 0x0040_0000) & 0xffff_e000;
    }
    if x.is_infinite() {
        return bits;
    }
    if x.is_subnormal() {
        return bits & 0x8000_0000;
    }
    bits.wrapping_add(0xfff + (bits >> 13 & 1)) & 0xffff_e000
}

/// Converts half or brain float to a float of four bits with two of exponent, or to an integer of four bits: to nearest
/// even, too large values become the largest number. NaN, whose result is not published, becomes zero.
pub(crate) fn to_four_bits(bits: u32, brain: bool, float: bool) -> u8 {
    let value = match brain {
        true => bf16::from_bits(bits as u16).to_f32(),
        false => f16::from_bits(bits as u16).to_f32(),
    };
    if !float {
        return (value.clamp(-8.0, 7.0).round_ties_even() as i8) as u8 & 0xf;
    }
    // Halves below two, wholes below four, then every second number.
    let magnitude = value.abs();
    let code = match magnitude {
        m if m < 2.0 => (m * 2.0).round_ties_even(),
        m if m < 4.0 => 2.0 + m.round_ties_even(),
        m if m.is_nan() => return 0,
        m => 4.0 + (m.min(6.0) / 2.0).round_ties_even(),
    };
    let sign = if value.is_sign_negative() { 8 } else { 0 };
    sign | code as u8
}

/// Float to half: thirteen random bits are added to the mantissa, the sum is truncated.
pub(crate) fn srnd_float_to_half(bits: u32, random: u32) -> u32 {
    let x = f32::from_bits(bits);
    if !x.is_finite() {
        return f16::from_f32(x).to_bits().into();
    }
    let sum = f32::from_bits(bits + (random & 0x1fff));
    if sum.abs() >= 65536.0 {
        return f16::INFINITY.to_bits() as u32 | bits >> 16 & 0x8000;
    }
    let truncated = Narrow::HALF.round(f64::from(sum), Rounding::Zero, false);
    let magnitude = u32::from(f16::from_f64(truncated.abs()).to_bits());
    magnitude | bits >> 16 & 0x8000
}

/// Half to a float of eight bits: eight random bits are added to the mantissa, the sum is
/// truncated.
pub(crate) fn srnd_half_to_bf8(bits: u32, random: u32) -> u32 {
    let magnitude = bits & 0x7fff;
    let sign = bits >> 8 & 0x80;
    if magnitude >= 0x7c00 {
        return half_to_bf8(bits).into();
    }
    sign | (magnitude + (random & 0xff)) >> 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_formats() {
        assert_eq!(hf8(0x38), 1.0);
        assert_eq!(hf8(0x7e), 448.0);
        assert!(hf8(0x7f).is_nan());
        assert_eq!(hf8(0x01), 2f32.powi(-9));
        for code in 0..=0xffu8 {
            let value = hf8(code);
            let back = half_to_hf8(f16::from_f32(value).to_bits().into());
            assert!(
                back == code || value.is_nan(),
                "{code:#x} {value} {back:#x}"
            );
        }
        for code in 0..=0xffu32 {
            let value = f16::from_bits((code << 8) as u16);
            assert!(u32::from(half_to_bf8(code << 8)) == code || value.is_nan());
        }
        assert_eq!(to_tf32(1.0f32.to_bits() + 0x1000), 1.0f32.to_bits());
        assert_eq!(
            to_tf32(1.0f32.to_bits() + 0x1001),
            1.0f32.to_bits() + 0x2000
        );
        assert_eq!(srnd_float_to_half(1.0f32.to_bits() + 1, 0x1fff), 0x3c01);
        assert_eq!(srnd_float_to_half(1.0f32.to_bits() + 1, 0x1ffe), 0x3c00);
        assert_eq!(srnd_half_to_bf8(0x3c01, 0xff), 0x3d);
    }

    #[test]
    fn every_half() {
        for bits in 0..=0xffff {
            let want = f16::from_bits(bits).to_f32();
            let found = half_to_single(bits);
            assert_eq!(found.to_bits(), want.to_bits(), "{bits:#x}");
            let back = f16::from_f32(want).to_bits();
            assert_eq!(single_to_half(want), back, "{bits:#x}");
        }
    }

    #[test]
    fn singles_between_halves() {
        // Below, at and above the middle between two halves, and everything in steps.
        let ends = (0..=0xffff_u32)
            .flat_map(|n| [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff].map(|b| n << 13 | b));
        let steps = (0..u32::MAX).step_by(4099);
        for bits in ends
            .chain((0..=0x7ffff).map(|n| n << 13 | 0x1000))
            .chain(steps)
        {
            let value = f32::from_bits(bits);
            let want = f16::from_f32(value).to_bits();
            assert_eq!(single_to_half(value), want, "{bits:#x}");
        }
    }
}
