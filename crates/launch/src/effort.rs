//! Runs the groups of a launch, with their common budget and their means of stopping.

use crate::error::LaunchError;
use crate::kernel::Config;
use crate::queue::Queue;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use visakit_exec::{
    Counters, Group, HeaderDwords, Interrupt, Limits, Memory, Observer, Program, Progress,
};

/// Number of steps after which a group checks the state of the others.
const CHUNK: u64 = 1 << 17;

/// Number of chunks that a worker's groups before a faulted one get to fault themselves: so the fault that is reported is
/// deterministic, and endless loops are stopped.
const GRACE: u64 = 64;

/// Steps after which a worker adds its own to those of all, unless so few are left that each one counts. Short groups
/// would otherwise spend their time on passing one counter around.
const REPORTED: u64 = 1 << 16;

/// Steps left from which on each one counts: more than all workers together keep to themselves.
const FEW: u64 = 1 << 30;

/// Takes the group after the last one, if the worker may go on with it.
pub(crate) type After<'a> = dyn FnMut() -> Option<u64> + 'a;

/// State shared by the groups of a launch while they run.
pub(crate) struct Effort<'a> {
    config: &'a Config<'a>,
    chunk: u64,
    /// Steps of all groups, as far as they were reported.
    spent: AtomicU64,
    /// The first group, in order, that faulted.
    faulted: AtomicU64,
}

/// Observers of workers, one for each.
pub(crate) struct Observers<O>(Vec<Mutex<O>>);

impl<O> Observers<O> {
    pub(crate) fn new(workers: u64, observer: impl Fn() -> O) -> Self {
        Self((0..workers).map(|_| Mutex::new(observer())).collect())
    }

    /// The observer of a worker. Nobody else has it.
    pub(crate) fn of(&self, worker: u64) -> Option<MutexGuard<'_, O>> {
        let own = self.0.get(usize::try_from(worker).ok()?)?;
        Some(own.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All of them, when the workers are done.
    pub(crate) fn into_all(self) -> Vec<O> {
        let all = self.0.into_iter();
        all.map(|own| own.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }
}

/// The results of groups.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub(crate) counters: Counters,
    /// Groups that have ended.
    pub(crate) groups: u64,
    /// Whether some did not finish, because the run was interrupted.
    pub(crate) stopped: bool,
    /// Steps that were not reported to [`Effort::spent`].
    unreported: u64,
    /// Chunks that ran when a group had faulted.
    late: u64,
}

impl<'a> Effort<'a> {
    pub(crate) const fn new(config: &'a Config<'a>) -> Self {
        Self::in_chunks(config, CHUNK)
    }

    /// Groups that check for interruption after this many steps.
    const fn in_chunks(config: &'a Config<'a>, chunk: u64) -> Self {
        Self {
            config,
            chunk,
            spent: AtomicU64::new(0),
            faulted: AtomicU64::new(u64::MAX),
        }
    }

    pub(crate) const fn limits(&self) -> &Limits {
        &self.config.limits
    }

    fn interrupted(&self) -> bool {
        self.config.interrupt.is_some_and(Interrupt::is_raised)
    }

    /// Runs the group with that number to its end, or until it has to stop, and those that `more` tells of. Adds the
    /// counts to `done`; of the groups it counts the last one.
    ///
    /// # Errors
    /// Its fault, described by `fault`, and [`LaunchError::Steps`].
    pub(crate) fn run(
        &self,
        number: u64,
        (group, program, memory): (&mut Group, &Program, &Memory),
        observer: &mut impl Observer,
        done: &mut Done,
        fault: impl FnOnce(visakit_exec::Fault) -> LaunchError,
        more: &mut dyn FnMut() -> Option<HeaderDwords>,
    ) -> Result<(), LaunchError> {
        let (limits, most) = (&self.config.limits, self.config.max_steps);
        let ended = loop {
            let before = group.counters().instructions;
            let spent = self.spent.load(Relaxed).saturating_add(done.unreported);
            let left = most.saturating_sub(spent);
            let fuel = left.min(self.chunk);
            let interrupt = self.config.interrupt;
            let progress =
                group.advance_through(program, memory, limits, fuel, interrupt, observer, more);
            let used = group.counters().instructions - before;
            done.unreported += used;
            let spent = match left <= FEW || done.unreported >= REPORTED {
                true => self.report(done),
                false => spent.saturating_add(used),
            };
            let progress = match progress {
                Ok(progress) => progress,
                Err(found) => return Err(fault(found)),
            };
            if spent > most || (spent == most && progress == Progress::OutOfFuel) {
                return Err(LaunchError::Steps(most));
            }
            match progress {
                Progress::Ended => break true,
                Progress::Interrupted => break false,
                Progress::OutOfFuel => {}
            }
            let faulted = self.faulted.load(Relaxed);
            if faulted != u64::MAX {
                done.late += 1;
                if faulted < number || done.late >= GRACE {
                    break false;
                }
            }
        };
        done.counters += group.counters();
        done.groups += u64::from(ended);
        done.stopped |= !ended;
        if ended {
            self.progress();
        }
        Ok(())
    }

    /// A group has ended.
    pub(crate) fn progress(&self) {
        if let Some(progress) = self.config.progress {
            progress(1);
        }
    }

    /// Adds a worker's steps to those of all, and returns these.
    fn report(&self, done: &mut Done) -> u64 {
        let own = std::mem::take(&mut done.unreported);
        self.spent.fetch_add(own, Relaxed).saturating_add(own)
    }

