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
        while let Some(next) = todo.last().copied() {
            if self.known.contains_key(&next) {
                todo.pop();
                continue;
            }
            let before = todo.len();
            self.terms.node(next).each(|part| {
                if !self.known.contains_key(&part) {
                    todo.push(part);
                }
            });
            if todo.len() == before {
                let value = self.node(next)? & ones(self.terms.width(next));
                self.known.insert(next, value);
                todo.pop();
            }
        }
        self.known.get(&term).copied()
    }

    fn get(&self, term: Term) -> u64 {
        self.known.get(&term).copied().unwrap_or(0)
    }

    /// The value of a term whose parts have one.
    fn node(&mut self, term: Term) -> Option<u64> {
        let width = self.terms.width(term);
        let wide = |term: Term| signed(self.get(term), self.terms.width(term));
        Some(match self.terms.node(term) {
            Node::Constant(value) => *value,
            Node::Variable(variable) => (self.variables)(*variable),
            Node::Extract(of, low) => self.get(*of) >> low,
            Node::Concat(parts) => {
                let (mut value, mut at) = (0, 0);
                for part in parts {
                    value |= self.get(*part) << at;
                    at += self.terms.width(*part);
                }
                value
            }
            Node::Sum(constant, terms) => terms.iter().fold(*constant, |sum, (times, term)| {
                sum.wrapping_add(times.wrapping_mul(self.get(*term)))
            }),
            Node::Product(terms) => terms
                .iter()
                .fold(1, |product: u64, term| product.wrapping_mul(self.get(*term))),
            Node::And(constant, terms) => terms.iter().fold(*constant, |all, t| all & self.get(*t)),
            Node::Or(constant, terms) => terms.iter().fold(*constant, |all, t| all | self.get(*t)),
            Node::Xor(constant, terms) => terms.iter().fold(*constant, |all, t| all ^ self.get(*t)),
            Node::Choice(condition, yes, no) => match self.get(*condition) {
                0 => self.get(*no),
                _ => self.get(*yes),
            },
            Node::Equal(a, b) => (self.get(*a) == self.get(*b)).into(),
            Node::Less(a, b) => (self.get(*a) < self.get(*b)).into(),
            Node::LessSigned(a, b) => (wide(*a) < wide(*b)).into(),
            Node::Left(a, b) => match self.get(*b) {
                count if count < u64::from(width) => self.get(*a) << count,
                _ => 0,
            },
            Node::Right(a, b) => match self.get(*b) {
                count if count < u64::from(width) => self.get(*a) >> count,
                _ => 0,
            },
            Node::RightSigned(a, b) => {
                let count = self.get(*b).min(u64::from(width) - 1);
                (wide(*a) >> count).cast_unsigned()
            }
            Node::Symbol(function, sources) => {
                let sources: Vec<u64> = sources.iter().map(|term| self.get(*term)).collect();
                function.evaluate(&sources, width)?
            }
        })
    }
}
