//! Execution size, execution mask, predicate word, raw operands and sampler operations.

use crate::ids::{PredicateId, VarId};
use crate::version::Format;
use bitflags::bitflags;
use core::fmt;

wire_words! { ExecSize(u8), ElementCount(u8), SamplerOp(u16) }

/// Which lanes of the execution mask apply to an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExecMask {
    /// First lane: 0, 4, … 28 for M1 … M8.
    pub first_lane: u8,
    /// NoMask: the execution mask is ignored (the predicate is not).
    pub no_mask: bool,
}

impl ExecMask {
    /// M1, all lanes from the first.
    pub const M1: Self = Self {
        first_lane: 0,
        no_mask: false,
    };

    /// Whether there are this many lanes from the first on: a thread has 32.
    #[must_use]
    pub const fn has(self, lanes: u8) -> bool {
        lanes <= 32 && self.first_lane <= 32 - lanes
    }

    /// The mask with a four-bit code; `None` for codes that the format does not define.
    ///
    /// Up to version 3.0 code 8 is NoMask and code 9 the default, which reads as M1.
    #[must_use]
    pub const fn from_code(code: u8, format: Format) -> Option<Self> {
        match (format.final_masks(), code) {
            (_, 0..=7) => Some(Self {
                first_lane: code * 4,
                no_mask: false,
            }),
            (true, 8..=15) => Some(Self {
                first_lane: (code - 8) * 4,
                no_mask: true,
            }),
            (false, 8) => Some(Self {
                first_lane: 0,
                no_mask: true,
            }),
            (false, 9) => Some(Self::M1),
            _ => None,
        }
    }

    /// The code of this mask, `None` if the format has none.
    #[must_use]
    pub const fn code(self, format: Format) -> Option<u8> {
        let group = self.first_lane / 4;
        if !self.first_lane.is_multiple_of(4) || group > 7 {
            return None;
        }
        match (self.no_mask, format.final_masks()) {
            (false, _) => Some(group),
            (true, true) => Some(group + 8),
            (true, false) if group == 0 => Some(8),
            (true, false) => None,
        }
    }
}

impl fmt::Display for ExecMask {
    /// `M1` … `M8`, with `_NM` for NoMask.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = if self.no_mask { "_NM" } else { "" };
        write!(f, "M{}{suffix}", self.first_lane / 4 + 1)
    }
}

/// The execution-size byte: bits 0-3 log2 of the number of lanes (0 to 5), bits 4-7 the
/// execution-mask code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ExecSize(u8);

impl ExecSize {
    /// `lanes` must be 1, 2, 4, 8, 16 or 32 and the mask one that `format` has.
    #[must_use]
    pub const fn new(lanes: u8, mask: ExecMask, format: Format) -> Option<Self> {
        match (lanes, mask.code(format)) {
            (1 | 2 | 4 | 8 | 16 | 32, Some(code)) => {
                #[allow(clippy::cast_possible_truncation)] // at most 5
                let log = lanes.trailing_zeros() as u8;
                Some(Self(log | code << 4))
            }
            _ => None,
        }
    }

    /// Number of lanes, `None` for a code above 5.
    #[inline]
    #[must_use]
    pub const fn lanes(self) -> Option<u8> {
        match self.0 & 0xf {
            code @ 0..=5 => Some(1 << code),
            _ => None,
        }
    }

    /// The execution mask, `None` for a code that the format does not define.
    #[must_use]
    pub const fn mask(self, format: Format) -> Option<ExecMask> {
        ExecMask::from_code(self.0 >> 4, format)
    }

    /// Whether size and mask are defined by the format.
    #[inline]
    #[must_use]
    pub const fn is_wire_legal(self, format: Format) -> bool {
        self.0 & 0xf <= 5 && (format.final_masks() || self.0 >> 4 <= 9)
    }
}

impl fmt::Display for ExecSize {
    /// `(M1, 16)`, with the mask read as 3.1 and later do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_lanes(f, self.0 >> 4, self.lanes(), self.0 & 0xf)
    }
}

