//! What can be read can be run, within limits.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::executed(data));
