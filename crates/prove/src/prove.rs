//! The proof for two launches.

use crate::decide::Decisions;
use crate::lower::Reals;
use crate::machine::{Budget, Failed, Machine};
use crate::memory::input;
use crate::refine::Choices;
use crate::same::same;
use crate::scalars::{Inputs, Scalars};
use crate::solver::{Answer, ask};
use crate::term::{Deep, Model, Question as Script, Shape, Shapes, Term, Terms, Values, Variable};
use crate::trial::{Difference, Trials, generated};
use crate::unknown::Unknown;
use hashbrown::HashSet;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::time::{Duration, Instant};
use visakit_launch::{Argument, Config, Kernel, LaunchError, NdRange, Prepared};

/// One of two kernels, and the grid.
#[derive(Clone, Copy, Debug)]
pub struct Side<'k> {
    /// The kernel.
    pub kernel: &'k Kernel<'k>,
    /// The grid.
    pub range: NdRange,
}

/// What counts as equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Equal bits.
    #[default]
    Bits,
    /// Results of floats may differ where a product and a sum are contracted into one operation, or the operands of a
    /// product or sum are exchanged: what `-cl-mad-enable` allows, and which of two NaNs is passed on.
    Contracted,
    /// Products and sums of floats are those of real numbers: besides, they are associative and distributive, as
    /// `-cl-unsafe-math-optimizations` allows.
    Reassociated,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Arguments whose buffers have the content that they are given; of all others nobody knows it.
    pub known: Vec<usize>,
    /// Arguments that are scalars of any value: the given one is only the first that is tried.
    pub symbolic: Vec<usize>,
    /// Whether kernels that are the same step by step are proven equal by that, without terms.
    pub by_steps: bool,
    /// Runs on generated contents before anything is proven.
    pub trials: u64,
    /// What counts as equal. Only differences of bits can be shown by a run: other modes are never refuted.
    pub mode: Mode,
    /// Steps of a kernel on terms.
    pub steps: u64,
    /// Terms of both kernels, and other results that are kept for them, about 200 bytes each.
    pub terms: usize,
    /// The time for a pair.
    pub time: Duration,
    /// Variables, and decisions of the solver inside, of each question: bounds that do not depend on how busy a machine is.
    pub effort: Option<u32>,
    /// Whether questions that rules leave open are returned as SMT-LIB.
    pub smt2: bool,
    /// Whether the solver inside is asked for what rules leave open; without the feature `sat` there is none.
    pub sat: bool,
    /// A command that reads SMT-LIB on its standard input and answers what rules and the solver inside leave open.
    pub solver: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            known: Vec::new(),
            symbolic: Vec::new(),
            by_steps: true,
            trials: 48,
            steps: 2_000_000,
            terms: 10_000_000,
            mode: Mode::Bits,
            time: Duration::from_secs(60),
            effort: None,
            sat: true,
            smt2: false,
            solver: None,
        }
    }
}

/// The answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Both leave the same bytes in all buffers, whatever was in them.
    Proven,
    /// They do not, for these arguments: the executor has run both.
    Refuted(Box<Refutation>),
    /// Neither is known.
    Unknown(Unknown),
}

/// Arguments that tell two kernels apart.
#[derive(Clone, PartialEq, Debug)]
pub struct Refutation {
    /// The arguments of both.
    pub arguments: Vec<Argument>,
    /// What differs.
    pub difference: Difference,
    /// What the old kernel leaves in each argument that is a buffer; empty if it does not run to its end.
    pub expected: Vec<Option<Vec<u8>>>,
}

/// What was compared of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Output {
    /// The argument.
    pub argument: usize,
    /// Bytes of its buffer.
    pub bytes: u64,
    /// Those that a kernel wrote.
    pub written: u64,
    /// Those of which it is not known whether they are equal.
    pub open: u64,
}

/// A proof, or why there is none.
#[derive(Clone, PartialEq, Debug)]
pub struct Proof {
    /// The answer.
    pub verdict: Verdict,
    /// Whether each step of both does the same, but for the names of registers and labels and for what nothing depends on: the
    /// proof holds for whatever they do, and nothing else was compared.
    pub steps: bool,
    /// What was compared, if both kernels were understood.
    pub outputs: Vec<Output>,
    /// What rules left open, in SMT-LIB: satisfiable if the kernels differ.
    pub queries: Vec<String>,
    /// Terms of both.
    pub terms: usize,
    /// Arguments for which a kernel comes to what is not understood, such as an access outside of all buffers.
    pub suspect: Option<Vec<Argument>>,
    /// How long it took.
    pub time: Duration,
}

