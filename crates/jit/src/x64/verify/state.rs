//! What is known at a place of the code.

use super::super::registers::RSP;
use super::Reason;

/// A value: what a register holds from an instruction on. Two registers with the same one hold the same, if it
/// [is a name](Self::is_name).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Id(pub(super) u32);

impl Id {
    /// Nothing that may be read.
    pub(super) const UNDEFINED: Self = Self(0);
    /// Something that may be read, of which nothing is known.
    pub(super) const ANY: Self = Self(1);
    pub(super) const CONTEXT: Self = Self(2);
    /// A register file: they are all alike.
    pub(super) const FILE: Self = Self(3);
    pub(super) const CONSTANTS: Self = Self(4);
    /// The address of code that the host may enter.
    pub(super) const CODE: Self = Self(5);
    /// The lanes that run where the host enters code.
    pub(super) const RUNNING: Self = Self(6);
    /// Any lanes of the program.
    pub(super) const LANES: Self = Self(7);
    /// What a register held when code was entered: it is restored.
    const SAVED: u32 = 16;
    const FIRST: u32 = 32;
    const JOINED: u32 = 1 << 31;
    /// After all others.
    const LAST: Self = Self(u32::MAX);

    /// Whether registers that have it hold the same: nothing is known of others because of what they were compared with.
    pub(super) fn is_name(self) -> bool {
        matches!(self, Self::CONTEXT | Self::CONSTANTS | Self::RUNNING) || self.0 >= Self::SAVED
    }

    /// Whether it is what the caller had in a register.
    pub(super) const fn is_saved(self) -> bool {
        Self::SAVED <= self.0 && self.0 < Self::FIRST
    }

    pub(super) const fn saved(register: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "there are 16")]
        Self(Self::SAVED + register as u32)
    }

    /// What the instruction at a place computes.
    #[inline]
    pub(super) fn at(place: usize) -> Option<Self> {
        let id = u32::try_from(place).ok()?.checked_add(Self::FIRST)?;
        (id < Self::JOINED).then_some(Self(id))
    }

    /// Where it is computed.
    pub(super) const fn place(self) -> Option<usize> {
        match self.0 {
            Self::FIRST..Self::JOINED => Some((self.0 - Self::FIRST) as usize),
            _ => None,
        }
    }

    /// What a register holds where several ways come together, at the place of a label.
    pub(super) fn joined(place: usize, register: usize) -> Option<Self> {
        let place = u32::try_from(place).ok().filter(|place| *place < 1 << 25)?;
        Some(Self(
            Self::JOINED | place << 6 | u32::try_from(register).ok()?,
        ))
    }

    /// The place of the label where that is, and the register.
    pub(super) const fn label(self) -> Option<(usize, usize)> {
        match self.0 {
            Self::JOINED.. => Some((
                ((self.0 ^ Self::JOINED) >> 6) as usize,
                (self.0 & 63) as usize,
            )),
            _ => None,
        }
    }
}

/// Values that were computed at a place or after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Later(Id, Id);

impl Later {
    /// There are none.
    pub(super) const NEVER: Self = Self(Id::LAST, Id::LAST);

    pub(super) fn than(place: usize) -> Option<Self> {
        Some(Self(Id::at(place)?, Id::joined(place, 0)?))
    }

    #[inline]
    pub(super) fn has(self, value: Id) -> bool {
        let Self(own, joined) = self;
        value >= joined || value >= own && value.0 < Id::JOINED
    }
}

/// Registers: numbers, vectors, masks.
pub(super) const VECTORS: usize = 16;
pub(super) const MASKS: usize = 48;
pub(super) const REGISTERS: usize = 56;

/// Memory that the host lends: shared local memory, or the region at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Region {
    Local,
    At(Id),
}

/// This many bytes from an offset on are inside of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Room {
    pub(super) region: Region,
    pub(super) bytes: u64,
}

/// Lanes of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Lanes {
    /// Bytes of a lane.
    pub(super) lane: u8,
    /// Bytes of all of them.
    pub(super) bytes: u8,
}

impl Lanes {
    /// Whether those are among these.
    pub(super) const fn covers(self, wanted: Self) -> bool {
        self.lane == wanted.lane && self.bytes >= wanted.bytes
    }
}

/// What is known of a value, because code has compared it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fact {
    /// Of its low 32 bits.
    NotZero,
    /// The difference did not borrow.
    Exact,
    /// It is the number of a surface.
    Surface,
    /// The offset has this much room.
    Inside(Room),
    /// The offset in each lane has.
    AllInside(Lanes, Room),
    /// The offset in each lane has, unless it is negative.
    BelowEnd(Lanes, Room),
    /// No lane is negative.
    NoSign(Lanes),
    /// Lanes follow each other, four bytes apart.
    Row(Lanes),
    /// Of a region: an offset that has so much room there is no negative number of 32 bits.
    Small(u64),
    /// It is the offset of a thread among the shared data.
    Thread,
    /// Of the shared data: the companion is not null, or a thread follows.
    Companion,
    Follows,
}

impl Fact {
    /// The region that it is about.
    pub(super) const fn region(self) -> Option<Id> {
        match self {
            Self::Inside(room) | Self::AllInside(_, room) | Self::BelowEnd(_, room) => {
                match room.region {
                    Region::At(of) => Some(of),
                    Region::Local => None,
                }
            }
            _ => None,
        }
    }
}

