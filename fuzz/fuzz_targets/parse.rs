//! Any text is assembled or refused; what comes of it is sound.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| visakit::fuzz::assembled(data));
