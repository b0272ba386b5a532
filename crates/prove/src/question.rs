//! What is asked of two kernels, and how each question is answered: by steps, by induction, on terms.

use crate::decide::Decisions;
use crate::induction;
use crate::lower::Reals;
use crate::machine::{Budget, Failed, Machine};
use crate::memory::{Global, input};
use crate::prove::{Mode, Options, Output, Proof, Refutation, Translated, Verdict};
use crate::refine::Choices;
use crate::same::same;
use crate::scalars::{Inputs, Scalars};
use crate::term::{Deep, Term, Terms};
use crate::trial::{Trials, generated};
use crate::unknown::Unknown;
use hashbrown::HashSet;
use std::cell::OnceCell;
use std::time::Instant;
use visakit_launch::{Argument, Config, LaunchError, Prepared};

/// What is asked of two kernels.
pub(crate) struct Question<'a> {
    pub(crate) sides: [&'a Translated<'a>; 2],
    pub(crate) arguments: &'a [Argument],
    pub(crate) config: Config<'a>,
    pub(crate) options: &'a Options,
    pub(crate) inputs: Inputs,
    pub(crate) deadline: Option<Instant>,
    pub(crate) trials: OnceCell<Trials<'a>>,
    /// Whether the new kernel may put anything where the old one puts what was never written.
    pub(crate) chooses: bool,
}

/// Generated contents that show what loops of both kernels have in common.
const SHOWN: u64 = 6;

/// How many times the runs before a proof are made once more then.
const AGAIN: u64 = 100;

impl<'a> Question<'a> {
    /// Whether a difference counts that a run shows.
    pub(crate) fn refutes(&self) -> bool {
        self.options.mode == Mode::Bits
    }

