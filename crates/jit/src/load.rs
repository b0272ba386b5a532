//! Sources of computations in vector registers.

use crate::Features;
use crate::kept::Content;
use crate::mode::Form;
use crate::narrow::is_narrow;
use crate::vector::{Chunks, Done, FILE, NoTemplate, Writer};
use crate::x64::{
    EAX, Mask, Memory, Operand, RAX, Width,
    ops::{self, Op},
    xmm, ymm, zmm,
};
use visakit_exec::code::{Extension, Modify, Region, Source};
use visakit_isa::DataType;

impl Writer {
    /// A source of arithmetic: as [`Self::load_unflushed`] has it, without denormals where the mode flushes them.
    pub(crate) fn load(
        &mut self,
        c: Chunks,
        chunk: usize,
        to: u32,
        source: &Source,
        float: bool,
    ) -> Result<u32, NoTemplate> {
        let before = self.kept.busy;
        let n = self.load_unflushed(c, chunk, to, source, float)?;
        if self.form != Form::Flushing || !float || n != to && self.is_flushed(c, n) {
            return Ok(n);
        }
        if n != to {
            self.v2(c, ops::MOVE, to, c.register(n));
            self.release_but(n, before);
        }
        self.flush(c, to);
        Ok(to)
    }

    /// Loads the lanes of a chunk of a source, with its modifier, into a register: `to`, or a kept one that must not be
    /// changed. `float` states whether lanes are floats.
    pub(crate) fn load_unflushed(
        &mut self,
        c: Chunks,
        chunk: usize,
        to: u32,
        source: &Source,
        float: bool,
    ) -> Result<u32, NoTemplate> {
        let ty = source.data_type;
        let size = usize::from(ty.size());
        let narrow = is_narrow(ty) && float && c.lane == 4;
        let same = if float {
            ty == if c.lane == 4 {
                DataType::F
            } else {
                DataType::Df
            }
        } else {
            size == c.lane && !ty.is_float()
        };
        if !same && !narrow && (float || ty.is_float()) {
            return Err(NoTemplate);
        }
        let content = match &source.region {
            Region::Scalar if c.lanes > 1 && (same || !float && is_extended(source)) => {
                Some(Content::Each {
                    offset: source.offset,
                    bytes: c.lane,
                    zmm: c.zmm,
                })
            }
            Region::Packed if same => Some(Content::Bytes {
                offset: source.offset + chunk * c.lanes * c.lane,
                bytes: c.lanes * c.lane,
            }),
            Region::Scalar if same && c.lanes == 1 => Some(Content::Bytes {
                offset: source.offset,
                bytes: c.lane,
            }),
            _ => None,
        };
        let Some(content) = content else {
            self.load_converted(c, chunk, to, source, float)?;
            self.modify(c, to, to, source.modify, float)?;
            return Ok(to);
        };
        // Where results need all registers, none is left for sources.
        let crowded = self.features == Features::Avx2 && c.count > 4;
        let before = self.kept.busy;
        let mut found = self.find(c, content);
        if let Some(n) = found {
            self.kept.busy |= 1 << n;
        } else if self.features == Features::Avx512 && source.modify == Modify::None {
            let n = self.take(c)?;
            self.load_content(c, n, content)?;
            self.set(n, Some(content));
            found = Some(n);
        } else {
            self.load_content(c, to, content)?;
        }
        match found {
            Some(n) if source.modify == Modify::None && !crowded => Ok(n),
            Some(n) => {
                if source.modify == Modify::None {
                    self.v2(c, ops::MOVE, to, c.register(n));
                }
                self.modify(c, to, n, source.modify, float)?;
                self.release_but(n, before);
                Ok(to)
            }
            None => {
                self.modify(c, to, to, source.modify, float)?;
                Ok(to)
            }
        }
    }

    pub(crate) fn load_content(&mut self, c: Chunks, to: u32, content: Content) -> Done {
        self.reads(c, content);
        match content {
            Content::Bytes { offset, bytes } => {
                if bytes == 64 && self.join_halves(to, offset) {
                    return Ok(());
                }
                let from = self.file(offset, bytes)?;
                self.load_bytes(to, from, bytes)
            }
            Content::Each { offset, bytes, .. } => {
                let from: Operand = match self.find(c, Content::Bytes { offset, bytes }) {
                    Some(n) => xmm(n).into(),
                    None => self.file(offset, bytes)?.into(),
                };
                let op = c.of(ops::BROADCAST_D, ops::BROADCAST_Q);
                self.v2(c, op, to, from);
                Ok(())
            }
            Content::Running { .. } | Content::Scaled(_) => Err(NoTemplate),
        }
    }

