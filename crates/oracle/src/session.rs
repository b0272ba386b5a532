//! Many random routines, and their results.

use crate::compare::{Difference, Verdict, compare, prune};
use crate::generate::{Case, Pool, Style, generated, messages, program};
use crate::value::Precision;
use fastrand::Rng;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use visakit_isa::object::Item;
use visakit_isa::{InstructionDef, Op};

/// Instructions of a routine, without those that set it up.
const INSTRUCTIONS: usize = 8;

/// The results of many routines.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Compared instructions by operation, those that set a routine up (`setp`, `addr_add`, `movs`)
    /// included; for programs those that ran.
    pub compared: BTreeMap<Op, u64>,
    /// Generated instructions that the definitions leave open, by operation and reason.
    pub open: BTreeMap<(Op, String), u64>,
    /// Bytes that were compared, by how closely.
    pub bytes: BTreeMap<&'static str, u64>,
    /// Routines in which the machines differ, reduced to the essential.
    pub failures: Vec<Failure>,
    /// Routines in which they differ, all of them.
    pub failed: u64,
}

/// A routine in which the machines differ.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The initial seed.
    pub seed: u64,
    /// Reduced routine.
    pub case: Case,
    /// What is wrong.
    pub verdict: Verdict,
}

impl Tally {
    /// Adds another tally.
    pub fn add(&mut self, other: Self) {
        for (op, n) in other.compared {
            *self.compared.entry(op).or_default() += n;
        }
        for (key, n) in other.open {
            *self.open.entry(key).or_default() += n;
        }
        for (how, n) in other.bytes {
            *self.bytes.entry(how).or_default() += n;
        }
        self.failures.extend(other.failures);
        self.failed += other.failed;
    }

    /// Number of compared instructions.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.compared.values().sum()
    }

    /// How closely the bytes of results were compared, in one line.
    #[must_use]
    pub fn precision(&self) -> String {
        let parts: Vec<String> = self
            .bytes
            .iter()
            .map(|(how, n)| format!("{n} {how}"))
            .collect();
        format!("bytes of variables: {}", parts.join(", "))
    }

    /// The counts as lines of text.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::new();
        let mut column = 0;
        for (op, n) in &self.compared {
            let _ = write!(text, "{:<24}{n:>9}  ", op.name());
            column += 1;
            if column % 3 == 0 {
                text.push('\n');
            }
        }
        text
    }
}

/// Control registers: the usual one, the rounding modes, flushed denormals.
pub fn random_control(rng: &mut Rng) -> u32 {
    const KEEP: u32 = 0x4c0;
    match rng.u8(..10) {
        0..=4 => KEEP,
        5..=7 => KEEP | rng.u32(1..4) << 4 | u32::from(rng.bool()) << 12,
        8 => rng.u32(..4) << 4,
        _ => (rng.u32(..) & KEEP) | rng.u32(..4) << 4,
    }
}

/// A mask of live lanes: all, some, one.
pub fn random_mask(rng: &mut Rng) -> u32 {
    match rng.u8(..4) {
        0 | 1 => u32::MAX,
        2 => rng.u32(..).max(1),
        _ => 1 << rng.u32(..32),
    }
}

