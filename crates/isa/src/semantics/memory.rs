//! The effect of messages on memory.

use super::atomic::AtomicOp;
use crate::any::AnyInstruction;
use crate::enums::{
    block_size, lsc_addr_size, lsc_addr_type, lsc_data_elems, lsc_data_size, lsc_sfid,
};
use crate::ids::SurfaceId;
use crate::instruction::Value;
use crate::operand::{ExecSize, RawOperand};
use crate::table::FieldName;
use core::fmt;

/// The memory column of a row: what the message does, and which fields supply the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// What is done.
    pub action: Action,
    /// Which storage is accessed.
    pub storage: Storage,
    /// How data is laid out in memory and registers.
    pub layout: DataLayout,
    /// The source of an element's size.
    pub element: ElementSize,
    /// The source of the number of elements: per lane, or of the block.
    pub count: Count,
    /// The source of the width of addresses.
    pub address: AddressWidth,
    /// The unit of addresses and offsets.
    pub unit: AddressUnit,
}

/// What a message does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Reads.
    Load,
    /// Reads into the caches: a load without a destination.
    Prefetch,
    /// Writes.
    Store,
    /// Reads and writes in one step.
    Atomic(AtomicOp),
    /// An atomic operation whose field `op` holds the code of the operation ([`AtomicOp::from_code`]).
    AtomicCode,
    /// Reports whether the memory of each lane is resident.
    Status,
    /// Queries properties of a surface.
    Query,
    /// Controls caches.
    CacheControl,
    /// Updates the state of compression.
    Compression,
    /// Orders accesses.
    Fence,
}

impl Action {
    /// Whether values are read from memory.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Load | Self::Atomic(_) | Self::AtomicCode)
    }

    /// Whether values are written to memory.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Store | Self::Atomic(_) | Self::AtomicCode)
    }

    /// Whether it is an atomic operation.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::Atomic(_) | Self::AtomicCode)
    }
}

/// A description for reference pages.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = match self.action {
            Action::Load => "load",
            Action::Prefetch => "prefetch",
            Action::Store => "store",
            Action::Atomic(op) => {
                return write!(f, "atomic {op:?}, {}", self.storage.name());
            }
            Action::AtomicCode => "atomic operation of the field op",
            Action::Status => "whether memory is resident",
            Action::Query => "properties of a surface",
            Action::CacheControl => "control of caches",
            Action::Compression => "state of compression",
            Action::Fence => "fence",
        };
        f.write_str(action)?;
        if self.layout != DataLayout::Nothing {
            write!(f, " {}, {}", self.layout.name(), self.storage.name())?;
        }
        Ok(())
    }
}

impl DataLayout {
    /// A description for reference pages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PerLane => "of each lane",
            Self::Channels => "of channels of each lane",
            Self::Strided => "at a constant distance",
            Self::Block => "of consecutive bytes",
            Self::Rectangle => "of a rectangle",
            Self::Texels => "of a texel of each lane",
            Self::Sampled => "of samples",
            Self::Counter => "of the counter of a surface",
            Self::Nothing => "of nothing",
        }
    }
}

impl Storage {
    /// A description for reference pages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flat => "virtual addresses",
            Self::Surface => "a surface",
            Self::Image => "an image",
            Self::Lsc => "what shared function and address type say",
            Self::LscImage => "an image that the address type names",
            Self::RenderTarget => "a render target",
            Self::Urb => "the unified return buffer",
            Self::All => "all memory",
        }
    }
}

/// Which storage a row's message accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// 64-bit virtual addresses.
    Flat,
    /// The surface of the field `surface`: a buffer, shared local memory or scratch.
    Surface,
    /// The surface of the field `surface`: an image.
    Image,
    /// Selected by shared function and address type of a load/store cache message.
    Lsc,
    /// An image, selected by the address type of a load/store cache message.
    LscImage,
    /// A render target.
    RenderTarget,
    /// The unified return buffer.
    Urb,
    /// Everything: a fence or a flush.
    All,
}

/// The layout of data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataLayout {
    /// At the address of each lane; the elements of a lane are consecutive in memory.
    PerLane,
    /// At the address of each lane, the enabled ones of up to four consecutive channels.
    Channels,
    /// At a base plus the lane's number times a pitch.
    Strided,
    /// Consecutive bytes at one address.
    Block,
    /// Rows of a two-dimensional surface.
    Rectangle,
    /// Channels of the texel at the coordinates of each lane.
    Texels,
    /// The sampler's result from the texels around the coordinates of each lane.
    Sampled,
    /// A counter of the surface.
    Counter,
    /// No data.
    Nothing,
}

