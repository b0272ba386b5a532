//! What holds whatever is in the buffers although no rule says so: branches that are always or never taken, and addresses
//! that have few values.
//!
//! Samples say what is not worth a question; the solver inside says what is so. Without it nothing is decided here.

use crate::samples::Samples;
use crate::solver::Answer;
use crate::term::{Model, Node, Shape, Shapes, Term, Terms, Values, Variable};
use hashbrown::HashMap;
use std::time::{Duration, Instant};

/// Values of all variables that are tried first.
pub(crate) const SAMPLES: usize = 8;

/// The time for a question.
const QUESTION: Duration = Duration::from_millis(500);

/// Parts of a term that are looked into for choices.
const MOST_PARTS: u32 = 64;

/// Choices after one another that are looked into for what was never written.
const CHOICES: u8 = 24;

/// The part of the time of a proof for all of them.
const PART: u32 = 3;

/// Decisions for both kernels.
#[derive(Debug)]
pub(crate) struct Decisions {
    shapes: Shapes,
    /// Whether a bit is never set; `None` if nobody knows.
    bits: HashMap<Term, Option<bool>>,
    /// Whether a bit is never set, as far as bits alone say.
    of_bits: HashMap<Term, bool>,
    /// Whether a bit of that shape is never set.
    never: HashMap<Shape, Option<bool>>,
    values: HashMap<(Term, Term), Option<Vec<u64>>>,
    /// Terms where a bit is set, without what was never written.
    written: HashMap<(Term, Term), Term>,
    samples: Samples<SAMPLES>,
    /// What is left of the time.
    left: Duration,
    /// The bound of a question besides its time.
    effort: Option<u32>,
}

impl Decisions {
    /// None so far.
    pub(crate) fn new(effort: Option<u32>) -> Self {
        Self {
            shapes: Shapes::default(),
            bits: HashMap::new(),
            of_bits: HashMap::new(),
            never: HashMap::new(),
            values: HashMap::new(),
            written: HashMap::new(),
            samples: Samples::new(),
            left: Duration::ZERO,
            effort,
        }
    }

    /// Begins with a kernel, until the time is over; without a time, nothing is asked.
    pub(crate) fn begin(&mut self, deadline: Option<Instant>) {
        let time = deadline.map(|end| end.saturating_duration_since(Instant::now()));
        self.left = time.unwrap_or_default() / PART;
    }

    /// The bit as a number if it is always set, or never; else as it is.
    pub(crate) fn bit(&mut self, terms: &mut Terms, bit: Term) -> Term {
        if terms.number(bit).is_some() || self.left.is_zero() {
            return bit;
        }
        let started = Instant::now();
        let bit = self.bit_in_time(terms, bit);
        self.left = self.left.saturating_sub(started.elapsed());
        bit
    }

    fn bit_in_time(&mut self, terms: &mut Terms, bit: Term) -> Term {
        let Some(samples) = self.samples.of(terms, bit) else {
            return bit;
        };
        let first = samples.first().copied().unwrap_or(0);
        if samples.iter().any(|sample| *sample != first) {
            return bit;
        }
        let unlikely = if first == 0 { bit } else { terms.not(bit) };
        match self.is_never(terms, unlikely) {
            Some(true) => terms.constant(first, 1),
            _ => bit,
        }
    }

    /// Values of a term: equal terms have the same ones.
    pub(crate) fn values_of(&mut self, terms: &Terms, term: Term) -> Option<[u64; SAMPLES]> {
        self.samples.of(terms, term)
    }

    /// Whether terms are known to be equal.
    pub(crate) fn are_equal(&mut self, terms: &mut Terms, a: Term, b: Term) -> bool {
        let equal = terms.equal(a, b);
        let equal = self.bit(terms, equal);
        terms.number(equal) == Some(1)
    }

    /// Whether it is known that a bit is never set.
    fn never(&mut self, terms: &mut Terms, bit: Term) -> bool {
        terms.number(bit) == Some(0)
            || self.samples.of(terms, bit) == Some([0; SAMPLES])
                && self.is_never(terms, bit) == Some(true)
    }

    /// A term where a bit is set, without what is chosen elsewhere.
    pub(crate) fn under(&mut self, terms: &mut Terms, term: Term, condition: Term) -> Term {
        let term = terms.under(term, condition);
        if terms.number(term).is_some() || self.left.is_zero() {
            return term;
        }
        let started = Instant::now();
        let term = self.chosen_under(terms, term, condition, (&mut { MOST_PARTS }, started));
        self.left = self.left.saturating_sub(started.elapsed());
        term
    }

