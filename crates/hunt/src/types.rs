//! Types of OpenCL C and values of them.

use std::fmt;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are those of OpenCL C")]
pub enum Scalar {
    Char,
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
    Half,
    Float,
    Double,
}

use Scalar::{Char, Double, Float, Half, Int, Long, Short, Uchar, Uint, Ulong, Ushort};

impl Scalar {
    /// The integer types.
    pub const INTEGERS: [Self; 8] = [Char, Uchar, Short, Ushort, Int, Uint, Long, Ulong];

    /// The name in OpenCL C.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Char => "char",
            Uchar => "uchar",
            Short => "short",
            Ushort => "ushort",
            Int => "int",
            Uint => "uint",
            Long => "long",
            Ulong => "ulong",
            Half => "half",
            Float => "float",
            Double => "double",
        }
    }

    /// Size in bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Char | Uchar => 8,
            Short | Ushort | Half => 16,
            Int | Uint | Float => 32,
            Long | Ulong | Double => 64,
        }
    }

    /// Size in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self.bits() {
            8 => 1,
            16 => 2,
            32 => 4,
            _ => 8,
        }
    }

    /// Whether it is a floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Half | Float | Double)
    }

    /// Whether it is a signed integer.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Char | Short | Int | Long)
    }

    /// Whether scalars of it are promoted to `int` before arithmetic.
    #[must_use]
    pub const fn is_promoted(self) -> bool {
        matches!(self, Char | Uchar | Short | Ushort)
    }

    /// The unsigned integer of equal size.
    #[must_use]
    pub const fn unsigned(self) -> Self {
        match self.bits() {
            8 => Uchar,
            16 => Ushort,
            32 => Uint,
            _ => Ulong,
        }
    }

    /// The signed integer of equal size.
    #[must_use]
    pub const fn signed(self) -> Self {
        match self.bits() {
            8 => Char,
            16 => Short,
            32 => Int,
            _ => Long,
        }
    }

    /// The bits that a value may have.
    #[must_use]
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The value of these bits as a number; floats as their bits.
    #[must_use]
    pub fn number(self, bits: u64) -> i128 {
        let bits = bits & self.mask();
        if self.is_signed() && bits >> (self.bits() - 1) != 0 {
            i128::from(bits) - (1_i128 << self.bits())
        } else {
            i128::from(bits)
        }
    }

    /// The bits of a number, modulo the size.
    #[must_use]
    pub fn wrap(self, number: i128) -> u64 {
        u64::try_from(number & i128::from(self.mask())).unwrap_or(0)
    }

    /// The smallest and the largest integer.
    #[must_use]
    pub const fn range(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }

    /// The bits of the integer that is closest to a number.
    #[must_use]
    pub fn saturate(self, number: i128) -> u64 {
        let (least, most) = self.range();
        self.wrap(number.clamp(least, most))
    }

    /// The integer type of double size and equal sign.
    #[must_use]
    pub const fn wider(self) -> Option<Self> {
        Some(match self {
            Char => Short,
            Uchar => Ushort,
            Short => Int,
            Ushort => Uint,
            Int => Long,
            Uint => Ulong,
            _ => return None,
        })
    }
}

/// A scalar or vector type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    /// The type of an element.
    pub scalar: Scalar,
    /// The number of elements: 1 is a scalar.
    pub lanes: u8,
}

impl Type {
    /// `int`.
    pub const INT: Self = Self::scalar(Int);
    /// `uint`.
    pub const UINT: Self = Self::scalar(Uint);

    /// A scalar type.
    #[must_use]
    pub const fn scalar(scalar: Scalar) -> Self {
        Self { scalar, lanes: 1 }
    }

    /// A type of as many lanes.
    #[must_use]
    pub const fn of(self, scalar: Scalar) -> Self {
        Self {
            scalar,
            lanes: self.lanes,
        }
    }

    /// Its elements.
    #[must_use]
    pub const fn element(self) -> Self {
        Self::scalar(self.scalar)
    }

    /// Whether it is a vector.
    #[must_use]
    pub const fn is_vector(self) -> bool {
        self.lanes > 1
    }

    /// The number of lanes.
    #[must_use]
    pub const fn count(self) -> usize {
        self.lanes as usize
    }

    /// Bytes in a buffer where elements are contiguous.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.count() * self.scalar.bytes()
    }

    /// The type of comparisons of such values.
    #[must_use]
    pub const fn truth(self) -> Self {
        match self.lanes {
            1 => Self::INT,
            _ => self.of(self.scalar.signed()),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scalar.name())?;
        match self.lanes {
            1 => Ok(()),
            lanes => write!(f, "{lanes}"),
        }
    }
}

/// A value: the bits of each lane, zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// Its type.
    pub ty: Type,
    lanes: [u64; 16],
}

impl Value {
    /// All lanes are these bits.
    #[must_use]
    pub fn splat(ty: Type, bits: u64) -> Self {
        Self::from_fn(ty, |_| bits)
    }

    /// Each lane is made of its number.
    #[must_use]
    pub fn from_fn(ty: Type, mut lane: impl FnMut(usize) -> u64) -> Self {
        let mut lanes = [0; 16];
        for (number, to) in lanes.iter_mut().enumerate().take(ty.count()) {
            *to = lane(number) & ty.scalar.mask();
        }
        Self { ty, lanes }
    }

    /// The bits of a lane; 0 outside.
    #[must_use]
    pub fn lane(&self, number: usize) -> u64 {
        self.lanes.get(number).copied().unwrap_or(0)
    }

    /// Sets a lane.
    pub fn set(&mut self, number: usize, bits: u64) {
        let mask = self.ty.scalar.mask();
        if let Some(to) = self.lanes.get_mut(number) {
            *to = bits & mask;
        }
    }

    /// The lanes.
    #[must_use]
    pub fn lanes(&self) -> &[u64] {
        self.lanes.get(..self.ty.count()).unwrap_or(&self.lanes)
    }

    /// A lane as a number.
    #[must_use]
    pub fn number(&self, lane: usize) -> i128 {
        self.ty.scalar.number(self.lane(lane))
    }

    /// The elements one after the other, little endian.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let size = self.ty.scalar.bytes();
        let lanes = self.lanes().iter();
        lanes
            .flat_map(|bits| bits.to_le_bytes().into_iter().take(size))
            .collect()
    }

    /// The value of these bytes; missing ones are 0.
    #[must_use]
    pub fn from_bytes(ty: Type, bytes: &[u8]) -> Self {
        let size = ty.scalar.bytes();
        Self::from_fn(ty, |lane| {
            let mut wide = [0; 8];
            let from = bytes.iter().skip(lane * size).take(size);
            for (to, from) in wide.iter_mut().zip(from) {
                *to = *from;
            }
            u64::from_le_bytes(wide)
        })
    }
}
