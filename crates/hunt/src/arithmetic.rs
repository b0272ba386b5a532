//! What operators and built-in functions compute, lane by lane, as the specification of OpenCL C defines it.

use crate::ast::{Atomic, Binary, Builtin, DEPTH, Guard, Matrix, Relation, Unary};
use crate::exact;
use crate::types::{Scalar, Type, Value};
use half::f16;

/// The float of these bits, exactly.
pub(crate) fn float(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::Half => f16::from_bits(low16(bits)).to_f64(),
        Scalar::Float => f32::from_bits(low32(bits)).into(),
        _ => f64::from_bits(bits),
    }
}

fn low16(bits: u64) -> u16 {
    u16::try_from(bits & 0xffff).unwrap_or(0)
}

fn low32(bits: u64) -> u32 {
    u32::try_from(bits & 0xffff_ffff).unwrap_or(0)
}

/// The bits of a float, rounded to nearest even.
#[allow(clippy::cast_possible_truncation, reason = "rounds to nearest even")]
pub(crate) fn rounded(scalar: Scalar, value: f64) -> u64 {
    match scalar {
        // To odd first, as a second rounding would not know of the first one.
        Scalar::Half => f16::from_f32(to_odd(value)).to_bits().into(),
        Scalar::Float => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// A float that rounds as a double does to fewer digits: if it is not exact, its last digit is 1.
#[allow(clippy::cast_possible_truncation, reason = "what is cut off is kept")]
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    if back == value || value.is_nan() {
        return near;
    }
    let away = back.abs() > value.abs();
    let bits = near.to_bits() - u32::from(away);
    f32::from_bits(bits | 1)
}

/// Whether the bits are NaN.
fn is_nan(scalar: Scalar, bits: u64) -> bool {
    scalar.is_float() && float(scalar, bits).is_nan()
}

/// The value, with 0 for NaN, whose bits are not defined.
pub(crate) fn number(value: Value) -> Value {
    Value::from_fn(value.ty, |lane| {
        let bits = value.lane(lane);
        if is_nan(value.ty.scalar, bits) {
            0
        } else {
            bits
        }
    })
}

/// An argument without what a function leaves open.
pub(crate) fn guarded(guard: Guard, value: Value) -> Value {
    let scalar = value.ty.scalar;
    if !scalar.is_float() {
        return value;
    }
    Value::from_fn(value.ty, |lane| {
        let bits = value.lane(lane);
        let x = float(scalar, bits);
        match guard {
            Guard::Number if x.is_nan() => 0,
            Guard::Finite if !x.is_finite() => 0,
            Guard::Divisor if !x.is_finite() || x == 0.0 => rounded(scalar, 1.0),
            Guard::Normal if !exact::is_normal(scalar, x) => 0,
            _ => bits,
        }
    })
}

fn float_binary(op: Binary, scalar: Scalar, a: u64, b: u64) -> u64 {
    // Sums and products of halves are exact in 64 bits, or rounded once: 53 bits are more than twice 11 and 24 and two.
    let (x, y) = (float(scalar, a), float(scalar, b));
    let result = match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        _ => x * y,
    };
    rounded(scalar, result)
}

/// An operator.
pub(crate) fn binary(op: Binary, guarded: bool, a: Value, b: Value) -> Value {
    let scalar = a.ty.scalar;
    Value::from_fn(a.ty, |lane| {
        if scalar.is_float() {
            return float_binary(op, scalar, a.lane(lane), b.lane(lane));
        }
        let (mut x, mut y) = (a.number(lane), b.number(lane));
        if guarded {
            if scalar.is_signed() {
                x >>= 1;
            }
            y |= 1;
        }
        let bits = scalar.bits();
        let shift = y & i128::from(bits - 1);
        scalar.wrap(match op {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x.wrapping_mul(y),
            Binary::Div => x.checked_div(y).unwrap_or(0),
            Binary::Rem => x.checked_rem(y).unwrap_or(0),
            Binary::And => x & y,
            Binary::Or => x | y,
            Binary::Xor => x ^ y,
            Binary::Shl => x << shift,
            Binary::Shr => x >> shift,
            Binary::Halves => (x >> 1) + (y >> 1),
            Binary::Highs => (x >> (bits / 2)) * (y >> (bits / 2)),
        })
    })
}

