//! The operations of steps.

use std::ops::Range;
use visakit_isa::DataType;

/// The type in which lanes are computed. Sources are converted to it, results from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lane {
    /// 8 bits, modular.
    U8,
    /// 16 bits, modular.
    U16,
    /// 32 bits without sign.
    U32,
    /// 32 bits with sign.
    I32,
    /// 64 bits without sign.
    U64,
    /// 64 bits with sign.
    I64,
    /// Wide enough for every exact value.
    I128,
    /// Single precision. Half and bfloat are computed in it and rounded once more.
    F32,
    /// Double precision.
    F64,
}

impl Lane {
    /// Lanes that take elements of a type as they are, by their size.
    pub(crate) const fn of_bits(data_type: DataType) -> Self {
        match data_type.size() {
            1 => Self::U8,
            2 => Self::U16,
            4 => Self::U32,
            _ => Self::U64,
        }
    }
}

/// The format whose rounding and denormals an operation follows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Precision {
    /// Half.
    Half,
    /// Bfloat.
    BFloat,
    /// Single.
    Float,
    /// Double.
    Double,
}

/// A relation of two values. `Greater` is `Less` with the sources exchanged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
}

/// Formats that no data type names, and their conversions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Narrowing {
    /// Bfloat in a word to single.
    BFloatToFloat,
    /// Single to bfloat in a word.
    FloatToBFloat,
    /// Single to tensor float (ten bits of mantissa in a dword).
    FloatToTf32,
    /// Tensor float to single: the same bits.
    Tf32ToFloat,
    /// Half to bf8 (1-5-2).
    HalfToBf8,
    /// Bf8 to half.
    Bf8ToHalf,
    /// Half to hf8 (1-4-3).
    HalfToHf8,
    /// Hf8 to half.
    Hf8ToHalf,
    /// Single to half by random bits, which are the second source.
    FloatToHalfByChance,
    /// Half to bf8 by random bits, which are the second source.
    HalfToBf8ByChance,
}

macro_rules! operations {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident $(($of:ty))? $(, flags $flags:literal)? = $mnemonic:literal $sources:literal;
    )*) => {
        /// What a step computes in each lane. The operation determines what is computed; the [`Lane`] determines the
        /// type.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Operation {
            $($(#[doc = $doc])* $name $(($of))?,)*
        }

        impl Operation {
            /// The names of all.
            #[cfg(test)]
            pub(crate) const NAMES: &[&str] = &[$($mnemonic,)*];

            /// Its name in listings.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(operations!(@pattern $name $($of)?) => $mnemonic,)*
                }
            }

            /// Number of sources.
            #[must_use]
            pub const fn sources(self) -> usize {
                match self {
                    $(operations!(@pattern $name $($of)?) => $sources,)*
                }
            }

            /// Number of predicate variables that it reads as data.
            #[must_use]
            pub const fn flags(self) -> usize {
                match self {
                    $(operations!(@pattern $name $($of)?) => 0 $(+ $flags)?,)*
                }
            }
        }
    };
    (@pattern $name:ident $of:ty) => { Self::$name(_) };
    (@pattern $name:ident) => { Self::$name };
}

