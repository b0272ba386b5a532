//! Events that several processes of the machine have.
//!
//! Each process has a signal of its own for an event. What one does with it is posted to a board; the others follow when
//! they look at the event, and in a thread that waits for posts, so that waiting commands go on.

use super::event::Event;
use crate::error::{Error, Result};
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Relaxed},
};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::Builder;
use std::time::Duration;
use visakit_driver::error::Code;
use visakit_driver::signal::{Ended, Progress, Signal, Times};
use visakit_host::{Board, Pages};

/// How long the thread waits before it looks whether anybody still has the events.
const REST: Duration = Duration::from_secs(1);

// States of slots.
const WAITS: u8 = 0;
const ENDED: u8 = 1;
const FAILED: u8 = 2;

/// A board, and the events of this process that follow it.
#[derive(Debug)]
pub struct Watched {
    board: Arc<Board>,
    events: Mutex<Vec<Weak<Event>>>,
    is_watched: AtomicBool,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.board.ring();
    }
}

impl Watched {
    /// For this many events, with flags that other processes learn.
    ///
    /// # Errors
    /// If the host has no pages for it.
    pub fn new(count: u32, flags: u32) -> Result<Arc<Self>> {
        let slots = usize::try_from(count).ok();
        let board = slots.and_then(|slots| Board::new(slots, flags.into()));
        Ok(Self::with(board.ok_or(Error::OUT_OF_HOST_MEMORY)?))
    }

    /// What another process made.
    ///
    /// # Errors
    /// Pages of anything else.
    pub fn open(pages: Pages) -> Result<Arc<Self>> {
        let made = Self::with(Board::of(pages).ok_or(Error::INVALID_ARGUMENT)?);
        made.begin();
        Ok(made)
    }

    fn with(board: Board) -> Arc<Self> {
        Arc::new(Self {
            board: Arc::new(board),
            events: Mutex::default(),
            is_watched: AtomicBool::new(false),
        })
    }

    /// Its flags.
    #[must_use]
    pub fn flags(&self) -> u32 {
        u32::try_from(self.board.note()).unwrap_or(0)
    }

    /// How many events it has.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.board.slots()).unwrap_or(u32::MAX)
    }

    /// Its pages, for other processes, whose posts are followed from now on.
    pub fn pages(self: &Arc<Self>) -> Option<&Pages> {
        self.begin();
        self.board.pages()
    }

    /// Follows for an event, too.
    pub(super) fn watch(&self, event: &Arc<Event>) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.retain(|event| event.strong_count() > 0);
        events.push(Arc::downgrade(event));
    }

    /// Starts the thread that waits for posts, once.
    fn begin(self: &Arc<Self>) {
        if self.is_watched.swap(true, AcqRel) {
            return;
        }
        let (this, board) = (Arc::downgrade(self), Arc::clone(&self.board));
        let follow = move || {
            loop {
                let rung = board.rung();
                let Some(this) = this.upgrade() else { return };
                let events = this
                    .events
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                drop(this);
                events
                    .iter()
                    .filter_map(Weak::upgrade)
                    .for_each(|event| event.refresh());
                board.wait(rung, REST);
            }
        };
        // If there are no more threads, events follow when they are looked at.
        let _ = Builder::new().name("visakit".into()).spawn(follow);
    }
}

/// The place of an event that other processes see.
#[derive(Debug)]
pub(super) struct Place {
    /// The board.
    pub(super) shared: Arc<Watched>,
    slot: Arc<Slot>,
}

#[derive(Debug)]
struct Slot {
    board: Arc<Board>,
    index: usize,
    /// The post that this process knows of.
    seen: AtomicU64,
}

impl Slot {
    fn tell(&self, progress: Progress) {
        let (state, times) = match progress {
            Progress::Waits => (WAITS, Times::default()),
            Progress::Runs => return,
            Progress::Ended(ended) if ended.result.is_ok() => (ENDED, ended.times),
            Progress::Ended(ended) => (FAILED, ended.times),
        };
        let numbers = [times.started, times.ended];
        if let Some(mark) = self.board.post(self.index, state, numbers) {
            self.seen.store(mark, Relaxed);
        }
    }

    /// What others have posted since.
    fn news(&self) -> Option<Progress> {
        let post = self.board.read(self.index)?;
        if self.seen.swap(post.mark, Relaxed) == post.mark {
            return None;
        }
        let [started, ended] = post.numbers;
        let times = Times { started, ended };
        let result = match post.state {
            WAITS => return Some(Progress::Waits),
            ENDED => Ok(()),
            _ => Err(Code(opencl_sys::CL_OUT_OF_RESOURCES)),
        };
        Some(Progress::Ended(Ended { result, times }))
    }
}

impl Place {
    /// The place of that number.
    pub(super) fn new(shared: &Arc<Watched>, index: u32) -> Self {
        let slot = Slot {
            board: Arc::clone(&shared.board),
            index: usize::try_from(index).unwrap_or(usize::MAX),
            seen: AtomicU64::new(0),
        };
        Self {
            shared: Arc::clone(shared),
            slot: Arc::new(slot),
        }
    }

    /// Tells other processes of all changes of a signal; of one that is from elsewhere they have decided.
    pub(super) fn connect(&self, signal: &Signal, is_ours: bool) {
        let slot = Arc::clone(&self.slot);
        signal.watch(is_ours, move |progress| slot.tell(progress));
        self.follow(signal);
    }

    /// Changes a signal as other processes did.
    pub(super) fn follow(&self, signal: &Signal) {
        signal.follow(|| self.slot.news());
    }
}
