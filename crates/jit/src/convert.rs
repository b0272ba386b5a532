//! Machine code for conversions between integers and floats, and between floats.

use crate::Features;
use crate::masks::Enabled;
use crate::mode::Form;
use crate::vector::{Chunks, Done, NoTemplate, Writer};
use crate::x64::ops;
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
                    self.v2(c, ops::FROM_UD_PS, r, c.register(a));
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
                    self.v2(c, ops::TO_UD_PS, r, c.register(4));
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
            let op = match (float, unsigned && avx512) {
                (true, _) => ops::WIDEN_F_DF,
                (_, true) => ops::FROM_UD_PD,
                (_, false) => ops::FROM_D_PD,
            };
            self.v2(c, op, r, c.half(from));
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
            match (to, ty) {
                (Lane::F64, DataType::Df) => self.v2(c, ops::MOVE, r, c.register(a)),
                (Lane::F32, DataType::F) => {
                    self.asm.v2(ops::NARROW_DF_F, c.half(r), c.register(a));
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
        let to = c.half(to);
        self.float_mask(c, 3, a, a, 7);
        self.v3(c, ops::AND, 4, a, 3);
        if !signed {
            let zero = self.qwords(0);
            self.v3m(c, ops::MAX_PD, 4, 4, zero);
        }
        if !signed && avx512 {
            // Too large values give all ones.
            self.asm.v2(ops::TO_UD_PD, to, c.register(4));
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
        self.asm.v2(ops::TO_D_PD, to, c.register(4));
        if !signed {
            let sign = self.dwords(1 << 31);
            self.asm.v3(ops::XOR, to, to, sign);
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
        self.v2(doubles, ops::MOVE, 5, one);
        self.v2(doubles, ops::WIDEN_F_DF, 3, c.half(a));
        self.asm
            .v2i(ops::EXTRACT_HALF_F, c.half(4), c.register(a), 1);
        self.v2(doubles, ops::WIDEN_F_DF, 4, c.half(4));
        for n in [3, 4] {
            self.v2(doubles, ops::SQRT_PD, n, c.register(n));
            self.v3(doubles, ops::DIV_PD, n, 5, n);
            self.asm.v2(ops::NARROW_DF_F, c.half(n), c.register(n));
        }
        let (to, low) = (c.register(to), c.register(3));
        self.asm.v3i(ops::INSERT_HALF_F, to, low, c.half(4), 1);
    }
}
