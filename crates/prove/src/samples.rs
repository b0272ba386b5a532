//! Values of terms for some values of all variables: terms that have different ones are not equal.

use crate::term::{Node, Term, Terms, ones};
use hashbrown::HashMap;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Values of terms for so many choices of all variables.
#[derive(Debug)]
pub(crate) struct Samples<const COUNT: usize> {
    known: HashMap<Term, Option<[u64; COUNT]>>,
}

impl<const COUNT: usize> Samples<COUNT> {
    /// None are known yet.
    pub(crate) fn new() -> Self {
        Self {
            known: HashMap::new(),
        }
    }

    /// The values of a term; `None` if an operation has none.
    pub(crate) fn of(&mut self, terms: &Terms, term: Term) -> Option<[u64; COUNT]> {
        let mut todo = vec![term];
        while let Some(next) = terms.ready(&mut todo, |part| self.known.contains_key(&part)) {
            let values = self.one(terms, next);
            self.known.insert(next, values);
        }
        self.known.get(&term).copied().flatten()
    }

    fn one(&self, terms: &Terms, term: Term) -> Option<[u64; COUNT]> {
        let mut known = true;
        terms.node(term).each(|part| {
            known &= self.known.get(&part).is_some_and(Option::is_some);
        });
        if !known {
            return None;
        }
        let mut values = [0; COUNT];
        for (number, value) in values.iter_mut().enumerate() {
            *value = match terms.node(term) {
                Node::Variable(_) => chosen(term, number) & ones(terms.width(term)),
                _ => terms.evaluate(term, |part| {
                    let all = self.known.get(&part).copied().flatten();
                    all.and_then(|all| all.get(number).copied()).unwrap_or(0)
                })?,
            };
        }
        Some(values)
    }
}

/// From this sample on all variables are the same small number, the next one in each.
const SMALL: usize = 32;

/// A value of a variable, of the kinds that programs look at.
fn chosen(variable: Term, sample: usize) -> u64 {
    let seed = u64::from(variable.number()) << 8 | sample as u64;
    let any = SplitMix64::seed_from_u64(seed).next_u64();
    if let Some(small) = sample.checked_sub(SMALL) {
        return small as u64;
    }
    match sample % 4 {
        0 => any,
        1 => any % 16,
        2 => u64::from((((any >> 40) as f32 - 8_388_608.0) / 4096.0).to_bits()),
        _ if any & 0x100 == 0 => 0,
        _ => any,
    }
}
