//! The groups that are still to be run, and who runs them.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most groups that a worker takes at once.
const MOST: u64 = 64;

/// Instructions that the groups taken at once should have at least, and at most: some tens of microseconds.
const INSTRUCTIONS: Range<u64> = 1 << 14..1 << 16;

/// Hands out groups in ascending order. A worker takes several at a time if they are short, which would otherwise spend
/// their time on passing one counter around. Long ones, and ones that wait for those before them, it takes one by one,
/// so that neighbours run at the same time.
///
/// What a worker has taken and not begun is still there for others who find nothing else. So a group that runs for ever,
/// or waits for others, keeps none from running.
pub(crate) struct Queue {
    count: u64,
    /// The first one that nobody has taken.
    next: AtomicU64,
    taken: Vec<Taken>,
}

/// What a worker has taken, in its own line of the cache.
#[repr(align(64))]
struct Taken(Mutex<Own>);

/// The groups of a worker.
struct Own {
    left: Range<u64>,
    /// How many it took last; 0 before it took any.
    some: u64,
    /// Instructions that it had run when it took them.
    before: u64,
}

impl Own {
    /// Decides from what the last groups were like how many to take.
    fn learn(&mut self, instructions: u64) {
        let used = instructions.saturating_sub(self.before);
        self.before = instructions;
        if self.some == 0 {
            self.some = 1;
        } else if used < INSTRUCTIONS.start {
            self.some = (self.some * 2).min(MOST);
        } else if used > INSTRUCTIONS.end {
            self.some = (self.some / 2).max(1);
        }
    }
}

impl Queue {
    /// The groups below `count`, for that many workers.
    pub(crate) fn new(count: u64, workers: u64) -> Self {
        let own = |_| Own {
            left: 0..0,
            some: 0,
            before: 0,
        };
        Self {
            count,
            next: AtomicU64::new(0),
            taken: (0..workers)
                .map(|worker| Taken(Mutex::new(own(worker))))
                .collect(),
        }
    }

    /// The next group of a worker that has run so many instructions.
    pub(crate) fn next(&self, worker: u64, instructions: u64) -> Option<u64> {
        let mut own = lock(self.taken.get(usize::try_from(worker).ok()?)?);
        let next = own.left.next().or_else(|| {
            own.learn(instructions);
            own.left = self.take(own.some);
            own.left.next()
        });
        drop(own);
        let mut others = self.taken.iter();
        next.or_else(|| others.find_map(|other| lock(other).left.next()))
    }

    /// The group after this one, if the worker has taken it.
    pub(crate) fn after(&self, worker: u64, number: u64) -> Option<u64> {
        let mut own = lock(self.taken.get(usize::try_from(worker).ok()?)?);
        let next = number.checked_add(1)?;
        (own.left.start == next).then(|| own.left.next()).flatten()
    }

    /// Groups that nobody has taken: ever fewer, so that workers end at the same time.
    fn take(&self, some: u64) -> Range<u64> {
        let left = self.count.saturating_sub(self.next.load(Relaxed));
        let some = some.min(left / (4 * self.taken.len() as u64)).max(1);
        let first = self.next.fetch_add(some, Relaxed).min(self.count);
        first..first.saturating_add(some).min(self.count)
    }
}

fn lock(taken: &Taken) -> MutexGuard<'_, Own> {
    taken.0.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_once() {
        for (count, workers) in [(0, 1), (1, 1), (1000, 1), (1000, 3), (5, 4)] {
            let queue = Queue::new(count, workers);
            let mut all: Vec<u64> = (0..count + 9)
                .filter_map(|turn| queue.next(turn % workers, turn))
                .collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count), "{count} {workers}");
        }
    }

    #[test]
    fn nothing_stays_with_one_that_does_not_return() {
        let queue = Queue::new(1000, 2);
        // First one, then two.
        let begun: Vec<u64> = (0..2).filter_map(|_| queue.next(0, 0)).collect();
        assert_eq!(begun, [0, 1]);
        let rest: Vec<u64> = std::iter::from_fn(|| queue.next(1, 0)).collect();
        assert_eq!(rest.len(), 998);
        // First what nobody has taken.
        assert!(rest.first() == Some(&3) && rest.last() == Some(&2));
    }

    /// Groups that each wait for the one before are run by all workers at once.
    #[test]
    fn long_groups_are_taken_one_by_one() {
        let queue = Queue::new(1000, 2);
        for number in 0..100 {
            assert_eq!(
                queue.next(number % 2, number * INSTRUCTIONS.end),
                Some(number)
            );
        }
    }
}
