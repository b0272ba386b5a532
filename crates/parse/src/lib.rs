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
//!
//! # What makes it fast
//!
//! The reader's hot path is `walk` in `parse/src/instruction.rs`. What made it fast, in order of effect: operands are
//! checked part by part, before they are packed into an enumeration, and values and table entries are written in place
//! (`Value::fill`, `FieldVisitor`, `read_list`), because copying a value right after it was written makes the processor
//! wait for its own stores; rows know their `FieldPattern`, so that the common ones are read without examining the kind of
//! each field; errors are not built on the way but found by walking the refused instruction again (`explain`); copies of
//! the code are specialised for the width of an index. An owned instruction stores five fields inline; longer lists are
//! allocated. What was decoded while determining the dialect is kept. The writer checks for room once per instruction; one
//! that is refused is written again to find the error. Limits and peers are in BENCHMARKS.md.
//!
//! Forced inlining is written `cfg_attr(not(debug_assertions), inline(always))`: in test builds it would multiply code
//! without benefit.

#![no_std]

extern crate alloc;

mod container;
mod dialect;
mod error;
mod extent;
mod instruction;
mod instructions;
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
pub use instruction::{FieldRef, InstructionRef, instruction};
pub use instructions::Instructions;
pub use nom;
pub use object::{Decoded, MAX_ERRORS, ReadOptions, read, read_code, read_with};
pub use operand::{raw_operand, value, vector_operand};
pub use pieces::{Part, PartId};
pub use routine::RoutineReader;
pub use rules::Rules;
pub use wire::{Leaf, Observer, PResult, Silent};
