//! What is known about groups that have begun and not ended: they take turns.

use super::named::Named;
use super::{Checker, Thread};
use crate::race::{Cells, OfGroup};
use crate::shadow::Pages;
use hashbrown::HashMap;

/// The last plain read of an address by a lane: the step, and the value where it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainRead {
    pub(super) step: u32,
    pub(super) value: Option<u64>,
}

/// A lane of the group, and an address in local or in flat memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct OfLane {
    pub(super) local: bool,
    pub(super) address: u64,
    pub(super) thread: usize,
    pub(super) lane: u8,
}

/// A group: everything that means nothing to other groups.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) place: [u32; 3],
    /// Work-items in each dimension.
    pub(super) size: [u32; 3],
    /// Its number among the groups that began, from 1.
    pub(super) number: u32,
    /// Instructions that have begun.
    pub(super) instructions: u64,
    pub(super) threads: Vec<Option<Thread>>,
    pub(super) local: Pages,
    /// Private memory in flat memory, which groups use one after the other.
    pub(super) private: Pages,
    pub(super) local_cells: Cells,
    /// The barrier that threads have reached, and the first of them.
    pub(super) barrier: Option<(u64, u32, u32)>,
    pub(super) named: HashMap<u64, Named>,
    /// Whether part of the group did not reach a barrier.
    pub(super) diverged: bool,
    /// The last plain reads, in programs that compare and exchange.
    pub(super) reads: HashMap<OfLane, PlainRead>,
    /// The order of its accesses, while another group has its turn.
    order: OfGroup,
    /// It has begun and not ended.
    runs: bool,
}

impl Group {
    /// Another group, in the same allocations.
    fn restart(&mut self, place: [u32; 3], size: [u32; 3], number: u32) {
        self.threads.clear();
        self.local.clear();
        self.private.clear();
        self.local_cells.clear();
        self.named.clear();
        self.reads.clear();
        *self = Self {
            place,
            size,
            number,
            runs: true,
            threads: std::mem::take(&mut self.threads),
            local: std::mem::take(&mut self.local),
            private: std::mem::take(&mut self.private),
            local_cells: std::mem::take(&mut self.local_cells),
            named: std::mem::take(&mut self.named),
            reads: std::mem::take(&mut self.reads),
            ..Self::default()
        };
    }
}

impl Checker {
    /// Puts the group whose turn it was aside, if it is to go on later.
    fn put_aside(&mut self) {
        if self.group.runs {
            self.group.order = self.order.put_aside();
            let group = std::mem::replace(&mut self.group, self.spare.pop().unwrap_or_default());
            self.aside.insert(group.place, group);
        }
    }

    /// A group begins.
    pub(super) fn begin(&mut self, place: [u32; 3], size: [u32; 3]) {
        self.put_aside();
        self.begun = self.begun.saturating_add(1);
        self.group.restart(place, size, self.begun);
        self.order.start(self.begun, place);
    }

    /// A group goes on.
    pub(super) fn go_on(&mut self, place: [u32; 3]) {
        if self.group.runs && self.group.place == place {
            return;
        }
        let Some(mut group) = self.aside.remove(&place) else {
            return;
        };
        self.put_aside();
        self.order.take_up(std::mem::take(&mut group.order));
        let spare = std::mem::replace(&mut self.group, group);
        self.spare.push(spare);
    }

    /// The group does not go on.
    pub(super) const fn end(&mut self) {
        self.group.runs = false;
    }
}
