//! Launches: kernels that are ready to run, and their results.

use super::team::Team;
use crate::argument::{Argument, sampler};
use crate::bind::{Bound, CONSTANTS, GLOBALS};
use crate::config::{Config, Turn};
use crate::effort::{Done, Effort, Observers, Selection};
use crate::end::{End, Reason, Stopped};
use crate::error::LaunchError;
use crate::facts::Facts;
use crate::implicit::Implicit;
use crate::ndrange::NdRange;
use crate::objects::{LocalObject, MemoryObject, ObjectKind};
use crate::payload::Layout;
use crate::zeinfo::{ArgInfo, KernelInfo};
use std::sync::Arc;
use visakit_exec::code::StepCounts;
use visakit_exec::memory::{Content, Sampler};
use visakit_exec::{Counters, Memory, Observer, Program};
use web_time::{Duration, Instant};

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The counters of all threads together.
    pub counters: Counters,
    /// Groups that ran to their ends.
    pub groups: u64,
    /// How the run ended.
    pub end: End,
    /// Time to translate.
    pub translation: Duration,
    /// Instructions translated.
    pub translated: usize,
    /// Whether machine code was generated.
    pub compiled: bool,
    /// The counts of each step of the program, if [`Config::count`] was set. Concurrent launches of one
    /// [`Loaded`](super::Loaded) share their counters.
    pub counts: Option<Vec<StepCounts>>,
    /// Time to run.
    pub time: Duration,
    /// The output of the kernel, in the format of the hardware's buffer; the format strings are in the program's
    /// constants.
    pub printf: Vec<u8>,
    /// The output of the kernel as text.
    pub printed: Vec<u8>,
    memory: Vec<Option<Arc<Content>>>,
}

impl Outcome {
    /// Content of the buffer or image that an argument is.
    #[must_use]
    pub fn memory(&self, argument: usize) -> Option<&[u8]> {
        Some(self.memory.get(argument)?.as_deref()?)
    }
}

/// A kernel that is ready to run, with its memory.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) program: Arc<Program>,
    pub(crate) info: Arc<KernelInfo>,
    /// Names and types of the arguments, if the compiler wrote them down.
    pub(crate) args_info: Vec<ArgInfo>,
    pub(crate) walk: [usize; 3],
    pub(crate) layout: Layout,
    pub(crate) range: NdRange,
    /// Without the contents of buffers and images.
    pub(super) arguments: Vec<Argument>,
    pub(crate) bound: Bound,
    pub(super) implicit: Option<Implicit>,
    /// Private memory of a thread.
    pub(super) private: u64,
    /// Scratch memory of a thread.
    pub(super) scratch: usize,
    pub(super) workers: u64,
    pub(super) translation: Duration,
    /// Whether the kernel reaches buffers through pointers in memory.
    pub(super) reaches_others: bool,
}

impl Prepared {
    /// The translated program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Runs all groups in parallel.
    ///
    /// # Errors
    /// [`LaunchError::Fault`] of the first group that faulted: it stops the others. [`LaunchError::Steps`].
    /// [`LaunchError::Asserted`] at the end: a failed assertion stops nothing.
    pub fn run(self, config: &Config<'_>) -> Result<Outcome, LaunchError> {
        let (workers, config) = (self.workers, self.paced(config));
        self.run_with(&Effort::new(&config), workers)
    }

