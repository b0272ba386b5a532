//! Vectors of addresses that differ by something uniform: whether lanes follow each other in memory is the same for all
//! of them, so that it is determined once.

use crate::pending::meet;
use std::collections::HashMap;
use std::ops::Range;
use visakit_exec::code::{Action, Code, Compute, Lane, Modify, Operation, Region, Source, Target};

/// For messages among these steps, where all lanes of the program run: a number that is equal for two of them if each
/// address of the one is the same distance from that of the other.
pub(crate) fn apart(code: &Code, full: u32, steps: Range<usize>) -> HashMap<usize, u32> {
    let mut known = Known::default();
    let mut messages = HashMap::new();
    for place in steps {
        let Some(step) = code.steps.get(place) else {
            break;
        };
        let lanes = usize::from(step.lanes.count);
        let window = step.lanes.window();
        let is_whole = step.predicate.is_none()
            && (step.lanes.no_mask || full >> step.lanes.first & window == window);
        let mut sum = None;
        match &step.action {
            Action::Message(message) => {
                if let Some(message) = message.lanes() {
                    let bytes = message.width * message.lanes;
                    let number = known.number(message.addresses..message.addresses + bytes);
                    messages.insert(place, number);
                }
            }
            Action::Compute(compute) if is_whole => {
                sum = shifted(compute).map(|from| {
                    let bytes = lanes * usize::from(from.data_type.size());
                    known.number(from.offset..from.offset + bytes)
                });
            }
            _ => {}
        }
        let Some(written) = step.written() else {
            known.vectors.clear();
            continue;
        };
        let written: Vec<_> = written.collect();
        for bytes in &written {
            known.overwritten(bytes);
        }
        if let ([to], Some(number)) = (written.as_slice(), sum) {
            known.remember(to.clone(), number);
        }
    }
    messages
}

/// The source that a sum adds something uniform to, lane by lane.
fn shifted(compute: &Compute) -> Option<&Source> {
    let [a, b, ..] = &compute.sources;
    let destination = &compute.destination;
    let is_whole = compute.operation == Operation::Add
        && compute.lane == Lane::U64
        && destination.target == Target::Packed
        && destination.data_type.size() == 8
        && !destination.data_type.is_float()
        && !destination.saturate;
    let is_vector = |source: &Source| {
        source.region == Region::Packed
            && source.modify == Modify::None
            && source.data_type.size() == 8
            && source.constant.is_none()
    };
    match (&a.region, &b.region) {
        _ if !is_whole => None,
        (_, Region::Scalar) => Some(a).filter(|a| is_vector(a)),
        (Region::Scalar, _) => Some(b).filter(|b| is_vector(b)),
        _ => None,
    }
}

/// Vectors in the register file, and their numbers.
#[derive(Default)]
struct Known {
    vectors: Vec<(Range<usize>, u32)>,
    next: u32,
}

/// Most vectors that are remembered: each step looks at all.
const MOST: usize = 32;

impl Known {
    /// The number of a vector, a new one if it has none.
    fn number(&mut self, bytes: Range<usize>) -> u32 {
        if let Some((_, number)) = self.vectors.iter().find(|(known, _)| *known == bytes) {
            return *number;
        }
        self.next += 1;
        self.remember(bytes, self.next);
        self.next
    }

    /// A vector has this number; the one that has been known for the longest time is forgotten for it.
    fn remember(&mut self, bytes: Range<usize>, number: u32) {
        if self.vectors.len() == MOST {
            self.vectors.remove(0);
        }
        self.vectors.push((bytes, number));
    }

    fn overwritten(&mut self, bytes: &Range<usize>) {
        self.vectors.retain(|(known, _)| !meet(known, bytes));
    }
}
