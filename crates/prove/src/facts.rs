//! What is so in a thread at each step, whatever is in memory: numbers that the first block computes of those that the
//! thread starts with, and lanes that do not come to a step.

use crate::local::is_float;
use hashbrown::{HashMap, HashSet};
use std::ops::Range;
use visakit_exec::code::{Action, Code, Combine, Flag, Region, Source, Step, Target};
use visakit_exec::{LaneFunction, Program};

/// A number of one byte, and the step that writes it.
pub(crate) type Number = (u8, usize);

/// Who writes what.
pub(crate) struct Writers {
    /// How many steps write each byte, up to two.
    bytes: Vec<u8>,
    /// How many write each bit of a word of predicates.
    bits: HashMap<u32, [u8; 32]>,
    /// Steps at the beginning that run one after the other, once.
    first: usize,
    /// Whether lanes come to steps by jumps alone.
    follows: bool,
}

impl Writers {
    /// Of a program.
    pub(crate) fn of(program: &Program) -> Self {
        let code = program.code();
        let mut writers = Self {
            bytes: vec![0; program.register_bytes()],
            bits: HashMap::new(),
            first: 0,
            follows: false,
        };
        let mut targets = HashSet::new();
        for step in &code.steps {
            writers.add(step, program);
            targets.extend(step.nameless().targets);
        }
        let ends = |(place, step): (usize, &Step)| {
            let straight = step.action.is_straight()
                || matches!(
                    step.action,
                    Action::UpdateMode(_)
                        | Action::ExecutionMask(_)
                        | Action::Clock(_)
                        | Action::Count(_)
                        | Action::Barrier
                        | Action::Systolic(_)
                );
            !straight || targets.contains(&place)
        };
        let calls = |step: &Step| {
            let call = matches!(step.action, Action::Call { .. });
            call || matches!(step.action, Action::CallAddress { .. })
        };
        let entry = code.routines.first().map(|routine| routine.entry);
        if entry == Some(0) && !code.steps.iter().any(calls) {
            writers.follows = true;
            let first = code.steps.iter().enumerate().position(ends);
            writers.first = first.unwrap_or(0);
        }
        writers
    }

    fn add(&mut self, step: &Step, program: &Program) {
        let ranges: Vec<Range<usize>> = match &step.action {
            Action::Compute(compute) => {
                if let Some(flag) = &compute.sets {
                    let bits = self.bits.entry(flag.offset).or_default();
                    for (bit, count) in bits.iter_mut().enumerate() {
                        *count = count.saturating_add(u8::from(flag.lanes() >> bit & 1 != 0));
                    }
                }
                let to = std::iter::once(&compute.destination).chain(&compute.second);
                let lanes = usize::from(step.lanes.count);
                let to = to.filter(|to| to.target != Target::Null);
                to.flat_map(|to| match to.address() {
                    None => vec![to.extent(lanes)],
                    Some(_) => program.addressed().to_vec(),
                })
                .collect()
            }
            _ => match step.written() {
                Some(written) => written.collect(),
                None => program.addressed().to_vec(),
            },
        };
        for range in ranges {
            for count in self.bytes.get_mut(range).into_iter().flatten() {
                *count = count.saturating_add(1);
            }
        }
    }

    /// Whether one step sets a bit of a predicate, and nothing else writes its word.
    fn is_set_once(&self, flag: &Flag, bit: u8) -> bool {
        let word = self.bytes.get(flag.word_range());
        let bits = self.bits.get(&flag.offset);
        word.is_some_and(|word| word.iter().all(|count| *count == 0))
            && bits.and_then(|bits| bits.get(usize::from(bit))) == Some(&1)
    }
}

/// What is known of one thread.
pub(crate) struct Facts<'w> {
    writers: &'w Writers,
    /// Bytes that have a number from the start on, or from a step on.
    pub(crate) numbers: Vec<Option<Number>>,
    /// Bits of words of predicates, from a step on.
    bits: HashMap<(u32, u8), (bool, usize)>,
    /// Lanes that may come to each step.
    pub(crate) lanes: Vec<u32>,
}

impl<'w> Facts<'w> {
    /// Of a thread that starts with these numbers and lanes.
    pub(crate) fn of(
        code: &Code,
        writers: &'w Writers,
        starts: impl Iterator<Item = Option<u8>>,
        running: u32,
    ) -> Self {
        let numbers = starts.zip(&writers.bytes);
        let numbers = numbers.map(|(byte, writers)| Some((byte.filter(|_| *writers == 0)?, 0)));
        let mut facts = Self {
            writers,
            numbers: numbers.collect(),
            bits: HashMap::new(),
            lanes: vec![if writers.follows { 0 } else { running }; code.steps.len()],
        };
        for (place, step) in code.steps.iter().enumerate().take(writers.first) {
            facts.compute(place, step, running);
        }
        if writers.follows {
            facts.follow(code, running);
        }
        facts
    }

