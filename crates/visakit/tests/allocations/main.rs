//! Heap usage of reading and printing.
//!
//! A separate binary, beside `it`: the counting allocator would slow every other test down.

mod printing;
mod reading;
