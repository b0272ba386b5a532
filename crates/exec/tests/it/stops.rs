//! What limits and stops a group, and that it resumes as if it had not been stopped.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // helpers of a test

use proptest::prelude::*;
use std::time::{Duration, Instant};
use visakit_exec::{
    BufferId, Counters, FaultKind, Group, Interrupt, Limits, Memory, Options, Program, Progress,
    ThreadStart,
};

fn program(lines: &str) -> Program {
    let text = format!(
        ".version 4.1
.kernel \"k\"
.decl N v_type=G type=ud num_elts=16 align=GRF
.decl M v_type=G type=ud num_elts=16 align=GRF
.decl TSC v_type=G type=ud num_elts=16 align=GRF
.decl AT v_type=G type=uq num_elts=16 align=GRF
.decl SLOT v_type=G type=ud num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.kernel_attr SimdSize=16
{lines}
"
    );
    let options = Options {
        strict: true,
        ..Options::default()
    };
    crate::common::program(&text, &options)
}

/// Threads that diverge in a loop, meet at barriers of all kinds, note the time, call, and add to common memory.
const BUSY: &str = "\
again:
add (M1, 16) M(0,0)<1> M(0,0)<1;1,0> N(0,0)<1;1,0>
mov (M1_NM, 1) TSC(0,0)<1> %tsc(0,0)<0;1,0>
and (M1, 16) SLOT(0,0)<1> M(0,0)<1;1,0> 0xfc:ud
lsc_atomic_iadd.slm (M1, 16) %null:d32 flat[SLOT]:a32 M %null
call (M1, 16) MORE
barrier
sbarrier.signal
sbarrier.wait
nbarrier.signal 0x1:ub 0x3:ub
nbarrier.wait 0x1:ub
lsc_load.slm (M1, 16) SLOT:d32 flat[SLOT]:a32
add (M1, 16) M(0,0)<1> M(0,0)<1;1,0> SLOT(0,0)<1;1,0>
add (M1, 16) N(0,0)<1> N(0,0)<1;1,0> 0xffffffff:ud
cmp.gt (M1, 16) P1 N(0,0)<1;1,0> 0x0:ud
(P1.any) jmp (M1, 1) again
lsc_store.ugm (M1, 16) flat[AT]:a64 M:d32
ret (M1, 1)
.function \"MORE\"
MORE:
shr (M1, 16) SLOT(0,0)<1> M(0,0)<1;1,0> 0x3:ud
cmp.lt (M1, 16) P1 SLOT(0,0)<1;1,0> 0x40:ud
(P1) goto (M1, 16) out
mul (M1, 16) M(0,0)<1> M(0,0)<1;1,0> 0x9e37:ud
out:
ret (M1, 16)
";

struct Setting {
    group: Group,
    memory: Memory,
    buffer: BufferId,
}

/// Three threads with different numbers, which count down the same rounds.
fn setting(program: &Program, rounds: u32, seed: u32) -> Setting {
    let mut memory = Memory::new(1 << 20);
    let buffer = memory.add_zeroed(3 * 64).unwrap();
    let starts: Vec<_> = (0..3_u32)
        .map(|thread| {
            let lanes = |number: &dyn Fn(u32) -> u32| -> Vec<u8> {
                (0..16)
                    .flat_map(|lane| number(lane).to_le_bytes())
                    .collect()
            };
            let at = memory.address(buffer) + u64::from(thread) * 64;
            let at: Vec<u8> = (0..16)
                .flat_map(|lane: u64| (at + lane * 4).to_le_bytes())
                .collect();
            let slot = |name: &str| program.variable(name).unwrap();
            ThreadStart {
                mask: 0xffff,
                sets: vec![
                    (slot("N"), lanes(&|_| rounds)),
                    (slot("M"), lanes(&|lane| seed.rotate_left(lane) ^ thread)),
                    (slot("AT"), at),
                ],
                ..ThreadStart::default()
            }
        })
        .collect();
    let group = Group::new(program, 512, &starts, &Limits::default()).unwrap();
    Setting {
        group,
        memory,
        buffer,
    }
}

