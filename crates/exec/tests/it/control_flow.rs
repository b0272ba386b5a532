//! Divergent control flow against the rule "the enabled lanes with the smallest place run".
//!
//! Programs are made at random: blocks that add to a counter of each lane, note their order in a
//! scalar that every visit changes whatever the mask, and jump by bits of the lane's own numbers.

#![allow(
    missing_docs,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic
)] // helpers of a test

use crate::common::program;
use proptest::prelude::*;
use std::fmt::Write;
use visakit_exec::{FaultKind, Group, Limits, Memory, Options, ThreadStart};

const LANES: usize = 16;

/// How a block ends: lanes with a set bit of their number jump.
#[derive(Clone, Copy, Debug)]
struct Block {
    bit: u32,
    inverted: bool,
    target: usize,
    /// Whether it calls a subroutine with the lanes of another bit.
    calls: Option<u32>,
}

fn block(blocks: usize) -> impl Strategy<Value = Block> {
    (
        0..6u32,
        any::<bool>(),
        0..=blocks,
        prop::option::weighted(0.2, 0..6u32),
    )
        .prop_map(|(bit, inverted, target, calls)| Block {
            bit,
            inverted,
            target,
            calls,
        })
}

fn programs() -> impl Strategy<Value = Vec<Block>> {
    (1..9usize).prop_flat_map(|n| prop::collection::vec(block(n), n))
}

fn text(blocks: &[Block]) -> String {
    let mut text = String::from(
        ".version 4.1\n.kernel \"k\"\n\
         .decl ACC v_type=G type=ud num_elts=16 align=GRF\n\
         .decl FUEL v_type=G type=d num_elts=16 align=GRF\n\
         .decl BIT v_type=G type=ud num_elts=16 align=GRF\n\
         .decl TRACE v_type=G type=ud num_elts=1 align=dword\n\
         .decl P1 v_type=P num_elts=16\n.decl P2 v_type=P num_elts=16\n\
         .kernel_attr SimdSize=16\n",
    );
    for (n, b) in blocks.iter().enumerate() {
        let invert = if b.inverted { "!" } else { "" };
        write!(
            text,
            "L{n}:\n\
             add (M1, 16) ACC(0,0)<1> ACC(0,0)<1;1,0> {step}:ud\n\
             mul (M1_NM, 1) TRACE(0,0)<1> TRACE(0,0)<0;1,0> 0x1f:ud\n\
             add (M1_NM, 1) TRACE(0,0)<1> TRACE(0,0)<0;1,0> {mark}:ud\n\
             add (M1, 16) FUEL(0,0)<1> FUEL(0,0)<1;1,0> -1:d\n\
             cmp.lt (M1, 16) P2 FUEL(0,0)<1;1,0> 0x0:d\n\
             (P2) goto (M1, 16) LEND\n",
            step = 2 * n + 1,
            mark = n + 1,
        )
        .unwrap();
        if let Some(bit) = b.calls {
            write!(
                text,
                "and (M1, 16) BIT(0,0)<1> ACC(0,0)<1;1,0> {mask}:ud\n\
                 cmp.ne (M1, 16) P1 BIT(0,0)<1;1,0> 0x0:ud\n\
                 (P1) call (M1, 16) SUB\n",
                mask = 1 << bit
            )
            .unwrap();
        }
        let target = if b.target == blocks.len() {
            "LEND".into()
        } else {
            format!("L{}", b.target)
        };
        write!(
            text,
            "and (M1, 16) BIT(0,0)<1> ACC(0,0)<1;1,0> {mask}:ud\n\
             cmp.ne (M1, 16) P1 BIT(0,0)<1;1,0> 0x0:ud\n\
             ({invert}P1) goto (M1, 16) {target}\n",
            mask = 1 << b.bit,
        )
        .unwrap();
    }
    // The subroutine returns early for some lanes.
    text.push_str(
        "LEND:\nret (M1, 1)\n\
         .function \"SUB\"\nSUB:\n\
         add (M1, 16) ACC(0,0)<1> ACC(0,0)<1;1,0> 0x40:ud\n\
         mul (M1_NM, 1) TRACE(0,0)<1> TRACE(0,0)<0;1,0> 0x1f:ud\n\
         add (M1_NM, 1) TRACE(0,0)<1> TRACE(0,0)<0;1,0> 0x11:ud\n\
         and (M1, 16) BIT(0,0)<1> ACC(0,0)<1;1,0> 0x2:ud\n\
         cmp.ne (M1, 16) P1 BIT(0,0)<1;1,0> 0x0:ud\n\
         (P1) ret (M1, 16)\n\
         add (M1, 16) ACC(0,0)<1> ACC(0,0)<1;1,0> 0x80:ud\n\
         mul (M1_NM, 1) TRACE(0,0)<1> TRACE(0,0)<0;1,0> 0x1f:ud\n\
         add (M1_NM, 1) TRACE(0,0)<1> TRACE(0,0)<0;1,0> 0x13:ud\n\
         ret (M1, 16)\n",
    );
    text
}

