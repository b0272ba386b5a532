//! Two groups on two threads of the host, and what they observe of each other's accesses to global memory: with shuttle
//! in every order of them, otherwise in those that happen.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // helpers of a test

use visakit_exec::{Group, Limits, Memory, Options, Program, ThreadStart};

/// Rounds of each loop.
const ROUNDS: u32 = if cfg!(shuttle) { 2 } else { 20_000 };

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
.decl V v_type=G type=ud num_elts=8 align=GRF
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

fn run(program: &Program, memory: &Memory) {
    let limits = Limits::default();
    let start = ThreadStart {
        mask: 1,
        ..ThreadStart::default()
    };
    let mut group = Group::new(program, 0, &[start], &limits).unwrap();
    group.run(program, memory, &limits, &mut ()).unwrap();
}

/// The kernels of both sides, and where each leaves what it counted in `X`.
fn kernels(one: &str, two: &str) -> [Program; 2] {
    [(one, "0x100010060"), (two, "0x100010080")]
        .map(|(lines, own)| crate::common::program(&kernel(lines, own), &Options::default()))
}

fn memory() -> Memory {
    let mut memory = Memory::new(1 << 20);
    let buffer = memory.add_zeroed(160).unwrap();
    assert_eq!(memory.address(buffer), 0x1_0001_0000);
    memory
}

/// The buffer and what each counted in `X`.
fn outcome(memory: &Memory) -> (Vec<u8>, [u32; 2]) {
    let bytes = memory.read(memory.buffers().next().unwrap());
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let counted = [word(0x60), word(0x80)];
    (bytes, counted)
}

/// Runs both at once and checks the buffer and what each counted in `X`.
#[cfg(not(shuttle))]
fn together(one: &str, two: &str, check: impl Fn(Vec<u8>, [u32; 2]) + Send + Sync + 'static) {
    let ([one, two], memory) = (kernels(one, two), memory());
    let barrier = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            barrier.wait();
            run(&one, &memory);
        });
        barrier.wait();
        run(&two, &memory);
    });
    let (bytes, counted) = outcome(&memory);
    check(bytes, counted);
}

/// Runs both in every order of their accesses and checks, each time, the buffer and what each counted in `X`.
#[cfg(shuttle)]
fn together(one: &str, two: &str, check: impl Fn(Vec<u8>, [u32; 2]) + Send + Sync + 'static) {
    let [one, two] = kernels(one, two);
    let one = std::sync::Arc::new(one);
    let all = shuttle::scheduler::DfsScheduler::new(None, false);
    let mut config = shuttle::Config::default();
    config.stack_size = 1 << 20;
    let orders = shuttle::Runner::new(all, config).run(move || {
        let memory = std::sync::Arc::new(memory());
        let (first, shared) = (std::sync::Arc::clone(&one), std::sync::Arc::clone(&memory));
        let first = shuttle::thread::spawn(move || run(&first, &shared));
        run(&two, &memory);
        first.join().unwrap();
        let (bytes, counted) = outcome(&memory);
        check(bytes, counted);
    });
    assert!(orders > 1, "one order of accesses");
}

/// Who sees the flag sees the data that were written before the fence, and never half of an aligned qword.
#[test]
fn message_passing() {
    for fence in ["lsc_fence.ugm.none.gpu", "fence_global.E"] {
        together(
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
            |_, [_, wrong]| assert_eq!(wrong, 0),
        );
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
    together(&side("A", "B"), &side("B", "A"), |_, [a, b]| {
        assert!(a == 0 || b == 0, "both saw nothing: {a} and {b} rounds");
    });
}

/// Additions of 64 bits and of 32 bits to their upper half: none is lost.
#[test]
fn wide_and_narrow_atomics() {
    together(
        "mov (M1_NM, 1) D(0,0)<1> 0x1:ud
mov (M1_NM, 1) D(0,1)<1> 0x1:ud
lsc_atomic_iadd.ugm (M1_NM, 1) %null:d64 flat[A]:a64 DQ %null",
        "mov (M1_NM, 1) D(0,0)<1> 0x1:ud
lsc_atomic_iadd.ugm (M1_NM, 1) %null:d32 flat[A+0x4]:a64 D %null",
        |bytes, _| {
            let sum = u64::from_le_bytes(bytes[..8].try_into().unwrap());
            assert_eq!(sum, u64::from(2 * ROUNDS) << 32 | u64::from(ROUNDS));
        },
    );
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
        together(&side(one, size), &side(two, size), |_, wrong| {
            assert_eq!(wrong, [0, 0]);
        });
    }
}

