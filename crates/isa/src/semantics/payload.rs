//! Bytes of registers that instructions read and write through operands without a region.

use super::block::BlockShape;
use super::flow::Ending;
use super::memory::{
    Action, Count, DataLayout, ElementSize, Memory, MemoryAccess, Storage, memory_access,
};
use super::systolic::Systolic;
use crate::any::AnyInstruction;
use crate::enums::{block_size, lsc_data_order};
use crate::instruction::Value;
use crate::operand::{SamplerOp, SamplerOpFlags};
use crate::table::{FieldName, Group};
use crate::types::DataType;

/// The number of channels that a message without a mask of channels returns.
const ALL_CHANNELS: u32 = 4;

/// What an instruction reads and writes of its raw operands, and of vector operands that have no region.
///
/// An extent ends with the last byte that belongs to some lane, enabled or not. Elements of one lane that are apart are
/// in registers of their own, so that extents depend on the size of a register.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    lanes: u32,
    /// Bytes of an address or coordinate; `None` if they depend on the operand's type or there are none.
    address: Option<u32>,
    data: Data,
}

/// The extent of data operands.
#[derive(Clone, Copy, Debug)]
enum Data {
    /// A number of bytes that all data operands have.
    Bytes(u32),
    /// Texels, whose channels are as large as the elements of the operand.
    Texels {
        channels: u32,
        null_mask: bool,
        grf: u32,
    },
    /// Of sends: the destination and the two sources.
    Sent {
        dst: u32,
        src0: u32,
        src1: u32,
    },
    Systolic(Systolic),
    /// Not stated by the instruction, or not defined.
    Unknown,
}

impl Payload {
    /// What an instruction says of its operands, where a register has `grf` bytes.
    pub fn of(instruction: &(impl AnyInstruction + ?Sized), grf: u32) -> Self {
        let def = instruction.def();
        let access = memory_access(instruction);
        let lanes = match (&access, instruction.exec_size()) {
            (Some(access), _) => access.lanes.into(),
            (None, Some(size)) => size.lanes().unwrap_or(1).into(),
            (None, None) => 1,
        };
        let address = access
            .as_ref()
            .and_then(|access| Some(u32::from(access.address_bits?) / 8));
        let sampled = def.group == Group::ThreeD;
        Self {
            lanes,
            address: address.filter(|_| !sampled),
            data: match (def.memory, access) {
                _ if def.ending != Ending::Never && def.memory.is_none() => sent(instruction, grf),
                _ if !def.unsupported.is_empty() => Data::Unknown,
                (Some(memory), Some(access)) => data(instruction, &memory, &access, lanes, grf),
                // Moves with raw operands have a dword for each lane.
                _ if def.group == Group::Move => Data::Bytes(lanes * 4),
                _ => Systolic::of(instruction).map_or(Data::Unknown, Data::Systolic),
            },
        }
    }

    /// Bytes of the operand in this field, whose variable has the type `ty`; `None` if the instruction does not state
    /// them.
    #[must_use]
    pub fn bytes(&self, field: FieldName, ty: DataType) -> Option<u32> {
        use FieldName as F;
        // Samplers take and return elements of 16 or 32 bits.
        let texel = u32::from(ty.size()).clamp(2, 4);
        let size = self.address.unwrap_or(texel);
        match field {
            F::Src0AddrBase => Some(size),
            F::Src0Addrs | F::Addresses | F::ElementOffset => self.lanes.checked_mul(size),
            F::U | F::V | F::R | F::Lod | F::Src0U | F::Src0V | F::Src0R | F::Src0Lod => {
                self.lanes.checked_mul(size)
            }
            F::Params => self.lanes.checked_mul(texel),
            F::Dst | F::Src | F::Src0 | F::Src1 | F::Src2 | F::Src3 | F::Src4 => {
                self.data_bytes(field, ty, texel)
            }
            F::Src0Data | F::Src1Data | F::Src2Data => self.data_bytes(field, ty, texel),
            _ => None,
        }
    }

