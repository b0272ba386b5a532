//! Threads that do something together: named and split barriers, and the systolic product of two fused threads.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::result_large_err,
    clippy::unwrap_used
)] // helpers of a test

use visakit_exec::{
    Fault, FaultKind, Group, Limits, Memory, Options, Program, ThreadStart, VariableSlot,
};
use visakit_isa::Version;
use visakit_isa::object::{RoutineId, RoutineKind};
use visakit_text::asm;

const REGISTER: usize = 32;

/// Bytes that a thread finds in its variables.
type Given<'a> = &'a [(&'a str, Vec<u8>)];

struct Ended {
    group: Group,
    program: Program,
}

impl Ended {
    fn bytes(&self, thread: usize, variable: &str) -> Vec<u8> {
        let slot: VariableSlot = self.program.variable(variable).unwrap();
        self.group.thread(thread).unwrap().read(&slot).to_vec()
    }

    fn numbers(&self, thread: usize, variable: &str) -> Vec<u32> {
        let bytes = self.bytes(thread, variable);
        let words = bytes.as_chunks().0.iter();
        words.map(|word| u32::from_le_bytes(*word)).collect()
    }
}

/// Runs the lines in this many threads.
fn run(lines: &str, threads: &[Given<'_>]) -> Result<Ended, Fault> {
    let text = format!(
        ".kernel \"together\"
.decl A v_type=G type=d num_elts=128 align=GRF
.decl W v_type=G type=d num_elts=128 align=GRF
.decl C v_type=G type=d num_elts=128 align=GRF
.decl D v_type=G type=d num_elts=128 align=GRF
.decl CF v_type=G type=f num_elts=128 align=GRF alias=<C, 0>
.decl DF v_type=G type=f num_elts=128 align=GRF alias=<D, 0>
.decl OWN v_type=G type=ud num_elts=8 align=GRF
.decl OTHER v_type=G type=ud num_elts=8 align=GRF
.decl ROLE v_type=G type=ud num_elts=1 align=GRF
.decl TO v_type=G type=ud num_elts=8 align=GRF
.decl FROM v_type=G type=ud num_elts=8 align=GRF
.decl P1 v_type=P num_elts=8
.kernel_attr SimdSize=8
{lines}
ret (M1, 1)
"
    );
    let options = asm::Options {
        version: Some(Version::V4_1),
        ..asm::Options::default()
    };
    let object = asm::assemble_in_any_dialect(text.as_bytes(), &options)
        .unwrap_or_else(|faults| panic!("{lines}: {}", faults[0].message))
        .object;
    let id = RoutineId::new(RoutineKind::Kernel, 0);
    let program = Program::new(&object, id, &Options::default()).unwrap();
    let starts: Vec<ThreadStart> = threads
        .iter()
        .map(|given| ThreadStart {
            mask: 0xff,
            cr0: 0x4c0,
            sets: given
                .iter()
                .map(|(name, bytes)| (program.variable(name).unwrap(), bytes.clone()))
                .collect(),
            ..ThreadStart::default()
        })
        .collect();
    let mut group = Group::new(&program, 256, &starts, &Limits::default())?;
    group.run(&program, &Memory::new(0), &Limits::default(), &mut ())?;
    Ok(Ended { group, program })
}

fn lanes(number: impl Fn(u32) -> u32) -> Vec<u8> {
    (0..8).flat_map(|lane| number(lane).to_le_bytes()).collect()
}

/// Each thread leaves its numbers in local memory, and reads those of the other after the barrier.
fn exchange(barrier: [&str; 2]) -> String {
    let [signal, wait] = barrier;
    format!(
        "lsc_store.slm (M1, 8) flat[TO]:a32 OWN:d32
lsc_fence.slm.none.group
{signal}
{wait}
lsc_load.slm (M1, 8) OTHER:d32 flat[FROM]:a32"
    )
}

fn exchanging(thread: u32) -> Vec<(&'static str, Vec<u8>)> {
    let place = |thread: u32| lanes(move |lane| thread * 32 + lane * 4);
    vec![
        ("OWN", lanes(|lane| 100 * (thread + 1) + lane)),
        ("TO", place(thread)),
        ("FROM", place(1 - thread)),
    ]
}

#[test]
fn barriers_order_memory() {
    for barrier in [
        ["barrier", ""],
        ["sbarrier.signal", "sbarrier.wait"],
        ["nbarrier.signal 0x3:ub 0x2:ub", "nbarrier.wait 0x3:ub"],
        [
            "nbarrier.signal 0x3:b 0x0:w 0x2:b 0x2:b",
            "nbarrier.wait 0x3:b",
        ],
    ] {
        let ended = run(&exchange(barrier), &[&exchanging(0), &exchanging(1)]).unwrap();
        for (thread, other) in [(0, 200), (1, 100)] {
            let expected: Vec<u32> = (other..other + 8).collect();
            assert_eq!(ended.numbers(thread, "OTHER"), expected, "{barrier:?}");
        }
    }
}

/// A named barrier that waits for one more thread than signals is a fault, not a hang.
#[test]
fn a_thread_too_few() {
    let lines = exchange(["nbarrier.signal 0x3:ub 0x3:ub", "nbarrier.wait 0x3:ub"]);
    let fault = run(&lines, &[&exchanging(0), &exchanging(1)])
        .err()
        .unwrap();
    assert!(
        matches!(
            fault.kind,
            FaultKind::BarrierDivergence {
                waiting: 2,
                ended: 0
            }
        ),
        "{fault}"
    );
}

/// A named barrier separates two threads of four: the others do not take part, and it serves again.
#[test]
fn named_barriers_serve_some_threads_again() {
    let lines = "\
cmp.lt (M1, 8) P1 ROLE(0,0)<0;1,0> 0x2:ud
mov (M1, 8) OTHER(0,0)<1> 0x0:ud
(!P1.any) jmp (M1, 1) out
lsc_store.slm (M1, 8) flat[TO]:a32 OWN:d32
nbarrier.signal 0x1:ub 0x2:ub
nbarrier.wait 0x1:ub
lsc_load.slm (M1, 8) OTHER:d32 flat[FROM]:a32
nbarrier.signal 0x1:ub 0x2:ub
nbarrier.wait 0x1:ub
add (M1, 8) OTHER(0,0)<1> OTHER(0,0)<1;1,0> 0x1:ud
lsc_store.slm (M1, 8) flat[TO]:a32 OTHER:d32
nbarrier.signal 0x1:ub 0x2:ub
nbarrier.wait 0x1:ub
lsc_load.slm (M1, 8) OTHER:d32 flat[FROM]:a32
out:";
    let given: Vec<_> = (0..4u32)
        .map(|thread| {
            let mut given = exchanging(thread % 2);
            given.push(("ROLE", thread.to_le_bytes().to_vec()));
            given
        })
        .collect();
    let given: Vec<Given<'_>> = given.iter().map(Vec::as_slice).collect();
    let ended = run(lines, &given).unwrap();
    for (thread, first) in [(0, 101), (1, 201)] {
        // What the other one read from this one, plus one.
        let expected: Vec<u32> = (first..first + 8).collect();
        assert_eq!(ended.numbers(thread, "OTHER"), expected);
    }
    for thread in [2, 3] {
        assert_eq!(ended.numbers(thread, "OTHER"), [0; 8]);
    }
}

/// Finite numbers in any of the precisions: no exponent of a half or of a bfloat is all ones.
fn matrix(seed: u32) -> Vec<u8> {
    let number = |n: u32| (n ^ seed).wrapping_mul(0x9e37_79b9).rotate_left(n % 31) & 0x3fff_3fff;
    (0..128).flat_map(|n| number(n).to_le_bytes()).collect()
}

/// Two fused threads compute what each computes alone with all of the activations: the first one holds the first half
/// of their registers, the second one the rest.
#[test]
fn fused_threads_share_activations() {
    for (weights, activations, bytes_a_row) in [
        ("hf", "hf", 32),
        ("bf", "bf", 32),
        ("s8", "u8", 32),
        ("u4", "s4", 32),
        ("s8", "s4", 16),
        ("u8", "u2", 8),
    ] {
        for rows in 1..=8usize {
            let registers = (bytes_a_row * rows).div_ceil(REGISTER);
            let first = registers.div_ceil(2);
            let whole = matrix(7);
            let pieces = [&whole[..first * REGISTER], &whole[first * REGISTER..]];
            let rest = [0x11; 16 * REGISTER];
            let of = |thread: u32, activations: Vec<u8>| {
                vec![
                    ("A", activations),
                    ("W", matrix(100 + thread)),
                    ("C", matrix(200 + thread)),
                ]
            };
            let sum = if weights.ends_with('f') { "F" } else { "" };
            let line = |op: &str| {
                format!(
                    "{op}.{weights}.{activations}.8.{rows} (M1, 8) D{sum}.0 C{sum}.0 W.0 A(0,0)"
                )
            };
            let parts: Vec<_> = [0u32, 1]
                .into_iter()
                .zip(pieces)
                .map(|(thread, piece)| {
                    let mut bytes = piece.to_vec();
                    bytes.extend_from_slice(&rest);
                    bytes.truncate(whole.len());
                    of(thread, bytes)
                })
                .collect();
            let fused = run(&line("dpasw"), &[&parts[0], &parts[1]]).unwrap();
            for thread in [0u32, 1] {
                let alone = run(&line("dpas"), &[&of(thread, whole.clone())]).unwrap();
                let index = usize::try_from(thread).unwrap();
                assert_eq!(
                    fused.bytes(index, "D"),
                    alone.bytes(0, "D"),
                    "{weights} {activations}, {rows} rows, thread {thread}"
                );
            }
        }
    }
}
