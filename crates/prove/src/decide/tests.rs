//! What is said of a term where a bit is set is so for all values.

use super::Decisions;
use crate::term::{Term, Terms, Values, Variable};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::time::{Duration, Instant};

/// Bits that nobody knows.
const BITS: u32 = 6;

/// Random conditions of bits, and a register that is written under some of them.
struct Written {
    terms: Terms,
    random: SplitMix64,
    conditions: Vec<Term>,
}

impl Written {
    fn new(seed: u64) -> Self {
        let mut terms = Terms::new();
        let conditions = (0..BITS).map(|n| terms.variable(Variable::Free(n), 1));
        let conditions = conditions.collect();
        let mut written = Self {
            terms,
            random: SplitMix64::seed_from_u64(seed),
            conditions,
        };
        for _ in 0..10 {
            let (a, b, c) = (written.bit(), written.bit(), written.bit());
            let made = match written.random.next_u64() % 4 {
                0 => written.terms.and(a, b),
                1 => written.terms.or(a, b),
                2 => written.terms.not(a),
                _ => written.terms.choice(a, b, c),
            };
            written.conditions.push(made);
        }
        written
    }

    fn bit(&mut self) -> Term {
        let count = self.conditions.len() as u64;
        let place = usize::try_from(self.random.next_u64() % count).unwrap();
        self.conditions[place]
    }

    fn value(&self, term: Term, bits: u64) -> Option<u64> {
        let value = |variable| match variable {
            Variable::Free(n) => bits >> n & 1,
            _ => 0xa5,
        };
        Values::new(&self.terms, value).of(term)
    }
}

#[test]
fn what_lanes_have_written_is_what_it_was() {
    let (mut defined, mut open, mut known) = (0, 0, 0);
    for seed in 0..1500 {
        let mut made = Written::new(seed);
        let mut bytes = Vec::new();
        let mut some = made.terms.constant(0, 1);
        for _ in 0..2 {
            bytes.push(made.terms.undefined());
        }
        for number in 0..1 + seed % 5 {
            let condition = made.bit();
            some = made.terms.or(some, condition);
            for byte in &mut bytes {
                let value = made.terms.constant(number * 3 % 4, 8);
                *byte = made.terms.choice(condition, value, *byte);
            }
        }
        let register = made.terms.concat(&bytes);
        // Where one of them holds, or anywhere.
        let condition = match seed % 3 {
            0 => made.bit(),
            _ => {
                let other = made.bit();
                made.terms.and(some, other)
            }
        };
        let mut decisions = Decisions::new(None);
        decisions.begin(Instant::now().checked_add(Duration::from_secs(600)));
        let found = decisions.written(&mut made.terms, register, condition);
        for bits in 0..1 << BITS {
            if made.value(condition, bits) == Some(1) {
                let (old, new) = (made.value(register, bits), made.value(found, bits));
                assert_eq!(old, new, "seed {seed}");
            }
        }
        let variables = made.terms.variables(&[found]);
        let undefined = |(_, v): &(Term, Variable)| matches!(v, Variable::Undefined(_));
        match variables.iter().any(undefined) {
            true => open += 1,
            false => defined += 1,
        }
        known += usize::from(seed % 3 != 0 && !variables.iter().any(undefined));
    }
    assert!(defined > 700 && open > 100, "{defined} {open}");
    // Of 1000 registers that are written for sure.
    assert!(known > 950, "{known}");
}