/// The operands of what has set the flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flags {
    /// Not known to be set.
    Undefined,
    /// By anything else.
    Any,
    /// By a comparison of numbers of 64 bits, or of ones that have no more.
    Compared(Id, Id),
    /// By a comparison with a number.
    ComparedNumber(Id, u64),
    /// By a comparison with the number of surfaces.
    ComparedSurfaces(Id),
    /// By a comparison with the end of all threads.
    ComparedThreads(Id),
    /// By a comparison of the companion with zero.
    ComparedCompanion,
    /// By a subtraction, which has this result.
    Subtracted(Id),
    /// By what has this result, as to whether it is zero.
    Result(Id),
    /// By whether vectors have common bits.
    Common(Id, Operand, u8),
    /// By whether a mask has any bit.
    Mask(Id),
}

/// An operand: a value, or the constant at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    Value(Id),
    Constant(usize),
    Unknown,
}

/// Offsets of lanes in the shared data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stored {
    pub(super) at: i64,
    pub(super) bytes: i64,
    pub(super) value: Id,
}

/// What is known at a place.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct State {
    pub(super) registers: [Id; REGISTERS],
    pub(super) flags: Flags,
    /// Words on the stack, of which the first are the caller's registers, in their order.
    pub(super) depth: usize,
    /// Whether the lanes in the shared data may be those of two threads.
    pub(super) of_both: bool,
    /// The thread of which the shared data have the companion, although they do not say yet that it runs.
    pub(super) owed: Option<Id>,
    pub(super) facts: Vec<(Id, Fact)>,
    pub(super) stored: Vec<Stored>,
}

impl State {
    /// Where nothing is known.
    pub(super) const fn new() -> Self {
        Self {
            registers: [Id::UNDEFINED; REGISTERS],
            flags: Flags::Undefined,
            depth: 0,
            of_both: false,
            owed: None,
            facts: Vec::new(),
            stored: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn get(&self, register: usize) -> Id {
        self.registers
            .get(register)
            .copied()
            .unwrap_or(Id::UNDEFINED)
    }

    #[inline]
    pub(super) fn set(&mut self, register: usize, value: Id) {
        if let Some(to) = self.registers.get_mut(register) {
            *to = value;
        }
    }

    /// Whether the shared data are as the host expects them.
    pub(super) const fn is_settled(&self) -> bool {
        !self.of_both && self.owed.is_none()
    }

    /// Writes a register. That of the stack only moves with it.
    #[inline]
    pub(super) fn write(&mut self, register: usize, value: Id) -> Result<(), Reason> {
        if register == RSP.slot() {
            return Err(Reason::Agreement);
        }
        self.set(register, value);
        Ok(())
    }

    pub(super) fn learn(&mut self, value: Id, fact: Fact) {
        if !self.facts.contains(&(value, fact)) {
            self.facts.push((value, fact));
        }
    }

    #[inline]
    pub(super) fn knows(&self, value: Id, fact: Fact) -> bool {
        self.facts.contains(&(value, fact))
    }

    /// The companion in the shared data is another one from here on. `follows`: whether it is null, and those threads follow that
    /// did before.
    pub(super) fn change_companion(&mut self, follows: bool) {
        if self.flags == Flags::ComparedCompanion {
            self.flags = Flags::Any;
        }
        let had =
            self.knows(Id::CONTEXT, Fact::Companion) || self.knows(Id::CONTEXT, Fact::Follows);
        self.facts.retain(|(of, _)| *of != Id::CONTEXT);
        if follows && had {
            self.learn(Id::CONTEXT, Fact::Follows);
        }
    }

    pub(super) fn facts(&self, value: Id) -> impl Iterator<Item = Fact> {
        let own = self.facts.iter().filter(move |(of, _)| *of == value);
        own.map(|(_, fact)| *fact)
    }

    /// Whether a register, or the shared data, hold a value.
    pub(super) fn holds(&self, value: Id) -> bool {
        self.registers.contains(&value) || self.stored.iter().any(|own| own.value == value)
    }

    /// How many bytes from the offset in each lane on are inside of a region.
    pub(super) fn all_inside(&self, value: Id, wanted: Lanes) -> Option<Room> {
        let covers = |lanes: Lanes| lanes.covers(wanted);
        let positive = self
            .facts(value)
            .any(|fact| matches!(fact, Fact::NoSign(lanes) if covers(lanes)));
        let rooms = self.facts(value).filter_map(|fact| match fact {
            Fact::AllInside(lanes, room) if covers(lanes) => Some(room),
            Fact::BelowEnd(lanes, room) if covers(lanes) && positive => Some(room),
            _ => None,
        });
        rooms.max_by_key(|room| room.bytes)
    }

    /// How much room the offset in each lane of 64 bits has, if it is also that of its lower 32 bits, with a sign.
    pub(super) fn all_small(&self, value: Id, bytes: u8) -> Option<Room> {
        let room = self.all_inside(value, Lanes { lane: 8, bytes })?;
        let Region::At(of) = room.region else {
            return None;
        };
        let fits = |fact| matches!(fact, Fact::Small(bytes) if bytes <= room.bytes);
        self.facts(of).any(fits).then_some(room)
    }
}

impl Room {
    /// The room that both have.
    pub(super) fn and(self, other: Self) -> Option<Self> {
        (self.region == other.region).then_some(Self {
            bytes: self.bytes.min(other.bytes),
            ..self
        })
    }
}
