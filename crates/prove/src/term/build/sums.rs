//! Sums and products.

use super::MOST_TERMS;
use crate::term::{Node, Term, Terms, ones};

impl Terms {
    /// Sum.
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (mut constant, mut terms) = self.linear(a);
        let (other, more) = self.linear(b);
        constant = constant.wrapping_add(other);
        terms.extend(more);
        self.sum(constant, terms, width)
    }

    /// Difference.
    pub fn subtract(&mut self, a: Term, b: Term) -> Term {
        let negative = self.negate(b);
        self.add(a, negative)
    }

    /// Zero minus the term.
    pub fn negate(&mut self, a: Term) -> Term {
        self.scale(a, u64::MAX)
    }

    /// Product with a number.
    pub fn scale(&mut self, a: Term, times: u64) -> Term {
        let width = self.width(a);
        let (constant, mut terms) = self.linear(a);
        for (own, _) in &mut terms {
            *own = own.wrapping_mul(times);
        }
        self.sum(constant.wrapping_mul(times), terms, width)
    }

    /// A term as a number and products.
    pub(super) fn linear(&mut self, a: Term) -> (u64, Vec<(u64, Term)>) {
        let width = self.width(a);
        match self.node(a) {
            Node::Constant(value) => (*value, Vec::new()),
            Node::Sum(constant, terms) => (*constant, terms.to_vec()),
            // The complement is one less than the negative.
            Node::Xor(constant, terms) if *constant == ones(width) && terms.len() == 1 => {
                let terms = terms.clone();
                (
                    ones(width),
                    terms.iter().map(|t| (ones(width), *t)).collect(),
                )
            }
            Node::Concat(parts) => {
                if let [zeros, rest @ ..] = &parts[..]
                    && self.number(*zeros) == Some(0)
                {
                    let (by, rest) = (self.width(*zeros), rest.to_vec());
                    let of = self.shifted(&rest, width);
                    return (0, vec![(1 << by, of)]);
                }
                // Complements one after the other are the complement of all.
                let inner = |part: &Term| match self.node(*part) {
                    Node::Xor(own, parts) if *own == ones(self.width(*part)) => match parts[..] {
                        [only] => Some(only),
                        _ => None,
                    },
                    _ => None,
                };
                if let Some(inner) = parts.iter().map(inner).collect::<Option<Vec<_>>>() {
                    let whole = self.concat(&inner);
                    return (ones(width), vec![(ones(width), whole)]);
                }
                (0, vec![(1, a)])
            }
            _ => (0, vec![(1, a)]),
        }
    }

    /// A term whose low bits are these parts.
    fn shifted(&mut self, parts: &[Term], width: u8) -> Term {
        if let [only] = parts
            && let Node::Extract(of, 0) = self.node(*only)
        {
            let of = *of;
            if self.width(of) >= width {
                return self.extract(of, 0, width);
            }
        }
        let low = self.concat(parts);
        self.zero_extend(low, width)
    }

    fn sum(&mut self, constant: u64, mut terms: Vec<(u64, Term)>, width: u8) -> Term {
        let all = ones(width);
        terms.sort_unstable_by_key(|(_, term)| *term);
        let mut list: Vec<(u64, Term)> = Vec::with_capacity(terms.len());
        for (times, term) in terms {
            match list.last_mut() {
                Some((own, last)) if *last == term => *own = own.wrapping_add(times),
                _ => list.push((times, term)),
            }
        }
        list.retain_mut(|(times, _)| {
            *times &= all;
            *times != 0
        });
        let constant = constant & all;
        match list[..] {
            [] => self.constant(constant, width),
            [(1, term)] if constant == 0 => term,
            [(times, term)] if times == all && constant == all && width > 1 => {
                self.intern(Node::Xor(all, [term].into()), width)
            }
            [(times, term)] if constant == 0 && times.is_power_of_two() => {
                let by = u8::try_from(times.trailing_zeros()).unwrap_or(0);
                let zeros = self.constant(0, by);
                let rest = self.extract(term, 0, width - by);
                self.concat(&[zeros, rest])
            }
            _ if list.len() > MOST_TERMS => {
                // Halves become terms of their own.
                let rest = list.split_off(MOST_TERMS / 2);
                let low = self.intern(Node::Sum(0, list.into()), width);
                let high = self.intern(Node::Sum(constant, rest.into()), width);
                let mut both = [(1, low), (1, high)];
                both.sort_unstable_by_key(|(_, term)| *term);
                self.intern(Node::Sum(0, both.into()), width)
            }
            _ => self.intern(Node::Sum(constant, list.into()), width),
        }
    }

    /// Product.
    pub fn multiply(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if let Some(times) = self.number(a) {
            return self.scale(b, times);
        }
        if let Some(times) = self.number(b) {
            return self.scale(a, times);
        }
        let (mut times, mut factors) = (1_u64, Vec::new());
        for term in [a, b] {
            let mut term = term;
            // The number of a product is outside of it.
            if let (0, parts) = self.linear(term)
                && let [(own, of)] = parts[..]
            {
                times = times.wrapping_mul(own);
                term = of;
            }
            match self.node(term) {
                Node::Product(inner) if inner.len() < MOST_TERMS => {
                    factors.extend_from_slice(inner);
                }
                _ => factors.push(term),
            }
        }
        factors.sort_unstable();
        let product = self.intern(Node::Product(factors.into()), width);
        self.scale(product, times)
    }
}
