//! Profiles of kernels: what runs how often and with which lanes, what messages access, and where the time goes.
//!
//! A program that counts (`visakit_exec::Options::count`, [`config`]) has a few counters for each basic block, both in
//! the interpreter and in machine code; the counts of every instruction are derived from them. What requires addresses
//! (cache lines, banks, redundant loads, waits at barriers) is sampled in some of the work-groups ([`Watched`]), which
//! the interpreter runs. A cost model ([`Device`]) converts both to time.
//!
//! ```no_run
//! # fn profile(kernel: &visakit_launch::Kernel<'_>, range: &visakit_launch::NdRange) -> Result<(), visakit_launch::LaunchError> {
//! use visakit_profile::{KernelCode, Profile, Watched};
//!
//! let config = visakit_profile::config(visakit_launch::Config::default());
//! let launch = kernel.prepare(range, &[], &config)?;
//! let code = KernelCode::new(kernel.object(), launch.program(), None);
//! let mut profile = Profile::default();
//! let (of_launch, _outcome) = visakit_profile::run(&code, launch, &config, Watched::default())?;
//! profile.add(of_launch);
//! let page = visakit_profile::html::page(&profile, "my program", |_file| None);
//! # Ok(()) }
//! ```
//!
//! # How it is built
//!
//! `crates/profile` does not use an observer for its counts: `exec::code::count` inserts counting steps into the blocks of
//! a program, which the interpreter and machine code run alike, and the counts of blocks are expanded to steps afterwards.
//! Only the addresses of messages are observed, in a sample of the groups. `timer.rs` estimates only the time of launches,
//! without a profile of each, for OpenCL's events.

#![forbid(unsafe_code)]

mod code;
mod cost;
mod data;
mod diff;
mod folded;
pub mod html;
mod price;
mod timer;
mod watch;

pub use code::KernelCode;
pub use cost::{BANKS, Bound, Device, DeviceTime, LINE_BYTES, Work};
pub use data::{
    BlockProfile, Counts, InstructionProfile, KernelProfile, LineProfile, Messages, Profile, Reach,
    RoutineProfile, Waits,
};
pub use diff::{Change, KernelDiff, Summary, diff};
pub use folded::folded;
pub use timer::Timer;

use code::{Instruction, Kind};
use hashbrown::HashMap;
use price::work;
use visakit_exec::Progress;
use visakit_exec::code::StepCounts;
use visakit_launch::{
    Bare, Config, LaunchError, Media, MediaOutcome, ObjectKind, Outcome, Prepared,
};
use watch::{Seen, Watch};

/// Work-groups whose addresses and waits are sampled. The interpreter runs them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watched {
    /// None.
    None,
    /// At most this many groups of a launch, spread evenly over the grid.
    Groups(u64),
    /// All of them.
    All,
}

impl Default for Watched {
    /// Enough for averages of most kernels. A group that is sampled takes three times as long as in the interpreter,
    /// and tens of times as long as in machine code.
    fn default() -> Self {
        Self::Groups(4)
    }
}

impl Watched {
    /// Whether a group is one of them.
    fn has(self, number: u64, groups: u64) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Groups(0) => false,
            Self::Groups(most) => {
                let stride = groups.div_ceil(most).max(1);
                number % stride == stride / 2
            }
        }
    }
}

