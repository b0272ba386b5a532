//! A machine that runs vISA.
//!
//! A [`Program`] is a kernel and the functions it calls, translated once into a flat internal code
//! with resolved operands. A [`Group`] is a work-group: threads that share local memory and meet at
//! barriers. Global memory is a [`Memory`], shared by all groups. The crate is independent of
//! OpenCL: the initial registers of a thread are given by [`ThreadStart`].

#![forbid(unsafe_code)]

#[cfg(target_endian = "big")]
compile_error!("registers and memory are little-endian; big-endian hosts are not supported");

pub mod code;
mod fault;
mod kernels;
mod lanes;
mod machine;
pub mod memory;
mod message;
mod native;
mod observe;
mod operands;
mod passes;
mod program;
mod run;
pub mod support;
mod translate;
mod variables;

/// Constants by which powers, logarithms, sines and cosines are computed, for compilers that do the same.
pub mod elementary {
    pub use crate::lanes::elementary::{
        ATANH, COS, EXP2, FAR, FARTHEST, INTEGRAL, LEAST, PER_LOG2, PER_QUARTER, QUARTER, SIN,
    };
}

pub use fault::{Fault, FaultKind, TranslateError, Unsupported};
pub use memory::{BufferId, Memory};
pub use native::{
    Compiler, Entry, Flushed, Host, MODE_BITS, Native, NativeAhead, NativeFault, NativeLanes,
    NativeMemory, NativeMode, NativeStop, NativeThread, ROUNDING_BITS, SLICE, USUAL_MODE,
};
pub use observe::{
    Extent, InRegister, InstructionEvent, LanesAccess, MemoryAccess, MissedTexel, Observer, Space,
    unwatched_runs,
};
pub use passes::Pass;
pub use program::{Examined, Program, ThreadStart};
pub use run::{
    CallFrame, Counters, Group, HeaderDwords, Interrupt, Limits, Position, Progress, Thread,
    ThreadState,
};
pub use translate::Options;
pub use variables::{DeclaredVariable, InputClass, InputSlot, VariableClass, VariableSlot};
