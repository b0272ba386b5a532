//! Groups of one worker that take turns.
//!
//! A group may wait for another one, by reading memory again and again. On a device both run at the same time; here the
//! other one may not have begun. So a group that takes long is put aside, and the next one begins: first two groups take
//! turns, and twice as many whenever none has ended for long. Groups that do not take long run one after the other.

use crate::config::Turn;
use crate::effort::{After, Done, Effort};
use crate::error::LaunchError;
use visakit_exec::{Group, Observer, Program};

/// Threads of the groups of a worker that have begun and not ended: as many as a device has.
const MOST_THREADS: usize = 2048;

/// The patience with several groups is at most this many times that with one.
const MOST_PATIENCE: usize = 16;

/// Groups of so many threads that may have begun and not ended.
pub(crate) fn most_groups(threads: usize) -> usize {
    (MOST_THREADS / threads.max(1)).max(2)
}

/// How far a group got in its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// To its end.
    Ended,
    /// To the end of its turn.
    Paused,
    /// It has to stop.
    Stopped,
}

/// A group that runs piece by piece, with all that it needs.
pub(crate) trait Team {
    /// Gets the group of that number ready, and tells the observer.
    ///
    /// # Errors
    /// [`LaunchError::Fault`] for a group that takes more memory than it may.
    fn begin(
        &mut self,
        number: u64,
        effort: &Effort<'_>,
        observer: &mut impl Observer,
    ) -> Result<(), LaunchError>;

    /// Runs at most `fuel` steps of it, and of groups that `after` tells of.
    ///
    /// # Errors
    /// Those of [`Effort::run`].
    fn go_on(
        &mut self,
        fuel: u64,
        effort: &Effort<'_>,
        done: &mut Done,
        observer: &mut impl Observer,
        after: &mut After<'_>,
    ) -> Result<Pace, LaunchError>;

    /// Number of the group.
    fn number(&self) -> u64;

    /// Its place in the grid.
    fn place(&self) -> [u32; 3];

    /// The threads, and their program.
    fn threads(&self) -> (&Group, &Program);

    /// Bytes of memory that groups of a worker have one after the other.
    fn shared_bytes(&self) -> u64 {
        0
    }

    /// Another group of the worker is to run: saves what both use.
    fn put_aside(&mut self) {}

    /// Undoes [`Self::put_aside`].
    fn take_up(&mut self) {}
}

/// A group that has begun.
pub(crate) struct Begun<T> {
    pub(crate) team: Box<T>,
    /// Whether it reports to an observer.
    pub(crate) watched: bool,
}

/// The groups of a worker that have begun and not ended, in the order in which they began.
pub(crate) struct Turns<T> {
    turn: Turn,
    all: Vec<Begun<T>>,
    /// The one that ran last.
    running: Option<usize>,
    /// Turns go up and down the list: a row of groups of which each waits for its neighbour ends in one pass, whichever of
    /// the two that is. This is the next place up, or the place after the next one down.
    at: usize,
    up: bool,
    idle: Vec<Box<T>>,
    /// Groups that may have begun at the same time.
    most: usize,
    /// Steps since a group ended, or since `most` grew.
    since: u64,
}

impl<T: Team> Turns<T> {
    pub(crate) const fn new(turn: Turn) -> Self {
        Self {
            turn,
            all: Vec::new(),
            running: None,
            at: 0,
            up: true,
            idle: Vec::new(),
            most: if turn.patience == 0 { usize::MAX } else { 1 },
            since: 0,
        }
    }

    /// Whether another group may begin now.
    pub(crate) fn has_room(&self) -> bool {
        let threads = self
            .all
            .first()
            .map_or(0, |group| group.team.threads().0.threads().len());
        self.all.len() < self.most.min(most_groups(threads))
    }

    /// The place of a group that is to begin.
    pub(crate) fn fresh(&mut self, watched: bool, team: impl FnOnce() -> T) -> usize {
        let place = self.all.len();
        self.switch(place);
        let team = self.idle.pop().unwrap_or_else(|| Box::new(team()));
        self.all.push(Begun { team, watched });
        place
    }

    /// The place of the group whose turn it is.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let count = self.all.len();
        if self.up && self.at >= count {
            (self.up, self.at) = (false, count);
        }
        if !self.up && self.at == 0 {
            self.up = true;
        }
        if count == 0 {
            return None;
        }
        let place = if self.up { self.at } else { self.at - 1 };
        self.at = if self.up { place + 1 } else { place };
        self.switch(place);
        Some(place)
    }

    /// Only one group of a worker can have what they share.
    fn switch(&mut self, place: usize) {
        if self.running == Some(place) {
            return;
        }
        if let Some(other) = self.running.and_then(|other| self.all.get_mut(other)) {
            other.team.put_aside();
        }
        if let Some(group) = self.all.get_mut(place) {
            group.team.take_up();
        }
        self.running = Some(place);
    }

    /// The group at a place.
    pub(crate) fn get(&mut self, place: usize) -> Option<&mut Begun<T>> {
        self.all.get_mut(place)
    }

    /// The steps of the next turn.
    pub(crate) fn fuel(&self) -> u64 {
        if self.most == 1 {
            return self.turn.patience;
        }
        // Copying takes less time than running.
        let copied = self
            .all
            .first()
            .map_or(0, |group| group.team.shared_bytes());
        self.turn.steps.max(copied)
    }

    /// A turn of that many steps is over.
    pub(crate) fn paused(&mut self, steps: u64) {
        self.since = self.since.saturating_add(steps);
        let times = self.most.min(MOST_PATIENCE) as u64;
        if self.since >= self.turn.patience.saturating_mul(times) && !self.has_room() {
            self.most = self.most.saturating_mul(2);
            self.since = 0;
        }
    }

    /// The group that ran last is over.
    pub(crate) fn ended(&mut self, place: usize) {
        if place < self.all.len() {
            let group = self.all.remove(place);
            self.idle.push(group.team);
        }
        if self.at > place {
            self.at -= 1;
        }
        (self.running, self.since) = (None, 0);
    }

    /// All groups that have begun, which do not go on.
    pub(crate) fn left(&self) -> impl Iterator<Item = &T> + '_ {
        self.all.iter().map(|group| &*group.team)
    }
}
