//! Watching a program run.

use std::ops::ControlFlow;
use visakit_isa::Op;
use visakit_isa::object::RoutineId;

/// An instruction that is about to run or has run.
#[derive(Clone, Copy, Debug)]
pub struct InstructionEvent<'a> {
    /// Place of the thread in its group.
    pub thread: usize,
    /// The routine.
    pub routine: RoutineId,
    /// Place of the instruction in the routine's code.
    pub instruction: usize,
    /// The operation.
    pub op: Op,
    /// Enabled lanes of the instruction when it began (bit 0 is its first lane, whatever its mask offset).
    pub mask: u32,
    /// The register file; see [`crate::Program::variable`] for places in it.
    pub registers: &'a [u8],
}

/// Which memory an access goes to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// Flat (virtual) addresses.
    Global,
    /// A surface, by binding table index or handle; the address is the offset in it.
    Surface(u32),
    /// Shared local memory of the group.
    Local,
    /// Scratch memory of the thread.
    Scratch,
}

/// An access to memory by one lane, or by a whole block message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryAccess {
    /// Which memory.
    pub space: Space,
    /// First byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u32,
    /// The lane, `None` for a block message.
    pub lane: Option<u8>,
    /// Whether it reads.
    pub read: bool,
    /// Whether it writes. Atomics do both.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
}

/// Is told what a program does. `()` watches nothing and costs nothing.
///
/// Each [`Observer::before`] that lets the program go on is followed by one [`Observer::after`] of the same
/// instruction, thread and mask, unless the instruction is a fault: that ends the run, and the error tells the
/// place. Of an instruction at which a thread waits for others, `after` comes when the wait begins; only the fused
/// systolic product comes to its result, and to its `after`, when the other thread has come, too.
pub trait Observer {
    /// Whether [`Observer::before`] and [`Observer::after`] are called.
    const INSTRUCTIONS: bool;
    /// Whether [`Observer::memory`] is called.
    const MEMORY: bool;

    /// An instruction is about to run. Break to stop the program with a fault.
    fn before(&mut self, event: &InstructionEvent<'_>) -> ControlFlow<()> {
        let _ = event;
        ControlFlow::Continue(())
    }

    /// An instruction has run: its results are in the registers.
    fn after(&mut self, event: &InstructionEvent<'_>) {
        let _ = event;
    }

    /// Memory is accessed.
    fn memory(&mut self, access: &MemoryAccess) {
        let _ = access;
    }
}

impl Observer for () {
    const INSTRUCTIONS: bool = false;
    const MEMORY: bool = false;
}
