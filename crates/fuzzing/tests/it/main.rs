//! Bodies of fuzz targets and laws of reading and writing, on fixtures and on random inputs.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // tests

mod control;
mod numbers;
mod proofs;
mod property;
mod replay;
mod steps;
