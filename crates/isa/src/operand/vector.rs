//! Vector operands: everything that arithmetic, moves and compares may read or write.

use super::control::Predicate;
use super::region::Region;
use crate::ids::{AddressId, SamplerId, SurfaceId, VarId};
use crate::types::DataType;
use bitflags::bitflags;
use core::fmt;

wire_words! { PropertyByte(u8) }

/// The class of a vector operand, bits 0-2 of its tag byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum OperandClass {
    /// A general variable with a region.
    General = 0,
    /// An address variable.
    Address = 1,
    /// A predicate variable as data.
    Predicate = 2,
    /// Access through an address variable.
    Indirect = 3,
    /// A constant.
    Immediate = 5,
    /// A surface or sampler variable.
    State = 6,
}

impl OperandClass {
    /// The class of a tag byte; codes 4 and 7 have none.
    #[inline]
    #[must_use]
    pub const fn from_tag(tag: u8) -> Option<Self> {
        match tag & 7 {
            0 => Some(Self::General),
            1 => Some(Self::Address),
            2 => Some(Self::Predicate),
            3 => Some(Self::Indirect),
            5 => Some(Self::Immediate),
            6 => Some(Self::State),
            _ => None,
        }
    }

    /// The class of the variable that a LIFETIME marks, which determines its table: bits 4 and 5 of
    /// the properties. `None` if they do not name a kind of variable.
    #[must_use]
    pub const fn of_lifetime(properties: u16) -> Option<Self> {
        match properties >> 4 & 3 {
            0 => Some(Self::General),
            1 => Some(Self::Address),
            2 => Some(Self::Predicate),
            _ => None,
        }
    }

    /// The code in the tag byte.
    #[inline]
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Name used in references and statistics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Address => "address",
            Self::Predicate => "predicate",
            Self::Indirect => "indirect",
            Self::Immediate => "immediate",
            Self::State => "state",
        }
    }
}

bitflags! {
    /// A set of operand classes; bit n is for class code n.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct OperandClasses: u8 {
        /// [`OperandClass::General`]
        const GENERAL = 1 << 0;
        /// [`OperandClass::Address`]
        const ADDRESS = 1 << 1;
        /// [`OperandClass::Predicate`]
        const PREDICATE = 1 << 2;
        /// [`OperandClass::Indirect`]
        const INDIRECT = 1 << 3;
        /// [`OperandClass::Immediate`]
        const IMMEDIATE = 1 << 5;
        /// [`OperandClass::State`]
        const STATE = 1 << 6;
    }
}

impl OperandClasses {
    /// The set containing only this class.
    #[inline]
    #[must_use]
    pub const fn of(class: OperandClass) -> Self {
        Self::from_bits_retain(1 << class.code())
    }

    /// Whether the set contains this class.
    #[inline]
    #[must_use]
    pub const fn has(self, class: OperandClass) -> bool {
        self.bits() & (1 << class.code()) != 0
    }

    /// The classes of the set.
    pub fn classes(self) -> impl Iterator<Item = OperandClass> {
        [
            OperandClass::General,
            OperandClass::Address,
            OperandClass::Predicate,
            OperandClass::Indirect,
            OperandClass::Immediate,
            OperandClass::State,
        ]
        .into_iter()
        .filter(move |c| self.has(*c))
    }
}

/// Bits 3-7 of the tag byte: source modifier or saturation in the low three, two reserved bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Modifier(u8);

impl Modifier {
    /// No modifier.
    pub const NONE: Self = Self(0);
    /// Absolute value of a source.
    pub const ABS: Self = Self(1);
    /// Negated source.
    pub const NEG: Self = Self(2);
    /// Negated absolute value of a source.
    pub const NEG_ABS: Self = Self(3);
    /// Saturation of the result, on a destination.
    pub const SAT: Self = Self(4);
    /// Complemented source of AND, OR, XOR and NOT.
    pub const NOT: Self = Self(5);

