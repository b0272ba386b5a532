//! A thread whose registers are terms.
//!
//! Lanes run as in the executor: of all places where lanes are, the smallest runs, and lanes that meet go on together. A
//! lane is at a place under a condition. What nobody can know from the launch alone is run for all outcomes: results count
//! in lanes whose condition holds. The order of places is the executor's for every outcome, as a place where no lane is
//! changes nothing there.

use crate::decide::Decisions;
use crate::term::{Term, Terms};
use crate::unknown::Unknown;
use std::collections::BTreeMap;
use visakit_exec::Program;
use visakit_exec::code::{Combine, Destination, Flag, Region, Scalar, Source, Step, Target};

/// Lanes of a thread.
pub(crate) const LANES: usize = 32;

/// Places of registers that an address may point at; more are not told apart.
const MOST_PLACES: usize = 64;

/// For each lane a bit.
pub(crate) type Mask = [Term; LANES];

/// A call that has not returned.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) return_to: usize,
    pub(crate) entered: Mask,
    pub(crate) others: Mask,
    pub(crate) waiting: BTreeMap<usize, Mask>,
    pub(crate) function: Option<usize>,
}

/// Why a thread does not continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pause {
    None,
    Barrier,
    Split,
    Ended,
}

/// A thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    /// The register file, a byte each.
    pub(crate) file: Vec<Term>,
    /// The content of `%cr0` when the mode changed last.
    pub(crate) mode: Term,
    pub(crate) place: usize,
    pub(crate) running: Mask,
    /// The lanes with which it began, of which some run.
    pub(crate) first: Mask,
    pub(crate) waiting: BTreeMap<usize, Mask>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) pause: Pause,
    pub(crate) signals: u64,
    pub(crate) waits: u64,
}

impl Thread {
    /// A thread that begins at a place with these registers and lanes.
    pub(crate) fn new((file, mode): (Vec<Term>, Term), (place, running): (usize, Mask)) -> Self {
        Self {
            file,
            mode,
            place,
            running,
            first: running,
            waiting: BTreeMap::new(),
            frames: Vec::new(),
            pause: Pause::None,
            signals: 0,
            waits: 0,
        }
    }

    /// Whether a lane may be set.
    pub(crate) fn may(terms: &Terms, mask: &Mask) -> bool {
        mask.iter().any(|lane| terms.number(*lane) != Some(0))
    }

    /// Some lane.
    pub(crate) fn any(terms: &mut Terms, mask: &Mask) -> Term {
        let none = terms.constant(0, 1);
        // Mostly one is certain.
        if mask.iter().any(|lane| terms.number(*lane) == Some(1)) {
            return terms.constant(1, 1);
        }
        mask.iter().fold(none, |any, lane| terms.or(any, *lane))
    }

    /// Whether a lane runs.
    pub(crate) fn here(&self, terms: &mut Terms) -> Term {
        match self.running == self.first && Self::may(terms, &self.first) {
            true => terms.constant(1, 1),
            false => Self::any(terms, &self.running),
        }
    }

    /// Each lane by itself.
    pub(crate) fn zip(
        terms: &mut Terms,
        a: &Mask,
        b: &Mask,
        of: impl Fn(&mut Terms, Term, Term) -> Term,
    ) -> Mask {
        let mut all = *a;
        for (to, other) in all.iter_mut().zip(b) {
            *to = of(terms, *to, *other);
        }
        all
    }

    /// Lanes of the first that are not in the second.
    pub(crate) fn without(terms: &mut Terms, a: &Mask, b: &Mask) -> Mask {
        Self::zip(terms, a, b, |terms, a, b| {
            let other = terms.not(b);
            let other = terms.under(other, a);
            terms.and(a, other)
        })
    }

    /// Parks lanes.
    pub(crate) fn park(&mut self, terms: &mut Terms, place: usize, mask: &Mask) {
        if !Self::may(terms, mask) {
            return;
        }
        let joined = match self.waiting.get(&place) {
            Some(old) => {
                let old = *old;
                Self::zip(terms, &old, mask, Terms::or)
            }
            None => *mask,
        };
        self.waiting.insert(place, joined);
    }

