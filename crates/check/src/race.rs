//! Conflicting accesses without an order.
//!
//! Every thread counts its messages. Barriers, and fences with atomics, publish a point in that count to other threads:
//! what a thread did before that point happened before. Memory records who accessed it last ([`Cells`]); an access that
//! conflicts with a recorded one that its thread has not been synchronised with is a race, however the host ran them.

mod cells;
#[cfg(test)]
mod tests;

pub(crate) use cells::{Cells, Earlier, LANES, Now, Record};

use crate::finding::Between;
use hashbrown::HashMap;
use std::sync::Arc;
use visakit_launch::Dependency;

/// Maximum number of published points.
const MOST_POINTS: usize = 1 << 20;

/// Phases of named barriers are numbered from here: waiting for one synchronises with all who signalled it.
pub(crate) const NAMED: u64 = 1 << 40;

/// What a thread knows about the others of its group.
#[derive(Clone, Debug, Default)]
struct Thread {
    time: u32,
    /// Up to where its writes are fenced: local, global for the group, global for all groups.
    fenced: [u32; 3],
    wrote_global: bool,
    known: Vec<Known>,
    /// Up to where accesses of threads of other groups are known.
    foreign: Points,
}

/// Of a thread of the group: up to where its reads, local writes, and global writes are known, and up to where its global
/// writes reach other groups.
type Known = [u32; 4];

/// What a group published for itself: what is known of its own threads, and of those of other groups.
#[derive(Clone, Debug, Default)]
struct Published {
    own: Vec<Known>,
    foreign: Points,
}

/// For groups: up to where the accesses of each of their threads are known.
type Points = HashMap<u32, Arc<[u32]>>;

/// Order of the accesses of a group.
#[derive(Debug, Default)]
pub(crate) struct OfGroup {
    number: u32,
    threads: Vec<Thread>,
    /// For each barrier in progress: what the threads that arrived have published.
    arrived: HashMap<u64, Vec<Known>>,
    foreign_arrived: HashMap<u64, Points>,
    /// What was published at atomic locations for the group alone: in local memory, or in flat memory behind a fence whose
    /// scope is the group.
    points: HashMap<(bool, u64), Published>,
}

/// Order of the accesses of a launch.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Of the group whose turn it is.
    own: OfGroup,
    /// What was published at atomic locations in flat memory for all groups.
    points: HashMap<u64, Points>,
    /// Number of entries there.
    count: usize,
    /// The lanes of a thread are one program, whose order they follow.
    scalar: bool,
    /// Which groups end before others begin, and the places of the groups, if any do.
    dependency: Dependency,
    places: Vec<[u32; 2]>,
}

/// Two accesses that conflict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) other: Earlier,
    pub(crate) between: Between,
    /// The step of a plain read, if the other access is atomic: programs read what they then try to exchange.
    pub(crate) tried: Option<u32>,
}

impl Conflict {
    /// What distinguishes it from others of the same access.
    pub(crate) const fn class(&self) -> (Between, bool, bool, bool, Option<u32>) {
        let Earlier {
            writes,
            atomic,
            same_value,
            ..
        } = self.other;
        (self.between, writes, atomic, same_value, self.tried)
    }
}

impl Order {
    /// The order of threads whose lanes are one program, and of groups that wait for others.
    pub(crate) fn of_threads(dependency: Dependency) -> Self {
        Self {
            scalar: true,
            dependency,
            ..Self::default()
        }
    }

    /// Another group starts, at that place.
    pub(crate) fn start(&mut self, group: u32, place: [u32; 3]) {
        let [x, y, _] = place;
        if self.dependency != Dependency::Free {
            self.places.push([x, y]);
        }
        let own = &mut self.own;
        own.number = group;
        own.threads.clear();
        own.arrived.clear();
        own.foreign_arrived.clear();
        own.points.clear();
    }