/// Accumulators of the lanes and the trace.
type Outcome = ([u32; LANES], u32);

/// Each lane has separate places: three for each block, before, at and after the call.
fn by_the_rule(blocks: &[Block], start: [u32; LANES], mask: u32, fuel: i32) -> Outcome {
    let end = 3 * blocks.len();
    let mut place = [0usize; LANES];
    let mut acc = start;
    let mut fuel = [fuel; LANES];
    let mut trace = 0u32;
    let note = |trace: u32, n: usize| trace.wrapping_mul(31).wrapping_add(n as u32);
    loop {
        let live = |lane: &usize| mask >> lane & 1 != 0;
        let first = (0..LANES)
            .filter(live)
            .map(|l| place[l])
            .min()
            .unwrap_or(end);
        if first == end {
            return (acc, trace);
        }
        let lanes: Vec<usize> = (0..LANES)
            .filter(live)
            .filter(|l| place[*l] == first)
            .collect();
        let b = &blocks[first / 3];
        match first % 3 {
            0 => {
                trace = note(trace, first / 3 + 1);
                for l in lanes {
                    acc[l] = acc[l].wrapping_add(2 * (first / 3) as u32 + 1);
                    fuel[l] -= 1;
                    place[l] = if fuel[l] < 0 { end } else { first + 1 };
                }
            }
            1 => {
                let entering: Vec<usize> = match b.calls {
                    Some(bit) => lanes
                        .iter()
                        .copied()
                        .filter(|l| acc[*l] >> bit & 1 != 0)
                        .collect(),
                    None => Vec::new(),
                };
                if !entering.is_empty() {
                    trace = note(trace, 17);
                    for l in &entering {
                        acc[*l] = acc[*l].wrapping_add(64);
                    }
                    let staying: Vec<_> = entering.iter().filter(|l| acc[**l] & 2 == 0).collect();
                    if !staying.is_empty() {
                        trace = note(trace, 19);
                    }
                    for l in staying {
                        acc[*l] = acc[*l].wrapping_add(128);
                    }
                }
                for l in lanes {
                    place[l] = first + 1;
                }
            }
            _ => {
                for l in lanes {
                    let jumps = (acc[l] >> b.bit & 1 != 0) != b.inverted;
                    place[l] = if jumps { 3 * b.target } else { first + 1 };
                }
            }
        }
    }
}

