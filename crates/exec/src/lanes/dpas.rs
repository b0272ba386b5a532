//! Systolic dot products and the narrow float formats.

use super::exact::{Narrow, Rounding};
use half::{bf16, f16};
use visakit_isa::DataType;
use visakit_isa::enums::precision as p;

/// Elements of a precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Signed(u32),
    Unsigned(u32),
    Half,
    BFloat,
    Tf32,
    Bf8,
    Hf8,
    E2m1,
}

impl Format {
    fn of(code: u8) -> Option<Self> {
        Some(match code {
            p::U1 => Self::Unsigned(1),
            p::S1 => Self::Signed(1),
            p::U2 => Self::Unsigned(2),
            p::S2 => Self::Signed(2),
            p::U4 => Self::Unsigned(4),
            p::S4 => Self::Signed(4),
            p::U8 => Self::Unsigned(8),
            p::S8 => Self::Signed(8),
            p::BF => Self::BFloat,
            p::HF => Self::Half,
            p::BF8 => Self::Bf8,
            p::TF32 => Self::Tf32,
            p::HF8 => Self::Hf8,
            p::E2M1 => Self::E2m1,
            _ => return None,
        })
    }

    const fn bits(self) -> u32 {
        match self {
            Self::Signed(bits) | Self::Unsigned(bits) => bits,
            Self::Half | Self::BFloat => 16,
            Self::Tf32 => 32,
            Self::Bf8 | Self::Hf8 => 8,
            Self::E2m1 => 4,
        }
    }

    const fn is_integer(self) -> bool {
        matches!(self, Self::Signed(_) | Self::Unsigned(_))
    }

    fn integer(self, bits: u32) -> i32 {
        match self {
            Self::Signed(width) => ((bits << (32 - width)) as i32) >> (32 - width),
            _ => bits as i32,
        }
    }

    fn float(self, bits: u32) -> f64 {
        match self {
            Self::Half => f16::from_bits(bits as u16).to_f64(),
            Self::BFloat => bf16::from_bits(bits as u16).to_f64(),
            // The hardware ignores the bits below the ten of the mantissa.
            Self::Tf32 => f64::from(f32::from_bits(bits & 0xffff_e000)),
            Self::Bf8 => f16::from_bits((bits << 8) as u16).to_f64(),
            Self::Hf8 => f64::from(hf8(bits as u8)),
            Self::E2m1 => {
                let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
                let value = magnitude.get((bits & 7) as usize).copied().unwrap_or(0.0);
                if bits & 8 != 0 { -value } else { value }
            }
            Self::Signed(_) | Self::Unsigned(_) => f64::from(self.integer(bits)),
        }
    }
}

/// A float of eight bits with four of exponent: no infinities, all ones is NaN.
pub(crate) fn hf8(bits: u8) -> f32 {
    let sign = if bits & 0x80 != 0 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 3 & 0xf), f32::from(bits & 7));
    let magnitude = match (exponent, bits & 7) {
        (15, 7) => f32::NAN,
        (0, _) => mantissa * 2f32.powi(-9),
        _ => (8.0 + mantissa) * 2f32.powi(exponent - 10),
    };
    sign * magnitude
}

/// Converts half to that format, to nearest even; too large values become NaN.
pub(crate) fn half_to_hf8(bits: u32) -> u8 {
    let value = f16::from_bits(bits as u16).to_f32();
    let sign = if bits & 0x8000 != 0 { 0x80 } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7f;
    }
    let exponent = ((magnitude.to_bits() >> 23) as i32 - 127).max(-6);
    let units = (magnitude * 2f32.powi(3 - exponent)).round_ties_even();
    let units = if magnitude.is_infinite() { 1e9 } else { units };
    // A carry out of the mantissa moves into the exponent.
    let code = units as i64 + i64::from(exponent + 6) * 8;
    let code = if units < 8.0 && exponent == -6 {
        units as i64
    } else {
        code
    };
    if code >= 0x7f {
        sign | 0x7f
    } else {
        sign | code as u8
    }
}

