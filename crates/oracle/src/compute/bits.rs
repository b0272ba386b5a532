//! Operations on bits, bytes and narrow floats.

use super::{OPEN, Setting, integers, one, pair, signs_known};
use crate::float::{Format, Real};
use crate::operand::Element;
use crate::state::{Halt, Result};
use crate::value::{Outcome, Precision, Value, format_of, is_signed, range, truncate};
use rustc_apfloat::Round;
use visakit_isa::DataType;

/// Logic by bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bits {
    And,
    Or,
    Xor,
    Not,
    /// Of three sources by the table of results in the instruction.
    Table,
}

/// Shifts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shift {
    Left,
    Right,
    /// To the right, with copies of the sign.
    WithSign,
}

/// What is counted among the bits of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Count {
    Ones,
    LeadingZeroes,
    Lowest,
    Highest,
    Reversed,
}

pub(crate) fn bits(op: Bits, sources: &[Element], setting: Setting) -> Result<Outcome> {
    let same = |a: &Element, b: &Element| a.ty == b.ty;
    let float = sources.iter().any(|s| matches!(s.value, Value::Real(_)));
    let widest = sources.iter().map(|s| s.ty.size()).max().unwrap_or(0);
    let narrowest = sources.iter().map(|s| s.ty.size()).min().unwrap_or(0);
    let complemented = matches!(op, Bits::Not | Bits::Table) || sources.iter().any(|s| s.modified);
    if float || format_of(setting.dst).is_some() {
        // Raw bits, if nothing has to be converted.
        if widest != narrowest || widest != setting.dst.size() || sources.iter().any(|s| s.modified)
        {
            return Err(Halt::Undefined("logic on floats of several sizes"));
        }
    } else if complemented && (widest != narrowest || setting.dst.size() > narrowest) {
        return Err(Halt::Undefined("complement of a narrower operand"));
    } else if setting.dst.size() > widest && !sources.windows(2).all(|w| same(&w[0], &w[1])) {
        return Err(Halt::Undefined(
            "mixed types below the size of the destination",
        ));
    }
    let values: Vec<i128> = sources
        .iter()
        .map(|s| match s.value {
            Value::Integer(value) => value,
            Value::Real(_) => i128::from(s.bits),
        })
        .collect();
    let result = match (op, values.as_slice()) {
        (Bits::Not, [a]) => !a,
        (Bits::And, [a, b]) => a & b,
        (Bits::Or, [a, b]) => a | b,
        (Bits::Xor, [a, b]) => a ^ b,
        (Bits::Table, [a, b, c]) => {
            let mut result = 0i128;
            for bit in 0..u32::from(widest) * 8 {
                let index = (a >> bit & 1) + (b >> bit & 1) * 2 + (c >> bit & 1) * 4;
                result |= i128::from(setting.control >> index & 1) << bit;
            }
            result
        }
        _ => return Err(Halt::Unknown("a source is missing")),
    };
    if let Some(format) = format_of(setting.dst) {
        let bits = truncate(result, setting.dst.size());
        return Ok(Outcome::exact(Value::Real(Real { format, bits })));
    }
    Ok(result.into())
}

pub(crate) fn shift(op: Shift, sources: &[Element], setting: Setting) -> Result<Outcome> {
    let v = signs_known(sources)?;
    let (a, b) = pair(&v)?;
    let (source, amount) = pair(sources)?;
    let wide = setting.dst.size() == 8 || source.ty.size() == 8;
    if amount.ty.size() == 8 && !wide {
        return Err(Halt::Undefined("64-bit count of a 32-bit shift"));
    }
    let (low, high) = range(source.ty);
    if source.modified && !(low..=high).contains(&a) {
        // The negated smallest number: in which width it is shifted is not said.
        return OPEN;
    }
    let count = b & if wide { 63 } else { 31 };
    let result = match op {
        Shift::Left => {
            let result = a << count;
            let limit = if wide { 64 } else { 33 };
            if setting.saturate && result.abs() >= 1 << (limit - 1) {
                return OPEN;
            }
            result
        }
        Shift::Right => {
            if source.modified {
                return Err(Halt::Undefined("logical shift of a modified operand"));
            }
            if setting.saturate && is_signed(source.ty) {
                return OPEN;
            }
            i128::from(source.bits) >> count
        }
        Shift::WithSign => {
            if !is_signed(source.ty) && a > range(source.ty).1 / 2 {
                return OPEN;
            }
            a >> count
        }
    };
    Ok(result.into())
}

