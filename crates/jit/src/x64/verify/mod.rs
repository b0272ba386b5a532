//! A proof, for each code before it is used, that it stays inside of what it may access.
//!
//! Code is followed instruction by instruction, over all of its ways, with what is known of each register: that it is
//! the address of the register file, the size of a region of memory, an offset that a jump has compared with that size.
//! An access whose address is not known to be inside makes that there is no code, and so does a register that is read
//! before it is written on any way, an entry of the host or a return that finds the registers in another state than
//! was agreed ([`Frame`]), and a jump to a value that is no code. Nothing that a template says of its code is believed:
//! what is looked at is what is encoded.
//!
//! Values have names ([`state::Id`]), by the place of the instruction that computes them; facts are about values, so that a
//! register that is written needs no care. Where ways come together, what differs gets a new name, and facts remain that hold on all of
//! them. A value that comes back to a label from code after it may be one of an earlier turn: it gets a new name, too.

mod control;
mod facts;
mod frame;
mod instructions;
mod memory;
mod order;
mod state;
mod tables;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
mod values;

use super::assembler::{Item, Label};
use super::registers::{R12, R13, R14, R15, RBP, RBX, RDI};
pub(crate) use frame::{Field, Frame};
use instructions::Flow;
use state::{Fact, Flags, Id, Lanes, Operand, REGISTERS, Region, Room, State, VECTORS};
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use tables::low;

/// Code that is refused, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(
    not(feature = "listing"),
    allow(dead_code, reason = "listings say why")
)]
pub(crate) struct Refused {
    /// Which part of the code.
    pub(crate) place: usize,
    pub(crate) reason: Reason,
}

/// Why code is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// A register that may not have been written.
    Undefined,
    /// An address that is not known to be inside of anything.
    Outside,
    /// A jump or call to something that is not known to be code, or a label that is nowhere.
    Target,
    /// A register that does not hold what the code after the jump expects, or the caller.
    Agreement,
    /// An instruction of which nothing is known, or too many.
    Unknown,
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Undefined => "a register that may not have been written",
            Self::Outside => "an address that is not known to be inside of anything",
            Self::Target => "a jump or call to something that is not known to be code",
            Self::Agreement => {
                "registers that are not as the code after a jump, or the caller, expects them"
            }
            Self::Unknown => "an instruction of which nothing is known, or code that is too long",
        })
    }
}

/// How a value was computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Def {
    Unknown,
    Number(u64),
    /// A number of a region in global memory.
    StorageNumber,
    /// Its place, or that of a surface.
    StorageEntry,
    SurfaceEntry,
    /// The address of a region.
    Region,
    /// Bytes of a region, or less; that, without so many bytes if it is [`Fact::Exact`]. Not above the last number.
    Limit(Room, u64),
    /// The address of a region's bytes.
    Storage(Region),
    /// An address with this much room.
    Address(Room),
    /// Constants from a place on, of so many bytes.
    Constant(usize, u8),
    /// All ones.
    Ones,
    /// The offset after the thread that runs.
    Follower,
    // The others hold only until the next label, since they are about other values.
    Sum(Id, u64),
    /// A vector whose first lane is a number, of so many bytes, or each lane.
    First(Id, u8),
    Each(Id, Lanes),
    /// A vector of the first lane of another one.
    FirstOf(Id, Lanes),
    /// A lane of a vector, of so many bytes at this place.
    Lane(Id, u8, u8),
    /// An operation on vectors, and the bytes of them.
    Lanes(LaneOp, Id, Operand, u8),
    /// Bits of a mask, or of the signs of lanes of 64 bits.
    BitsOf(Id),
    SignsOf(Id),
    /// Lanes of 64 bits of which the first operand is not above the second one, and a mask that had to be set as well.
    AtMost(Id, Id, Option<Id>),
    /// Lanes with common bits.
    Common(Id, Operand),
    /// What is told of the thread at an offset, when it was loaded from there.
    Own(Id),
    /// The offset after the thread at another one.
    After(Id),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LaneOp {
    Or,
    Xor,
    MaxD,
    MinD,
    SubD,
    SubQ,
    GreaterQ,
}

impl Def {
    /// Whether it stays true where other values change.
    const fn is_lasting(self) -> bool {
        matches!(
            self,
            Self::Unknown
                | Self::Number(_)
                | Self::StorageNumber
                | Self::StorageEntry
                | Self::SurfaceEntry
                | Self::Region
                | Self::Limit(..)
                | Self::Storage(_)
                | Self::Address(_)
                | Self::Constant(..)
                | Self::Ones
                | Self::Follower
        )
    }
}

