//! Float modes in which denormals are treated as zero.
//!
//! The host's own switch for results tests whether a result is tiny before rounding it to the smallest normal number,
//! this machine tests it afterwards. So sources and results are flushed by separate instructions, below a limit stored
//! in the context: the smallest normal number, or zero if denormals of the type are kept.

use crate::Features;
use crate::pages::place as fields;
use crate::vector::{Chunks, Writer, field};
use crate::x64::{Mask, ops};

impl Writer {
    /// Lanes of floats whose magnitude is below the limit become zero of the same sign.
    pub(crate) fn flush(&mut self, c: Chunks, n: u32) {
        self.with_scratch(|own, [t, u]| {
            let limit = field(if c.lane == 4 {
                fields::FLUSHED_F
            } else {
                fields::FLUSHED_DF
            });
            let rest = own.every(c, !(1 << 31), !(1 << 63));
            own.v3m(c, ops::AND, t, n, rest);
            if own.features == Features::Avx512 {
                let below = c.of(ops::MASK_OF_UD, ops::MASK_OF_UQ);
                own.asm.v3i(below, Mask::K2, c.register(t), limit, 1);
                let sign = own.every(c, 1 << 31, 1 << 63);
                own.v3m(c, c.of(ops::MASKED_AND_D, ops::MASKED_AND_Q), n, n, sign);
                own.asm.mask(Mask::K2);
            } else {
                own.v2(c, ops::MOVE, u, limit);
                own.v3(c, c.of(ops::GREATER_D, ops::GREATER_Q), u, u, t);
                // All but the sign goes.
                own.v3(c, ops::AND, u, u, t);
                own.v3(c, ops::ANDN, n, u, n);
            }
        });
    }

    /// NaNs become quiet; every other number is unchanged.
    pub(crate) fn quiet(&mut self, c: Chunks, n: u32) {
        // A product with one is exact in every mode; a sum with zero has the sign determined by the mode.
        let one = self.every(c, 1f32.to_bits(), 1f64.to_bits());
        let mul = c.of(ops::MUL_PS, ops::MUL_PD);
        self.v3m(c, mul, n, n, one);
    }
}
