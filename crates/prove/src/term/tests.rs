//! Terms have the value of the expression that they were made of, for every rule and width.

use super::{Deep, Shape, Shapes, Term, Terms, Values, Variable, ones, signed};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use visakit_testing::layouts::Random;

/// An expression with its value for one choice of variables, beside the term.
#[derive(Clone, Copy)]
struct Both {
    term: Term,
    value: [u64; SAMPLES],
}

/// Choices of all variables; at small widths all of two.
const SAMPLES: usize = 256;

struct Maker {
    terms: Terms,
    random: SplitMix64,
    made: Vec<Both>,
    width: u8,
}

impl Maker {
    fn new(seed: u64, width: u8) -> Self {
        let mut maker = Self {
            terms: Terms::new(),
            random: SplitMix64::seed_from_u64(seed),
            made: Vec::new(),
            width,
        };
        for number in 0..2_u32 {
            let term = maker.terms.variable(Variable::Free(number), width);
            let value = std::array::from_fn(|sample| maker.chosen(number, sample));
            maker.made.push(Both { term, value });
        }
        maker
    }

    /// The value of a variable: at 4 bits every pair occurs.
    fn chosen(&self, number: u32, sample: usize) -> u64 {
        let all = sample as u64 >> (4 * number);
        let value = match self.width {
            0..=4 => all,
            _ => {
                let mut random = SplitMix64::seed_from_u64(all & 0xf | u64::from(number) << 32);
                match all & 3 {
                    0 => random.next_u64(),
                    1 => ones(self.width) - (all >> 2 & 3),
                    2 => 1 << (self.width - 1) >> (all >> 2 & 3),
                    _ => all >> 2 & 3,
                }
            }
        };
        value & ones(self.width)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.random.next_u64() % end as u64).unwrap()
    }

    fn any(&mut self) -> Both {
        let at = self.below(self.made.len());
        self.made[at]
    }

    fn of_width(&mut self, width: u8) -> Both {
        let all: Vec<Both> = self.made.clone();
        let fit: Vec<&Both> = all
            .iter()
            .filter(|b| self.terms.width(b.term) == width)
            .collect();
        match fit.len() {
            0 => {
                let value = self.random.next_u64() & ones(width);
                Both {
                    term: self.terms.constant(value, width),
                    value: [value; SAMPLES],
                }
            }
            count => *fit[self.below(count)],
        }
    }

    /// Makes one more expression of those there are.
    fn step(&mut self) {
        let a = self.any();
        let width = self.terms.width(a.term);
        let all = ones(width);
        let b = match self.below(3) {
            0 => {
                let pick = [
                    0,
                    1,
                    all,
                    all >> 1,
                    0xf0 & all,
                    self.random.next_u64() & all,
                ];
                let value = pick[self.below(pick.len())];
                Both {
                    term: self.terms.constant(value, width),
                    value: [value; SAMPLES],
                }
            }
            _ => self.of_width(width),
        };
        let zip = |of: &dyn Fn(u64, u64) -> u64| {
            std::array::from_fn(|s| of(a.value[s], b.value[s]) & all)
        };
        let bit = |of: &dyn Fn(u64, u64) -> bool| {
            std::array::from_fn(|s| of(a.value[s], b.value[s]).into())
        };
        let bits = u64::from(width);
        let t = &mut self.terms;
        let made = match self.random.next_u64() % 19 {
            0 => (t.add(a.term, b.term), zip(&u64::wrapping_add)),
            1 => (t.subtract(a.term, b.term), zip(&u64::wrapping_sub)),
            2 => (t.multiply(a.term, b.term), zip(&u64::wrapping_mul)),
            3 => (t.and(a.term, b.term), zip(&|a, b| a & b)),
            4 => (t.or(a.term, b.term), zip(&|a, b| a | b)),
            5 => (t.xor(a.term, b.term), zip(&|a, b| a ^ b)),
            6 => (t.not(a.term), zip(&|a, _| !a)),
            7 => (
                t.left(a.term, b.term),
                zip(&|a, b| if b < bits { a << b } else { 0 }),
            ),
            8 => (
                t.right(a.term, b.term),
                zip(&|a, b| if b < bits { a >> b } else { 0 }),
            ),
            9 => {
                let of = |a, b: u64| (signed(a, width) >> b.min(bits - 1)).cast_unsigned();
                (t.right_signed(a.term, b.term), zip(&of))
            }
            10 => (t.equal(a.term, b.term), bit(&|a, b| a == b)),
            11 => (t.less(a.term, b.term), bit(&|a, b| a < b)),
            12 => {
                let of = |a, b| signed(a, width) < signed(b, width);
                (t.less_signed(a.term, b.term), bit(&of))
            }
            13 if width > 1 => {
                let low = u8::try_from(self.random.next_u64() % bits).unwrap();
                let most = u64::from(width - low);
                let count = 1 + u8::try_from(self.random.next_u64() % most).unwrap();
                let term = self.terms.extract(a.term, low, count);
                (
                    term,
                    std::array::from_fn(|s| a.value[s] >> low & ones(count)),
                )
            }
            14 if width < 60 => {
                let high = self.any();
                if self.terms.width(high.term) + width > 64 {
                    return;
                }
                let term = self.terms.concat(&[a.term, high.term]);
                (
                    term,
                    std::array::from_fn(|s| a.value[s] | high.value[s] << width),
                )
            }
            15 if width < 60 => {
                let term = self.terms.sign_extend(a.term, width + 4);
                let of = |s: usize| signed(a.value[s], width).cast_unsigned() & ones(width + 4);
                (term, std::array::from_fn(of))
            }
            16 => (t.negate(a.term), zip(&|a, _| a.wrapping_neg())),
            _ => {
                let condition = self.of_width(1);
                let term = self.terms.choice(condition.term, a.term, b.term);
                let of = |s: usize| {
                    if condition.value[s] != 0 {
                        a.value[s]
                    } else {
                        b.value[s]
                    }
                };
                (term, std::array::from_fn(of))
            }
        };
        let (term, value) = made;
        self.made.push(Both { term, value });
    }

    fn check(&mut self) {
        let mut deep = Deep::default();
        let made = self.made.clone();
        let seconds: Vec<Term> = made
            .iter()
            .map(|b| deep.of(&mut self.terms, b.term))
            .collect();
        let one = self.of_width(1);
        let under: Vec<Term> = made
            .iter()
            .map(|b| self.terms.under(b.term, one.term))
            .collect();
        for sample in 0..SAMPLES {
            let chosen = [0, 1].map(|number| self.chosen(number, sample));
            let mut values = Values::new(&self.terms, |variable| match variable {
                Variable::Free(number) => chosen[number as usize],
                _ => 0,
            });
            for ((both, second), under) in made.iter().zip(&seconds).zip(&under) {
                let of = |term| format!("{:?}", self.terms.node(term));
                let wanted = Some(both.value[sample]);
                assert_eq!(values.of(both.term), wanted, "{}", of(both.term));
                assert_eq!(values.of(*second), wanted, "second form: {}", of(*second));
                if one.value[sample] != 0 {
                    assert_eq!(values.of(*under), wanted, "under a bit: {}", of(*under));
                }
            }
        }
    }
}

