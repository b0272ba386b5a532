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
        ("min", "D", true),
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

/// Whether two routines are taken for the same.
fn same_lines_of(old: &[String], new: &[String]) -> Option<bool> {
    let [old, new] = [old, new].map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
    Pair::of_lines(&old, &new).is_same().unwrap()
}

/// A step may write the elements of lanes that wait, if they do not read them when they go on.
#[test]
fn a_mask_makes_no_difference_where_waiting_lanes_read_nothing() {
    for (read_later, lines, equal) in [
        ("D1", "mov (M1, 16) D4(0,0)<1> D0(0,0)<1;1,0>", true),
        ("D4", "mov (M1, 16) D4(0,0)<1> D0(0,0)<1;1,0>", false),
        // A predicate that lanes read after they have set it.
        (
            "D1",
            "cmp.lt (M1, 16) P3 D0(0,0)<1;1,0> D2(0,0)<1;1,0>",
            true,
        ),
        // Other lanes read the element.
        ("D1", "mov (M1, 16) D4(0,0)<1> D0(0,0)<0;1,0>", true),
    ] {
        let routine = |line: &str| {
            [
                "(P1) goto (M1, 16) E0".to_owned(),
                line.to_owned(),
                "add (M1, 16) D1(0,0)<1> D4(0,0)<1;1,0> 0x1:d".to_owned(),
                "(P3) add (M1, 16) D2(0,0)<1> D2(0,0)<1;1,0> 0x1:d".to_owned(),
                "E0:".to_owned(),
                format!("xor (M1, 16) D0(0,0)<1> {read_later}(0,0)<1;1,0> D3(0,0)<1;1,0>"),
            ]
        };
        let (old, new) = (
            routine(lines),
            routine(&lines.replace("(M1, 16)", "(M1_NM, 16)")),
        );
        let [old, new] = [&old, &new].map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
        for pair in [Pair::of_lines(&old, &new), Pair::of_lines(&new, &old)] {
            assert_eq!(pair.is_same().unwrap(), Some(equal), "{pair:#?}");
        }
    }
    // The first lane's element is read by all.
    let routine = |lanes| {
        vec![
            "(P1) goto (M1, 16) E0".to_owned(),
            format!("mov ({lanes}, 16) D4(0,0)<1> D0(0,0)<1;1,0>"),
            "E0:".to_owned(),
            "add (M1, 16) D1(0,0)<1> D4(0,0)<0;1,0> 0x1:d".to_owned(),
        ]
    };
    let (old, new) = (routine("M1"), routine("M1_NM"));
    assert_eq!(same_lines_of(&old, &new), Some(false));
}

/// Bits of a predicate that each lane reads after it has written them itself may be anything in other lanes.
#[test]
fn a_mask_makes_no_difference_to_bits_that_nobody_else_reads() {
    let cmp = "cmp.lt (M1, 16) P3 D0(0,0)<1;1,0> D2(0,0)<1;1,0>";
    let and = "and (M1, 16) P3 P3 P2";
    let add = "(P3) add (M1, 16) D2(0,0)<1> D2(0,0)<1;1,0> 0x1:d";
    let without = |line: &str| line.replace("(M1, 16)", "(M1_NM, 16)");
    let half = |line: &str| line.replace("(M1, 16)", "(M1, 8)");
    let (any, number) = (
        add.replace("(P3)", "(P3.any)"),
        "mov (M1_NM, 1) UD2(0,0)<1> P3",
    );
    for (lines, changed, after, equal) in [
        (&[cmp, and, add][..], 0, "", true),
        (&[cmp, and, add], 1, "", true),
        (&[cmp, add, "(P3) goto (M1, 16) E1"], 0, "", true),
        // Lanes that wait read it.
        (&[cmp, and, add], 0, add, false),
        (&[cmp, and, add], 1, add, false),
        // Before it is set, or where only some lanes have set it.
        (&[add, cmp], 1, "", false),
        (&[and, add], 0, "", false),
        (&[&half(cmp), and, add], 1, "", false),
        // In another block.
        (&["(P2) goto (M1, 16) E2", cmp, "E2:", add], 1, "", false),
        // All bits together, of all lanes, or as a number.
        (&[cmp, &any], 0, "", false),
        (&[cmp, &without(add)], 0, "", false),
        (&[cmp, number], 0, "", false),
        (&[cmp, "(P3) jmp (M1, 1) E1"], 0, "", false),
        // Bits of other lanes.
        (
            &[cmp, "(P3) add (M5, 8) D2(0,0)<1> D2(0,0)<1;1,0> 0x1:d"],
            0,
            "",
            true,
        ),
    ] {
        let routine =
            |change: bool| {
                let mut all = vec!["(P1) goto (M1, 16) E0".to_owned()];
                all.extend(lines.iter().enumerate().map(|(n, line)| {
                    match change && n == changed {
                        true => without(line),
                        false => (*line).to_owned(),
                    }
                }));
                all.extend(["E1:", "E0:", after].map(str::to_owned));
                all.retain(|line| !line.is_empty());
                all
            };
        let (old, new) = (routine(false), routine(true));
        assert_ne!(old, new);
        assert_eq!(same_lines_of(&old, &new), Some(equal), "{new:#?}");
        assert_eq!(same_lines_of(&new, &old), Some(equal), "{new:#?}");
    }
}

