//! The machine that a thread runs on: its register file, its float mode, and what the host can do.

mod mode;
pub(crate) mod registers;
pub(crate) mod simd;

pub(crate) use mode::FloatMode;
pub(crate) use registers::Registers;
