//! Whether two computations give the same results, whatever is in the registers that they read, or in those of which these
//! were computed.

use crate::before::{At, Before, Made};
use crate::decide::inside;
use crate::lower::{LaneTerms, apply};
use crate::solver::Answer;
use crate::term::{Shape, Shapes, Term, Variable};
use hashbrown::HashMap;
use std::time::{Duration, Instant};
use visakit_exec::LaneFunction;
use visakit_exec::code::{Compute, Lane, Source, Step};
use visakit_isa::DataType;

/// What is in a byte of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Byte {
    /// This number.
    Known(u8),
    /// What is at that place of the old program.
    At(usize),
}

/// Bits of predicates have numbers from here on.
const PREDICATES: u32 = 1 << 30;

/// Time for a question about two computations.
const QUESTION: Duration = Duration::from_millis(100);

/// Bound of such a question: it is the same on every machine.
const EFFORT: u32 = 20_000;

/// Terms of the bytes of registers.
#[derive(Debug)]
pub(crate) struct Local {
    made: Made,
    shapes: Shapes,
    /// Whether pairs of that shape are equal.
    equal: HashMap<Shape, bool>,
}

/// The results of both computations in a lane.
type Results = [LaneTerms; 2];

impl Local {
    pub(crate) fn new() -> Self {
        Self {
            made: Made::default(),
            shapes: Shapes::default(),
            equal: HashMap::new(),
        }
    }

    /// Whether two computations give the same results in those lanes of a step. Where they write them is compared by others, and
    /// so are the predicates that they read. `byte` says what is at a place of either program, `before` what the old one has
    /// computed before the step of that number.
    pub(crate) fn equal(
        &mut self,
        (step, lanes): (&Step, u32),
        both: [&Compute; 2],
        byte: impl Fn(usize, usize) -> Option<Byte>,
        mut before: Option<(&mut Before<'_, '_>, usize)>,
    ) -> Option<bool> {
        // The float mode is the same for both, and not known.
        let [old, new] = both;
        let functions = [LaneFunction::of(old, 0)?, LaneFunction::of(new, 0)?];
        let [first, second] = &functions;
        let understood = !is_float(old) && !is_float(new);
        if first != second && !understood {
            return Some(false);
        }
        for lane in (0..usize::from(step.lanes.count)).filter(|lane| lanes >> lane & 1 != 0) {
            let plain = |local: &mut Self, place: usize| {
                let number = u32::try_from(place).ok()?;
                Some(local.made.terms.variable(Variable::Free(number), 8))
            };
            let same = functions == [functions[0]; 2];
            match self.results(both, (&functions, lane), &byte, plain)? {
                (elements, _) if same && elements[0] == elements[1] => continue,
                (_, Some([a, b])) if understood && a == b => continue,
                _ if !understood => return Some(false),
                _ => {}
            }
            let (before, number) = match &mut before {
                Some((before, number)) if both.iter().all(|of| is_of_lane(of)) => (before, *number),
                _ => return Some(false),
            };
            let runs = usize::from(step.lanes.first) + lane;
            before.of_lane(Some(runs).filter(|_| !step.lanes.no_mask));
            let deep = |local: &mut Self, byte: usize| {
                let at = At { byte, step: number };
                before.byte(&mut local.made, at)
            };
            let (_, results) = self.results(both, (&functions, lane), &byte, deep)?;
            if !self.never_differ(results?) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The sources of both computations in a lane, and what they make of them.
    fn results(
        &mut self,
        both: [&Compute; 2],
        (functions, lane): (&[LaneFunction; 2], usize),
        byte: impl Fn(usize, usize) -> Option<Byte>,
        mut at: impl FnMut(&mut Self, usize) -> Option<Term>,
    ) -> Option<([Vec<Term>; 2], Option<Results>)> {
        let [old, _] = both;
        let mut elements = [Vec::new(), Vec::new()];
        for (side, (compute, elements)) in both.into_iter().zip(&mut elements).enumerate() {
            let used = compute.operation.sources();
            for source in compute.sources.iter().take(used) {
                let element = self.element(source, lane, |local, place| {
                    Some(match byte(side, place)? {
                        Byte::Known(number) => local.made.terms.constant(number.into(), 8),
                        Byte::At(place) => at(local, place)?,
                    })
                });
                elements.push(element?);
            }
        }
        let number = u32::try_from(lane).ok()?;
        let flag = (old.operation.flags() > 0).then(|| {
            self.made
                .terms
                .variable(Variable::Free(PREDICATES + number), 1)
        });
        let [a, b] = &elements;
        let [first, second] = functions;
        let a = apply(&mut self.made.terms, first, a, flag);
        let results = a.zip(apply(&mut self.made.terms, second, b, flag));
        Some((elements, results.map(|(a, b)| [a, b])))
    }

    /// Whether results are the same whatever is in the registers.
    fn never_differ(&mut self, [a, b]: Results) -> bool {
        let pairs = [(a.value, b.value), (a.second, b.second), (a.flag, b.flag)];
        pairs.into_iter().all(|pair| match pair {
            (None, None) => true,
            (Some(a), Some(b)) => a == b || self.is_equal(a, b),
            _ => false,
        })
    }

    fn is_equal(&mut self, a: Term, b: Term) -> bool {
        let shape = self.shapes.of(&self.made.terms, (a, b));
        if let Some(known) = self.equal.get(&shape) {
            return *known;
        }
        let end = Instant::now() + QUESTION;
        let equal = inside(&mut self.made.terms, (a, b), end, Some(EFFORT)) == Answer::Never;
        self.equal.insert(shape, equal);
        equal
    }

    /// The element of a lane.
    fn element(
        &mut self,
        source: &Source,
        lane: usize,
        mut byte: impl FnMut(&mut Self, usize) -> Option<Term>,
    ) -> Option<Term> {
        let size = usize::from(source.data_type.size());
        let first = source.offset + source.region.offset(lane, size)?;
        let bytes = (first..first + size).map(|place| byte(self, place));
        let bytes = bytes.collect::<Option<Vec<Term>>>()?;
        Some(self.made.terms.concat(&bytes))
    }
}

/// Whether each lane computes by itself, of its elements and at most one bit.
pub(crate) fn is_of_lane(compute: &Compute) -> bool {
    compute.operation.is_by_lane() && compute.operation.flags() <= 1
}

/// Whether the float mode makes a difference.
pub(crate) fn is_float(compute: &Compute) -> bool {
    let used = compute.operation.sources();
    let sources = compute.sources.iter().take(used).map(|s| s.data_type);
    let destinations = std::iter::once(&compute.destination).chain(&compute.second);
    let mut types = sources.chain(destinations.map(|to| to.data_type));
    matches!(compute.lane, Lane::F32 | Lane::F64) || types.any(DataType::is_float)
}

#[cfg(test)]
mod tests;
