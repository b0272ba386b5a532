//! Reduction from outside.

mod reduce;
