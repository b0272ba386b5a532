//! Bitwise operations.

use super::MOST_TERMS;
use crate::term::{Node, Term, Terms, ones};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bitwise {
    And,
    Or,
    Xor,
}

impl Bitwise {
    const fn apply(self, a: u64, b: u64) -> u64 {
        match self {
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
        }
    }

    /// The number that changes nothing.
    pub(super) const fn neutral(self, width: u8) -> u64 {
        match self {
            Self::And => ones(width),
            Self::Or | Self::Xor => 0,
        }
    }

    /// The number whose result is itself.
    const fn absorbing(self, width: u8) -> Option<u64> {
        match self {
            Self::And => Some(0),
            Self::Or => Some(ones(width)),
            Self::Xor => None,
        }
    }
}

/// Parts into which a number is split for a bitwise operation: more are left to a solver.
const MOST_RUNS: u32 = 6;

impl Terms {
    /// Bits that both have.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        self.bitwise(Bitwise::And, a, b)
    }

    /// Bits that one of them has.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        self.bitwise(Bitwise::Or, a, b)
    }

    /// Bits that only one of them has.
    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        self.bitwise(Bitwise::Xor, a, b)
    }

    /// Complement.
    pub fn not(&mut self, a: Term) -> Term {
        let all = self.constant(u64::MAX, self.width(a));
        self.xor(a, all)
    }

    pub(super) fn bitwise(&mut self, kind: Bitwise, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (x, y) = (self.number(a), self.number(b));
        if let (Some(x), Some(y)) = (x, y) {
            return self.constant(kind.apply(x, y), width);
        }
        let (term, number) = match (x, y) {
            (Some(number), _) => (b, Some(number)),
            (_, Some(number)) => (a, Some(number)),
            _ => (a, None),
        };
        if let Some(number) = number {
            if number == kind.neutral(width) {
                return term;
            }
            if Some(number) == kind.absorbing(width) {
                return self.constant(number, width);
            }
        }
        if a == b {
            return match kind {
                Bitwise::And | Bitwise::Or => a,
                Bitwise::Xor => self.constant(0, width),
            };
        }
        if let Some(cut) = self.cut(kind, [a, b], number) {
            let parts = |terms: &mut Self, low, bits| {
                let (a, b) = (terms.extract(a, low, bits), terms.extract(b, low, bits));
                terms.bitwise(kind, a, b)
            };
            let (low, high) = (parts(self, 0, cut), parts(self, cut, width - cut));
            return self.concat(&[low, high]);
        }
        if let Some(made) = self.choices(kind, a, b) {
            return made;
        }
        self.list(kind, [a, b], width)
    }

    /// Where a bitwise operation is split: at the end of the lowest part of a list, or where a number goes from bits that
    /// decide the result to others.
    fn cut(&self, kind: Bitwise, terms: [Term; 2], number: Option<u64>) -> Option<u8> {
        for term in terms {
            if let Node::Concat(parts) = self.node(term)
                && let Some(first) = parts.first()
            {
                return Some(self.width(*first));
            }
        }
        let (number, width) = (number?, self.width(terms[0]));
        let runs = (number ^ number << 1).count_ones();
        if kind == Bitwise::Xor || runs > MOST_RUNS {
            return None;
        }
        let first = match number & 1 {
            0 => number.trailing_zeros(),
            _ => number.trailing_ones(),
        };
        u8::try_from(first).ok().filter(|first| *first < width)
    }

    /// Of choices between numbers by the same bit, or with a number.
    fn choices(&mut self, kind: Bitwise, a: Term, b: Term) -> Option<Term> {
        if self.width(a) == 1 {
            return None;
        }
        let numbers = |terms: &Self, term: Term| match terms.node(term) {
            Node::Choice(condition, yes, no) => {
                Some((*condition, terms.number(*yes)?, terms.number(*no)?))
            }
            _ => None,
        };
        let width = self.width(a);
        let (condition, yes, no) = match (numbers(self, a), numbers(self, b)) {
            (Some((c, x, y)), Some((d, z, w))) if c == d => (c, kind.apply(x, z), kind.apply(y, w)),
            (Some((c, x, y)), None) => {
                let number = self.number(b)?;
                (c, kind.apply(x, number), kind.apply(y, number))
            }
            (None, Some((c, x, y))) => {
                let number = self.number(a)?;
                (c, kind.apply(x, number), kind.apply(y, number))
            }
            _ => return None,
        };
        let (yes, no) = (self.constant(yes, width), self.constant(no, width));
        Some(self.choice(condition, yes, no))
    }

    fn list(&mut self, kind: Bitwise, terms: [Term; 2], width: u8) -> Term {
        let mut constant = kind.neutral(width);
        let mut all: Vec<Term> = Vec::new();
        for term in terms {
            let (own, parts) = match (kind, self.node(term)) {
                (_, Node::Constant(value)) => (*value, &[][..]),
                (Bitwise::And, Node::And(own, parts))
                | (Bitwise::Or, Node::Or(own, parts))
                | (Bitwise::Xor, Node::Xor(own, parts))
                    if parts.len() < MOST_TERMS =>
                {
                    (*own, &parts[..])
                }
                _ => (kind.neutral(width), &[term][..]),
            };
            constant = kind.apply(constant, own);
            all.extend_from_slice(parts);
        }
        all.sort_unstable();
        if kind == Bitwise::Xor {
            // Pairs cancel each other.
            let mut odd: Vec<Term> = Vec::with_capacity(all.len());
            for term in all {
                if odd.last() == Some(&term) {
                    odd.pop();
                } else {
                    odd.push(term);
                }
            }
            all = odd;
        } else {
            all.dedup();
            // A term and its complement decide everything.
            let opposite = all.iter().any(|term| match self.node(*term) {
                Node::Xor(own, parts) if *own == ones(width) => match parts[..] {
                    [only] => all.binary_search(&only).is_ok(),
                    _ => false,
                },
                _ => false,
            });
            if let (true, Some(number)) = (opposite, kind.absorbing(width)) {
                return self.constant(number, width);
            }
        }
        if all.is_empty() || Some(constant) == kind.absorbing(width) {
            return self.constant(constant, width);
        }
        if let ([only], true) = (&all[..], constant == kind.neutral(width)) {
            return *only;
        }
        if kind == Bitwise::Or
            && width == 1
            && let Some(met) = self.met(&all)
        {
            return met;
        }
        let all = all.into();
        let node = match kind {
            Bitwise::And => Node::And(constant, all),
            Bitwise::Or => Node::Or(constant, all),
            Bitwise::Xor => Node::Xor(constant, all),
        };
        match width {
            1 => self.bit(node),
            _ => self.intern(node, width),
        }
    }
}
