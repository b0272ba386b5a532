//! Floats of 16 bits: halves and brain floats. They are computed with as singles.

use crate::load::bits;
use crate::vector::{Chunks, Done, Writer};
use crate::x64::ops;
use visakit_isa::DataType;

/// Whether a type is one of these formats.
pub(crate) fn is_narrow(ty: DataType) -> bool {
    matches!(ty, DataType::Hf | DataType::Bf)
}

impl Writer {
    /// Singles from the low words of lanes. NaNs become quiet.
    pub(crate) fn single_of_word(&mut self, c: Chunks, n: u32, ty: DataType) -> Done {
        if ty == DataType::Bf {
            self.v2i(c, ops::SHL_D_IMM, n, c.register(n), bits(2));
            self.quiet(c, n);
            return Ok(());
        }
        self.narrow(c, n, 2)?;
        self.v2(c, ops::WIDEN_HF, n, c.half(n));
        Ok(())
    }

    /// Consecutive halves from singles, rounded to nearest even.
    pub(crate) fn halves(&mut self, c: Chunks, n: u32) {
        self.asm.v2i(ops::NARROW_F_HF, c.half(n), c.register(n), 0);
    }

    /// Words in lanes from singles, rounded to nearest even. Of brain floats the upper halves of lanes are undefined.
    pub(crate) fn word_of_single(&mut self, c: Chunks, n: u32, ty: DataType) {
        self.with_scratch(|own, [t, u]| {
            if ty == DataType::Hf {
                own.halves(c, n);
                own.v2(c, ops::WIDEN_UW_D, n, c.half(n));
                return;
            }
            let (one, below) = (own.dwords(1), own.dwords(0x7fff));
            let quiet = own.dwords(1 << 22);
            // All ones where it is a number.
            own.float_mask(c, t, n, n, 7);
            own.v2i(c, ops::SHR_D_IMM, u, c.register(n), bits(2));
            own.v3m(c, ops::AND, u, u, one);
            own.v3m(c, ops::ADD_D, u, u, below);
            own.v3(c, ops::AND, u, u, t);
            own.v3m(c, ops::ANDN, t, t, quiet);
            own.v3(c, ops::ADD_D, n, n, u);
            own.v3(c, ops::OR, n, n, t);
            own.v2i(c, ops::SHR_D_IMM, n, c.register(n), bits(2));
        });
    }

    /// Product of halves and a sum, rounded to odd, so that the half nearest to it is the one nearest to the exact sum.
    pub(crate) fn halves_fused(&mut self, c: Chunks, to: u32, a: u32, b: u32, z: u32) {
        self.with_scratch(|own, [t, u, v]| {
            // Of several NaNs the host keeps the one of the second operand, then of the first. The product is exact, so this
            // is its sum with the third source.
            own.v2(c, ops::MOVE, to, c.register(b));
            own.v3(c, ops::FMA_PS, to, a, z);
            own.v3(c, ops::MUL_PS, t, a, b);
            // What rounding took away.
            own.v3(c, ops::SUB_PS, u, to, t);
            own.v3(c, ops::SUB_PS, v, to, u);
            own.v3(c, ops::SUB_PS, t, t, v);
            own.v3(c, ops::SUB_PS, u, z, u);
            own.v3(c, ops::ADD_PS, t, t, u);
            // Not where it is zero, nor where the sum is infinite or none.
            own.v3(c, ops::XOR, v, v, v);
            own.float_mask(c, u, t, v, 0x0c);
            // One less if the sum is further from zero, and the last bit set.
            own.v3(c, ops::XOR, t, t, to);
            own.v2i(c, ops::SAR_D_IMM, t, c.register(t), 31);
            own.v3(c, ops::AND, t, t, u);
            own.v3(c, ops::ADD_D, to, to, t);
            let one = own.dwords(1);
            own.v3m(c, ops::AND, u, u, one);
            own.v3(c, ops::OR, to, to, u);
        });
    }
}