/// Half to a float of eight bits with five of exponent, to nearest even.
pub(crate) fn half_to_bf8(bits: u32) -> u8 {
    let magnitude = bits & 0x7fff;
    let sign = (bits >> 8 & 0x80) as u8;
    if magnitude > 0x7c00 {
        return sign | 0x7e | (magnitude >> 8) as u8;
    }
    let rounded = magnitude + 0x7f + (magnitude >> 8 & 1);
    sign | (rounded >> 8) as u8
}

/// Float to tensor float, to nearest even; denormals become zero.
pub(crate) fn to_tf32(bits: u32) -> u32 {
    let x = f32::from_bits(bits);
    if x.is_nan() {
        return (bits | 0x0040_0000) & 0xffff_e000;
    }
    if x.is_infinite() {
        return bits;
    }
    if x.is_subnormal() {
        return bits & 0x8000_0000;
    }
    bits.wrapping_add(0xfff + (bits >> 13 & 1)) & 0xffff_e000
}

/// Converts half or brain float to a float of four bits with two of exponent, or to an integer of four bits: to nearest
/// even, too large values become the largest number. NaN, whose result is not published, becomes zero.
pub(crate) fn to_four_bits(bits: u32, brain: bool, float: bool) -> u8 {
    let value = match brain {
        true => bf16::from_bits(bits as u16).to_f32(),
        false => f16::from_bits(bits as u16).to_f32(),
    };
    if !float {
        return (value.clamp(-8.0, 7.0).round_ties_even() as i8) as u8 & 0xf;
    }
    // Halves below two, wholes below four, then every second number.
    let magnitude = value.abs();
    let code = match magnitude {
        m if m < 2.0 => (m * 2.0).round_ties_even(),
        m if m < 4.0 => 2.0 + m.round_ties_even(),
        m if m.is_nan() => return 0,
        m => 4.0 + (m.min(6.0) / 2.0).round_ties_even(),
    };
    let sign = if value.is_sign_negative() { 8 } else { 0 };
    sign | code as u8
}

/// Float to half: thirteen random bits are added to the mantissa, the sum is truncated.
pub(crate) fn srnd_float_to_half(bits: u32, random: u32) -> u32 {
    let x = f32::from_bits(bits);
    if !x.is_finite() {
        return f16::from_f32(x).to_bits().into();
    }
    let sum = f32::from_bits(bits + (random & 0x1fff));
    if sum.abs() >= 65536.0 {
        return f16::INFINITY.to_bits() as u32 | bits >> 16 & 0x8000;
    }
    let truncated = Narrow::HALF.round(f64::from(sum), Rounding::Zero, false);
    let magnitude = u32::from(f16::from_f64(truncated.abs()).to_bits());
    magnitude | bits >> 16 & 0x8000
}

/// Half to a float of eight bits: eight random bits are added to the mantissa, the sum is
/// truncated.
pub(crate) fn srnd_half_to_bf8(bits: u32, random: u32) -> u32 {
    let magnitude = bits & 0x7fff;
    let sign = bits >> 8 & 0x80;
    if magnitude >= 0x7c00 {
        return half_to_bf8(bits).into();
    }
    sign | (magnitude + (random & 0xff)) >> 8
}

/// How a systolic dot product runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    weights: Format,
    activations: Format,
    depth: usize,
    repeat: usize,
    lanes: usize,
    /// Products for each lane and step of depth.
    operations: usize,
    result: DataType,
    accumulator: DataType,
}

/// Sizes of the operands in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    pub(crate) result: usize,
    pub(crate) accumulator: usize,
    pub(crate) weights: usize,
    pub(crate) activations: usize,
    pub(crate) weight_scales: usize,
    pub(crate) activation_scales: usize,
}

/// Elements that share a scale in a block-scaled product.
const BLOCK: usize = 32;

/// Bytes from the scales of one block to those of the next.
const BLOCK_SCALES: usize = 32;

