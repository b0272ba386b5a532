//! What a test of soundness has to find: routines that differ in one thing only.

use visakit_fuzzing::proofs::Pair;
use visakit_prove::{Mode, Options, Verdict};

fn verdict(old: &[&str], new: &[&str]) -> Verdict {
    within(old, new, Mode::Bits)
}

fn within(old: &[&str], new: &[&str], mode: Mode) -> Verdict {
    let options = Options {
        mode,
        by_steps: false,
        ..Options::default()
    };
    match Pair::of_lines(old, new).proof(&options) {
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

/// What the old routine leaves open, the new one may choose, but not the other way round. `IX` is never written.
#[test]
fn undefined_bits_of_the_old_kernel_are_free() {
    let open = &["mov (M1, 8) D0(0,0)<1> IX(0,0)<1;1,0>"][..];
    let chosen = &["mov (M1, 8) D0(0,0)<1> 0x5:d"][..];
    assert_eq!(verdict(open, chosen), Verdict::Proven);
    assert!(matches!(verdict(chosen, open), Verdict::Refuted(_)));
    let twice = [open[0], "mov (M1, 8) D1(0,0)<1> IX(0,0)<1;1,0>"];
    let unequal = [chosen[0], "mov (M1, 8) D1(0,0)<1> 0x6:d"];
    assert!(matches!(verdict(&twice, &unequal), Verdict::Unknown(_)));
}

/// A part of a number, under a condition, and from memory: in one direction each. `IX` is never written.
#[test]
fn a_new_kernel_chooses_what_the_old_one_leaves_open() {
    let chosen = |number: u32| format!("mov (M1, 16) D0(0,0)<1> {number:#x}:d");
    let (five, more) = (chosen(5), chosen(0x105));
    let (part, whole) = (
        "and (M1, 16) UD0(0,0)<1> IX(0,0)<1;1,0> 0xff:ud",
        "mov (M1, 16) UD0(0,0)<1> IX(0,0)<1;1,0>",
    );
    // What the old one leaves open, what the new one chooses, and whether that is a choice.
    let pairs: [(Vec<&str>, Vec<&str>, bool); 4] = [
        (vec![part], vec![&five], true),
        (vec![part], vec![&more], false),
        (vec![whole], vec![part], true),
        // The condition is that of the old kernel.
        (
            vec!["(P1) mov (M1, 16) UD0(0,0)<1> IX(0,0)<1;1,0>"],
            vec!["(P1) mov (M1, 16) UD0(0,0)<1> UD3(0,0)<1;1,0>"],
            true,
        ),
    ];
    for (open, choice, is_one) in pairs {
        let found = verdict(&open, &choice);
        assert_eq!(
            found == Verdict::Proven,
            is_one,
            "{open:?} {choice:?} {found:?}"
        );
        let back = verdict(&choice, &open);
        assert_ne!(back, Verdict::Proven, "{choice:?} {open:?}");
    }
    let masked = ["(P1) mov (M1, 16) UD0(0,0)<1> IX(0,0)<1;1,0>"];
    let wider = ["mov (M1, 16) UD0(0,0)<1> UD3(0,0)<1;1,0>"];
    assert_ne!(verdict(&masked, &wider), Verdict::Proven);
    // Each leaves it open for itself.
    assert_eq!(verdict(&[whole], &[whole]), Verdict::Proven);
}

/// As real numbers, products and sums are associative and distributive; a difference of real numbers is one.
#[test]
fn floats_as_real_numbers() {
    let add = |to, a, b| format!("add (M1, 16) F{to}(0,0)<1> F{a}(0,0)<1;1,0> F{b}(0,0)<1;1,0>");
    let mul = |to, a, b| format!("mul (M1, 16) F{to}(0,0)<1> F{a}(0,0)<1;1,0> F{b}(0,0)<1;1,0>");
    // F0 * (F1 + F2), and F2 * F0 + F1 * F0.
    let (sum, whole) = (add(4, 1, 2), mul(0, 0, 4));
    let (first, second, both) = (mul(4, 2, 0), mul(5, 1, 0), add(0, 4, 5));
    let old = [sum.as_str(), &whole];
    let new = [first.as_str(), &second, &both];
    assert_eq!(within(&old, &new, Mode::Reassociated), Verdict::Proven);
    for mode in [Mode::Bits, Mode::Contracted] {
        assert_ne!(within(&old, &new, mode), Verdict::Proven);
    }
    let other = mul(5, 1, 1);
    let wrong = [first.as_str(), &other, &both];
    assert_ne!(within(&old, &wrong, Mode::Reassociated), Verdict::Proven);
}
