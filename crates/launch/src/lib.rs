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

#![forbid(unsafe_code)]

mod agreement;
mod argument;
mod bare;
mod bind;
mod case;
mod compare;
mod content;
mod control;
mod dump;
mod effort;
mod error;
mod facts;
mod front;
mod implicit;
mod input;
mod kernel;
mod locals;
mod media;
mod ndrange;
mod objects;
mod payload;
mod printf;
mod queue;
mod slm;
mod source;
mod trace;
mod trial;
pub mod value;
mod variables;
mod zebin;
mod zeinfo;

pub use argument::{Argument, Image, ImageKind, Shared, format, sampler};
pub use bare::{Bare, BareOutcome, Shown};
pub use case::{Case, Verdict};
pub use compare::{Compare, Difference, Element};
pub use content::Content;
pub use dump::{Dump, DumpedKernel, Metadata};
pub use error::LaunchError;
pub use facts::{BoundArgument, Facts, Section};
pub use front::Dependency;
pub use input::{Input, Linked, Reading, link};
pub use kernel::{Compile, Config, Kernel, Launch, Loaded, Others, Outcome};
pub use locals::LocalVariable;
pub use media::{Media, MediaOutcome, MediaSurface, SurfaceShape, Target};
pub use ndrange::NdRange;
pub use objects::{LocalObject, MemoryObject, ObjectKind};
pub use payload::{Layout, LocalIds, local_id};
pub use source::{Source, find_kernel, grf_bytes_of};
pub use trace::Tracer;
pub use trial::{
    ENTRIES as TRIAL_ENTRIES, KernelTrial, TrialDifference, TrialOptions, TrialPlace, TrialVerdict,
    trial,
};
pub use variables::Variables;
pub use zebin::{AddressPart, DataRelocation, DataSection, DataSymbol, Zebin};
pub use zeinfo::{
    AddrMode, AddrSpace, ArgInfo, ArgType, BindingTableIndex, ExecutionEnv, InlineSampler,
    KernelInfo, MemoryBuffer, MiscInfo, PayloadArgument, UserAttributes, ZeInfo,
};
