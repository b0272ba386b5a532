//! Factors of systolic products: whether they are within the limits of the templates, and which have been converted.

use crate::pages::place::PLACES;
use crate::pending::meet;
use crate::product::further;
use crate::vector::{Chunks, Done, Writer};
use crate::x64::{
    Condition, Label, Mask,
    ops::{self, Op},
    ymm,
};
use std::ops::Range;
use visakit_exec::code::ProductFormat;
use visakit_isa::DataType;

/// Exponents of factors are below this one, and not below its negation.
const FACTORS: u32 = 60;

/// Numbers without signs that are to be within limits, zero aside.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of one.
    size: usize,
    /// Its bits but for the sign.
    magnitude: u32,
    most: u32,
    /// The least one that is not zero; `None`: any, but not the negative zero.
    least: Option<u32>,
}

impl Limits {
    /// Those of factors.
    pub(crate) fn of(format: ProductFormat) -> Self {
        // Of the exponent, in a single.
        let single = |exponent: u32| exponent << 23;
        let (least, most) = (single(127 - FACTORS), single(127 + FACTORS) - 1);
        match format {
            ProductFormat::Brain => Self {
                size: 2,
                magnitude: 0x7fff,
                most: most >> 16,
                least: Some(least >> 16),
            },
            ProductFormat::Tf32 => Self {
                size: 4,
                magnitude: TF32 & i32::MAX.cast_unsigned(),
                most,
                least: Some(least),
            },
            // Products have bits of singles only.
            _ => Self {
                size: 2,
                magnitude: 0x7fff,
                most: 0x7bff,
                least: Some(1),
            },
        }
    }

    /// Those of numbers that sums begin with.
    pub(crate) const fn of_sums(ty: DataType) -> Self {
        // A quarter of the numbers that are too large.
        let most = (126 + 127) << 23;
        let (size, magnitude, most) = match ty {
            DataType::Bf => (2, 0x7fff, most >> 16),
            DataType::Hf => (2, 0x7fff, 0x7c00),
            _ => (4, i32::MAX.cast_unsigned(), most),
        };
        Self {
            size,
            magnitude,
            most: most - 1,
            least: None,
        }
    }
}

/// Bits of a single that count as those of a tf32.
pub(crate) const TF32: u32 = 0xffff_e000;

/// What is known of factors in the register file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Factors {
    /// Those that are within their limits.
    pub(crate) within: Vec<(Range<usize>, ProductFormat)>,
    /// Activations that were converted last.
    pub(crate) activations: Option<(Range<usize>, ProductFormat)>,
    /// Weights that were converted, by the place for them.
    pub(crate) weights: [Option<(Range<usize>, ProductFormat)>; PLACES],
    /// The place that was filled last.
    last: usize,
}

impl Factors {
    /// Bytes of the file get other contents.
    pub(crate) fn overwritten(&mut self, bytes: &Range<usize>) {
        let stays = |own: &(Range<usize>, ProductFormat)| !meet(&own.0, bytes);
        self.within.retain(stays);
        for converted in self.weights.iter_mut().chain([&mut self.activations]) {
            converted.take_if(|own| !stays(own));
        }
    }

    /// The place of weights: where they are, or are to be converted to. Whether they are there.
    pub(crate) fn place_of(
        &mut self,
        weights: &Range<usize>,
        format: ProductFormat,
    ) -> (usize, bool) {
        let own = Some((weights.clone(), format));
        if let Some(found) = self.weights.iter().position(|converted| *converted == own) {
            return (found, true);
        }
        self.last = (self.last + 1) % PLACES;
        if let Some(place) = self.weights.get_mut(self.last) {
            *place = own;
        }
        (self.last, false)
    }
}

impl Writer {
    /// Leaves the product to the interpreter unless numbers are within limits.
    pub(crate) fn within(&mut self, operand: &Range<usize>, limits: Limits, slow: Label) -> Done {
        const OWN: u32 = 0;
        const OTHER: u32 = 1;
        const MOST: u32 = 2;
        const LEAST: u32 = 3;
        let c = Chunks {
            lane: 4,
            lanes: 8,
            count: 1,
            zmm: self.has_zmm(),
        };
        let wide = if c.zmm { 64 } else { 32 };
        let each = |own: &mut Self, number: u32| match limits.size {
            2 => own.dwords(number << 16 | number),
            _ => own.dwords(number),
        };
        let of = |word: Op, dword: Op| if limits.size == 2 { word } else { dword };
        let (greatest, smallest) = (of(ops::MAX_UW, ops::MAX_UD), of(ops::MIN_UW, ops::MIN_UD));
        let magnitude = each(self, limits.magnitude);
        let (change, by, least) = match limits.least {
            // Zero becomes the largest number.
            Some(least) => (of(ops::SUB_W, ops::SUB_D), each(self, 1), least - 1),
            None => (ops::XOR, each(self, 1 << (8 * limits.size - 1)), 1),
        };
        let (most, least) = (each(self, limits.most), each(self, least));
        self.v2(c, ops::MOVE, MOST, most);
        self.v2(c, ops::MOVE, LEAST, least);
        let compare = |own: &mut Self| {
            own.v3m(c, ops::AND, OTHER, OWN, magnitude);
            own.v3(c, greatest, MOST, MOST, OTHER);
            let from = if limits.least.is_some() { OTHER } else { OWN };
            own.v3m(c, change, OTHER, from, by);
            own.v3(c, smallest, LEAST, LEAST, OTHER);
        };
        let whole = operand.len() / wide;
        let first = self.file(operand.start, operand.len())?;
        if whole > 0 {
            self.turns(whole, 4, [wide; 2], |own, item| {
                own.load_bytes(OWN, item.of(first, 0, wide), wide)?;
                compare(own);
                Ok(())
            })?;
        }
        let mut at = whole * wide;
        for bytes in [32, 16, 8, 4] {
            if (operand.len() - at) & bytes != 0 {
                self.load_bytes(OWN, further(first, at), bytes)?;
                compare(self);
                at += bytes;
            }
        }
        // What has changed is beyond its limit.
        self.v3m(c, ops::XOR, MOST, MOST, most);
        self.v3m(c, ops::XOR, LEAST, LEAST, least);
        self.v3(c, ops::OR, MOST, MOST, LEAST);
        if c.zmm {
            let most = c.register(MOST);
            self.asm.v3(ops::MASK_OF_BITS_D, Mask::K2, most, most);
            self.asm.mask_any(Mask::K2);
        } else {
            self.asm.v2(ops::TEST, ymm(MOST), ymm(MOST));
        }
        self.asm.jump_if(Condition::NotEqual, slow);
        Ok(())
    }
}
