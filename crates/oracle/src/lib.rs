//! A second, slow machine for vISA routines, and its comparison with `visakit-exec`.
//!
//! The machine here is written from the definitions of the instructions, works on decoded
//! [`visakit_isa::Instruction`]s, and computes one lane at a time. It shares no code with the fast one. It is slow on
//! purpose: variables are found by their identifiers, labels by searching the code, floats are computed by a soft-float
//! library.
//!
//! * [`state`], [`operand`]: variables, aliases, regions, modifiers, predicates
//! * [`compute`], [`step`]: what instructions do; [`run`]: control flow and calls
//! * [`memory`], [`message`]: memory messages
//! * [`generate`]: random instructions after the rows of the table, random programs
//! * [`compare`]: the same routine in both machines, all variables and all memory compared
//! * [`generated`]: objects of `visakit-smith`, body of the fuzz target `differential`
//! * [`session`]: many of them, counted
//! * [`hostile`]: kernels that try to leave their memory, in the interpreter and in machine code
//!
//! # What is compared
//!
//! All general variables, predicates, local memory and buffers after the run. A result that is
//! defined to the bit must be met to the bit. [`value::Precision`] lists the exceptions: any NaN for
//! a NaN, either sign for a zero that has none by definition, two units of the last place for
//! functions without an exact definition (`exp`, `log`, `sin`, `cos`, `pow`, `rsqrt`), an absolute
//! difference for sums of products whose rounding is not defined (`lrp`, `plane`, `line`, `dp2` to
//! `dph`).
//!
//! # Decisions
//!
//! The written definitions are ambiguous in places. They are interpreted as follows:
//!
//! * Integer operations compute with the mathematical values of their sources, and the result is truncated or saturated
//!   to the type of the destination. So a 32-bit sum saturates after the carry, a product of words is 32 bits wide, and
//!   `-1:d` is less than `1:ud`.
//! * Float operations compute in the widest format of the sources, round, and convert the result to
//!   the destination, which may round again. `bf` computes in `f`.
//! * Plain conversions from float to integer clamp, as saturating ones do; a NaN becomes zero.
//! * The rounding mode applies to `add`, `mul`, `mad` and conversions. Flushing of denormals applies
//!   to sources and results of `add`, `mul` and `mad`.
//! * `div`, `inv` and `sqrt` are correctly rounded, though hardware approximates them.
//! * `cmp` into a general variable writes all ones or zero, whatever its type.
//! * Counts of shifts have six bits if the destination or the shifted source has 64 bits, otherwise five. `shr` shifts
//!   the bits of its source's width.
//! * `add3o` has its overflow in the predicate that its predicate field names.
//! * Threads are alone, so barriers and fences do nothing.
//!
//! # What is not generated or not compared
//!
//! The evaluator stops with [`state::Halt::Undefined`], or marks a result as undefined, where the
//! definitions are silent:
//!
//! * division of integers by zero, quotients that no type of the sources holds; negation of an unsigned source where
//!   the width of the result shows; complement of a source narrower than the operation; logic of mixed types below the
//!   size of the destination; 64-bit destinations of 32-bit sums; saturation of integer products and of results of
//!   `shl` that need more than 33 bits
//! * negative floats converted to unsigned integers without saturation
//! * functions other than `add`, `mul`, `mad` and conversions under another rounding mode than the
//!   usual one, and on denormals that the mode flushes; conversions of such denormals; results that
//!   are the smallest normal number where denormals are flushed
//! * `sin` and `cos` above 100,000, `pow` of zero and negative bases, `frc` where the difference
//!   rounds to one
//! * the types `bf` and `df` in operations whose pages do not list them; `hf` mixed with `bf`, `df`
//!   with any other float, floats with integers
//! * packed immediates read by more lanes than they have elements; `setp` of fewer than 16 lanes from
//!   a scalar; logic of predicates under a mask; odd elements of `sad2`
//! * narrowed results of `add`, `mul` and `mad` that depend on how often they are rounded; `lrp` of
//!   regions that repeat elements and are not scalars
//! * shifts of the negated smallest number of a type
//! * `srnd` to denormals of `hf` and beyond the largest number; forms of `dpas` with a depth other than
//!   eight, and float products whose sum depends on the order
//! * flat addresses outside of memory, addresses that are not aligned, accesses across the end of a
//!   surface, atomic operations outside of a surface, on NaNs and on denormals, several lanes that
//!   store to one place
//! * operations without a definition: see [`generate::undefined`]
//!
//! # How it is used
//!
//! `crates/oracle` computes one lane at a time on decoded instructions, with floats from a soft-float library, and finds
//! variables by name. Its generator follows the rows of the table: an operation that computes on registers is generated, or
//! is listed with the reason why it has no definition (`generate::undefined`). Where the definitions are silent the
//! evaluator reports it, and the instruction is removed or its result not compared; the crate's documentation lists these
//! places and the decisions. `cargo run --release -p visakit-oracle -- --count N` compares on all cores and prints the
//! number of each operation; a routine with a difference is shown reduced to the essential.

#![allow(
    clippy::indexing_slicing,
    reason = "an evaluator of routines that it makes itself, for tests"
)]

pub mod atomic;
pub mod compare;
pub mod compute;
pub mod float;
mod four_bits;
pub mod generate;
pub mod generated;
pub mod hostile;
mod lsc;
pub mod memory;
pub mod message;
pub mod operand;
mod rows;
pub mod run;
pub mod session;
pub mod state;
pub mod step;
mod systolic;
pub mod typed;
pub mod value;
