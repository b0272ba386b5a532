//! Where and when to stop the run.

use crate::expression::Expression;
use crate::history::Time;
use crate::listing::Place;
use visakit_exec::{BufferId, VariableSlot};

/// A breakpoint or watchpoint.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its number.
    pub id: u32,
    /// Its condition.
    pub what: PointKind,
    /// Stops only if this is true.
    pub condition: Option<Expression>,
    /// Whether it is active.
    pub enabled: bool,
    /// How often it has stopped the run.
    pub hits: u64,
    /// The text it was created from.
    pub text: String,
}

/// The condition of a [`Point`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PointKind {
    /// One of these instructions is about to run.
    Code(Vec<Place>),
    /// One of these moments is reached, with the findings there.
    Findings(Vec<(Time, String)>),
    /// A variable changes.
    Register {
        /// The variable's routine.
        routine: usize,
        /// Its place.
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
        /// Whether reads trigger it.
        read: bool,
        /// Whether writes trigger it.
        write: bool,
    },
}

/// The memory that is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WatchedSpace {
    /// A buffer, by address or through a surface; places are offsets in it.
    Buffer(BufferId),
    /// Shared local memory.
    Local,
    /// Scratch memory, of one thread or of all.
    Scratch(Option<usize>),
}
