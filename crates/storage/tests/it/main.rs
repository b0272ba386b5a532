//! Memory that threads share.

mod races;
#[cfg(not(visakit_shuttle))]
mod storage;
