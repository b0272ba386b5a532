//! A work-group: threads that take turns.

#![allow(
    clippy::result_large_err,
    reason = "a fault ends the run; it is made once"
)]

use super::host::Machine;
use super::line::Line;
use super::prepare::{Again, HeaderDwords, Repeat, prepare};
use super::thread::{Pause, Thread, World};
use super::{Counters, Interrupt, Limits};
use crate::fault::{Fault, FaultKind, Trap};
use crate::lanes::mode::FloatMode;
use crate::machine::Aligned;
use crate::memory::Memory;
use crate::native::{Host, Native, SLICE};
use crate::observe::Observer;
use crate::program::{Program, ThreadStart};

/// A work-group: its threads and their shared local memory.
///
/// A copy is the whole state except for global memory: a run resumed from it does the same again.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub(super) threads: Vec<Thread>,
    pub(super) slm: Aligned,
    /// Those up to the last one signalled.
    named: Vec<NamedBarrier>,
    /// Registers, scratch and local memory.
    bytes: u64,
    counters: Counters,
    /// Those of groups whose threads ran before in the same ones.
    earlier: Counters,
    pub(super) turn: Turn,
    /// The content of `%cr0` that all threads started with, if only their headers differ from one group to the next.
    repeats: Option<u32>,
}

/// The position in the turns of the threads. It outlasts a stop, so that where a run was interrupted makes no
/// difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// The thread whose turn it is.
    pub(super) thread: usize,
    /// Steps that it has left.
    pub(super) slice: u64,
    /// Whether any thread has run in this round.
    progress: bool,
}

impl Turn {
    pub(super) const fn of(thread: usize, progress: bool) -> Self {
        Self {
            thread,
            slice: SLICE,
            progress,
        }
    }

    /// The thread has run this many steps.
    pub(super) const fn use_up(&mut self, steps: u64) {
        self.slice -= steps;
        self.progress = true;
    }
}

impl Default for Turn {
    fn default() -> Self {
        Self::of(0, false)
    }
}

/// How far [`Group::advance`] got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// All threads have ended.
    Ended,
    /// The fuel is used up.
    OutOfFuel,
    /// The interrupt is raised.
    Interrupted,
}

/// Number of named barriers.
const NAMED: u32 = 32;

/// The entry of a named barrier in a list that has those up to the last one signalled; `None` if there is no such
/// barrier.
fn of_number<T: Clone + Default>(list: &mut Vec<T>, number: u32) -> Option<&mut T> {
    let place = usize::try_from(number).ok().filter(|_| number < NAMED)?;
    if place >= list.len() {
        list.resize(place + 1, T::default());
    }
    list.get_mut(place)
}

/// A named barrier.
#[derive(Clone, Copy, Debug, Default)]
struct NamedBarrier {
    producers: u32,
    consumers: u32,
    generation: u64,
}

impl Group {
    /// A group with `slm_bytes` of shared local memory (zeroes) and these threads.
    ///
    /// # Errors
    /// A start that does not fit the program, and [`FaultKind::MemoryLimit`] or [`FaultKind::OutOfMemory`] for
    /// more memory than may be or can be had.
    pub fn new(
        program: &Program,
        slm_bytes: usize,
        threads: &[ThreadStart],
        limits: &Limits,
    ) -> Result<Self, Fault> {
        let mut group = Self::default();
        group.reset(program, slm_bytes, threads, limits)?;
        Ok(group)
    }

    /// Restarts with other threads, reusing the allocations.
    ///
    /// # Errors
    /// As [`Self::new`]; the group is not to be run then.
    pub fn reset(
        &mut self,
        program: &Program,
        slm_bytes: usize,
        threads: &[ThreadStart],
        limits: &Limits,
    ) -> Result<(), Fault> {
        self.start(program, slm_bytes, threads, limits, false)
    }

    /// Restarts with the threads of the last start, of which only the thread header (the first register of the image)
    /// and [`ThreadStart::group_id`] may have changed: nothing else they set is read again. Registers that the program
    /// does not read, or only after it wrote them, may keep old contents: use [`Self::reset`] if they are to be
    /// examined.
    ///
    /// # Errors
    /// As [`Self::new`]; the group is not to be run then.
    pub fn next(
        &mut self,
        program: &Program,
        slm_bytes: usize,
        threads: &[ThreadStart],
        limits: &Limits,
    ) -> Result<(), Fault> {
        let same = self.threads.len() == threads.len();
        self.start(program, slm_bytes, threads, limits, same)
    }

