//! Proves that two kernels compute the same, or finds inputs that tell them apart.
//!
//! The question is asked of one launch: the grid, the sizes of buffers and all arguments that are no buffers are given. The
//! bytes in the buffers are unknown. The answer is [`Verdict::Proven`] if both kernels leave the same bytes in every buffer
//! whatever was there before, [`Verdict::Refuted`] with contents for which the executor shows a difference, or
//! [`Verdict::Unknown`] with the reason: what is not understood is never proven. `docs/proving.md` says what a proof takes for
//! granted.
//!
//! # How it is built
//!
//! * `term/` are bit-vector terms of 1 to 64 bits over unknown dwords. Equal expressions are one number, for both kernels.
//!   `build/` makes them in a normal form by rules that hold for all bits, `tables.rs` knows bits that are the same function of
//!   few others, `deep.rs` has a second one in which bits are taken
//!   from the parts of a term, `possible.rs` lists the numbers that a term may be, `smt.rs` writes terms as SMT-LIB, and
//!   `value.rs` computes them for given contents. A `Node::Symbol` is a function of the executor: nothing is known of it except
//!   that equal sources give equal results, and its results for numbers, which the executor computes
//!   ([`visakit_exec::LaneFunction`]). All float arithmetic is of this kind.
//! * `lower.rs` states integer operations as terms. It is not trusted: a function that disagrees with the executor on some
//!   sample of its sources (numbers at which functions change, and random ones) remains a symbol, in every build.
//! * `thread.rs` is a thread whose registers are terms, and where its lanes are; `machine.rs` runs the executor's translated
//!   code ([`visakit_exec::code`]) on it, thread after thread from barrier to barrier; `message.rs` and `atomic.rs` determine what a message
//!   accesses by running the executor's message on a probe ([`visakit_exec::Probe`]), `images.rs` what it does with texels; `memory.rs` is memory, and who accesses
//!   it without an order; `scalars.rs` finds the scalars of any value in the registers.
//! * `sweep.rs` finds parts of the terms of both kernels that are equal, of which `samples.rs` knows values.
//! * `refine.rs` chooses what the old kernel leaves open; `same.rs` compares the steps of both programs
//!   (`side.rs`, `masks.rs`) before anything runs, `local.rs` what two of them compute of what `before.rs` knows;
//!   `starts.rs` is what threads start with.
//! * `induction/` compares programs with loops that whole runs on terms do not come to an end with, from place to place.
//! * `trial.rs` runs both kernels on the executor: before anything is proven, and after a rule or a solver has found a
//!   difference. `solver.rs` asks a command that reads SMT-LIB, `open.rs` these and the solver inside. `question.rs` puts these together for
//!   each question about two kernels, `prove.rs` asks it.
//!
//! # Why on translated code
//!
//! Kernels run here as the executor's steps, and not in a form for machine code: the steps are what the interpreter runs,
//! which defines what kernels do, with operands and masks resolved. Any other form is a result of passes that a proof may
//! be asked to check.

#![forbid(unsafe_code)]

mod atomic;
mod before;
mod contents;
mod decide;
mod facts;
mod images;
mod induction;
mod local;
mod lower;
mod machine;
mod masks;
mod memory;
mod message;
mod open;
mod predicates;
mod prove;
mod question;
mod refine;
mod same;
mod samples;
#[cfg(feature = "sat")]
mod sat;
mod scalars;
mod side;
mod solver;
mod starts;
mod sweep;
pub mod term;
mod thread;
mod trial;
mod unknown;

pub use prove::{
    Method, Mode, Options, Original, Output, Proof, Refutation, Side, Verdict, contents, examine,
    prove, refute,
};
pub use trial::Difference;
pub use unknown::Unknown;
