//! All targets in one binary: the environment variable `FUZZER` says which one runs.

#![no_main]

use std::sync::LazyLock;
use visakit_fuzzing::{TARGETS, Target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZER").unwrap_or_default();
    Target::named(&name).unwrap_or_else(|| {
        let names = TARGETS.map(|target| target.name).join(", ");
        panic!("FUZZER={name:?} names no target; there are {names}")
    })
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.run)(data));