/// An operator.
pub(crate) fn unary(op: Unary, a: Value) -> Value {
    let scalar = a.ty.scalar;
    let sign = 1_u64 << (scalar.bits() - 1);
    Value::from_fn(a.ty, |lane| match op {
        Unary::Negate if scalar.is_float() => a.lane(lane) ^ sign,
        Unary::Negate => scalar.wrap(-a.number(lane)),
        Unary::Not => !a.lane(lane),
    })
}

/// A sum of products of bytes, and of half of a value, so that it does not overflow. `None` if there are too few bytes.
pub(crate) fn product(
    matrix: &Matrix,
    row: &[Value],
    column: Value,
    value: Value,
) -> Option<Value> {
    let bytes = |values: &[Value], signed: bool| -> Vec<i128> {
        let all = values.iter().flat_map(Value::to_bytes).take(DEPTH);
        let number = |byte: u8| match signed {
            true => i128::from(byte.cast_signed()),
            false => i128::from(byte),
        };
        all.map(number).collect()
    };
    let [first, second] = matrix.signed;
    let (row, column) = (bytes(row, first), bytes(&[column], second));
    let is_whole = row.len() == DEPTH && column.len() == DEPTH;
    let products = row.iter().zip(&column).map(|(a, b)| a * b);
    let sum = (value.number(0) >> 1) + products.sum::<i128>();
    is_whole.then(|| Value::splat(value.ty, value.ty.scalar.wrap(sum)))
}

/// A truth value: 1 of scalars, all bits of vectors.
pub(crate) fn truth(of: Type, mut lane: impl FnMut(usize) -> bool) -> Value {
    let ty = of.truth();
    let yes = if ty.is_vector() { u64::MAX } else { 1 };
    Value::from_fn(ty, |l| if lane(l) { yes } else { 0 })
}

/// A comparison.
pub(crate) fn compare(relation: Relation, a: Value, b: Value) -> Value {
    let scalar = a.ty.scalar;
    truth(a.ty, |lane| {
        let order = if scalar.is_float() {
            let (x, y) = (float(scalar, a.lane(lane)), float(scalar, b.lane(lane)));
            x.partial_cmp(&y)
        } else {
            Some(a.number(lane).cmp(&b.number(lane)))
        };
        match relation {
            Relation::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            Relation::LessEqual => order.is_some_and(std::cmp::Ordering::is_le),
            Relation::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            Relation::GreaterEqual => order.is_some_and(std::cmp::Ordering::is_ge),
            Relation::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
            Relation::NotEqual => order.is_none_or(std::cmp::Ordering::is_ne),
        }
    })
}

/// An integer, rounded to nearest even.
fn from_integer(to: Scalar, number: i128) -> u64 {
    let magnitude = number.unsigned_abs();
    let digits = match to {
        Scalar::Half => 11,
        Scalar::Float => 24,
        _ => 53,
    };
    // Exact, with what is cut off in the last bit, which decides ties.
    let length = 128 - magnitude.leading_zeros();
    let excess = length.saturating_sub(digits + 2);
    let kept = magnitude >> excess;
    let sticky = u128::from(kept << excess != magnitude);
    let kept = u64::try_from(kept | sticky).unwrap_or(u64::MAX);
    // At most 55 bits times a power of two: rounded once.
    let unsigned = double(kept, excess);
    rounded(to, if number < 0 { -unsigned } else { unsigned })
}

/// A number of at most 55 bits times a power of two, rounded to nearest even.
#[allow(clippy::cast_precision_loss, reason = "rounds to nearest even")]
fn double(kept: u64, exponent: u32) -> f64 {
    kept as f64 * f64::from(exponent).exp2()
}

/// A float to the nearest integer towards zero in the range of a type.
fn to_integer(to: Scalar, value: f64) -> u64 {
    if value.is_nan() {
        return 0;
    }
    let (least, most) = to.range();
    let value = value.trunc();
    // Bounds are powers of two or one less, which compares alike for whole numbers.
    #[allow(clippy::cast_possible_truncation, reason = "saturates")]
    let number = value as i128;
    to.wrap(number.clamp(least, most))
}

