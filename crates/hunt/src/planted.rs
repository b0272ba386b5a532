//! Planted faults: what a compiler wrote is changed in one place, and the results tell it, or not.
//!
//! The number of faults that are not told is a measure of the programs and their inputs. Some of them change nothing
//! that is computed.

use crate::arithmetic::number;
use crate::ast::Program;
use crate::choices::Choices;
use crate::compiler::Compiler;
use crate::configuration::{Bench, Configuration, Made, Maker};
use crate::declared::{Declaration, Declared};
use crate::evaluate::evaluate;
use crate::generate::{Options, generate};
use crate::machine::{self, Launching, Memory, Ran};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::io;
use visakit_exec::{InstructionEvent, Observer};
use visakit_isa::object::RoutineKind;
use visakit_launch::{Config, DumpedKernel, Kernel};

/// Programs that are compiled together.
const BATCH: u64 = 16;

/// Other inputs that a fault is tried with, if it does not show.
const OTHERS: u64 = 6;

/// Attempts for each fault: some are no code.
const ATTEMPTS: usize = 6;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Planted {
    /// An immediate operand is off by one.
    Immediate,
    /// A comparison has another condition.
    Condition,
    /// An operation is another one.
    Operation,
    /// A source is negated, or no longer.
    Modifier,
    /// A source has the other sign, where the instruction depends on it.
    Type,
    /// An operand is another element, or the same one for all lanes.
    Offset,
    /// A predicate is inverted.
    Predicate,
}

impl Planted {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Immediate,
        Self::Condition,
        Self::Operation,
        Self::Modifier,
        Self::Type,
        Self::Offset,
        Self::Predicate,
    ];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::Condition => "condition",
            Self::Operation => "operation",
            Self::Modifier => "modifier",
            Self::Type => "type",
            Self::Offset => "offset",
            Self::Predicate => "predicate",
        }
    }

    /// A line with that fault, if it has a place for it, and a declaration that it needs.
    fn changed(self, line: &str, declared: &Declared<'_>) -> Option<(String, Option<Declaration>)> {
        let code = line.split("///").next().unwrap_or_default();
        if code.starts_with(".decl") || code.starts_with("//") {
            return None;
        }
        match self {
            Self::Type => {
                let (code, declaration) = declared.other_sign(code)?;
                Some((code, Some(declaration)))
            }
            _ => Some((self.rewritten(code)?, None)),
        }
    }

    fn rewritten(self, code: &str) -> Option<String> {
        // The first place of one of some texts.
        let swapped = |pairs: &[(&str, &str)]| {
            let both = pairs.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
            let found = both.filter_map(|(from, to)| Some((code.find(from)?, from, to)));
            let (_, from, to) = found.min_by_key(|(at, from, _)| (*at, from.len()))?;
            Some(code.replacen(from, to, 1))
        };
        match self {
            Self::Immediate => {
                let at = code.rfind("0x")? + 2;
                let (before, rest) = code.split_at_checked(at)?;
                let (digits, after) = rest.split_at_checked(rest.find(':')?)?;
                let value = u64::from_str_radix(digits, 16).ok()?;
                // Floats have types of their own.
                let integer = [":d", ":ud", ":w", ":uw", ":b", ":ub", ":q", ":uq"];
                let integer = integer.contains(&after.trim_end());
                integer.then(|| format!("{before}{:x}{after}", value ^ 1))
            }
            Self::Condition => swapped(&[(".lt ", ".le "), (".gt ", ".ge "), (".eq ", ".ne ")]),
            Self::Operation => swapped(&[
                (" add (", " mul ("),
                (" and (", " or ("),
                (" shl (", " shr ("),
                (" xor (", " and ("),
                (" asr (", " shr ("),
                (" mad (", " add3 ("),
            ]),
            Self::Modifier => {
                if let Some(at) = code.find("(-)") {
                    return Some(format!("{}{}", code.get(..at)?, code.get(at + 3..)?));
                }
                let at = code.rfind(" V")? + 1;
                // Stores have no such operands.
                let computes = ["add ", "mul ", "mov ", "mad ", "sel "];
                let computes = computes.iter().any(|op| code.contains(op));
                let source = code.get(at..)?.contains(';');
                let (before, after) = code.split_at_checked(at)?;
                (computes && source).then(|| format!("{before}(-){after}"))
            }
            Self::Type => None,
            Self::Offset => swapped(&[("<1;1,0>", "<0;1,0>"), ("(0,0)<0;1,0>", "(0,1)<0;1,0>")]),
            Self::Predicate => {
                let rest = code.trim_start().strip_prefix('(')?;
                let negated = rest.starts_with('!');
                match negated {
                    true => Some(code.replacen("(!", "(", 1)),
                    false => rest.starts_with('P').then(|| code.replacen('(', "(!", 1)),
                }
            }
        }
    }
}

