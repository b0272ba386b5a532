//! Command queues and command lists.

use super::kernel::Kernel;
use crate::error::{Error, Result, ensure, waited};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use visakit_driver::context::{Context, lock};
use visakit_driver::device::Device;
use visakit_driver::gate::Priority;
use visakit_driver::handle::Handle;
use visakit_driver::signal::Signal;
use visakit_driver::stream::{Action, Command, Stream};

/// What the descriptor of a queue says, or of an immediate list.
#[derive(Clone, Copy, Default, Debug)]
pub struct Order {
    /// The group of queues.
    pub ordinal: u32,
    /// The queue of the group.
    pub index: u32,
    /// `ZE_COMMAND_QUEUE_FLAG_…`
    pub flags: u32,
    /// `ZE_COMMAND_QUEUE_MODE_…`
    pub mode: u32,
    /// `ZE_COMMAND_QUEUE_PRIORITY_…`
    pub priority: u32,
}

/// `ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS`.
const SYNCHRONOUS: u32 = 1;

/// How long a copy that is to end before its call returns waits for a command that may wait for the host. Hardware waits for
/// ever.
const PATIENCE: Duration = Duration::from_secs(20);

/// Commands that run in the order in which they were put in.
#[derive(Debug)]
pub struct Queue {
    pub(super) handle: Handle,
    /// As it was created.
    pub order: Order,
    stream: Stream,
}

impl Queue {
    /// A queue of a device.
    #[must_use]
    pub fn new(device: &Arc<Device>, order: Order) -> Arc<Self> {
        Arc::new(Self::plain(device, order))
    }

    fn plain(device: &Arc<Device>, order: Order) -> Self {
        let priority = match order.priority {
            1 => Priority::Low,
            2 => Priority::High,
            _ => Priority::Normal,
        };
        Self {
            handle: Handle::default(),
            order,
            stream: Stream::with(device, priority, true),
        }
    }

    /// Puts commands in, and waits for them if the queue is synchronous.
    ///
    /// # Errors
    /// That of a command that failed, if they are waited for.
    pub fn push(&self, commands: impl IntoIterator<Item = Command>) -> Result<()> {
        self.stream.push(commands);
        if self.order.mode == SYNCHRONOUS {
            return self.wait(None);
        }
        Ok(())
    }

    /// Waits for all commands.
    ///
    /// # Errors
    /// That of a command that failed, or that they have not ended.
    pub fn wait(&self, limit: Option<Duration>) -> Result<()> {
        waited(self.stream.wait(limit).ok_or(Error::NOT_READY)?)
    }

    /// As [`Stream::catch_up`], with much patience.
    pub fn catch_up(&self) {
        self.stream.catch_up(PATIENCE);
    }
}

/// What a command launches.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The kernel, with its arguments and sizes.
    pub kernel: Arc<Kernel>,
    /// How many groups there are.
    pub groups: [u32; 3],
    /// Whether its time is asked for.
    pub is_timed: bool,
    /// Whether its groups wait for each other.
    pub is_cooperative: bool,
}

impl Launched {
    /// A launch with a kernel of its own.
    fn copy(&self) -> Self {
        Self {
            kernel: self.kernel.copy(),
            ..*self
        }
    }

    /// What the command does, as things are now.
    ///
    /// # Errors
    /// Those of [`Kernel::launch`].
    pub fn action(&self) -> Result<Action> {
        let launch = self
            .kernel
            .launch(self.groups, self.is_timed, self.is_cooperative)?;
        Ok(Arc::new(move || launch.run()))
    }
}

/// A command of a list.
#[derive(Clone, Debug)]
struct Entry {
    command: Command,
    /// Whether its signal is that of a counter-based event: each execution sets it anew.
    is_renewed: bool,
    /// What it launches, if that can be changed.
    launch: Option<Launched>,
}

impl Entry {
    /// An entry whose launch has a kernel of its own.
    fn copy(&self) -> Self {
        Self {
            launch: self.launch.as_ref().map(Launched::copy),
            ..self.clone()
        }
    }
}

/// What was put into a list.
#[derive(Debug, Default)]
struct Record {
    entries: Vec<Entry>,
    /// How many numbers were given to commands that can be changed.
    numbered: u64,
    /// The number of the next command, if it can be changed.
    next: Option<u64>,
    /// The places of commands that can be changed, by their numbers.
    changeable: BTreeMap<u64, usize>,
    is_closed: bool,
}

