//! What strict reading accepts is written identically.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::written(data));