    /// The modifier of a tag byte.
    #[inline]
    #[must_use]
    pub const fn from_tag(tag: u8) -> Self {
        Self(tag >> 3)
    }

    /// The tag bits of the modifier.
    #[inline]
    #[must_use]
    pub const fn to_tag(self) -> u8 {
        self.0 << 3
    }

    /// Name, `None` for codes without a meaning.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::NONE => Some("none"),
            Self::ABS => Some("abs"),
            Self::NEG => Some("neg"),
            Self::NEG_ABS => Some("neg_abs"),
            Self::SAT => Some("sat"),
            Self::NOT => Some("not"),
            _ => None,
        }
    }

    /// Whether the code is known and the reserved bits are zero.
    #[inline]
    #[must_use]
    pub const fn is_wire_legal(self) -> bool {
        self.0 <= 5
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::NONE => "",
            Self::ABS => "(abs)",
            Self::NEG => "(-)",
            Self::NEG_ABS => "(-abs)",
            Self::SAT => "(sat)",
            Self::NOT => "(~)",
            _ => "(?)",
        }
    }
}

/// A general variable accessed through a region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct GeneralOperand {
    /// Source modifier or saturation.
    pub modifier: Modifier,
    /// The variable.
    pub variable: VarId,
    /// Row of the first element, in GRFs of the target.
    pub row: u8,
    /// Column of the first element, in elements of the variable's type.
    pub column: u8,
    /// The region; a destination has a horizontal stride only.
    pub region: Region,
}

impl GeneralOperand {
    /// The variable as a destination, with consecutive elements: `V(0,0)<1>`.
    #[must_use]
    pub const fn dst(variable: VarId) -> Self {
        Self::of(variable, Region::PACKED_DESTINATION)
    }

    /// The variable as a source, with consecutive elements: `V(0,0)<1;1,0>`.
    #[must_use]
    pub const fn src(variable: VarId) -> Self {
        Self::of(variable, Region::PACKED)
    }

    /// The first element of the variable as a source, the same for each lane: `V(0,0)<0;1,0>`.
    #[must_use]
    pub const fn scalar(variable: VarId) -> Self {
        Self::of(variable, Region::SCALAR)
    }

    /// The variable from its first element, through a region.
    #[must_use]
    pub const fn of(variable: VarId, region: Region) -> Self {
        Self {
            modifier: Modifier::NONE,
            variable,
            row: 0,
            column: 0,
            region,
        }
    }

    /// This operand from another first element on.
    #[must_use]
    pub const fn at(self, row: u8, column: u8) -> Self {
        Self {
            row,
            column,
            ..self
        }
    }

    /// This operand with a source modifier, or saturated.
    #[must_use]
    pub const fn with(self, modifier: Modifier) -> Self {
        Self { modifier, ..self }
    }
}

/// Elements of an address variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct AddressOperand {
    /// Must be none.
    pub modifier: Modifier,
    /// The address variable.
    pub address: AddressId,
    /// First element.
    pub offset: u8,
    /// Log2 of the number of elements.
    pub width: u8,
}

/// A predicate variable as source or destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PredicateOperand {
    /// Must be none, or the complement in logic instructions.
    pub modifier: Modifier,
    /// The predicate word; only the index has a meaning.
    pub predicate: Predicate,
}

/// The property byte of an indirect operand: the type in bits 0-3, reserved bits above.
///
/// The Cm compiler of versions 3.0 to 3.3 sets bit 4 in most operands; readers mask it off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PropertyByte(u8);

impl PropertyByte {
    /// The byte of a type, reserved bits zero.
    #[must_use]
    pub const fn of(ty: DataType) -> Self {
        Self(ty.code())
    }

    /// The element type.
    #[inline]
    #[must_use]
    pub const fn data_type(self) -> DataType {
        DataType::from_code(self.0)
    }

    /// This byte with another type.
    #[must_use]
    pub const fn with_data_type(self, ty: DataType) -> Self {
        Self(self.0 & 0xf0 | ty.code())
    }

