//! Zero-copy reader for Intel's binary vISA objects (`.isa`, magic `CISA`).
//!
//! Three levels, each built on the one before:
//!
//! 1. [`Container`]: the file header, which locates everything else. Nothing else is read.
//! 2. [`RoutineReader`] and [`Instructions`]: the tables of one routine, and a lazy iterator over
//!    its instructions. An [`InstructionRef`] is a `Copy` view into the input; decoding allocates
//!    nothing.
//! 3. [`read`] and [`read_with`]: a whole [`Object`](visakit_isa::object::Object) of the types in
//!    `visakit-isa`, ready to be edited and written.
//!
//! Strict reading accepts exactly what the writer can reproduce byte for byte, and stops at the
//! first fault. Lenient reading continues: see [`ReadOptions`].
//!
//! The parsers of operands and instructions are nom functions ([`vector_operand`], [`raw_operand`],
//! [`value`], [`instruction`]); nom is re-exported so that the versions agree. All layouts come
//! from `visakit-isa`; this crate only consumes the bytes.

#![no_std]

extern crate alloc;

mod container;
mod dialect;
mod error;
mod extent;
mod instruction;
mod object;
mod operand;
mod pieces;
mod places;
mod routine;
mod rules;
mod wire;

pub use container::{Container, MAGIC};
pub use error::{Context, Error, ErrorKind, NomError};
pub use extent::{Extent, ExtentId};
pub use instruction::{FieldRef, InstructionRef, Instructions, instruction};
pub use nom;
pub use object::{Decoded, MAX_ERRORS, ReadOptions, read, read_code, read_with};
pub use operand::{raw_operand, value, vector_operand};
pub use pieces::{Part, PartId};
pub use routine::RoutineReader;
pub use rules::Rules;
pub use wire::{Leaf, Observer, PResult, Silent};
