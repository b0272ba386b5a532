//! A slow evaluator.
#![allow(
    clippy::indexing_slicing,
    reason = "a test tool over routines that it makes itself"
)]

pub mod atomic;
pub mod compare;
pub mod compute;
pub mod float;
pub mod generate;
mod lsc;
pub mod memory;
pub mod message;
pub mod operand;
pub mod run;
pub mod session;
pub mod state;
pub mod step;
mod systolic;
pub mod value;