    /// Goes on at the smallest place; false if no lane of the frame is left.
    pub(crate) fn settle(&mut self, terms: &mut Terms) -> bool {
        match self.waiting.pop_first() {
            Some((place, mask)) => {
                (self.place, self.running) = (place, mask);
                true
            }
            None => {
                self.running = [terms.constant(0, 1); LANES];
                false
            }
        }
    }

    /// The bytes of an element, the lowest first.
    pub(crate) fn element(
        &self,
        terms: &mut Terms,
        place: usize,
        bytes: usize,
    ) -> Result<Term, Unknown> {
        let found = place
            .checked_add(bytes)
            .and_then(|end| self.file.get(place..end));
        let found = found.ok_or_else(|| Unknown::new("an operand outside of the register file"))?;
        Ok(terms.concat(found))
    }

    /// Writes an element where a condition holds.
    pub(crate) fn set_element(
        &mut self,
        terms: &mut Terms,
        place: usize,
        value: Term,
        condition: Term,
    ) -> Result<(), Unknown> {
        let bytes = usize::from(terms.width(value) / 8);
        let end = place.checked_add(bytes);
        let to = end.and_then(|end| self.file.get_mut(place..end));
        let to = to.ok_or_else(|| Unknown::new("an operand outside of the register file"))?;
        for (low, byte) in (0..).step_by(8).zip(to) {
            let new = terms.extract(value, low, 8);
            *byte = terms.choice(condition, new, *byte);
        }
        Ok(())
    }

    /// A bit of the word of a predicate.
    fn bit(&self, terms: &mut Terms, flag: &Flag, lane: usize) -> Result<Term, Unknown> {
        let number = usize::from(flag.first) + lane;
        if number >= LANES {
            return Ok(terms.constant(0, 1));
        }
        let at = flag.offset as usize + number / 8;
        let byte = self.file.get(at).copied();
        let byte = byte.ok_or_else(|| Unknown::new("a predicate outside of the register file"))?;
        let low = u8::try_from(number % 8).unwrap_or(0);
        Ok(terms.extract(byte, low, 1))
    }

    /// The elements of a predicate that an instruction combines.
    fn combined(&self, terms: &mut Terms, flag: &Flag) -> Result<Term, Unknown> {
        let whole = Flag { first: 0, ..*flag };
        let is_any = flag.combine == Combine::Any;
        let mut combined = terms.constant(u64::from(!is_any), 1);
        for number in (0..LANES).filter(|number| flag.tested >> number & 1 != 0) {
            let bit = self.bit(terms, &whole, number)?;
            combined = match is_any {
                true => terms.or(combined, bit),
                false => terms.and(combined, bit),
            };
        }
        Ok(combined)
    }

    /// The lanes that a predicate enables, the first lane of the instruction first.
    pub(crate) fn flag(&self, terms: &mut Terms, flag: &Flag) -> Result<Mask, Unknown> {
        let zero = terms.constant(0, 1);
        let mut mask = [zero; LANES];
        let lanes: Vec<usize> = (0..LANES)
            .filter(|lane| flag.window >> lane & 1 != 0)
            .collect();
        for lane in &lanes {
            let bit = self.bit(terms, flag, *lane)?;
            if let Some(to) = mask.get_mut(*lane) {
                *to = bit;
            }
        }
        let whole = match flag.combine {
            Combine::PerLane => None,
            Combine::Any | Combine::All => Some(self.combined(terms, flag)?),
        };
        for lane in lanes {
            if let Some(to) = mask.get_mut(lane) {
                let bit = whole.unwrap_or(*to);
                *to = if flag.invert { terms.not(bit) } else { bit };
            }
        }
        Ok(mask)
    }

