//! Systolic products: rows of sums of products of brain floats, halves, tf32, or bytes.
//!
//! The interpreter (`exec/src/lanes/dpas.rs`) adds exact products of floats in double, and rounds to single after each step
//! of depth. So does this code, with all sums of a block of rows and lanes in registers. It rounds without leaving
//! doubles: with `t = 2^29 s`, whose exponent needs but an addition of integers, `t - (t - s)` is `s` to 24 bits. The
//! inner difference is a multiple of the last bit that is wanted, and rounded to nearest even; where it is below the
//! power of two that `t` is just above, it has one bit more, and `s` is nearest to that power of two. The outer one is exact.
//!
//! That holds unless a sum overflows, is no number, is the negative zero, or has bits below those of the smallest single.
//! None is so if factors are zero or neither tiny nor huge, and sums begin with numbers that are not huge, nor the
//! negative zero, which is compared first: the interpreter multiplies all others. What was compared in one product, and
//! is not written, need not be compared in those that follow.
//!
//! Sums of products of bytes are exact: even and odd bytes are extended to words, of which one instruction adds up pairs of
//! products.
//!
//! Factors are converted to memory that nobody else sees, from where activations are spread to all lanes. Products that
//! follow each other, and have the same factors, find them there.

use crate::Features;
use crate::factors::{Limits, TF32};
use crate::masks::Enabled;
use crate::mode::Form;
use crate::pages::place;
use crate::path::Path;
use crate::pending::meet;
use crate::vector::{Chunks, Done, MASK, NoTemplate, Writer, field};
use crate::x64::{Condition, ECX, EDX, Label, Memory, Number, RCX, RDX, Width, ops, xmm, ymm, zmm};
use std::ops::Range;
use visakit_exec::code::{Product, ProductFormat, Systolic};
use visakit_isa::DataType;

/// The lanes that are converted at once.
const GROUP: usize = 8;

/// The registers of all sums begin here; those of AVX2 end with its registers, and others with [`WEIGHTS`].
const SUMS: u32 = 8;

/// Where doubles of weights are with AVX-512, and without it.
const WEIGHTS: [u32; 2] = [24, 4];

/// Counters of loops: the distances from the first item in two operands.
const COUNTERS: [(Number, Number); 2] = [(ECX, RCX), (EDX, RDX)];

/// An item of a loop.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    counted: bool,
    /// Items between the first one and that of the first turn.
    number: usize,
}

impl Item {
    /// Its place in an operand in which items are so far from each other.
    pub(crate) fn of(self, first: Memory, way: usize, stride: usize) -> Memory {
        let place = further(first, self.number * stride);
        match COUNTERS.get(way) {
            Some((_, counter)) if self.counted => place.indexed(*counter, Width::Byte),
            _ => place,
        }
    }
}

pub(crate) fn further(place: Memory, bytes: usize) -> Memory {
    place.further(i64::try_from(bytes).unwrap_or(i64::MAX))
}

/// Bytes of a result or accumulator.
const fn bytes_of(ty: DataType) -> usize {
    match ty {
        DataType::Bf | DataType::Hf => 2,
        _ => 4,
    }
}

/// A block of a product whose sums are in registers at once.
#[derive(Clone, Debug)]
struct Block {
    rows: Range<usize>,
    /// Groups of lanes, or chunks.
    groups: Range<usize>,
}

/// Where doubles of weights are.
struct Weights {
    place: Memory,
    /// Weights of a lane for a step of depth.
    factors: usize,
    /// Groups of lanes.
    groups: usize,
}

impl Weights {
    /// Those of a product, in the place of this number.
    fn new(product: &Product, number: usize) -> Self {
        let [format, _] = product.formats;
        let before = place::ACTIVATIONS_BYTES + number * place::WEIGHTS_BYTES;
        Self {
            place: further(field(place::PRODUCTS), before),
            factors: if format == ProductFormat::Tf32 { 1 } else { 2 },
            groups: product.lanes / GROUP,
        }
    }

    /// Bytes from one step of depth to the next.
    const fn pitch(&self) -> usize {
        self.factors * self.groups * GROUP * 8
    }

    /// A vector of so many bytes of a group in the first step.
    fn vector(&self, factor: usize, group: usize, vector: usize, bytes: usize) -> Memory {
        let before = (factor * self.groups + group) * GROUP * 8;
        further(self.place, before + vector * bytes)
    }
}