operations! {
    /// The source.
    Copy = "copy" 1;
    /// Conversion to lanes of another type.
    Convert(Lane) = "convert" 1;
    /// Integers, exactly, to a float destination.
    IntegerToFloat = "int_to_float" 1;
    /// Complement.
    Not = "not" 1;
    /// Number of set bits.
    CountBits = "cbit" 1;
    /// Number of leading zeros.
    LeadingZeros = "lzd" 1;
    /// Place of the lowest set bit.
    FirstBitLow = "fbl" 1;
    /// Place of the highest bit that differs from the sign, counted from the top.
    FirstBitHighSigned = "fbh.s" 1;
    /// Place of the highest set bit, counted from the top.
    FirstBitHighUnsigned = "fbh.u" 1;
    /// Bits in reverse order.
    ReverseBits = "bfrev" 1;
    /// 2 to the power of the source.
    Exp = "exp2" 1;
    /// Logarithm to base 2.
    Log = "log2" 1;
    /// Sine.
    Sin = "sin" 1;
    /// Cosine.
    Cos = "cos" 1;
    /// Hyperbolic tangent.
    Tanh = "tanh" 1;
    /// Logistic function.
    Sigmoid = "sigmoid" 1;
    /// Reciprocal.
    Inv = "inv" 1;
    /// Square root.
    Sqrt = "sqrt" 1;
    /// Reciprocal of the square root.
    Rsqrt = "rsqrt" 1;
    /// Fraction.
    Frc = "frc" 1;
    /// Rounding down.
    Rndd = "rndd" 1;
    /// Rounding up.
    Rndu = "rndu" 1;
    /// Rounding to even.
    Rnde = "rnde" 1;
    /// Rounding to zero.
    Rndz = "rndz" 1;
    /// Sum.
    Add = "add" 2;
    /// Product.
    Mul = "mul" 2;
    /// Quotient.
    Div = "div" 2;
    /// Remainder with the sign of the dividend.
    Mod = "mod" 2;
    /// Average, rounded up.
    Avg = "avg" 2;
    /// High half of a product of dwords.
    MulHigh = "mulh" 2;
    /// Power.
    Pow = "pow" 2;
    /// The smaller one.
    Min = "min" 2;
    /// The larger one.
    Max = "max" 2;
    /// Bitwise and.
    And = "and" 2;
    /// Bitwise or.
    Or = "or" 2;
    /// Bitwise exclusive or.
    Xor = "xor" 2;
    /// Shift left; the count is taken modulo 64 where a value has 64 bits, else modulo 32.
    Shl = "shl" 2;
    /// Shift right, with the sign where the lane has one.
    Shr = "shr" 2;
    /// Rotation to the left within the lane.
    Rol = "rol" 2;
    /// Rotation to the right within the lane.
    Ror = "ror" 2;
    /// Product of the first two and the third, rounded once.
    Mad = "mad" 3;
    /// Sum of three.
    Add3 = "add3" 3;
    /// Linear interpolation.
    Lrp = "lrp" 3;
    /// Bit field with its sign: width, offset, value.
    ExtractSigned = "bfe.s" 3;
    /// Bit field: width, offset, value.
    ExtractUnsigned = "bfe.u" 3;
    /// A bitwise function of three sources by its table of truth.
    Boolean(u8) = "bfn" 3;
    /// Bit field put into a value: width, offset, field, value.
    Insert = "bfi" 4;
    /// A comparison; its outcome goes to a predicate, or as all ones or zeros to a variable.
    Compare(Relation) = "cmp" 2;
    /// The first source where the predicate is set, else the second.
    Select, flags 1 = "sel" 2;
    /// Sum of dwords; the carry goes to the second destination.
    AddCarry = "addc" 2;
    /// Difference of dwords; the borrow goes to the second destination.
    SubBorrow = "subb" 2;
    /// Sum of three; lanes that overflow go to the predicate.
    Add3Overflow = "add3.o" 3;
    /// Product and sum: low half, and high half to the second destination.
    MadWide = "madw" 3;
    /// Accumulator and four products of bytes.
    DotBytes = "dp4a" 3;
    /// Absolute differences of pairs of lanes.
    Differences = "sad2" 2;
    /// Absolute differences of pairs of lanes, and an accumulator.
    DifferencesAdd = "sad2add" 3;
    /// Dot product of groups of four lanes.
    DotProduct(DotTerms) = "dot" 2;
    /// `p * u + r`: `p` and `r` are elements 0 and 3 of the first source.
    Line = "line" 2;
    /// `p * u + q * v + r`: `p`, `q` and `r` are elements 0, 1 and 3 of the first source.
    Plane = "plane" 3;
    /// First step of a quotient; lanes that need no other go to the predicate.
    QuotientStep = "invm" 2;
    /// First step of a reciprocal square root; lanes that need no other go to the predicate.
    RsqrtStep = "rsqtm" 1;
    /// A conversion from or to a format without a type.
    Narrow(Narrowing) = "narrow" 1;
    /// A conversion that takes random bits.
    NarrowByChance(Narrowing) = "srnd" 2;
    /// Elements of a table of 16 dwords: byte n (else word n) of the element that the four bits n of the second source
    /// choose.
    ShuffleNibbles(bool) = "shuffle" 2;
    /// Two pairs of floats of 16 bits to numbers of four bits.
    ScaleDown(FourBits) = "scale_down" 2;
    /// And of predicate variables.
    FlagAnd, flags 2 = "flag_and" 0;
    /// Or of predicate variables.
    FlagOr, flags 2 = "flag_or" 0;
    /// Exclusive or of predicate variables.
    FlagXor, flags 2 = "flag_xor" 0;
    /// Complement of a predicate variable.
    FlagNot, flags 1 = "flag_not" 0;
    /// The bits of a predicate variable of this many elements as a number.
    FlagToNumber(u8), flags 1 = "flag_to_number" 0;
    /// A predicate variable from the bits of a scalar.
    FlagFromBits = "flag_from_bits" 1;
    /// A predicate variable from the lowest bit of each lane.
    FlagFromLanes = "flag_from_lanes" 1;
}

impl Operation {
    /// Lanes whose elements of a source a lane's result depends on.
    #[must_use]
    pub fn lanes_of(self, source: usize, lane: usize) -> Range<usize> {
        let group = |size: usize| lane / size * size..(lane / size + 1) * size;
        match (self, source) {
            (Self::Differences | Self::DifferencesAdd, 0 | 1) => group(2),
            (Self::DotProduct(_), _) => group(4),
            (Self::Line | Self::Plane, 0) => 0..4,
            (Self::ShuffleNibbles(_), 0) => 0..16,
            _ => lane..lane + 1,
        }
    }

    /// How many elements of a source it reads for this many lanes.
    #[must_use]
    pub fn elements(self, source: usize, lanes: usize) -> usize {
        self.lanes_of(source, lanes.saturating_sub(1)).end
    }

    /// Whether a lane of its results depends only on the same lane of its sources, and each enabled lane is written.
    #[must_use]
    pub const fn is_by_lane(self) -> bool {
        !matches!(
            self,
            Self::Differences
                | Self::DifferencesAdd
                | Self::DotProduct(_)
                | Self::Line
                | Self::Plane
                | Self::QuotientStep
                | Self::RsqrtStep
                | Self::ShuffleNibbles(_)
                | Self::ScaleDown(_)
                | Self::FlagToNumber(_)
                | Self::FlagFromBits
                | Self::FlagFromLanes
        )
    }
}

/// The terms of a dot product of four.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DotTerms {
    /// Products, from the first element on.
    pub products: u8,
    /// Elements of the second source that are added as they are, after those.
    pub bare: u8,
}

/// Conversions to four bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FourBits {
    /// From brain float, not half.
    pub brain: bool,
    /// To float (1-2-1), not to integer.
    pub float: bool,
    /// Lowest bit of each result, first those of the first source's words.
    pub places: [u8; 4],
}
