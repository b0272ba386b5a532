//! The machine that a thread runs on: its register file, and the capabilities of the host.

mod aligned;
pub(crate) mod file;
pub(crate) mod registers;

pub(crate) use aligned::Aligned;
pub(crate) use registers::Registers;
