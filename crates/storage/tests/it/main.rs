//! Memory that threads share.

mod races;
#[cfg(not(shuttle))]
mod storage;
