//! Registers that a program reads before it has written them, on some path.
//!
//! Facts hold per lane: a lane that runs at a step has passed all blocks that dominate the step's own, and what it
//! wrote there has been written for it, whichever other lanes ran. Writes are never undone, so that the walk over the
//! dominator tree needs to retract facts only when it leaves a block.

use super::blocks::{Block, Edge};
use super::{Action, Code, Compute, Destination, Flag, Message, Operation, Region, Scalar, Source};
use super::{Step, Systolic};
use std::ops::Range;

/// Written for every lane.
const ALL: u8 = 1;
/// Written for the lane of that number above this, if it has come here.
const LANE: u8 = 2;

/// Bytes of the register file that may be read before they are written in a thread all of whose lanes start: true for
/// each. Words of predicates always count as read. `None` if that cannot be determined: at calls, operations that
/// access other lanes than their own, and instructions of fused threads.
pub(crate) fn exposed(code: &Code, addressed: &[Range<usize>]) -> Option<Vec<bool>> {
    let blocks = code.blocks();
    let entry = code.routines.first()?.entry;
    let entry = blocks.iter().position(|b| b.steps.start == entry)?;
    let parted = parted(code, &blocks);
    let children = dominated(&blocks, entry);
    let mut walk = Walk {
        state: vec![0; code.register_bytes],
        undo: Vec::new(),
        exposed: vec![false; code.register_bytes],
        addressed,
        known: true,
    };
    // Blocks to enter, and where facts are to be taken back to.
    let mut todo = vec![Visit::Block(entry)];
    while let Some(visit) = todo.pop() {
        let number = match visit {
            Visit::Block(number) => number,
            Visit::Back(mark) => {
                walk.back(mark);
                continue;
            }
        };
        todo.push(Visit::Back(walk.undo.len()));
        let together = !parted.get(number)?;
        for step in code.steps.get(blocks.get(number)?.steps.clone())? {
            walk.step(step, together);
        }
        todo.extend(children.get(number)?.iter().copied().map(Visit::Block));
    }
    walk.known.then_some(walk.exposed)
}

impl Code {
    /// For each step, whether all lanes that started are there whenever it runs; false where that is not known.
    #[must_use]
    pub fn converged(&self) -> Vec<bool> {
        let mut converged = vec![false; self.steps.len()];
        let calls = |step: &Step| {
            matches!(
                step.action,
                Action::Call { .. } | Action::CallAddress { .. }
            )
        };
        if self.steps.iter().any(calls) {
            return converged;
        }
        let blocks = self.blocks();
        for (block, parted) in blocks.iter().zip(parted(self, &blocks)) {
            if let Some(part) = converged.get_mut(block.steps.clone()) {
                part.fill(!parted);
            }
        }
        converged
    }
}

/// Lanes that some step of the code works on.
pub(crate) fn lanes(code: &Code) -> u32 {
    let lanes = code.steps.iter().map(|s| s.lanes.first + s.lanes.count);
    u32::MAX >> (32 - lanes.max().unwrap_or(1).clamp(1, 32))
}

enum Visit {
    Block(usize),
    Back(usize),
}

/// Whether lanes may have diverged before a block, by block.
fn parted(code: &Code, blocks: &[Block]) -> Vec<bool> {
    let mut parted = vec![false; blocks.len()];
    let mut todo: Vec<usize> = Vec::new();
    let parts = |block: &Block| {
        let last = code.steps.get(block.steps.clone()).and_then(<[Step]>::last);
        last.is_some_and(|step| matches!(step.action, Action::Goto { .. } | Action::Return { .. }))
    };
    for block in blocks.iter().filter(|block| parts(block)) {
        todo.extend(block.edges.iter().map(|edge| edge.block()));
    }
    while let Some(number) = todo.pop() {
        if let Some(known) = parted.get_mut(number)
            && !std::mem::replace(known, true)
        {
            let edges = blocks.get(number).map_or(&[][..], |block| &block.edges);
            todo.extend(edges.iter().map(|edge| edge.block()));
        }
    }
    parted
}

/// For each block those whose immediate dominator it is, by the algorithm of Cooper, Harvey and Kennedy.
fn dominated(blocks: &[Block], entry: usize) -> Vec<Vec<usize>> {
    let mut before = vec![Vec::new(); blocks.len()];
    for (number, block) in blocks.iter().enumerate() {
        for edge in &block.edges {
            if let Some(before) = before.get_mut(edge.block()) {
                before.push(number);
            }
        }
    }
    let order = postorder(blocks, entry);
    let mut rank = vec![usize::MAX; blocks.len()];
    for (place, number) in order.iter().enumerate() {
        if let Some(rank) = rank.get_mut(*number) {
            *rank = place;
        }
    }
    // By rank; the entry has the highest one.
    let mut above: Vec<Option<usize>> = vec![None; order.len()];
    let top = order.len().saturating_sub(1);
    if let Some(own) = above.get_mut(top) {
        *own = Some(top);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (place, number) in order.iter().enumerate().rev().skip(1) {
            let mut common: Option<usize> = None;
            for other in before.get(*number).into_iter().flatten() {
                let other = rank.get(*other).copied().unwrap_or(usize::MAX);
                if above.get(other).copied().flatten().is_some() {
                    common = Some(common.map_or(other, |c| meet(&above, c, other)));
                }
            }
            if let Some(own) = above.get_mut(place)
                && *own != common
            {
                *own = common;
                changed = true;
            }
        }
    }
    let mut children = vec![Vec::new(); blocks.len()];
    for (place, number) in order.iter().enumerate().take(top) {
        let parent = above.get(place).copied().flatten();
        let parent = parent.and_then(|p| order.get(p)).copied();
        if let Some(list) = parent.and_then(|p| children.get_mut(p)) {
            list.push(*number);
        }
    }
    children
}

