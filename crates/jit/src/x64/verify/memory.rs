//! Operands in memory: what they are, and whether they are inside of it.

use super::super::registers::slot;
use super::state::{Fact, Id, Lanes, State, Stored};
use super::tables::{Kind, Row, accessed};
use super::{Def, Field, Reason, Verifier};
use iced_x86::{Instruction, Register};

/// What an operand in memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Data that is shared with the host.
    Shared(Field),
    /// Data of the thread at an offset, or of the one before it.
    Thread(Option<Id>, Field),
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

impl Place {
    /// The field of the data that are shared with the host, or of a thread.
    pub(super) const fn field(self) -> Option<Field> {
        match self {
            Self::Shared(field) | Self::Thread(_, field) => Some(field),
            _ => None,
        }
    }
}

impl Verifier<'_> {
    /// What an operand is. It is refused unless all of it is known to be there.
    pub(super) fn memory(
        &self,
        instruction: &Instruction,
        row: Row,
        state: &State,
    ) -> Result<Place, Reason> {
        let bytes = accessed(instruction);
        if bytes == 0 {
            return Err(Reason::Unknown);
        }
        let at = instruction.memory_displacement64().cast_signed();
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        // Most operands are somewhere in the register file.
        if index == Register::None
            && base.is_gpr64()
            && slot(base).is_some_and(|slot| state.get(slot) == Id::FILE)
        {
            let end = usize::try_from(at)
                .ok()
                .and_then(|at| at.checked_add(bytes));
            return match end {
                Some(end) if end <= self.frame.file_bytes => Ok(Place::Data),
                _ => Err(Reason::Outside),
            };
        }
        let takes_lanes = matches!(row.kind, Kind::Gather | Kind::Scatter);
        let register = |register: Register| {
            let is_vector = lanes_of(register).is_some();
            if !(register.is_gpr64() || is_vector && takes_lanes) {
                return Err(Reason::Outside);
            }
            let value = state.get(slot(register).ok_or(Reason::Outside)?);
            match value {
                Id::UNDEFINED => Err(Reason::Undefined),
                value => Ok(value),
            }
        };
        let base = register(base)?;
        let index = match index {
            Register::None => None,
            index => Some((index, register(index)?)),
        };
        let scale = i64::from(instruction.memory_index_scale());
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
                Some((_, index)) if scale == 1 && self.is_thread(state, index) => self
                    .of_thread(state, index, at, bytes)
                    .ok_or(Reason::Outside),
                Some((_, index)) => {
                    let end = last(at, index).ok_or(Reason::Outside)?;
                    let all = end
                        .checked_sub(at)
                        .and_then(|all| usize::try_from(all).ok());
                    let all = all.ok_or(Reason::Outside)?;
                    match self.frame.field(at, all) {
                        Some(Field::Offsets) => Ok(Place::Offsets(at, Some(index))),
                        Some(Field::Plain) => Ok(Place::Shared(Field::Plain)),
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
                            let lanes = Lanes {
                                lane: row.bytes,
                                bytes: own,
                            };
                            end.and_then(|end| self.last_of_lanes(index, lanes, scale, end))
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
            _ => self.lent(instruction, row, state, (base, index), bytes),
        }
    }

    /// Whether a number is the offset of a thread, or the one after a thread.
    fn is_thread(&self, state: &State, offset: Id) -> bool {
        matches!(self.def(offset), Def::Follower | Def::After(_))
            || state.knows(offset, Fact::Thread)
    }

    /// Data of the thread at an offset, or before it, if there is one.
    fn of_thread(&self, state: &State, offset: Id, at: i64, bytes: usize) -> Option<Place> {
        if at >= self.frame.follower {
            let is_there = state.knows(offset, Fact::Thread);
            let field = self.frame.of_thread(at, bytes).filter(|_| is_there)?;
            return Some(Place::Thread(Some(offset), field));
        }
        let is_after = matches!(self.def(offset), Def::Follower | Def::After(_));
        let at = at.checked_add(self.frame.thread_bytes())?;
        let field = self.frame.of_thread(at, bytes).filter(|_| is_after)?;
        Some(Place::Thread(None, field))
    }

    /// Memory that the host lends.
    fn lent(
        &self,
        instruction: &Instruction,
        row: Row,
        state: &State,
        (base, index): (Id, Option<(Register, Id)>),
        bytes: usize,
    ) -> Result<Place, Reason> {
        let scale = instruction.memory_index_scale();
        let lane = row.bytes;
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
    fn last_of_lanes(&self, index: Id, lanes: Lanes, scale: i64, from: i64) -> Option<i64> {
        let Def::Constant(at, bytes) = self.def(index) else {
            return None;
        };
        if bytes < lanes.bytes {
            return None;
        }
        let all = self.constants.get(at..at + usize::from(lanes.bytes))?;
        let offset = |lane: &[u8]| match lanes.lane {
            4 => Some(i32::from_le_bytes(*lane.first_chunk()?).into()),
            8 => Some(i64::from_le_bytes(*lane.first_chunk()?)),
            _ => None,
        };
        let offsets = all.chunks_exact(lanes.lane.into()).map(offset);
        let (mut least, mut most) = (0, 0);
        for offset in offsets {
            let offset = offset?;
            (least, most) = (offset.min(least), offset.max(most));
        }
        let end = most.checked_mul(scale)?.checked_add(from)?;
        (least == 0).then_some(end)
    }

    /// Offsets of lanes are stored: all those of a vector, if it is known.
    pub(super) fn store_offsets(state: &mut State, at: i64, bytes: usize, value: Option<Id>) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let end = at.saturating_add(bytes);
        state
            .stored
            .retain(|own| own.at + own.bytes <= at || end <= own.at);
        if let Some(value) = value {
            state.stored.push(Stored { at, bytes, value });
        }
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
