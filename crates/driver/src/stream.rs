//! Streams: commands that run in a thread of the driver, in the order in which they came or as soon as they can.
//!
//! Who puts commands into a stream goes on at once. A command is ready when the signals that it waits for are set and, in a
//! stream with an order, those before it have ended; no thread waits for that. Ready commands run one after the other. Then
//! the stream sets the command's own signal.

use crate::context;
use crate::device::Device;
use crate::error::{Code, Result, fail};
use crate::event::now;
use crate::gate::Priority;
use crate::queue::simulates;
use crate::signal::{Ended, Signal, Times};
use crate::sync::{AtomicUsize, Builder, Condvar, Mutex, MutexGuard, lock};
use crate::worker::Worker;
use opencl_sys as cl;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::AcqRel;
use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Commands that a stream may have before who puts in more is held up: a program that never waits must not fill memory with
/// commands, and with what they hold.
const AHEAD: usize = 1024;

/// How long nobody is held up longer by a stream that makes no progress: its command may wait for who puts in more.
const STALL: Duration = Duration::from_secs(1);

/// The action of a command. It says how many nanoseconds it took on the device, if that is known.
pub type Action = Arc<dyn Fn() -> (Result<()>, Option<f64>) + Send + Sync>;

/// An action that does not say how long it takes.
pub fn action(act: impl Fn() -> Result<()> + Send + Sync + 'static) -> Action {
    Arc::new(move || (act(), None))
}

/// A command.
#[derive(Clone, Default)]
pub struct Command {
    /// What it waits for. It does not run if that failed.
    pub waits: Vec<Arc<Signal>>,
    /// What it waits for, whatever becomes of that.
    pub after: Vec<Arc<Signal>>,
    /// Its error if something it waits for failed, which is no failure of the stream then. Without one, it has the error of
    /// that.
    pub refused: Option<Code>,
    /// What it does, if anything.
    pub action: Option<Action>,
    /// What it sets when it has ended.
    pub sets: Option<Arc<Signal>>,
}

impl Command {
    const fn has_to_wait(&self) -> bool {
        !(self.waits.is_empty() && self.after.is_empty())
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Command");
        out.field("waits", &self.waits.len())
            .field("after", &self.after.len())
            .field("sets", &self.sets.is_some())
            .finish_non_exhaustive()
    }
}

/// A command that waits for its signals, which hold it.
struct Pending {
    /// Signals that are not set.
    left: AtomicUsize,
    /// The error of the first that failed.
    failed: OnceLock<Code>,
    stream: Arc<Shared>,
    command: Mutex<Option<Command>>,
}

impl Pending {
    /// One of the signals is set, or will never be.
    fn arrive(&self) {
        if self.left.fetch_sub(1, AcqRel) == 1
            && let Some(command) = lock(&self.command).take()
        {
            self.stream.ready(command, self.failed.get().copied());
        }
    }
}

/// A signal that a pending command waits for.
struct Arrival {
    pending: Arc<Pending>,
    /// Whether the command fails where the signal does.
    matters: bool,
    result: Result<()>,
}

impl Arrival {
    fn new(pending: &Arc<Pending>, matters: bool) -> Self {
        Self {
            pending: Arc::clone(pending),
            matters,
            // Nothing can set a signal that nobody has any more: then neither those who wait for the command nor those after
            // it are held up for ever.
            result: fail(cl::CL_OUT_OF_RESOURCES),
        }
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        if let (Err(code), true) = (self.result, self.matters) {
            let _ = self.pending.failed.set(code);
        }
        self.pending.arrive();
    }
}

#[derive(Debug, Default)]
struct State {
    /// In a stream with an order: those that come after the current one.
    later: VecDeque<Command>,
    /// Whether a stream with an order has a current command.
    has_current: bool,
    /// Commands that have not ended.
    open: usize,
    /// Those of them that are ready or run.
    active: usize,
    /// How many have ended.
    ended: u64,
    /// Threads that are held up.
    held: usize,
    /// The first error since the stream was last waited for.
    fault: Option<Code>,
}

struct Shared {
    device: Arc<Device>,
    priority: Priority,
    is_ordered: bool,
    worker: Worker,
    state: Mutex<State>,
    /// No command is left, or none is ready.
    quiet: Condvar,
    /// Those who are held up may go on.
    room: Condvar,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Shared");
        out.field("state", &self.state).finish_non_exhaustive()
    }
}

/// The streams of the process.
static ALL: std::sync::Mutex<Vec<Weak<Shared>>> = std::sync::Mutex::new(Vec::new());

fn all() -> Vec<Arc<Shared>> {
    context::lock(&ALL)
        .iter()
        .filter_map(Weak::upgrade)
        .collect()
}

