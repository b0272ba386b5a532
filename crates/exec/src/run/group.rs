//! A work-group: threads that take turns.

#![allow(
    clippy::result_large_err,
    reason = "a fault ends the run; it is made once"
)]

use super::thread::{Pause, Thread, World};
use super::{Counters, Limits};
use crate::fault::{Fault, FaultKind, Trap};
use crate::machine::{FloatMode, Registers};
use crate::memory::Memory;
use crate::observe::Observer;
use crate::program::{Program, ThreadStart};
use crate::variables::InputClass;

/// Steps that a thread runs before another one gets its turn. Threads that wait for each other in a
/// loop make progress this way.
const SLICE: u64 = 200_000;

/// A work-group: its threads and their shared local memory.
#[derive(Debug, Default)]
pub struct Group {
    threads: Vec<Thread>,
    slm: Vec<u8>,
    named: [NamedBarrier; 32],
    /// Registers, scratch and local memory.
    bytes: u64,
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
    /// A start that does not fit the program.
    pub fn new(
        program: &Program,
        slm_bytes: usize,
        threads: &[ThreadStart],
    ) -> Result<Self, Fault> {
        let mut group = Self::default();
        group.reset(program, slm_bytes, threads)?;
        Ok(group)
    }

    /// Starts anew with other threads, using the allocations again.
    ///
    /// # Errors
    /// A start that does not fit the program.
    pub fn reset(
        &mut self,
        program: &Program,
        slm_bytes: usize,
        threads: &[ThreadStart],
    ) -> Result<(), Fault> {
        self.slm.clear();
        self.slm.resize(slm_bytes, 0);
        self.named = [NamedBarrier::default(); 32];
        self.threads.resize_with(threads.len(), Thread::default);
        self.bytes = slm_bytes as u64;
        for (thread, start) in self.threads.iter_mut().zip(threads) {
            prepare(thread, program, start)?;
            self.bytes += (program.image.len() + start.scratch_bytes) as u64;
        }
        Ok(())
    }

    /// Runs all threads to their ends. Threads are interleaved at barriers.
    ///
    /// # Errors
    /// The first fault.
    pub fn run<O: Observer>(
        &mut self,
        program: &Program,
        memory: &Memory,
        limits: &Limits,
        observer: &mut O,
    ) -> Result<Counters, Fault> {
        let mut counters = Counters::default();
        let limit = |kind| Fault::at_start(kind);
        let mut world = World {
            program,
            memory,
            limits,
            thread: 0,
            bytes_left: limits
                .max_bytes
                .checked_sub(self.bytes)
                .ok_or_else(|| limit(FaultKind::MemoryLimit(limits.max_bytes)))?,
        };
        let alone = self.threads.len() == 1;
        loop {
            let mut progress = false;
            for (number, thread) in self.threads.iter_mut().enumerate() {
                if thread.pause != Pause::None {
                    continue;
                }
                let left = limits.max_steps.saturating_sub(counters.instructions);
                if left == 0 {
                    let trap = Trap::new(FaultKind::StepLimit(limits.max_steps));
                    return Err(*thread.fault(program, number, *trap));
                }
                let slice = if alone { left } else { left.min(SLICE) };
                world.thread = number;
                let before = counters.instructions;
                thread
                    .run(&mut world, &mut self.slm, slice, &mut counters, observer)
                    .map_err(|fault| *fault)?;
                program.count(counters.instructions - before);
                progress = true;
                if let Pause::NamedSignal([number, kind, producers, consumers]) = thread.pause {
                    thread.pause = Pause::None;
                    if let Some(barrier) = self.named.get_mut(number as usize) {
                        if let Some(mark) = thread.named.get_mut(number as usize) {
                            *mark = barrier.generation;
                        }
                        barrier.signal(kind, producers, consumers);
                    }
                }
                if thread.pause == Pause::Slice {
                    thread.pause = Pause::None;
                }
            }
            progress |= self.release(program)?;
            if self
                .threads
                .iter()
                .all(|thread| thread.pause == Pause::Ended)
            {
                return Ok(counters);
            }
            if !progress {
                return Err(self.stuck(program));
            }
        }
    }

