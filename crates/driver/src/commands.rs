//! Command buffers (`cl_khr_command_buffer`): commands that are recorded once and run any number of times.
//!
//! What a command waits for was recorded before it. Commands in the order in which they were recorded are therefore in an
//! order that all their synchronization points allow: a command buffer is one command of its queue, which runs them so.

use crate::context::lock;
use crate::error::{Code, Result, ensure, fail};
use crate::event::Event;
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use crate::kernel::Kernel;
use crate::launch::{Grid, command};
use crate::mutable::{Command, Commands, Drafts, fields};
use crate::queue::Queue;
use crate::stream::Action;
use opencl_sys as cl;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// `CL_INVALID_COMMAND_BUFFER_KHR`.
const INVALID_COMMAND_BUFFER: i32 = -1138;
/// `CL_INVALID_SYNC_POINT_WAIT_LIST_KHR`.
const INVALID_SYNC_POINT_WAIT_LIST: i32 = -1139;
/// `CL_INCOMPATIBLE_COMMAND_QUEUE_KHR`.
const INCOMPATIBLE_COMMAND_QUEUE: i32 = -1140;
/// `CL_COMMAND_COMMAND_BUFFER_KHR`.
const COMMAND_BUFFER: u32 = 0x12a8;

#[derive(Default)]
struct State {
    is_final: bool,
    /// How many commands there are, also without an action.
    count: u32,
    actions: Vec<Action>,
    /// Runs that may not have ended.
    runs: Vec<Arc<Event>>,
    /// Launches whose handles the host has.
    commands: Commands,
}

/// A command buffer.
pub struct CommandBuffer {
    handle: Handle,
    /// The queue that it runs on, if another is not named.
    pub queue: Arc<Queue>,
    flags: u64,
    /// The list that it was made with.
    list: Vec<u64>,
    state: Mutex<State>,
}

impl fmt::Debug for CommandBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("CommandBuffer");
        out.field("queue", &self.queue).finish_non_exhaustive()
    }
}

impl Object for CommandBuffer {
    const INVALID: Code = Code(INVALID_COMMAND_BUFFER);
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// Runs actions one after the other, up to the first that fails.
fn run(actions: &[Action]) -> (Result<()>, Option<f64>) {
    let mut all = 0.0;
    for action in actions {
        let start = Instant::now();
        let (result, nanoseconds) = action();
        if result.is_err() {
            return (result, None);
        }
        all += nanoseconds.unwrap_or_else(|| start.elapsed().as_secs_f64() * 1e9);
    }
    (Ok(()), Some(all))
}

impl CommandBuffer {
    /// A command buffer for a queue; `list` holds names and values of properties, with a zero at its end, or is empty.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for properties that are not known.
    pub fn new(queue: &Arc<Queue>, list: Vec<u64>) -> Result<Arc<Self>> {
        let mut flags = 0;
        for pair in list.chunks(2) {
            match pair {
                [0, ..] => break,
                [name, value] if *name == cl::CL_COMMAND_BUFFER_FLAGS_KHR => flags = *value,
                _ => return fail(cl::CL_INVALID_VALUE),
            }
        }
        let known = cl::CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | cl::CL_COMMAND_BUFFER_MUTABLE_KHR;
        ensure(flags & !known == 0, cl::CL_INVALID_VALUE)?;
        Ok(Arc::new(Self {
            handle: Handle::default(),
            queue: Arc::clone(queue),
            flags,
            list,
            state: Mutex::default(),
        }))
    }

    /// Records a command that waits for some of those before it. Returns its synchronization point.
    ///
    /// # Errors
    /// Command buffers that are final, points that there are not.
    pub fn record(&self, points: &[u32], action: Option<Action>) -> Result<u32> {
        Ok(self.add(points, action)?.0)
    }

    /// Records a command. Returns its synchronization point, and the place of its action.
    fn add(&self, points: &[u32], action: Option<Action>) -> Result<(u32, usize)> {
        let mut state = lock(&self.state);
        ensure(!state.is_final, cl::CL_INVALID_OPERATION)?;
        let are_before = points.iter().all(|point| (1..=state.count).contains(point));
        ensure(are_before, INVALID_SYNC_POINT_WAIT_LIST)?;
        state.count = state.count.saturating_add(1);
        let place = state.actions.len();
        state.actions.extend(action);
        Ok((state.count, place))
    }

