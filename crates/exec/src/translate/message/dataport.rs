//! Translation of the data-port and shared-virtual-memory messages.

use super::fields::Fields;
use crate::fault::Unsupported;
use crate::message::Message;
use crate::message::addresses::{Addresses, Width};
use crate::message::atomics::{AtomicAccess, AtomicData, AtomicWidth};
use crate::message::block::BlockAccess;
use crate::message::lanes::{LaneAccess, Part};
use crate::message::media::{FieldRows, MediaAccess};
use crate::message::reach::Reach;
use crate::message::typed::{Coordinates, TypedAccess, TypedAtomic};
use crate::message::unit::UnitKind;
use crate::operands::Scalar;
use visakit_isa::FieldName as F;
use visakit_isa::enums::{block_size, media_ld_modifier};
use visakit_isa::semantics::{
    AddressUnit, AtomicOp, Count, ElementSize, Memory as Row, Storage, rectangle_pitch,
};

/// Bytes of an OWord.
const OWORD: usize = 16;
const OFFSETS: u64 = u32::MAX as u64;
const NOTHING: Scalar = Scalar::Constant(0);

/// Where the elements of lanes are in the data operand.
pub(super) struct Shape {
    pub(super) unit: UnitKind,
    pub(super) parts: Box<[Part]>,
    pub(super) lane_pitch: usize,
}

impl Fields<'_, '_> {
    pub(super) fn count(&self) -> Result<usize, Unsupported> {
        Ok(usize::from(self.lanes()?.count))
    }

    /// Offsets of lanes into a surface: dwords, in units of `scale` bytes.
    fn offsets(&self, reach: Reach, scale: u64) -> Result<Addresses, Unsupported> {
        let scalar = match self.instruction.get(F::GlobalOffset) {
            Some(_) => self.scalar(F::GlobalOffset)?,
            None => NOTHING,
        };
        Ok(Addresses {
            elements: self.needed_data(F::ElementOffset)?,
            width: Width::W32,
            pitch: None,
            scalar,
            scalar_scale: scale,
            scale,
            add: 0,
            mask: OFFSETS & reach.mask(),
            align: 1,
        })
    }

    /// 64-bit addresses of lanes.
    fn flat_addresses(
        &self,
        name: F,
        scalar: Scalar,
        align: u64,
    ) -> Result<Addresses, Unsupported> {
        Ok(Addresses {
            elements: self.needed_data(name)?,
            width: Width::W64,
            pitch: None,
            scalar,
            scalar_scale: 1,
            scale: 1,
            add: 0,
            mask: u64::MAX,
            align,
        })
    }

    /// Enabled channels of up to four consecutive dwords, each channel in its own registers.
    pub(super) fn channel_parts(&self, channels: u8, unit: UnitKind, lanes: usize) -> Shape {
        let pitch = self.round(lanes * unit.register());
        let enabled = (0..4usize).filter(|c| channels >> c & 1 != 0);
        Shape {
            unit,
            parts: enabled
                .enumerate()
                .map(|(slot, channel)| Part {
                    memory: channel * unit.memory(),
                    register: slot * pitch,
                })
                .collect(),
            lane_pitch: unit.register(),
        }
    }

    pub(super) fn lane_access(
        &self,
        reach: Reach,
        addresses: Addresses,
        shape: Shape,
        lanes: usize,
        data: F,
        store: bool,
    ) -> Result<Message, Unsupported> {
        let data = self.moved(data, store)?;
        let shape = (shape.unit, shape.parts, shape.lane_pitch);
        let access = LaneAccess::new((reach, addresses), lanes, shape, data, store);
        Ok(Message::Lanes(Box::new(access)))
    }

    /// Addresses or offsets of lanes, plus a common offset.
    fn addresses(
        &self,
        memory: &Row,
        scale: u64,
        align: u64,
    ) -> Result<(Reach, Addresses), Unsupported> {
        if memory.storage == Storage::Flat {
            let (name, base) = match self.instruction.get(F::Address) {
                Some(_) => (F::ElementOffset, self.scalar(F::Address)?),
                None => (F::Addresses, NOTHING),
            };
            let addresses = self.flat_addresses(name, base, align)?;
            return Ok((Reach::Flat, addresses));
        }
        let reach = self.surface()?;
        Ok((reach, self.offsets(reach, scale)?))
    }

