//! The results of one lane, operation by operation.
//!
//! Integer operations compute with the mathematical values of their sources and convert the result
//! to the type of the destination. Floating-point operations compute in the widest format of their
//! sources and convert the result.

pub(crate) mod bits;

use crate::float::{Format, Real};
use crate::operand::Element;
use crate::state::{Halt, Result};
use crate::value::{Mode, Outcome, Precision, Value, format_of, range};
use rustc_apfloat::Round;
use std::cmp::Ordering;
use visakit_isa::{DataType, enums};

/// What a lane's operation depends on besides its sources.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Type of the destination.
    pub dst: DataType,
    /// Whether the destination saturates.
    pub saturate: bool,
    /// Floating-point mode.
    pub mode: Mode,
    /// A number of the instruction: relation, minimum or maximum, function of three bits.
    pub control: u8,
}

/// Sums and products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sum {
    /// `a + b`.
    Add,
    /// `a * b`.
    Mul,
    /// `a * b + c`.
    Mad,
}

pub(crate) fn sum_of_three(sources: &[Element], _: Setting) -> Result<Outcome> {
    integers(sources).map(|v| v.iter().sum::<i128>().into())
}

pub(crate) fn average(sources: &[Element], _: Setting) -> Result<Outcome> {
    let v = signs_known(sources)?;
    let (a, b) = pair(&v)?;
    Ok(((a + b + 1) >> 1).into())
}

pub(crate) fn quotient(sources: &[Element], setting: Setting) -> Result<Outcome> {
    if integral(sources) {
        return divide(sources, |a, b| a / b);
    }
    exact_quotient(sources, setting)
}

pub(crate) fn exact_quotient(sources: &[Element], setting: Setting) -> Result<Outcome> {
    real_pair(sources, setting, |a, b| {
        rounded_to_nearest(setting.mode, || a.div(b, Round::NearestTiesToEven).into())
    })
}

pub(crate) fn inverse(sources: &[Element], setting: Setting) -> Result<Outcome> {
    real_one(sources, setting, |a| {
        rounded_to_nearest(setting.mode, || {
            a.format.one().div(a, Round::NearestTiesToEven).into()
        })
    })
}

pub(crate) fn root(sources: &[Element], setting: Setting) -> Result<Outcome> {
    real_one(sources, setting, |a| {
        rounded_to_nearest(setting.mode, || square_root(a))
    })
}

const OPEN: Result<Outcome> = Ok(Outcome::undefined());

pub(crate) fn one(sources: &[Element]) -> Result<Element> {
    sources
        .first()
        .copied()
        .ok_or(Halt::Unknown("a source is missing"))
}

fn pair<T: Copy>(values: &[T]) -> Result<(T, T)> {
    match values {
        [a, b, ..] => Ok((*a, *b)),
        _ => Err(Halt::Unknown("a source is missing")),
    }
}

fn integral(sources: &[Element]) -> bool {
    sources.iter().all(|s| matches!(s.value, Value::Integer(_)))
}

fn integers(sources: &[Element]) -> Result<Vec<i128>> {
    sources
        .iter()
        .map(|s| match s.value {
            Value::Integer(value) => Ok(value),
            Value::Real(_) => Err(Halt::Undefined("integer and float mixed")),
        })
        .collect()
}

/// The integers of an operation whose result depends on the sign.
fn signs_known(sources: &[Element]) -> Result<Vec<i128>> {
    if sources.iter().any(|s| s.negated_unsigned) {
        return Err(Halt::Undefined("sign of a negated unsigned integer"));
    }
    integers(sources)
}

fn reals(sources: &[Element]) -> Result<Vec<Real>> {
    let mut all = Vec::with_capacity(sources.len());
    for source in sources {
        match source.value {
            Value::Real(value) => all.push(value),
            Value::Integer(_) => return Err(Halt::Undefined("integer and float mixed")),
        }
    }
    let widest = execution_format(&all)?;
    // Widening is exact.
    Ok(all
        .into_iter()
        .map(|v| v.to(widest, Round::NearestTiesToEven))
        .collect())
}

