//! The read-modify-write operations of atomic messages.

use half::{bf16, f16};
use visakit_isa::semantics::AtomicOp;

/// The element of an atomic operation: 16, 32 or 64 bits.
pub(crate) trait AtomicElement: Copy {
    /// The value that replaces `old`.
    fn apply(op: AtomicOp, old: Self, a: Self, b: Self) -> Self;
    /// The message's result, given the values before and after.
    fn returned(op: AtomicOp, old: Self, new: Self) -> Self {
        if op == AtomicOp::PreDecrement {
            new
        } else {
            old
        }
    }
}

macro_rules! atomic_element {
    ($unsigned:ident, $signed:ident, |$op:ident, $old:ident, $a:ident, $b:ident| $float:expr) => {
        impl AtomicElement for $unsigned {
            #[inline]
            fn apply($op: AtomicOp, $old: Self, $a: Self, $b: Self) -> Self {
                match $op {
                    AtomicOp::Load => $old,
                    AtomicOp::Store => $a,
                    AtomicOp::Add => $old.wrapping_add($a),
                    AtomicOp::Sub => $old.wrapping_sub($a),
                    AtomicOp::Increment => $old.wrapping_add(1),
                    AtomicOp::Decrement | AtomicOp::PreDecrement => $old.wrapping_sub(1),
                    AtomicOp::UnsignedMin => $old.min($a),
                    AtomicOp::UnsignedMax => $old.max($a),
                    AtomicOp::SignedMin => $old.cast_signed().min($a.cast_signed()).cast_unsigned(),
                    AtomicOp::SignedMax => $old.cast_signed().max($a.cast_signed()).cast_unsigned(),
                    AtomicOp::CompareExchange => {
                        if $old == $a {
                            $b
                        } else {
                            $old
                        }
                    }
                    AtomicOp::And => $old & $a,
                    AtomicOp::Or => $old | $a,
                    AtomicOp::Xor => $old ^ $a,
                    _ => $float,
                }
            }
        }
    };
}

macro_rules! float_operation {
    ($op:ident, $old:ident, $a:ident, $b:ident, $convert:expr, $back:expr) => {{
        let (x, y) = ($convert($old), $convert($a));
        // Of two NaNs the first, as machine code has it: Rust leaves open which one a sum or a difference is.
        let other = if x.is_nan() { x } else { y };
        match $op {
            AtomicOp::FloatAdd | AtomicOp::BrainAdd => $back(x + other),
            AtomicOp::FloatSub | AtomicOp::BrainSub => $back(x - other),
            AtomicOp::FloatMin | AtomicOp::BrainMin => {
                if y.is_nan() || x <= y {
                    $old
                } else {
                    $a
                }
            }
            AtomicOp::FloatMax | AtomicOp::BrainMax => {
                if y.is_nan() || x >= y {
                    $old
                } else {
                    $a
                }
            }
            _ => {
                if x == y {
                    $b
                } else {
                    $old
                }
            }
        }
    }};
}

atomic_element!(u16, i16, |op, old, a, b| match op {
    _ if op.is_brain_float() =>
        float_operation!(op, old, a, b, |v| bf16::from_bits(v).to_f32(), |v| {
            bf16::from_f32(v).to_bits()
        }),
    // A sum of two halves is exact in single precision, or rounds the same way from it.
    _ => float_operation!(op, old, a, b, |v| f16::from_bits(v).to_f32(), |v| {
        f16::from_f32(v).to_bits()
    }),
});

atomic_element!(u32, i32, |op, old, a, b| float_operation!(
    op,
    old,
    a,
    b,
    f32::from_bits,
    f32::to_bits
));

