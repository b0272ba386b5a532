//! Data types and sets of them.

use bitflags::bitflags;
use core::fmt;

/// Element type, the four-bit code in declarations, immediates and indirect operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum DataType {
    /// Unsigned 32-bit integer.
    Ud = 0,
    /// Signed 32-bit integer.
    D = 1,
    /// Unsigned 16-bit integer.
    Uw = 2,
    /// Signed 16-bit integer.
    W = 3,
    /// Unsigned 8-bit integer.
    Ub = 4,
    /// Signed 8-bit integer.
    B = 5,
    /// 64-bit float.
    Df = 6,
    /// 32-bit float.
    F = 7,
    /// Immediate of eight packed signed 4-bit integers.
    V = 8,
    /// Immediate of four packed 8-bit restricted floats.
    Vf = 9,
    /// Predicate element.
    Bool = 10,
    /// Unsigned 64-bit integer.
    Uq = 11,
    /// Immediate of eight packed unsigned 4-bit integers.
    Uv = 12,
    /// Signed 64-bit integer.
    Q = 13,
    /// 16-bit float.
    Hf = 14,
    /// Brain float, 16 bits (since 2021).
    Bf = 15,
    /// Tensor float: the upper 19 of 32 bits (4.2).
    Tf32 = 16,
    /// Float of 8 bits, 4 of them exponent (4.2).
    Hf8 = 17,
    /// Float of 8 bits, 5 of them exponent (4.2).
    Bf8 = 18,
    /// Float of 4 bits, 2 of them exponent (4.2).
    E2m1 = 19,
}

impl DataType {
    /// All types with a code of four bits, in the order of their codes.
    pub const ALL: [Self; 16] = [
        Self::Ud,
        Self::D,
        Self::Uw,
        Self::W,
        Self::Ub,
        Self::B,
        Self::Df,
        Self::F,
        Self::V,
        Self::Vf,
        Self::Bool,
        Self::Uq,
        Self::Uv,
        Self::Q,
        Self::Hf,
        Self::Bf,
    ];

    /// The type with this code; only the low four bits are used, and all their values are assigned.
    #[inline]
    #[must_use]
    pub const fn from_code(code: u8) -> Self {
        #[allow(clippy::indexing_slicing)] // sixteen entries, four bits
        Self::ALL[(code & 0xf) as usize]
    }

    /// The types added in 4.2, whose codes do not fit the binary form. Only declared variables have them.
    pub const TEXT_ONLY: [Self; 4] = [Self::Tf32, Self::Hf8, Self::Bf8, Self::E2m1];

    /// Whether the type has no binary form.
    #[inline]
    #[must_use]
    pub const fn is_text_only(self) -> bool {
        self.code() > 0xf
    }

    /// The code; four bits, except for [`Self::TEXT_ONLY`].
    #[inline]
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Size of an element in bytes; 4 for the packed immediates, 1 for `bool`.
    #[inline]
    #[must_use]
    pub const fn size(self) -> u8 {
        match self {
            Self::Ub | Self::B | Self::Bool | Self::Hf8 | Self::Bf8 | Self::E2m1 => 1,
            Self::Uw | Self::W | Self::Hf | Self::Bf => 2,
            Self::Ud | Self::D | Self::F | Self::V | Self::Vf | Self::Uv | Self::Tf32 => 4,
            Self::Df | Self::Uq | Self::Q => 8,
        }
    }

    /// The name in vISA text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ud => "ud",
            Self::D => "d",
            Self::Uw => "uw",
            Self::W => "w",
            Self::Ub => "ub",
            Self::B => "b",
            Self::Df => "df",
            Self::F => "f",
            Self::V => "v",
            Self::Vf => "vf",
            Self::Bool => "bool",
            Self::Uq => "uq",
            Self::Uv => "uv",
            Self::Q => "q",
            Self::Hf => "hf",
            Self::Bf => "bf",
            Self::Tf32 => "tf32",
            Self::Hf8 => "hf8",
            Self::Bf8 => "bf8",
            Self::E2m1 => "e2m1",
        }
    }

    /// Whether the type exists only as an immediate.
    #[must_use]
    pub const fn is_packed(self) -> bool {
        matches!(self, Self::V | Self::Vf | Self::Uv)
    }

    /// Whether the type is an integer type of 8 to 64 bits.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        TypeSet::INTEGERS.has(self)
    }

    /// Whether the type is an unsigned integer type (packed `uv` included).
    #[must_use]
    pub const fn is_unsigned(self) -> bool {
        matches!(self, Self::Ud | Self::Uw | Self::Ub | Self::Uq | Self::Uv)
    }

    /// Whether the type is a floating-point type (packed `vf` included).
    #[must_use]
    pub const fn is_float(self) -> bool {
        self.is_text_only() || matches!(self, Self::Df | Self::F | Self::Hf | Self::Bf | Self::Vf)
    }

    /// Whether the type is a signed integer type (packed `v` included).
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::D | Self::W | Self::B | Self::Q | Self::V)
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

bitflags! {
    /// A set of data types; bit n is for the type with code n.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct TypeSet: u32 {
        /// `ud`
        const UD = 1 << 0;
        /// `d`
        const D = 1 << 1;
        /// `uw`
        const UW = 1 << 2;
        /// `w`
        const W = 1 << 3;
        /// `ub`
        const UB = 1 << 4;
        /// `b`
        const B = 1 << 5;
        /// `df`
        const DF = 1 << 6;
        /// `f`
        const F = 1 << 7;
        /// `uq`
        const UQ = 1 << 11;
        /// `q`
        const Q = 1 << 13;
        /// `hf`
        const HF = 1 << 14;
        /// `bf`
        const BF = 1 << 15;
    }
}

impl TypeSet {
    /// The integer types of 8 to 64 bits.
    pub const INTEGERS: Self = Self::UD
        .union(Self::D)
        .union(Self::UW)
        .union(Self::W)
        .union(Self::UB)
        .union(Self::B)
        .union(Self::UQ)
        .union(Self::Q);
    /// `f` and `df`.
    pub const FLOATS: Self = Self::F.union(Self::DF);
    /// `hf`, `bf`, `f` and `df`.
    pub const ALL_FLOATS: Self = Self::FLOATS.union(Self::HF).union(Self::BF);
    /// Every integer and every floating-point type.
    pub const ALL_NUMBERS: Self = Self::INTEGERS.union(Self::ALL_FLOATS);

    /// The set containing only this type, which may be one that only constants or predicates have.
    #[inline]
    #[must_use]
    pub const fn of(ty: DataType) -> Self {
        Self::from_bits_retain(1 << ty.code())
    }

    /// Whether the set contains this type.
    #[inline]
    #[must_use]
    pub const fn has(self, ty: DataType) -> bool {
        self.bits() & (1 << ty.code()) != 0
    }

    /// The types of the set, in order of their codes.
    pub fn types(self) -> impl Iterator<Item = DataType> {
        DataType::ALL.into_iter().filter(move |t| self.has(*t))
    }
}
