//! Printer and assembler from outside.

mod arrangement;
mod assemble;
mod edits;
mod exact;
mod examples;
mod faults;
mod fixtures;
mod format;
mod grammar;
mod laws;
mod plain;
mod reference;
mod routines;
mod rows;
mod values;
