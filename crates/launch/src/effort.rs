//! Runs the groups of a launch, with their common budget and their means of stopping.

use crate::config::{Config, Turn};
use crate::end::{End, Reason, Standing, standing};
use crate::error::LaunchError;
use crate::queue::Queue;
use crate::turns::{Pace, Team, Turns};
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

/// Turns in which groups run that report to nobody.
const UNWATCHED: Turn = Turn {
    patience: 1 << 22,
    steps: CHUNK,
};

/// Turns in which groups run of which some report everything.
const SAMPLED: Turn = Turn {
    patience: 1 << 20,
    steps: 1 << 14,
};

/// Turns in which groups run that report everything, which takes a hundred times as long.
const WATCHED: Turn = Turn {
    patience: 1 << 18,
    steps: 1 << 12,
};

/// Takes the group after the one of that number, if the worker may go on with it.
pub(crate) type After<'a> = dyn FnMut(u64) -> Option<u64> + 'a;

/// Which groups are watched, if any.
pub(crate) type Selection<'a> = Option<&'a (dyn Fn(u64) -> bool + Sync)>;

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
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    pub(crate) counters: Counters,
    /// Groups that have ended.
    pub(crate) groups: u64,
    /// Why some have not.
    pub(crate) reason: Option<Reason>,
    /// Where the threads of those were.
    pub(crate) threads: Vec<Standing>,
    /// Steps that were not reported to [`Effort::spent`].
    unreported: u64,
    /// Chunks that ran when a group had faulted.
    late: u64,
}

impl Done {
    /// Some group does not reach its end. What ends a run is told before what ends a group of it.
    fn stop(&mut self, reason: Reason) {
        if matches!(self.reason, None | Some(Reason::Fault(_))) {
            let first = self.reason.take_if(|_| matches!(reason, Reason::Fault(_)));
            self.reason = Some(first.unwrap_or(reason));
        }
    }

    /// Says where the threads of a group are.
    fn stand(&mut self, team: &impl Team) {
        let (group, program) = team.threads();
        standing(&mut self.threads, team.place(), group, program);
    }

    /// How a run of that many groups ended.
    pub(crate) fn end(&mut self, groups: u64) -> End {
        let threads = std::mem::take(&mut self.threads);
        End::new(self.reason.take(), (self.groups, groups), threads)
    }
}

/// The groups that a worker is to run.
struct Source<'q> {
    queue: &'q Queue,
    /// Number of the worker.
    slot: u64,
    /// Number of the first group.
    first: u64,
}