fn by_the_machine(blocks: &[Block], start: [u32; LANES], mask: u32, fuel: i32) -> Outcome {
    let text = text(blocks);
    let program = program(
        &text,
        &Options {
            strict: true,
            ..Options::default()
        },
    );
    let slot = |name: &str| program.variable(name).unwrap();
    let bytes = |words: &[u32]| {
        words
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let thread = ThreadStart {
        mask,
        sets: vec![
            (slot("ACC"), bytes(&start)),
            (slot("FUEL"), bytes(&[fuel as u32; LANES])),
        ],
        ..ThreadStart::default()
    };
    let memory = Memory::new(1 << 16);
    let mut group = Group::new(&program, 0, &[thread], &Limits::default()).unwrap();
    let limits = Limits {
        max_steps: 200_000,
        ..Limits::default()
    };
    group
        .run(&program, &memory, &limits, &mut ())
        .unwrap_or_else(|f| panic!("{f}\n{text}"));
    let thread = group.thread(0).unwrap();
    let words = |name: &str| -> Vec<u32> {
        thread
            .read(&slot(name))
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect()
    };
    (words("ACC").try_into().unwrap(), words("TRACE")[0])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn agrees_with_the_smallest_place(
        blocks in programs(),
        start in any::<[u32; LANES]>(),
        mask in 1..=0xffffu32,
        fuel in 1..12i32,
    ) {
        let want = by_the_rule(&blocks, start, mask, fuel);
        let got = by_the_machine(&blocks, start, mask, fuel);
        prop_assert_eq!(got, want, "{}", text(&blocks));
    }
}

fn fault_of(body: &str, limits: Limits) -> FaultKind {
    match variable_after(body, limits, false) {
        Ok(_) => panic!("no fault"),
        Err(kind) => kind,
    }
}

/// The first element of `D` of the first thread, or the fault.
fn variable_after(body: &str, limits: Limits, stray_reads: bool) -> Result<u32, FaultKind> {
    let text = format!(
        ".version 4.1\n.kernel \"k\"\n\
         .decl D v_type=G type=d num_elts=16 align=GRF\n\
         .decl A v_type=A num_elts=16\n\
         .decl P1 v_type=P num_elts=16\n\
         .kernel_attr SimdSize=16\n{body}"
    );
    let options = Options {
        stray_reads,
        ..Options::default()
    };
    let program = program(&text, &options);
    let starts = vec![
        ThreadStart {
            mask: 0xffff,
            ..ThreadStart::default()
        };
        2
    ];
    let mut group = Group::new(&program, 0, &starts, &Limits::default()).unwrap();
    let memory = Memory::new(1 << 16);
    let ran = group.run(&program, &memory, &limits, &mut ());
    ran.map_err(|fault| fault.kind)?;
    let slot = program.variable("D").unwrap();
    let bytes = group.thread(0).unwrap().read(&slot);
    Ok(u32::from_le_bytes(bytes[..4].try_into().unwrap()))
}

#[test]
fn endless_loops_end() {
    let limits = Limits {
        max_steps: 10_000,
        ..Limits::default()
    };
    let kind = fault_of("L0:\njmp (M1, 1) L0\nret (M1, 1)\n", limits);
    assert_eq!(kind, FaultKind::StepLimit(10_000));
}

#[test]
fn indirect_access_stays_inside() {
    let body = "addr_add (M1_NM, 1) A(0)<1> &D 0x7000:uw\n\
                mov (M1, 16) r[A(0),0]<1>:d 0x1:d\nret (M1, 1)\n";
    assert_eq!(
        fault_of(body, Limits::default()),
        FaultKind::IndirectOutOfBounds
    );
}

#[test]
fn stray_reads_are_zero_where_they_are_allowed() {
    let body = "mov (M1, 16) D(0,0)<1> 0x7:d\n\
                addr_add (M1, 1) A(0)<1> &D 0x7000:uw\n\
                mov (M1, 16) D(0,0)<1> r[A(0),0]<0;1,0>:d\nret (M1, 1)\n";
    let limits = Limits::default;
    assert_eq!(
        variable_after(body, limits(), false),
        Err(FaultKind::IndirectOutOfBounds)
    );
    assert_eq!(variable_after(body, limits(), true), Ok(0));
    // Reads inside succeed, and writes stay inside.
    let inside = body.replace("0x7000", "0x0");
    assert_eq!(variable_after(&inside, limits(), true), Ok(7));
    let write = "addr_add (M1, 1) A(0)<1> &D 0x7000:uw\n\
                 mov (M1, 16) r[A(0),0]<1>:d 0x1:d\nret (M1, 1)\n";
    assert_eq!(
        variable_after(write, limits(), true),
        Err(FaultKind::IndirectOutOfBounds)
    );
}

#[test]
fn direct_access_stays_inside() {
    let body = "mov (M1, 16) D(1,0)<1> 0x1:d\nret (M1, 1)\n";
    assert_eq!(
        fault_of(body, Limits::default()),
        FaultKind::RegisterOutOfBounds
    );
}

#[test]
fn barriers_need_all_threads() {
    // Both wait for signals that never come.
    let kind = fault_of("sbarrier.wait\nret (M1, 1)\n", Limits::default());
    assert_eq!(
        kind,
        FaultKind::BarrierDivergence {
            waiting: 2,
            ended: 0
        }
    );
}

/// Denormals in the modes of `%cr0`, with and without a soft way.
#[test]
fn denormals_by_mode() {
    let text = ".version 4.1\n.kernel \"k\"\n\
         .decl F v_type=G type=f num_elts=16 align=GRF\n\
         .decl R v_type=G type=f num_elts=16 align=GRF\n\
         .kernel_attr SimdSize=16\n\
         add (M1, 16) R(0,0)<1> F(0,0)<1;1,0> F(0,0)<1;1,0>\nret (M1, 1)\n";
    let program = program(text, &Options::default());
    let smallest = 1u32;
    let sum = |cr0: u32, value: u32| {
        let start = ThreadStart {
            mask: 0xffff,
            cr0,
            sets: vec![(program.variable("F").unwrap(), value.to_le_bytes().to_vec())],
            ..ThreadStart::default()
        };
        let mut group = Group::new(&program, 0, &[start], &Limits::default()).unwrap();
        let memory = Memory::new(1 << 16);
        group
            .run(&program, &memory, &Limits::default(), &mut ())
            .unwrap();
        let slot = program.variable("R").unwrap();
        let bytes = group.thread(0).unwrap().read(&slot);
        u32::from_le_bytes(bytes[..4].try_into().unwrap())
    };
    assert_eq!(sum(0x4c0, smallest), 2, "kept");
    assert_eq!(sum(0x4f0, smallest), 2, "kept, towards zero");
    assert_eq!(sum(0, smallest), 0, "flushed");
    assert_eq!(sum(0, smallest | 1 << 31), 1 << 31, "sign kept");
    assert_eq!(sum(0, 1.5f32.to_bits()), 3f32.to_bits());
    // The largest number twice: beyond the range, except towards zero.
    let largest = f32::MAX.to_bits();
    assert_eq!(sum(0x4c0, largest), f32::INFINITY.to_bits());
    assert_eq!(sum(0x4f0, largest), largest);
}
