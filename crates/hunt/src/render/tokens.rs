//! Operators and constants of OpenCL C.

use crate::ast::{Binary, Unary};
use crate::types::{Scalar, Type, Value};
use half::f16;

pub(super) fn symbol(op: Binary) -> Option<&'static str> {
    Some(match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Rem => "%",
        Binary::And => "&",
        Binary::Or => "|",
        Binary::Xor => "^",
        Binary::Shl => "<<",
        Binary::Shr => ">>",
        Binary::Halves | Binary::Highs => return None,
    })
}

pub(super) fn unary(op: Unary, ty: Type, a: &str) -> String {
    let scalar = ty.scalar;
    let unsigned = ty.of(scalar.unsigned());
    match op {
        Unary::Not => narrow(ty, format!("(~{a})")),
        Unary::Negate if !scalar.is_signed() || scalar.is_promoted() && !ty.is_vector() => {
            narrow(ty, format!("(-{a})"))
        }
        Unary::Negate if ty.is_vector() => format!("as_{ty}(-as_{unsigned}({a}))"),
        Unary::Negate => format!("({ty})(-({unsigned}){a})"),
    }
}

/// The type again, after a promotion.
pub(super) fn narrow(ty: Type, text: String) -> String {
    if ty.scalar.is_promoted() && !ty.is_vector() {
        format!("({ty}){text}")
    } else {
        text
    }
}

/// The elements of an array or a structure.
pub(super) fn elements(values: &[Value]) -> String {
    let values: Vec<_> = values.iter().map(constant).collect();
    format!("{{{}}}", values.join(", "))
}

/// A value as an expression of its type.
pub(super) fn constant(value: &Value) -> String {
    let ty = value.ty;
    if !ty.is_vector() {
        let text = element(ty.scalar, value.lane(0));
        return match ty.scalar.is_promoted() {
            true => format!("({ty}){text}"),
            false => text,
        };
    }
    let lanes: Vec<_> = value
        .lanes()
        .iter()
        .map(|bits| element(ty.scalar, *bits))
        .collect();
    let first = lanes.first().cloned().unwrap_or_default();
    match lanes.iter().all(|lane| *lane == first) {
        true => format!("({ty})({first})"),
        false => format!("({ty})({})", lanes.join(", ")),
    }
}

fn element(scalar: Scalar, bits: u64) -> String {
    let number = scalar.number(bits);
    let signed = |text: String| match number < 0 {
        true => format!("({text})"),
        false => text,
    };
    match scalar {
        Scalar::Int if number == i128::from(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        Scalar::Long if number == i128::from(i64::MIN) => "(-9223372036854775807L - 1L)".to_owned(),
        Scalar::Uint => format!("{number}u"),
        Scalar::Long => signed(format!("{number}L")),
        Scalar::Ulong => format!("{number}UL"),
        Scalar::Half => {
            let value = f16::from_bits(u16::try_from(bits).unwrap_or(0));
            match value.is_finite() {
                true => format!("(half)({:?}f)", value.to_f32()),
                false => format!("as_half((ushort){bits})"),
            }
        }
        Scalar::Float => {
            let value = f32::from_bits(u32::try_from(bits).unwrap_or(0));
            match value.is_finite() {
                true => format!("({value:?}f)"),
                false => format!("as_float({bits}u)"),
            }
        }
        Scalar::Double => {
            let value = f64::from_bits(bits);
            match value.is_finite() {
                true => format!("({value:?})"),
                false => format!("as_double({bits}UL)"),
            }
        }
        _ => signed(number.to_string()),
    }
}
