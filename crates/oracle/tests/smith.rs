//! What the generator of objects calls executable runs equally in both machines.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::collections::BTreeMap;
use std::io::Write;
use visakit_oracle::compare::{Verdict, compare, prune};
use visakit_oracle::generate::Case;
use visakit_oracle::memory::Binding;
use visakit_smith::{Config, Platform, SURFACE_BYTES, from_seed};

/// Written to the stream itself: the harness hides what `eprintln!` says in a test that passes.
fn say(what: &str) {
    let line = format!("{what}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

#[test]
fn a_thousand_seeds_run_equally() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut shown = Vec::new();
    let (mut instructions, mut open) = (0, 0);
    for seed in 0..1000u64 {
        let platform = Platform::ALL[usize::try_from(seed).unwrap() % Platform::ALL.len()];
        let object = from_seed(seed, &Config::for_platform(platform));
        let simd = object.kernels[0].body().unwrap();
        let simd = simd.attribute("SimdSize").unwrap().number().unwrap();
        let mask = u32::try_from((1u64 << simd) - 1).unwrap();
        let bytes = usize::try_from(SURFACE_BYTES).unwrap();
        let mut case = Case {
            object,
            grf: platform.grf_bytes().into(),
            mask,
            cr0: 0x4c0,
            sets: Vec::new(),
            buffers: vec![(0..=250u8).cycle().take(bytes).collect()],
            addresses: vec![0x1_0000],
            local_bytes: bytes,
            bindings: vec![(Binding::Table(1), 0)],
            images: Vec::new(),
            counters: Vec::new(),
        };
        let before = case.object.kernels[0].body().unwrap().code.len();
        // What the definitions leave open, such as the last bits of a sine in memory, is taken out.
        open += prune(&mut case).len();
        instructions += before;
        let (kind, why) = match compare(&case) {
            Verdict::Agree => ("agree", None),
            Verdict::Differ(differences) => ("differ", Some(format!("{}", differences[0]))),
            Verdict::Fault(message) => ("fault", Some(message)),
            Verdict::Undefined(halt) => ("undefined", Some(format!("{halt:?}"))),
        };
        *counts.entry(kind).or_default() += 1;
        if let Some(why) = why {
            shown.push(format!(
                "seed {seed} for {}: {kind}: {why}",
                platform.name()
            ));
        }
    }
    say(&format!(
        "1000 seeds, {instructions} instructions, {open} of them left open by the definitions: {counts:?}"
    ));
    assert!(open * 100 < instructions);
    shown.truncate(40);
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}