    /// One element, or a few that follow each other, for each lane.
    pub(super) fn elements(&self, memory: &Row, store: bool) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let log = match memory.count {
            Count::Power(name, mask) => self.byte(name) & mask,
            _ => self.byte(F::EltSize) & 3,
        };
        let in_elements = memory.unit == AddressUnit::Element;
        let (shape, align) = match (memory.element, memory.storage) {
            (ElementSize::BlockSize, Storage::Flat) => match self.byte(F::BlockSize) & 3 {
                block_size::BYTE => (bytes(1 << log), 1),
                block_size::DWORD => (blocks(UnitKind::D32, 1 << log, lanes), 4),
                block_size::QWORD => (blocks(UnitKind::D64, 1 << log, lanes), 8),
                _ => return Err(self.refuse("the block size has no meaning")),
            },
            (ElementSize::Bytes(8), _) => (blocks(UnitKind::D64, 1 << log, lanes), 8),
            _ if log < 3 => (bytes(1 << log), 1),
            _ if in_elements => return Err(self.refuse("the element size has no meaning")),
            _ => return Err(self.refuse("eight bytes for each lane have no definition")),
        };
        let scale = if in_elements { 1 << log } else { 1 };
        let (reach, addresses) = self.addresses(memory, scale, align)?;
        self.lane_access(reach, addresses, shape, lanes, data_field(store), store)
    }

    /// Up to four consecutive dwords for each lane.
    pub(super) fn channels(&self, memory: &Row, store: bool) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let channels = match memory.count {
            Count::ChannelsOff(name) => !self.byte(name),
            _ => self.byte(F::Channels),
        };
        let (reach, mut addresses) = self.addresses(memory, unit(memory), 4)?;
        if memory.storage == Storage::Surface {
            // The definition divides the offset by four.
            addresses.mask &= !3;
        }
        let shape = self.channel_parts(channels, UnitKind::D32, lanes);
        self.lane_access(reach, addresses, shape, lanes, data_field(store), store)
    }

    /// Consecutive OWords.
    pub(super) fn block(&self, memory: &Row, store: bool) -> Result<Message, Unsupported> {
        let (name, mask) = match memory.count {
            Count::Power(name, mask) => (name, mask),
            _ => return Err(self.unknown()),
        };
        let bytes = match self.byte(name) & mask {
            log @ 0..=4 => OWORD << log,
            _ => return Err(self.refuse("the number of OWords has no meaning")),
        };
        let scale = unit(memory);
        let (reach, address, mask) = if memory.storage == Storage::Flat {
            (Reach::Flat, F::Address, u64::MAX)
        } else {
            let reach = self.surface()?;
            let mask = if scale == 1 { OFFSETS } else { u64::MAX };
            (reach, F::Offset, mask & reach.mask())
        };
        let data = self.moved(data_field(store), store)?;
        Ok(Message::Block(Box::new(BlockAccess {
            reach,
            address: self.scalar(address)?,
            scale,
            mask,
            // Compilers use dword-aligned addresses in the aligned forms as well, intentionally.
            align: if scale == 1 { 4 } else { 1 },
            unit: OWORD,
            bytes,
            data,
            store,
        })))
    }

    pub(super) fn media(&self, store: bool) -> Result<Message, Unsupported> {
        let width = usize::from(self.byte(F::BlockWidth));
        let height = usize::from(self.byte(F::BlockHeight));
        let rows = match self.byte(F::Modifier) {
            media_ld_modifier::TOP | media_ld_modifier::TOP_MOD => FieldRows::Top,
            media_ld_modifier::BOTTOM | media_ld_modifier::BOTTOM_MOD => FieldRows::Bottom,
            media_ld_modifier::NOMOD | media_ld_modifier::MODIFIED => FieldRows::All,
            _ => return Err(self.refuse("the modifier has no meaning")),
        };
        let pitch = rectangle_pitch(self.byte(F::BlockWidth).into()) as usize;
        Ok(Message::Media(Box::new(MediaAccess {
            reach: self.surface()?,
            plane: self.byte(F::Plane),
            rows,
            width,
            height,
            pitch,
            x: self.scalar(F::XOffset)?.into(),
            y: self.scalar(F::YOffset)?.into(),
            clamps: true,
            data: self.moved(data_field(store), store)?,
            store,
        })))
    }

    /// U, V and R of typed messages, and their number of lanes.
    fn coordinates(&self) -> Result<Coordinates, Unsupported> {
        let lanes = self.count()?;
        Ok(Coordinates {
            sources: [self.data(F::U)?, self.data(F::V)?, self.data(F::R)?],
            width: Width::W32,
            offsets: [0; 3],
            lanes,
        })
    }

    pub(super) fn typed(&self, store: bool) -> Result<Message, Unsupported> {
        let coordinates = self.coordinates()?;
        let channels = match self.instruction.get(F::ChannelsInv) {
            Some(_) => !self.byte(F::ChannelsInv),
            None => self.byte(F::Channels),
        } & 0xf;
        self.typed_access(
            self.surface()?,
            coordinates,
            channels,
            data_field(store),
            store,
        )
    }

    pub(super) fn typed_access(
        &self,
        reach: Reach,
        coordinates: Coordinates,
        channels: u8,
        data: F,
        store: bool,
    ) -> Result<Message, Unsupported> {
        let lanes = coordinates.lanes;
        let channel_pitch = self.round(lanes * 4);
        let data = self.moved(data, store)?;
        Ok(Message::Typed(Box::new(TypedAccess {
            reach,
            coordinates,
            channels,
            channel_pitch,
            data,
            store,
        })))
    }

    pub(super) fn typed_atomic(&self) -> Result<Message, Unsupported> {
        let coordinates = self.coordinates()?;
        Ok(Message::TypedAtomic(Box::new(TypedAtomic {
            reach: self.surface()?,
            data: self.atomic_data()?,
            coordinates,
        })))
    }

    pub(super) fn atomic(&self, memory: &Row) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let data = self.atomic_data()?;
        let align = data.width.memory() as u64;
        let (reach, mut addresses) = self.addresses(memory, unit(memory), align)?;
        addresses.align = align;
        Ok(Message::Atomic(Box::new(AtomicAccess {
            reach,
            addresses,
            lanes,
            data,
        })))
    }

    /// Operation and data operands of the atomics that are not LSC.
    fn atomic_data(&self) -> Result<AtomicData, Unsupported> {
        let byte = self.byte(F::Op);
        let width = match byte >> 5 & 3 {
            0 => AtomicWidth::W32,
            1 => AtomicWidth::W16,
            _ => AtomicWidth::W64,
        };
        let op = AtomicOp::from_code(byte).ok_or_else(|| {
            let code = byte & 0x1f;
            self.refuse(format!("atomic operation {code} has no meaning"))
        })?;
        // CMPXCHG stores src0 where memory has src1, FCMPWR src1 where memory has src0.
        let (a, b) = match op {
            AtomicOp::CompareExchange => (F::Src1, F::Src0),
            _ => (F::Src0, F::Src1),
        };
        Ok(AtomicData {
            op,
            width,
            a: self.data(a)?,
            b: self.data(b)?,
            dst: self.data(F::Dst)?,
        })
    }
}

/// Bytes that offsets count.
fn unit(memory: &Row) -> u64 {
    match memory.unit {
        AddressUnit::Bytes(bytes) => bytes.into(),
        AddressUnit::Element => 1,
    }
}

const fn data_field(store: bool) -> F {
    if store { F::Src } else { F::Dst }
}

/// Blocks of a lane, the first ones of all lanes in front.
fn blocks(unit: UnitKind, count: usize, lanes: usize) -> Shape {
    Shape {
        unit,
        parts: (0..count)
            .map(|i| Part {
                memory: i * unit.memory(),
                register: i * lanes * unit.register(),
            })
            .collect(),
        lane_pitch: unit.register(),
    }
}

/// Bytes of a lane side by side, in at least a dword, which is filled up with zeroes.
fn bytes(count: usize) -> Shape {
    let (unit, lane_pitch) = match count {
        1 => (UnitKind::D8In32, 4),
        2 => (UnitKind::D16In32, 4),
        4 => (UnitKind::D32, 4),
        _ => (UnitKind::D64, 8),
    };
    Shape {
        unit,
        parts: Box::new([Part {
            memory: 0,
            register: 0,
        }]),
        lane_pitch,
    }
}