    /// A term where a bit is set, without choices of what was never written, where others are made for sure: lanes that have
    /// parted and met have all written a register, each in its place.
    pub(crate) fn written(&mut self, terms: &mut Terms, term: Term, condition: Term) -> Term {
        if !matches!(terms.node(term), Node::Choice(..) | Node::Concat(_)) || self.left.is_zero() {
            return term;
        }
        let key = (term, condition);
        if let Some(found) = self.written.get(&key) {
            return *found;
        }
        let started = Instant::now();
        let found = self.written_within(terms, term, condition, CHOICES);
        self.left = self.left.saturating_sub(started.elapsed());
        self.written.insert(key, found);
        found
    }

    fn written_within(
        &mut self,
        terms: &mut Terms,
        term: Term,
        condition: Term,
        depth: u8,
    ) -> Term {
        let Some(depth) = depth.checked_sub(1) else {
            return term;
        };
        match terms.node(term).clone() {
            Node::Concat(parts) => {
                let parts: Vec<Term> = parts
                    .iter()
                    .map(|part| self.written_within(terms, *part, condition, depth))
                    .collect();
                terms.concat(&parts)
            }
            Node::Choice(own, yes, no) => {
                let other = terms.not(own);
                for (taken, arm, rest) in [(own, yes, no), (other, no, yes)] {
                    let taken = terms.and(condition, taken);
                    if is_undefined(terms, arm) && self.is_never_of_bits(terms, taken) {
                        return self.written_within(terms, rest, condition, depth);
                    }
                }
                let (with, without) = (terms.and(condition, own), terms.and(condition, other));
                let made = [(yes, with), (no, without)].map(|(arm, taken)| match terms.node(arm) {
                    Node::Choice(..) => self.written_within(terms, arm, taken, depth),
                    _ => arm,
                });
                if made == [yes, no] {
                    return term;
                }
                let [yes, no] = made;
                terms.choice(own, yes, no)
            }
            _ => term,
        }
    }

    /// Whether a bit is never set, as far as bits alone say.
    fn is_never_of_bits(&mut self, terms: &Terms, bit: Term) -> bool {
        if let Some(known) = self.of_bits.get(&bit) {
            return *known;
        }
        let never = of_bits(terms, bit, self.end(), self.effort);
        self.of_bits.insert(bit, never);
        never
    }