impl Writer {
    /// Code for a systolic product, for all lanes or those in [`MASK`]. It goes to `slow`, before anything is written, with
    /// numbers that it does not multiply.
    pub(crate) fn systolic(&mut self, systolic: &Systolic, enabled: Enabled, slow: Label) -> Done {
        let product = systolic.product().ok_or(NoTemplate)?;
        if self.pair.is_some() || self.form == Form::Directed {
            return Err(NoTemplate);
        }
        // All vector registers are used.
        let mut factors = std::mem::take(&mut self.kept.factors);
        self.forget();
        let [of_weights, of_activations] = product.formats;
        let is_integer = matches!(of_weights, ProductFormat::Byte { .. });
        let blocks = self.blocks(&product, is_integer);
        let part = |place: usize, bytes: usize| place..place + bytes;
        let [of_result, of_sums] = product.types;
        let elements = product.rows * product.lanes;
        let written = part(product.result, elements * bytes_of(of_result));
        let sums = product
            .accumulator
            .map(|place| part(place, elements * bytes_of(of_sums)));
        let weights = part(product.weights, product.depth * product.lanes * 4);
        let activations = part(product.activations, product.depth * product.rows * 4);
        // Blocks read after the first one is written, but each of them the sums that it replaces.
        let replaces = sums
            .as_ref()
            .is_none_or(|sums| *sums == written || !meet(sums, &written));
        if blocks.len() > 1 && (meet(&weights, &written) || !replaces) {
            return Err(NoTemplate);
        }
        if !is_integer {
            for operand in [&weights, &activations] {
                let own = (operand.clone(), of_weights);
                if !factors.within.contains(&own) {
                    self.within(operand, Limits::of(of_weights), slow)?;
                    factors.within.push(own);
                }
            }
            if let Some(sums) = &sums {
                self.within(sums, Limits::of_sums(of_sums), slow)?;
            }
        }
        self.takes(Path::Product);
        let converted = Some((activations, of_activations));
        if factors.activations != converted {
            match of_activations {
                ProductFormat::Byte { signed } => self.bytes_to_words(&product, signed)?,
                format => self.activations_to_doubles(&product, format)?,
            }
            factors.activations = converted;
        }
        if is_integer {
            for block in blocks {
                self.integers(&product, &block, enabled)?;
            }
        } else {
            let (number, is_there) = factors.place_of(&weights, of_weights);
            let weights = Weights::new(&product, number);
            if !is_there {
                self.weights_to_doubles(&product, of_weights, &weights)?;
            }
            for block in blocks {
                self.floats(&product, &weights, &block, enabled)?;
            }
        }
        self.overwritten(written.start, written.len());
        self.forget();
        factors.overwritten(&written);
        self.kept.factors = factors;
        Ok(())
    }

    /// Whether registers of 512 bits are there.
    pub(crate) fn has_zmm(&self) -> bool {
        self.features == Features::Avx512
    }

    /// The parts of a product whose sums fit into registers.
    fn blocks(&self, product: &Product, is_integer: bool) -> Vec<Block> {
        let (rows, groups) = match (self.has_zmm(), is_integer) {
            (true, false) => (product.rows, product.lanes / GROUP),
            (false, false) => (4, 1),
            (_, true) => (product.rows, 1),
        };
        let all = match is_integer {
            true => Chunks::new(self.features, 4, product.lanes).count,
            false => product.lanes / GROUP,
        };
        let mut blocks = Vec::new();
        for first in (0..product.rows).step_by(rows) {
            for group in (0..all).step_by(groups) {
                blocks.push(Block {
                    rows: first..product.rows.min(first + rows),
                    groups: group..group + groups,
                });
            }
        }
        blocks
    }

    /// A loop over items, of which each turn has at least so many, as far as there are. The number of turns is a power of two,
    /// as are `strides`, the bytes between items in operands.
    pub(crate) fn turns(
        &mut self,
        count: usize,
        least: usize,
        strides: [usize; 2],
        mut body: impl FnMut(&mut Self, Item) -> Done,
    ) -> Done {
        let mut turns = 1 << count.trailing_zeros();
        while turns > 1 && count / turns < least {
            turns /= 2;
        }
        let counted = turns > 1;
        let again = self.asm.label();
        if counted {
            for (counter, _) in COUNTERS {
                self.asm.xor(counter, counter);
            }
            self.asm.place(again);
        }
        for number in (0..count).step_by(turns) {
            body(self, Item { counted, number })?;
        }
        if counted {
            for ((counter, _), stride) in COUNTERS.into_iter().zip(strides) {
                // No bits but these, so that it begins again after the last turn.
                let bits = |number: usize| u32::try_from(number).map_err(|_| NoTemplate);
                self.asm.add(counter, bits(stride)?);
                self.asm.and(counter, bits(stride * (turns - 1))?);
            }
            self.asm.jump_if(Condition::NotEqual, again);
        }
        Ok(())
    }

