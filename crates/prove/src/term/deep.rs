//! A second normal form: bits are taken from the parts of a term instead of from the term.
//!
//! Elements that are taken apart and put together again keep their form in the first one. Two kernels that take different
//! ways (a number of 64 bits, or two of 32) meet here.

use super::{Node, Term, Terms};
use hashbrown::HashMap;

/// Terms with their second normal form.
#[derive(Debug, Default)]
pub struct Deep {
    known: HashMap<Term, Term>,
}

impl Deep {
    /// The second normal form of a term.
    pub fn of(&mut self, terms: &mut Terms, term: Term) -> Term {
        let mut todo = vec![term];
        while let Some(next) = terms.ready(&mut todo, |part| self.known.contains_key(&part)) {
            let made = self.rebuilt(terms, next);
            self.known.insert(next, made);
        }
        self.get(term)
    }

    /// The second normal form of a term whose parts have theirs, or something else that is equal to them.
    pub(crate) fn made(&self, terms: &mut Terms, term: Term) -> Term {
        self.rebuilt(terms, term)
    }

    /// Takes a term for that one, which is equal, wherever it is a part of others.
    pub(crate) fn set(&mut self, term: Term, to: Term) {
        self.known.insert(term, to);
    }

    fn get(&self, term: Term) -> Term {
        self.known.get(&term).copied().unwrap_or(term)
    }

    fn rebuilt(&self, terms: &mut Terms, term: Term) -> Term {
        let width = terms.width(term);
        match terms.node(term).clone() {
            Node::Constant(_) | Node::Variable(_) => term,
            Node::Extract(of, low) => terms.pushed(self.get(of), low, width),
            Node::Concat(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.get(*part)).collect();
                terms.concat(&parts)
            }
            Node::Sum(constant, parts) => {
                let constant = terms.constant(constant, width);
                parts.iter().fold(constant, |sum, (times, part)| {
                    let product = terms.scale(self.get(*part), *times);
                    terms.add(sum, product)
                })
            }
            Node::Product(parts) => {
                let one = terms.constant(1, width);
                parts
                    .iter()
                    .fold(one, |all, part| terms.multiply(all, self.get(*part)))
            }
            Node::And(constant, parts) => {
                let constant = terms.constant(constant, width);
                parts
                    .iter()
                    .fold(constant, |all, part| terms.and(all, self.get(*part)))
            }
            Node::Or(constant, parts) => {
                let constant = terms.constant(constant, width);
                parts
                    .iter()
                    .fold(constant, |all, part| terms.or(all, self.get(*part)))
            }
            Node::Xor(constant, parts) => {
                let constant = terms.constant(constant, width);
                parts
                    .iter()
                    .fold(constant, |all, part| terms.xor(all, self.get(*part)))
            }
            Node::Choice(condition, yes, no) => {
                terms.choice(self.get(condition), self.get(yes), self.get(no))
            }
            Node::Equal(a, b) => terms.equal(self.get(a), self.get(b)),
            Node::Less(a, b) => terms.less(self.get(a), self.get(b)),
            Node::LessSigned(a, b) => terms.less_signed(self.get(a), self.get(b)),
            Node::Left(a, b) => terms.left(self.get(a), self.get(b)),
            Node::Right(a, b) => terms.right(self.get(a), self.get(b)),
            Node::RightSigned(a, b) => terms.right_signed(self.get(a), self.get(b)),
            Node::Symbol(function, parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.get(*part)).collect();
                terms.symbol(function, &parts, width)
            }
        }
    }
}
