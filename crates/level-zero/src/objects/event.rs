//! Events, their pools, and fences.

use super::shared::{GENERATIONS, Place, Watched};
use crate::error::{Error, Result, ensure};
use std::sync::{Arc, Mutex};
use visakit_driver::context::{Context, lock};
use visakit_driver::handle::Handle;
use visakit_driver::signal::{Ended, Signal, Times};

/// A pool of events.
#[derive(Debug)]
pub struct Pool {
    pub(super) handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// `ZE_EVENT_POOL_FLAG_…`
    pub flags: u32,
    /// How many events it has.
    pub count: u32,
    /// `ZE_EVENT_COUNTER_BASED_FLAG_…` if its events are counter-based.
    pub counter: Option<u32>,
    /// What other processes see of its events, if they may.
    pub shared: Option<Arc<Watched>>,
    /// Whether another process made it.
    pub is_opened: bool,
}

/// `ZE_EVENT_POOL_FLAG_IPC`.
const SHARED: u32 = 2;

/// `ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP` and `…_MAPPED_TIMESTAMP`.
const TIMESTAMPS: u32 = 3 << 2;

/// `ZE_EVENT_COUNTER_BASED_FLAG_IPC`.
const COUNTER_SHARED: u32 = 1 << 3;

/// `ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP` and `…_HOST_TIMESTAMP`.
pub const COUNTER_TIMESTAMPS: u32 = 3 << 4;

/// What the numbers of events in a descriptor of one mean.
#[derive(Clone, Copy, Default, Debug)]
pub struct Scopes {
    /// `ZE_EVENT_SCOPE_FLAG_…` for those that signal.
    pub signal: u32,
    /// `ZE_EVENT_SCOPE_FLAG_…` for those that wait.
    pub wait: u32,
}

impl Pool {
    /// A pool.
    ///
    /// # Errors
    /// If the host has no pages for one of several processes. Counter-based events that those have, have no pool.
    pub fn new(
        context: &Arc<Context>,
        flags: u32,
        count: u32,
        counter: Option<u32>,
    ) -> Result<Arc<Self>> {
        ensure(
            flags & SHARED == 0 || counter.is_none(),
            Error::UNSUPPORTED_FEATURE,
        )?;
        let shared = match flags & SHARED {
            0 => None,
            _ => Some(Watched::new(count, flags)?),
        };
        Ok(Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            flags,
            count,
            counter,
            shared,
            is_opened: false,
        }))
    }

    /// The pool that another process made.
    #[must_use]
    pub fn open(context: &Arc<Context>, shared: Arc<Watched>) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            flags: shared.flags(),
            count: shared.count(),
            counter: None,
            shared: Some(shared),
            is_opened: true,
        })
    }
}

/// An event.
///
/// One that is counter-based stands for the command that was last given it: what waits for the one before goes on waiting
/// for that, in this process and in others.
#[derive(Debug)]
pub struct Event {
    pub(super) handle: Handle,
    /// Its pool, if it has one.
    pub pool: Option<Arc<Pool>>,
    /// `ZE_EVENT_COUNTER_BASED_FLAG_…` if it is counter-based.
    pub counter: Option<u32>,
    /// Whether its times are asked for.
    pub is_timed: bool,
    /// Its scopes.
    pub scopes: Scopes,
    /// Whether it is one that another process shares apart from pools: nobody sets it here.
    is_opened: bool,
    now: Mutex<Now>,
}

/// What an event stands for now.
#[derive(Debug, Default)]
struct Now {
    signal: Arc<Signal>,
    /// Where other processes see it.
    place: Option<Place>,
    /// What they see of a counter-based event.
    generations: Option<Arc<Watched>>,
    /// Whether a command has it.
    is_given: bool,
}

const SET: Ended = Ended {
    result: Ok(()),
    times: Times {
        started: 0,
        ended: 0,
    },
};

impl Event {
    /// A signal that is set.
    #[must_use]
    pub fn passed() -> Arc<Signal> {
        let signal = Arc::<Signal>::default();
        signal.set(SET);
        signal
    }

    /// An event of a pool.
    ///
    /// # Errors
    /// Numbers that the pool does not have.
    pub fn new(pool: &Arc<Pool>, index: u32, scopes: Scopes) -> Result<Arc<Self>> {
        ensure(index < pool.count, Error::INVALID_ARGUMENT)?;
        let is_timed = pool.flags & TIMESTAMPS != 0;
        let made = Self::with(Some(Arc::clone(pool)), pool.counter, is_timed, scopes);
        if let Some(shared) = &pool.shared {
            let place = Place::new(shared, index.into(), 0);
            let signal = Arc::clone(&lock(&made.now).signal);
            lock(&made.now).place = Some(place.clone());
            place.connect(&signal, !pool.is_opened);
            shared.watch(&made);
        }
        Ok(made)
    }