/// A conversion.
pub(crate) fn convert(to: Type, saturate: bool, a: Value) -> Value {
    let (from, scalar) = (a.ty.scalar, to.scalar);
    Value::from_fn(to, |lane| {
        let bits = a.lane(lane);
        match (from.is_float(), scalar.is_float()) {
            (true, true) => rounded(scalar, float(from, bits)),
            (true, false) => to_integer(scalar, float(from, bits)),
            (false, true) => from_integer(scalar, a.number(lane)),
            (false, false) if saturate => scalar.saturate(a.number(lane)),
            (false, false) => scalar.wrap(a.number(lane)),
        }
    })
}

/// The bits of a value as another type.
pub(crate) fn reinterpret(to: Type, a: Value) -> Value {
    Value::from_bytes(to, &number(a).to_bytes())
}

/// The upper half of a product.
fn high(scalar: Scalar, x: i128, y: i128) -> i128 {
    let bits = scalar.bits();
    if scalar == Scalar::Ulong {
        let wide = x.cast_unsigned().wrapping_mul(y.cast_unsigned());
        return (wide >> bits).cast_signed();
    }
    (x * y) >> bits
}

/// The number of lanes that a shuffle chooses from: three are in four.
fn chosen(mask: u64, lanes: usize) -> usize {
    let lanes = lanes.next_power_of_two();
    usize::try_from(mask).unwrap_or(0) & (lanes - 1)
}

/// A built-in function.
pub(crate) fn call(builtin: Builtin, ty: Type, arguments: &[Value]) -> Value {
    let zero = Value::splat(ty, 0);
    let argument = |n: usize| arguments.get(n).copied().unwrap_or(zero);
    let (a, b, c) = (argument(0), argument(1), argument(2));
    let of = a.ty.scalar;
    let bits = of.bits();
    if let Some(value) = exact::call(builtin, ty, [a, b, c]) {
        return value;
    }
    match builtin {
        Builtin::Any | Builtin::All => {
            let mut lanes = a.lanes().iter().map(|l| l >> (bits - 1) != 0);
            let yes = match builtin {
                Builtin::Any => lanes.any(|l| l),
                _ => lanes.all(|l| l),
            };
            return Value::splat(ty, u64::from(yes));
        }
        Builtin::Shuffle => {
            return Value::from_fn(ty, |l| a.lane(chosen(b.lane(l), a.ty.count())));
        }
        Builtin::Shuffle2 => {
            let lanes = a.ty.count();
            return Value::from_fn(ty, |l| {
                let at = chosen(c.lane(l), 2 * lanes);
                if at < lanes {
                    a.lane(at)
                } else {
                    b.lane(at - lanes)
                }
            });
        }
        _ => {}
    }
    Value::from_fn(ty, |lane| {
        let (p, q, r) = (a.lane(lane), b.lane(lane), c.lane(lane));
        if of.is_float() {
            return match builtin {
                Builtin::Select => select(c.ty, p, q, r),
                _ => of_floats(builtin, of, p, q, r),
            };
        }
        let (x, y, z) = (a.number(lane), b.number(lane), c.number(lane));
        match builtin {
            Builtin::Abs => of.wrap(x.abs()),
            Builtin::AbsDiff => of.wrap((x - y).abs()),
            Builtin::AddSat => of.saturate(x + y),
            Builtin::SubSat => of.saturate(x - y),
            Builtin::Hadd => of.wrap((x + y) >> 1),
            Builtin::Rhadd => of.wrap((x + y + 1) >> 1),
            Builtin::Clz => u64::from(p.leading_zeros() - (64 - bits)),
            Builtin::Popcount => u64::from(p.count_ones()),
            Builtin::MadHi => of.wrap(high(of, x, y).wrapping_add(z)),
            Builtin::MadSat => mad_sat(of, x, y, z),
            Builtin::MulHi => of.wrap(high(of, x, y)),
            Builtin::Min => of.wrap(x.min(y)),
            Builtin::Max => of.wrap(x.max(y)),
            Builtin::Rotate => {
                let by = u32::try_from(q & u64::from(bits - 1)).unwrap_or(0);
                if by == 0 {
                    p
                } else {
                    p << by | p >> (bits - by)
                }
            }
            Builtin::Upsample => ty.scalar.wrap((x << bits) | y),
            Builtin::Mul24 => ty.scalar.wrap((x & 0xff_ffff) * (y & 0xff_ffff)),
            Builtin::Bitselect => (p & !r) | (q & r),
            Builtin::Select => select(c.ty, p, q, r),
            _ => 0,
        }
    })
}

