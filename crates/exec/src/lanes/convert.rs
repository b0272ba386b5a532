//! Element types and the conversions between them.

use super::narrow::{half_to_single, single_to_half};
use crate::operands::Modify;
use bytemuck::Pod;
use half::{bf16, f16};
use visakit_isa::DataType;

/// Converts according to the document "Datatypes": integers are extended by their own signedness and
/// truncated, floats are clamped to integers (NaN becomes 0) and rounded to nearest even. Other
/// rounding modes: see [`super::exact`].
pub(crate) trait Convert<T> {
    fn convert(self) -> T;
}

macro_rules! by_cast {
    ($($from:ty),* => $to:tt) => {$(
        by_cast!(@each $from => $to);
    )*};
    (@each $from:ty => [$($to:ty),*]) => {$(
        impl Convert<$to> for $from {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn convert(self) -> $to {
                self as $to
            }
        }
    )*};
}

by_cast!(u8, i8, u16, i16, u32, i32, u64, i64, i128, f32, f64
    => [u8, i8, u16, i16, u32, i32, u64, i64, i128, f32, f64]);

macro_rules! narrow_to_wide {
    ($($to:ty),*) => {$(
        impl Convert<$to> for f16 {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn convert(self) -> $to {
                half_to_single(self.to_bits()) as $to
            }
        }
        impl Convert<$to> for bf16 {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn convert(self) -> $to {
                self.to_f32() as $to
            }
        }
    )*};
}

narrow_to_wide!(u8, i8, u16, i16, u32, i32, u64, i64, i128, f32, f64);

/// The `f32` next to a number towards zero, with its last bit set if anything was cut off. Rounding
/// it to 16 bits gives the same as rounding the number once; going via the nearest `f32` would round
/// twice.
#[cfg_attr(not(debug_assertions), inline(always))]
fn sticky(value: f64) -> f32 {
    let near = value as f32;
    let wide = f64::from(near);
    if wide == value || near.is_nan() {
        return near;
    }
    let further = u32::from(wide.abs() > value.abs());
    f32::from_bits((near.to_bits() - further) | 1)
}

macro_rules! to_narrow {
    ($($from:ty),*) => {$(
        impl Convert<f16> for $from {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn convert(self) -> f16 {
                f16::from_bits(single_to_half(sticky(self as f64)))
            }
        }
        impl Convert<bf16> for $from {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn convert(self) -> bf16 {
                bf16::from_f32(sticky(self as f64))
            }
        }
    )*};
}

to_narrow!(u8, i8, u16, i16, u32, i32, u64, i64, i128, f64);

impl Convert<f16> for f32 {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn convert(self) -> f16 {
        f16::from_bits(single_to_half(self))
    }
}

impl Convert<bf16> for f32 {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn convert(self) -> bf16 {
        bf16::from_f32(self)
    }
}

impl Convert<f16> for f16 {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn convert(self) -> f16 {
        self
    }
}

impl Convert<bf16> for bf16 {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn convert(self) -> bf16 {
        self
    }
}

impl Convert<bf16> for f16 {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn convert(self) -> bf16 {
        bf16::from_f32(self.to_f32())
    }
}

impl Convert<f16> for bf16 {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn convert(self) -> f16 {
        f16::from_f32(self.to_f32())
    }
}

/// A type in which instructions compute.
pub(crate) trait Compute:
    Pod
    + Default
    + PartialOrd
    + Saturate
    + Convert<u8>
    + Convert<i8>
    + Convert<u16>
    + Convert<i16>
    + Convert<u32>
    + Convert<i32>
    + Convert<u64>
    + Convert<i64>
    + Convert<i128>
    + Convert<f32>
    + Convert<f64>
    + Convert<f16>
    + Convert<bf16>
{
    /// Whether it is a floating-point type.
    const FLOAT: bool;
    /// Negation, wrapping.
    fn neg(self) -> Self;
    /// Absolute value. An unsigned type is taken as the bits of a signed one: sources of an unsigned
    /// type have no absolute value taken.
    fn abs(self) -> Self;
    /// Bitwise complement; of a float, of its bits.
    fn not(self) -> Self;
    /// Whether elements of the type have the bits of a lane. Signed lanes do not accept unsigned
    /// elements: their value would change.
    fn is(data_type: DataType) -> bool;
    /// The effect of a modifier on the bits. Absolute values of integers cannot be expressed this
    /// way.
    fn change(modify: Modify) -> Change;
    /// The value with changed bits.
    fn changed(self, change: Change) -> Self;
}

/// A modifier without branches: bits to keep, then bits to flip, and a number to add to an integer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    keep: i64,
    flip: i64,
    plus: i64,
}

