//! What elements of the register file hold, as far as it is known within a basic block.
//!
//! Within a block the same lanes run, so that what a step without a predicate writes under the execution mask holds for
//! every lane that reads its own element again under that mask.

use crate::code::{
    Action, Code, Compute, Destination, Lanes, Modify, Operation, Region, Source, Step, Target,
};
use std::ops::Range;

/// Most elements that are known at a time: each is compared with what every step reads and writes.
const MOST: usize = 16;

/// The value of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// These bits, as many as an element has.
    Constant(u64),
    /// That of the element at this place of the register file.
    Element(usize),
}

/// Elements of several lanes that hold one value.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Place of the first lane's element.
    place: usize,
    /// Bytes from element to element.
    stride: usize,
    /// Bytes of an element.
    bytes: usize,
    lanes: Lanes,
    value: Value,
}

impl Known {
    /// From the first byte of the first lane's element to the last one of the last lane's.
    fn extent(&self) -> Range<usize> {
        let lanes = usize::from(self.lanes.count);
        self.place..self.place + lanes.saturating_sub(1) * self.stride + self.bytes
    }

    /// Whether a step on these lanes reads nothing but elements that hold the value.
    fn holds(&self, source: &Source, lanes: Lanes) -> bool {
        let bytes = usize::from(source.data_type.size());
        let stride = match source.region {
            Region::Scalar if lanes.count > 1 => None,
            Region::Scalar | Region::Packed => Some(bytes),
            Region::Strided(stride) => Some(usize::from(stride)),
            Region::Offsets(_) | Region::Indirect { .. } | Region::Rows { .. } => return false,
        };
        let Some(after) = source.offset.checked_sub(self.place) else {
            return false;
        };
        let apart = self.stride.max(1);
        let first = after / apart;
        if bytes > self.bytes || !after.is_multiple_of(apart) {
            return false;
        }
        let room = usize::from(self.lanes.count).saturating_sub(first);
        match stride {
            // An element that one lane has written may be read by others, which run when it does not.
            None => self.lanes.no_mask && room > 0,
            Some(stride) => {
                let same = first == 0 && self.lanes.first == lanes.first && !lanes.no_mask;
                let count = usize::from(lanes.count);
                (stride == self.stride || count == 1)
                    && count <= room
                    && (self.lanes.no_mask || same)
            }
        }
    }
}

/// Elements whose value is known at a step of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(Vec<Known>);

impl Values {
    /// Another block begins.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// What a source reads in all lanes, if that is one known value.
    pub(super) fn of(&self, source: &Source, lanes: Lanes) -> Option<Value> {
        let known = self.0.iter().find(|known| known.holds(source, lanes))?;
        Some(match known.value {
            Value::Constant(bits) => Value::Constant(low(bits, source.data_type.size().into())),
            element @ Value::Element(_) => element,
        })
    }

    /// Follows a step.
    pub(super) fn follow(&mut self, code: &Code, step: &Step) {
        if !self.0.is_empty() {
            self.forget(step);
        }
        let known = match &step.action {
            Action::Compute(compute) if step.predicate.is_none() => copied(code, step, compute),
            _ => None,
        };
        let Some(known) = known else { return };
        // A copy of an element into itself, or over it.
        if let Value::Element(place) = known.value
            && meet(&known.extent(), &(place..place + known.bytes))
        {
            return;
        }
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(known);
    }

    /// Forgets what a step may write over.
    fn forget(&mut self, step: &Step) {
        let over = |written: Range<usize>| {
            self.0.retain(|known| {
                let read = match known.value {
                    Value::Element(place) => place..place + known.bytes,
                    Value::Constant(_) => 0..0,
                };
                !meet(&known.extent(), &written) && !meet(&read, &written)
            });
        };
        match step.written() {
            Some(written) => written.for_each(over),
            None => self.clear(),
        }
    }
}

/// What a step copies to all of its lanes.
fn copied(code: &Code, step: &Step, compute: &Compute) -> Option<Known> {
    let Destination {
        offset,
        data_type,
        saturate,
        target,
    } = compute.destination;
    let [source, ..] = &compute.sources;
    let bytes = usize::from(data_type.size());
    let are_integers = !data_type.is_float() && !source.data_type.is_float();
    let is_plain = compute.operation == Operation::Copy
        && !saturate
        && are_integers
        && source.modify == Modify::None
        && source.region == Region::Scalar;
    if !is_plain {
        return None;
    }
    let stride = match target {
        Target::Packed => bytes,
        Target::Strided(stride) => usize::from(stride),
        Target::Null | Target::Indirect { .. } => return None,
    };
    // Lanes that write over each other leave something else.
    if stride < bytes {
        return None;
    }
    let value = match constant(code, source) {
        Some(bits) => Value::Constant(low(bits, bytes)),
        None if usize::from(source.data_type.size()) == bytes => Value::Element(source.offset),
        None => return None,
    };
    Some(Known {
        place: offset,
        stride,
        bytes,
        lanes: step.lanes,
        value,
    })
}

/// The bits of a source that is a constant, extended to 64 as its type says.
pub(super) fn constant(code: &Code, source: &Source) -> Option<u64> {
    let bits = match source.region {
        Region::Scalar => code.constant(source.offset)?,
        _ => return None,
    };
    Some(crate::code::extend(bits, source.data_type))
}

/// The low bytes of a number.
pub(super) fn low(bits: u64, bytes: usize) -> u64 {
    match bytes {
        0..8 => bits & ((1 << (8 * bytes)) - 1),
        _ => bits,
    }
}

fn meet(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}
