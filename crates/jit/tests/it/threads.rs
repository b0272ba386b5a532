//! Threads of a group that follow each other in machine code: as the interpreter runs them, wherever fuel runs out. Some
//! lanes do not come to the last barrier.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use super::{compilers, translated};
use std::sync::Arc;
use visakit_exec::{Counters, Examined, Group, Limits, Memory, Program, Progress, ThreadStart};
use visakit_jit::{Path, taken};

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

/// A kernel whose threads come to a loop of their own, by these lines, and then take numbers by an atomic operation: they show
/// in which order threads accessed local memory.
fn in_turn(before: &str) -> String {
    format!(
        ".version 4.1
.kernel \"k\"
.decl N v_type=G type=d num_elts=1 align=dword
.decl C v_type=G type=d num_elts=16 align=GRF
.decl A v_type=G type=d num_elts=16 align=GRF
.decl B v_type=G type=d num_elts=16 align=GRF
.decl AT v_type=G type=ud num_elts=1 align=GRF
.decl TO v_type=G type=ud num_elts=1 align=GRF
.decl R v_type=G type=d num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.kernel_attr SimdSize=16
mov (M1_NM, 1) AT(0,0)<1> 0x0:ud
mov (M1, 16) C(0,0)<1> N(0,0)<0;1,0>
mov (M1, 16) A(0,0)<1> N(0,0)<0;1,0>
mov (M1, 16) B(0,0)<1> 0x1:d
{before}
L0:
cmp.le (M1, 16) P1 C(0,0)<1;1,0> 0x0:d
(P1) goto (M1, 16) L1
add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>
xor (M1, 16) B(0,0)<1> B(0,0)<1;1,0> A(0,0)<1;1,0>
add (M1, 16) C(0,0)<1> C(0,0)<1;1,0> 0xffffffff:d
jmp (M1, 1) L0
L1:
lsc_atomic_iinc.slm (M1_NM, 1) R:d32 flat[AT]:a32 %null %null
add (M1_NM, 1) B(0,0)<1> B(0,0)<0;1,0> A(0,0)<0;1,0>
lsc_store.slm (M1_NM, 1) flat[TO]:a32 R:d32
lsc_store.slm (M1_NM, 1) flat[TO+0x4]:a32 B:d32
ret (M1, 1)
"
    )
}

/// Two threads run side by side only if nothing but registers is accessed on their way: the order of all accesses is that of
/// the interpreter.
#[test]
fn accesses_are_in_turn() {
    let ran = |program: &Program| {
        let slot = |name| program.variable(name).unwrap();
        let start = |(number, turns): (u32, i32)| ThreadStart {
            mask: 0xffff,
            sets: vec![
                (slot("N"), turns.to_le_bytes().to_vec()),
                (slot("TO"), (64 + 8 * number).to_le_bytes().to_vec()),
            ],
            ..ThreadStart::default()
        };
        let turns = [7, 7, 3, 200, 1, 1, 30, 7];
        let starts: Vec<_> = (0..).zip(turns).map(start).collect();
        let (memory, limits) = (Memory::new(0), Limits::default());
        let mut group = Group::new(program, 256, &starts, &limits).unwrap();
        group.run(program, &memory, &limits, &mut ()).unwrap();
        group.slm().to_vec()
    };
    let times = || {
        let all = taken().into_iter();
        let own = all.filter(|(path, _)| *path == Path::Pair);
        own.map(|(_, times)| times).sum::<u64>()
    };
    let mut pairs = 0;
    for (before, is_quiet) in [
        ("", true),
        ("mul (M1, 16) B(0,0)<1> B(0,0)<1;1,0> 0x3:d", true),
        (
            "lsc_atomic_iinc.slm (M1_NM, 1) B:d32 flat[AT]:a32 %null %null",
            false,
        ),
        ("lsc_load.slm (M1_NM, 1) B:d32 flat[AT]:a32", false),
        ("lsc_store.slm (M1_NM, 1) flat[AT]:a32 N:d32", false),
        ("lsc_load.slm (M1, 16) B:d32 flat[R]:a32", false),
        ("lsc_fence.slm.none.group", false),
    ] {
        let text = in_turn(before);
        let expected = ran(&translated(&text));
        for jit in compilers() {
            let mut compiled = translated(&text);
            compiled.examine_registers(Examined::Never);
            compiled.compile_with(Arc::new(jit.traced()), 0);
            let before_it = times();
            assert!(ran(&compiled) == expected, "{before}");
            // Other tests of this process count as well.
            pairs += u64::from(is_quiet) * (times() - before_it);
        }
    }
    assert!(compilers().is_empty() || pairs > 0);
}