    /// Runs the groups `first..first + count` on the threads of the rayon pool, at most `workers` at a time. A worker
    /// keeps the state created by `team` from group to group. A run of a group may go on with the one after it, if the
    /// function that it is given returns that one.
    ///
    /// # Errors
    /// That of the first group, in order, that has one.
    pub(crate) fn all<T>(
        &self,
        (first, count): (u64, u64),
        workers: u64,
        team: impl Fn(u64) -> T + Sync,
        run: impl Fn(&mut T, u64, &mut Done, &mut After<'_>) -> Result<(), LaunchError> + Sync,
    ) -> Result<Done, LaunchError> {
        let workers = workers.min(count).max(1);
        let queue = Queue::new(count, workers);
        let all = Mutex::new((Done::default(), None::<(u64, LaunchError)>));
        let worker = |slot: u64| {
            let mut team = team(slot);
            let mut done = Done::default();
            let mut failed = None;
            // An earlier group than a faulted one still gets to its own fault.
            while let Some(number) = queue.next(slot, done.counters.instructions)
                && self.faulted.load(Relaxed) >= first.saturating_add(number)
                && done.late < GRACE
            {
                if self.interrupted() {
                    done.stopped = true;
                    break;
                }
                let begun = first.saturating_add(number);
                let mut number = begun;
                let mut after = || {
                    let goes_on = self.faulted.load(Relaxed) == u64::MAX && !self.interrupted();
                    let next = goes_on.then(|| queue.after(slot, number - first))??;
                    number = first.saturating_add(next);
                    Some(number)
                };
                if let Err(error) = run(&mut team, begun, &mut done, &mut after) {
                    self.faulted.fetch_min(number, Relaxed);
                    failed = Some((number, error));
                    break;
                }
            }
            self.report(&mut done);
            if let Ok(mut all) = all.lock() {
                all.0 += done;
                if let Some(failed) = failed
                    && all.1.as_ref().is_none_or(|first| failed.0 < first.0)
                {
                    all.1 = Some(failed);
                }
            }
        };
        if workers == 1 {
            // Without waking other threads.
            worker(0);
        } else {
            rayon::scope(|scope| {
                for slot in 1..workers {
                    let worker = &worker;
                    scope.spawn(move |_| worker(slot));
                }
                worker(0);
            });
        }
        match all.into_inner().unwrap_or_default() {
            (_, Some((_, error))) => Err(error),
            (done, None) => self.checked(done),
        }
    }

    /// Runs groups one after the other, as long as they are not interrupted. The observer decides whether a fault ends
    /// that.
    ///
    /// # Errors
    /// That of the first group that has one, except for the faults that the observer ignores.
    pub(crate) fn each<G, O: Observer>(
        &self,
        groups: impl IntoIterator<Item = G>,
        observer: &mut O,
        mut run: impl FnMut(G, &mut Done, &mut O) -> Result<(), LaunchError>,
    ) -> Result<Done, LaunchError> {
        let mut done = Done::default();
        for group in groups {
            if self.interrupted() {
                done.stopped = true;
                break;
            }
            match run(group, &mut done, observer) {
                Err(LaunchError::Fault { fault, .. }) if observer.fault(&fault).is_continue() => {}
                other => other?,
            }
        }
        self.report(&mut done);
        self.checked(done)
    }

    /// The results, unless all groups together ran more steps than they may.
    fn checked(&self, done: Done) -> Result<Done, LaunchError> {
        let most = self.config.max_steps;
        match self.spent.load(Relaxed) > most {
            true => Err(LaunchError::Steps(most)),
            false => Ok(done),
        }
    }
}

impl std::ops::AddAssign for Done {
    fn add_assign(&mut self, other: Self) {
        self.counters += other.counters;
        self.groups = self.groups.saturating_add(other.groups);
        self.stopped |= other.stopped;
        self.unreported = self.unreported.saturating_add(other.unreported);
        self.late = self.late.saturating_add(other.late);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::case::Case;
    use std::path::{Path, PathBuf};

    /// Where the steps of a group are interrupted makes no difference to memory, counters, or comparisons.
    #[test]
    fn cut_anywhere() {
        let config = Config::default();
        let inside = |folder: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect()
        };
        let mut kernels = inside(&visakit_testing::fixtures().join("cases"));
        if let Some(shared) = visakit_testing::shared("fuel cut anywhere", "cases") {
            // One device of each kernel will do.
            kernels.extend(inside(&shared));
        }
        let described = |folder: &PathBuf| folder.join("case.json").exists();
        let mut cases = 0;
        for path in kernels
            .iter()
            .filter_map(|k| inside(k).into_iter().find(described))
        {
            let case = Case::open(&path).unwrap();
            let run = |chunk| {
                let verdict = case.run_launch(
                    false,
                    &config,
                    |object| object,
                    |launch| launch.run_with(&Effort::in_chunks(&config, chunk), 1),
                );
                let verdict = verdict.unwrap();
                assert!(verdict.difference.is_none(), "{}, {chunk}", case.name());
                let memory: Vec<_> = (0..32)
                    .map(|n| verdict.outcome.memory(n).map(<[u8]>::to_vec))
                    .collect();
                (verdict.outcome.counters, memory)
            };
            let whole = run(u64::MAX);
            let chunks: &[u64] = match whole.0.instructions {
                0..50_000 => &[1, 3, 977],
                50_000..1_000_000 => &[977],
                _ => continue,
            };
            for chunk in chunks {
                assert!(run(*chunk) == whole, "{}, {chunk}", case.name());
            }
            cases += 1;
        }
        assert!(cases >= 5, "{cases}");
    }
}