    fn chosen_under(
        &mut self,
        terms: &mut Terms,
        term: Term,
        condition: Term,
        (left, started): (&mut u32, Instant),
    ) -> Term {
        if *left == 0 || started.elapsed() > self.left {
            return term;
        }
        *left -= 1;
        match terms.node(term).clone() {
            Node::Choice(own, yes, no) => {
                let other = terms.not(own);
                let (with, without) = (terms.and(condition, own), terms.and(condition, other));
                if self.never(terms, without) {
                    return self.chosen_under(terms, yes, condition, (left, started));
                }
                if self.never(terms, with) {
                    return self.chosen_under(terms, no, condition, (left, started));
                }
                let yes = self.chosen_under(terms, yes, with, (left, started));
                let no = self.chosen_under(terms, no, without, (left, started));
                terms.choice(own, yes, no)
            }
            Node::Concat(parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.chosen_under(terms, *part, condition, (left, started)));
                let parts: Vec<Term> = parts.collect();
                terms.concat(&parts)
            }
            Node::Extract(of, low) => {
                let of = self.chosen_under(terms, of, condition, (left, started));
                terms.extract(of, low, terms.width(term))
            }
            Node::And(number, parts) if terms.width(term) > 1 => {
                let mut all = terms.constant(number, terms.width(term));
                for part in parts {
                    let part = self.chosen_under(terms, part, condition, (left, started));
                    all = terms.and(all, part);
                }
                all
            }
            Node::Sum(constant, parts) if parts.len() <= 2 => {
                let width = terms.width(term);
                let mut sum = terms.constant(constant, width);
                for (times, part) in parts {
                    let part = self.chosen_under(terms, part, condition, (left, started));
                    let product = terms.scale(part, times);
                    sum = terms.add(sum, product);
                }
                sum
            }
            _ => term,
        }
    }

    /// Whether a bit is never set; `None` if nobody knows.
    fn is_never(&mut self, terms: &mut Terms, bit: Term) -> Option<bool> {
        if let Some(known) = self.bits.get(&bit) {
            return *known;
        }
        let known = match self.is_never_of_bits(terms, bit) {
            true => Some(true),
            false => self.shape_is_never(terms, bit),
        };
        self.bits.insert(bit, known);
        known
    }

    fn shape_is_never(&mut self, terms: &mut Terms, bit: Term) -> Option<bool> {
        let zero = terms.constant(0, 1);
        let shape = self.shapes.of(terms, (bit, zero));
        if let Some(known) = self.never.get(&shape) {
            return *known;
        }
        let known = match self.ask(terms, bit) {
            Answer::Never => Some(true),
            Answer::Sometimes(_) => Some(false),
            Answer::Nothing(_) => None,
        };
        self.never.insert(shape, known);
        known
    }

    /// When a question ends.
    fn end(&self) -> Instant {
        Instant::now() + QUESTION.min(self.left)
    }

    /// Values of variables for which a bit is set, if there are some and time is left.
    pub(crate) fn can(&mut self, terms: &mut Terms, bit: Term) -> Answer {
        if self.left.is_zero() {
            return Answer::Nothing("out of time".to_owned());
        }
        let started = Instant::now();
        let answer = match self.is_never_of_bits(terms, bit) {
            true => Answer::Never,
            false => self.ask(terms, bit),
        };
        self.left = self.left.saturating_sub(started.elapsed());
        answer
    }

    /// The values that a term may have where a bit is set; `None` if they are more, or nobody knows.
    pub(crate) fn values(
        &mut self,
        terms: &mut Terms,
        (term, condition): (Term, Term),
        most: usize,
    ) -> Option<Vec<u64>> {
        let key = (term, condition);
        if let Some(found) = self.values.get(&key) {
            return found.clone();
        }
        if self.left.is_zero() {
            return None;
        }
        let started = Instant::now();
        let found = self.enumerated(terms, (term, condition), most, started);
        self.left = self.left.saturating_sub(started.elapsed());
        self.values.insert(key, found.clone());
        found
    }

    fn enumerated(
        &mut self,
        terms: &mut Terms,
        (term, condition): (Term, Term),
        most: usize,
        started: Instant,
    ) -> Option<Vec<u64>> {
        let (of, holds) = (
            self.samples.of(terms, term)?,
            self.samples.of(terms, condition)?,
        );
        let mut found: Vec<u64> = of
            .iter()
            .zip(holds)
            .filter(|(_, holds)| *holds != 0)
            .map(|(value, _)| *value)
            .collect();
        found.sort_unstable();
        found.dedup();
        let width = terms.width(term);
        let mut other = condition;
        let mut excluded = 0;
        loop {
            if found.len() > most || started.elapsed() > self.left {
                return None;
            }
            for value in found.iter().skip(excluded) {
                let number = terms.constant(*value, width);
                let is = terms.equal(term, number);
                let differs = terms.not(is);
                other = terms.and(other, differs);
            }
            excluded = found.len();
            match self.ask(terms, other) {
                Answer::Never => {
                    found.sort_unstable();
                    return Some(found);
                }
                Answer::Sometimes(model) => {
                    let value = |v: Variable| model.get(&v).copied().unwrap_or(0);
                    let value = Values::new(terms, value).of(term)?;
                    if found.contains(&value) {
                        return None;
                    }
                    found.push(value);
                }
                Answer::Nothing(_) => return None,
            }
        }
    }

    /// Asks whether a bit can be set.
    fn ask(&self, terms: &mut Terms, bit: Term) -> Answer {
        match terms.number(bit) {
            Some(0) => return Answer::Never,
            Some(_) => return Answer::Sometimes(Model::new()),
            None => {}
        }
        let zero = terms.constant(0, 1);
        inside(terms, (bit, zero), self.end(), self.effort)
    }
}

/// Whether nobody has written any bit of a term.
fn is_undefined(terms: &Terms, term: Term) -> bool {
    match terms.node(term) {
        Node::Variable(Variable::Undefined(_)) => true,
        Node::Extract(of, _) => is_undefined(terms, *of),
        Node::Concat(parts) => parts.iter().all(|part| is_undefined(terms, *part)),
        _ => false,
    }
}

/// Asks the solver inside whether a bit is never set, as far as bits alone say.
#[cfg(feature = "sat")]
fn of_bits(terms: &Terms, bit: Term, end: Instant, effort: Option<u32>) -> bool {
    let limits = crate::sat::Limits::small(end).within(effort);
    crate::sat::is_never_of_bits(terms, bit, limits)
}

#[cfg(not(feature = "sat"))]
fn of_bits(_: &Terms, _: Term, _: Instant, _: Option<u32>) -> bool {
    false
}

/// Asks the solver inside whether a pair of terms differs.
#[cfg(feature = "sat")]
pub(crate) fn inside(
    terms: &mut Terms,
    pair: (Term, Term),
    end: Instant,
    effort: Option<u32>,
) -> Answer {
    let limits = crate::sat::Limits::small(end).within(effort);
    crate::sat::ask(terms, &[pair], limits)
}

#[cfg(not(feature = "sat"))]
pub(crate) fn inside(_: &mut Terms, _: (Term, Term), _: Instant, _: Option<u32>) -> Answer {
    Answer::Nothing("no solver inside".to_owned())
}

#[cfg(all(test, feature = "sat"))]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests;
