//! Whether the events of two segments leave the same in memory.

use super::events::{Event, Kind, Space, split};
use crate::term::{Term, Terms, ones, signed};
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// A byte that is stored: its value, and the condition under which it is.
type Stored = (Term, Term);

/// Bytes that are stored, by how far after a term they are, or before it.
type Bytes = BTreeMap<i64, Stored>;

/// What a lane stores between two other events at addresses that differ from a term by a number: how many bytes a message
/// stores makes no difference. Which lane, and how many such addresses it has stored to before.
type Stores = BTreeMap<(Option<usize>, usize), (Space, Term, Bytes)>;

/// Events, and as one what lanes store between others.
fn joined(terms: &mut Terms, events: &[Event]) -> Vec<Joined> {
    let mut all: Vec<Joined> = Vec::new();
    // For each lane, the address that it stores to, and how many there have been.
    let mut last: HashMap<Option<usize>, (Space, Term, usize)> = HashMap::new();
    let mut group = 0;
    for event in events {
        let Kind::Store(space, lane) = event.kind else {
            all.push(Joined::Other(event.clone()));
            continue;
        };
        if event.group != group {
            group = event.group;
            last.clear();
            all.push(Joined::Stores(Stores::new()));
        }
        let Some((address, values)) = event.operands.split_first() else {
            continue;
        };
        let (base, first) = split(terms, *address);
        let next = last.get(&lane).map_or(0, |(.., number)| number + 1);
        let known = last
            .get(&lane)
            .filter(|(s, b, _)| (*s, *b) == (space, base));
        let number = known.map_or(next, |(.., number)| *number);
        last.insert(lane, (space, base, number));
        let Some(Joined::Stores(stores)) = all.last_mut() else {
            continue;
        };
        let entry = stores.entry((lane, number));
        let (.., bytes) = entry.or_insert_with(|| (space, base, BTreeMap::new()));
        for (by, value) in (0..).zip(values) {
            let stored = (*value, event.condition);
            let at = signed(first.wrapping_add(by), terms.width(base));
            let stored = match bytes.get(&at).copied() {
                None => stored,
                Some((before, condition)) => (
                    terms.choice(event.condition, *value, before),
                    terms.or(event.condition, condition),
                ),
            };
            bytes.insert(at, stored);
        }
    }
    all
}

/// See [`joined`].
enum Joined {
    Stores(Stores),
    Other(Event),
}

/// The pairs of terms that have to be equal for the same events, one after the other; `None` if they are others.
pub(super) fn in_order([old, new]: [&[Event]; 2]) -> Option<Vec<(Term, Term)>> {
    let mut pairs = Vec::new();
    for (a, b) in old.iter().zip(new) {
        equal(a, b, &mut pairs)?;
        (a.group == b.group).then_some(())?;
    }
    (old.len() == new.len()).then_some(pairs)
}

/// The pairs of terms that have to be equal for events that do the same.
fn equal(a: &Event, b: &Event, pairs: &mut Vec<(Term, Term)>) -> Option<()> {
    (a.kind == b.kind && a.operands.len() == b.operands.len()).then_some(())?;
    pairs.push((a.condition, b.condition));
    pairs.extend(a.operands.iter().copied().zip(b.operands.iter().copied()));
    Some(())
}

/// The pairs of terms that have to be equal for events that leave the same in memory, each lane's stores by themselves; `None`
/// if they are others.
pub(super) fn by_lanes(terms: &mut Terms, [old, new]: [&[Event]; 2]) -> Option<Vec<(Term, Term)>> {
    let (old, new) = (joined(terms, old), joined(terms, new));
    (old.len() == new.len()).then_some(())?;
    let mut pairs = Vec::new();
    for events in old.iter().zip(&new) {
        match events {
            (Joined::Other(a), Joined::Other(b)) => equal(a, b, &mut pairs)?,
            (Joined::Stores(a), Joined::Stores(b)) => {
                a.keys().eq(b.keys()).then_some(())?;
                for ((s, first, own), (t, second, others)) in a.values().zip(b.values()) {
                    (s == t && own.keys().eq(others.keys())).then_some(())?;
                    pairs.push((*first, *second));
                    for ((v, c), (w, d)) in own.values().zip(others.values()) {
                        pairs.extend([(*v, *w), (*c, *d)]);
                    }
                }
                apart(terms, a, &mut pairs);
            }
            _ => return None,
        }
    }
    Some(pairs)
}

/// Demands that no two lanes store to a byte, as their order shows there.
fn apart(terms: &mut Terms, stores: &Stores, pairs: &mut Vec<(Term, Term)>) {
    let never = terms.constant(0, 1);
    let all: Vec<_> = stores.iter().collect();
    for (number, ((lane, _), (space, base, own))) in all.iter().enumerate() {
        for ((other_lane, _), (other_space, other, others)) in all.iter().skip(number + 1) {
            if lane == other_lane || !space.may_meet(other_space) {
                continue;
            }
            let ends = |bytes: &Bytes| {
                let (first, last) = (bytes.keys().next(), bytes.keys().next_back());
                (*first.unwrap_or(&0), *last.unwrap_or(&0))
            };
            let ((first, last), (other_first, other_last)) = (ends(own), ends(others));
            let bytes = last
                .abs_diff(first)
                .saturating_add(other_last.abs_diff(other_first))
                .saturating_add(1);
            // In one space they meet where the second is less than so many bytes after the first, from where they just do not
            // meet on; addresses wrap as they do there. Nothing is known of places in two spaces.
            let meet = if space != other_space || bytes >= ones(terms.width(*base)) {
                terms.constant(1, 1)
            } else {
                let width = terms.width(*base);
                let from = terms.constant(other_last.wrapping_sub(first).cast_unsigned(), width);
                let bytes = terms.constant(bytes, width);
                let difference = terms.subtract(*other, *base);
                let difference = terms.add(difference, from);
                terms.less(difference, bytes)
            };
            let any = |terms: &mut Terms, bytes: &Bytes| {
                let conditions = bytes.values().map(|(_, condition)| *condition);
                conditions.fold(never, |any, condition| terms.or(any, condition))
            };
            let (a, b) = (any(terms, own), any(terms, others));
            let both = terms.and(a, b);
            pairs.push((terms.and(both, meet), never));
        }
    }
}

impl Space {
    /// Whether a byte may be in both: surfaces may be parts of one buffer.
    const fn may_meet(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local, Self::Local) => true,
            (Self::Local, _) | (_, Self::Local) => false,
            (Self::Surface(a), Self::Surface(b)) => {
                a.base < b.base.saturating_add(b.bytes) && b.base < a.base.saturating_add(a.bytes)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
