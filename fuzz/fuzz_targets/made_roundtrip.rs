//! Generated objects are written and read as they were made.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::made_roundtrip(data));
