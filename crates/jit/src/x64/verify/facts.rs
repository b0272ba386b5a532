//! What follows from the outcome of a comparison.

use super::super::assembler::Condition;
use super::state::{Fact, Flags, Id, Lanes, Operand, Region, Room, State};
use super::{Def, LaneOp, Verifier, WHOLE};

/// The largest offset that is no negative number of 32 bits.
const MOST: u64 = i32::MAX as u64;

impl Verifier<'_> {
    /// What is known in addition where a jump is taken.
    pub(super) fn taken(&self, state: &State, condition: Condition) -> Option<(Id, Fact)> {
        match (state.flags, condition) {
            (Flags::Result(value), Condition::NotEqual) => Some((value, Fact::NotZero)),
            (Flags::ComparedSurfaces(value), Condition::Below) => Some((value, Fact::Surface)),
            (Flags::ComparedThreads(value), Condition::NotEqual) => Some((value, Fact::Thread)),
            (Flags::ComparedCompanion, Condition::NotEqual) => Some((Id::CONTEXT, Fact::Companion)),
            _ => None,
        }
    }

    /// What is known from here on, where a jump was not taken.
    pub(super) fn not_taken(&self, state: &mut State, condition: Condition) {
        match (state.flags, condition) {
            (Flags::Result(value), Condition::Equal) => state.learn(value, Fact::NotZero),
            (Flags::Result(value), Condition::NotEqual) => {
                if let Def::SignsOf(vector) = self.def(value) {
                    self.no_sign(state, vector, 32);
                }
            }
            (Flags::ComparedThreads(value), Condition::Equal) => state.learn(value, Fact::Thread),
            (Flags::ComparedCompanion, Condition::Equal) => {
                state.learn(Id::CONTEXT, Fact::Companion);
            }
            (Flags::Subtracted(value), Condition::Below) => state.learn(value, Fact::Exact),
            (Flags::Compared(a, b), Condition::Above) => self.not_above(state, a, b),
            (Flags::ComparedSurfaces(value), Condition::AboveOrEqual) => {
                state.learn(value, Fact::Surface);
            }
            (Flags::ComparedNumber(value, MOST), Condition::Above) => {
                // Of all bytes of the region, not of less: offsets may have been compared with those.
                if let Some((room, WHOLE)) = self.limit(state, value)
                    && let Region::At(of) = room.region
                {
                    state.learn(of, Fact::Small(room.bytes));
                }
            }
            (Flags::ComparedNumber(value, 0xff), Condition::NotEqual) => {
                if let Def::BitsOf(mask) = self.def(value) {
                    self.all_set(state, mask);
                }
            }
            (Flags::Common(a, b, bytes), Condition::NotEqual) => self.no_common(state, a, b, bytes),
            (Flags::Mask(mask), Condition::NotEqual) => {
                if let Def::Common(a, b) = self.def(mask) {
                    self.no_common(state, a, b, 64);
                }
            }
            _ => {}
        }
    }

    /// How much room offsets have that are not above a number, and the largest that it may be.
    pub(super) fn limit(&self, state: &State, value: Id) -> Option<(Room, u64)> {
        match self.def(value) {
            Def::Limit(room, most) if room.bytes == 0 || state.knows(value, Fact::Exact) => {
                Some((room, most))
            }
            _ => None,
        }
    }

    /// How much room offsets have that are not above the number in each lane of the first bytes of a vector.
    fn limit_of_lanes(&self, state: &State, value: Id, wanted: Lanes) -> Option<Room> {
        match self.def(value) {
            Def::Each(number, own) if own.covers(wanted) => {
                let (room, most) = self.limit(state, number)?;
                (own.lane == 8 || most <= MOST).then_some(room)
            }
            _ => None,
        }
    }

    /// A number is not above another one.
    fn not_above(&self, state: &mut State, a: Id, b: Id) {
        let Some((room, _)) = self.limit(state, b) else {
            return;
        };
        state.learn(a, Fact::Inside(room));
        // The sum has not wrapped, as the number is the offset of a lane, and lies inside.
        if let Def::Sum(of, more) = self.def(a)
            && self
                .room(state, of)
                .is_some_and(|own| own.region == room.region)
        {
            let bytes = room.bytes.saturating_add(more);
            state.learn(of, Fact::Inside(Room { bytes, ..room }));
        }
    }

    /// How many bytes from an offset on are inside of a region.
    pub(super) fn room(&self, state: &State, value: Id) -> Option<Room> {
        let known = state.facts(value).filter_map(|fact| match fact {
            Fact::Inside(room) => Some(room),
            _ => None,
        });
        known
            .chain(self.room_of_lane(state, value))
            .max_by_key(|room| room.bytes)
    }

    /// How many bytes from an offset on, which is one of those in a vector, are inside of a region.
    fn room_of_lane(&self, state: &State, value: Id) -> Option<Room> {
        let Def::Lane(vector, at, lane) = self.def(value) else {
            return None;
        };
        let bytes = at.checked_add(lane)?;
        let mut room = state.all_inside(vector, Lanes { lane, bytes })?;
        let row = state.facts(vector).find_map(|fact| match fact {
            Fact::Row(lanes) if at == 0 && lanes.lane == lane => Some(lanes),
            _ => None,
        });
        // The last one of those that follow each other is inside, too.
        if let Some(lanes) = row
            && let Some(all) = state.all_inside(vector, lanes)
            && all.region == room.region
        {
            let others = u64::from(lanes.bytes / lanes.lane) - 1;
            room.bytes = all.bytes + 4 * others;
        }
        Some(room)
    }

    /// Vectors have no common bits.
    fn no_common(&self, state: &mut State, a: Id, b: Operand, bytes: u8) {
        let all = match b {
            Operand::Value(b) => a == b,
            Operand::Constant(at) => {
                let ones = self.constants.get(at..at + usize::from(bytes));
                ones.is_some_and(|ones| ones.iter().all(|byte| *byte == u8::MAX))
            }
            Operand::Unknown => false,
        };
        if all {
            self.zero(state, a, bytes);
        }
    }

    /// These bytes of a vector are zero.
    fn zero(&self, state: &mut State, value: Id, bytes: u8) {
        match self.def(value) {
            Def::Lanes(LaneOp::Or, a, Operand::Value(b), own) => {
                self.zero(state, a, own.min(bytes));
                self.zero(state, b, own.min(bytes));
            }
            Def::Lanes(LaneOp::Xor, a, Operand::Value(b), own) => {
                if let Def::Lanes(LaneOp::MinD, most, Operand::Value(limit), of_min) = self.def(a)
                    && most == b
                {
                    let bytes = own.min(of_min).min(bytes);
                    let lanes = Lanes { lane: 4, bytes };
                    if let Some(room) = self.limit_of_lanes(state, limit, lanes) {
                        self.all_below(state, most, room, bytes);
                    }
                }
            }
            Def::Lanes(LaneOp::Xor, a, Operand::Constant(at), own) => {
                let bytes = own.min(bytes);
                let (lane, from, first) = match self.def(a) {
                    Def::Lanes(LaneOp::SubD, from, Operand::Value(first), n) if n >= bytes => {
                        (4, from, first)
                    }
                    Def::Lanes(LaneOp::SubQ, from, Operand::Value(first), n) if n >= bytes => {
                        (8, from, first)
                    }
                    _ => return,
                };
                let lanes = Lanes { lane, bytes };
                if let Def::FirstOf(of, own) = self.def(first)
                    && of == from
                    && own.covers(lanes)
                    && self.is_row(at, lane, bytes)
                {
                    state.learn(from, Fact::Row(lanes));
                }
            }
            _ => {}
        }
    }

    /// Whether constants are four apart, from zero on.
    fn is_row(&self, at: usize, lane: u8, bytes: u8) -> bool {
        let all = self.constants.get(at..at + usize::from(bytes));
        all.is_some_and(|all| {
            let lanes = all.chunks_exact(lane.into()).enumerate();
            lanes.fold(true, |is_row, (number, lane)| {
                let (low, high) = lane.split_at_checked(4).unwrap_or_default();
                let low = low
                    .first_chunk()
                    .map_or(u32::MAX, |low| u32::from_le_bytes(*low));
                is_row && u64::from(low) == 4 * number as u64 && high.iter().all(|byte| *byte == 0)
            })
        })
    }

    /// No lane of 32 bits is above a limit.
    fn all_below(&self, state: &mut State, value: Id, room: Room, bytes: u8) {
        match self.def(value) {
            Def::Lanes(LaneOp::MaxD, a, Operand::Value(b), own) => {
                self.all_below(state, a, room, own.min(bytes));
                self.all_below(state, b, room, own.min(bytes));
            }
            Def::Lanes(LaneOp::Or, a, Operand::Value(b), own) if a == b => {
                self.all_below(state, a, room, own.min(bytes));
            }
            _ => state.learn(value, Fact::AllInside(Lanes { lane: 4, bytes }, room)),
        }
    }

    /// No lane of 64 bits is negative.
    fn no_sign(&self, state: &mut State, value: Id, bytes: u8) {
        let lanes = |bytes| Lanes { lane: 8, bytes };
        match self.def(value) {
            Def::Lanes(LaneOp::Or, a, Operand::Value(b), own) => {
                self.no_sign(state, a, own.min(bytes));
                self.no_sign(state, b, own.min(bytes));
            }
            Def::Lanes(LaneOp::GreaterQ, of, Operand::Value(limit), own) => {
                let lanes = lanes(own.min(bytes));
                if let Some(room) = self.limit_of_lanes(state, limit, lanes) {
                    state.learn(of, Fact::BelowEnd(lanes, room));
                }
            }
            _ => state.learn(value, Fact::NoSign(lanes(bytes))),
        }
    }

    /// All of eight bits of a mask are set.
    fn all_set(&self, state: &mut State, mask: Id) {
        if let Def::AtMost(of, limit, other) = self.def(mask) {
            let lanes = Lanes { lane: 8, bytes: 64 };
            if let Some(room) = self.limit_of_lanes(state, limit, lanes) {
                state.learn(of, Fact::AllInside(lanes, room));
            }
            if let Some(other) = other {
                self.all_set(state, other);
            }
        }
    }
}
