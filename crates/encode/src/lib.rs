//! Writer for Intel's binary vISA objects (`.isa`, magic `CISA`).
//!
//! [`write()`] turns an [`Object`](visakit_isa::object::Object) into bytes. It uses the layouts of
//! `visakit-isa`, which the reader uses too, so `write(read(bytes)) == bytes` for everything that
//! strict reading accepts. What the chosen version and dialect cannot express is an [`Error`] that
//! names the place; nothing is ever truncated silently.
//!
//! [`instruction`] writes a single instruction.

#![no_std]

extern crate alloc;

mod error;
mod instruction;
mod object;
mod sink;

pub use error::{Context, Error, ErrorKind};
pub use instruction::instruction;
pub use object::write;
