//! The table from outside.

mod build;
mod facts;
mod fields;
mod semantics;
mod table;