/// Operations that no processor has, which compare and exchange until nobody was between: floats, in words of 16 to 64
/// bits. None is lost.
#[test]
fn float_atomics() {
    let side = |value: &str, operation: &str| {
        format!(
            "mov (M1_NM, 1) D(0,0)<1> {value}:ud
mov (M1_NM, 1) D(0,1)<1> {value}:ud
lsc_atomic_{operation} D %null"
        )
    };
    // 1.0 of each width: sums of bfloats end at 256, those of singles at 2^24.
    let single = side("0x3f800000", "fadd.ugm (M1_NM, 1) %null:d32 flat[A]:a64");
    together(&single, &single, |bytes, _| {
        let sum = f32::from_le_bytes(bytes[..4].try_into().unwrap());
        assert_eq!(sum, (2 * ROUNDS) as f32);
    });
    // The neighbour in the dword is an integer: neither loses what the other adds.
    together(
        &side("0x3f80", "bfadd.ugm (M1_NM, 1) %null:d16c32 flat[A]:a64"),
        &side("0x1", "iadd.ugm (M1_NM, 1) %null:d16c32 flat[A+0x2]:a64"),
        |bytes, _| {
            let sum = u16::from_le_bytes(bytes[..2].try_into().unwrap());
            let sum = f32::from_bits(u32::from(sum) << 16);
            assert_eq!(sum, ROUNDS.min(256) as f32);
            let neighbour = u16::from_le_bytes(bytes[2..4].try_into().unwrap());
            assert_eq!(u32::from(neighbour), ROUNDS & 0xffff);
        },
    );
    let double = "mov (M1_NM, 1) D(0,0)<1> 0x0:ud
mov (M1_NM, 1) D(0,1)<1> 0x3ff00000:ud
lsc_atomic_fadd.ugm (M1_NM, 1) %null:d64 flat[A]:a64 DQ %null";
    together(double, double, |bytes, _| {
        let sum = f64::from_le_bytes(bytes[..8].try_into().unwrap());
        assert_eq!(sum, f64::from(2 * ROUNDS));
    });
}

/// Runs of bytes: a qword of one is never seen half written, and what is beside it is kept.
#[test]
fn blocks_of_qwords() {
    together(
        "mov (M1_NM, 8) V(0,0)<1> I(0,0)<0;1,0>
lsc_store.ugm (M1_NM, 1) flat[A+0x8]:a64 V:d64x2t",
        "lsc_load.ugm (M1_NM, 1) V:d64x4t flat[A]:a64
cmp.ne (M1_NM, 1) P2 V(0,2)<0;1,0> V(0,3)<0;1,0>
(P2) add (M1_NM, 1) X(0,0)<1> X(0,0)<0;1,0> 0x1:ud
cmp.ne (M1_NM, 1) P2 V(0,4)<0;1,0> V(0,5)<0;1,0>
(P2) add (M1_NM, 1) X(0,0)<1> X(0,0)<0;1,0> 0x1:ud",
        |bytes, [_, wrong]| {
            assert_eq!(wrong, 0);
            assert!(
                bytes[..8]
                    .iter()
                    .chain(&bytes[24..0x60])
                    .all(|byte| *byte == 0)
            );
        },
    );
}
