//! The validator from outside.

mod agreement;
mod common;
mod faults;
mod places;
