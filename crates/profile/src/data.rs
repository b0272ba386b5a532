//! Profiles as data: sums over launches, and derived values.

use crate::cost::{Bound, LINE_BYTES, Work, as_float};
use crate::price::Price;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Profiles of kernels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// One for each kernel, in the order in which they were first launched.
    pub kernels: Vec<KernelProfile>,
}

impl Profile {
    /// Adds launches of a kernel: to those of the same code, if there are any.
    pub fn add(&mut self, more: KernelProfile) {
        let same = self.kernels.iter_mut().find(|k| k.is_same_code(&more));
        match same {
            Some(kernel) => kernel.merge(&more),
            None => self.kernels.push(more),
        }
    }

    /// Simulated time of all launches in nanoseconds.
    #[must_use]
    pub fn nanoseconds(&self) -> f64 {
        self.kernels.iter().map(|k| k.nanoseconds).sum()
    }
}

/// The memory a message accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Buffers.
    Global,
    /// Images.
    Image,
    /// Shared local memory.
    Local,
    /// Scratch memory of the thread.
    Scratch,
    /// Private memory of the thread in flat memory.
    Private,
}

impl Reach {
    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Image => "image",
            Self::Local => "local",
            Self::Scratch => "scratch",
            Self::Private => "private",
        }
    }
}

/// Observations of a message in sampled groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    /// Executions that were sampled.
    pub executions: u64,
    /// The memory accessed.
    pub reach: Option<Reach>,
    /// Bytes that lanes asked for.
    pub asked_bytes: u64,
    /// Cache lines of 64 bytes that they touched, counted once for each message.
    pub lines: u64,
    /// Of these, lines that no message of the same work-group had touched before.
    pub fetched_lines: u64,
    /// Passes over the banks of local memory.
    pub bank_cycles: u64,
    /// Passes that this number of words takes without conflicts.
    pub bank_ideal: u64,
    /// Bytes of the words that were loaded, each counted once per message.
    pub loaded_bytes: u64,
    /// The part of these that the same thread had loaded before, without an intervening store of its own to them,
    /// barrier or atomic.
    pub redundant_bytes: u64,
    /// Bytes of scratch and private memory.
    pub spill_bytes: u64,
    /// Cycles of the data port.
    pub cycles: u64,
}

impl std::ops::AddAssign for Messages {
    fn add_assign(&mut self, other: Self) {
        self.reach = self.reach.or(other.reach);
        let add = |to: &mut u64, more: u64| *to = to.saturating_add(more);
        add(&mut self.executions, other.executions);
        add(&mut self.asked_bytes, other.asked_bytes);
        add(&mut self.lines, other.lines);
        add(&mut self.fetched_lines, other.fetched_lines);
        add(&mut self.bank_cycles, other.bank_cycles);
        add(&mut self.bank_ideal, other.bank_ideal);
        add(&mut self.loaded_bytes, other.loaded_bytes);
        add(&mut self.redundant_bytes, other.redundant_bytes);
        add(&mut self.spill_bytes, other.spill_bytes);
        add(&mut self.cycles, other.cycles);
    }
}

impl Messages {
    /// Bytes of the lines that were touched; of local memory the bytes that were asked for.
    #[must_use]
    pub fn moved_bytes(&self) -> u64 {
        match self.reach {
            Some(Reach::Local) => self.asked_bytes,
            _ => self.lines.saturating_mul(LINE_BYTES),
        }
    }

    /// Cache lines of a message, on average.
    #[must_use]
    pub fn lines_each(&self) -> f64 {
        ratio(self.lines, self.executions)
    }

    /// Bytes requested divided by bytes transferred: 1 if everything transferred is used, more if lanes share words.
    #[must_use]
    pub fn coalescing(&self) -> f64 {
        ratio(self.asked_bytes, self.moved_bytes())
    }

    /// Passes over the banks by those without conflicts; 1 without messages to local memory.
    #[must_use]
    pub fn bank_factor(&self) -> f64 {
        if self.bank_ideal == 0 {
            1.0
        } else {
            ratio(self.bank_cycles, self.bank_ideal)
        }
    }

    /// The part of the loads that was loaded before.
    #[must_use]
    pub fn redundancy(&self) -> f64 {
        ratio(self.redundant_bytes, self.loaded_bytes)
    }
}

/// `part / whole`, 0 without a whole.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        as_float(part) / as_float(whole)
    }
}

