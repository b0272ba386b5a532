//! Generated objects, whole and damaged, are read without loss.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::made_decode(data));
