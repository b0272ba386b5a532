//! Proofs of the compiler's kernels; those of random routines are in `crates/fuzzing`.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)] // tests

mod cases;
mod examine;
mod images;
mod kernels;
mod loops;
mod pairs;
mod places;
mod plants;
mod scalars;