/// Code, and what is known of it.
pub(super) struct Verifier<'a> {
    items: &'a [Item],
    frame: &'a Frame,
    constants: &'a [u8],
    /// Where each label is.
    places: Vec<usize>,
    /// Whether code after it jumps to a label.
    is_loop: Vec<bool>,
    /// Whether the host enters code at a label.
    is_entry: Vec<bool>,
    /// What is known at each label.
    states: Vec<Option<State>>,
    /// When each label is followed: after all that lead there, but for loops.
    order: Vec<u32>,
    /// Labels whose state has changed, by that order.
    changed: BTreeSet<(u32, usize)>,
    /// How the value of each instruction is computed, and since which label.
    defs: Vec<(Def, u32)>,
    /// The bits of each number that may be set.
    bits: Vec<u64>,
    /// Those of registers of numbers at each label, where several ways come together.
    joined_bits: Vec<[u64; VECTORS]>,
    /// Values of a label of whose bits less is known than before.
    grown: Vec<Id>,
    /// Counts the labels that were followed.
    since: u32,
    /// How many parts of the code may still be followed.
    left: usize,
}

/// Refuses code unless it stays inside of what it may access. The host may enter it at its start, and at some labels; at the
/// one of the end it expects no register file.
pub(crate) fn verify(
    items: &[Item],
    labels: usize,
    (entries, end): (&[Label], Label),
    (frame, constants): (&Frame, &[u8]),
) -> Result<(), Refused> {
    let mut places = vec![usize::MAX; labels];
    for (place, item) in items.iter().enumerate() {
        if let Item::Label(label) = item
            && let Some(own) = places.get_mut(label.0)
        {
            *own = place;
        }
    }
    let mut is_loop = vec![false; labels];
    for (place, item) in items.iter().enumerate() {
        if let Item::Jump(_, Label(target)) = item
            && places.get(*target).is_some_and(|at| *at < place)
            && let Some(is_loop) = is_loop.get_mut(*target)
        {
            *is_loop = true;
        }
    }
    let mut verifier = Verifier {
        items,
        frame,
        constants,
        is_loop,
        is_entry: vec![false; labels],
        states: vec![None; labels],
        order: order::order(items, labels, entries),
        changed: BTreeSet::new(),
        defs: vec![(Def::Unknown, 0); items.len()],
        bits: vec![u64::MAX; items.len()],
        joined_bits: vec![[0; VECTORS]; labels],
        grown: Vec::new(),
        since: 1,
        left: 64 * items.len() + 1024,
        places,
    };
    for label in entries {
        let mut known = entered();
        if *label == end {
            known.set(RBX.slot(), Id::UNDEFINED);
        }
        let Label(label) = *label;
        let (Some(is_entry), Some(state)) = (
            verifier.is_entry.get_mut(label),
            verifier.states.get_mut(label),
        ) else {
            return Err(refused(0, Reason::Target));
        };
        *is_entry = true;
        *state = Some(known);
        verifier.change(label);
    }
    verifier.follow()
}

/// Registers that functions restore, in the order in which code saves them.
const SAVED: [usize; 6] = [3, 5, 12, 13, 14, 15];

/// What is known where the host enters code for the first time.
fn called() -> State {
    let mut state = State::new();
    for register in SAVED {
        state.set(register, Id::saved(register));
    }
    state.set(RDI.slot(), Id::CONTEXT);
    state
}

/// What is known where the host, or other code, enters code afterwards.
fn entered() -> State {
    let mut state = State::new();
    state.depth = SAVED.len() + 1;
    for (register, value) in [
        (RBX, Id::FILE),
        (RBP, Id::CONSTANTS),
        (R12, Id::RUNNING),
        (R13, Id::ANY),
        (R14, Id::ANY),
        (R15, Id::CONTEXT),
    ] {
        state.set(register.slot(), value);
    }
    state
}

