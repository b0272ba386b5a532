//! Finds: a reduced program, what each configuration computes, and whether that is a fault of the compiler.

use crate::ast::Program;
use crate::configuration::{Bench, Configuration, Made};
use crate::evaluate::evaluate;
use crate::instruction::{Instruction, first_wrong};
use crate::machine::{self, Memory};
use crate::reduce::reduce;
use crate::render::source;
use crate::report;
use crate::shape::shape;
use crate::switches::{Effect, Switch, avoiding};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use visakit_launch::DumpedKernel;

/// Tests of a program whose compilation does not end take long.
pub(crate) const MOST_ENDLESS: usize = 60;

/// Compilations to find the switches that avoid a bug.
const MOST_SWITCHES: usize = 60;

/// Reduces programs that one configuration compiles wrongly.
pub(crate) struct Finder<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) kind: &'a str,
    pub(crate) failing: &'a Configuration,
    pub(crate) most: usize,
}

impl Finder<'_> {
    /// The smallest program found that is still wrong in that way, and right in a configuration that the first one was
    /// right in. `None` if it is not wrong in a source of its own.
    pub(crate) fn reduce(
        &self,
        program: &Program,
        right: &[&Configuration],
    ) -> io::Result<Option<Program>> {
        let Some(expected) = expected(program) else {
            return Ok(None);
        };
        if self.kind_of(program, &expected)? != Some(self.kind) {
            return Ok(None);
        }
        let reference = self.reference(program, &expected, right)?;
        if reference.is_none() && !self.is_crash() {
            return Ok(None);
        }
        let most = match self.kind {
            "endless" => self.most.min(MOST_ENDLESS),
            _ => self.most,
        };
        let mut failure = None;
        let mut test = |candidates: &[Program]| match self.first(candidates, reference) {
            Ok(first) => first,
            Err(error) => {
                failure.get_or_insert(error);
                None
            }
        };
        let (program, _) = reduce(program, most, &mut test);
        failure.map_or(Ok(Some(program)), Err)
    }

    fn is_crash(&self) -> bool {
        matches!(self.kind, "crash" | "endless")
    }

    fn kind_of(&self, program: &Program, expected: &Memory) -> io::Result<Option<&'static str>> {
        let made = self.bench.make(self.failing, &[program])?;
        Ok(made.first().and_then(|made| made.wrong(expected)))
    }

    /// A configuration that is right, without optimisation by the compiler that is wrong if possible.
    fn reference<'c>(
        &self,
        program: &Program,
        expected: &Memory,
        right: &[&'c Configuration],
    ) -> io::Result<Option<&'c Configuration>> {
        let mut right = right.to_vec();
        let failing = self.failing;
        right.sort_by_key(|c| (c.maker != failing.maker, c.device != failing.device));
        for configuration in right {
            let made = self.bench.make(configuration, &[program])?;
            if made.first().and_then(Made::memory) == Some(expected) {
                return Ok(Some(configuration));
            }
        }
        Ok(None)
    }

    /// The first of some programs that is wrong, and right by the reference.
    fn first(
        &self,
        candidates: &[Program],
        reference: Option<&Configuration>,
    ) -> io::Result<Option<usize>> {
        if self.is_crash() {
            // A source of several crashes as a whole.
            for (at, program) in candidates.iter().enumerate() {
                let made = self.bench.make(self.failing, &[program])?;
                if made.first().and_then(|made| made.wrong(&Memory::new())) == Some(self.kind) {
                    return Ok(Some(at));
                }
            }
            return Ok(None);
        }
        let all: Vec<&Program> = candidates.iter().collect();
        let made = self.bench.make(self.failing, &all)?;
        let judged = all.iter().enumerate().zip(made);
        let wrong = judged.filter(|((_, program), made)| {
            let expected = expected(program);
            expected.is_some_and(|e| made.wrong(&e) == Some(self.kind))
        });
        let wrong: Vec<(usize, &Program)> = wrong.map(|(at, _)| (at.0, *at.1)).collect();
        let Some(reference) = reference else {
            return Ok(wrong.first().map(|(at, _)| *at));
        };
        let programs: Vec<&Program> = wrong.iter().map(|(_, program)| *program).collect();
        let made = self.bench.make(reference, &programs)?;
        let mut judged = wrong.iter().zip(made);
        let first = judged.find(|((_, program), made)| {
            made.memory().is_some() && made.memory() == expected(program).as_ref()
        });
        Ok(first.map(|((at, _), _)| *at))
    }
}

