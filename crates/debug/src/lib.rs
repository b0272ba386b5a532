//! A debugger for programs on the executor of visakit.
//!
//! A [`Session`] controls a launch (or a bare routine): it runs to breakpoints, steps by instruction and by source
//! line, and goes back, exactly: groups are deterministic, so that the state at any [`Time`] is what a run from a
//! snapshot reproduces. All state can be read and written. [`Console`] executes text commands, for scripts and for the
//! command lines of front ends.
//!
//! # How it is built
//!
//! `crates/debug` runs groups in pieces under a watcher (`watch.rs`), of kernels and media kernels alike (`target.rs`).
//! `history.rs` has snapshots, which share unchanged pieces, and the log of the user's changes; going back replays them.
//! `exec/src/run/inspect.rs` and `launch/src/control.rs` are all that the executor provides for it.

#![forbid(unsafe_code)]

mod console;
#[cfg(feature = "dap")]
pub mod dap;
mod error;
mod expression;
mod history;
mod listing;
mod order;
mod point;
mod run;
mod session;
mod sources;
mod steps;
mod symbols;
mod target;
#[cfg(feature = "tui")]
pub mod tui;
mod view;
mod watch;

pub use console::{COMMANDS, CommandHelp, Console, Reply};
pub use error::DebugError;
pub use expression::{Expression, Number};
pub use history::Time;
pub use listing::{Listing, Place, RoutineListing, Row, SourceLine};
pub use order::Deed;
pub use point::{Point, PointKind, WatchedSpace};
pub use session::{Session, Step, Stop};
pub use sources::Sources;
pub use symbols::{SourceType, Symbols};
pub use target::{BufferView, Target, WorkItem};
pub use view::{MemorySpace, SourceView, ThreadView, VariableView, state_name};
pub use watch::Accessed;

/// The elements of a type as text.
#[must_use]
pub fn show(bytes: &[u8], data_type: visakit_isa::DataType) -> Vec<String> {
    visakit_launch::value::show(bytes, data_type).collect()
}
