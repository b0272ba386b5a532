//! What can be read prints, and its text assembles or is refused.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::printed(data));