/// Places of the operands in the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Places {
    pub(crate) result: usize,
    /// `None`: zero.
    pub(crate) accumulator: Option<usize>,
    pub(crate) weights: usize,
    /// A byte for each lane and block, [`BLOCK_SCALES`] between blocks. `None`: the weights are not scaled.
    pub(crate) weight_scales: Option<usize>,
    /// A byte for each row and block. `None`: the activations are not scaled.
    pub(crate) activation_scales: Option<usize>,
}

/// A scale of eight bits, all of exponent (E8M0 of the Microscaling formats): powers of two, all ones is NaN.
fn e8m0(code: u8) -> f64 {
    match code {
        0xff => f64::NAN,
        _ => 2f64.powi(i32::from(code) - 127),
    }
}

impl Plan {
    /// A plan of precisions, systolic depth, repeat count and number of lanes; `None` where they
    /// do not fit together.
    pub(crate) fn new(
        weights: u8,
        activations: u8,
        depth: u8,
        repeat: u8,
        lanes: usize,
    ) -> Option<Self> {
        let (weights, activations) = (Format::of(weights)?, Format::of(activations)?);
        let eight = |f| matches!(f, Format::Bf8 | Format::Hf8);
        let alike = weights.is_integer() && activations.is_integer()
            || weights == activations
            || eight(weights) && eight(activations);
        let known = matches!(depth, 1 | 2 | 4 | 8) && matches!(repeat, 1..=8);
        if !alike || !known || !matches!(lanes, 8 | 16) {
            return None;
        }
        let operations = match weights.bits().max(activations.bits()) {
            32 => 1,
            16 => 2,
            8 => 4,
            _ => 8,
        };
        Some(Self {
            weights,
            activations,
            depth: depth.into(),
            repeat: repeat.into(),
            lanes,
            operations,
            result: DataType::D,
            accumulator: DataType::D,
        })
    }

    /// With the types of result and accumulator; `None` where the precisions do not allow them.
    pub(crate) fn with_types(
        mut self,
        result: DataType,
        accumulator: Option<DataType>,
    ) -> Option<Self> {
        self.result = result;
        self.accumulator = accumulator.unwrap_or(result);
        let fits = |ty: DataType| match ty {
            DataType::D | DataType::Ud => self.weights.is_integer(),
            DataType::F | DataType::Bf | DataType::Hf => !self.weights.is_integer(),
            _ => false,
        };
        (fits(result) && fits(self.accumulator)).then_some(self)
    }

    /// Steps of depth that one row of weights serves.
    fn steps_per_row(self) -> usize {
        (32 / (self.operations * self.weights.bits() as usize)).max(1)
    }

    /// Bytes of an element of the result.
    pub(crate) fn result_bytes(self) -> usize {
        self.result.size().into()
    }

    /// Bytes of an element of the accumulator.
    pub(crate) fn accumulator_bytes(self) -> usize {
        self.accumulator.size().into()
    }

    /// Sizes of the operands.
    pub(crate) fn sizes(self) -> Sizes {
        let rows = self.repeat * self.lanes;
        let elements = self.repeat * self.depth * self.operations;
        let further = (self.depth * self.operations).div_ceil(BLOCK) - 1;
        Sizes {
            result: rows * usize::from(self.result.size()),
            accumulator: rows * usize::from(self.accumulator.size()),
            weights: self.depth.div_ceil(self.steps_per_row()) * self.lanes * 4,
            activations: (elements * self.activations.bits() as usize).div_ceil(8),
            weight_scales: self.lanes + further * BLOCK_SCALES,
            activation_scales: self.repeat + further * BLOCK_SCALES,
        }
    }

