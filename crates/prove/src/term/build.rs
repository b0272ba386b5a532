//! Makes terms in their normal form.

use super::{Node, Term, Terms, ones, signed};

/// A bitwise operation of two terms.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bitwise {
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
    const fn neutral(self, width: u8) -> u64 {
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

/// Parts of a term that are looked into for a bit that is known.
const MOST_PARTS: usize = 64;

/// How deep a term is looked into for a bit that is known.
const DEPTH: u8 = 8;

/// Terms of a sum or of a list; more make a new term.
const MOST_TERMS: usize = 256;

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
                let mut all = Vec::new();
                let mut at = 0;
                for part in parts {
                    let bits = self.width(part);
                    let (first, end) = (at.max(low), (at + bits).min(low + width));
                    if first < end {
                        all.push(self.extract(part, first - at, end - first));
                    }
                    at += bits;
                }
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
            _ => self.intern(Node::Extract(of, low), width),
        }
    }

    /// The same, from the parts of the term where that can be.
    pub(super) fn pushed(&mut self, of: Term, low: u8, width: u8) -> Term {
        if low == 0 && width == self.width(of) {
            return of;
        }
        let key = (of, low, width);
        if let Some(found) = self.pushed.get(&key) {
            return *found;
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
                let mut all = Vec::new();
                let mut at = 0;
                for part in parts {
                    let bits = self.width(part);
                    let (first, end) = (at.max(low), (at + bits).min(low + width));
                    if first < end {
                        all.push(self.pushed(part, first - at, end - first));
                    }
                    at += bits;
                }
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
            (Node::Extract(a, at), Node::Extract(b, after)) if a == b && at + first == *after => {
                let (of, at) = (*a, *at);
                Some(self.extract(of, at, width))
            }
            (Node::Choice(a, yes, no), Node::Choice(b, other_yes, other_no)) if a == b => {
                let condition = *a;
                let (yes, no) = ([*yes, *other_yes], [*no, *other_no]);
                let (yes, no) = (self.concat(&yes), self.concat(&no));
                // Bits that were joined are taken apart again in the same way.
                Some(self.choice(condition, yes, no))
                    .filter(|made| !matches!(self.node(*made), Node::Concat(_)))
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
    fn linear(&mut self, a: Term) -> (u64, Vec<(u64, Term)>) {
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

    fn bitwise(&mut self, kind: Bitwise, a: Term, b: Term) -> Term {
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
        let all = all.into();
        let node = match kind {
            Bitwise::And => Node::And(constant, all),
            Bitwise::Or => Node::Or(constant, all),
            Bitwise::Xor => Node::Xor(constant, all),
        };
        self.intern(node, width)
    }

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
        self.intern(Node::Choice(condition, yes, no), width)
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
        let within = |all: &[Term], term: Term| all.contains(&term);
        condition == bit
            || match (self.node(condition), self.node(bit)) {
                (Node::And(1, parts), Node::And(1, wanted)) => {
                    wanted.iter().all(|t| within(parts, *t))
                }
                (Node::And(1, parts), Node::Or(0, any)) => parts.iter().any(|t| within(any, *t)),
                (Node::And(1, parts), _) => within(parts, bit),
                (Node::Or(0, parts), Node::Or(0, any)) => parts.iter().all(|t| within(any, *t)),
                (_, Node::Or(0, any)) => within(any, condition),
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
                None => term,
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
