//! Whether two computations give the same results, whatever is in the registers that they read.

use crate::lower::{LaneTerms, apply};
use crate::term::{Term, Terms, Variable};
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

/// Terms of the bytes of registers.
#[derive(Debug)]
pub(crate) struct Local {
    terms: Terms,
}

impl Local {
    pub(crate) fn new() -> Self {
        Self {
            terms: Terms::new(),
        }
    }

    /// Whether two computations give the same results in those lanes of a step. Where they write them is compared by others, and
    /// so are the predicates that they read. `byte` says what is at a place of either program.
    pub(crate) fn equal(
        &mut self,
        (step, lanes): (&Step, u32),
        [old, new]: [&Compute; 2],
        byte: impl Fn(usize, usize) -> Option<Byte>,
    ) -> Option<bool> {
        // The float mode is the same for both, and not known.
        let functions = [LaneFunction::of(old, 0)?, LaneFunction::of(new, 0)?];
        let [first, second] = &functions;
        let understood = !is_float(old) && !is_float(new);
        if first != second && !understood {
            return Some(false);
        }
        for lane in (0..usize::from(step.lanes.count)).filter(|lane| lanes >> lane & 1 != 0) {
            let mut elements = Vec::new();
            for (side, compute) in [old, new].into_iter().enumerate() {
                let used = compute.operation.sources();
                let sources = compute.sources.iter().take(used);
                let all = sources.map(|s| self.element(s, lane, |place| byte(side, place)));
                elements.push(all.collect::<Option<Vec<Term>>>()?);
            }
            let [a, b] = &elements[..] else {
                return None;
            };
            if first == second && a == b {
                continue;
            }
            if !understood {
                return Some(false);
            }
            let number = u32::try_from(lane).ok()?;
            let flag = (old.operation.flags() > 0)
                .then(|| self.terms.variable(Variable::Free(PREDICATES + number), 1));
            let a: LaneTerms = apply(&mut self.terms, first, a, flag)?;
            let b: LaneTerms = apply(&mut self.terms, second, b, flag)?;
            if a != b {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The element of a lane.
    fn element(
        &mut self,
        source: &Source,
        lane: usize,
        byte: impl Fn(usize) -> Option<Byte>,
    ) -> Option<Term> {
        let size = usize::from(source.data_type.size());
        let first = source.offset + source.region.offset(lane, size)?;
        let bytes = (first..first + size).map(|place| {
            Some(match byte(place)? {
                Byte::Known(number) => self.terms.constant(number.into(), 8),
                Byte::At(place) => {
                    let number = u32::try_from(place).ok()?;
                    self.terms.variable(Variable::Free(number), 8)
                }
            })
        });
        let bytes = bytes.collect::<Option<Vec<Term>>>()?;
        Some(self.terms.concat(&bytes))
    }
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
