//! Launches controlled from outside, group by group, for debuggers.

use crate::error::LaunchError;
use crate::kernel::{Prepared, Team};
use crate::payload::local_id;
use crate::zeinfo::ArgInfo;
use visakit_exec::{BufferId, Group, Limits};

impl Prepared {
    /// A group of the grid, by its number, before its first instruction. All groups that are started this way use the
    /// same private memory: one after the other, as [`Self::run_observed`] has them.
    ///
    /// # Errors
    /// [`LaunchError::Fault`] for a group that takes more memory than it may.
    pub fn start(&self, number: u64, limits: &Limits) -> Result<Group, LaunchError> {
        Team::new(self, 0).started(number, limits)
    }

    /// Names and types of the arguments, if the compiler wrote them down.
    #[must_use]
    pub fn args_info(&self) -> &[ArgInfo] {
        &self.args_info
    }

    /// Local id of the work-item that a lane of a thread is, in a group of that size.
    #[must_use]
    pub fn local_id(&self, size: [u32; 3], thread: u32, lane: u32) -> [u32; 3] {
        let number = thread.saturating_mul(self.layout.simd).saturating_add(lane);
        local_id(number, size, self.walk)
    }

    /// The buffer or image of each argument, `None` for other arguments.
    #[must_use]
    pub fn argument_buffers(&self) -> &[Option<BufferId>] {
        &self.bound.buffers
    }
}
