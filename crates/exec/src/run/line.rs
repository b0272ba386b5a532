//! Threads of a group that machine code runs one after the other.
//!
//! Entering machine code costs as much as some tens of instructions, and threads of simple kernels have no more than
//! that. So it is not left between them: each one follows the one that has ended or come to a barrier.

use super::Counters;
use super::group::Turn;
use super::thread::{Pause, Thread, World};
use crate::code::Step;
use crate::native::{Entry, NativeThread};
use std::slice::IterMut;

/// The threads that follow, and what all of them share.
pub(super) struct Line<'a> {
    pub(super) rest: IterMut<'a, Thread>,
    pub(super) steps: &'a [Step],
    pub(super) entries: &'a [Entry],
    pub(super) turn: &'a mut Turn,
    pub(super) counters: &'a mut Counters,
    /// Steps that the group may still run before its caller is asked.
    pub(super) fuel: &'a mut u64,
    pub(super) world: &'a World<'a>,
    /// Steps that were granted to the thread that runs.
    pub(super) granted: u64,
}

impl<'a> Line<'a> {
    /// Counts what the thread whose turn it is has run, and returns its number.
    pub(super) fn account(&mut self, state: &NativeThread) -> usize {
        let used = self.granted - state.left;
        self.granted = state.left;
        self.counters.instructions += used;
        self.counters.lane_operations += state.lane_operations;
        *self.fuel -= used;
        self.turn.use_up(used);
        self.turn.thread
    }

    /// The thread that follows one that machine code has left in this state, and its own state. `None` where the
    /// interpreter has to decide, or to run something.
    pub(super) fn next(
        &mut self,
        thread: &mut Thread,
        state: &mut NativeThread,
    ) -> Option<&'a mut Thread> {
        (thread.pc, thread.running) = (state.place, state.running);
        let stops = state.left != 0
            && self
                .steps
                .get(thread.pc)
                .is_some_and(|step| thread.stops(step));
        if thread.pause != Pause::Ended {
            thread.leave_mode(state);
        }
        if stops {
            state.left -= 1;
            state.lane_operations += 1;
        }
        let number = self.account(state);
        state.lane_operations = 0;
        if !stops {
            return None;
        }
        *self.turn = Turn::of(number + 1, true);
        let next = self.rest.next()?;
        let may = next.pause == Pause::None && !self.world.interrupted();
        let granted = may.then(|| self.world.grant(self.turn, *self.fuel, self.counters))?;
        *state = next.native(self.entries, granted)?;
        self.granted = granted;
        Some(next)
    }
}