/// What the steps before have computed in the lane that reads it is known, and nothing of other lanes.
#[test]
fn what_was_computed_before_is_known() {
    let few = "and (M1, 16) UD4(0,0)<1> UD0(0,0)<1;1,0> 0xff:ud";
    let own = "UD4(0,0)<1;1,0>";
    for (before, read, equal) in [
        (&[few][..], own, true),
        // Of the first lane, which may not run here.
        (&[few], "UD4(0,0)<0;1,0>", false),
        // Without a mask all lanes have written it.
        (
            &["and (M1_NM, 16) UD4(0,0)<1> UD0(0,0)<1;1,0> 0xff:ud"],
            "UD4(0,0)<0;1,0>",
            true,
        ),
        // Of half of the lanes.
        (
            &["and (M1, 8) UD4(0,0)<1> UD0(0,0)<1;1,0> 0xff:ud"],
            own,
            false,
        ),
        (
            &["(P2) and (M1, 16) UD4(0,0)<1> UD0(0,0)<1;1,0> 0xff:ud"],
            own,
            false,
        ),
        // Through other registers, and beside other bits.
        (
            &[few, "mov (M1, 16) UD5(0,0)<1> UD4(0,0)<1;1,0>"],
            "UD5(0,0)<1;1,0>",
            true,
        ),
        (
            &[few, "mov (M1, 16) UW4(0,0)<2> UW0(0,0)<2;1,0>"],
            "UD4(0,0)<1;1,0>",
            false,
        ),
        (
            &[few, "mov (M1, 16) UW4(0,1)<2> UW5(0,1)<2;1,0>"],
            "UD4(0,0)<1;1,0>",
            true,
        ),
        // Loaded after it.
        (
            &[few, "lsc_load.ugm (M1, 16) UD4:d32 bti(0x0)[ADDR]:a32"],
            own,
            false,
        ),
        // Lanes come here by other ways, too.
        (&[few, "E1:"], own, false),
        (
            &[few, "add (M1, 16) UD0(0,0)<1> UD4(0,0)<1;1,0> 0x1:ud"],
            "UD0(0,0)<1;1,0>",
            true,
        ),
    ] {
        let routine = |number: &str| {
            let mut lines = vec!["(P1) goto (M1, 16) E0".to_owned()];
            if before.contains(&"E1:") {
                lines.push("(!P2) goto (M1, 16) E1".to_owned());
            }
            lines.extend(before.iter().map(|line| (*line).to_owned()));
            lines.push(format!("and (M1, 16) UD1(0,0)<1> {read} {number}:ud"));
            lines.push("E0:".to_owned());
            lines
        };
        let (old, new) = (routine("0x1ff"), routine("0x3ff"));
        let [old, new] = [&old, &new].map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
        let found = Pair::of_lines(&old, &new).is_same().unwrap();
        assert_eq!(found, Some(equal), "{before:?} {read}");
    }
    // An instruction without a mask reads lanes that do not run.
    let routine = |number: &str| {
        vec![
            "(P1) goto (M1, 16) E0".to_owned(),
            few.to_owned(),
            format!("and (M1_NM, 16) UD1(0,0)<1> {own} {number}:ud"),
            "E0:".to_owned(),
        ]
    };
    let (old, new) = (routine("0x1ff"), routine("0x3ff"));
    let [old, new] = [&old, &new].map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(Pair::of_lines(&old, &new).is_same().unwrap(), Some(false));
}

