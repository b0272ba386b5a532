//! The writer alone: every kind of operand, and what a format cannot express. Nothing here needs a
//! file, so that it also runs under miri, for big-endian hosts.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod refusals;
mod values;
