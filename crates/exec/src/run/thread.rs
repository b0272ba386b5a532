//! A thread: its registers, its place in the code, and the loop that runs it.
//!
//! Of all enabled lanes those with the smallest place in the code run; the others wait in a list
//! that is sorted by place. The loop need not ask at each step whether waiting lanes join: they only
//! wait at `Join` steps, and every jump compares its target with the smallest waiting place.

use super::common::{Common, Extent, Lanes, unwatched};
use super::group::Turn;
use super::host::Machine;
use super::mask::enabled;
use super::rare::rare;
use super::waiting::Waiting;
use super::{Counters, Interrupt, Limits};
use crate::code::{Action, Step, Systolic};
use crate::fault::{Fault, FaultKind, Outcome, Trap};
use crate::machine::{Aligned, Registers};
use crate::memory::{Local, Memory};
use crate::native::Native;
use crate::observe::{InstructionEvent, Observer};
use crate::program::{Image, Program, Work};
use crate::variables::VariableSlot;
use std::ops::Range;
use std::sync::Arc;
use visakit_isa::Op;
use visakit_isa::object::{RoutineId, RoutineKind};

/// A thread of a group.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    pub(super) registers: Registers,
    /// The image that the registers were created from.
    pub(super) image: Option<Arc<Image>>,
    /// Parts of the registers that others than the program have changed.
    pub(super) changed: Vec<Range<usize>>,
    pub(super) scratch: Aligned,
    pub(super) pc: usize,
    pub(super) running: u32,
    pub(super) waiting: Waiting,
    pub(super) frames: Vec<Frame>,
    pub(super) saved_bytes: u64,
    pub(super) pause: Pause,
    /// Split barrier: signals and completed waits.
    pub(super) signals: u64,
    pub(super) waits: u64,
    /// Named barriers, up to the last one signalled: generation at the thread's last signal.
    pub(super) named: Vec<u64>,
    /// What it has run before its turn.
    pub(super) ahead: Counters,
}

/// Why a thread does not continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Pause {
    /// It can.
    #[default]
    None,
    /// Its share of steps is used up.
    Slice,
    /// It waits at the barrier of the group.
    Barrier,
    /// It waits for the signals of all threads.
    Split,
    /// It signals a named barrier: number, kind, producers, consumers.
    NamedSignal([u32; 4]),
    /// It waits at a named barrier.
    Named(u32),
    /// It waits for the thread that is fused with it, at an instruction before which this many of the group began.
    Fused(u64),
    /// All its lanes have returned.
    Ended,
}

/// A call that has not returned.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) return_to: usize,
    /// Lanes that entered.
    pub(super) entered: u32,
    /// Lanes that run again with them after the return.
    others: u32,
    /// Where the waiting lanes of the callee begin.
    pub(super) base: usize,
    /// The function, for calls with separate variables.
    pub(super) function: Option<usize>,
    /// Variables of an earlier activation of the function.
    saved: Option<[Box<[u8]>; 2]>,
}

/// What the threads of a group share while they run.
pub(super) struct World<'a> {
    pub(super) program: &'a Program,
    pub(super) memory: &'a Memory,
    pub(super) limits: &'a Limits,
    pub(super) interrupt: Option<&'a Interrupt>,
    pub(super) thread: usize,
    /// Bytes that saved frames may still take.
    pub(super) bytes_left: u64,
}

impl World<'_> {
    pub(super) fn interrupted(&self) -> bool {
        self.interrupt.is_some_and(Interrupt::is_raised)
    }

    /// The steps that the thread whose turn it is may run.
    pub(super) fn grant(&self, turn: &Turn, fuel: u64, counters: &Counters) -> u64 {
        turn.slice.min(self.budget(fuel, counters))
    }

    /// The steps that all threads may run.
    pub(super) fn budget(&self, fuel: u64, counters: &Counters) -> u64 {
        let budget = self.limits.max_steps.saturating_sub(counters.instructions);
        fuel.min(budget)
    }
}

impl Thread {
    /// The register file, for reading variables after the run.
    #[must_use]
    pub fn registers(&self) -> &[u8] {
        &self.registers.file
    }

    /// The bytes of a variable.
    #[must_use]
    pub fn read(&self, slot: &VariableSlot) -> &[u8] {
        self.registers.bytes(slot.offset, slot.bytes).unwrap_or(&[])
    }

    /// Counts what it has run before its turn, as much of it as it may run now.
    pub(super) fn account_ahead(&mut self, granted: u64) -> Option<Counters> {
        let instructions = self.ahead.instructions.min(granted);
        if instructions == 0 {
            return None;
        }
        self.ahead.instructions -= instructions;
        let lane_operations = match self.ahead.instructions {
            0 => std::mem::take(&mut self.ahead.lane_operations),
            _ => 0,
        };
        Some(Counters {
            instructions,
            lane_operations,
        })
    }

