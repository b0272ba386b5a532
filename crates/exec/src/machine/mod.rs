//! The machine that a thread runs on: its register file, and what the host can do.

pub(crate) mod registers;
pub(crate) mod simd;

pub(crate) use registers::Registers;