    /// Writes lanes of a predicate where conditions hold.
    pub(crate) fn set_flag(
        &mut self,
        terms: &mut Terms,
        flag: &Flag,
        bits: &Mask,
        conditions: &Mask,
    ) -> Result<(), Unknown> {
        let lanes = bits.iter().zip(conditions).enumerate();
        for (lane, (bit, condition)) in lanes {
            let number = usize::from(flag.first) + lane;
            if flag.window >> lane & 1 == 0
                || number >= LANES
                || terms.number(*condition) == Some(0)
            {
                continue;
            }
            let at = flag.offset as usize + number / 8;
            let byte = self.file.get_mut(at);
            let byte =
                byte.ok_or_else(|| Unknown::new("a predicate outside of the register file"))?;
            let low = u8::try_from(number % 8).unwrap_or(0);
            let old = terms.extract(*byte, low, 1);
            let mut parts = Vec::new();
            if low > 0 {
                parts.push(terms.extract(*byte, 0, low));
            }
            parts.push(terms.choice(*condition, *bit, old));
            if low < 7 {
                parts.push(terms.extract(*byte, low + 1, 7 - low));
            }
            *byte = terms.concat(&parts);
        }
        Ok(())
    }

    /// The lanes that an instruction works on, its first lane first.
    pub(crate) fn enabled(&self, terms: &mut Terms, step: &Step) -> Result<Mask, Unknown> {
        let zero = terms.constant(0, 1);
        let mut mask = [zero; LANES];
        let always = match step.lanes.no_mask {
            true => Some(self.here(terms)),
            false => None,
        };
        let first = usize::from(step.lanes.first);
        for (lane, to) in mask.iter_mut().enumerate().take(step.lanes.count.into()) {
            *to = match always {
                Some(always) => always,
                None => self.running.get(first + lane).copied().unwrap_or(zero),
            };
        }
        if let Some(flag) = &step.predicate {
            let flag = self.flag(terms, flag)?;
            mask = Self::zip(terms, &mask, &flag, both);
        }
        Ok(mask)
    }

    /// The running lanes that a branch selects.
    pub(crate) fn taken(
        &self,
        terms: &mut Terms,
        step: &Step,
        inverted: bool,
    ) -> Result<Mask, Unknown> {
        let (zero, one) = (terms.constant(0, 1), terms.constant(1, 1));
        let window = step.lanes.window();
        let selected = match &step.predicate {
            Some(flag) => Some(self.flag(terms, flag)?),
            None => None,
        };
        let mut mask = [zero; LANES];
        for (lane, to) in mask.iter_mut().enumerate() {
            let from = lane.checked_sub(step.lanes.first.into());
            let from = from.filter(|from| window >> from & 1 != 0);
            *to = match (from, &selected) {
                (None, _) => zero,
                (Some(_), None) => one,
                (Some(from), Some(selected)) => {
                    let bit = selected.get(from).copied().unwrap_or(zero);
                    if inverted { terms.not(bit) } else { bit }
                }
            };
        }
        Ok(Self::zip(terms, &self.running, &mask, both))
    }

    /// All running lanes, if the first lane of the predicate is set.
    pub(crate) fn condition(
        &self,
        terms: &mut Terms,
        step: &Step,
        inverted: bool,
    ) -> Result<Mask, Unknown> {
        let Some(flag) = &step.predicate else {
            return Ok(self.running);
        };
        let [bit, ..] = self.flag(terms, flag)?;
        let bit = if inverted { terms.not(bit) } else { bit };
        Ok(self.running.map(|lane| both(terms, lane, bit)))
    }

    /// Places of a lane's element of a destination, with the condition under which it is there; none if nothing is written.
    pub(crate) fn destination_places(
        &self,
        (terms, decisions): (&mut Terms, &mut Decisions),
        program: &Program,
        to: &Destination,
        (lane, condition): (usize, Term),
    ) -> Result<Vec<(usize, Term)>, Unknown> {
        let size = usize::from(to.data_type.size());
        let Some(stride) = to.target.stride(size) else {
            return Ok(Vec::new());
        };
        let after = lane * stride;
        let Target::Indirect { immediate, .. } = to.target else {
            return Ok(vec![(to.offset + after, condition)]);
        };
        let further = i64::from(immediate) + i64::try_from(after).unwrap_or(i64::MAX);
        let (base, values) = self.pointers((terms, decisions), to.offset, condition)?;
        let mut places = Vec::with_capacity(values.len());
        for value in &values {
            let place = pointed(program, *value, further, size)?;
            let condition = match values.len() {
                1 => condition,
                _ => {
                    let number = terms.constant(*value, 16);
                    let is = terms.equal(base, number);
                    terms.and(condition, is)
                }
            };
            places.push((place, condition));
        }
        Ok(places)
    }

