//! Settings of fields, before their rows determine how they are stored.

use super::error::ErrorKind;
use crate::enums;
use crate::ids::{LabelId, SamplerId, StringId, SurfaceId, VarId};
use crate::instruction::Value;
use crate::operand::{
    AddressOperand, ElementCount, ExecMask, ExecSize, GeneralOperand, ImmediateOperand,
    IndirectOperand, Predicate, PredicateOperand, RawOperand, SamplerOp, StateOperand,
    VectorOperand,
};
use crate::table::{FieldDef, FieldKind};
use crate::version::Format;

/// What a field is set to.
///
/// Numbers take the width of their field, names denote the codes of its enumeration
/// ([`FieldDef::enumeration`]), and lanes are encoded as the format requires.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Setting {
    /// The content as it is stored.
    Value(Value),
    /// A number, or the name of one.
    Code(Code),
    /// Execution size and mask.
    Lanes(Lanes),
    /// A variable: a whole raw operand, or the subject of LIFETIME.
    Variable(VarId),
}

/// A number, or its name in the enumeration of the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// The number.
    Number(i64),
    /// Its name, such as `"lt"` for a comparison or `"d32"` for a data size.
    Name(&'static str),
}

/// Number of lanes and the part of the execution mask that applies to them. A bare number means
/// that many lanes starting with the first (`M1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// A number of lanes (1, 2, 4, 8, 16 or 32) and a mask, encoded by the format.
    Of(u8, ExecMask),
    /// The byte as it is stored.
    Encoded(ExecSize),
}

impl From<u8> for Lanes {
    fn from(count: u8) -> Self {
        Self::Of(count, ExecMask::M1)
    }
}

impl From<(u8, ExecMask)> for Lanes {
    fn from((count, mask): (u8, ExecMask)) -> Self {
        Self::Of(count, mask)
    }
}

impl From<ExecSize> for Lanes {
    fn from(size: ExecSize) -> Self {
        Self::Encoded(size)
    }
}

impl Setting {
    /// The stored value for this field.
    pub(super) fn value(self, field: &FieldDef, format: Format) -> Result<Value, ErrorKind> {
        match self {
            Self::Value(value) if value.fits(field.kind) => Ok(value),
            Self::Value(_) => Err(ErrorKind::WrongKind),
            Self::Code(code) => code.value(field, format),
            Self::Lanes(lanes) => lanes.value(field, format),
            Self::Variable(variable) => match field.kind {
                FieldKind::Raw | FieldKind::Raws => Ok(Value::Raw(variable.into())),
                FieldKind::Lifetime => Ok(Value::Lifetime(variable)),
                _ => Err(ErrorKind::WrongKind),
            },
        }
    }
}

impl Code {
    fn value(self, field: &FieldDef, format: Format) -> Result<Value, ErrorKind> {
        let number = match (self, field.kind, field.enumeration) {
            (Self::Number(number), _, _) => number,
            (Self::Name(name), FieldKind::SamplerOp, _) => enums::SAMPLER_OP
                .code_named(name)
                .ok_or(ErrorKind::UnknownName(name))?
                .into(),
            (Self::Name(name), _, Some(enumeration)) => {
                let code = enumeration
                    .code_named(name)
                    .ok_or(ErrorKind::UnknownName(name))?;
                i64::from(code) << enumeration.mask.trailing_zeros()
            }
            (Self::Name(name), _, None) => return Err(ErrorKind::UnknownName(name)),
        };
        let range = |_| ErrorKind::OutOfRange(number);
        Ok(match field.kind {
            FieldKind::U8 => Value::U8(u8::try_from(number).map_err(range)?),
            FieldKind::U16 => Value::U16(u16::try_from(number).map_err(range)?),
            FieldKind::U32 => Value::U32(u32::try_from(number).map_err(range)?),
            FieldKind::I32 => Value::I32(i32::try_from(number).map_err(range)?),
            FieldKind::SamplerOp => {
                Value::SamplerOp(SamplerOp::from_bits(u16::try_from(number).map_err(range)?))
            }
            FieldKind::ExecSize | FieldKind::ElementCount => {
                let lanes = Lanes::from(u8::try_from(number).map_err(range)?);
                lanes.value(field, format)?
            }
            FieldKind::Vector => {
                let number = i32::try_from(number).map_err(range)?;
                Value::Vector(VectorOperand::from(number))
            }
            _ => return Err(ErrorKind::WrongKind),
        })
    }
}

impl Lanes {
    fn value(self, field: &FieldDef, format: Format) -> Result<Value, ErrorKind> {
        let value = match (field.kind, self) {
            (FieldKind::ExecSize, Self::Of(count, mask)) => {
                ExecSize::new(count, mask, format).map(Value::ExecSize)
            }
            (FieldKind::ElementCount, Self::Of(count, mask)) => {
                ElementCount::new(count, mask, format).map(Value::ElementCount)
            }
            (FieldKind::ExecSize, Self::Encoded(size)) => Some(Value::ExecSize(size)),
            _ => return Err(ErrorKind::WrongKind),
        };
        value.ok_or(ErrorKind::Lanes)
    }
}

macro_rules! settings {
    ($($ty:ty: |$given:ident| $value:expr;)*) => {$(
        impl From<$ty> for Setting {
            fn from($given: $ty) -> Self {
                $value
            }
        }
    )*};
}

settings! {
    Value: |value| Self::Value(value);
    Code: |code| Self::Code(code);
    Lanes: |lanes| Self::Lanes(lanes);
    VarId: |variable| Self::Variable(variable);
    (u8, ExecMask): |lanes| Self::Lanes(lanes.into());
    VectorOperand: |operand| Self::Value(Value::Vector(operand));
    GeneralOperand: |operand| VectorOperand::from(operand).into();
    AddressOperand: |operand| VectorOperand::from(operand).into();
    PredicateOperand: |operand| VectorOperand::from(operand).into();
    IndirectOperand: |operand| VectorOperand::from(operand).into();
    ImmediateOperand: |operand| VectorOperand::from(operand).into();
    StateOperand: |operand| VectorOperand::from(operand).into();
    RawOperand: |operand| Self::Value(Value::Raw(operand));
    ExecSize: |size| Self::Value(Value::ExecSize(size));
    ElementCount: |count| Self::Value(Value::ElementCount(count));
    Predicate: |predicate| Self::Value(Value::Predicate(predicate));
    LabelId: |label| Self::Value(Value::Label(label));
    StringId: |string| Self::Value(Value::String(string));
    SurfaceId: |surface| Self::Value(Value::Surface(surface));
    SamplerId: |sampler| Self::Value(Value::Sampler(sampler));
    SamplerOp: |op| Self::Value(Value::SamplerOp(op));
}

impl From<SamplerOp> for Code {
    fn from(op: SamplerOp) -> Self {
        Self::Number(op.bits().into())
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Code {
            fn from(number: $ty) -> Self {
                Self::Number(number.into())
            }
        }

        impl From<$ty> for Setting {
            fn from(number: $ty) -> Self {
                Self::Code(number.into())
            }
        }
    )*};
}

numbers! { u8, u16, u32, i32, i64 }

impl From<&'static str> for Code {
    fn from(name: &'static str) -> Self {
        Self::Name(name)
    }
}

impl From<&'static str> for Setting {
    fn from(name: &'static str) -> Self {
        Self::Code(name.into())
    }
}