    fn start(
        &mut self,
        program: &Program,
        slm_bytes: usize,
        threads: &[ThreadStart],
        limits: &Limits,
        again: bool,
    ) -> Result<(), Fault> {
        let own = (program.register_bytes() as u64).saturating_add(size_of::<Thread>() as u64);
        let bytes = threads.iter().fold(slm_bytes as u64, |sum, start| {
            sum.saturating_add(own)
                .saturating_add(start.scratch_bytes as u64)
        });
        // Before anything is reserved.
        if bytes > limits.max_bytes {
            return Err(Fault::at_start(FaultKind::MemoryLimit(limits.max_bytes)));
        }
        let none = || Fault::at_start(FaultKind::OutOfMemory(bytes));
        self.bytes = bytes;
        (self.counters, self.earlier) = (Counters::default(), Counters::default());
        self.turn = Turn::default();
        self.named.clear();
        self.slm.zero(slm_bytes).map_err(|_| none())?;
        let more = threads.len().saturating_sub(self.threads.len());
        self.threads.try_reserve(more).map_err(|_| none())?;
        self.threads.resize_with(threads.len(), Thread::default);
        // Threads start in the same mode, as a rule.
        let starts_cr0 = threads.first().map_or(0, |start| start.cr0);
        let mut cr0 = 0;
        let mut mode = FloatMode::from_cr0(cr0);
        let again = again.then(|| Again::new(program));
        let simple = |again: &Again<'_>| again.is_simple() && slm_bytes == 0;
        let mut repeats = again.as_ref().is_some_and(simple);
        for (thread, start) in self.threads.iter_mut().zip(threads) {
            if start.cr0 != cr0 {
                cr0 = start.cr0;
                mode = FloatMode::from_cr0(cr0);
            }
            if !again.as_ref().is_some_and(|a| a.start(thread, start, mode)) {
                repeats = false;
                prepare(thread, program, start, mode, bytes)?;
            }
            repeats &= start.cr0 == starts_cr0;
        }
        self.repeats = repeats.then_some(starts_cr0);
        Ok(())
    }

    /// Runs all threads to their ends. Threads are interleaved at barriers, and when they run for long.
    ///
    /// # Errors
    /// The first fault. After [`FaultKind::StepLimit`] the group is between two steps and can continue with a
    /// higher limit, after [`FaultKind::Stopped`] with any observer.
    pub fn run<O: Observer>(
        &mut self,
        program: &Program,
        memory: &Memory,
        limits: &Limits,
        observer: &mut O,
    ) -> Result<Counters, Fault> {
        while self.advance(program, memory, limits, u64::MAX, None, observer)? != Progress::Ended {}
        Ok(self.counters())
    }

