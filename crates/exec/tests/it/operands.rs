//! Operands that overlap, at any place and only partly enabled: an instruction reads all its sources before it writes,
//! and writes only its enabled lanes.

#![allow(
    missing_docs,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic
)] // helpers of a test

use crate::common::program;
use visakit_exec::{Group, Limits, Memory, Options, ThreadStart};

const ELEMENTS: usize = 256;
const MASKS: [u32; 4] = [u32::MAX, 0x8001_0ff3, 0xffff_0000, 0x55];

/// Runs one instruction on the bytes of `A` and returns their new values.
fn run(line: &str, before: &[u8], mask: u32) -> Vec<u8> {
    let text = format!(
        ".version 4.1\n.kernel \"k\"\n\
         .decl A v_type=G type=d num_elts={ELEMENTS} align=GRF\n\
         .decl F v_type=G type=f num_elts={ELEMENTS} align=GRF alias=<A, 0>\n\
         .decl W v_type=G type=w num_elts={} align=GRF alias=<A, 0>\n\
         .decl Q v_type=G type=q num_elts={} align=GRF alias=<A, 0>\n\
         .kernel_attr SimdSize=32\n    {line}\n    ret (M1, 1)\n",
        ELEMENTS * 2,
        ELEMENTS / 2
    );
    let program = program(&text, &Options::default());
    let slot = program.variable("A").unwrap();
    let start = ThreadStart {
        mask,
        // Denormals are kept, as the host does.
        cr0: 0x4c0,
        sets: vec![(slot.clone(), before.to_vec())],
        ..ThreadStart::default()
    };
    let mut group = Group::new(&program, 0, &[start], &Limits::default()).unwrap();
    group
        .run(&program, &Memory::new(0), &Limits::default(), &mut ())
        .unwrap();
    group.thread(0).unwrap().read(&slot).to_vec()
}

fn bytes() -> Vec<u8> {
    let numbers = (0..ELEMENTS as u32).map(|n| n.wrapping_mul(0x9e37_79b9) ^ n << 7);
    numbers.flat_map(u32::to_le_bytes).collect()
}

/// Numbers of the elements of a type of N bytes.
fn elements<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks::<N>().0.iter().copied()
}

/// Compares `line` with a function that computes lanes from a copy of the previous bytes.
fn check<const N: usize>(
    line: &str,
    lanes: usize,
    to: usize,
    lane: impl Fn(&[u8], usize) -> [u8; N],
) {
    let before = bytes();
    for mask in MASKS {
        let mut want = before.clone();
        for n in (0..lanes).filter(|n| mask >> n & 1 != 0) {
            let at = (to + n) * N;
            want[at..at + N].copy_from_slice(&lane(&before, n));
        }
        let got = run(line, &before, mask);
        let differs = elements::<N>(&got).zip(elements::<N>(&want));
        let differs: Vec<usize> = differs
            .enumerate()
            .filter_map(|(n, (got, want))| (got != want).then_some(n))
            .collect();
        assert!(got == want, "{line}, mask {mask:#x}: elements {differs:?}");
    }
}

fn dword(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at * 4..at * 4 + 4].try_into().unwrap())
}

/// Row and column of an element.
fn place(element: usize, size: usize) -> String {
    format!("({},{})", element * size / 32, element * size % 32 / size)
}

#[test]
fn sources_are_read_before_anything_is_written() {
    const TO: usize = 64;
    for lanes in [1, 2, 8, 16, 32] {
        for shift in [
            -33i32, -32, -17, -16, -15, -9, -1, 0, 1, 7, 15, 16, 17, 31, 32,
        ] {
            let from = (TO as i32 + shift) as usize;
            let (to, a, b) = (place(TO, 4), place(from, 4), place(130, 4));
            let line = format!("add (M1, {lanes}) A{to}<1> A{a}<1;1,0> A{b}<1;1,0>");
            check(&line, lanes, TO, |old, n| {
                let sum = dword(old, from + n).wrapping_add(dword(old, 130 + n));
                sum.to_le_bytes()
            });
            // A scalar may be one of the elements that are written.
            let line = format!("xor (M1, {lanes}) A{to}<1> A{b}<1;1,0> A{a}<0;1,0>");
            check(&line, lanes, TO, |old, n| {
                (dword(old, 130 + n) ^ dword(old, from)).to_le_bytes()
            });
            let line = format!("bfn.x96 (M1, {lanes}) A{to}<1> A{a}<1;1,0> A{b}<1;1,0> 0x3:w");
            check(&line, lanes, TO, |old, n| {
                (dword(old, from + n) ^ dword(old, 130 + n) ^ 3).to_le_bytes()
            });
        }
    }
}

