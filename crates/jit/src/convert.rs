//! Machine code for conversions between integers and floats, and between floats.

use crate::Features;
use crate::masks::Enabled;
use crate::mode::Form;
use crate::ops;
use crate::vector::{Chunks, Done, NoTemplate, Writer, xmm, ymm};
use iced_x86::Code;
use visakit_exec::code::{Compute, Lane, Modify};
use visakit_isa::DataType;

impl Writer {
    /// Conversions of floats, and to them. Conversion to integers clamps; NaN becomes 0.
    pub(crate) fn convert(
        &mut self,
        c: Chunks,
        lanes: usize,
        compute: &Compute,
        to: Lane,
        enabled: Enabled,
    ) -> Done {
        match (compute.lane, to) {
            (Lane::F64, _) => return self.doubles(c, compute, to, enabled),
            (_, Lane::F64) => return self.doubles_from(compute, lanes, enabled),
            _ => {}
        }
        let [source, ..] = &compute.sources;
        let float = compute.lane == Lane::F32;
        let mut destination = compute.destination.clone();
        let ty = destination.data_type;
        let to = match (to, ty) {
            (Lane::F32, DataType::Ud) if float => Lane::U32,
            (Lane::F32, _) if float && ty.is_integer() && ty.size() <= 4 => Lane::I32,
            _ => to,
        };
        let into_float = to == Lane::F32;
        if c.lane != 4 {
            return Err(NoTemplate);
        }
        let mut results = [0; 8];
        let results = results.get_mut(..c.count).ok_or(NoTemplate)?;
        for (chunk, to_register) in results.iter_mut().enumerate() {
            let a = self.load_unflushed(c, chunk, 0, source, float)?;
            let r = self.take(c)?;
            *to_register = r;
            match (compute.lane, to) {
                (Lane::F32, Lane::F32) => {
                    self.v2(c, ops::MOVE, r, c.register(a));
                    if self.form != Form::Usual {
                        self.quiet(c, r);
                    }
                    if self.form == Form::Flushing {
                        self.flush(c, r);
                    }
                }
                (Lane::I32, Lane::F32) => self.v2(c, ops::FROM_D_PS, r, c.register(a)),
                (Lane::U32, Lane::F32) if self.features == Features::Avx512 => {
                    let code = if c.zmm {
                        Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er
                    } else {
                        Code::EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32
                    };
                    self.asm.op2(code, c.register(r), c.register(a));
                }
                (Lane::U32, Lane::F32) => {
                    // Both halves are exact; their combination is rounded once.
                    let (low, shift) = (self.dwords(0xffff), self.dwords(65536f32.to_bits()));
                    self.v2i(c, ops::SHR_D_IMM, r, c.register(a), 16);
                    self.v3m(c, ops::AND, 3, a, low);
                    self.v2(c, ops::FROM_D_PS, r, c.register(r));
                    self.v2(c, ops::FROM_D_PS, 3, c.register(3));
                    self.v2(c, ops::MOVE, 4, shift);
                    self.v3(c, ops::FMA_PS, r, 4, 3);
                }
                (Lane::F32, Lane::I32) => {
                    // Too large values and NaN give the smallest integer: the former become the largest one, the latter
                    // 0.
                    let limit = self.dwords(2_147_483_648f32.to_bits());
                    self.v2(c, ops::MOVE, 1, limit);
                    self.float_mask(c, 3, a, 1, 0x1d);
                    self.float_mask(c, 4, a, a, 7);
                    self.v2(c, ops::TO_D_PS, r, c.register(a));
                    self.v3(c, ops::XOR, r, r, 3);
                    self.v3(c, ops::AND, r, r, 4);
                }
                (Lane::F32, Lane::U32) if self.features == Features::Avx512 => {
                    // The larger one of NaN and 0 is 0.
                    self.v3(c, ops::XOR, 3, 3, 3);
                    self.v3(c, ops::MAX_PS, 4, a, 3);
                    let code = if c.zmm {
                        Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae
                    } else {
                        Code::EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32
                    };
                    self.asm.op2(code, c.register(r), c.register(4));
                }
                (Lane::F32, Lane::U32) => self.float_to_unsigned(c, r, a),
                _ => return Err(NoTemplate),
            }
            if !into_float {
                self.clamp(c, r, ty);
            }
            self.release(a);
        }
        // Conversion to integers has clamped them.
        destination.saturate &= into_float;
        self.finish(c, destination, results, into_float, enabled)
    }

    /// Signed dwords in the range of integers of fewer bits.
    fn clamp(&mut self, c: Chunks, n: u32, ty: DataType) {
        let (least, most) = match ty {
            DataType::B => (i32::from(i8::MIN), i32::from(i8::MAX)),
            DataType::Ub => (0, i32::from(u8::MAX)),
            DataType::W => (i32::from(i16::MIN), i32::from(i16::MAX)),
            DataType::Uw => (0, i32::from(u16::MAX)),
            _ => return,
        };
        let (least, most) = (
            self.dwords(least.cast_unsigned()),
            self.dwords(most.cast_unsigned()),
        );
        self.v3m(c, ops::MAX_SD, n, n, least);
        self.v3m(c, ops::MIN_SD, n, n, most);
    }

