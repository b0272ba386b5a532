//! Streams: commands that run one after the other in a thread of the driver.
//!
//! Who puts commands into a stream goes on at once. A command starts when those before it have ended and its signals are
//! set; then the stream sets the command's own signal. The thread begins with the first command, and ends when there has
//! been none for a while.

use crate::context::lock;
use crate::device::Device;
use crate::error::{Code, Result, fail};
use crate::event::now;
use crate::queue::simulates;
use crate::signal::{Ended, Signal, Times};
use opencl_sys as cl;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How long a thread stays without commands.
const REST: Duration = Duration::from_millis(200);

/// Bytes of a thread's stack: those of a program's first thread.
const STACK: usize = 8 << 20;

/// The action of a command. It says how many nanoseconds it took on the device, if that is known.
pub type Action = Arc<dyn Fn() -> (Result<()>, Option<f64>) + Send + Sync>;

/// A command.
#[derive(Clone, Default)]
pub struct Command {
    /// What it waits for.
    pub waits: Vec<Arc<Signal>>,
    /// What it does, if anything.
    pub action: Option<Action>,
    /// What it sets when it has ended.
    pub sets: Option<Arc<Signal>>,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Command");
        out.field("waits", &self.waits.len())
            .field("sets", &self.sets.is_some())
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct State {
    commands: VecDeque<Command>,
    /// Whether a command runs or waits for its signals.
    is_busy: bool,
    has_thread: bool,
    /// What the command that comes next waits for.
    blocked: Option<Arc<Signal>>,
    /// The first error since the stream was last waited for.
    fault: Option<Code>,
}

#[derive(Debug)]
struct Shared {
    device: Arc<Device>,
    state: Mutex<State>,
    /// Commands came, or there are none left.
    changed: Condvar,
    /// Nobody has the stream any more: what waits for a signal is given up.
    is_left: AtomicBool,
}

/// Commands that run one after the other.
#[derive(Debug)]
pub struct Stream(Arc<Shared>);

impl Stream {
    /// A stream of a device.
    #[must_use]
    pub fn new(device: &Arc<Device>) -> Self {
        Self(Arc::new(Shared {
            device: Arc::clone(device),
            state: Mutex::default(),
            changed: Condvar::new(),
            is_left: AtomicBool::new(false),
        }))
    }

    /// Puts commands at its end.
    pub fn push(&self, commands: impl IntoIterator<Item = Command>) {
        let shared = &self.0;
        let mut state = lock(&shared.state);
        state.commands.extend(commands);
        shared.changed.notify_all();
        if state.has_thread || state.commands.is_empty() {
            return;
        }
        state.has_thread = true;
        let theirs = Arc::clone(shared);
        let made = Builder::new().name("visakit".into()).stack_size(STACK);
        if made.spawn(move || theirs.work(REST)).is_err() {
            // There are no more threads: the commands run here.
            drop(state);
            shared.work(Duration::ZERO);
        }
    }

    /// Whether all commands have ended.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let state = lock(&self.0.state);
        state.commands.is_empty() && !state.is_busy
    }

    /// Waits until all commands have ended, forever without a limit; `None` if they have not by then.
    ///
    /// # Errors
    /// That of a command that failed since the last time.
    pub fn wait(&self, limit: Option<Duration>) -> Option<Result<()>> {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut state = lock(&self.0.state);
        while state.is_busy || !state.commands.is_empty() {
            let changed = &self.0.changed;
            state = match end {
                None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(end) => {
                    let left = end.checked_duration_since(Instant::now())?;
                    let waited = changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        Some(state.fault.take().map_or(Ok(()), Err))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.is_left.store(true, SeqCst);
        let blocked = lock(&self.0.state).blocked.clone();
        if let Some(signal) = blocked {
            signal.wake();
        }
        self.0.changed.notify_all();
    }
}

impl Shared {
    /// Runs commands until there has been none for a while.
    fn work(&self, rest: Duration) {
        while let Some(command) = self.next(rest) {
            let done = self.run(&command);
            let mut state = lock(&self.state);
            if let Err(code) = done {
                state.fault.get_or_insert(code);
            }
            state.is_busy = false;
            drop(state);
            self.changed.notify_all();
        }
    }

    fn next(&self, rest: Duration) -> Option<Command> {
        let end = Instant::now() + rest;
        let mut state = lock(&self.state);
        loop {
            if let Some(command) = state.commands.pop_front() {
                state.is_busy = true;
                return Some(command);
            }
            let left = end.checked_duration_since(Instant::now());
            let Some(left) = left.filter(|_| !self.is_left.load(SeqCst)) else {
                state.has_thread = false;
                return None;
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits for a signal; an error if what should set it failed, or nobody is interested any more.
    fn await_signal(&self, signal: &Arc<Signal>) -> Result<()> {
        lock(&self.state).blocked = Some(Arc::clone(signal));
        let ended = signal.wait_unless(&self.is_left);
        lock(&self.state).blocked = None;
        ended.map_or(fail(cl::CL_INVALID_EVENT), |ended| ended.result)
    }

    fn run(&self, command: &Command) -> Result<()> {
        let waited = command.waits.iter().try_for_each(|s| self.await_signal(s));
        let (started, began) = (self.device.clock(), now());
        let act = || {
            let action = command.action.as_ref();
            action.map_or((Ok(()), None), |action| action())
        };
        let (result, nanoseconds) = match waited {
            // A defect of ours must not leave the host waiting forever.
            Ok(()) => {
                catch_unwind(AssertUnwindSafe(act)).unwrap_or((fail(cl::CL_OUT_OF_RESOURCES), None))
            }
            Err(code) => (Err(code), None),
        };
        if let Some(signal) = &command.sets {
            let times = self.times(started, now().saturating_sub(began), nanoseconds);
            signal.set(Ended { result, times });
        }
        result
    }

    /// When a command ran that took this long on the host.
    fn times(&self, started: u64, on_host: u64, nanoseconds: Option<f64>) -> Times {
        let taken = nanoseconds.map_or(on_host, whole);
        let (started, ended) = if simulates() {
            self.device.occupy(started, taken)
        } else {
            (started, started.saturating_add(on_host))
        };
        Times { started, ended }
    }
}

/// Whole nanoseconds; a command that has run has taken some time.
pub(crate) fn whole(nanoseconds: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number; conversions to integers saturate"
    )]
    let whole = nanoseconds.ceil() as u64;
    whole.max(1)
}