    /// Records a launch, and makes its handle; `list` holds the properties of the command.
    ///
    /// # Errors
    /// As of [`Self::record`], and of launches.
    pub fn record_launch(
        self: &Arc<Self>,
        points: &[u32],
        (kernel, grid): (&Arc<Kernel>, &Grid),
        list: Vec<u64>,
    ) -> Result<(u32, Arc<Command>)> {
        let fields = fields(&list)?;
        let action = command(&self.queue, kernel, grid)?;
        let (point, place) = self.add(points, Some(action))?;
        let made = Command::new((self, place), (kernel, grid), (list, fields));
        lock(&self.state).commands.push(Arc::clone(&made));
        Ok((point, made))
    }

    /// Whether its launches may be changed now.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` where it was made not to be changed, is not final, or runs.
    pub fn may_change(&self) -> Result<()> {
        let is_mutable = self.flags & cl::CL_COMMAND_BUFFER_MUTABLE_KHR != 0;
        ensure(is_mutable, cl::CL_INVALID_OPERATION)?;
        self.is_ready(&mut lock(&self.state))
    }

    /// Changes launches for the runs that follow.
    ///
    /// # Errors
    /// Those of launches; nothing is changed then.
    pub fn change(&self, drafts: Drafts) -> Result<()> {
        let mut state = lock(&self.state);
        let actions = drafts.0.iter().map(|draft| draft.action(self));
        let actions: Vec<_> = actions.collect::<Result<_>>()?;
        for (draft, action) in drafts.0.into_iter().zip(actions) {
            if let Some(old) = state.actions.get_mut(draft.command.place) {
                *old = action;
            }
            draft.commit();
        }
        Ok(())
    }

    /// Whether it can be enqueued, or changed.
    fn is_ready(&self, state: &mut State) -> Result<()> {
        let simultaneous = self.flags & cl::CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR != 0;
        let may = simultaneous || !state.runs();
        ensure(state.is_final && may, cl::CL_INVALID_OPERATION)
    }

    /// Nothing is recorded any more.
    ///
    /// # Errors
    /// Command buffers that are final.
    pub fn finalize(&self) -> Result<()> {
        let mut state = lock(&self.state);
        ensure(!state.is_final, cl::CL_INVALID_OPERATION)?;
        state.is_final = true;
        Ok(())
    }

    /// Enqueues all commands as one, on another queue if one is named.
    ///
    /// # Errors
    /// Queues of another kind. Command buffers that are not final, or that run, if they may not run more than once.
    pub fn enqueue(&self, on: Option<&Arc<Queue>>, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        let queue = on.unwrap_or(&self.queue);
        ensure(queue.is_like(&self.queue), INCOMPATIBLE_COMMAND_QUEUE)?;
        let mut state = lock(&self.state);
        self.is_ready(&mut state)?;
        let actions: Arc<[Action]> = state.actions.as_slice().into();
        let event = queue.enqueue(COMMAND_BUFFER, waits, Some(Arc::new(move || run(&actions))));
        state.runs.push(Arc::clone(&event));
        Ok(event)
    }

    /// `clGetCommandBufferInfoKHR`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        Ok(match name {
            cl::CL_COMMAND_BUFFER_NUM_QUEUES_KHR => 1_u32.answer(),
            cl::CL_COMMAND_BUFFER_QUEUES_KHR => self.queue.handle().get().answer(),
            cl::CL_COMMAND_BUFFER_CONTEXT_KHR => self.queue.context.handle().get().answer(),
            cl::CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR => references(self).answer(),
            cl::CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => self.list.clone().answer(),
            cl::CL_COMMAND_BUFFER_STATE_KHR => {
                let mut state = lock(&self.state);
                // Recording, executable, pending.
                let number = u32::from(state.is_final) + u32::from(state.runs());
                number.answer()
            }
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}

impl State {
    /// Whether a run has not ended.
    fn runs(&mut self) -> bool {
        self.runs.retain(|event| event.status() > 0);
        !self.runs.is_empty()
    }
}
