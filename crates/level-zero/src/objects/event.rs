//! Events, their pools, and fences.

use crate::error::{Error, Result, ensure};
use std::sync::{Arc, Mutex, PoisonError};
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
}

/// `ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP` and `…_MAPPED_TIMESTAMP`.
const TIMESTAMPS: u32 = 3 << 2;

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
    #[must_use]
    pub fn new(context: &Arc<Context>, flags: u32, count: u32, counter: Option<u32>) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            flags,
            count,
            counter,
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
        Ok(Self::with(
            Some(Arc::clone(pool)),
            pool.counter,
            is_timed,
            scopes,
        ))
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
        })
    }

    /// What those wait for who wait for it from now on.
    #[must_use]
    pub fn signal(&self) -> Arc<Signal> {
        Arc::clone(&self.signal.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What a command sets that gets the event now.
    #[must_use]
    pub fn for_command(&self) -> Arc<Signal> {
        if self.counter.is_some() {
            let mut signal = self.signal.lock().unwrap_or_else(PoisonError::into_inner);
            *signal = Arc::default();
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
