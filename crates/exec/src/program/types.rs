//! In which type an instruction computes.

use super::operand::{Destination, Modify, Source};
use crate::lanes::float::Precision;
use visakit_isa::DataType;

/// The type of the lanes of an integer instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    U32,
    I32,
    U64,
    I64,
    I128,
}

/// Whether a type has 64 bits.
pub(crate) fn is_wide(data_type: DataType) -> bool {
    data_type.size() == 8
}

/// The unsigned type of the same size.
pub(crate) fn raw(data_type: DataType) -> DataType {
    match data_type.size() {
        1 => DataType::Ub,
        2 => DataType::Uw,
        8 => DataType::Uq,
        _ => DataType::Ud,
    }
}

/// Class of an operation whose low bits depend on the low bits of its sources only.
pub(crate) fn modular(destination: &Destination, sources: &[&Source]) -> Class {
    if is_wide(destination.data_type) || sources.iter().any(|s| is_wide(s.data_type)) {
        Class::U64
    } else {
        Class::U32
    }
}

/// Smallest class that holds the values of all sources.
pub(crate) fn of_values(sources: &[&Source]) -> Class {
    // A negated unsigned number is a negative number.
    let negated = |s: &Source| matches!(s.modify, Modify::Neg | Modify::NegAbs);
    let unsigned = |s: &&Source| !s.data_type.is_signed();
    let wide = sources.iter().any(|s| is_wide(s.data_type));
    let large = |s: &&Source| matches!(s.data_type, DataType::Ud | DataType::Uq);
    // The absolute value of the smallest number needs one more bit.
    let grows = |s: &&Source| {
        s.modify != Modify::None && s.modify != Modify::Not && s.data_type.size() >= 4
    };
    let signed = sources
        .iter()
        .any(|s| s.data_type.is_signed() || negated(s));
    match (wide, signed) {
        (true, false) => Class::U64,
        (true, true)
            if sources
                .iter()
                .any(|s| s.data_type == DataType::Uq || grows(s)) =>
        {
            Class::I128
        }
        (true, true) => Class::I64,
        (false, false) if sources.iter().all(unsigned) => Class::U32,
        (false, _) if sources.iter().any(large) || sources.iter().any(grows) => Class::I64,
        (false, _) => Class::I32,
    }
}

/// Class in which sums of a few sources are exact.
pub(crate) fn of_sums(sources: &[&Source]) -> Class {
    if sources.iter().any(|s| is_wide(s.data_type)) {
        Class::I128
    } else {
        Class::I64
    }
}

/// Class in which a product plus a sum is exact.
pub(crate) fn of_products(sources: &[&Source]) -> Class {
    if sources.iter().any(|s| s.data_type.size() >= 4) {
        Class::I128
    } else {
        Class::I64
    }
}

/// Precision of float arithmetic: half or bfloat where all operands are, else float or double.
pub(crate) fn precision(destination: &Destination, sources: &[&Source]) -> Precision {
    let types = || {
        sources.iter().map(|s| s.data_type).chain(
            (destination.target != super::operand::Target::Null).then_some(destination.data_type),
        )
    };
    if types().any(|t| t == DataType::Df) {
        Precision::Double
    } else if types().all(|t| t == DataType::Hf) {
        Precision::Half
    } else if types().all(|t| t == DataType::Bf) {
        Precision::BFloat
    } else {
        Precision::Float
    }
}
