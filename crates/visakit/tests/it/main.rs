//! Laws of reading and writing.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

mod alternatives;
mod build;
mod containers;
mod corpus;
mod damage;
mod dump;
mod examples;
mod features;
mod fields;
mod launcher;
mod layouts;
mod newest;
mod snippets;
mod stats;
mod validate;