/// The source of an element's size.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElementSize {
    /// These bytes.
    Bytes(u8),
    /// The field `data_size`: codes of the load/store cache.
    DataSize,
    /// The field `block_size`: a byte, dword or qword.
    BlockSize,
    /// The field `elt_size`: the binary logarithm.
    Log2,
    /// Bits 5 and 6 of the field `op`: 2, 4 or 8 bytes.
    AtomicCode,
    /// The format of the surface.
    Format,
}

/// The source of the number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Count {
    /// One for each lane.
    One,
    /// The field `data_elems`: codes of the load/store cache.
    DataElems,
    /// The set bits among the low four of a field.
    Channels(FieldName),
    /// The clear bits among the low four of a field.
    ChannelsOff(FieldName),
    /// Two to the power of the low bits (a mask) of a field.
    Power(FieldName, u8),
    /// Width times height, in the fields `block_width` and `block_height`, times the field `blocks` if
    /// there is one.
    Rectangle,
    /// Not stated by the instruction.
    Unknown,
}

/// The source of the width of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressWidth {
    /// This many bits.
    Bits(u8),
    /// The field `addr_size`: codes of the load/store cache.
    AddrSize,
    /// There are no addresses.
    Nothing,
}

/// The unit of addresses and offsets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressUnit {
    /// This many bytes.
    Bytes(u8),
    /// The element, whose size is [`Memory::element`](field@Memory::element).
    Element,
}

/// The result of [`AnyInstruction::memory`] for one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryAccess {
    /// What is done; loads without a destination become prefetches, and codes of atomic operations are
    /// resolved if they have a meaning.
    pub action: Action,
    /// Which memory is accessed.
    pub space: AddressSpace,
    /// The layout of the data.
    pub layout: DataLayout,
    /// Bytes of an element in memory, if the instruction states them.
    pub element_bytes: Option<u32>,
    /// Elements per lane, or of the whole block for blocks and rectangles, if the instruction states them.
    pub elements: Option<u32>,
    /// Bits of an address, if there are addresses and the instruction states it.
    pub address_bits: Option<u8>,
    /// Execution size; 1 for messages without lanes.
    pub lanes: u8,
    /// The field of the data in registers: the destination of loads, otherwise the first data source.
    pub data: Option<FieldName>,
}

impl MemoryAccess {
    /// Upper bound of the bytes moved by all lanes together, if the instruction states it.
    #[must_use]
    pub fn bytes(&self) -> Option<u32> {
        let each = self.element_bytes?.checked_mul(self.elements?)?;
        match self.layout {
            DataLayout::Block | DataLayout::Rectangle => Some(each),
            _ => each.checked_mul(u32::from(self.lanes)),
        }
    }
}

/// Which memory an instruction accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressSpace {
    /// 64-bit virtual addresses.
    Flat,
    /// Shared local memory of the group.
    Slm,
    /// A surface of the routine's table.
    Surface(SurfaceId),
    /// A surface named by an operand: an index of the binding table or a handle.
    AnySurface,
    /// The arguments of the kernel.
    Arguments,
    /// A render target.
    RenderTarget,
    /// The unified return buffer.
    Urb,
    /// All memory.
    All,
    /// Codes without a meaning.
    Unknown,
}

/// Surface index of shared local memory.
const SLM: SurfaceId = SurfaceId(0);

impl Memory {
    /// A message of the load/store cache with an address for each lane.
    pub(crate) const fn lsc(action: Action) -> Self {
        Self {
            action,
            storage: Storage::Lsc,
            layout: DataLayout::PerLane,
            element: ElementSize::DataSize,
            count: Count::DataElems,
            address: AddressWidth::AddrSize,
            unit: AddressUnit::Bytes(1),
        }
    }

    /// A message of the load/store cache to an image.
    pub(crate) const fn lsc_image(action: Action) -> Self {
        let mut memory = Self::lsc(action);
        memory.storage = Storage::LscImage;
        memory.layout = DataLayout::Texels;
        memory
    }

    /// A message with an address for each lane of a surface.
    pub(crate) const fn surface(action: Action, element: ElementSize, count: Count) -> Self {
        Self {
            action,
            storage: Storage::Surface,
            layout: DataLayout::PerLane,
            element,
            count,
            address: AddressWidth::Bits(32),
            unit: AddressUnit::Bytes(1),
        }
    }

