//! Starting the kernels of vISA objects on the executor.
//!
//! The executor ([`visakit_exec`]) runs threads; this crate sets up their registers and memory:
//!
//! * [`Kernel`]: OpenCL kernels on an [`NdRange`], as the compiler's metadata ([`ZeInfo`], from a [`Zebin`] or a file
//!   beside it) describe them.
//! * [`Media`]: the media mode, a 2D space of threads on 2D surfaces.
//! * [`Bare`]: one thread of a routine, variables set and read by name.
//! * [`Case`]: kernels with inputs and expected outputs in a folder.
//! * [`trial()`]: the kernels of two objects in the same generated environment.
//!
//! # How it is built
//!
//! * `content.rs` determines the content of a file, `input.rs` is the only way from files to an object, `dump.rs` finds
//!   kernels and metadata in a compiler's dumps.
//! * `locals.rs` takes the places of variables in local memory from the compiler's LLVM.
//! * `zeinfo.rs` and `zebin.rs` read the compiler's metadata of a kernel; unknown keys and sections are skipped.
//! * `payload.rs` and `facts.rs` are pure: from metadata, inputs and facts of the grid to the register image of a thread.
//! * `implicit.rs` lays out the arguments of functions called with a stack.
//! * `bind.rs` puts arguments and constants into global memory and the binding table, and gives them handles (`handles.rs`).
//! * `kernel/` runs groups: workers take them in order (`queue.rs`), each with its own registers and private memory, so
//!   that results do not depend on the number of workers. `effort.rs` is what they share: the common budget, faults that
//!   stop the others, interrupts. Payloads are laid out again only when the size of a group changes.
//! * `trial.rs` runs the kernels of two objects in the same generated environments and compares the resulting memory.
//! * `variables.rs` holds program-scope variables from launch to launch; `trace.rs` provides the text of executed
//!   instructions and the values they wrote, for `visakit run --trace` and the Python package.
//! * `media.rs` and `bare.rs` are the other two ways to start. `case.rs` and `compare.rs` hold kernels with expectations.

#![forbid(unsafe_code)]

mod agreement;
mod argument;
mod bare;
mod bind;
mod case;
mod compare;
mod config;
mod content;
mod control;
mod dump;
mod effort;
mod end;
mod error;
mod facts;
mod front;
mod handles;
mod implicit;
mod input;
mod kernel;
mod locals;
mod media;
mod messages;
mod ndrange;
mod number;
mod objects;
mod payload;
mod printf;
mod queue;
mod slm;
mod source;
mod structure;
mod trace;
mod trial;
mod turns;
pub mod value;
mod variables;
mod zebin;
mod zeinfo;

pub use argument::{Argument, Image, ImageKind, Shared, format, names, sampler};
pub use bare::{Bare, BareOutcome, Shown};
pub use bind::Others;
pub use case::{Case, Verdict, lines_apart};
pub use compare::{Compare, Difference, Element};
pub use config::{Compile, Config, Turn};
pub use content::Content;
pub use dump::{DebugFiles, Dump, DumpedKernel, Metadata, REPRESENTATION};
pub use end::{End, Reason, Standing, Stopped};
pub use error::{LaunchError, zeroes, zeroes_within};
pub use facts::{BoundArgument, Facts, Section};
pub use front::Dependency;
pub use input::{Input, Linked, Reading, link};
pub use kernel::{Kernel, Loaded, Outcome, Prepared};
pub use locals::{LocalVariable, local_variables};
pub use media::{Media, MediaOutcome, MediaSurface, SurfaceShape, Target};
pub use ndrange::NdRange;
pub use number::{Number, Passed, Vector};
pub use objects::{LocalObject, MemoryObject, ObjectKind};
pub use payload::{Layout, LocalIds, local_id};
pub use source::{Source, find_kernel, grf_bytes_of, texts_of_kernel};
pub use trace::Tracer;
pub use trial::{
    ENTRIES as TRIAL_ENTRIES, KernelTrial, TrialDifference, TrialOptions, TrialPlace, TrialVerdict,
    trial,
};
pub use variables::Variables;
pub use zebin::{AddressPart, DataRelocation, DataSection, DataSymbol, ElfSection, Zebin};
pub use zeinfo::{
    AddrMode, AddrSpace, ArgInfo, ArgType, BindingTableIndex, ExecutionEnv, HostAccess,
    InlineSampler, KernelInfo, MemoryBuffer, MiscInfo, PayloadArgument, Provided, UserAttributes,
    ZeInfo,
};
