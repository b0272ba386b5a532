//! Circuits of gates as clauses: what makes a gate's output what it is.

use crate::term::ones;
use hashbrown::HashMap;
use std::ops::Not;

/// A bit of a circuit, or its complement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Wire(u32);

impl Wire {
    /// The bit that is always set; its complement never is.
    pub(crate) const SET: Self = Self(0);
    pub(crate) const CLEAR: Self = Self(1);

    pub(crate) const fn of(bit: bool) -> Self {
        if bit { Self::SET } else { Self::CLEAR }
    }

    /// Its variable.
    pub(crate) const fn variable(self) -> u32 {
        self.0 >> 1
    }

    /// Whether it is the complement of its variable.
    pub(crate) const fn is_complement(self) -> bool {
        self.0 & 1 != 0
    }

    const fn is_known(self) -> bool {
        self.0 < 2
    }
}

impl Not for Wire {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// A gate with two or three inputs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Wire, Wire),
    Xor(Wire, Wire),
    /// The second where the first is set, else the third.
    Choice(Wire, Wire, Wire),
    /// Whether two of three are set.
    Majority(Wire, Wire, Wire),
}

/// Gates so far: equal ones are made once.
#[derive(Default)]
pub(crate) struct Circuit {
    gates: HashMap<Gate, Wire>,
    variables: u32,
    /// Clauses that nobody has taken yet, one after the other, each ended by `None`.
    clauses: Vec<Option<Wire>>,
}

impl Circuit {
    /// A circuit of the bit that is always set.
    pub(crate) fn new() -> Self {
        let mut circuit = Self::default();
        circuit.input();
        circuit.clause(&[Wire::SET]);
        circuit
    }

    /// A bit of any value.
    pub(crate) const fn input(&mut self) -> Wire {
        let wire = Wire(self.variables << 1);
        self.variables += 1;
        wire
    }

    /// How many variables there are.
    pub(crate) const fn variables(&self) -> u32 {
        self.variables
    }

    /// Demands that one of these is set.
    pub(crate) fn clause(&mut self, wires: &[Wire]) {
        self.clauses.extend(wires.iter().copied().map(Some));
        self.clauses.push(None);
    }

    /// Clauses since the last call.
    pub(crate) fn take(&mut self) -> Vec<Option<Wire>> {
        std::mem::take(&mut self.clauses)
    }

    fn gate(&mut self, gate: Gate) -> Wire {
        if let Some(wire) = self.gates.get(&gate) {
            return *wire;
        }
        let out = self.input();
        match gate {
            Gate::And(a, b) => {
                self.clause(&[!out, a]);
                self.clause(&[!out, b]);
                self.clause(&[out, !a, !b]);
            }
            Gate::Xor(a, b) => {
                self.clause(&[!out, a, b]);
                self.clause(&[!out, !a, !b]);
                self.clause(&[out, !a, b]);
                self.clause(&[out, a, !b]);
            }
            Gate::Choice(c, a, b) => {
                self.clause(&[!c, !a, out]);
                self.clause(&[!c, a, !out]);
                self.clause(&[c, !b, out]);
                self.clause(&[c, b, !out]);
                self.clause(&[!a, !b, out]);
                self.clause(&[a, b, !out]);
            }
            Gate::Majority(a, b, c) => {
                for (x, y) in [(a, b), (a, c), (b, c)] {
                    self.clause(&[!x, !y, out]);
                    self.clause(&[x, y, !out]);
                }
            }
        }
        self.gates.insert(gate, out);
        out
    }

    pub(crate) fn and(&mut self, a: Wire, b: Wire) -> Wire {
        let (a, b) = (a.min(b), a.max(b));
        match a {
            Wire::SET => b,
            Wire::CLEAR => Wire::CLEAR,
            _ if a == b => a,
            _ if a == !b => Wire::CLEAR,
            _ => self.gate(Gate::And(a, b)),
        }
    }

    pub(crate) fn or(&mut self, a: Wire, b: Wire) -> Wire {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        let odd = a.is_complement() != b.is_complement();
        let (x, y) = (Wire(a.0 & !1), Wire(b.0 & !1));
        let (x, y) = (x.min(y), x.max(y));
        let out = match x {
            _ if x == y => Wire::CLEAR,
            Wire::SET => !y,
            _ => self.gate(Gate::Xor(x, y)),
        };
        if odd { !out } else { out }
    }

    /// The second where the first is set, else the third.
    pub(crate) fn choice(&mut self, c: Wire, a: Wire, b: Wire) -> Wire {
        match c {
            Wire::SET => return a,
            Wire::CLEAR => return b,
            _ if a == b => return a,
            _ if a == !b => return !self.xor(c, a),
            _ if a == c || a == Wire::SET => return self.or(c, b),
            _ if a == !c || a == Wire::CLEAR => return self.and(!c, b),
            _ if b == c || b == Wire::CLEAR => return self.and(c, a),
            _ if b == !c || b == Wire::SET => return self.or(!c, a),
            _ => {}
        }
        match c.is_complement() {
            true => self.gate(Gate::Choice(!c, b, a)),
            false => self.gate(Gate::Choice(c, a, b)),
        }
    }

