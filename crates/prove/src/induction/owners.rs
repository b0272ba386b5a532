//! Which lane a byte of the registers, or a bit of a predicate, belongs to.

use super::layout::Layout;
use visakit_exec::Program;
use visakit_exec::code::{Action, Destination, LaneMessage, Step};

/// For each cell of the register file its lane, if no step writes it for another one, or whatever lanes run: what is in it
/// while the lane waits does not change. This is only guessed: whatever else a step does is seen where a segment ends.
pub(super) fn owners(program: &Program, layout: &Layout) -> Vec<Option<u8>> {
    let mut owners = vec![Owner::Nobody; layout.len()];
    for step in &program.code().steps {
        match &step.action {
            Action::Compute(compute) => {
                for to in std::iter::once(&compute.destination).chain(&compute.second) {
                    destination(&mut owners, step, to);
                }
                let sets = compute.sets.iter();
                for (flag, number) in sets.flat_map(|flag| (0..32).map(move |n| (flag, n))) {
                    let bit = usize::from(flag.first) + number;
                    let byte = flag.offset as usize + bit / 8;
                    if flag.window >> number & 1 != 0
                        && let Some(cell) = layout.bit(byte, bit % 8)
                    {
                        own(&mut owners, cell..cell + 1, lane(step, number));
                    }
                }
            }
            Action::Message(message) => {
                if let Some(loaded) = message.operands().loaded {
                    match message.by_lane() {
                        Some(lanes) => elements(&mut owners, step, &lanes),
                        None => own(&mut owners, loaded, None),
                    }
                }
            }
            _ => {
                for bytes in step.written().into_iter().flatten() {
                    own(&mut owners, bytes, None);
                }
            }
        }
    }
    let lane = |owner| match owner {
        Owner::Lane(lane) => Some(lane),
        Owner::Nobody | Owner::Several => None,
    };
    owners.into_iter().map(lane).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nobody,
    Lane(u8),
    Several,
}

/// Notes who writes these bytes.
fn own(owners: &mut [Owner], bytes: std::ops::Range<usize>, lane: Option<u8>) {
    for owner in owners.get_mut(bytes).into_iter().flatten() {
        *owner = match (*owner, lane) {
            (Owner::Nobody, Some(lane)) => Owner::Lane(lane),
            (Owner::Lane(own), Some(lane)) if own == lane => Owner::Lane(lane),
            _ => Owner::Several,
        };
    }
}

/// The lane of the thread that is a lane of a step, if it runs only with it.
fn lane(step: &Step, number: usize) -> Option<u8> {
    let lane = u8::try_from(usize::from(step.lanes.first) + number).ok();
    lane.filter(|_| !step.lanes.no_mask)
}

fn destination(owners: &mut [Owner], step: &Step, to: &Destination) {
    let size = usize::from(to.data_type.size());
    let lanes = usize::from(step.lanes.count);
    let Some(stride) = to.target.stride(size) else {
        return;
    };
    if to.address().is_some() {
        return;
    }
    for number in 0..lanes {
        let first = to.offset + number * stride;
        own(owners, first..first + size, lane(step, number));
    }
}

fn elements(owners: &mut [Owner], step: &Step, message: &LaneMessage) {
    let size = message.element.register;
    let parts: Vec<usize> = match &message.atomic {
        Some(atomic) => atomic.result.into_iter().collect(),
        None if message.store => Vec::new(),
        None => {
            let parts = message.parts.iter();
            parts
                .map(|(_, data)| message.data + *data as usize)
                .collect()
        }
    };
    for part in parts {
        for number in 0..message.lanes {
            let first = part + number * size;
            own(owners, first..first + size, lane(step, number));
        }
    }
}