/// Mask and number of lanes; a code without a meaning is shown with a question mark.
fn write_lanes(f: &mut fmt::Formatter<'_>, mask: u8, lanes: Option<u8>, code: u8) -> fmt::Result {
    let suffix = if mask >= 8 { "_NM" } else { "" };
    write!(f, "(M{}{suffix}, ", mask % 8 + 1)?;
    match lanes {
        Some(lanes) => write!(f, "{lanes})"),
        None => write!(f, "?{code})"),
    }
}

/// The element-count byte of GATHER, SCATTER and the retired untyped messages: bits 0-1 code
/// 8, 16 or 1 lanes (0, 1, 2), bits 2-3 zero, bits 4-7 the execution-mask code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ElementCount(u8);

impl ElementCount {
    /// `lanes` must be 1, 8 or 16 and the mask one that `format` has.
    #[must_use]
    pub const fn new(lanes: u8, mask: ExecMask, format: Format) -> Option<Self> {
        match (lanes, mask.code(format)) {
            (8, Some(mask)) => Some(Self(mask << 4)),
            (16, Some(mask)) => Some(Self(1 | mask << 4)),
            (1, Some(mask)) => Some(Self(2 | mask << 4)),
            _ => None,
        }
    }

    /// Number of lanes, `None` for the unused code 3.
    #[must_use]
    pub const fn lanes(self) -> Option<u8> {
        match self.0 & 3 {
            0 => Some(8),
            1 => Some(16),
            2 => Some(1),
            _ => None,
        }
    }

    /// The execution mask, `None` for a code that the format does not define.
    #[must_use]
    pub const fn mask(self, format: Format) -> Option<ExecMask> {
        ExecMask::from_code(self.0 >> 4, format)
    }

    /// Whether count and mask are defined by the format and bits 2-3 are zero.
    #[inline]
    #[must_use]
    pub const fn is_wire_legal(self, format: Format) -> bool {
        self.0 & 0xf <= 2 && (format.final_masks() || self.0 >> 4 <= 9)
    }
}

impl fmt::Display for ElementCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_lanes(f, self.0 >> 4, self.lanes(), self.0 & 3)
    }
}

/// How the bits of a predicate variable are combined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PredicateCombine {
    /// Lane n uses bit n.
    PerLane,
    /// Every lane is enabled if any bit is set.
    Any,
    /// Every lane is enabled if all bits are set.
    All,
    /// Code 3, which has no meaning.
    Reserved,
}

/// The predication word: bits 0-11 predicate index (0 = not predicated), bit 12 zero, bits
/// 13-14 combination, bit 15 inversion (applied after the combination).
///
/// Text may name more predicates than a file can. Bits 16-19, which no file has, are the upper bits of their index, so
/// that such a program can run; writing it to a file fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Predicate(u32);

impl Predicate {
    /// Not predicated.
    pub const NONE: Self = Self(0);

    /// Wraps the word as found in a file.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits as u32)
    }

    /// The word as it is in a file, and the upper bits of an index that no file has.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The predicate itself, as an operand: neither combined nor inverted.
    #[must_use]
    pub const fn of(id: PredicateId) -> Self {
        let id = id.0 as u32;
        Self(id & 0xfff | (id & 0xf000) << 4)
    }

    /// Builds a word; `None` for the reserved combination.
    #[must_use]
    pub const fn new(id: PredicateId, combine: PredicateCombine, invert: bool) -> Option<Self> {
        let combine = match combine {
            PredicateCombine::PerLane => 0,
            PredicateCombine::Any => 1,
            PredicateCombine::All => 2,
            PredicateCombine::Reserved => return None,
        };
        Some(Self(combine << 13 | (invert as u32) << 15).with_id(id))
    }

    /// Whether there is no predication at all.
    #[inline]
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The predicate variable.
    #[allow(clippy::cast_possible_truncation, reason = "has sixteen bits")]
    #[inline]
    #[must_use]
    pub const fn id(self) -> PredicateId {
        PredicateId((self.0 & 0xfff | self.0 >> 4 & 0xf000) as u16)
    }

    /// Another variable, combined and inverted in the same way.
    #[must_use]
    pub const fn with_id(self, id: PredicateId) -> Self {
        Self(self.0 & 0xf000 | Self::of(id).0)
    }

    /// The combination.
    #[must_use]
    pub const fn combine(self) -> PredicateCombine {
        match self.0 >> 13 & 3 {
            0 => PredicateCombine::PerLane,
            1 => PredicateCombine::Any,
            2 => PredicateCombine::All,
            _ => PredicateCombine::Reserved,
        }
    }

    /// Whether the result is inverted.
    #[must_use]
    pub const fn is_inverted(self) -> bool {
        self.0 & 0x8000 != 0
    }

    /// Whether the reserved bit is zero and the combination known.
    #[inline]
    #[must_use]
    pub const fn is_wire_legal(self) -> bool {
        self.0 & 0x1000 == 0 && self.0 & 0x6000 != 0x6000
    }
}