pub(crate) fn rotate(to_left: bool, sources: &[Element], setting: Setting) -> Result<Outcome> {
    let v = signs_known(sources)?;
    let (_, b) = pair(&v)?;
    let (source, _) = pair(sources)?;
    if source.ty.size() != setting.dst.size() {
        return Err(Halt::Undefined("rotation between sizes"));
    }
    let width = i128::from(source.ty.size()) * 8;
    let count = b & (width - 1);
    let left = if to_left {
        count
    } else {
        (width - count) % width
    };
    let value = i128::from(source.bits);
    Ok((value << left | value >> (width - left)).into())
}

pub(crate) fn count(op: Count, sources: &[Element]) -> Result<Outcome> {
    let source = one(sources)?;
    let Value::Integer(value) = source.value else {
        return Err(Halt::Undefined("bits of a float"));
    };
    let word = truncate(value, 4);
    let bit = |index: u32| word >> index & 1 != 0;
    let none = i128::from(u32::MAX);
    let from_top = |wanted: bool| (0..32).find(|i| bit(31 - i) == wanted).map(i128::from);
    Ok(match op {
        Count::Ones => i128::from(source.bits.count_ones()),
        Count::LeadingZeroes => from_top(true).unwrap_or(32),
        Count::Lowest => (0..32).find(|i| bit(*i)).map_or(none, i128::from),
        Count::Highest if is_signed(source.ty) && value < 0 => from_top(false).unwrap_or(none),
        Count::Highest => from_top(true).unwrap_or(none),
        Count::Reversed => (0..32).map(|i| i128::from(bit(i)) << (31 - i)).sum(),
    }
    .into())
}

pub(crate) fn extract(sources: &[Element], setting: Setting) -> Result<Outcome> {
    let v = integers(sources)?;
    let [width, offset, value] = v[..] else {
        return Err(Halt::Unknown("a source is missing"));
    };
    let (width, offset) = (width & 31, offset & 31);
    let signed = is_signed(setting.dst);
    let source = sources.get(2).map_or(setting.dst, |s| s.ty);
    if is_signed(source) != signed || (signed && width + offset > 32) {
        return OPEN;
    }
    let field = (value >> offset) & ((1 << width) - 1);
    if signed && width > 0 && field >> (width - 1) & 1 != 0 {
        return Ok((field - (1 << width)).into());
    }
    Ok(field.into())
}

pub(crate) fn insert(sources: &[Element]) -> Result<Outcome> {
    let v = integers(sources)?;
    let [width, offset, value, base] = v[..] else {
        return Err(Halt::Unknown("a source is missing"));
    };
    let (width, offset) = (width & 31, offset & 31);
    let mask = ((1i128 << width) - 1) << offset;
    Ok((value << offset & mask | base & !mask).into())
}

pub(crate) fn dot_bytes(sources: &[Element]) -> Result<Outcome> {
    let [acc, x, y] = sources else {
        return Err(Halt::Unknown("a source is missing"));
    };
    let v = integers(sources)?;
    let byte = |e: &Element, index: u32| {
        let byte = i128::from(e.bits >> (8 * index) & 0xff);
        if is_signed(e.ty) && byte > 127 {
            byte - 256
        } else {
            byte
        }
    };
    if acc.modified || x.modified || y.modified {
        return Err(Halt::Undefined("modifier"));
    }
    let sum: i128 = (0..4).map(|i| byte(x, i) * byte(y, i)).sum();
    Ok((v.first().copied().unwrap_or(0) + sum).into())
}

pub(crate) fn raw(bits: u64, format: Format, ty: DataType) -> Outcome {
    let value = Real { format, bits };
    let precision = if value.is_nan() {
        Precision::AnyNan(format)
    } else {
        Precision::Exact
    };
    let value = match format_of(ty) {
        Some(format) => Value::Real(Real { format, bits }),
        None => Value::Integer(bits.into()),
    };
    Outcome::with(value, precision)
}