atomic_element!(u64, i64, |op, old, a, b| float_operation!(
    op,
    old,
    a,
    b,
    f64::from_bits,
    f64::to_bits
));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        use AtomicOp::*;
        let apply = |op, m: u32, a, b| u32::apply(op, m, a, b);
        assert_eq!(apply(Load, 5, 9, 0), 5);
        assert_eq!(apply(Store, 5, 9, 0), 9);
        assert_eq!(apply(Add, u32::MAX, 2, 0), 1);
        assert_eq!(apply(Sub, 1, 2, 0), u32::MAX);
        assert_eq!(apply(Increment, u32::MAX, 0, 0), 0);
        assert_eq!(apply(Decrement, 0, 0, 0), u32::MAX);
        assert_eq!(apply(UnsignedMin, 1, u32::MAX, 0), 1);
        assert_eq!(apply(SignedMin, 1, u32::MAX, 0), u32::MAX);
        assert_eq!(apply(UnsignedMax, 1, u32::MAX, 0), u32::MAX);
        assert_eq!(apply(SignedMax, 1, u32::MAX, 0), 1);
        assert_eq!(apply(CompareExchange, 7, 7, 8), 8);
        assert_eq!(apply(CompareExchange, 6, 7, 8), 6);
        assert_eq!(apply(And, 6, 3, 0), 2);
        assert_eq!(apply(Or, 6, 3, 0), 7);
        assert_eq!(apply(Xor, 6, 3, 0), 5);
        assert_eq!(u32::returned(PreDecrement, 5, 4), 4);
        assert_eq!(u32::returned(Decrement, 5, 4), 5);
        assert_eq!(u16::apply(SignedMin, 1, 0xffff, 0), 0xffff);
        assert_eq!(u64::apply(SignedMax, 1, u64::MAX, 0), 1);
    }

    /// Of two NaNs the one in memory, which becomes quiet.
    #[test]
    fn two_nans() {
        let nans = [0x7fc0_0001u32, 0x7f80_0002, 0xffc0_0003, 0xff80_0004];
        let wide =
            |nan: u32| u64::from(nan >> 31) << 63 | 0x7ff << 52 | u64::from(nan & 0x7f_ffff) << 29;
        for old in nans {
            for a in nans {
                for op in [AtomicOp::FloatAdd, AtomicOp::FloatSub] {
                    assert_eq!(u32::apply(op, old, a, 0), old | 0x40_0000);
                    let quiet = wide(old | 0x40_0000);
                    assert_eq!(u64::apply(op, wide(old), wide(a), 0), quiet);
                }
            }
        }
    }

    #[test]
    fn floats() {
        use AtomicOp::*;
        let bits = f32::to_bits;
        let nan = bits(f32::NAN);
        assert_eq!(u32::apply(FloatAdd, bits(1.5), bits(2.25), 0), bits(3.75));
        assert_eq!(u32::apply(FloatSub, bits(1.5), bits(2.25), 0), bits(-0.75));
        assert_eq!(u32::apply(FloatMin, bits(1.5), bits(-2.0), 0), bits(-2.0));
        assert_eq!(u32::apply(FloatMax, bits(1.5), nan, 0), bits(1.5));
        assert_eq!(u32::apply(FloatMax, nan, bits(1.5), 0), bits(1.5));
        assert_eq!(u32::apply(FloatMin, nan, bits(1.5), 0), bits(1.5));
        // Equal as floats although the bits differ, and the other way round.
        assert_eq!(
            u32::apply(FloatCompareExchange, bits(-0.0), bits(0.0), 9),
            9
        );
        assert_eq!(u32::apply(FloatCompareExchange, nan, nan, 9), nan);
        let half = |v| f16::from_f32(v).to_bits();
        assert_eq!(u16::apply(FloatAdd, half(1.5), half(2.0), 0), half(3.5));
        let brain = |v| bf16::from_f32(v).to_bits();
        assert_eq!(u16::apply(BrainMax, brain(1.5), brain(2.0), 0), brain(2.0));
        assert_eq!(
            u64::apply(FloatAdd, 1f64.to_bits(), 2f64.to_bits(), 0),
            3f64.to_bits()
        );
    }
}