    /// Where the waiting lanes of the frame begin.
    pub(super) fn base(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base)
    }

    /// Continues with these lanes at this place, or with lanes that wait before it. False if no
    /// lane of the frame is left.
    pub(super) fn settle(&mut self, place: usize, mask: u32) -> bool {
        (self.pc, self.running) = self.waiting.settle(self.base(), (place, mask));
        self.running != 0
    }

    /// Calls a routine with these lanes.
    pub(super) fn call(
        &mut self,
        world: &mut World<'_>,
        target: usize,
        function: Option<usize>,
        entered: u32,
    ) -> Outcome {
        if entered == 0 {
            self.pc += 1;
            return Ok(());
        }
        if self.frames.len() >= world.limits.max_call_depth {
            return Err(Trap::new(FaultKind::CallDepth(world.limits.max_call_depth)));
        }
        let active = function.is_some() && self.frames.iter().any(|f| f.function == function);
        let own = function
            .and_then(|f| world.program.code().routines.get(f))
            .map(|r| &r.own);
        let saved = match own {
            Some(own) if active => {
                let bytes: usize = own.iter().map(ExactSizeIterator::len).sum();
                self.charge(world, bytes as u64)?;
                let [first, second] = own.clone();
                Some([self.saved(first)?, self.saved(second)?])
            }
            _ => None,
        };
        self.charge(world, size_of::<Frame>() as u64)?;
        self.frames.push(Frame {
            return_to: self.pc + 1,
            entered,
            others: self.running & !entered,
            base: self.waiting.0.len(),
            function,
            saved,
        });
        self.pc = target;
        self.running = entered;
        Ok(())
    }

    /// A copy of a part of the register file.
    fn saved(&self, range: Range<usize>) -> Result<Box<[u8]>, Box<Trap>> {
        let from = self.registers.file.get(range).unwrap_or(&[]);
        let mut copy = Vec::new();
        copy.try_reserve_exact(from.len())
            .map_err(|_| Trap::new(FaultKind::OutOfMemory(from.len() as u64)))?;
        copy.extend_from_slice(from);
        Ok(copy.into_boxed_slice())
    }

    /// Counts memory that frames take.
    fn charge(&mut self, world: &mut World<'_>, bytes: u64) -> Outcome {
        match world.bytes_left.checked_sub(bytes) {
            Some(left) => {
                world.bytes_left = left;
                self.saved_bytes += bytes;
                Ok(())
            }
            None => Err(Trap::new(FaultKind::MemoryLimit(world.limits.max_bytes))),
        }
    }

    /// These lanes return.
    pub(super) fn give_back(&mut self, world: &mut World<'_>, lanes: u32) {
        let rest = self.running & !lanes;
        if lanes == 0 || rest != 0 {
            let next = self.pc + 1;
            self.running = rest;
            self.settle(next, rest);
            return;
        }
        if self.settle(usize::MAX, 0) {
            return;
        }
        let Some(frame) = self.frames.pop() else {
            self.pause = Pause::Ended;
            self.running = 0;
            return;
        };
        let mut bytes = size_of::<Frame>() as u64;
        if let (Some(saved), Some(function)) = (frame.saved, frame.function)
            && let Some(routine) = world.program.code().routines.get(function)
        {
            for (range, saved) in routine.own.iter().zip(saved) {
                bytes += saved.len() as u64;
                if let Some(to) = self.registers.file.get_mut(range.clone())
                    && to.len() == saved.len()
                {
                    to.copy_from_slice(&saved);
                }
            }
        }
        self.saved_bytes = self.saved_bytes.saturating_sub(bytes);
        world.bytes_left = world.bytes_left.saturating_add(bytes);
        self.settle(frame.return_to, frame.entered | frame.others);
    }

    /// Whether the thread ends or waits at a step in the most usual way: all lanes return from the kernel, or it comes
    /// to a barrier. It has done so then.
    pub(super) fn stops(&mut self, step: &Step) -> bool {
        match step.action {
            Action::Return { uniform: true }
                if step.predicate.is_none()
                    && self.frames.is_empty()
                    && self.waiting.0.is_empty() =>
            {
                self.pause = Pause::Ended;
                self.running = 0;
                true
            }
            Action::Barrier => {
                self.pc += 1;
                self.pause = Pause::Barrier;
                true
            }
            _ => false,
        }
    }

    /// Runs until the thread ends, waits, or has used its steps.
    pub(super) fn run<O: Observer>(
        &mut self,
        world: &mut World<'_>,
        slm: &mut [u8],
        steps: u64,
        counters: &mut Counters,
        observer: &mut O,
    ) -> Result<(), Box<Fault>> {
        Loop {
            thread: self,
            world,
            slm,
            steps,
            counters,
            observer,
        }
        .run()
    }

    /// Runs a systolic dot product that needs the activations of a fused thread.
    pub(super) fn finish_fused<O: Observer>(
        &mut self,
        program: &Program,
        (number, begun): (usize, u64),
        activations: &[u8],
        observer: &mut O,
    ) {
        if let Some(masking) = program.masking(self.pc)
            && let Some(systolic) = self.fused_at(program)
        {
            let mask = enabled(masking, self.running, &self.registers.file);
            let simd = self.registers.simd;
            let file = &mut self.registers.file;
            let (plan, places) = (systolic.plan, systolic.places);
            plan.run(simd, file, activations, places, mask);
            if O::INSTRUCTIONS && unwatched(observer.unwatched(), self.pc) == 0 {
                observer.after(&event(program, self, number, (self.pc, begun), mask));
            }
        }
        self.pc += 1;
    }

    /// The systolic instruction at which the thread waits.
    pub(super) fn fused_at<'p>(&self, program: &'p Program) -> Option<&'p Systolic> {
        match program.code().steps.get(self.pc).map(|step| &step.action) {
            Some(Action::Systolic(systolic)) => Some(systolic),
            _ => None,
        }
    }

    /// The fault at the place of the thread.
    pub(super) fn fault(&self, program: &Program, thread: usize, trap: Trap) -> Box<Fault> {
        // Steps that do not count may have run or not when a limit is reached: it stops the instruction after them.
        let counts = matches!(trap.kind, FaultKind::StepLimit(_));
        let steps = program.code().steps.get(self.pc..).unwrap_or_default();
        let step = steps.iter().find(|s| !counts || s.action.is_instruction());
        let origin = step.map(|step| step.origin);
        let routine = origin
            .and_then(|o| program.code().routines.get(o.routine as usize))
            .map_or(RoutineId::new(RoutineKind::Kernel, 0), |r| r.id);
        Box::new(Fault {
            routine,
            instruction: origin.map_or(0, |o| o.instruction as usize),
            mnemonic: origin
                .and_then(|o| o.op)
                .and_then(|op| op.def().mnemonics.first().copied())
                .unwrap_or(""),
            offset: None,
            thread: Some(thread),
            lane: trap.lane,
            address: trap.address,
            kind: trap.kind,
        })
    }
}

