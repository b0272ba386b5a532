//! What is decided is so: for random pairs of terms of few bits, whose values all are tried.

use super::{Limits, ask, is_never_of_bits};
use crate::solver::Answer;
use crate::term::{Term, Terms, Values, Variable};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// One more term of those there are.
pub(crate) fn more(terms: &mut Terms, random: &mut SplitMix64, all: &[Term]) -> Term {
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

/// Of bits alone nothing is said to be never set that is set for some values, and conditions that part and meet are decided.
#[test]
fn bits_alone_are_right_for_all_values() {
    let (mut never, mut open) = (0, 0);
    for seed in 0..4000 {
        let mut random = SplitMix64::seed_from_u64(seed);
        let mut terms = Terms::new();
        let width = 1 + u8::try_from(seed % 4).unwrap();
        let variables = [0, 1].map(Variable::Free);
        let mut all: Vec<Term> = variables.map(|v| terms.variable(v, width)).to_vec();
        for _ in 0..16 {
            let made = more(&mut terms, &mut random, &all);
            all.push(made);
        }
        all.retain(|term| terms.width(*term) == 1);
        let mut bit = |terms: &mut Terms| {
            let none = terms.constant(0, 1);
            let count = all.len().max(1) as u64;
            let place = usize::try_from(random.next_u64() % count).unwrap();
            all.get(place).copied().unwrap_or(none)
        };
        let (a, b, c) = (bit(&mut terms), bit(&mut terms), bit(&mut terms));
        // A choice of both, without both: sometimes never set, which no rule says of more than eight bits.
        let either = terms.or(a, b);
        let chosen = terms.choice(c, a, b);
        let other = if seed % 2 == 0 { either } else { c };
        let not = terms.not(other);
        let asked = terms.and(chosen, not);
        let set = (0..1_u64 << (2 * width)).any(|values| {
            let mut of = Values::new(&terms, |variable| match variable {
                Variable::Free(n) => values >> (n * u32::from(width)),
                _ => 0,
            });
            of.of(asked) == Some(1)
        });
        match is_never_of_bits(&terms, asked, Limits::new(None)) {
            true => {
                assert!(!set, "seed {seed}");
                never += 1;
            }
            false => open += 1,
        }
    }
    assert!(never > 500 && open > 500, "{never} {open}");
}

/// A condition of many comparisons that is never set is decided without a look at what is compared.
#[test]
fn conditions_are_decided_without_numbers() {
    let mut terms = Terms::new();
    let number = terms.variable(Variable::Free(0), 64);
    let mut product = number;
    let mut bits = Vec::new();
    for _ in 0..12 {
        product = terms.multiply(product, product);
        let other = terms.add(product, number);
        bits.push(terms.less(product, other));
    }
    let (mut all, mut some) = (terms.constant(1, 1), terms.constant(0, 1));
    for bit in &bits {
        let not = terms.not(*bit);
        all = terms.and(all, *bit);
        some = terms.or(some, not);
    }
    // Where all are set, none is not; the last arm hides it from the rules.
    let hidden = terms.choice(bits[11], some, bits[0]);
    let not_last = terms.not(bits[11]);
    let last = terms.and(not_last, bits[0]);
    let without = terms.not(last);
    let asked = terms.and(all, hidden);
    let asked = terms.and(asked, without);
    assert!(is_never_of_bits(&terms, asked, Limits::new(None)));
    assert!(!is_never_of_bits(&terms, all, Limits::new(None)));
}
