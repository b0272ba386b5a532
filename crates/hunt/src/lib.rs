//! Hunts for miscompiles and crashes of Intel's OpenCL compiler.
//!
//! A [`Campaign`] generates programs of OpenCL C whose results are known, compiles each by every [`Configuration`] (a
//! compiler, a device, options, a size of sub-groups), runs what the compilers wrote, and compares. What is wrong is
//! reduced and reported.
//!
//! ```
//! use visakit_hunt::{Options, evaluate, generate, source};
//!
//! let program = generate(3, &Options::default());
//! let buffers = evaluate(&program)?;
//! assert_eq!(buffers.outputs.len(), program.outputs.len());
//! assert!(source(&[&program], None).contains("__kernel void k0("));
//! # Ok::<(), visakit_hunt::Undefined>(())
//! ```
//!
//! # How it is built
//!
//! * [`ast`] is the tree of a program. Nothing in it can be undefined: indices, shifts and divisors are bounded, and
//!   overflow wraps, by the meaning of the nodes. `render.rs` writes what makes that so in OpenCL C.
//! * `generate/` makes trees out of seeds, `evaluate.rs` computes their results with `arithmetic.rs`, which no compiler
//!   takes part in.
//! * `exact.rs` has the functions of floats whose results are exact. `generate/idiom/` has the tables of patterns that
//!   compilers recognise.
//! * `transform/` changes programs without changing what they compute, each way in a file of its own.
//! * `kernels/` are real kernels of a folder, changed in their source, which is parsed.
//! * `compiler.rs` runs a compiler as a process with limits (`process.rs`), `machine.rs` the kernels on the executor and
//!   under checks; `second.rs` asks another implementation of OpenCL in a process of its own. `configuration.rs` puts
//!   them together: many kernels in one source, halves of it if it does not compile.
//!   `through.rs` changes the SPIR-V between a compiler's front end and the rest of it.
//! * `probe.rs` finds what a compiler has for a device. `campaign.rs` goes through batches and keeps a log (`log.rs`) that it can
//!   go on from; `campaign/sorting.rs` reduces what differs, each cause once.
//! * `cause.rs` keeps what is known from being reduced again: a program without a part of the language (`shape.rs`) that a known
//!   bug needs is right.
//! * `objects.rs` gives what `visakit-smith` generates to Intel's finalizers (`finalizer.rs`), for crashes only.
//! * `planted.rs` changes what a compiler wrote, to see how many faults the results tell;
//!   `declared.rs` knows where the sign of a source matters.
//! * `reduce.rs` makes programs smaller by the changes of `edit.rs`; `find.rs` judges what is left, `report.rs` writes its
//!   folder with cases (`replay.rs`); `switches.rs` finds the switches of the compiler that avoid it, `instruction.rs` the instruction
//!   that computes the first wrong value. `fault.rs` tells whether another source shows the bug of a folder, and `smaller.rs` lets a
//!   reducer of text go on with that.

#![forbid(unsafe_code)]

mod arithmetic;
pub mod ast;
mod campaign;
mod cause;
mod choices;
mod compiler;
mod configuration;
mod declared;
mod edit;
mod evaluate;
mod exact;
mod fault;
mod features;
mod finalizer;
mod find;
mod generate;
mod instruction;
mod kernels;
mod log;
mod machine;
mod objects;
mod planted;
mod probe;
mod process;
mod reduce;
mod render;
mod replay;
mod report;
mod second;
mod shape;
mod smaller;
mod switches;
mod through;
mod transform;
mod types;

pub use campaign::{Campaign, Progress, Settings};
pub use compiler::Compiler;
pub use configuration::{Configuration, Maker, Need};
pub use evaluate::{Buffers, Undefined, evaluate};
pub use fault::shows;
pub use features::Feature;
pub use finalizer::Finalizer;
pub use generate::{Options, generate};
pub use planted::{Planted, Told, plant};
pub use process::Limits;
pub use reduce::{Reduction, reduce};
pub use render::source;
pub use second::{Answer, Given, Launch, Request, Second};
pub use smaller::Smaller;
pub use switches::Switch;
pub use through::Through;
pub use types::{Scalar, Type, Value};