/// `number * part / whole`, rounded.
pub(crate) fn scaled(number: u64, part: u64, whole: u64) -> u64 {
    if whole == 0 {
        return 0;
    }
    let exact = u128::from(number) * u128::from(part) + u128::from(whole / 2);
    u64::try_from(exact / u128::from(whole)).unwrap_or(u64::MAX)
}

/// What runs, with which lanes, for how long: of an instruction, a line, a block, a routine or a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Executions of instructions.
    pub executions: u64,
    /// Enabled lanes of those that have more than one.
    pub lanes: u64,
    /// Lanes that they would have if all were enabled.
    pub slots: u64,
    /// Cycles of a unit and of its share of the data port, by the cost model.
    pub cycles: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.executions = self.executions.saturating_add(other.executions);
        self.lanes = self.lanes.saturating_add(other.lanes);
        self.slots = self.slots.saturating_add(other.slots);
        self.cycles = self.cycles.saturating_add(other.cycles);
    }
}

impl Counts {
    /// Enabled lanes by all lanes, of instructions with more than one; `None` where there are none.
    #[must_use]
    pub fn efficiency(&self) -> Option<f64> {
        (self.slots > 0).then(|| ratio(self.lanes, self.slots))
    }
}

/// An instruction of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstructionProfile {
    /// Its routine, by its place in [`KernelProfile::routines`].
    pub routine: usize,
    /// Its number in the routine.
    pub instruction: usize,
    /// Its basic block.
    pub block: usize,
    /// The first word of its text: mnemonic, modifiers, memory.
    pub mnemonic: String,
    /// Its line of text.
    pub text: String,
    /// Its source file, if the object names it.
    pub file: Option<String>,
    /// Its line there.
    pub line: Option<u32>,
    /// Its execution size.
    pub width: u32,
    /// Executions, lanes, cycles.
    #[serde(flatten)]
    pub counts: Counts,
    /// Cycles of an execution in which the unit issues.
    pub issue: u32,
    /// Cycles of an execution in which its thread waits for it.
    pub latency: u32,
    /// Executions at which lanes parted, because some took the branch and others did not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parted: Option<u64>,
    /// Lanes that took the branch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub taken: Option<u64>,
    /// For a message: what it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// Of a message that was not sampled: the lines that it moves if lanes follow each other.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub likely_lines: u64,
    /// For a message: observations in sampled groups.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seen: Option<Messages>,
    /// Of a barrier: executions that were sampled, and cycles that threads waited there for others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waits: Option<Waits>,
    /// Of a call: the routine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub calls: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Waiting at a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// Threads that came, where it was sampled.
    pub arrivals: u64,
    /// Cycles that they waited for the last one.
    pub cycles: u64,
}

impl InstructionProfile {
    /// Bytes that lanes asked for, of all executions, estimated from those that were sampled.
    #[must_use]
    pub fn asked_bytes(&self) -> u64 {
        self.expected(|seen| seen.asked_bytes)
    }

    /// Bytes that were moved, of all executions.
    #[must_use]
    pub fn moved_bytes(&self) -> u64 {
        self.expected(Messages::moved_bytes)
    }

    /// A sum over all executions, estimated from those that were sampled.
    #[must_use]
    pub fn expected(&self, sum: impl Fn(&Messages) -> u64) -> u64 {
        self.price().expected(sum)
    }

    /// Cycles that all threads waited at this barrier, estimated from those that were sampled.
    #[must_use]
    pub fn waited(&self) -> u64 {
        self.price().waited()
    }

    pub(crate) const fn price(&self) -> Price {
        Price {
            executions: self.counts.executions,
            issue: self.issue,
            latency: self.latency,
            likely_lines: self.likely_lines,
            seen: self.seen,
            waits: self.waits,
        }
    }

    fn settle(&mut self, line_cycles: u32) {
        let price = self.price();
        self.counts.cycles = price
            .issue_cycles()
            .saturating_add(price.message_cycles(line_cycles));
    }
}

/// A source line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineProfile {
    /// The file.
    pub file: Option<String>,
    /// The line.
    pub line: u32,
    /// Counts of its instructions.
    #[serde(flatten)]
    pub counts: Counts,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockProfile {
    /// Its routine.
    pub routine: usize,
    /// Its first instruction.
    pub first: usize,
    /// Its last instruction.
    pub last: usize,
    /// How often it ran.
    pub times: u64,
    /// Counts of its instructions.
    #[serde(flatten)]
    pub counts: Counts,
}

