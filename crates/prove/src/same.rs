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

use crate::before::Before;
use crate::local::{Byte, Local};
use crate::side::{Side, is_indirect, own_places};
use crate::starts::Starts;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use visakit_exec::Limits;
use visakit_exec::code::{
    Action, Compute, Destination, Lane, Lanes, Modify, Nameless, Operation, Step,
};
use visakit_isa::DataType;
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
                side.kept = side.needed();
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

/// The lanes of a step that heeds the mask, for one with as many that does not.
fn masked(step: &Step, other: &Step) -> Lanes {
    match step.lanes.count == other.lanes.count {
        true => step.lanes,
        false => other.lanes,
    }
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
    /// What the old program computes; made when it is asked for.
    before: Option<Before<'a, 'p>>,
}

impl<'a, 'p> Bijection<'a, 'p> {
    /// The storage that corresponds, if the steps are the same but for that.
    fn between(sides: &'a [Side<'p>; 2]) -> Option<Vec<[Range<usize>; 2]>> {
        let mut pairs = Self {
            sides,
            other: [0, 1].map(|n| vec![None; sides.get(n).map_or(0, |s| s.storage.len())]),
            local: Local::new(),
            before: None,
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
        for places in old_steps.iter().zip(&new_steps) {
            let (mut a, mut b) = (old.step(*places.0)?, new.step(*places.1)?);
            match (a.lanes.no_mask, b.lanes.no_mask) {
                (false, true) if old.may_ignore_mask(*places.0, &a) => b.lanes = masked(&a, &b),
                (true, false) if new.may_ignore_mask(*places.1, &b) => a.lanes = masked(&b, &a),
                _ => {}
            }
            let first = a.nameless();
            let mut others = std::iter::once(b.nameless()).chain(exchanged(&b));
            let (first, second) = match others.find(|second| pairs.fits(&first, second)) {
                Some(second) => (first, second),
                None => pairs.computed([&a, &b], [*places.0, *places.1])?,
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
    fn computed(
        &mut self,
        [old, new]: [&Step; 2],
        places: [usize; 2],
    ) -> Option<(Nameless, Nameless)> {
        let (Action::Compute(first), Action::Compute(second)) = (&old.action, &new.action) else {
            return None;
        };
        // The bits of elements are compared, whatever their type.
        let plain = |to: &Destination| Destination {
            data_type: match to.data_type.size() {
                1 => DataType::Ub,
                2 => DataType::Uw,
                4 => DataType::Ud,
                _ => DataType::Uq,
            },
            saturate: false,
            ..*to
        };
        let frame = |step: &Step, compute: &Compute| {
            let compute = Compute {
                operation: first.operation,
                lane: first.lane,
                precision: first.precision,
                destination: plain(&compute.destination),
                second: compute.second.as_ref().map(plain),
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
        if first.operation == Operation::FlagFromBits && first.operation == second.operation {
            return (self.fits(&frames.0, &frames.1) && self.same_bits(first, second)?)
                .then_some(frames);
        }
        if is_indirect(old) || is_indirect(new) || !flags || !self.fits(&frames.0, &frames.1) {
            return None;
        }
        let sides = self.sides;
        // What is written later is taken for what has the same place among the sources.
        let number = |side: usize, place: usize| {
            let of = sides.get(side)?;
            let constant = of.constant(place).and_then(<[u8]>::first).copied();
            constant.or_else(|| of.starts.number(place, *places.get(side)?))
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
        let reached = sides.iter().zip(places);
        let reached = reached.fold(0, |all, (side, place)| all | side.starts.reached(place));
        let lanes = match old.lanes.no_mask {
            true => u32::MAX,
            false => reached.checked_shr(old.lanes.first.into())?,
        };
        let mut before = self.before.take();
        let [side, _] = sides;
        let known = before.get_or_insert_with(|| Before::new(side));
        let [place, _] = places;
        let (step, asked) = ((old, lanes), Some((known, place)));
        let equal = self.local.equal(step, [first, second], byte, asked);
        self.before = before;
        let equal = equal?;
        equal.then_some(frames)
    }

    /// Whether two predicates that are set from numbers are the same in all bits that are read.
    fn same_bits(&self, old: &Compute, new: &Compute) -> Option<bool> {
        let [first, second] = self.sides;
        let read = [(first, old), (second, new)].map(|(side, compute)| {
            let [source, ..] = &compute.sources;
            let (flag, ty) = (compute.sets.as_ref()?, source.data_type);
            if source.modify != Modify::None || ty.is_float() {
                return None;
            }
            let bytes = side
                .constant(source.offset)?
                .get(..ty.size().min(4).into())?;
            let sign = ty.is_signed() && bytes.last()? >> 7 != 0;
            let mut number = [if sign { 0xff } else { 0 }; 4];
            number.get_mut(..bytes.len())?.copy_from_slice(bytes);
            let bits = u32::from_le_bytes(number) & flag.window;
            let bits = bits.checked_shl(flag.first.into())?;
            Some((bits, side.read_bits(flag.offset)))
        });
        let [(a, read), (b, other)] = [read[0]?, read[1]?];
        Some((a ^ b) & (read | other) == 0)
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
