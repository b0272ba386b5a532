//! Signals: states that commands and the host set, reset and wait for. Events and fences of Level Zero are signals.

use crate::context::lock;
use crate::error::Result;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
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

/// A state that is set or not.
#[derive(Debug, Default)]
pub struct Signal {
    ended: Mutex<Option<Ended>>,
    changed: Condvar,
}

impl Signal {
    /// Sets it; whoever waits goes on.
    pub fn set(&self, ended: Ended) {
        *lock(&self.ended) = Some(ended);
        self.changed.notify_all();
    }

    /// Resets it.
    pub fn reset(&self) {
        *lock(&self.ended) = None;
    }

    /// What set it; `None` if nothing has since it was reset.
    pub fn ended(&self) -> Option<Ended> {
        *lock(&self.ended)
    }

    /// Waits until it is set, forever without a limit. `None` if it is not set by then.
    pub fn wait(&self, limit: Option<Duration>) -> Option<Ended> {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut ended = lock(&self.ended);
        loop {
            if ended.is_some() {
                return *ended;
            }
            ended = match end {
                None => self
                    .changed
                    .wait(ended)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(end) => {
                    let left = end.checked_duration_since(Instant::now())?;
                    let waited = self.changed.wait_timeout(ended, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Waits until it is set, or until `gives_up` is, which [`Self::wake`] lets it see.
    pub(crate) fn wait_unless(&self, gives_up: &AtomicBool) -> Option<Ended> {
        let mut ended = lock(&self.ended);
        while ended.is_none() && !gives_up.load(SeqCst) {
            ended = self
                .changed
                .wait(ended)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *ended
    }

    /// Lets those who wait look at what else they wait for.
    pub(crate) fn wake(&self) {
        let _ended = lock(&self.ended);
        self.changed.notify_all();
    }
}
