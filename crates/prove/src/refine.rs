//! What the old kernel leaves open, the new one may choose: bits that were never written may be anything.

use crate::term::{Node, Term, Terms, Variable};
use hashbrown::HashMap;

/// A choice for what is undefined in the old kernel: terms of the new one.
pub(crate) struct Choices<'t> {
    terms: &'t Terms,
    /// Undefined bytes of the old kernel have numbers up to this one.
    last: u32,
    chosen: HashMap<Term, Term>,
}

/// How deep terms are looked into.
const DEPTH: u8 = 32;

impl<'t> Choices<'t> {
    pub(crate) fn new(terms: &'t Terms, last: u32) -> Self {
        Self {
            terms,
            last,
            chosen: HashMap::new(),
        }
    }

    /// Whether the term of the old kernel is that of the new one by what is chosen, which it may add to. All terms of
    /// which this says so are equal by the same choice.
    pub(crate) fn equal(&mut self, old: Term, new: Term) -> bool {
        self.within(old, new, DEPTH)
    }

    fn within(&mut self, old: Term, new: Term, depth: u8) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        // Terms of the new kernel have no undefined bytes of the old one.
        if old == new {
            return true;
        }
        let terms = self.terms;
        match (terms.node(old), terms.node(new)) {
            (Node::Variable(Variable::Undefined(number)), _) if *number <= self.last => {
                terms.width(old) == terms.width(new)
                    && *self.chosen.entry(old).or_insert(new) == new
            }
            (Node::Choice(a, yes, no), Node::Choice(b, other_yes, other_no)) if a == b => {
                self.within(*yes, *other_yes, depth) && self.within(*no, *other_no, depth)
            }
            (Node::Choice(_, yes, no), _) => {
                self.within(*yes, new, depth) && self.within(*no, new, depth)
            }
            (Node::Concat(parts), Node::Concat(others)) => {
                let widths = |parts: &[Term]| -> Vec<u8> {
                    parts.iter().map(|part| terms.width(*part)).collect()
                };
                let mut pairs = parts.iter().zip(others);
                widths(parts) == widths(others)
                    && pairs.all(|(old, new)| self.within(*old, *new, depth))
            }
            (Node::Extract(old, low), Node::Extract(new, other)) if low == other => {
                terms.width(*old) == terms.width(*new) && self.within(*old, *new, depth)
            }
            _ => false,
        }
    }
}
