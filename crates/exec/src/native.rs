//! Machine code for parts of a program, made by a compiler outside of this crate.

use crate::code::{Code, Liveness};
pub use crate::lanes::mode::{Flushed, MODE_BITS, NativeMode, ROUNDING_BITS, USUAL_MODE};
use crate::memory::Region;
use std::fmt::Debug;

/// Makes machine code of translated code.
pub trait Compiler: Send + Sync + Debug {
    /// Machine code for the parts of the code that it can compile; `None` if there is none. What is not live need not be
    /// in the register file; without `live`, everything is.
    fn compile(&self, code: &Code, live: Option<&Liveness>) -> Option<Box<dyn Native>>;
}

/// Machine code for parts of a program.
///
/// It does exactly what the interpreter does for the same steps, but for registers that are not live, and leaves to the
/// interpreter what it has no code for: calls, and barriers and returns unless another thread follows
/// ([`Host::followers`]). Code that depends on the float mode runs in the host's usual mode, and in modes that differ from
/// it only in the handling of denormals, or only in the rounding direction.
pub trait Native: Send + Sync + Debug {
    /// For each step of the code, whether machine code can be entered there.
    fn entries(&self) -> &[Entry];

    /// Runs from the step `thread.place` on, until it comes to a step that it leaves to the
    /// interpreter, or until fewer instructions are left than a block has. It may go on with the thread that
    /// [`Host::next`] has, until there is none.
    ///
    /// # Errors
    /// A step that the host ran had a fault. `thread.place` says which; the host has the fault.
    fn run(&self, thread: &mut NativeThread, host: &mut dyn Host) -> Result<(), NativeFault>;
}

/// Where machine code can be entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// The least number of instructions that running from there takes; 0 where machine code cannot be entered.
    pub cost: u32,
    /// Whether it needs a float mode other than [`NativeMode::Other`].
    pub mode: bool,
}

/// A step that the host ran had a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NativeFault;

/// Instructions that a thread runs before another one has its turn, and before it looks whether it is to stop. Threads
/// that wait for each other in a loop make progress this way.
pub const SLICE: u64 = 20_000;

/// The state of a thread that machine code works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NativeThread {
    /// The step to run next.
    pub place: usize,
    /// Lanes that run.
    pub running: u32,
    /// The smallest place where lanes wait; `usize::MAX` for none.
    pub waiting: usize,
    /// Instructions that this thread and those that follow it may still run before the interpreter decides who has its
    /// turn.
    pub left: u64,
    /// What [`Self::left`] was when machine code came to this thread.
    pub granted: u64,
    /// Enabled lanes of all instructions that ran.
    pub lane_operations: u64,
    /// The float mode.
    pub mode: NativeMode,
    /// Out: the content of `%cr0` that machine code chose the float mode by, if it wrote it.
    pub cr0: Option<u32>,
}

/// How a thread stopped that another one follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeStop {
    /// All its lanes have returned.
    Ended,
    /// It waits at a barrier.
    Barrier {
        /// The step after the barrier.
        place: usize,
        /// Lanes that run.
        running: u32,
        /// As [`NativeThread::cr0`].
        cr0: Option<u32>,
    },
}

/// A thread that has run before its turn, and has accessed nothing but its registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NativeAhead {
    /// The lanes that run, and where it goes on.
    pub lanes: NativeLanes,
    /// Lanes that wait at [`NativeLanes::waiting`].
    pub parked: u32,
    /// Instructions that it has run.
    pub instructions: u64,
    /// Enabled lanes of these.
    pub lane_operations: u64,
    /// As [`NativeThread::cr0`].
    pub cr0: Option<u32>,
}

/// Which lanes run, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NativeLanes {
    /// The step that they are at.
    pub place: usize,
    /// The lanes.
    pub running: u32,
    /// The smallest place where lanes wait; `usize::MAX` for none.
    pub waiting: usize,
}

/// The memory that machine code accesses, besides the register file. The sizes of all parts stay while machine code runs.
#[derive(Debug)]
pub struct NativeMemory<'a> {
    /// Shared local memory of the group.
    pub local: &'a mut [u8],
    /// Global memory.
    pub storage: &'a [Region],
    /// The surfaces of the binding table, by index.
    pub surfaces: &'a [Region],
}

/// Services of the interpreter for machine code.
///
/// Machine code keeps the addresses of register files and memory that it is told of until [`Native::run`] returns: they stay
/// where they are, whatever a service does. As code that is free of `unsafe` could break this, no other crate implements it.
pub trait Host: sealed::Sealed {
    /// The register file: [`Code::register_bytes`].
    fn registers(&mut self) -> &mut [u8];

    /// The memory that machine code accesses.
    fn memory(&mut self) -> NativeMemory<'_>;

    /// Those of the running lanes that are `taken` jump to a step, the others continue with the next one.
    /// Returns the lanes that run from there on, and where. `waiting` of the argument is ignored.
    fn branch(&mut self, lanes: NativeLanes, target: usize, taken: u32) -> NativeLanes;

    /// These lanes of the thread have jumped to a step, where they wait.
    fn park(&mut self, place: usize, lanes: u32);

    /// Machine code has come to the end of what it can run of the thread. If the thread pauses there, and the interpreter
    /// has nothing else to do, `thread` becomes the next one, and its register file is returned.
    fn next(&mut self, thread: &mut NativeThread) -> Option<&mut [u8]>;

    /// Tells of the threads that follow when this one ends or comes to a barrier: register files, lanes and float modes,
    /// in their order, as long as the function returns true.
    fn followers(&mut self, each: &mut dyn FnMut(&mut [u8], NativeLanes, NativeMode) -> bool);

    /// The thread has stopped in this way, and the next of [`Self::followers`] runs.
    fn pass(&mut self, stop: NativeStop);

    /// Whether threads may run before their turn: no limit is so near that it could be passed by them.
    fn may_run_ahead(&self) -> bool;

    /// The next of [`Self::followers`] has run before its turn, which is to be counted when it has its turn.
    fn ahead(&mut self, thread: &NativeAhead);

    /// Whether [`Self::again`] may find another group, given that machine code knows of this many threads, all of the
    /// group, none of which has begun.
    fn repeats(&self, threads: usize) -> bool;

    /// All threads of the group have ended, the last one without [`Self::pass`], and this is what [`NativeThread::left`] is
    /// then. If another group follows whose threads differ in some dwords only, these are returned:
    /// places in the register files of all threads, and values to write there. Then the first thread runs again as it began.
    fn again(&mut self, left: u64) -> Option<&[(usize, u32)]>;

    /// Lanes that wait at the place join those that run.
    fn join(&mut self, lanes: NativeLanes) -> NativeLanes;

    /// The thread's float mode is the one of this content of `%cr0` from here on.
    fn float_mode(&mut self, cr0: u32);

    /// Runs one computation, message, or systolic product of one thread with these enabled lanes.
    ///
    /// # Errors
    /// It had a fault.
    fn step(&mut self, place: usize, mask: u32) -> Result<(), NativeFault>;
}

pub(crate) mod sealed {
    /// Keeps what others rely on within this crate.
    pub trait Sealed {}
}
