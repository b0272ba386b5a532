//! Atomic operations.

use crate::float::{Format, Real};
use crate::state::{Halt, Result};
use crate::value::truncate;
use rustc_apfloat::Round;
use std::cmp::Ordering;
use visakit_isa::semantics::AtomicOp;

/// The value to store, and the one to return. `new` is the operand, or the new value of an
/// exchange; `expected` is what an exchange compares with.
///
/// # Errors
/// Float operations on denormals and NaNs, and those that round.
pub fn apply(op: AtomicOp, old: u64, new: u64, expected: u64, size: usize) -> Result<(u64, u64)> {
    let bytes = u8::try_from(size).unwrap_or(8);
    let cut = |v: i128| truncate(v, bytes);
    let wide = |v: u64| i128::from(v);
    let sign = |v: u64| {
        let width = size * 8;
        let negative = v >> (width - 1) & 1 != 0;
        wide(v) - if negative { 1i128 << width } else { 0 }
    };
    let (a, b) = (wide(old), wide(new));
    if op.is_brain_float() {
        return Err(Halt::Undefined("atomic operation on brain floats"));
    }
    if op.is_float() {
        return Ok((float(op, old, new, expected, size)?, old));
    }
    let stored = match op {
        AtomicOp::Add => cut(a + b),
        AtomicOp::Sub => cut(a - b),
        AtomicOp::Increment => cut(a + 1),
        AtomicOp::Decrement => cut(a - 1),
        AtomicOp::PreDecrement => return Ok((cut(a - 1), cut(a - 1))),
        AtomicOp::UnsignedMin => old.min(new),
        AtomicOp::UnsignedMax => old.max(new),
        AtomicOp::SignedMin => cut(sign(old).min(sign(new))),
        AtomicOp::SignedMax => cut(sign(old).max(sign(new))),
        AtomicOp::And => old & new,
        AtomicOp::Or => old | new,
        AtomicOp::Xor => old ^ new,
        AtomicOp::Load => old,
        AtomicOp::CompareExchange if old != expected => old,
        _ => new,
    };
    Ok((stored, old))
}

fn float(op: AtomicOp, old: u64, new: u64, expected: u64, size: usize) -> Result<u64> {
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
        AtomicOp::FloatAdd => a.add(b, round),
        AtomicOp::FloatSub => a.add(b.neg(), round),
        AtomicOp::FloatCompareExchange => {
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
            if (order == Some(Ordering::Less)) == (op == AtomicOp::FloatMin) {
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
