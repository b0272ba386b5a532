//! Exact text carries every byte, and plain text is the same program.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::texts(data));
