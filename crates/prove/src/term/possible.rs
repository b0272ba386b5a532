//! The numbers that a term may be, where they are few.

use super::{Node, Term, Terms};
use hashbrown::HashMap;
use std::collections::BTreeSet;

/// Terms that are looked at before giving up.
const MOST_TERMS: usize = 4096;

/// Parts of a term with so many bits are not looked into where others are too many.
const FEW_BITS: u8 = 3;

/// Numbers of terms that are known already; `None` for too many.
type Known = HashMap<Term, Option<Vec<u64>>>;

impl Terms {
    /// Numbers of which a term is one, at most so many; `None` if there may be more.
    #[must_use]
    pub fn possible(&self, term: Term, most: usize) -> Option<Vec<u64>> {
        self.listed(term, most, 0)
            .or_else(|| self.listed(term, most, FEW_BITS))
    }

    /// As far as its parts say, of which those of so many bits may be anything.
    fn listed(&self, term: Term, most: usize, any: u8) -> Option<Vec<u64>> {
        let mut known = Known::new();
        let mut todo = vec![term];
        while let Some(next) = todo.last().copied() {
            if known.len() > MOST_TERMS {
                return None;
            }
            if known.contains_key(&next) {
                todo.pop();
                continue;
            }
            if self.width(next) <= any {
                let found = self.number(next).map(|number| vec![number]);
                known.insert(next, found.or_else(|| self.all(next, most)));
                todo.pop();
                continue;
            }
            let before = todo.len();
            self.node(next).each(|part| {
                if !known.contains_key(&part) {
                    todo.push(part);
                }
            });
            if todo.len() == before {
                let found = self.of_parts(next, most, &known);
                known.insert(next, found);
                todo.pop();
            }
        }
        known.remove(&term)?
    }

    /// The numbers of a term, from those of its parts.
    fn of_parts(&self, term: Term, most: usize, known: &Known) -> Option<Vec<u64>> {
        if let Node::Choice(condition, yes, no) = self.node(term)
            && let Some(conditions) = known.get(condition)?
        {
            let of = |branch: &Term| known.get(branch).cloned().flatten();
            let mut all = BTreeSet::new();
            for bit in conditions {
                match of(if *bit == 0 { no } else { yes }) {
                    Some(values) => all.extend(values),
                    None => return self.all(term, most),
                }
            }
            return (all.len() <= most).then(|| all.into_iter().collect());
        }
        let mut parts: Vec<Term> = Vec::new();
        self.node(term).each(|part| parts.push(part));
        parts.sort_unstable();
        parts.dedup();
        // Every combination of what the parts may be.
        let mut choices: Vec<Vec<u64>> = vec![Vec::new()];
        for part in &parts {
            let Some(values) = known.get(part).cloned().flatten() else {
                return self.all(term, most);
            };
            if choices.len().saturating_mul(values.len()) > most {
                return self.all(term, most);
            }
            choices = choices
                .iter()
                .flat_map(|choice| {
                    values.iter().map(|value| {
                        let mut choice = choice.clone();
                        choice.push(*value);
                        choice
                    })
                })
                .collect();
        }
        let mut all = BTreeSet::new();
        for choice in choices {
            let get = |part: Term| {
                let at = parts.binary_search(&part).ok();
                at.and_then(|at| choice.get(at)).copied().unwrap_or(0)
            };
            match self.evaluate(term, get) {
                Some(value) => all.insert(value),
                None => return self.all(term, most),
            };
        }
        Some(all.into_iter().collect())
    }

    /// All numbers of its width, if they are few.
    fn all(&self, term: Term, most: usize) -> Option<Vec<u64>> {
        let count = 1_u64.checked_shl(self.width(term).into())?;
        let few = usize::try_from(count).is_ok_and(|count| count <= most);
        few.then(|| (0..count).collect())
    }
}