/// Products of 64 bits that do not fit saturate all the same.
fn mad_sat(of: Scalar, x: i128, y: i128, z: i128) -> u64 {
    match x.checked_mul(y).and_then(|product| product.checked_add(z)) {
        Some(sum) => of.saturate(sum),
        None => of.saturate(of.range().1),
    }
}

/// The second one if the condition says so: scalars by being not 0, vectors by their sign.
fn select(condition: Type, a: u64, b: u64, c: u64) -> u64 {
    let yes = match condition.is_vector() {
        true => c >> (condition.scalar.bits() - 1) != 0,
        false => c != 0,
    };
    if yes { b } else { a }
}

fn of_floats(builtin: Builtin, of: Scalar, p: u64, q: u64, r: u64) -> u64 {
    match (builtin, of) {
        (Builtin::Bitselect, _) => return (p & !r) | (q & r),
        (Builtin::Fma, Scalar::Float) => {
            let [x, y, z] = [p, q, r].map(|bits| f32::from_bits(low32(bits)));
            return x.mul_add(y, z).to_bits().into();
        }
        (Builtin::Fma, Scalar::Half) => return exact::fma(p, q, r),
        _ => {}
    }
    let [x, y, z] = [p, q, r].map(|bits| float(of, bits));
    let result = match builtin {
        Builtin::Fma => x.mul_add(y, z),
        Builtin::Fabs => x.abs(),
        Builtin::Floor => x.floor(),
        Builtin::Ceil => x.ceil(),
        Builtin::Trunc => x.trunc(),
        Builtin::Rint => x.round_ties_even(),
        _ => x,
    };
    rounded(of, result)
}

