//! Threads of the driver.

use crate::sync::{Builder, Condvar, Mutex, lock};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread stays without jobs.
const REST: Duration = Duration::from_millis(200);

/// Bytes of a thread's stack: those of a program's first thread.
const STACK: usize = 8 << 20;

/// Something to be run.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// The number of the process in which it has a thread: processes that are forked do not inherit threads.
    process: Option<u32>,
    is_resting: bool,
    /// Nobody has the worker any more.
    is_left: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Runs jobs one after the other, in a thread that begins with the first one and ends when there has been none for a while.
#[derive(Default)]
pub(crate) struct Worker(Arc<Shared>);

impl Worker {
    /// Adds a job.
    pub(crate) fn push(&self, job: Job) {
        let shared = &self.0;
        let process = Some(visakit_host::forks());
        let mut state = lock(&shared.state);
        state.jobs.push_back(job);
        if state.process == process {
            if std::mem::take(&mut state.is_resting) {
                shared.changed.notify_one();
            }
            return;
        }
        state.process = process;
        drop(state);
        let theirs = Arc::clone(shared);
        let made = Builder::new().name("visakit".into()).stack_size(STACK);
        if made.spawn(move || theirs.work(REST)).is_err() {
            // There are no more threads: the jobs run here.
            shared.work(Duration::ZERO);
        }
    }

    /// Whether it has a thread in this process.
    pub(crate) fn has_thread(&self) -> bool {
        lock(&self.0.state).process == Some(visakit_host::forks())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        lock(&self.0.state).is_left = true;
        self.0.changed.notify_one();
    }
}

impl Shared {
    /// Runs jobs until there has been none for a while.
    fn work(&self, rest: Duration) {
        while let Some(job) = self.next(rest) {
            // A defect of a job is none of those after it.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    fn next(&self, rest: Duration) -> Option<Job> {
        let mut state = lock(&self.state);
        if let Some(job) = state.jobs.pop_front() {
            return Some(job);
        }
        let end = Instant::now() + rest;
        loop {
            let left = end.checked_duration_since(Instant::now());
            let Some(left) = left.filter(|_| !state.is_left) else {
                state.process = None;
                return None;
            };
            state.is_resting = true;
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.is_resting = false;
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
        }
    }
}

#[cfg(all(test, not(visakit_shuttle)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn threads_come_and_go() {
        let worker = Worker::default();
        assert!(!worker.has_thread());
        for turn in 1..=2 {
            let (said, heard) = channel();
            worker.push(Box::new(|| {
                let none: [u8; 0] = [];
                let _ = none.get(std::hint::black_box(1)).unwrap();
            }));
            worker.push(Box::new(move || said.send(turn).unwrap()));
            assert_eq!(heard.recv(), Ok(turn));
            let end = Instant::now() + Duration::from_secs(60);
            while worker.has_thread() {
                assert!(Instant::now() < end);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// Jobs that were pushed run, also if nobody has the worker any more.
    #[test]
    fn jobs_outlive_their_worker() {
        let (go, wait) = channel::<()>();
        let (said, heard) = channel();
        let worker = Worker::default();
        worker.push(Box::new(move || wait.recv().unwrap()));
        worker.push(Box::new(move || said.send(7).unwrap()));
        drop(worker);
        go.send(()).unwrap();
        assert_eq!(heard.recv(), Ok(7));
    }
}
