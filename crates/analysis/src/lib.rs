//! Static analysis of vISA code.
//!
//! * [`Liveness`]: between which instructions the values of variables are needed.
//! * [`Pressure`]: how many registers that takes, instruction by instruction: an estimate of what a finalizer has
//!   to fit into the register file.
//! * [`Profile`]: a kernel in numbers, for comparison with another compiler's code.

mod extent;
mod flow;
mod live;
mod pressure;
mod profile;
mod storage;

pub use live::{LiveRange, Liveness};
pub use pressure::{Point, Pressure};
pub use profile::{Profile, match_kernels};
pub use storage::Root;
