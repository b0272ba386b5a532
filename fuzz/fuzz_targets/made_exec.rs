//! Generated objects run to their end, and damaged ones within limits.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::made_exec(data));