/// The types in which `fcvt` has the floats that came with 4.2.
fn in_bits(ty: DataType) -> DataType {
    match ty {
        DataType::Bf8 => DataType::Ub,
        DataType::Hf8 => DataType::B,
        DataType::Tf32 => DataType::Ud,
        _ => ty,
    }
}

/// A move from or to a float that came with 4.2.
pub(crate) fn small_move(sources: &[Element], setting: Setting) -> Result<Outcome> {
    let source = one(sources)?;
    if source.modified || setting.saturate {
        return Err(Halt::Undefined("modifiers of moves of small floats"));
    }
    if source.ty == setting.dst {
        return Ok(i128::from(source.bits).into());
    }
    if !source.ty.is_text_only() && !matches!(source.ty, DataType::F | DataType::Hf) {
        return Err(Halt::Undefined("types of mov"));
    }
    narrow(sources, setting)
}

pub(crate) fn narrow(sources: &[Element], setting: Setting) -> Result<Outcome> {
    let source = one(sources)?;
    let nearest = Round::NearestTiesToEven;
    let (from, to) = (in_bits(source.ty), in_bits(setting.dst));
    Ok(match (from, to, source.value) {
        (DataType::Hf, DataType::Ub, Value::Real(value)) => raw(
            value.to(Format::Quarter, nearest).bits,
            Format::Quarter,
            setting.dst,
        ),
        (DataType::Hf, DataType::B, Value::Real(value)) => raw(
            value.to(Format::FineQuarter, nearest).bits,
            Format::FineQuarter,
            setting.dst,
        ),
        (DataType::B, DataType::Hf, _) => {
            let value = Real {
                format: Format::FineQuarter,
                bits: source.bits,
            };
            raw(
                value.to(Format::Half, nearest).bits,
                Format::Half,
                setting.dst,
            )
        }
        (DataType::Ub, DataType::Hf, _) => raw(source.bits << 8, Format::Half, setting.dst),
        (DataType::F, DataType::Ud, Value::Real(value)) => {
            if value.is_denormal() {
                return Ok(raw(value.flushed().bits, Format::Single, setting.dst));
            }
            if value.is_nan() || value.is_infinite() {
                return Ok(raw(value.bits & !0x1fff, Format::Single, setting.dst)).map(|o| {
                    if value.is_nan() {
                        Outcome::with(o.value, Precision::AnyNan(Format::Single))
                    } else {
                        o
                    }
                });
            }
            // Ten bits of mantissa remain.
            let odd = value.bits >> 13 & 1;
            let rounded = (value.bits + 0xfff + odd) & !0x1fff;
            raw(rounded, Format::Single, setting.dst)
        }
        (DataType::Ud, DataType::F, _) => raw(source.bits, Format::Single, setting.dst),
        _ => return Err(Halt::Undefined("types of fcvt")),
    })
}

pub(crate) fn stochastic(sources: &[Element], setting: Setting) -> Result<Outcome> {
    let (source, random) = pair(sources)?;
    let Value::Real(value) = source.value else {
        return Err(Halt::Undefined("types of srnd"));
    };
    let (bits, to) = match (source.ty, random.ty, setting.dst) {
        (DataType::Hf, DataType::Ub, DataType::Ub) => (8, Format::Quarter),
        (DataType::F, DataType::Uw, DataType::Hf) => (13, Format::Half),
        _ => return Err(Halt::Undefined("types of srnd")),
    };
    if value.is_nan() || value.is_infinite() || value.is_zero() {
        return Ok(raw(value.to(to, Round::TowardZero).bits, to, setting.dst));
    }
    let sum = Real {
        format: value.format,
        bits: value.bits + (random.bits & ((1 << bits) - 1)),
    };
    let result = sum.to(to, Round::TowardZero);
    let exact = result.to(sum.format, Round::TowardZero).bits >> bits == sum.bits >> bits;
    if sum.is_infinite() || !exact {
        // Beyond the largest number, or among the denormals of `hf`, where the bits do not line up.
        return OPEN;
    }
    Ok(raw(result.bits, to, setting.dst))
}
