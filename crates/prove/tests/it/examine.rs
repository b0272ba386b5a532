//! One kernel: what it never does, and what keeps that from being said.

use crate::pairs::{grf_bytes, object, text};
use visakit_isa::object::Object;
use visakit_launch::{Case, Config};
use visakit_prove::{Options, Side, Verdict, examine};

/// Examines a committed case whose text is changed.
fn examined(name: &str, change: impl FnOnce(String) -> String) -> Verdict {
    let path = visakit_testing::fixtures().join("cases").join(name);
    let (case, config) = (Case::open(&path).unwrap(), Config::default());
    let grf = grf_bytes(&case);
    let changed = |from: Object<'static>| object(&change(text(&from, grf)), grf).unwrap();
    let proof = case.launch(true, &config, changed, |kernel, arguments, launch| {
        let side = Side {
            kernel,
            range: *launch.range(),
        };
        examine(side, arguments, &config, &Options::default())
    });
    proof.unwrap().verdict
}

fn why(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Unknown(unknown) => &unknown.why,
        other => panic!("{other:?}"),
    }
}

/// Local memory, stacks in private memory, and groups that are not full.
#[test]
fn right_kernels_are_clean() {
    for case in ["lreduce/acm-g10", "call_stack/pvc", "partial_groups/pvc"] {
        assert_eq!(examined(case, |text| text), Verdict::Proven, "{case}");
    }
}

#[test]
fn an_access_after_the_end_of_local_memory_is_not_clean() {
    let verdict = examined("lreduce/acm-g10", |text| {
        let lines = text
            .lines()
            .map(|line| match line.contains("lsc_store.slm") {
                true => line.replace("]:a32", "+0x100000]:a32"),
                false => line.to_owned(),
            });
        let lines: Vec<String> = lines.collect();
        assert!(lines.iter().any(|line| line.contains("+0x100000")));
        lines.join("\n") + "\n"
    });
    assert!(why(&verdict).contains("outside of local"), "{verdict:?}");
}

#[test]
fn a_missing_barrier_is_a_race() {
    let verdict = examined("lreduce/acm-g10", |text| {
        let lines: Vec<&str> = text.lines().filter(|l| l.trim() != "barrier").collect();
        assert!(lines.len() < text.lines().count());
        lines.join("\n") + "\n"
    });
    assert!(why(&verdict).contains("without an order"), "{verdict:?}");
}

#[test]
fn a_missing_fence_is_a_race() {
    let verdict = examined("lreduce/acm-g10", |text| {
        let is_fence = |line: &&str| line.contains("fence");
        let lines: Vec<&str> = text.lines().filter(|line| !is_fence(line)).collect();
        assert!(lines.len() < text.lines().count());
        lines.join("\n") + "\n"
    });
    assert!(why(&verdict).contains("without an order"), "{verdict:?}");
}
