//! Events, and commands that wait for them.
//!
//! A command runs as soon as everything it waits for has ended: in the thread that enqueued it if nothing is left, or
//! in the thread that ended the last of them. No separate threads are used for waiting.

use crate::context::{Context, lock};
use crate::error::{Code, Result, ensure, fail};
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use crate::queue::Queue;
use crate::stream::whole;
use opencl_sys as cl;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// The action of a command.
pub type Work = Box<dyn FnOnce(&Event) -> Result<()> + Send>;

/// Called with the status that was reached.
pub type Callback = Box<dyn FnOnce(i32) + Send>;

/// Nanoseconds since the library was first asked.
pub fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    u64::try_from(start.elapsed().as_nanos())
        .unwrap_or(u64::MAX)
        .saturating_add(1)
}

/// The clock by which commands of a queue are timed.
fn clock(queue: Option<&Arc<Queue>>) -> u64 {
    queue.map_or_else(now, |queue| queue.device.clock())
}

struct State {
    status: i32,
    /// Queued, submitted, started, ended.
    times: [u64; 4],
    /// When the host began the command.
    began: u64,
    /// Nanoseconds that the command takes on the device, if that is known.
    nanoseconds: Option<u64>,
    callbacks: Vec<(i32, Callback)>,
    waiting: Vec<Arc<Pending>>,
}

/// An event.
pub struct Event {
    handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// The queue of its command; user events have none.
    pub queue: Option<Arc<Queue>>,
    kind: u32,
    state: Mutex<State>,
    ended: Condvar,
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Event");
        out.field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Object for Event {
    const INVALID: Code = Code(cl::CL_INVALID_EVENT);
    const NAME: &'static str = "event";
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// A command that waits.
pub(crate) struct Pending {
    left: AtomicUsize,
    event: Arc<Event>,
    /// Events whose failure is its own.
    waits: Vec<Arc<Event>>,
    work: Mutex<Option<Work>>,
}

thread_local! {
    /// Commands that this thread is to run next: `None` while it runs none.
    static READY: RefCell<Option<VecDeque<Arc<Pending>>>> = const { RefCell::new(None) };
}

impl Pending {
    /// One of those it waits for has ended.
    pub(crate) fn arrive(self: &Arc<Self>) {
        if self.left.fetch_sub(1, AcqRel) != 1 {
            return;
        }
        let later = READY.with_borrow_mut(|ready| match ready {
            Some(list) => {
                list.push_back(Arc::clone(self));
                true
            }
            None => {
                *ready = Some(VecDeque::new());
                false
            }
        });
        if later {
            return;
        }
        let mut next = Some(Arc::clone(self));
        while let Some(pending) = next {
            pending.run();
            next = READY.with_borrow_mut(|ready| {
                let next = ready.as_mut().and_then(VecDeque::pop_front);
                if next.is_none() {
                    *ready = None;
                }
                next
            });
        }
    }

    fn run(&self) {
        let event = &self.event;
        event.reach(cl::CL_SUBMITTED);
        let work = lock(&self.work).take();
        if self.waits.iter().any(|e| e.status() < 0) {
            event.reach(cl::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            return;
        }
        event.reach(cl::CL_RUNNING);
        let run = || work.map_or(Ok(()), |work| work(event));
        // A defect of ours must not leave the host waiting forever.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        let done = done.unwrap_or(fail(cl::CL_OUT_OF_RESOURCES));
        if let (Err(code), Some(queue)) = (done, &event.queue) {
            queue.spoil(code);
        }
        event.reach(done.map_or_else(|code| code.0, |()| cl::CL_COMPLETE));
    }
}

impl Event {
    fn new(
        context: &Arc<Context>,
        queue: Option<&Arc<Queue>>,
        kind: u32,
        status: i32,
    ) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            queue: queue.cloned(),
            kind,
            state: Mutex::new(State {
                status,
                times: [clock(queue), 0, 0, 0],
                began: 0,
                nanoseconds: None,
                callbacks: Vec::new(),
                waiting: Vec::new(),
            }),
            ended: Condvar::new(),
        })
    }

    /// An event that the host ends.
    pub fn user(context: &Arc<Context>) -> Arc<Self> {
        Self::new(context, None, cl::CL_COMMAND_USER, cl::CL_SUBMITTED)
    }

    /// A command of a queue: runs when `waits` and `after` have ended, of which only the first may spoil it, and the
    /// one who made it has let it [`Pending::arrive`].
    pub(crate) fn command(
        queue: &Arc<Queue>,
        kind: u32,
        waits: Vec<Arc<Self>>,
        after: &[Arc<Self>],
        work: Work,
    ) -> (Arc<Self>, Arc<Pending>) {
        let event = Self::new(&queue.context, Some(queue), kind, cl::CL_QUEUED);
        let pending = Arc::new(Pending {
            left: AtomicUsize::new(waits.len() + after.len() + 1),
            event: Arc::clone(&event),
            waits,
            work: Mutex::new(Some(work)),
        });
        for before in pending.waits.iter().chain(after) {
            let mut state = lock(&before.state);
            if state.status > 0 {
                state.waiting.push(Arc::clone(&pending));
            } else {
                drop(state);
                pending.arrive();
            }
        }
        (event, pending)
    }