/// What became of the faults of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Results differ.
    pub results: u64,
    /// The kernel faults, or does not end.
    pub faults: u64,
    /// Nothing differs, but something does with other inputs.
    pub missed: u64,
    /// The instruction does not run, but what it changes shows with other inputs.
    pub unreached: u64,
    /// Nothing differs with any inputs: most likely nothing that is computed changes.
    pub silent: u64,
}

impl Told {
    /// All of them.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.results + self.faults + self.missed + self.unreached + self.silent
    }

    fn add(&mut self, other: &Self) {
        self.results += other.results;
        self.faults += other.faults;
        self.missed += other.missed;
        self.unreached += other.unreached;
        self.silent += other.silent;
    }
}

/// The instructions of the kernel itself that run in some lane.
#[derive(Default)]
struct Reached(HashSet<usize>);

impl Observer for Reached {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = false;

    fn after(&mut self, event: &InstructionEvent<'_>) {
        if event.mask != 0 && event.routine.kind == RoutineKind::Kernel {
            self.0.insert(event.instruction);
        }
    }
}

impl Reached {
    fn by(kernel: &DumpedKernel, launching: &Launching) -> Option<Self> {
        let config = Config {
            compile: None,
            passes: &[],
            ..machine::config()
        };
        let kernel = Kernel::from_dump(kernel).ok()?;
        let mut reached = Self::default();
        let (range, arguments) = (&launching.range, &launching.arguments);
        let ran = kernel.run_observed(range, arguments, &config, &mut reached);
        ran.is_ok().then_some(reached)
    }

    /// Whether a line is reached: its number stands at its end.
    fn has(&self, line: &str) -> bool {
        let number = line
            .rsplit_once('$')
            .and_then(|(_, number)| number.trim().parse().ok());
        number.is_none_or(|number| self.0.contains(&number))
    }
}

/// The kernel with a fault in a line that has a place for it, and whether that is reached.
fn planted(
    kernel: &DumpedKernel,
    fault: Planted,
    reached: &Reached,
    choices: &mut Choices,
) -> Option<(DumpedKernel, bool)> {
    let mut kernel = kernel.clone();
    let source = kernel.sources.first_mut()?;
    let text = String::from_utf8_lossy(&source.bytes).into_owned();
    let declared = Declared::of(&text);
    let places = text.lines().enumerate();
    let places = places.filter_map(|(at, line)| Some((at, fault.changed(line, &declared)?)));
    let places: Vec<_> = places.collect();
    let (at, (changed, declaration)) = places.get(choices.below(places.len()))?;
    let mut lines: Vec<&str> = text.lines().collect();
    *lines.get_mut(*at)? = changed;
    if let Some(declaration) = declaration {
        lines.insert(declaration.after + 1, &declaration.text);
    }
    source.bytes = lines.join("\n").into_bytes();
    let reached = reached.has(text.lines().nth(*at)?);
    Some((kernel, reached))
}

/// Plants a fault of each kind in what a compiler made of a program.
fn of_program(
    program: &Program,
    kernel: &DumpedKernel,
    expected: &Memory,
) -> Option<Vec<(Planted, Told)>> {
    let launching = Launching::of(program).ok()?;
    let reached = Reached::by(kernel, &launching)?;
    let others = Others::new(program, kernel);
    let mut choices = Choices::new(program.seed ^ 0x1234);
    let faults = Planted::ALL.into_iter().filter_map(|fault| {
        let (wrong, ran, reached) = (0..ATTEMPTS).find_map(|_| {
            let (wrong, reached) = planted(kernel, fault, &reached, &mut choices)?;
            match machine::run(&wrong, &launching) {
                Ran::Not(_) => None,
                ran => Some((wrong, ran, reached)),
            }
        })?;
        let mut told = Told::default();
        match ran {
            Ran::Ended(memory) if memory == *expected => match (others.tell(&wrong), reached) {
                (false, _) => told.silent = 1,
                (true, true) => told.missed = 1,
                (true, false) => told.unreached = 1,
            },
            Ran::Ended(_) => told.results = 1,
            _ => told.faults = 1,
        }
        Some((fault, told))
    });
    Some(faults.collect())
}

/// The same kernel with other inputs.
struct Others(Vec<(Launching, Ran)>);

impl Others {
    fn new(program: &Program, kernel: &DumpedKernel) -> Self {
        let seeds = (1..=OTHERS).map(|n| program.seed.wrapping_mul(OTHERS) ^ n << 40);
        let launched = seeds.filter_map(|seed| {
            let launching = Launching::of(&with_other_inputs(program, seed)).ok()?;
            let ran = machine::run(kernel, &launching);
            Some((launching, ran))
        });
        Self(launched.collect())
    }

    /// Whether a fault shows.
    fn tell(&self, wrong: &DumpedKernel) -> bool {
        let mut all = self.0.iter();
        all.any(|(launching, right)| machine::run(wrong, launching) != *right)
    }
}

