use crate::support::{addresses, one_thread, profile, with};
use visakit_profile::{Reach, Watched};

fn load(stride: u32) -> visakit_profile::Messages {
    let lines = format!(
        "{}lsc_load.ugm (M1, 16) B:d32 flat[PTR]:a64",
        addresses(stride)
    );
    let profile = one_thread(&lines);
    with(&profile, "lsc_load")[0].seen.unwrap()
}

/// 16 lanes of four bytes: one line of 64 bytes if they follow each other, up to one each if they do not.
#[test]
fn lines_by_stride() {
    for (stride, lines) in [(0, 1), (4, 1), (8, 2), (16, 4), (64, 16), (256, 16)] {
        let seen = load(stride);
        assert_eq!((seen.executions, seen.asked_bytes), (1, 64), "{stride}");
        assert_eq!(seen.lines, lines, "{stride}");
        assert_eq!(seen.fetched_lines, lines, "{stride}");
        assert_eq!(seen.moved_bytes(), 64 * lines);
        assert_eq!(seen.reach, Some(Reach::Global));
    }
}

/// Disabled lanes request nothing.
#[test]
fn lanes_that_do_not_ask() {
    let lines = format!(
        "cmp.lt (M1, 16) P1 ID(0,0)<1;1,0> 0x3:ud\n{}(P1) lsc_store.ugm (M1, 16) flat[PTR]:a64 B:d32",
        addresses(64)
    );
    let profile = one_thread(&lines);
    let store = with(&profile, "lsc_store")[0];
    let seen = store.seen.unwrap();
    assert_eq!((seen.asked_bytes, seen.lines), (12, 3));
    assert_eq!((store.counts.lanes, store.counts.slots), (3, 16));
}

fn local(stride: u32, store: bool) -> visakit_profile::Messages {
    let message = if store {
        "lsc_store.slm (M1, 16) flat[A]:a32 B:d32"
    } else {
        "lsc_load.slm (M1, 16) B:d32 flat[A]:a32"
    };
    let lines = format!("mul (M1_NM, 16) A(0,0)<1> ID(0,0)<1;1,0> 0x{stride:x}:ud\n{message}");
    let profile = one_thread(&lines);
    with(&profile, ".slm")[0].seen.unwrap()
}

/// 16 banks of four bytes: the words of a bank are served one after the other; readers of one word share
/// it.
#[test]
fn conflicts_by_stride() {
    for (stride, passes) in [(4, 1), (8, 2), (16, 4), (32, 8), (64, 16), (68, 1), (0, 1)] {
        let seen = local(stride, false);
        assert_eq!(seen.reach, Some(Reach::Local));
        assert_eq!((seen.bank_cycles, seen.bank_ideal), (passes, 1), "{stride}");
    }
    // Writers of one word do not share.
    assert_eq!(local(0, true).bank_cycles, 16);
    assert_eq!(local(4, true).bank_cycles, 1);
}

/// Loading the same words again is redundant, unless somebody may have written them.
#[test]
fn loads_again() {
    let load = "lsc_load.ugm (M1, 16) B:d32 flat[PTR]:a64\n";
    let redundant = |lines: &str| -> Vec<u64> {
        let profile = one_thread(&format!("{}{lines}", addresses(4)));
        let loads = with(&profile, "lsc_load");
        loads
            .iter()
            .map(|l| l.seen.unwrap().redundant_bytes)
            .collect()
    };
    assert_eq!(redundant(&format!("{load}{load}")), [0, 64]);
    let store = "lsc_store.ugm (M1, 16) flat[PTR]:a64 B:d32\n";
    assert_eq!(redundant(&format!("{load}{store}{load}{load}")), [0, 0, 64]);
    assert_eq!(redundant(&format!("{load}barrier\n{load}")), [0, 0]);
}

/// The thread with the longer path to a barrier makes the other one wait.
#[test]
fn waits() {
    // Lane 0 of the second thread of a group loops; threads are distinguished by an atomic in local
    // memory.
    let lines = "\
mov (M1_NM, 16) A(0,0)<1> 0x0:ud
lsc_atomic_iinc.slm (M1_NM, 1) B:d32 flat[A]:a32 V0 V0
mov (M1_NM, 1) N(0,0)<1> B(0,0)<0;1,0>
cmp.eq (M1_NM, 1) P1 N(0,0)<0;1,0> 0x0:ud
(P1) jmp (M1, 1) MEET
add (M1_NM, 16) A(0,0)<1> A(0,0)<1;1,0> 0x1:ud
add (M1_NM, 16) A(0,0)<1> A(0,0)<1;1,0> 0x1:ud
add (M1_NM, 16) A(0,0)<1> A(0,0)<1;1,0> 0x1:ud
MEET:
barrier
mov (M1_NM, 16) A(0,0)<1> 0x0:ud";
    let profile = profile(lines, (32, 32), Watched::All, false);
    let barrier = with(&profile, "barrier")[0];
    let waits = barrier.waits.unwrap();
    // Three sums of 16 lanes are two passes each on this device.
    assert_eq!((waits.arrivals, waits.cycles), (2, 6));
    assert_eq!(barrier.waited(), 6);
}

/// Some of the groups represent all: sums are scaled by the executions.
#[test]
fn samples() {
    let lines = format!("{}lsc_load.ugm (M1, 16) B:d32 flat[PTR]:a64", addresses(16));
    let all = profile(&lines, (16 * 100, 16), Watched::All, true);
    let some = profile(&lines, (16 * 100, 16), Watched::Groups(10), true);
    let none = profile(&lines, (16 * 100, 16), Watched::None, true);
    assert_eq!(
        (all.watched_groups, some.watched_groups, none.watched_groups),
        (100, 10, 0)
    );
    let asked = |profile: &visakit_profile::KernelProfile| {
        let load = with(profile, "lsc_load")[0];
        (load.asked_bytes(), load.moved_bytes(), load.counts.cycles)
    };
    // Four lines each, and four cycles of the data port for a line.
    assert_eq!(asked(&all), (6400, 4 * 6400, 100 + 100 * 16));
    assert_eq!(asked(&some), asked(&all));
    // Without sampling, lanes are assumed to be consecutive.
    assert_eq!(asked(&none), (0, 0, 100 + 100 * 4));
}
