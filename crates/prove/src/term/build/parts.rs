//! Parts of terms, and terms one after the other.

use super::DEPTH;
use super::bits::Bitwise;
use crate::term::{Node, Term, Terms};

/// Parts of terms that are taken from their parts; with more, a sum of sums has too many of them.
const MOST_PUSHED: usize = 400_000;

impl Terms {
    /// Bits from a place on.
    pub fn extract(&mut self, of: Term, low: u8, width: u8) -> Term {
        if low == 0 && width == self.width(of) {
            return of;
        }
        match self.node(of) {
            Node::Constant(value) => {
                let value = value >> low;
                self.constant(value, width)
            }
            Node::Extract(inner, before) => {
                let (inner, before) = (*inner, *before);
                self.extract(inner, before + low, width)
            }
            Node::Concat(parts) => {
                let parts = parts.clone();
                let cut = self.pieces(&parts, low, width);
                let cut = cut
                    .into_iter()
                    .map(|(part, low, width)| self.extract(part, low, width));
                let all: Vec<_> = cut.collect();
                self.concat(&all)
            }
            Node::Choice(condition, yes, no) => {
                let (condition, yes, no) = (*condition, *yes, *no);
                let key = (of, low, width);
                if let Some(found) = self.extracts.get(&key) {
                    return *found;
                }
                let (yes, no) = (self.extract(yes, low, width), self.extract(no, low, width));
                let found = self.choice(condition, yes, no);
                self.extracts.insert(key, found);
                found
            }
            Node::Sum(constant, _) if low == 0 && self.low_zeros(of, DEPTH, false) >= width => {
                let constant = *constant;
                self.constant(constant, width)
            }
            _ => self.intern(Node::Extract(of, low), width),
        }
    }

    /// How many of the lowest bits are zero for sure; of a sum without its number, if that is not asked for.
    fn low_zeros(&self, of: Term, depth: u8, with_number: bool) -> u8 {
        let own = self.width(of);
        let of_number = |number: u64| {
            u8::try_from(number.trailing_zeros())
                .unwrap_or(own)
                .min(own)
        };
        let Some(depth) = depth.checked_sub(1) else {
            return 0;
        };
        match self.node(of) {
            Node::Constant(number) => of_number(*number),
            Node::Concat(parts) => match &parts[..] {
                [first, ..] => self.low_zeros(*first, depth, true),
                [] => 0,
            },
            Node::Sum(number, parts) => {
                let parts = parts.iter().map(|(times, part)| {
                    of_number(*times).saturating_add(self.low_zeros(*part, depth, true))
                });
                let number = if with_number { of_number(*number) } else { own };
                parts.fold(number, u8::min).min(own)
            }
            _ => 0,
        }
    }

    /// The pieces of parts that lie in a range of the bits of all of them: each part with its own first bit and width.
    fn pieces(&self, parts: &[Term], low: u8, width: u8) -> Vec<(Term, u8, u8)> {
        let mut cut = Vec::new();
        let mut at = 0;
        for part in parts {
            let bits = self.width(*part);
            let (first, end) = (at.max(low), (at + bits).min(low + width));
            if first < end {
                cut.push((*part, first - at, end - first));
            }
            at += bits;
        }
        cut
    }

    /// Bits of a term, taken from its parts where that can be.
    pub(in crate::term) fn pushed(&mut self, of: Term, low: u8, width: u8) -> Term {
        if low == 0 && width == self.width(of) {
            return of;
        }
        let key = (of, low, width);
        if let Some(found) = self.pushed.get(&key) {
            return *found;
        }
        if self.pushed.len() > MOST_PUSHED {
            return self.extract(of, low, width);
        }
        let found = self.made_pushed(of, low, width);
        self.pushed.insert(key, found);
        found
    }

    fn made_pushed(&mut self, of: Term, low: u8, width: u8) -> Term {
        match self.node(of).clone() {
            Node::And(constant, parts) => {
                self.each_pushed(Bitwise::And, constant, &parts, low, width)
            }
            Node::Or(constant, parts) => {
                self.each_pushed(Bitwise::Or, constant, &parts, low, width)
            }
            Node::Xor(constant, parts) => {
                self.each_pushed(Bitwise::Xor, constant, &parts, low, width)
            }
            Node::Sum(constant, parts) if low == 0 => {
                let constant = self.constant(constant, width);
                parts.iter().fold(constant, |sum, (times, part)| {
                    let part = self.pushed(*part, 0, width);
                    let product = self.scale(part, *times);
                    self.add(sum, product)
                })
            }
            Node::Product(parts) if low == 0 => {
                let one = self.constant(1, width);
                parts.iter().fold(one, |all, part| {
                    let part = self.pushed(*part, 0, width);
                    self.multiply(all, part)
                })
            }
            // The low bits of a sum are those of the sum of low bits.
            Node::Sum(..) | Node::Product(_) if low + width < self.width(of) => {
                let whole = self.pushed(of, 0, low + width);
                self.extract(whole, low, width)
            }
            Node::Concat(parts) => {
                let cut = self.pieces(&parts, low, width);
                let cut = cut
                    .into_iter()
                    .map(|(part, low, width)| self.pushed(part, low, width));
                let all: Vec<_> = cut.collect();
                self.concat(&all)
            }
            Node::Choice(condition, yes, no) => {
                let (yes, no) = (self.pushed(yes, low, width), self.pushed(no, low, width));
                self.choice(condition, yes, no)
            }
            Node::Extract(inner, before) => self.pushed(inner, before + low, width),
            _ => self.extract(of, low, width),
        }
    }

