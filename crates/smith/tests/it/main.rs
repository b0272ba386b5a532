//! The generator from outside.

mod finalizer;
mod laws;
mod shape;
mod valid;
