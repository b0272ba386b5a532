//! A proof, for each code before it is used, that it stays inside of what it may access.
//!
//! Code is followed instruction by instruction, over all of its ways, with what is known of each register: that it is
//! the address of the register file, the size of a region of memory, an offset that a jump has compared with that size.
//! Nothing that a template says of its code is believed: what is looked at is what is encoded. There is no code
//!
//! * with an instruction that the table ([`tables`]) does not have, or has in another form;
//! * with an access whose address is not known to be inside of something;
//! * with a register, or flags, that are read before they are written on any way, or the stack used for anything but the
//!   registers of the caller;
//! * with a jump, or a call, to a value that is no code;
//! * where the host enters code, or code leaves to it, and registers or shared data are not as was agreed ([`Frame`]): an
//!   address that is stored is one of those that the field may have, whole; lanes are those of the program; a thread that code
//!   goes on with is one of those that follow.
//!
//! Values have names ([`state::Id`]), by the place of the instruction that computes them; facts are about values, so that a
//! register that is written needs no care. A label to which one way leads, from code before it, is nothing special. At others
//! ways come together ([`labels`]): what differs gets a new name, and facts remain that hold on all of them. A value that
//! comes back to a label from code after it may be one of an earlier turn: it gets a new name, too. Code after a label is
//! followed again when less is known there than before, or of a value that registers have there. After a call nothing
//! is known of what the host may have changed.

mod control;
mod facts;
mod frame;
mod instructions;
mod labels;
mod memory;
mod state;
mod tables;
#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests"
)]
mod tests;
mod values;
mod ways;

use super::assembler::{Item, Label};
use super::registers::{R12, R13, R14, R15, RBP, RBX, RDI};
pub(crate) use frame::{Field, Frame};
use instructions::Flow;
use state::{Fact, Flags, Id, Lanes, Operand, Region, Room, State, VECTORS};
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use tables::low;
use ways::Ways;

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
    /// Bytes of a region, or less; that, without so many bytes if it is [`Fact::Exact`]. Not above the last number, which is
    /// [`WHOLE`] if it is not less.
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

/// More bytes than a region has.
const WHOLE: u64 = i64::MAX as u64;

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
    /// Whether only one way leads to a label, from code before it: more is known there than where ways come together.
    is_single: Vec<bool>,
    /// What is known at each other label.
    states: Vec<Option<Box<State>>>,
    /// What is known where the host enters code.
    entered: State,
    /// Code that is followed next, without anything in between.
    next: Vec<(usize, State)>,
    /// When each label is followed: after all that lead there, but for loops.
    order: Vec<u32>,
    /// Labels whose state has changed, by that order.
    changed: BTreeSet<(u32, usize)>,
    /// How values are computed, and since which label.
    defs: Vec<(Def, u32)>,
    /// What is known of the value of each instruction. Of a label, which of the joined bits are its own, counted from one.
    values: Vec<Value>,
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
    let Ways {
        places,
        is_loop,
        counts,
        order,
    } = Ways::new(items, labels, entries);
    let mut verifier = Verifier {
        items,
        frame,
        constants,
        is_loop,
        is_entry: vec![false; labels],
        is_single: Vec::new(),
        states: vec![None; labels],
        entered: entered(),
        next: Vec::new(),
        order,
        changed: BTreeSet::new(),
        defs: Vec::new(),
        values: vec![(NEVER, 0); items.len()],
        joined_bits: Vec::new(),
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
        *state = Some(Box::new(known));
        verifier.change(label);
    }
    let ways = counts.iter().zip(&verifier.is_loop).zip(&verifier.is_entry);
    let single = ways.map(|((count, is_loop), is_entry)| *count == 1 && !is_loop && !is_entry);
    verifier.is_single = single.collect();
    verifier.follow()
}