    /// A message to flat addresses of 64 bits, an element for each lane.
    pub(crate) const fn flat(action: Action, element: ElementSize, count: Count) -> Self {
        let mut memory = Self::surface(action, element, count);
        memory.storage = Storage::Flat;
        memory.address = AddressWidth::Bits(64);
        memory
    }

    /// A message to an image.
    pub(crate) const fn image(action: Action, layout: DataLayout, count: Count) -> Self {
        let mut memory = Self::surface(action, ElementSize::Format, count);
        memory.storage = Storage::Image;
        memory.layout = layout;
        memory
    }

    /// A message without data.
    pub(crate) const fn control(action: Action) -> Self {
        Self {
            action,
            storage: Storage::All,
            layout: DataLayout::Nothing,
            element: ElementSize::Bytes(0),
            count: Count::Unknown,
            address: AddressWidth::Nothing,
            unit: AddressUnit::Bytes(1),
        }
    }

    pub(crate) const fn layout(mut self, layout: DataLayout) -> Self {
        self.layout = layout;
        self
    }

    pub(crate) const fn storage(mut self, storage: Storage) -> Self {
        self.storage = storage;
        self
    }

    pub(crate) const fn count(mut self, count: Count) -> Self {
        self.count = count;
        self
    }

    pub(crate) const fn address(mut self, address: AddressWidth) -> Self {
        self.address = address;
        self
    }

    pub(crate) const fn unit(mut self, unit: AddressUnit) -> Self {
        self.unit = unit;
        self
    }

    pub(crate) const fn element(mut self, element: ElementSize) -> Self {
        self.element = element;
        self
    }
}

impl ElementSize {
    /// Bytes in memory of an element of the load/store cache; `None` for codes without a meaning.
    #[must_use]
    pub const fn of_data_size(code: u8) -> Option<u32> {
        match code {
            lsc_data_size::D8 | lsc_data_size::D8C32 => Some(1),
            lsc_data_size::D16 | lsc_data_size::D16C32 | lsc_data_size::D16C32H => Some(2),
            lsc_data_size::D32 => Some(4),
            lsc_data_size::D64 => Some(8),
            _ => None,
        }
    }

    /// Bytes in a register of an element of the load/store cache; `None` for codes without a meaning.
    #[must_use]
    pub const fn register_bytes(code: u8) -> Option<u32> {
        match code {
            lsc_data_size::D8C32 | lsc_data_size::D16C32 | lsc_data_size::D16C32H => Some(4),
            _ => Self::of_data_size(code),
        }
    }
}

impl Count {
    /// Elements of a vector of the load/store cache; `None` for codes without a meaning.
    #[must_use]
    pub const fn of_data_elems(code: u8) -> Option<u32> {
        match code {
            lsc_data_elems::N1 => Some(1),
            lsc_data_elems::N2 => Some(2),
            lsc_data_elems::N3 => Some(3),
            lsc_data_elems::N4 => Some(4),
            lsc_data_elems::N8 => Some(8),
            lsc_data_elems::N16 => Some(16),
            lsc_data_elems::N32 => Some(32),
            lsc_data_elems::N64 => Some(64),
            _ => None,
        }
    }
}

impl AddressWidth {
    /// Bits of an address of the load/store cache; `None` for codes without a meaning.
    #[must_use]
    pub const fn of_addr_size(code: u8) -> Option<u8> {
        match code {
            lsc_addr_size::A16 => Some(16),
            lsc_addr_size::A32 | lsc_addr_size::A32U | lsc_addr_size::A32S => Some(32),
            lsc_addr_size::A64 => Some(64),
            _ => None,
        }
    }
}

