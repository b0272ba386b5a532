//! Instructions, compared by what they do.

use super::{Change, Number, Numbers, Side, align, beside};
use crate::place::{Place, Reference, Table};
use crate::rewrite::Rewriter;
use similar::DiffOp;
use std::collections::HashMap;
use visakit_isa::object::{Body, Item};
use visakit_isa::{ElementCount, ExecSize, Format, Instruction};

/// Instructions with numbers that mean the same in both objects.
struct Common<'n, 'b> {
    numbers: &'n mut Numbers,
    body: &'b Body<'b>,
    format: Format,
    side: Number,
    /// Numbers in the order of the walk, which the fields have no room for.
    found: Vec<u32>,
}

impl Rewriter<'_> for Common<'_, '_> {
    fn reference(&mut self, _: Place, reference: &mut Reference) {
        let number = if reference.table == Table::String {
            let text = self
                .body
                .string(visakit_isa::StringId(reference.id))
                .unwrap_or_default();
            let next = u32::try_from(self.numbers.strings.len()).unwrap_or(u32::MAX);
            *self.numbers.strings.entry(text.to_vec()).or_insert(next)
        } else {
            self.numbers.number(*reference, self.side)
        };
        self.found.push(number);
        // P0 would mean no predicate.
        reference.id = u32::from(reference.table == Table::Predicate);
    }

    fn exec_size(&mut self, _: Place, size: &mut ExecSize) {
        if let Some(mask) = size.mask(self.format) {
            let code = (mask.first_lane / 4) | (u8::from(mask.no_mask) << 3);
            *size = ExecSize::from_bits(size.bits() & 0xf | code << 4);
        }
    }

    fn element_count(&mut self, _: Place, count: &mut ElementCount) {
        if let Some(mask) = count.mask(self.format) {
            let code = (mask.first_lane / 4) | (u8::from(mask.no_mask) << 3);
            *count = ElementCount::from_bits(count.bits() & 0xf | code << 4);
        }
    }
}

/// What an instruction is, whatever its numbers: those are apart.
type Key = (Option<Instruction>, Vec<u32>, Vec<u8>);

fn keys(
    side: Side<'_>,
    which: Number,
    numbers: &mut Numbers,
    known: &mut HashMap<Key, u32>,
) -> Vec<u32> {
    let mut keys = Vec::new();
    let Some(body) = side.2.body() else {
        return keys;
    };
    for (index, item) in body.code.iter().enumerate() {
        let key: Key = match item {
            Item::Instruction(instruction) => {
                let mut copy = instruction.clone();
                let mut common = Common {
                    numbers,
                    body,
                    format: side.0.format(),
                    side: which,
                    found: Vec::new(),
                };
                common.instruction(index, &mut copy);
                (Some(copy), common.found, Vec::new())
            }
            Item::Raw(raw) => (None, Vec::new(), raw.bytes.to_vec()),
        };
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        keys.push(*known.entry(key).or_insert(next));
    }
    keys
}

/// Aligns the code; gives how many instructions are the same.
pub(super) fn compare(
    old: Side<'_>,
    new: Side<'_>,
    numbers: &mut Numbers,
    changes: &mut Vec<Change>,
) -> usize {
    let mut known = HashMap::new();
    let a = keys(old, Number::Old, numbers, &mut known);
    let b = keys(new, Number::New, numbers, &mut known);
    let ops = align(&a, &b);
    let equal = |op: &DiffOp| matches!(op, DiffOp::Equal { .. });
    if ops.iter().all(equal) {
        return a.len();
    }
    let (left, right) = (
        crate::lines::of(old.0, old.1),
        crate::lines::of(new.0, new.1),
    );
    let mut same = 0;
    for op in ops {
        if equal(&op) {
            same += op.old_range().len();
            continue;
        }
        let run = |range: std::ops::Range<usize>, lines: &[String]| -> Vec<(usize, String)> {
            range
                .map(|i| (i, lines.get(i).cloned().unwrap_or_default()))
                .collect()
        };
        beside(
            "instruction",
            run(op.old_range(), &left),
            run(op.new_range(), &right),
            changes,
        );
    }
    same
}
