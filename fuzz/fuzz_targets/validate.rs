//! Validation of any bytes ends, and says where things are wrong.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::validate(data));
