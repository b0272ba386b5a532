//! What reading and printing take from the heap.
//!
//! A binary of its own, beside `it`: the allocator that counts would slow every other test down.

mod printing;
mod reading;