/// A routine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutineProfile {
    /// Its name.
    pub name: String,
    /// How often it was called; for a kernel its threads.
    pub calls: u64,
    /// Counts of its own instructions.
    #[serde(flatten)]
    pub counts: Counts,
}

/// The profile of a kernel's launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelProfile {
    /// Its name.
    pub kernel: String,
    /// The platform whose costs are used, and the product that represents it.
    pub platform: String,
    /// See [`crate::Device`].
    pub product: String,
    /// Cycles of a unit's share of the data port for a cache line.
    pub line_cycles: u32,
    /// Lanes of a thread.
    pub simd: u32,
    /// Launches.
    pub launches: u64,
    /// Work-groups of all launches.
    pub groups: u64,
    /// Work-groups whose addresses and waits were sampled.
    pub watched_groups: u64,
    /// Whether a launch was stopped before its end.
    pub stopped: bool,
    /// Whether everything that the launches reach fits into the device's cache, so that groups share lines there. Otherwise
    /// each group is taken to fetch its lines from memory.
    #[serde(default)]
    pub cached: bool,
    /// Simulated time of all launches in nanoseconds.
    pub nanoseconds: f64,
    /// What limited the longest launch.
    pub bound: Bound,
    /// Nanoseconds of the longest launch.
    pub longest: f64,
    /// The demands of all launches together on the device.
    pub work: Work,
    /// Counts of all instructions.
    pub total: Counts,
    /// The kernel, then its callees.
    pub routines: Vec<RoutineProfile>,
    /// Source lines, by file and line.
    pub lines: Vec<LineProfile>,
    /// Basic blocks that have instructions.
    pub blocks: Vec<BlockProfile>,
    /// All instructions, in order.
    pub instructions: Vec<InstructionProfile>,
}

impl KernelProfile {
    /// Whether it is of the same code for the same device.
    #[must_use]
    pub fn is_same_code(&self, other: &Self) -> bool {
        self.kernel == other.kernel
            && self.platform == other.platform
            && self.instructions.len() == other.instructions.len()
            && self
                .instructions
                .iter()
                .zip(&other.instructions)
                .all(|(a, b)| {
                    (a.routine, a.instruction) == (b.routine, b.instruction) && a.text == b.text
                })
    }

