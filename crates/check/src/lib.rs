//! Checkers for running kernels: they find what is wrong, at which source line, for which work-items.
//!
//! [`check`] runs a launch on the interpreter and watches every instruction and access:
//!
//! * `memory`: accesses outside buffers, surfaces, local and private memory; null and misaligned addresses; writes to
//!   constants.
//! * `uninitialized`: bits that nobody wrote, tracked through registers and memory to a branch, an address, a predicate
//!   or an output.
//! * `race`: conflicting accesses not ordered by barriers, fences and atomics, however the host ran them.
//! * `sync`: barriers that not all work-items of a group reach, named barriers whose threads do not agree.
//! * `arithmetic`: values that are rarely intended; only on demand.
//!
//! Repeated occurrences with one cause are one [`Finding`] with a count. State grows with the memory that a launch
//! touches, not with its duration.
//!
//! # How it is built
//!
//! `crates/check` observes a launch, a media kernel or a bare routine through the executor's `Observer`, which costs
//! nothing if nobody observes, and which is also notified of faults and decides whether the next group runs. A message
//! first reports all its lanes together, and one by one only if requested. It keeps shadows of what is defined, and of who
//! accessed shared bytes last (`race/cells.rs`: 20 bytes for every four that are shared); `docs/checking.md` lists what is
//! found and what is not. `launch/src/printf` formats the output of kernels, for all front ends.

#![forbid(unsafe_code)]

mod checker;
mod definedness;
pub mod document;
mod finding;
mod found;
mod listing;
mod objects;
mod race;
mod shadow;
mod suppress;

pub use finding::{
    Access, Between, Checks, Finding, Item, Kind, Level, Other, Place, Space, Stay, Target,
};
pub use suppress::{Suppressions, SuppressionsError};

use checker::{Barriers, Checker, Ids, Setting};
use listing::Listing;
use objects::Objects;
use race::Order;
use visakit_exec::memory::{Addressing, Sampler};
use visakit_exec::{Observer, Program};
use visakit_isa::object::Object;
use visakit_launch::{
    Bare, BareOutcome, Case, Config, End, Kernel, LaunchError, Media, MediaOutcome, Outcome,
    Prepared,
};

/// The result of a check.
#[derive(Debug)]
pub struct Report<O = Outcome> {
    /// What is wrong, the worst first. If the launch did not [end](Self::end), that is what was found until then.
    pub findings: Vec<Finding>,
    /// How the launch ended.
    pub end: End,
    /// Where its threads were if it was stopped, the most common places first.
    pub stays: Vec<Stay>,
    /// The outcome of the launch.
    pub outcome: O,
}

/// What a check says about a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It ran to its end, and nothing was found.
    Clean,
    /// Something was found.
    Findings,
    /// It did not run to its end. Whatever was found, more may be wrong.
    Unfinished,
}

impl<O> Report<O> {
    /// The verdict, if these findings count. Only a launch that ran to its end can be clean.
    #[must_use]
    pub fn verdict(&self, counts: impl Fn(&Finding) -> bool) -> Verdict {
        match &self.end {
            End::Stopped(_) => Verdict::Unfinished,
            End::Complete if self.findings.iter().any(counts) => Verdict::Findings,
            End::Complete => Verdict::Clean,
        }
    }

    /// This report with another outcome.
    #[must_use]
    pub fn map<P>(self, outcome: impl FnOnce(O) -> P) -> Report<P> {
        Report {
            findings: self.findings,
            end: self.end,
            stays: self.stays,
            outcome: outcome(self.outcome),
        }
    }

    fn new(checker: Checker, end: End, outcome: O) -> Self {
        let stays = end.stopped().map_or_else(Vec::new, |s| checker.stays(s));
        Self {
            findings: checker.findings(),
            end,
            stays,
            outcome,
        }
    }
}

/// The configuration that launches need to be checked: accesses that would be a fault are dropped.
#[must_use]
pub const fn config(config: Config<'_>) -> Config<'_> {
    Config {
        lenient: true,
        compile: None,
        ..config
    }
}

/// What a program states about itself, ready to be watched.
struct Watched<'p> {
    program: &'p Program,
    listing: Listing,
    barriers: Barriers,
    /// Where spilled registers begin in scratch memory.
    spills: Option<u64>,
}

impl<'p> Watched<'p> {
    /// `metadata` is the number of barriers of a group, if it is known.
    fn new(object: &Object<'_>, program: &'p Program, metadata: Option<u32>) -> Self {
        let code = program.code();
        let routines = code.routines.iter().map(|r| r.id);
        let listing = Listing::new(object, program.grf_bytes(), routines.clone());
        let kernel = routines
            .into_iter()
            .next()
            .and_then(|id| object.routine(id));
        let body = kernel.and_then(|kernel| kernel.body());
        Self {
            program,
            listing,
            barriers: Barriers::new(code, body, metadata),
            spills: body.and_then(|body| body.attribute("SpillMemOffset")?.number()),
        }
    }