    /// Another group has its turn.
    pub(crate) fn put_aside(&mut self) -> OfGroup {
        std::mem::take(&mut self.own)
    }

    /// A group that was put aside goes on.
    pub(crate) fn take_up(&mut self, group: OfGroup) {
        self.own = group;
    }

    fn thread(&mut self, thread: usize) -> &mut Thread {
        let all = &mut self.own.threads;
        let missing = (thread + 1).saturating_sub(all.len());
        for _ in 0..missing {
            all.push(Thread {
                time: 1,
                ..Thread::default()
            });
        }
        // It exists now.
        let threads = all.len();
        let found = all.get_mut(thread.min(threads - 1));
        #[expect(
            clippy::unwrap_used,
            reason = "the list is not empty and the index below its length"
        )]
        found.unwrap()
    }

    /// A message of the thread is about to run; returns its time.
    pub(crate) fn message(&mut self, thread: usize) -> u32 {
        let thread = self.thread(thread);
        thread.time = thread.time.saturating_add(1);
        thread.time
    }

    /// The thread runs a fence, for local memory or for global, and for other groups, too.
    pub(crate) fn fence(&mut self, thread: usize, local: bool, beyond_group: bool) {
        let thread = self.thread(thread);
        let [of_local, of_global, of_all] = &mut thread.fenced;
        *if local { of_local } else { of_global } = thread.time;
        if beyond_group {
            *of_all = thread.time;
            // What it knows of its group is before the fence, and reaches others with its own writes.
            for [.., in_group, of_all] in &mut thread.known {
                *of_all = *in_group;
            }
        }
        thread.time = thread.time.saturating_add(1);
    }

    fn told(&mut self, number: usize) -> Vec<Known> {
        let thread = self.thread(number);
        let mut told = thread.known.clone();
        if told.len() <= number {
            told.resize(number + 1, [0; 4]);
        }
        let [local, global, of_all] = thread.fenced;
        if let Some(own) = told.get_mut(number) {
            *own = [thread.time, local, global, of_all];
        }
        told
    }

    /// The thread arrives at the barrier of that number; returns when.
    pub(crate) fn arrive(&mut self, number: usize, barrier: u64) -> u32 {
        let told = self.told(number);
        let at = self.own.arrived.entry(barrier).or_default();
        join(at, &told);
        let thread = self.thread(number);
        let time = thread.time;
        thread.time = time.saturating_add(1);
        let foreign = thread.foreign.clone();
        if !foreign.is_empty() {
            let at = self.own.foreign_arrived.entry(barrier).or_default();
            learn(at, &foreign);
        }
        // Barriers that all threads have left.
        let left = |at: u64| at < NAMED && barrier < NAMED && at + 4 <= barrier;
        self.own.arrived.retain(|at, _| !left(*at));
        self.own.foreign_arrived.retain(|at, _| !left(*at));
        time
    }

    /// Nobody will leave the barrier with that number any more.
    pub(crate) fn forget(&mut self, barrier: u64) {
        self.own.arrived.remove(&barrier);
        self.own.foreign_arrived.remove(&barrier);
    }

    /// Whether a thread of the group knows what another one did at some time.
    pub(crate) fn knows(&self, thread: usize, other: usize, time: u32) -> bool {
        let known = self.own.threads.get(thread);
        let known = known.and_then(|t| t.known.get(other));
        known.is_some_and(|[known, ..]| time <= *known)
    }

    /// The thread leaves the barrier of that number.
    pub(crate) fn leave(&mut self, number: usize, barrier: u64) {
        let told = self.own.arrived.get(&barrier).cloned().unwrap_or_default();
        let foreign = self.own.foreign_arrived.get(&barrier).cloned();
        let thread = self.thread(number);
        join(&mut thread.known, &told);
        learn(&mut thread.foreign, &foreign.unwrap_or_default());
    }

    /// The thread runs an atomic operation there: it synchronises with what others published, and publishes what it
    /// fenced.
    pub(crate) fn synchronize(&mut self, number: usize, local: bool, address: u64) {
        let group = self.own.number;
        let told = self.told(number);
        let thread = self.thread(number);
        let has_news = thread.fenced != [0; 3] && (local || thread.wrote_global || told.len() > 1);
        let foreign = thread.foreign.clone();
        let place = (local, address);
        let for_group = self.own.points.get(&place).cloned().unwrap_or_default();
        let for_all = match local {
            true => Points::default(),
            false => self.points.get(&address).cloned().unwrap_or_default(),
        };
        if (has_news || !foreign.is_empty()) && self.count < MOST_POINTS {
            let only_group = told.iter().any(|[.., in_group, of_all]| in_group > of_all);
            if local || has_news && only_group {
                let published = self.own.points.entry(place).or_insert_with(|| {
                    self.count += usize::from(!local);
                    Published::default()
                });
                // Up to where all accesses are fenced.
                let points = told.iter().map(|[_, of_local, in_group, of_all]| {
                    let fenced = if local { *of_local } else { *in_group };
                    [fenced, fenced, fenced, *of_all]
                });
                if has_news {
                    join(&mut published.own, &points.collect::<Vec<_>>());
                }
                learn(&mut published.foreign, &foreign);
            }
            if !local {
                let published = self.points.entry(address).or_default();
                let before = published.len();
                if has_news {
                    learn_of(
                        published,
                        group,
                        &told.iter().map(|[.., of_all]| *of_all).collect(),
                    );
                }
                learn(published, &foreign);
                self.count += published.len() - before;
            }
        }
        let thread = self.thread(number);
        join(&mut thread.known, &for_group.own);
        learn(&mut thread.foreign, &for_group.foreign);
        for (from, points) in &for_all {
            if *from == group {
                let all: Vec<_> = points.iter().map(|p| [*p; 4]).collect();
                join(&mut thread.known, &all);
            } else {
                learn_of(&mut thread.foreign, *from, points);
            }
        }
        thread.time = thread.time.saturating_add(1);
    }

    /// Whether more was published than is kept, so that accesses may have an order that is not known.
    pub(crate) const fn is_full(&self) -> bool {
        self.count >= MOST_POINTS
    }

    /// Whether an earlier access happened before what the thread of `now` does, or is of no concern to it: what another
    /// group does in local memory.
    fn is_past(&self, earlier: &Record, writes: bool, local: bool, now: &Record) -> bool {
        local && earlier.group != now.group || self.precedes(earlier, writes, local, now)
    }

    fn precedes(&self, earlier: &Record, writes: bool, local: bool, now: &Record) -> bool {
        let Some(thread) = self.own.threads.get(usize::from(now.thread)) else {
            return false;
        };
        let Record {
            group,
            thread: of,
            time,
            ..
        } = *earlier;
        if group == now.group {
            let index = match (writes, local) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => 2,
            };
            let known = thread.known.get(usize::from(of));
            return known.and_then(|k| k.get(index)).is_some_and(|k| time <= *k);
        }
        let points = thread.foreign.get(&group);
        points
            .and_then(|p| p.get(usize::from(of)))
            .is_some_and(|p| time <= *p)
            || self.is_full()
    }

    /// The recorded access that an access conflicts with, if they are not ordered.
    fn conflict(&self, earlier: &Earlier, local: bool, now: &Now) -> Option<Conflict> {
        // What an earlier group did in local memory is irrelevant.
        if earlier.atomic && now.atomic || local && earlier.record.group != now.record.group {
            return None;
        }
        let same_thread = earlier.record.same_thread(&now.record);
        if same_thread && self.scalar || self.waits(earlier.record.group, now.record.group) {
            return None;
        }
        // A lane is ordered with itself by the program; what all lanes do together is not examined.
        if same_thread && earlier.same_lane {
            return None;
        }
        let between = match same_thread {
            true if earlier.record.time == now.record.time => Between::Lanes,
            true => Between::Lockstep,
            false if earlier.record.group == now.record.group => Between::Threads,
            false => Between::Groups,
        };
        if between == Between::Lockstep {
            // A fence between them is an order of the lanes.
            let of = self.own.threads.get(usize::from(now.record.thread));
            let fenced = of.and_then(|t| t.fenced.get(usize::from(!local)));
            if fenced.is_some_and(|fenced| earlier.record.time <= *fenced) {
                return None;
            }
        }
        let tried = match (earlier.atomic, now.atomic) {
            (true, _) if !now.writes => Some(now.record.step),
            (_, true) if !earlier.writes => Some(earlier.record.step),
            _ => None,
        };
        (!self.precedes(&earlier.record, earlier.writes, local, &now.record)).then_some(Conflict {
            other: *earlier,
            between,
            tried,
        })
    }

    /// Whether a group began after the end of another one.
    fn waits(&self, earlier: u32, now: u32) -> bool {
        // Groups are counted from 1.
        let place = |group: u32| {
            self.places
                .get(usize::try_from(group).ok()?.checked_sub(1)?)
        };
        let places = place(earlier).zip(place(now));
        places.is_some_and(|(earlier, now)| self.dependency.orders(*earlier, *now))
    }

    /// The place of a group, if they do not run in the order of the grid.
    pub(crate) fn place(&self, group: u32) -> Option<[u32; 3]> {
        let index = usize::try_from(group).ok()?;
        self.places.get(index).map(|[x, y]| [*x, *y, 0])
    }

    /// Checks an access to a cell, and records it. Adds the conflicts, of each class the first one.
    pub(crate) fn access(
        &mut self,
        cells: &mut Cells,
        (local, cell): (bool, u64),
        now: &Now,
        found: &mut Vec<(Conflict, Now)>,
    ) {
        if now.writes && !local {
            self.thread(usize::from(now.record.thread)).wrote_global = true;
        }
        let is_past = |earlier: &Record, writes| self.is_past(earlier, writes, local, &now.record);
        if !cells.access_ordered(cell, now, is_past) {
            self.examine(cells, (local, cell), now, found);
        }
    }

    /// [`Order::access`], of a cell with any history.
    fn examine(
        &self,
        cells: &mut Cells,
        (local, cell): (bool, u64),
        now: &Now,
        found: &mut Vec<(Conflict, Now)>,
    ) {
        let look = |earlier: &Earlier| {
            if let Some(conflict) = self.conflict(earlier, local, now)
                && found.iter().all(|(f, _)| f.class() != conflict.class())
            {
                found.push((conflict, *now));
            }
        };
        cells.access(cell, now, look, |read| {
            self.is_past(read, false, local, &now.record)
        });
    }
}

/// Adds what is known of the threads of other groups.
fn learn(to: &mut Points, from: &Points) {
    for (group, points) in from {
        learn_of(to, *group, points);
    }
}

/// Adds what is known of the threads of a group.
fn learn_of(to: &mut Points, group: u32, points: &Arc<[u32]>) {
    let known = to.entry(group).or_insert_with(|| Arc::clone(points));
    let reaches = |known: &[u32]| {
        known.len() >= points.len() && known.iter().zip(points.iter()).all(|(a, b)| a >= b)
    };
    if !Arc::ptr_eq(known, points) && !reaches(known) {
        let at = |list: &[u32], n: usize| list.get(n).copied().unwrap_or(0);
        let all = 0..known.len().max(points.len());
        *known = all.map(|n| at(known, n).max(at(points, n))).collect();
    }
}

fn join(to: &mut Vec<Known>, from: &[Known]) {
    if to.len() < from.len() {
        to.resize(from.len(), [0; 4]);
    }
    for (to, from) in to.iter_mut().zip(from) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = (*to).max(*from);
        }
    }
}
