//! Predicate variables in registers.
//!
//! Most of them are set by a comparison and read soon after it, by the same lanes. Nobody needs their words in the register
//! file then, nor the bits of lanes that do not run.

use crate::flow::Segment;
use std::collections::{BTreeMap, HashMap, HashSet};
use visakit_exec::code::{Action, Code, Combine, Flag, Lanes, Operation, Step};

/// Predicate variables, by the places of their words, that are set in each segment before anybody reads them there, by all
/// lanes that read them.
pub(crate) fn local(code: &Code, segments: &BTreeMap<usize, Segment>) -> HashSet<usize> {
    let mut found = Found::default();
    let mut segment = 0..0;
    for (place, step) in code.steps.iter().enumerate() {
        if let Some(next) = segments.get(&place) {
            segment = next.steps.clone();
            found.set.clear();
        } else if !segment.contains(&place) {
            // The interpreter runs it.
            found.set.clear();
        }
        found.step(step);
    }
    found.read.difference(&found.shared).copied().collect()
}

#[derive(Default)]
struct Found {
    /// Those that were set in the segment, and the lanes that did it.
    set: HashMap<u32, (Flag, Lanes)>,
    read: HashSet<usize>,
    shared: HashSet<usize>,
}

impl Found {
    fn step(&mut self, step: &Step) {
        if let Some(flag) = &step.predicate {
            self.reads(flag, step);
        }
        let Action::Compute(compute) = &step.action else {
            // More lanes run after a join, which begins a block, and so a segment.
            return;
        };
        for flag in compute.flags.iter().take(compute.operation.flags()) {
            self.reads(flag, step);
            if matches!(compute.operation, Operation::FlagToNumber(_)) {
                self.shared.insert(flag.offset as usize);
            }
        }
        if let Some(flag) = &compute.sets {
            let sets_all = match compute.operation {
                Operation::Compare(_)
                | Operation::FlagAnd
                | Operation::FlagOr
                | Operation::FlagXor
                | Operation::FlagNot => step.predicate.is_none(),
                _ => false,
            };
            if sets_all {
                self.set.insert(flag.offset, (*flag, step.lanes));
            } else {
                self.shared.insert(flag.offset as usize);
            }
        }
    }

    fn reads(&mut self, flag: &Flag, step: &Step) {
        let offset = flag.offset as usize;
        self.read.insert(offset);
        let is_set = self.set.get(&flag.offset).is_some_and(|(own, lanes)| {
            let by_lane = !step.lanes.no_mask
                && !matches!(step.action, Action::Jump { .. })
                && step.lanes.first == lanes.first;
            (by_lane || lanes.no_mask)
                && flag.combine == Combine::PerLane
                && flag.first == own.first
                && flag.window & !own.window == 0
        });
        if !is_set {
            self.shared.insert(offset);
        }
    }
}
