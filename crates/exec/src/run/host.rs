//! Services of the interpreter for machine code.

use super::Counters;
use super::common::{Common, Extent, Lanes};
use super::line::Line;
use super::rare::multiply;
use super::thread::{Pause, Thread};
use super::waiting::Waiting;
use crate::code::Action;
use crate::fault::Trap;
use crate::lanes::mode::FloatMode;
use crate::memory::{Local, Memory};
use crate::native::sealed::Sealed;
use crate::native::{
    Entry, Host, NativeAhead, NativeFault, NativeLanes, NativeMemory, NativeMode, NativeStop,
    NativeThread, SLICE,
};
use crate::program::Program;

/// Steps that all threads may run at least where one runs before its turn: more than all of them run until what it has run,
/// which is less than two slices, is counted.
const AHEAD: u64 = 10_000 * SLICE;

/// Threads while machine code runs them.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) threads: &'a mut [Thread],
    /// The one that runs.
    pub(super) at: usize,
    pub(super) slm: &'a mut [u8],
    pub(super) memory: &'a Memory,
    /// Where the waiting lanes of the frame begin.
    pub(super) base: usize,
    /// The fault of a step that it ran.
    pub(super) trap: Option<Box<Trap>>,
    /// What those share that follow it, if they may.
    pub(super) line: Option<Line<'a>>,
    /// Whether the state that machine code has left was taken over, and no other thread follows.
    pub(super) is_over: bool,
}

/// The smallest place where lanes of the frame wait; `usize::MAX` for none.
fn first(waiting: &Waiting, base: usize) -> usize {
    waiting.first(base).map_or(usize::MAX, |(place, _)| place)
}

impl Thread {
    /// The state that machine code begins with, if there is machine code for the place of the thread, which may run this
    /// many instructions.
    pub(super) fn native(&mut self, entries: &[Entry], granted: u64) -> Option<NativeThread> {
        let entry = entries.get(self.pc)?;
        let mode = self.registers.mode.native;
        let left = granted.checked_sub(self.ahead.instructions)?;
        let runs = entry.cost != 0
            && left >= u64::from(entry.cost)
            && (mode != NativeMode::Other || !entry.mode);
        if !runs {
            return None;
        }
        let ahead = std::mem::take(&mut self.ahead);
        Some(NativeThread {
            place: self.pc,
            running: self.running,
            waiting: first(&self.waiting, self.base()),
            left,
            granted,
            lane_operations: ahead.lane_operations,
            mode,
            cr0: None,
        })
    }

    /// Continues from what machine code has left.
    pub(super) fn leave(&mut self, state: &NativeThread) {
        (self.pc, self.running) = (state.place, state.running);
        self.leave_mode(state);
    }

    /// Takes over the float mode that machine code has left.
    pub(super) fn leave_mode(&mut self, state: &NativeThread) {
        if let Some(cr0) = state.cr0 {
            self.registers.mode = FloatMode::from_cr0(cr0);
        }
    }
}

impl Sealed for Machine<'_> {}

