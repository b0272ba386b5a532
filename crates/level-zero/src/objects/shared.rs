//! Events that several processes of the machine have.
//!
//! Each process has a signal of its own for an event. What one does with it is posted to a board; the others follow when
//! they look at the event, and in a thread that waits for posts, so that waiting commands go on.
//!
//! An event of a pool has the slot with its number. One that is counter-based stands for one command after the other: each that
//! is shared has a slot of its own, and a generation, which is no other's. So what the event becomes later changes nothing
//! for those who wait for a generation. A slot is given to another one when its command has ended: who finds a later
//! generation in it knows that.

use super::event::Event;
use crate::error::{Error, Result, ensure};
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Relaxed},
};
use std::sync::{Arc, Mutex, Weak};
use std::thread::Builder;
use std::time::Duration;
use visakit_driver::context::lock;
use visakit_driver::error::Code;
use visakit_driver::signal::{Ended, Progress, Signal, Times};
use visakit_host::{Board, Pages, Post};

/// How long the thread waits before it looks whether anybody still has the events.
const REST: Duration = Duration::from_secs(1);

// States of slots.
const WAITS: u8 = 0;
const ENDED: u8 = 1;
const FAILED: u8 = 2;

/// Generations of a counter-based event whose commands may not have ended, if they are shared.
pub(super) const GENERATIONS: u32 = 256;

/// A board, and the events of this process that follow it.
#[derive(Debug)]
pub struct Watched {
    board: Arc<Board>,
    events: Mutex<Vec<Weak<Event>>>,
    is_watched: AtomicBool,
    /// The generation that was shared last. Who posts one has the lock.
    last: Arc<Mutex<u64>>,
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
            last: Arc::default(),
        })
    }

    /// A place for the next generation of a counter-based event, whose command has not ended.
    ///
    /// # Errors
    /// If too many have not ended.
    pub(super) fn next(self: &Arc<Self>) -> Result<Place> {
        let mut last = lock(&self.last);
        let next = *last + 1;
        let slots = self.board.slots().max(1) as u64;
        // After the slot that was given last: those of the others have had the most time to follow.
        let mut indices = (0..slots).map(|n| (next + n) % slots);
        let is_free = |index: &u64| {
            let post = usize::try_from(*index)
                .ok()
                .and_then(|at| self.board.read(at));
            post.is_some_and(|post| post.state != WAITS || post.numbers[2] == 0)
        };
        let index = indices.find(is_free).ok_or(Error::OUT_OF_HOST_MEMORY)?;
        let place = Place::new(self, index, next);
        place.slot.post(WAITS, Times::default());
        *last = next;
        Ok(place)
    }

    /// The place of a generation that another process shares.
    ///
    /// # Errors
    /// Generations that nobody has shared.
    pub fn generation(self: &Arc<Self>, index: u64, generation: u64) -> Result<Place> {
        let place = Place::new(self, index, generation);
        let post = self.board.read(place.slot.number());
        let is_known = post.is_some_and(|post| (1..=post.numbers[2]).contains(&generation));
        ensure(is_known, Error::INVALID_ARGUMENT)?;
        Ok(place)
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

    /// Its pages, for other processes that post nothing.
    pub fn pages_to_read(&self) -> Option<&Pages> {
        self.board.pages()
    }

    /// Follows for an event, too.
    pub(super) fn watch(&self, event: &Arc<Event>) {
        let mut events = lock(&self.events);
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
                let events = lock(&this.events).clone();
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
#[derive(Clone, Debug)]
pub struct Place {
    /// The board.
    pub shared: Arc<Watched>,
    slot: Arc<Slot>,
}

#[derive(Debug)]
struct Slot {
    board: Arc<Board>,
    last: Arc<Mutex<u64>>,
    index: u64,
    /// Which of the commands that the event stood for; 0 for events that are not counter-based.
    generation: u64,
    /// The post that this process knows of.
    seen: AtomicU64,
}

impl Slot {
    fn number(&self) -> usize {
        usize::try_from(self.index).unwrap_or(usize::MAX)
    }

    /// Whether the slot was given to a later command.
    fn is_past(&self, post: &Post) -> bool {
        post.numbers[2] > self.generation
    }

    fn tell(&self, progress: Progress) {
        let (state, times) = match progress {
            Progress::Waits => (WAITS, Times::default()),
            Progress::Runs => return,
            Progress::Ended(ended) if ended.result.is_ok() => (ENDED, ended.times),
            Progress::Ended(ended) => (FAILED, ended.times),
        };
        let _turn = lock(&self.last);
        let before = self.board.read(self.number());
        if !before.is_some_and(|post| self.is_past(&post)) {
            self.post(state, times);
        }
    }

    fn post(&self, state: u8, times: Times) {
        let numbers = [times.started, times.ended, self.generation];
        if let Some(mark) = self.board.post(self.number(), state, numbers) {
            self.seen.store(mark, Relaxed);
        }
    }

    /// What others have posted since.
    fn news(&self) -> Option<Progress> {
        let post = self.board.read(self.number())?;
        if self.seen.swap(post.mark, Relaxed) == post.mark {
            return None;
        }
        let [started, ended, _] = post.numbers;
        let mut times = Times { started, ended };
        let result = match post.state {
            _ if self.is_past(&post) => {
                times = Times::default();
                Ok(())
            }
            WAITS => return Some(Progress::Waits),
            ENDED => Ok(()),
            _ => Err(Code(opencl_sys::CL_OUT_OF_RESOURCES)),
        };
        Some(Progress::Ended(Ended { result, times }))
    }
}

impl Place {
    /// The place of an event with a number, or of a generation of one.
    pub(super) fn new(shared: &Arc<Watched>, index: u64, generation: u64) -> Self {
        let slot = Slot {
            board: Arc::clone(&shared.board),
            last: Arc::clone(&shared.last),
            index,
            generation,
            seen: AtomicU64::new(0),
        };
        Self {
            shared: Arc::clone(shared),
            slot: Arc::new(slot),
        }
    }

    /// The number of its slot, and its generation.
    #[must_use]
    pub fn numbers(&self) -> (u64, u64) {
        (self.slot.index, self.slot.generation)
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
