//! The validator from outside.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)] // helpers of tests

mod agreement;
mod common;
mod faults;
mod forms;
mod places;
