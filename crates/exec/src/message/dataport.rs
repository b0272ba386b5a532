//! Translation of the data-port and shared-virtual-memory messages.

use super::Message;
use super::addresses::{Addresses, Width};
use super::atomics::{AtomicAccess, AtomicData, AtomicWidth};
use super::block::{BlockAccess, FieldRows, MediaAccess, media_pitch};
use super::fields::{Data, Fields};
use super::lanes::{LaneAccess, Part};
use super::reach::Reach;
use super::typed::{Coordinates, TypedAccess, TypedAtomic};
use super::unit::UnitKind;
use crate::fault::Unsupported;
use crate::memory::AtomicOp;
use crate::program::Scalar;
use visakit_isa::FieldName as F;
use visakit_isa::enums::{atomic_op, block_size, media_ld_modifier};

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
    fn offsets(&self, reach: Reach, scale: u64, lanes: usize) -> Result<Addresses, Unsupported> {
        let scalar = match self.instruction.get(F::GlobalOffset) {
            Some(_) => self.scalar(F::GlobalOffset)?,
            None => NOTHING,
        };
        let place = self.needed(F::ElementOffset)?;
        Ok(Addresses {
            elements: Data::new(place, lanes * 4),
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
        lanes: usize,
        align: u64,
    ) -> Result<Addresses, Unsupported> {
        let place = self.needed(name)?;
        Ok(Addresses {
            elements: Data::new(place, lanes * 8),
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
        let bytes = LaneAccess::data_bytes(&shape.parts, shape.unit, lanes, shape.lane_pitch);
        let data = self.data(data, bytes)?;
        if store && data.is_none() {
            return Err(self.refuse("there is no data to store"));
        }
        let shape = (shape.unit, shape.parts, shape.lane_pitch);
        let access = LaneAccess::new((reach, addresses), lanes, shape, data, store);
        Ok(Message::Lanes(Box::new(access)))
    }

    /// GATHER and SCATTER: one element for each lane, offsets in elements.
    pub(super) fn old_gather(&self, store: bool) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let (unit, scale) = match self.byte(F::EltSize) & 3 {
            0 => (UnitKind::D8In32, 1),
            1 => (UnitKind::D16In32, 2),
            2 => (UnitKind::D32, 4),
            _ => return Err(self.refuse("the element size has no meaning")),
        };
        let reach = self.surface()?;
        let addresses = self.offsets(reach, scale, lanes)?;
        let shape = Shape {
            unit,
            parts: Box::new([Part {
                memory: 0,
                register: 0,
            }]),
            lane_pitch: 4,
        };
        self.lane_access(reach, addresses, shape, lanes, data_field(store), store)
    }

    /// GATHER4 and SCATTER4 of old objects: offsets in dwords, channels inverted.
    pub(super) fn old_gather4(&self, store: bool) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let reach = self.surface()?;
        let addresses = self.offsets(reach, 4, lanes)?;
        let shape = self.channel_parts(!self.byte(F::Channels), UnitKind::D32, lanes);
        self.lane_access(reach, addresses, shape, lanes, data_field(store), store)
    }

    pub(super) fn gather4_scaled(&self, store: bool) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let reach = self.surface()?;
        let mut addresses = self.offsets(reach, 1, lanes)?;
        // The definition divides the offset by four.
        addresses.mask &= !3;
        let shape = self.channel_parts(self.byte(F::Channels), UnitKind::D32, lanes);
        self.lane_access(reach, addresses, shape, lanes, data_field(store), store)
    }

    pub(super) fn gather_scaled(&self, store: bool) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let unit = match self.byte(F::NumBlocks) & 3 {
            0 => UnitKind::D8In32,
            1 => UnitKind::D16In32,
            2 => UnitKind::D32,
            _ => return Err(self.refuse("eight bytes for each lane have no definition")),
        };
        let reach = self.surface()?;
        let addresses = self.offsets(reach, 1, lanes)?;
        let shape = Shape {
            unit,
            parts: Box::new([Part {
                memory: 0,
                register: 0,
            }]),
            lane_pitch: 4,
        };
        self.lane_access(reach, addresses, shape, lanes, data_field(store), store)
    }

    /// QW_GATHER and QW_SCATTER: byte offsets, then consecutive qwords.
    pub(super) fn qwords(&self, store: bool) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let reach = self.surface()?;
        let addresses = self.offsets(reach, 1, lanes)?;
        let shape = blocks(UnitKind::D64, 1 << (self.byte(F::NumBlocks) & 3), lanes);
        self.lane_access(reach, addresses, shape, lanes, data_field(store), store)
    }

    pub(super) fn svm_blocks(&self, store: bool) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let count = 1usize << (self.byte(F::NumBlocks) & 3);
        let (shape, align) = match self.byte(F::BlockSize) & 3 {
            block_size::BYTE => (bytes(count), 1),
            block_size::DWORD => (blocks(UnitKind::D32, count, lanes), 4),
            block_size::QWORD => (blocks(UnitKind::D64, count, lanes), 8),
            _ => return Err(self.refuse("the block size has no meaning")),
        };
        let addresses = self.flat_addresses(F::Addresses, NOTHING, lanes, align)?;
        self.lane_access(
            Reach::Flat,
            addresses,
            shape,
            lanes,
            data_field(store),
            store,
        )
    }

    pub(super) fn svm_gather4(&self, store: bool) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let base = self.scalar(F::Address)?;
        let addresses = self.flat_addresses(F::ElementOffset, base, lanes, 4)?;
        let shape = self.channel_parts(self.byte(F::Channels), UnitKind::D32, lanes);
        self.lane_access(
            Reach::Flat,
            addresses,
            shape,
            lanes,
            data_field(store),
            store,
        )
    }

    /// OWORD_LD, OWORD_LD_UNALIGNED and OWORD_ST.
    pub(super) fn owords(&self, unaligned: bool, store: bool) -> Result<Message, Unsupported> {
        let reach = self.surface()?;
        self.block(
            self.byte(F::Size),
            BlockAccess {
                reach,
                address: self.scalar(F::Offset)?,
                scale: if unaligned { 1 } else { 16 },
                mask: if unaligned { OFFSETS } else { u64::MAX } & reach.mask(),
                align: if unaligned { 4 } else { 1 },
                unit: OWORD,
                bytes: 0,
                data: None,
                store,
            },
        )
    }

    pub(super) fn svm_owords(&self, store: bool) -> Result<Message, Unsupported> {
        // Compilers give dword-aligned addresses to the aligned form as well, and mean them.
        self.block(
            self.byte(F::Properties),
            BlockAccess {
                reach: Reach::Flat,
                address: self.scalar(F::Address)?,
                scale: 1,
                mask: u64::MAX,
                align: 4,
                unit: OWORD,
                bytes: 0,
                data: None,
                store,
            },
        )
    }

    fn block(&self, size: u8, mut block: BlockAccess) -> Result<Message, Unsupported> {
        let bytes = match size & 7 {
            log @ 0..=4 => 16usize << log,
            _ => return Err(self.refuse("the number of OWords has no meaning")),
        };
        block.bytes = bytes;
        block.data = self.data(data_field(block.store), bytes)?;
        if block.store && block.data.is_none() {
            return Err(self.refuse("there is no data to store"));
        }
        Ok(Message::Block(Box::new(block)))
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
        let pitch = media_pitch(width);
        // The last row ends with its last byte.
        let bytes = pitch * height.saturating_sub(1) + width;
        Ok(Message::Media(Box::new(MediaAccess {
            reach: self.surface()?,
            plane: self.byte(F::Plane),
            rows,
            width,
            height,
            pitch,
            x: self.scalar(F::XOffset)?,
            y: self.scalar(F::YOffset)?,
            clamps: true,
            data: self.data(data_field(store), bytes)?,
            store,
        })))
    }

    /// U, V and R of typed messages, and their number of lanes.
    fn coordinates(&self) -> Result<Coordinates, Unsupported> {
        let lanes = self.count()?;
        Ok(Coordinates {
            sources: [
                self.data(F::U, lanes * 4)?,
                self.data(F::V, lanes * 4)?,
                self.data(F::R, lanes * 4)?,
            ],
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
        let slots = channels.count_ones() as usize;
        let bytes = channel_pitch * slots.saturating_sub(1) + lanes * 4;
        let data = self.data(data, bytes)?;
        if store && data.is_none() {
            return Err(self.refuse("there is no data to store"));
        }
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
            data: self.atomic_data(coordinates.lanes)?,
            coordinates,
        })))
    }

    /// DWORD_ATOMIC with byte offsets, UNTYPED_ATOMIC with dword offsets.
    pub(super) fn surface_atomic(&self, scale: u64) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let reach = self.surface()?;
        let data = self.atomic_data(lanes)?;
        let mut addresses = self.offsets(reach, scale, lanes)?;
        addresses.align = data.width.memory() as u64;
        Ok(Message::Atomic(Box::new(AtomicAccess {
            reach,
            addresses,
            lanes,
            data,
        })))
    }

    pub(super) fn svm_atomic(&self) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let data = self.atomic_data(lanes)?;
        let align = data.width.memory() as u64;
        Ok(Message::Atomic(Box::new(AtomicAccess {
            reach: Reach::Flat,
            addresses: self.flat_addresses(F::Addresses, NOTHING, lanes, align)?,
            lanes,
            data,
        })))
    }

    /// Operation and data operands of the atomics that are not LSC.
    fn atomic_data(&self, lanes: usize) -> Result<AtomicData, Unsupported> {
        let byte = self.byte(F::Op);
        let width = match byte >> 5 & 3 {
            0 => AtomicWidth::W32,
            1 => AtomicWidth::W16,
            _ => AtomicWidth::W64,
        };
        // CMPXCHG stores src0 where memory has src1, FCMPWR src1 where memory has src0.
        let (op, a, b) = match byte & 0x1f {
            atomic_op::ADD => (AtomicOp::Add, F::Src0, F::Src1),
            atomic_op::SUB => (AtomicOp::Sub, F::Src0, F::Src1),
            atomic_op::INC => (AtomicOp::Increment, F::Src0, F::Src1),
            atomic_op::DEC => (AtomicOp::Decrement, F::Src0, F::Src1),
            atomic_op::MIN => (AtomicOp::UnsignedMin, F::Src0, F::Src1),
            atomic_op::MAX => (AtomicOp::UnsignedMax, F::Src0, F::Src1),
            atomic_op::XCHG => (AtomicOp::Store, F::Src0, F::Src1),
            atomic_op::CMPXCHG => (AtomicOp::CompareExchange, F::Src1, F::Src0),
            atomic_op::AND => (AtomicOp::And, F::Src0, F::Src1),
            atomic_op::OR => (AtomicOp::Or, F::Src0, F::Src1),
            atomic_op::XOR => (AtomicOp::Xor, F::Src0, F::Src1),
            atomic_op::MINSINT => (AtomicOp::SignedMin, F::Src0, F::Src1),
            atomic_op::MAXSINT => (AtomicOp::SignedMax, F::Src0, F::Src1),
            atomic_op::PREDEC => (AtomicOp::PreDecrement, F::Src0, F::Src1),
            atomic_op::FMAX => (AtomicOp::FloatMax, F::Src0, F::Src1),
            atomic_op::FMIN => (AtomicOp::FloatMin, F::Src0, F::Src1),
            atomic_op::FCMPWR => (AtomicOp::FloatCompareExchange, F::Src0, F::Src1),
            atomic_op::FADD => (AtomicOp::FloatAdd, F::Src0, F::Src1),
            atomic_op::FSUB => (AtomicOp::FloatSub, F::Src0, F::Src1),
            code => return Err(self.refuse(format!("atomic operation {code} has no meaning"))),
        };
        let bytes = lanes * width.register();
        Ok(AtomicData {
            op,
            width,
            a: self.data(a, bytes)?,
            b: self.data(b, bytes)?,
            dst: self.data(F::Dst, bytes)?,
        })
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