struct Loop<'a, 'w, O> {
    thread: &'a mut Thread,
    world: &'a mut World<'w>,
    slm: &'a mut [u8],
    steps: u64,
    counters: &'a mut Counters,
    observer: &'a mut O,
}

impl<O: Observer> Loop<'_, '_, O> {
    fn run(self) -> Result<(), Box<Fault>> {
        let Self {
            thread,
            world,
            slm,
            mut steps,
            counters,
            observer,
        } = self;
        let program = world.program;
        // The steps in the thread's float mode, which other code may change.
        let mut bound = None;
        let steps_of_code = program.code().steps.as_slice();
        // Machine code reports to no observer.
        let native = program.native().filter(|_| !O::INSTRUCTIONS && !O::MEMORY);
        let entries = native.map_or(&[][..], Native::entries);
        let mut left = steps;
        let mut lane_operations = 0u64;
        let outcome = loop {
            if let Some(native) = native
                && let Some(mut state) = thread.native(entries, left)
            {
                let mut host = Machine {
                    program,
                    base: thread.base(),
                    threads: std::slice::from_mut(&mut *thread),
                    at: 0,
                    slm: &mut *slm,
                    memory: world.memory,
                    trap: None,
                    line: None,
                    is_over: false,
                };
                let outcome = native.run(&mut state, &mut host);
                let trap = host.trap;
                bound = None;
                thread.leave(&state);
                left = state.left;
                lane_operations += state.lane_operations;
                if outcome.is_err() {
                    break Err(trap.unwrap_or_else(|| Trap::new(FaultKind::FellOffTheEnd)));
                }
            }
            // Machine code ends at a step that is left to the code below.
            if native.is_some()
                && left != 0
                && let Some(step) = steps_of_code.get(thread.pc)
                && thread.stops(step)
            {
                left -= 1;
                lane_operations += 1;
                break Ok(());
            }
            let code = match bound {
                Some(code) => code,
                None => program.steps(thread.registers.mode),
            };
            bound = Some(code);
            let Some(step) = code.get(thread.pc) else {
                break Err(Trap::new(FaultKind::FellOffTheEnd));
            };
            if left == 0 {
                thread.pause = Pause::Slice;
                break Ok(());
            }
            let pc = thread.pc;
            let quiet = (O::INSTRUCTIONS || O::MEMORY) && unwatched(observer.unwatched(), pc) != 0;
            let watched = O::INSTRUCTIONS && !quiet && step.work.is_instruction();
            let begun = counters.instructions + (steps - left);
            // The lanes that it works on, for the observer; a jump changes those that run.
            let mut works_on = 0;
            if watched {
                works_on = enabled(&step.masking, thread.running, &thread.registers.file);
                let event = event(program, thread, world.thread, (pc, begun), works_on);
                if observer.before(&event).is_break() {
                    break Err(Trap::new(FaultKind::Stopped));
                }
            }
            match &step.work {
                Work::Message(message) if O::MEMORY && !quiet => {
                    let mask = enabled(&step.masking, thread.running, &thread.registers.file);
                    left -= 1;
                    lane_operations += u64::from(mask.count_ones());
                    let mut local = Local {
                        slm: &mut *slm,
                        scratch: &mut thread.scratch,
                    };
                    let run = message.0.run_observed(
                        &mut thread.registers,
                        &mut local,
                        world.memory,
                        mask,
                        observer,
                    );
                    if let Err(trap) = run {
                        break Err(trap);
                    }
                    thread.pc = pc + 1;
                    if world.interrupted() {
                        (steps, left) = (steps - left, 0);
                    }
                }
                Work::Other { is_instruction } => {
                    left -= u64::from(*is_instruction);
                    lane_operations += u64::from(*is_instruction);
                    let Some(whole) = steps_of_code.get(pc) else {
                        break Err(Trap::new(FaultKind::FellOffTheEnd));
                    };
                    let used = counters.instructions + (steps - left);
                    if let Err(trap) = rare(thread, world, whole, &step.masking, used) {
                        break Err(trap);
                    }
                    bound = None;
                    if thread.pause != Pause::None {
                        // A fused instruction has yet to run.
                        if watched && !matches!(thread.pause, Pause::Fused(_)) {
                            let at = (pc, begun);
                            observer.after(&event(program, thread, world.thread, at, works_on));
                        }
                        break Ok(());
                    }
                    if world.interrupted() {
                        (steps, left) = (steps - left, 0);
                    }
                }
                _ => {
                    let base = thread.base();
                    let mut common = Common {
                        program,
                        steps: code,
                        lanes: Lanes::Running,
                        extent: match native {
                            _ if quiet => Extent::Unwatched(observer.unwatched()),
                            // An observer sees each step separately.
                            _ if O::INSTRUCTIONS => Extent::One,
                            // Machine code begins where control flow leads.
                            Some(_) => Extent::Straight,
                            None => Extent::All,
                        },
                        messages: !O::MEMORY || quiet,
                        registers: &mut thread.registers,
                        local: Local {
                            slm: &mut *slm,
                            scratch: &mut thread.scratch,
                        },
                        memory: world.memory,
                        interrupt: world.interrupt,
                        waiting: &mut thread.waiting,
                        base,
                        place: pc,
                        running: thread.running,
                        left,
                        lane_operations,
                    };
                    let run = common.run();
                    bound = Some(common.steps);
                    let (place, running) = (common.place, common.running);
                    (left, lane_operations) = (common.left, common.lane_operations);
                    (thread.pc, thread.running) = (place, running);
                    if let Err(trap) = run {
                        break Err(trap);
                    }
                    if world.interrupted() {
                        (steps, left) = (steps - left, 0);
                    }
                }
            }
            if watched {
                let at = (pc, begun);
                observer.after(&event(program, thread, world.thread, at, works_on));
            }
        };
        counters.instructions += steps - left;
        counters.lane_operations += lane_operations;
        outcome.map_err(|trap| thread.fault(program, world.thread, *trap))
    }
}

fn event<'a>(
    program: &Program,
    thread: &'a Thread,
    number: usize,
    (pc, begun): (usize, u64),
    mask: u32,
) -> InstructionEvent<'a> {
    let origin = program.code().steps.get(pc).map(|step| step.origin);
    let routine = origin
        .and_then(|o| program.code().routines.get(o.routine as usize))
        .map_or(RoutineId::new(RoutineKind::Kernel, 0), |r| r.id);
    InstructionEvent {
        thread: number,
        routine,
        instruction: origin.map_or(0, |o| o.instruction as usize),
        step: pc,
        begun,
        op: origin.and_then(|o| o.op).unwrap_or(Op::LABEL),
        mask,
        running: thread.running,
        calls: thread.frames.len(),
        registers: &thread.registers.file,
    }
}