/// Proves or refutes that two kernels leave the same bytes in the buffers of all arguments.
///
/// # Errors
/// Arguments or a grid that do not match a kernel, and kernels that cannot be translated.
pub fn prove(
    old: Side<'_>,
    new: Side<'_>,
    arguments: &[Argument],
    config: &Config<'_>,
    options: &Options,
) -> Result<Proof, LaunchError> {
    let started = Instant::now();
    let mut question = Question::new([old, new], arguments, config, options);
    let whole = std::mem::replace(
        &mut question.deadline,
        started.checked_add(options.time.saturating_sub(options.time / LAST)),
    );
    let mut proof = match options.by_steps && question.same()? {
        true => Proof {
            steps: true,
            ..Proof::of(Verdict::Proven)
        },
        false => question.answer()?,
    };
    if matches!(proof.verdict, Verdict::Unknown(_)) && question.refutes() && options.trials > 0 {
        question.deadline = whole;
        if let Some(found) = question.last(proof.suspect.as_deref())? {
            proof.verdict = Verdict::Refuted(Box::new(found));
        }
    }
    proof.time = started.elapsed();
    Ok(proof)
}

/// Only runs both kernels on generated contents: arguments that tell them apart, if some do.
///
/// # Errors
/// As [`prove`].
pub fn refute(
    old: Side<'_>,
    new: Side<'_>,
    arguments: &[Argument],
    config: &Config<'_>,
    options: &Options,
) -> Result<Option<Refutation>, LaunchError> {
    let question = Question::new([old, new], arguments, config, options);
    question.trials()?.run(0..options.trials, question.deadline)
}

/// Generated contents of buffers, by a seed; of 0 they are as given.
#[must_use]
pub fn contents(arguments: &[Argument], options: &Options, seed: u64) -> Vec<Argument> {
    generated(arguments, &Inputs::new(options), seed, &[])
}

/// Proves that a kernel does nothing wrong, whatever is in its buffers: no access is outside of all objects, no two threads
/// race, no barrier is reached by a part of a thread or a group, and no output depends on what was never written.
///
/// This is the proof that it computes the same as itself; it is never refuted.
///
/// # Errors
/// As [`prove`].
pub fn examine(
    side: Side<'_>,
    arguments: &[Argument],
    config: &Config<'_>,
    options: &Options,
) -> Result<Proof, LaunchError> {
    let options = Options {
        trials: 0,
        ..options.clone()
    };
    let started = Instant::now();
    let mut proof = Question::new([side, side], arguments, config, &options).answer()?;
    proof.time = started.elapsed();
    if let Verdict::Unknown(unknown) = &mut proof.verdict {
        unknown.why = unknown.why.trim_start_matches("old: ").to_owned();
    }
    Ok(proof)
}

/// How both kernels run: nothing outside of buffers is read, and nothing is left to passes.
fn own<'a>(config: &Config<'a>) -> Config<'a> {
    Config {
        exact_ends: true,
        lenient: false,
        stray_reads: false,
        passes: &[],
        ..*config
    }
}

struct Question<'a> {
    sides: [Side<'a>; 2],
    arguments: &'a [Argument],
    config: Config<'a>,
    options: &'a Options,
    inputs: Inputs,
    deadline: Option<Instant>,
}

/// The part of the time that is left for a refutation where there is no proof.
const LAST: u32 = 4;

/// How many times the runs before a proof are made once more then.
const AGAIN: u64 = 15;

/// Random values of all variables.
const SAMPLES: u64 = 8;

/// Pairs of terms in a question for a solver.
const PAIRS: usize = 4;

/// The part of the time that is left for a question: one that is hard leaves some to others.
#[cfg(feature = "sat")]
const PART: u32 = 4;

impl<'a> Question<'a> {
    fn new(
        sides: [Side<'a>; 2],
        arguments: &'a [Argument],
        config: &Config<'a>,
        options: &'a Options,
    ) -> Self {
        Self {
            sides,
            arguments,
            config: own(config),
            options,
            inputs: Inputs::new(options),
            deadline: Instant::now().checked_add(options.time),
        }
    }

    /// Whether a difference counts that a run shows.
    fn refutes(&self) -> bool {
        self.options.mode == Mode::Bits
    }

    fn trials(&self) -> Result<Trials<'_>, LaunchError> {
        Trials::new(self.sides, self.arguments, self.config, &self.inputs)
    }

    /// The launch of a side, as it is examined: machine code does not keep all registers.
    fn launch(&self, side: &Side<'_>, arguments: &[Argument]) -> Result<Prepared, LaunchError> {
        let config = Config {
            compile: None,
            ..self.config
        };
        side.kernel.prepare(&side.range, arguments, &config)
    }

