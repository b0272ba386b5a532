//! What instructions compute, as far as it matters for addresses.

use super::super::registers::slot;
use super::instructions::is_same;
use super::memory::Place;
use super::state::{Fact, Flags, Id, Lanes, Operand, Region, Room, State};
use super::tables::*;
use super::{Def, Field, LaneOp, Reason, Verifier, WHOLE};
use iced_x86::Instruction;

impl Verifier<'_> {
    /// The value that an instruction computes.
    pub(super) fn computed(
        &mut self,
        place: usize,
        instruction: &Instruction,
        row: Row,
        state: &mut State,
        there: Option<Place>,
    ) -> Result<Id, Reason> {
        let from = Self::register(instruction, 1, state).map(|(_, value)| value);
        let width = usize::from(row.bytes);
        match (row.kind, from) {
            (Kind::Move, Some(from)) if self.bits_of(from) <= low(width) => return Ok(from),
            (Kind::Move, None) => return self.loaded(place, instruction, state, (there, width)),
            (Kind::Load, Some(from)) if row.bytes == 64 && !instruction.has_op_mask() => {
                return Ok(from);
            }
            _ => {}
        }
        let (def, bits) = match self.number_of(instruction, row, state, from) {
            Some(number) => number,
            None => (
                self.vector_of(instruction, row, state, (from, there)),
                u64::MAX,
            ),
        };
        let own = self.define(place, def, bits)?;
        if let Some(from) = from.filter(|_| !instruction.has_op_mask()) {
            for lane in [4, 8] {
                if let Some(room) = Self::moved(instruction, row, state, (from, lane)) {
                    let bytes = row.bytes;
                    state.learn(own, Fact::AllInside(Lanes { lane, bytes }, room));
                }
            }
        }
        if row.kind == Kind::WithoutLowest {
            state.flags = self.result_flags(own, true);
        }
        Ok(own)
    }

    /// How much room the lanes of a vector have, so many bytes each, that are those of others at other places.
    fn moved(
        instruction: &Instruction,
        row: Row,
        state: &State,
        (from, lane): (Id, u8),
    ) -> Option<Room> {
        let other = || Self::register(instruction, 2, state).map(|(_, value)| value);
        let last = instruction.op_count().checked_sub(1);
        let number = || immediate(instruction, last?);
        let all = |value, bytes| state.all_inside(value, Lanes { lane, bytes });
        let bytes = row.bytes;
        match (row.kind, lane) {
            (Kind::UpperHalf, _) => all(from, 2 * bytes),
            (Kind::Qwords, _) => all(from, bytes),
            (Kind::Halves, _) if number() == Some(1) => {
                let half = bytes / 2;
                all(from, half)?.and(all(other()?, half)?)
            }
            (Kind::Narrow, 4) => state.all_small(from, 2 * bytes),
            // The lower dword of each qword.
            (Kind::Dwords, 4) if number() == Some(0b1000_1000) => {
                let own = state.all_small(from, bytes)?;
                own.and(state.all_small(other()?, bytes)?)
            }
            _ => None,
        }
    }

    /// How a number is computed, and its bits that may be set.
    fn number_of(
        &self,
        instruction: &Instruction,
        row: Row,
        state: &State,
        from: Option<Id>,
    ) -> Option<(Def, u64)> {
        let bits = |value: Id| self.bits_of(value);
        let all = low(row.bytes.into());
        Some(match row.kind {
            Kind::Move | Kind::Number => (Def::Unknown, all),
            Kind::Immediate => {
                let number = immediate(instruction, 1)? & all;
                (Def::Number(number), number)
            }
            Kind::Smaller => self.smaller(instruction, state),
            Kind::Count => (Def::Unknown, 63),
            Kind::LowestBit => match from {
                Some(from) if self.is_not_zero(state, from) => {
                    let most = (bits(from) & all).checked_ilog2().unwrap_or(31);
                    (Def::Unknown, up_to(most.into()))
                }
                _ => (Def::Unknown, u64::MAX),
            },
            Kind::WithoutLowest => (Def::Unknown, from.map_or(all, bits) & all),
            Kind::AndNot => {
                let of = Self::register(instruction, 2, state);
                (Def::Unknown, of.map_or(all, |(_, value)| bits(value)) & all)
            }
            Kind::SignsOf => (from.map_or(Def::Unknown, Def::SignsOf), 0xf),
            Kind::BitsOf => (from.map_or(Def::Unknown, Def::BitsOf), all),
            Kind::LaneOf => {
                let number = immediate(instruction, 2).unwrap_or(0);
                // As the host counts.
                let at = number * u64::from(row.bytes) % 16;
                let at = u8::try_from(at).ok()?;
                let def = from.map_or(Def::Unknown, |from| Def::Lane(from, at, row.bytes));
                (def, all)
            }
            _ => return None,
        })
    }

    /// How a vector or a mask is computed.
    fn vector_of(
        &self,
        instruction: &Instruction,
        row: Row,
        state: &State,
        (from, there): (Option<Id>, Option<Place>),
    ) -> Def {
        if instruction.has_op_mask() && row.kind != Kind::AtMost {
            return Def::Unknown;
        }
        let bytes = row.bytes;
        match (row.kind, from) {
            // The rest of a longer one becomes zero.
            (Kind::Load, Some(from)) => Def::Lanes(LaneOp::Or, from, Operand::Value(from), bytes),
            (Kind::Load, None) => match there {
                Some(Place::Constant(Some(at))) => Def::Constant(at, bytes),
                Some(Place::Thread(Some(thread), Field::Own)) => Def::Own(thread),
                _ => Def::Unknown,
            },
            (Kind::First, Some(from))
                if self.bits_of(from) <= low(bytes.into()) || self.is_small(state, from) =>
            {
                Def::First(from, bytes)
            }
            (Kind::Broadcast(lane), Some(from)) => self.each(from, Lanes { lane, bytes }),
            (Kind::BroadcastNumber, Some(from)) => Def::Each(from, Lanes { lane: 8, bytes }),
            (Kind::Equal, Some(_)) if is_same(instruction) => Def::Ones,
            (Kind::AtMost, Some(a)) if immediate(instruction, 3) == Some(2) => {
                let before = match instruction.has_op_mask() {
                    true => slot(instruction.op_mask()).map(|slot| Some(state.get(slot))),
                    false => Some(None),
                };
                match (self.source(instruction, 2, row, state), before) {
                    (Operand::Value(b), Some(before)) => Def::AtMost(a, b, before),
                    _ => Def::Unknown,
                }
            }
            (Kind::CommonMask, Some(from)) => {
                Def::Common(from, self.source(instruction, 2, row, state))
            }
            (Kind::Lanes(op), Some(from)) => {
                let other = self.source(instruction, 2, row, state);
                Def::Lanes(op, from, other, bytes)
            }
            _ => Def::Unknown,
        }
    }

    /// Whether a limit has no more than 32 bits.
    fn is_small(&self, state: &State, value: Id) -> bool {
        self.limit(state, value)
            .is_some_and(|(_, most)| most <= low(4))
    }

    /// The first lane of a vector in all lanes.
    fn each(&self, from: Id, lanes: Lanes) -> Def {
        match self.def(from) {
            Def::First(number, own) if own == lanes.lane => Def::Each(number, lanes),
            _ => Def::FirstOf(from, lanes),
        }
    }

    /// The smaller of two numbers, if that is what a conditional move computes.
    fn smaller(&self, instruction: &Instruction, state: &State) -> (Def, u64) {
        let value = |operand| Self::register(instruction, operand, state).map(|(_, value)| value);
        let (Some(to), Some(from)) = (value(0), value(1)) else {
            return (Def::Unknown, u64::MAX);
        };
        if state.flags != Flags::Compared(to, from) {
            return (Def::Unknown, u64::MAX);
        }
        let most = match self.def(from) {
            Def::Number(number) => number,
            _ => self.bits_of(from),
        };
        match self.limit(state, to) {
            Some((room, own)) if room.bytes == 0 => (Def::Limit(room, own.min(most)), up_to(most)),
            _ => (Def::Unknown, up_to(most)),
        }
    }

    /// A number that is loaded from memory.
    fn loaded(
        &mut self,
        at: usize,
        instruction: &Instruction,
        state: &mut State,
        (there, width): (Option<Place>, usize),
    ) -> Result<Id, Reason> {
        let room = |region| Room { region, bytes: 0 };
        let bits = low(width);
        let is_shared = matches!(there, Some(Place::Shared(_)));
        let known = |fact| state.knows(Id::CONTEXT, fact);
        let mut fact = None;
        let (def, bits) = match (there, there.and_then(Place::field)) {
            (_, Some(Field::File)) if width == 8 => return Ok(Id::FILE),
            (_, Some(Field::Constants)) if width == 8 => return Ok(Id::CONSTANTS),
            (_, Some(Field::Code)) if width == 8 => return Ok(Id::CODE),
            (_, Some(Field::Companion)) if width == 8 && is_shared && known(Fact::Companion) => {
                return Ok(Id::CODE);
            }
            (_, Some(Field::Follower)) if width == 8 => {
                let follows = known(Fact::Companion) || known(Fact::Follows);
                fact = follows.then_some(Fact::Thread);
                (Def::Follower, bits)
            }
            (_, Some(Field::Lanes { of_both })) => {
                (Def::Unknown, self.lanes_in(state, of_both) & bits)
            }
            (_, Some(Field::Local)) if width == 8 => (Def::Storage(Region::Local), bits),
            (_, Some(Field::LocalBytes)) if width == 8 => {
                let most = self.frame.most_local;
                (Def::Limit(room(Region::Local), most), up_to(most))
            }
            (Some(Place::RegionBytes(of)), _) => (Def::Limit(room(Region::At(of)), WHOLE), WHOLE),
            (Some(Place::RegionStorage(of)), _) => (Def::Storage(Region::At(of)), bits),
            (Some(Place::Offsets(from, Some(index))), _) => {
                if instruction.memory_index_scale() as usize == width {
                    fact = self.loaded_offset(state, from, index, width);
                }
                (Def::Unknown, bits)
            }
            _ => (Def::Unknown, bits),
        };
        let value = self.define(at, def, bits)?;
        if let Some(fact) = fact {
            state.learn(value, fact);
        }
        Ok(value)
    }
}