/// Waits until each stream of the process has had no commands, whatever their results are.
fn wait_for(streams: &[Arc<Shared>]) {
    for stream in streams {
        let _ = stream.wait(None, |state| state.open == 0);
    }
}

/// Waits until each stream of a device has had no commands.
///
/// # Errors
/// That of a command that failed and of which nobody was told yet.
pub fn wait_for_device(device: &Arc<Device>) -> Result<()> {
    let mut result = Ok(());
    for stream in all() {
        if Arc::ptr_eq(&stream.device, device) {
            result = result.and(Stream(stream).wait(None).unwrap_or(Ok(())));
        }
    }
    result
}

/// Calls something when each stream of the process has had no commands: at once if none has any. Otherwise the call returns
/// before, unless it `blocks`.
pub fn when_idle(blocks: bool, call: impl FnOnce() + Send + 'static) {
    let busy = |stream: &Arc<Shared>| lock(&stream.state).open > 0;
    let busy: Vec<_> = all().into_iter().filter(busy).collect();
    if blocks || busy.is_empty() {
        wait_for(&busy);
        return call();
    }
    let later = move || {
        wait_for(&busy);
        call();
    };
    // If there are no more threads, it is not called: what it would have freed stays.
    let _ = Builder::new().name("visakit".into()).spawn(later);
}

/// Waits until no stream of the process has a command that is ready or runs; whether that is so. It is given up when no
/// command has ended for as long as the `patience` lasts, and in a process that was forked, which has no threads.
pub(crate) fn settle(patience: Duration) -> bool {
    loop {
        // What ends may make commands of other streams ready.
        let count = |stream: &Arc<Shared>| lock(&stream.state).ended;
        let before: u64 = all().iter().map(count).sum();
        let busy =
            |stream: &Arc<Shared>| lock(&stream.state).active > 0 && stream.worker.has_thread();
        let Some(busy) = all().into_iter().find(busy) else {
            return true;
        };
        let settled = busy.wait(Some(patience), |state| state.active == 0);
        if settled.is_none() && all().iter().map(count).sum::<u64>() == before {
            return false;
        }
    }
}

/// Commands of a device.
#[derive(Debug)]
pub struct Stream(Arc<Shared>);

impl Stream {
    /// A stream of a device whose commands run one after the other.
    #[must_use]
    pub fn new(device: &Arc<Device>) -> Self {
        Self::with(device, Priority::default(), true)
    }

    /// A stream of a device, whose commands run one after the other if it `is_ordered`, and otherwise whenever they can.
    #[must_use]
    pub fn with(device: &Arc<Device>, priority: Priority, is_ordered: bool) -> Self {
        crate::watch::prepare();
        let shared = Arc::new(Shared {
            device: Arc::clone(device),
            priority,
            is_ordered,
            worker: Worker::default(),
            state: Mutex::default(),
            quiet: Condvar::new(),
            room: Condvar::new(),
        });
        let mut all = context::lock(&ALL);
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(&shared));
        Self(shared)
    }

    /// Puts commands at its end.
    pub fn push(&self, commands: impl IntoIterator<Item = Command>) {
        let shared = &self.0;
        let mut commands: VecDeque<Command> = commands.into_iter().collect();
        let mut state = shared.with_room();
        state.open += commands.len();
        if shared.is_ordered {
            state.later.append(&mut commands);
            if state.has_current {
                return;
            }
            commands.extend(state.later.pop_front());
            state.has_current = !commands.is_empty();
        }
        drop(state);
        commands
            .into_iter()
            .for_each(|command| shared.begin(command));
    }

    /// Whether all commands have ended.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        lock(&self.0.state).open == 0
    }

    /// Waits until all commands have ended, or until none has for as long as the `patience` lasts, as one may wait for who
    /// calls; not as long if none of them runs, but waits for a signal. What failed is told by [`Self::wait`].
    pub fn catch_up(&self, patience: Duration) {
        let now = || {
            let state = lock(&self.0.state);
            (state.ended, state.active > 0)
        };
        loop {
            let before @ (_, runs) = now();
            let limit = if runs { patience } else { STALL };
            let wanted = |state: &State| state.open == 0 || runs && state.active == 0;
            let stopped = self.0.wait(Some(limit), wanted).is_none();
            if self.is_idle() || stopped && now() == before {
                return;
            }
        }
    }

    /// Waits until all commands have ended, forever without a limit; `None` if they have not by then.
    ///
    /// # Errors
    /// That of a command that failed since the last time.
    pub fn wait(&self, limit: Option<Duration>) -> Option<Result<()>> {
        let mut state = self.0.wait(limit, |state| state.open == 0)?;
        Some(state.fault.take().map_or(Ok(()), Err))
    }
}

