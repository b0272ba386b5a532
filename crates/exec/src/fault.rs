//! Errors of translation and execution.

use std::fmt;
use visakit_isa::object::{RoutineId, RoutineKind};

/// An instruction (or a form of one) that the machine does not run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{mnemonic} is not supported: {why}")]
pub struct Unsupported {
    /// The instruction.
    pub mnemonic: String,
    /// What it would need.
    pub why: String,
}

impl Unsupported {
    /// An instruction and the reason.
    pub fn new(mnemonic: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            mnemonic: mnemonic.into(),
            why: why.into(),
        }
    }
}

/// Why a routine cannot be translated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TranslateError {
    /// The object has no such routine.
    #[error("the object has no {} {}", .0.kind.name(), .0.index)]
    NoRoutine(RoutineId),
    /// The routine could not be decoded, so there is nothing to run.
    #[error("{} {} is not decoded: {reason}", .routine.kind.name(), .routine.index)]
    NotDecoded {
        /// The routine.
        routine: RoutineId,
        /// Why.
        reason: String,
    },
    /// An instruction that the machine does not run (strict mode).
    #[error("{} {} instruction {instruction}: {unsupported}", .routine.kind.name(), .routine.index)]
    Unsupported {
        /// The routine.
        routine: RoutineId,
        /// Place of the instruction in the routine's code.
        instruction: usize,
        /// What is unsupported, and why.
        unsupported: Unsupported,
    },
    /// Declarations that contradict each other or ask for too much.
    #[error("{} {}: {reason}", .routine.kind.name(), .routine.index)]
    Declaration {
        /// The routine.
        routine: RoutineId,
        /// What is wrong.
        reason: String,
    },
}

/// The kind of fault.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// An instruction that the machine does not run was reached.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A register operand leaves the storage of its variable.
    #[error("register access outside its variable")]
    RegisterOutOfBounds,
    /// An indirect operand points at no variable whose address is taken.
    #[error("indirect register access outside of every variable")]
    IndirectOutOfBounds,
    /// Flat memory access outside of every buffer.
    #[error("{} of {bytes} bytes outside of every buffer", if *.write { "write" } else { "read" })]
    MemoryOutOfBounds {
        /// Write, else read.
        write: bool,
        /// Size of the access.
        bytes: u32,
    },
    /// Access to shared local memory outside the group's.
    #[error("access outside of shared local memory")]
    LocalOutOfBounds,
    /// Access to scratch memory outside the thread's.
    #[error("access outside of scratch memory")]
    ScratchOutOfBounds,
    /// An address that is not a multiple of what the message requires.
    #[error("misaligned address")]
    Misaligned,
    /// No surface is bound to that index or handle.
    #[error("no surface {0:#x}")]
    UnknownSurface(u32),
    /// No sampler is bound to that index.
    #[error("no sampler {0:#x}")]
    UnknownSampler(u32),
    /// A surface of the wrong kind for the message.
    #[error("surface {surface:#x} is not {wanted}")]
    WrongSurface {
        /// Binding table index or handle.
        surface: u32,
        /// What the message requires.
        wanted: &'static str,
    },
    /// A call of an address at which no function is.
    #[error("call of an address that is no function")]
    NoFunction,
    /// A symbol whose address was not given.
    #[error("the address of symbol {0:?} is not known")]
    UnknownSymbol(String),
    /// A jump or call to a label that the code does not define.
    #[error("label {0} is not defined in the code")]
    UnknownLabel(u16),
    /// A multiway jump with an index beyond its labels.
    #[error("index {0} is beyond the labels of the jump")]
    SwitchIndex(u64),
    /// Calls nest too deep.
    #[error("calls nest deeper than {0}")]
    CallDepth(usize),
    /// The end of a routine was reached without a return.
    #[error("end of the routine without return")]
    FellOffTheEnd,
    /// Structured control flow whose parts do not fit together.
    #[error("unbalanced structured control flow")]
    Unbalanced,
    /// More instructions than the limit.
    #[error("more than {0} instructions")]
    StepLimit(u64),
    /// More memory than the limit.
    #[error("more than {0} bytes of registers or local memory")]
    MemoryLimit(u64),
    /// The host has not as much memory.
    #[error("{0} bytes of registers and local memory cannot be allocated")]
    OutOfMemory(u64),
    /// Threads of the group wait at a barrier that others never reach.
    #[error("barrier that not all threads of the group reach ({waiting} wait, {ended} ended)")]
    BarrierDivergence {
        /// Threads that wait.
        waiting: usize,
        /// Threads that ended.
        ended: usize,
    },
    /// The observer asked to stop.
    #[error("stopped by the observer")]
    Stopped,
    /// A thread image or variable setting does not fit.
    #[error("{0}")]
    BadStart(String),
}

/// A fault of a running program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Fault {
    /// The routine.
    pub routine: RoutineId,
    /// Place of the instruction in the routine's code.
    pub instruction: usize,
    /// Mnemonic of the instruction, where there is one.
    pub mnemonic: &'static str,
    /// Offset of the instruction in the file, filled in by who knows it.
    pub offset: Option<u64>,
    /// Place of the thread in its group.
    pub thread: Option<usize>,
    /// The lane of the instruction.
    pub lane: Option<u8>,
    /// The address that was accessed.
    pub address: Option<u64>,
    /// The kind of fault.
    #[source]
    pub kind: FaultKind,
}

impl Fault {
    /// A fault before the first instruction.
    pub(crate) fn at_start(kind: FaultKind) -> Self {
        Self {
            routine: RoutineId::new(RoutineKind::Kernel, 0),
            instruction: 0,
            mnemonic: "",
            offset: None,
            thread: None,
            lane: None,
            address: None,
            kind,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} instruction {}",
            self.routine.kind.name(),
            self.routine.index,
            self.instruction
        )?;
        if !self.mnemonic.is_empty() {
            write!(f, " ({})", self.mnemonic)?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at {offset:#x}")?;
        }
        if let Some(thread) = self.thread {
            write!(f, ", thread {thread}")?;
        }
        if let Some(lane) = self.lane {
            write!(f, ", lane {lane}")?;
        }
        if let Some(address) = self.address {
            write!(f, ", address {address:#x}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

/// A fault on its way from an instruction to the loop, which knows the place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Trap {
    pub(crate) lane: Option<u8>,
    pub(crate) address: Option<u64>,
    pub(crate) kind: FaultKind,
}

impl Trap {
    pub(crate) fn new(kind: FaultKind) -> Box<Self> {
        Box::new(Self {
            lane: None,
            address: None,
            kind,
        })
    }

    pub(crate) fn at(kind: FaultKind, lane: u8, address: u64) -> Box<Self> {
        Box::new(Self {
            lane: Some(lane),
            address: Some(address),
            kind,
        })
    }
}

/// Outcome of an instruction. The box keeps it in one register.
pub(crate) type Outcome = Result<(), Box<Trap>>;
