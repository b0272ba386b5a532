//! Threads of a group that machine code runs one after the other.
//!
//! Entering machine code costs as much as some tens of instructions, and threads of simple kernels have no more than
//! that. So it is not left between them: each one follows the one that has ended or come to a barrier.

use super::Counters;
use super::group::Turn;
use super::prepare::Repeat;
use super::thread::{Pause, Thread, World};
use crate::code::Step;
use crate::native::{Entry, NativeThread};

/// What threads that follow each other share.
pub(super) struct Line<'a> {
    pub(super) steps: &'a [Step],
    pub(super) entries: &'a [Entry],
    pub(super) turn: &'a mut Turn,
    pub(super) counters: &'a mut Counters,
    /// Steps that the group may still run before its caller is asked.
    pub(super) fuel: &'a mut u64,
    pub(super) world: &'a World<'a>,
    /// What [`NativeThread::left`] was when the steps were last counted, with what the thread had run before its turn.
    pub(super) left: u64,
    /// The counts of groups before this one.
    pub(super) earlier: &'a mut Counters,
    /// Whether the state of threads may differ from that at their start, apart from their register files.
    pub(super) changed: bool,
    /// What is needed to go on with another group, if that is possible.
    pub(super) repeat: Option<Repeat<'a>>,
}

impl Line<'_> {
    /// Counts what the thread whose turn it is has run, and those that it has followed, and returns its number.
    pub(super) fn account(&mut self, state: &NativeThread) -> usize {
        let used = std::mem::replace(&mut self.left, state.left) - state.left;
        self.counters.instructions += used;
        *self.fuel -= used;
        self.counters.lane_operations += state.lane_operations;
        self.turn.use_up(state.granted - state.left);
        self.turn.thread
    }

    /// Goes on to the next thread, if there is one.
    pub(super) fn follow(&mut self, threads: &[Thread], at: &mut usize) -> bool {
        *self.turn = Turn::of(self.turn.thread + 1, true);
        let follows = *at + 1 < threads.len();
        *at += usize::from(follows);
        follows
    }

    /// Goes on to another group; see [`Host::again`](crate::Host::again).
    pub(super) fn again(&mut self, threads: &mut [Thread], left: u64) -> Option<&[(usize, u32)]> {
        let repeat = self.repeat.as_mut()?;
        let writes = repeat.start(threads, &mut self.changed)?;
        let used = std::mem::replace(&mut self.left, left) - left;
        self.counters.instructions += used;
        *self.fuel -= used;
        *self.earlier += std::mem::take(self.counters);
        *self.turn = Turn::of(0, true);
        Some(writes)
    }

    /// Goes on from a thread that machine code has left in this state to the next one, and sets its state. False where the
    /// interpreter has to decide, or to run something.
    pub(super) fn next(
        &mut self,
        threads: &mut [Thread],
        at: &mut usize,
        state: &mut NativeThread,
    ) -> bool {
        // The threads are no longer as machine code would leave them.
        self.repeat = None;
        let Some(thread) = threads.get_mut(*at) else {
            return false;
        };
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
        if !stops || !self.follow(threads, at) {
            return false;
        }
        let next = threads
            .get_mut(*at)
            .filter(|next| next.pause == Pause::None);
        let Some(next) = next.filter(|_| !self.world.interrupted()) else {
            return false;
        };
        let granted = self.world.grant(self.turn, *self.fuel, self.counters);
        let Some(next) = next.native(self.entries, granted) else {
            return false;
        };
        *state = next;
        self.left = state.granted;
        true
    }
}