fn with_other_inputs(program: &Program, seed: u64) -> Program {
    let mut choices = Choices::new(seed);
    let mut program = program.clone();
    let buffers = program.inputs.iter_mut().chain(&mut program.own);
    for value in buffers.flat_map(|buffer| &mut buffer.data) {
        *value = number(choices.value(value.ty));
    }
    for scalar in &mut program.scalars {
        *scalar = choices.value(scalar.ty);
    }
    program
}

/// Plants faults in what a compiler makes of generated programs until there are so many of them, and counts those that
/// results tell.
///
/// # Errors
/// The compiler cannot be run, or compiles nothing.
pub fn plant(
    compiler: Compiler,
    device: &str,
    options: &Options,
    seed: u64,
    faults: u64,
) -> io::Result<BTreeMap<Planted, Told>> {
    let bench = Bench {
        compilers: vec![(String::new(), compiler)],
        ..Bench::default()
    };
    let configuration = Configuration::of(Maker::Compiler(0), "", device);
    let mut all: BTreeMap<Planted, Told> = BTreeMap::new();
    let mut batch = 0;
    while all.values().map(Told::all).sum::<u64>() < faults {
        let first = seed.wrapping_add(batch * BATCH);
        let programs = (first..first.saturating_add(BATCH)).map(|seed| generate(seed, options));
        let programs: Vec<_> = programs.filter(|p| evaluate(p).is_ok()).collect();
        let made = bench.make(&configuration, &programs.iter().collect::<Vec<_>>())?;
        let made = made
            .into_iter()
            .zip(&programs)
            .filter_map(|(made, program)| match made {
                Made::Memory(memory, kernel) => {
                    let expected = evaluate(program).ok().map(|b| machine::memory(&b))?;
                    (memory == expected).then_some((expected, kernel, program))
                }
                _ => None,
            });
        let made: Vec<_> = made.collect();
        if made.is_empty() && batch > 2 {
            return Err(io::Error::other(
                "the compiler compiles none of the programs",
            ));
        }
        let told = made.par_iter();
        let told = told.flat_map_iter(|(expected, kernel, program)| {
            of_program(program, kernel, expected).unwrap_or_default()
        });
        for (fault, one) in told.collect::<Vec<_>>() {
            all.entry(fault).or_default().add(&one);
        }
        batch += 1;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

    use super::*;

    #[test]
    fn each_kind_has_places() {
        let text = ".decl V40 v_type=G type=ud num_elts=16\n.decl V41 v_type=G type=w num_elts=16";
        let declared = Declared::of(text);
        let kinds = |line: &str| -> Vec<String> {
            let all = Planted::ALL.into_iter();
            let all = all.filter_map(|fault| fault.changed(line, &declared));
            all.map(|(line, _)| line).collect()
        };
        let line = "    (P1) add (M1, 16) V40(0,0)<1> V41(0,0)<1;1,0> 0x3:d   /// $4";
        let expected = [
            "    (P1) add (M1, 16) V40(0,0)<1> V41(0,0)<1;1,0> 0x2:d   ",
            "    (P1) mul (M1, 16) V40(0,0)<1> V41(0,0)<1;1,0> 0x3:d   ",
            "    (P1) add (M1, 16) V40(0,0)<1> (-)V41(0,0)<1;1,0> 0x3:d   ",
            "    (P1) add (M1, 16) V40(0,0)<1> V41planted(0,0)<1;1,0> 0x3:d   ",
            "    (P1) add (M1, 16) V40(0,0)<1> V41(0,0)<0;1,0> 0x3:d   ",
            "    (!P1) add (M1, 16) V40(0,0)<1> V41(0,0)<1;1,0> 0x3:d   ",
        ];
        assert_eq!(kinds(line), expected);
        assert_eq!(
            kinds("cmp.le (M1, 16) P1 V1(0,0)<0;1,0> V2(0,0)<0;1,0>")
                .first()
                .unwrap(),
            "cmp.lt (M1, 16) P1 V1(0,0)<0;1,0> V2(0,0)<0;1,0>"
        );
        for odd in [
            "",
            "// x",
            "é 0x",
            "(",
            ".decl",
            "ret (M1, 1)",
            "0x:d",
            " V",
        ] {
            let _ = kinds(odd);
        }
    }

    /// Most faults are told; a seed has always the same ones.
    #[test]
    fn results_tell_most_faults() {
        let Some((bench, configuration)) = crate::configuration::of_this_machine() else {
            println!("NOT RUN: needs ocloc");
            return;
        };
        let (_, compiler) = bench.compilers.first().unwrap().clone();
        let options = Options::default();
        let all = plant(compiler, &configuration.device, &options, 1, 40).unwrap();
        let missed: u64 = all.values().map(|told| told.missed).sum();
        let told: u64 = all.values().map(|told| told.results + told.faults).sum();
        let count: u64 = all.values().map(Told::all).sum();
        assert!(count >= 40 && told > missed / 2, "{all:?}");
        println!("{all:?}");
    }
}
