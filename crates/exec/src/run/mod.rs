//! Running a translated program.

pub(crate) mod alu;
pub(crate) mod choice;
pub(crate) mod entry;
mod group;
mod mask;
mod rare;
pub(crate) mod registers;
mod simd;
mod thread;

pub use group::Group;
pub(crate) use registers::Registers;
pub use thread::Thread;

use crate::program::VariableSlot;

/// What a thread has in its registers when it starts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadStart {
    /// The register image: r0 first, then the inputs at their offsets.
    pub image: Vec<u8>,
    /// Lanes that are live.
    pub mask: u32,
    /// `%sr0`.
    pub sr0: [u32; 4],
    /// `%hw_id`.
    pub hw_id: u32,
    /// `%thread_x`.
    pub thread_x: u16,
    /// `%thread_y`.
    pub thread_y: u16,
    /// `%group_id_x` to `%group_id_z`.
    pub group_id: [u32; 3],
    /// `%group_count_x` and `_y` of objects before 3.4.
    pub group_count: [u32; 3],
    /// `%local_id_x` and `_y` of objects before 3.4.
    pub local_id: [u32; 3],
    /// `%local_size_x` and `_y` of objects before 3.4.
    pub local_size: [u32; 3],
    /// First content of `%cr0`.
    pub cr0: u32,
    /// `%color`.
    pub color: u16,
    /// Scratch memory of the thread in bytes.
    pub scratch_bytes: usize,
    /// Variables that are set before the first instruction, with their bytes.
    pub sets: Vec<(VariableSlot, Vec<u8>)>,
}

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

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: u64::MAX,
            max_bytes: 1 << 30,
            max_call_depth: 1000,
        }
    }
}

/// What a run did.
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