    fn data_bytes(&self, field: FieldName, ty: DataType, texel: u32) -> Option<u32> {
        match self.data {
            Data::Bytes(bytes) => Some(bytes),
            Data::Texels {
                channels,
                null_mask,
                grf,
            } => {
                let pitch = rounded(self.lanes * texel, grf);
                Some(if null_mask {
                    channels * pitch + 4
                } else {
                    spread(channels, pitch, self.lanes * texel)
                })
            }
            Data::Sent { dst, src0, src1 } => match field {
                FieldName::Dst => Some(dst),
                FieldName::Src | FieldName::Src0 => Some(src0),
                FieldName::Src1 => Some(src1),
                _ => None,
            },
            Data::Systolic(systolic) => systolic.bytes(field, ty),
            Data::Unknown => None,
        }
    }
}

/// Bytes rounded up to whole registers.
fn rounded(bytes: u32, grf: u32) -> u32 {
    let grf = grf.max(1);
    bytes.div_ceil(grf).saturating_mul(grf)
}

/// Bytes of so many parts of the same size that begin at a distance.
fn spread(parts: u32, pitch: u32, bytes: u32) -> u32 {
    match parts.checked_sub(1) {
        Some(more) => more.saturating_mul(pitch).saturating_add(bytes),
        None => 0,
    }
}

fn number(instruction: &(impl AnyInstruction + ?Sized), name: FieldName) -> u32 {
    let number = instruction
        .value(name)
        .as_ref()
        .and_then(Value::as_number)
        .and_then(|n| u32::try_from(n).ok());
    number.unwrap_or(0)
}

fn byte(instruction: &(impl AnyInstruction + ?Sized), name: FieldName) -> u8 {
    u8::try_from(number(instruction, name)).unwrap_or(0)
}

/// The data of a message.
fn data(
    instruction: &(impl AnyInstruction + ?Sized),
    memory: &Memory,
    access: &MemoryAccess,
    lanes: u32,
    grf: u32,
) -> Data {
    let known = match memory.action {
        Action::Status => Some(4),
        Action::Fence | Action::CacheControl | Action::Compression => None,
        _ if memory.action.is_atomic() => register_bytes(instruction, memory).map(|n| n * lanes),
        _ if instruction.def().group == Group::ThreeD => return texels(instruction, memory, grf),
        _ => match memory.layout {
            DataLayout::Rectangle if memory.storage == Storage::Lsc => {
                BlockShape::of(instruction, grf).and_then(|shape| {
                    let store = memory.action == Action::Store;
                    let bytes = if store {
                        shape.stored_bytes()
                    } else {
                        shape.bytes()
                    };
                    u32::try_from(bytes).ok()
                })
            }
            DataLayout::Rectangle => Some(rectangle(instruction)),
            DataLayout::Texels | DataLayout::Channels => {
                let size = register_bytes(instruction, memory).unwrap_or(4);
                let pitch = rounded(lanes * size, grf);
                let channels = access.elements.unwrap_or(ALL_CHANNELS);
                Some(spread(channels, pitch, lanes * size))
            }
            DataLayout::Block => access.bytes().filter(|_| access.elements <= Some(16)),
            DataLayout::PerLane | DataLayout::Strided => elements(instruction, memory, lanes, grf),
            _ => None,
        },
    };
    known.map_or(Data::Unknown, Data::Bytes)
}

/// Bytes of an element in a register.
fn register_bytes(instruction: &(impl AnyInstruction + ?Sized), memory: &Memory) -> Option<u32> {
    match memory.element {
        ElementSize::Bytes(bytes) => Some(bytes.into()),
        ElementSize::DataSize => {
            let bytes = ElementSize::register_bytes(byte(instruction, FieldName::DataSize));
            // Atomic operations have at least a dword for each lane.
            bytes.map(|bytes| {
                if memory.action.is_atomic() {
                    bytes.max(4)
                } else {
                    bytes
                }
            })
        }
        ElementSize::AtomicCode => {
            let wide = byte(instruction, FieldName::Op) & 0x40 != 0;
            Some(if wide { 8 } else { 4 })
        }
        ElementSize::Log2 | ElementSize::BlockSize | ElementSize::Format => Some(4),
    }
}