#[test]
fn modifiers_of_every_kind() {
    const TO: usize = 8;
    let value = |old: &[u8], n: usize| f32::from_bits(dword(old, 100 + n));
    let number = |old: &[u8], n: usize| dword(old, 100 + n);
    for lanes in [1, 8, 16, 32] {
        let (to, from) = (place(TO, 4), place(100, 4));
        for modifier in ["", "(-)", "(abs)", "(-abs)"] {
            let line = format!("mul (M1, {lanes}) F{to}<1> {modifier}F{from}<1;1,0> 0x40000000:f");
            check(&line, lanes, TO, |old, n| {
                let value = value(old, n);
                let changed = match modifier {
                    "" => value,
                    "(-)" => -value,
                    "(abs)" => value.abs(),
                    _ => -value.abs(),
                };
                (changed * 2.0).to_le_bytes()
            });
            let line = format!("add (M1, {lanes}) A{to}<1> {modifier}A{from}<1;1,0> -5:w");
            check(&line, lanes, TO, |old, n| {
                let value = number(old, n) as i32;
                let changed = match modifier {
                    "" => value,
                    "(-)" => value.wrapping_neg(),
                    "(abs)" => value.wrapping_abs(),
                    _ => value.wrapping_abs().wrapping_neg(),
                };
                changed.wrapping_sub(5).to_le_bytes()
            });
        }
        let line = format!("and (M1, {lanes}) A{to}<1> (~)A{from}<1;1,0> 0x00ff00ff:ud");
        check(&line, lanes, TO, |old, n| {
            (!number(old, n) & 0x00ff_00ff).to_le_bytes()
        });
    }
}

#[test]
fn copies_between_sizes() {
    for lanes in [1, 8, 16, 32] {
        // Words that overlap the dwords they become, in both directions.
        for from in [0usize, 16, 64, 72, 80, 96, 200] {
            let (to, source) = (place(40, 4), place(from, 2));
            let line = format!("mov (M1, {lanes}) A{to}<1> W{source}<1;1,0>");
            check(&line, lanes, 40, |old, n| {
                let at = (from + n) * 2;
                let word = i16::from_le_bytes([old[at], old[at + 1]]);
                i32::from(word).to_le_bytes()
            });
            let (to, source) = (place(40, 2), place(from / 4, 4));
            let line = format!("mov (M1, {lanes}) W{to}<1> A{source}<1;1,0>");
            check(&line, lanes, 40, |old, n| {
                (dword(old, from / 4 + n) as u16).to_le_bytes()
            });
            let (to, source) = (place(20, 8), place(from / 2, 4));
            let line = format!("mov (M1, {lanes}) Q{to}<1> A{source}<1;1,0>");
            check(&line, lanes, 20, |old, n| {
                i64::from(dword(old, from / 2 + n) as i32).to_le_bytes()
            });
        }
        let line = format!("mov (M1, {lanes}) A(0,0)<1> W(3,0)<2;1,0>");
        check(&line, lanes, 0, |old, n| {
            let at = 96 + n * 4;
            i32::from(i16::from_le_bytes([old[at], old[at + 1]])).to_le_bytes()
        });
    }
}

/// Files cannot name them, but texts of compilers do (SHA-384 of hashcat has more than 4,095 in one kernel).
#[test]
fn more_predicates_than_a_file_can_name() {
    use std::fmt::Write;
    let mut text = String::from(
        ".version 4.1\n.kernel \"k\"\n.decl A v_type=G type=ud num_elts=8 align=GRF\n",
    );
    for n in 1..=5_000 {
        writeln!(text, ".decl P{n} v_type=P num_elts=8").unwrap();
    }
    text.push_str(
        ".kernel_attr SimdSize=8
    mov (M1, 8) A(0,0)<1> 0x0:ud
    cmp.eq (M1, 8) P904 A(0,0)<1;1,0> 0x1:ud
    cmp.eq (M1, 8) P5000 A(0,0)<1;1,0> 0x0:ud
    (P5000) add (M1, 8) A(0,0)<1> A(0,0)<1;1,0> 0x2:ud
    (!P5000.any) add (M1, 8) A(0,0)<1> A(0,0)<1;1,0> 0x10:ud
    or (M1, 8) P4096 P904 P5000
    (P4096) add (M1, 8) A(0,0)<1> A(0,0)<1;1,0> 0x100:ud
    ret (M1, 1)\n",
    );
    let program = program(&text, &Options::default());
    let slot = program.variable("A").unwrap();
    let start = ThreadStart {
        mask: 0xff,
        ..ThreadStart::default()
    };
    let mut group = Group::new(&program, 0, &[start], &Limits::default()).unwrap();
    group
        .run(&program, &Memory::new(0), &Limits::default(), &mut ())
        .unwrap();
    let found = group.thread(0).unwrap().read(&slot).to_vec();
    assert!(elements(&found).all(|lane| lane == 0x102_u32.to_le_bytes()));
}

