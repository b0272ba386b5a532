//! Systolic dot products.

use super::narrow::Format;
use crate::lanes::simd::{Host, Kernel, Simd};
use half::{bf16, f16};
use std::fmt::{self, Display, Formatter};
use visakit_isa::semantics::{self, Systolic};
use visakit_isa::{DataType, FieldName};

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
    shape: Systolic,
    result: DataType,
    accumulator: DataType,
}

/// Formats of weights and activations that machine code knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProductFormat {
    /// Bytes with a sign, or without one.
    Byte {
        /// Whether they have one.
        signed: bool,
    },
    /// Halves.
    Half,
    /// Brain floats.
    Brain,
    /// Singles whose low 13 bits do not count.
    Tf32,
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

/// Bits of the register file, at most 32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits {
    /// The first one.
    pub first: usize,
    /// Their number.
    pub count: usize,
}

impl Bits {
    /// The bits this many after these.
    pub(crate) const fn after(self, bits: usize) -> Self {
        Self {
            first: self.first + bits,
            ..self
        }
    }
}

/// Elements that share a scale in a block-scaled product.
const BLOCK: usize = semantics::SCALED_BLOCK as usize;

/// Bytes from the scales of one block to the scales of the next.
const BLOCK_SCALES: usize = semantics::BLOCK_SCALES as usize;

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

impl Display for Plan {
    /// Depth and repeat count, formats of weights and activations.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (depth, repeat) = (self.depth, self.repeat);
        write!(f, "{depth}x{repeat}.{}.{}", self.weights, self.activations)
    }
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
        let shape = Systolic::new(
            weights,
            activations,
            depth,
            repeat,
            u32::try_from(lanes).ok()?,
        )?;
        let (weights, activations) = (Format::of(weights)?, Format::of(activations)?);
        let eight = |f| matches!(f, Format::Bf8 | Format::Hf8);
        let alike = weights.is_integer() && activations.is_integer()
            || weights == activations
            || eight(weights) && eight(activations);
        let known = matches!(depth, 1 | 2 | 4 | 8) && matches!(repeat, 1..=8);
        if !alike || !known {
            return None;
        }
        Some(Self {
            weights,
            activations,
            depth: depth.into(),
            repeat: repeat.into(),
            lanes,
            operations: shape.operations as usize,
            shape,
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

    /// Types of result and accumulator.
    pub(crate) const fn types(&self) -> (DataType, DataType) {
        (self.result, self.accumulator)
    }

    /// The formats of weights and activations.
    pub(crate) fn formats(&self) -> [Option<ProductFormat>; 2] {
        [self.weights, self.activations].map(|format| match format {
            Format::Signed(8) => Some(ProductFormat::Byte { signed: true }),
            Format::Unsigned(8) => Some(ProductFormat::Byte { signed: false }),
            Format::Half => Some(ProductFormat::Half),
            Format::BFloat => Some(ProductFormat::Brain),
            Format::Tf32 => Some(ProductFormat::Tf32),
            _ => None,
        })
    }

    /// Steps of depth.
    pub(crate) const fn depth(&self) -> usize {
        self.depth
    }

    /// Rows of the result.
    pub(crate) const fn rows(&self) -> usize {
        self.repeat
    }

    /// Elements of a row.
    pub(crate) const fn lanes(&self) -> usize {
        self.lanes
    }

    /// The factors of the products of an element of the result, as bits of the weights and of the activations.
    pub(crate) fn products(self, row: usize, lane: usize) -> impl Iterator<Item = [Bits; 2]> {
        let depth = self.depth * self.operations;
        (0..depth).map(move |n| {
            let width = self.weights.bits() as usize;
            let of_word = (32 / width).max(1);
            let weight = (n / of_word * self.lanes + lane) * 32 + n % of_word * width;
            let size = self.activations.bits() as usize;
            let bits = |first, count| Bits { first, count };
            [bits(weight, width), bits((row * depth + n) * size, size)]
        })
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
        let of = |field, ty| {
            self.shape
                .bytes(field, ty)
                .map_or(0, |bytes| bytes as usize)
        };
        Sizes {
            result: of(FieldName::Dst, self.result),
            accumulator: of(FieldName::Src0, self.accumulator),
            weights: of(FieldName::Src1, DataType::Ud),
            activations: of(FieldName::Src2, DataType::Ud),
            weight_scales: of(FieldName::Src3, DataType::Ub),
            activation_scales: of(FieldName::Src4, DataType::Ub),
        }
    }

    /// Multiplies, accumulates and writes the enabled lanes. The activations are those of [`Sizes::activations`].
    pub(crate) fn run(
        self,
        simd: Simd,
        file: &mut [u8],
        activations: &[u8],
        places: Places,
        mask: u32,
    ) {
        let product = Product {
            plan: self,
            file,
            activations,
            places,
            mask,
        };
        match self.lanes {
            8 => simd.run(Lanes::<8>(product)),
            _ => simd.run(Lanes::<16>(product)),
        }
    }
}

/// Most bytes that activations have.
pub(crate) const MOST_ACTIVATIONS: usize = 256;

/// Most rows of a product.
const ROWS: usize = 8;

/// Most elements of a row of activations.
const DEPTH: usize = 64;

/// A systolic product to be computed.
struct Product<'a> {
    plan: Plan,
    file: &'a mut [u8],
    activations: &'a [u8],
    places: Places,
    mask: u32,
}