    /// Multiplies, accumulates and writes the enabled lanes.
    pub(crate) fn run(self, file: &mut [u8], activations: &[u8], places: Places, mask: u32) {
        let word = |file: &[u8], place: usize| -> u32 {
            match file.get(place..place + 4) {
                Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
                _ => 0,
            }
        };
        let half = |file: &[u8], place: usize| -> u16 {
            match file.get(place..place + 2) {
                Some(&[a, b]) => u16::from_le_bytes([a, b]),
                _ => 0,
            }
        };
        let field = |bits: u32, n: usize, width: u32| {
            let shifted = bits.checked_shr(n as u32 * width).unwrap_or(0);
            if width >= 32 {
                shifted
            } else {
                shifted & ((1 << width) - 1)
            }
        };
        let activation = |k: usize| -> u32 {
            let width = self.activations.bits() as usize;
            let bit = k * width;
            let mut bytes = [0u8; 4];
            let from = activations.get(bit / 8..).unwrap_or(&[]);
            for (to, from) in bytes.iter_mut().zip(from) {
                *to = *from;
            }
            let bits = u32::from_le_bytes(bytes) >> (bit % 8);
            if width >= 32 {
                bits
            } else {
                bits & ((1 << width) - 1)
            }
        };
        let scale = |file: &[u8], scales: Option<usize>, block: usize, n: usize| {
            let place = scales.map(|first| first + block * BLOCK_SCALES + n);
            place.map_or(1.0, |place| e8m0(file.get(place).copied().unwrap_or(0xff)))
        };
        let mut results = Vec::with_capacity(self.repeat * self.lanes);
        for row in 0..self.repeat {
            for lane in 0..self.lanes {
                let index = row * self.lanes + lane;
                let start = places.accumulator.map(|place| match self.accumulator {
                    DataType::Bf => bf16::from_bits(half(file, place + index * 2))
                        .to_f32()
                        .to_bits(),
                    DataType::Hf => f16::from_bits(half(file, place + index * 2))
                        .to_f32()
                        .to_bits(),
                    _ => word(file, place + index * 4),
                });
                let mut sum = start.unwrap_or(0);
                for step in 0..self.depth {
                    let per_row = self.steps_per_row();
                    let place = places.weights + (step / per_row * self.lanes + lane) * 4;
                    let weights = word(file, place);
                    let first = step % per_row * self.operations;
                    let k = (row * self.depth + step) * self.operations;
                    if self.weights.is_integer() {
                        for n in 0..self.operations {
                            let w = self.weights.integer(field(
                                weights,
                                first + n,
                                self.weights.bits(),
                            ));
                            let a = self.activations.integer(activation(k + n));
                            sum = sum.wrapping_add((w * a) as u32);
                        }
                    } else {
                        // The products are exact in double; each step of depth rounds once. A step never
                        // crosses a block, and scales are powers of two.
                        let block = step * self.operations / BLOCK;
                        let scale = scale(file, places.weight_scales, block, lane)
                            * scale(file, places.activation_scales, block, row);
                        let mut exact = f64::from(f32::from_bits(sum));
                        for n in 0..self.operations {
                            let w =
                                self.weights
                                    .float(field(weights, first + n, self.weights.bits()));
                            exact += w * self.activations.float(activation(k + n)) * scale;
                        }
                        sum = (exact as f32).to_bits();
                    }
                }
                results.push(sum);
            }
        }
        for (index, sum) in results.into_iter().enumerate() {
            if mask >> (index % self.lanes) & 1 == 0 {
                continue;
            }
            let (size, bits) = match self.result {
                DataType::Bf => (2, bf16::from_f32(f32::from_bits(sum)).to_bits().into()),
                DataType::Hf => (2, f16::from_f32(f32::from_bits(sum)).to_bits().into()),
                _ => (4, sum),
            };
            let place = places.result + index * size;
            if let Some(bytes) = file.get_mut(place..place + size) {
                for (to, from) in bytes.iter_mut().zip(bits.to_le_bytes()) {
                    *to = from;
                }
            }
        }
    }
}