#[test]
fn every_pair_of_small_numbers() {
    for seed in 0..400 {
        let mut maker = Maker::new(seed, 1 + u8::try_from(seed % 4).unwrap());
        for _ in 0..24 {
            maker.step();
        }
        maker.check();
    }
}

#[test]
fn numbers_of_all_widths() {
    for (seed, width) in (0..).zip([8, 16, 32, 64, 7, 33].repeat(60)) {
        let mut maker = Maker::new(seed, width);
        for _ in 0..24 {
            maker.step();
        }
        maker.check();
    }
}

/// Choices that share parts are joined once for each of them, not for each way to them.
#[test]
fn shared_choices_are_joined_once() {
    let mut terms = Terms::new();
    let mut numbers = 0..;
    let mut variable =
        |terms: &mut Terms, width| terms.variable(Variable::Free(numbers.next().unwrap()), width);
    let mut pairs: Vec<[Term; 2]> = Vec::new();
    for _ in 0..2 {
        pairs.push([variable(&mut terms, 8), variable(&mut terms, 8)]);
    }
    for _ in 0..50 {
        let condition = variable(&mut terms, 1);
        for [a, b] in &mut pairs {
            (*a, *b) = (
                terms.choice(condition, *a, *b),
                terms.choice(condition, *b, *a),
            );
        }
    }
    let joined = terms.concat(&[pairs[0][0], pairs[1][0]]);
    assert_eq!(terms.width(joined), 16);
}