/// The nearest block that dominates two.
fn meet(above: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let low = if a < b { &mut a } else { &mut b };
        match above.get(*low).copied().flatten() {
            Some(next) if next > *low => *low = next,
            _ => return above.len().saturating_sub(1),
        }
    }
    a
}

/// Blocks that can be reached, each after those that follow it.
fn postorder(blocks: &[Block], entry: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; blocks.len()];
    let mut path = vec![(entry, 0)];
    if let Some(seen) = seen.get_mut(entry) {
        *seen = true;
    }
    while let Some((number, edge)) = path.last_mut() {
        let edges: &[Edge] = blocks.get(*number).map_or(&[], |block| &block.edges);
        let Some(next) = edges.get(*edge).map(|edge| edge.block()) else {
            order.push(*number);
            path.pop();
            continue;
        };
        *edge += 1;
        if let Some(seen) = seen.get_mut(next)
            && !std::mem::replace(seen, true)
        {
            path.push((next, 0));
        }
    }
    order
}

struct Walk<'a> {
    /// What is known about each byte: nothing, [`ALL`], or from [`LANE`] on.
    state: Vec<u8>,
    /// Bytes with what was known about them before.
    undo: Vec<(usize, u8)>,
    exposed: Vec<bool>,
    addressed: &'a [Range<usize>],
    /// Whether all steps could be followed.
    known: bool,
}

/// Whose lanes a step reads or writes.
#[derive(Clone, Copy)]
struct Whose {
    first: u8,
    /// Whether all lanes that started run, or the mask is ignored.
    all: bool,
}

impl Whose {
    fn lane(self, lane: usize) -> u8 {
        if self.all {
            ALL
        } else {
            LANE + self.first + u8::try_from(lane).unwrap_or(0)
        }
    }
}

