//! Inspects and changes a group that has stopped, for debuggers.

use super::group::{Group, Turn};
use super::mask::enabled;
use super::thread::{Pause, Thread};
use crate::code::Action;
use crate::lanes::mode::FloatMode;
use crate::program::Program;

/// The state of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadState {
    /// It can run.
    Ready,
    /// It waits at the barrier of the group.
    Barrier,
    /// It waits in a split barrier for the signals of all threads.
    SplitBarrier,
    /// It waits at the named barrier of this number.
    NamedBarrier(u32),
    /// It waits for the thread that is fused with it.
    Fused,
    /// All its lanes have returned.
    Ended,
}

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// The step of the code that runs next, an instruction; of a thread that waits, the one after its barrier.
    pub step: usize,
    /// Lanes that run it; bit n is lane n of the thread.
    pub running: u32,
    /// Those of them that the instruction works on, by its mask, size and predicate; bit 0 is its first lane, whatever
    /// its mask offset.
    pub enabled: u32,
}

/// A call that has not returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallFrame {
    /// The step that runs after the return.
    pub return_to: usize,
    /// Lanes that called.
    pub lanes: u32,
    /// Place of the function in [`crate::code::Code::routines`]; `None` for a subroutine.
    pub function: Option<usize>,
}

impl Thread {
    /// Whether it can continue, and if not, what it waits for.
    #[must_use]
    pub const fn state(&self) -> ThreadState {
        match self.pause {
            Pause::None | Pause::Slice | Pause::NamedSignal(_) => ThreadState::Ready,
            Pause::Barrier => ThreadState::Barrier,
            Pause::Split => ThreadState::SplitBarrier,
            Pause::Named(number) => ThreadState::NamedBarrier(number),
            Pause::Fused(_) => ThreadState::Fused,
            Pause::Ended => ThreadState::Ended,
        }
    }

    /// Where it is: its next instruction, including the lanes that join before it.
    #[must_use]
    pub fn position(&self, program: &Program) -> Position {
        let (mut step, mut running) = (self.pc, self.running);
        let base = self.frames.last().map_or(0, |frame| frame.base);
        let mut waiting = self.waiting.0.get(base..).unwrap_or(&[]);
        while let Some(next) = program.code().steps.get(step)
            && !next.action.is_instruction()
        {
            if matches!(next.action, Action::Join)
                && let [rest @ .., (place, lanes)] = waiting
                && *place == step
            {
                running |= lanes;
                waiting = rest;
            }
            step += 1;
        }
        let masking = program.masking(step);
        Position {
            step,
            running,
            enabled: masking.map_or(0, |masking| enabled(masking, running, &self.registers.file)),
        }
    }

    /// Lanes that wait for others at later steps of the code, of all calls: the step and the lanes.
    #[must_use]
    pub fn waiting(&self) -> &[(usize, u32)] {
        &self.waiting.0
    }

    /// Calls that have not returned, the latest last.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = CallFrame> + ExactSizeIterator + '_ {
        self.frames.iter().map(|frame| CallFrame {
            return_to: frame.return_to,
            lanes: frame.entered,
            function: frame.function,
        })
    }

    /// Scratch memory.
    #[must_use]
    pub fn scratch(&self) -> &[u8] {
        &self.scratch
    }

    /// Changes scratch memory. Returns false without any change if it is outside.
    pub fn write_scratch(&mut self, offset: usize, bytes: &[u8]) -> bool {
        put(&mut self.scratch, offset, bytes)
    }

    /// Changes the register file; a new value of `%cr0` takes effect. Returns false without any change if it is
    /// outside.
    pub fn write(&mut self, program: &Program, offset: usize, bytes: &[u8]) -> bool {
        if !put(&mut self.registers.file, offset, bytes) {
            return false;
        }
        self.changed.push(offset..offset + bytes.len());
        if let Some(slot) = program.predefined("cr0") {
            self.registers.mode = FloatMode::from_cr0(self.registers.read_u32(slot.offset));
        }
        true
    }
}

impl Group {
    /// The threads.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// A thread, mutably.
    pub fn thread_mut(&mut self, index: usize) -> Option<&mut Thread> {
        self.threads.get_mut(index)
    }

    /// The thread that runs next; `None` if no thread can before barriers are examined again.
    #[must_use]
    pub fn next_thread(&self) -> Option<usize> {
        let mut rest = self.threads.iter().enumerate().skip(self.turn.thread);
        let next = rest.find(|(_, thread)| thread.state() == ThreadState::Ready);
        next.map(|(number, _)| number)
    }

    /// Makes a thread run next, with a whole turn. The threads after it follow.
    pub fn give_turn(&mut self, thread: usize) {
        self.turn = Turn::of(thread, true);
    }

    /// Changes shared local memory. Returns false without any change if it is outside.
    pub fn write_slm(&mut self, offset: usize, bytes: &[u8]) -> bool {
        put(&mut self.slm, offset, bytes)
    }
}

fn put(to: &mut [u8], offset: usize, bytes: &[u8]) -> bool {
    let end = offset.saturating_add(bytes.len());
    to.get_mut(offset..end)
        .map(|to| to.copy_from_slice(bytes))
        .is_some()
}
