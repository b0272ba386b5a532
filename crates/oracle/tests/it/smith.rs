//! What the generator of objects calls executable behaves the same in both machines.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::collections::BTreeMap;
use std::io::Write;
use visakit_isa::{Dialect, Format, Op, Version};
use visakit_oracle::compare::{Verdict, compare, compare_changed, prune};
use visakit_oracle::generated;
use visakit_rewrite::convert;
use visakit_smith::{Config, Platform, from_seed};

/// Written directly to the stream: the harness hides the output of `eprintln!` in a test that passes.
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
        let mut case = generated::case(object, platform);
        let before = case.object.kernels[0].body().unwrap().code.len();
        // What the definitions leave open, such as the last bits of a sine in memory, is removed.
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

#[test]
fn the_fuzz_target_takes_any_bytes() {
    for seed in 0..60 {
        generated::agree(&visakit_smith::input_of_seed(seed));
    }
    for length in 0..300 {
        for byte in [0, 1, 0x55, 0xff] {
            generated::agree(&vec![byte; length]);
        }
    }
}

#[test]
fn old_versions_run_equally() {
    for seed in 0..150u64 {
        let versions = &Version::SUPPORTED[1..];
        let mut config = Config::default();
        config.version = versions[usize::try_from(seed).unwrap() % versions.len()];
        let mut case = generated::case(from_seed(seed, &config), config.platform);
        let _ = prune(&mut case);
        let verdict = compare(&case);
        assert_eq!(verdict, Verdict::Agree, "seed {seed} of {}", config.version);
    }
}

/// Conditionals and loops without labels do the same as the jumps that they become in later versions, and come back as
/// they were.
#[test]
fn structures_run_equally_as_jumps() {
    let is_structure = |op: Op| matches!(op, Op::IF | Op::DO);
    let mut with_structures = 0;
    for seed in 0..600u64 {
        let mut config = Config::default();
        config.version =
            [Version::V3_1, Version::V3_2, Version::V3_6][usize::try_from(seed % 3).unwrap()];
        let mut case = generated::case(from_seed(seed, &config), config.platform);
        let _ = prune(&mut case);
        let body = case.object.kernels[0].body().unwrap();
        if !body.instructions().any(|i| is_structure(i.op)) {
            continue;
        }
        let home = case.object.format();
        let Ok(object) = convert(
            case.object.clone(),
            Format::new(Version::V4_1, Dialect::default()),
        ) else {
            continue;
        };
        with_structures += 1;
        let back = convert(object.clone(), home).unwrap();
        assert_eq!(back.kernels, case.object.kernels, "seed {seed}");
        let mut changed = case.clone();
        changed.object = object;
        assert_eq!(
            compare_changed(&case, &changed),
            Verdict::Agree,
            "seed {seed}"
        );
    }
    say(&format!(
        "{with_structures} objects with structures as jumps: the same"
    ));
    assert!(with_structures > 20, "{with_structures}");
}
