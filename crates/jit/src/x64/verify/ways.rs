//! The ways through code, and the order in which it is followed: each label after all that lead there, so that it is followed once
//! unless it is in a loop. In the code itself the ways through the interpreter come last, and lead back.

use super::super::assembler::{Item, Label};
use super::tables::{Row, row};

/// What is known of labels before any code is followed.
pub(super) struct Ways {
    /// Where each one is.
    pub(super) places: Vec<usize>,
    /// Whether code after it jumps there.
    pub(super) is_loop: Vec<bool>,
    /// How many ways lead there.
    pub(super) counts: Vec<u32>,
    /// When it is followed.
    pub(super) order: Vec<u32>,
}

impl Ways {
    pub(super) fn new(items: &[Item], labels: usize, entries: &[Label]) -> Self {
        let mut ways = Self {
            places: vec![usize::MAX; labels],
            is_loop: vec![false; labels],
            counts: vec![0; labels],
            order: Vec::new(),
        };
        let mut next = Next {
            labels: Vec::new(),
            parts: vec![(0, 0); labels + 1],
        };
        // The part between labels, of which the last one is before all of them.
        let mut part = Some(labels);
        for (place, item) in items.iter().enumerate() {
            let (to, goes_on) = match item {
                Item::Label(label) => (Some(label.0), true),
                Item::Jump(condition, target) => (Some(target.0), condition.is_some()),
                Item::Instruction(instruction) => {
                    let is_last = row(instruction.code()).is_none_or(Row::is_last);
                    part = part.filter(|_| !is_last);
                    continue;
                }
                Item::Note(_) | Item::Removed => continue,
            };
            let own = part.and_then(|part| next.parts.get_mut(part));
            if let (Some(to), Some(own)) = (to, own) {
                next.labels.push(to);
                own.1 = next.labels.len();
                if let Some(count) = ways.counts.get_mut(to) {
                    *count += 1;
                }
            }
            match item {
                Item::Label(Label(label)) => {
                    part = Some(*label);
                    if let Some(own) = next.parts.get_mut(*label) {
                        *own = (next.labels.len(), next.labels.len());
                    }
                    if let Some(own) = ways.places.get_mut(*label) {
                        *own = place;
                    }
                }
                // A label that was there before.
                Item::Jump(_, Label(target)) => {
                    part = part.filter(|_| goes_on);
                    let is_before = ways.places.get(*target).is_some_and(|at| *at < place);
                    if let Some(is_loop) = ways.is_loop.get_mut(*target).filter(|_| is_before) {
                        *is_loop = true;
                    }
                }
                _ => {}
            }
        }
        ways.order = next.order(labels, entries);
        ways
    }
}

/// The labels to which code goes from each label, and from its start.
struct Next {
    labels: Vec<usize>,
    parts: Vec<(usize, usize)>,
}

impl Next {
    fn of(&self, part: usize) -> &[usize] {
        let (first, last) = self.parts.get(part).copied().unwrap_or_default();
        self.labels.get(first..last).unwrap_or_default()
    }

    /// When each label is followed.
    fn order(&self, labels: usize, entries: &[Label]) -> Vec<u32> {
        let mut order = vec![u32::MAX; labels + 1];
        let mut seen = vec![false; labels + 1];
        let mut later = u32::MAX - 1;
        let mut path = Vec::new();
        // What code begins with is the last part.
        let roots = entries.iter().rev().map(|Label(label)| *label);
        for root in roots.chain([labels]) {
            if seen.get(root) == Some(&false) {
                path.push((root, 0));
            }
            while let Some((part, done)) = path.last_mut() {
                if let Some(seen) = seen.get_mut(*part) {
                    *seen = true;
                }
                match self.of(*part).get(*done) {
                    Some(to) => {
                        *done += 1;
                        if seen.get(*to) == Some(&false) {
                            path.push((*to, 0));
                        }
                    }
                    None => {
                        if let Some(order) = order.get_mut(*part) {
                            *order = later;
                        }
                        later -= 1;
                        path.pop();
                    }
                }
            }
        }
        order
    }
}
