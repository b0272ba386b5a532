//! Reading never panics, and lenient reading loses no byte.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::decode(data));
