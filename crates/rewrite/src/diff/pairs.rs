//! Which declarations of two objects are the same thing.

use super::align::align;
use super::numbers::{Entry, Sides};
use crate::location::Table;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use visakit_isa::object::{Body, Item};
use visakit_isa::{FieldName, Op, Value};

/// Indices of a declaration in both tables.
type Pair = (Option<usize>, Option<usize>);

/// Pairs the declarations of a table: those of equal names, wherever they are, then what is left between them by its
/// other properties. Labels that are left are taken in the order of the code, which is what gives them a meaning.
pub(super) fn pairs(table: Table, sides: Sides<'_>, [a, b]: [&[Entry]; 2]) -> Vec<Pair> {
    let runs = align(names(a), names(b));
    let different = || runs.iter().filter(|run| !run.same);
    let mut moved = Moved::default();
    for index in different().flat_map(|run| run.new.clone()) {
        if let Some(entry) = b.get(index) {
            moved
                .waiting
                .entry(&entry.name)
                .or_default()
                .push_back(index);
        }
    }
    for index in different().flat_map(|run| run.old.clone()) {
        let name = a.get(index).map(|entry| entry.name.as_str());
        let found = name.and_then(|name| moved.waiting.get_mut(name)?.pop_front());
        moved.partners.extend(found.map(|found| (index, found)));
    }
    let waiting: HashSet<usize> = moved.waiting.into_values().flatten().collect();
    let renamed = |index: &usize| waiting.contains(index);
    let mut pairs: Vec<Pair> = Vec::new();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for run in &runs {
        if run.same {
            pairs.extend(run.old.clone().map(Some).zip(run.new.clone().map(Some)));
            continue;
        }
        for index in run.old.clone() {
            match moved.partners.get(&index) {
                Some(partner) => pairs.push((Some(index), Some(*partner))),
                None => left.push(index),
            }
        }
        right.extend(run.new.clone().filter(renamed));
        if table != Table::Label {
            pairs.extend(by_rest([a, b], &left, &right));
            left.clear();
            right.clear();
        }
    }
    if table == Table::Label {
        let [old, new] = sides.map(|(body, _)| places(body));
        left.sort_by_key(|index| old.get(index));
        right.sort_by_key(|index| new.get(index));
        pairs.extend(by_rest([a, b], &left, &right));
    }
    pairs
}

/// Entries that have the same name at another place.
#[derive(Default)]
struct Moved<'e> {
    /// New entries that have no partner yet.
    waiting: HashMap<&'e str, VecDeque<usize>>,
    /// The new entry of an old one.
    partners: HashMap<usize, usize>,
}

fn names(entries: &[Entry]) -> impl Iterator<Item = &str> {
    entries.iter().map(|e| e.name.as_str())
}

/// Different names, possibly for the same things.
fn by_rest([a, b]: [&[Entry]; 2], left: &[usize], right: &[usize]) -> Vec<Pair> {
    let rest = |entries: &[Entry], index: &usize| entries.get(*index).map(|e| e.rest.clone());
    let mut pairs = Vec::new();
    for run in align(
        left.iter().map(|i| rest(a, i)),
        right.iter().map(|i| rest(b, i)),
    ) {
        let indices = |list: &[usize], range: Range<usize>| -> VecDeque<usize> {
            list.get(range)
                .unwrap_or_default()
                .iter()
                .copied()
                .collect()
        };
        let (mut old, mut new) = (indices(left, run.old), indices(right, run.new));
        while !(old.is_empty() && new.is_empty()) {
            pairs.push((old.pop_front(), new.pop_front()));
        }
    }
    pairs
}

/// Where in the code each label is.
fn places(body: &Body<'_>) -> HashMap<usize, usize> {
    let labels = body.code.iter().enumerate().filter_map(|(place, item)| {
        let Item::Instruction(instruction) = item else {
            return None;
        };
        let defines = matches!(instruction.op, Op::LABEL | Op::SUBROUTINE);
        match instruction.get(FieldName::Label) {
            Some(Value::Label(id)) if defines => Some((usize::from(id.0), place)),
            _ => None,
        }
    });
    labels.collect()
}
