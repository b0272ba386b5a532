//! The order in which code is followed: each label after all that lead there, so that it is followed once unless it is in a
//! loop. In the code itself the ways through the interpreter come last, and lead back.

use super::super::assembler::{Item, Label};
use super::tables::{Row, row};

/// When each label is followed, and how many ways lead there.
pub(super) fn order(items: &[Item], labels: usize, entries: &[Label]) -> (Vec<u32>, Vec<u32>) {
    let next = Next::new(items, labels);
    let mut order = vec![u32::MAX; labels + 1];
    let mut seen = vec![false; labels + 1];
    let mut later = u32::MAX - 1;
    // What code begins with is the last part.
    let roots = entries.iter().rev().map(|Label(label)| *label);
    for root in roots.chain([labels]) {
        let mut path = vec![(root, 0)];
        if seen.get(root).is_none_or(|seen| *seen) {
            continue;
        }
        while let Some((part, done)) = path.last_mut() {
            if let Some(seen) = seen.get_mut(*part) {
                *seen = true;
            }
            match next.of(*part).get(*done) {
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
    let mut ways = vec![0; labels];
    for label in &next.labels {
        if let Some(ways) = ways.get_mut(*label) {
            *ways += 1;
        }
    }
    (order, ways)
}

/// The labels to which code goes from each label, and from its start.
struct Next {
    labels: Vec<usize>,
    parts: Vec<(usize, usize)>,
}

impl Next {
    fn new(items: &[Item], labels: usize) -> Self {
        let mut next = Self {
            labels: Vec::new(),
            parts: vec![(0, 0); labels + 1],
        };
        let mut part = Some(labels);
        for item in items {
            let (to, goes_on) = match item {
                Item::Label(label) => (Some(label.0), true),
                Item::Jump(condition, target) => (Some(target.0), condition.is_some()),
                Item::Instruction(instruction) => {
                    (None, !row(instruction.code()).is_none_or(Row::is_last))
                }
                Item::Note(_) | Item::Removed => continue,
            };
            let own = part.and_then(|part| next.parts.get_mut(part));
            if let (Some(to), Some(own)) = (to, own) {
                next.labels.push(to);
                own.1 = next.labels.len();
            }
            if let Item::Label(label) = item {
                part = Some(label.0);
                if let Some(own) = next.parts.get_mut(label.0) {
                    *own = (next.labels.len(), next.labels.len());
                }
            } else if !goes_on {
                part = None;
            }
        }
        next
    }

    fn of(&self, part: usize) -> &[usize] {
        let (first, last) = self.parts.get(part).copied().unwrap_or_default();
        self.labels.get(first..last).unwrap_or_default()
    }
}