/// A random routine of single instructions of the rows.
#[must_use]
pub fn random_case(seed: u64, rows: &[&'static InstructionDef]) -> Case {
    let mut rng = Rng::with_seed(seed);
    let (cr0, mask) = (random_control(&mut rng), random_mask(&mut rng));
    let mut pool = Pool::new(rng);
    for _ in 0..INSTRUCTIONS {
        let row = rows[pool.rng.usize(..rows.len())];
        pool.random(row);
    }
    pool.finish(mask, cr0)
}

/// Operations of a case that are counted, by number.
fn operations(case: &Case) -> BTreeMap<Op, u64> {
    let mut counts = BTreeMap::new();
    for routine in case.object.routines() {
        for instruction in routine.1.body().iter().flat_map(|b| b.instructions()) {
            *counts.entry(instruction.op).or_default() += 1;
        }
    }
    counts
}

/// Compares one case; a differing one is reduced if it is to be kept.
#[must_use]
pub fn judge(seed: u64, mut case: Case, keep: bool) -> Tally {
    let mut tally = Tally::default();
    for (op, halt) in prune(&mut case) {
        *tally.open.entry((op, format!("{halt:?}"))).or_default() += 1;
    }
    match compare(&case) {
        Verdict::Agree => {
            tally.compared = operations(&case);
            tally.bytes = precisions(&case);
        }
        Verdict::Undefined(halt) => {
            *tally
                .open
                .entry((Op::RET, format!("{halt:?}")))
                .or_default() += 1;
        }
        verdict => {
            tally.failed = 1;
            if keep {
                tally.failures.push(reduce(seed, case, verdict));
            }
        }
    }
    tally
}

/// Bytes of the variables that a run changed, by how closely they are compared.
fn precisions(case: &Case) -> BTreeMap<&'static str, u64> {
    let mut bytes = BTreeMap::new();
    let Ok(machine) = crate::compare::run_slow(case, crate::compare::STEPS) else {
        return bytes;
    };
    let Some(locals) = machine.activations.first() else {
        return bytes;
    };
    let first = case.object.format().predefined_variable_count();
    for (id, storage) in &locals.general {
        for loose in storage.loose.values() {
            let how = match loose.precision {
                Precision::Undefined => "not defined",
                Precision::AnyNan(_) | Precision::AnyZero => "any NaN or any zero",
                _ => "within a tolerance",
            };
            *bytes.entry(how).or_default() += loose.size as u64;
        }
        let name = format!("V{}", id.0 - first + 32);
        let changed = case.set(name.as_bytes()).map_or(0, |before| {
            let pairs = before.iter().zip(&storage.bytes).enumerate();
            pairs
                .filter(|(at, (a, b))| a != b && !storage.is_loose(*at, 1))
                .count()
        });
        *bytes.entry("changed and exact").or_default() += changed as u64;
    }
    bytes
}

/// Single instructions from many seeds.
#[must_use]
pub fn instructions(seeds: Range<u64>, only: Option<&str>, keep: usize) -> Tally {
    of_rows(seeds, (generated(), only), keep, random_case)
}

