//! Generated objects do the same in the fast and in the slow machine.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit_oracle::generated::agree(data));
