//! The generator from outside.

mod finalizer;
mod laws;
mod rows;
mod shape;
mod valid;
