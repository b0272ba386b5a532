//! Two groups in machine code on two threads of the host, and what they observe of each other's accesses to global
//! memory.

use super::{compilers, translated};
use std::sync::{Arc, Barrier};
use std::thread;
use visakit_exec::{Group, Limits, Memory, Program, ThreadStart};
use visakit_testing::litmus;

#[test]
fn outcomes() {
    for jit in compilers() {
        for litmus in litmus::all(200_000) {
            println!("{}", litmus.name);
            let compiled = |text: &str| {
                let mut program = translated(text);
                program.compile_with(Arc::new(jit), 0);
                program
            };
            let [one, two] = [0, 1].map(|n| compiled(&litmus.kernels[n]));
            let mut memory = Memory::new(1 << 20);
            let buffer = memory.add_zeroed(litmus::BYTES).unwrap();
            assert_eq!(memory.address(buffer), litmus::ADDRESS);
            let (memory, barrier) = (&memory, Barrier::new(2));
            let run = |program: &Program| {
                let limits = Limits::default();
                let start = ThreadStart {
                    mask: 1,
                    ..ThreadStart::default()
                };
                let mut group = Group::new(program, 0, &[start], &limits).unwrap();
                barrier.wait();
                group.run(program, memory, &limits, &mut ()).unwrap();
            };
            thread::scope(|scope| {
                scope.spawn(|| run(&one));
                run(&two);
            });
            litmus.check(&memory.read(buffer));
        }
    }
}