    /// Doubles of singles, in one register or in two.
    fn group_as_doubles(&mut self, from: u32, to: u32) {
        if self.has_zmm() {
            self.asm.v2(ops::WIDEN_F_DF, zmm(to), ymm(from));
            return;
        }
        self.asm.v2(ops::WIDEN_F_DF, ymm(to), xmm(from));
        self.asm.v2i(ops::EXTRACT_HALF, xmm(from), ymm(from), 1);
        self.asm.v2(ops::WIDEN_F_DF, ymm(to + 1), xmm(from));
    }

    /// Registers of the doubles of a group.
    const fn vectors_of_group(&self) -> u32 {
        match self.features {
            Features::Avx512 => 1,
            Features::Avx2 => 2,
        }
    }

    /// Bytes of each of them.
    fn bytes_of_vector(&self) -> usize {
        if self.has_zmm() { 64 } else { 32 }
    }

    /// The singles of a group of words of 16 bits.
    fn load_words(&mut self, to: u32, from: Memory, is_half: bool) {
        if is_half {
            self.asm.v2(ops::WIDEN_HF, ymm(to), from);
        } else {
            self.asm.v2(ops::WIDEN_UW_D, ymm(to), from);
            self.asm.v2i(ops::SHL_D_IMM, ymm(to), ymm(to), 16);
        }
    }

    /// All activations as doubles, to memory.
    fn activations_to_doubles(&mut self, product: &Product, format: ProductFormat) -> Done {
        let size = if format == ProductFormat::Tf32 { 4 } else { 2 };
        let count = product.rows * product.depth * 4 / size;
        let groups = count.div_ceil(GROUP);
        // What is after the last one is converted, too, and not used.
        let from = self.file(product.activations, groups * GROUP * size)?;
        let to = field(place::PRODUCTS);
        let c = GROUPED;
        self.turns(groups, 4, [GROUP * size, GROUP * 8], |own, item| {
            let from = item.of(from, 0, GROUP * size);
            if size == 2 {
                own.load_words(0, from, format == ProductFormat::Half);
            } else {
                let bits = own.dwords(TF32);
                own.load_bytes(0, from, 32)?;
                own.v3m(c, ops::AND, 0, 0, bits);
            }
            own.group_as_doubles(0, SUMS);
            let bytes = own.bytes_of_vector();
            for (n, vector) in (0..).zip(SUMS..SUMS + own.vectors_of_group()) {
                let to = item.of(to, 1, GROUP * 8);
                own.store_bytes(further(to, n * bytes), vector, bytes)?;
            }
            Ok(())
        })
    }

    /// The weights of a group of lanes that the words in a register have at a place, as singles.
    fn weights(&mut self, n: u32, format: ProductFormat, number: usize) -> Done {
        let c = GROUPED;
        match (format, number) {
            (ProductFormat::Brain, 0) => self.v2i(c, ops::SHL_D_IMM, n, c.register(n), 16),
            (ProductFormat::Half, _) => {
                if number != 0 {
                    self.v2i(c, ops::SHR_D_IMM, n, c.register(n), 16);
                }
                self.single_of_word(c, n, DataType::Hf)?;
            }
            _ => {
                let bits = self.dwords(if format == ProductFormat::Tf32 {
                    TF32
                } else {
                    0xffff_0000
                });
                self.v3m(c, ops::AND, n, n, bits);
            }
        }
        Ok(())
    }

    /// All weights as doubles, to memory.
    fn weights_to_doubles(
        &mut self,
        product: &Product,
        format: ProductFormat,
        to: &Weights,
    ) -> Done {
        let pitch = product.lanes * 4;
        let words = self.file(product.weights, product.depth * pitch)?;
        let bytes = self.bytes_of_vector();
        self.turns(product.depth, 1, [pitch, to.pitch()], |own, item| {
            for (factor, group) in (0..to.factors).flat_map(|f| (0..to.groups).map(move |g| (f, g)))
            {
                own.load_bytes(0, item.of(further(words, group * GROUP * 4), 0, pitch), 32)?;
                own.weights(0, format, factor)?;
                own.group_as_doubles(0, SUMS);
                for (vector, n) in (0..).zip(SUMS..SUMS + own.vectors_of_group()) {
                    let to = item.of(to.vector(factor, group, vector, bytes), 1, to.pitch());
                    own.store_bytes(to, n, bytes)?;
                }
            }
            Ok(())
        })
    }

