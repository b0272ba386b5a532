//! Pairs that are equal by their parts are equal for all values, and the others are as they were.

use super::swept;
use crate::sat::tests::more;
use crate::term::{Deep, Term, Terms, Values, Variable};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::time::{Duration, Instant};

/// The value of a term for each value of two variables.
fn values(terms: &Terms, term: Term, width: u8) -> Vec<Option<u64>> {
    let all = 0..1_u64 << (2 * width);
    let of = |values: u64| {
        Values::new(terms, |variable| match variable {
            Variable::Free(n) => values >> (n * u32::from(width)),
            _ => 0,
        })
        .of(term)
    };
    all.map(of).collect()
}

#[test]
fn pairs_are_what_they_were() {
    let (mut equal, mut apart) = (0, 0);
    for seed in 0..1500 {
        let mut terms = Terms::new();
        let width = 2 + u8::try_from(seed % 3).unwrap();
        let [x, y] = [0, 1].map(|n| terms.variable(Variable::Free(n), width));
        let sum = terms.add(x, y);
        let (both, either) = (terms.and(x, y), terms.or(x, y));
        // The same sum, or almost.
        let other = match seed % 4 {
            0 => terms.or(x, y),
            1 => terms.xor(x, y),
            _ => terms.add(both, either),
        };
        let [a, b] = [sum, other].map(|first| {
            let mut random = SplitMix64::seed_from_u64(seed);
            let mut all = vec![x, y, first];
            for _ in 0..8 {
                let made = more(&mut terms, &mut random, &all);
                all.push(made);
            }
            all[all.len() - 1]
        });
        if terms.width(a) != terms.width(b) {
            continue;
        }
        let mut deep = Deep::default();
        let (a, b) = (deep.of(&mut terms, a), deep.of(&mut terms, b));
        let end = Instant::now() + Duration::from_secs(60);
        let left = swept(&mut terms, vec![(a, b)], end, None);
        let [old, new] = [a, b].map(|term| values(&terms, term, width));
        match left[..] {
            [] => {
                assert_eq!(old, new, "seed {seed}");
                equal += usize::from(a != b);
            }
            [(c, d)] => {
                assert_eq!(values(&terms, c, width), old, "seed {seed}");
                assert_eq!(values(&terms, d, width), new, "seed {seed}");
                assert_ne!(old, new, "seed {seed}");
                apart += 1;
            }
            _ => panic!("seed {seed}: one pair becomes {left:?}"),
        }
    }
    assert!(equal > 200 && apart > 200, "{equal} {apart}");
}

/// Products of sums that are equal are the same, although no solver multiplies such numbers.
#[test]
fn what_is_computed_of_equal_parts_is_equal() {
    let mut terms = Terms::new();
    let [x, y] = [0, 1].map(|n| terms.variable(Variable::Free(n), 64));
    let sum = terms.add(x, y);
    let (both, either) = (terms.and(x, y), terms.or(x, y));
    let other = terms.add(both, either);
    let [a, b] = [sum, other].map(|part| {
        let mut product = part;
        for _ in 0..4 {
            let next = terms.multiply(product, product);
            product = terms.xor(next, x);
        }
        product
    });
    assert_ne!(a, b);
    let end = Instant::now() + Duration::from_secs(60);
    assert_eq!(swept(&mut terms, vec![(a, b)], end, None), []);
    assert_eq!(swept(&mut terms, vec![(a, x)], end, None).len(), 1);
}