    /// Joins 64 bytes of the file whose halves are in registers: their stores are too narrow for the host to load what
    /// follows from them. Whether that is so.
    fn join_halves(&mut self, to: u32, offset: usize) -> bool {
        let halves = [offset, offset + 32].map(|offset| {
            let half = Some(Content::Bytes { offset, bytes: 32 });
            let held = self.kept.contents.iter().position(|own| *own == half);
            held.and_then(|n| u32::try_from(n).ok())
        });
        let [Some(low), Some(high)] = halves else {
            return false;
        };
        self.uses(low);
        self.uses(high);
        let [to, low] = [to, low].map(zmm);
        self.asm.v3i(ops::INSERT_HALF, to, low, ymm(high), 1);
        true
    }

    /// Loads the lanes of a chunk of a source that are not in the file in the form needed.
    fn load_converted(
        &mut self,
        c: Chunks,
        chunk: usize,
        to: u32,
        source: &Source,
        float: bool,
    ) -> Done {
        let ty = source.data_type;
        let size = usize::from(ty.size());
        let narrow = is_narrow(ty) && float && c.lane == 4;
        match &source.region {
            Region::Scalar if !float && is_extended(source) => {
                let from = self.file(source.offset, c.lane)?;
                self.load_bytes(to, from, c.lane)?;
            }
            Region::Scalar => {
                let from = self.file(source.offset, size)?;
                self.load_number(from, ty, c.lane);
                if c.lane == 8 {
                    self.asm.v2(ops::FROM_Q, xmm(to), RAX);
                } else {
                    self.asm.v2(ops::LOAD_D, xmm(to), EAX);
                }
                if narrow {
                    let one = Chunks::new(self.features, 4, 1);
                    self.single_of_word(one, to, ty)?;
                }
                if c.lanes != 1 {
                    let op = c.of(ops::BROADCAST_D, ops::BROADCAST_Q);
                    self.v2(c, op, to, xmm(to));
                }
            }
            Region::Packed => {
                // Reads that are wider than needed stay inside the file, otherwise there is no template.
                let wide = if c.zmm { 64 } else { 32 } / c.lane * size;
                let offset = source.offset + chunk * c.lanes * size;
                let op = widening(ty, c.lane).ok_or(NoTemplate)?;
                let from: Operand = match self.part(c, to, offset, wide) {
                    Some(n) if wide == 32 => ymm(n).into(),
                    Some(n) => xmm(n).into(),
                    None => self.file(offset, wide)?.into(),
                };
                self.v2(c, op, to, from);
            }
            Region::Strided(4)
                if (!float || narrow)
                    && c.lane == 4
                    && size < 4
                    && source.offset % 4 + size <= 4 =>
            {
                self.load_parts(c, chunk, to, source)?;
            }
            Region::Strided(stride) => {
                let stride = usize::from(*stride);
                self.gather(c, to, source, size, |lane| {
                    (chunk * c.lanes + lane) * stride
                })?;
            }
            Region::Offsets(offsets) => {
                let offset = |lane: usize| offsets.get(lane).copied().unwrap_or(0).into();
                self.gather(c, to, source, size, |lane| offset(chunk * c.lanes + lane))?;
            }
            Region::Indirect { .. } | Region::Rows { .. } => return Err(NoTemplate),
        }
        // What is the same for all lanes was converted once; packed halves become singles as they are loaded.
        let are_words = match source.region {
            Region::Scalar => false,
            Region::Packed => ty == DataType::Bf,
            _ => true,
        };
        if narrow && are_words {
            self.single_of_word(c, to, ty)?;
        }
        Ok(())
    }

    /// Loads bytes or words of which every dword has one.
    fn load_parts(&mut self, c: Chunks, chunk: usize, to: u32, source: &Source) -> Done {
        let (size, before) = (usize::from(source.data_type.size()), source.offset % 4);
        let bytes = 4 * c.lanes;
        let from = self.file(source.offset - before + chunk * bytes, bytes)?;
        self.load_bytes(to, from, bytes)?;
        let after = 4 - before - size;
        if after != 0 {
            self.v2i(c, ops::SHL_D_IMM, to, c.register(to), bits(after));
        }
        let shr = match source.data_type.is_signed() {
            true => ops::SAR_D_IMM,
            false => ops::SHR_D_IMM,
        };
        self.v2i(c, shr, to, c.register(to), bits(4 - size));
        Ok(())
    }

