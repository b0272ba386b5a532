//! Equivalence modulo inputs: kernels of a folder, changed without changing what they compute for these arguments.
//!
//! [`parsed`] reads a source as C, [`change`] makes variants of the changes that the other files find, one way of
//! changing each. A [`Subject`] is a kernel with its arguments: those of a case beside it, or generated ones.

mod branch;
mod change;
mod dead;
mod exact;
mod find;
mod memory;
mod outline;
mod parsed;
mod peel;
mod reference;
mod subject;
mod swap;
#[cfg(all(test, unix))]
mod tests;

pub(crate) use find::{Variant, Variants};
pub(crate) use parsed::Parsed;
pub(crate) use reference::Reference;
pub(crate) use subject::{Subject, subjects};
