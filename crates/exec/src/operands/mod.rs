//! Operands with everything resolved: places in the register file in bytes.

mod operation;
mod places;

pub use operation::{DotTerms, FourBits, Lane, Narrowing, Operation, Precision, Relation};

use std::fmt::{self, Display, Formatter};
use visakit_isa::DataType;

/// A modification of a source after it is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Modify {
    /// Nothing.
    #[default]
    None,
    /// Absolute value.
    Abs,
    /// Negation.
    Neg,
    /// Negation of the absolute value.
    NegAbs,
    /// Complement of all bits.
    Not,
}

/// Byte offsets of the lanes from the origin of an operand.
pub type Offsets = Box<[u16; 32]>;

/// Which elements a source reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Region {
    /// Consecutive elements.
    Packed,
    /// One element for all lanes.
    Scalar,
    /// Elements a fixed number of bytes apart.
    Strided(u16),
    /// Any region.
    Offsets(Offsets),
    /// A region whose origin is `immediate` bytes after the address at the operand's offset.
    Indirect {
        /// Bytes added to the address.
        immediate: i16,
        /// Offsets of the lanes from there.
        offsets: Offsets,
    },
    /// One address for each row of `width` elements, `stride` bytes apart.
    Rows {
        /// Bytes added to each address.
        immediate: i16,
        /// Elements of a row.
        width: u8,
        /// Bytes from element to element within a row.
        stride: u16,
    },
}

/// A source operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Place of the first element, or of the first address.
    pub offset: usize,
    /// Type of its elements.
    pub data_type: DataType,
    /// Their modification.
    pub modify: Modify,
    /// Which elements.
    pub region: Region,
    /// Whether it is a constant of the program, which is stored in 64 bits of the register file,
    /// extended by the signedness of its own type.
    pub constant: Option<Extension>,
}

/// How a constant is extended to 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extension {
    /// With zeros.
    Zero,
    /// With its sign.
    Sign,
}

impl Source {
    /// One element for all lanes.
    #[must_use]
    pub fn scalar(offset: usize, data_type: DataType) -> Self {
        Self {
            offset,
            data_type,
            modify: Modify::None,
            region: Region::Scalar,
            constant: None,
        }
    }
}

impl Default for Source {
    /// A source that is not used.
    fn default() -> Self {
        Self::scalar(0, DataType::Ud)
    }
}

/// Which elements a destination writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// Nothing is written.
    Null,
    /// Consecutive elements.
    Packed,
    /// Elements a number of bytes apart.
    Strided(u16),
    /// As before, `immediate` bytes after the address at the operand's offset.
    Indirect {
        /// Bytes added to the address.
        immediate: i16,
        /// Bytes from element to element.
        stride: u16,
    },
}

/// A destination operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Destination {
    /// Place of the first element, or of the address.
    pub offset: usize,
    /// Type of its elements.
    pub data_type: DataType,
    /// Whether results are clamped: integers to the range of the type, floats to 0 to 1.
    pub saturate: bool,
    /// Which elements.
    pub target: Target,
}

impl Default for Destination {
    /// A destination that discards results.
    fn default() -> Self {
        Self {
            offset: 0,
            data_type: DataType::Ud,
            saturate: false,
            target: Target::Null,
        }
    }
}

/// A predicate variable as an instruction sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flag {
    /// Place of its 32-bit word.
    pub offset: u32,
    /// First lane.
    pub first: u8,
    /// How the lanes are combined.
    pub combine: Combine,
    /// Whether the bits, after they are combined, are inverted.
    pub invert: bool,
    /// Lanes of the instruction, as a mask.
    pub window: u32,
    /// Bits of the word that are combined ([`Lanes::group`]). Not used for each lane by itself.
    pub tested: u32,
}

/// How the lanes of a predicate are combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Combine {
    /// Each lane for itself.
    #[default]
    PerLane,
    /// All lanes if any is set.
    Any,
    /// All lanes if all are set.
    All,
}

