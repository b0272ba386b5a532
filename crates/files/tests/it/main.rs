//! Outputs are whole or untouched, inputs are bounded.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

mod read;
mod replace;
mod temporary;