    /// How it is watched, unless something is different.
    fn setting(self, checks: Checks, objects: Objects, ids: Ids) -> Setting {
        let variables = self.program.variables();
        let code = self.program.code();
        Setting {
            checks,
            listing: self.listing,
            objects,
            defined: self.program.defined(),
            addressed: self.program.addressed().to_vec(),
            variables: variables
                .map(|(name, slot)| (slot.offset..slot.offset + slot.bytes, name.to_owned()))
                .collect(),
            ids,
            groups: [1; 3],
            bordered: true,
            sub_groups: false,
            order: Order::default(),
            barriers: self.barriers,
            code: code.clone(),
        }
    }
}

/// Runs a launch under checks. It must have been prepared with [`config`]; `uninitialized` names arguments whose
/// initial content is undefined.
///
/// # Errors
/// What prevents a launch from running. Faults of groups are findings; limits and interrupts are how it ends.
pub fn check(
    kernel: &Kernel<'_>,
    launch: Prepared,
    config: &Config<'_>,
    checks: Checks,
    uninitialized: &[usize],
) -> Result<Report, LaunchError> {
    let info = launch.info();
    let barriers = info.execution_env.barrier_count;
    let watched = Watched::new(kernel.object(), launch.program(), Some(barriers));
    let private = info.per_thread_memory_buffers.iter();
    let has_private = private.clone().any(|buffer| buffer.is_simt_thread);
    let sub_groups = info.user_attributes.intel_reqd_sub_group_size > 0
        || !has_private && watched.listing.counts_lanes();
    let arguments = kernel.args_info();
    let (locals, spills) = (&kernel.locals, watched.spills);
    let objects = Objects::new(&launch, arguments, locals, spills, uninitialized);
    let ids = Ids {
        simd: launch.simd(),
        walk: launch.walk(),
        local: launch.range().local,
        offset: launch.range().offset,
        of_lanes: true,
    };
    let unchecked = |sampler: &Sampler| sampler.addressing == Addressing::Unchecked;
    let mut checker = Checker::new(Setting {
        groups: launch.range().groups(),
        // The metadata of functions with a stack do not state their samplers.
        bordered: info.execution_env.has_stack_calls || !launch.samplers().all(|s| unchecked(&s)),
        sub_groups,
        ..watched.setting(checks, objects, ids)
    });
    let outcome = launch.run_watched(config, &mut checker)?;
    Ok(Report::new(checker, outcome.end.clone(), outcome))
}

/// Runs a media kernel of an object under checks. Its threads replace work-items: the lanes of a thread are one program
/// and access memory in its order.
///
/// # Errors
/// As [`check`].
pub fn check_media(
    object: &Object<'_>,
    media: &mut Media,
    config: &Config<'_>,
    checks: Checks,
) -> Result<Report<MediaOutcome>, LaunchError> {
    media.set_lenient(true);
    let config = self::config(*config);
    let [columns, rows] = media.group.unwrap_or([1, 1]);
    let [width, height] = media.space;
    let ids = Ids {
        simd: 1,
        walk: [0, 1, 2],
        local: [columns, rows, 1],
        offset: [0; 3],
        of_lanes: false,
    };
    let watched = Watched::new(object, media.program(), None);
    let mut checker = Checker::new(Setting {
        groups: [width / columns.max(1), height / rows.max(1), 1],
        order: Order::of_threads(media.dependency),
        ..watched.setting(checks, Objects::media(media), ids)
    });
    let outcome = media.run_watched(&config, &mut checker)?;
    Ok(Report::new(checker, outcome.end.clone(), outcome))
}

/// Runs a routine of an object under checks, without a launch. Variables that were set are defined, all others are not.
///
/// # Errors
/// Those of [`check`]. The outcome is `None` if the routine faulted, which is a finding.
pub fn check_bare(
    object: &Object<'_>,
    mut bare: Bare,
    checks: Checks,
) -> Result<Report<Option<BareOutcome>>, LaunchError> {
    bare.set_lenient(true);
    let lanes = bare.program().simd_size().clamp(1, 32);
    let ids = Ids {
        simd: lanes,
        walk: [0, 1, 2],
        local: [lanes, 1, 1],
        offset: [0; 3],
        of_lanes: true,
    };
    let objects = Objects::own(bare.own_bytes(), bare.own_bytes());
    let mut setting = Watched::new(object, bare.program(), None).setting(checks, objects, ids);
    let sets = bare
        .sets()
        .map(|slot| slot.offset..slot.offset + slot.bytes);
    setting.defined.extend(sets);
    let mut checker = Checker::new(setting);
    checker.group([0; 3], [lanes, 1, 1]);
    let (end, outcome) = match bare.run(&mut checker) {
        Ok(outcome) => (outcome.end.clone(), Some(outcome)),
        // The checker has reported it.
        Err(LaunchError::Fault { fault, .. }) => (End::of_fault(fault), None),
        Err(error) => return Err(error),
    };
    Ok(Report::new(checker, end, outcome))
}

/// Runs a case under checks. The results are not compared.
///
/// # Errors
/// Those of [`check`], and everything that prevents the kernel from being prepared.
pub fn check_case(
    case: &Case,
    from_text: bool,
    config: &Config<'_>,
    checks: Checks,
) -> Result<Report, LaunchError> {
    let config = self::config(*config);
    case.launch(
        from_text,
        &config,
        |object| object,
        |kernel, _, launch| {
            let uninitialized = case.uninitialized();
            check(kernel, launch, &config, checks, &uninitialized)
        },
    )
}
