//! What rules leave open: random values and solvers decide.

use crate::prove::{Question, Verdict};
use crate::solver::{Answer, ask};
use crate::term::{Model, Question as Script, Shape, Shapes, Term, Terms, Values, Variable};
use crate::unknown::Unknown;
use hashbrown::HashSet;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use visakit_launch::LaunchError;

/// Random values of all variables.
const SAMPLES: u64 = 8;

/// Pairs of terms in a question for a solver.
const PAIRS: usize = 4;

/// The part of the time that is left for a question: one that is hard leaves some to others.
#[cfg(feature = "sat")]
const PART: u32 = 4;

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
                Answer::Sometimes(model) => match self.trials()?.replay(&model)? {
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
            let now = std::time::Instant::now();
            let part = |end: std::time::Instant| now + end.saturating_duration_since(now) / PART;
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
