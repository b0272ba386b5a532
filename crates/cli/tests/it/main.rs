//! The tool as its users meet it.

mod asm;
mod change;
mod cli;
mod dump;
mod generate;
mod hostile;
mod listing;
mod readme;
mod run;
mod validate;
