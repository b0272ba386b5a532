//! Proofs of kernels: of random routines and what becomes of them, and of the compiler's kernels.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)] // tests

mod cases;
mod control;
mod examine;
mod generate;
mod mutants;
mod pairs;
mod plants;
mod scalars;
mod steps;
