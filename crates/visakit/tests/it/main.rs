//! Laws of reading and writing.

mod alternatives;
mod containers;
mod corpus;
mod damage;
mod dump;
mod fields;
mod layouts;
mod refusals;
mod validate;
