//! The table from outside.

mod build;
mod facts;
mod semantics;
mod table;
