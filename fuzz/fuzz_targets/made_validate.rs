//! Nothing is found in generated objects, and damage is reported.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::made_validate(data));