/// Registers of all threads, shared and global memory, counters.
type All = (Vec<Vec<u8>>, Vec<u8>, Vec<u8>, Counters);

fn all(setting: &Setting) -> All {
    let threads = (0..3).map(|n| setting.group.thread(n).unwrap().registers().to_vec());
    (
        threads.collect(),
        setting.group.slm().to_vec(),
        setting.memory.read(setting.buffer),
        setting.group.counters(),
    )
}

fn in_one_go(program: &Program, rounds: u32, seed: u32) -> All {
    let mut whole = setting(program, rounds, seed);
    let limits = Limits::default();
    whole
        .group
        .run(program, &whole.memory, &limits, &mut ())
        .unwrap();
    all(&whole)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// However the fuel is divided, the result is the same.
    #[test]
    fn fuel_is_divided_anyhow(
        rounds in 1..6_u32,
        seed in any::<u32>(),
        portions in prop::collection::vec(0..60_u64, 1..12),
    ) {
        let program = program(BUSY);
        let whole = in_one_go(&program, rounds, seed);
        let mut cut = setting(&program, rounds, seed);
        let limits = Limits::default();
        let mut portions = portions.iter().cycle();
        let mut given = 1;
        loop {
            // One more, so that it ends when all portions are empty.
            let fuel = portions.next().unwrap() + given % 2;
            given += 1;
            let before = cut.group.counters().instructions;
            let progress = cut.group.advance(&program, &cut.memory, &limits, fuel, None, &mut ());
            let progress = progress.unwrap();
            prop_assert!(cut.group.counters().instructions - before <= fuel);
            if progress == Progress::Ended {
                break;
            }
            prop_assert_eq!(progress, Progress::OutOfFuel);
        }
        prop_assert_eq!(all(&cut), whole);
    }

    /// Threads that take turns because they run for long do so at the same places.
    #[test]
    fn turns_outlast_a_cut(fuel in 1_000..90_000_u64) {
        let program = program(RACE);
        let whole = in_one_go(&program, 6000, 7);
        let mut cut = setting(&program, 6000, 7);
        let limits = Limits::default();
        while cut.group.advance(&program, &cut.memory, &limits, fuel, None, &mut ()).unwrap()
            != Progress::Ended
        {}
        prop_assert_eq!(all(&cut), whole);
    }

    /// A limit of steps is a fault after which the group can continue with a higher one.
    #[test]
    fn a_limit_can_be_raised(first in 1..400_u64) {
        let program = program(BUSY);
        let whole = in_one_go(&program, 3, 11);
        let mut cut = setting(&program, 3, 11);
        let mut limits = Limits { max_steps: first, ..Limits::default() };
        if let Err(fault) = cut.group.run(&program, &cut.memory, &limits, &mut ()) {
            prop_assert_eq!(fault.kind, FaultKind::StepLimit(first));
            prop_assert_eq!(cut.group.counters().instructions, first);
            limits.max_steps = Limits::MAX_STEPS;
            cut.group.run(&program, &cut.memory, &limits, &mut ()).unwrap();
        }
        prop_assert_eq!(all(&cut), whole);
    }
}

/// Threads that write the same place of local memory, and read it, without waiting for each other.
const RACE: &str = "\
again:
mul (M1, 16) M(0,0)<1> M(0,0)<1;1,0> 0x9e37:ud
lsc_store.slm (M1, 1) flat[SLOT]:a32 M:d32
lsc_load.slm (M1, 1) TSC:d32 flat[SLOT]:a32
add (M1, 16) M(0,0)<1> M(0,0)<1;1,0> TSC(0,0)<0;1,0>
add (M1, 16) N(0,0)<1> N(0,0)<1;1,0> 0xffffffff:ud
cmp.gt (M1, 16) P1 N(0,0)<1;1,0> 0x0:ud
(P1.any) jmp (M1, 1) again
lsc_store.ugm (M1, 16) flat[AT]:a64 M:d32
ret (M1, 1)
";

