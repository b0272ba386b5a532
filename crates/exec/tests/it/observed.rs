//! What an observer is notified of: every instruction once before and once after it, with the lanes that it
//! works on.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // helpers of a test

use crate::common::program;
use std::ops::ControlFlow;
use visakit_exec::{
    Fault, Group, InstructionEvent, Limits, Memory, Observer, Options, ThreadStart, unwatched_runs,
};
use visakit_isa::Op;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    thread: usize,
    op: Op,
    mask: u32,
    begun: u64,
    /// First bytes of `D`.
    d: [u8; 4],
}

#[derive(Default)]
struct Watch {
    place: usize,
    /// The instruction that is running, of each thread.
    open: [Option<(usize, Op, u32)>; 4],
    after: Vec<Seen>,
    stop_at: Option<Op>,
    unwatched: Vec<u16>,
}

impl Observer for Watch {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = false;

    fn before(&mut self, event: &InstructionEvent<'_>) -> ControlFlow<()> {
        if self.stop_at == Some(event.op) {
            return ControlFlow::Break(());
        }
        let open = &mut self.open[event.thread];
        assert_eq!(*open, None, "two at a time");
        *open = Some((event.instruction, event.op, event.mask));
        ControlFlow::Continue(())
    }

    fn unwatched(&self) -> &[u16] {
        &self.unwatched
    }

    fn after(&mut self, event: &InstructionEvent<'_>) {
        let open = self.open[event.thread].take();
        let this = (event.instruction, event.op, event.mask);
        assert_eq!(open, Some(this), "before and after belong together");
        self.after.push(Seen {
            thread: event.thread,
            op: event.op,
            mask: event.mask,
            begun: event.begun,
            d: event.registers[self.place..self.place + 4]
                .try_into()
                .unwrap(),
        });
    }
}

fn run(lines: &str, threads: usize, stop_at: Option<Op>) -> (Watch, Result<(), Fault>) {
    let watch = Watch {
        stop_at,
        ..Watch::default()
    };
    run_watched(lines, threads, watch, |_| true)
}

/// Only instructions of some operations are watched.
fn run_watched(
    lines: &str,
    threads: usize,
    watch: Watch,
    watches: impl Fn(Op) -> bool,
) -> (Watch, Result<(), Fault>) {
    let text = format!(
        ".version 4.1
.kernel \"k\"
.decl D v_type=G type=d num_elts=128 align=GRF
.decl W v_type=G type=d num_elts=128 align=GRF
.decl A v_type=G type=d num_elts=128 align=GRF
.decl BIG v_type=G type=uq num_elts=8 align=GRF
.decl P1 v_type=P num_elts=8
.kernel_attr SimdSize=8
{lines}
"
    );
    let program = program(&text, &Options::default());
    let slot = |name: &str| program.variable(name).unwrap();
    let start = ThreadStart {
        mask: 0xff,
        sets: vec![
            (slot("A"), vec![1; 512]),
            (slot("W"), vec![1; 512]),
            (slot("P1"), vec![0x0f]),
        ],
        ..ThreadStart::default()
    };
    let limits = Limits::default();
    let mut group = Group::new(&program, 64, &vec![start; threads], &limits).unwrap();
    let steps = program.code().steps.iter();
    let watched = steps.map(|step| step.origin.op.is_some_and(&watches));
    let mut watch = Watch {
        place: slot("D").offset,
        unwatched: unwatched_runs(watched),
        ..watch
    };
    let done = group.run(&program, &Memory::new(0), &limits, &mut watch);
    (watch, done.map(|_| ()))
}

/// Operation and lanes of what one thread did.
fn of(watch: &Watch, thread: usize) -> Vec<(Op, u32)> {
    let seen = watch.after.iter().filter(|s| s.thread == thread);
    seen.map(|s| (s.op, s.mask)).collect()
}

#[test]
fn jumps_have_the_lanes_that_they_began_with() {
    let lines = "\
(P1) goto (M1, 8) there
mov (M1, 8) D(0,0)<1> 0x1:d
there:
goto (M1, 8) end
mov (M1, 8) D(0,0)<1> 0x2:d
end:
(P1) call (M1, 8) SUB
ret (M1, 8)
.function \"SUB\"
SUB:
mov (M1, 8) D(0,0)<1> 0x3:d
ret (M1, 8)";
    let (watch, done) = run(lines, 1, None);
    done.unwrap();
    assert_eq!(
        of(&watch, 0),
        [
            (Op::GOTO, 0x0f),
            (Op::MOV, 0xf0),
            (Op::GOTO, 0xff),
            (Op::CALL, 0x0f),
            (Op::MOV, 0x0f),
            (Op::RET, 0x0f),
            (Op::RET, 0xff),
        ]
    );
    assert_eq!(watch.open, [None; 4]);
    assert_eq!(watch.after[1].d, [0; 4], "lane 0 has jumped");
    assert_eq!(watch.after[4].d, [3, 0, 0, 0], "results are there");
}

