//! Choices, and terms where a bit is known.

use super::DEPTH;
use super::bits::Bitwise;
use crate::term::{Node, Term, Terms};

/// Parts of a term that are looked into for a bit that is known.
const MOST_PARTS: usize = 64;

/// Steps of looking for what follows from a condition.
const MOST_IMPLIED: u32 = 256;

impl Terms {
    /// The second where the first, a bit, is set, else the third.
    pub fn choice(&mut self, condition: Term, yes: Term, no: Term) -> Term {
        if yes == no {
            return yes;
        }
        match self.node(condition) {
            Node::Constant(0) => return no,
            Node::Constant(_) => return yes,
            Node::Xor(1, parts) if parts.len() == 1 => {
                if let Some(inner) = parts.first().copied() {
                    return self.choice(inner, no, yes);
                }
            }
            _ => {}
        }
        // What the condition is is known in both.
        let yes = self.assumed(yes, condition, true);
        let no = self.assumed(no, condition, false);
        if yes == no {
            return yes;
        }
        let width = self.width(yes);
        if width == 1 {
            match (self.number(yes), self.number(no)) {
                (Some(1), Some(_)) => return condition,
                (Some(_), Some(_)) => return self.not(condition),
                (Some(0), _) => {
                    let other = self.not(condition);
                    return self.and(other, no);
                }
                (Some(_), _) => return self.or(condition, no),
                (_, Some(0)) => return self.and(condition, yes),
                (_, Some(_)) => {
                    let other = self.not(condition);
                    return self.or(other, yes);
                }
                _ => {}
            }
        }
        let node = Node::Choice(condition, yes, no);
        match width {
            1 => self.bit(node),
            _ => self.intern(node, width),
        }
    }

    /// A term where a bit is known.
    fn assumed(&mut self, term: Term, condition: Term, set: bool) -> Term {
        if term == condition {
            return self.constant(set.into(), 1);
        }
        match self.node(term) {
            Node::Choice(own, yes, no) if *own == condition => match set {
                true => *yes,
                false => *no,
            },
            _ => term,
        }
    }

    /// Whether a bit is set wherever another one is, as far as that can be seen at once.
    fn implies(&self, condition: Term, bit: Term) -> bool {
        self.always(condition, bit) || self.implies_within(condition, bit, &mut { MOST_IMPLIED })
    }

    fn implies_within(&self, condition: Term, bit: Term, left: &mut u32) -> bool {
        if condition == bit {
            return true;
        }
        *left = left.saturating_sub(1);
        if *left == 0 {
            return false;
        }
        let mut implied = |of: &Term, bit: &Term| self.implies_within(*of, *bit, left);
        match (self.node(condition), self.node(bit)) {
            (Node::Or(0, any), _) => any.iter().all(|of| implied(of, &bit)),
            (_, Node::And(1, wanted)) => wanted.iter().all(|bit| implied(&condition, bit)),
            (Node::And(1, all), _) if all.contains(&bit) => true,
            (_, Node::Or(0, any)) if any.contains(&condition) => true,
            (Node::And(1, all), Node::Or(0, any)) => {
                all.iter().any(|of| implied(of, &bit))
                    || any.iter().any(|bit| implied(&condition, bit))
            }
            (Node::And(1, all), _) => all.iter().any(|of| implied(of, &bit)),
            _ => false,
        }
    }

    /// A term, where it is used only if a bit is set.
    pub fn under(&mut self, term: Term, condition: Term) -> Term {
        if self.number(condition).is_some() {
            return term;
        }
        self.under_within(term, condition, DEPTH)
    }

    fn under_within(&mut self, term: Term, condition: Term, depth: u8) -> Term {
        let Some(depth) = depth.checked_sub(1) else {
            return term;
        };
        let key = (term, condition);
        if let Some(found) = self.under.get(&key) {
            return *found;
        }
        let found = self.made_under(term, condition, depth);
        // What is found with less depth is right, too.
        self.under.insert(key, found);
        found
    }

    fn made_under(&mut self, term: Term, condition: Term, depth: u8) -> Term {
        let is_bit = self.width(term) == 1;
        if is_bit && self.number(term).is_none() {
            if self.implies(condition, term) {
                return self.constant(1, 1);
            }
            let other = self.not(term);
            if self.implies(condition, other) {
                return self.constant(0, 1);
            }
        }
        match self.node(term).clone() {
            Node::Choice(own, yes, no) => match self.decided(own, condition, depth) {
                Some(true) => self.under_within(yes, condition, depth),
                Some(false) => self.under_within(no, condition, depth),
                None => {
                    let made = [yes, no].map(|arm| match self.node(arm) {
                        Node::Choice(..) => self.under_within(arm, condition, depth),
                        _ => arm,
                    });
                    match made == [yes, no] {
                        true => term,
                        false => self.choice(own, made[0], made[1]),
                    }
                }
            },
            Node::Concat(parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.under_within(*part, condition, depth));
                let parts: Vec<_> = parts.collect();
                self.concat(&parts)
            }
            Node::And(1, parts) if is_bit => {
                self.each_under(Bitwise::And, (term, &parts), condition, depth)
            }
            Node::Or(0, parts) if is_bit => {
                self.each_under(Bitwise::Or, (term, &parts), condition, depth)
            }
            Node::Xor(1, parts) if is_bit && parts.len() == 1 => {
                let inner = parts.first().copied().unwrap_or(term);
                let inner = self.under_within(inner, condition, depth);
                self.not(inner)
            }
            _ => term,
        }
    }

    /// Whether a bit is set or clear wherever another one is set.
    fn decided(&mut self, bit: Term, condition: Term, depth: u8) -> Option<bool> {
        let bit = self.under_within(bit, condition, depth);
        self.number(bit).map(|value| value != 0)
    }

    fn each_under(
        &mut self,
        kind: Bitwise,
        (term, parts): (Term, &[Term]),
        condition: Term,
        depth: u8,
    ) -> Term {
        if parts.len() > MOST_PARTS {
            return term;
        }
        let new: Vec<Term> = parts
            .iter()
            .map(|part| self.under_within(*part, condition, depth))
            .collect();
        if new == parts {
            return term;
        }
        let start = self.constant(kind.neutral(1), 1);
        new.iter()
            .fold(start, |all, part| self.bitwise(kind, all, *part))
    }
}
