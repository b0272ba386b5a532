//! Instructions, compared by what they do.

use super::align::{Run, tokens};
use super::numbers::{Numbers, Side};
use super::{Change, Found, beside};
use crate::error::Error;
use crate::location::{Location, Reference, Table};
use crate::rewrite::{self, Rewriter};
use hashbrown::{DefaultHashBuilder, HashTable};
use imara_diff::Token;
use std::hash::BuildHasher;
use std::ops::Range;
use visakit_isa::object::Item;
use visakit_isa::operand::RegionCode;
use visakit_isa::{ElementCount, ExecMask, ExecSize, Format, Instruction, Region, VectorOperand};

/// An instruction with numbers that mean the same in both objects.
struct Common<'n> {
    numbers: &'n Numbers,
    format: Format,
    side: Side,
    /// Numbers in the order of the walk, which the fields have no room for.
    found: Vec<u32>,
}

impl Common<'_> {
    /// The code of a mask that all formats are brought to.
    fn mask(mask: ExecMask) -> u8 {
        (mask.first_lane / 4) | (u8::from(mask.no_mask) << 3)
    }
}

impl Rewriter<'_> for Common<'_> {
    fn reference(&mut self, _: Location, reference: &mut Reference) -> Result<(), Error> {
        self.found.push(self.numbers.number(*reference, self.side));
        // P0 would mean no predicate.
        reference.id = u32::from(reference.table == Table::Predicate);
        Ok(())
    }

    fn vector(&mut self, place: Location, operand: &mut VectorOperand) -> Result<(), Error> {
        // What readers ignore: reserved bits, strides of rows of destinations, upper bytes of short immediates.
        let region = match operand {
            VectorOperand::General(operand) => Some(&mut operand.region),
            VectorOperand::Indirect(operand) => {
                operand.property = operand.property.data_type().into();
                Some(&mut operand.region)
            }
            VectorOperand::Immediate(operand) => {
                let ty = operand.data_type();
                if matches!(ty.size(), 1 | 2) && !ty.is_packed() {
                    operand.set_bits(operand.bits() & ((1 << (8 * u32::from(ty.size()))) - 1));
                }
                None
            }
            _ => None,
        };
        if let Some(region) = region
            && is_destination(place)
        {
            let absent = RegionCode::ABSENT;
            *region = Region::of_codes(absent, absent, region.horizontal_stride());
        }
        rewrite::vector_parts(self, place, operand)
    }

    fn exec_size(&mut self, _: Location, size: &mut ExecSize) -> Result<(), Error> {
        if let Some(mask) = size.mask(self.format) {
            *size = ExecSize::from_bits(size.bits() & 0xf | Self::mask(mask) << 4);
        }
        Ok(())
    }

    fn element_count(&mut self, _: Location, count: &mut ElementCount) -> Result<(), Error> {
        if let Some(mask) = count.mask(self.format) {
            *count = ElementCount::from_bits(count.bits() & 0xf | Self::mask(mask) << 4);
        }
        Ok(())
    }
}

fn is_destination(place: Location) -> bool {
    matches!(place, Location::Instruction { field: Some(field), .. } if field.is_destination())
}

/// The identity of an item of code, without its numbers, which are kept separately.
#[derive(Hash, Default)]
struct Key {
    instruction: Option<Instruction>,
    numbers: Vec<u32>,
    raw: Vec<u8>,
}

impl Key {
    fn is(&self, other: &Self) -> bool {
        // One by one: slices of numbers that were just written are slow to compare as bytes.
        self.numbers.iter().eq(&other.numbers)
            && self.instruction == other.instruction
            && self.raw == other.raw
    }

