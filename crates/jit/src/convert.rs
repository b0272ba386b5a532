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
                    self.with_scratch(|own, [part, factor]| {
                        let (low, shift) = (own.dwords(0xffff), own.dwords(65536f32.to_bits()));
                        own.v2i(c, ops::SHR_D_IMM, r, c.register(a), 16);
                        own.v3m(c, ops::AND, part, a, low);
                        own.v2(c, ops::FROM_D_PS, r, c.register(r));
                        own.v2(c, ops::FROM_D_PS, part, c.register(part));
                        own.v2(c, ops::MOVE, factor, shift);
                        own.v3(c, ops::FMA_PS, r, factor, part);
                    });
                }
                (Lane::F32, Lane::I32) => {
                    // Too large values and NaN give the smallest integer: the former become the largest one, the latter
                    // 0.
                    self.with_scratch(|own, [large, number]| {
                        let limit = own.dwords(2_147_483_648f32.to_bits());
                        own.v2(c, ops::MOVE, 1, limit);
                        own.float_mask(c, large, a, 1, 0x1d);
                        own.float_mask(c, number, a, a, 7);
                        own.v2(c, ops::TO_D_PS, r, c.register(a));
                        own.v3(c, ops::XOR, r, r, large);
                        own.v3(c, ops::AND, r, r, number);
                    });
                }
                (Lane::F32, Lane::U32) if self.features == Features::Avx512 => {
                    // The larger one of NaN and 0 is 0.
                    self.with_scratch(|own, [zero, positive]| {
                        own.v3(c, ops::XOR, zero, zero, zero);
                        own.v3(c, ops::MAX_PS, positive, a, zero);
                        own.v2(c, ops::TO_UD_PS, r, c.register(positive));
                    });
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

    /// Floats as unsigned integers, clamped, for hosts that convert only to signed ones; NaN becomes 0.
    fn float_to_unsigned(&mut self, c: Chunks, to: u32, a: u32) {
        self.with_scratch(|own, [t, u, v]| {
            let half = own.dwords(2_147_483_648f32.to_bits());
            let whole = own.dwords(4_294_967_296f32.to_bits());
            let sign = own.dwords(1 << 31);
            // The larger one of NaN and 0 is 0.
            own.v3(c, ops::XOR, t, t, t);
            own.v3(c, ops::MAX_PS, t, a, t);
            own.v2(c, ops::MOVE, u, half);
            own.float_mask(c, v, t, u, 0x1d);
            own.v3(c, ops::AND, u, u, v);
            own.v3(c, ops::SUB_PS, u, t, u);
            own.v2(c, ops::TO_D_PS, to, c.register(u));
            own.v3m(c, ops::AND, v, v, sign);
            own.v3(c, ops::XOR, to, to, v);
            own.v2(c, ops::MOVE, u, whole);
            own.float_mask(c, v, t, u, 0x1d);
            own.v3(c, ops::OR, to, to, v);
        });
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
            let op = match (float, unsigned && avx512) {
                (true, _) => ops::WIDEN_F_DF,
                (_, true) => ops::FROM_UD_PD,
                (_, false) => ops::FROM_D_PD,
            };
            if unsigned && !avx512 {
                let sign = self.dwords(1 << 31);
                self.with_scratch(|own, [signed]| {
                    own.v3m(half, ops::XOR, signed, a, sign);
                    own.v2(c, op, r, c.half(signed));
                });
            } else {
                self.v2(c, op, r, c.half(a));
            }
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

    /// Doubles as integers of 32 bits, clamped; NaN becomes 0.
    fn double_to_integer(&mut self, c: Chunks, to: u32, a: u32, signed: bool) {
        self.with_scratch(|own, [t, u]| {
            let avx512 = own.features == Features::Avx512;
            let to = c.half(to);
            own.float_mask(c, t, a, a, 7);
            own.v3(c, ops::AND, u, a, t);
            if !signed {
                let zero = own.qwords(0);
                own.v3m(c, ops::MAX_PD, u, u, zero);
            }
            if !signed && avx512 {
                // Too large values give all ones.
                own.asm.v2(ops::TO_UD_PD, to, c.register(u));
                return;
            }
            // Too small values give the smallest integer.
            let most = f64::from(if signed {
                i32::MAX.cast_unsigned()
            } else {
                u32::MAX
            });
            let most = own.qwords(most.to_bits());
            own.v3m(c, ops::MIN_PD, u, u, most);
            if !signed {
                own.v2i(c, ops::ROUND_PD, u, c.register(u), 11);
                let moved = own.qwords((-2_147_483_648f64).to_bits());
                own.v3m(c, ops::ADD_PD, u, u, moved);
            }
            own.asm.v2(ops::TO_D_PD, to, c.register(u));
            if !signed {
                let sign = own.dwords(1 << 31);
                own.asm.v3(ops::XOR, to, to, sign);
            }
        });
    }

    /// One divided by the square root: in double, rounded once.
    pub(crate) fn inverse_root(&mut self, c: Chunks, to: u32, a: u32) {
        self.with_scratch(|own, [t, u, v]| {
            let one = own.qwords(1f64.to_bits());
            let doubles = Chunks { lane: 8, ..c };
            if c.lane == 8 {
                own.v2(c, ops::SQRT_PD, t, c.register(a));
                own.v2(c, ops::MOVE, v, one);
                own.v3(c, ops::DIV_PD, to, v, t);
                return;
            }
            own.v2(doubles, ops::MOVE, v, one);
            own.v2(doubles, ops::WIDEN_F_DF, t, c.half(a));
            own.asm
                .v2i(ops::EXTRACT_HALF_F, c.half(u), c.register(a), 1);
            own.v2(doubles, ops::WIDEN_F_DF, u, c.half(u));
            for n in [t, u] {
                own.v2(doubles, ops::SQRT_PD, n, c.register(n));
                own.v3(doubles, ops::DIV_PD, n, v, n);
                own.asm.v2(ops::NARROW_DF_F, c.half(n), c.register(n));
            }
            let (to, low) = (c.register(to), c.register(t));
            own.asm.v3i(ops::INSERT_HALF_F, to, low, c.half(u), 1);
        });
    }
}