impl Verifier<'_> {
    /// Follows the code until nothing changes any more.
    fn follow(&mut self) -> Result<(), Refused> {
        self.run(0, called())?;
        // On with the next label of which less is known than before.
        while let Some((_, label)) = self.changed.pop_first() {
            self.since += 1;
            let place = self
                .places
                .get(label)
                .and_then(|place| place.checked_add(1));
            let state = self.states.get(label).cloned().flatten();
            let (Some(place), Some(state)) = (place, state) else {
                return Err(refused(0, Reason::Target));
            };
            self.run(place, state)?;
        }
        Ok(())
    }

    /// What is known at a label has changed.
    fn change(&mut self, label: usize) {
        let order = self.order.get(label).copied().unwrap_or(u32::MAX);
        self.changed.insert((order, label));
    }

    /// Follows code up to the next label, or to where it does not go on.
    fn run(&mut self, mut place: usize, mut state: State) -> Result<(), Refused> {
        loop {
            let left = self.left.checked_sub(1);
            self.left = left.ok_or(refused(place, Reason::Unknown))?;
            let goes_on = match self.items.get(place) {
                Some(Item::Label(label)) => {
                    self.join(label.0, &state, None, place)?;
                    false
                }
                Some(item) => self.item(place, item, &mut state)?,
                // Code never runs over its end.
                None => return Err(refused(place, Reason::Target)),
            };
            if !goes_on {
                return Ok(());
            }
            place += 1;
        }
    }

    /// Follows a part of the code. Whether it goes on after it.
    fn item(&mut self, place: usize, item: &Item, state: &mut State) -> Result<bool, Refused> {
        match item {
            Item::Instruction(instruction) => match self.instruction(place, instruction, state) {
                Ok(Flow::On) => Ok(true),
                Ok(Flow::Ends) => Ok(false),
                Err(reason) => Err(refused(place, reason)),
            },
            Item::Jump(None, target) => {
                self.join(target.0, state, None, place)?;
                Ok(false)
            }
            Item::Jump(Some(condition), target) => {
                if state.flags == Flags::Undefined {
                    return Err(refused(place, Reason::Undefined));
                }
                let fact = self.taken(state, *condition);
                self.join(target.0, state, fact, place)?;
                self.not_taken(state, *condition);
                Ok(true)
            }
            Item::Label(_) | Item::Note(_) | Item::Removed => Ok(true),
        }
    }

    /// Code comes to a label, from a place.
    fn join(
        &mut self,
        label: usize,
        state: &State,
        fact: Option<(Id, Fact)>,
        from: usize,
    ) -> Result<(), Refused> {
        let error = |reason| Err(refused(from, reason));
        let Some(at) = self
            .places
            .get(label)
            .copied()
            .filter(|at| *at < self.items.len())
        else {
            return error(Reason::Target);
        };
        if state.owed.is_some() {
            return error(Reason::Agreement);
        }
        if self.is_entry.get(label) == Some(&true) {
            let expected = self.states.get(label).and_then(Option::as_ref);
            let is_agreed = expected.is_some_and(|expected| self.agrees(state, expected));
            return match is_agreed {
                true => Ok(()),
                false => error(Reason::Agreement),
            };
        }
        let old = self.states.get_mut(label).and_then(Option::take);
        if old.as_ref().is_some_and(|old| old.depth != state.depth) {
            return error(Reason::Agreement);
        }
        let Some(joined) = self.joined(label, at, old.as_ref(), state, fact) else {
            return error(Reason::Unknown);
        };
        if old.as_ref() != Some(&joined) {
            self.change(label);
        }
        if let Some(to) = self.states.get_mut(label) {
            *to = Some(joined);
        }
        while let Some(value) = self.grown.pop() {
            self.is_other(value);
        }
        Ok(())
    }

    /// What is known at a label where it was known before and comes to it now.
    fn joined(
        &mut self,
        label: usize,
        at: usize,
        old: Option<&State>,
        new: &State,
        fact: Option<(Id, Fact)>,
    ) -> Option<State> {
        let mut state = State {
            flags: match (old.map(|old| old.flags), new.flags) {
                (Some(Flags::Undefined), _) | (_, Flags::Undefined) => Flags::Undefined,
                _ => Flags::Any,
            },
            depth: new.depth,
            of_both: new.of_both || old.is_some_and(|old| old.of_both),
            ..State::new()
        };
        let is_known =
            |value: Id, known: Fact| new.knows(value, known) || fact == Some((value, known));
        for register in 0..REGISTERS {
            let from = new.get(register);
            let before = old.map(|old| old.get(register));
            if from == Id::UNDEFINED || before == Some(Id::UNDEFINED) {
                continue;
            }
            let own = Id::joined(label, register)?;
            let is_stale = from != own && self.is_stale(from, label, at);
            if !is_stale && before.is_none_or(|before| before == from) {
                state.set(register, from);
                continue;
            }
            state.set(register, own);
            let mut bits = self.bits_of(from);
            if let Some(before) = before.filter(|before| *before != own) {
                bits |= self.bits_of(before);
            }
            let was_own = before == Some(own);
            if self.widen(label, register, bits) && was_own {
                self.grown.push(own);
            }
            let was = old
                .zip(before)
                .is_none_or(|(old, before)| self.is_not_zero(old, before));
            let is = self.is_not_zero(new, from) || is_known(from, Fact::NotZero);
            if was && is {
                state.learn(own, Fact::NotZero);
            }
            let was_thread = old
                .zip(before)
                .is_none_or(|(old, before)| old.knows(before, Fact::Thread));
            if was_thread && is_known(from, Fact::Thread) {
                state.learn(own, Fact::Thread);
            }
        }
        let is_stale = |value: Id| {
            let own = value
                .label()
                .is_some_and(|(at, register)| at == label && new.get(register) == value);
            !own && self.is_stale(value, label, at)
        };
        match old {
            None => {
                let own = new.stored.iter().filter(|own| !is_stale(own.value));
                state.stored.extend(own);
                let known = new.facts.iter().chain(&fact);
                for (value, fact) in known.filter(|(value, _)| !is_stale(*value)) {
                    let is_old = fact.region().is_some_and(|of| self.is_stale(of, label, at));
                    if !is_old && state.holds(*value) {
                        state.learn(*value, *fact);
                    }
                }
            }
            Some(old) => {
                let both = |own: &&state::Stored| new.stored.contains(own) && !is_stale(own.value);
                state.stored.extend(old.stored.iter().filter(both));
                for (value, known) in &old.facts {
                    if is_known(*value, *known) && !is_stale(*value) && state.holds(*value) {
                        state.learn(*value, *known);
                    }
                }
            }
        }
        Some(state)
    }

    /// A register of numbers may have these bits, too, where ways come together. Whether that is new.
    fn widen(&mut self, label: usize, register: usize, bits: u64) -> bool {
        let all = self.joined_bits.get_mut(label);
        let Some(all) = all.and_then(|all| all.get_mut(register)) else {
            return false;
        };
        let is_new = bits & !*all != 0;
        *all |= bits;
        is_new
    }

    /// Something else is known of a value than before: all labels where it is are followed again.
    fn is_other(&mut self, value: Id) {
        for (label, state) in self.states.iter().enumerate() {
            if state.as_ref().is_some_and(|state| state.holds(value)) {
                let order = self.order.get(label).copied().unwrap_or(u32::MAX);
                self.changed.insert((order, label));
            }
        }
    }

    /// Whether a value that comes to a label was computed after it: in an earlier turn.
    fn is_stale(&self, value: Id, label: usize, at: usize) -> bool {
        if self.is_loop.get(label) != Some(&true) {
            return false;
        }
        let place = value.place();
        let place = place.or_else(|| self.places.get(value.label()?.0).copied());
        place.is_some_and(|place| place >= at)
    }

    /// Whether registers hold what code expects that the host may enter.
    fn agrees(&self, state: &State, expected: &State) -> bool {
        let is = |register: usize| match expected.get(register) {
            Id::UNDEFINED => true,
            Id::ANY => state.get(register) != Id::UNDEFINED,
            Id::RUNNING => match state.get(register) {
                Id::UNDEFINED => false,
                lanes => self.bits_of(lanes) & !self.frame.lanes == 0,
            },
            value => state.get(register) == value,
        };
        state.is_settled() && state.depth == expected.depth && (0..REGISTERS).all(is)
    }

    /// How a value was computed.
    fn def(&self, value: Id) -> Def {
        match value.place().and_then(|place| self.defs.get(place)) {
            Some((def, since)) if def.is_lasting() || *since == self.since => *def,
            _ => Def::Unknown,
        }
    }

    /// The bits of a number that may be set.
    fn bits_of(&self, value: Id) -> u64 {
        if value == Id::RUNNING {
            return self.frame.lanes;
        }
        let known = match (value.place(), value.label()) {
            (Some(place), _) => self.bits.get(place),
            (_, Some((label, register))) => {
                let all = self.joined_bits.get(label);
                all.and_then(|all| all.get(register))
            }
            _ => None,
        };
        known.copied().unwrap_or(u64::MAX)
    }

    fn is_not_zero(&self, state: &State, value: Id) -> bool {
        state.knows(value, Fact::NotZero)
            || matches!(self.def(value), Def::Number(number) if number & low(4) != 0)
    }

    /// The value that the instruction at a place computes.
    fn define(&mut self, place: usize, def: Def, bits: u64) -> Result<Id, Reason> {
        let value = Id::at(place).ok_or(Reason::Unknown)?;
        let (Some(own), Some(all)) = (self.defs.get_mut(place), self.bits.get_mut(place)) else {
            return Err(Reason::Unknown);
        };
        let is_lasting = own.0.is_lasting() || def.is_lasting();
        let is_other = own.1 != 0 && (is_lasting && own.0 != def || *all != bits);
        *own = (def, self.since);
        *all = bits;
        if is_other {
            self.is_other(value);
        }
        Ok(value)
    }
}

const fn refused(place: usize, reason: Reason) -> Refused {
    Refused { place, reason }
}
