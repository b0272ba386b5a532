//! What is so in a thread at each step, whatever is in memory: numbers that the first block computes of those that the
//! thread starts with, and lanes that do not come to a step.

use crate::local::is_float;
use crate::side::written;
use hashbrown::{HashMap, HashSet};
use std::ops::Range;
use visakit_exec::code::{Action, Code, Combine, Destination, Flag, Region, Source, Step};
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
    /// Of a program, whose steps are followed or not.
    pub(crate) fn of(program: &Program, follows: bool) -> Self {
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
        if follows && entry == Some(0) && !code.steps.iter().any(calls) {
            writers.follows = true;
            let first = code.steps.iter().enumerate().position(ends);
            writers.first = first.unwrap_or(0);
        }
        writers
    }

    fn add(&mut self, step: &Step, program: &Program) {
        if let Action::Compute(compute) = &step.action
            && let Some(flag) = &compute.sets
        {
            let bits = self.bits.entry(flag.offset).or_default();
            for (bit, count) in bits.iter_mut().enumerate() {
                *count = count.saturating_add(u8::from(flag.lanes() >> bit & 1 != 0));
            }
        }
        for range in written(step, program) {
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
    /// Bytes that steps of the beginning read, whatever is written there later.
    pub(crate) read: HashMap<(usize, usize), u8>,
    /// Bits of words of predicates, from a step on.
    bits: HashMap<(u32, u8), (bool, usize)>,
    /// Lanes that may come to each step.
    pub(crate) lanes: Vec<u32>,
}

impl<'w> Facts<'w> {
    /// Of a thread that starts with these numbers and lanes.
    pub(crate) fn of(
        program: &Program,
        writers: &'w Writers,
        starts: impl Iterator<Item = Option<u8>>,
        running: u32,
    ) -> Self {
        let code = program.code();
        let mut now: Vec<Option<u8>> = starts.collect();
        let numbers = now.iter().zip(&writers.bytes);
        let numbers = numbers.map(|(byte, writers)| Some((byte.filter(|_| *writers == 0)?, 0)));
        let mut facts = Self {
            writers,
            numbers: numbers.collect(),
            read: HashMap::new(),
            bits: HashMap::new(),
            lanes: vec![if writers.follows { 0 } else { running }; code.steps.len()],
        };
        for place in 0..writers.first {
            facts.step(program, &mut now, place, running);
        }
        if writers.follows {
            facts.follow(code, running);
        }
        facts
    }

    /// What a step of the beginning reads and writes of what is known.
    fn step(&mut self, program: &Program, now: &mut [Option<u8>], place: usize, running: u32) {
        let Some(step) = program.code().steps.get(place) else {
            return;
        };
        let Action::Compute(compute) = &step.action else {
            let all = written(step, program).into_iter();
            all.for_each(|range| forget(now, range));
            return;
        };
        let known =
            step.predicate.is_none() && compute.operation.flags() == 0 && !is_float(compute);
        let function = LaneFunction::of(compute, 0).filter(|_| known);
        let used = compute.operation.sources();
        let lanes = (0..usize::from(step.lanes.count)).filter(|lane| {
            step.lanes.no_mask || running >> (usize::from(step.lanes.first) + lane) & 1 != 0
        });
        let mut results = Vec::new();
        for lane in lanes {
            let mut sources = [0; 4];
            let mut known = true;
            for (to, source) in sources.iter_mut().zip(&compute.sources).take(used) {
                let found = self.element(now, source, lane, place);
                known &= found.is_some();
                *to = found.unwrap_or(0);
            }
            let function = function.filter(|_| known);
            let result = function.and_then(|function| function.evaluate(sources, false));
            results.push((lane, result));
        }
        for to in std::iter::once(&compute.destination).chain(&compute.second) {
            if to.address().is_some() {
                let all = program.addressed().iter().cloned();
                all.for_each(|range| forget(now, range));
            }
        }
        for (lane, result) in results {
            let value = result.map(|result| result.value);
            let second = result.map(|result| result.second);
            self.write(now, &compute.destination, (lane, value), place);
            if let Some(to) = &compute.second {
                self.write(now, to, (lane, second), place);
            }
            if let (Some(flag), Some(result)) = (&compute.sets, result)
                && flag.window >> lane & 1 != 0
                && let Ok(bit) = u8::try_from(usize::from(flag.first) + lane)
                && self.writers.is_set_once(flag, bit)
            {
                self.bits
                    .insert((flag.offset, bit), (result.flag, place + 1));
            }
        }
        // A word of predicates is not followed as a number.
        if let Some(flag) = &compute.sets {
            forget(now, flag.word_range());
        }
    }

    /// Writes the element of a lane, whose value may be unknown.
    fn write(
        &mut self,
        now: &mut [Option<u8>],
        to: &Destination,
        (lane, value): (usize, Option<u64>),
        place: usize,
    ) {
        let size = usize::from(to.data_type.size());
        let Some(stride) = to.target.stride(size).filter(|_| to.address().is_none()) else {
            return;
        };
        let at = to.offset + lane * stride;
        let value = value.map(u64::to_le_bytes);
        for (number, byte) in (at..at + size).enumerate() {
            let value = value.and_then(|value| value.get(number).copied());
            if let Some(to) = now.get_mut(byte) {
                *to = value;
            }
            let alone = self.writers.bytes.get(byte) == Some(&1);
            if let (Some(value), Some(to)) = (value, self.numbers.get_mut(byte))
                && alone
            {
                *to = Some((value, place + 1));
            }
        }
    }

    /// The element that a lane reads at a step, if it is a number.
    fn element(
        &mut self,
        now: &[Option<u8>],
        source: &Source,
        lane: usize,
        place: usize,
    ) -> Option<u64> {
        let scalar = source.region == Region::Scalar;
        let size = usize::from(source.data_type.size());
        let offset = source.region.offset(if scalar { 0 } else { lane }, size)?;
        let (at, mut bytes) = (source.offset + offset, [0; 8]);
        let mut known = true;
        for (to, at) in bytes.iter_mut().zip(at..at + size) {
            match now.get(at).copied().flatten() {
                Some(number) => {
                    self.read.insert((place, at), number);
                    *to = number;
                }
                None => known = false,
            }
        }
        known.then(|| u64::from_le_bytes(bytes))
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
}

/// Nothing is known of these bytes.
fn forget(now: &mut [Option<u8>], bytes: Range<usize>) {
    if let Some(bytes) = now.get_mut(bytes) {
        bytes.fill(None);
    }
}
