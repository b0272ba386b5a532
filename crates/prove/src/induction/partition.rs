//! Which cells of the registers of both programs are equal at a cutpoint.

use crate::decide::Decisions;
use crate::term::{Term, Terms};
use hashbrown::HashMap;

/// Bits of a byte that are known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Bits {
    /// Which ones are.
    known: u8,
    /// What they are; others are 0.
    value: u8,
}

impl Bits {
    /// All bits of a number.
    pub(super) const fn number(value: u8) -> Self {
        Self { known: 0xff, value }
    }

    /// Those of them that another number has, too.
    pub(super) const fn and(self, other: u8) -> Self {
        let known = self.known & !(self.value ^ other);
        Self {
            known,
            value: self.value & known,
        }
    }

    const fn as_number(self) -> Option<u8> {
        match self.known {
            0xff => Some(self.value),
            _ => None,
        }
    }

    /// A byte that has these bits, and all others of a term.
    pub(super) fn of(self, terms: &mut Terms, byte: Term) -> Term {
        let mut parts = Vec::new();
        let mut low = 0;
        while low < 8 {
            let is_known = |bit: u8| self.known >> bit & 1 != 0;
            let mut high = low + 1;
            while high < 8 && is_known(high) == is_known(low) {
                high += 1;
            }
            parts.push(match is_known(low) {
                true => terms.constant((self.value >> low).into(), high - low),
                false => terms.extract(byte, low, high - low),
            });
            low = high;
        }
        terms.concat(&parts)
    }

    /// Those of them that a term has, up to the first that it does not have: what counts carries on to the others.
    fn still(self, terms: &mut Terms, byte: Term) -> Self {
        let mut still = Self::default();
        for bit in (0..8).filter(|bit| self.known >> bit & 1 != 0) {
            let value = terms.extract(byte, bit, 1);
            if terms.number(value) != Some((self.value >> bit & 1).into()) {
                break;
            }
            still.known |= 1 << bit;
            still.value |= self.value & 1 << bit;
        }
        still
    }
}

/// Cells of both register files in classes of which all members are equal; class 0 is of those that may be anything.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    /// The class of each cell of either file.
    pub(super) classes: [Vec<u32>; 2],
    /// What is known of the cells of each class.
    bits: Vec<Bits>,
}

/// What all bytes of a class have in common in some runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    /// Of all of its values.
    pub(super) sum: u64,
    /// Bits that are the same in all of them.
    pub(super) bits: Bits,
}

impl Key {
    /// Values of which some bits were always the same.
    pub(super) const fn new(sum: u64, bits: Bits) -> Self {
        match bits.as_number() {
            Some(_) => Self { sum: 0, bits },
            None => Self { sum, bits },
        }
    }
}

/// Questions for the solver each time that classes are divided.
const MOST_ASKED: u32 = 64;

/// Parts of a class that a term is compared with by more than what it is made of.
const MOST_PARTS: usize = 4;

impl Partition {
    /// Bytes with equal keys are in one class.
    pub(super) fn by_keys(keys: [Vec<Option<Key>>; 2]) -> Self {
        let mut known: HashMap<Key, u32> = HashMap::new();
        let mut bits = vec![Bits::default()];
        let classes = keys.map(|keys| {
            let class = |key: Option<Key>| {
                let Some(key) = key else { return 0 };
                let next = u32::try_from(bits.len()).unwrap_or(0);
                let class = *known.entry(key).or_insert(next);
                if class == next {
                    bits.push(key.bits);
                }
                class
            };
            keys.into_iter().map(class).collect()
        });
        let mut made = Self { classes, bits };
        made.forget_single();
        made
    }

    /// A class with one member says nothing, unless bits are known.
    fn forget_single(&mut self) {
        let mut members = vec![0_u32; self.bits.len()];
        for class in self.classes.iter().flatten() {
            if let Some(count) = members.get_mut(*class as usize) {
                *count += 1;
            }
        }
        for class in self.classes.iter_mut().flatten() {
            let bits = self.bits.get(*class as usize).copied().unwrap_or_default();
            if bits.known == 0 && members.get(*class as usize) == Some(&1) {
                *class = 0;
            }
        }
    }