    /// Runs of both.
    pub(crate) fn trials(&self) -> Result<&Trials<'a>, LaunchError> {
        if let Some(trials) = self.trials.get() {
            return Ok(trials);
        }
        let inputs = self.inputs.clone();
        let trials = Trials::new(self.sides, self.arguments, self.config, inputs)?;
        Ok(self.trials.get_or_init(|| trials))
    }

    /// The launch of a side, as it is examined.
    fn launch(&self, of: &Translated<'_>, arguments: &[Argument]) -> Result<Prepared, LaunchError> {
        let config = Config {
            compile: None,
            ..self.config
        };
        of.loaded.launch(&of.side.range, arguments, None, &config)
    }

    /// A refutation without a proof: what checks find, or some of many runs.
    pub(crate) fn last(
        &self,
        suspect: Option<&[Argument]>,
    ) -> Result<Option<Refutation>, LaunchError> {
        let trials = self.trials()?;
        if let Some(found) = trials.finding(suspect, self.deadline)? {
            return Ok(Some(found));
        }
        let first = self.options.trials;
        trials.run(first..first.saturating_mul(1 + AGAIN), self.deadline)
    }

    /// Whether both are the same steps but for names, and start with scalars of any value at the same places: where each
    /// of their bytes is zero and where it has its number, both have the same bytes.
    pub(crate) fn same(&self) -> Result<bool, LaunchError> {
        match self.marked()? {
            Some(launches) => same(&launches, self.deadline),
            None => Ok(false),
        }
    }

    /// Launches of both with these arguments.
    fn pair(&self, arguments: &[Argument]) -> Result<[Prepared; 2], LaunchError> {
        let [old, new] = self.sides;
        Ok([self.launch(old, arguments)?, self.launch(new, arguments)?])
    }

    /// Launches with the arguments as they are, and with scalars of any value as zeros and as the numbers of their bytes, if
    /// there are some; `None` if there are too many.
    fn marked(&self) -> Result<Option<Vec<[Prepared; 2]>>, LaunchError> {
        let mut all = vec![self.pair(self.arguments)?];
        if !self.inputs.symbolic.is_empty() {
            let Some(numbered) = self.inputs.numbered(self.arguments) else {
                return Ok(None);
            };
            all.push(self.pair(&self.inputs.zero(self.arguments))?);
            all.push(self.pair(&numbered)?);
        }
        Ok(Some(all))
    }

    /// Compares loops by induction: in how many places.
    pub(crate) fn induction(&self) -> Result<Result<usize, Unknown>, LaunchError> {
        let Some(launches) = self.marked()? else {
            return Ok(Err(Unknown::new("too many scalars of any value")));
        };
        let runs =
            (0..SHOWN).map(|seed| self.pair(&generated(self.arguments, &self.inputs, seed, &[])));
        let runs = runs.collect::<Result<Vec<_>, LaunchError>>()?;
        let mut decisions = Decisions::new(self.options.effort);
        decisions.begin(self.deadline.filter(|_| self.options.sat));
        let known = (self.mode(), decisions);
        let ask = |terms: &mut Terms, pairs: Vec<(Term, Term)>| {
            let (verdict, _) = self.decide(terms, pairs)?;
            Ok(verdict == Verdict::Proven)
        };
        match induction::equal(&launches, &runs, known, (self.budget(), &ask)) {
            Ok(places) => Ok(Ok(places)),
            Err(Failed::Unknown(unknown)) => Ok(Err(unknown)),
            Err(Failed::Launch(error)) => Err(error),
        }
    }

    fn budget(&self) -> Budget {
        Budget {
            steps: self.options.steps,
            terms: self.options.terms,
            deadline: self.deadline,
        }
    }

    /// Terms by which results count as equal that do.
    fn mode(&self) -> Terms {
        let mut terms = Terms::new();
        terms.contracted = !self.refutes();
        terms.reals = (self.options.mode == Mode::Reassociated).then(Reals::default);
        terms
    }

    /// The kernel on terms; what it does not know, it says.
    fn memory(
        &self,
        side: &Translated<'_>,
        (terms, decisions): (&mut Terms, &mut Decisions),
    ) -> Result<Result<Global, Unknown>, LaunchError> {
        let budget = self.budget();
        let launch = self.launch(side, self.arguments)?;
        let scalars = |arguments: &[Argument]| self.launch(side, arguments);
        let ran = Scalars::new(&self.inputs, self.arguments, scalars).and_then(|scalars| {
            let inputs = (&self.inputs.known, scalars.as_ref());
            Machine::run((terms, decisions), &launch, inputs, budget)
        });
        match ran {
            Ok(memory) => Ok(Ok(memory)),
            Err(Failed::Unknown(unknown)) => Ok(Err(unknown)),
            Err(Failed::Launch(error)) => Err(error),
        }
    }

    /// Runs the old kernel on terms.
    fn begin(&self) -> Result<Begun, LaunchError> {
        let mut terms = self.mode();
        let mut decisions = Decisions::new(self.options.effort);
        decisions.begin(self.deadline.filter(|_| self.options.sat));
        let [old, _] = self.sides;
        let memory = self.memory(old, (&mut terms, &mut decisions))?;
        Ok(Begun {
            undefined: terms.undefined_bytes(),
            memory,
            terms,
            decisions,
        })
    }

    /// Nothing is known, as a kernel was not understood.
    fn unknown(
        &self,
        which: &str,
        mut unknown: Unknown,
        terms: usize,
    ) -> Result<Proof, LaunchError> {
        let suspect = self.suspect(&mut unknown)?;
        unknown.why = format!("{which}: {}", unknown.why);
        Ok(Proof {
            suspect,
            terms,
            ..Proof::of(Verdict::Unknown(unknown))
        })
    }

    /// The answer, by what is known of the old kernel.
    pub(crate) fn answer(&self, known: &mut Option<Begun>) -> Result<Proof, LaunchError> {
        if self.refutes()
            && self.options.trials > 0
            && let Some(found) = self.trials()?.run(0..self.options.trials, self.deadline)?
        {
            return Ok(Proof::of(Verdict::Refuted(Box::new(found))));
        }
        if !self.options.by_terms {
            return Ok(Proof::of(Verdict::Unknown(Unknown::new(
                "whole runs are not compared",
            ))));
        }
        // Terms of kernels that were compared before are kept, but not for ever.
        known.take_if(|begun| begun.terms.kept() > self.options.terms / 2);
        let begun = match known {
            Some(begun) => {
                let deadline = self.deadline.filter(|_| self.options.sat);
                begun.decisions.begin(deadline);
                begun
            }
            None => known.insert(self.begin()?),
        };
        let Begun {
            terms,
            decisions,
            memory,
            undefined,
        } = begun;
        let old = match memory {
            Ok(memory) => memory,
            Err(unknown) => return self.unknown("old", unknown.clone(), terms.count()),
        };
        let [_, new] = self.sides;
        let mut new = match self.memory(new, (terms, decisions))? {
            Ok(memory) => memory,
            Err(unknown) => return self.unknown("new", unknown, terms.count()),
        };
        let (places, others): (Vec<_>, Vec<_>) =
            (old.arguments().collect(), new.arguments().collect());
        if places
            .iter()
            .map(|(n, _, b)| (n, b))
            .ne(others.iter().map(|(n, _, b)| (n, b)))
        {
            let why = "the kernels do not have the same buffers";
            return Ok(Proof::of(Verdict::Unknown(Unknown::new(why))));
        }
        let mut outputs = Vec::new();
        let mut open: Vec<(Term, Term)> = Vec::new();
        let mut deep = Deep::default();
        for ((argument, at, bytes), (_, other, _)) in places.into_iter().zip(others) {
            let offsets = |memory: &crate::memory::Bytes, at: u64| {
                let inside = memory
                    .addresses()
                    .filter(move |a| (at..at + bytes).contains(a));
                inside.map(|a| a - at).collect::<HashSet<u64>>()
            };
            let (first, second) = (offsets(&old.bytes, at), offsets(&new.bytes, other));
            let mut all: Vec<u64> = first.union(&second).copied().collect();
            all.sort_unstable();
            let mut output = Output {
                argument,
                bytes,
                written: 0,
                open: 0,
            };
            for offset in all {
                let argument = u32::try_from(argument).unwrap_or(u32::MAX);
                let a = old.read(terms, at + offset);
                let b = new.read(terms, other + offset);
                let before = input(terms, argument, offset, bytes);
                if a != before || b != before {
                    output.written += 1;
                }
                if a == b {
                    continue;
                }
                if let Some(why) = self.exhausted(terms) {
                    return Ok(Proof::of(Verdict::Unknown(Unknown::new(why))));
                }
                let (a, b) = (deep.of(terms, a), deep.of(terms, b));
                if a != b {
                    output.open += 1;
                    open.push((a, b));
                }
            }
            outputs.push(output);
        }
        if self.chooses {
            let mut choices = Choices::new(terms, *undefined);
            open.retain(|(old, new)| !choices.equal(*old, *new));
        }
        let (mut verdict, queries) = self.decide(terms, open)?;
        let suspect = match &mut verdict {
            Verdict::Unknown(unknown) => self.suspect(unknown)?,
            _ => None,
        };
        if verdict == Verdict::Proven {
            for output in &mut outputs {
                output.open = 0;
            }
        }
        Ok(Proof {
            outputs,
            queries,
            terms: terms.count(),
            suspect,
            ..Proof::of(verdict)
        })
    }
}

/// The terms of the old kernel.
#[derive(Debug)]
pub(crate) struct Begun {
    terms: Terms,
    decisions: Decisions,
    memory: Result<Global, Unknown>,
    /// Bytes that it has never written have numbers up to this one.
    undefined: u32,
}