impl Record {
    fn copy(&self) -> Self {
        Self {
            entries: self.entries.iter().map(Entry::copy).collect(),
            changeable: self.changeable.clone(),
            ..*self
        }
    }
}

/// The event that a command sets, for [`Draft::set_signal`].
#[derive(Clone, Debug, Default)]
pub struct Sets {
    /// Its signal, if there is one.
    pub signal: Option<Arc<Signal>>,
    /// Whether it is counter-based.
    pub is_renewed: bool,
    /// Whether its times are asked for.
    pub is_timed: bool,
}

/// Changes of the commands of a list, which count once all of them are possible.
#[derive(Debug)]
pub struct Draft<'r> {
    record: &'r Record,
    changed: BTreeMap<usize, Entry>,
}

impl Draft<'_> {
    fn entry(&mut self, number: u64) -> Result<&mut Entry> {
        let place = self.record.changeable.get(&number);
        let place = *place.ok_or(Error::INVALID_ARGUMENT)?;
        let known = self.record.entries.get(place);
        let known = known.ok_or(Error::INVALID_ARGUMENT)?;
        Ok(self.changed.entry(place).or_insert_with(|| known.copy()))
    }

    /// What a command launches.
    ///
    /// # Errors
    /// Numbers of no launch.
    pub fn launch(&mut self, number: u64) -> Result<&mut Launched> {
        let launch = self.entry(number)?.launch.as_mut();
        launch.ok_or(Error::INVALID_ARGUMENT)
    }

    /// Changes what a command sets. `sets` is asked if there is such a command.
    ///
    /// # Errors
    /// Numbers of no command, and what `sets` refuses.
    pub fn set_signal(&mut self, number: u64, sets: impl FnOnce() -> Result<Sets>) -> Result<()> {
        let entry = self.entry(number)?;
        let sets = sets()?;
        entry.command.sets = sets.signal;
        entry.is_renewed = sets.is_renewed;
        if let Some(launch) = &mut entry.launch {
            launch.is_timed = sets.is_timed;
        }
        Ok(())
    }

    /// Changes what a command waits for.
    ///
    /// # Errors
    /// Numbers of no command, and of more or fewer events than it has.
    pub fn set_waits(&mut self, number: u64, waits: Vec<Arc<Signal>>) -> Result<()> {
        let command = &mut self.entry(number)?.command;
        ensure(command.waits.len() == waits.len(), Error::INVALID_SIZE)?;
        command.waits = waits;
        Ok(())
    }

    /// The commands as they are to be, by their places.
    fn done(mut self) -> Result<BTreeMap<usize, Entry>> {
        for entry in self.changed.values_mut() {
            if let Some(launch) = &entry.launch {
                entry.command.action = Some(launch.action()?);
            }
        }
        Ok(self.changed)
    }
}

#[derive(Debug)]
enum Kind {
    /// Commands run at once.
    Immediate(Queue),
    /// Commands run when a queue executes the list.
    Regular(Mutex<Record>),
}

/// A command list.
#[derive(Debug)]
pub struct List {
    pub(super) handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// Its device.
    pub device: Arc<Device>,
    /// The group of queues.
    pub ordinal: u32,
    /// `ZE_COMMAND_LIST_FLAG_…`
    pub flags: u32,
    /// Whether it was made for commands that can be changed.
    pub is_mutable: bool,
    kind: Kind,
}

impl List {
    /// A list for queues.
    #[must_use]
    pub fn regular(
        context: &Arc<Context>,
        device: &Arc<Device>,
        (ordinal, flags): (u32, u32),
        is_mutable: bool,
    ) -> Arc<Self> {
        let kind = Kind::Regular(Mutex::default());
        Self::with(context, device, (ordinal, flags, is_mutable), kind)
    }

    /// A list whose commands run at once.
    #[must_use]
    pub fn immediate(context: &Arc<Context>, device: &Arc<Device>, order: Order) -> Arc<Self> {
        let kind = Kind::Immediate(Queue::plain(device, order));
        Self::with(context, device, (order.ordinal, 0, false), kind)
    }

