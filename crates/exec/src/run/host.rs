//! Services of the interpreter for machine code.

use super::common::{Common, Extent, Lanes};
use super::waiting::Waiting;
use crate::fault::Trap;
use crate::lanes::mode::FloatMode;
use crate::machine::Registers;
use crate::memory::{Local, Memory};
use crate::native::{Host, NativeFault, NativeLanes, NativeMemory};
use crate::program::Program;

/// A thread while machine code runs it.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) registers: &'a mut Registers,
    pub(super) scratch: &'a mut [u8],
    pub(super) slm: &'a mut [u8],
    pub(super) memory: &'a Memory,
    pub(super) waiting: &'a mut Waiting,
    /// Where the waiting lanes of the frame begin.
    pub(super) base: usize,
    /// The fault of a step that it ran.
    pub(super) trap: Option<Box<Trap>>,
}

/// The smallest place where lanes of the frame wait; `usize::MAX` for none.
pub(super) fn first(waiting: &Waiting, base: usize) -> usize {
    waiting.first(base).map_or(usize::MAX, |(place, _)| place)
}

impl Host for Machine<'_> {
    fn memory(&mut self) -> NativeMemory<'_> {
        NativeMemory {
            registers: &mut self.registers.file,
            local: self.slm,
            storage: self.memory.storage(),
            surfaces: self.memory.surfaces(),
        }
    }

    fn branch(&mut self, lanes: NativeLanes, target: usize, taken: u32) -> NativeLanes {
        let at = (lanes.place, lanes.running);
        let (place, running) = self.waiting.branch(self.base, at, target, taken);
        self.lanes(place, running)
    }

    fn join(&mut self, lanes: NativeLanes) -> NativeLanes {
        let running = self.waiting.join(self.base, (lanes.place, lanes.running));
        self.lanes(lanes.place, running)
    }

    fn float_mode(&mut self, cr0: u32) {
        self.registers.mode = FloatMode::from_cr0(cr0);
    }

    fn step(&mut self, place: usize, mask: u32) -> Result<(), NativeFault> {
        let steps = self.program.steps(self.registers.mode);
        let Some(loaded) = steps.get(place) else {
            return Err(NativeFault);
        };
        let mut common = Common {
            steps: std::slice::from_ref(loaded),
            lanes: Lanes::Enabled(mask),
            extent: Extent::One,
            messages: true,
            registers: self.registers,
            local: Local {
                slm: self.slm,
                scratch: self.scratch,
            },
            memory: self.memory,
            interrupt: None,
            waiting: self.waiting,
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
    fn lanes(&self, place: usize, running: u32) -> NativeLanes {
        NativeLanes {
            place,
            running,
            waiting: first(self.waiting, self.base),
        }
    }
}