impl fmt::Display for Predicate {
    /// `-` for none, else `(P1)`, `(!P1.any)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return f.write_str("-");
        }
        let invert = if self.is_inverted() { "!" } else { "" };
        let combine = match self.combine() {
            PredicateCombine::PerLane => "",
            PredicateCombine::Any => ".any",
            PredicateCombine::All => ".all",
            PredicateCombine::Reserved => ".?3",
        };
        write!(f, "({invert}{}{combine}", self.id())?;
        if self.0 & 0x1000 != 0 {
            f.write_str("?0x1000")?;
        }
        f.write_str(")")
    }
}

/// A raw operand: contiguous bytes of a general variable, as payload or result of a message.
///
/// Wire form: variable index (16 bits before 3.4, 32 since), byte offset (16 bits). `V0` is null.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RawOperand {
    /// The variable.
    pub variable: VarId,
    /// Offset of the first byte.
    pub offset: u16,
}

impl RawOperand {
    /// The null operand.
    pub const NULL: Self = Self {
        variable: VarId::NULL,
        offset: 0,
    };

    /// Whether this is the null operand.
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.variable.0 == 0
    }
}

impl From<VarId> for RawOperand {
    /// The variable from its first byte.
    fn from(variable: VarId) -> Self {
        Self {
            variable,
            offset: 0,
        }
    }
}

impl fmt::Display for RawOperand {
    /// `V32.0`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.variable, self.offset)
    }
}

bitflags! {
    /// The switches beside a 3D sampler sub-operation.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct SamplerOpFlags: u8 {
        /// Reports to the lanes which pixels are null.
        const PIXEL_NULL_MASK = 1;
        /// Coarse pixel shading.
        const CPS = 2;
        /// The sampler is not the same in all lanes.
        const NON_UNIFORM_SAMPLER = 4;
    }
}

/// The operation of 3D_SAMPLE, 3D_LOAD and 3D_GATHER4: a sub-operation code and three switches.
///
/// Wire form since 4.0: 16 bits, code in bits 0-7, switches in bits 8-10, the rest zero. Before:
/// one byte, code in bits 0-4, switches in bits 5-7. This type keeps the 16-bit form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SamplerOp(u16);

impl SamplerOp {
    /// Wraps the 8-bit form of versions before 4.0.
    #[inline]
    #[must_use]
    pub const fn from_narrow(bits: u8) -> Self {
        Self((bits & 0x1f) as u16 | ((bits >> 5) as u16) << 8)
    }

    /// The 8-bit form; `None` where the code needs more than five bits.
    #[inline]
    #[must_use]
    pub const fn to_narrow(self) -> Option<u8> {
        if self.0 & !0x071f != 0 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation)] // three bits above five
        Some((self.0 & 0x1f) as u8 | ((self.0 >> 8) as u8) << 5)
    }

    /// Builds an operation.
    #[must_use]
    pub const fn new(code: u8, flags: SamplerOpFlags) -> Self {
        Self(code as u16 | (flags.bits() as u16) << 8)
    }

    /// The sub-operation code, see [`crate::enums::SAMPLER_OP`].
    #[must_use]
    pub const fn code(self) -> u8 {
        (self.0 & 0xff) as u8
    }

    /// The switches.
    #[must_use]
    pub const fn flags(self) -> SamplerOpFlags {
        SamplerOpFlags::from_bits_truncate((self.0 >> 8) as u8)
    }

    /// Whether the reserved bits are zero.
    #[inline]
    #[must_use]
    pub const fn is_wire_legal(self) -> bool {
        self.0 & 0xf800 == 0
    }
}