/// A function of up to eight bits is one term, however it is made: from an expression, or choice by choice from its values.
#[test]
fn equal_functions_of_bits_are_one_term() {
    for seed in 0..300 {
        let mut random = Random::of_seed(seed);
        let mut terms = Terms::new();
        let count = 1 + random.below(8);
        let bits: Vec<Term> = (0..8)
            .take(count)
            .map(|n| terms.variable(Variable::Free(n), 1))
            .collect();
        let mut made = bits.clone();
        for _ in 0..12 {
            let [a, b, c] = [(); 3].map(|()| made[random.below(made.len())]);
            let term = match random.below(5) {
                0 => terms.and(a, b),
                1 => terms.or(a, b),
                2 => terms.xor(a, b),
                3 => terms.not(a),
                _ => terms.choice(a, b, c),
            };
            made.push(term);
        }
        let wanted = made[made.len() - 1];
        let value = |terms: &Terms, row: usize| {
            let bit = |variable| match variable {
                Variable::Free(n) => (row >> n & 1) as u64,
                _ => 0,
            };
            Values::new(terms, bit).of(wanted).unwrap()
        };
        let mut rows: Vec<Term> = Vec::new();
        for row in 0..1 << count {
            let value = value(&terms, row);
            rows.push(terms.constant(value, 1));
        }
        // By the first bit first: pairs of neighbours.
        for bit in &bits {
            let pairs = rows
                .chunks(2)
                .map(|pair| terms.choice(*bit, pair[1], pair[0]));
            rows = pairs.collect();
        }
        assert_eq!(rows[..], [wanted], "seed {seed}: {:?}", terms.node(wanted));
    }
}

/// Conditions of more bits than have one term for each function are what they say, however often they are made shorter.
#[test]
fn conditions_of_many_bits_come_to_an_end() {
    for seed in 0..400 {
        let mut random = Random::of_seed(seed);
        let mut terms = Terms::new();
        let count = 9 + u32::try_from(random.below(8)).unwrap();
        // Each with its values for 64 choices of all bits.
        let mut made: Vec<(Term, u64)> = (0..count)
            .map(|n| (terms.variable(Variable::Free(n), 1), random.word()))
            .collect();
        let choices: Vec<u64> = made.iter().map(|(_, values)| *values).collect();
        for _ in 0..300 {
            let [(a, x), (b, y)] = [(); 2].map(|()| made[random.below(made.len())]);
            made.push(match random.below(8) {
                0..=2 => (terms.and(a, b), x & y),
                3..=5 => (terms.or(a, b), x | y),
                6 => (terms.xor(a, b), x ^ y),
                _ => (terms.not(a), !x),
            });
        }
        for row in 0..64 {
            let mut values = Values::new(&terms, |variable| match variable {
                Variable::Free(n) => choices[n as usize] >> row & 1,
                _ => 0,
            });
            for (term, wanted) in &made {
                assert_eq!(values.of(*term), Some(wanted >> row & 1), "seed {seed}");
            }
        }
    }
}