impl Shared {
    /// Waits until it has the state that is wanted, which it reaches when there are no commands left, or none is ready.
    fn wait(
        &self,
        limit: Option<Duration>,
        wanted: impl Fn(&State) -> bool,
    ) -> Option<MutexGuard<'_, State>> {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut state = lock(&self.state);
        while !wanted(&state) {
            state = match end {
                None => self
                    .quiet
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(end) => {
                    let left = end.checked_duration_since(Instant::now())?;
                    let waited = self.quiet.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        Some(state)
    }

    /// Its state when there is room for more commands, or waiting for room does not help.
    fn with_room(&self) -> MutexGuard<'_, State> {
        let mut state = lock(&self.state);
        while state.open > AHEAD && state.active > 0 {
            let before = state.ended;
            state.held += 1;
            let waited = self.room.wait_timeout(state, STALL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.held -= 1;
            if state.ended == before {
                break;
            }
        }
        state
    }

    /// Lets a command wait for its signals.
    fn begin(self: &Arc<Self>, mut command: Command) {
        if !command.has_to_wait() {
            return self.ready(command, None);
        }
        let waits = std::mem::take(&mut command.waits);
        let after = std::mem::take(&mut command.after);
        let pending = Arc::new(Pending {
            left: AtomicUsize::new(waits.len() + after.len() + 1),
            failed: OnceLock::new(),
            stream: Arc::clone(self),
            command: Mutex::new(Some(command)),
        });
        let matters = waits.iter().map(|signal| (signal, true));
        for (signal, matters) in matters.chain(after.iter().map(|signal| (signal, false))) {
            let arrival = Arrival::new(&pending, matters);
            signal.at_end(self.priority, move |ended| {
                let mut arrival = arrival;
                arrival.result = ended.result;
            });
        }
        pending.arrive();
    }

    /// A command waits for nothing any more. `failed` is the error of what it waited for.
    fn ready(self: &Arc<Self>, command: Command, failed: Option<Code>) {
        lock(&self.state).active += 1;
        self.device.gate.enter(self.priority);
        let stream = Arc::clone(self);
        self.worker.push(Box::new(move || {
            let mut next = Some((command, failed));
            while let Some((command, failed)) = next {
                stream.device.gate.pass(stream.priority, STALL);
                let fault = stream.run(command, failed);
                next = stream.go_on(fault).map(|command| (command, None));
            }
        }));
    }

    /// Runs a command. Returns its error if that is one of the stream.
    fn run(&self, command: Command, failed: Option<Code>) -> Option<Code> {
        let Command {
            refused,
            action,
            sets,
            ..
        } = command;
        let (started, began) = (self.device.clock(), now());
        let (result, nanoseconds) = match failed {
            Some(code) => (Err(refused.unwrap_or(code)), None),
            None => {
                if let Some(signal) = &sets {
                    signal.start();
                }
                let act = || action.as_ref().map_or((Ok(()), None), |action| action());
                // A defect of ours must not leave the host waiting forever.
                let done = catch_unwind(AssertUnwindSafe(act));
                done.unwrap_or((fail(cl::CL_OUT_OF_RESOURCES), None))
            }
        };
        // Who waits may rely on it that the command holds nothing any more.
        drop(action);
        if let Some(signal) = sets {
            let times = self.times(started, now().saturating_sub(began), nanoseconds);
            signal.set(Ended { result, times });
        }
        let is_told = failed.is_some() && refused.is_some();
        result.err().filter(|_| !is_told)
    }

    /// A command has ended. Returns the next one of the order if it has nothing to wait for.
    fn go_on(self: &Arc<Self>, fault: Option<Code>) -> Option<Command> {
        let mut state = lock(&self.state);
        state.ended += 1;
        state.open = state.open.saturating_sub(1);
        state.fault = state.fault.or(fault);
        if state.held > 0 && state.open <= AHEAD / 2 {
            self.room.notify_all();
        }
        if self.is_ordered {
            let next = state.later.pop_front();
            state.has_current = next.is_some();
            if let Some(next) = next {
                if !next.has_to_wait() {
                    drop(state);
                    self.device.gate.leave(self.priority, false);
                    return Some(next);
                }
                drop(state);
                // Before this one is counted as not active any more, so that the stream is not quiet between them.
                self.begin(next);
                state = lock(&self.state);
            }
        }
        state.active = state.active.saturating_sub(1);
        if state.active == 0 {
            self.quiet.notify_all();
            self.room.notify_all();
        }
        drop(state);
        self.device.gate.leave(self.priority, true);
        None
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
fn whole(nanoseconds: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number; conversions to integers saturate"
    )]
    let whole = nanoseconds.ceil() as u64;
    whole.max(1)
}

#[cfg(all(test, visakit_shuttle))]
mod orders;
#[cfg(all(test, not(visakit_shuttle)))]
mod tests;