    /// The counts of all instructions by mnemonic, those that ran most often first.
    #[must_use]
    pub fn mnemonics(&self) -> Vec<(&str, Counts)> {
        let mut sums = std::collections::BTreeMap::<&str, Counts>::new();
        for instruction in &self.instructions {
            *sums.entry(&instruction.mnemonic).or_default() += instruction.counts;
        }
        let mut sums: Vec<_> = sums.into_iter().filter(|(_, c)| c.executions > 0).collect();
        sums.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.executions));
        sums
    }

    /// What limited the longest launch, and what is assumed for it.
    #[must_use]
    pub fn limit(&self) -> String {
        let assumed = match self.bound {
            Bound::Memory if !self.cached && self.groups > self.launches => {
                ", if no cache keeps lines that groups share"
            }
            _ => "",
        };
        format!("{}{assumed}", self.bound.words())
    }

    /// A sum over messages: those to local memory, or all others.
    fn bytes(&self, local: bool, of: impl Fn(&InstructionProfile) -> u64) -> u64 {
        let is_local = |i: &&InstructionProfile| {
            let reach = i.seen.and_then(|seen| seen.reach);
            (reach == Some(Reach::Local)) == local
        };
        let messages = self.instructions.iter().filter(is_local);
        messages.map(of).fold(0, u64::saturating_add)
    }

    /// Bytes that lanes asked for, of everything but local memory.
    #[must_use]
    pub fn asked_bytes(&self) -> u64 {
        self.bytes(false, InstructionProfile::asked_bytes)
    }

    /// Bytes of the cache lines that were moved for them.
    #[must_use]
    pub fn moved_bytes(&self) -> u64 {
        self.bytes(false, InstructionProfile::moved_bytes)
    }

    /// Bytes that lanes asked for of local memory.
    #[must_use]
    pub fn local_bytes(&self) -> u64 {
        self.bytes(true, InstructionProfile::asked_bytes)
    }

    /// Adds launches of the same code.
    pub fn merge(&mut self, other: &Self) {
        let add = |to: &mut u64, more: u64| *to = to.saturating_add(more);
        add(&mut self.launches, other.launches);
        add(&mut self.groups, other.groups);
        add(&mut self.watched_groups, other.watched_groups);
        self.stopped |= other.stopped;
        self.cached &= other.cached;
        self.nanoseconds += other.nanoseconds;
        if other.longest > self.longest {
            self.longest = other.longest;
            self.bound = other.bound;
        }
        let (to, from) = (&mut self.work, &other.work);
        add(&mut to.threads, from.threads);
        add(&mut to.issue_cycles, from.issue_cycles);
        add(&mut to.message_cycles, from.message_cycles);
        add(&mut to.latency_cycles, from.latency_cycles);
        add(&mut to.fetched_bytes, from.fetched_bytes);
        let sum = |to: &mut Option<u64>, from: Option<u64>| {
            if let Some(more) = from {
                *to = Some(to.unwrap_or(0).saturating_add(more));
            }
        };
        for (to, from) in self.instructions.iter_mut().zip(&other.instructions) {
            to.counts += from.counts;
            sum(&mut to.parted, from.parted);
            sum(&mut to.taken, from.taken);
            if let Some(seen) = from.seen {
                *to.seen.get_or_insert_default() += seen;
            }
            if let Some(waits) = from.waits {
                let to = to.waits.get_or_insert_default();
                add(&mut to.arrivals, waits.arrivals);
                add(&mut to.cycles, waits.cycles);
            }
        }
        for (to, from) in self.routines.iter_mut().zip(&other.routines) {
            add(&mut to.calls, from.calls);
        }
        for (to, from) in self.blocks.iter_mut().zip(&other.blocks) {
            add(&mut to.times, from.times);
        }
        self.settle();
    }

    /// Computes the values derived from the counts of the instructions.
    pub(crate) fn settle(&mut self) {
        let mut lines: BTreeMap<(Option<String>, u32), Counts> = BTreeMap::new();
        self.total = Counts::default();
        for routine in &mut self.routines {
            routine.counts = Counts::default();
        }
        for block in &mut self.blocks {
            block.counts = Counts::default();
        }
        for instruction in &mut self.instructions {
            instruction.settle(self.line_cycles);
            let counts = instruction.counts;
            self.total += counts;
            if let Some(routine) = self.routines.get_mut(instruction.routine) {
                routine.counts += counts;
            }
            if let Some(block) = self.blocks.get_mut(instruction.block) {
                block.counts += counts;
            }
            if let Some(line) = instruction.line {
                *lines.entry((instruction.file.clone(), line)).or_default() += counts;
            }
        }
        self.lines = lines
            .into_iter()
            .map(|((file, line), counts)| LineProfile { file, line, counts })
            .collect();
    }

    /// Part of all cycles.
    #[must_use]
    pub fn share(&self, counts: &Counts) -> f64 {
        ratio(counts.cycles, self.total.cycles)
    }

    /// Messages, those that take longest first.
    #[must_use]
    pub fn messages(&self) -> Vec<&InstructionProfile> {
        let messages = self.instructions.iter().filter(|i| i.message.is_some());
        sorted(messages.filter(|i| i.counts.executions > 0), |i| {
            i.counts.cycles
        })
    }

    /// Branches at which lanes part, the most frequent first.
    #[must_use]
    pub fn divergence(&self) -> Vec<&InstructionProfile> {
        let parting = self.instructions.iter();
        let parting = parting.filter(|i| i.parted.is_some_and(|times| times > 0));
        sorted(parting, |i| i.parted.unwrap_or(0))
    }

    /// Barriers that ran, those with the longest waits first.
    #[must_use]
    pub fn barriers(&self) -> Vec<&InstructionProfile> {
        let barriers = self.instructions.iter().filter(|i| i.waits.is_some());
        sorted(
            barriers.filter(|i| i.counts.executions > 0),
            InstructionProfile::waited,
        )
    }

    /// Instructions, those that take longest first.
    #[must_use]
    pub fn hottest(&self) -> Vec<&InstructionProfile> {
        let ran = self.instructions.iter();
        sorted(ran.filter(|i| i.counts.executions > 0), |i| i.counts.cycles)
    }

    /// Source lines, those that take longest first.
    #[must_use]
    pub fn hottest_lines(&self) -> Vec<&LineProfile> {
        sorted(self.lines.iter(), |line| line.counts.cycles)
    }
}

/// The largest first; of equals the first first.
fn sorted<'a, T>(all: impl Iterator<Item = &'a T>, by: impl Fn(&T) -> u64) -> Vec<&'a T> {
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|one| std::cmp::Reverse(by(one)));
    all
}
