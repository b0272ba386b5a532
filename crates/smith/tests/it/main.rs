//! The generator from outside.

mod finalizer;
mod fuzz_input;
mod laws;
mod rows;
mod valid;