/// The format that an operation computes in.
fn execution_format(values: &[Real]) -> Result<Format> {
    let has = |format| values.iter().any(|v| v.format == format);
    if has(Format::Double) {
        if values.iter().all(|v| v.format == Format::Double) {
            return Ok(Format::Double);
        }
        return Err(Halt::Undefined("df and another float mixed"));
    }
    if has(Format::Brain) && has(Format::Half) {
        return Err(Halt::Undefined("bf and hf mixed"));
    }
    if has(Format::Single) || has(Format::Brain) {
        Ok(Format::Single)
    } else {
        Ok(Format::Half)
    }
}

/// Whether a result of an execution format may be converted to a destination type.
fn goes_to(format: Format, dst: DataType) -> bool {
    format_of(dst).is_some_and(|to| {
        to == format || (format == Format::Single && matches!(to, Format::Half | Format::Brain))
    })
}

pub(crate) fn mov(source: Element, setting: Setting) -> Outcome {
    if let Value::Real(value) = source.value {
        let raw = source.ty == setting.dst && !source.modified && !setting.saturate;
        if !raw && flushes(value, setting.mode) {
            return Outcome::undefined();
        }
        // A plain copy of the same type keeps every bit, those of a NaN too.
        return Outcome::exact(source.value);
    }
    if source.negated_unsigned && setting.dst.size() > source.ty.size() && !setting.saturate {
        return Outcome::undefined();
    }
    if source.negated_unsigned && format_of(setting.dst).is_some() {
        return Outcome::undefined();
    }
    Outcome::exact(source.value)
}

pub(crate) fn arithmetic(op: Sum, sources: &[Element], setting: Setting) -> Result<Outcome> {
    if integral(sources) {
        let v = integers(sources)?;
        let (a, b) = pair(&v)?;
        if format_of(setting.dst).is_some() {
            return Err(Halt::Undefined("float destination of an integer operation"));
        }
        if setting.saturate && op != Sum::Add {
            return Err(Halt::Undefined("saturation of an integer product"));
        }
        let wide = sources.iter().any(|s| s.ty.size() == 8);
        if setting.dst.size() == 8 && !wide && op != Sum::Mul {
            return Err(Halt::Undefined("64-bit destination of 32-bit operation"));
        }
        return Ok(match op {
            Sum::Add => a + b,
            Sum::Mul => a.wrapping_mul(b),
            Sum::Mad => {
                let c = v.get(2).copied().ok_or(Halt::Unknown("source 2"))?;
                a.wrapping_mul(b).wrapping_add(c)
            }
        }
        .into());
    }
    let mode = setting.mode;
    let v: Vec<Real> = reals(sources)?
        .into_iter()
        .map(|x| mode.settle(x))
        .collect();
    let (a, b) = pair(&v)?;
    if !goes_to(a.format, setting.dst) {
        return Err(Halt::Undefined("destination type of a float operation"));
    }
    let brain = sources.iter().any(|s| s.ty == DataType::Bf) || setting.dst == DataType::Bf;
    if brain && !mode.keep_single {
        return OPEN;
    }
    let result = match op {
        Sum::Add => a.add(b, mode.round),
        Sum::Mul => a.mul(b, mode.round),
        Sum::Mad => {
            let c = v.get(2).copied().ok_or(Halt::Unknown("source 2"))?;
            a.mul_add(b, c, mode.round)
        }
    };
    if let Some(to) = format_of(setting.dst).filter(|to| *to != a.format) {
        // It is unspecified whether the sum is rounded before it is converted.
        let wide = |r: Real| r.to(Format::Double, Round::NearestTiesToEven);
        let c = v.get(2).copied().unwrap_or(a);
        let rounded = |round| match op {
            Sum::Add => wide(a).add(wide(b), round),
            Sum::Mul => wide(a).mul(wide(b), round),
            Sum::Mad => wide(a).mul_add(wide(b), wide(c), round),
        };
        let mut once = rounded(Round::TowardZero);
        if rounded(Round::TowardPositive) != rounded(Round::TowardNegative) {
            // The last bit represents everything that was cut off.
            once.bits |= 1;
        }
        if once.to(to, mode.round) != result.to(to, mode.round) {
            return OPEN;
        }
    }
    if !mode.keeps(result.format) && at_the_edge(result) {
        // Rounded up to the smallest normal number, or exactly there: flushed or not?
        return OPEN;
    }
    Ok(mode.settle(result).into())
}