impl Host for Machine<'_> {
    fn next(&mut self, state: &mut NativeThread) -> Option<&mut [u8]> {
        let line = self.line.as_mut()?;
        let follows = line.next(self.threads, &mut self.at, state);
        self.is_over = !follows;
        if !follows {
            return None;
        }
        self.base = self.thread().base();
        Some(self.registers())
    }

    fn followers(&mut self, each: &mut dyn FnMut(&mut [u8], NativeLanes, NativeMode) -> bool) {
        if self.line.is_none() {
            return;
        }
        for thread in self.threads.iter_mut().skip(self.at + 1) {
            let is_ahead = thread.ahead != Counters::default();
            if thread.pause != Pause::None || !thread.frames.is_empty() || is_ahead {
                break;
            }
            let lanes = NativeLanes {
                place: thread.pc,
                running: thread.running,
                waiting: first(&thread.waiting, 0),
            };
            let mode = thread.registers.mode.native;
            if !each(&mut thread.registers.file, lanes, mode) {
                break;
            }
        }
    }

    fn pass(&mut self, stop: NativeStop) {
        let thread = self.thread();
        match stop {
            NativeStop::Ended => thread.pause = Pause::Ended,
            NativeStop::Barrier {
                place,
                running,
                cr0,
            } => {
                (thread.pc, thread.running) = (place, running);
                thread.pause = Pause::Barrier;
                if let Some(cr0) = cr0 {
                    thread.registers.mode = FloatMode::from_cr0(cr0);
                }
            }
        }
        if let Some(line) = &mut self.line {
            line.changed = true;
            line.follow(self.threads, &mut self.at);
            self.base = self.thread().base();
        }
    }

    fn may_run_ahead(&self) -> bool {
        let far = |line: &Line<'_>| line.world.budget(u64::MAX, line.counters) >= AHEAD;
        self.line.as_ref().is_some_and(far)
    }

    fn ahead(&mut self, state: &NativeAhead) {
        let Some(thread) = self.threads.get_mut(self.at + 1) else {
            return;
        };
        (thread.pc, thread.running) = (state.lanes.place, state.lanes.running);
        thread.waiting.park(0, state.lanes.waiting, state.parked);
        thread.ahead = Counters {
            instructions: state.instructions,
            lane_operations: state.lane_operations,
        };
        if let Some(cr0) = state.cr0 {
            thread.registers.mode = FloatMode::from_cr0(cr0);
        }
        if let Some(line) = &mut self.line {
            line.changed = true;
        }
    }

    fn repeats(&self, threads: usize) -> bool {
        let repeats = |line: &Line<'_>| line.repeat.is_some();
        self.at == 0 && threads == self.threads.len() && self.line.as_ref().is_some_and(repeats)
    }

    fn again(&mut self, left: u64) -> Option<&[(usize, u32)]> {
        let writes = self.line.as_mut()?.again(self.threads, left)?;
        (self.at, self.base) = (0, 0);
        Some(writes)
    }

    fn registers(&mut self) -> &mut [u8] {
        &mut self.thread().registers.file
    }

    fn memory(&mut self) -> NativeMemory<'_> {
        NativeMemory {
            local: self.slm,
            storage: self.memory.storage(),
            surfaces: self.memory.surfaces(),
        }
    }

    fn branch(&mut self, lanes: NativeLanes, target: usize, taken: u32) -> NativeLanes {
        let at = (lanes.place, lanes.running);
        let base = self.base;
        let waiting = &mut self.thread().waiting;
        let (place, running) = waiting.branch(base, at, target, taken);
        self.lanes(place, running)
    }

    fn park(&mut self, place: usize, lanes: u32) {
        let base = self.base;
        self.thread().waiting.park(base, place, lanes);
    }

    fn join(&mut self, lanes: NativeLanes) -> NativeLanes {
        let at = (lanes.place, lanes.running);
        let base = self.base;
        let running = self.thread().waiting.join(base, at);
        self.lanes(lanes.place, running)
    }

    fn float_mode(&mut self, cr0: u32) {
        if let Some(line) = &mut self.line {
            line.changed = true;
        }
        self.thread().registers.mode = FloatMode::from_cr0(cr0);
    }

    fn step(&mut self, place: usize, mask: u32) -> Result<(), NativeFault> {
        let Some(thread) = self.threads.get_mut(self.at) else {
            return Err(NativeFault);
        };
        let step = self.program.code().steps.get(place);
        if let Some(Action::Systolic(systolic)) = step.map(|step| &step.action) {
            multiply(&mut thread.registers, systolic, mask);
            return Ok(());
        }
        let steps = self.program.steps(thread.registers.mode);
        let Some(loaded) = steps.get(place) else {
            return Err(NativeFault);
        };
        let mut common = Common {
            program: self.program,
            steps: std::slice::from_ref(loaded),
            lanes: Lanes::Enabled(mask),
            extent: Extent::One,
            messages: true,
            registers: &mut thread.registers,
            local: Local {
                slm: self.slm,
                scratch: &mut thread.scratch,
            },
            memory: self.memory,
            interrupt: None,
            waiting: &mut thread.waiting,
            base: self.base,
            place: 0,
            running: mask,
            left: 1,
            lane_operations: 0,
        };
        common.run().map_err(|trap| {
            self.trap = Some(trap);
            NativeFault
        })
    }
}

impl Machine<'_> {
    /// The thread that runs.
    #[expect(clippy::indexing_slicing, reason = "there is always one that runs")]
    fn thread(&mut self) -> &mut Thread {
        &mut self.threads[self.at]
    }

    fn lanes(&mut self, place: usize, running: u32) -> NativeLanes {
        let base = self.base;
        NativeLanes {
            place,
            running,
            waiting: first(&self.thread().waiting, base),
        }
    }
}
