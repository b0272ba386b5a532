//! Threads of a group that follow each other in machine code: as the interpreter runs them, wherever fuel runs out. Some
//! lanes do not come to the last barrier.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use super::{compilers, translated};
use std::sync::Arc;
use visakit_exec::{Counters, Examined, Group, Limits, Memory, Program, Progress, ThreadStart};

/// Loops as often as its input says, sets a float mode by it, waits for the others, and does so again; lanes above the
/// input leave earlier.
const TEXT: &str = "\
.version 4.1
.kernel \"k\"
.decl N v_type=G type=d num_elts=1 align=dword
.decl A v_type=G type=d num_elts=16 align=GRF
.decl I v_type=G type=d num_elts=1 align=dword
.decl M v_type=G type=ud num_elts=1 align=dword
.decl F v_type=G type=f num_elts=16 align=GRF
.decl G v_type=G type=f num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.kernel_attr SimdSize=16
mov (M1, 16) F(0,0)<1> 0x3f8ccccd:f
mov (M1_NM, 1) I(0,0)<1> N(0,0)<0;1,0>
L0:
add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> I(0,0)<0;1,0>
cmp.lt (M1, 16) P1 A(0,0)<1;1,0> 0x3:d
(P1) goto (M1, 16) L1
mul (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 0x3:d
L1:
add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0xffffffff:d
cmp.ge (M1_NM, 16) P1 I(0,0)<0;1,0> 0x0:d
(P1) goto (M1, 16) L0
and (M1_NM, 1) M(0,0)<1> N(0,0)<0;1,0> 0xb:d
shl (M1_NM, 1) M(0,0)<1> M(0,0)<0;1,0> 0x4:d
xor (M1_NM, 1) %cr0(0,0)<1> M(0,0)<0;1,0> 0x4c0:ud
mul (M1, 16) F(0,0)<1> F(0,0)<1;1,0> 0x3f8ccccd:f
barrier
mul (M1, 16) G(0,0)<1> F(0,0)<1;1,0> 0x3f8ccccd:f
add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> N(0,0)<0;1,0>
barrier
mul (M1, 16) G(0,0)<1> G(0,0)<1;1,0> F(0,0)<1;1,0>
setp (M1_NM, 16) P1 0xf0:uw
(P1) goto (M1, 16) L2
add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 0x5:d
barrier
add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 0x7:d
L2:
mul (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 0x3:d
ret (M1, 1)
";

/// The counts and registers of a group of threads of all kinds.
fn run(program: &Program, fuel: u64, times: usize) -> (Counters, Vec<Vec<u8>>) {
    let slot = program.variable("N").unwrap();
    let starts: Vec<ThreadStart> = [(3, 0xffff), (0, 0x00f1), (200, 0xffff), (9, 0x8000), (1, 1)]
        .into_iter()
        .map(|(turns, mask): (i32, u32)| ThreadStart {
            mask,
            sets: vec![(slot.clone(), turns.to_le_bytes().to_vec())],
            ..ThreadStart::default()
        })
        .collect();
    let starts: Vec<_> = (0..times).flat_map(|_| starts.clone()).collect();
    let (memory, limits) = (Memory::new(0), Limits::default());
    let mut group = Group::new(program, 0, &starts, &limits).unwrap();
    while group
        .advance(program, &memory, &limits, fuel, None, &mut ())
        .unwrap()
        != Progress::Ended
    {}
    let threads = group.threads().iter();
    let registers = threads.map(|thread| thread.registers().to_vec()).collect();
    (group.counters(), registers)
}

#[test]
fn as_interpreted() {
    // More than machine code knows of at a time.
    let expected = [1, 9].map(|times| run(&translated(TEXT), u64::MAX, times));
    let [(counters, _), _] = &expected;
    assert!(counters.instructions > 1000);
    for jit in compilers() {
        for examined in [Examined::Always, Examined::AtEnd] {
            let mut compiled = translated(TEXT);
            compiled.examine_registers(examined);
            compiled.compile_with(Arc::new(jit), 0);
            for fuel in [1, 7, 100, u64::MAX] {
                for (times, expected) in [1, 9].into_iter().zip(&expected) {
                    let ran = run(&compiled, fuel, times);
                    assert!(ran == *expected, "{fuel} at a time, {times}, {examined:?}");
                }
            }
        }
    }
}