/// Terms that are made alike of other variables have one shape, in whatever order these come, and terms of one shape have the
/// same values for some names of their variables.
#[test]
fn shapes_do_not_depend_on_names() {
    let mut alike = 0;
    let mut seen: hashbrown::HashMap<Shape, Vec<u64>> = hashbrown::HashMap::new();
    let mut shapes = Shapes::default();
    let mut terms = Terms::new();
    for seed in 0..600_u64 {
        let made: Vec<Term> = (0..2_u32)
            .map(|copy| {
                let mut random = SplitMix64::seed_from_u64(seed % 300);
                let base = u32::try_from(seed).unwrap() * 8 + copy * 4;
                let numbers = match copy {
                    0 => [0, 1, 2],
                    _ => [2, 1, 0],
                };
                let mut all = [None; 3];
                for number in numbers {
                    let variable = Variable::Free(base + number);
                    all[number as usize] = Some(terms.variable(variable, 2));
                }
                let mut all: Vec<Term> = all.into_iter().flatten().collect();
                for _ in 0..5 {
                    let mut any =
                        || all[usize::try_from(random.next_u64()).unwrap_or(0) % all.len()];
                    let (a, b, c) = (any(), any(), any());
                    let made = match random.next_u64() % 6 {
                        0 => terms.add(a, b),
                        1 => terms.and(a, b),
                        2 => terms.or(a, b),
                        3 => terms.xor(a, b),
                        4 => terms.multiply(a, b),
                        _ => {
                            let less = terms.less(a, b);
                            terms.choice(less, c, a)
                        }
                    };
                    all.push(made);
                }
                all[all.len() - 1]
            })
            .collect();
        let zero = terms.constant(0, 2);
        let found: Vec<Shape> = made.iter().map(|t| shapes.of(&terms, (*t, zero))).collect();
        alike += usize::from(found[0] == found[1]);
        for (term, shape) in made.iter().zip(found) {
            // How often each value comes up does not depend on names, as the variables that are used are as many.
            let used = terms.variables(&[*term]);
            let mut counts = vec![used.len() as u64, 0, 0, 0, 0];
            for values in 0..1_u64 << (2 * used.len()) {
                let mut of = Values::new(&terms, |variable| {
                    let place = used.iter().position(|(_, own)| *own == variable);
                    values >> (2 * place.unwrap_or(0))
                });
                counts[1 + usize::try_from(of.of(*term).unwrap()).unwrap()] += 1;
            }
            let known = seen.entry(shape).or_insert_with(|| counts.clone());
            assert_eq!(*known, counts, "seed {seed}");
        }
    }
    assert!(alike > 360, "{alike}");
}

/// The order of parts counts where it makes a difference, and nowhere else.
#[test]
fn shapes_have_the_order_of_parts() {
    let mut terms = Terms::new();
    let mut shapes = Shapes::default();
    let zero = terms.constant(0, 8);
    let zero_bit = terms.constant(0, 1);
    let copies = [0, 1].map(|copy: u32| {
        let [x, y] = [0, 1].map(|n| terms.variable(Variable::Free(4 * copy + n), 8));
        // One of both is made first.
        let mut product = zero;
        if copy == 0 {
            product = terms.multiply(x, y);
        }
        let left = terms.left(x, y);
        let other = terms.multiply(x, y);
        assert!(copy == 1 || product == other);
        (x, left, other)
    });
    let mut all = Vec::new();
    for (x, left, product) in copies {
        let less = [terms.less(left, product), terms.less(product, left)];
        let bit = terms.extract(x, 0, 1);
        let shifted = [terms.right(left, product), terms.right(product, left)];
        let chosen = [
            terms.choice(bit, left, product),
            terms.choice(bit, product, left),
        ];
        let same = [
            terms.add(left, product),
            terms.and(left, product),
            terms.or(left, product),
            terms.xor(left, product),
            terms.multiply(left, product),
        ];
        let same = same.map(|term| (term, zero));
        let apart = [shifted, chosen].map(|pair| pair.map(|term| (term, zero)));
        let apart = [less.map(|bit| (bit, zero_bit)), apart[0], apart[1]];
        let shape = |pair, shapes: &mut Shapes| shapes.of(&terms, pair);
        for [a, b] in &apart {
            assert_ne!(shape(*a, &mut shapes), shape(*b, &mut shapes));
        }
        let every = same.into_iter().chain(apart.into_iter().flatten());
        all.push(
            every
                .map(|pair| shape(pair, &mut shapes))
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(all[0], all[1]);
}