    /// Floats as unsigned integers, clamped, for hosts that convert only to signed ones; NaN becomes 0. Registers 3 to
    /// 5 are clobbered.
    fn float_to_unsigned(&mut self, c: Chunks, to: u32, a: u32) {
        let half = self.dwords(2_147_483_648f32.to_bits());
        let whole = self.dwords(4_294_967_296f32.to_bits());
        let sign = self.dwords(1 << 31);
        // The larger one of NaN and 0 is 0.
        self.v3(c, ops::XOR, 3, 3, 3);
        self.v3(c, ops::MAX_PS, 3, a, 3);
        self.v2(c, ops::MOVE, 4, half);
        self.float_mask(c, 5, 3, 4, 0x1d);
        self.v3(c, ops::AND, 4, 4, 5);
        self.v3(c, ops::SUB_PS, 4, 3, 4);
        self.v2(c, ops::TO_D_PS, to, c.register(4));
        self.v3m(c, ops::AND, 5, 5, sign);
        self.v3(c, ops::XOR, to, to, 5);
        self.v2(c, ops::MOVE, 4, whole);
        self.float_mask(c, 5, 3, 4, 0x1d);
        self.v3(c, ops::OR, to, to, 5);
    }

    /// Integers of up to 32 bits as doubles or halves.
    pub(crate) fn integers_to_float(
        &mut self,
        compute: &Compute,
        lanes: usize,
        enabled: Enabled,
    ) -> Done {
        let [source, ..] = &compute.sources;
        let to = compute.destination.data_type;
        if source.data_type.size() > 4 || source.modify != Modify::None {
            return Err(NoTemplate);
        }
        match to {
            DataType::Df => self.doubles_from(compute, lanes, enabled),
            DataType::Hf => self.integers_to_half(compute, lanes, enabled),
            _ => Err(NoTemplate),
        }
    }

    /// Lanes of 32 bits to halves. They are rounded once: those that no single holds are infinite as halves.
    fn integers_to_half(&mut self, compute: &Compute, lanes: usize, enabled: Enabled) -> Done {
        let [source, ..] = &compute.sources;
        // Some unsigned dwords would be negative.
        if self.form != Form::Usual || source.data_type == DataType::Ud {
            return Err(NoTemplate);
        }
        let c = Chunks::new(self.features, 4, lanes);
        let mut results = [0; 8];
        let results = results.get_mut(..c.count).ok_or(NoTemplate)?;
        for (chunk, to) in results.iter_mut().enumerate() {
            let a = self.load(c, chunk, 0, source, false)?;
            *to = self.take(c)?;
            self.v2(c, ops::FROM_D_PS, *to, c.register(a));
            self.release(a);
        }
        self.finish(c, compute.destination.clone(), results, true, enabled)
    }

    /// Lanes of 32 bits to doubles, which is exact.
    fn doubles_from(&mut self, compute: &Compute, lanes: usize, enabled: Enabled) -> Done {
        let [source, ..] = &compute.sources;
        let float = compute.lane == Lane::F32;
        if float && self.form == Form::Flushing {
            return Err(NoTemplate);
        }
        let c = Chunks::new(self.features, 8, lanes);
        let half = c.halved();
        let mut results = [0; 8];
        let results = results.get_mut(..c.count).ok_or(NoTemplate)?;
        let avx512 = self.features == Features::Avx512;
        let unsigned = source.data_type == DataType::Ud;
        for (chunk, to) in results.iter_mut().enumerate() {
            let a = self.load_unflushed(half, chunk, 0, source, float)?;
            let r = self.take(c)?;
            *to = r;
            let mut from = a;
            if unsigned && !avx512 {
                let sign = self.dwords(1 << 31);
                self.v3m(half, ops::XOR, 3, a, sign);
                from = 3;
            }
            let code = match (c.zmm, float, unsigned && avx512) {
                (true, true, _) => Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae,
                (true, _, true) => Code::EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er,
                (true, _, false) => Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er,
                (false, true, _) => Code::VEX_Vcvtps2pd_ymm_xmmm128,
                (false, _, true) => Code::EVEX_Vcvtudq2pd_ymm_k1z_xmmm128b32,
                (false, _, false) => Code::VEX_Vcvtdq2pd_ymm_xmmm128,
            };
            let narrow = if c.zmm { ymm(from) } else { xmm(from) };
            self.asm.op2(code, c.register(r), narrow);
            if unsigned && !avx512 {
                let moved = self.qwords(2_147_483_648f64.to_bits());
                self.v3m(c, ops::ADD_PD, r, r, moved);
                // When rounding down, zero results are negative.
                let rest = self.qwords(!(1 << 63));
                self.v3m(c, ops::AND, r, r, rest);
            }
            self.release(a);
        }
        self.finish(c, compute.destination.clone(), results, true, enabled)
    }