    /// Loads elements that lie anywhere.
    fn gather(
        &mut self,
        c: Chunks,
        to: u32,
        source: &Source,
        size: usize,
        offset: impl Fn(usize) -> usize,
    ) -> Done {
        let ty = source.data_type;
        if self.pair.is_some() || size > c.lane || c.lane == 8 && size != 8 {
            return Err(NoTemplate);
        }
        let last = (0..c.lanes).map(&offset).max().unwrap_or(0);
        self.file(source.offset, last + c.lane)?;
        // Unused lanes read what the first lane reads.
        let lanes = c.lanes;
        let place = |lane: usize| offset(if lane < lanes { lane } else { 0 });
        let index = self.each_dword(|lane| u32::try_from(place(lane)).unwrap_or(0));
        let displacement = i64::try_from(source.offset).map_err(|_| NoTemplate)?;
        let memory = |index| Memory::at(FILE, displacement).indexed(index, Width::Byte);
        self.with_scratch(|own, [number, ones]| -> Done {
            let dwords = if c.zmm { 64 } else { 32 } / c.lane * 4;
            own.load_bytes(number, index, dwords)?;
            let index = match c.lane {
                4 => c.register(number),
                _ => c.half(number),
            };
            let to_lanes = c.register(to);
            if c.zmm {
                own.asm.mask_all(Mask::K2);
                let op = c.of(ops::MASKED_GATHER_D_D, ops::MASKED_GATHER_D_Q);
                own.asm.v2(op, to_lanes, memory(index));
                own.asm.mask(Mask::K2);
            } else {
                own.v3(c, ops::EQUAL_D, ones, ones, ones);
                let op = c.of(ops::GATHER_D_D, ops::GATHER_D_Q);
                own.asm.v3(op, to_lanes, memory(index), c.register(ones));
            }
            Ok(())
        })?;
        if size < c.lane {
            let unused = u32::try_from(32 - 8 * size).unwrap_or(0);
            if ty.is_signed() {
                self.v2i(c, ops::SHL_D_IMM, to, c.register(to), unused);
                self.v2i(c, ops::SAR_D_IMM, to, c.register(to), unused);
            } else {
                let low = self.dwords(u32::MAX >> unused);
                self.v3m(c, ops::AND, to, to, low);
            }
        }
        Ok(())
    }

    /// An integer of any type in `rax`, extended to the lane.
    fn load_number(&mut self, from: Memory, ty: DataType, lane: usize) {
        // Of a qword the low half; a dword clears the upper half of the register.
        let bytes = usize::from(ty.size()).min(4);
        match (ty.is_signed(), lane) {
            (true, 8) => self.asm.extend_signed(RAX, bytes, from),
            (true, _) => self.asm.extend_signed(EAX, bytes, from),
            (false, _) => self.asm.extend(EAX, bytes, from),
        }
    }

    /// The value in a register with a modifier, which goes to `to`.
    fn modify(&mut self, c: Chunks, to: u32, from: u32, modify: Modify, float: bool) -> Done {
        self.with_scratch(|own, [zero]| {
            const SIGN: (u32, u64) = (1 << 31, 1 << 63);
            let mut from = from;
            match (modify, float) {
                (Modify::None, _) => {}
                (Modify::Not, _) => {
                    let ones = own.dwords(u32::MAX);
                    own.v3m(c, ops::XOR, to, from, ones);
                }
                (modify, false) => {
                    if modify != Modify::Neg {
                        own.magnitude(c, to, from)?;
                        from = to;
                    }
                    if modify != Modify::Abs {
                        own.v3(c, ops::XOR, zero, zero, zero);
                        let op = c.of(ops::SUB_D, ops::SUB_Q);
                        own.v3(c, op, to, zero, from);
                    }
                }
                (modify, true) => {
                    if modify != Modify::Neg {
                        let rest = own.every(c, !SIGN.0, !SIGN.1);
                        own.v3m(c, ops::AND, to, from, rest);
                        from = to;
                    }
                    if modify != Modify::Abs {
                        let sign = own.every(c, SIGN.0, SIGN.1);
                        own.v3m(c, ops::XOR, to, from, sign);
                    }
                }
            }
            Ok(())
        })
    }

    /// The absolute value of signed integers.
    fn magnitude(&mut self, c: Chunks, to: u32, from: u32) -> Done {
        if c.lane == 8 && self.features != Features::Avx512 {
            return Err(NoTemplate);
        }
        self.v2(c, c.of(ops::ABS_D, ops::ABS_Q), to, c.register(from));
        Ok(())
    }
}

/// Whether a source is a constant stored in 64 bits as its type extends it.
pub(crate) fn is_extended(source: &Source) -> bool {
    match source.constant {
        Some(Extension::Sign) => source.data_type.is_signed(),
        Some(Extension::Zero) => !source.data_type.is_signed(),
        None => false,
    }
}

/// Loads that extend integers or halves to lanes.
pub(crate) fn widening(ty: DataType, lane: usize) -> Option<Op> {
    Some(match (ty.size(), ty.is_signed(), lane) {
        (2, _, 4) if ty == DataType::Hf => ops::WIDEN_HF,
        (1, false, 4) => ops::WIDEN_UB_D,
        (1, true, 4) => ops::WIDEN_B_D,
        (2, false, 4) => ops::WIDEN_UW_D,
        (2, true, 4) => ops::WIDEN_W_D,
        (1, false, 8) => ops::WIDEN_UB_Q,
        (1, true, 8) => ops::WIDEN_B_Q,
        (2, false, 8) => ops::WIDEN_UW_Q,
        (2, true, 8) => ops::WIDEN_W_Q,
        (4, false, 8) => ops::WIDEN_UD_Q,
        (4, true, 8) => ops::WIDEN_D_Q,
        _ => return None,
    })
}

/// The bits of that many bytes of a dword.
pub(crate) fn bits(bytes: usize) -> u32 {
    u32::try_from(8 * bytes).unwrap_or(0)
}
