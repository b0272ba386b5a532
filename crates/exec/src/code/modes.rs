//! The float modes in which threads come to each step: which bits of `%cr0` may be set there, and which may be clear.

use super::{Action, Block, Code, Compute, Modify, Operation, Region, Source, Step, Target};
use crate::lanes::mode::{MODE_BITS, ROUNDING_BITS, USUAL_MODE};

/// A set of contents of `%cr0`, as far as they choose the float mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modes {
    /// The bits of [`MODE_BITS`] that are clear in some of them.
    pub clear: u32,
    /// Those that are set in some of them.
    pub set: u32,
}

impl Modes {
    /// All contents.
    pub const ANY: Self = Self {
        clear: MODE_BITS,
        set: MODE_BITS,
    };

    /// Those with which kernels start: they round to nearest, whatever they do with denormals.
    pub const AT_START: Self = Self {
        clear: MODE_BITS,
        set: USUAL_MODE,
    };

    /// The content, if there is one only.
    #[must_use]
    pub const fn only(self) -> Option<u32> {
        match self.clear | self.set == MODE_BITS && self.clear & self.set == 0 {
            true => Some(self.set),
            false => None,
        }
    }

    /// Whether some of them treat denormals as zero.
    #[must_use]
    pub const fn may_flush(self) -> bool {
        self.clear & USUAL_MODE != 0
    }

    /// Whether some of them round to one side.
    #[must_use]
    pub const fn may_round(self) -> bool {
        self.set & ROUNDING_BITS != 0
    }

    /// The contents after such a combination of each of them with a constant.
    fn combined(self, operation: Operation, constant: u32) -> Self {
        let Self { clear, set } = self;
        let modes = match operation {
            Operation::And => Self {
                clear: clear | !constant,
                set: set & constant,
            },
            Operation::Or => Self {
                clear: clear & !constant,
                set: set | constant,
            },
            Operation::Xor => Self {
                clear: clear & !constant | set & constant,
                set: set & !constant | clear & constant,
            },
            _ => Self {
                clear: !constant,
                set: constant,
            },
        };
        Self {
            clear: modes.clear & MODE_BITS,
            set: modes.set & MODE_BITS,
        }
    }

    /// Adds others. Whether that changes anything.
    fn add(&mut self, other: Self) -> bool {
        let before = *self;
        self.clear |= other.clear;
        self.set |= other.set;
        *self != before
    }
}

/// The combination with a constant that writes `%cr0` at this place, if the step is one.
fn write(code: &Code, step: &Step, place: usize) -> Option<(Operation, u32)> {
    let Action::Compute(compute) = &step.action else {
        return None;
    };
    let Compute {
        operation,
        sources: [a, b, ..],
        destination,
        ..
    } = &**compute;
    let is_plain = |source: &Source| {
        source.region == Region::Scalar
            && source.modify == Modify::None
            && source.data_type.size() == 4
    };
    let constant = match operation {
        Operation::Copy => Some(a),
        Operation::And | Operation::Or | Operation::Xor => {
            let combines = |(old, constant): &(&Source, &Source)| {
                constant.constant.is_some() && old.offset == place && is_plain(old)
            };
            let pair = [(a, b), (b, a)].into_iter().find(combines);
            pair.map(|(_, constant)| constant)
        }
        _ => None,
    };
    let constant = constant.filter(|s| s.constant.is_some() && is_plain(s))?;
    let plain = destination.data_type.size() == 4
        && !destination.saturate
        && destination.offset == place
        && destination.target == Target::Packed
        && step.predicate.is_none()
        && step.lanes.no_mask;
    let low = code.constant(constant.offset)? & u64::from(u32::MAX);
    plain.then_some((*operation, u32::try_from(low).ok()?))
}

impl Code {
    /// The modes in which threads come to each step by the edges between blocks, if they start in one of
    /// [`Modes::AT_START`] and functions are called in, and return in, these. For a step that updates the mode, those
    /// that it sets.
    ///
    /// It is what to be prepared for, not a proof: lanes that waited at a join resume in the mode that others have set.
    #[must_use]
    pub fn modes(&self) -> Vec<Modes> {
        let blocks = self.blocks();
        let mut at: Vec<Modes> = vec![Modes::default(); self.steps.len()];
        let mut starts = vec![Modes::default(); blocks.len()];
        let mut todo: Vec<(usize, Modes)> = Vec::new();
        for routine in &self.routines {
            let block = blocks.binary_search_by_key(&routine.entry, |block| block.steps.start);
            todo.extend(block.ok().map(|block| (block, Modes::AT_START)));
        }
        while let Some((number, modes)) = todo.pop() {
            let (Some(block), Some(start)) = (blocks.get(number), starts.get_mut(number)) else {
                continue;
            };
            // At most as often as there are bits.
            if !start.add(modes) {
                continue;
            }
            let after = self.follow(block, *start, &mut at);
            let last = self.steps.get(block.steps.clone()).and_then(<[Step]>::last);
            let calls = last.is_some_and(|last| {
                matches!(
                    last.action,
                    Action::Call { .. } | Action::CallAddress { .. }
                )
            });
            let after = if calls { Modes::AT_START } else { after };
            todo.extend(block.edges.iter().map(|edge| (edge.block(), after)));
        }
        at
    }

    /// Follows a block, whose steps get their modes. Returns those after it.
    fn follow(&self, block: &Block, mut modes: Modes, at: &mut [Modes]) -> Modes {
        for place in block.steps.clone() {
            let (Some(step), Some(at)) = (self.steps.get(place), at.get_mut(place)) else {
                break;
            };
            if let Action::UpdateMode(offset) = &step.action {
                let before = place.checked_sub(1).filter(|p| block.steps.contains(p));
                let before = before.and_then(|p| self.steps.get(p));
                modes = match before.and_then(|step| write(self, step, *offset)) {
                    Some((operation, constant)) => modes.combined(operation, constant),
                    None => Modes::ANY,
                };
            }
            *at = modes;
        }
        modes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations() {
        let start = Modes::AT_START;
        assert!(start.may_flush() && !start.may_round());
        let usual = start.combined(Operation::Or, USUAL_MODE);
        assert!(!usual.may_flush() && !usual.may_round());
        let up = usual.combined(Operation::Xor, 0x10);
        assert!(!up.may_flush() && up.may_round());
        assert_eq!(up.combined(Operation::Xor, 0x10), usual);
        let flushing = usual.combined(Operation::And, !0x80);
        assert!(flushing.may_flush() && !flushing.may_round());
        let copied = Modes::ANY.combined(Operation::Copy, USUAL_MODE);
        assert_eq!(copied, usual);
        assert_eq!(
            (usual.only(), up.only()),
            (Some(USUAL_MODE), Some(USUAL_MODE | 0x10))
        );
        assert_eq!(
            (start.only(), Modes::ANY.only(), Modes::default().only()),
            (None, None, None)
        );
    }
}