impl Walk<'_> {
    fn back(&mut self, mark: usize) {
        for (place, was) in self.undo.drain(mark.min(self.undo.len())..).rev() {
            if let Some(state) = self.state.get_mut(place) {
                *state = was;
            }
        }
    }

    fn write(&mut self, range: Range<usize>, who: u8) {
        for place in range {
            if let Some(state) = self.state.get_mut(place)
                && *state != ALL
                && *state != who
            {
                self.undo.push((place, *state));
                *state = who;
            }
        }
    }

    /// Bytes that a lane reads, or all lanes do.
    fn read(&mut self, range: Range<usize>, who: u8) {
        let states = self.state.get(range.clone()).unwrap_or(&[]);
        for (place, state) in range.zip(states) {
            if *state != ALL
                && *state != who
                && let Some(exposed) = self.exposed.get_mut(place)
            {
                *exposed = true;
            }
        }
    }

    fn read_addressed(&mut self) {
        let addressed = self.addressed;
        for range in addressed {
            self.read(range.clone(), ALL);
        }
    }

    fn scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Constant(_) => {}
            Scalar::Register { offset, data_type } => {
                self.read(offset..offset + usize::from(data_type.size()), ALL);
            }
            Scalar::Indirect { address, .. } => {
                self.read(address..address + 2, ALL);
                self.read_addressed();
            }
        }
    }

    /// A step; `together` says that all lanes that started run.
    fn step(&mut self, step: &Step, together: bool) {
        let first = step.lanes.first;
        let all = step.lanes.no_mask || together;
        // A step that is not predicated runs for all of its lanes that run.
        let whose = Whose { first, all };
        let certain = step.predicate.is_none();
        if let Some(flag) = &step.predicate {
            self.flag(flag);
        }
        match &step.action {
            Action::Compute(compute) => self.compute(compute, step, whose, certain),
            Action::Message(message) => self.message(message, step, whose, certain),
            Action::Systolic(systolic) => self.systolic(systolic),
            Action::ExecutionMask(place) => self.write(*place..place + 4, ALL),
            Action::Clock(place) => self.write(*place..place + 8, ALL),
            Action::UpdateMode(place) => self.read(*place..place + 4, ALL),
            Action::Switch { index, .. } => self.scalar(*index),
            Action::NamedSignal(scalars) => {
                for scalar in **scalars {
                    self.scalar(scalar);
                }
            }
            Action::NamedWait(scalar) => self.scalar(*scalar),
            Action::Call { .. } | Action::CallAddress { .. } => self.known = false,
            Action::Join
            | Action::Nothing
            | Action::Count(_)
            | Action::Jump { .. }
            | Action::Goto { .. }
            | Action::Return { .. }
            | Action::Barrier
            | Action::Signal
            | Action::Wait
            | Action::Fault(_) => {}
        }
    }

    fn compute(&mut self, compute: &Compute, step: &Step, whose: Whose, certain: bool) {
        if looks_around(compute.operation) {
            self.known = false;
        }
        let lanes = usize::from(step.lanes.count);
        // An enabled lane alone reads for itself even where others run.
        let reads = Whose {
            all: step.lanes.no_mask,
            ..whose
        };
        for source in compute.sources.iter().take(compute.operation.sources()) {
            self.source(source, lanes, reads);
        }
        let flags = compute.flags.iter().take(compute.operation.flags());
        for flag in flags.chain(&compute.sets) {
            self.flag(flag);
        }
        let destinations = std::iter::once(&compute.destination).chain(&compute.second);
        for destination in destinations {
            self.destination(destination, lanes, whose, certain);
        }
    }

    /// Lanes have bits in a predicate, not bytes: its word is set back.
    fn flag(&mut self, flag: &Flag) {
        for exposed in self
            .exposed
            .get_mut(flag.word_range())
            .into_iter()
            .flatten()
        {
            *exposed = true;
        }
    }

    fn source(&mut self, source: &Source, lanes: usize, whose: Whose) {
        if source.constant.is_some() {
            return;
        }
        if source.region.is_indirect() {
            self.read(source.extent(lanes), ALL);
            return self.read_addressed();
        }
        if matches!(source.region, Region::Scalar) && lanes > 1 {
            return self.read(source.extent(1), ALL);
        }
        let size = usize::from(source.data_type.size());
        for lane in 0..lanes {
            let place = source.offset + source.region.offset(lane, size).unwrap_or(0);
            self.read(place..place + size, whose.lane(lane));
        }
    }

    fn destination(&mut self, to: &Destination, lanes: usize, whose: Whose, certain: bool) {
        let size = usize::from(to.data_type.size());
        if to.address().is_some() {
            return self.read(to.extent(lanes), ALL);
        }
        let Some(stride) = to.target.stride(size) else {
            return;
        };
        if !certain {
            return;
        }
        for lane in 0..lanes {
            let place = to.offset + lane * stride;
            self.write(place..place + size, whose.lane(lane));
        }
    }

    fn message(&mut self, message: &Message, step: &Step, whose: Whose, certain: bool) {
        let Some(m) = message.lanes() else {
            let operands = message.operands();
            for lanes in &operands.addresses {
                let bytes = lanes.bytes * lanes.lanes;
                self.read(lanes.offset..lanes.offset + bytes, ALL);
            }
            let others = operands.scalars.iter().chain(&operands.sources);
            for range in others.chain(&operands.stored) {
                self.read(range.clone(), ALL);
            }
            // A scalar operand may be an address.
            self.read_addressed();
            return;
        };
        if let super::LaneSpace::Surface {
            place: Some(at), ..
        } = m.space
        {
            self.read(at..at + 4, ALL);
        }
        let reads = Whose {
            all: step.lanes.no_mask,
            ..whose
        };
        let size = m.element.register;
        for lane in 0..m.lanes {
            let who = reads.lane(lane);
            let address = m.addresses + lane * m.width;
            self.read(address..address + m.width, who);
            let atomic = m.atomic.iter().flat_map(|a| a.operands).flatten();
            for place in atomic {
                let at = place + lane * size;
                self.read(at..at + size, who);
            }
            for (_, register) in m.parts.iter().filter(|_| m.store) {
                let at = m.data + *register as usize + lane * size;
                self.read(at..at + size, who);
            }
        }
        if !certain || m.store {
            return;
        }
        for lane in 0..m.lanes {
            let who = whose.lane(lane);
            let result = m.atomic.as_ref().and_then(|a| a.result);
            if let Some(place) = result {
                let at = place + lane * size;
                self.write(at..at + size, who);
            }
            for (_, register) in &m.parts {
                let at = m.data + *register as usize + lane * size;
                self.write(at..at + size, who);
            }
        }
    }

    fn systolic(&mut self, systolic: &Systolic) {
        if systolic.fused {
            self.known = false;
        }
        for range in systolic.reads() {
            self.read(range, ALL);
        }
    }
}

/// Whether lanes read elements other than their own.
pub(super) const fn looks_around(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Differences
            | Operation::DifferencesAdd
            | Operation::DotProduct(_)
            | Operation::Line
            | Operation::Plane
            | Operation::ShuffleNibbles(_)
            | Operation::ScaleDown(_)
    )
}