/// An atomic operation on an integer.
pub(crate) fn atomic(op: Atomic, scalar: Scalar, old: u64, value: u64) -> u64 {
    let (x, y) = (scalar.number(old), scalar.number(value));
    scalar.wrap(match op {
        Atomic::Add => x + y,
        Atomic::Sub => x - y,
        Atomic::And => x & y,
        Atomic::Or => x | y,
        Atomic::Xor => x ^ y,
        Atomic::Min => x.min(y),
        Atomic::Max => x.max(y),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(scalar: Scalar, number: i128) -> Value {
        Value::splat(Type::scalar(scalar), scalar.wrap(number))
    }

    fn called(builtin: Builtin, ty: Scalar, arguments: &[Value]) -> i128 {
        call(builtin, Type::scalar(ty), arguments).number(0)
    }

    /// Examples from the text of the specification, and edges.
    #[test]
    fn built_in_functions() {
        use Scalar::{Char, Int, Long, Short, Uchar, Uint, Ulong, Ushort};
        let c = |n| int(Char, n);
        assert_eq!(called(Builtin::AbsDiff, Uchar, &[c(-128), c(127)]), 255);
        assert_eq!(called(Builtin::Abs, Uchar, &[c(-128)]), 128);
        assert_eq!(called(Builtin::Hadd, Char, &[c(-1), c(0)]), -1);
        assert_eq!(called(Builtin::Rhadd, Char, &[c(-1), c(0)]), 0);
        assert_eq!(called(Builtin::Clz, Char, &[c(1)]), 7);
        assert_eq!(called(Builtin::Clz, Char, &[c(0)]), 8);
        assert_eq!(called(Builtin::Popcount, Char, &[c(-1)]), 8);
        assert_eq!(called(Builtin::Rotate, Char, &[c(-127), c(9)]), 3);
        assert_eq!(called(Builtin::MadSat, Char, &[c(100), c(-2), c(127)]), -73);
        let long = |n| int(Long, n);
        let (least, most) = Long.range();
        assert_eq!(
            called(Builtin::MulHi, Long, &[long(least), long(least)]),
            1 << 62
        );
        assert_eq!(
            called(Builtin::MadHi, Long, &[long(-1), long(1), long(5)]),
            4
        );
        let big = int(Ulong, Ulong.range().1);
        assert_eq!(
            called(Builtin::MulHi, Ulong, &[big, big]),
            Ulong.range().1 - 1
        );
        assert_eq!(
            called(Builtin::MadSat, Ulong, &[big, big, big]),
            Ulong.range().1
        );
        assert_eq!(
            called(Builtin::SubSat, Long, &[long(least), long(most)]),
            least
        );
        let upsampled = called(Builtin::Upsample, Short, &[c(-2), int(Uchar, 3)]);
        assert_eq!(upsampled, -509);
        assert_eq!(
            called(
                Builtin::Select,
                Int,
                &[int(Int, 4), int(Int, 5), int(Int, 2)]
            ),
            5
        );
        let u = |n| int(Uint, n);
        assert_eq!(called(Builtin::Mul24, Uint, &[u(0xff00_0003), u(5)]), 15);
        assert_eq!(
            called(
                Builtin::Bitselect,
                Ushort,
                &[int(Ushort, 0xff00), int(Ushort, 0x0ff0), int(Ushort, 0xff)]
            ),
            0xfff0
        );
    }

    /// Conversions are rounded as the host does it.
    #[test]
    #[allow(clippy::cast_precision_loss, reason = "that is what is compared")]
    fn conversions() {
        let mut choices = crate::choices::Choices::new(1);
        for _ in 0..20_000 {
            let bits = choices.bits() >> (choices.bits() % 64);
            let (ulong, long) = (bits, bits.cast_signed());
            let to = |scalar, from: Scalar| {
                let value = Value::splat(Type::scalar(from), bits);
                convert(Type::scalar(scalar), false, value).lane(0)
            };
            let float = |f: f32| u64::from(f.to_bits());
            assert_eq!(to(Scalar::Float, Scalar::Ulong), float(ulong as f32));
            assert_eq!(to(Scalar::Float, Scalar::Long), float(long as f32));
            assert_eq!(to(Scalar::Double, Scalar::Ulong), (ulong as f64).to_bits());
            assert_eq!(to(Scalar::Double, Scalar::Long), (long as f64).to_bits());
            let double = f64::from_bits(bits);
            #[allow(clippy::cast_possible_truncation, reason = "saturates")]
            let (int, narrow) = (double as i32, double as f32);
            assert_eq!(
                to(Scalar::Int, Scalar::Double),
                Scalar::Int.wrap(int.into())
            );
            if !double.is_nan() {
                assert_eq!(to(Scalar::Float, Scalar::Double), float(narrow));
            }
        }
    }

    /// Doubles are rounded once to halves: a tie is none if anything is behind it.
    #[test]
    fn doubles_to_halves() {
        let half = |value: f64| rounded(Scalar::Half, value);
        assert_eq!(half(6490.0), half(6488.0));
        assert_eq!(half(6490.0 + 1e-9), half(6492.0));
        assert_eq!(half(-6490.0 - 1e-9), half(-6492.0));
        assert_eq!(half(6490.0 - 1e-9), half(6488.0));
        assert_eq!(half(6486.0 - 1e-9), half(6484.0));
        assert_eq!(half(1e300), half(f64::INFINITY));
        assert_eq!(half(-1e-300), 0x8000);
        assert_eq!(half(2_f64.powi(-25)), 0);
        assert_eq!(half(2_f64.powi(-25) * (1.0 + 1e-12)), 1);
        assert_eq!(half(65520.0 - 1e-6), 0x7bff);
    }

    /// Sums and products of floats are those of the host.
    #[test]
    fn floats() {
        let mut choices = crate::choices::Choices::new(2);
        let ty = Type::scalar(Scalar::Float);
        for _ in 0..20_000 {
            let [a, b] = [(); 2].map(|()| choices.bits() & 0xffff_ffff);
            let [x, y] = [a, b].map(|bits| f32::from_bits(low32(bits)));
            for (op, right) in [
                (Binary::Add, x + y),
                (Binary::Sub, x - y),
                (Binary::Mul, x * y),
            ] {
                let got = binary(op, false, Value::splat(ty, a), Value::splat(ty, b));
                let got = f32::from_bits(low32(got.lane(0)));
                assert!(got.to_bits() == right.to_bits() || got.is_nan() && right.is_nan());
            }
        }
    }
}
