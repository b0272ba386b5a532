//! Laws of reading and writing.

mod alternatives;
mod build;
mod containers;
mod corpus;
mod damage;
mod dump;
mod examples;
mod fields;
mod layouts;
mod stats;
mod validate;
