//! Immediates as numbers.

use super::vector::{ImmediateOperand, PropertyByte};
use crate::types::DataType;

/// The meaning of an immediate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ImmediateValue {
    /// A number of an integer type.
    Integer(i128),
    /// A number of `hf`, `bf`, `f` or `df`; every number of these types is an `f64`.
    Float(f64),
    /// Eight or four small numbers, of `v`, `uv` and `vf`.
    Packed(u32),
}

impl ImmediateOperand {
    /// The number that the immediate denotes. Upper bytes that the type does not use are ignored.
    ///
    /// ```
    /// use visakit_isa::operand::{ImmediateOperand, ImmediateValue};
    /// use visakit_isa::DataType;
    ///
    /// let one = ImmediateOperand::from_f32(1.0);
    /// assert_eq!(one.value(), ImmediateValue::Float(1.0));
    /// assert_eq!(ImmediateOperand::from_i16(-2).value(), ImmediateValue::Integer(-2));
    /// let odd = ImmediateOperand::new(DataType::Uw.into(), 0xabcd_0001);
    /// assert_eq!(odd.value(), ImmediateValue::Integer(1));
    /// ```
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // the halves match the types
    pub fn value(self) -> ImmediateValue {
        let bits = self.bits();
        let low = bits as u32;
        match self.data_type() {
            DataType::Ud => ImmediateValue::Integer(low.into()),
            DataType::D => ImmediateValue::Integer(low.cast_signed().into()),
            DataType::Uw => ImmediateValue::Integer((bits as u16).into()),
            DataType::W => ImmediateValue::Integer((bits as u16).cast_signed().into()),
            DataType::Ub | DataType::Bool => ImmediateValue::Integer((bits as u8).into()),
            DataType::B => ImmediateValue::Integer((bits as u8).cast_signed().into()),
            DataType::Uq => ImmediateValue::Integer(bits.into()),
            DataType::Q => ImmediateValue::Integer(bits.cast_signed().into()),
            DataType::Df => ImmediateValue::Float(f64::from_bits(bits)),
            DataType::F => ImmediateValue::Float(f32::from_bits(low).into()),
            DataType::Hf => ImmediateValue::Float(half(bits as u16)),
            // Constants cannot have these types.
            DataType::Tf32 | DataType::Hf8 | DataType::Bf8 | DataType::E2m1 => {
                ImmediateValue::Integer(low.into())
            }
            DataType::Bf => ImmediateValue::Float(f32::from_bits(low << 16).into()),
            DataType::V | DataType::Vf | DataType::Uv => ImmediateValue::Packed(low),
        }
    }

    /// The number, for integer types.
    #[must_use]
    pub fn as_integer(self) -> Option<i128> {
        match self.value() {
            ImmediateValue::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// The number, for floating-point types.
    #[must_use]
    pub fn as_float(self) -> Option<f64> {
        match self.value() {
            ImmediateValue::Float(number) => Some(number),
            _ => None,
        }
    }

    /// This immediate with upper bytes derived from the value: the sign for `w` and `b`,
    /// otherwise zero. Two immediates have the same value bit for bit if these are equal.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // what is cut off is unused
    pub const fn normalized(mut self) -> Self {
        let bits = self.bits();
        self.set_bits(match self.data_type() {
            DataType::Df | DataType::Uq | DataType::Q => bits,
            DataType::W => ((bits as u16).cast_signed() as i32).cast_unsigned() as u64,
            DataType::B => ((bits as u8).cast_signed() as i32).cast_unsigned() as u64,
            DataType::Uw | DataType::Hf | DataType::Bf => bits as u16 as u64,
            DataType::Ub | DataType::Bool => bits as u8 as u64,
            _ => bits as u32 as u64,
        });
        self
    }
}

/// A 16-bit float as a wider one.
fn half(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff);
    let magnitude = match bits >> 10 & 0x1f {
        // 2^-24 for each step of a denormal
        0 => fraction * f64::from_bits(0x3e70_0000_0000_0000),
        0x1f if bits & 0x3ff == 0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => {
            // 2^(exponent - 15), with the bias of f64
            let scale = f64::from_bits((u64::from(exponent) + 1023 - 15) << 52);
            (1.0 + fraction / 1024.0) * scale
        }
    };
    if bits & 0x8000 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

macro_rules! from_numbers {
    ($($name:ident($number:ident $n:ident) as $ty:ident $text:literal: $bits:expr;)*) => {$(
        impl ImmediateOperand {
            #[doc = concat!("An immediate of type `", $text, "`.")]
            #[must_use]
            pub const fn $name($n: $number) -> Self {
                Self::new(PropertyByte::of(DataType::$ty), $bits)
            }
        }

        impl From<$number> for ImmediateOperand {
            fn from(number: $number) -> Self {
                Self::$name(number)
            }
        }
    )*};
}

// Narrow numbers are extended to four bytes as their type requires.
from_numbers! {
    from_u8(u8 n) as Ub "ub": n as u64;
    from_i8(i8 n) as B "b": (n as i32).cast_unsigned() as u64;
    from_u16(u16 n) as Uw "uw": n as u64;
    from_i16(i16 n) as W "w": (n as i32).cast_unsigned() as u64;
    from_u32(u32 n) as Ud "ud": n as u64;
    from_i32(i32 n) as D "d": n.cast_unsigned() as u64;
    from_u64(u64 n) as Uq "uq": n;
    from_i64(i64 n) as Q "q": n.cast_unsigned();
    from_f32(f32 n) as F "f": n.to_bits() as u64;
    from_f64(f64 n) as Df "df": n.to_bits();
}
