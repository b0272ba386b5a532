//! Where and when the run is to stop.

use crate::expression::Expression;
use crate::history::Time;
use crate::listing::Place;
use visakit_exec::{BufferId, VariableSlot};

/// A breakpoint or watchpoint.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its number.
    pub id: u32,
    /// What it waits for.
    pub what: PointKind,
    /// Stops only if this is true.
    pub condition: Option<Expression>,
    /// Whether it is in force.
    pub enabled: bool,
    /// How often it has stopped the run.
    pub hits: u64,
    /// What was asked for.
    pub text: String,
}

/// What a [`Point`] waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PointKind {
    /// One of these instructions is about to run.
    Code(Vec<Place>),
    /// One of these moments comes: what checks find there.
    Findings(Vec<(Time, String)>),
    /// A variable changes.
    Register {
        /// The variable's routine.
        routine: usize,
        /// Where it is.
        slot: VariableSlot,
        /// The thread whose variable it is; `None` for any.
        thread: Option<usize>,
    },
    /// Memory is accessed.
    Memory {
        /// Which memory.
        space: WatchedSpace,
        /// First byte.
        at: u64,
        /// Number of bytes.
        bytes: u64,
        /// Whether reads count.
        read: bool,
        /// Whether writes count.
        write: bool,
    },
}

/// Which memory is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WatchedSpace {
    /// A buffer, by address or through a surface; places are offsets in it.
    Buffer(BufferId),
    /// Shared local memory.
    Local,
    /// Scratch memory, of one thread or of all.
    Scratch(Option<usize>),
}
