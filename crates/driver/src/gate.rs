//! The order of streams of a device by how urgent their commands are.

use crate::sync::{Condvar, Mutex, lock};
use std::fmt;
use std::sync::PoisonError;
use std::time::Duration;

/// How urgent the commands of a stream are: those that are ready run before ready ones of less urgent streams of the device.
/// What runs is not interrupted.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Priority {
    /// After all others.
    Low,
    /// The usual one.
    #[default]
    Normal,
    /// Before all others.
    High,
}

#[derive(Default)]
struct State {
    /// Streams with commands that are ready or run, by their priorities.
    active: [usize; 3],
    /// Commands that have ended.
    ended: u64,
    /// More urgent ones make no progress: they may wait for others.
    is_stuck: bool,
}

impl State {
    fn is_closed(&self, priority: Priority) -> bool {
        let more_urgent = self.active.iter().skip(priority as usize + 1);
        !self.is_stuck && more_urgent.sum::<usize>() > 0
    }
}

/// Where commands of a device wait for more urgent ones.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    opened: Condvar,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

impl Gate {
    /// A command is ready.
    pub(crate) fn enter(&self, priority: Priority) {
        if let Some(active) = lock(&self.state).active.get_mut(priority as usize) {
            *active += 1;
        }
    }

    /// Waits as long as more urgent commands are ready or run, unless none of them ends for as long as the `patience` lasts:
    /// it may be that they wait for this one, in their kernels.
    pub(crate) fn pass(&self, priority: Priority, patience: Duration) {
        let mut state = lock(&self.state);
        while state.is_closed(priority) {
            let before = state.ended;
            let waited = self.opened.wait_timeout(state, patience);
            let (now, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = now;
            if waited.timed_out() && state.ended == before {
                state.is_stuck = true;
                self.opened.notify_all();
            }
        }
    }

    /// A command has ended; it was the last one that was ready if the stream `is_quiet`.
    pub(crate) fn leave(&self, priority: Priority, is_quiet: bool) {
        let mut state = lock(&self.state);
        state.ended += 1;
        if is_quiet && let Some(active) = state.active.get_mut(priority as usize) {
            *active = active.saturating_sub(1);
            if *active == 0 {
                state.is_stuck = false;
                self.opened.notify_all();
            }
        }
    }
}