    /// Runs at most `fuel` steps, until the interrupt is raised, or all threads have ended. When called again, with the
    /// same program and memory, it resumes: how a run is divided makes no difference to its result.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn advance<O: Observer>(
        &mut self,
        program: &Program,
        memory: &Memory,
        limits: &Limits,
        fuel: u64,
        interrupt: Option<&Interrupt>,
        observer: &mut O,
    ) -> Result<Progress, Fault> {
        self.advance_through(
            program,
            memory,
            limits,
            fuel,
            interrupt,
            observer,
            &mut || None,
        )
    }

    /// [`Self::run`], and goes on with groups that follow, as long as that is no more than writing other headers: `more` gives
    /// those of the next one. [`Progress`], faults and limits are those of the last group; [`Self::counters`] are of all.
    ///
    /// # Errors
    /// As [`Self::run`].
    #[expect(clippy::too_many_arguments, reason = "what all runs share, and more")]
    pub fn advance_through<O: Observer>(
        &mut self,
        program: &Program,
        memory: &Memory,
        limits: &Limits,
        fuel: u64,
        interrupt: Option<&Interrupt>,
        observer: &mut O,
        more: &mut dyn FnMut() -> Option<HeaderDwords>,
    ) -> Result<Progress, Fault> {
        let progress = self.take_turns(program, memory, limits, fuel, interrupt, observer, more);
        if program.counts() {
            for thread in &mut self.threads {
                program.collect(&mut thread.registers.file);
            }
        }
        progress
    }

    #[expect(clippy::too_many_arguments, reason = "what all runs share, and more")]
    fn take_turns<O: Observer>(
        &mut self,
        program: &Program,
        memory: &Memory,
        limits: &Limits,
        mut fuel: u64,
        interrupt: Option<&Interrupt>,
        observer: &mut O,
        more: &mut dyn FnMut() -> Option<HeaderDwords>,
    ) -> Result<Progress, Fault> {
        let saved = self.threads.iter().map(|thread| thread.saved_bytes);
        let bytes = saved.fold(self.bytes, u64::saturating_add);
        let left = limits.max_bytes.checked_sub(bytes);
        let left = left.ok_or_else(|| Fault::at_start(FaultKind::MemoryLimit(limits.max_bytes)))?;
        let mut world = World {
            program,
            memory,
            limits,
            interrupt,
            thread: 0,
            bytes_left: left,
        };
        // Machine code reports to no observer.
        let native = program.native().filter(|_| !O::INSTRUCTIONS && !O::MEMORY);
        loop {
            while let Some(thread) = self.threads.get(self.turn.thread) {
                if thread.pause != Pause::None {
                    self.turn = Turn::of(self.turn.thread + 1, self.turn.progress);
                    continue;
                }
                if fuel == 0 {
                    return Ok(Progress::OutOfFuel);
                }
                if interrupt.is_some_and(Interrupt::is_raised) {
                    return Ok(Progress::Interrupted);
                }
                if self.counters.instructions >= limits.max_steps {
                    let trap = Trap::new(FaultKind::StepLimit(limits.max_steps));
                    return Err(*thread.fault(program, self.turn.thread, *trap));
                }
                if let Some(native) = native
                    && self
                        .run_line(native, &world, &mut fuel, more)
                        .map_err(|fault| *fault)?
                {
                    continue;
                }
                let Some(thread) = self.threads.get_mut(self.turn.thread) else {
                    break;
                };
                world.thread = self.turn.thread;
                let next = self.turn.thread + 1;
                let slice = world.grant(&self.turn, fuel, &self.counters);
                if let Some(ran) = thread.account_ahead(slice) {
                    self.counters += ran;
                    fuel -= ran.instructions;
                    self.turn.use_up(ran.instructions);
                    if self.turn.slice == 0 {
                        self.turn = Turn::of(next, true);
                    }
                    continue;
                }
                let before = self.counters.instructions;
                let counters = &mut self.counters;
                let ran = thread.run(&mut world, &mut self.slm, slice, counters, observer);
                let used = self.counters.instructions - before;
                program.count(used);
                fuel -= used;
                self.turn.use_up(used);
                // Only now, so that a run that the observer stopped can continue.
                ran.map_err(|fault| *fault)?;
                match thread.pause {
                    Pause::Slice => {
                        thread.pause = Pause::None;
                        // The rest of the slice is for the next time.
                        if self.turn.slice != 0 {
                            continue;
                        }
                    }
                    Pause::NamedSignal([number, kind, producers, consumers]) => {
                        thread.pause = Pause::None;
                        if let Some(barrier) = of_number(&mut self.named, number) {
                            if let Some(mark) = of_number(&mut thread.named, number) {
                                *mark = barrier.generation;
                            }
                            barrier.signal(kind, producers, consumers);
                        }
                    }
                    _ => {}
                }
                self.turn = Turn::of(next, true);
            }
            let all_end = |group: &Self| group.threads.iter().all(|t| t.pause == Pause::Ended);
            if all_end(self) {
                self.turn = Turn::default();
                return Ok(Progress::Ended);
            }
            let progress = self.turn.progress | self.release(program, observer);
            self.turn = Turn::default();
            if all_end(self) {
                return Ok(Progress::Ended);
            }
            if !progress {
                return Err(self.stuck(program));
            }
        }
    }

    /// Runs machine code of the thread whose turn it is, and of those that follow it as long as nothing else is to be
    /// done. Whether it came to another thread.
    fn run_line(
        &mut self,
        native: &dyn Native,
        world: &World<'_>,
        fuel: &mut u64,
        more: &mut dyn FnMut() -> Option<HeaderDwords>,
    ) -> Result<bool, Box<Fault>> {
        let (first, program) = (self.turn.thread, world.program);
        let granted = world.grant(&self.turn, *fuel, &self.counters);
        let threads = self.threads.get_mut(first..).unwrap_or_default();
        let state = threads
            .first_mut()
            .and_then(|thread| Some((thread.native(native.entries(), granted)?, thread.base())));
        let Some((mut state, base)) = state else {
            return Ok(false);
        };
        // All threads are as they began.
        let new = self.counters == Counters::default() && first == 0;
        let repeat = self.repeats.filter(|_| new).map(|cr0| Repeat {
            again: Again::new(program),
            mode: FloatMode::from_cr0(cr0),
            cr0,
            more,
            writes: Default::default(),
        });
        let mut host = Machine {
            program,
            base,
            threads,
            at: 0,
            slm: &mut self.slm,
            memory: world.memory,
            trap: None,
            line: Some(Line {
                steps: &program.code().steps,
                entries: native.entries(),
                turn: &mut self.turn,
                counters: &mut self.counters,
                fuel,
                world,
                left: state.granted,
                earlier: &mut self.earlier,
                changed: false,
                repeat,
            }),
            is_over: false,
        };
        while native.run(&mut state, &mut host).is_ok() {
            // Compilers may ask for the next thread themselves.
            if host.is_over || host.next(&mut state).is_none() {
                return Ok(self.turn.thread != first);
            }
        }
        let Machine {
            threads,
            at,
            trap,
            line,
            ..
        } = host;
        let number = line.map_or(first, |mut line| line.account(&state));
        let trap = trap.unwrap_or_else(|| Trap::new(FaultKind::FellOffTheEnd));
        Err(match threads.get_mut(at) {
            Some(thread) => {
                thread.leave(&state);
                thread.fault(program, number, *trap)
            }
            None => Box::new(Fault::at_start(trap.kind)),
        })
    }

    /// The counts of the threads since they were started.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut all = self.earlier;
        all += self.counters;
        all
    }

    /// Releases threads whose barriers are complete, and returns whether there are any.
    fn release<O: Observer>(&mut self, program: &Program, observer: &mut O) -> bool {
        let mut progress = false;
        if !self.threads.is_empty() && self.threads.iter().all(|t| t.pause == Pause::Barrier) {
            for thread in &mut self.threads {
                thread.pause = Pause::None;
            }
            return true;
        }
        let signals = self
            .threads
            .iter()
            .map(|thread| thread.signals)
            .min()
            .unwrap_or(0);
        for thread in &mut self.threads {
            let free = match thread.pause {
                Pause::Split => {
                    let free = signals > thread.waits;
                    thread.waits += u64::from(free);
                    free
                }
                Pause::Named(number) => {
                    let now = match self.named.get(number as usize) {
                        Some(barrier) => barrier.generation,
                        // Nobody can signal it, or nobody has.
                        None => u64::from(number >= NAMED),
                    };
                    now > thread.named.get(number as usize).copied().unwrap_or(0)
                }
                _ => false,
            };
            if free {
                thread.pause = Pause::None;
                progress = true;
            }
        }
        for (pair, threads) in self.threads.chunks_mut(2).enumerate() {
            if let [even, odd] = threads
                && let (Pause::Fused(of_even), Pause::Fused(of_odd)) = (even.pause, odd.pause)
                && even.pc == odd.pc
            {
                let activations = fused_activations(program, even, odd);
                let of_pair = [(even, of_even), (odd, of_odd)];
                for (number, (thread, begun)) in (pair * 2..).zip(of_pair) {
                    thread.finish_fused(program, (number, begun), &activations, observer);
                    thread.pause = Pause::None;
                }
                progress = true;
            }
        }
        progress
    }

    /// The fault of threads that wait for ever.
    fn stuck(&self, program: &Program) -> Fault {
        let ended = self
            .threads
            .iter()
            .filter(|t| t.pause == Pause::Ended)
            .count();
        let waiting = self.threads.len() - ended;
        let first = self
            .threads
            .iter()
            .enumerate()
            .find(|(_, t)| t.pause != Pause::Ended);
        let kind = FaultKind::BarrierDivergence { waiting, ended };
        match first {
            Some((number, thread)) => {
                // The thread is after the barrier.
                let mut fault = *thread.fault(program, number, *Trap::new(kind));
                if !matches!(thread.pause, Pause::Fused(_))
                    && let Some(origin) = thread
                        .pc
                        .checked_sub(1)
                        .and_then(|pc| program.code().steps.get(pc))
                        .map(|step| step.origin)
                {
                    fault.instruction = origin.instruction as usize;
                    fault.mnemonic = origin
                        .op
                        .and_then(|op| op.def().mnemonics.first().copied())
                        .unwrap_or("");
                }
                fault
            }
            None => Fault::at_start(kind),
        }
    }

    /// A thread, to read its variables.
    #[must_use]
    pub fn thread(&self, index: usize) -> Option<&Thread> {
        self.threads.get(index)
    }

    /// Shared local memory.
    #[must_use]
    pub fn slm(&self) -> &[u8] {
        &self.slm
    }
}

impl NamedBarrier {
    fn signal(&mut self, kind: u32, producers: u32, consumers: u32) {
        self.producers += u32::from(kind != 2);
        self.consumers += u32::from(kind != 1);
        if self.producers >= producers && self.consumers >= consumers {
            self.producers = 0;
            self.consumers = 0;
            self.generation += 1;
        }
    }
}

/// The first half of the registers comes from the first thread, the rest from the second.
fn fused_activations(program: &Program, even: &Thread, odd: &Thread) -> Vec<u8> {
    let Some(systolic) = even.fused_at(program) else {
        return Vec::new();
    };
    let size = systolic.plan.sizes().activations;
    let first = crate::lanes::dpas::first_part(size).min(size);
    let part = |thread: &Thread, bytes: usize| {
        let mut part = vec![0; bytes];
        let from = thread
            .registers
            .bytes(systolic.activations, bytes.min(systolic.available));
        for (to, from) in part.iter_mut().zip(from.unwrap_or(&[])) {
            *to = *from;
        }
        part
    };
    let mut activations = part(even, first);
    activations.extend(part(odd, size - first));
    activations
}