#[test]
fn bits_of_a_predicate_that_nobody_reads_make_no_difference() {
    let with = |number: &str, rest: &[&str]| {
        let mut lines = vec![format!("setp (M1_NM, 32) P3 {number}:ud")];
        lines.extend(rest.iter().map(|line| (*line).to_owned()));
        lines
    };
    let add = "(P3) add (M1, 16) D0(0,0)<1> D0(0,0)<1;1,0> 0x1:d";
    let any = "(P3.any) add (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> 0x1:d";
    for (numbers, rest, equal) in [
        (["0x5", "0x10005"], vec![add], true),
        (["0x5", "0x8005"], vec![add], false),
        (
            ["0x5", "0x10005"],
            vec![add, "mov (M1_NM, 1) UD1(0,0)<1> P3"],
            false,
        ),
        (["0x0", "0x80"], vec![any], false),
        (["0x0", "0x100"], vec![any], true),
        (
            ["0x5", "0x10005"],
            vec![add, "and (M1, 32) P1 P3 P2"],
            false,
        ),
    ] {
        let [old, new] = numbers.map(|number| with(number, &rest));
        let found = same_lines_of(&old, &new);
        assert_eq!(found, Some(equal), "{numbers:?} {rest:?}");
    }
}

/// Numbers that follow from ids, and lanes that do not come to a step.
#[test]
fn what_the_launch_decides_is_known() {
    let same = |old: &[&str], new: &[&str]| Pair::of_lines(old, new).is_same().unwrap();
    // The ids of 16 work-items have four bits.
    for (by, equal) in [("0x4:ud", true), ("0x3:ud", false)] {
        let high = format!("shr (M1, 16) UD4(0,0)<1> LD(0,0)<1;1,0> {by}");
        let routine = |by| format!("shl (M1, 16) UD0(0,0)<1> UD4(0,0)<1;1,0> {by}:ud");
        let (old, new) = (routine("0x4"), routine("0x5"));
        // What is written later makes no difference.
        let later = "mov (M1, 16) UD4(0,0)<1> UD1(0,0)<1;1,0>";
        let used = "xor (M1, 16) UD2(0,0)<1> UD2(0,0)<1;1,0> UD4(0,0)<1;1,0>";
        let found = same(&[&high, &old, later, used], &[&high, &new, later, used]);
        assert_eq!(found, Some(equal), "{by}");
        // Before it is written, it is another number.
        let found = same(&[&old, &high, used], &[&new, &high, used]);
        assert_eq!(found, Some(false), "{by}");
    }
    // What several instructions write is none of what one of them does.
    let routine = |by| {
        [
            "shr (M1, 16) K0(0,0)<1> LD(0,0)<1;1,0> 0x4:ud".to_owned(),
            "mov (M1, 16) K0(0,0)<1> UD1(0,0)<1;1,0>".to_owned(),
            format!("shl (M1, 16) UD0(0,0)<1> K0(0,0)<1;1,0> {by}:ud"),
        ]
    };
    assert_eq!(same_lines_of(&routine("0x4"), &routine("0x5")), Some(false));
    let routine = |by| {
        [
            "cmp.lt (M1, 16) P3 LD(0,0)<1;1,0> 0x4:ud".to_owned(),
            "(!P3) goto (M1, 16) E0".to_owned(),
            "E0:".to_owned(),
            "cmp.lt (M1, 16) P3 D1(0,0)<1;1,0> D2(0,0)<1;1,0>".to_owned(),
            "(!P3) goto (M1, 16) E1".to_owned(),
            format!("add (M3, 8) D0(1,0)<1> D0(1,0)<1;1,0> {by}:d"),
            "E1:".to_owned(),
        ]
    };
    assert_eq!(same_lines_of(&routine("0x1"), &routine("0x2")), Some(false));
    for (lanes, number, equal) in [
        ("(M3, 8) D0(1,0)<1> D0(1,0)<1;1,0>", "0x4:ud", true),
        ("(M1, 8) D0(0,0)<1> D0(0,0)<1;1,0>", "0x4:ud", false),
        ("(M3, 8) D0(1,0)<1> D0(1,0)<1;1,0>", "0x9:ud", false),
    ] {
        let routine = |by: &str| {
            [
                format!("cmp.lt (M1, 16) P3 LD(0,0)<1;1,0> {number}"),
                "(!P3) goto (M1, 16) E0".to_owned(),
                format!("add {lanes} {by}:d"),
                "E0:".to_owned(),
            ]
        };
        let (old, new) = (routine("0x1"), routine("0x2"));
        assert_eq!(same_lines_of(&old, &new), Some(equal), "{lanes} {number}");
    }
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
            equal > 0 && equal * 3 < asked * 2,
            "{style:?}: {equal} of {asked}"
        );
    }
}
