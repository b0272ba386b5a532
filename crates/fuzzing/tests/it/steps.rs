//! Kernels that are the same step by step: under other names, with steps that nothing depends on, and never for a mutant
//! that a run tells apart.

use visakit_fuzzing::proofs::{Pair, Style};

/// Pairs of each style; `VISAKIT_PROVE=25000` for a long run.
fn pairs() -> u64 {
    let number = std::env::var("VISAKIT_PROVE").ok();
    number.and_then(|n| n.parse().ok()).unwrap_or(100)
}

/// Integers of one type may be exchanged in a sum; in a difference, and floats, not.
#[test]
fn sources_that_commute_may_be_exchanged() {
    let same_lines = |old: &str, new: &str| Pair::of_lines(&[old], &[new]).is_same().unwrap();
    for (operation, ty, equal) in [
        ("add", "D", true),
        ("xor", "UD", true),
        ("mul", "D", true),
        ("shl", "D", false),
        ("min", "D", false),
        ("add", "F", false),
    ] {
        let line = |a, b| {
            format!("{operation} (M1, 16) {ty}0(0,0)<1> {ty}{a}(0,0)<1;1,0> {ty}{b}(0,0)<1;1,0>")
        };
        let found = same_lines(&line(1, 2), &line(2, 1));
        assert_eq!(found, Some(equal), "{operation} {ty}");
    }
    let line = |b| format!("add (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0> {b}D2(0,0)<1;1,0>");
    assert_eq!(same_lines(&line(""), &line("(-)")), Some(false));
}

#[test]
fn no_mutant_is_the_same_that_a_run_tells_apart() {
    for style in Style::ALL {
        let (mut asked, mut equal) = (0, 0);
        for seed in 0..pairs() {
            let pair = Pair::of_seed(seed, Some(style));
            let Some(steps) = pair.steps().unwrap() else {
                continue;
            };
            asked += 1;
            equal += u64::from(steps.changed);
            assert!(
                steps.edited,
                "{style:?}, seed {seed}: not the same\n{pair:#?}"
            );
            if let Some(found) = &steps.difference {
                panic!("{style:?}, seed {seed}: the same, but {found:?}\n{pair:#?}");
            }
        }
        visakit_testing::say(&format!(
            "{style:?}: {asked} mutants, {equal} the same step by step"
        ));
        // Mutants are mostly legal texts, and some change nothing.
        assert!(asked > pairs() / 3, "{style:?}: {asked}");
        assert!(
            equal > 0 && equal * 2 < asked,
            "{style:?}: {equal} of {asked}"
        );
    }
}