    /// An address of registers, and the numbers that it may be where a condition holds.
    fn pointers(
        &self,
        (terms, decisions): (&mut Terms, &mut Decisions),
        place: usize,
        condition: Term,
    ) -> Result<(Term, Vec<u64>), Unknown> {
        let base = self.element(terms, place, 2)?;
        let base = terms.under(base, condition);
        let values = terms
            .possible(base, MOST_PLACES)
            .or_else(|| decisions.values(terms, (base, condition), MOST_PLACES));
        match values {
            Some(values) if !values.is_empty() => Ok((base, values)),
            _ => Err(Unknown::new("an address of registers depends on data")),
        }
    }

    /// The element of a lane of a source, where a condition holds.
    pub(crate) fn source(
        &self,
        (terms, decisions): (&mut Terms, &mut Decisions),
        program: &Program,
        source: &Source,
        (lane, condition): (usize, Term),
    ) -> Result<Term, Unknown> {
        let lane = if source.region == Region::Scalar {
            0
        } else {
            lane
        };
        let size = usize::from(source.data_type.size());
        if let Some(offset) = source.region.offset(lane, size) {
            let element = self.element(terms, source.offset + offset, size)?;
            return Ok(decisions.written(terms, element, condition));
        }
        let (at, further) = source
            .region
            .address(lane)
            .ok_or_else(|| Unknown::new("a region without a place"))?;
        let pointers = self.pointers((terms, decisions), source.offset + at, condition);
        let (base, values) = pointers?;
        let mut found: Option<Term> = None;
        for value in values {
            let place = pointed(program, value, further, size)?;
            let element = self.element(terms, place, size)?;
            found = Some(match found {
                None => element,
                Some(others) => {
                    let number = terms.constant(value, 16);
                    let is = terms.equal(base, number);
                    terms.choice(is, element, others)
                }
            });
        }
        found.ok_or_else(|| Unknown::new("an address of registers depends on data"))
    }

    /// The value of a scalar, which the launch decides.
    pub(crate) fn scalar(
        &self,
        terms: &mut Terms,
        scalar: Scalar,
        what: &str,
    ) -> Result<u64, Unknown> {
        let (offset, data_type) = match scalar {
            Scalar::Constant(value) => return Ok(value),
            Scalar::Register { offset, data_type } => (offset, data_type),
            Scalar::Indirect { .. } => {
                return Err(Unknown::new("a scalar by an address of registers"));
            }
        };
        let element = self.element(terms, offset, data_type.size().into())?;
        let wide = match data_type.is_signed() {
            true => terms.sign_extend(element, 64),
            false => terms.zero_extend(element, 64),
        };
        terms
            .number(wide)
            .ok_or_else(|| Unknown::new(format!("{what} depends on data")))
    }
}

/// A lane where a predicate is set, too: what it is elsewhere makes no difference.
fn both(terms: &mut Terms, lane: Term, bit: Term) -> Term {
    let bit = terms.under(bit, lane);
    terms.and(lane, bit)
}

/// An element that an address of registers points at: inside of one variable.
fn pointed(program: &Program, base: u64, further: i64, size: usize) -> Result<usize, Unknown> {
    let outside = || Unknown::new("an address outside of all variables");
    let place = i64::try_from(base)
        .ok()
        .and_then(|base| base.checked_add(further));
    let place = place.and_then(|place| usize::try_from(place).ok());
    let place = place.ok_or_else(outside)?;
    let variables = program.addressed();
    let after = variables.partition_point(|range| range.start <= place);
    let range = after.checked_sub(1).and_then(|i| variables.get(i));
    match range {
        Some(range) if place + size <= range.end => Ok(place),
        _ => Err(outside()),
    }
}
