//! Terms that are equal although no rule says so, found part by part.
//!
//! Two kernels mostly differ in few places. A part of the terms of one that is equal to a part of the terms of the other, as the
//! solver says of these parts alone, is taken for it, from the smallest parts on: whatever is computed of them is the same then
//! by the normal forms, and need not be understood.

use crate::decide::inside;
use crate::samples::Samples;
use crate::solver::Answer;
use crate::term::{Deep, Term, Terms};
use hashbrown::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// Values of variables that tell parts apart without a question.
const SAMPLES: usize = 64;

/// Parts of terms; more take too much memory.
const MOST_PARTS: usize = 50_000;

/// Questions for a part, and for all.
const MOST_ASKED: [usize; 2] = [8, 2000];

/// The time for a question.
const QUESTION: Duration = Duration::from_secs(1);

/// Parts by their values and width.
type Alike = HashMap<([u64; SAMPLES], u8), Vec<Term>>;

/// Finds parts that are equal.
struct Sweep {
    samples: Samples<SAMPLES>,
    alike: Alike,
    left: usize,
    end: Instant,
    effort: Option<u32>,
}

/// The pairs without those that are equal by their parts, and with equal parts as one.
pub(crate) fn swept(
    terms: &mut Terms,
    pairs: Vec<(Term, Term)>,
    end: Instant,
    effort: Option<u32>,
) -> Vec<(Term, Term)> {
    let parts = [0, 1].map(|side| {
        let of = |(a, b): &(Term, Term)| if side == 0 { *a } else { *b };
        parts(terms, pairs.iter().map(of).collect())
    });
    let [Some(first), Some(second)] = parts else {
        return pairs;
    };
    let mut order: Vec<Term> = first.union(&second).copied().collect();
    order.sort_unstable();
    let [_, most] = MOST_ASKED;
    let mut sweep = Sweep {
        samples: Samples::new(),
        alike: Alike::new(),
        left: most,
        end,
        effort,
    };
    let mut deep = Deep::default();
    for number in [0, 1] {
        let bit = terms.constant(number, 1);
        sweep.one_of(terms, bit, false);
    }
    for term in order {
        let made = deep.made(terms, term);
        let is_shared = first.contains(&term) && second.contains(&term);
        let found = sweep.one_of(terms, made, !is_shared);
        deep.set(term, found);
    }
    let made = pairs
        .into_iter()
        .map(|(a, b)| (deep.of(terms, a), deep.of(terms, b)));
    made.filter(|(a, b)| a != b).collect()
}

/// All parts of terms; `None` if they are too many.
fn parts(terms: &Terms, mut todo: Vec<Term>) -> Option<HashSet<Term>> {
    let mut found = HashSet::new();
    while let Some(term) = todo.pop() {
        if found.insert(term) {
            terms.node(term).each(|part| todo.push(part));
        }
        if found.len() > MOST_PARTS {
            return None;
        }
    }
    Some(found)
}

impl Sweep {
    /// A term that is equal, of those that came before, or the term itself.
    fn one_of(&mut self, terms: &mut Terms, term: Term, ask: bool) -> Term {
        let Some(values) = self.samples.of(terms, term) else {
            return term;
        };
        let key = (values, terms.width(term));
        let alike = self.alike.get(&key).cloned().unwrap_or_default();
        if alike.contains(&term) || terms.number(term).is_some() && !alike.is_empty() {
            return term;
        }
        let [most, _] = MOST_ASKED;
        for other in alike.iter().take(if ask { most } else { 0 }) {
            let now = Instant::now();
            if self.left == 0 || now > self.end {
                break;
            }
            self.left -= 1;
            let end = self.end.min(now + QUESTION);
            if inside(terms, (*other, term), end, self.effort) == Answer::Never {
                return *other;
            }
        }
        self.alike.entry(key).or_default().push(term);
        term
    }
}

#[cfg(all(test, feature = "sat"))]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests;
