//! Arithmetic of a single lane, independent of operands, registers and masks.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    reason = "the conversions of the machine are these casts"
)]

pub(crate) mod convert;
pub(crate) mod dpas;
pub(crate) mod elementary;
pub(crate) mod exact;
pub(crate) mod float;
pub(crate) mod int;
pub(crate) mod mode;
pub(crate) mod narrow;
pub(crate) mod simd;
