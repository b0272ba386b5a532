//! What the language says, apart from how it is read or printed: everything that assembler and
//! printer have to agree on, each fact once.

pub(crate) mod attribute;
pub(crate) mod digest;
pub(crate) mod fields;
pub(crate) mod index;
pub(crate) mod numbers;
pub(crate) mod operand;
pub(crate) mod pool;
pub(crate) mod symbol;
