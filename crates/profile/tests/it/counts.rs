use crate::support::{FIRST, one_thread, profile};
use visakit_profile::Watched;

/// A loop of ten turns: every instruction of it ran ten times, those around it once.
#[test]
fn a_loop() {
    let lines = "\
LOOP:
add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> 0x1:ud
add (M1, 16) B(0,0)<1> B(0,0)<1;1,0> 0x1:ud
cmp.lt (M1_NM, 1) P1 N(0,0)<0;1,0> 0xa:ud
(P1) jmp (M1, 1) LOOP
mov (M1, 16) A(0,0)<1> B(0,0)<1;1,0>";
    for jit in [false, true] {
        // Two groups of two threads each.
        let profile = profile(lines, (64, 32), Watched::None, jit);
        let times: Vec<_> = profile
            .instructions
            .iter()
            .map(|i| i.counts.executions)
            .collect();
        let turns = 40;
        // The label is no instruction that runs.
        assert_eq!(times[..FIRST], [4; FIRST]);
        let ran: Vec<_> = times[FIRST..].iter().filter(|n| **n == turns).collect();
        assert_eq!(ran.len(), 4, "{times:?}");
        assert_eq!(times.iter().sum::<u64>(), 4 * (3 + 4 * 10 + 1 + 1));
        assert_eq!(profile.total.executions, 180);
        assert_eq!(profile.routines[0].calls, 4);
        // Of more than one lane are two of 8 lanes, the sum in the loop and the last move.
        assert_eq!(profile.total.slots, 4 * (8 + 8 + 10 * 16 + 16));
        assert_eq!(profile.total.efficiency(), Some(1.0));
        let in_loop = profile.blocks.iter().filter(|b| b.times == turns);
        assert_eq!(in_loop.count(), 1);
    }
}

/// Five of 16 lanes take one way, eleven the other.
#[test]
fn lanes_that_part() {
    let lines = "\
cmp.lt (M1, 16) P1 ID(0,0)<1;1,0> 0x5:ud
(P1) goto (M1, 16) FEW
add (M1, 16) A(0,0)<1> ID(0,0)<1;1,0> 0x1:ud
goto (M1, 16) END
FEW:
mul (M1, 16) B(0,0)<1> ID(0,0)<1;1,0> 0x3:ud
END:
cmp.lt (M1, 16) P2 ID(0,0)<1;1,0> 0x40:ud
(P2) add (M1, 16) A(0,0)<1> ID(0,0)<1;1,0> 0x2:ud
(!P2) goto (M1, 16) NEVER
(P1) mov (M1, 16) A(0,0)<1> ID(0,0)<1;1,0>
NEVER:
mov (M1, 8) A(0,0)<1> ID(0,0)<1;1,0>
mov (M5, 8) A(1,0)<1> ID(1,0)<1;1,0>";
    for jit in [false, true] {
        let profile = profile(lines, (16, 16), Watched::None, jit);
        let lanes = |text: &str| -> Vec<u64> {
            let all = profile.instructions.iter();
            let found = all.filter(|i| i.text.starts_with(text) && i.text.contains("M1,"));
            found.map(|i| i.counts.lanes).collect()
        };
        assert_eq!(lanes("mul"), [5]);
        // The eleven others.
        assert_eq!(lanes("add"), [11]);
        let at = |text: &str| {
            let mut all = profile.instructions.iter();
            all.find(|i| i.text.starts_with(text)).unwrap()
        };
        assert_eq!(at("(P2) add").counts.lanes, 16);
        assert_eq!(at("(P1) mov").counts.lanes, 5);
        let parts = at("(P1) goto");
        assert_eq!((parts.taken, parts.parted), (Some(5), Some(1)));
        // All the lanes that run take this one: those that wait are no part of it.
        let together = at("goto");
        assert_eq!((together.taken, together.parted), (Some(11), Some(0)));
        let never = at("(!P2) goto");
        assert_eq!((never.taken, never.parted), (Some(0), Some(0)));
        let parting = profile.divergence();
        assert_eq!(parting.len(), 1);
        assert_eq!(parting[0].text, parts.text);
    }
}

/// A group whose last thread has three work-items only.
#[test]
fn lanes_without_work() {
    let profile = profile(
        "add (M1, 16) A(0,0)<1> ID(0,0)<1;1,0> 0x1:ud",
        (19, 19),
        Watched::None,
        true,
    );
    let add = profile
        .instructions
        .iter()
        .find(|i| i.text.contains("A(0,0)"))
        .unwrap();
    assert_eq!(
        (add.counts.executions, add.counts.lanes, add.counts.slots),
        (2, 19, 32)
    );
}

/// Calls, and what happens in the callee.
#[test]
fn subroutines() {
    let profile = one_thread(
        "call (M1, 1) SUB\ncall (M1, 1) SUB\nret (M1, 1)\n.function \"SUB\"\nSUB:\nadd (M1, 16) A(0,0)<1> ID(0,0)<1;1,0> 0x1:ud",
    );
    let add = profile
        .instructions
        .iter()
        .find(|i| i.text.contains("A(0,0)"))
        .unwrap();
    assert_eq!(add.counts.executions, 2);
}

/// Profiles of launches add up.
#[test]
fn launches_add_up() {
    let lines = "add (M1, 16) A(0,0)<1> ID(0,0)<1;1,0> 0x1:ud";
    let one = || profile(lines, (64, 16), Watched::All, true);
    let mut all = visakit_profile::Profile::default();
    all.add(one());
    all.add(one());
    all.add(profile(
        "mov (M1, 16) A(0,0)<1> 0x1:ud",
        (16, 16),
        Watched::All,
        true,
    ));
    assert_eq!(all.kernels.len(), 2);
    let [two, _] = all.kernels.as_slice() else {
        return;
    };
    let one = one();
    assert_eq!((two.launches, two.groups), (2, 8));
    assert_eq!(two.total.executions, 2 * one.total.executions);
    assert_eq!(two.total.cycles, 2 * one.total.cycles);
    assert!((two.nanoseconds - 2.0 * one.nanoseconds).abs() < 1e-9);
    assert_eq!(two.routines[0].calls, 2 * one.routines[0].calls);
    assert_eq!(two.blocks[0].times, 2 * one.blocks[0].times);
}
