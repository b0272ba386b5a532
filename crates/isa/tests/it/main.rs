//! The table from outside.

mod facts;
mod table;
