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
    /// Registers 3 and 4 are lost.
    pub(crate) fn word_of_single(&mut self, c: Chunks, n: u32, ty: DataType) {
        if ty == DataType::Hf {
            self.halves(c, n);
            self.v2(c, ops::WIDEN_UW_D, n, c.half(n));
            return;
        }
        let (one, below) = (self.dwords(1), self.dwords(0x7fff));
        let quiet = self.dwords(1 << 22);
        // All ones where it is a number.
        self.float_mask(c, 3, n, n, 7);
        self.v2i(c, ops::SHR_D_IMM, 4, c.register(n), bits(2));
        self.v3m(c, ops::AND, 4, 4, one);
        self.v3m(c, ops::ADD_D, 4, 4, below);
        self.v3(c, ops::AND, 4, 4, 3);
        self.v3m(c, ops::ANDN, 3, 3, quiet);
        self.v3(c, ops::ADD_D, n, n, 4);
        self.v3(c, ops::OR, n, n, 3);
        self.v2i(c, ops::SHR_D_IMM, n, c.register(n), bits(2));
    }

    /// Product of halves and a sum, rounded to odd, so that the half nearest to it is the one nearest to the exact sum.
    /// Registers 3 to 5 are lost.
    pub(crate) fn halves_fused(&mut self, c: Chunks, to: u32, a: u32, b: u32, z: u32) {
        // Of several NaNs the host keeps the one of the second operand, then of the first. The product is exact, so this
        // is its sum with the third source.
        self.v2(c, ops::MOVE, to, c.register(b));
        self.v3(c, ops::FMA_PS, to, a, z);
        self.v3(c, ops::MUL_PS, 3, a, b);
        // What rounding took away.
        self.v3(c, ops::SUB_PS, 4, to, 3);
        self.v3(c, ops::SUB_PS, 5, to, 4);
        self.v3(c, ops::SUB_PS, 3, 3, 5);
        self.v3(c, ops::SUB_PS, 4, z, 4);
        self.v3(c, ops::ADD_PS, 3, 3, 4);
        // Not where it is zero, nor where the sum is infinite or none.
        self.v3(c, ops::XOR, 5, 5, 5);
        self.float_mask(c, 4, 3, 5, 0x0c);
        // One less if the sum is further from zero, and the last bit set.
        self.v3(c, ops::XOR, 3, 3, to);
        self.v2i(c, ops::SAR_D_IMM, 3, c.register(3), 31);
        self.v3(c, ops::AND, 3, 3, 4);
        self.v3(c, ops::ADD_D, to, to, 3);
        let one = self.dwords(1);
        self.v3m(c, ops::AND, 4, 4, one);
        self.v3(c, ops::OR, to, to, 4);
    }
}
