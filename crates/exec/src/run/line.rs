//! Threads of a group that machine code runs one after the other.
//!
//! Entering machine code costs as much as some tens of instructions, and threads of simple kernels have no more than
//! that. So it is not left between them: each one follows the one that has ended or come to a barrier.

use super::Counters;
use super::group::Turn;
use super::thread::{Pause, Thread, World};
use crate::code::Step;
use crate::native::{Entry, NativeThread};

/// The threads that follow, and what all of them share.
pub(super) struct Line<'a> {
    pub(super) rest: &'a mut [Thread],
    pub(super) steps: &'a [Step],
    pub(super) entries: &'a [Entry],
    pub(super) turn: &'a mut Turn,
    pub(super) counters: &'a mut Counters,
    /// Steps that the group may still run before its caller is asked.
    pub(super) fuel: &'a mut u64,
    pub(super) world: &'a World<'a>,
    /// Steps that were granted to the thread that runs and to those that follow it.
    pub(super) budget: u64,
}

impl<'a> Line<'a> {
    /// Counts what the thread whose turn it is has run, and returns its number.
    pub(super) fn account(&mut self, state: &NativeThread) -> usize {
        let used = state.granted - state.left;
        let all = self.budget - state.budget + used;
        self.counters.instructions += all;
        self.counters.lane_operations += state.lane_operations;
        *self.fuel -= all;
        self.turn.use_up(used);
        self.turn.thread
    }

    /// The thread that follows, whose turn it is now.
    pub(super) fn following(&mut self) -> Option<&'a mut Thread> {
        let (next, rest) = std::mem::take(&mut self.rest).split_first_mut()?;
        self.rest = rest;
        *self.turn = Turn::of(self.turn.thread + 1, true);
        Some(next)
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
        self.account(state);
        (state.granted, state.lane_operations) = (state.left, 0);
        self.budget = state.budget;
        if !stops {
            return None;
        }
        let Some(next) = self.following() else {
            *self.turn = Turn::of(self.turn.thread + 1, true);
            return None;
        };
        let may = next.pause == Pause::None && !self.world.interrupted();
        let granted = may.then(|| self.world.grant(self.turn, *self.fuel, self.counters))?;
        *state = next.native(self.entries, granted)?;
        state.budget = self.world.budget(*self.fuel, self.counters);
        self.budget = state.budget;
        Some(next)
    }
}