    /// Lets threads go whose barriers are complete.
    fn release(&mut self, program: &Program) -> Result<bool, Fault> {
        let mut progress = false;
        if !self.threads.is_empty() && self.threads.iter().all(|t| t.pause == Pause::Barrier) {
            for thread in &mut self.threads {
                thread.pause = Pause::None;
            }
            return Ok(true);
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
                    let now = self.named.get(number as usize).map_or(1, |b| b.generation);
                    now > thread.named.get(number as usize).copied().unwrap_or(0)
                }
                _ => false,
            };
            if free {
                thread.pause = Pause::None;
                progress = true;
            }
        }
        for pair in self.threads.chunks_mut(2) {
            if let [even, odd] = pair
                && even.pause == Pause::Fused
                && odd.pause == Pause::Fused
                && even.pc == odd.pc
            {
                let activations = fused_activations(program, even, odd);
                for thread in [even, odd] {
                    thread.finish_fused(program, &activations);
                    thread.pause = Pause::None;
                }
                progress = true;
            }
        }
        Ok(progress)
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
                // The thread stands after the barrier.
                let mut fault = *thread.fault(program, number, *Trap::new(kind));
                if thread.pause != Pause::Fused
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

/// Fills the registers of a thread.
fn prepare(thread: &mut Thread, program: &Program, start: &ThreadStart) -> Result<(), Fault> {
    let mut file = std::mem::take(&mut thread.registers.file);
    file.clear();
    file.extend_from_slice(&program.image);
    let scratch = std::mem::take(&mut thread.scratch);
    let waiting = std::mem::take(&mut thread.waiting);
    let frames = std::mem::take(&mut thread.frames);
    *thread = Thread {
        registers: Registers {
            file,
            mode: FloatMode::from_cr0(start.cr0),
            taken: std::sync::Arc::clone(&program.taken),
            simd: thread.registers.simd,
        },
        scratch,
        waiting,
        frames,
        ..Thread::default()
    };
    thread.waiting.clear();
    thread.frames.clear();
    thread.scratch.clear();
    thread.scratch.resize(start.scratch_bytes, 0);
    thread.running = start.mask;
    thread.pc = program.code().routines.first().map_or(0, |r| r.entry);
    if start.mask == 0 {
        thread.pause = Pause::Ended;
    }

    let r0 = start.image.get(..program.grf_bytes() as usize);
    let r0 = r0.unwrap_or(&start.image);
    if let Some(slot) = &program.entry.r0 {
        write(&mut thread.registers, slot.offset, r0, slot.bytes);
    }
    for (fact, slot) in &program.entry.facts {
        let words = (fact.words)(start).map(u32::to_le_bytes);
        let bytes = words.as_flattened();
        let bytes = bytes.get(..fact.bytes).unwrap_or(bytes);
        write(&mut thread.registers, slot.offset, bytes, slot.bytes);
    }
    for input in program.inputs() {
        let from = start.image.get(input.image_offset..).unwrap_or(&[]);
        let from = from.get(..input.size).unwrap_or(from);
        let room = match input.class {
            InputClass::General => program.image.len().saturating_sub(input.place),
            InputClass::Sampler | InputClass::Surface => input.size,
        };
        write(&mut thread.registers, input.place, from, room);
    }
    for (slot, bytes) in &start.sets {
        if bytes.len() > slot.bytes {
            let text = format!(
                "{} bytes do not fit a variable of {}",
                bytes.len(),
                slot.bytes
            );
            return Err(Fault::at_start(FaultKind::BadStart(text)));
        }
        write(&mut thread.registers, slot.offset, bytes, slot.bytes);
    }
    Ok(())
}

fn write(registers: &mut Registers, offset: usize, bytes: &[u8], room: usize) {
    let count = bytes.len().min(room);
    if let (Some(to), Some(from)) = (registers.bytes_mut(offset, count), bytes.get(..count)) {
        to.copy_from_slice(from);
    }
}
