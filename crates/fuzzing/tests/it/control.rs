//! What a test of soundness has to find: routines that differ in one thing only.

use visakit_fuzzing::proofs::Pair;
use visakit_prove::{Options, Verdict};

fn verdict(old: &[&str], new: &[&str]) -> Verdict {
    match Pair::of_lines(old, new).proof(&Options::default()) {
        Ok(Some(proof)) => proof.verdict,
        other => panic!("{other:?}: {old:?} {new:?}"),
    }
}

#[test]
fn what_is_equal_is_proven() {
    let pairs: &[(&[&str], &[&str])] = &[
        (
            &["shl (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0> 0x3:d"],
            &["mul (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0> 0x8:d"],
        ),
        (
            &[
                "add (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0> D2(0,0)<1;1,0>",
                "add (M1, 16) D0(0,0)<1> D0(0,0)<1;1,0> D3(0,0)<1;1,0>",
            ],
            &["add3 (M1, 16) D0(0,0)<1> D3(0,0)<1;1,0> D2(0,0)<1;1,0> D1(0,0)<1;1,0>"],
        ),
        (
            &["(P1) mov (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0>"],
            &[
                "(!P1) goto (M1, 16) out",
                "mov (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0>",
                "out:",
            ],
        ),
        (
            &["(P1) mov (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0>"],
            &["(P1) sel (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0> D0(0,0)<1;1,0>"],
        ),
        (
            &["and (M1, 16) UD0(0,0)<1> UD1(0,0)<1;1,0> 0xffff:ud"],
            &["mov (M1, 16) UD0(0,0)<1> UW1(0,0)<2;1,0>"],
        ),
        (
            &[
                "not (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0>",
                "add (M1, 16) D0(0,0)<1> D0(0,0)<1;1,0> 0x1:d",
            ],
            &["mov (M1, 16) D0(0,0)<1> (-)D1(0,0)<1;1,0>"],
        ),
    ];
    for (old, new) in pairs {
        assert_eq!(verdict(old, new), Verdict::Proven, "{old:?} {new:?}");
    }
}

#[test]
fn what_differs_is_refuted() {
    let pairs: &[(&[&str], &[&str])] = &[
        (
            &["asr (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0> 0x3:d"],
            &["shr (M1, 16) UD0(0,0)<1> UD1(0,0)<1;1,0> 0x3:ud"],
        ),
        (&["mov (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0>"], &[]),
        (
            &[
                "mul (M1, 16) F0(0,0)<1> F1(0,0)<1;1,0> F2(0,0)<1;1,0>",
                "add (M1, 16) F0(0,0)<1> F0(0,0)<1;1,0> F3(0,0)<1;1,0>",
            ],
            &["mad (M1, 16) F0(0,0)<1> F1(0,0)<1;1,0> F2(0,0)<1;1,0> F3(0,0)<1;1,0>"],
        ),
    ];
    for (old, new) in pairs {
        let found = verdict(old, new);
        assert!(
            matches!(found, Verdict::Refuted(_)),
            "{old:?} {new:?} {found:?}"
        );
    }
}