/// Whether a number is the smallest normal one of its format.
fn at_the_edge(value: Real) -> bool {
    value.abs().bits == 1 << value.format.mantissa()
}

pub(crate) fn divide(sources: &[Element], f: impl Fn(i128, i128) -> i128) -> Result<Outcome> {
    let v = signs_known(sources)?;
    let (a, b) = pair(&v)?;
    if b == 0 {
        return OPEN;
    }
    let result = f(a, b);
    let fits = |s: &Element| {
        let (low, high) = range(s.ty);
        (low..=high).contains(&result)
    };
    if !sources.iter().any(fits) {
        // The negated smallest number, in a wider destination.
        return OPEN;
    }
    Ok(result.into())
}

pub(crate) fn mulh(sources: &[Element], _: Setting) -> Result<Outcome> {
    let v = signs_known(sources)?;
    let (a, b) = pair(&v)?;
    let (x, y) = pair(sources)?;
    if x.ty != y.ty {
        return Err(Halt::Undefined("types of mulh differ"));
    }
    Ok(((a * b) >> 32).into())
}

fn real_one(sources: &[Element], setting: Setting, f: impl Fn(Real) -> Outcome) -> Result<Outcome> {
    let v = reals(sources)?;
    let a = *v.first().ok_or(Halt::Unknown("source 0"))?;
    if sources.iter().any(|s| s.ty == DataType::Bf) || !goes_to(a.format, setting.dst) {
        return Err(Halt::Undefined("types"));
    }
    Ok(settled(setting.mode, &v, || f(a)))
}

fn real_pair(
    sources: &[Element],
    setting: Setting,
    f: impl Fn(Real, Real) -> Outcome,
) -> Result<Outcome> {
    let v = reals(sources)?;
    let (a, b) = pair(&v)?;
    if sources.iter().any(|s| s.ty == DataType::Bf) || !goes_to(a.format, setting.dst) {
        return Err(Halt::Undefined("types"));
    }
    Ok(settled(setting.mode, &v, || f(a, b)))
}

/// Whether a mode flushes a number, if it flushes at all.
#[must_use]
pub fn flushes(value: Real, mode: Mode) -> bool {
    value.is_denormal() && !mode.keeps(value.format)
}

/// The result of an operation for which it is unspecified how denormals are handled that the mode
/// flushes.
fn settled(mode: Mode, sources: &[Real], f: impl FnOnce() -> Outcome) -> Outcome {
    let flushes = |v: Real| flushes(v, mode);
    if sources.iter().any(|v| flushes(*v)) {
        return Outcome::undefined();
    }
    let outcome = f();
    match outcome.value {
        Value::Real(v) if flushes(v) || (!mode.keeps(v.format) && at_the_edge(v)) => {
            Outcome::undefined()
        }
        _ => outcome,
    }
}

/// Only sums, products and conversions use the mode's rounding.
fn rounded_to_nearest(mode: Mode, f: impl FnOnce() -> Outcome) -> Outcome {
    if mode.round == Round::NearestTiesToEven {
        f()
    } else {
        Outcome::undefined()
    }
}

fn square_root(a: Real) -> Outcome {
    // The root in binary64 is correctly rounded, and rounding it again to half of the digits or
    // fewer is the same as rounding once.
    Real::from_f64(a.to_f64().sqrt(), a.format).into()
}

/// A function without an exact definition.
pub(crate) fn function(
    sources: &[Element],
    setting: Setting,
    f: fn(f64) -> f64,
) -> Result<Outcome> {
    real_one(sources, setting, |a| inexact(setting.mode, a, f))
}

fn inexact(mode: Mode, a: Real, f: fn(f64) -> f64) -> Outcome {
    if a.format == Format::Double {
        return Outcome::undefined();
    }
    approximate(mode, f(a.to_f64()), a.format)
}

fn approximate(mode: Mode, result: f64, format: Format) -> Outcome {
    if mode.round != Round::NearestTiesToEven {
        return Outcome::undefined();
    }
    let value = Real::from_f64(result, format);
    if value.is_nan() {
        return value.into();
    }
    Outcome::with(Value::Real(value), Precision::Ulps(2))
}