/// Routines of the rows of that name, or of all, from many seeds.
fn of_rows(
    seeds: Range<u64>,
    (rows, only): (impl Iterator<Item = &'static InstructionDef>, Option<&str>),
    keep: usize,
    of: impl Fn(u64, &[&'static InstructionDef]) -> Case,
) -> Tally {
    let is_wanted = |name: &str| only.is_none_or(|only| name.eq_ignore_ascii_case(only));
    let rows: Vec<_> = rows.filter(|row| is_wanted(row.name)).collect();
    let mut tally = Tally::default();
    if rows.is_empty() {
        return tally;
    }
    for seed in seeds {
        let keep = tally.failures.len() < keep;
        tally.add(judge(seed, of(seed, &rows), keep));
    }
    tally
}

/// A random routine of messages of the rows.
#[must_use]
pub fn random_message_case(seed: u64, rows: &[&'static InstructionDef]) -> Case {
    let mut rng = Rng::with_seed(seed);
    let mask = random_mask(&mut rng);
    let mut pool = Pool::new(rng);
    let buffers = pool.random_buffers();
    let base = Pool::addresses(&buffers).first().copied().unwrap_or(0);
    for _ in 0..INSTRUCTIONS {
        let row = rows[pool.rng.usize(..rows.len())];
        pool.random_message(row, base);
    }
    pool.finish(mask, 0x4c0).with_memory(buffers)
}

/// Messages from many seeds.
#[must_use]
pub fn all_messages(seeds: Range<u64>, only: Option<&str>, keep: usize) -> Tally {
    of_rows(seeds, (messages(), only), keep, random_message_case)
}

/// Programs with divergent control flow from many seeds.
#[must_use]
pub fn programs(seeds: Range<u64>, keep: usize) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        for style in Style::ALL {
            let keep = tally.failures.len() < keep;
            tally.add(judge_program(seed, &program(seed, style), keep));
        }
    }
    tally
}

/// Compares a program; the instructions that the slow machine runs are counted.
fn judge_program(seed: u64, case: &Case, keep: bool) -> Tally {
    let mut tally = Tally::default();
    match compare(case) {
        Verdict::Agree => {
            if let Ok(machine) = crate::compare::run_slow(case, crate::compare::STEPS) {
                tally.compared = machine.counts;
            }
        }
        Verdict::Undefined(halt) => {
            *tally
                .open
                .entry((Op::RET, format!("{halt:?}")))
                .or_default() += 1;
        }
        verdict => {
            tally.failed = 1;
            if keep {
                tally.failures.push(Failure {
                    seed,
                    case: case.clone(),
                    verdict,
                });
            }
        }
    }
    tally
}

/// Takes out instructions as long as the rest still differs in the same way.
fn reduce(seed: u64, mut case: Case, mut verdict: Verdict) -> Failure {
    let same = |a: &Verdict, b: &Verdict| {
        matches!(
            (a, b),
            (Verdict::Differ(_), Verdict::Differ(_)) | (Verdict::Fault(_), Verdict::Fault(_))
        )
    };
    let length = |case: &Case| {
        let body = case.object.kernels.first().and_then(|k| k.body());
        body.map_or(0, |b| b.code.len())
    };
    let mut place = length(&case).saturating_sub(1);
    while place > 0 {
        place -= 1;
        let mut smaller = case.clone();
        if let Some(body) = smaller
            .object
            .kernels
            .first_mut()
            .and_then(|k| k.body_mut())
        {
            body.code.remove(place);
        }
        let new = compare(&smaller);
        if same(&verdict, &new) {
            (case, verdict) = (smaller, new);
        }
    }
    Failure {
        seed,
        case,
        verdict,
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let case = &self.case;
        writeln!(
            f,
            "seed {}, registers of {} bytes, mask {:#x}, cr0 {:#x}",
            self.seed,
            case.grf,
            case.start().map_or(0, |start| start.mask),
            case.cr0
        )?;
        let Some(body) = case.object.kernels.first().and_then(|k| k.body()) else {
            return Ok(());
        };
        for item in &body.code {
            let Item::Instruction(instruction) = item else {
                continue;
            };
            write!(f, "  {}", instruction.op.name())?;
            for field in &instruction.fields {
                write!(f, " {}={}", field.name.as_str(), field.value)?;
            }
            writeln!(f)?;
        }
        match &self.verdict {
            Verdict::Differ(differences) => {
                for difference in differences.iter().take(4) {
                    writeln!(f, "  {difference}")?;
                }
                self.describe(differences, f)
            }
            other => writeln!(f, "  {other:?}"),
        }
    }
}

impl Failure {
    /// Types and first bytes of the variables that matter.
    fn describe(
        &self,
        _differences: &[Difference],
        f: &mut std::fmt::Formatter<'_>,
    ) -> std::fmt::Result {
        let Some(body) = self.case.object.kernels.first().and_then(|k| k.body()) else {
            return Ok(());
        };
        let first = self.case.object.format().predefined_variable_count();
        let mut used = Vec::new();
        for instruction in body.instructions() {
            for field in &instruction.fields {
                match &field.value {
                    visakit_isa::Value::Vector(visakit_isa::VectorOperand::General(o)) => {
                        used.push(o.variable.0);
                    }
                    visakit_isa::Value::Raw(o) => used.push(o.variable.0),
                    _ => {}
                }
            }
        }
        used.sort_unstable();
        used.dedup();
        for id in used {
            let Some(variable) = id
                .checked_sub(first)
                .and_then(|i| body.variables.get(i as usize))
            else {
                continue;
            };
            let name = body.string(variable.name).unwrap_or_default();
            let name = String::from_utf8_lossy(name);
            let ty = variable.properties.data_type();
            write!(f, "  {name}:{}", ty.name())?;
            if variable.is_alias() {
                write!(f, " alias {} +{}", variable.alias, variable.alias_offset)?;
            }
            if let Some(bytes) = self.case.set(name.as_bytes()) {
                for chunk in bytes.chunks(usize::from(ty.size())).take(12) {
                    let digits: String = chunk.iter().rev().map(|b| format!("{b:02x}")).collect();
                    write!(f, " {digits}")?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
