//! The machine from outside.

mod addressed;
mod common;
mod control_flow;
mod layers;
mod listings;
mod litmus;
mod live;
mod observed;
mod operands;
mod passes;
mod predicates;
mod starts;
mod stops;
mod support;
mod together;
