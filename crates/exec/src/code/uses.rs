//! The parts of the register file that a step reads and writes, lane by lane.

use crate::code::{
    Action, Compute, Destination, LaneMessage, Message, Region, Scalar, Source, Step, Systolic,
};
use std::ops::Range;

/// How a step uses some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// Reads those of its enabled lanes.
    Reads,
    /// Writes those of all lanes of its execution mask.
    Writes,
    /// Writes some of them.
    WritesSome,
    /// It is not known here how.
    Anyhow,
}

/// A part of the register file that a step uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Use {
    pub(crate) way: Way,
    pub(crate) lanes: Lanes,
}

/// Bytes of each lane of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lanes {
    /// First byte of the first lane.
    place: usize,
    /// Bytes from lane to lane.
    stride: usize,
    /// Bytes of a lane.
    bytes: usize,
    count: usize,
    /// First lane of the execution mask.
    first: usize,
    /// Whether it applies to all lanes, not only to those that the execution mask enables.
    all: bool,
}

impl Lanes {
    /// Bytes that no lane has for itself.
    fn whole(range: Range<usize>) -> Self {
        Self {
            place: range.start,
            stride: range.len(),
            bytes: range.len(),
            count: 1,
            first: 0,
            all: true,
        }
    }

    /// From the first byte to the last.
    pub(crate) fn extent(&self) -> Range<usize> {
        let last = self.place + self.count.saturating_sub(1) * self.stride;
        self.place..last + self.bytes
    }

    /// All of its bytes, if they follow each other and all of them are used whatever lanes run.
    pub(crate) fn contiguous(&self) -> Option<Range<usize>> {
        (self.all && self.stride == self.bytes).then(|| self.extent())
    }

    /// The bytes of each lane, with its number, or `None` if they are used whatever lanes run.
    pub(crate) fn each(&self) -> impl Iterator<Item = (Option<usize>, Range<usize>)> + use<> {
        let Self {
            place,
            stride,
            bytes,
            count,
            first,
            all,
        } = *self;
        (0..count).map(move |lane| {
            let start = place + lane * stride;
            ((!all).then_some(first + lane), start..start + bytes)
        })
    }

    /// Whether all of it has been written, each lane by itself.
    pub(crate) fn all_written(&self, written: &[Self]) -> bool {
        // Mostly it was written just so.
        let same = |w: &&Self| {
            w.place == self.place
                && w.stride == self.stride
                && w.bytes >= self.bytes
                && w.first == self.first
                && w.count >= self.count
                && (w.all || !self.all)
        };
        if written.iter().any(|w| same(&w)) {
            return true;
        }
        (0..self.count).all(|lane| {
            let place = self.place + lane * self.stride;
            let bytes = place..place + self.bytes;
            let lane = (!self.all).then_some(self.first + lane);
            written.iter().any(|w| w.has(&bytes, lane))
        })
    }

    /// Whether bytes belong to a lane, or (`None`) are used whatever lanes run.
    fn has(&self, bytes: &Range<usize>, lane: Option<usize>) -> bool {
        if self.all && self.stride == self.bytes {
            let all = self.extent();
            return all.start <= bytes.start && bytes.end <= all.end;
        }
        let number = match lane {
            _ if self.all => bytes.start.checked_sub(self.place),
            Some(lane) => lane.checked_sub(self.first).map(|n| n * self.stride),
            None => None,
        };
        let Some(number) = number.map(|n| n / self.stride.max(1)) else {
            return false;
        };
        let start = self.place + number * self.stride;
        number < self.count && start <= bytes.start && bytes.end <= start + self.bytes
    }
}

/// Collects what a step uses.
pub(crate) fn uses(step: &Step, to: &mut Vec<Use>) {
    let mut of = Collector { step, to };
    match &step.action {
        Action::Compute(compute) => of.compute(compute),
        Action::Message(message) => of.message(message),
        Action::Switch { index, .. } => of.scalar(*index),
        Action::CallAddress { address, .. } => of.scalar(*address),
        Action::NamedSignal(operands) => operands.iter().for_each(|o| of.scalar(*o)),
        Action::NamedWait(number) => of.scalar(*number),
        Action::UpdateMode(place) | Action::ExecutionMask(place) => of.anyhow(*place..*place + 4),
        Action::Clock(place) => of.anyhow(*place..*place + 8),
        Action::Systolic(systolic) => of.systolic(systolic),
        Action::Join
        | Action::Nothing
        | Action::Count(_)
        | Action::Jump { .. }
        | Action::Goto { .. }
        | Action::Call { .. }
        | Action::Return { .. }
        | Action::Barrier
        | Action::Signal
        | Action::Wait
        | Action::Fault(_) => {}
    }
}

struct Collector<'a> {
    step: &'a Step,
    to: &'a mut Vec<Use>,
}

