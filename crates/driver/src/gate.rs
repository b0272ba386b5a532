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

/// Commands of one priority.
#[derive(Default)]
struct Level {
    /// Streams with commands that are ready or run.
    active: usize,
    /// Commands that have ended.
    ended: u64,
    /// They make no progress: they may wait for others, and hold nobody up until one of them ends.
    is_stuck: bool,
}

impl Level {
    const fn holds_up(&self) -> bool {
        self.active > 0 && !self.is_stuck
    }
}

#[derive(Default)]
struct State([Level; 3]);

impl State {
    fn level(&mut self, priority: Priority) -> Option<&mut Level> {
        self.0.get_mut(priority as usize)
    }

    /// What is more urgent.
    fn above(&mut self, priority: Priority) -> impl Iterator<Item = &mut Level> {
        self.0.iter_mut().skip(priority as usize + 1)
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
        if let Some(level) = lock(&self.state).level(priority) {
            level.active += 1;
        }
    }

    /// Waits as long as more urgent commands are ready or run, unless none of a priority ends for as long as the `patience`
    /// lasts: it may be that they wait for this one, in their kernels.
    pub(crate) fn pass(&self, priority: Priority, patience: Duration) {
        let mut state = lock(&self.state);
        while state.above(priority).any(|level| level.holds_up()) {
            let before: Vec<u64> = state.above(priority).map(|level| level.ended).collect();
            let waited = self.opened.wait_timeout(state, patience);
            let (now, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = now;
            if waited.timed_out() {
                for (level, before) in state.above(priority).zip(before) {
                    level.is_stuck |= level.active > 0 && level.ended == before;
                }
                self.opened.notify_all();
            }
        }
    }

    /// A command has ended; it was the last one that was ready if the stream `is_quiet`.
    pub(crate) fn leave(&self, priority: Priority, is_quiet: bool) {
        let mut state = lock(&self.state);
        let Some(level) = state.level(priority) else {
            return;
        };
        level.ended += 1;
        level.is_stuck = false;
        if is_quiet {
            level.active = level.active.saturating_sub(1);
            if level.active == 0 {
                self.opened.notify_all();
            }
        }
    }
}