    /// The class of a cell.
    pub(super) fn class(&self, side: usize, byte: usize) -> u32 {
        let classes = self.classes.get(side).and_then(|file| file.get(byte));
        classes.copied().unwrap_or(0)
    }

    /// What is known of the cells of a class.
    pub(super) fn bits(&self, class: u32) -> Bits {
        self.bits.get(class as usize).copied().unwrap_or_default()
    }

    /// Whether all bits of a class are known.
    pub(super) fn is_number(&self, class: u32) -> bool {
        self.bits(class).as_number().is_some()
    }

    /// For each cell of either file, whether a cell of the other one is known to be equal, or it is a number.
    pub(super) fn common(&self) -> [Vec<bool>; 2] {
        let mut members = vec![[false; 2]; self.bits.len()];
        for (side, classes) in self.classes.iter().enumerate() {
            for class in classes {
                let of = members.get_mut(*class as usize);
                if let Some(to) = of.and_then(|of| of.get_mut(side)) {
                    *to = true;
                }
            }
        }
        let is_common = |class: &u32| {
            let both = members.get(*class as usize) == Some(&[true; 2]);
            *class != 0 && (both || self.is_number(*class))
        };
        self.classes
            .each_ref()
            .map(|all| all.iter().map(is_common).collect())
    }

    /// Divides classes whose members are not equal when lanes come here with these registers, of which those without a term
    /// make no difference; whether there are more now.
    pub(super) fn divide(
        &mut self,
        files: [&[Option<Term>]; 2],
        (terms, decisions): (&mut Terms, &mut Decisions),
    ) -> bool {
        // Terms that members of a class have, in the order in which they come, and where their class goes.
        let mut parts: HashMap<(u32, Term), u32> = HashMap::new();
        let mut firsts: HashMap<u32, Vec<(Term, u32)>> = HashMap::new();
        let mut asked = 0;
        let mut changed = false;
        for (classes, file) in self.classes.iter_mut().zip(files) {
            for (class, term) in classes.iter_mut().zip(file) {
                let Some(term) = term.as_ref().filter(|_| *class != 0) else {
                    continue;
                };
                if let Some(to) = parts.get(&(*class, *term)) {
                    changed |= to != class;
                    *class = *to;
                    continue;
                }
                let bits = self.bits.get(*class as usize).copied().unwrap_or_default();
                let known = firsts.entry(*class).or_default();
                let mut equal = |terms: &mut Terms, other: Term| {
                    if other == *term {
                        return true;
                    }
                    asked += 1;
                    if asked > MOST_ASKED {
                        return false;
                    }
                    let both = terms.equal(*term, other);
                    let both = decisions.bit(terms, both);
                    terms.number(both) == Some(1)
                };
                if known.is_empty()
                    && let Some(number) = bits.as_number()
                {
                    let number = terms.constant(number.into(), 8);
                    known.push((number, *class));
                }
                let mut few = known.iter().take(MOST_PARTS);
                let found = few.find(|(other, _)| equal(terms, *other));
                let to = match found {
                    Some((_, to)) => *to,
                    None => {
                        let still = bits.still(terms, *term);
                        let own = self.bits.get_mut(*class as usize);
                        let to = match own.filter(|_| known.is_empty()) {
                            Some(own) => {
                                changed |= *own != still;
                                *own = still;
                                *class
                            }
                            None => {
                                self.bits.push(still);
                                u32::try_from(self.bits.len() - 1).unwrap_or(0)
                            }
                        };
                        known.push((*term, to));
                        to
                    }
                };
                parts.insert((*class, *term), to);
                changed |= to != *class;
                *class = to;
            }
        }
        self.forget_single();
        changed
    }
}