/// A raw operand in the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawPlace {
    /// First byte in the register file.
    pub offset: usize,
    /// Bytes from there to the end of the variable's storage (rounded up to a register). A message
    /// that touches more must fault with `RegisterOutOfBounds`.
    pub available: usize,
    /// Element type of the variable.
    pub data_type: DataType,
}

/// A scalar source operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// A constant, sign- or zero-extended by its type.
    Constant(u64),
    /// An element of the register file.
    Register {
        /// First byte.
        offset: usize,
        /// Type.
        data_type: DataType,
    },
    /// An element that an address variable points at.
    Indirect {
        /// Place of the 16-bit address in the register file.
        address: usize,
        /// Offset added to it.
        offset: i16,
        /// Type.
        data_type: DataType,
    },
}

impl Display for Scalar {
    /// A number, or `r`, the place in the register file and the type.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "0x{value:x}"),
            Self::Register { offset, data_type } => write!(f, "r{offset}:{data_type}"),
            Self::Indirect {
                address,
                offset,
                data_type,
            } => write!(f, "[r{address}{offset:+}]:{data_type}"),
        }
    }
}

/// A surface or sampler operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatePlace {
    /// Index in the routine's table, predefined entries included: surface 0 is `%slm`, 4 `%bss`,
    /// 5 `%scratch` (see [`visakit_isa::PredefinedSurface`]).
    pub id: u32,
    /// Place of the variable's first element (32 bits) in the register file. Predefined surfaces
    /// start with their binding table index (254, 1, 2, 3, 252, 255), others with 0.
    pub offset: usize,
    /// Whether the surface is a predefined one.
    pub predefined: bool,
}

/// Execution size and mask of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// Number of lanes: 1 to 32.
    pub count: u8,
    /// First lane of the execution mask.
    pub first: u8,
    /// Whether the execution mask is ignored.
    pub no_mask: bool,
}

impl Lanes {
    /// One lane that is always enabled.
    pub const ONE: Self = Self {
        count: 1,
        first: 0,
        no_mask: true,
    };

    /// The lanes as a mask, the first at bit 0.
    #[must_use]
    pub const fn window(self) -> u32 {
        full(self.count as usize)
    }

    /// The channels that are combined of a predicate variable of so many elements, as bits of its word: the lanes; of an
    /// instruction with one lane the group of as many channels as there are elements, in which the lane is.
    #[must_use]
    pub fn group(self, elements: u32) -> u32 {
        let (count, first) = (usize::from(self.count), usize::from(self.first));
        let size = elements.clamp(1, 32).next_power_of_two() as usize;
        let (start, size) = match count {
            1 => (first / size * size, size),
            _ => (first, count),
        };
        u32::try_from(start)
            .ok()
            .and_then(|start| full(size).checked_shl(start))
            .unwrap_or(0)
    }
}

impl Display for Lanes {
    /// `(16)` for lanes from the first on, `(16, 8)` from lane 8 on, `(16, nomask)`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({}", self.count)?;
        if self.first != 0 {
            write!(f, ", {}", self.first)?;
        }
        f.write_str(if self.no_mask { ", nomask)" } else { ")" })
    }
}

/// The mask of `lanes` lanes.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) const fn full(lanes: usize) -> u32 {
    if lanes >= 32 {
        u32::MAX
    } else {
        (1 << lanes) - 1
    }
}

/// The unsigned type of the same size.
pub(crate) fn raw(data_type: DataType) -> DataType {
    match data_type.size() {
        1 => DataType::Ub,
        2 => DataType::Uw,
        8 => DataType::Uq,
        _ => DataType::Ud,
    }
}

/// Sign- or zero-extends the low bits by a type.
pub(crate) fn extend(bits: u64, data_type: DataType) -> u64 {
    let unused = 64 - 8 * u32::from(data_type.size());
    let high = bits << unused;
    if data_type.is_signed() {
        #[expect(
            clippy::cast_possible_wrap,
            clippy::cast_sign_loss,
            reason = "sign extension"
        )]
        return (high as i64 >> unused) as u64;
    }
    high >> unused
}

/// Maps a byte of the register file to its new place.
pub(crate) type Moved<'a> = &'a dyn Fn(usize) -> usize;