    /// Conversions of doubles.
    fn doubles(&mut self, c: Chunks, compute: &Compute, to: Lane, enabled: Enabled) -> Done {
        let [source, ..] = &compute.sources;
        let ty = compute.destination.data_type;
        if self.form == Form::Flushing || ty.is_integer() && compute.destination.saturate {
            return Err(NoTemplate);
        }
        let mut results = [0; 8];
        let results = results.get_mut(..c.count).ok_or(NoTemplate)?;
        let same = to == Lane::F64 && ty == DataType::Df;
        let result = if same { c } else { c.halved() };
        for (chunk, to_register) in results.iter_mut().enumerate() {
            let a = self.load_unflushed(c, chunk, 0, source, true)?;
            let r = self.take(result)?;
            *to_register = r;
            let narrow = if c.zmm { ymm(r) } else { xmm(r) };
            match (to, ty) {
                (Lane::F64, DataType::Df) => self.v2(c, ops::MOVE, r, c.register(a)),
                (Lane::F32, DataType::F) => {
                    let code = if c.zmm {
                        Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er
                    } else {
                        Code::VEX_Vcvtpd2ps_xmm_ymmm256
                    };
                    self.asm.op2(code, narrow, c.register(a));
                }
                (Lane::F64, DataType::D | DataType::Ud) => {
                    self.double_to_integer(c, r, a, ty == DataType::D);
                }
                _ => return Err(NoTemplate),
            }
            self.release(a);
        }
        self.finish(
            result,
            compute.destination.clone(),
            results,
            ty.is_float(),
            enabled,
        )
    }

    /// Doubles as integers of 32 bits, clamped; NaN becomes 0. Registers 3 and 4 are clobbered.
    fn double_to_integer(&mut self, c: Chunks, to: u32, a: u32, signed: bool) {
        let avx512 = self.features == Features::Avx512;
        let to = if c.zmm { ymm(to) } else { xmm(to) };
        self.float_mask(c, 3, a, a, 7);
        self.v3(c, ops::AND, 4, a, 3);
        if !signed {
            let zero = self.qwords(0);
            self.v3m(c, ops::MAX_PD, 4, 4, zero);
        }
        if !signed && avx512 {
            // Too large values give all ones.
            let code = if c.zmm {
                Code::EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae
            } else {
                Code::EVEX_Vcvttpd2udq_xmm_k1z_ymmm256b64
            };
            self.asm.op2(code, to, c.register(4));
            return;
        }
        // Too small values give the smallest integer.
        let most = f64::from(if signed {
            i32::MAX.cast_unsigned()
        } else {
            u32::MAX
        });
        let most = self.qwords(most.to_bits());
        self.v3m(c, ops::MIN_PD, 4, 4, most);
        if !signed {
            self.v2i(c, ops::ROUND_PD, 4, c.register(4), 11);
            let moved = self.qwords((-2_147_483_648f64).to_bits());
            self.v3m(c, ops::ADD_PD, 4, 4, moved);
        }
        let code = if c.zmm {
            Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae
        } else {
            Code::VEX_Vcvttpd2dq_xmm_ymmm256
        };
        self.asm.op2(code, to, c.register(4));
        if !signed {
            let sign = self.dwords(1 << 31);
            self.asm.op3(Code::VEX_Vpxor_xmm_xmm_xmmm128, to, to, sign);
        }
    }

    /// One divided by the square root: in double, rounded once. Registers 3 to 6 are lost.
    pub(crate) fn inverse_root(&mut self, c: Chunks, to: u32, a: u32) {
        let one = self.qwords(1f64.to_bits());
        let doubles = Chunks { lane: 8, ..c };
        if c.lane == 8 {
            self.v2(c, ops::SQRT_PD, 3, c.register(a));
            self.v2(c, ops::MOVE, 5, one);
            self.v3(c, ops::DIV_PD, to, 5, 3);
            return;
        }
        let (widen, narrow, split, join) = if c.zmm {
            (
                Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae,
                Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er,
                Code::EVEX_Vextractf64x4_ymmm256_k1z_zmm_imm8,
                Code::EVEX_Vinsertf64x4_zmm_k1z_zmm_ymmm256_imm8,
            )
        } else {
            (
                Code::VEX_Vcvtps2pd_ymm_xmmm128,
                Code::VEX_Vcvtpd2ps_xmm_ymmm256,
                Code::VEX_Vextractf128_xmmm128_ymm_imm8,
                Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8,
            )
        };
        let half = |n: u32| if c.zmm { ymm(n) } else { xmm(n) };
        self.v2(doubles, ops::MOVE, 5, one);
        self.asm.op2(widen, c.register(3), half(a));
        self.asm.op2i(split, half(4), c.register(a), 1);
        self.asm.op2(widen, c.register(4), half(4));
        for n in [3, 4] {
            self.v2(doubles, ops::SQRT_PD, n, c.register(n));
            self.v3(doubles, ops::DIV_PD, n, 5, n);
            self.asm.op2(narrow, half(n), c.register(n));
        }
        self.asm
            .op3i(join, c.register(to), c.register(3), half(4), 1);
    }
}
