//! Loops of which nobody knows how often they run, by induction alone.

use crate::kernels::{Asked, why};
use crate::pairs::pair;
use std::time::Duration;
use visakit_launch::Case;
use visakit_prove::{Method, Options, Proof, Verdict};

/// A loop of eight lanes, each of which goes on while the number that it has loaded is greater than 1. How often it went
/// round is stored.
fn looped(body: &str, end: &str) -> String {
    format!(
        "mov (M1_NM, 8) AT(0,0)<1> 0x76543210:uv
         shl (M1_NM, 8) AT(0,0)<1> AT(0,0)<1;1,0> 0x2:ud
         lsc_load.ugm (M1, 8) X:d32 bti(0x0)[AT]:a32
         mov (M1, 8) N(0,0)<1> 0x0:ud
         again:
         {body}
         cmp.gt (M1, 8) P1 X(0,0)<1;1,0> 0x1:ud
         (P1) goto (M1, 8) again
         {end}"
    )
}

const BODY: &str = "shr (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud
                    add (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x1:ud";
const END: &str = "lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 N:d32";

fn asked(trials: u64) -> Asked {
    let mut asked = Asked::of_threads(1);
    asked.options.by_steps = false;
    asked.options.by_terms = false;
    asked.options.trials = trials;
    asked
}

fn proof(old: &str, new: &str) -> Proof {
    asked(0).proof([old, new])
}

#[track_caller]
fn is_proven(old: &str, new: &str) {
    let proof = proof(old, new);
    assert_eq!(proof.verdict, Verdict::Proven, "{new}");
    assert!(matches!(proof.method, Method::Induction { .. }), "{new}");
}

/// It is not proven without runs, and runs tell it apart.
#[track_caller]
fn is_refuted(old: &str, new: &str) {
    assert_ne!(proof(old, new).verdict, Verdict::Proven, "{new}");
    let found = asked(48).proof([old, new]).verdict;
    assert!(matches!(found, Verdict::Refuted(_)), "{found:?} {new}");
}

#[test]
fn loops_that_compute_otherwise_are_proven() {
    let old = looped(BODY, END);
    for body in [
        // In another order.
        "add (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x1:ud
         shr (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud",
        // In other registers, with other instructions.
        "shr (M1, 8) SPARE(0,0)<1> X(0,0)<1;1,0> 0x1:ud
         and (M1, 8) X(0,0)<1> SPARE(0,0)<1;1,0> 0x7fffffff:ud
         add (M1, 8) SPARE(0,0)<1> N(0,0)<1;1,0> 0x5:ud
         add (M1, 8) N(0,0)<1> SPARE(0,0)<1;1,0> 0xfffffffc:ud",
        // Twice what counts, which is always even.
        "shr (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud
         shl (M1, 8) SPARE(0,0)<1> N(0,0)<1;1,0> 0x1:ud
         shr (M1, 8) SPARE(0,0)<1> SPARE(0,0)<1;1,0> 0x1:ud
         and (M1, 8) SPARE(0,0)<1> SPARE(0,0)<1;1,0> 0x7fffffff:ud
         add (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x1:ud",
        // A branch for a choice that changes nothing.
        "cmp.eq (M1, 8) P1 N(0,0)<1;1,0> 0x3:ud
         (P1) goto (M1, 8) three
         mov (M1, 8) SPARE(0,0)<1> 0x1:ud
         goto (M1, 8) on
         three:
         mov (M1, 8) SPARE(0,0)<1> 0x1:ud
         on:
         shr (M1, 8) X(0,0)<1> X(0,0)<1;1,0> SPARE(0,0)<1;1,0>
         add (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x1:ud",
    ] {
        is_proven(&old, &looped(body, END));
    }
    // What is loaded again is the same; what was stored in a register before is free to be used.
    let twice = format!("lsc_load.ugm (M1, 8) Y:d32 bti(0x0)[AT]:a32\n{END}");
    is_proven(&looped(BODY, &twice), &looped(BODY, END));
}

/// A barrier orders writes that are fenced: the fences of both kernels are the same.
#[test]
fn fences_are_compared() {
    let exchanged = |fence: &str| {
        let end = format!(
            "lsc_store.slm (M1, 8) flat[AT]:a32 N:d32
             {fence}
             barrier
             lsc_load.slm (M1, 8) Y:d32 flat[AT]:a32
             lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 Y:d32"
        );
        looped(BODY, &end)
    };
    let local = "lsc_fence.slm.none.group";
    let mut asked = asked(0);
    asked.options.trials = 0;
    let is_proven =
        |new: &str| asked.proof([&exchanged(local), &exchanged(new)]).verdict == Verdict::Proven;
    assert!(is_proven(local));
    assert!(is_proven(&format!("{local}\n{local}")));
    assert!(is_proven("fence_local.E"));
    assert!(!is_proven(""));
    assert!(!is_proven("lsc_fence.ugm.none.gpu"));
}

#[test]
fn loops_with_mistakes_are_not_proven() {
    let old = looped(BODY, END);
    for (from, to) in [
        ("0x1:ud\nadd", "0x2:ud\nadd"),
        (" 0x1:ud\n         cmp", " 0x2:ud\n         cmp"),
        ("cmp.gt", "cmp.ge"),
        ("cmp.gt", "cmp.lt"),
        (
            "X(0,0)<1;1,0> 0x1:ud\n         (P1)",
            "X(0,0)<1;1,0> 0x2:ud\n         (P1)",
        ),
        ("N:d32", "X:d32"),
        (
            "mov (M1, 8) N(0,0)<1> 0x0:ud",
            "mov (M1, 8) N(0,0)<1> 0x1:ud",
        ),
        (
            "mov (M1, 8) N(0,0)<1> 0x0:ud",
            "mov (M1, 4) N(0,0)<1> 0x0:ud",
        ),
        // Of all lanes as long as one goes on.
        ("add (M1, 8) N", "add (M1_NM, 8) N"),
    ] {
        let squeezed: Vec<&str> = old.lines().map(str::trim).collect();
        let from: Vec<&str> = from.lines().map(str::trim_start).collect();
        let to: Vec<&str> = to.lines().map(str::trim_start).collect();
        let (old, from, to) = (squeezed.join("\n"), from.join("\n"), to.join("\n"));
        assert!(old.contains(&from), "{from}");
        is_refuted(&old, &old.replacen(&from, &to, 1));
    }
}

/// Both are the same in all runs that anybody makes, and differ in others.
#[track_caller]
fn is_not_proven(old: &str, new: &str) {
    assert_ne!(proof(old, new).verdict, Verdict::Proven, "{new}");
    // It is not for want of a comparison.
    is_proven(new, new);
}

/// A lane does something else if it comes to a number that is hardly ever there, in a register.
fn rarely(register: &str, lines: &str) -> String {
    format!(
        "cmp.eq (M1, 8) P1 {register}(0,0)<1;1,0> 0x1234567:ud
         {lines}"
    )
}

#[test]
fn what_hardly_ever_differs_is_not_proven() {
    let old = looped(BODY, END);
    for lines in [
        // Other values, and so other lanes go on.
        "(P1) mov (M1, 8) X(0,0)<1> 0x0:ud",
        // Other lanes go on, with the same values.
        "(P1) goto (M1, 8) off",
        // Another value is stored.
        "(P1) mov (M1, 8) N(0,0)<1> 0x0:ud",
    ] {
        let new = looped(
            &format!("{BODY}\n{}", rarely("X", lines)),
            &format!("off:\n{END}"),
        );
        is_not_proven(&old, &new);
    }
    // The number is not what it seems to be after few rounds.
    let down = |lines: &str| {
        let body = "add (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0xffffffff:ud
                    add (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x1:ud";
        looped(&format!("{body}\n{lines}"), END)
    };
    is_not_proven(
        &down(""),
        &down("and (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0xffffff:ud"),
    );
    // A store under another condition, at another address, of something else that is loaded before or after another one.
    let store = |lines: &str, store: &str| {
        let end = format!("{}\n{store}", rarely("X", lines));
        looped(BODY, &end)
    };
    is_not_proven(
        &store("", END),
        &store("", "(!P1) lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 N:d32"),
    );
    is_not_proven(
        &store("", END),
        &store("(P1) mov (M1, 8) AT(0,0)<1> 0x0:ud", END),
    );
    let load = "lsc_load.ugm (M1, 8) Y:d32 bti(0x0)[N]:a32";
    let other = "lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 Y:d32";
    let [before, after] = [[load, END], [END, load]].map(|lines| {
        let address = "shl (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x2:ud";
        store("", &format!("{address}\n{}\n{other}", lines.join("\n")))
    });
    assert_ne!(proof(&before, &after).verdict, Verdict::Proven);
}

/// What a thread does without lanes, to elements of lanes that wait, and to registers that they read when they go on.
#[test]
fn what_happens_to_lanes_that_wait_is_compared() {
    let write = |value: &str| {
        format!(
            "cmp.eq (M1_NM, 1) P1 X(0,0)<0;1,0> 0x1234567:ud
             mov (M1_NM, 1) W(0,0)<1> 0xc:uw
             addr_add (M1_NM, 1) A0(0)<1> &N W(0,0)<0;1,0>
             mov (M1, 8) SPARE(0,0)<1> N(0,0)<1;1,0>
             (P1) mov (M1_NM, 1) r[A0(0),0]<1>:ud {value}
             mov (M1, 8) N(0,0)<1> SPARE(0,0)<1;1,0>"
        )
    };
    let body = |value: &str| looped(&format!("{}\n{BODY}", write(value)), END);
    is_not_proven(&body("0x5:ud"), &body("0x7:ud"));
    // Lanes that do not go round wait, and store what others have left in a scalar.
    let away = |value: &str| {
        let body = format!(
            "mul (M1_NM, 1) SPARE(0,0)<1> X(0,0)<0;1,0> 0x9e3779b1:ud
             cmp.eq (M1_NM, 1) P1 SPARE(0,0)<0;1,0> 0x1234567:ud
             (P1) mov (M1_NM, 1) Y(0,0)<1> {value}
             {BODY}"
        );
        let looped = looped(&body, &format!("{END}\nret (M1, 8)"));
        let looped = looped.replacen(
            "again:",
            "mov (M1_NM, 1) Y(0,0)<1> 0x1:ud
             cmp.eq (M1, 8) P1 X(0,0)<1;1,0> 0x5:ud
             (P1) goto (M1, 8) away
             again:",
            1,
        );
        format!(
            "{looped}
             away:
             mov (M1, 8) X(0,0)<1> Y(0,0)<0;1,0>
             lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 X:d32"
        )
    };
    is_proven(
        &away("0x1:ud"),
        &away("0x1:ud").replacen("0x1:ud", "0x1:d", 1),
    );
    is_not_proven(&away("0x1:ud"), &away("0x2:ud"));
    // Some wait there, and others come only while the scalar is as it was: if it is not, these end.
    let joined = |value: &str| {
        let end = format!(
            "{END}
             mul (M1_NM, 1) SPARE(0,0)<1> Y(0,1)<0;1,0> 0x9e3779b1:ud
             cmp.eq (M1_NM, 8) P1 SPARE(0,0)<0;1,0> 0x1234567:ud
             (P1) mov (M1_NM, 1) Y(0,0)<1> {value}
             (!P1) goto (M1, 8) away
             ret"
        );
        let own = away("0x1:ud").replacen(&format!("{END}\nret"), &end, 1);
        own.replacen(
            "again:",
            "mov (M1_NM, 1) Y(0,1)<1> X(0,0)<0;1,0>\nagain:",
            1,
        )
    };
    is_not_proven(&joined("0x1:ud"), &joined("0x2:ud"));
}

/// An instruction without a mask runs where some lane is, and nowhere else: hardly ever all lanes go past it.
#[test]
fn what_no_lane_comes_to_does_not_run() {
    let of = |branch: &str| {
        let body = format!(
            "mov (M1_NM, 1) Y(0,0)<1> 0x1:ud
             add (M1_NM, 1) Y(0,1)<1> Y(0,1)<0;1,0> 0x3:ud
             mul (M1_NM, 1) SPARE(0,0)<1> Y(0,1)<0;1,0> 0x9e3779b1:ud
             cmp.eq (M1_NM, 8) P1 SPARE(0,0)<0;1,0> 0x1234567:ud
             {branch}
             mov (M1_NM, 1) Y(0,0)<1> 0x2:ud
             on:
             {BODY}
             add (M1, 8) N(0,0)<1> N(0,0)<1;1,0> Y(0,0)<0;1,0>"
        );
        let start = "mov (M1_NM, 1) Y(0,1)<1> X(0,0)<0;1,0>\nagain:";
        looped(&body, END).replacen("again:", start, 1)
    };
    let branch = "(P1) goto (M1, 8) on";
    is_not_proven(&of(branch), &of(""));
    is_not_proven(&of(""), &of(branch));
}

/// A loop over the elements of a buffer from that of the lane on, which an element of at most 1 ends.
fn searched(first: &str, address: &str, step: &str) -> String {
    format!(
        "mov (M1_NM, 8) AT(0,0)<1> 0x76543210:uv
         shl (M1_NM, 8) AT(0,0)<1> AT(0,0)<1;1,0> 0x2:ud
         mov (M1, 8) N(0,0)<1> 0x0:ud
         {first}
         again:
         {address}
         lsc_load.ugm (M1, 8) X:d32 bti(0x0)[SPARE]:a32
         add (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x1:ud
         {step}
         cmp.gt (M1, 8) P1 X(0,0)<1;1,0> 0x1:ud
         (P1) goto (M1, 8) again
         {END}"
    )
}

/// One program counts, the other one adds to an address.
#[test]
fn registers_that_are_computed_from_others_are_found() {
    let counted = searched(
        "",
        "shl (M1, 8) SPARE(0,0)<1> N(0,0)<1;1,0> 0x2:ud
         add (M1, 8) SPARE(0,0)<1> SPARE(0,0)<1;1,0> AT(0,0)<1;1,0>",
        "",
    );
    let added = |first: &str, step: &str| {
        let first = format!("add (M1, 8) Y(0,0)<1> AT(0,0)<1;1,0> {first}:ud");
        let step = format!("add (M1, 8) Y(0,0)<1> Y(0,0)<1;1,0> {step}:ud");
        let address = "mov (M1, 8) SPARE(0,0)<1> Y(0,0)<1;1,0>";
        searched(&first, address, &step)
    };
    is_proven(&counted, &added("0x0", "0x4"));
    is_proven(&added("0x0", "0x4"), &counted);
    for (first, step) in [("0x4", "0x4"), ("0x0", "0x8"), ("0x0", "0xc")] {
        is_refuted(&counted, &added(first, step));
    }
    // Longer steps after many rounds.
    let longer = added("0x0", "0x4").replacen(
        "cmp.gt",
        "cmp.gt (M1, 8) P1 N(0,0)<1;1,0> 0x3e8:ud
         (P1) add (M1, 8) Y(0,0)<1> Y(0,0)<1;1,0> 0x4:ud
         cmp.gt",
        1,
    );
    is_not_proven(&counted, &longer);
    // Downwards, from a number that all lanes have.
    let down = searched(
        "mov (M1, 8) Y(0,0)<1> 0x100:ud",
        "add (M1, 8) SPARE(0,0)<1> (-)Y(0,0)<1;1,0> 0x100:ud
         add (M1, 8) SPARE(0,0)<1> SPARE(0,0)<1;1,0> AT(0,0)<1;1,0>",
        "add (M1, 8) Y(0,0)<1> Y(0,0)<1;1,0> 0xfffffffc:ud",
    );
    is_proven(&counted, &down);
}

/// What the new kernel loads may be outside of the buffer where the old one loads nothing.
#[test]
fn what_the_new_kernel_alone_loads_is_not_proven() {
    let old = looped(BODY, END);
    for load in [
        "lsc_load.ugm (M1, 8) Y:d32 bti(0x0)[AT+0x40]:a32",
        "lsc_load.ugm (M1_NM, 1) Y:d32x8t bti(0x0)[AT+0x20]:a32",
    ] {
        let new = looped(BODY, &format!("{load}\n{END}"));
        assert_ne!(proof(&old, &new).verdict, Verdict::Proven, "{load}");
        // The other way round, what is not loaded any more is missed by nobody.
        is_proven(&new, &old);
    }
}

/// Messages of threads, and what barriers order.
#[test]
fn events_are_compared_in_their_order() {
    let of = |lines: &str| looped(BODY, lines);
    let store = "lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 N:d32";
    let other = "lsc_store.ugm (M1, 8) bti(0x0)[AT+0x4]:a32 X:d32";
    let (first, second) = (format!("{store}\n{other}"), format!("{other}\n{store}"));
    is_proven(&of(&first), &of(&first));
    // Lanes store to the elements of their neighbours.
    assert_ne!(proof(&of(&first), &of(&second)).verdict, Verdict::Proven);
    let load = "lsc_load.ugm (M1, 8) N:d32 bti(0x0)[AT]:a32";
    let (before, after) = (
        format!("{load}\n{other}\n{store}"),
        format!("{other}\n{load}\n{store}"),
    );
    assert_ne!(proof(&of(&before), &of(&after)).verdict, Verdict::Proven);
    // What is loaded between two stores, and after both.
    let first = "lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 X:d32";
    let load = "lsc_load.ugm (M1, 8) Y:d32 bti(0x0)[AT]:a32";
    let end = "lsc_store.ugm (M1, 8) bti(0x0)[AT+0x40]:a32 Y:d32";
    let between = format!("{first}\n{load}\n{store}\n{end}");
    let after = format!("{first}\n{store}\n{load}\n{end}");
    is_proven(&of(&between), &of(&between));
    assert_ne!(proof(&of(&between), &of(&after)).verdict, Verdict::Proven);
    assert_ne!(proof(&of(&after), &of(&between)).verdict, Verdict::Proven);
    let with = format!("barrier\n{store}");
    assert_ne!(proof(&of(&with), &of(store)).verdict, Verdict::Proven);
}

/// What the old kernel leaves open may be what the new one leaves open, in one way for all of its outputs.
#[test]
fn what_nobody_has_written_may_be_the_same() {
    let of = |first: &str, second: &str| {
        let written = |name: &str| format!("(P1) mov (M1, 8) {name}(0,0)<1> X(0,0)<1;1,0>");
        format!(
            "mov (M1_NM, 8) AT(0,0)<1> 0x76543210:uv
             shl (M1_NM, 8) AT(0,0)<1> AT(0,0)<1;1,0> 0x2:ud
             lsc_load.ugm (M1, 8) X:d32 bti(0x0)[AT]:a32
             cmp.gt (M1, 8) P1 X(0,0)<1;1,0> 0x1:ud
             {}
             {}
             lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 {first}:d32
             lsc_store.ugm (M1, 8) bti(0x0)[AT+0x40]:a32 {second}:d32",
            written(first),
            written(second)
        )
    };
    is_proven(&of("N", "N"), &of("Y", "Y"));
    is_proven(&of("N", "Y"), &of("Y", "SPARE"));
    is_proven(&of("N", "SPARE"), &of("Y", "Y"));
    for new in [of("N", "Y"), of("Y", "SPARE")] {
        assert_ne!(proof(&of("N", "N"), &new).verdict, Verdict::Proven);
    }
    let zero = format!("mov (M1, 8) N(0,0)<1> 0x0:ud\n{}", of("N", "N"));
    assert_ne!(proof(&zero, &of("N", "N")).verdict, Verdict::Proven);
}

/// Why nothing is known is told.
#[test]
fn what_is_not_understood_is_told() {
    let switched = looped(
        BODY,
        "switchjmp (M1, 1) N(0,0)<0;1,0> (one, two)\none:\ntwo:",
    );
    assert!(why(&proof(&switched, &switched)).contains("depends on data"));
}

/// What two compilers made of kernels.
#[test]
fn two_compilers_made_the_same_by_induction() {
    let folders = ["cases", "cases240"].map(|name| visakit_testing::shared("loops", name));
    let [Some(old), Some(new)] = folders else {
        return;
    };
    let options = Options {
        by_terms: false,
        trials: 0,
        time: Duration::from_secs(40),
        ..Options::default()
    };
    for name in [
        "spmv_csr",
        "histogram_local",
        "matmul_int",
        "stencil_local",
        "lreduce_f32",
        "ptr_select",
    ] {
        let [old, new] = [&old, &new].map(|folder| Case::open(&folder.join(name).join("dg2")));
        let proof = pair(&old.unwrap(), &new.unwrap(), &options, |object| object).unwrap();
        assert_eq!(proof.verdict, Verdict::Proven, "{name}");
    }
}
