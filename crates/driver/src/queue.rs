//! Queues.

use crate::context::{Context, lock};
use crate::device::Device;
use crate::error::{Code, Result, ensure, fail};
use crate::event::Event;
use crate::gate::Priority;
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use crate::signal::Signal;
use crate::stream::{Action, Command, Stream};
use opencl_sys as cl;
use std::sync::{Arc, Mutex, OnceLock};

/// What commands of a queue without an order may have to wait for.
#[derive(Debug, Default)]
struct Fences {
    /// Commands that may not have ended.
    open: Vec<Arc<Signal>>,
    /// How many there may be before it is looked which have ended.
    most: usize,
    /// The last barrier.
    barrier: Option<Arc<Signal>>,
}

impl Fences {
    /// The signals that a command comes after. `sets` is its own.
    fn after(&mut self, kind: u32, waits: bool, sets: &Arc<Signal>) -> Vec<Arc<Signal>> {
        if self.open.len() >= self.most {
            self.open.retain(|signal| signal.ended().is_none());
            self.most = 16 + 2 * self.open.len();
        }
        let is_barrier = kind == cl::CL_COMMAND_BARRIER;
        let after = if !waits && (is_barrier || kind == cl::CL_COMMAND_MARKER) {
            self.open.clone()
        } else {
            self.barrier.iter().cloned().collect()
        };
        if is_barrier {
            self.barrier = Some(Arc::clone(sets));
        }
        self.open.push(Arc::clone(sets));
        after
    }
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
    stream: Stream,
    /// Of a queue without an order.
    fences: Option<Mutex<Fences>>,
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
        let (mut properties, mut priority) = (0, Priority::default());
        for pair in list.chunks(2) {
            match pair {
                [0, ..] => break,
                [name, value] if *name == u64::from(cl::CL_QUEUE_PROPERTIES) => properties = *value,
                [name, value] if *name == cl::CL_QUEUE_PRIORITY_KHR => {
                    priority = match u32::try_from(*value) {
                        Ok(cl::CL_QUEUE_PRIORITY_HIGH_KHR) => Priority::High,
                        Ok(cl::CL_QUEUE_PRIORITY_LOW_KHR) => Priority::Low,
                        // It is a hint: any other value is the usual one.
                        _ => Priority::Normal,
                    };
                }
                // How much power it may take is a hint.
                [name, _] if *name == cl::CL_QUEUE_THROTTLE_KHR => {}
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
        let mut queue = Self::plain(context, device, properties, priority)?;
        queue.list = list;
        Ok(Arc::new(queue))
    }

    /// A queue with these bits as its properties.
    ///
    /// # Errors
    /// Devices of another context.
    pub fn with_bits(context: &Arc<Context>, device: &Arc<Device>, bits: u64) -> Result<Arc<Self>> {
        Self::plain(context, device, bits, Priority::default()).map(Arc::new)
    }

    fn plain(
        context: &Arc<Context>,
        device: &Arc<Device>,
        properties: u64,
        priority: Priority,
    ) -> Result<Self> {
        ensure(context.has(device), cl::CL_INVALID_DEVICE)?;
        let is_ordered = properties & cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0;
        Ok(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            device: Arc::clone(device),
            properties,
            list: Vec::new(),
            stream: Stream::with(device, priority, is_ordered),
            fences: (!is_ordered).then(Mutex::default),
        })
    }

    /// Whether commands that were made for one of both queues can run on the other.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.context, &other.context) && Arc::ptr_eq(&self.device, &other.device)
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

    /// Enqueues a command, which runs in a thread of the driver.
    pub fn enqueue(
        self: &Arc<Self>,
        kind: u32,
        waits: &[Arc<Event>],
        action: Option<Action>,
    ) -> Arc<Event> {
        let event = Event::command(self, kind);
        let sets = event.signal();
        let mut fences = self.fences.as_ref().map(lock);
        let after = fences
            .as_mut()
            .map(|fences| fences.after(kind, !waits.is_empty(), &sets));
        drop(fences);
        self.stream.push([Command {
            waits: waits.iter().map(|event| event.signal()).collect(),
            after: after.unwrap_or_default(),
            refused: Some(Code(cl::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)),
            action,
            sets: Some(sets),
        }]);
        event
    }

