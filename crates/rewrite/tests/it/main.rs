//! Edits, passes and conversions from outside.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // tests that cannot go on panic

mod convert;
mod edits;
mod intel;
mod layout;
mod minimise;
mod passes;
mod picture;
mod reduce;
mod rewriter;
mod same;