pub(crate) fn memory_access(instruction: &(impl AnyInstruction + ?Sized)) -> Option<MemoryAccess> {
    use FieldName as F;
    let def = instruction.def();
    let memory = def.memory?;
    let number = |name| instruction.value(name).as_ref().and_then(Value::as_number);
    let byte = |name| number(name).and_then(|n| u8::try_from(n).ok()).unwrap_or(0);
    let raw = |name| match instruction.value(name) {
        Some(Value::Raw(raw)) => Some(raw),
        _ => None,
    };
    let null = |name| raw(name).is_some_and(RawOperand::is_null);
    let action = match memory.action {
        Action::Load if null(F::Dst) => Action::Prefetch,
        Action::AtomicCode => {
            AtomicOp::from_code(byte(F::Op)).map_or(Action::AtomicCode, Action::Atomic)
        }
        other => other,
    };
    let has = |name: &FieldName| def.fields.iter().any(|f| f.name == *name);
    let data = match action {
        Action::Load | Action::Prefetch | Action::Status | Action::Query => Some(F::Dst),
        _ => [
            F::Src1Data,
            F::Src0Data,
            F::Src0,
            F::Src,
            F::VertexData,
            F::Red,
        ]
        .into_iter()
        .find(has),
    };
    let element_bytes = match memory.element {
        ElementSize::Bytes(bytes) => Some(bytes.into()),
        ElementSize::DataSize => ElementSize::of_data_size(byte(F::DataSize)),
        ElementSize::BlockSize => match byte(F::BlockSize) {
            block_size::BYTE => Some(1),
            block_size::DWORD => Some(4),
            block_size::QWORD => Some(8),
            _ => None,
        },
        ElementSize::Log2 => Some(1 << (byte(F::EltSize) & 3)),
        ElementSize::AtomicCode => Some(match byte(F::Op) >> 5 & 3 {
            0 => 4,
            1 => 2,
            _ => 8,
        }),
        ElementSize::Format => None,
    };
    // Before 3.2 messages of texels have eight lanes, which their execution size does not say.
    let old_texels = instruction.value(F::ChannelsInv).is_some();
    let elements = match memory.count {
        Count::One => Some(1),
        Count::DataElems => Count::of_data_elems(byte(F::DataElems)),
        Count::Channels(_) if old_texels => Some((!byte(F::ChannelsInv) & 0xf).count_ones()),
        Count::Channels(name) => Some((byte(name) & 0xf).count_ones()),
        Count::ChannelsOff(name) => Some((!byte(name) & 0xf).count_ones()),
        Count::Power(name, mask) => Some(1 << (byte(name) & mask)),
        Count::Rectangle => {
            let side = |name| number(name).and_then(|n| u32::try_from(n).ok());
            let blocks = side(F::Blocks).unwrap_or(1);
            side(F::BlockWidth)
                .zip(side(F::BlockHeight))
                .and_then(|(width, height)| width.checked_mul(height)?.checked_mul(blocks))
        }
        Count::Unknown => None,
    };
    let lanes = match (instruction.exec_size(), instruction.value(F::NumElts)) {
        _ if old_texels => Some(8),
        (Some(size), _) => ExecSize::lanes(size),
        (None, Some(Value::ElementCount(count))) => count.lanes(),
        _ => None,
    };
    Some(MemoryAccess {
        action,
        space: space(
            instruction,
            memory.storage,
            byte(F::Sfid),
            byte(F::AddrType),
        ),
        layout: memory.layout,
        element_bytes,
        elements,
        address_bits: match memory.address {
            AddressWidth::Bits(bits) => Some(bits),
            AddressWidth::AddrSize => AddressWidth::of_addr_size(byte(F::AddrSize)),
            AddressWidth::Nothing => None,
        },
        lanes: lanes.unwrap_or(1),
        data,
    })
}

fn space(
    instruction: &(impl AnyInstruction + ?Sized),
    storage: Storage,
    sfid: u8,
    addr_type: u8,
) -> AddressSpace {
    match storage {
        Storage::Flat => AddressSpace::Flat,
        Storage::Surface | Storage::Image => {
            let target = match instruction.value(FieldName::DstSurface) {
                Some(target) => Some(target),
                None => instruction.value(FieldName::Surface),
            };
            match target {
                Some(Value::Surface(SLM)) => AddressSpace::Slm,
                Some(Value::Surface(surface)) => AddressSpace::Surface(surface),
                _ => AddressSpace::Unknown,
            }
        }
        Storage::Lsc if sfid == lsc_sfid::SLM => AddressSpace::Slm,
        // Rectangles are described by their fields, and counters belong to a surface.
        Storage::Lsc | Storage::LscImage => match addr_type {
            _ if instruction.value(FieldName::SurfaceBase).is_some() => AddressSpace::Flat,
            lsc_addr_type::FLAT => AddressSpace::Flat,
            lsc_addr_type::ARG => AddressSpace::Arguments,
            lsc_addr_type::BSS | lsc_addr_type::SS | lsc_addr_type::BTI | lsc_addr_type::SURF => {
                AddressSpace::AnySurface
            }
            _ => AddressSpace::Unknown,
        },
        Storage::RenderTarget => AddressSpace::RenderTarget,
        Storage::Urb => AddressSpace::Urb,
        Storage::All => AddressSpace::All,
    }
}
