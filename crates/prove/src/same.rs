//! Whether two launches are the same program but for names: a proof for all inputs without any term.
//!
//! A program does not observe where its registers are, what its labels are called, what it computes that nothing depends
//! on, or a barrier of one thread. Steps that may be left out are left out of both; what remains must be the same, one step after the other, with a
//! bijection of the variables' storage. Threads then start with the same bytes in corresponding places, and whatever one
//! launch does, the other does step by step: also with what nobody wrote, with races, and with operations that terms do not
//! look into.
//!
//! Each access is checked to stay inside of the storage that it begins in, so that no other relation of places matters.
//! Addresses of registers are numbers that a program sees: variables whose address is taken must be at the same places.
//!
//! What the other threads of a group have done so far depends on how many instructions a thread has run, which steps that are
//! left out change. Where atomic operations show that, threads must run at the same pace.

use crate::atomic::commutes;
use crate::local::{Byte, Local};
use crate::starts::{Starts, destinations};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use visakit_exec::code::{
    Action, Code, Compute, Flag, Lane, Message, Nameless, Operation, Step, Target,
};
use visakit_exec::{Limits, Program, SLICE};
use visakit_launch::{LaunchError, Prepared};

/// Whether both launches of each pair do the same, step by step. All are of the same two programs. False says nothing.
///
/// # Errors
/// Those of starting a group.
pub(crate) fn same(
    launches: &[[Prepared; 2]],
    deadline: Option<Instant>,
) -> Result<bool, LaunchError> {
    let Some([old, new]) = launches.first() else {
        return Ok(false);
    };
    let threads = threads(old)?.max(threads(new)?);
    let mut sides = [old, new].map(|launch| Side::new(launch.program(), threads > 1));
    let pairs = match Bijection::between(&sides) {
        Some(pairs) => pairs,
        None => {
            for (number, side) in sides.iter_mut().enumerate() {
                let launches = launches.iter().filter_map(|pair| pair.get(number));
                side.starts = Starts::of(side.program, launches, deadline)?;
            }
            let Some(pairs) = Bijection::between(&sides) else {
                return Ok(false);
            };
            pairs
        }
    };
    let [first, second] = &sides;
    let alone = threads <= 1 && old.group_count() <= 1 && new.group_count() <= 1;
    if !alone && first.pace() != second.pace() && (first.shows_order() || second.shows_order()) {
        return Ok(false);
    }
    for [old, new] in launches {
        let alike = old.objects() == new.objects() && old.memory().is_like(new.memory());
        if !alike || !starts(old, new, &pairs, deadline)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Threads of a group.
fn threads(launch: &Prepared) -> Result<usize, LaunchError> {
    Ok(launch.start(0, &Limits::default())?.threads().len())
}

/// Whether all threads start with the same bytes in corresponding places, and the same local and scratch memory.
fn starts(
    old: &Prepared,
    new: &Prepared,
    pairs: &[[Range<usize>; 2]],
    deadline: Option<Instant>,
) -> Result<bool, LaunchError> {
    let programs = [old.program(), new.program()];
    let defined = programs.map(|program| {
        let mut defined = vec![0_u8; program.register_bytes()];
        for range in program.defined() {
            if let Some(part) = defined.get_mut(range) {
                part.fill(1);
            }
        }
        defined
    });
    let equal = |old: &[u8], new: &[u8]| {
        let mut all = pairs.iter();
        all.all(|[a, b]| old.get(a.clone()).is_some() && old.get(a.clone()) == new.get(b.clone()))
    };
    let [first, second] = &defined;
    if old.group_count() != new.group_count() || !equal(first, second) {
        return Ok(false);
    }
    let limits = Limits::default();
    for number in 0..old.group_count() {
        if deadline.is_some_and(|end| Instant::now() > end) {
            return Ok(false);
        }
        let (a, b) = (old.start(number, &limits)?, new.start(number, &limits)?);
        let mut threads = a.threads().iter().zip(b.threads());
        let alike = a.slm() == b.slm()
            && a.threads().len() == b.threads().len()
            && threads.all(|(a, b)| {
                let running = [(a, old), (b, new)].map(|(t, l)| t.position(l.program()).running);
                let [first, second] = running;
                first == second && a.scratch() == b.scratch() && equal(a.registers(), b.registers())
            });
        if !alike {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A program, what storage its register file consists of, and which steps it needs.
struct Side<'p> {
    program: &'p Program,
    /// Variables with those that they overlap, in whole registers, and constants; ascending.
    storage: Vec<Range<usize>>,
    kept: Vec<bool>,
    /// Whether groups have several threads: barriers order nothing else.
    several: bool,
    /// For each step, whether all lanes that started are there.
    converged: Vec<bool>,
    starts: Starts,
}

impl<'p> Side<'p> {
    fn new(program: &'p Program, several: bool) -> Self {
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
        };
        side.kept = side.needed();
        side
    }

    fn code(&self) -> &'p Code {
        self.program.code()
    }

    /// The storage that a byte is in, or the last one before it.
    fn owner(&self, place: usize) -> Option<usize> {
        let after = self.storage.partition_point(|range| range.start <= place);
        after.checked_sub(1)
    }

    /// Whether bytes are in one storage.
    fn inside(&self, bytes: &Range<usize>) -> bool {
        let owner = self.owner(bytes.start).and_then(|n| self.storage.get(n));
        bytes.is_empty() || owner.is_some_and(|storage| bytes.end <= storage.end)
    }

    /// Steps that something depends on: all that do more than to compute, and those that compute what these need.
    fn needed(&self) -> Vec<bool> {
        let steps = &self.code().steps;
        // A clock counts what runs.
        let clock = steps.iter().any(|s| matches!(s.action, Action::Clock(_)));
        let mut kept = vec![false; steps.len()];
        let mut read = vec![false; self.storage.len()];
        let mark = |read: &mut Vec<bool>, place: usize| {
            if let Some(is_read) = self.owner(place).and_then(|n| read.get_mut(n)) {
                *is_read = true;
            }
        };
        let mut changed = true;
        while changed {
            changed = false;
            for (step, kept) in steps.iter().zip(&mut kept).rev() {
                let needed = |place| self.owner(place).and_then(|n| read.get(n)) == Some(&true);
                let computes = match &step.action {
                    Action::Compute(compute) if !is_indirect(step) => Some(compute),
                    _ => None,
                };
                let needs = match (computes, &step.action) {
                    (Some(compute), _) => clock || writes(compute).any(needed),
                    (None, Action::Nothing) => clock,
                    (None, Action::Barrier) => clock || self.several,
                    (None, _) => true,
                };
                if *kept || !needs {
                    continue;
                }
                (*kept, changed) = (true, true);
                match computes {
                    Some(compute) => reads(compute, step).for_each(|p| mark(&mut read, p)),
                    None => {
                        let places = step.nameless().places;
                        places.into_iter().for_each(|p| mark(&mut read, p));
                        if is_indirect(step) {
                            let all = self.program.addressed().iter();
                            all.for_each(|range| mark(&mut read, range.start));
                        }
                    }
                }
            }
        }
        kept
    }

    /// A step. Where all of its lanes run, whatever its mask says, it is that of the first lanes without a mask.
    fn step(&self, place: usize) -> Option<Step> {
        let mut step = self.code().steps.get(place)?.clone();
        let lanes = step.lanes;
        let mask = u32::MAX >> (32 - u32::from(lanes.count).clamp(1, 32));
        let all = mask.checked_shl(lanes.first.into())?;
        let full = lanes.no_mask
            || self.converged.get(place) == Some(&true) && self.starts.lanes & all == all;
        let straight = matches!(step.action, Action::Compute(_) | Action::Message(_));
        if full && straight {
            step.lanes.first = 0;
            step.lanes.no_mask = true;
        }
        Some(step)
    }

    /// Places of the steps that are kept, and for each step the number of those before it.
    fn order(&self) -> (Vec<usize>, Vec<usize>) {
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
    fn stays(&self) -> bool {
        let inside = |step: &Step| accessed(step).iter().all(|bytes| self.inside(bytes));
        self.code().steps.iter().all(inside)
    }

    /// Instructions that are left out before each step that is kept, and after the last one.
    fn pace(&self) -> Vec<usize> {
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
    fn shows_order(&self) -> bool {
        let steps = &self.code().steps;
        let repeats = |(place, step): (usize, &Step)| match &step.action {
            Action::Call { .. } | Action::CallAddress { .. } => true,
            _ => step.nameless().targets.iter().any(|to| *to <= place),
        };
        let long = steps.len() as u64 >= SLICE || steps.iter().enumerate().any(repeats);
        let ordered = |step: &Step| match &step.action {
            Action::Message(message) => is_ordered(message),
            _ => false,
        };
        long && steps.iter().any(ordered)
    }

    /// The bytes of a constant from a place on.
    fn constant(&self, place: usize) -> Option<&'p [u8]> {
        let all = &self.code().constants;
        let after = all.partition_point(|(at, _)| *at <= place);
        let (at, bytes) = all.get(after.checked_sub(1)?)?;
        bytes.get(place - at..).filter(|rest| !rest.is_empty())
    }

    /// The routines for which a recursive call saves a place.
    fn saved(&self, place: usize) -> impl Iterator<Item = bool> + use<'p> {
        let routines = self.code().routines.iter();
        routines.map(move |r| r.own.iter().any(|own| own.contains(&place)))
    }
}

/// Whether a message has an atomic operation whose result depends on the order of threads.
fn is_ordered(message: &Message) -> bool {
    match message.name() {
        "counter" | "typed_atomic" => true,
        "atomic" => {
            let atomic = message.lanes().and_then(|lanes| lanes.atomic);
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

/// Whether an address decides which registers a step accesses.
fn is_indirect(step: &Step) -> bool {
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
fn own_places(step: &Step) -> Vec<usize> {
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

/// Places that a computation without addresses writes.
fn writes(compute: &Compute) -> impl Iterator<Item = usize> {
    let flag = compute.sets.iter().map(|flag| flag.offset as usize);
    let destinations = std::iter::once(&compute.destination).chain(&compute.second);
    destinations.map(|to| to.offset).chain(flag)
}

/// Places that a computation without addresses reads.
fn reads<'s>(compute: &'s Compute, step: &'s Step) -> impl Iterator<Item = usize> + use<'s> {
    let sources = compute.sources.iter().take(compute.operation.sources());
    let flags = compute.flags.iter().take(compute.operation.flags());
    let flags = flags.chain(&step.predicate).map(|f| f.offset as usize);
    sources.map(|source| source.offset).chain(flags)
}

/// The step with its sources exchanged, if it computes the same then: for integers of one type.
fn exchanged(step: &Step) -> Option<Nameless> {
    let Action::Compute(compute) = &step.action else {
        return None;
    };
    let commutes = matches!(
        compute.operation,
        Operation::Add | Operation::Mul | Operation::And | Operation::Or | Operation::Xor
    );
    let [first, second, ..] = &compute.sources;
    let float = matches!(compute.lane, Lane::F32 | Lane::F64) || first.data_type.is_float();
    if !commutes || float || first.data_type != second.data_type || compute.second.is_some() {
        return None;
    }
    let mut compute = Compute::clone(compute);
    compute.sources.swap(0, 1);
    let action = Action::Compute(Arc::new(compute));
    Some(
        Step {
            action,
            ..step.clone()
        }
        .nameless(),
    )
}

/// Which storage of two programs corresponds.
struct Bijection<'a, 'p> {
    sides: &'a [Side<'p>; 2],
    /// For each storage of a side that of the other.
    other: [Vec<Option<usize>>; 2],
    local: Local,
}

impl<'a, 'p> Bijection<'a, 'p> {
    /// The storage that corresponds, if the steps are the same but for that.
    fn between(sides: &'a [Side<'p>; 2]) -> Option<Vec<[Range<usize>; 2]>> {
        let mut pairs = Self {
            sides,
            other: [0, 1].map(|n| vec![None; sides.get(n).map_or(0, |s| s.storage.len())]),
            local: Local::new(),
        };
        let [old, new] = sides;
        let facts = |side: &Side<'_>| {
            let program = side.program;
            (
                program.grf_bytes(),
                program.simd_size(),
                side.code().largest,
            )
        };
        (facts(old) == facts(new) && old.stays() && new.stays()).then_some(())?;
        // Predefined variables mean something of themselves, and addresses are seen.
        for (name, slot) in old.program.predefined_variables() {
            let mut others = new.program.predefined_variables();
            if let Some((_, other)) = others.find(|(other, _)| *other == name)
                && slot.bytes > 0
            {
                pairs.pair(slot.offset, other.offset)?;
            }
        }
        let addressed = old.program.addressed();
        (addressed == new.program.addressed()).then_some(())?;
        for range in addressed {
            pairs.pair(range.start, range.start)?;
        }
        let ([old_steps, new_steps], [old_before, new_before]) = {
            let ((a, b), (c, d)) = (old.order(), new.order());
            ([a, c], [b, d])
        };
        let (entries, others) = (&old.code().routines, &new.code().routines);
        (old_steps.len() == new_steps.len() && entries.len() == others.len()).then_some(())?;
        for (a, b) in entries.iter().zip(others) {
            (old_before.get(a.entry)? == new_before.get(b.entry)?).then_some(())?;
        }
        for (a, b) in old_steps.iter().zip(&new_steps) {
            let (a, b) = (old.step(*a)?, new.step(*b)?);
            let first = a.nameless();
            let mut others = std::iter::once(b.nameless()).chain(exchanged(&b));
            let (first, second) = match others.find(|second| pairs.fits(&first, second)) {
                Some(second) => (first, second),
                None => pairs.computed(&a, &b)?,
            };
            for (a, b) in first.places.into_iter().zip(second.places) {
                pairs.pair(a, b)?;
            }
            for (a, b) in first.targets.into_iter().zip(second.targets) {
                (old_before.get(a)? == new_before.get(b)?).then_some(())?;
            }
        }
        pairs.storage()
    }

    /// The steps without what they compute, if that is the same: integers may be computed in different ways.
    fn computed(&mut self, old: &Step, new: &Step) -> Option<(Nameless, Nameless)> {
        let (Action::Compute(first), Action::Compute(second)) = (&old.action, &new.action) else {
            return None;
        };
        let frame = |step: &Step, compute: &Compute| {
            let compute = Compute {
                operation: first.operation,
                lane: first.lane,
                precision: first.precision,
                // Nobody is asked where they are.
                sources: Default::default(),
                ..compute.clone()
            };
            let action = Action::Compute(Arc::new(compute));
            let mut nameless = Step {
                action,
                ..step.clone()
            }
            .nameless();
            nameless.places = own_places(step);
            nameless
        };
        let frames = (frame(old, first), frame(new, second));
        let flags = first.operation.flags() == second.operation.flags();
        if is_indirect(old) || is_indirect(new) || !flags || !self.fits(&frames.0, &frames.1) {
            return None;
        }
        let sides = self.sides;
        // What is written later is taken for what has the same place among the sources.
        let number = |side: usize, place: usize| {
            let of = sides.get(side)?;
            let constant = of.constant(place).and_then(<[u8]>::first).copied();
            constant.or_else(|| of.starts.known.get(place).copied().flatten())
        };
        for (a, b) in first
            .sources
            .iter()
            .zip(&second.sources)
            .take(first.operation.sources())
        {
            let plain = number(0, a.offset).is_none() && number(1, b.offset).is_none();
            if plain && let Some(Some(_)) = self.found(a.offset, b.offset) {
                self.pair(a.offset, b.offset)?;
            }
        }
        let [_, others] = &self.other;
        let byte = |side: usize, place: usize| {
            if let Some(number) = number(side, place) {
                return Some(Byte::Known(number));
            }
            let of = sides.get(side)?;
            if side == 0 {
                return Some(Byte::At(place));
            }
            let owner = of.owner(place)?;
            let storage = of.storage.get(owner)?;
            let other = sides.first()?.storage.get((*others.get(owner)?)?)?;
            Some(Byte::At(other.start + (place - storage.start)))
        };
        let equal = self.local.equal(old, [first, second], byte)?;
        equal.then_some(frames)
    }

    /// Whether two steps are the same, as far as each of their places alone says.
    fn fits(&self, old: &Nameless, new: &Nameless) -> bool {
        let mut places = old.places.iter().zip(&new.places);
        old.step == new.step
            && old.places.len() == new.places.len()
            && old.targets.len() == new.targets.len()
            && places.all(|(a, b)| self.found(*a, *b).is_some())
    }

    /// The storage of two places, if that may correspond; no storage if both are of equal constants.
    fn found(&self, old: usize, new: usize) -> Option<Option<[usize; 2]>> {
        let [first, second] = self.sides;
        // Nobody writes constants. Programs share them as they like.
        match (first.constant(old), second.constant(new)) {
            (None, None) => {}
            (Some(a), Some(b)) if a == b => return Some(None),
            _ => return None,
        }
        let (a, b) = (first.owner(old)?, second.owner(new)?);
        let (from, to) = (first.storage.get(a)?, second.storage.get(b)?);
        (old - from.start == new - to.start && from.len() == to.len()).then_some(())?;
        let [others, back] = &self.other;
        let (forth, back) = (others.get(a)?, back.get(b)?);
        let fits = forth.is_none_or(|n| n == b) && back.is_none_or(|n| n == a);
        fits.then_some(Some([a, b]))
    }

    /// Two places that must correspond.
    fn pair(&mut self, old: usize, new: usize) -> Option<()> {
        if let Some([a, b]) = self.found(old, new)? {
            let [others, back] = &mut self.other;
            *others.get_mut(a)? = Some(b);
            *back.get_mut(b)? = Some(a);
        }
        Some(())
    }

    /// All pairs, if recursive calls save the same of both.
    fn storage(&self) -> Option<Vec<[Range<usize>; 2]>> {
        let [first, second] = self.sides;
        let [others, _] = &self.other;
        let mut all = Vec::new();
        for (a, b) in others.iter().enumerate() {
            let Some(b) = b else { continue };
            let (a, b) = (first.storage.get(a)?, second.storage.get(*b)?);
            for (a, b) in [(a.start, b.start), (a.end - 1, b.end - 1)] {
                first.saved(a).eq(second.saved(b)).then_some(())?;
            }
            all.push([a.clone(), b.clone()]);
        }
        Some(all)
    }
}