/// The elements of lanes, of which each may have several.
fn elements(
    instruction: &(impl AnyInstruction + ?Sized),
    memory: &Memory,
    lanes: u32,
    grf: u32,
) -> Option<u32> {
    match (memory.element, memory.count) {
        (ElementSize::DataSize, _) => {
            let size = register_bytes(instruction, memory)?;
            let count = Count::of_data_elems(byte(instruction, FieldName::DataElems))?;
            let order = byte(instruction, FieldName::DataOrder);
            if order == lsc_data_order::TRANSPOSE {
                let own = size * count;
                return Some(spread(lanes, rounded(own, grf), own));
            }
            Some(spread(count, rounded(lanes * size, grf), lanes * size))
        }
        // Bytes of a lane are side by side, in a dword at least.
        (ElementSize::Log2, _) => Some(lanes * 4),
        (ElementSize::BlockSize, Count::Power(name, mask)) => {
            let count = 1 << (byte(instruction, name) & mask);
            let size = match byte(instruction, FieldName::BlockSize) & 3 {
                _ if memory.storage != Storage::Flat => 1,
                block_size::BYTE => 1,
                block_size::DWORD => 4,
                block_size::QWORD => 8,
                _ => return None,
            };
            Some(
                lanes
                    * if size == 1 {
                        u32::max(count, 4)
                    } else {
                        size * count
                    },
            )
        }
        (ElementSize::Bytes(size), Count::Power(name, mask)) => {
            let count = 1 << (byte(instruction, name) & mask);
            Some(lanes * u32::from(size) * count)
        }
        _ => None,
    }
}

/// What samplers return.
fn texels(instruction: &(impl AnyInstruction + ?Sized), memory: &Memory, grf: u32) -> Data {
    let channels = match memory.count {
        Count::Channels(name) => (byte(instruction, name) & 0xf).count_ones(),
        _ => ALL_CHANNELS,
    };
    let null_mask = match instruction.value(FieldName::Op) {
        Some(Value::SamplerOp(op)) => {
            SamplerOp::flags(op).contains(SamplerOpFlags::PIXEL_NULL_MASK)
        }
        _ => false,
    };
    Data::Texels {
        channels,
        null_mask,
        grf,
    }
}

/// Rows of a rectangle, of which the last ends with its last byte.
fn rectangle(instruction: &(impl AnyInstruction + ?Sized)) -> u32 {
    let width = number(instruction, FieldName::BlockWidth);
    let height = number(instruction, FieldName::BlockHeight);
    spread(height, rectangle_pitch(width), width)
}

/// Bytes from row to row of a rectangle of bytes in registers.
#[must_use]
pub fn rectangle_pitch(width: u32) -> u32 {
    width.max(4).checked_next_power_of_two().unwrap_or(u32::MAX)
}

/// What a send states itself: registers, or bytes.
fn sent(instruction: &(impl AnyInstruction + ?Sized), grf: u32) -> Data {
    let has = |name| instruction.def().field(name).is_some();
    let length = |name| number(instruction, name);
    if has(FieldName::DstLen) {
        return Data::Sent {
            dst: length(FieldName::DstLen),
            src0: length(FieldName::Src0Len),
            src1: length(FieldName::Src1Len),
        };
    }
    let first = if has(FieldName::NumSrc) {
        FieldName::NumSrc
    } else {
        FieldName::NumSrc0
    };
    Data::Sent {
        dst: length(FieldName::NumDst).saturating_mul(grf),
        src0: length(first).saturating_mul(grf),
        src1: length(FieldName::NumSrc1).saturating_mul(grf),
    }
}
