//! The operations of atomic messages.

use crate::enums::atomic_op as code;

/// The effect of an atomic message, in terms of the old value `m` of memory and its arguments `a`
/// and `b`.
///
/// Integers wrap. Float minimum and maximum return the other operand for a NaN, like the
/// instructions of the same name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    /// Leaves `m`.
    Load,
    /// `a`.
    Store,
    /// `m + a`.
    Add,
    /// `m - a`.
    Sub,
    /// `m + 1`.
    Increment,
    /// `m - 1`.
    Decrement,
    /// `m - 1`; the message returns the new value.
    PreDecrement,
    /// Unsigned minimum of `m` and `a`.
    UnsignedMin,
    /// Unsigned maximum of `m` and `a`.
    UnsignedMax,
    /// Signed minimum of `m` and `a`.
    SignedMin,
    /// Signed maximum of `m` and `a`.
    SignedMax,
    /// `b` where `m` has the bits of `a`.
    CompareExchange,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Float sum.
    FloatAdd,
    /// Float difference `m - a`.
    FloatSub,
    /// Float minimum.
    FloatMin,
    /// Float maximum.
    FloatMax,
    /// `b` where `m` equals `a` as a float.
    FloatCompareExchange,
    /// Brain-float sum.
    BrainAdd,
    /// Brain-float difference `m - a`.
    BrainSub,
    /// Brain-float minimum.
    BrainMin,
    /// Brain-float maximum.
    BrainMax,
    /// `b` where `m` equals `a` as a brain float.
    BrainCompareExchange,
}

/// Codes of messages older than the load/store cache. Of two data operands, CMPXCHG stores the
/// first if memory has the second; all others take them in order.
const CODES: &[(u8, AtomicOp)] = &[
    (code::ADD, AtomicOp::Add),
    (code::SUB, AtomicOp::Sub),
    (code::INC, AtomicOp::Increment),
    (code::DEC, AtomicOp::Decrement),
    (code::MIN, AtomicOp::UnsignedMin),
    (code::MAX, AtomicOp::UnsignedMax),
    (code::XCHG, AtomicOp::Store),
    (code::CMPXCHG, AtomicOp::CompareExchange),
    (code::AND, AtomicOp::And),
    (code::OR, AtomicOp::Or),
    (code::XOR, AtomicOp::Xor),
    (code::MINSINT, AtomicOp::SignedMin),
    (code::MAXSINT, AtomicOp::SignedMax),
    (code::PREDEC, AtomicOp::PreDecrement),
    (code::FMAX, AtomicOp::FloatMax),
    (code::FMIN, AtomicOp::FloatMin),
    (code::FCMPWR, AtomicOp::FloatCompareExchange),
    (code::FADD, AtomicOp::FloatAdd),
    (code::FSUB, AtomicOp::FloatSub),
];

impl AtomicOp {
    /// Data operands beside the memory.
    #[must_use]
    pub const fn operands(self) -> u8 {
        match self {
            Self::Load | Self::Increment | Self::Decrement | Self::PreDecrement => 0,
            Self::CompareExchange | Self::FloatCompareExchange | Self::BrainCompareExchange => 2,
            _ => 1,
        }
    }

    /// Whether values are floating-point numbers, brain floats included.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::FloatAdd
                | Self::FloatSub
                | Self::FloatMin
                | Self::FloatMax
                | Self::FloatCompareExchange
        ) || self.is_brain_float()
    }

    /// Whether values are brain floats.
    #[must_use]
    pub const fn is_brain_float(self) -> bool {
        matches!(
            self,
            Self::BrainAdd
                | Self::BrainSub
                | Self::BrainMin
                | Self::BrainMax
                | Self::BrainCompareExchange
        )
    }

    /// The operation for a code of the messages older than the load/store cache; only the low five
    /// bits are used. `None` for codes without a meaning.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        let found = CODES.iter().find(|(known, _)| *known == code & 0x1f);
        found.map(|(_, op)| *op)
    }

    /// The code in messages older than the load/store cache, if they have the operation.
    #[must_use]
    pub fn code(self) -> Option<u8> {
        let found = CODES.iter().find(|(_, op)| *op == self);
        found.map(|(code, _)| *code)
    }
}