    /// Becomes the key of an item. The memory of the last one is used again.
    fn of(&mut self, side: Found<'_>, which: Side, index: usize, numbers: &Numbers) {
        let mut last = self.instruction.take();
        self.numbers.clear();
        self.raw.clear();
        match side.2.body().and_then(|body| body.code.get(index)) {
            Some(Item::Instruction(instruction)) => {
                let copy = last.get_or_insert_with(|| Instruction::new(instruction.op));
                copy.op = instruction.op;
                copy.fields.clone_from(&instruction.fields);
                let mut common = Common {
                    numbers,
                    format: side.0.format(),
                    side: which,
                    found: std::mem::take(&mut self.numbers),
                };
                // The numbers that are put in fit everywhere.
                let fits = common.instruction(index, copy);
                debug_assert!(fits.is_ok(), "{fits:?}");
                self.numbers = common.found;
                self.instruction = last;
            }
            Some(Item::Raw(raw)) => self.raw.extend_from_slice(&raw.bytes),
            None => {}
        }
    }
}

/// Numbers the items of both objects, equal ones for those that do the same.
///
/// Only the first item of each kind is remembered, by where it is: its key is made again when
/// another one has the same hash. So the keys of a million instructions take no memory.
fn symbols(old: Found<'_>, new: Found<'_>, numbers: &Numbers) -> [Vec<Token>; 2] {
    let hasher = DefaultHashBuilder::default();
    // Hash, symbol, and the place of the first occurrence.
    let mut known: HashTable<(u64, u32, Side, usize)> = HashTable::new();
    let (mut key, mut other) = (Key::default(), Key::default());
    let sides = [(old, Side::Old), (new, Side::New)];
    sides.map(|(side, which)| {
        let count = side.2.body().map_or(0, |body| body.code.len());
        let mut tokens = Vec::with_capacity(count);
        for index in 0..count {
            key.of(side, which, index, numbers);
            let hash = hasher.hash_one(&key);
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            let same = |(h, _, first, at): &(u64, u32, Side, usize)| {
                if *h != hash {
                    return false;
                }
                let side = if *first == Side::Old { old } else { new };
                other.of(side, *first, *at, numbers);
                other.is(&key)
            };
            let entry = known.entry(hash, same, |(h, ..)| *h);
            let (_, symbol, ..) = *entry.or_insert((hash, next, which, index)).get();
            tokens.push(Token(symbol));
        }
        tokens
    })
}

/// Aligns the code; returns the number of equal instructions.
pub(super) fn compare(
    old: Found<'_>,
    new: Found<'_>,
    numbers: &Numbers,
    changes: &mut Vec<Change>,
) -> usize {
    let [a, b] = symbols(old, new, numbers);
    let mut runs = tokens(&a, &b);
    let same = |runs: &[Run]| runs.iter().filter(|r| r.same).map(|r| r.old.len()).sum();
    let mut count = same(&runs);
    runs.retain(|run| !run.same);
    let (left, right): (Vec<_>, Vec<_>) = runs.into_iter().map(|run| (run.old, run.new)).unzip();
    let text = |side: Found<'_>, runs: &[Range<usize>]| {
        let indices = runs.iter().cloned().flatten();
        crate::lines::some(side.0, side.1, indices)
    };
    let (mut ours, mut theirs) = (text(old, &left).into_iter(), text(new, &right).into_iter());
    for (left, right) in left.iter().zip(&right) {
        let left = ours.by_ref().take(left.len()).collect();
        let right = theirs.by_ref().take(right.len()).collect();
        let (left, right, alike) = without_alike(left, right, |i, j| {
            let [mut a, mut b] = [Key::default(), Key::default()];
            a.of(old, Side::Old, i, numbers);
            b.of(new, Side::New, j, numbers);
            a.numbers == b.numbers
        });
        count += alike;
        beside("instruction", left, right, changes);
    }
    count
}

/// The index of an instruction, and its line.
type Line = (usize, String);

/// Leaves out instructions beside each other that differ only in bits that have no meaning: they have the same line, and
/// what they name is the same in both objects. Returns how many there were.
fn without_alike(
    left: Vec<Line>,
    right: Vec<Line>,
    same_names: impl Fn(usize, usize) -> bool,
) -> (Vec<Line>, Vec<Line>, usize) {
    if left.len() != right.len() {
        return (left, right, 0);
    }
    let all = left.len();
    let pairs = left.into_iter().zip(right);
    let (left, right): (Vec<_>, Vec<_>) = pairs
        .filter(|((i, a), (j, b))| a != b || !same_names(*i, *j))
        .unzip();
    let alike = all - left.len();
    (left, right, alike)
}
