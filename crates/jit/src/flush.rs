//! Float modes in which denormals are treated as zero.
//!
//! The host's own switch for results tests whether a result is tiny before rounding it to the smallest normal number,
//! this machine tests it afterwards. So sources and results are flushed by separate instructions, below a limit stored
//! in the context: the smallest normal number, or zero if denormals of the type are kept.

use crate::Features;
use crate::ops;
use crate::pages::place as fields;
use crate::vector::{Chunks, Writer, field};
use iced_x86::{Code, Register};

impl Writer {
    /// Lanes of floats whose magnitude is below the limit become zero of the same sign. Registers 6 and 7 are lost.
    pub(crate) fn flush(&mut self, c: Chunks, n: u32) {
        let limit = field(if c.lane == 4 {
            fields::FLUSHED_F
        } else {
            fields::FLUSHED_DF
        });
        let rest = self.every(c, !(1 << 31), !(1 << 63));
        self.v3m(c, ops::AND, 6, n, rest);
        if self.features == Features::Avx512 {
            let (code, and) = match (c.zmm, c.lane) {
                (true, 4) => (
                    Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
                    Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
                ),
                (true, _) => (
                    Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
                    Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64,
                ),
                (false, 4) => (
                    Code::EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8,
                    Code::EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32,
                ),
                (false, _) => (
                    Code::EVEX_Vpcmpuq_kr_k1_ymm_ymmm256b64_imm8,
                    Code::EVEX_Vpandq_ymm_k1z_ymm_ymmm256b64,
                ),
            };
            self.asm.op3i(code, Register::K2, c.register(6), limit, 1);
            let sign = self.every(c, 1 << 31, 1 << 63);
            self.asm.op3(and, c.register(n), c.register(n), sign);
            self.asm.mask(Register::K2);
        } else {
            let greater = if c.lane == 4 {
                Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256
            } else {
                Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256
            };
            self.v2(c, ops::MOVE, 7, limit);
            self.asm
                .op3(greater, c.register(7), c.register(7), c.register(6));
            // All but the sign goes.
            self.v3(c, ops::AND, 7, 7, 6);
            self.v3(c, ops::ANDN, n, 7, n);
        }
    }

    /// NaNs become quiet; every other number is unchanged.
    pub(crate) fn quiet(&mut self, c: Chunks, n: u32) {
        // A product with one is exact in every mode; a sum with zero has the sign determined by the mode.
        let one = self.every(c, 1f32.to_bits(), 1f64.to_bits());
        let mul = if c.lane == 4 {
            ops::MUL_PS
        } else {
            ops::MUL_PD
        };
        self.v3m(c, mul, n, n, one);
    }
}
