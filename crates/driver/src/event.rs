//! Events: what the host sees of a command. The host ends user events itself.

use crate::context::Context;
use crate::error::{Code, Result, ensure, fail};
use crate::gate::Priority;
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use crate::queue::Queue;
use crate::signal::{Ended, Progress, Signal, Times};
use crate::worker::Worker;
use opencl_sys as cl;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

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

/// Calls something in the thread of callbacks: they may take their time, and wait for commands, without holding up any.
fn call_back(call: impl FnOnce() + Send + 'static) {
    static CALLBACKS: OnceLock<Worker> = OnceLock::new();
    let callbacks = CALLBACKS.get_or_init(Worker::default);
    callbacks.push(Box::new(call));
}

/// An event.
#[derive(Debug)]
pub struct Event {
    handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// The queue of its command; user events have none.
    pub queue: Option<Arc<Queue>>,
    kind: u32,
    /// When its command was enqueued, which is when it is submitted: nothing holds it back but what it waits for.
    queued: u64,
    /// The state of its command.
    signal: Arc<Signal>,
}

impl Object for Event {
    const INVALID: Code = Code(cl::CL_INVALID_EVENT);
    const NAME: &'static str = "event";
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// The status that stands for the result of a command.
fn final_status(ended: Ended) -> i32 {
    ended
        .result
        .map_or_else(|code| code.0, |()| cl::CL_COMPLETE)
}

fn status(progress: Progress) -> i32 {
    match progress {
        Progress::Waits => cl::CL_SUBMITTED,
        Progress::Runs => cl::CL_RUNNING,
        Progress::Ended(ended) => final_status(ended),
    }
}

impl Event {
    fn new(context: &Arc<Context>, queue: Option<&Arc<Queue>>, kind: u32) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            queue: queue.cloned(),
            kind,
            queued: queue.map_or_else(now, |queue| queue.device.clock()),
            signal: Arc::default(),
        })
    }

    /// An event that the host ends.
    pub fn user(context: &Arc<Context>) -> Arc<Self> {
        Self::new(context, None, cl::CL_COMMAND_USER)
    }

    /// The event of a command of a queue, which sets its signal.
    pub(crate) fn command(queue: &Arc<Queue>, kind: u32) -> Arc<Self> {
        Self::new(&queue.context, Some(queue), kind)
    }

    /// What its command sets when it has ended.
    pub(crate) fn signal(&self) -> Arc<Signal> {
        Arc::clone(&self.signal)
    }

    /// The status of the command; negative if it failed.
    pub fn status(&self) -> i32 {
        status(self.signal.progress())
    }

    /// Ends a user event.
    ///
    /// # Errors
    /// Events that are none, or have ended.
    pub fn end(&self, status: i32) -> Result<()> {
        ensure(status <= 0, cl::CL_INVALID_VALUE)?;
        ensure(self.kind == cl::CL_COMMAND_USER, cl::CL_INVALID_EVENT)?;
        let ended = Ended {
            result: ensure(status == cl::CL_COMPLETE, status),
            times: Times::default(),
        };
        ensure(self.signal.set_first(ended), cl::CL_INVALID_OPERATION)
    }

    /// Calls something at a status, or when the command has failed, in the thread of callbacks.
    pub fn at(self: &Arc<Self>, at: i32, callback: Callback) {
        // Until then the event exists.
        let event = Arc::clone(self);
        let call = move |now: Progress| {
            let now = status(now);
            call_back(move || {
                callback(if now < 0 { now } else { at });
                drop(event);
            });
        };
        match at {
            cl::CL_COMPLETE => self
                .signal
                .at_end(Priority::default(), |ended| call(Progress::Ended(ended))),
            cl::CL_RUNNING => self.signal.at_start(call),
            _ => call(self.signal.progress()),
        }
    }

    /// Waits for the end; returns the final status.
    pub fn wait(&self) -> i32 {
        // Without a limit it always ends with one.
        let ended = self.signal.wait(None);
        ended.map_or(cl::CL_OUT_OF_RESOURCES, final_status)
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
        let ended = self.signal.ended().filter(|ended| ended.result.is_ok());
        let times = ended.map(|ended| ended.times).unwrap_or_default();
        let time = match name {
            cl::CL_PROFILING_COMMAND_QUEUED | cl::CL_PROFILING_COMMAND_SUBMIT => self.queued,
            cl::CL_PROFILING_COMMAND_START => times.started,
            cl::CL_PROFILING_COMMAND_END | cl::CL_PROFILING_COMMAND_COMPLETE => times.ended,
            _ => return fail(cl::CL_INVALID_VALUE),
        };
        let queue = self.queue.as_ref();
        let known = ended.is_some() && queue.is_some_and(|queue| queue.profiles());
        ensure(known, cl::CL_PROFILING_INFO_NOT_AVAILABLE)?;
        Ok(time.answer())
    }
}
