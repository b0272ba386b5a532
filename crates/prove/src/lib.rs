//! tmp
#![forbid(unsafe_code)]

mod lower;
mod machine;
mod memory;
mod message;
mod prove;
mod solver;
pub mod term;
mod thread;
mod trial;
mod unknown;

pub use prove::{Options, Output, Proof, Refutation, Side, Verdict, prove, refute};
pub use trial::Difference;
pub use unknown::Unknown;