impl Collector<'_> {
    fn add(&mut self, way: Way, lanes: Lanes) {
        self.to.push(Use { way, lanes });
    }

    fn anyhow(&mut self, range: Range<usize>) {
        self.add(Way::Anyhow, Lanes::whole(range));
    }

    fn scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Constant(_) => {}
            Scalar::Register { offset, data_type } => {
                let range = offset..offset + usize::from(data_type.size());
                self.add(Way::Reads, Lanes::whole(range));
            }
            Scalar::Indirect { address, .. } => self.anyhow(address..address + 2),
        }
    }

    /// Elements of the lanes of the step.
    fn lanes(&self, place: usize, stride: usize, bytes: usize) -> Lanes {
        let lanes = self.step.lanes;
        Lanes {
            place,
            stride,
            bytes,
            count: lanes.count.into(),
            first: lanes.first.into(),
            all: lanes.no_mask,
        }
    }

    fn writes(&self) -> Way {
        match self.step.predicate {
            None => Way::Writes,
            Some(_) => Way::WritesSome,
        }
    }

    fn compute(&mut self, compute: &Compute) {
        let (operation, lanes) = (compute.operation, self.step.lanes.count.into());
        let sources = compute.sources.iter().take(operation.sources());
        let destinations = std::iter::once(&compute.destination).chain(&compute.second);
        if operation.is_by_lane() {
            sources.for_each(|source| self.source(source));
            destinations.for_each(|destination| self.destination(destination));
            return;
        }
        // Some read elements of other lanes, or of lanes that the step does not have.
        for (number, source) in sources.enumerate() {
            self.anyhow(source.extent(operation.elements(number, lanes)));
        }
        destinations.for_each(|destination| self.anyhow(destination.extent(lanes)));
    }

    fn source(&mut self, source: &Source) {
        let size = usize::from(source.data_type.size());
        let stride = match source.region {
            Region::Packed => size,
            Region::Strided(stride) => stride.into(),
            _ => {
                let range = source.extent(self.step.lanes.count.into());
                let way = if source.region.is_indirect() {
                    Way::Anyhow
                } else {
                    Way::Reads
                };
                return self.add(way, Lanes::whole(range));
            }
        };
        self.add(Way::Reads, self.lanes(source.offset, stride, size));
    }

    fn destination(&mut self, destination: &Destination) {
        let size = usize::from(destination.data_type.size());
        if destination.address().is_some() {
            return self.anyhow(destination.extent(self.step.lanes.count.into()));
        }
        if let Some(stride) = destination.target.stride(size) {
            self.add(self.writes(), self.lanes(destination.offset, stride, size));
        }
    }

    /// Rows of elements, each with one for each lane.
    fn rows(&mut self, way: Way, place: usize, bytes: usize, element: usize) {
        let row = usize::from(self.step.lanes.count) * element;
        for place in (place..place + bytes).step_by(row.max(1)) {
            self.add(way, self.lanes(place, element, element));
        }
    }

    fn systolic(&mut self, systolic: &Systolic) {
        let (plan, places) = (systolic.plan, systolic.places);
        let sizes = plan.sizes();
        self.rows(Way::Reads, places.weights, sizes.weights, 4);
        if let Some(place) = places.accumulator {
            let element = plan.accumulator_bytes();
            self.rows(Way::Reads, place, sizes.accumulator, element);
        }
        // Of these every lane reads everything; a fused thread has but a part of the activations.
        let own = sizes.activations.min(systolic.available);
        let whole = [
            (Some(systolic.activations), own),
            (places.weight_scales, sizes.weight_scales),
            (places.activation_scales, sizes.activation_scales),
        ];
        for (place, bytes) in whole {
            if let Some(place) = place {
                self.add(Way::Reads, Lanes::whole(place..place + bytes));
            }
        }
        let way = self.writes();
        self.rows(way, places.result, sizes.result, plan.result_bytes());
    }

    fn message(&mut self, message: &Message) {
        let operands = message.operands();
        let plain = message.by_lane();
        if let Some(plain) = plain.filter(|m| m.lanes == usize::from(self.step.lanes.count)) {
            for scalar in operands.scalars {
                self.add(Way::Reads, Lanes::whole(scalar));
            }
            return self.lane_message(&plain);
        }
        let addresses = operands.addresses.into_iter();
        let addresses = addresses.map(|a| a.offset..a.offset + a.bytes * a.lanes);
        let others = operands.scalars.into_iter().chain(operands.sources);
        let data = operands.stored.into_iter().chain(operands.loaded);
        for range in addresses.chain(others).chain(data) {
            self.anyhow(range);
        }
    }

    fn lane_message(&mut self, message: &LaneMessage) {
        let addresses = self.lanes(message.addresses, message.width, message.width);
        self.add(Way::Reads, addresses);
        let bytes = message.element.register;
        if let Some(atomic) = &message.atomic {
            for place in atomic.operands.into_iter().flatten() {
                self.add(Way::Reads, self.lanes(place, bytes, bytes));
            }
            if let Some(place) = atomic.result {
                self.add(self.writes(), self.lanes(place, bytes, bytes));
            }
            return;
        }
        for (_, part) in &message.parts {
            // A lane's elements are as far apart as all lanes, or it is the only lane.
            let lanes = self.lanes(message.data + *part as usize, bytes, bytes);
            let way = if message.store {
                Way::Reads
            } else {
                self.writes()
            };
            self.add(way, lanes);
        }
    }
}
