//! Random routines and what becomes of them when a line is changed: none is proven equal that a run tells apart.
//!
//! A routine is compared with many changed ones. Each pair is judged in two ways: on terms, and by steps, where the second routine has other names and instructions on which
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
use frame::Bench;
use maker::Maker;
use std::collections::HashSet;
use std::time::Duration;
use visakit_launch::{Config, LaunchError};
use visakit_prove::{Difference, Options, Original, Proof, Side, Unknown, Verdict};

/// Temporaries of a routine, each as dwords, words and floats.
const TEMPORARIES: usize = 6;

/// Most instructions of a routine, besides those that others need.
const LENGTH: usize = 14;

/// Variables and decisions of a question for the solver: pairs are many, and results do not depend on the machine.
const EFFORT: u32 = 1_500;

/// Terms and steps of a proof: few routines have more.
const MOST_TERMS: usize = 40_000;
const MOST_STEPS: u64 = 1_500;

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

/// One of so many pairs is asked about by induction, too, which takes longer.
const INDUCTION: u64 = 4;

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

/// A routine and changed ones: what is known of the routine is found out once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    /// The routine with each of the changed ones, which differ.
    pub pairs: Vec<Pair>,
}

/// What the comparison of steps says of a routine and of edited ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Whether the same routine is recognised after edits without effect.
    pub edited: bool,
    /// Whether the second routine is taken for the same.
    pub changed: bool,
    /// How runs tell it apart although it is.
    pub difference: Option<Difference>,
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

impl Family {
    /// The family of a seed with at most that many changed routines, of one style or of any.
    #[must_use]
    pub fn of_seed(seed: u64, style: Option<Style>, most: usize) -> Self {
        let choices = &mut Choices::of_seed(seed);
        let first = Pair::choose(choices, style);
        let mut maker = Maker::new(choices, first.frame);
        let mut seen = HashSet::from([first.old.clone(), first.new.clone()]);
        let mut pairs = vec![first.clone()];
        for _ in 1..most {
            let mut new = mutant::mutate(&mut maker, &first.old);
            if maker.below(4) == 0 {
                new = mutant::mutate(&mut maker, &new);
            }
            let edits = maker.choices.number();
            if seen.insert(new.clone()) {
                pairs.push(Pair {
                    new,
                    edits,
                    ..first.clone()
                });
            }
        }
        Self { pairs }
    }

    /// Proves, and runs what is proven: by steps, on terms, and some by induction. What became of each pair, in their order.
    #[must_use]
    pub fn judged(&self, time: Duration) -> Vec<Outcome> {
        self.judged_by(time, INDUCTION)
    }