    fn with(
        context: &Arc<Context>,
        device: &Arc<Device>,
        (ordinal, flags, is_mutable): (u32, u32, bool),
        kind: Kind,
    ) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            device: Arc::clone(device),
            ordinal,
            flags,
            is_mutable,
            kind,
        })
    }

    /// Its queue, if it is immediate.
    ///
    /// # Errors
    /// Regular lists.
    pub fn queue(&self) -> Result<&Queue> {
        match &self.kind {
            Kind::Immediate(queue) => Ok(queue),
            Kind::Regular(_) => Err(Error::INVALID_COMMAND_LIST_TYPE),
        }
    }

    fn record(&self) -> Result<MutexGuard<'_, Record>> {
        match &self.kind {
            Kind::Regular(record) => Ok(lock(record)),
            Kind::Immediate(_) => Err(Error::INVALID_COMMAND_LIST_TYPE),
        }
    }

    /// Puts a command in. What comes after the end of a closed list is never executed, as in Intel's driver, where queues
    /// stop at the end. `is_renewed` if its signal is that of a counter-based event; `launch` is what its action does, if
    /// that can be changed.
    ///
    /// # Errors
    /// That of a command that failed, if they are waited for.
    pub fn append(
        &self,
        command: Command,
        is_renewed: bool,
        launch: Option<&Launched>,
    ) -> Result<()> {
        match &self.kind {
            Kind::Immediate(queue) => queue.push([command]),
            Kind::Regular(record) => {
                let mut record = lock(record);
                let number = record.next.take();
                if record.is_closed {
                    return Ok(());
                }
                if let Some(number) = number {
                    let place = record.entries.len();
                    record.changeable.insert(number, place);
                }
                record.entries.push(Entry {
                    command,
                    is_renewed,
                    // The host may change its kernel.
                    launch: launch.filter(|_| number.is_some()).map(Launched::copy),
                });
                Ok(())
            }
        }
    }

    /// A number for the next command, by which it can be changed.
    ///
    /// # Errors
    /// Immediate lists.
    pub fn number_next(&self) -> Result<u64> {
        let mut record = self.record()?;
        record.numbered += 1;
        record.next = Some(record.numbered);
        Ok(record.numbered)
    }

    /// Changes commands: all that `change` changes, or nothing if it fails or a launch is not possible so.
    ///
    /// # Errors
    /// Immediate lists, and those.
    pub fn change(&self, change: impl FnOnce(&mut Draft<'_>) -> Result<()>) -> Result<()> {
        let mut record = self.record()?;
        let mut draft = Draft {
            record: &record,
            changed: BTreeMap::new(),
        };
        change(&mut draft)?;
        for (place, changed) in draft.done()? {
            if let Some(entry) = record.entries.get_mut(place) {
                *entry = changed;
            }
        }
        Ok(())
    }

    /// Ends a regular list, for queues to execute it. Lists that have ended, and immediate ones, stay as they are.
    pub fn close(&self) {
        if let Kind::Regular(record) = &self.kind {
            lock(record).is_closed = true;
        }
    }

    /// Empties a regular list. Commands of an immediate one are under way already.
    pub fn reset(&self) {
        if let Kind::Regular(record) = &self.kind {
            *lock(record) = Record::default();
        }
    }

    /// The commands of a closed list, to be executed now.
    ///
    /// # Errors
    /// Immediate lists, lists that are not closed.
    pub fn commands(&self) -> Result<Vec<Command>> {
        let record = self.record()?;
        ensure(record.is_closed, Error::INVALID_ARGUMENT)?;
        let commands = record.entries.iter().map(|entry| {
            if let (Some(signal), true) = (&entry.command.sets, entry.is_renewed) {
                signal.reset();
            }
            entry.command.clone()
        });
        Ok(commands.collect())
    }

    /// Another regular list with the same commands, of which neither list changes those of the other.
    ///
    /// # Errors
    /// Immediate lists.
    pub fn copy(&self) -> Result<Arc<Self>> {
        let kind = Kind::Regular(Mutex::new(self.record()?.copy()));
        let made = Self::with(
            &self.context,
            &self.device,
            (self.ordinal, self.flags, self.is_mutable),
            kind,
        );
        Ok(made)
    }
}