    /// A block of a product of floats.
    fn floats(
        &mut self,
        product: &Product,
        doubles: &Weights,
        block: &Block,
        enabled: Enabled,
    ) -> Done {
        let (lanes, vectors) = (product.lanes, self.vectors_of_group());
        let zmm = self.has_zmm();
        let c = Chunks {
            lane: 8,
            lanes: 8,
            count: 1,
            zmm,
        };
        let factors = doubles.factors;
        let groups = block.groups.clone();
        let sums: Vec<(usize, usize, u32)> = block
            .rows
            .clone()
            .flat_map(|row| groups.clone().map(move |group| (row, group)))
            .zip((SUMS..).step_by(vectors as usize))
            .map(|((row, group), n)| (row, group, n))
            .collect();
        let [of_result, of_sums] = product.types;
        let element = |row: usize, group: usize| row * lanes + group * GROUP;
        for &(row, group, n) in &sums {
            let Some(first) = product.accumulator else {
                for n in n..n + vectors {
                    self.v3(c, ops::XOR, n, n, n);
                }
                continue;
            };
            let at = first + element(row, group) * bytes_of(of_sums);
            let from = self.file(at, GROUP * bytes_of(of_sums))?;
            if of_sums == DataType::F {
                self.load_bytes(0, from, 32)?;
            } else {
                self.load_words(0, from, of_sums == DataType::Hf);
            }
            self.group_as_doubles(0, n);
        }
        let [of_avx512, of_avx2] = WEIGHTS;
        let weights = if zmm { of_avx512 } else { of_avx2 };
        let weight = |factor: usize, group: usize| {
            let number = factor * groups.len() + group - groups.start;
            weights + u32::try_from(number).unwrap_or(0) * vectors
        };
        let bytes = self.bytes_of_vector();
        let activations = field(place::PRODUCTS);
        let exponent = self.qwords(29 << 52);
        let (spread, t) = ([0, 1], 2);
        self.turns(
            product.depth,
            1,
            [factors * 8, doubles.pitch()],
            |own, item| {
                for (factor, group) in
                    (0..factors).flat_map(|f| groups.clone().map(move |g| (f, g)))
                {
                    for vector in 0..vectors {
                        let from = doubles.vector(factor, group, vector as usize, bytes);
                        let from = item.of(from, 1, doubles.pitch());
                        own.load_bytes(weight(factor, group) + vector, from, bytes)?;
                    }
                }
                for row in block.rows.clone() {
                    for (factor, n) in (0..factors).zip(spread) {
                        let at = row * product.depth * factors + factor;
                        let activation = item.of(further(activations, at * 8), 0, factors * 8);
                        own.v2(c, ops::BROADCAST_Q, n, activation);
                    }
                    for &(_, group, first) in sums.iter().filter(|(own, ..)| *own == row) {
                        for (vector, sum) in (0..).zip(first..first + vectors) {
                            for (factor, n) in (0..factors).zip(spread) {
                                own.v3(c, ops::FMA_SUM_PD, sum, n, weight(factor, group) + vector);
                            }
                            own.v3m(c, ops::ADD_Q, t, sum, exponent);
                            own.v3(c, ops::SUB_PD, sum, t, sum);
                            own.v3(c, ops::SUB_PD, sum, t, sum);
                        }
                    }
                }
                Ok(())
            },
        )?;
        for (row, group, n) in sums {
            let at = product.result + element(row, group) * bytes_of(of_result);
            let to = self.place(at, GROUP * bytes_of(of_result))?;
            self.narrowed_sums(n);
            let is_narrow = of_result != DataType::F;
            if is_narrow {
                self.word_of_single(GROUPED, 0, of_result);
            }
            if enabled != Enabled::All {
                match is_narrow {
                    true => self.asm.v2(ops::WIDEN_UW_D, ymm(1), to),
                    false => self.load_bytes(1, to, 32)?,
                }
                self.blend_by(GROUPED, group, 0, 1, 0, MASK);
            }
            if is_narrow {
                self.narrow(GROUPED, 0, 2)?;
            }
            self.store_bytes(to, 0, GROUP * bytes_of(of_result))?;
        }
        Ok(())
    }