/// What the evaluator computes.
pub(crate) fn expected(program: &Program) -> Option<Memory> {
    evaluate(program).ok().map(|b| machine::memory(&b))
}

/// A reduced program with what all configurations make of it.
pub(crate) struct Find {
    pub(crate) kind: String,
    pub(crate) seed: u64,
    pub(crate) program: Program,
    pub(crate) expected: Memory,
    pub(crate) made: Vec<(Configuration, Made)>,
    /// Switches each of which makes the first configuration that is wrong right.
    pub(crate) avoided: Vec<Switch>,
    /// The instruction that computes the first wrong value in that configuration.
    pub(crate) instruction: Option<Instruction>,
}

impl Find {
    pub(crate) fn of(
        bench: &Bench,
        kind: &str,
        seed: u64,
        program: Program,
        configurations: &[Configuration],
    ) -> io::Result<Self> {
        let made = configurations.par_iter().map(|configuration| {
            let made = bench.make(configuration, &[&program])?.pop();
            let none = || Made::Not("nothing was made".to_owned());
            Ok((configuration.clone(), made.unwrap_or_else(none)))
        });
        let mut find = Self {
            made: made.collect::<io::Result<_>>()?,
            kind: kind.to_owned(),
            seed,
            expected: expected(&program).unwrap_or_default(),
            program,
            avoided: Vec::new(),
            instruction: None,
        };
        find.avoided = find.avoiding(bench)?;
        find.instruction = find.first_wrong(bench)?;
        Ok(find)
    }

    /// The configuration with a switch that avoids the bug, or else one that is right and as near as possible.
    fn nearest(&self, bench: &Bench, wrong: &Configuration) -> io::Result<Option<DumpedKernel>> {
        // Code that is not optimised has little in common with code that is.
        let mut avoided = self.avoided.iter();
        if let Some(switch) = avoided.find(|switch| switch.key().is_some()) {
            let configuration = Configuration {
                switches: vec![*switch],
                ..wrong.clone()
            };
            let made = bench.make(&configuration, &[&self.program])?;
            if let Some(kernel) = made.first().and_then(Made::kernel) {
                return Ok(Some(kernel.clone()));
            }
        }
        let right = self.made.iter();
        let right = right.filter(|(_, made)| made.memory() == Some(&self.expected));
        let right = right.filter_map(|(c, made)| Some((c, made.kernel()?)));
        let nearest = right.min_by_key(|(c, _)| {
            let far = [
                c.device != wrong.device,
                c.maker != wrong.maker,
                c.is_plain() != wrong.is_plain(),
            ];
            far.into_iter().filter(|far| *far).count()
        });
        Ok(nearest.map(|(_, kernel)| kernel.clone()))
    }

    /// The instruction that computes the first wrong value.
    fn first_wrong(&self, bench: &Bench) -> io::Result<Option<Instruction>> {
        let Some((wrong, Made::Memory(memory, kernel))) = self.wrong().next() else {
            return Ok(None);
        };
        let right = self.nearest(bench, wrong)?;
        let memories = (&self.expected, memory);
        Ok(first_wrong(&self.program, memories, kernel, right.as_ref()))
    }

    /// The source, as the first configuration that is wrong compiles it.
    pub(crate) fn source(&self) -> String {
        let program = [&self.program];
        let wrong = self.wrong().next().map(|(wrong, _)| wrong.source(&program));
        wrong.unwrap_or_else(|| source(&program, None))
    }

    /// Compilations that do not end are not made again and again.
    pub(crate) fn tries_switches(&self) -> bool {
        self.kind != "endless"
    }

    /// The switches that make the first configuration that is wrong right.
    fn avoiding(&self, bench: &Bench) -> io::Result<Vec<Switch>> {
        let wrong = self.wrong().next().filter(|_| self.tries_switches());
        let Some((wrong, _)) = wrong else {
            return Ok(Vec::new());
        };
        avoiding(&Switch::all(), MOST_SWITCHES, &mut |switches| {
            let configuration = Configuration {
                switches: switches.to_vec(),
                ..wrong.clone()
            };
            let made = bench.make(&configuration, &[&self.program])?;
            Ok(match made.first() {
                Some(made) if made.memory() == Some(&self.expected) => Effect::Vanishes,
                Some(made) if made.wrong(&self.expected).is_some() => Effect::Remains,
                _ => Effect::Unknown,
            })
        })
    }