    /// [`Self::judged`], one of so many pairs by induction.
    #[must_use]
    pub fn judged_by(&self, time: Duration, induction: u64) -> Vec<Outcome> {
        let options = Options {
            time,
            effort: Some(EFFORT),
            terms: MOST_TERMS,
            steps: MOST_STEPS,
            by_steps: false,
            by_induction: false,
            trials: 0,
            ..Options::default()
        };
        let Some(first) = self.pairs.first() else {
            return Vec::new();
        };
        let judge = |original: &mut Original<'_>, bench: &Bench| {
            if first.edited(original, bench)? == Some(false) {
                return Ok(vec![Outcome::Missed]);
            }
            let pairs = self.pairs.iter();
            let all = pairs.map(|pair| pair.judged_with(original, bench, induction));
            all.collect()
        };
        match first.with_original(&options, judge) {
            Ok(Some(outcomes)) => outcomes,
            Ok(None) => vec![Outcome::Skipped; self.pairs.len()],
            Err(error) => vec![Outcome::Failed(error.to_string())],
        }
    }
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
        // Branches take the most time: once where other styles come three times.
        let others = 3 * Style::ALL.len() - 2;
        let any = match choices.below(others) {
            0 => Some(Style::Flow),
            other => {
                let mut all = Style::ALL.into_iter().filter(|s| *s != Style::Flow);
                all.nth(other % (Style::ALL.len() - 1))
            }
        };
        let style = style.or(any);
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

    /// Does something with the first routine; `None` if it is no legal text.
    fn with_original<T>(
        &self,
        options: &Options,
        of: impl FnOnce(&mut Original<'_>, &Bench) -> Result<T, LaunchError>,
    ) -> Result<Option<T>, LaunchError> {
        let Some(bench) = self.frame.bench() else {
            return Ok(None);
        };
        let config = Config::default();
        bench.with(&self.frame.text(&self.old), |old| {
            let mut original = Original::new(old, &bench.arguments, &config, options)?;
            of(&mut original, &bench)
        })
    }

    /// Asks something of both routines; `None` if one is no legal text.
    fn with_both<T>(
        &self,
        options: &Options,
        of: impl FnOnce(&mut Original<'_>, Side<'_>) -> Result<T, LaunchError>,
    ) -> Result<Option<T>, LaunchError> {
        let text = self.frame.text(&self.new);
        let found = self.with_original(options, |original, bench| {
            bench.with(&text, |new| of(original, new))
        })?;
        Ok(found.flatten())
    }

    /// Asks the prover, without runs before the proof; `None` if a routine is no legal text.
    ///
    /// # Errors
    /// As [`visakit_prove::prove`].
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is one of a certain lifetime"
    )]
    pub fn proof(&self, options: &Options) -> Result<Option<Proof>, LaunchError> {
        let options = Options {
            trials: 0,
            ..options.clone()
        };
        self.with_both(&options, |old, new| old.prove(new))
    }

    /// Whether the routines are the same step by step; `None` if one is no legal text.
    ///
    /// # Errors
    /// As [`visakit_prove::prove`].
    pub fn is_same(&self) -> Result<Option<bool>, LaunchError> {
        self.with_both(&Options::default(), |old, new| old.is_same(new))
    }

    /// The texts of both routines after edits without effect.
    fn edits(&self) -> [String; 2] {
        let mut choices = Choices::of_seed(self.edits);
        [&self.old, &self.new].map(|lines| {
            let lines = forms::padded(&mut choices, &self.frame, lines);
            let names = forms::names(&mut choices, &self.frame);
            forms::renamed(&self.frame, &lines, &names)
        })
    }

    /// Whether the first routine is recognised by steps after edits without effect; `None` if that is no legal text.
    fn edited(&self, original: &Original<'_>, bench: &Bench) -> Result<Option<bool>, LaunchError> {
        let [old, _] = self.edits();
        bench.with(&old, |old| original.is_same(old))
    }

    /// Whether the second routine after edits without effect is taken for the first by steps, and how runs tell it apart
    /// then; `None` if it is no legal text.
    fn changed(
        &self,
        original: &Original<'_>,
        bench: &Bench,
    ) -> Result<Option<(bool, Option<Difference>)>, LaunchError> {
        let [_, new] = self.edits();
        bench.with(&new, |new| {
            let same = original.is_same(new)?;
            let found = match same {
                true => original.refute(new, RUNS)?,
                false => None,
            };
            Ok((same, found.map(|found| found.difference)))
        })
    }

    /// Compares the steps of the first routine with those of both after edits without effect; `None` if one is no legal
    /// text.
    ///
    /// # Errors
    /// As [`visakit_prove::prove`].
    pub fn steps(&self) -> Result<Option<Steps>, LaunchError> {
        let found = self.with_original(&Options::default(), |original, bench| {
            let edited = self.edited(original, bench)?;
            Ok(edited.zip(self.changed(original, bench)?))
        })?;
        Ok(found
            .flatten()
            .map(|(edited, (changed, difference))| Steps {
                edited,
                changed,
                difference,
            }))
    }

    /// Judges the second routine.
    fn judged_with(
        &self,
        original: &mut Original<'_>,
        bench: &Bench,
        induction: u64,
    ) -> Result<Outcome, LaunchError> {
        if let Some((_, Some(found))) = self.changed(original, bench)? {
            return Ok(Outcome::Wrong(found));
        }
        if self.old == self.new {
            return Ok(Outcome::Skipped);
        }
        let found = bench.with(&self.frame.text(&self.new), |new| {
            let induced = self.edits.is_multiple_of(induction.max(1))
                && original.is_same_by_induction(new)?;
            let verdict = match induced {
                true => Verdict::Proven,
                false => original.prove(new)?.verdict,
            };
            Ok(match verdict {
                Verdict::Proven => match original.refute(new, RUNS)? {
                    None => Outcome::Proven,
                    Some(found) => Outcome::Wrong(found.difference),
                },
                Verdict::Refuted(_) => Outcome::Refuted,
                Verdict::Unknown(unknown) => Outcome::Unknown(unknown),
            })
        })?;
        Ok(found.unwrap_or(Outcome::Skipped))
    }

    /// Proves, and runs what is proven: by steps, on terms, and some by induction.
    #[must_use]
    pub fn judged(&self, time: Duration) -> Outcome {
        let pairs = vec![self.clone()];
        let mut all = Family { pairs }.judged(time);
        all.pop().unwrap_or(Outcome::Skipped)
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