    /// Waits for all commands.
    ///
    /// # Errors
    /// That of a command that failed since the last time.
    pub fn finish(&self) -> Result<()> {
        self.stream.wait(None).unwrap_or(Ok(()))
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::device::platform;
    use crate::stream::action;
    use proptest::prelude::*;
    use std::time::Duration;

    const BUFFERS: usize = 4;
    const QUEUES: usize = 4;
    const USERS: usize = 3;

    /// A command that computes a buffer from itself and from another.
    #[derive(Clone, Debug)]
    struct Step {
        queue: usize,
        to: usize,
        from: usize,
        user: Option<usize>,
        /// How what it depends on in its own queue is waited for: events, a barrier, or a marker.
        fence: u32,
    }

    impl Step {
        fn depends_on(&self, earlier: &Self) -> bool {
            [self.to, self.from].contains(&earlier.to) || earlier.from == self.to
        }
    }

    type Buffers = [u32; BUFFERS];

    fn compute(buffers: &mut Buffers, number: usize, step: &Step) {
        let number = u32::try_from(number).unwrap();
        let from = buffers[step.from];
        let to = &mut buffers[step.to];
        *to = to.wrapping_mul(31).wrapping_add(from ^ number);
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let fence = prop::sample::select(vec![0, cl::CL_COMMAND_BARRIER, cl::CL_COMMAND_MARKER]);
        let user = prop::option::weighted(0.2, 0..USERS);
        let step = (0..QUEUES, 0..BUFFERS, 0..BUFFERS, user, fence);
        let step = step.prop_map(|(queue, to, from, user, fence)| Step {
            queue,
            to,
            from,
            user,
            fence,
        });
        prop::collection::vec(step, 1..24)
    }

    fn context() -> (Arc<Context>, Arc<Device>) {
        let devices = platform().devices.clone();
        let device = Arc::clone(&devices[0]);
        (Context::new(devices, Vec::new(), None).unwrap(), device)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

        /// Whatever the queues, and whenever the host ends its events: commands of which each waits for what it depends on
        /// compute what they compute one after the other.
        #[test]
        fn results_are_those_of_an_order(
            steps in steps(),
            ordered: [bool; QUEUES],
            order in Just([0, 1, 2]).prop_shuffle(),
            waits in any::<bool>(),
        ) {
            let (context, device) = context();
            let bits = |ordered| if ordered { 0 } else { cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE };
            let queues = ordered.map(|o| Queue::with_bits(&context, &device, bits(o)).unwrap());
            let users: [Arc<Event>; USERS] = std::array::from_fn(|_| Event::user(&context));
            let buffers = Arc::new(Mutex::new(Buffers::default()));
            let mut events: Vec<Arc<Event>> = Vec::new();
            let theirs = users.clone();
            let host = std::thread::spawn(move || {
                for which in order {
                    if waits {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                    theirs[which].end(cl::CL_COMPLETE).unwrap();
                }
            });
            for (number, step) in steps.iter().enumerate() {
                let queue = &queues[step.queue];
                let needed = || (0..number).filter(|n| step.depends_on(&steps[*n]));
                let (inside, outside): (Vec<_>, Vec<_>) = needed().partition(|n| steps[*n].queue == step.queue);
                let mut list: Vec<_> = outside.iter().map(|n| Arc::clone(&events[*n])).collect();
                list.extend(step.user.map(|user| Arc::clone(&users[user])));
                if !ordered[step.queue] && !inside.is_empty() {
                    match step.fence {
                        0 => list.extend(inside.iter().map(|n| Arc::clone(&events[*n]))),
                        fence => {
                            let made = queue.enqueue(fence, &[], None);
                            if fence == cl::CL_COMMAND_MARKER {
                                list.push(made);
                            }
                        }
                    }
                }
                let (buffers, step) = (Arc::clone(&buffers), step.clone());
                let run = action(move || {
                    compute(&mut lock(&buffers), number, &step);
                    Ok(())
                });
                events.push(queue.enqueue(cl::CL_COMMAND_NDRANGE_KERNEL, &list, Some(run)));
            }
            for queue in &queues {
                prop_assert_eq!(queue.finish(), Ok(()));
            }
            host.join().unwrap();
            prop_assert!(events.iter().all(|event| event.status() == cl::CL_COMPLETE));
            let mut wanted = Buffers::default();
            steps.iter().enumerate().for_each(|(number, step)| compute(&mut wanted, number, step));
            prop_assert_eq!(*lock(&buffers), wanted);
        }
    }

    /// Commands run beside the host, also when it has released all that it had of them.
    #[test]
    fn commands_outlive_their_queue() {
        let (context, device) = context();
        for bits in [0, cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
            let (said, heard) = std::sync::mpsc::channel();
            let user = Event::user(&context);
            let queue = Queue::with_bits(&context, &device, bits).unwrap();
            for number in 0..3 {
                let said = said.clone();
                let run = action(move || {
                    said.send(number).unwrap();
                    Ok(())
                });
                queue.enqueue(cl::CL_COMMAND_TASK, &[Arc::clone(&user)], Some(run));
            }
            drop((queue, said));
            assert!(heard.try_recv().is_err());
            user.end(cl::CL_COMPLETE).unwrap();
            assert_eq!(heard.iter().collect::<Vec<_>>(), [0, 1, 2]);
        }
    }

    /// A failure is one of its command, and of those that wait for it; their queue goes on.
    #[test]
    fn failures() {
        let (context, device) = context();
        let refused = cl::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        for bits in [0, cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
            let queue = Queue::with_bits(&context, &device, bits).unwrap();
            let run = |code| Some(action(move || ensure(code == 0, code)));
            let bad = queue.enqueue(cl::CL_COMMAND_TASK, &[], run(-5));
            let next = queue.enqueue(cl::CL_COMMAND_MARKER, &[Arc::clone(&bad)], None);
            let last = queue.enqueue(cl::CL_COMMAND_TASK, &[Arc::clone(&next)], run(0));
            let other = queue.enqueue(cl::CL_COMMAND_BARRIER, &[], None);
            let all = [&bad, &next, &last, &other].map(|event| event.wait());
            assert_eq!(all, [-5, refused, refused, cl::CL_COMPLETE]);
            assert_eq!(queue.finish(), fail(-5));
            assert_eq!(queue.finish(), Ok(()));
            let user = Event::user(&context);
            let waits = queue.enqueue(cl::CL_COMMAND_TASK, &[Arc::clone(&user)], run(0));
            assert_eq!(
                (user.end(1), user.end(-7)),
                (fail(cl::CL_INVALID_VALUE), Ok(()))
            );
            assert_eq!(user.end(0), fail(cl::CL_INVALID_OPERATION));
            assert_eq!(waits.end(0), fail(cl::CL_INVALID_EVENT));
            assert_eq!((waits.wait(), queue.finish()), (refused, Ok(())));
        }
    }

    /// Callbacks are called at each status once, and may wait for commands of the same queue.
    #[test]
    fn callbacks() {
        let (context, device) = context();
        let queue = Queue::with_bits(&context, &device, cl::CL_QUEUE_PROFILING_ENABLE).unwrap();
        let user = Event::user(&context);
        let (said, heard) = std::sync::mpsc::channel();
        let event = queue.enqueue(cl::CL_COMMAND_TASK, &[Arc::clone(&user)], None);
        for at in [cl::CL_COMPLETE, cl::CL_RUNNING, cl::CL_SUBMITTED] {
            let (said, queue) = (said.clone(), Arc::clone(&queue));
            let call = move |status| {
                if status == cl::CL_COMPLETE {
                    queue.enqueue(cl::CL_COMMAND_MARKER, &[], None).wait();
                    queue.finish().unwrap();
                }
                said.send(status).unwrap();
            };
            event.at(at, Box::new(call));
        }
        assert_eq!(heard.recv(), Ok(cl::CL_SUBMITTED));
        assert_eq!(event.status(), cl::CL_SUBMITTED);
        assert!(event.profile(cl::CL_PROFILING_COMMAND_END).is_err());
        user.end(-3).unwrap();
        drop((event, said));
        assert_eq!(heard.iter().collect::<Vec<_>>(), [-14, -14]);
    }
}