    /// Sums of a group, which are singles, as such.
    fn narrowed_sums(&mut self, n: u32) {
        if self.has_zmm() {
            self.asm.v2(ops::NARROW_DF_F, ymm(0), zmm(n));
            return;
        }
        for (to, from) in [(0, n), (1, n + 1)] {
            self.asm.v2(ops::NARROW_DF_F, xmm(to), ymm(from));
        }
        self.asm.v3i(ops::INSERT_HALF, ymm(0), ymm(0), xmm(1), 1);
    }

    /// Even and odd bytes of a register as words.
    fn words_of_bytes(&mut self, c: Chunks, from: u32, [even, odd]: [u32; 2], signed: bool) {
        if signed {
            self.v2i(c, ops::SHL_D_IMM, even, c.register(from), 8);
            self.v2i(c, ops::SAR_W_IMM, even, c.register(even), 8);
            self.v2i(c, ops::SAR_W_IMM, odd, c.register(from), 8);
        } else {
            let low = self.dwords(0x00ff_00ff);
            self.v3m(c, ops::AND, even, from, low);
            self.v2i(c, ops::SHR_D_IMM, odd, c.register(from), 8);
            self.v3m(c, ops::AND, odd, odd, low);
        }
    }

    /// The words of all activations that are bytes, to memory: even ones, then odd ones.
    fn bytes_to_words(&mut self, product: &Product, signed: bool) -> Done {
        let count = (product.rows * product.depth * 4).div_ceil(32);
        let from = self.file(product.activations, count * 32)?;
        let to = field(place::PRODUCTS);
        self.turns(count, 2, [32; 2], |own, item| {
            own.load_bytes(0, item.of(from, 0, 32), 32)?;
            own.words_of_bytes(GROUPED, 0, [1, 2], signed);
            for (n, part) in [(1, 0), (2, ODD)] {
                own.store_bytes(item.of(further(to, part), 0, 32), n, 32)?;
            }
            Ok(())
        })
    }

    /// A block of a product of bytes.
    fn integers(&mut self, product: &Product, block: &Block, enabled: Enabled) -> Done {
        let c = Chunks::new(self.features, 4, product.lanes);
        let bytes = c.lanes * 4;
        let (pitch, first) = (product.lanes * 4, block.groups.start * bytes);
        let signed = matches!(product.formats, [ProductFormat::Byte { signed: true }, _]);
        let sums = || block.rows.clone().zip(SUMS..);
        for (row, n) in sums() {
            match product.accumulator {
                Some(place) => {
                    let from = self.file(place + row * pitch + first, bytes)?;
                    self.load_bytes(n, from, bytes)?;
                }
                None => self.v3(c, ops::XOR, n, n, n),
            }
        }
        let weights = self.file(product.weights, product.depth * pitch)?;
        let activations = field(place::PRODUCTS);
        let (spread, weight) = ([0, 1], [4, 5]);
        self.turns(product.depth, 1, [4, pitch], |own, item| {
            own.load_bytes(0, item.of(further(weights, first), 1, pitch), bytes)?;
            own.words_of_bytes(c, 0, weight, signed);
            for (row, sum) in sums() {
                let at = row * product.depth * 4;
                for ((part, n), weight) in [0, ODD].into_iter().zip(spread).zip(weight) {
                    let activation = item.of(further(activations, at + part), 0, 4);
                    own.v2(c, ops::BROADCAST_D, n, activation);
                    own.v3(c, ops::MUL_ADD_W, n, n, weight);
                    own.v3(c, ops::ADD_D, sum, sum, n);
                }
            }
            Ok(())
        })?;
        for (row, n) in sums() {
            let to = self.place(product.result + row * pitch + first, bytes)?;
            if enabled != Enabled::All {
                self.load_bytes(0, to, bytes)?;
                self.blend_by(c, block.groups.start, n, 0, n, MASK);
            }
            self.store_bytes(to, n, bytes)?;
        }
        Ok(())
    }
}

/// Bytes from even words of activations to odd ones.
const ODD: usize = 256;

/// Lanes of 32 bits of a group.
const GROUPED: Chunks = Chunks {
    lane: 4,
    lanes: GROUP,
    count: 1,
    zmm: false,
};