    /// The command that an event stood for when another process shared it.
    #[must_use]
    pub fn open(place: Place) -> Arc<Self> {
        let shared = Arc::clone(&place.shared);
        let now = Now {
            place: Some(place),
            ..Now::default()
        };
        let counter = Some(shared.flags());
        let made = Arc::new(Self {
            is_opened: true,
            ..Self::plain(None, (counter, false), Scopes::default(), now)
        });
        shared.watch(&made);
        made.refresh();
        made
    }

    /// What other processes need to see the command that it stands for now, if it has no pool.
    ///
    /// # Errors
    /// Events of pools, of other processes, that were not made for it, or that no command has; or if the host has no pages.
    pub fn shared(&self) -> Result<Place> {
        let flags = self.counter.filter(|_| self.pool.is_none());
        let flags = flags.ok_or(Error::INVALID_ARGUMENT)?;
        let may = flags & COUNTER_SHARED != 0 && !self.is_timed && !self.is_opened;
        ensure(may, Error::INVALID_ARGUMENT)?;
        let mut now = lock(&self.now);
        if let Some(place) = &now.place {
            return Ok(place.clone());
        }
        ensure(now.is_given, Error::INVALID_ARGUMENT)?;
        let generations = match &now.generations {
            Some(known) => Arc::clone(known),
            None => Watched::new(GENERATIONS, flags)?,
        };
        let place = generations.next()?;
        now.generations = Some(generations);
        now.place = Some(place.clone());
        let signal = Arc::clone(&now.signal);
        drop(now);
        place.connect(&signal, true);
        Ok(place)
    }

    /// Learns what other processes have done.
    pub fn refresh(&self) {
        let now = lock(&self.now);
        let (signal, place) = (Arc::clone(&now.signal), now.place.clone());
        // Who waits for the signal may look at the event.
        drop(now);
        if let Some(place) = place {
            place.follow(&signal);
        }
    }

    /// An event, counter-based if it has flags of that.
    #[must_use]
    pub fn with(
        pool: Option<Arc<Pool>>,
        counter: Option<u32>,
        is_timed: bool,
        scopes: Scopes,
    ) -> Arc<Self> {
        let now = Now::default();
        if counter.is_some() {
            // It waits for no command.
            now.signal.set(SET);
        }
        Arc::new(Self::plain(pool, (counter, is_timed), scopes, now))
    }

    fn plain(
        pool: Option<Arc<Pool>>,
        (counter, is_timed): (Option<u32>, bool),
        scopes: Scopes,
        now: Now,
    ) -> Self {
        Self {
            handle: Handle::default(),
            pool,
            counter,
            is_timed,
            scopes,
            is_opened: false,
            now: Mutex::new(now),
        }
    }

    /// What those wait for who wait for it from now on.
    #[must_use]
    pub fn signal(&self) -> Arc<Signal> {
        self.refresh();
        Arc::clone(&lock(&self.now).signal)
    }

    /// What a command sets that gets the event now.
    ///
    /// # Errors
    /// Counter-based events of other processes.
    pub fn for_command(&self) -> Result<Arc<Signal>> {
        if self.counter.is_none() {
            return Ok(self.signal());
        }
        ensure(!self.is_opened, Error::INVALID_SYNCHRONIZATION_OBJECT)?;
        let mut now = lock(&self.now);
        let next = Now {
            generations: now.generations.clone(),
            is_given: true,
            ..Now::default()
        };
        let signal = Arc::clone(&next.signal);
        let before = std::mem::replace(&mut *now, next);
        drop(now);
        // Commands that wait for it may begin: nothing else sets it.
        drop(before);
        Ok(signal)
    }

    /// Sets it.
    pub fn set(&self) {
        self.signal().set(SET);
    }
}

/// A fence.
#[derive(Debug)]
pub struct Fence {
    pub(super) handle: Handle,
    /// Its state.
    pub signal: Arc<Signal>,
}

impl Fence {
    /// A fence, which may be set from the start.
    #[must_use]
    pub fn new(is_set: bool) -> Arc<Self> {
        let signal = Arc::new(Signal::default());
        if is_set {
            signal.set(SET);
        }
        Arc::new(Self {
            handle: Handle::default(),
            signal,
        })
    }
}