    /// The reserved bits 4-7, at their place.
    #[must_use]
    pub const fn reserved(self) -> u8 {
        self.0 & 0xf0
    }
}

impl From<DataType> for PropertyByte {
    fn from(ty: DataType) -> Self {
        Self::of(ty)
    }
}

/// Access to a general variable through an address variable.
///
/// Origin: content of `address[address_offset]` plus `offset` bytes. An absent vertical stride in
/// a source region takes one address for each row of the region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct IndirectOperand {
    /// Source modifier or saturation.
    pub modifier: Modifier,
    /// The address variable.
    pub address: AddressId,
    /// First element of the address variable.
    pub address_offset: u8,
    /// Offset in bytes, -512 to 511.
    pub offset: i16,
    /// Element type and reserved bits.
    pub property: PropertyByte,
    /// The region.
    pub region: Region,
}

/// A constant.
///
/// Wire form: type byte, then 8 bytes for `df`, `q` and `uq`, otherwise 4. The upper bytes of 8- and
/// 16-bit types carry no meaning but are kept: compilers either zero- or sign-extend them. The number
/// an immediate denotes is its [`value`](Self::value); `==` compares stored bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ImmediateOperand {
    /// Must be none.
    pub modifier: Modifier,
    /// Element type and reserved bits.
    pub property: PropertyByte,
    // Two halves keep the alignment at four bytes and the whole operand at sixteen.
    pub(super) low: u32,
    pub(super) high: u32,
}

impl ImmediateOperand {
    /// An immediate of the type, its bits in the low end of `bits`.
    #[inline]
    #[must_use]
    pub const fn new(property: PropertyByte, bits: u64) -> Self {
        #[allow(clippy::cast_possible_truncation)] // the low half
        Self {
            modifier: Modifier::NONE,
            property,
            low: bits as u32,
            high: (bits >> 32) as u32,
        }
    }

    /// The stored bits: 64 for the 8-byte types, else 32.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.low as u64 | (self.high as u64) << 32
    }

    /// Replaces the stored bits.
    pub const fn set_bits(&mut self, bits: u64) {
        *self = Self {
            modifier: self.modifier,
            ..Self::new(self.property, bits)
        };
    }

    /// The element type.
    #[inline]
    #[must_use]
    pub const fn data_type(self) -> DataType {
        self.property.data_type()
    }

    pub(super) const fn is_wide(&self) -> bool {
        matches!(Self::wire_size(self.data_type()), Some(8))
    }

    /// Number of value bytes on the wire: 8 or 4; `None` for `bool`, which has no immediate.
    #[inline]
    #[must_use]
    pub const fn wire_size(ty: DataType) -> Option<u8> {
        match ty {
            DataType::Bool => None,
            DataType::Df | DataType::Uq | DataType::Q => Some(8),
            _ => Some(4),
        }
    }
}

/// Which table a state operand points into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct StateClass(pub u8);

impl crate::wire::Number for StateClass {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from_wire(number: u32) -> Self {
        Self(u8::from_wire(number))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn to_wire(self) -> u32 {
        self.0.into()
    }
}

impl StateClass {
    /// The surface table.
    pub const SURFACE: Self = Self(0);
    /// The sampler table.
    pub const SAMPLER: Self = Self(1);
}

/// A surface or sampler variable as data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct StateOperand {
    /// Must be none.
    pub modifier: Modifier,
    /// Surface or sampler.
    pub class: StateClass,
    /// Index in that table, predefined entries included.
    pub index: u16,
    /// Element of the variable.
    pub offset: u8,
}

/// A vector operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VectorOperand {
    /// A general variable with a region.
    General(GeneralOperand),
    /// Elements of an address variable.
    Address(AddressOperand),
    /// A predicate variable.
    Predicate(PredicateOperand),
    /// Access through an address variable.
    Indirect(IndirectOperand),
    /// A constant.
    Immediate(ImmediateOperand),
    /// A surface or sampler.
    State(StateOperand),
}

