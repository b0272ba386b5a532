//! Threads of a group that follow each other in machine code: as the interpreter runs them, wherever fuel runs out, and
//! also if machine code does not go on to the next one by itself.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use super::{compilers, translated};
use std::sync::Arc;
use visakit_exec::code::{Code, Liveness};
use visakit_exec::{
    Compiler, Counters, Entry, Group, Host, Limits, Memory, Native, NativeFault, NativeLanes,
    NativeMemory, NativeThread, Program, Progress, ThreadStart,
};
use visakit_jit::Jit;

/// Loops as often as its input says, waits for the others, and does so again; lanes above the input leave earlier.
const TEXT: &str = "\
.version 4.1
.kernel \"k\"
.decl N v_type=G type=d num_elts=1 align=dword
.decl A v_type=G type=d num_elts=16 align=GRF
.decl I v_type=G type=d num_elts=1 align=dword
.decl P1 v_type=P num_elts=16
.kernel_attr SimdSize=16
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
barrier
add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> N(0,0)<0;1,0>
barrier
ret (M1, 1)
";

/// A compiler whose code returns after each thread.
#[derive(Debug)]
struct Alone(Jit);

#[derive(Debug)]
struct Single(Box<dyn Native>);

struct Hidden<'a>(&'a mut dyn Host);

impl Compiler for Alone {
    fn compile(&self, code: &Code, live: Option<&Liveness>) -> Option<Box<dyn Native>> {
        Some(Box::new(Single(self.0.compile(code, live)?)))
    }
}

impl Native for Single {
    fn entries(&self) -> &[Entry] {
        self.0.entries()
    }

    fn run(&self, thread: &mut NativeThread, host: &mut dyn Host) -> Result<(), NativeFault> {
        self.0.run(thread, &mut Hidden(host))
    }
}

impl Host for Hidden<'_> {
    fn registers(&mut self) -> &mut [u8] {
        self.0.registers()
    }

    fn memory(&mut self) -> NativeMemory<'_> {
        self.0.memory()
    }

    fn branch(&mut self, lanes: NativeLanes, target: usize, taken: u32) -> NativeLanes {
        self.0.branch(lanes, target, taken)
    }

    fn join(&mut self, lanes: NativeLanes) -> NativeLanes {
        self.0.join(lanes)
    }

    fn float_mode(&mut self, cr0: u32) {
        self.0.float_mode(cr0);
    }

    fn step(&mut self, place: usize, mask: u32) -> Result<(), NativeFault> {
        self.0.step(place, mask)
    }
}

/// The counts and registers of a group of threads of all kinds.
fn run(program: &Program, fuel: u64) -> (Counters, Vec<Vec<u8>>) {
    let slot = program.variable("N").unwrap();
    let starts: Vec<ThreadStart> = [(3, 0xffff), (0, 0x00f1), (200, 0xffff), (9, 0x8000), (1, 1)]
        .into_iter()
        .map(|(turns, mask): (i32, u32)| ThreadStart {
            mask,
            sets: vec![(slot.clone(), turns.to_le_bytes().to_vec())],
            ..ThreadStart::default()
        })
        .collect();
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
    let expected = run(&translated(TEXT), u64::MAX);
    assert!(expected.0.instructions > 1000);
    for jit in compilers() {
        for compiler in [Arc::new(jit) as Arc<dyn Compiler>, Arc::new(Alone(jit))] {
            let mut compiled = translated(TEXT);
            compiled.compile_with(compiler, 0);
            for fuel in [1, 7, 100, u64::MAX] {
                assert_eq!(run(&compiled, fuel), expected, "{fuel} at a time");
            }
        }
    }
}
