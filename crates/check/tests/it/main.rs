//! What the checkers find, and what they do not.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod barriers;
mod borders;
mod cases;
mod faults;
mod kernels;
mod outside;
mod suppress;
mod threads;