macro_rules! compute_int {
    ($($ty:ty, $signed:ty, [$($data_type:ident)|*]);*) => {$(
        impl Compute for $ty {
            const FLOAT: bool = false;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn is(data_type: DataType) -> bool {
                [$(DataType::$data_type),*].contains(&data_type)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn abs(self) -> Self {
                (self as $signed).wrapping_abs() as Self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn not(self) -> Self {
                !self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn change(modify: Modify) -> Change {
                let (flip, plus) = match modify {
                    Modify::Neg => (-1, 1),
                    Modify::Not => (-1, 0),
                    Modify::None | Modify::Abs | Modify::NegAbs => (0, 0),
                };
                Change { keep: -1, flip, plus }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn changed(self, change: Change) -> Self {
                ((self & change.keep as Self) ^ change.flip as Self)
                    .wrapping_add(change.plus as Self)
            }
        }
    )*};
}

compute_int!(
    u8, i8, [Ub | B];
    u16, i16, [Uw | W];
    u32, i32, [Ud | D];
    i32, i32, [D];
    u64, i64, [Uq | Q];
    i64, i64, [Q];
    i128, i128, []
);

macro_rules! compute_float {
    ($($ty:ty, $bits:ty, $data_type:ident);*) => {$(
        impl Compute for $ty {
            const FLOAT: bool = true;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn is(data_type: DataType) -> bool {
                data_type == DataType::$data_type
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn neg(self) -> Self {
                -self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn abs(self) -> Self {
                <$ty>::abs(self)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn not(self) -> Self {
                <$ty>::from_bits(!self.to_bits())
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn change(modify: Modify) -> Change {
                let sign = ((-0.0 as $ty).to_bits()) as i64;
                let (keep, flip) = match modify {
                    Modify::None => (-1, 0),
                    Modify::Neg => (-1, sign),
                    Modify::Abs => (!sign, 0),
                    Modify::NegAbs => (!sign, sign),
                    Modify::Not => (-1, -1),
                };
                Change { keep, flip, plus: 0 }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn changed(self, change: Change) -> Self {
                Self::from_bits((self.to_bits() & change.keep as $bits) ^ change.flip as $bits)
            }
        }
    )*};
}

compute_float!(f32, u32, F; f64, u64, Df);

/// Clamping to the range of an element type.
pub(crate) trait Saturate: Sized + Copy {
    /// The value in the range of a destination of this type.
    fn saturate_int(self, low: i128, high: i128) -> i128;
    /// The value clamped to 0 to 1; NaN becomes 0.
    fn saturate_float(self) -> f64;
}

macro_rules! saturate_int {
    ($($ty:ty),*) => {$(
        impl Saturate for $ty {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn saturate_int(self, low: i128, high: i128) -> i128 {
                (self as i128).clamp(low, high)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn saturate_float(self) -> f64 {
                (self as f64).clamp(0.0, 1.0)
            }
        }
    )*};
}

saturate_int!(u8, u16, u32, i32, u64, i64, i128);

macro_rules! saturate_float {
    ($($ty:ty),*) => {$(
        impl Saturate for $ty {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn saturate_int(self, low: i128, high: i128) -> i128 {
                // The cast clamps to i128 and turns NaN into 0.
                (self as i128).clamp(low, high)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn saturate_float(self) -> f64 {
                if self.is_nan() { 0.0 } else { (self as f64).clamp(0.0, 1.0) }
            }
        }
    )*};
}

saturate_float!(f32, f64);

/// An element of a variable.
pub(crate) trait Element: Pod {
    /// Size in bytes.
    const SIZE: usize = size_of::<Self>();
    /// Range of an integer type, `None` of a float.
    const RANGE: Option<(i128, i128)>;
    /// From an integer in the range.
    fn from_int(value: i128) -> Self;
    /// From a float between 0 and 1.
    fn from_unit(value: f64) -> Self;
}

macro_rules! element_int {
    ($($ty:ty),*) => {$(
        impl Element for $ty {
            const RANGE: Option<(i128, i128)> = Some((<$ty>::MIN as i128, <$ty>::MAX as i128));
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn from_int(value: i128) -> Self {
                value as Self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn from_unit(value: f64) -> Self {
                value as Self
            }
        }
    )*};
}

element_int!(u8, i8, u16, i16, u32, i32, u64, i64);

macro_rules! element_float {
    ($($ty:ty),*) => {$(
        impl Element for $ty {
            const RANGE: Option<(i128, i128)> = None;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn from_int(value: i128) -> Self {
                value.convert()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn from_unit(value: f64) -> Self {
                value.convert()
            }
        }
    )*};
}

element_float!(f32, f64, f16, bf16);

#[cfg(test)]
mod tests {
    use super::*;

    /// Every narrow number goes to every wide type and back.
    #[test]
    fn narrow_numbers_survive_wide_types() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            let single: [f32; 2] = [half.convert(), brain.convert()];
            let double: [f64; 2] = [half.convert(), brain.convert()];
            assert_eq!(
                double.map(|x| x as f32).map(f32::to_bits),
                single.map(f32::to_bits)
            );
            let halves: [f16; 2] = [single[0].convert(), double[0].convert()];
            let brains: [bf16; 2] = [single[1].convert(), double[1].convert()];
            for found in halves {
                assert!(
                    found.to_bits() == bits || found.is_nan() && half.is_nan(),
                    "{bits:#x}"
                );
            }
            for found in brains {
                assert!(
                    found.to_bits() == bits || found.is_nan() && brain.is_nan(),
                    "{bits:#x}"
                );
            }
        }
    }

    /// Via a single they would be rounded twice.
    #[test]
    fn doubles_are_rounded_once() {
        let middle = 1.0 + 2f64.powi(-11);
        let above = middle + 2f64.powi(-40);
        let halves: [f16; 2] = [middle.convert(), above.convert()];
        assert_eq!(halves.map(f16::to_bits), [0x3c00, 0x3c01]);
        let middle = 1.0 + 2f64.powi(-8);
        let above = middle + 2f64.powi(-40);
        let brains: [bf16; 2] = [middle.convert(), above.convert()];
        assert_eq!(brains.map(bf16::to_bits), [0x3f80, 0x3f81]);
        let (half, brain): (f16, bf16) = (17i32.convert(), 17i32.convert());
        assert_eq!((half.to_f32(), brain.to_f32()), (17.0, 17.0));
    }
}
