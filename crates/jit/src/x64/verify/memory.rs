//! Operands in memory: what they are, and whether they are inside of it.

use super::super::registers::slot;
use super::state::{Fact, Id, Lanes, State, Stored};
use super::tables::lane_of_index;
use super::{Def, Field, Reason, Verifier};
use iced_x86::{Instruction, Register};

/// What an operand in memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Data that is shared with the host.
    Shared(Field),
    /// Room for the offsets of lanes: that of one, or of one among them.
    Offsets(i64, Option<Id>),
    /// Constants, from a known place on or from any.
    Constant(Option<usize>),
    /// A field of a region: its bytes, its storage, or anything else.
    RegionBytes(Id),
    RegionStorage(Id),
    /// Another number that the host has written.
    ReadOnly,
    /// The register file, or memory of the kernel.
    Data,
}

impl Verifier<'_> {
    /// What an operand of so many bytes is. It is refused unless all of it is known to be there.
    pub(super) fn memory(
        &self,
        instruction: &Instruction,
        state: &State,
        bytes: usize,
    ) -> Result<Place, Reason> {
        let register = |register: Register| {
            let value = state.get(slot(register).ok_or(Reason::Outside)?);
            match value {
                Id::UNDEFINED => Err(Reason::Undefined),
                value => Ok(value),
            }
        };
        let base = register(instruction.memory_base())?;
        let index = match instruction.memory_index() {
            Register::None => None,
            index => Some((index, register(index)?)),
        };
        let scale = i64::from(instruction.memory_index_scale());
        let at = instruction.memory_displacement64().cast_signed();
        let size = i64::try_from(bytes).map_err(|_| Reason::Outside)?;
        let last = |from: i64, value: Id| {
            let most = i64::try_from(self.most(value)).ok()?;
            most.checked_mul(scale)?
                .checked_add(from)?
                .checked_add(size)
        };
        match base {
            Id::CONTEXT => match index {
                None => match self.frame.field(at, bytes).ok_or(Reason::Outside)? {
                    Field::Offsets => Ok(Place::Offsets(at, None)),
                    field => Ok(Place::Shared(field)),
                },
                Some((_, Id::FOLLOWER)) if scale == 1 => {
                    let field = self.frame.of_follower(at, bytes).ok_or(Reason::Outside)?;
                    Ok(Place::Shared(field))
                }
                Some((_, index)) => {
                    let end = last(at, index).ok_or(Reason::Outside)?;
                    let all = end
                        .checked_sub(at)
                        .and_then(|all| usize::try_from(all).ok());
                    let all = all.ok_or(Reason::Outside)?;
                    match self.frame.field(at, all) {
                        Some(Field::Offsets) => Ok(Place::Offsets(at, Some(index))),
                        _ => Err(Reason::Outside),
                    }
                }
            },
            Id::FILE | Id::CONSTANTS => {
                let room = match base {
                    Id::FILE => self.frame.file_bytes,
                    _ => self.constants.len(),
                };
                let end = match index {
                    None => at.checked_add(size),
                    Some((register, index)) => match lanes_of(register) {
                        None => last(at, index),
                        Some(own) => {
                            let end = at.checked_add(size);
                            end.and_then(|end| self.last_of_lanes(index, own, scale, end))
                        }
                    },
                };
                let is_inside = end.and_then(|end| usize::try_from(end).ok());
                if at < 0 || is_inside.is_none_or(|end| end > room) {
                    return Err(Reason::Outside);
                }
                Ok(match (base, index) {
                    (Id::FILE, _) => Place::Data,
                    (_, None) => Place::Constant(usize::try_from(at).ok()),
                    _ => Place::Constant(None),
                })
            }
            _ => self.lent(instruction, state, (base, index), bytes),
        }
    }

    /// Memory that the host lends.
    fn lent(
        &self,
        instruction: &Instruction,
        state: &State,
        (base, index): (Id, Option<(Register, Id)>),
        bytes: usize,
    ) -> Result<Place, Reason> {
        let scale = instruction.memory_index_scale();
        let lane = lane_of_index(instruction.code());
        let at = instruction.memory_displacement64().cast_signed();
        let room = match (self.def(base), index) {
            (Def::Region, None) => {
                let [address, of_bytes, storage] = self.frame.region;
                return match usize::try_from(at) {
                    Ok(at) if bytes == 8 && at == of_bytes => Ok(Place::RegionBytes(base)),
                    Ok(at) if bytes == 8 && at == storage => Ok(Place::RegionStorage(base)),
                    Ok(at) if bytes == 8 && at == address => Ok(Place::ReadOnly),
                    _ => Err(Reason::Outside),
                };
            }
            (Def::Address(room), None) => room.bytes,
            (Def::Storage(region), Some((register, index))) if scale == 1 => {
                let room = match lanes_of(register) {
                    None => self.room(state, index),
                    Some(bytes) => state.all_inside(index, Lanes { lane, bytes }),
                };
                let room = room.filter(|room| room.region == region);
                room.ok_or(Reason::Outside)?.bytes
            }
            _ => return Err(Reason::Outside),
        };
        let at = usize::try_from(at).ok();
        match at.and_then(|at| at.checked_add(bytes)) {
            Some(end) if end as u64 <= room => Ok(Place::Data),
            _ => Err(Reason::Outside),
        }
    }

    /// The largest that a number may be.
    fn most(&self, value: Id) -> u64 {
        match self.def(value) {
            Def::Number(number) => number,
            _ => self.bits_of(value),
        }
    }

    /// The end of what lanes of constant offsets access.
    fn last_of_lanes(&self, index: Id, bytes: u8, scale: i64, from: i64) -> Option<i64> {
        let Def::Constant(at) = self.def(index) else {
            return None;
        };
        let all = self.constants.get(at..at + usize::from(bytes))?;
        let (lanes, _) = all.as_chunks::<4>();
        let most = lanes.iter().map(|lane| i32::from_le_bytes(*lane));
        let is_negative = most.clone().any(|lane| lane < 0);
        let most = i64::from(most.max().filter(|_| !is_negative)?);
        most.checked_mul(scale)?.checked_add(from)
    }

    /// Offsets of lanes are stored.
    pub(super) fn store_offsets(state: &mut State, at: i64, bytes: usize, value: Id) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let end = at.saturating_add(bytes);
        state
            .stored
            .retain(|own| own.at + own.bytes <= at || end <= own.at);
        state.stored.push(Stored { at, bytes, value });
    }

    /// What is known of an offset that is loaded from among those that were stored, of so many bytes.
    pub(super) fn loaded_offset(
        &self,
        state: &State,
        from: i64,
        index: Id,
        lane: usize,
    ) -> Option<Fact> {
        let most = i64::try_from(self.most(index)).ok()?;
        let lane = i64::try_from(lane).ok()?;
        let end = most.checked_add(1)?.checked_mul(lane)?.checked_add(from)?;
        let (mut at, mut found) = (from, None);
        while at < end {
            let own = state.stored.iter().find(|own| own.at == at)?;
            let bytes = u8::try_from(own.bytes).ok()?;
            let lanes = Lanes {
                lane: u8::try_from(lane).ok()?,
                bytes,
            };
            let room = state.all_inside(own.value, lanes)?;
            found = match found {
                None => Some(room),
                Some(before) if before.region == room.region => {
                    Some(if room.bytes < before.bytes {
                        room
                    } else {
                        before
                    })
                }
                Some(_) => return None,
            };
            at += own.bytes;
        }
        found.map(Fact::Inside)
    }
}

/// Bytes of an index that is a vector.
fn lanes_of(register: Register) -> Option<u8> {
    match register as u32 {
        n if n < Register::XMM0 as u32 => None,
        n if n < Register::YMM0 as u32 => Some(16),
        n if n < Register::ZMM0 as u32 => Some(32),
        _ => Some(64),
    }
}