/// A product of this many lanes.
struct Lanes<'a, const N: usize>(Product<'a>);

impl<const N: usize> Kernel for Lanes<'_, N> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<H: Host>(self, host: H) {
        let mut product = self.0;
        let mut rows = [[0; N]; ROWS];
        product.accumulators(&mut rows);
        if product.plan.weights.is_integer() {
            product.integers(&mut rows);
        } else {
            product.floats(host, &mut rows);
        }
        product.write(&rows);
    }
}

impl Product<'_> {
    /// What the products are added to, as integers or singles.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn accumulators<const N: usize>(&self, rows: &mut [[u32; N]; ROWS]) {
        let Some(place) = self.places.accumulator else {
            return;
        };
        let bytes = self.file.get(place..).unwrap_or(&[]);
        let narrow: fn([u8; 2]) -> f32 = match self.plan.accumulator {
            DataType::Bf => |bytes| bf16::from_le_bytes(bytes).to_f32(),
            DataType::Hf => |bytes| f16::from_le_bytes(bytes).to_f32(),
            _ => {
                for (to, words) in rows.iter_mut().zip(rows_of::<N>(bytes)) {
                    *to = words;
                }
                return;
            }
        };
        let elements = bytes.as_chunks().0;
        for (to, bytes) in rows.as_flattened_mut().iter_mut().zip(elements) {
            *to = narrow(*bytes).to_bits();
        }
    }

    /// For each element of depth, its bits in all lanes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn weights<T, const N: usize>(
        &self,
        weights: &mut [[T; N]; DEPTH],
        value: impl Fn([u32; N]) -> [T; N],
    ) {
        let width = self.plan.weights.bits();
        let bytes = self.file.get(self.places.weights..).unwrap_or(&[]);
        let depth = self.plan.depth * self.plan.operations;
        let elements = weights.get_mut(..depth).unwrap_or_default();
        let elements = elements.chunks_mut((32 / width) as usize);
        for (elements, words) in elements.zip(rows_of::<N>(bytes)) {
            for (to, shift) in elements.iter_mut().zip((0..).step_by(width as usize)) {
                let mut bits = words;
                for bits in &mut bits {
                    *bits = *bits >> shift & (u32::MAX >> (32 - width));
                }
                *to = value(bits);
            }
        }
    }

    /// All rows of the activations, one after the other.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn activations<T>(
        &self,
        activations: &mut [T; ROWS * DEPTH],
        value: impl Fn([u32; 16]) -> [T; 16],
    ) {
        let mut bits = [0; ROWS * DEPTH];
        let split = match self.plan.activations.bits() {
            1 => split::<32>,
            2 => split::<16>,
            4 => split::<8>,
            8 => split::<4>,
            16 => split::<2>,
            _ => split::<1>,
        };
        split(self.activations, &mut bits);
        let count = self.plan.repeat * self.plan.depth * self.plan.operations;
        let parts = activations.as_chunks_mut().0.iter_mut();
        let parts = parts.zip(bits.as_chunks().0).take(count.div_ceil(16));
        for (to, bits) in parts {
            *to = value(*bits);
        }
    }

    /// The products of a row have fewer than 24 bits together, so singles add them up exactly, and faster.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn integers<const N: usize>(&self, rows: &mut [[u32; N]; ROWS]) {
        let plan = self.plan;
        let depth = plan.depth * plan.operations;
        let mut activations = [0.0; ROWS * DEPTH];
        self.activations(&mut activations, |bits| plan.activations.integers(bits));
        let mut weights = [[0.0; N]; DEPTH];
        self.weights(&mut weights, |bits| plan.weights.integers(bits));
        let activations = activations.chunks(depth).take(plan.repeat);
        for (sums, row) in rows.iter_mut().zip(activations) {
            let mut exact = [0f32; N];
            for (weights, activation) in weights.iter().zip(row) {
                for (sum, weight) in exact.iter_mut().zip(weights) {
                    *sum += weight * activation;
                }
            }
            for (sum, exact) in sums.iter_mut().zip(exact) {
                *sum = sum.wrapping_add(exact as i32 as u32);
            }
        }
    }

    /// Products are exact in double, and each step of depth rounds once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn floats<const N: usize, H: Host>(&self, host: H, rows: &mut [[u32; N]; ROWS]) {
        let plan = self.plan;
        let depth = plan.depth * plan.operations;
        let mut activations = [0.0; ROWS * DEPTH];
        self.activations(&mut activations, |bits| plan.activations.floats(bits));
        let mut weights = [[0.0; N]; DEPTH];
        self.weights(&mut weights, |bits| plan.weights.floats(bits));
        // Scales are powers of two, so it makes no difference when they multiply.
        if let Some(place) = self.places.weight_scales {
            for (block, weights) in weights.chunks_mut(BLOCK).enumerate() {
                let scales: [f64; N] = self.scales(place, block);
                for (weight, scale) in weights.iter_mut().flat_map(|w| w.iter_mut().zip(scales)) {
                    *weight *= scale;
                }
            }
        }
        if let Some(place) = self.places.activation_scales {
            for block in 0..depth.div_ceil(BLOCK) {
                let scales: [f64; ROWS] = self.scales(place, block);
                for (row, scale) in activations.chunks_mut(depth).zip(scales) {
                    for activation in row.iter_mut().skip(block * BLOCK).take(BLOCK) {
                        *activation *= scale;
                    }
                }
            }
        }
        let activations = activations.chunks(depth).take(plan.repeat);
        for (sums, row) in rows.iter_mut().zip(activations) {
            let steps = weights.chunks(plan.operations);
            for (weights, activations) in steps.zip(row.chunks(plan.operations)) {
                let mut exact = sums.map(|sum| f64::from(f32::from_bits(sum)));
                for (weights, activation) in weights.iter().zip(activations) {
                    for (sum, weight) in exact.iter_mut().zip(weights) {
                        *sum = host.add_product(*sum, *weight, *activation);
                    }
                }
                for (sum, exact) in sums.iter_mut().zip(exact) {
                    *sum = (exact as f32).to_bits();
                }
            }
            for sum in sums {
                // Which of several NaNs a sum keeps would depend on the host.
                let is_nan = *sum & 0x7fff_ffff > f32::INFINITY.to_bits();
                *sum = if is_nan { f32::NAN.to_bits() } else { *sum };
            }
        }
    }

    /// Scales of a block.
    fn scales<const N: usize>(&self, place: usize, block: usize) -> [f64; N] {
        let codes = self.file.get(place + block * BLOCK_SCALES..);
        let mut scales = [f64::NAN; N];
        for (to, code) in scales.iter_mut().zip(codes.unwrap_or(&[])) {
            *to = e8m0(*code);
        }
        scales
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write<const N: usize>(&mut self, rows: &[[u32; N]; ROWS]) {
        let bytes = self.file.get_mut(self.places.result..).unwrap_or_default();
        let rows = rows.iter().take(self.plan.repeat);
        let all = u32::MAX >> (32 - N);
        let narrow: fn(f32) -> [u8; 2] = match self.plan.result {
            DataType::Bf => |sum| bf16::from_f32(sum).to_le_bytes(),
            DataType::Hf => |sum| f16::from_f32(sum).to_le_bytes(),
            _ => {
                for (to, row) in bytes.chunks_exact_mut(N * 4).zip(rows) {
                    let to = to.as_chunks_mut().0;
                    if self.mask & all == all {
                        for (to, sum) in to.iter_mut().zip(row) {
                            *to = sum.to_le_bytes();
                        }
                        continue;
                    }
                    for (lane, (to, sum)) in to.iter_mut().zip(row).enumerate() {
                        if self.mask >> lane & 1 != 0 {
                            *to = sum.to_le_bytes();
                        }
                    }
                }
                return;
            }
        };
        for (to, row) in bytes.chunks_exact_mut(N * 2).zip(rows) {
            for (lane, (to, sum)) in to.as_chunks_mut().0.iter_mut().zip(row).enumerate() {
                if self.mask >> lane & 1 != 0 {
                    *to = narrow(f32::from_bits(*sum));
                }
            }
        }
    }
}

/// Rows of words.
#[cfg_attr(not(debug_assertions), inline(always))]
fn rows_of<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u32; N]> {
    bytes.chunks_exact(N * 4).map(|bytes| {
        let mut words = [0; N];
        for (to, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *to = u32::from_le_bytes(*bytes);
        }
        words
    })
}

/// Elements of which each word has this many.
#[cfg_attr(not(debug_assertions), inline(always))]
fn split<const N: usize>(bytes: &[u8], elements: &mut [u32; ROWS * DEPTH]) {
    let width = 32 / N as u32;
    let words = bytes.as_chunks().0;
    for (to, bytes) in elements.as_chunks_mut::<N>().0.iter_mut().zip(words) {
        let word = u32::from_le_bytes(*bytes);
        for (to, n) in to.iter_mut().zip(0..) {
            *to = word >> (n * width) & (u32::MAX >> (32 - width));
        }
    }
}

/// Bytes of the activations of a DPASW that the first thread of the pair holds: half of the
/// registers, rounded up. The second holds the rest.
pub(crate) fn first_part(bytes: usize) -> usize {
    bytes.div_ceil(32).div_ceil(2) * 32
}

#[cfg(test)]
mod tests;
