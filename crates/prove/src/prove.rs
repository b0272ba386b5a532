//! The proof for two launches.

use crate::question::{Begun, Question};
use crate::scalars::Inputs;
use crate::trial::{Difference, generated};
use crate::unknown::Unknown;
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::{Duration, Instant};
use visakit_launch::{Argument, Config, Kernel, LaunchError, Loaded, NdRange, Variables};

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
    /// Whether whole runs are compared on terms.
    pub by_terms: bool,
    /// Whether what is not known then is compared by induction.
    pub by_induction: bool,
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
            by_terms: true,
            by_induction: true,
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

/// How kernels were found to be equal, or were asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Each step of both does the same, but for the names of registers and labels and for what nothing depends on: the proof
    /// holds for whatever they do, and nothing else was compared.
    Steps,
    /// Whole runs on terms: what each byte of the buffers is at the end.
    Terms,
    /// Both do the same between corresponding places of their loops, as often as these run. That threads of the old one do not
    /// race, and access nothing outside of buffers, is assumed.
    Induction {
        /// Corresponding places.
        places: usize,
    },
}

/// A proof, or why there is none.
#[derive(Clone, PartialEq, Debug)]
pub struct Proof {
    /// The answer.
    pub verdict: Verdict,
    /// How both were compared.
    pub method: Method,
    /// What was compared, if both kernels were understood.
    pub outputs: Vec<Output>,
    /// What rules left open, in SMT-LIB: satisfiable if the kernels differ.
    pub queries: Vec<String>,
    /// Terms of both.
    pub terms: usize,
    /// Arguments for which a kernel comes to what is not understood, or a solver tells the kernels apart where no run does.
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
    Original::new(old, arguments, config, options)?.prove(new)
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
    Original::new(old, arguments, config, options)?.refute(new, options.trials)
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
    let mut proof = Original::new(side, arguments, config, &options)?.examined()?;
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

/// A kernel that is translated once for all that is asked about it.
#[derive(Debug)]
pub(crate) struct Translated<'a> {
    pub(crate) side: Side<'a>,
    pub(crate) loaded: Loaded,
}

impl<'a> Translated<'a> {
    /// As it is examined: machine code does not keep all registers.
    fn new(side: Side<'a>, config: &Config<'_>) -> Result<Self, LaunchError> {
        let config = Config {
            compile: None,
            ..*config
        };
        let variables = Variables::new(&side.kernel.data, &side.kernel.symbols)?;
        let loaded = side.kernel.load(&Arc::new(variables), &config)?;
        Ok(Self { side, loaded })
    }
}

/// A kernel with which others are compared, one after the other: what is known of it is found out once.
#[derive(Debug)]
pub struct Original<'a> {
    old: Translated<'a>,
    arguments: &'a [Argument],
    config: Config<'a>,
    options: &'a Options,
    begun: Option<Begun>,
}

/// The part of the time that is left for a refutation where there is no proof.
const LAST: u32 = 4;

/// The part of the time for an induction.
const INDUCTION: u32 = 4;

impl<'a> Original<'a> {
    /// The old kernel of [`prove`].
    ///
    /// # Errors
    /// Kernels that cannot be translated.
    pub fn new(
        old: Side<'a>,
        arguments: &'a [Argument],
        config: &Config<'a>,
        options: &'a Options,
    ) -> Result<Self, LaunchError> {
        let config = own(config);
        Ok(Self {
            old: Translated::new(old, &config)?,
            arguments,
            config,
            options,
            begun: None,
        })
    }

    /// Proves or refutes that another kernel leaves the same.
    ///
    /// # Errors
    /// As [`prove`].
    pub fn prove(&mut self, new: Side<'_>) -> Result<Proof, LaunchError> {
        let started = Instant::now();
        let options = self.options;
        let new = Translated::new(new, &self.config)?;
        let mut begun = self.begun.take();
        let mut question = self.question(&new);
        let whole = std::mem::replace(
            &mut question.deadline,
            started.checked_add(options.time.saturating_sub(options.time / LAST)),
        );
        let mut proof = match options.by_steps && question.same()? {
            true => Proof {
                method: Method::Steps,
                ..Proof::of(Verdict::Proven)
            },
            false => question.answer(&mut begun)?,
        };
        // Of kernels that race nothing is proven.
        let asks = matches!(&proof.verdict, Verdict::Unknown(unknown) if !unknown.is_race);
        if asks && options.by_induction {
            question.deadline = Instant::now()
                .checked_add(options.time / INDUCTION)
                .min(whole);
            match question.induction()? {
                Ok(places) => {
                    proof = Proof {
                        method: Method::Induction { places },
                        ..Proof::of(Verdict::Proven)
                    };
                }
                Err(unknown) if !options.by_terms => proof.verdict = Verdict::Unknown(unknown),
                Err(_) => {}
            }
        }
        if matches!(proof.verdict, Verdict::Unknown(_)) && question.refutes() && options.trials > 0
        {
            question.deadline = whole;
            if let Some(found) = question.last(proof.suspect.as_deref())? {
                proof.verdict = Verdict::Refuted(Box::new(found));
            }
        }
        self.begun = begun;
        proof.time = started.elapsed();
        Ok(proof)
    }

    /// Runs both kernels on as many generated contents: arguments that tell them apart, if some do.
    ///
    /// # Errors
    /// As [`prove`].
    pub fn refute(&self, new: Side<'_>, runs: u64) -> Result<Option<Refutation>, LaunchError> {
        let new = Translated::new(new, &self.config)?;
        let question = self.question(&new);
        question.trials()?.run(0..runs, question.deadline)
    }

    /// Whether another kernel is the same step by step, however long that takes; false says nothing.
    ///
    /// # Errors
    /// As [`prove`].
    pub fn is_same(&self, new: Side<'_>) -> Result<bool, LaunchError> {
        let new = Translated::new(new, &self.config)?;
        let mut question = self.question(&new);
        question.deadline = None;
        question.same()
    }

    /// Whether another kernel does the same between corresponding places of loops, by induction; false says nothing.
    ///
    /// # Errors
    /// As [`prove`].
    pub fn is_same_by_induction(&self, new: Side<'_>) -> Result<bool, LaunchError> {
        let new = Translated::new(new, &self.config)?;
        Ok(self.question(&new).induction()?.is_ok())
    }

    /// Proves that it computes the same as itself.
    fn examined(self) -> Result<Proof, LaunchError> {
        let started = Instant::now();
        let mut question = self.question(&self.old);
        question.chooses = false;
        let mut proof = question.answer(&mut None)?;
        proof.time = started.elapsed();
        Ok(proof)
    }

    fn question<'q>(&'q self, new: &'q Translated<'_>) -> Question<'q> {
        Question {
            sides: [&self.old, new],
            arguments: self.arguments,
            config: self.config,
            options: self.options,
            inputs: Inputs::new(self.options),
            deadline: Instant::now().checked_add(self.options.time),
            trials: OnceCell::new(),
            chooses: true,
        }
    }
}

impl Proof {
    pub(crate) const fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            method: Method::Terms,
            outputs: Vec::new(),
            queries: Vec::new(),
            terms: 0,
            suspect: None,
            time: Duration::ZERO,
        }
    }
}
