//! What is decided is so: for random pairs of terms of few bits, whose values all are tried.

use super::{Limits, ask};
use crate::solver::Answer;
use crate::term::{Term, Terms, Values, Variable};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// One more term of those there are.
fn more(terms: &mut Terms, random: &mut SplitMix64, all: &[Term]) -> Term {
    let mut any = |width: Option<u8>, terms: &mut Terms| {
        let fit: Vec<Term> = all
            .iter()
            .copied()
            .filter(|t| width.is_none_or(|w| terms.width(*t) == w))
            .collect();
        match (fit.len() as u64, random.next_u64() % 5) {
            (0, _) | (_, 0) => terms.constant(random.next_u64(), width.unwrap_or(4)),
            (count, _) => fit[usize::try_from(random.next_u64() % count).unwrap()],
        }
    };
    let a = any(None, terms);
    let width = terms.width(a);
    let (b, bit) = (any(Some(width), terms), any(Some(1), terms));
    match random.next_u64() % 16 {
        0 => terms.add(a, b),
        1 => terms.subtract(a, b),
        2 => terms.multiply(a, b),
        3 => terms.and(a, b),
        4 => terms.or(a, b),
        5 => terms.xor(a, b),
        6 => terms.left(a, b),
        7 => terms.right(a, b),
        8 => terms.right_signed(a, b),
        9 => terms.equal(a, b),
        10 => terms.less(a, b),
        11 => terms.less_signed(a, b),
        12 if width > 1 => terms.extract(a, 1, width - 1),
        13 if width < 7 => terms.concat(&[a, b]),
        14 => terms.scale(a, random.next_u64()),
        _ => terms.choice(bit, a, b),
    }
}

#[test]
fn answers_are_right_for_all_values() {
    let (mut equal, mut different) = (0, 0);
    for seed in 0..3000 {
        let mut random = SplitMix64::seed_from_u64(seed);
        let mut terms = Terms::new();
        let width = 1 + u8::try_from(seed % 5).unwrap();
        let variables = [0, 1].map(Variable::Free);
        let mut all: Vec<Term> = variables.map(|v| terms.variable(v, width)).to_vec();
        for _ in 0..12 {
            let made = more(&mut terms, &mut random, &all);
            all.push(made);
        }
        let a = all[all.len() - 1];
        let mut others: Vec<Term> = all.clone();
        others.retain(|b| *b != a && terms.width(*b) == terms.width(a));
        // Mostly unequal terms come about by chance; equal ones by rules that are not known.
        let b = match (others.first(), seed % 3) {
            (Some(b), 0) => *b,
            (_, 1) => {
                // The complement's complement, by a sum and a product.
                let same = terms.negate(a);
                let one = terms.constant(1, terms.width(a));
                let less = terms.subtract(same, one);
                let hidden = terms.choice(all[0], less, same);
                let _ = hidden;
                terms.not(less)
            }
            _ => {
                let [x, y] = [all[0], all[1]];
                let (both, either) = (terms.and(x, y), terms.or(x, y));
                let sum = terms.add(both, either);
                let other = terms.add(x, y);
                let differ = terms.equal(sum, other);
                let always = terms.repeat(differ, terms.width(a));
                terms.and(a, always)
            }
        };
        let mut apart = false;
        for values in 0..1_u64 << (2 * width) {
            let mut of = Values::new(&terms, |variable| match variable {
                Variable::Free(n) => values >> (n * u32::from(width)),
                _ => 0,
            });
            apart |= of.of(a) != of.of(b);
        }
        match ask(&mut terms, &[(a, b)], Limits::new(None)) {
            Answer::Never => {
                assert!(!apart, "seed {seed}");
                equal += 1;
            }
            Answer::Sometimes(model) => {
                let mut of = Values::new(&terms, |v| model.get(&v).copied().unwrap_or(0));
                assert!(of.of(a) != of.of(b), "seed {seed}: {model:?}");
                different += 1;
            }
            Answer::Nothing(why) => panic!("{why}"),
        }
    }
    assert!(equal > 800 && different > 300, "{equal} {different}");
}
