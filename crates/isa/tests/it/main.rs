//! The table from outside.

mod build;
mod facts;
mod fields;
mod lines;
mod semantics;
mod table;