impl VectorOperand {
    /// The class of the operand.
    #[inline]
    #[must_use]
    pub const fn class(&self) -> OperandClass {
        match self {
            Self::General(_) => OperandClass::General,
            Self::Address(_) => OperandClass::Address,
            Self::Predicate(_) => OperandClass::Predicate,
            Self::Indirect(_) => OperandClass::Indirect,
            Self::Immediate(_) => OperandClass::Immediate,
            Self::State(_) => OperandClass::State,
        }
    }

    /// The modifier.
    #[inline]
    #[must_use]
    pub const fn modifier(&self) -> Modifier {
        match self {
            Self::General(o) => o.modifier,
            Self::Address(o) => o.modifier,
            Self::Predicate(o) => o.modifier,
            Self::Indirect(o) => o.modifier,
            Self::Immediate(o) => o.modifier,
            Self::State(o) => o.modifier,
        }
    }

    /// The tag byte of the wire form.
    #[inline]
    #[must_use]
    pub const fn tag(&self) -> u8 {
        self.class().code() | self.modifier().to_tag()
    }
}

impl fmt::Display for VectorOperand {
    /// A form similar to vISA text, with table indices in place of names.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.modifier().prefix())?;
        match self {
            Self::General(o) => {
                write!(f, "{}({},{}){}", o.variable, o.row, o.column, o.region)
            }
            Self::Address(o) => {
                write!(f, "{}({})<", o.address, o.offset)?;
                match 1u32.checked_shl(u32::from(o.width)) {
                    Some(elements) => write!(f, "{elements}>"),
                    None => write!(f, "?{}>", o.width),
                }
            }
            Self::Predicate(o) => match o.predicate.bits() >> 12 & 0xf {
                0 => write!(f, "{}", o.predicate.id()),
                _ => write!(f, "{}", o.predicate),
            },
            Self::Indirect(o) => write!(
                f,
                "r[{}({}),{}]{}:{}",
                o.address,
                o.address_offset,
                o.offset,
                o.region,
                o.property.data_type()
            ),
            Self::Immediate(o) => write!(f, "{:#x}:{}", o.bits(), o.data_type()),
            Self::State(o) => match o.class {
                StateClass::SURFACE => write!(f, "T{}({})", o.index, o.offset),
                StateClass::SAMPLER => write!(f, "S{}({})", o.index, o.offset),
                StateClass(class) => write!(f, "state{class}.{}({})", o.index, o.offset),
            },
        }
    }
}

macro_rules! from_class {
    ($($variant:ident($ty:ty)),*) => {$(
        impl From<$ty> for VectorOperand {
            fn from(operand: $ty) -> Self {
                Self::$variant(operand)
            }
        }
    )*};
}

from_class! {
    General(GeneralOperand), Address(AddressOperand), Predicate(PredicateOperand),
    Indirect(IndirectOperand), Immediate(ImmediateOperand), State(StateOperand)
}

/// Numbers are constants, as [`ImmediateOperand`] makes them.
macro_rules! from_number {
    ($($ty:ident)*) => {$(
        impl From<$ty> for VectorOperand {
            fn from(number: $ty) -> Self {
                Self::Immediate(number.into())
            }
        }
    )*};
}

from_number! { u16 i16 u32 i32 u64 i64 f32 f64 }

impl From<Predicate> for VectorOperand {
    /// A predicate variable as data, such as the destination of a comparison.
    fn from(predicate: Predicate) -> Self {
        let modifier = Modifier::NONE;
        Self::Predicate(PredicateOperand {
            modifier,
            predicate,
        })
    }
}

impl From<SurfaceId> for VectorOperand {
    fn from(surface: SurfaceId) -> Self {
        Self::State(StateOperand {
            class: StateClass::SURFACE,
            index: surface.0.into(),
            ..StateOperand::default()
        })
    }
}

impl From<SamplerId> for VectorOperand {
    fn from(sampler: SamplerId) -> Self {
        Self::State(StateOperand {
            class: StateClass::SAMPLER,
            index: sampler.0.into(),
            ..StateOperand::default()
        })
    }
}