    /// The configurations that are wrong.
    pub(crate) fn wrong(&self) -> impl Iterator<Item = (&Configuration, &Made)> {
        let made = self.made.iter();
        let wrong = made.filter(|(configuration, made)| {
            configuration.is_tested() && made.wrong(&self.expected).is_some()
        });
        wrong.map(|(configuration, made)| (configuration, made))
    }

    /// Whether it computes what is expected.
    pub(crate) fn is_right(&self, made: &Made) -> bool {
        made.memory() == Some(&self.expected)
    }

    /// The configurations that are right.
    pub(crate) fn right(&self) -> impl Iterator<Item = &Configuration> {
        let right = self.made.iter().filter(|(_, made)| self.is_right(made));
        right.map(|(configuration, _)| configuration)
    }

    /// Why it may be no fault of the compiler.
    pub(crate) fn doubt(&self) -> Option<&'static str> {
        if matches!(self.kind.as_str(), "crash" | "endless") {
            return None;
        }
        let kind = |made: &Made| made.wrong(&self.expected);
        if !self.wrong().any(|(_, made)| kind(made) == Some(&self.kind)) {
            return Some("not seen again in a source of its own");
        }
        if self.right().next().is_none() {
            return Some("no configuration computes what the evaluator expects");
        }
        if self
            .wrong()
            .all(|(configuration, _)| configuration.through.is_some())
        {
            return Some("only what another program changed on the way is wrong");
        }
        let mut seconds = self.made.iter().filter_map(|(_, made)| match made {
            Made::Second(memory) => Some(memory),
            _ => None,
        });
        if seconds.any(|second| self.wrong().any(|(_, made)| made.memory() == Some(second))) {
            return Some("a second opinion computes what would be wrong");
        }
        let right = self.made.iter();
        let mut right = right.filter(|(_, made)| made.memory() == Some(&self.expected));
        let clean = right.any(|(_, made)| match made.kernel() {
            Some(kernel) => {
                machine::check_program(kernel, &self.program).is_ok_and(|f| f.is_empty())
            }
            // Nothing in programs is undefined by construction.
            None => !self.right().any(Configuration::is_tested),
        });
        (!clean).then_some("checks find something in each build that is right")
    }

    /// What makes it one bug: the kind, the compilers, with or without optimisation, the instruction that computes the
    /// first wrong value, the switches that avoid it, the parts of the language.
    pub(crate) fn signature(&self) -> String {
        let mut facts = vec![self.kind.clone()];
        let places = self.wrong().map(|(configuration, _)| {
            let level = if configuration.is_plain() {
                "plain"
            } else {
                "optimised"
            };
            format!("{} {level}", configuration.release)
        });
        facts.extend(places.collect::<BTreeSet<_>>());
        if self.kind == "crash" {
            let said = self.wrong().find_map(|(_, made)| match made {
                Made::Crash(said) => Some(said),
                _ => None,
            });
            facts.push(steady(said.map_or("", String::as_str)));
        } else {
            facts.extend(self.instruction.iter().map(|i| i.form.clone()));
            facts.extend(self.avoided.iter().map(Switch::to_string));
            // The types are the instruction's, if there is one.
            let shape = shape(&self.program).into_iter();
            let words = shape.map(|word| match (&self.instruction, word.rsplit_once(' ')) {
                (Some(_), Some((word, _))) => word.to_owned(),
                _ => word,
            });
            facts.extend(words.collect::<BTreeSet<_>>());
        }
        format!("{}-{:08x}", self.kind, hash(&facts) >> 32)
    }

    /// Writes the folder of the bug below another one, unless it is there.
    pub(crate) fn write(&self, folder: &Path, bench: &Bench) -> io::Result<()> {
        let place = folder.join(self.signature());
        if place.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(folder)?;
        report::write(self, &place, bench)
    }
}

/// A number of some facts, the same on each machine: FNV-1a.
pub(crate) fn hash(facts: &[String]) -> u64 {
    let bytes = facts.join("\n").into_bytes().into_iter();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A message without what differs from call to call.
pub(crate) fn steady(said: &str) -> String {
    said.chars().filter(|c| !c.is_ascii_digit()).collect()
}
