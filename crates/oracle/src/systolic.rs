//! DPAS and BDPAS: small matrix products.

use crate::float::{Format, Real};
use crate::operand::{Lanes, number, vector};
use crate::state::{Halt, Place, Result, View};
use crate::value::{Outcome, Precision, Value, decode, encode, truncate};
use rustc_apfloat::Round;
use visakit_isa::enums::precision as code;
use visakit_isa::table::FieldName as F;
use visakit_isa::{DataType, Instruction, Value as Field, VarId, VectorOperand};

/// An element type of a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Integer {
        bits: u32,
        signed: bool,
    },
    Real(Format),
    Tensor,
    /// A sign, exponent bits, mantissa bits; and the meaning of codes with all ones in the exponent.
    Small {
        exponent: u32,
        mantissa: u32,
        last: Last,
    },
}

/// The largest exponent of a format of few bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    /// An infinity and NaNs.
    Special,
    /// Numbers, but NaN where the mantissa is all ones, too.
    OneNan,
    Numbers,
}

/// The number of a format of few bits.
fn small(bits: u64, exponent: u32, mantissa: u32, last: Last) -> f64 {
    let fraction = bits & ((1 << mantissa) - 1);
    let power = bits >> mantissa & ((1 << exponent) - 1);
    let ones = power + 1 == 1 << exponent;
    let bias = (1i32 << (exponent - 1)) - 1;
    let steps = f64::from(1u32 << mantissa);
    let (power, fraction_of_one) = (i32::try_from(power).unwrap_or(0), fraction as f64 / steps);
    let magnitude = match last {
        Last::Special if ones && fraction == 0 => f64::INFINITY,
        Last::Special if ones => f64::NAN,
        Last::OneNan if ones && fraction + 1 == 1 << mantissa => f64::NAN,
        _ if power == 0 => fraction_of_one * 2f64.powi(1 - bias),
        _ => (1.0 + fraction_of_one) * 2f64.powi(power - bias),
    };
    if bits >> (exponent + mantissa) & 1 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

impl Kind {
    fn of(precision: u8) -> Result<Self> {
        let integer = |bits, signed| Ok(Self::Integer { bits, signed });
        match precision {
            code::U2 => integer(2, false),
            code::S2 => integer(2, true),
            code::U4 => integer(4, false),
            code::S4 => integer(4, true),
            code::U8 => integer(8, false),
            code::S8 => integer(8, true),
            code::BF => Ok(Self::Real(Format::Brain)),
            code::HF => Ok(Self::Real(Format::Half)),
            code::TF32 => Ok(Self::Tensor),
            code::BF8 => Ok(Self::Small {
                exponent: 5,
                mantissa: 2,
                last: Last::Special,
            }),
            code::HF8 => Ok(Self::Small {
                exponent: 4,
                mantissa: 3,
                last: Last::OneNan,
            }),
            code::E2M1 => Ok(Self::Small {
                exponent: 2,
                mantissa: 1,
                last: Last::Numbers,
            }),
            _ => Err(Halt::Undefined("precision")),
        }
    }

    const fn bits(self) -> u32 {
        match self {
            Self::Integer { bits, .. } => bits,
            Self::Real(_) => 16,
            Self::Tensor => 32,
            Self::Small {
                exponent, mantissa, ..
            } => 1 + exponent + mantissa,
        }
    }

    fn value(self, bits: u64) -> Value {
        match self {
            Self::Integer {
                bits: width,
                signed,
            } => {
                let value = i128::from(bits);
                let negative = signed && bits >> (width - 1) & 1 != 0;
                Value::Integer(if negative {
                    value - (1 << width)
                } else {
                    value
                })
            }
            Self::Real(format) => Value::Real(Real { format, bits }),
            Self::Tensor => Value::Real(Real {
                format: Format::Single,
                bits: bits & !0x1fff,
            }),
            Self::Small {
                exponent,
                mantissa,
                last,
            } => Value::Real(Real::from_f64(
                small(bits, exponent, mantissa, last),
                Format::Double,
            )),
        }
    }
}

/// The value of a number of bits at a bit offset from a place.
fn bits_at(view: &View<'_, '_>, place: Place, bit: usize, width: u32) -> Result<u64> {
    let at = Place {
        offset: place.offset + i64::try_from(bit / 8).unwrap_or(0),
        ..place
    };
    let (bits, defined) = view.read(at, (width as usize).div_ceil(8))?;
    if !defined {
        return Err(Halt::Undefined("dpas"));
    }
    Ok(bits >> (bit % 8)
        & if width >= 64 {
            u64::MAX
        } else {
            (1 << width) - 1
        })
}

/// Scales of a BDPAS: a byte for a lane or row, the second block of 32 elements 32 bytes on.
#[derive(Clone, Copy, Debug)]
struct Scales(Option<Place>);

impl Scales {
    fn of(view: &View<'_, '_>, instruction: &Instruction, name: F) -> Result<Self> {
        if instruction.get(name).is_none() {
            return Ok(Self(None));
        }
        let operand = vector(instruction, name)?;
        let null = matches!(&operand, VectorOperand::General(g) if g.variable == VarId::NULL);
        Ok(Self(if null {
            None
        } else {
            Some(view.contiguous(&operand, 0)?.0)
        }))
    }

    fn at(self, view: &View<'_, '_>, block: usize, n: usize) -> Result<f64> {
        let Some(first) = self.0 else { return Ok(1.0) };
        let code = bits_at(view, first, (block * 32 + n) * 8, 8)?;
        // Powers of two without sign or mantissa.
        Ok(if code == 255 {
            f64::NAN
        } else {
            2f64.powf(code as f64 - 127.0)
        })
    }
}

/// Executes a DPAS or BDPAS.
///
/// # Errors
/// Forms that are not defined.
pub(crate) fn run(view: &mut View<'_, '_>, instruction: &Instruction, running: u32) -> Result<()> {
    let mut lanes = view.lanes(instruction, running)?;
    lanes.mask &= view.predication(instruction, lanes)?;
    let info = u32::try_from(number(instruction, F::PrecisionInfo)?).unwrap_or(0);
    let [weights, activations, depth, repeat] = info.to_le_bytes();
    let (w, a) = (Kind::of(weights)?, Kind::of(activations)?);
    let size = view.scope.grf / 4;
    if lanes.count != size
        || lanes.mask != Lanes::all(size)
        || depth != 8
        || !(1..=8).contains(&repeat)
    {
        return Err(Halt::Undefined("form of dpas"));
    }
    let operations = match (w, a) {
        (Kind::Tensor, Kind::Tensor) => 1,
        (Kind::Real(x), Kind::Real(y)) if x == y => 2,
        (Kind::Small { .. }, Kind::Small { .. }) if w.bits() == a.bits() => 32 / w.bits() as usize,
        (Kind::Integer { bits: x, .. }, Kind::Integer { bits: y, .. }) => {
            if x == 8 || y == 8 {
                4
            } else {
                8
            }
        }
        _ => return Err(Halt::Undefined("precisions")),
    };
    let per_channel = 32 / (operations * w.bits() as usize);
    let (dst, dst_type) = view.raw_operand(instruction, F::Dst)?;
    let (acc, acc_type) = view.raw_operand(instruction, F::Src0)?;
    let (src1, _) = view.raw_operand(instruction, F::Src1)?;
    let src1 = view.raw_place(src1, 0)?;
    let src2 = if let Some(Field::Raw(_)) = instruction.get(F::Src2) {
        let (raw, _) = view.raw_operand(instruction, F::Src2)?;
        view.raw_place(raw, 0)?
    } else {
        view.contiguous(&vector(instruction, F::Src2)?, 0)?.0
    };
    let weight_scales = Scales::of(view, instruction, F::Src3)?;
    let activation_scales = Scales::of(view, instruction, F::Src4)?;
    let mode = view.mode();
    let mut results = Vec::new();
    for row in 0..usize::from(repeat) {
        for channel in 0..size {
            let element = row * size + channel;
            let start = if acc.is_null() {
                None
            } else {
                let place = view.raw_place(acc, element * usize::from(acc_type.size()))?;
                let width = u32::from(acc_type.size()) * 8;
                Some(decode(bits_at(view, place, 0, width)?, acc_type))
            };
            let mut products = Vec::new();
            for d in 0..usize::from(depth) {
                let register = d / per_channel;
                let first = d % per_channel * operations;
                let block = d * operations / 32;
                let scale = weight_scales.at(view, block, channel)?
                    * activation_scales.at(view, block, row)?;
                for op in 0..operations {
                    let word = (register * size + channel) * 32;
                    let bit = word + (first + op) * w.bits() as usize;
                    let x = w.value(bits_at(view, src1, bit, w.bits())?);
                    let k = row * 8 * operations + d * operations + op;
                    let y = a.value(bits_at(view, src2, k * a.bits() as usize, a.bits())?);
                    products.push((x, y, scale));
                }
            }
            let outcome = accumulate(start, &products, dst_type)?;
            let (bits, mut precision) = encode(outcome, dst_type, false, mode);
            let rounds = matches!(outcome.value, Value::Real(v)
                if v.to(Format::Half, mode.round).to_f64() != v.to_f64()
                    || v.to(Format::Brain, mode.round).to_f64() != v.to_f64());
            if rounds && mode.round != Round::NearestTiesToEven && dst_type != DataType::F {
                // It is unspecified whether the mode applies.
                precision = Precision::Undefined;
            }
            results.push((element, bits, precision));
        }
    }
    for (element, bits, precision) in results {
        let place = view.raw_place(dst, element * usize::from(dst_type.size()))?;
        view.write(place, bits, dst_type, precision)?;
    }
    Ok(())
}

fn accumulate(
    start: Option<Value>,
    products: &[(Value, Value, f64)],
    ty: DataType,
) -> Result<Outcome> {
    let mut integer = 0i128;
    let mut real = 0f64;
    let mut magnitude = 0f64;
    let mut exact = true;
    // Sums of multiples of 1/16 below 2^16 are exact in every order.
    let mut add = |term: f64| {
        real += term;
        magnitude += term.abs();
        exact &= (term * 16.0).fract() == 0.0;
    };
    let mut float = false;
    match start {
        Some(Value::Integer(value)) => integer = value,
        Some(Value::Real(value)) => add(value.to_f64()),
        None => {}
    }
    for (x, y, scale) in products {
        match (x, y) {
            (Value::Integer(x), Value::Integer(y)) => integer += x * y,
            (Value::Real(x), Value::Real(y)) => {
                float = true;
                add(x.to_f64() * y.to_f64() * scale);
            }
            _ => return Err(Halt::Undefined("types")),
        }
    }
    let is_float = crate::value::format_of(ty).is_some();
    if float != is_float || matches!(start, Some(Value::Integer(_))) == is_float && start.is_some()
    {
        return Err(Halt::Undefined("types of dpas"));
    }
    if !float {
        return Ok(i128::from(truncate(integer, 4)).into());
    }
    let value = Real::from_f64(real, Format::Double).to(Format::Single, Round::NearestTiesToEven);
    if exact && magnitude < 65536.0 {
        let narrow = magnitude < 128.0 || ty == DataType::F || ty == DataType::Df;
        let zero = value.is_zero();
        return Ok(if !narrow {
            Outcome::undefined()
        } else if zero {
            Outcome::with(Value::Real(value), Precision::AnyZero)
        } else {
            value.into()
        });
    }
    Ok(Outcome::undefined())
}
