//! Two groups on two threads of the host, and what they observe of each other's accesses to global memory: with shuttle
//! in every order of them, otherwise in those that happen.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // helpers of a test

use crate::common::program;
use visakit_exec::{Group, Limits, Memory, Options, Program, ThreadStart};
use visakit_testing::litmus;

fn run(program: &Program, memory: &Memory) {
    let limits = Limits::default();
    let start = ThreadStart {
        mask: 1,
        ..ThreadStart::default()
    };
    let mut group = Group::new(program, 0, &[start], &limits).unwrap();
    group.run(program, memory, &limits, &mut ()).unwrap();
}

fn memory() -> Memory {
    let mut memory = Memory::new(1 << 20);
    let buffer = memory.add_zeroed(litmus::BYTES).unwrap();
    assert_eq!(memory.address(buffer), litmus::ADDRESS);
    memory
}

#[cfg(not(visakit_shuttle))]
#[test]
fn outcomes() {
    for litmus in litmus::all(20_000) {
        println!("{}", litmus.name);
        let [one, two] = [0, 1].map(|n| program(&litmus.kernels[n], &Options::default()));
        let memory = memory();
        let barrier = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                run(&one, &memory);
            });
            barrier.wait();
            run(&two, &memory);
        });
        litmus.check(&memory.read(memory.buffers().next().unwrap()));
    }
}

#[cfg(visakit_shuttle)]
#[test]
fn outcomes_of_all_orders() {
    use std::sync::Arc;
    for litmus in litmus::all(2) {
        println!("{}", litmus.name);
        let [one, two] = [0, 1].map(|n| program(&litmus.kernels[n], &Options::default()));
        let one = Arc::new(one);
        let all = shuttle::scheduler::DfsScheduler::new(None, false);
        let mut config = shuttle::Config::default();
        config.stack_size = 1 << 20;
        let orders = shuttle::Runner::new(all, config).run(move || {
            let memory = Arc::new(memory());
            let (first, shared) = (Arc::clone(&one), Arc::clone(&memory));
            let first = shuttle::thread::spawn(move || run(&first, &shared));
            run(&two, &memory);
            first.join().unwrap();
            litmus.check(&memory.read(memory.buffers().next().unwrap()));
        });
        assert!(orders > 1, "one order of accesses");
    }
}