impl Source<'_> {
    /// The group after this one, if it is the worker's next.
    fn after(&self, number: u64) -> Option<u64> {
        let next = self
            .queue
            .after(self.slot, number.checked_sub(self.first)?)?;
        Some(self.first.saturating_add(next))
    }
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

    /// Runs the group with that number for a turn of that many steps, to its end, or until it has to stop, and those that
    /// `more` tells of. If its turn is not over, adds the counts to `done`; of the groups it counts the last one.
    ///
    /// # Errors
    /// Its fault, described by `fault`, and [`LaunchError::Steps`].
    pub(crate) fn run(
        &self,
        (number, mut turn): (u64, u64),
        (group, program, memory): (&mut Group, &Program, &Memory),
        observer: &mut impl Observer,
        done: &mut Done,
        fault: impl FnOnce(visakit_exec::Fault) -> LaunchError,
        more: &mut dyn FnMut() -> Option<HeaderDwords>,
    ) -> Result<Pace, LaunchError> {
        let (limits, most) = (&self.config.limits, self.config.max_steps);
        let pace = loop {
            let before = group.counters().instructions;
            let spent = self.spent.load(Relaxed).saturating_add(done.unreported);
            let left = most.saturating_sub(spent);
            let fuel = left.min(self.chunk).min(turn);
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
                Progress::Ended => break Pace::Ended,
                Progress::Interrupted => break Pace::Stopped,
                Progress::OutOfFuel => {}
            }
            let faulted = self.faulted.load(Relaxed);
            if faulted != u64::MAX {
                done.late += 1;
                if faulted < number || done.late >= GRACE {
                    break Pace::Stopped;
                }
            }
            turn = turn.saturating_sub(used);
            if turn == 0 {
                return Ok(Pace::Paused);
            }
        };
        done.counters += group.counters();
        if pace == Pace::Ended {
            done.groups += 1;
            self.progress();
        }
        Ok(pace)
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
    /// keeps what `team` creates from group to group. Those selected by `watched` report everything to the observer of
    /// their worker. A run of a group may go on with the one after it, unless somebody watches.
    ///
    /// # Errors
    /// That of the first group, in order, that has one.
    pub(crate) fn all<T: Team, O: Observer + Send>(
        &self,
        (first, count): (u64, u64),
        workers: u64,
        team: impl Fn(u64) -> T + Sync,
        (watched, observers): (Selection<'_>, &Observers<O>),
    ) -> Result<Done, LaunchError> {
        let workers = workers.min(count).max(1);
        let usual = if watched.is_none() {
            UNWATCHED
        } else {
            SAMPLED
        };
        let queue = Queue::new(count, workers);
        let all = Mutex::new((Done::default(), None::<(u64, LaunchError)>));
        let worker = |slot: u64| {
            let mut done = Done::default();
            let source = Source {
                queue: &queue,
                slot,
                first,
            };
            let failed = observers.of(slot).and_then(|mut own| {
                let mut turns = Turns::new(self.config.turn.unwrap_or(usual));
                self.work(
                    &source,
                    &mut turns,
                    || team(slot),
                    watched,
                    &mut *own,
                    &mut done,
                )
            });
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

    /// Runs groups by one worker that tells an observer of everything, as long as they are not interrupted. The observer
    /// decides whether a fault ends that. The limit on the steps of all groups is a reason to stop.
    ///
    /// # Errors
    /// That of the first group that has one, except for the faults that the observer passes over.
    pub(crate) fn each<T: Team>(
        &self,
        (first, count): (u64, u64),
        team: impl Fn() -> T,
        observer: &mut impl Observer,
    ) -> Result<Done, LaunchError> {
        let mut done = Done::default();
        let source = Source {
            queue: &Queue::new(count, 1),
            slot: 0,
            first,
        };
        let mut turns = Turns::new(self.config.turn.unwrap_or(WATCHED));
        let failed = self.work(
            &source,
            &mut turns,
            team,
            Some(&|_| true),
            observer,
            &mut done,
        );
        self.report(&mut done);
        let most = self.config.max_steps;
        match failed {
            Some((_, LaunchError::Steps(_))) => done.stop(Reason::Steps(most)),
            Some((_, error)) => return Err(error),
            None if self.spent.load(Relaxed) > most => done.stop(Reason::Steps(most)),
            None => {}
        }
        Ok(done)
    }

    /// Runs groups, which take turns if they take long, until there is none or they have to stop. Returns the first one,
    /// in order, that failed.
    fn work<T: Team, O: Observer>(
        &self,
        source: &Source<'_>,
        turns: &mut Turns<T>,
        team: impl Fn() -> T,
        watched: Selection<'_>,
        observer: &mut O,
        done: &mut Done,
    ) -> Option<(u64, LaunchError)> {
        let mut failed: Option<(u64, LaunchError)> = None;
        loop {
            let new = turns.has_room().then(|| self.next(source, done)).flatten();
            let is_watched = |number| watched.is_some_and(|watched| watched(number));
            let place = match new {
                Some(number) => Some(turns.fresh(is_watched(number), &team)),
                None => turns.next(),
            };
            let fuel = turns.fuel();
            let Some((place, group)) = place.and_then(|at| Some((at, turns.get(at)?))) else {
                break;
            };
            if self.interrupted() {
                done.stop(Reason::Interrupted);
                if new.is_some() {
                    turns.ended(place);
                }
                break;
            }
            let mut after = |number: u64| {
                let goes_on = self.faulted.load(Relaxed) == u64::MAX && !self.interrupted();
                let next = (goes_on && watched.is_none()).then(|| source.after(number));
                next.flatten()
            };
            let pace = match group.watched {
                true => self.turn(&mut *group.team, new, fuel, done, observer),
                false => {
                    let begun = new.map_or(Ok(()), |n| group.team.begin(n, self, &mut ()));
                    begun.and_then(|()| group.team.go_on(fuel, self, done, &mut (), &mut after))
                }
            };
            match pace {
                Ok(Pace::Paused) => turns.paused(fuel),
                Ok(Pace::Ended) => {
                    if group.watched {
                        observer.ended();
                    }
                    turns.ended(place);
                }
                Ok(Pace::Stopped) => {
                    done.stand(&*group.team);
                    turns.ended(place);
                    if self.interrupted() {
                        done.stop(Reason::Interrupted);
                        break;
                    }
                }
                Err(LaunchError::Fault { fault, .. })
                    if group.watched && observer.fault(&fault).is_continue() =>
                {
                    Self::leave(&*group.team, done);
                    done.stop(Reason::Fault(fault));
                    turns.ended(place);
                }
                Err(error) => {
                    Self::leave(&*group.team, done);
                    let number = group.team.number();
                    turns.ended(place);
                    self.faulted.fetch_min(number, Relaxed);
                    let of_all = matches!(error, LaunchError::Steps(_));
                    if failed.as_ref().is_none_or(|first| number < first.0) {
                        failed = Some((number, error));
                    }
                    if of_all {
                        break;
                    }
                }
            }
        }
        for team in turns.left() {
            Self::leave(team, done);
        }
        failed
    }

    /// A turn of a group that is watched: of a new one of that number, or of one that goes on.
    fn turn(
        &self,
        team: &mut impl Team,
        new: Option<u64>,
        fuel: u64,
        done: &mut Done,
        observer: &mut impl Observer,
    ) -> Result<Pace, LaunchError> {
        match new {
            Some(number) => team.begin(number, self, observer)?,
            None => observer.turn(team.place()),
        }
        team.go_on(fuel, self, done, observer, &mut |_| None)
    }

    /// The next group for a worker to begin. An earlier one than a faulted one still gets to its own fault.
    fn next(&self, source: &Source<'_>, done: &Done) -> Option<u64> {
        if done.late >= GRACE {
            return None;
        }
        let number = source.queue.next(source.slot, done.counters.instructions)?;
        let number = source.first.saturating_add(number);
        (self.faulted.load(Relaxed) >= number).then_some(number)
    }

    /// A group that has begun does not reach its end.
    fn leave(team: &impl Team, done: &mut Done) {
        done.counters += team.threads().0.counters();
        done.stand(team);
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
        if let Some(reason) = other.reason {
            self.stop(reason);
        }
        self.threads.extend(other.threads);
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

    /// Where the steps of a group are interrupted, and whether groups take turns, makes no difference to memory, counters,
    /// or comparisons.
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
            let run = |chunk, turn| {
                let config = Config { turn, ..config };
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
            let whole = run(u64::MAX, None);
            let chunks: &[u64] = match whole.0.instructions {
                0..50_000 => &[1, 3, 977],
                50_000..1_000_000 => &[977],
                _ => continue,
            };
            for chunk in chunks {
                assert!(run(*chunk, None) == whole, "{}, {chunk}", case.name());
            }
            for steps in [7, 331] {
                let turn = Turn {
                    patience: 3 * steps,
                    steps,
                };
                let (counters, memory) = run(u64::MAX, Some(turn));
                assert_eq!(counters, whole.0, "{}, {turn:?}", case.name());
                // Which numbers atomics return depends on the order.
                assert!(
                    memory == whole.1 || case.name().contains("atomic"),
                    "{}, {turn:?}",
                    case.name()
                );
            }
            cases += 1;
        }
        assert!(cases >= 5, "{cases}");
    }
}
