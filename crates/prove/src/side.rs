//! A program as it is compared by steps: its storage, the steps that it needs, and what is known of them.

use crate::atomic::commutes;
use crate::starts::{Starts, destinations};
use std::cell::OnceCell;
use std::ops::Range;
use visakit_exec::code::{Action, Code, Compute, Flag, Liveness, Message, Operation, Step, Target};
use visakit_exec::{Program, SLICE};

/// A program, what storage its register file consists of, and which steps it needs.
pub(crate) struct Side<'p> {
    pub(crate) program: &'p Program,
    /// Variables with those that they overlap, in whole registers, and constants; ascending.
    pub(crate) storage: Vec<Range<usize>>,
    pub(crate) kept: Vec<bool>,
    /// Whether groups have several threads: barriers order nothing else.
    pub(crate) several: bool,
    /// For each step, whether all lanes that started are there.
    pub(crate) converged: Vec<bool>,
    pub(crate) starts: Starts,
    /// What lanes may read again; `None` if the program is not analysed.
    live: OnceCell<Option<Liveness>>,
}

impl<'p> Side<'p> {
    pub(crate) fn new(program: &'p Program, several: bool) -> Self {
        let code = program.code();
        let slots = (0..code.routines.len()).flat_map(|r| program.declared(r));
        let slots = slots.map(|declared| &declared.slot);
        let slots = slots.chain(program.predefined_variables().map(|(_, slot)| slot));
        let constants = code.constants.iter().map(|(at, b)| *at..at + b.len());
        let mut all: Vec<Range<usize>> = slots
            .map(|slot| slot.offset..slot.offset + slot.bytes)
            .chain(program.addressed().iter().cloned())
            .chain(constants)
            .filter(|range| !range.is_empty())
            .collect();
        all.sort_unstable_by_key(|range| (range.start, range.end));
        let mut storage: Vec<Range<usize>> = Vec::with_capacity(all.len());
        for range in all {
            match storage.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => storage.push(range),
            }
        }
        // Up to the end of the last register where nothing else is: that is what instructions may access.
        let registers = usize::try_from(program.grf_bytes()).unwrap_or(1);
        let constant = code.constants.first().map_or(usize::MAX, |(at, _)| *at);
        let next: Vec<usize> = storage.iter().skip(1).map(|range| range.start).collect();
        for (range, next) in storage.iter_mut().zip(next) {
            if range.end <= constant {
                let whole = range.start + range.len().next_multiple_of(registers);
                range.end = whole.min(next);
            }
        }
        let mut side = Self {
            program,
            storage,
            kept: Vec::new(),
            several,
            converged: code.converged(),
            starts: Starts::default(),
            live: OnceCell::new(),
        };
        side.kept = side.needed();
        side
    }

    pub(crate) fn code(&self) -> &'p Code {
        self.program.code()
    }

    /// The storage that a byte is in, or the last one before it.
    pub(crate) fn owner(&self, place: usize) -> Option<usize> {
        let after = self.storage.partition_point(|range| range.start <= place);
        after.checked_sub(1)
    }

    /// Whether bytes are in one storage.
    pub(crate) fn inside(&self, bytes: &Range<usize>) -> bool {
        let owner = self.owner(bytes.start).and_then(|n| self.storage.get(n));
        bytes.is_empty() || owner.is_some_and(|storage| bytes.end <= storage.end)
    }

    /// Steps that something depends on: all that do more than to compute, and those that compute what these need.
    pub(crate) fn needed(&self) -> Vec<bool> {
        let steps = &self.code().steps;
        // A clock counts what runs.
        let clock = steps.iter().any(|s| matches!(s.action, Action::Clock(_)));
        let mut kept = vec![false; steps.len()];
        let mut read = vec![false; self.program.register_bytes()];
        let mark = |read: &mut Vec<bool>, bytes: Range<usize>| {
            if let Some(part) = read.get_mut(bytes) {
                part.fill(true);
            }
        };
        // Others name places from which on they may read anything.
        let whole = |read: &mut Vec<bool>, place: usize| {
            let storage = self.owner(place).and_then(|n| self.storage.get(n));
            storage.into_iter().for_each(|s| mark(read, s.clone()));
        };
        let mut changed = true;
        while changed {
            changed = false;
            for (place, (step, kept)) in steps.iter().zip(&mut kept).enumerate().rev() {
                let needed = |bytes: Range<usize>| {
                    let part = read.get(bytes);
                    part.is_none_or(|part| part.contains(&true))
                };
                let computes = match &step.action {
                    Action::Compute(compute) if !is_indirect(step) => Some(compute),
                    _ => None,
                };
                let needs = match (computes, &step.action) {
                    (Some(compute), _) => {
                        clock
                            || !self.is_idle(place, step)
                                && destinations(compute, step).into_iter().any(needed)
                    }
                    (None, Action::Nothing) => clock,
                    (None, Action::Barrier) => clock || self.several,
                    (None, _) => true,
                };
                if *kept || !needs {
                    continue;
                }
                (*kept, changed) = (true, true);
                match computes {
                    Some(compute) => reads(compute, step).for_each(|bytes| mark(&mut read, bytes)),
                    None => {
                        let places = step.nameless().places;
                        places.into_iter().for_each(|p| whole(&mut read, p));
                        if is_indirect(step) {
                            let all = self.program.addressed().iter();
                            all.for_each(|range| whole(&mut read, range.start));
                        }
                    }
                }
            }
        }
        kept
    }

    /// Whether none of its lanes ever runs.
    fn is_idle(&self, place: usize, step: &Step) -> bool {
        let lanes = mask(step).filter(|_| !step.lanes.no_mask);
        lanes.is_some_and(|lanes| lanes & self.starts.reached(place) == 0)
    }

    /// A step. Where all of its lanes run, whatever its mask says, it is that of the first lanes without a mask.
    pub(crate) fn step(&self, place: usize) -> Option<Step> {
        let mut step = self.code().steps.get(place)?.clone();
        let lanes = step.lanes;
        let all = mask(&step)?;
        let full = lanes.no_mask
            || self.converged.get(place) == Some(&true) && self.starts.lanes & all == all;
        let straight = matches!(step.action, Action::Compute(_) | Action::Message(_));
        if full && straight {
            step.lanes.first = 0;
            step.lanes.no_mask = true;
        }
        // Running lanes jump, whatever the mask says.
        if matches!(step.action, Action::Goto { .. }) {
            step.lanes.no_mask = false;
        }
        Some(step)
    }

    /// What lanes may read again.
    pub(crate) fn live(&self) -> Option<&Liveness> {
        let live = self.live.get_or_init(|| {
            let addressed = self.program.addressed();
            Liveness::new(self.code(), addressed, false)
        });
        live.as_ref()
    }

    /// Bits of a predicate's word that steps may read, if they are written at that place.
    pub(crate) fn read_bits(&self, offset: u32) -> u32 {
        let word = offset as usize..offset as usize + 4;
        let touches = |bytes: &Range<usize>| bytes.start < word.end && word.start < bytes.end;
        let mut bits = 0;
        for step in &self.code().steps {
            if step.read().iter().any(touches) {
                return u32::MAX;
            }
            let mut flags: Vec<&Flag> = step.predicate.iter().collect();
            if let Action::Compute(compute) = &step.action {
                let all = matches!(compute.operation, Operation::FlagToNumber(_));
                let read = compute.flags.iter().take(compute.operation.flags());
                if all && read.clone().any(|flag| touches(&flag.word_range())) {
                    return u32::MAX;
                }
                flags.extend(read);
            }
            for flag in flags {
                match flag.word_range() {
                    same if same == word => bits |= flag.read_bits(),
                    other if touches(&other) => return u32::MAX,
                    _ => {}
                }
            }
        }
        bits
    }

    /// Places of the steps that are kept, and for each step the number of those before it.
    pub(crate) fn order(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut kept, mut before) = (Vec::new(), Vec::new());
        for (place, is_kept) in self.kept.iter().enumerate() {
            before.push(kept.len());
            if *is_kept {
                kept.push(place);
            }
        }
        (kept, before)
    }

    /// Whether all that steps access without an address is inside of the storage that it begins in: also those that are
    /// left out, as nothing depends on what they write there.
    pub(crate) fn stays(&self) -> bool {
        let inside = |step: &Step| accessed(step).iter().all(|bytes| self.inside(bytes));
        self.code().steps.iter().all(inside)
    }

    /// Instructions that are left out before each step that is kept, and after the last one.
    pub(crate) fn pace(&self) -> Vec<usize> {
        let mut pace = vec![0];
        for (step, kept) in self.code().steps.iter().zip(&self.kept) {
            match pace.last_mut() {
                _ if *kept => pace.push(0),
                Some(left_out) => *left_out += usize::from(step.action.is_instruction()),
                None => {}
            }
        }
        pace
    }

    /// Whether a thread may run so long that others have their turn before it waits or ends, and there is an atomic
    /// operation whose result depends on which of them came first.
    pub(crate) fn shows_order(&self) -> bool {
        let steps = &self.code().steps;
        let repeats = |(place, step): (usize, &Step)| match &step.action {
            Action::Call { .. } | Action::CallAddress { .. } => true,
            _ => step.nameless().targets.iter().any(|to| *to <= place),
        };
        let long = steps.len() as u64 >= SLICE || steps.iter().enumerate().any(repeats);
        long && self.has_ordered_atomics()
    }

    /// Whether there is an atomic operation whose result depends on which thread came first.
    pub(crate) fn has_ordered_atomics(&self) -> bool {
        let ordered = |step: &Step| match &step.action {
            Action::Message(message) => is_ordered(message),
            _ => false,
        };
        self.code().steps.iter().any(ordered)
    }

    /// The bytes of a constant from a place on.
    pub(crate) fn constant(&self, place: usize) -> Option<&'p [u8]> {
        let all = &self.code().constants;
        let after = all.partition_point(|(at, _)| *at <= place);
        let (at, bytes) = all.get(after.checked_sub(1)?)?;
        bytes.get(place - at..).filter(|rest| !rest.is_empty())
    }

    /// The routines for which a recursive call saves a place.
    pub(crate) fn saved(&self, place: usize) -> impl Iterator<Item = bool> + use<'p> {
        let routines = self.code().routines.iter();
        routines.map(move |r| r.own.iter().any(|own| own.contains(&place)))
    }
}

