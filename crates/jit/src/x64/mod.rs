//! The assembler for x86-64 with AVX2 or AVX-512: the only part of the crate that knows instructions.
//!
//! Templates name operations (`ops.rs`: "add lanes of 32 bits") on typed operands (`registers.rs`); which instruction does
//! an operation, in the short form of AVX2 or the long one of AVX-512, with an immediate of one byte or of four, with a jump of two bytes
//! or of six, is decided here, from the operands alone. What has no encoding (a register of another width, a displacement of
//! 33 bits, an immediate that does not fit, a label at no place or at two) makes no code at all, in any build.

mod assembler;
mod numbers;
pub(crate) mod ops;
mod registers;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
mod vectors;
mod verify;

pub(crate) use assembler::{Assembler, Condition, Finished, Label, Note};
pub(crate) use registers::*;
pub(crate) use verify::{Field, Frame};
