//! Facts about the language, independent of reading and printing: everything the assembler and the
//! printer have to agree on, each stated once.

pub(crate) mod attribute;
pub(crate) mod digest;
pub(crate) mod fields;
pub(crate) mod index;
pub(crate) mod numbers;
pub(crate) mod operand;
pub(crate) mod pool;
pub(crate) mod symbol;
