//! What is in registers before a step, as far as the steps of its basic block say.
//!
//! A lane that runs at a step has run at all steps of the block before it, in one go with all lanes that run there: what it,
//! or an instruction without a mask, has written since is known as a term of what was in registers when the block began.

use crate::local::{is_float, is_of_lane};
use crate::lower::apply;
use crate::side::{Side, is_indirect, written};
use crate::term::{Term, Terms, Variable};
use hashbrown::HashMap;
use std::ops::Range;
use visakit_exec::LaneFunction;
use visakit_exec::code::{Action, Compute, Destination, Flag, Step};

/// Bytes of registers that are looked into for a comparison.
const MOST: u32 = 4096;

/// Steps that are looked into for a byte.
const DEEP: u8 = 12;

/// A byte of the register file before a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct At {
    pub(crate) byte: usize,
    pub(crate) step: usize,
}

/// Terms of what is in registers, for one lane that runs, or for none in particular.
pub(crate) struct Before<'s, 'p> {
    side: &'s Side<'p>,
    /// The first step of the block that each step is in.
    first: Vec<usize>,
    lane: Option<usize>,
    known: HashMap<At, Term>,
    left: u32,
}

/// What a step writes to a byte.
enum Written {
    Nothing,
    Element(Element),
    Anything,
}

/// A byte of the element of a lane, in the second destination or the first.
#[derive(Clone, Copy)]
struct Element {
    lane: usize,
    second: bool,
    byte: usize,
}

impl<'s, 'p> Before<'s, 'p> {
    pub(crate) fn new(side: &'s Side<'p>) -> Self {
        let mut first = Vec::new();
        for block in side.code().blocks() {
            first.resize(block.steps.end, block.steps.start);
        }
        Self {
            side,
            first,
            lane: None,
            known: HashMap::new(),
            left: MOST,
        }
    }

    /// Begins with a lane that runs, by its place in the mask.
    pub(crate) fn of_lane(&mut self, lane: Option<usize>) {
        (self.lane, self.left) = (lane, MOST);
        self.known.clear();
    }

    /// The byte as a term.
    pub(crate) fn byte(&mut self, made: &mut Made, at: At) -> Option<Term> {
        self.within(made, at, DEEP)
    }

    fn within(&mut self, made: &mut Made, at: At, depth: u8) -> Option<Term> {
        if let Some(term) = self.known.get(&at) {
            return Some(*term);
        }
        self.left = self.left.checked_sub(1)?;
        let constant = self.side.constant(at.byte).and_then(<[u8]>::first).copied();
        let number = constant.or_else(|| self.side.starts.number(at.byte, at.step));
        let term = match number {
            Some(number) => made.terms.constant(number.into(), 8),
            None => self.written(made, at, depth)?,
        };
        self.known.insert(at, term);
        Some(term)
    }

    /// The byte as the last step that has written it left it.
    fn written(&mut self, made: &mut Made, at: At, depth: u8) -> Option<Term> {
        let code = self.side.code();
        let start = *self.first.get(at.step)?;
        for place in (start..at.step).rev() {
            let step = code.steps.get(place)?;
            let found = match (self.writes(step, at.byte), &step.action) {
                (Written::Nothing, _) => continue,
                (Written::Element(element), Action::Compute(compute)) => depth
                    .checked_sub(1)
                    .and_then(|depth| self.computed(made, (compute, place), element, depth)),
                _ => None,
            };
            return found.or_else(|| made.leaf(at.byte, place + 1));
        }
        made.leaf(at.byte, start)
    }

    /// What a step writes to a byte where the lane runs.
    fn writes(&self, step: &Step, byte: usize) -> Written {
        let within = |range: &Range<usize>| range.contains(&byte);
        let sets = match &step.action {
            Action::Compute(compute) => compute.sets.as_ref().map(Flag::word_range),
            _ => None,
        };
        if sets.iter().any(within) {
            return Written::Anything;
        }
        if !written(step, self.side.program).iter().any(within) {
            return Written::Nothing;
        }
        let Action::Compute(compute) = &step.action else {
            return Written::Anything;
        };
        if step.predicate.is_some() || is_indirect(step) {
            return Written::Anything;
        }
        let mut found = Written::Nothing;
        for (second, to) in [
            (false, Some(&compute.destination)),
            (true, compute.second.as_ref()),
        ] {
            match to.and_then(|to| element(to, usize::from(step.lanes.count), byte)) {
                None => {}
                Some((lane, byte)) if matches!(found, Written::Nothing) => {
                    found = Written::Element(Element { lane, second, byte });
                }
                Some(_) => return Written::Anything,
            }
        }
        match found {
            Written::Element(Element { lane, .. })
                if !step.lanes.no_mask
                    && self.lane != Some(usize::from(step.lanes.first) + lane) =>
            {
                Written::Anything
            }
            found => found,
        }
    }

    /// A byte of what a step computes.
    fn computed(
        &mut self,
        made: &mut Made,
        (compute, place): (&Compute, usize),
        of: Element,
        depth: u8,
    ) -> Option<Term> {
        if is_float(compute) || compute.operation.flags() > 0 || !is_of_lane(compute) {
            return None;
        }
        let function = LaneFunction::of(compute, 0)?;
        let used = compute.operation.sources();
        let mut elements = Vec::with_capacity(used);
        for source in compute.sources.iter().take(used) {
            let size = usize::from(source.data_type.size());
            let first = source.offset + source.region.offset(of.lane, size)?;
            let bytes = (first..first + size).map(|byte| {
                let at = At { byte, step: place };
                self.within(made, at, depth)
            });
            let bytes = bytes.collect::<Option<Vec<Term>>>()?;
            elements.push(made.terms.concat(&bytes));
        }
        let results = apply(&mut made.terms, &function, &elements, None)?;
        let value = match of.second {
            true => results.second,
            false => results.value,
        }?;
        let low = u8::try_from(8 * of.byte).ok()?;
        (low < made.terms.width(value)).then(|| made.terms.extract(value, low, 8))
    }
}

/// The lane whose element a byte is in, and its number in the element.
fn element(to: &Destination, lanes: usize, byte: usize) -> Option<(usize, usize)> {
    let size = usize::from(to.data_type.size());
    let stride = to.target.stride(size).filter(|stride| *stride > 0)?;
    let from = byte.checked_sub(to.offset)?;
    let (lane, byte) = (from / stride, from % stride);
    (lane < lanes && byte < size).then_some((lane, byte))
}

/// The numbers of variables for bytes of which nothing is known begin here.
const LEAVES: u32 = 1 << 29;

/// Terms, and the variables for bytes of which nothing is known, from a step on.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) terms: Terms,
    leaves: HashMap<(usize, usize), u32>,
}

impl Made {
    fn leaf(&mut self, byte: usize, since: usize) -> Option<Term> {
        let next = u32::try_from(self.leaves.len()).ok()?;
        let number = *self.leaves.entry((byte, since)).or_insert(next);
        Some(self.terms.variable(Variable::Free(LEAVES + number), 8))
    }
}
