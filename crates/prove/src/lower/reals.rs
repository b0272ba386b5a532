//! Products and sums of floats as those of real numbers: polynomials with whole coefficients.

use crate::term::{Function, Output, Term, Terms};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use visakit_exec::LaneFunction;
use visakit_exec::code::{Modify, Operation};
use visakit_isa::DataType;

/// For each product of terms, in their order, how often it is added.
type Polynomial = BTreeMap<Vec<Term>, i64>;

/// The terms that are polynomials.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reals(HashMap<Term, Polynomial>);

/// Products of a polynomial; larger ones are not multiplied out.
const MOST_PRODUCTS: usize = 64;

/// Factors of a product.
const MOST_FACTORS: usize = 16;

/// How often a product is added.
const MOST_TIMES: u64 = 16;

impl Reals {
    fn of(&self, term: Term) -> Polynomial {
        let own = || Polynomial::from([(vec![term], 1)]);
        self.0.get(&term).cloned().unwrap_or_else(own)
    }
}

fn sum(a: Polynomial, b: &Polynomial) -> Option<Polynomial> {
    let mut all = a;
    for (product, times) in b {
        let old = all.entry(product.clone()).or_insert(0);
        *old = old.checked_add(*times)?;
    }
    all.retain(|_, times| *times != 0);
    Some(all)
}

fn product(a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
    let mut all = Polynomial::new();
    for (first, times) in a {
        for (second, others) in b {
            let mut factors = [first.as_slice(), second].concat();
            factors.sort_unstable();
            let one = Polynomial::from([(factors, times.checked_mul(*others)?)]);
            all = sum(all, &one)?;
        }
    }
    Some(all)
}

/// A sum or product of operands, each of which is negated or not, as a term that is the same for the same polynomial. `None`
/// if it becomes too large.
pub(super) fn value(
    terms: &mut Terms,
    (function, data_type, width): (&LaneFunction, DataType, u8),
    operands: &[(Term, bool)],
) -> Option<Term> {
    let reals = terms.reals.as_ref()?;
    let mut parts = Vec::new();
    for (operand, negative) in operands {
        let mut part = reals.of(*operand);
        if *negative {
            part.values_mut().for_each(|times| *times = -*times);
        }
        parts.push(part);
    }
    let found = match (function.operation, parts.as_slice()) {
        (Operation::Add, [a, b]) => sum(a.clone(), b)?,
        (Operation::Mul, [a, b]) => product(a, b)?,
        (Operation::Mad, [a, b, c]) => sum(product(a, b)?, c)?,
        _ => return None,
    };
    let small = |(factors, times): (&Vec<Term>, &i64)| {
        factors.len() <= MOST_FACTORS && times.unsigned_abs() <= MOST_TIMES
    };
    if found.len() > MOST_PRODUCTS || !found.iter().all(small) {
        return None;
    }
    let mut of = |operation, a: Term, b: Term| {
        let function = LaneFunction {
            operation,
            sources: [(data_type, Modify::None); 4],
            ..*function
        };
        terms.symbol(Function::Lane(function, Output::Value), &[a, b], width)
    };
    let mut all: Option<Term> = None;
    let mut negatives: Option<Term> = None;
    for (factors, times) in &found {
        let whole = factors.iter().copied();
        let whole = whole.reduce(|a, b| of(Operation::Mul, a, b))?;
        let to = if *times < 0 { &mut negatives } else { &mut all };
        for _ in 0..times.unsigned_abs() {
            *to = Some(match *to {
                Some(other) => of(Operation::Add, other, whole),
                None => whole,
            });
        }
    }
    let sign = terms.constant(1 << (width - 1), width);
    let zero = terms.constant(0, width);
    let negatives = negatives.map(|negatives| terms.xor(negatives, sign));
    let term = match (all, negatives) {
        (Some(a), Some(b)) => {
            let function = LaneFunction {
                operation: Operation::Add,
                sources: [(data_type, Modify::None); 4],
                ..*function
            };
            terms.symbol(Function::Lane(function, Output::Value), &[a, b], width)
        }
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => zero,
    };
    if terms.number(term).is_none() {
        let reals = terms.reals.as_mut()?;
        reals.0.insert(term, found);
    }
    Some(term)
}
