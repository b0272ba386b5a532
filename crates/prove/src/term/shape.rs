//! Questions that are the same but for the names of variables: most lanes and work-items ask one another's.

use super::{Function, Node, Term, Terms};
use hashbrown::{HashMap, HashSet};

/// Shapes of pairs of terms.
#[derive(Debug, Default)]
pub struct Shapes {
    functions: HashMap<Function, u64>,
    /// A number for each term that does not depend on the names of variables.
    marks: HashMap<Term, u64>,
}

/// A pair of terms without the names of its variables: pairs of one shape are equal for all values, or none of them is.
pub type Shape = Box<[u64]>;

impl Shapes {
    /// The shape of a pair.
    pub fn of(&mut self, terms: &Terms, (a, b): (Term, Term)) -> Shape {
        let mut numbers: HashMap<Term, u64> = HashMap::new();
        let mut shape = Vec::new();
        self.mark(terms, a);
        self.mark(terms, b);
        let mut todo = vec![b, a];
        while let Some(next) = todo.last().copied() {
            if numbers.contains_key(&next) {
                todo.pop();
                continue;
            }
            let before = todo.len();
            let parts = self.parts(terms, next);
            let open = parts.iter().rev().map(|(_, part)| *part);
            todo.extend(open.filter(|part| !numbers.contains_key(part)));
            if todo.len() == before {
                let head = self.head(terms, next);
                shape.extend(head);
                shape.extend(parts.iter().map(|(times, _)| *times));
                shape.extend(parts.iter().filter_map(|(_, part)| numbers.get(part)));
                shape.push(parts.len() as u64);
                numbers.insert(next, numbers.len() as u64);
                todo.pop();
            }
        }
        shape.extend([a, b].iter().filter_map(|term| numbers.get(term)));
        shape.into()
    }

    /// Variables that differ at the same places of two terms, as far as these are made alike.
    pub(crate) fn corresponding(&mut self, terms: &Terms, (a, b): (Term, Term)) -> Vec<[Term; 2]> {
        self.mark(terms, a);
        self.mark(terms, b);
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut todo = vec![[a, b]];
        while let Some(pair) = todo.pop() {
            let [a, b] = pair;
            if a == b || !seen.insert(pair) || self.head(terms, a) != self.head(terms, b) {
                continue;
            }
            if matches!(terms.node(a), Node::Variable(_)) {
                found.push(pair);
            }
            let parts = [a, b].map(|term| self.parts(terms, term));
            let [own, others] = parts.each_ref();
            if own.len() == others.len() {
                let both = own.iter().zip(others);
                todo.extend(both.map(|((_, own), (_, other))| [*own, *other]));
            }
        }
        found
    }

    /// The terms that a term is made of, with the factors of a sum. Where the order makes no difference it is one that does
    /// not depend on names.
    fn parts(&self, terms: &Terms, term: Term) -> Vec<(u64, Term)> {
        let mut parts = Vec::new();
        let node = terms.node(term);
        match node {
            Node::Sum(_, all) => parts.extend(all.iter().copied()),
            _ => node.each(|part| parts.push((0, part))),
        }
        if matches!(
            node,
            Node::Sum(..)
                | Node::Product(_)
                | Node::And(..)
                | Node::Or(..)
                | Node::Xor(..)
                | Node::Equal(..)
        ) {
            parts.sort_by_key(|(times, part)| (self.marks.get(part).copied(), *times));
        }
        parts
    }

    /// Marks a term and all that it is made of.
    fn mark(&mut self, terms: &Terms, term: Term) {
        let mut todo = vec![term];
        while let Some(next) = terms.ready(&mut todo, |part| self.marks.contains_key(&part)) {
            let mut mark = 0;
            for number in self.head(terms, next) {
                mark = mixed(mark, number);
            }
            for (times, part) in self.parts(terms, next) {
                mark = mixed(mark, times);
                mark = mixed(mark, self.marks.get(&part).copied().unwrap_or(0));
            }
            self.marks.insert(next, mark);
        }
    }

    /// What a term is, besides its parts.
    fn head(&mut self, terms: &Terms, term: Term) -> [u64; 2] {
        let functions = self.functions.len() as u64;
        let (kind, own) = match terms.node(term) {
            Node::Constant(value) => (0, *value),
            // Variables are told apart by their numbers, as all terms are.
            Node::Variable(_) => (1, 0),
            Node::Extract(_, low) => (2, u64::from(*low)),
            Node::Concat(_) => (3, 0),
            Node::Sum(constant, _) => (4, *constant),
            Node::Product(_) => (5, 0),
            Node::And(constant, _) => (6, *constant),
            Node::Or(constant, _) => (7, *constant),
            Node::Xor(constant, _) => (8, *constant),
            Node::Choice(..) => (9, 0),
            Node::Equal(..) => (10, 0),
            Node::Less(..) => (11, 0),
            Node::LessSigned(..) => (12, 0),
            Node::Left(..) => (13, 0),
            Node::Right(..) => (14, 0),
            Node::RightSigned(..) => (15, 0),
            Node::Symbol(function, _) => {
                (16, *self.functions.entry(*function).or_insert(functions))
            }
        };
        [kind << 8 | u64::from(terms.width(term)), own]
    }
}

/// A number that depends on both.
const fn mixed(mark: u64, number: u64) -> u64 {
    (mark.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
