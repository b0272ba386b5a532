//! Events, their pools, and fences.

use super::shared::{Place, Watched};
use crate::error::{Error, Result, ensure};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use visakit_driver::context::Context;
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

/// `ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP` and `…_HOST_TIMESTAMP`.
pub const COUNTER_TIMESTAMPS: u32 = 3 << 4;

/// What the numbers of events in a descriptor of one mean.
#[derive(Clone, Copy, Default, Debug)]
pub struct Scopes {
    /// `ZE_EVENT_SCOPE_FLAG_…` for those that signal.
    pub signal: u32,
    /// The same for those that wait.
    pub wait: u32,
}

impl Pool {
    /// A pool.
    ///
    /// # Errors
    /// If the host has no pages for one of several processes.
    pub fn new(
        context: &Arc<Context>,
        flags: u32,
        count: u32,
        counter: Option<u32>,
    ) -> Result<Arc<Self>> {
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
/// for that.
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
    signal: Mutex<Arc<Signal>>,
    /// Where other processes see it.
    place: OnceLock<Place>,
}

const SET: Ended = Ended {
    result: Ok(()),
    times: Times {
        started: 0,
        ended: 0,
    },
};

impl Event {
    /// An event of a pool.
    ///
    /// # Errors
    /// Numbers that the pool does not have.
    pub fn new(pool: &Arc<Pool>, index: u32, scopes: Scopes) -> Result<Arc<Self>> {
        ensure(index < pool.count, Error::INVALID_ARGUMENT)?;
        let is_timed = pool.flags & TIMESTAMPS != 0;
        let made = Self::with(Some(Arc::clone(pool)), pool.counter, is_timed, scopes);
        if let Some(shared) = &pool.shared {
            made.share(shared, index, !pool.is_opened);
        }
        Ok(made)
    }

    /// An event that another process made apart from pools.
    #[must_use]
    pub fn open(shared: &Arc<Watched>) -> Arc<Self> {
        let flags = shared.flags();
        let is_timed = flags & COUNTER_TIMESTAMPS != 0;
        let made = Self::with(None, Some(flags), is_timed, Scopes::default());
        made.share(shared, 0, false);
        made
    }

    /// Lets other processes see it; one that is not from elsewhere tells them what it is.
    fn share(self: &Arc<Self>, shared: &Arc<Watched>, index: u32, is_ours: bool) {
        let place = self.place.get_or_init(|| Place::new(shared, index));
        place.connect(&Arc::clone(&self.lock()), is_ours);
        shared.watch(self);
    }

    /// What other processes need to see it, if it has no pool.
    ///
    /// # Errors
    /// Events of pools, or if the host has no pages.
    pub fn shared(self: &Arc<Self>) -> Result<Arc<Watched>> {
        let flags = self.counter.filter(|_| self.pool.is_none());
        let flags = flags.ok_or(Error::INVALID_ARGUMENT)?;
        if self.place.get().is_none() {
            self.share(&Watched::new(1, flags)?, 0, true);
        }
        let place = self.place.get().ok_or(Error::OUT_OF_HOST_MEMORY)?;
        Ok(Arc::clone(&place.shared))
    }

    /// Learns what other processes have done.
    pub fn refresh(&self) {
        if let Some(place) = self.place.get() {
            place.follow(&Arc::clone(&self.lock()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Signal>> {
        self.signal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An event, counter-based if it has flags of that.
    #[must_use]
    pub fn with(
        pool: Option<Arc<Pool>>,
        counter: Option<u32>,
        is_timed: bool,
        scopes: Scopes,
    ) -> Arc<Self> {
        let signal = Signal::default();
        if counter.is_some() {
            // It waits for no command.
            signal.set(SET);
        }
        Arc::new(Self {
            handle: Handle::default(),
            pool,
            counter,
            is_timed,
            scopes,
            signal: Mutex::new(Arc::new(signal)),
            place: OnceLock::new(),
        })
    }

    /// What those wait for who wait for it from now on.
    #[must_use]
    pub fn signal(&self) -> Arc<Signal> {
        self.refresh();
        Arc::clone(&self.lock())
    }

    /// What a command sets that gets the event now.
    #[must_use]
    pub fn for_command(&self) -> Arc<Signal> {
        if self.counter.is_some() {
            let mut signal = self.lock();
            *signal = Arc::default();
            if let Some(place) = self.place.get() {
                place.connect(&signal, true);
            }
            return Arc::clone(&signal);
        }
        self.signal()
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
