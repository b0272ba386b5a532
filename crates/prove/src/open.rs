//! What rules leave open: random values and solvers decide, of parts of terms where these are too large.

use crate::prove::{Refutation, Verdict};
use crate::question::Question;
use crate::solver::{Answer, ask};
use crate::sweep::swept;
use crate::term::{Model, Question as Script, Shape, Shapes, Term, Terms, Values, Variable};
use crate::unknown::Unknown;
use hashbrown::HashSet;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::time::Instant;
use visakit_launch::{Argument, LaunchError};

/// Random values of all variables.
const SAMPLES: u64 = 8;

/// Pairs of terms in a question for a solver.
const PAIRS: usize = 4;

/// The part of the time that is left for a question: one that is hard leaves some to others.
#[cfg(feature = "sat")]
const PART: u32 = 4;

/// What solvers say of pairs of terms.
enum Asked {
    Proven,
    Refuted(Box<Refutation>),
    Open(Left),
}

/// Why it is not known whether terms are equal.
struct Left {
    why: String,
    /// Values for which a solver tells them apart.
    model: Option<Model>,
}

impl Question<'_> {
    /// Decides what rules have left open.
    pub(crate) fn decide(
        &self,
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
            if differ && let Some(found) = self.trials()?.replay(&chosen)? {
                return Ok((Verdict::Refuted(Box::new(found)), Vec::new()));
            }
        }
        let count = open.len();
        open.sort_unstable();
        open.dedup();
        let mut shapes = Shapes::default();
        let mut seen: HashSet<Shape> = HashSet::new();
        open.retain(|pair| seen.insert(shapes.of(terms, *pair)));
        let mut found = self.asked(terms, &open)?;
        if let Asked::Open(Left { why, model: None }) = &mut found.0
            && let Some(end) = self.deadline
            && !self.options.smt2
            && self.options.sat
        {
            // Hard questions are often about terms whose parts are equal.
            let now = Instant::now();
            let end = now + end.saturating_duration_since(now) / 2;
            let others = swept(terms, open.clone(), end, self.options.effort);
            let why = std::mem::take(why);
            found = self.asked(terms, &others)?;
            if let Asked::Open(left) = &mut found.0 {
                left.why = why;
            }
        }
        let (left, queries) = match found {
            (Asked::Proven, queries) => return Ok((Verdict::Proven, queries)),
            (Asked::Refuted(found), queries) => return Ok((Verdict::Refuted(found), queries)),
            (Asked::Open(left), queries) => (left, queries),
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
        let mut unknown = Unknown::new(format!("{}{also} ({} open)", left.why, bytes(count)));
        unknown.values = left.model;
        Ok((Verdict::Unknown(unknown), queries))
    }

    /// Asks the solvers about all pairs, some at a time.
    fn asked(
        &self,
        terms: &mut Terms,
        open: &[(Term, Term)],
    ) -> Result<(Asked, Vec<String>), LaunchError> {
        let refutes = self.refutes();
        let mut queries = Vec::new();
        let mut left: Option<Left> = None;
        for pairs in open.chunks(PAIRS) {
            if left.is_some() && !self.options.smt2 {
                break;
            }
            let (answer, question) = self.ask(terms, pairs, left.is_none());
            if answer != Answer::Never {
                queries.extend(question.map(|question| question.text));
            }
            let apart = |model| Left {
                why: APART.to_owned(),
                model,
            };
            match answer {
                Answer::Never => {}
                Answer::Sometimes(_) if !refutes => left = Some(apart(None)),
                Answer::Sometimes(model) => match self.trials()?.replay(&model)? {
                    Some(found) => return Ok((Asked::Refuted(Box::new(found)), queries)),
                    None => left = Some(apart(Some(model))),
                },
                Answer::Nothing(why) => left = left.or(Some(Left { why, model: None })),
            }
        }
        Ok((left.map_or(Asked::Proven, Asked::Open), queries))
    }

    /// Arguments for which it comes to what is not known.
    pub(crate) fn suspect(
        &self,
        unknown: &mut Unknown,
    ) -> Result<Option<Vec<Argument>>, LaunchError> {
        Ok(match unknown.values.take() {
            Some(values) => Some(self.trials()?.filled(&values)),
            None => None,
        })
    }

    /// Whether memory or time are used up.
    pub(crate) fn exhausted(&self, terms: &Terms) -> Option<String> {
        if terms.kept() > self.options.terms {
            return Some(format!("more than {} terms", self.options.terms));
        }
        let late = self.deadline.is_some_and(|end| Instant::now() > end);
        late.then(|| "out of time".to_owned())
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
