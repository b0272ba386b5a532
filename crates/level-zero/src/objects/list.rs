//! Command queues and command lists.

use super::kernel::Kernel;
use crate::error::{Error, Result, ensure, waited};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
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
        Self {
            handle: Handle::default(),
            order,
            stream: Stream::new(device),
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
}

/// A command that can be changed.
#[derive(Clone, Debug)]
struct Changeable {
    /// Its number among the commands.
    place: usize,
    /// What it launches, if anything.
    launch: Option<Launched>,
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
}

impl Launched {
    /// What the command does, as things are now.
    ///
    /// # Errors
    /// Those of [`Kernel::launch`].
    pub fn action(&self) -> Result<Action> {
        let launch = self.kernel.launch(self.groups, self.is_timed)?;
        Ok(Arc::new(move || launch.run()))
    }
}

/// What was put into a list.
#[derive(Clone, Debug, Default)]
struct Record {
    commands: Vec<Command>,
    /// How many numbers were given to commands that can be changed.
    numbered: u64,
    /// The number of the next command, if it can be changed.
    next: Option<u64>,
    changeable: BTreeMap<u64, Changeable>,
    /// Signals of counter-based events: each execution sets them anew.
    renewed: Vec<Arc<Signal>>,
    is_closed: bool,
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

fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Puts a command in, at the end of a list that is closed, too, as Intel's driver does it. `is_renewed` if its signal
    /// is that of a counter-based event; `launch` is what its action does, if that can be changed.
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
                let renewed = command.sets.iter().filter(|_| is_renewed).cloned();
                record.renewed.extend(renewed);
                if let Some(number) = record.next.take() {
                    let place = record.commands.len();
                    // The host may change its kernel.
                    let launch = launch.map(|launch| Launched {
                        kernel: launch.kernel.copy(),
                        ..*launch
                    });
                    let changeable = Changeable { place, launch };
                    record.changeable.insert(number, changeable);
                }
                record.commands.push(command);
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

    /// Changes what a command launches.
    ///
    /// # Errors
    /// Numbers of no launch, and what `change` refuses.
    pub fn change_launch(
        &self,
        number: u64,
        change: impl FnOnce(&mut Launched) -> Result<()>,
    ) -> Result<()> {
        let mut record = self.record()?;
        let record = &mut *record;
        let changeable = record.changeable.get_mut(&number);
        let found = changeable.and_then(|it| Some((it.place, it.launch.as_mut()?)));
        let (place, launch) = found.ok_or(Error::INVALID_ARGUMENT)?;
        change(launch)?;
        let command = record.commands.get_mut(place);
        command.ok_or(Error::INVALID_ARGUMENT)?.action = Some(launch.action()?);
        Ok(())
    }

    /// Changes what a command waits for and sets.
    ///
    /// # Errors
    /// Numbers of no command, and what `change` refuses.
    pub fn change_command(
        &self,
        number: u64,
        change: impl FnOnce(&mut Command) -> Result<()>,
    ) -> Result<()> {
        let mut record = self.record()?;
        let place = record.changeable.get(&number).map(|it| it.place);
        let command = place.and_then(|place| record.commands.get_mut(place));
        change(command.ok_or(Error::INVALID_ARGUMENT)?)
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
        record.renewed.iter().for_each(|signal| signal.reset());
        Ok(record.commands.clone())
    }

    /// Another regular list with the same commands.
    ///
    /// # Errors
    /// Immediate lists.
    pub fn copy(&self) -> Result<Arc<Self>> {
        let kind = Kind::Regular(Mutex::new(self.record()?.clone()));
        let made = Self::with(
            &self.context,
            &self.device,
            (self.ordinal, self.flags, self.is_mutable),
            kind,
        );
        Ok(made)
    }
}
