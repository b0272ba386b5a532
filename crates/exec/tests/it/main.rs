//! The machine from outside.

mod control_flow;
mod operands;
mod support;
mod together;