/// The lanes of a step, whatever its mask says.
fn mask(step: &Step) -> Option<u32> {
    let lanes = step.lanes;
    let mask = u32::MAX >> (32 - u32::from(lanes.count).clamp(1, 32));
    mask.checked_shl(lanes.first.into())
}

/// Whether a message has an atomic operation whose result depends on the order of threads.
fn is_ordered(message: &Message) -> bool {
    match message.name() {
        "counter" | "typed_atomic" => true,
        "atomic" => {
            let atomic = message.by_lane().and_then(|lanes| lanes.atomic);
            message.operands().loaded.is_some() || !atomic.is_some_and(|a| commutes(a.op))
        }
        _ => false,
    }
}

/// Bytes that a step accesses at places that it names, all lanes together.
fn accessed(step: &Step) -> Vec<Range<usize>> {
    let mut all = step.read();
    all.extend(step.predicate.as_ref().map(Flag::word_range));
    match &step.action {
        Action::Compute(compute) => {
            all.extend(destinations(compute, step));
            let flags = compute.flags.iter().take(compute.operation.flags());
            all.extend(flags.map(Flag::word_range));
        }
        _ => all.extend(step.written().into_iter().flatten()),
    }
    all
}

/// Parts of the register file that a step may write, all lanes together, besides the predicate that a computation sets.
pub(crate) fn written(step: &Step, program: &Program) -> Vec<Range<usize>> {
    let addressed = || program.addressed().to_vec();
    let Action::Compute(compute) = &step.action else {
        return step.written().map_or_else(addressed, Iterator::collect);
    };
    let lanes = usize::from(step.lanes.count);
    let destinations = std::iter::once(&compute.destination).chain(&compute.second);
    let to = destinations.filter(|to| to.target != Target::Null);
    to.flat_map(|to| match to.address() {
        None => vec![to.extent(lanes)],
        Some(_) => addressed(),
    })
    .collect()
}