/// Bytes of the activations of a DPASW that the first thread of the pair holds: half of the
/// registers, rounded up. The second holds the rest.
pub(crate) fn first_part(bytes: usize) -> usize {
    bytes.div_ceil(32).div_ceil(2) * 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_formats() {
        assert_eq!(hf8(0x38), 1.0);
        assert_eq!(hf8(0x7e), 448.0);
        assert!(hf8(0x7f).is_nan());
        assert_eq!(hf8(0x01), 2f32.powi(-9));
        for code in 0..=0xffu8 {
            let value = hf8(code);
            let back = half_to_hf8(f16::from_f32(value).to_bits().into());
            assert!(
                back == code || value.is_nan(),
                "{code:#x} {value} {back:#x}"
            );
        }
        for code in 0..=0xffu32 {
            let value = f16::from_bits((code << 8) as u16);
            assert!(u32::from(half_to_bf8(code << 8)) == code || value.is_nan());
        }
        assert_eq!(to_tf32(1.0f32.to_bits() + 0x1000), 1.0f32.to_bits());
        assert_eq!(
            to_tf32(1.0f32.to_bits() + 0x1001),
            1.0f32.to_bits() + 0x2000
        );
        assert_eq!(srnd_float_to_half(1.0f32.to_bits() + 1, 0x1fff), 0x3c01);
        assert_eq!(srnd_float_to_half(1.0f32.to_bits() + 1, 0x1ffe), 0x3c00);
        assert_eq!(srnd_half_to_bf8(0x3c01, 0xff), 0x3d);
    }

    #[test]
    fn signed_bytes() {
        // One row, one step: D = C + A x B with four products.
        let plan = Plan::new(p::S8, p::U8, 1, 1, 8).unwrap();
        let plan = plan.with_types(DataType::D, Some(DataType::D)).unwrap();
        assert_eq!(plan.sizes().weights, 32);
        assert_eq!(plan.sizes().activations, 4);
        let mut file = vec![0u8; 128];
        for lane in 0..8 {
            file[lane * 4] = lane as u8;
            file[32 + lane * 4..][..4].copy_from_slice(&[0xff, 2, 3, lane as u8]);
        }
        let places = Places {
            result: 64,
            accumulator: Some(0),
            weights: 32,
            weight_scales: None,
            activation_scales: None,
        };
        plan.run(&mut file, &[10, 20, 30, 255], places, 0x7f);
        let result: Vec<i32> = file[64..96]
            .chunks(4)
            .map(|c| i32::from_le_bytes(c.try_into().unwrap()))
            .collect();
        let want = |lane: i32| lane - 10 + 40 + 90 + 255 * lane;
        assert_eq!(result[..7], (0..7).map(want).collect::<Vec<_>>());
        assert_eq!(result[7], 0, "disabled lane");
    }
    #[test]
    fn blocks_of_four_bit_floats_have_scales_of_their_own() {
        let plan = Plan::new(p::E2M1, p::E2M1, 8, 8, 16).unwrap();
        let plan = plan.with_types(DataType::F, None).unwrap();
        let sizes = plan.sizes();
        assert_eq!((sizes.weights, sizes.activations), (512, 256));
        assert_eq!((sizes.weight_scales, sizes.activation_scales), (48, 40));
        // Weights are 1, activations 0.5 (two elements a byte); the register file holds weights, scales, result.
        let mut file = vec![0x22u8; 512];
        file.resize(512 + 64 + 64 + 512, 0);
        let (weight_scales, activation_scales, result) = (512, 576, 640);
        for lane in 0..16 {
            file[weight_scales + lane] = 127 + lane as u8 % 8;
            file[weight_scales + 32 + lane] = 127;
        }
        for row in 0..8 {
            file[activation_scales + row] = 127;
            file[activation_scales + 32 + row] = 127 - row as u8;
        }
        let places = Places {
            result,
            accumulator: None,
            weights: 0,
            weight_scales: Some(weight_scales),
            activation_scales: Some(activation_scales),
        };
        plan.run(&mut file, &[0x11; 256], places, 0xffff);
        for row in 0..8 {
            for lane in 0..16 {
                let at = result + (row * 16 + lane) * 4;
                let bytes = [file[at], file[at + 1], file[at + 2], file[at + 3]];
                let want = 16.0 * 2f32.powi(lane as i32 % 8) + 16.0 * 2f32.powi(-(row as i32));
                assert_eq!(f32::from_le_bytes(bytes), want, "row {row} lane {lane}");
            }
        }
        assert!(e8m0(0xff).is_nan());
        assert_eq!(e8m0(0), 2f64.powi(-127));
    }
}
