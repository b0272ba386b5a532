//! Buffers around and beyond what offsets of 32 bits reach: lanes before and behind each of their ends, beside the interpreter.

use super::{Random, compilers, translated};
use std::sync::Arc;
use visakit_exec::{Group, Limits, Memory, Program, ThreadStart};
use visakit_jit::{Path, taken};
use visakit_testing::say;

/// Bytes of the buffer; those that nobody writes take no memory of the host. The last offset of a dword has 31 bits in the
/// first two, and more in the others.
const SIZES: [u64; 5] = [
    (1 << 31) - 1,
    (1 << 31) + 3,
    (1 << 31) + 4,
    (1 << 32) + 7,
    (6 << 30) + 64,
];

/// Ends of numbers of 32 bits, with a sign and without; the others are those of the buffer.
const ENDS: [u64; 4] = [0, 1 << 31, 1 << 32, 1 << 32 | 1 << 31];

fn kernel(lanes: u32, element: &str, predicate: &str) -> Program {
    translated(&format!(
        ".version 4.1\n.kernel \"m\"\n\
         .decl Q v_type=G type=uq num_elts=32 align=GRF\n\
         .decl S v_type=G type=ud num_elts=64 align=GRF\n\
         .decl D v_type=G type=ud num_elts=64 align=GRF\n\
         .decl P1 v_type=P num_elts=32\n\
         .kernel_attr SimdSize={lanes}\n\
         {predicate}lsc_store.ugm (M1, {lanes}) flat[Q]:a64 S:{element}\n\
         {predicate}lsc_load.ugm (M1, {lanes}) D:{element} flat[Q]:a64\n\
         ret (M1, 1)\n"
    ))
}

/// The register file, memory at the offsets, and the fault.
fn run(
    program: &Program,
    size: u64,
    offsets: &[u64],
    seed: u32,
) -> Option<(Vec<u8>, Vec<u8>, String)> {
    let mut random = Random(seed);
    let mut memory = Memory::new(8 << 30);
    let buffer = memory.add_zeroed(size).ok()?;
    let base = memory.address(buffer);
    let slot = |name: &str| program.variable(name).unwrap();
    let addresses = offsets.iter().map(|offset| base.wrapping_add(*offset));
    let mut bytes = |count: usize| -> Vec<u8> {
        let numbers = (0..count / 4).map(|_| random.next().to_le_bytes());
        numbers.flatten().collect()
    };
    let start = ThreadStart {
        mask: u32::MAX,
        cr0: 0x4c0,
        sets: vec![
            (slot("Q"), addresses.flat_map(u64::to_le_bytes).collect()),
            (slot("S"), bytes(256)),
            (slot("D"), bytes(256)),
            (slot("P1"), bytes(4)),
        ],
        ..ThreadStart::default()
    };
    let limits = Limits::default();
    let mut group = Group::new(program, 0, &[start], &limits).unwrap();
    let fault = group.run(program, &memory, &limits, &mut ());
    let mut there = Vec::new();
    for offset in offsets.iter().filter(|offset| **offset + 8 <= size) {
        let mut own = [0; 8];
        memory.read_into(buffer, usize::try_from(*offset).ok()?, &mut own);
        there.extend(own);
    }
    Some((
        group.thread(0).unwrap().registers().to_vec(),
        there,
        fault.map_or_else(|fault| fault.to_string(), |_| String::new()),
    ))
}

#[test]
fn lanes_around_the_ends_of_32_bits() {
    let before = times();
    let mut random = Random(7);
    for lanes in [32, 16, 8] {
        for (element, bytes) in [("d32", 4), ("d32x2", 8), ("d16u32", 2), ("d64", 8)] {
            for predicate in ["", "(P1) "] {
                let program = kernel(lanes, element, predicate);
                let compiled = compilers().into_iter().map(|jit| {
                    let mut compiled = kernel(lanes, element, predicate);
                    compiled.compile_with(Arc::new(jit.traced()), 0);
                    compiled
                });
                let compiled: Vec<_> = compiled.collect();
                for size in SIZES {
                    let mut ends: Vec<u64> = ENDS.into_iter().filter(|end| *end < size).collect();
                    ends.push(size);
                    for first in 0..=ends.len() {
                        // All lanes at one end, or each at one of all; one of them in some runs outside.
                        let beyond = random.next().is_multiple_of(3);
                        let offset = |lane: u64, random: &mut Random| {
                            let any = random.next() as usize % ends.len();
                            let end = *ends.get(first).unwrap_or(&ends[any]);
                            let by = bytes * (1 + u64::from(random.next()) % 24);
                            match end {
                                _ if beyond && lane == 5 => size - bytes + 1,
                                0 => by,
                                end if end == size => size - by,
                                end => (end + by - 12 * bytes).min(size - bytes),
                            }
                        };
                        let offsets: Vec<u64> =
                            (0..32).map(|lane| offset(lane, &mut random)).collect();
                        let seed = random.next() | 1;
                        let Some(expected) = run(&program, size, &offsets, seed) else {
                            say("NOT RUN: buffers of six gigabytes, which the host has not");
                            return;
                        };
                        for compiled in &compiled {
                            let left = run(compiled, size, &offsets, seed).unwrap();
                            assert!(
                                left == expected,
                                "{lanes}, {element}, {size:x}, {offsets:x?}"
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(compilers().is_empty() || times() > before);
}

/// How often traced code came to lanes of such a buffer.
fn times() -> u64 {
    let all = taken().into_iter();
    all.filter(|(path, _)| *path == Path::Large)
        .map(|(_, times)| times)
        .sum()
}
