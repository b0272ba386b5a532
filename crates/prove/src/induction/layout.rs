//! What is compared of a register file: its bytes, the float mode, and the bits of predicates, each by itself.

use crate::term::{Term, Terms};
use std::collections::BTreeSet;
use visakit_exec::Program;
use visakit_exec::code::{Action, Flag};

/// Bytes of the float mode.
const MODE: usize = 4;

/// The cells of a register file, a byte each: its bytes, then those of the float mode, then a cell of 0 or 1 for each bit of
/// the bytes that predicates are in.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    bytes: usize,
    /// The bytes of predicates, ascending.
    flags: Vec<usize>,
    /// Where the float mode is, if the program has it.
    mode: Option<usize>,
}

impl Layout {
    pub(super) fn of(program: &Program) -> Self {
        let mut flags = BTreeSet::new();
        for step in &program.code().steps {
            let mut all: Vec<&Flag> = step.predicate.iter().collect();
            if let Action::Compute(compute) = &step.action {
                all.extend(&compute.sets);
                all.extend(compute.flags.iter().take(compute.operation.flags()));
            }
            flags.extend(all.into_iter().flat_map(Flag::word_range));
        }
        let mut predefined = program.predefined_variables();
        let mode = predefined.find(|(name, _)| *name == "cr0");
        let bytes = program.register_bytes();
        Self {
            bytes,
            flags: flags.into_iter().filter(|byte| *byte < bytes).collect(),
            mode: mode.map(|(_, slot)| slot.offset),
        }
    }

    /// How many cells there are.
    pub(super) const fn len(&self) -> usize {
        self.bytes + MODE + 8 * self.flags.len()
    }

    /// The bytes of the register file.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a cell is a byte of the float mode.
    pub(super) fn is_mode(&self, cell: usize) -> bool {
        (self.bytes..self.bytes + MODE).contains(&cell)
    }

    /// Whether a cell is a bit of a predicate.
    pub(super) const fn is_bit(&self, cell: usize) -> bool {
        cell >= self.bytes + MODE
    }

    /// The byte that is compared bit by bit instead.
    pub(super) fn is_split(&self, cell: usize) -> bool {
        self.flags.binary_search(&cell).is_ok()
    }

    /// The byte of the register file that a cell is, or is a part of; none of the float mode.
    pub(super) fn byte(&self, cell: usize) -> Option<usize> {
        match cell.checked_sub(self.bytes + MODE) {
            None => Some(cell).filter(|cell| *cell < self.bytes),
            Some(bit) => self.flags.get(bit / 8).copied(),
        }
    }

    /// The cell of a bit of a predicate.
    pub(super) fn bit(&self, byte: usize, bit: usize) -> Option<usize> {
        let number = self.flags.binary_search(&byte).ok()?;
        Some(self.bytes + MODE + 8 * number + bit)
    }

    /// The values of all cells. The float mode is what the register of it says.
    pub(super) fn values<'r>(&'r self, registers: &'r [u8]) -> impl Iterator<Item = u8> + 'r {
        let at = |byte: usize| registers.get(byte).copied().unwrap_or(0);
        let mode = (0..MODE).map(move |byte| self.mode.map_or(0, |mode| at(mode + byte)));
        let flags = self.flags.iter();
        let bits = flags.flat_map(move |byte| (0..8).map(move |bit| at(*byte) >> bit & 1));
        (0..self.bytes).map(at).chain(mode).chain(bits)
    }

    /// The register file, and the float mode, of cells.
    pub(super) fn join(&self, terms: &mut Terms, cells: &[Term]) -> (Vec<Term>, Term) {
        let mut file = cells.get(..self.bytes).unwrap_or_default().to_vec();
        let rest = cells.get(self.bytes..).unwrap_or_default();
        let (mode, bits) = rest.split_at_checked(MODE).unwrap_or_default();
        for (byte, bits) in self.flags.iter().zip(bits.chunks(8)) {
            let bits = bits.iter().map(|bit| terms.extract(*bit, 0, 1));
            let bits: Vec<Term> = bits.collect();
            if let Some(to) = file.get_mut(*byte) {
                *to = terms.concat(&bits);
            }
        }
        (file, terms.concat(mode))
    }

    /// The cells of a register file and a float mode.
    pub(super) fn cells(&self, terms: &mut Terms, mut file: Vec<Term>, mode: Term) -> Vec<Term> {
        for low in (0..32).step_by(8) {
            file.push(terms.extract(mode, low, 8));
        }
        for byte in &self.flags {
            let Some(byte) = file.get(*byte).copied() else {
                continue;
            };
            for bit in 0..8 {
                let bit = terms.extract(byte, bit, 1);
                file.push(terms.zero_extend(bit, 8));
            }
        }
        file
    }
}
