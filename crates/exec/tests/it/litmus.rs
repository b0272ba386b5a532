//! Two groups on two threads of the host, and what they observe of each other's accesses to global memory.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // helpers of a test

use std::sync::Barrier;
use std::thread;
use visakit_exec::{Group, Limits, Memory, Options, ThreadStart};

/// Rounds of each loop.
const ROUNDS: u32 = 20_000;

/// `A` to `E` are addresses 32 bytes apart, from the start of a buffer on; `I` counts rounds from 1 on, `X` is 0 at the
/// start and goes, in the end, to `E` of the kernel.
fn kernel(lines: &str, own: &str) -> String {
    format!(
        ".version 4.1
.kernel \"k\"
.decl I v_type=G type=ud num_elts=2 align=GRF
.decl IQ v_type=G type=uq num_elts=1 align=GRF alias=<I, 0>
.decl X v_type=G type=ud num_elts=1 align=GRF
.decl D v_type=G type=ud num_elts=2 align=GRF
.decl DQ v_type=G type=uq num_elts=1 align=GRF alias=<D, 0>
.decl F v_type=G type=ud num_elts=1 align=GRF
.decl A v_type=G type=uq num_elts=1 align=GRF
.decl B v_type=G type=uq num_elts=1 align=GRF
.decl E v_type=G type=uq num_elts=1 align=GRF
.decl P1 v_type=P num_elts=1
.decl P2 v_type=P num_elts=1
.kernel_attr SimdSize=1
mov (M1_NM, 1) A(0,0)<1> 0x100010000:uq
mov (M1_NM, 1) B(0,0)<1> 0x100010020:uq
mov (M1_NM, 1) E(0,0)<1> {own}:uq
mov (M1_NM, 1) I(0,0)<1> 0x0:ud
mov (M1_NM, 1) X(0,0)<1> 0x0:ud
again:
add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud
{lines}
cmp.lt (M1_NM, 1) P1 I(0,0)<0;1,0> {ROUNDS}:ud
(P1) jmp (M1, 1) again
lsc_store.ugm (M1_NM, 1) flat[E]:a64 X:d32
ret (M1, 1)
"
    )
}

/// Runs both at once; returns the buffer and what each counted in `X`.
fn together(one: &str, two: &str) -> (Vec<u8>, [u32; 2]) {
    let mut memory = Memory::new(1 << 20);
    let buffer = memory.add_zeroed(160).unwrap();
    assert_eq!(memory.address(buffer), 0x1_0001_0000);
    let barrier = Barrier::new(2);
    let run = |lines: &str, own: &str| {
        let program = crate::common::program(&kernel(lines, own), &Options::default());
        let limits = Limits::default();
        let start = ThreadStart {
            mask: 1,
            ..ThreadStart::default()
        };
        let mut group = Group::new(&program, 0, &[start], &limits).unwrap();
        barrier.wait();
        group.run(&program, &memory, &limits, &mut ()).unwrap();
    };
    thread::scope(|scope| {
        scope.spawn(|| run(one, "0x100010060"));
        run(two, "0x100010080");
    });
    let bytes = memory.read(buffer);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let counted = [word(0x60), word(0x80)];
    (bytes, counted)
}

/// Who sees the flag sees the data that were written before the fence, and never half of an aligned qword.
#[test]
fn message_passing() {
    for fence in ["lsc_fence.ugm.none.gpu", "fence_global.E"] {
        let (_, [_, wrong]) = together(
            &format!(
                "mov (M1_NM, 1) D(0,0)<1> I(0,0)<0;1,0>
mov (M1_NM, 1) D(0,1)<1> I(0,0)<0;1,0>
lsc_store.ugm (M1_NM, 1) flat[A]:a64 DQ:d64
{fence}
lsc_store.ugm (M1_NM, 1) flat[B]:a64 I:d32"
            ),
            &format!(
                "lsc_load.ugm (M1_NM, 1) F:d32 flat[B]:a64
{fence}
lsc_load.ugm (M1_NM, 1) DQ:d64 flat[A]:a64
cmp.lt (M1_NM, 1) P2 D(0,0)<0;1,0> F(0,0)<0;1,0>
(P2) add (M1_NM, 1) X(0,0)<1> X(0,0)<0;1,0> 0x1:ud
cmp.ne (M1_NM, 1) P2 D(0,0)<0;1,0> D(0,1)<0;1,0>
(P2) add (M1_NM, 1) X(0,0)<1> X(0,0)<0;1,0> 0x1:ud"
            ),
        );
        assert_eq!(wrong, 0, "{fence}");
    }
}

/// Each writes a round and reads the other's: with a fence between, one of them sees the other's.
#[test]
fn store_buffering() {
    let side = |mine: &str, other: &str| {
        format!(
            "lsc_store.ugm (M1_NM, 1) flat[{mine}]:a64 I:d32
lsc_fence.ugm.none.gpu
lsc_load.ugm (M1_NM, 1) F:d32 flat[{other}]:a64
cmp.eq (M1_NM, 1) P2 F(0,0)<0;1,0> 0x0:ud
(P2) add (M1_NM, 1) X(0,0)<1> X(0,0)<0;1,0> 0x1:ud"
        )
    };
    let (_, [a, b]) = together(&side("A", "B"), &side("B", "A"));
    assert!(a == 0 || b == 0, "both saw nothing: {a} and {b} rounds");
}

/// Additions of 64 bits and of 32 bits to their upper half: none is lost.
#[test]
fn wide_and_narrow_atomics() {
    let (bytes, _) = together(
        "mov (M1_NM, 1) D(0,0)<1> 0x1:ud
mov (M1_NM, 1) D(0,1)<1> 0x1:ud
lsc_atomic_iadd.ugm (M1_NM, 1) %null:d64 flat[A]:a64 DQ %null",
        "mov (M1_NM, 1) D(0,0)<1> 0x1:ud
lsc_atomic_iadd.ugm (M1_NM, 1) %null:d32 flat[A+0x4]:a64 D %null",
    );
    let sum = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert_eq!(sum, u64::from(2 * ROUNDS) << 32 | u64::from(ROUNDS));
}

/// Neighbours below a dword: what one writes is kept, whatever the other does.
#[test]
fn neighbours_below_a_dword() {
    let side = |at: usize, size: &str| {
        format!(
            "and (M1_NM, 1) D(0,0)<1> I(0,0)<0;1,0> 0xff:ud
lsc_store.ugm (M1_NM, 1) flat[A+{at:#x}]:a64 D:{size}
lsc_load.ugm (M1_NM, 1) F:{size} flat[A+{at:#x}]:a64
cmp.ne (M1_NM, 1) P2 F(0,0)<0;1,0> D(0,0)<0;1,0>
(P2) add (M1_NM, 1) X(0,0)<1> X(0,0)<0;1,0> 0x1:ud"
        )
    };
    for (size, one, two) in [("d8u32", 1, 2), ("d8u32", 4, 7), ("d16u32", 0, 2)] {
        let (_, wrong) = together(&side(one, size), &side(two, size));
        assert_eq!(wrong, [0, 0], "{size} at {one} and {two}");
    }
}
