//! Comparisons and shifts.

use super::DEPTH;
use crate::term::{Node, Term, Terms, ones, signed};

impl Terms {
    /// Whether both are the same.
    pub fn equal(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return self.constant(1, 1);
        }
        if let (Some(_), Some(_)) = (self.number(a), self.number(b)) {
            return self.constant(0, 1);
        }
        if self.width(a) == 1 {
            let different = self.xor(a, b);
            return self.not(different);
        }
        if let Some(made) = self.of_numbers(a, b, Self::equal) {
            return made;
        }
        let (x, y) = (self.bounds(a, DEPTH), self.bounds(b, DEPTH));
        if x.1 < y.0 || y.1 < x.0 {
            return self.constant(0, 1);
        }
        // Two sides that differ by a number are never the same.
        if let (x, y) = (self.linear(a), self.linear(b))
            && x.1 == y.1
        {
            return self.constant(u64::from(x.0 == y.0), 1);
        }
        let (a, b) = (a.min(b), a.max(b));
        self.intern(Node::Equal(a, b), 1)
    }

    /// A comparison of a number and a choice between numbers.
    fn of_numbers(
        &mut self,
        a: Term,
        b: Term,
        compare: fn(&mut Self, Term, Term) -> Term,
    ) -> Option<Term> {
        let arms = |terms: &Self, term| match terms.node(term) {
            Node::Choice(condition, yes, no)
                if terms.number(*yes).is_some() && terms.number(*no).is_some() =>
            {
                Some((*condition, *yes, *no))
            }
            _ => None,
        };
        let (condition, yes, no) = match (self.number(a), self.number(b)) {
            (_, Some(_)) => {
                let (condition, yes, no) = arms(self, a)?;
                (condition, compare(self, yes, b), compare(self, no, b))
            }
            (Some(_), _) => {
                let (condition, yes, no) = arms(self, b)?;
                (condition, compare(self, a, yes), compare(self, a, no))
            }
            _ => return None,
        };
        Some(self.choice(condition, yes, no))
    }

    /// Numbers between which a term is, without signs.
    fn bounds(&self, term: Term, depth: u8) -> (u64, u64) {
        let any = (0, ones(self.width(term)));
        let Some(depth) = depth.checked_sub(1) else {
            return any;
        };
        match self.node(term) {
            Node::Constant(value) => (*value, *value),
            Node::Concat(parts) => {
                let (mut low, mut high, mut at) = (0, 0, 0);
                for part in parts {
                    let (least, most) = self.bounds(*part, depth);
                    low |= least << at;
                    high |= most << at;
                    at += self.width(*part);
                }
                (low, high)
            }
            Node::Choice(_, yes, no) => {
                let (a, b) = (self.bounds(*yes, depth), self.bounds(*no, depth));
                (a.0.min(b.0), a.1.max(b.1))
            }
            _ => any,
        }
    }

    /// Whether the first is less, without signs.
    pub fn less(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return self.constant(0, 1);
        }
        let (x, y) = (self.bounds(a, DEPTH), self.bounds(b, DEPTH));
        if x.1 < y.0 {
            return self.constant(1, 1);
        }
        if x.0 >= y.1 {
            return self.constant(0, 1);
        }
        if let Some(made) = self.of_numbers(a, b, Self::less) {
            return made;
        }
        self.intern(Node::Less(a, b), 1)
    }

    /// Whether the first is less, with signs.
    pub fn less_signed(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if let (Some(x), Some(y)) = (self.number(a), self.number(b)) {
            return self.constant((signed(x, width) < signed(y, width)).into(), 1);
        }
        if a == b {
            return self.constant(0, 1);
        }
        if self.number(b) == Some(0) {
            return self.extract(a, width - 1, 1);
        }
        if let Some(made) = self.of_numbers(a, b, Self::less_signed) {
            return made;
        }
        // Numbers of one sign are in the same order without signs.
        let negative = 1 << (width - 1);
        let (x, y) = (self.bounds(a, DEPTH), self.bounds(b, DEPTH));
        let sign = |(least, most): (u64, u64)| match (least >= negative, most >= negative) {
            (true, _) => Some(true),
            (_, false) => Some(false),
            _ => None,
        };
        match (sign(x), sign(y)) {
            (Some(first), Some(second)) if first == second => self.less(a, b),
            (Some(first), Some(_)) => self.constant(first.into(), 1),
            _ => self.intern(Node::LessSigned(a, b), 1),
        }
    }

    /// Shift left; zero where the count is the width or more.
    pub fn left(&mut self, a: Term, count: Term) -> Term {
        let width = self.width(a);
        match self.number(count) {
            Some(count) if count < u64::from(width) => {
                let by = u8::try_from(count).unwrap_or(0);
                if by == 0 {
                    return a;
                }
                let zeros = self.constant(0, by);
                let rest = self.extract(a, 0, width - by);
                self.concat(&[zeros, rest])
            }
            Some(_) => self.constant(0, width),
            None if self.number(a) == Some(0) => a,
            None => self.intern(Node::Left(a, count), width),
        }
    }

    /// Shift right with zeros.
    pub fn right(&mut self, a: Term, count: Term) -> Term {
        let width = self.width(a);
        match self.number(count) {
            Some(count) if count < u64::from(width) => {
                let by = u8::try_from(count).unwrap_or(0);
                let rest = self.extract(a, by, width - by);
                self.zero_extend(rest, width)
            }
            Some(_) => self.constant(0, width),
            None if self.number(a) == Some(0) => a,
            None => self.intern(Node::Right(a, count), width),
        }
    }

    /// Shift right with the sign.
    pub fn right_signed(&mut self, a: Term, count: Term) -> Term {
        let width = self.width(a);
        match self.number(count) {
            Some(count) => {
                let by = u8::try_from(count.min(u64::from(width) - 1)).unwrap_or(0);
                let rest = self.extract(a, by, width - by);
                self.sign_extend(rest, width)
            }
            None if self.number(a) == Some(0) => a,
            None => self.intern(Node::RightSigned(a, count), width),
        }
    }
}
