//! Generated objects survive their texts.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::made_text(data));