    /// The numbers that a step writes into bytes that no other step writes.
    fn compute(&mut self, place: usize, step: &Step, running: u32) {
        let Action::Compute(compute) = &step.action else {
            return;
        };
        if step.predicate.is_some() || compute.operation.flags() > 0 || is_float(compute) {
            return;
        }
        let Some(function) = LaneFunction::of(compute, 0) else {
            return;
        };
        let used = compute.operation.sources();
        for lane in 0..usize::from(step.lanes.count) {
            let number = usize::from(step.lanes.first) + lane;
            if !step.lanes.no_mask && running >> number & 1 == 0 {
                continue;
            }
            let mut sources = [0; 4];
            let mut known = true;
            for (to, source) in sources.iter_mut().zip(&compute.sources).take(used) {
                let found = self.element(source, lane, place);
                known &= found.is_some();
                *to = found.unwrap_or(0);
            }
            let result = known.then(|| function.evaluate(sources, false)).flatten();
            let Some(result) = result else { continue };
            let to = [
                (Some(&compute.destination), result.value),
                (compute.second.as_ref(), result.second),
            ];
            for (to, value) in to {
                let Some(to) = to else { continue };
                let size = usize::from(to.data_type.size());
                let Some(stride) = to.target.stride(size).filter(|_| to.address().is_none()) else {
                    continue;
                };
                let at = to.offset + lane * stride;
                for (byte, value) in (at..at + size).zip(value.to_le_bytes()) {
                    let alone = self.writers.bytes.get(byte) == Some(&1);
                    if let Some(to) = self.numbers.get_mut(byte).filter(|_| alone) {
                        *to = Some((value, place + 1));
                    }
                }
            }
            if let Some(flag) = &compute.sets
                && flag.window >> lane & 1 != 0
                && let Ok(bit) = u8::try_from(usize::from(flag.first) + lane)
                && self.writers.is_set_once(flag, bit)
            {
                self.bits
                    .insert((flag.offset, bit), (result.flag, place + 1));
            }
        }
    }

    /// Finds the lanes that may come to each step: all that start, but for those that a predicate of known bits sends
    /// elsewhere.
    fn follow(&mut self, code: &Code, running: u32) {
        let mut todo = vec![(0, running)];
        while let Some((place, lanes)) = todo.pop() {
            let (Some(step), Some(known)) = (code.steps.get(place), self.lanes.get_mut(place))
            else {
                continue;
            };
            let more = lanes & !*known;
            if more == 0 {
                continue;
            }
            *known |= more;
            let next = place + 1;
            match &step.action {
                Action::Goto { target, inverted } => {
                    let (mut jump, mut stay) = (0, 0);
                    for lane in (0..32).filter(|lane| more >> lane & 1 != 0) {
                        let taken = self.takes(step, lane, place, *inverted);
                        let outside = self.is_outside(step, lane);
                        jump |= u32::from(!outside && taken != Some(false)) << lane;
                        stay |= u32::from(outside || taken != Some(true)) << lane;
                    }
                    todo.extend([(*target, jump), (next, stay)]);
                }
                Action::Jump { target, .. } => todo.extend([(*target, more), (next, more)]),
                Action::Switch { targets, .. } => {
                    todo.extend(targets.iter().map(|target| (*target, more)));
                }
                Action::Return { .. } if step.predicate.is_none() => {}
                _ => todo.push((next, more)),
            }
        }
    }

    /// Whether a lane is none of those that an instruction works on.
    fn is_outside(&self, step: &Step, lane: u8) -> bool {
        let from = lane.checked_sub(step.lanes.first);
        from.is_none_or(|from| step.lanes.window() >> from & 1 == 0)
    }

    /// Whether a lane jumps; `None` if it is not known.
    fn takes(&self, step: &Step, lane: u8, place: usize, inverted: bool) -> Option<bool> {
        let Some(flag) = &step.predicate else {
            return Some(true);
        };
        let from = lane.checked_sub(step.lanes.first)?;
        if flag.combine != Combine::PerLane || flag.window >> from & 1 == 0 {
            return None;
        }
        let bit = flag.first.checked_add(from)?;
        let (bit, since) = self.bits.get(&(flag.offset, bit))?;
        (*since <= place).then_some((*bit != flag.invert) != inverted)
    }

    /// The element that a lane reads at a step, if it is a number.
    fn element(&self, source: &Source, lane: usize, place: usize) -> Option<u64> {
        let lane = if source.region == Region::Scalar {
            0
        } else {
            lane
        };
        let size = usize::from(source.data_type.size());
        let at = source.offset + source.region.offset(lane, size)?;
        let mut bytes = [0; 8];
        for (to, at) in bytes.iter_mut().zip(at..at + size) {
            *to = self.number(at, place)?;
        }
        Some(u64::from_le_bytes(bytes))
    }

    /// The number in a byte at a step.
    fn number(&self, at: usize, place: usize) -> Option<u8> {
        let (number, since) = self.numbers.get(at).copied().flatten()?;
        (since <= place).then_some(number)
    }
}