    fn majority(&mut self, a: Wire, b: Wire, c: Wire) -> Wire {
        let mut all = [a, b, c];
        all.sort_unstable();
        let [a, b, c] = all;
        match (a, b) {
            (Wire::SET, _) => self.or(b, c),
            (Wire::CLEAR, _) => self.and(b, c),
            _ if a == b || b == c => b,
            _ if a == !b => c,
            _ if b == !c => a,
            _ => self.gate(Gate::Majority(a, b, c)),
        }
    }

    /// The bits of a number.
    pub(crate) fn number(value: u64, width: u8) -> Vec<Wire> {
        (0..width)
            .map(|bit| Wire::of(value >> bit & 1 != 0))
            .collect()
    }

    /// Sum of two numbers and a bit, modulo their width.
    pub(crate) fn add(&mut self, a: &[Wire], b: &[Wire], mut carry: Wire) -> Vec<Wire> {
        let mut sum = Vec::with_capacity(a.len());
        for (a, b) in a.iter().zip(b) {
            let odd = self.xor(*a, *b);
            sum.push(self.xor(odd, carry));
            carry = self.majority(*a, *b, carry);
        }
        sum
    }

    /// Product with a number, modulo the width.
    pub(crate) fn scale(&mut self, a: &[Wire], times: u64) -> Vec<Wire> {
        let width = u8::try_from(a.len()).unwrap_or(64);
        let (times, other) = (times & ones(width), times.wrapping_neg() & ones(width));
        if other.count_ones() + 1 < times.count_ones() {
            let product = self.scale(a, other);
            return self.negate(&product);
        }
        let mut sum = Self::number(0, width);
        for bit in (0..width).filter(|bit| times >> bit & 1 != 0) {
            let shifted = moved(a, bit.into());
            sum = self.add(&sum, &shifted, Wire::CLEAR);
        }
        sum
    }

    fn negate(&mut self, a: &[Wire]) -> Vec<Wire> {
        let other: Vec<Wire> = a.iter().map(|bit| !*bit).collect();
        let zero = vec![Wire::CLEAR; a.len()];
        self.add(&other, &zero, Wire::SET)
    }

    /// Product, modulo the width.
    pub(crate) fn multiply(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        // The one with more known bits selects.
        let known = |all: &[Wire]| all.iter().filter(|bit| bit.is_known()).count();
        let (a, b) = if known(a) >= known(b) { (a, b) } else { (b, a) };
        let mut sum = vec![Wire::CLEAR; a.len()];
        for (bit, factor) in a.iter().enumerate() {
            if *factor != Wire::CLEAR {
                let row: Vec<Wire> = moved(b, bit)
                    .into_iter()
                    .map(|other| self.and(*factor, other))
                    .collect();
                sum = self.add(&sum, &row, Wire::CLEAR);
            }
        }
        sum
    }

    /// Whether both are the same.
    pub(crate) fn equal(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        a.iter().zip(b).fold(Wire::SET, |all, (a, b)| {
            let differ = self.xor(*a, *b);
            self.and(all, !differ)
        })
    }

    /// Whether the first is less, without signs.
    pub(crate) fn less(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        a.iter().zip(b).fold(Wire::CLEAR, |less, (a, b)| {
            // A borrow: of the complement, the other one and the borrow below, two are set.
            self.majority(!*a, *b, less)
        })
    }

    /// The number shifted to higher bits, or with `right` to lower ones; bits that come in are `fill`.
    pub(crate) fn shift(
        &mut self,
        a: &[Wire],
        count: &[Wire],
        right: bool,
        fill: Wire,
    ) -> Vec<Wire> {
        let mut value = a.to_vec();
        let mut all = Wire::CLEAR;
        for (stage, bit) in count.iter().enumerate() {
            let by = u32::try_from(stage)
                .ok()
                .and_then(|stage| 1_usize.checked_shl(stage));
            let Some(by) = by.filter(|by| *by < a.len()) else {
                all = self.or(all, *bit);
                continue;
            };
            let from = |place: usize| match right {
                true => place.checked_add(by),
                false => place.checked_sub(by),
            };
            value = (0..value.len())
                .map(|place| {
                    let get = |place: Option<usize>| place.and_then(|p| value.get(p)).copied();
                    let (other, own) = (get(from(place)), get(Some(place)));
                    self.choice(*bit, other.unwrap_or(fill), own.unwrap_or(fill))
                })
                .collect();
        }
        value
            .iter()
            .map(|bit| self.choice(all, fill, *bit))
            .collect()
    }
}

/// A number shifted to higher bits.
fn moved(a: &[Wire], by: usize) -> Vec<Wire> {
    let kept = a.len().saturating_sub(by);
    let zeros = std::iter::repeat_n(Wire::CLEAR, a.len() - kept);
    zeros.chain(a.iter().copied().take(kept)).collect()
}