    /// The options for a run, with the turns that groups need which wait for each other.
    fn paced<'a>(&self, config: &Config<'a>) -> Config<'a> {
        let together = (self.bound.sync != 0).then_some(Turn::TOGETHER);
        Config {
            turn: config.turn.or(together),
            ..*config
        }
    }

    pub(crate) fn run_with(
        self,
        effort: &Effort<'_>,
        workers: u64,
    ) -> Result<Outcome, LaunchError> {
        let started = Instant::now();
        let nobody = Observers::new(workers, || ());
        let done = self.all(effort, workers, (None, &nobody))?;
        self.outcome(done, started)
    }

    fn all<O: Observer + Send>(
        &self,
        effort: &Effort<'_>,
        workers: u64,
        watched: (Selection<'_>, &Observers<O>),
    ) -> Result<Done, LaunchError> {
        let groups = (0, self.range.group_count());
        effort.all(groups, workers, |slot| Team::new(self, slot), watched)
    }

    /// Runs all groups one after the other, telling an observer of everything; those that take long take turns. After a
    /// fault that the observer passes over, the next group runs.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_observed(
        self,
        config: &Config<'_>,
        observer: &mut impl Observer,
    ) -> Result<Outcome, LaunchError> {
        let outcome = self.run_watched(config, observer)?;
        match outcome.end.stopped() {
            Some(Stopped {
                reason: Reason::Steps(most),
                ..
            }) => Err(LaunchError::Steps(*most)),
            _ => Ok(outcome),
        }
    }

    /// [`Self::run`], but too many steps are no error, but how the run [ended](Outcome::end).
    ///
    /// # Errors
    /// [`LaunchError::Fault`] that the observer does not pass over.
    pub fn run_watched(
        self,
        config: &Config<'_>,
        observer: &mut impl Observer,
    ) -> Result<Outcome, LaunchError> {
        let started = Instant::now();
        let config = self.paced(config);
        let effort = Effort::new(&config);
        let groups = (0, self.range.group_count());
        let done = effort.each(groups, || Team::new(&self, 0), observer)?;
        self.outcome(done, started)
    }

    /// Runs all groups in parallel. Those selected by `watched` run in the interpreter and report everything to an
    /// observer, one for each worker; the observers are returned with the outcome.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_sampled<O: Observer + Send>(
        self,
        config: &Config<'_>,
        watched: impl Fn(u64) -> bool + Sync,
        observer: impl Fn() -> O,
    ) -> Result<(Outcome, Vec<O>), LaunchError> {
        let started = Instant::now();
        let config = self.paced(config);
        let effort = Effort::new(&config);
        let observers = Observers::new(self.workers, observer);
        let done = self.all(&effort, self.workers, (Some(&watched), &observers))?;
        Ok((self.outcome(done, started)?, observers.into_all()))
    }

    /// The grid.
    #[must_use]
    pub const fn range(&self) -> &NdRange {
        &self.range
    }

    /// The metadata.
    #[must_use]
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// The samplers that the source of the kernel declares, and those that it is given.
    pub fn samplers(&self) -> impl Iterator<Item = Sampler> {
        let inline = self.info.inline_samplers.iter();
        let inline = inline.filter_map(|s| sampler(s.normalized, &s.addrmode, &s.filtermode).ok());
        inline.chain(self.arguments.iter().filter_map(|argument| match argument {
            Argument::Sampler(state) => Some(*state),
            _ => None,
        }))
    }

    /// Work-items of a thread.
    #[must_use]
    pub const fn simd(&self) -> u32 {
        self.layout.simd
    }

    /// Threads of a full group.
    #[must_use]
    pub fn threads_of_group(&self) -> u32 {
        self.layout.threads(self.range.local)
    }

    /// Order of the dimensions that work-items run through, the fastest first.
    #[must_use]
    pub const fn walk(&self) -> [usize; 3] {
        self.walk
    }

    /// Private memory of a thread in flat memory.
    #[must_use]
    pub const fn private_bytes(&self) -> u64 {
        self.private
    }

    /// The objects in flat memory.
    #[must_use]
    pub fn objects(&self) -> Vec<MemoryObject> {
        let mut objects = self.bound.objects();
        for object in &mut objects {
            if self.private > 0 && object.address == self.bound.private_base {
                object.kind = ObjectKind::Private;
            }
        }
        objects
    }

    /// Bytes of all buffers, images and variables that the launch reaches, if they are known: not where it reaches some
    /// through pointers in memory.
    #[must_use]
    pub fn reached_bytes(&self) -> Option<u64> {
        let objects = self.bound.objects();
        let mut parts: Vec<_> = objects.iter().map(|o| (o.address, o.bytes)).collect();
        // Arguments may be the same buffer.
        parts.sort_unstable();
        parts.dedup();
        let sum = parts
            .iter()
            .fold(0_u64, |sum, part| sum.saturating_add(part.1));
        (!self.reaches_others).then_some(sum)
    }

    /// The objects in local memory.
    #[must_use]
    pub fn local_objects(&self) -> Vec<LocalObject> {
        let own = LocalObject {
            start: 0,
            bytes: self.info.execution_env.slm_size.into(),
            argument: None,
        };
        let arguments = self.bound.locals.iter();
        let arguments = arguments.map(|&(index, start, bytes)| LocalObject {
            start,
            bytes,
            argument: Some(index),
        });
        std::iter::once(own).chain(arguments).collect()
    }

    fn outcome(self, mut done: Done, started: Instant) -> Result<Outcome, LaunchError> {
        if let Some(messages) = self.bound.asserted() {
            let printed = self.printed();
            return Err(LaunchError::Asserted { messages, printed });
        }
        Ok(Outcome {
            counters: done.counters,
            groups: done.groups,
            end: done.end(self.range.group_count()),
            translation: self.translation,
            translated: self.program.instruction_count(),
            compiled: self.program.is_compiled(),
            counts: self.program.take_counts(),
            time: started.elapsed(),
            printf: self.bound.printf_bytes(),
            printed: self.printed(),
            memory: self.bound.into_contents(),
        })
    }

    /// The kernel's output so far, as text. Unreadable output and anything beyond 64 MiB is omitted.
    #[must_use]
    pub fn printed(&self) -> Vec<u8> {
        crate::printf::text(&self.bound.printf_bytes(), &self.bound)
    }

    /// Global memory.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        &self.bound.memory
    }

    /// Content of the buffers and images that arguments are, by argument, as it is now.
    ///
    /// # Errors
    /// More memory than can be had.
    pub fn contents(&self) -> Result<Vec<Option<Vec<u8>>>, LaunchError> {
        self.bound.contents()
    }

    /// Number of groups of the grid.
    #[must_use]
    pub fn group_count(&self) -> u64 {
        self.range.group_count()
    }

    /// The place of the implicit arguments of groups of that size.
    pub(super) fn implicit_place(&self, local: [u32; 3]) -> u32 {
        self.implicit.as_ref().map_or(0, |i| i.place(local))
    }

    pub(super) fn facts(&self, local: [u32; 3]) -> Facts<'_> {
        Facts {
            range: &self.range,
            local,
            arguments: &self.arguments,
            places: &self.bound.places,
            private_base: self.bound.private_base,
            printf: self.bound.printf_address(),
            assert: self.bound.assert_address(),
            sync: self.bound.sync,
            constants: self.bound.section(&CONSTANTS),
            globals: self.bound.section(&GLOBALS),
            implicit: self.implicit.as_ref().map_or(0, |i| i.address(local)),
        }
    }
}
