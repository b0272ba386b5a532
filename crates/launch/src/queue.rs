//! The groups that are still to be run, and who runs them.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Most groups that a worker takes at once.
const MOST: u64 = 64;

/// Hands out groups in ascending order, several at a time: short ones would otherwise spend their time on passing one
/// counter around.
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
struct Taken(Mutex<Range<u64>>);

impl Taken {
    fn next(&self, more: impl FnOnce() -> Range<u64>) -> Option<u64> {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        own.next().or_else(|| {
            *own = more();
            own.next()
        })
    }
}

impl Queue {
    /// The groups below `count`, for that many workers.
    pub(crate) fn new(count: u64, workers: u64) -> Self {
        Self {
            count,
            next: AtomicU64::new(0),
            taken: (0..workers).map(|_| Taken(Mutex::new(0..0))).collect(),
        }
    }

    /// The next group of a worker.
    pub(crate) fn next(&self, worker: u64) -> Option<u64> {
        let own = self.taken.get(usize::try_from(worker).ok()?)?;
        let mut others = self.taken.iter();
        own.next(|| self.take())
            .or_else(|| others.find_map(|other| other.next(|| 0..0)))
    }

    /// Groups that nobody has taken: ever fewer, so that workers end at the same time.
    fn take(&self) -> Range<u64> {
        let left = self.count.saturating_sub(self.next.load(Relaxed));
        let some = (left / (4 * self.taken.len() as u64)).clamp(1, MOST);
        let first = self.next.fetch_add(some, Relaxed).min(self.count);
        first..first.saturating_add(some).min(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_once() {
        for (count, workers) in [(0, 1), (1, 1), (1000, 1), (1000, 3), (5, 4)] {
            let queue = Queue::new(count, workers);
            let mut all: Vec<u64> = (0..count + 9)
                .filter_map(|turn| queue.next(turn % workers))
                .collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count), "{count} {workers}");
        }
    }

    #[test]
    fn nothing_stays_with_one_that_does_not_return() {
        let queue = Queue::new(1000, 2);
        assert_eq!(queue.next(0), Some(0));
        let rest: Vec<u64> = std::iter::from_fn(|| queue.next(1)).collect();
        assert_eq!(rest.len(), 999);
        // First what nobody has taken.
        assert!(rest.first() > Some(&1) && rest.contains(&1));
    }
}
