//! Runs the groups of a front, each for some time.

use super::{Media, at_group};
use crate::effort::{After, Done, Effort};
use crate::error::LaunchError;
use crate::front::Front;
use crate::turns::{self, Pace};
use visakit_exec::{Group, Observer, Program};

/// A group of a front.
pub(super) struct Team<'m> {
    media: &'m Media,
    front: Front,
    /// Number of the front's first group.
    first: u64,
    number: u64,
    group: Group,
}

impl<'m> Team<'m> {
    pub(super) fn new(media: &'m Media, front: Front, first: u64) -> Self {
        Self {
            media,
            front,
            first,
            number: first,
            group: Group::default(),
        }
    }

    fn at(&self) -> [u32; 2] {
        self.front.group(self.number.saturating_sub(self.first))
    }
}

impl turns::Team for Team<'_> {
    fn begin(
        &mut self,
        number: u64,
        effort: &Effort<'_>,
        observer: &mut impl Observer,
    ) -> Result<(), LaunchError> {
        self.number = number;
        observer.group(self.place(), self.media.group_size());
        self.media
            .reset(self.at(), &mut self.group, effort.limits())
    }

    fn go_on(
        &mut self,
        fuel: u64,
        effort: &Effort<'_>,
        done: &mut Done,
        observer: &mut impl Observer,
        _: &mut After<'_>,
    ) -> Result<Pace, LaunchError> {
        let (at, turn) = (self.at(), (self.number, fuel));
        let parts = (&mut self.group, &self.media.program, &self.media.memory);
        let fault = |fault| at_group(at, fault);
        effort.run(turn, parts, observer, done, fault, &mut || None)
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn place(&self) -> [u32; 3] {
        let [x, y] = self.at();
        [x, y, 0]
    }

    fn threads(&self) -> (&Group, &Program) {
        (&self.group, &self.media.program)
    }
}
