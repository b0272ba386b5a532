//! In which type an instruction computes.

use crate::code::{Destination, Lane, Modify, Precision, Source, Target};
use visakit_isa::DataType;

/// Whether a type has 64 bits.
pub(super) fn is_wide(data_type: DataType) -> bool {
    data_type.size() == 8
}

/// Lanes of an operation whose low bits depend on the low bits of its sources only.
pub(super) fn modular(destination: &Destination, sources: &[Source]) -> Lane {
    if is_wide(destination.data_type) || sources.iter().any(|s| is_wide(s.data_type)) {
        Lane::U64
    } else {
        Lane::U32
    }
}

/// Smallest lanes that hold the values of all sources.
pub(super) fn of_values(sources: &[Source]) -> Lane {
    // A negated unsigned number is a negative number.
    let negated = |s: &Source| matches!(s.modify, Modify::Neg | Modify::NegAbs);
    let unsigned = |s: &Source| !s.data_type.is_signed();
    let wide = sources.iter().any(|s| is_wide(s.data_type));
    let large = |s: &Source| matches!(s.data_type, DataType::Ud | DataType::Uq);
    // The absolute value of the smallest number needs one more bit.
    let grows =
        |s: &Source| s.modify != Modify::None && s.modify != Modify::Not && s.data_type.size() >= 4;
    let signed = sources
        .iter()
        .any(|s| s.data_type.is_signed() || negated(s));
    match (wide, signed) {
        (true, false) => Lane::U64,
        (true, true)
            if sources
                .iter()
                .any(|s| s.data_type == DataType::Uq || grows(s)) =>
        {
            Lane::I128
        }
        (true, true) => Lane::I64,
        (false, false) if sources.iter().all(unsigned) => Lane::U32,
        (false, _) if sources.iter().any(large) || sources.iter().any(grows) => Lane::I64,
        (false, _) => Lane::I32,
    }
}

/// Lanes in which sums of a few sources are exact.
pub(super) fn of_sums(sources: &[Source]) -> Lane {
    if sources.iter().any(|s| is_wide(s.data_type)) {
        Lane::I128
    } else {
        Lane::I64
    }
}

/// Lanes in which a product plus a sum is exact.
pub(super) fn of_products(sources: &[Source]) -> Lane {
    if sources.iter().any(|s| s.data_type.size() >= 4) {
        Lane::I128
    } else {
        Lane::I64
    }
}

/// Precision of float arithmetic: half or bfloat where all operands are, else float or double.
pub(super) fn precision(destination: &Destination, sources: &[Source]) -> Precision {
    let types = || {
        sources
            .iter()
            .map(|s| s.data_type)
            .chain((destination.target != Target::Null).then_some(destination.data_type))
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