/// Whether an address decides which registers a step accesses.
pub(crate) fn is_indirect(step: &Step) -> bool {
    match &step.action {
        Action::Compute(compute) => {
            let used = compute.operation.sources();
            let mut sources = compute.sources.iter().take(used);
            let destinations = std::iter::once(&compute.destination).chain(&compute.second);
            sources.any(|source| source.region.is_indirect())
                || destinations.into_iter().any(|to| to.address().is_some())
        }
        // Others are few; any of them may have an operand by an address.
        Action::Message(message) => message.operands().indirect,
        Action::Switch { .. }
        | Action::CallAddress { .. }
        | Action::NamedSignal(_)
        | Action::NamedWait(_) => true,
        _ => false,
    }
}

/// Places that a computation without addresses names besides its sources.
pub(crate) fn own_places(step: &Step) -> Vec<usize> {
    let Action::Compute(compute) = &step.action else {
        return Vec::new();
    };
    let destinations = std::iter::once(&compute.destination).chain(&compute.second);
    let written = destinations.filter(|to| to.target != Target::Null);
    let flags = compute.flags.iter().take(compute.operation.flags());
    let flags = flags.chain(&compute.sets).chain(&step.predicate);
    let flags = flags.map(|flag| flag.offset as usize);
    written.map(|to| to.offset).chain(flags).collect()
}

/// Bytes that a computation without addresses reads, all lanes together.
fn reads<'s>(compute: &'s Compute, step: &'s Step) -> impl Iterator<Item = Range<usize>> + use<'s> {
    let flags = compute.flags.iter().take(compute.operation.flags());
    let flags = flags.chain(&step.predicate).map(Flag::word_range);
    step.read().into_iter().chain(flags)
}
