//! Atomic operations.

use crate::float::{Format, Real};
use crate::state::{Halt, Result};
use crate::value::truncate;
use rustc_apfloat::Round;
use std::cmp::Ordering;
use visakit_isa::{Op, enums::atomic_op as code};

/// What an atomic message does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomic {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// One more.
    Inc,
    /// One less, giving the old value.
    Dec,
    /// One less, giving the new value.
    PreDec,
    /// Smaller unsigned number.
    UMin,
    /// Larger unsigned number.
    UMax,
    /// Smaller signed number.
    SMin,
    /// Larger signed number.
    SMax,
    /// The new value.
    Exchange,
    /// The new value if the old one is as expected.
    CompareExchange,
    /// And.
    And,
    /// Or.
    Or,
    /// Exclusive or.
    Xor,
    /// Nothing.
    Load,
    /// Float sum.
    FAdd,
    /// Float difference.
    FSub,
    /// Smaller float.
    FMin,
    /// Larger float.
    FMax,
    /// The new float if the old one is as expected.
    FCompareExchange,
}

impl Atomic {
    /// The operation of the byte of the older messages.
    ///
    /// # Errors
    /// Codes without meaning.
    pub fn of_code(byte: u8) -> Result<Self> {
        Ok(match byte & 0x1f {
            code::ADD => Self::Add,
            code::SUB => Self::Sub,
            code::INC => Self::Inc,
            code::DEC => Self::Dec,
            code::PREDEC => Self::PreDec,
            code::MIN => Self::UMin,
            code::MAX => Self::UMax,
            code::MINSINT => Self::SMin,
            code::MAXSINT => Self::SMax,
            code::XCHG => Self::Exchange,
            code::CMPXCHG => Self::CompareExchange,
            code::AND => Self::And,
            code::OR => Self::Or,
            code::XOR => Self::Xor,
            code::FMIN => Self::FMin,
            code::FMAX => Self::FMax,
            code::FCMPWR => Self::FCompareExchange,
            code::FADD => Self::FAdd,
            code::FSUB => Self::FSub,
            _ => return Err(Halt::Undefined("atomic operation")),
        })
    }

    /// The operation of an LSC message.
    #[must_use]
    pub fn of_lsc(op: Op) -> Option<Self> {
        Some(match op {
            Op::LSC_ATOMIC_IINC => Self::Inc,
            Op::LSC_ATOMIC_IDEC => Self::Dec,
            Op::LSC_ATOMIC_LOAD => Self::Load,
            Op::LSC_ATOMIC_STORE => Self::Exchange,
            Op::LSC_ATOMIC_IADD => Self::Add,
            Op::LSC_ATOMIC_ISUB => Self::Sub,
            Op::LSC_ATOMIC_SMIN => Self::SMin,
            Op::LSC_ATOMIC_SMAX => Self::SMax,
            Op::LSC_ATOMIC_UMIN => Self::UMin,
            Op::LSC_ATOMIC_UMAX => Self::UMax,
            Op::LSC_ATOMIC_ICAS => Self::CompareExchange,
            Op::LSC_ATOMIC_FADD => Self::FAdd,
            Op::LSC_ATOMIC_FSUB => Self::FSub,
            Op::LSC_ATOMIC_FMIN => Self::FMin,
            Op::LSC_ATOMIC_FMAX => Self::FMax,
            Op::LSC_ATOMIC_FCAS => Self::FCompareExchange,
            Op::LSC_ATOMIC_AND => Self::And,
            Op::LSC_ATOMIC_OR => Self::Or,
            Op::LSC_ATOMIC_XOR => Self::Xor,
            _ => return None,
        })
    }

    /// Whether it computes with floats.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::FAdd | Self::FSub | Self::FMin | Self::FMax | Self::FCompareExchange
        )
    }

    /// The value to be stored, and the one to be returned. `new` is the operand, or the new value of
    /// an exchange; `expected` is what an exchange compares with.
    ///
    /// # Errors
    /// Float operations on denormals and NaNs, and those that round.
    pub fn apply(self, old: u64, new: u64, expected: u64, size: usize) -> Result<(u64, u64)> {
        let bytes = u8::try_from(size).unwrap_or(8);
        let cut = |v: i128| truncate(v, bytes);
        let wide = |v: u64| i128::from(v);
        let sign = |v: u64| {
            let width = size * 8;
            let negative = v >> (width - 1) & 1 != 0;
            wide(v) - if negative { 1i128 << width } else { 0 }
        };
        let (a, b) = (wide(old), wide(new));
        if self.is_float() {
            return Ok((float(self, old, new, expected, size)?, old));
        }
        let stored = match self {
            Self::Add => cut(a + b),
            Self::Sub => cut(a - b),
            Self::Inc => cut(a + 1),
            Self::Dec => cut(a - 1),
            Self::PreDec => return Ok((cut(a - 1), cut(a - 1))),
            Self::UMin => old.min(new),
            Self::UMax => old.max(new),
            Self::SMin => cut(sign(old).min(sign(new))),
            Self::SMax => cut(sign(old).max(sign(new))),
            Self::And => old & new,
            Self::Or => old | new,
            Self::Xor => old ^ new,
            Self::Load => old,
            Self::CompareExchange if old != expected => old,
            _ => new,
        };
        Ok((stored, old))
    }
}

fn float(op: Atomic, old: u64, new: u64, expected: u64, size: usize) -> Result<u64> {
    let format = match size {
        2 => Format::Half,
        4 => Format::Single,
        _ => Format::Double,
    };
    let real = |bits| Real { format, bits };
    let (a, b, c) = (real(old), real(new), real(expected));
    if [a, b, c].iter().any(|v| v.is_nan() || v.is_denormal()) {
        return Err(Halt::Undefined("atomic operation on a NaN or a denormal"));
    }
    let round = Round::NearestTiesToEven;
    let result = match op {
        Atomic::FAdd => a.add(b, round),
        Atomic::FSub => a.add(b.neg(), round),
        Atomic::FCompareExchange => {
            if a.order(c) == Some(Ordering::Equal) {
                b
            } else {
                a
            }
        }
        _ => {
            let order = a.order(b);
            if a.is_zero() && b.is_zero() && a != b {
                return Err(Halt::Undefined("smaller of two zeroes"));
            }
            if (order == Some(Ordering::Less)) == (op == Atomic::FMin) {
                a
            } else {
                b
            }
        }
    };
    if result.is_nan() || result.is_denormal() {
        return Err(Halt::Undefined("atomic result is a NaN or a denormal"));
    }
    Ok(result.bits)
}