    fn each_pushed(
        &mut self,
        kind: Bitwise,
        constant: u64,
        parts: &[Term],
        low: u8,
        width: u8,
    ) -> Term {
        let constant = self.constant(constant >> low, width);
        parts.iter().fold(constant, |all, part| {
            let part = self.pushed(*part, low, width);
            self.bitwise(kind, all, part)
        })
    }

    /// Terms one after the other, the lowest bits first; at most 64 bits.
    pub fn concat(&mut self, parts: &[Term]) -> Term {
        let mut all: Vec<Term> = Vec::new();
        for part in parts {
            match self.node(*part) {
                Node::Concat(inner) => {
                    let inner = inner.clone();
                    for part in inner {
                        self.append(&mut all, part);
                    }
                }
                _ => self.append(&mut all, *part),
            }
        }
        if let [only] = all[..] {
            return only;
        }
        let width = all.iter().map(|part| self.width(*part)).sum();
        self.intern(Node::Concat(all.into()), width)
    }

    /// Puts a part after others, with the last one of them if both are parts of one term.
    fn append(&mut self, all: &mut Vec<Term>, part: Term) {
        let joined = all.last().and_then(|last| self.joined(*last, part));
        match joined {
            Some(joined) => {
                all.pop();
                self.append(all, joined);
            }
            None => all.push(part),
        }
    }

    /// Both as one term that is no list.
    fn joined(&mut self, low: Term, high: Term) -> Option<Term> {
        let (first, second) = (self.width(low), self.width(high));
        let width = first + second;
        match (self.node(low), self.node(high)) {
            (Node::Constant(a), Node::Constant(b)) => {
                let value = a | b << first;
                Some(self.constant(value, width))
            }
            (Node::Constant(number), Node::Extract(of, after))
                if *after == first && matches!(self.node(*of), Node::Sum(..)) =>
            {
                let (number, of) = (*number, *of);
                let below = self.extract(of, 0, first);
                (self.number(below) == Some(number)).then(|| self.extract(of, 0, width))
            }
            (Node::Extract(a, at), Node::Extract(b, after)) if a == b && at + first == *after => {
                let (of, at) = (*a, *at);
                Some(self.extract(of, at, width))
            }
            (Node::Choice(a, yes, no), Node::Choice(b, other_yes, other_no)) if a == b => {
                let condition = *a;
                let (yes, no) = ([*yes, *other_yes], [*no, *other_no]);
                // Nested choices share parts: each pair is joined once.
                if let Some(found) = self.joins.get(&(low, high)) {
                    return *found;
                }
                let (yes, no) = (self.concat(&yes), self.concat(&no));
                // Bits that were joined are taken apart again in the same way.
                let found = Some(self.choice(condition, yes, no))
                    .filter(|made| !matches!(self.node(*made), Node::Concat(_)));
                self.joins.insert((low, high), found);
                found
            }
            _ => None,
        }
    }

    /// With zeros above, or without the bits above.
    pub fn zero_extend(&mut self, term: Term, width: u8) -> Term {
        let own = self.width(term);
        if width <= own {
            return self.extract(term, 0, width);
        }
        let zeros = self.constant(0, width - own);
        self.concat(&[term, zeros])
    }

    /// With its sign above, or without the bits above.
    pub fn sign_extend(&mut self, term: Term, width: u8) -> Term {
        let own = self.width(term);
        if width <= own {
            return self.extract(term, 0, width);
        }
        let sign = self.extract(term, own - 1, 1);
        let above = self.repeat(sign, width - own);
        self.concat(&[term, above])
    }

    /// A bit as many times.
    pub fn repeat(&mut self, bit: Term, width: u8) -> Term {
        let (yes, no) = (self.constant(u64::MAX, width), self.constant(0, width));
        self.choice(bit, yes, no)
    }
}