    /// The status of the command; negative if it failed.
    pub fn status(&self) -> i32 {
        lock(&self.state).status
    }

    /// Notes how many nanoseconds the command takes on the device.
    pub fn took(&self, nanoseconds: f64) {
        lock(&self.state).nanoseconds = Some(whole(nanoseconds));
    }

    /// A status is reached: callbacks are called, and when it is the last, those that wait for it run.
    pub fn reach(&self, status: i32) {
        let mut state = lock(&self.state);
        if state.status <= 0 {
            return;
        }
        state.status = status;
        let place = match status {
            cl::CL_SUBMITTED => 1,
            cl::CL_RUNNING => {
                state.began = now();
                2
            }
            _ => 3,
        };
        if let Some(time) = state.times.get_mut(place) {
            *time = clock(self.queue.as_ref());
        }
        if status <= 0
            && let Some(queue) = self.queue.as_ref().filter(|q| q.is_timed())
        {
            let on_host = now().saturating_sub(state.began);
            let taken = state.nanoseconds.unwrap_or(on_host);
            let [.., started, ended] = &mut state.times;
            (*started, *ended) = queue.device.occupy(*started, taken);
        }
        let mut called = Vec::new();
        let mut kept = Vec::new();
        for (at, callback) in state.callbacks.drain(..) {
            if status <= at {
                called.push((at, callback));
            } else {
                kept.push((at, callback));
            }
        }
        state.callbacks = kept;
        let waiting = if status <= 0 {
            std::mem::take(&mut state.waiting)
        } else {
            Vec::new()
        };
        drop(state);
        if status <= 0 {
            self.ended.notify_all();
        }
        for (at, callback) in called {
            callback(if status < 0 { status } else { at });
        }
        for pending in waiting {
            pending.arrive();
        }
    }

    /// Ends a user event.
    ///
    /// # Errors
    /// Events that are none, or have ended.
    pub fn end(&self, status: i32) -> Result<()> {
        ensure(status <= 0, cl::CL_INVALID_VALUE)?;
        ensure(self.kind == cl::CL_COMMAND_USER, cl::CL_INVALID_EVENT)?;
        ensure(self.status() > 0, cl::CL_INVALID_OPERATION)?;
        self.reach(status);
        Ok(())
    }

    /// Calls something at a status; at once if it was reached.
    pub fn at(&self, status: i32, callback: Callback) {
        let mut state = lock(&self.state);
        if state.status > status {
            state.callbacks.push((status, callback));
            return;
        }
        let now = state.status;
        drop(state);
        callback(if now < 0 { now } else { status });
    }

    /// Waits for the end; returns the final status.
    pub fn wait(&self) -> i32 {
        let mut state = lock(&self.state);
        while state.status > 0 {
            state = self
                .ended
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.status
    }

    /// `clGetEventInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        Ok(match name {
            cl::CL_EVENT_COMMAND_QUEUE => {
                self.queue.as_ref().map_or(0, |q| q.handle().get()).answer()
            }
            cl::CL_EVENT_CONTEXT => self.context.handle().get().answer(),
            cl::CL_EVENT_COMMAND_TYPE => self.kind.answer(),
            cl::CL_EVENT_COMMAND_EXECUTION_STATUS => self.status().answer(),
            cl::CL_EVENT_REFERENCE_COUNT => references(self).answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }

    /// `clGetEventProfilingInfo`.
    ///
    /// # Errors
    /// Queues without profiling, commands that have not ended.
    pub fn profile(&self, name: u32) -> Result<Vec<u8>> {
        let queue = self.queue.as_ref();
        let state = lock(&self.state);
        let known = queue.is_some_and(|q| q.profiles()) && state.status == cl::CL_COMPLETE;
        let [queued, submitted, started, ended] = state.times;
        let time = match name {
            cl::CL_PROFILING_COMMAND_QUEUED => queued,
            cl::CL_PROFILING_COMMAND_SUBMIT => submitted,
            cl::CL_PROFILING_COMMAND_START => started,
            cl::CL_PROFILING_COMMAND_END | cl::CL_PROFILING_COMMAND_COMPLETE => ended,
            _ => return fail(cl::CL_INVALID_VALUE),
        };
        ensure(known, cl::CL_PROFILING_INFO_NOT_AVAILABLE)?;
        Ok(time.answer())
    }
}
