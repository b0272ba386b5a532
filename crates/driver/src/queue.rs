//! Queues.

use crate::context::{Context, lock};
use crate::device::Device;
use crate::error::{Code, Result, ensure, fail};
use crate::event::{Event, Work};
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use opencl_sys as cl;
use std::sync::{Arc, Mutex, OnceLock};

#[derive(Debug, Default)]
struct State {
    /// Commands that may not have ended; the last one alone if they run in order.
    open: Vec<Arc<Event>>,
    /// The last barrier.
    barrier: Option<Arc<Event>>,
    /// The error since the queue was last waited for.
    fault: Option<Code>,
}

/// The variable that decides whose time events report.
const TIME: &str = "VISAKIT_TIME";

/// Whether events report simulated time of the device. With `VISAKIT_TIME=host` they report that of the host.
pub fn simulates() -> bool {
    static SIMULATES: OnceLock<bool> = OnceLock::new();
    *SIMULATES.get_or_init(|| match std::env::var(TIME).as_deref() {
        Ok("host") => false,
        Ok("device" | "") | Err(_) => true,
        Ok(other) => {
            crate::say(&format!("{TIME}: `{other}` is neither `device` nor `host`"));
            true
        }
    })
}

/// A queue.
#[derive(Debug)]
pub struct Queue {
    handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// Its device.
    pub device: Arc<Device>,
    properties: u64,
    /// The list that it was made with.
    list: Vec<u64>,
    state: Mutex<State>,
}

impl Object for Queue {
    const INVALID: Code = Code(cl::CL_INVALID_COMMAND_QUEUE);
    const NAME: &'static str = "command queue";
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Queue {
    /// A queue; `list` holds names and values of properties, with a zero at its end, or is empty.
    ///
    /// # Errors
    /// Properties that are not known, devices of another context.
    pub fn new(context: &Arc<Context>, device: &Arc<Device>, list: Vec<u64>) -> Result<Arc<Self>> {
        let mut properties = 0;
        for pair in list.chunks(2) {
            match pair {
                [0, ..] => break,
                [name, value] if *name == u64::from(cl::CL_QUEUE_PROPERTIES) => properties = *value,
                // Size of a queue on the device, priority, throttle: hints.
                [name, _] if (0x1096..=0x1097).contains(name) => {}
                [name, _] if *name == u64::from(cl::CL_QUEUE_SIZE) => {
                    return fail(cl::CL_INVALID_QUEUE_PROPERTIES);
                }
                _ => return fail(cl::CL_INVALID_VALUE),
            }
        }
        let host = cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | cl::CL_QUEUE_PROFILING_ENABLE;
        let device_side = cl::CL_QUEUE_ON_DEVICE | cl::CL_QUEUE_ON_DEVICE_DEFAULT;
        ensure(
            properties & !(host | device_side) == 0,
            cl::CL_INVALID_VALUE,
        )?;
        ensure(
            properties & device_side == 0,
            cl::CL_INVALID_QUEUE_PROPERTIES,
        )?;
        let mut queue = Self::plain(context, device, properties)?;
        queue.list = list;
        Ok(Arc::new(queue))
    }

    /// A queue with these bits as its properties.
    ///
    /// # Errors
    /// Devices of another context.
    pub fn with_bits(context: &Arc<Context>, device: &Arc<Device>, bits: u64) -> Result<Arc<Self>> {
        Self::plain(context, device, bits).map(Arc::new)
    }

    fn plain(context: &Arc<Context>, device: &Arc<Device>, properties: u64) -> Result<Self> {
        ensure(context.has(device), cl::CL_INVALID_DEVICE)?;
        Ok(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            device: Arc::clone(device),
            properties,
            list: Vec::new(),
            state: Mutex::default(),
        })
    }

    /// Whether times of commands are reported.
    #[must_use]
    pub fn profiles(&self) -> bool {
        self.properties & cl::CL_QUEUE_PROFILING_ENABLE != 0
    }

    /// Whether these are to be those of the device, not of the host.
    pub fn is_timed(&self) -> bool {
        self.profiles() && simulates()
    }

    fn in_order(&self) -> bool {
        self.properties & cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0
    }

    /// Notes that a command failed.
    pub fn spoil(&self, code: Code) {
        lock(&self.state).fault.get_or_insert(code);
    }

    /// Enqueues a command.
    pub fn enqueue(self: &Arc<Self>, kind: u32, waits: Vec<Arc<Event>>, work: Work) -> Arc<Event> {
        let mut state = lock(&self.state);
        state.open.retain(|e| e.status() > 0);
        let fence =
            matches!(kind, cl::CL_COMMAND_BARRIER | cl::CL_COMMAND_MARKER) && waits.is_empty();
        let after = if self.in_order() || fence {
            state.open.clone()
        } else {
            state.barrier.iter().cloned().collect()
        };
        let (event, pending) = Event::command(self, kind, waits, &after, work);
        if self.in_order() {
            state.open.clear();
        }
        if kind == cl::CL_COMMAND_BARRIER {
            state.barrier = Some(Arc::clone(&event));
        }
        state.open.push(Arc::clone(&event));
        drop(state);
        pending.arrive();
        event
    }

    /// Waits for all commands.
    ///
    /// # Errors
    /// That of a command that failed since the last time.
    pub fn finish(&self) -> Result<()> {
        let open = lock(&self.state).open.clone();
        for event in open {
            event.wait();
        }
        lock(&self.state).fault.take().map_or(Ok(()), Err)
    }

    /// `clGetCommandQueueInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        Ok(match name {
            cl::CL_QUEUE_CONTEXT => self.context.handle().get().answer(),
            cl::CL_QUEUE_DEVICE => self.device.handle().get().answer(),
            cl::CL_QUEUE_REFERENCE_COUNT => references(self).answer(),
            cl::CL_QUEUE_PROPERTIES => self.properties.answer(),
            cl::CL_QUEUE_PROPERTIES_ARRAY => self.list.clone().answer(),
            cl::CL_QUEUE_DEVICE_DEFAULT => 0_usize.answer(),
            cl::CL_QUEUE_SIZE => return fail(cl::CL_INVALID_COMMAND_QUEUE),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}
