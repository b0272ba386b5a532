//! Running a translated program.

mod common;
mod group;
mod host;
mod inspect;
mod interrupt;
mod line;
mod mask;
mod prepare;
mod rare;
mod thread;
mod waiting;

pub use group::{Group, Progress};
pub use inspect::{CallFrame, Position, ThreadState};
pub use interrupt::Interrupt;
pub use prepare::HeaderDwords;
pub use thread::Thread;

/// Bounds of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Instructions of all threads of a group together.
    pub max_steps: u64,
    /// Registers, saved frames, SLM and scratch of a group in bytes.
    pub max_bytes: u64,
    /// Nested calls of a thread.
    pub max_call_depth: usize,
}

impl Limits {
    /// Default limit of a group's instructions: ten times what the units that share local memory of the
    /// largest devices execute before drivers reset them, and hours of interpretation.
    pub const MAX_STEPS: u64 = 1_000_000_000_000;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: Self::MAX_STEPS,
            max_bytes: 1 << 30,
            max_call_depth: 1000,
        }
    }
}

/// The counts of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Instructions, whatever their execution size.
    pub instructions: u64,
    /// Enabled lanes of all of them.
    pub lane_operations: u64,
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.lane_operations = self.lane_operations.saturating_add(other.lane_operations);
    }
}
