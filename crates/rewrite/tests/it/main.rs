//! Edits, passes and conversions from outside.

mod convert;
mod edits;
mod intel;
mod passes;
mod rewriter;