/// The configuration that launches need to be profiled: programs count.
#[must_use]
pub const fn config(config: Config<'_>) -> Config<'_> {
    Config {
        count: true,
        ..config
    }
}

/// Runs a launch that was prepared with [`config`] of a program that `code` is of.
///
/// # Errors
/// As [`Prepared::run`].
pub fn run(
    code: &KernelCode,
    launch: Prepared,
    config: &Config<'_>,
    watched: Watched,
) -> Result<(KernelProfile, Outcome), LaunchError> {
    let (outcome, seen, ran) = run_watched(code, launch, config, watched)?;
    let counts = outcome.counts.as_deref().unwrap_or(&[]);
    Ok((collect(code, counts, &seen, ran), outcome))
}

/// Runs a launch. Returns the observations of each instruction, by its place, and the amount that ran.
fn run_watched(
    code: &KernelCode,
    launch: Prepared,
    config: &Config<'_>,
    watched: Watched,
) -> Result<(Outcome, HashMap<usize, Seen>, Ran), LaunchError> {
    let groups = launch.group_count();
    let threads = u64::from(launch.threads_of_group());
    let objects = launch.objects();
    let private = objects.iter().find(|o| o.kind == ObjectKind::Private);
    let private = private.map_or(0..0, |o| o.address..o.address.saturating_add(o.bytes));
    let reached = launch.reached_bytes();
    let (outcome, watches) = launch.run_sampled(
        config,
        |number| watched.has(number, groups),
        || Watch::new(code, private.clone()),
    )?;
    let (seen, watched_groups) = together(watches);
    let ran = Ran {
        reached,
        threads: threads.saturating_mul(outcome.groups),
        groups: outcome.groups,
        watched_groups,
        stopped: !outcome.end.is_complete(),
    };
    Ok((outcome, seen, ran))
}

/// The observations of all workers for each instruction, by its place, and the number of groups.
fn together(watches: Vec<Watch<'_>>) -> (HashMap<usize, Seen>, u64) {
    let mut seen: HashMap<usize, Seen> = HashMap::new();
    let mut watched_groups = 0;
    for watch in watches {
        let (more, groups) = watch.finish();
        watched_groups += groups;
        for (place, more) in more {
            let seen = seen.entry(place).or_default();
            seen.messages += more.messages;
            seen.arrivals += more.arrivals;
            seen.waited += more.waited;
        }
    }
    (seen, watched_groups)
}

/// Runs a media kernel that was translated with [`Config::count`]; `code` is of its program.
///
/// # Errors
/// As [`Media::run`].
pub fn run_media(
    code: &KernelCode,
    media: &Media,
    config: &Config<'_>,
    watched: Watched,
) -> Result<(KernelProfile, MediaOutcome), LaunchError> {
    let groups = media.group_count()?;
    let (outcome, watches) = media.run_sampled(
        config,
        |number| watched.has(number, groups),
        || Watch::new(code, 0..0),
    )?;
    let (seen, watched_groups) = together(watches);
    let ran = Ran {
        reached: None,
        threads: outcome.threads,
        groups: outcome.groups,
        watched_groups,
        stopped: !outcome.end.is_complete(),
    };
    let counts = outcome.counts.as_deref().unwrap_or(&[]);
    Ok((collect(code, counts, &seen, ran), outcome))
}

/// Runs a bare routine that was translated with [`Config::count`]; `code` is of its program. A fault or a limit ends the
/// profile there, as [`KernelProfile::stopped`] says.
///
/// # Errors
/// [`LaunchError::Fault`]: the thread cannot be started.
pub fn run_bare(code: &KernelCode, bare: &Bare) -> Result<KernelProfile, LaunchError> {
    let mut group = bare.group()?;
    let (program, memory, limits) = (bare.program(), bare.memory(), &bare.limits);
    let interrupt = bare.interrupt.as_ref();
    let stopped = loop {
        match group.advance(program, memory, limits, u64::MAX, interrupt, &mut ()) {
            Ok(Progress::OutOfFuel) => {}
            Ok(Progress::Ended) => break false,
            Ok(Progress::Interrupted) | Err(_) => break true,
        }
    };
    let ran = Ran {
        reached: None,
        threads: 1,
        groups: 1,
        watched_groups: 0,
        stopped,
    };
    let counts = program.take_counts().unwrap_or_default();
    Ok(collect(code, &counts, &HashMap::new(), ran))
}

#[derive(Clone, Copy)]
struct Ran {
    /// Bytes of everything that the launch reaches, if they are known.
    reached: Option<u64>,
    threads: u64,
    groups: u64,
    watched_groups: u64,
    stopped: bool,
}

/// Combines counts and observations into a profile.
fn collect(
    code: &KernelCode,
    counts: &[StepCounts],
    seen: &HashMap<usize, Seen>,
    ran: Ran,
) -> KernelProfile {
    let mut of: Vec<StepCounts> = vec![StepCounts::default(); code.instructions.len()];
    for (place, counts) in code.steps.iter().zip(counts) {
        let Some(to) = place.and_then(|place| of.get_mut(place)) else {
            continue;
        };
        to.times += counts.times;
        to.lanes += counts.lanes;
        to.taken = to.taken.or(counts.taken);
        to.parted = to.parted.or(counts.parted);
    }
    let mut blocks: Vec<BlockProfile> = Vec::new();
    let mut block = None;
    let mut instructions = Vec::with_capacity(of.len());
    for (place, (known, counts)) in code.instructions.iter().zip(&of).enumerate() {
        if block != Some(known.block) {
            block = Some(known.block);
            blocks.push(BlockProfile {
                routine: known.routine,
                first: known.number,
                last: known.number,
                times: counts.times,
                counts: Counts::default(),
            });
        }
        if let Some(block) = blocks.last_mut() {
            block.last = known.number;
        }
        let saw = seen.get(&place);
        instructions.push(instruction(code, known, (counts, saw), blocks.len() - 1));
    }
    let routines = code.routines.iter().map(|name| RoutineProfile {
        name: name.clone(),
        calls: 0,
        counts: Counts::default(),
    });
    let mut routines: Vec<_> = routines.collect();
    for block in blocks.iter().rev() {
        // The first block of a routine is where it is entered.
        if let Some(routine) = routines.get_mut(block.routine) {
            routine.calls = block.times;
        }
    }
    let device = &code.device;
    let mut profile = KernelProfile {
        kernel: code.routines.first().cloned().unwrap_or_default(),
        platform: device.platform.name().to_owned(),
        product: device.product.to_owned(),
        line_cycles: device.line_cycles,
        simd: code.simd,
        launches: 1,
        groups: ran.groups,
        watched_groups: ran.watched_groups,
        stopped: ran.stopped,
        cached: false,
        nanoseconds: 0.0,
        longest: 0.0,
        bound: Bound::Issue,
        work: Work::default(),
        total: Counts::default(),
        routines,
        lines: Vec::new(),
        blocks,
        instructions,
    };
    profile.settle();
    let prices = profile.instructions.iter().map(InstructionProfile::price);
    profile.work = work(prices, device.line_cycles, ran.threads);
    if let Some(all) = ran.reached
        && all <= u64::from(device.cache) << 10
    {
        profile.cached = true;
        profile.work.fetched_bytes = profile.work.fetched_bytes.min(all);
    }
    let time = device.time(&profile.work);
    profile.nanoseconds = time.nanoseconds;
    profile.longest = time.nanoseconds;
    profile.bound = time.bound;
    profile
}

/// What is known of an instruction that ran so often.
fn instruction(
    code: &KernelCode,
    known: &Instruction,
    (counts, saw): (&StepCounts, Option<&Seen>),
    block: usize,
) -> InstructionProfile {
    let many = known.width > 1;
    let message = match known.kind {
        Kind::Message { what, .. } => Some(what.to_owned()),
        _ => None,
    };
    let file = known
        .source
        .and_then(|source| code.files.name(source.file?));
    InstructionProfile {
        routine: known.routine,
        instruction: known.number,
        block,
        mnemonic: known.mnemonic.clone(),
        text: known.text.clone(),
        file: file.map(ToOwned::to_owned),
        line: known.source.map(|source| source.line),
        width: known.width,
        counts: Counts {
            executions: counts.times,
            lanes: if many { counts.lanes } else { 0 },
            slots: if many {
                counts.times.saturating_mul(known.width.into())
            } else {
                0
            },
            cycles: 0,
        },
        issue: known.issue,
        latency: known.latency_of(&code.device, saw),
        parted: counts.parted,
        taken: counts.taken,
        seen: saw.map(|seen| seen.messages).filter(|_| message.is_some()),
        message,
        likely_lines: known.likely_lines(),
        waits: (known.kind == Kind::Barrier).then(|| saw.map_or_else(Waits::default, Seen::waits)),
        calls: match known.kind {
            Kind::Call(function) => function,
            _ => None,
        },
    }
}

/// How often each instruction ran, by its place.
fn executions(code: &KernelCode, counts: &[StepCounts]) -> Vec<u64> {
    let mut of = vec![0; code.instructions.len()];
    for (place, counts) in code.steps.iter().zip(counts) {
        if let Some(to) = place.and_then(|place| of.get_mut(place)) {
            *to += counts.times;
        }
    }
    of
}
