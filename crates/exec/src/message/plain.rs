//! Messages of lanes as compilers see them: plain data, without a way to run it.

use super::addresses::{Addresses, Width};
use super::lanes::{LaneAccess, Part};
use super::reach::{Index, Reach};
use crate::operands::Scalar;
use std::ops::Range;
use visakit_isa::DataType;
use visakit_isa::semantics::AtomicOp;

/// The parts of the register file that a message reads and writes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MessageOperands {
    /// Addresses or coordinates of the lanes.
    pub addresses: Vec<LaneOperand>,
    /// Values used by all lanes: surfaces, offsets, the address of a block.
    pub scalars: Vec<Range<usize>>,
    /// The data written to memory.
    pub stored: Option<Range<usize>>,
    /// Operands of an atomic.
    pub sources: Vec<Range<usize>>,
    /// The data loaded from memory.
    pub loaded: Option<Range<usize>>,
    /// Whether a scalar is where an address of the register file points: only that address is listed.
    pub indirect: bool,
}

/// An element of the register file for each lane, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneOperand {
    /// First byte of the first lane.
    pub offset: usize,
    /// Bytes of a lane.
    pub bytes: usize,
    /// Number of lanes.
    pub lanes: usize,
}

/// The memory that a message of lanes accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneSpace {
    /// Global memory by address.
    Global,
    /// Shared local memory.
    Local,
    /// The surface of a binding-table index.
    Surface {
        /// Place of the index, a dword, in the register file; without one it is 0.
        place: Option<usize>,
        /// Added to it.
        add: u32,
    },
}

/// An element of a message: its size in memory and in a register, where it is extended with zeroes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    /// Bytes in memory.
    pub memory: usize,
    /// Bytes in a register; lanes follow each other.
    pub register: usize,
    /// First byte of the register that memory has.
    pub low: usize,
}

impl Element {
    /// 32 bits on both sides.
    pub const DWORD: Self = Self {
        memory: 4,
        register: 4,
        low: 0,
    };
}

/// An atomic operation of each lane, the lowest lane first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneAtomic {
    /// The operation. Operations on floats ignore the mode.
    pub op: AtomicOp,
    /// Places of its operands in the register file. One that is absent is zero.
    pub operands: [Option<usize>; 2],
    /// Place of the result.
    pub result: Option<usize>,
}

/// A load, store or atomic operation by each lane, at addresses in registers. Element
/// n of a lane goes to, or comes from, the n-th vector of lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneMessage {
    /// The memory that it accesses.
    pub space: LaneSpace,
    /// Whether it stores.
    pub store: bool,
    /// Number of lanes.
    pub lanes: usize,
    /// The type of the elements.
    pub element: Element,
    /// The operation, if it is neither a load nor a store. Such a message has no data operand.
    pub atomic: Option<LaneAtomic>,
    /// For each element of a lane: bytes after the lane's address, and bytes after the start of the
    /// data operand.
    pub parts: Vec<(u32, u32)>,
    /// Place of the data operand in the register file.
    pub data: usize,
    /// Place of the addresses.
    pub addresses: usize,
    /// Bytes of an address: 4 or 8.
    pub width: usize,
    /// Added to each address.
    pub add: u64,
    /// Bits of an address that count.
    pub mask: u64,
    /// An address must be a multiple of this power of two.
    pub align: u64,
    /// Bytes from a lane's address to the end of its last element.
    pub span: u64,
}

/// The memory that a message reaches, if compilers have code for it.
pub(super) fn space(reach: &Reach) -> Option<LaneSpace> {
    Some(match *reach {
        Reach::Local => LaneSpace::Local,
        Reach::Flat => LaneSpace::Global,
        Reach::Table(Index {
            base:
                Scalar::Register {
                    offset,
                    data_type: DataType::Ud,
                },
            add,
        }) => LaneSpace::Surface {
            place: Some(offset),
            add,
        },
        Reach::Table(Index {
            base: Scalar::Constant(index),
            add,
        }) => LaneSpace::Surface {
            place: None,
            add: add.wrapping_add(u32::try_from(index).ok()?),
        },
        _ => return None,
    })
}

/// A message at these addresses, if compilers have code for them; it has no elements yet.
pub(super) fn plain(space: LaneSpace, addresses: &Addresses) -> Option<LaneMessage> {
    let Scalar::Constant(scalar) = addresses.scalar else {
        return None;
    };
    let simple = addresses.scale == 1
        && addresses.pitch.is_none()
        && matches!(addresses.width, Width::W32 | Width::W64);
    simple.then_some(LaneMessage {
        space,
        store: false,
        lanes: 0,
        element: Element::DWORD,
        atomic: None,
        parts: Vec::new(),
        data: 0,
        addresses: addresses.elements.place()?,
        width: addresses.width.bytes(),
        add: scalar
            .wrapping_mul(addresses.scalar_scale)
            .wrapping_add(addresses.add),
        mask: addresses.mask,
        align: addresses.align,
        span: 0,
    })
}

impl LaneAccess {
    /// As an access of that memory that compilers have code for.
    pub(crate) fn plain(&self, space: LaneSpace) -> Option<LaneMessage> {
        // The only lane's elements one after the other are dwords, whatever their size.
        let first = self.parts.first().is_some_and(|p| p.memory == 0);
        let block =
            self.lanes == 1 && first && self.run_bytes != 0 && self.run_bytes.is_multiple_of(4);
        let rows = self.lanes == 1 || self.lane_pitch == self.unit.register();
        if !block && !rows {
            return None;
        }
        let part = |part: &Part| {
            Some((
                u32::try_from(part.memory).ok()?,
                u32::try_from(part.register).ok()?,
            ))
        };
        let (element, parts) = if block {
            let bytes = u32::try_from(self.run_bytes).ok()?;
            let parts = (0..bytes).step_by(4).map(|at| (at, at)).collect();
            (Element::DWORD, parts)
        } else {
            let parts = self.parts.iter().map(part).collect::<Option<_>>()?;
            (self.unit.element(), parts)
        };
        Some(LaneMessage {
            store: self.store,
            lanes: self.lanes,
            element,
            parts,
            data: self.data.as_ref()?.place()?,
            span: self.span as u64,
            ..plain(space, &self.addresses)?
        })
    }
}
