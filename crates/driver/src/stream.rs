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
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
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

/// The streams of the process.
static ALL: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Waits until each stream of the process has had no commands, whatever their results are.
fn wait_for(streams: &[Arc<Shared>]) {
    for stream in streams {
        let mut state = lock(&stream.state);
        while state.is_busy || !state.commands.is_empty() {
            let waited = stream.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Calls something when each stream of the process has had no commands: at once if none has any. Otherwise the call returns
/// before, unless it `blocks`.
pub fn when_idle(blocks: bool, call: impl FnOnce() + Send + 'static) {
    let all: Vec<_> = lock(&ALL).iter().filter_map(Weak::upgrade).collect();
    let busy = |stream: &Arc<Shared>| {
        let state = lock(&stream.state);
        state.is_busy || !state.commands.is_empty()
    };
    let busy: Vec<_> = all.into_iter().filter(busy).collect();
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

/// Commands that run one after the other.
#[derive(Debug)]
pub struct Stream(Arc<Shared>);

impl Stream {
    /// A stream of a device.
    #[must_use]
    pub fn new(device: &Arc<Device>) -> Self {
        let shared = Arc::new(Shared {
            device: Arc::clone(device),
            state: Mutex::default(),
            changed: Condvar::new(),
            is_left: AtomicBool::new(false),
        });
        let mut all = lock(&ALL);
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(&shared));
        Self(shared)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::models::MODELS;
    use proptest::prelude::*;

    /// A command: its stream, what it waits for (signals of the host, commands before it), whether it fails.
    #[derive(Clone, Debug)]
    struct Plan {
        stream: usize,
        hosts: Vec<usize>,
        before: Vec<prop::sample::Index>,
        fails: bool,
    }

    const STREAMS: usize = 3;
    const HOSTS: usize = 2;

    fn plans() -> impl Strategy<Value = Vec<Plan>> {
        let plan = (
            0..STREAMS,
            prop::collection::vec(0..HOSTS, 0..2),
            prop::collection::vec(any::<prop::sample::Index>(), 0..3),
            prop::bool::weighted(0.2),
        );
        let plan = plan.prop_map(|(stream, hosts, before, fails)| Plan {
            stream,
            hosts,
            before,
            fails,
        });
        prop::collection::vec(plan, 1..12)
    }

    fn device() -> Arc<Device> {
        Arc::new(Device::of(&MODELS[0]).unwrap())
    }

    /// What the command with a number waits for among those before it.
    fn waits(plans: &[Plan], number: usize) -> Vec<usize> {
        let before = plans[number].before.iter();
        before
            .filter(|_| number > 0)
            .map(|b| b.index(number))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// Commands run in the order of their streams, after what they wait for, once; and not at all where that failed.
        #[test]
        fn commands_run_in_order(plans in plans()) {
            let device = device();
            let streams: Vec<_> = (0..STREAMS).map(|_| Stream::new(&device)).collect();
            let hosts: Vec<Arc<Signal>> = (0..HOSTS).map(|_| Arc::default()).collect();
            let ends: Vec<Arc<Signal>> = plans.iter().map(|_| Arc::default()).collect();
            let log = Arc::new(Mutex::new(Vec::new()));
            for (number, plan) in plans.iter().enumerate() {
                let (ours, fails) = (Arc::clone(&log), plan.fails);
                let others = waits(&plans, number).into_iter().map(|n| Arc::clone(&ends[n]));
                streams[plan.stream].push([Command {
                    waits: plan.hosts.iter().map(|n| Arc::clone(&hosts[*n])).chain(others).collect(),
                    action: Some(Arc::new(move || {
                        lock(&ours).push(number);
                        (if fails { fail(1) } else { Ok(()) }, None)
                    })),
                    sets: Some(Arc::clone(&ends[number])),
                }]);
            }
            // What depends on the host has not run. A command waits in the order of its list, until something has failed.
            let mut blocked: Vec<usize> = Vec::new();
            let mut failed: Vec<usize> = Vec::new();
            for (number, plan) in plans.iter().enumerate() {
                let in_stream = blocked.iter().any(|b| plans[*b].stream == plan.stream);
                let mut waits = waits(&plans, number).into_iter();
                let decides = waits.find(|w| blocked.contains(w) || failed.contains(w));
                if in_stream || !plan.hosts.is_empty() || decides.is_some_and(|w| blocked.contains(&w)) {
                    blocked.push(number);
                } else if plan.fails || decides.is_some() {
                    failed.push(number);
                }
            }
            for (number, end) in ends.iter().enumerate() {
                if blocked.contains(&number) {
                    prop_assert!(end.ended().is_none(), "{}", number);
                } else {
                    prop_assert!(end.wait(None).is_some());
                }
            }
            for host in &hosts {
                host.set(Ended { result: Ok(()), times: Times::default() });
            }
            let mut good = Vec::new();
            let mut ran = Vec::new();
            for (number, plan) in plans.iter().enumerate() {
                let runs = waits(&plans, number).iter().all(|w| good.contains(w));
                if runs {
                    ran.push(number);
                }
                if runs && !plan.fails {
                    good.push(number);
                }
                let ended = ends[number].wait(None).unwrap();
                prop_assert_eq!(ended.result.is_ok(), good.contains(&number));
                prop_assert!(ended.times.ended >= ended.times.started);
            }
            for (which, stream) in streams.iter().enumerate() {
                let all = plans.iter().enumerate().filter(|(_, plan)| plan.stream == which);
                let fails = all.clone().any(|(number, _)| !good.contains(&number));
                prop_assert_eq!(stream.wait(None).unwrap().is_err(), fails);
                prop_assert!(stream.is_idle());
                // It was told.
                prop_assert!(stream.wait(None).unwrap().is_ok());
                let order: Vec<_> = all.map(|(number, _)| number).filter(|n| ran.contains(n)).collect();
                let log = lock(&log).clone();
                let seen: Vec<_> = log.into_iter().filter(|n| plans[*n].stream == which).collect();
                prop_assert_eq!(seen, order);
            }
            let log = lock(&log).clone();
            for (place, number) in log.iter().enumerate() {
                for wait in waits(&plans, *number) {
                    prop_assert!(log[..place].contains(&wait));
                }
            }
        }
    }

    #[test]
    fn limits_end_waiting() {
        let signal = Arc::new(Signal::default());
        let stream = Stream::new(&device());
        stream.push([Command {
            waits: vec![Arc::clone(&signal)],
            ..Command::default()
        }]);
        let short = Some(Duration::from_millis(5));
        assert_eq!(stream.wait(short), None);
        assert_eq!(signal.wait(short), None);
        assert!(!stream.is_idle());
        // Nobody has the stream any more: its thread ends.
        let shared = Arc::downgrade(&stream.0);
        drop(stream);
        let end = Instant::now() + Duration::from_secs(10);
        while shared.strong_count() > 0 {
            assert!(Instant::now() < end);
            std::thread::yield_now();
        }
    }

    #[test]
    fn threads_come_and_go() {
        let stream = Stream::new(&device());
        let count = Arc::new(Mutex::new(0));
        for turn in 1..=2 {
            let ours = Arc::clone(&count);
            stream.push([Command {
                action: Some(Arc::new(move || {
                    *lock(&ours) += 1;
                    (Ok(()), Some(10.0))
                })),
                ..Command::default()
            }]);
            assert_eq!(stream.wait(None), Some(Ok(())));
            assert_eq!(*lock(&count), turn);
            let end = Instant::now() + Duration::from_secs(10);
            while lock(&stream.0.state).has_thread {
                assert!(Instant::now() < end);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// What waits for idle streams is called after their commands, and does not hold who asks unless it is told to.
    #[test]
    fn idle_streams_are_waited_for() {
        let (go, stream) = (Arc::new(Signal::default()), Stream::new(&device()));
        let log = Arc::new(Mutex::new(Vec::new()));
        let noted = |what: &'static str| {
            let log = Arc::clone(&log);
            move || lock(&log).push(what)
        };
        let command = noted("command");
        stream.push([Command {
            waits: vec![Arc::clone(&go)],
            action: Some(Arc::new(move || {
                command();
                (Ok(()), None)
            })),
            sets: None,
        }]);
        let called = Arc::new(Signal::default());
        let (later, theirs) = (noted("later"), Arc::clone(&called));
        let ended = Ended {
            result: Ok(()),
            times: Times::default(),
        };
        when_idle(false, move || {
            later();
            theirs.set(ended);
        });
        assert_eq!(*lock(&log), [""; 0]);
        go.set(ended);
        when_idle(true, noted("blocking"));
        assert!(called.wait(Some(Duration::from_secs(60))).is_some());
        let log = lock(&log).clone();
        assert_eq!((log.len(), log[0]), (3, "command"));
    }

    /// A defect of an action is an error of its command, not of those after it.
    #[test]
    fn panics_are_errors() {
        let stream = Stream::new(&device());
        let (first, second) = (Arc::new(Signal::default()), Arc::new(Signal::default()));
        stream.push([
            Command {
                action: Some(Arc::new(|| {
                    let none: [u8; 0] = [];
                    (Ok(()), Some(f64::from(none[std::hint::black_box(1)])))
                })),
                sets: Some(Arc::clone(&first)),
                ..Command::default()
            },
            Command {
                sets: Some(Arc::clone(&second)),
                ..Command::default()
            },
        ]);
        assert!(first.wait(None).unwrap().result.is_err());
        assert!(second.wait(None).unwrap().result.is_ok());
        assert!(stream.wait(None).unwrap().is_err());
    }
}
