//! Values of terms for numbers in place of variables.

use super::{Node, Term, Terms, Variable, ones, signed};
use hashbrown::HashMap;

/// Values of terms for one choice of all variables.
#[derive(Debug)]
pub struct Values<'t, V> {
    terms: &'t Terms,
    variables: V,
    known: HashMap<Term, u64>,
}

impl<'t, V: FnMut(Variable) -> u64> Values<'t, V> {
    /// With that choice.
    pub fn new(terms: &'t Terms, variables: V) -> Self {
        Self {
            terms,
            variables,
            known: HashMap::new(),
        }
    }

    /// The value of a term; `None` if it has a function without a result.
    pub fn of(&mut self, term: Term) -> Option<u64> {
        let mut todo = vec![term];
        while let Some(next) = (self.terms).ready(&mut todo, |part| self.known.contains_key(&part))
        {
            let value = self.node(next)?;
            self.known.insert(next, value);
        }
        self.known.get(&term).copied()
    }

    fn get(&self, term: Term) -> u64 {
        self.known.get(&term).copied().unwrap_or(0)
    }

    /// The value of a term whose parts have one.
    fn node(&mut self, term: Term) -> Option<u64> {
        match self.terms.node(term) {
            Node::Variable(variable) => {
                Some((self.variables)(*variable) & ones(self.terms.width(term)))
            }
            _ => self.terms.evaluate(term, |part| self.get(part)),
        }
    }
}

impl Terms {
    /// The value of a term, given those of its parts; `None` for variables, and for functions without a result.
    pub(crate) fn evaluate(&self, term: Term, get: impl Fn(Term) -> u64) -> Option<u64> {
        let width = self.width(term);
        let wide = |term: Term| signed(get(term), self.width(term));
        let value = match self.node(term) {
            Node::Constant(value) => *value,
            Node::Variable(_) => return None,
            Node::Extract(of, low) => get(*of) >> low,
            Node::Concat(parts) => {
                let (mut value, mut at) = (0, 0);
                for part in parts {
                    value |= get(*part) << at;
                    at += self.width(*part);
                }
                value
            }
            Node::Sum(constant, terms) => terms.iter().fold(*constant, |sum, (times, term)| {
                sum.wrapping_add(times.wrapping_mul(get(*term)))
            }),
            Node::Product(terms) => terms
                .iter()
                .fold(1, |product: u64, term| product.wrapping_mul(get(*term))),
            Node::And(constant, terms) => terms.iter().fold(*constant, |all, t| all & get(*t)),
            Node::Or(constant, terms) => terms.iter().fold(*constant, |all, t| all | get(*t)),
            Node::Xor(constant, terms) => terms.iter().fold(*constant, |all, t| all ^ get(*t)),
            Node::Choice(condition, yes, no) => match get(*condition) {
                0 => get(*no),
                _ => get(*yes),
            },
            Node::Equal(a, b) => (get(*a) == get(*b)).into(),
            Node::Less(a, b) => (get(*a) < get(*b)).into(),
            Node::LessSigned(a, b) => (wide(*a) < wide(*b)).into(),
            Node::Left(a, b) => match get(*b) {
                count if count < u64::from(width) => get(*a) << count,
                _ => 0,
            },
            Node::Right(a, b) => match get(*b) {
                count if count < u64::from(width) => get(*a) >> count,
                _ => 0,
            },
            Node::RightSigned(a, b) => {
                let count = get(*b).min(u64::from(width) - 1);
                (wide(*a) >> count).cast_unsigned()
            }
            Node::Symbol(function, sources) => {
                let sources: Vec<u64> = sources.iter().map(|term| get(*term)).collect();
                function.evaluate(&sources, width)?
            }
        };
        Some(value & ones(width))
    }
}
