//! Signals: states that commands and the host set, reset and wait for. Events of OpenCL and Level Zero, and fences, are
//! signals.

use crate::error::Result;
use crate::gate::Priority;
use crate::sync::{Condvar, Mutex, lock};
use std::cmp::Reverse;
use std::fmt;
use std::sync::{OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// When a command ran, in nanoseconds of the device's clock.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Times {
    /// Its start.
    pub started: u64,
    /// Its end.
    pub ended: u64,
}

/// What a command left behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Whether it succeeded.
    pub result: Result<()>,
    /// When it ran.
    pub times: Times,
}

/// How far the command is that sets a signal.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It does not run yet, or there is none.
    #[default]
    Waits,
    /// It runs.
    Runs,
    /// It has ended: the signal is set.
    Ended(Ended),
}

impl Progress {
    /// What set the signal, if it is set.
    #[must_use]
    pub const fn ended(self) -> Option<Ended> {
        match self {
            Self::Ended(ended) => Some(ended),
            Self::Waits | Self::Runs => None,
        }
    }
}

/// Called once with the progress that was made.
type Call = Box<dyn FnOnce(Progress) + Send>;

#[derive(Default)]
struct State {
    progress: Progress,
    /// To be called when the command runs, or does not come to that.
    at_start: Vec<Call>,
    /// To be called when the signal is set, more urgent ones first.
    at_end: Vec<(Priority, Call)>,
    /// Threads that wait for it.
    waiting: usize,
}

/// Told of the changes of a signal.
type Watch = Box<dyn Fn(Progress) + Send + Sync>;

/// A state that is set or not.
#[derive(Default)]
pub struct Signal {
    state: Mutex<State>,
    changed: Condvar,
    watch: OnceLock<Watch>,
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signal").field(&self.progress()).finish()
    }
}

impl Signal {
    /// Sets it; whoever waits goes on.
    pub fn set(&self, ended: Ended) {
        self.reach(|_| Some(Progress::Ended(ended)), true);
    }

    /// Sets it unless it is set; whether it did.
    pub fn set_first(&self, ended: Ended) -> bool {
        self.reach(
            |now| now.ended().is_none().then_some(Progress::Ended(ended)),
            true,
        )
    }

    /// Its command runs from now on.
    pub(crate) fn start(&self) {
        self.reach(
            |now| (now == Progress::Waits).then_some(Progress::Runs),
            true,
        );
    }

    /// Tells something of each change from now on, also when it is reset, and of the present state if `at_once`. Changes
    /// wait until it returns. The first that is given stays.
    pub fn watch(&self, at_once: bool, watch: impl Fn(Progress) + Send + Sync + 'static) {
        let state = lock(&self.state);
        if at_once {
            watch(state.progress);
        }
        let _ = self.watch.set(Box::new(watch));
    }

    /// Changes it as somebody else has decided, who need not be told.
    pub fn follow(&self, news: impl FnOnce() -> Option<Progress>) {
        self.reach(|_| news(), false);
    }

    /// Makes the progress that is wanted, if any; whether there was some.
    fn reach(&self, wanted: impl FnOnce(Progress) -> Option<Progress>, is_told: bool) -> bool {
        let mut state = lock(&self.state);
        let Some(progress) = wanted(state.progress) else {
            return false;
        };
        state.progress = progress;
        if let Some(watch) = self.watch.get().filter(|_| is_told) {
            watch(progress);
        }
        if progress == Progress::Waits {
            return true;
        }
        let mut calls = std::mem::take(&mut state.at_start);
        if progress.ended().is_some() {
            let mut at_end = std::mem::take(&mut state.at_end);
            at_end.sort_by_key(|(priority, _)| Reverse(*priority));
            calls.extend(at_end.into_iter().map(|(_, call)| call));
            if state.waiting > 0 {
                self.changed.notify_all();
            }
        }
        drop(state);
        calls.into_iter().for_each(|call| call(progress));
        true
    }

    /// Resets it.
    pub fn reset(&self) {
        self.reach(|_| Some(Progress::Waits), true);
    }

    /// How far its command is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        lock(&self.state).progress
    }

    /// What set it; `None` if nothing has since it was reset.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.progress().ended()
    }

    /// Calls something when its command runs or has failed before; at once if that is so.
    pub(crate) fn at_start(&self, call: impl FnOnce(Progress) + Send + 'static) {
        let mut state = lock(&self.state);
        let now = state.progress;
        if now == Progress::Waits {
            state.at_start.push(Box::new(call));
            return;
        }
        drop(state);
        call(now);
    }

    /// Calls something when it is set; at once if it is.
    pub(crate) fn at_end(&self, priority: Priority, call: impl FnOnce(Ended) + Send + 'static) {
        let mut state = lock(&self.state);
        let Some(ended) = state.progress.ended() else {
            let call = |now: Progress| {
                if let Some(ended) = now.ended() {
                    call(ended);
                }
            };
            state.at_end.push((priority, Box::new(call)));
            return;
        };
        drop(state);
        call(ended);
    }

    /// Waits until it is set, forever without a limit. `None` if it is not set by then.
    pub fn wait(&self, limit: Option<Duration>) -> Option<Ended> {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut state = lock(&self.state);
        state.waiting += 1;
        let ended = loop {
            if let Some(ended) = state.progress.ended() {
                break Some(ended);
            }
            state = match end {
                None => self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(end) => {
                    let Some(left) = end.checked_duration_since(Instant::now()) else {
                        break None;
                    };
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        };
        state.waiting -= 1;
        ended
    }
}
