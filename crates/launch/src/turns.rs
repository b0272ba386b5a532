//! Groups of one worker that take turns.
//!
//! A group may wait for another one, by reading memory again and again. On a device both run at the same time; here the
//! other one may not have begun. So a group that takes long is put aside, and the next one begins: first two groups take
//! turns, and twice as many whenever none has ended for long. Groups that do not take long run one after the other.

use crate::effort::{After, Done, Effort};
use crate::error::LaunchError;
use std::collections::VecDeque;
use visakit_exec::{Group, Observer, Program};

/// Most groups of a worker that have begun and not ended.
const MOST: usize = 64;

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

    /// Another group of the worker is to run: saves what both use.
    fn put_aside(&mut self) {}

    /// Undoes [`Self::put_aside`].
    fn take_up(&mut self) {}
}

/// A group that has begun.
pub(crate) struct Begun<T> {
    pub(crate) team: T,
    /// Whether it reports to an observer.
    pub(crate) watched: bool,
    aside: bool,
}

/// How long turns are, in steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// How long a group runs until another one may begin beside it.
    pub(crate) patience: u64,
    /// One turn among several.
    pub(crate) steps: u64,
}

/// The groups of a worker that have begun.
pub(crate) struct Turns<T> {
    turn: Turn,
    waiting: VecDeque<Begun<T>>,
    idle: Vec<T>,
    /// Groups that may have begun at the same time.
    most: usize,
    /// Steps since a group ended, or since `most` grew.
    since: u64,
}

impl<T: Team> Turns<T> {
    pub(crate) const fn new(turn: Turn) -> Self {
        Self {
            turn,
            waiting: VecDeque::new(),
            idle: Vec::new(),
            most: 1,
            since: 0,
        }
    }

    /// Whether another group may begin now.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() < self.most
    }

    /// A group that begins.
    pub(crate) fn fresh(&mut self, watched: bool, team: impl FnOnce() -> T) -> Begun<T> {
        for other in &mut self.waiting {
            other.put_aside();
        }
        Begun {
            team: self.idle.pop().unwrap_or_else(team),
            watched,
            aside: false,
        }
    }

    /// The group whose turn it is.
    pub(crate) fn next(&mut self) -> Option<Begun<T>> {
        let mut next = self.waiting.pop_front()?;
        for other in &mut self.waiting {
            other.put_aside();
        }
        if std::mem::take(&mut next.aside) {
            next.team.take_up();
        }
        Some(next)
    }

    /// The steps of the next turn.
    pub(crate) fn fuel(&self) -> u64 {
        if self.most == 1 {
            self.turn.patience
        } else {
            self.turn.steps
        }
    }

    /// The turn of a group is over.
    pub(crate) fn paused(&mut self, group: Begun<T>, steps: u64) {
        self.waiting.push_back(group);
        self.since = self.since.saturating_add(steps);
        let patience = self.turn.patience.saturating_mul(self.most as u64);
        if self.since >= patience && self.most < MOST {
            self.most *= 2;
            self.since = 0;
        }
    }

    /// A group is over.
    pub(crate) fn ended(&mut self, group: Begun<T>) {
        self.since = 0;
        self.idle.push(group.team);
    }

    /// Gives up all groups that have begun.
    pub(crate) fn give_up(&mut self) -> impl Iterator<Item = Begun<T>> + '_ {
        self.waiting.drain(..)
    }
}

impl<T: Team> Begun<T> {
    fn put_aside(&mut self) {
        if !std::mem::replace(&mut self.aside, true) {
            self.team.put_aside();
        }
    }
}
