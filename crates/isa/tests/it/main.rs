//! The table from outside.

mod facts;
mod semantics;
mod table;