pub(crate) fn wave(sources: &[Element], setting: Setting, f: fn(f64) -> f64) -> Result<Outcome> {
    real_one(sources, setting, |a| {
        // Hardware reduces large arguments inexactly.
        if !a.is_nan() && !a.is_infinite() && a.to_f64().abs() > 1e5 {
            return Outcome::undefined();
        }
        inexact(setting.mode, a, f)
    })
}

pub(crate) fn power(sources: &[Element], setting: Setting) -> Result<Outcome> {
    real_pair(sources, setting, |a, b| {
        let (x, y) = (a.to_f64(), b.to_f64());
        let ordinary = x.is_finite() && y.is_finite() && x > 0.0;
        if !ordinary || a.format == Format::Double {
            return Outcome::undefined();
        }
        approximate(setting.mode, x.powf(y), a.format)
    })
}

pub(crate) fn fraction(sources: &[Element], setting: Setting) -> Result<Outcome> {
    let mode = setting.mode;
    real_one(sources, setting, |a| {
        if mode.round != Round::NearestTiesToEven || a.is_infinite() {
            return Outcome::undefined();
        }
        let floor = a.round_to_integral(Round::TowardNegative);
        let result = a.add(floor.neg(), mode.round);
        if result == result.format.one() {
            // Rounded up: a fraction is below one, the difference is not.
            return Outcome::undefined();
        }
        signless_zero(result)
    })
}

pub(crate) fn whole(sources: &[Element], setting: Setting, round: Round) -> Result<Outcome> {
    real_one(sources, setting, |a| {
        signless_zero(a.round_to_integral(round))
    })
}

fn signless_zero(value: Real) -> Outcome {
    if value.is_zero() {
        Outcome::with(Value::Real(value), Precision::AnyZero)
    } else {
        value.into()
    }
}

/// `src0 < src1`, `src0 = src1`, `src0 > src1`, or `None` where one is a NaN.
///
/// # Errors
/// Sources that cannot be compared.
pub fn compare(
    sources: &[Element],
    mode: Mode,
) -> Result<std::result::Result<Option<Ordering>, ()>> {
    if integral(sources) {
        let v = signs_known(sources)?;
        let (a, b) = pair(&v)?;
        return Ok(Ok(Some(a.cmp(&b))));
    }
    let v = reals(sources)?;
    let (a, b) = pair(&v)?;
    if v.iter().any(|x| x.is_denormal() && !mode.keeps(x.format)) {
        return Ok(Err(()));
    }
    Ok(Ok(a.order(b)))
}

/// Whether a relation holds.
///
/// # Errors
/// A code without meaning.
pub fn holds(relation: u8, order: Option<Ordering>) -> Result<bool> {
    use enums::relation as is;
    Ok(match relation & 7 {
        is::EQ => order == Some(Ordering::Equal),
        is::NE => order != Some(Ordering::Equal),
        is::GT => order == Some(Ordering::Greater),
        is::GE => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        is::LT => order == Some(Ordering::Less),
        is::LE => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        _ => return Err(Halt::Undefined("relation")),
    })
}

pub(crate) fn extreme(sources: &[Element], setting: Setting) -> Result<Outcome> {
    let (a, b) = pair(sources)?;
    let largest = setting.control == enums::min_max::MAX;
    if integral(sources) {
        let v = signs_known(sources)?;
        let (x, y) = pair(&v)?;
        return Ok(if largest { x.max(y) } else { x.min(y) }.into());
    }
    if a.ty == DataType::Bf || b.ty == DataType::Bf {
        return Err(Halt::Undefined("bf has no minimum and maximum"));
    }
    let v = reals(sources)?;
    let (x, y) = pair(&v)?;
    if !goes_to(x.format, setting.dst) {
        return Err(Halt::Undefined("types"));
    }
    Ok(settled(setting.mode, &v, || match x.order(y) {
        None if x.is_nan() => y.into(),
        None => x.into(),
        Some(Ordering::Equal) => {
            if x.is_zero() {
                signless_zero(x)
            } else {
                x.into()
            }
        }
        Some(order) => {
            if (order == Ordering::Greater) == largest {
                x.into()
            } else {
                y.into()
            }
        }
    }))
}
