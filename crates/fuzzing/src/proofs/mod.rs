//! Random routines and what becomes of them when a line is changed: none is proven equal that a run tells apart.
//!
//! Each pair is judged in two ways: on terms, and by steps, where the second routine has other names and instructions on which
//! nothing depends. By steps, what is edited without a change of a line is proven.
//!
//! * `choices.rs`: decisions by a seed, or by the bytes of a fuzzer
//! * `frame.rs`: the kernel around a routine, and its launch
//! * `maker.rs`: instructions of the [`Style`]s; `mutant.rs`: changes; `forms.rs`: edits without effect

mod choices;
mod forms;
mod frame;
mod maker;
mod mutant;
mod tally;

pub use frame::Frame;
pub use tally::Tally;

use choices::Choices;
use maker::Maker;
use std::time::Duration;
use visakit_launch::{Config, LaunchError};
use visakit_prove::{Difference, Options, Proof, Unknown, Verdict, prove, refute};

/// Temporaries of a routine, each as dwords, words and floats.
const TEMPORARIES: usize = 6;

/// Most instructions of a routine, besides those that others need.
const LENGTH: usize = 14;

/// Variables and decisions of a question for the solver: pairs are many, and results do not depend on the machine.
const EFFORT: u32 = 20_000;

/// Runs of a pair that is proven equal.
const RUNS: u64 = 18;

/// What a routine has besides integers of 16 and 32 bits, single floats, predicates and branches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Style {
    /// Nothing.
    Integers,
    /// Numbers of 64 and of 8 bits.
    Wide,
    /// Floats of 16 and 64 bits, `bf`, roundings and roots.
    Floats,
    /// Nested branches and loops, of all lanes and of each lane.
    Flow,
    /// Local memory, other accesses of the buffer, atomic operations, barriers, several threads.
    Memory,
    /// Registers by addresses.
    Indirect,
}

impl Style {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Integers,
        Self::Wide,
        Self::Floats,
        Self::Flow,
        Self::Memory,
        Self::Indirect,
    ];

    /// Whether there are registers of 64 bits.
    const fn is_wide(self) -> bool {
        matches!(self, Self::Wide | Self::Floats)
    }
}

/// Two routines and their launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The kernel around them.
    pub frame: Frame,
    /// Lines of the first.
    pub old: Vec<String>,
    /// Lines of the second.
    pub new: Vec<String>,
    /// Chooses the edits without effect.
    edits: u64,
}

/// What the comparison of steps says of a routine and of edited ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Whether the same routine is recognised after edits without effect.
    pub edited: bool,
    /// Whether the second routine is taken for the same.
    pub changed: bool,
}

/// What became of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// No difference, or one of them is no text.
    Skipped,
    /// Proven equal, and no run tells them apart.
    Proven,
    /// Runs tell them apart.
    Refuted,
    /// Why nothing is known.
    Unknown(Unknown),
    /// Proven equal, but a run tells them apart: a fault of the prover.
    Wrong(Difference),
    /// Edits without effect are not recognised by steps: a fault of the prover.
    Missed,
    /// They cannot be launched: a fault of the frame.
    Failed(String),
}

impl Pair {
    /// The pair of a seed, of one style or of any.
    #[must_use]
    pub fn of_seed(seed: u64, style: Option<Style>) -> Self {
        Self::choose(&mut Choices::of_seed(seed), style)
    }

