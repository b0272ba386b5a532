//! Cutpoints: places of a program between which it runs without going round.
//!
//! Each loop has one where it begins, and there is one wherever lanes may wait while a loop runs: after it, and where jumps
//! past it go to. From a cutpoint on, lanes come to the next ones in as many steps as there are in between.

use std::collections::BTreeSet;
use visakit_exec::code::{Action, Code};

/// Cutpoints of a program, in the order of its steps. The first one is where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cuts {
    places: Vec<usize>,
}

/// The first step from a place on that does something. Lanes that wait at different places with equal results here have come to
/// the same.
pub(super) fn effective(code: &Code, place: usize) -> usize {
    let idle =
        |action: &Action| matches!(action, Action::Join | Action::Nothing | Action::Count(_));
    let rest = code.steps.get(place..).unwrap_or_default();
    place + rest.iter().take_while(|step| idle(&step.action)).count()
}

/// Where lanes may jump to from a step.
fn targets(action: &Action) -> &[usize] {
    match action {
        Action::Jump { target, .. } | Action::Goto { target, .. } => std::slice::from_ref(target),
        Action::Switch { targets, .. } => targets,
        _ => &[],
    }
}

impl Cuts {
    /// All that a program may need.
    pub(super) fn of(code: &Code) -> Self {
        let entry = code.routines.first().map_or(0, |routine| routine.entry);
        let steps = code.steps.iter().enumerate();
        let jumps: Vec<(usize, usize)> = steps
            .flat_map(|(from, step)| targets(&step.action).iter().map(move |to| (from, *to)))
            .collect();
        let mut found = BTreeSet::new();
        for (from, to) in &jumps {
            if to > from {
                continue;
            }
            // The loop from `to` to `from`.
            found.extend([*to, from + 1]);
            let waits = |(source, target): &&(usize, usize)| match source < to {
                true => target > to,
                false => source <= from && target > from,
            };
            found.extend(jumps.iter().filter(waits).map(|(_, target)| *target));
        }
        let mut places: Vec<usize> = found
            .into_iter()
            .map(|place| effective(code, place))
            .filter(|place| *place < code.steps.len())
            .collect();
        let entry = effective(code, entry);
        places.retain(|place| *place > entry);
        places.insert(0, entry);
        places.dedup();
        Self { places }
    }

    /// Their places: steps that do something.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// The number of the cutpoint at a step that does something.
    pub(super) fn at(&self, place: usize) -> Option<usize> {
        self.places.binary_search(&place).ok()
    }

    /// Those of these numbers, which ascend.
    pub(super) fn only(&self, numbers: impl Iterator<Item = usize>) -> Self {
        let places = numbers.filter_map(|number| self.places.get(number).copied());
        Self {
            places: places.collect(),
        }
    }
}