    /// A refutation without a proof: what checks find, or some of many runs.
    fn last(&self, suspect: Option<&[Argument]>) -> Result<Option<Refutation>, LaunchError> {
        let trials = self.trials()?;
        if let Some(found) = trials.finding(suspect, self.deadline)? {
            return Ok(Some(found));
        }
        let first = self.options.trials;
        trials.run(first..first.saturating_mul(1 + AGAIN), self.deadline)
    }

    /// Whether both are the same steps but for names, and start with scalars of any value at the same places: where each
    /// of their bytes is zero and where it has its number, both have the same bytes.
    fn same(&self) -> Result<bool, LaunchError> {
        let [old, new] = &self.sides;
        let mut all = vec![self.arguments.to_vec()];
        if !self.inputs.symbolic.is_empty() {
            let Some(numbered) = self.inputs.numbered(self.arguments) else {
                return Ok(false);
            };
            all.extend([self.inputs.zero(self.arguments), numbered]);
        }
        let launch = |arguments: &Vec<Argument>| {
            Ok([self.launch(old, arguments)?, self.launch(new, arguments)?])
        };
        let launches = all
            .iter()
            .map(launch)
            .collect::<Result<Vec<_>, LaunchError>>()?;
        same(&launches, self.deadline)
    }

    fn answer(&self) -> Result<Proof, LaunchError> {
        let trials = self.trials()?;
        let refutes = self.refutes();
        if refutes && let Some(found) = trials.run(0..self.options.trials, self.deadline)? {
            return Ok(Proof::of(Verdict::Refuted(Box::new(found))));
        }
        let mut terms = Terms::new();
        terms.contracted = !refutes;
        terms.reals = (self.options.mode == Mode::Reassociated).then(Reals::default);
        let mut decisions = Decisions::new(
            self.deadline.filter(|_| self.options.sat),
            self.options.effort,
        );
        let mut memories = Vec::new();
        let mut undefined = None;
        let budget = Budget {
            steps: self.options.steps,
            terms: self.options.terms,
            deadline: self.deadline,
        };
        for (side, which) in self.sides.iter().zip(["old", "new"]) {
            let launch = self.launch(side, self.arguments)?;
            let scalars = |arguments: &[Argument]| self.launch(side, arguments);
            let ran = Scalars::new(&self.inputs, self.arguments, scalars).and_then(|scalars| {
                let inputs = (&self.inputs.known, scalars.as_ref());
                Machine::run((&mut terms, &mut decisions), &launch, inputs, budget)
            });
            match ran {
                Ok(memory) => {
                    memories.push(memory);
                    undefined.get_or_insert(terms.undefined_bytes());
                }
                Err(Failed::Launch(error)) => return Err(error),
                Err(Failed::Unknown(mut unknown)) => {
                    let suspect = unknown.values.take().map(|model| trials.filled(&model));
                    unknown.why = format!("{which}: {}", unknown.why);
                    let mut proof = Proof::of(Verdict::Unknown(unknown));
                    proof.suspect = suspect;
                    proof.terms = terms.count();
                    return Ok(proof);
                }
            }
        }
        let [old, new] = &mut memories[..] else {
            return Ok(Proof::of(Verdict::Unknown(Unknown::new("no memory"))));
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
                let a = old.read(&mut terms, at + offset);
                let b = new.read(&mut terms, other + offset);
                let before = input(&mut terms, argument, offset, bytes);
                if a != before || b != before {
                    output.written += 1;
                }
                if a == b {
                    continue;
                }
                if let Some(why) = self.exhausted(&terms) {
                    return Ok(Proof::of(Verdict::Unknown(Unknown::new(why))));
                }
                let (a, b) = (deep.of(&mut terms, a), deep.of(&mut terms, b));
                if a != b {
                    output.open += 1;
                    open.push((a, b));
                }
            }
            outputs.push(output);
        }
        let mut choices = Choices::new(&terms, undefined.unwrap_or(0));
        open.retain(|(old, new)| !choices.equal(*old, *new));
        let (verdict, queries) = self.decide(&trials, &mut terms, open)?;
        if verdict == Verdict::Proven {
            for output in &mut outputs {
                output.open = 0;
            }
        }
        Ok(Proof {
            verdict,
            steps: false,
            outputs,
            queries,
            terms: terms.count(),
            suspect: None,
            time: Duration::ZERO,
        })
    }

    /// Whether memory or time are used up.
    fn exhausted(&self, terms: &Terms) -> Option<String> {
        if terms.kept() > self.options.terms {
            return Some(format!("more than {} terms", self.options.terms));
        }
        let late = self.deadline.is_some_and(|end| Instant::now() > end);
        late.then(|| "out of time".to_owned())
    }

    /// Decides what rules have left open.
    fn decide(
        &self,
        trials: &Trials<'_>,
        terms: &mut Terms,
        mut open: Vec<(Term, Term)>,
    ) -> Result<(Verdict, Vec<String>), LaunchError> {
        if open.is_empty() {
            return Ok((Verdict::Proven, Vec::new()));
        }
        let refutes = self.refutes();
        // Random values often tell terms apart; the executor has the last word.
        for seed in 0..if refutes { SAMPLES } else { 0 } {
            let mut random = SplitMix64::seed_from_u64(seed);
            let mut chosen = Model::new();
            let differ = {
                let mut values = Values::new(terms, |variable| {
                    *chosen.entry(variable).or_insert_with(|| random.next_u64())
                });
                open.iter().any(|(a, b)| values.of(*a) != values.of(*b))
            };
            if differ && let Some(found) = trials.replay(&chosen)? {
                return Ok((Verdict::Refuted(Box::new(found)), Vec::new()));
            }
        }
        let count = open.len();
        open.sort_unstable();
        open.dedup();
        let mut shapes = Shapes::default();
        let mut seen: HashSet<Shape> = HashSet::new();
        open.retain(|pair| seen.insert(shapes.of(terms, *pair)));
        let mut queries = Vec::new();
        let mut left = None;
        for pairs in open.chunks(PAIRS) {
            if left.is_some() && !self.options.smt2 {
                break;
            }
            let (answer, question) = self.ask(terms, pairs, left.is_none());
            if answer != Answer::Never {
                queries.extend(question.map(|question| question.text));
            }
            match answer {
                Answer::Never => {}
                Answer::Sometimes(_) if !refutes => left = Some(APART.to_owned()),
                Answer::Sometimes(model) => match trials.replay(&model)? {
                    Some(found) => return Ok((Verdict::Refuted(Box::new(found)), queries)),
                    None => left = Some(APART.to_owned()),
                },
                Answer::Nothing(why) => left = left.or(Some(why)),
            }
        }
        let Some(left) = left else {
            return Ok((Verdict::Proven, queries));
        };
        let mut sides = open.iter().flat_map(|(a, b)| [*a, *b]);
        let first: Vec<Term> = sides.by_ref().take(2).collect();
        let undefined = terms
            .variables(&first)
            .iter()
            .any(|(_, variable)| matches!(variable, Variable::Undefined(_)));
        let also = if undefined {
            ", and what was never written may be in an output"
        } else {
            ""
        };
        let unknown = Unknown::new(format!("{left}{also} ({} open)", bytes(count)));
        Ok((Verdict::Unknown(unknown), queries))
    }

    /// Asks the solvers in their order, the one inside first. What is not asked is still written.
    fn ask(
        &self,
        terms: &mut Terms,
        pairs: &[(Term, Term)],
        wanted: bool,
    ) -> (Answer, Option<Script>) {
        let mut answer = Answer::Nothing(OPEN.to_owned());
        #[cfg(feature = "sat")]
        if wanted && self.options.sat {
            let now = Instant::now();
            let part = |end: Instant| now + end.saturating_duration_since(now) / PART;
            let limits =
                crate::sat::Limits::new(self.deadline.map(part)).within(self.options.effort);
            answer = crate::sat::ask(terms, pairs, limits);
        }
        if answer == Answer::Never {
            return (answer, None);
        }
        let command = self.options.solver.as_deref().filter(|_| wanted);
        if command.is_none() && !self.options.smt2 {
            return (answer, None);
        }
        let question = terms.question(pairs);
        if let Some(command) = command
            && matches!(answer, Answer::Nothing(_))
        {
            answer = ask(command, &question, self.deadline);
        }
        (answer, self.options.smt2.then_some(question))
    }
}

/// No solver was asked.
const OPEN: &str = "two terms may be equal, but no rule says so";

/// What a solver finds is not always a difference: it knows nothing of float operations but that equal operands give equal
/// results.
const APART: &str = "a solver tells the terms apart, but no run does";

fn bytes(count: usize) -> String {
    match count {
        1 => "1 byte".to_owned(),
        count => format!("{count} bytes"),
    }
}

impl Proof {
    const fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            steps: false,
            outputs: Vec::new(),
            queries: Vec::new(),
            terms: 0,
            suspect: None,
            time: Duration::ZERO,
        }
    }
}