/// How a value is computed, as the number of a [`Def`] after [`UNKNOWN`], and its bits that are not set.
type Value = (u32, u64);
/// Of an instruction that was not followed, and of a value of which nothing is known.
const NEVER: u32 = 0;
const UNKNOWN: u32 = 1;

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
        self.next.push((0, called()));
        loop {
            while let Some((place, state)) = self.next.pop() {
                self.run(place, state)?;
            }
            // On with the next label of which less is known than before.
            let Some((_, label)) = self.changed.pop_first() else {
                return Ok(());
            };
            self.since += 1;
            let state = self.states.get(label).and_then(Option::as_deref).cloned();
            let (Some(place), Some(state)) = (self.place_of(label), state) else {
                return Err(refused(0, Reason::Target));
            };
            self.next.push((place + 1, state));
        }
    }

    /// Where a label is.
    fn place_of(&self, label: usize) -> Option<usize> {
        let place = self.places.get(label).copied();
        place.filter(|place| *place < self.items.len())
    }

    /// Where a label is to which this is the only way.
    fn single(&self, label: Label) -> Option<usize> {
        let is_single = self.is_single.get(label.0) == Some(&true);
        self.place_of(label.0).filter(|_| is_single)
    }

    /// What is known at a label has changed.
    fn change(&mut self, label: usize) {
        let order = self.order.get(label).copied().unwrap_or(u32::MAX);
        self.changed.insert((order, label));
    }

    /// Follows code up to where ways come together, or to where it does not go on.
    fn run(&mut self, mut place: usize, mut state: State) -> Result<(), Refused> {
        let items = self.items;
        loop {
            let left = self.left.checked_sub(1);
            self.left = left.ok_or(refused(place, Reason::Unknown))?;
            match items.get(place) {
                Some(Item::Instruction(instruction)) => {
                    match self.instruction(place, instruction, &mut state) {
                        Ok(Flow::On) => {}
                        Ok(Flow::Ends) => return Ok(()),
                        Err(reason) => return Err(refused(place, reason)),
                    }
                }
                Some(Item::Jump(None, target)) => match self.single(*target) {
                    Some(there) => place = there,
                    None => return self.join(*target, &state, None, place),
                },
                Some(Item::Jump(Some(condition), target)) => {
                    if state.flags == Flags::Undefined {
                        return Err(refused(place, Reason::Undefined));
                    }
                    let fact = self.taken(&state, *condition);
                    if let Some(there) = self.single(*target) {
                        let mut taken = state.clone();
                        if let Some((value, fact)) = fact {
                            taken.learn(value, fact);
                        }
                        self.next.push((there, taken));
                    } else {
                        self.join(*target, &state, fact, place)?;
                    }
                    self.not_taken(&mut state, *condition);
                }
                Some(Item::Label(label)) => {
                    if self.single(*label).is_none() {
                        return self.join(*label, &state, None, place);
                    }
                }
                Some(Item::Note(_) | Item::Removed) => {}
                // Code never runs over its end.
                None => return Err(refused(place, Reason::Target)),
            }
            place += 1;
        }
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

    /// Whether registers hold what code expects that the host may enter.
    fn agrees(&self, state: &State, expected: &State) -> bool {
        let mut registers = expected.registers.iter().zip(&state.registers);
        let is = |(expected, own): (&Id, &Id)| match *expected {
            Id::UNDEFINED => true,
            Id::ANY => *own != Id::UNDEFINED,
            Id::RUNNING => match *own {
                Id::UNDEFINED => false,
                lanes => self.bits_of(lanes) & !self.frame.lanes == 0,
            },
            value => *own == value,
        };
        state.is_settled() && state.depth == expected.depth && registers.all(is)
    }

    /// How a value was computed.
    #[inline]
    fn def(&self, value: Id) -> Def {
        let own = value.place().and_then(|place| self.values.get(place));
        let number = own.and_then(|(number, _)| number.checked_sub(UNKNOWN + 1));
        match number.and_then(|number| self.defs.get(number as usize)) {
            Some((def, since)) if def.is_lasting() || *since == self.since => *def,
            _ => Def::Unknown,
        }
    }

    /// The bits of a number that may be set.
    #[inline]
    fn bits_of(&self, value: Id) -> u64 {
        if matches!(value, Id::RUNNING | Id::LANES) {
            return self.frame.lanes;
        }
        match (value.place(), value.label()) {
            (Some(place), _) => {
                let own = self.values.get(place);
                own.map_or(u64::MAX, |(_, clear)| !clear)
            }
            (_, Some((at, register))) => {
                let own = self.values.get(at);
                let number = own.and_then(|(number, _)| number.checked_sub(1));
                let all = number.and_then(|number| self.joined_bits.get(number as usize));
                let bits = all.and_then(|all| all.get(register));
                bits.copied().unwrap_or(u64::MAX)
            }
            _ => u64::MAX,
        }
    }

    fn is_not_zero(&self, state: &State, value: Id) -> bool {
        state.knows(value, Fact::NotZero)
            || matches!(self.def(value), Def::Number(number) if number & low(4) != 0)
    }

    /// The value that the instruction at a place computes.
    fn define(&mut self, place: usize, def: Def, bits: u64) -> Result<Id, Reason> {
        let value = Id::at(place).ok_or(Reason::Unknown)?;
        let (number, clear) = self.values.get_mut(place).ok_or(Reason::Unknown)?;
        if *number == NEVER && matches!(def, Def::Unknown) {
            (*number, *clear) = (UNKNOWN, !bits);
            return Ok(value);
        }
        let had = number
            .checked_sub(UNKNOWN + 1)
            .and_then(|number| self.defs.get_mut(number as usize));
        let was = had.as_ref().map_or(Def::Unknown, |own| own.0);
        let is_lasting = was.is_lasting() || def.is_lasting();
        let is_other = *number != NEVER && (is_lasting && was != def || *clear != !bits);
        *clear = !bits;
        match (had, def) {
            (Some(own), _) => *own = (def, self.since),
            (None, Def::Unknown) => *number = UNKNOWN,
            (None, _) => {
                self.defs.push((def, self.since));
                let count = u32::try_from(self.defs.len()).map_err(|_| Reason::Unknown)?;
                *number = count.checked_add(UNKNOWN).ok_or(Reason::Unknown)?;
            }
        }
        if is_other {
            self.is_other(value);
        }
        Ok(value)
    }
}

const fn refused(place: usize, reason: Reason) -> Refused {
    Refused { place, reason }
}