/// Any mask with any execution size runs on exactly its lanes; lanes that a thread has not are refused.
#[test]
fn lanes_are_those_of_the_thread() {
    let before = bytes();
    let after = elements(&before).map(u32::from_le_bytes);
    let after: Vec<u32> = after.collect();
    for size in [1, 2, 4, 8, 16, 32] {
        for group in 0..8 {
            let line = format!("not (M{}, {size}) A(0,0)<1> A(0,0)<1;1,0>", group + 1);
            let first = group * 4;
            if first + size > 32 {
                let refused = std::panic::catch_unwind(|| run(&line, &before, u32::MAX));
                assert!(refused.is_err(), "{line}");
                continue;
            }
            for mask in MASKS {
                let mut wanted = after.clone();
                for lane in (0..size).filter(|lane| mask >> (first + lane) & 1 != 0) {
                    wanted[lane] = !wanted[lane];
                }
                let wanted: Vec<u8> = wanted.iter().flat_map(|n| n.to_le_bytes()).collect();
                assert!(run(&line, &before, mask) == wanted, "{line} {mask:#x}");
            }
        }
    }
}

/// The result of an operation that reads elements of other lanes depends on nothing but what its step says that it reads.
#[test]
fn steps_say_what_they_read_of_other_lanes() {
    let lines = [
        "line (M1, 8) O(0,0)<1> S(0,0)<0;1,0> A(0,0)<1;1,0>",
        "plane (M1, 8) O(0,0)<1> S(0,0)<0;1,0> A(0,0)<1;1,0>",
        "dp4 (M1, 8) O(0,0)<1> A(0,0)<1;1,0> S(0,0)<1;1,0>",
        "sad2 (M1, 8) OW(0,0)<2> AB(0,0)<1;1,0> SB(0,0)<1;1,0>",
    ];
    for line in lines {
        let mut text = ".version 4.1\n.kernel \"k\"\n".to_owned();
        for name in ["O", "S", "A"] {
            text += &format!(".decl {name} v_type=G type=f num_elts=16 align=GRF\n");
        }
        text += ".decl OW v_type=G type=w num_elts=32 align=GRF alias=<O, 0>\n\
                 .decl AB v_type=G type=b num_elts=64 align=GRF alias=<A, 0>\n\
                 .decl SB v_type=G type=b num_elts=64 align=GRF alias=<S, 0>\n\
                 .kernel_attr SimdSize=8\n";
        let program = program(&format!("{text}{line}\nret (M1, 1)\n"), &Options::default());
        let step = &program.code().steps[0];
        assert!(step.action.is_straight(), "{line}: {step:?}");
        let read = step.read();
        let slot = |name| program.variable(name).unwrap().clone();
        let run = |changed: Option<(usize, u8)>| {
            let mut sets = Vec::new();
            for name in ["S", "A"] {
                let slot = slot(name);
                let mut bytes: Vec<u8> = (0..16_u8)
                    .flat_map(|n| f32::from(n + 3).to_le_bytes())
                    .collect();
                if let Some((at, bits)) = changed
                    && let Some(at) = at.checked_sub(slot.offset)
                    && let Some(byte) = bytes.get_mut(at)
                {
                    *byte ^= bits;
                }
                sets.push((slot, bytes));
            }
            let start = ThreadStart {
                mask: 0xff,
                sets,
                ..ThreadStart::default()
            };
            let limits = Limits::default();
            let mut group = Group::new(&program, 0, &[start], &limits).unwrap();
            group
                .run(&program, &Memory::new(0), &limits, &mut ())
                .unwrap();
            group.thread(0).unwrap().read(&slot("O")).to_vec()
        };
        let usual = run(None);
        for name in ["S", "A"] {
            let slot = slot(name);
            for at in slot.offset..slot.offset + slot.bytes {
                let differs = [0x01, 0x40]
                    .iter()
                    .any(|bits| run(Some((at, *bits))) != usual);
                assert!(
                    !differs || read.iter().any(|range| range.contains(&at)),
                    "{line}: byte {} of {name} is read, {read:?}",
                    at - slot.offset
                );
            }
        }
    }
}
