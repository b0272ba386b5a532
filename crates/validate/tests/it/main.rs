//! The validator from outside.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

mod agreement;
mod common;
mod faults;
mod places;