/// A thread alone, and threads that wait for one that spins, stop soon after the interrupt; once lowered, they continue.
#[test]
fn an_interrupt_stops_endless_loops() {
    for (lines, threads) in [
        ("L0:\njmp (M1, 1) L0\nret (M1, 1)", 1),
        (
            "L0:\nadd (M1, 16) M(0,0)<1> N(0,0)<1;1,0> 0x1:ud\njmp (M1, 1) L0\nret (M1, 1)",
            5,
        ),
        (
            "barrier\nL0:\nlsc_load.slm (M1, 16) M:d32 flat[SLOT]:a32\njmp (M1, 1) L0\nret (M1, 1)",
            2,
        ),
    ] {
        let program = program(lines);
        let limits = Limits::default();
        let start = ThreadStart {
            mask: 0xffff,
            ..ThreadStart::default()
        };
        let starts = vec![start; threads];
        let mut group = Group::new(&program, 64, &starts, &limits).unwrap();
        let (interrupt, memory) = (Interrupt::new(), Memory::new(0));
        let mut before = 0;
        for _ in 0..2 {
            let other = interrupt.clone();
            let raised = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                other.raise();
                Instant::now()
            });
            let progress = group
                .advance(
                    &program,
                    &memory,
                    &limits,
                    u64::MAX,
                    Some(&interrupt),
                    &mut (),
                )
                .unwrap();
            assert_eq!(progress, Progress::Interrupted);
            // Milliseconds; machines of continuous integration may be busy.
            let late = Instant::now().duration_since(raised.join().unwrap());
            assert!(late < Duration::from_secs(2), "{late:?}");
            let steps = group.counters().instructions;
            assert!(steps > before);
            before = steps;
            let raised = group.advance(&program, &memory, &limits, 9, Some(&interrupt), &mut ());
            assert_eq!(raised.unwrap(), Progress::Interrupted);
            assert_eq!(group.counters().instructions, before);
            interrupt.lower();
        }
    }
}

/// The memory of a group is checked before any of it is reserved.
#[test]
fn memory_is_counted_first() {
    let program = program("ret (M1, 1)");
    let limits = Limits {
        max_bytes: 1 << 20,
        ..Limits::default()
    };
    let start = |scratch_bytes| ThreadStart {
        mask: 1,
        scratch_bytes,
        ..ThreadStart::default()
    };
    for (slm, scratch, threads) in [
        (usize::MAX, 0, 1),
        (0, usize::MAX, 1),
        (usize::MAX, usize::MAX, 2),
        (0, 4 << 30, 1),
        (1 << 20, 0, 1),
        (0, 1 << 10, 1024),
    ] {
        let starts = vec![start(scratch); threads];
        let fault = Group::new(&program, slm, &starts, &limits).err().unwrap();
        assert_eq!(fault.kind, FaultKind::MemoryLimit(1 << 20));
    }
    // A limit that no host has is no reason to abort.
    let limits = Limits {
        max_bytes: u64::MAX - 1,
        ..limits
    };
    let fault = Group::new(&program, usize::MAX >> 1, &[start(0)], &limits);
    assert!(matches!(
        fault.err().unwrap().kind,
        FaultKind::OutOfMemory(_)
    ));
    // A group whose start failed starts again.
    let mut group = Group::default();
    assert!(
        group
            .reset(&program, usize::MAX, &[start(0)], &limits)
            .is_err()
    );
    group.reset(&program, 64, &[start(64)], &limits).unwrap();
    group
        .run(&program, &Memory::new(0), &limits, &mut ())
        .unwrap();
}
