//! A machine that runs vISA.
//!
//! A [`Program`] is a kernel and the functions it calls, translated once into a flat internal code
//! with resolved operands. A [`Group`] is a work-group: threads that share local memory and meet at
//! barriers. Global memory is a [`Memory`], shared by all groups. The crate is independent of
//! OpenCL: the initial registers of a thread are given by [`ThreadStart`].
//!
//! # How it is built
//!
//! The layers, from the lowest one up, each of which imports only those below it (`tests/it/layers.rs` reads the sources and
//! has the whole list):
//!
//! * `operands/` is what computations and messages are about: sources, destinations and predicates with their places in the
//!   register file, and operations with the types that they are computed in.
//! * `lanes/` is arithmetic of one lane and its float mode (`%cr0`). `lanes/exact.rs` has the rounding modes that the host
//!   does not offer (sums and products without branches, so that lanes become vectors, and a soft-float library for the few
//!   results that this may get wrong), `lanes/elementary.rs` powers, logarithms, sines and cosines without branches, as the
//!   interpreter's vector loops and the templates of machine code need them, `lanes/dpas.rs` systolic products, a whole row
//!   at once, `lanes/narrow.rs` the formats of few bits. `lanes/simd.rs` compiles code again for AVX2 if the host has it (through
//!   `pulp`, so that the crate itself stays free of unsafe code).
//! * `machine/` is the register file of a thread (at lines of the cache: `aligned.rs`; elements at places of it: `file.rs`).
//! * `memory/` and `message/`: everything outside the registers. `lanes.rs` accesses memory for each lane, `narrow.rs` and
//!   `alone.rs` do the most frequent forms of that (dwords at addresses of 32 bits, and one lane), `plain.rs` shows messages
//!   to compilers.
//! * `code/` is translated code as plain data: a `Step` has lanes, predicate, action and the instruction it was translated
//!   from. Computations are a `Compute`: an `Operation`, the `Lane` type it is computed in, and operands. `blocks.rs` builds
//!   the table of basic blocks, `verify.rs` checks what all users rely on, `display.rs` prints listings (`visakit run --show-code`), `effects.rs` determines what a step may write, `uses.rs`
//!   what it reads and writes lane by lane, `assigned.rs` what may be read before it is written, `live.rs` what may be read
//!   again (by the lane that an element belongs to, along the ways of that lane; by the thread, wherever waiting lanes go on),
//!   `modes.rs` the float modes in which steps are reached, `count.rs` inserts counting steps. Nothing here runs anything,
//!   and nothing in it is a function.
//! * `kernels/` runs computations. `hot.rs` lists the most frequent ones by their `key.rs`; their code (`bodies.rs`,
//!   `copies.rs`, and `relations.rs` for comparisons and predicates) uses operands directly from the register file, packed or
//!   scalar, and one in every so many elements for copies, in forms for 1, 8, 16 and 32 lanes. The commonest are inlined into
//!   the loop that runs them (`run/common.rs`). There is only as much code as differs, since it is most of what this crate has
//!   to compile: hosts without AVX2 have a form for eight lanes that takes turns, and what is called has one form for sources
//!   with and without modifiers. 32 lanes of 64 bits take two turns; operands of which a turn would read what one before it
//!   wrote are excluded.
//!   Everything else has one function for any number of lanes, region and type (`bind.rs` selects it), which collects
//!   elements, then converts them: that limits compile time. A step is bound to one or the other when it is loaded, for
//!   each float mode that threads have.
//! * `passes/` transforms the code before it runs, a function each: `fold.rs` makes computations of constants copies of their
//!   results, which the interpreter's own code computes in every float mode, `scalars.rs` lets sources read a number in place
//!   of its copy for each lane, `order.rs` gives bitwise functions of three sources one truth table for all orders of their
//!   sources, `share.rs` lets variables that live within a block share places, `fuse.rs` marks comparisons on which the next
//!   step branches. The first two follow what elements hold within a block (`values.rs`). Steps keep their number and the
//!   instructions that they come from. Code is verified after each in debug builds. Sharing makes variables unavailable by
//!   name, and after the first two steps do not read what their instructions name, so that only unobserved runs use these
//!   (`Pass`).
//! * `translate/` translates routines: `layout.rs` gives every variable a place in one register file, `operand.rs` turns
//!   operands into places and regions, `dispatch.rs` lists for every operation the function that translates it. Constants
//!   are in the register file, too, extended to 64 bits, so that any integer type reads them directly. `message/` translates
//!   messages, by the memory column of their rows.
//! * `program/` puts a program together: code, names, the steps as `load.rs` binds them, and the initial content of
//!   registers (`image.rs`: a new thread resets only what programs write; in the next group of a launch, unless it is
//!   observed, it restores only what may be read before it is written, and of the header, the place of the group and inputs
//!   sets only what is read and may differ: `program/start.rs`).
//! * `probe.rs` answers what a single lane or message does, by running it, for those who reason about programs (`crates/prove`).
//! * `run/thread.rs` is the loop, `run/common.rs` the inner one, a single function for each kind of host: hot
//!   computations that follow each other, whatever lanes they enable, share the work of counting and of looking what comes
//!   next; other computations, jumps, joins, changes of the float mode and calls of unobserved messages. `run/waiting.rs` has
//!   the waiting lanes, `run/rare.rs` the steps that are not frequent. `run/group.rs` lets threads take turns of 20,000 steps;
//!   the state of the turns outlasts a stop, so that fuel may run out anywhere. Threads that run in machine code follow each other there (`run/line.rs`) as long as
//!   the interpreter has nothing else to do: machine code is told which threads follow (`Host::followers`), and goes on with
//!   the next one where a thread ends or comes to a barrier. `run/interrupt.rs` is the flag that stops groups. `native.rs` is the interface to a
//!   compiler.
//!
//! Decisions where definitions are silent: `docs/execution.md`, whose table of instructions is generated from the rows
//! (`support.rs`).
//!
//! # Memory
//!
//! `crates/exec/src/memory` is storage. Buffers are bytes that all threads share (`crates/storage`: every access is atomic,
//! in the largest aligned word that fits), each in its own 4 GiB region: the upper half of an address selects its buffer,
//! and an address that is null, truncated or past the end selects none. `crates/exec/src/message` reduces each memory
//! instruction to one of a dozen shapes (an access for each lane, a block, a rectangle, an atomic, texels, …) with resolved
//! operands. A shape runs on whatever storage its addresses select (`Target`: flat, a surface, SLM, scratch), which
//! determines whether accesses outside are a fault or dropped. The hot path is `LaneAccess::run`: consecutive addresses are
//! recognised on the address operand and transferred as one run of bytes. Otherwise eight lanes at a time are examined: a
//! run, all the same, or arbitrary. What the definitions leave open is settled in `docs/memory-messages.md`.

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
mod probe;
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
pub use probe::{
    Accesses, ImageMessage, LaneFunction, LaneResult, Probe, Reached, Sampling, atomic,
};
pub use program::{Examined, Program, ThreadStart};
pub use run::{
    CallFrame, Counters, Group, HeaderDwords, Interrupt, Limits, Position, Progress, Thread,
    ThreadState,
};
pub use translate::Options;
pub use variables::{DeclaredVariable, InputClass, InputSlot, VariableClass, VariableSlot};