    /// The pair that bytes describe; there is one for any bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::choose(&mut Choices::Bytes(bytes), None)
    }

    /// The pair of a seed whose second routine computes the same.
    #[must_use]
    pub fn rewritten(seed: u64, style: Style) -> Self {
        let mut choices = Choices::of_seed(seed);
        let frame = Frame::choose(&mut choices, style);
        let mut maker = Maker::new(&mut choices, frame);
        let length = 1 + maker.below(LENGTH);
        let old = maker.routine(length);
        let new = mutant::rewritten(&mut maker, &old);
        Self {
            frame,
            old,
            new,
            edits: seed,
        }
    }

    /// These routines for 16 work-items of one thread.
    #[must_use]
    pub fn of_lines(old: &[&str], new: &[&str]) -> Self {
        let lines = |all: &[&str]| all.iter().map(|line| (*line).to_owned()).collect();
        Self {
            frame: Frame::plain(),
            old: lines(old),
            new: lines(new),
            edits: 0,
        }
    }

    fn choose(choices: &mut Choices<'_>, style: Option<Style>) -> Self {
        let any = choices.below(Style::ALL.len());
        let style = style.or(Style::ALL.get(any).copied());
        let frame = Frame::choose(choices, style.unwrap_or(Style::Integers));
        let mut maker = Maker::new(choices, frame);
        let length = 1 + maker.below(LENGTH);
        let old = maker.routine(length);
        let new = mutant::mutate(&mut maker, &old);
        let edits = choices.number();
        Self {
            frame,
            old,
            new,
            edits,
        }
    }

    /// The texts of both kernels.
    #[must_use]
    pub fn texts(&self) -> [String; 2] {
        [&self.old, &self.new].map(|lines| self.frame.text(lines))
    }

    /// Asks the prover, without runs before the proof; `None` if a routine is no legal text.
    ///
    /// # Errors
    /// As [`prove`].
    pub fn proof(&self, options: &Options) -> Result<Option<Proof>, LaunchError> {
        self.asked(&self.texts(), options)
    }

    fn asked(&self, texts: &[String; 2], options: &Options) -> Result<Option<Proof>, LaunchError> {
        let options = Options {
            trials: 0,
            ..options.clone()
        };
        self.frame.with_kernels(texts, |[old, new], arguments| {
            prove(old, new, arguments, &Config::default(), &options)
        })
    }

    /// Whether generated contents tell the routines apart.
    ///
    /// # Errors
    /// As [`prove`].
    pub fn difference(&self, runs: u64) -> Result<Option<Difference>, LaunchError> {
        self.apart(&self.texts(), runs)
    }

    fn apart(&self, texts: &[String; 2], runs: u64) -> Result<Option<Difference>, LaunchError> {
        let options = Options {
            trials: runs,
            ..Options::default()
        };
        let found = self.frame.with_kernels(texts, |[old, new], arguments| {
            refute(old, new, arguments, &Config::default(), &options)
        })?;
        Ok(found.flatten().map(|found| found.difference))
    }

    /// The text of the first routine, and those of both after edits without effect.
    fn edited(&self) -> [String; 3] {
        let mut choices = Choices::of_seed(self.edits);
        let [old, new] = [&self.old, &self.new].map(|lines| {
            let lines = forms::padded(&mut choices, &self.frame, lines);
            let names = forms::names(&mut choices, &self.frame);
            forms::renamed(&self.frame, &lines, &names)
        });
        [self.frame.text(&self.old), old, new]
    }

    /// Whether the routines are the same step by step.
    ///
    /// # Errors
    /// As [`prove`].
    pub fn is_same(&self) -> Result<Option<bool>, LaunchError> {
        self.is_same_text(&self.texts())
    }

    fn is_same_text(&self, texts: &[String; 2]) -> Result<Option<bool>, LaunchError> {
        // Terms are out of bounds.
        let options = Options {
            steps: 0,
            sat: false,
            ..Options::default()
        };
        Ok(self.asked(texts, &options)?.map(|proof| proof.steps))
    }

    /// Compares the steps of the first routine with those of both after edits without effect; `None` if one is no legal
    /// text.
    ///
    /// # Errors
    /// As [`prove`].
    pub fn steps(&self) -> Result<Option<Steps>, LaunchError> {
        let [text, old, new] = self.edited();
        let (first, second) = ([text.clone(), old], [text, new]);
        let found = (self.is_same_text(&first)?, self.is_same_text(&second)?);
        Ok(match found {
            (Some(edited), Some(changed)) => Some(Steps { edited, changed }),
            _ => None,
        })
    }

    /// Whether generated contents tell the first routine and the edited second one apart.
    ///
    /// # Errors
    /// As [`prove`].
    pub fn edited_difference(&self, runs: u64) -> Result<Option<Difference>, LaunchError> {
        let [text, _, new] = self.edited();
        self.apart(&[text, new], runs)
    }

    /// Judges the comparison of steps; `None` if it says nothing wrong.
    fn judged_by_steps(&self) -> Result<Option<Outcome>, LaunchError> {
        let Some(steps) = self.steps()? else {
            return Ok(None);
        };
        if !steps.edited {
            return Ok(Some(Outcome::Missed));
        }
        let found = match steps.changed {
            true => self.edited_difference(RUNS)?,
            false => None,
        };
        Ok(found.map(Outcome::Wrong))
    }

    /// Proves, and runs what is proven: by steps, and on terms.
    #[must_use]
    pub fn judged(&self, time: Duration) -> Outcome {
        match self.judged_by_steps() {
            Ok(None) => {}
            Ok(Some(fault)) => return fault,
            Err(error) => return Outcome::Failed(error.to_string()),
        }
        if self.old == self.new {
            return Outcome::Skipped;
        }
        let options = Options {
            time,
            effort: Some(EFFORT),
            terms: 200_000,
            steps: 20_000,
            by_steps: false,
            ..Options::default()
        };
        let proof = match self.proof(&options) {
            Ok(Some(proof)) => proof,
            Ok(None) => return Outcome::Skipped,
            Err(error) => return Outcome::Failed(error.to_string()),
        };
        match proof.verdict {
            Verdict::Proven => match self.difference(RUNS) {
                Ok(None) => Outcome::Proven,
                Ok(Some(found)) => Outcome::Wrong(found),
                Err(error) => Outcome::Failed(error.to_string()),
            },
            Verdict::Refuted(_) => Outcome::Refuted,
            Verdict::Unknown(unknown) => Outcome::Unknown(unknown),
        }
    }
}

/// Body of the fuzz target: bytes choose a launch, a routine and a change. No two routines are proven equal that a run tells
/// apart, and a routine is recognised after edits without effect.
///
/// # Panics
/// If that is so.
pub fn proven(data: &[u8]) {
    let pair = Pair::of_bytes(data);
    match pair.judged(Duration::from_millis(500)) {
        Outcome::Wrong(found) => unreachable!("proven, but {found:?}: {pair:#?}"),
        Outcome::Missed => unreachable!("not recognised after edits without effect: {pair:#?}"),
        _ => {}
    }
}