#[test]
fn steps_that_wait_are_told_once() {
    let lines = "\
barrier
sbarrier.signal
sbarrier.wait
nbarrier.signal 0x3:ub 0x2:ub
nbarrier.wait 0x3:ub
ret (M1, 8)";
    let (watch, done) = run(lines, 2, None);
    done.unwrap();
    for thread in 0..2 {
        let ops: Vec<_> = of(&watch, thread).into_iter().map(|(op, _)| op).collect();
        assert_eq!(ops.len(), 6, "{ops:?}");
        assert_eq!((ops[0], ops[5]), (Op::BARRIER, Op::RET));
    }
    assert_eq!(watch.open, [None; 4]);
}

/// The fused product is reported when it has its result.
#[test]
fn fused_products_are_told_with_their_results() {
    let lines = "dpasw.s8.s8.8.8 (M1, 8) D.0 A.0 W.0 A(0,0)\nret (M1, 8)";
    let (watch, done) = run(lines, 2, None);
    done.unwrap();
    for thread in 0..2 {
        let seen: Vec<_> = watch.after.iter().filter(|s| s.thread == thread).collect();
        assert_eq!(seen.len(), 2);
        assert_eq!((seen[0].op, seen[0].mask), (Op::DPASW, 0xff));
        // 32 products of ones, and the number that is added to.
        assert_eq!(i32::from_le_bytes(seen[0].d), 0x0101_0101 + 32);
    }
}

/// Instructions that fault, or are not let through, have no `after`.
#[test]
fn faults_have_no_after() {
    let lines = "\
mov (M1, 8) D(0,0)<1> 0x1:d
lsc_load.ugm (M1, 8) D:d32 flat[BIG]:a64
ret (M1, 8)";
    let (watch, done) = run(lines, 1, None);
    let fault = done.err().unwrap();
    assert_eq!(of(&watch, 0), [(Op::MOV, 0xff)]);
    assert_eq!(watch.open[0].map(|o| o.0), Some(fault.instruction));
    let (watch, done) = run("mov (M1, 8) D(0,0)<1> 0x1:d\nret (M1, 8)", 1, Some(Op::RET));
    assert_eq!(done.err().unwrap().kind, visakit_exec::FaultKind::Stopped);
    assert_eq!(of(&watch, 0), [(Op::MOV, 0xff)]);
    assert_eq!(watch.open, [None; 4]);
}

/// Observed instructions are the same as if all were observed: the same lanes, results and numbers.
#[test]
fn unwatched_instructions_are_left_out() {
    let lines = "\
mov (M1, 8) D(0,0)<1> 0x0:d
again:
add (M1, 8) D(0,0)<1> D(0,0)<1;1,0> 0x1:d
mul (M1, 8) W(0,0)<1> D(0,0)<1;1,0> D(0,0)<1;1,0>
cmp.lt (M1, 8) P1 D(0,0)<1;1,0> 0x5:d
barrier
(P1) jmp (M1, 1) again
(P1) goto (M1, 8) end
xor (M1, 8) D(0,0)<1> D(0,0)<1;1,0> W(0,0)<1;1,0>
call (M1, 8) SUB
end:
dpasw.s8.s8.8.8 (M1, 8) D.0 A.0 W.0 A(0,0)
ret (M1, 8)
.function \"SUB\"
SUB:
mov (M1, 8) D(0,0)<1> 0x3:d
ret (M1, 8)";
    let (all, done) = run(lines, 2, None);
    done.unwrap();
    let numbers: Vec<_> = all.after.iter().map(|s| s.begun).collect();
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..numbers.len() as u64).collect::<Vec<_>>());
    for watched in [
        &[][..],
        &[Op::ADD],
        &[Op::BARRIER, Op::XOR],
        &[Op::MUL, Op::JMP, Op::RET],
        &[Op::CMP, Op::GOTO, Op::CALL],
        &[Op::MOV, Op::DPASW],
    ] {
        let watches = |op| watched.contains(&op);
        let (some, done) = run_watched(lines, 2, Watch::default(), watches);
        done.unwrap();
        let expected = all.after.iter().filter(|s| watches(s.op));
        assert_eq!(
            some.after,
            expected.copied().collect::<Vec<_>>(),
            "{watched:?}"
        );
    }
}
