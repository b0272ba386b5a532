//! The machine that a thread runs on: its register file, and the capabilities of the host.

pub(crate) mod registers;
pub(crate) mod simd;

pub(crate) use registers::Registers;
