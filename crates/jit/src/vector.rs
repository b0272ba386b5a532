//! Vectors of lanes in registers: loading operands, storing results, masks.

use crate::Features;
use crate::assembler::{Assembler, Label, Operand};
use crate::fused::{Branch, Outcome};
use crate::kept::{Content, Detour, Kept};
use crate::load::bits;
use crate::load::widening;
use crate::loops::Access;
use crate::masks::Enabled;
use crate::mode::Form;
use crate::narrow::is_narrow;
use crate::ops::{self, Op};
use crate::pending::{Holder, Stores};
use crate::scaled::Role;
use iced_x86::{Code, MemoryOperand, Register};
use std::collections::{HashMap, HashSet};
use visakit_exec::code::{Destination, Modify, Region, Source, Target};
use visakit_isa::DataType;

/// The register file.
pub(crate) const FILE: Register = Register::RBX;
/// The register file of the second of two threads that run side by side.
pub(crate) const OTHER_FILE: Register = Register::RDI;
/// Constants of the code.
pub(crate) const CONSTANTS: Register = Register::RBP;
/// Lanes that run.
pub(crate) const RUNNING: Register = Register::R12D;
/// Instructions that may still run.
pub(crate) const LEFT: Register = Register::R13;
/// Enabled lanes so far.
pub(crate) const LANE_OPERATIONS: Register = Register::R14;
/// The context.
pub(crate) const CONTEXT: Register = Register::R15;
/// Enabled lanes of the step, where not all are.
pub(crate) const MASK: Register = Register::ESI;

/// How the lanes of a step lie in vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunks {
    /// Bytes of a lane: 4 or 8.
    pub(crate) lane: usize,
    /// Lanes of a vector: the used ones, if it is not full.
    pub(crate) lanes: usize,
    /// Number of vectors.
    pub(crate) count: usize,
    /// Whether they have 512 bits.
    pub(crate) zmm: bool,
}

/// A step without a template. The interpreter runs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NoTemplate;

pub(crate) type Done = Result<(), NoTemplate>;

/// Writes machine code for steps.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) asm: Assembler,
    pub(crate) features: Features,
    /// Whether code says which ways it takes.
    pub(crate) traced: bool,
    /// Bytes of the register file.
    pub(crate) file_bytes: usize,
    /// Lanes of the program: no others run.
    pub(crate) full: u32,
    pub(crate) constants: Constants,
    /// Numbers that are part of the program, by their places in the register file.
    pub(crate) literals: HashMap<usize, u64>,
    /// The bits of predicate variables, by their places, that anybody uses, as far as that is known.
    pub(crate) flags: HashMap<usize, u32>,
    /// Predicate variables that nobody reads in another segment than the one that sets them.
    pub(crate) local_flags: HashSet<usize>,
    pub(crate) kept: Kept,
    /// Ways around templates of the segment.
    pub(crate) detours: Vec<Detour>,
    /// The float modes that it writes for.
    pub(crate) form: Form,
    /// Where the template of a step goes with what it does not compute.
    pub(crate) beyond: Option<Label>,
    /// Values of the segment that were stored.
    pub(crate) stores: Vec<Stores>,
    /// Instructions of a template that store what it has loaded.
    pub(crate) loads: Vec<(Content, usize)>,
    /// Whether the whole template of the step runs if it is reached.
    pub(crate) certain: bool,
    /// What is done with the register file, if anybody wants to know.
    pub(crate) accesses: Option<Vec<Access>>,
    /// What the step has to do with a product of the loop.
    pub(crate) role: Option<Role>,
    /// Of two threads that run side by side, the lanes of each. The second one has its operands behind those of the first.
    pub(crate) pair: Option<u32>,
    /// The branch after the step, if it is a comparison that nobody else needs.
    pub(crate) branch: Option<Branch>,
    /// The outcome of that comparison, for the branch.
    pub(crate) outcome: Option<Outcome>,
}

/// Constants of the code, 64 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    pub(crate) bytes: Vec<u8>,
    places: HashMap<[u8; 64], i64>,
}

impl Constants {
    fn add(&mut self, vector: [u8; 64]) -> MemoryOperand {
        let bytes = &mut self.bytes;
        let place = *self.places.entry(vector).or_insert_with(|| {
            bytes.extend_from_slice(&vector);
            i64::try_from(bytes.len() - 64).unwrap_or(0)
        });
        MemoryOperand::with_base_displ(CONSTANTS, place)
    }
}

/// A field of the context.
pub(crate) fn field(place: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ(CONTEXT, place)
}

/// The views of the vector register with that number.
pub(crate) fn xmm(n: u32) -> Register {
    Register::XMM0 + n
}

pub(crate) fn ymm(n: u32) -> Register {
    Register::YMM0 + n
}

impl Chunks {
    pub(crate) fn new(features: Features, lane: usize, lanes: usize) -> Self {
        let bytes = lane * lanes;
        let zmm = features == Features::Avx512 && bytes >= 64;
        let most = if zmm { 64 } else { 32 } / lane;
        Self {
            lane,
            lanes: lanes.min(most),
            count: lanes.div_ceil(most),
            zmm,
        }
    }

    /// Lanes of 32 bits in vectors of half the width, where these are doubles or integers of 64 bits.
    pub(crate) const fn halved(self) -> Self {
        Self {
            lane: 4,
            zmm: false,
            ..self
        }
    }

    /// Number of registers that its instructions can name: 256-bit ones are encoded in the short form,
    /// which has 16.
    pub(crate) const fn registers(self) -> usize {
        if self.zmm { 32 } else { 16 }
    }

    pub(crate) fn register(self, n: u32) -> Register {
        if self.zmm {
            Register::ZMM0 + n
        } else {
            Register::YMM0 + n
        }
    }
}

impl Writer {
    /// Bytes of the register file, which the template reads or writes.
    pub(crate) fn file(
        &mut self,
        offset: usize,
        bytes: usize,
    ) -> Result<MemoryOperand, NoTemplate> {
        let place = self.place(offset, bytes)?;
        self.need_bytes(&(offset..offset + bytes));
        Ok(place)
    }

    /// The place of bytes of the register file. Steps that access anything outside have no template. This keeps
    /// machine code inside the file.
    pub(crate) fn place(&self, offset: usize, bytes: usize) -> Result<MemoryOperand, NoTemplate> {
        let other = self.pair.is_some() && offset >= self.file_bytes;
        let (file, offset) = match other {
            true => (OTHER_FILE, offset - self.file_bytes),
            false => (FILE, offset),
        };
        let end = offset.checked_add(bytes).ok_or(NoTemplate)?;
        match i32::try_from(offset) {
            Ok(place) if end <= self.file_bytes => {
                Ok(MemoryOperand::with_base_displ(file, place.into()))
            }
            _ => Err(NoTemplate),
        }
    }

    /// The value of a source that is part of the program.
    pub(crate) fn literal(&self, source: &Source) -> Option<u64> {
        let is_literal = source.constant.is_some()
            && source.region == Region::Scalar
            && source.modify == Modify::None;
        is_literal.then(|| self.literals.get(&source.offset).copied())?
    }

    /// A constant in every lane of 32 bits.
    pub(crate) fn dwords(&mut self, value: u32) -> MemoryOperand {
        let mut vector = [0; 64];
        for to in vector.as_chunks_mut::<4>().0 {
            *to = value.to_le_bytes();
        }
        self.constants.add(vector)
    }

    /// A constant in every lane of 64 bits.
    pub(crate) fn qwords(&mut self, value: u64) -> MemoryOperand {
        let mut vector = [0; 64];
        for to in vector.as_chunks_mut::<8>().0 {
            *to = value.to_le_bytes();
        }
        self.constants.add(vector)
    }

    /// A constant for each lane of 32 bits.
    pub(crate) fn each_dword(&mut self, value: impl Fn(usize) -> u32) -> MemoryOperand {
        let mut vector = [0; 64];
        for (lane, to) in vector.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *to = value(lane).to_le_bytes();
        }
        self.constants.add(vector)
    }

    /// A constant for each lane of 64 bits.
    pub(crate) fn each_qword(&mut self, value: impl Fn(usize) -> u64) -> MemoryOperand {
        let mut vector = [0; 64];
        for (lane, to) in vector.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *to = value(lane).to_le_bytes();
        }
        self.constants.add(vector)
    }

    /// The constant as wide as a lane.
    pub(crate) fn every(&mut self, c: Chunks, dword: u32, qword: u64) -> MemoryOperand {
        if c.lane == 4 {
            self.dwords(dword)
        } else {
            self.qwords(qword)
        }
    }

    pub(crate) fn v2(&mut self, c: Chunks, op: Op, to: u32, a: impl Into<Operand>) {
        let code = if c.zmm { op.zmm } else { op.ymm };
        self.asm.op2(code, c.register(to), a);
    }

    pub(crate) fn v2i(&mut self, c: Chunks, op: Op, to: u32, a: impl Into<Operand>, number: u32) {
        let code = if c.zmm { op.zmm } else { op.ymm };
        self.asm.op2i(code, c.register(to), a, number);
    }

    pub(crate) fn v3(&mut self, c: Chunks, op: Op, to: u32, a: u32, b: u32) {
        let code = if c.zmm { op.zmm } else { op.ymm };
        self.asm
            .op3(code, c.register(to), c.register(a), c.register(b));
    }

    pub(crate) fn v3m(&mut self, c: Chunks, op: Op, to: u32, a: u32, b: MemoryOperand) {
        let code = if c.zmm { op.zmm } else { op.ymm };
        self.asm.op3(code, c.register(to), c.register(a), b);
    }

    /// Loads this many bytes: 4 to 64, a power of two.
    pub(crate) fn load_bytes(&mut self, to: u32, from: MemoryOperand, bytes: usize) -> Done {
        match bytes {
            32 if to >= 16 => {
                let code = Code::EVEX_Vmovdqu32_ymm_k1z_ymmm256;
                self.asm.op2(code, ymm(to), from);
            }
            4 => self.asm.op2(Code::VEX_Vmovd_xmm_rm32, xmm(to), from),
            8 => self.asm.op2(Code::VEX_Vmovq_xmm_xmmm64, xmm(to), from),
            16 => self.asm.op2(Code::VEX_Vmovdqu_xmm_xmmm128, xmm(to), from),
            32 => self.asm.op2(Code::VEX_Vmovdqu_ymm_ymmm256, ymm(to), from),
            64 => {
                let to = Register::ZMM0 + to;
                self.asm.op2(Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512, to, from);
            }
            _ => return Err(NoTemplate),
        }
        Ok(())
    }

    /// Stores this many bytes: 4 to 64, a power of two.
    pub(crate) fn store_bytes(&mut self, to: MemoryOperand, from: u32, bytes: usize) -> Done {
        match bytes {
            16 if from >= 16 => {
                let code = Code::EVEX_Vmovdqu32_xmmm128_k1z_xmm;
                self.asm.op2(code, to, xmm(from));
            }
            32 if from >= 16 => {
                let code = Code::EVEX_Vmovdqu32_ymmm256_k1z_ymm;
                self.asm.op2(code, to, ymm(from));
            }
            8 if from >= 16 => self.asm.op2(Code::EVEX_Vmovq_xmmm64_xmm, to, xmm(from)),
            1 => self
                .asm
                .op2i(Code::VEX_Vpextrb_r32m8_xmm_imm8, to, xmm(from), 0),
            2 => self
                .asm
                .op2i(Code::VEX_Vpextrw_r32m16_xmm_imm8, to, xmm(from), 0),
            4 => self.asm.op2(Code::VEX_Vmovd_rm32_xmm, to, xmm(from)),
            8 => self.asm.op2(Code::VEX_Vmovq_xmmm64_xmm, to, xmm(from)),
            16 => self.asm.op2(Code::VEX_Vmovdqu_xmmm128_xmm, to, xmm(from)),
            32 => self.asm.op2(Code::VEX_Vmovdqu_ymmm256_ymm, to, ymm(from)),
            64 => {
                let from = Register::ZMM0 + from;
                self.asm.op2(Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm, to, from);
            }
            _ => return Err(NoTemplate),
        }
        Ok(())
    }

    /// Stores the lanes of a chunk, those that the mask enables if there is one.
    pub(crate) fn store(
        &mut self,
        c: Chunks,
        chunk: usize,
        from: u32,
        destination: &Destination,
        float: bool,
        enabled: Enabled,
    ) -> Done {
        let masked = enabled != Enabled::All;
        let ty = destination.data_type;
        let size = usize::from(ty.size());
        let narrow = float && c.lane == 4 && is_narrow(ty) && !destination.saturate;
        if narrow && self.form != Form::Usual {
            return Err(NoTemplate);
        }
        match destination.target {
            Target::Null => return Ok(()),
            Target::Packed => {}
            Target::Strided(4) if narrow => {
                self.word_of_single(c, from, ty);
                return self.store_parts(c, chunk, from, destination, enabled);
            }
            Target::Strided(8) if c.lane == 4 && size == 4 && !ty.is_float() && !float => {
                return self.store_low_halves(c, chunk, from, destination, enabled);
            }
            Target::Strided(4) if c.lane == 4 && size < 4 && !ty.is_float() && !float => {
                return self.store_parts(c, chunk, from, destination, enabled);
            }
            Target::Strided(_) | Target::Indirect { .. } => return Err(NoTemplate),
        }
        let same = if float {
            ty == if c.lane == 4 {
                DataType::F
            } else {
                DataType::Df
            }
        } else {
            !ty.is_float() && size == c.lane
        };
        let other = !same && !narrow && (float || ty.is_float() || size > c.lane);
        if destination.saturate || other {
            return Err(NoTemplate);
        }
        let bytes = c.lanes * size;
        let offset = destination.offset + chunk * bytes;
        let to = self.place(offset, bytes)?;
        if same {
            let content = Content::Bytes { offset, bytes };
            if masked && c.lanes > 1 {
                let old = match self.find(c, content) {
                    Some(n) => {
                        self.kept.busy |= 1 << n;
                        n
                    }
                    None => {
                        self.reads(c, content);
                        let old = self.file(offset, bytes)?;
                        self.load_bytes(0, old, bytes)?;
                        0
                    }
                };
                self.blend(c, chunk, from, old, from, enabled)?;
            }
            self.overwritten(offset, bytes);
            self.set(from, Some(content));
            if float && self.form == Form::Flushing && (!masked || c.lanes == 1) {
                self.set_flushed(c, from);
            }
            self.store_bytes(to, from, bytes)?;
            let stores = vec![self.asm.mark() - 1];
            self.stored_by(Holder::Vector(from), offset..offset + bytes, stores);
            return Ok(());
        }
        if ty == DataType::Hf && (!masked || c.lanes == 1) {
            self.halves(c, from);
            self.overwritten(offset, bytes);
            return self.store_bytes(to, from, bytes);
        }
        if narrow {
            self.word_of_single(c, from, ty);
        }
        // Under a mask of a single lane the step is not reached unless the lane is enabled.
        if masked && c.lanes > 1 {
            // Elements of disabled lanes are widened and narrowed again.
            let wide = if c.zmm { 64 } else { 32 } / c.lane * size;
            let old = self.file(offset, wide)?;
            let unsigned = match size {
                1 => DataType::Ub,
                2 => DataType::Uw,
                _ => DataType::Ud,
            };
            let op = widening(unsigned, c.lane).ok_or(NoTemplate)?;
            self.v2(c, op, 0, old);
            self.blend(c, chunk, from, 0, from, enabled)?;
        }
        self.narrow(c, from, size)?;
        self.overwritten(offset, bytes);
        self.store_bytes(to, from, bytes)
    }

    /// Stores the lanes of a chunk to bytes or words of which every dword has one. Registers 0 and 3 to 7 are lost, and so
    /// is the one stored.
    fn store_parts(
        &mut self,
        c: Chunks,
        chunk: usize,
        from: u32,
        destination: &Destination,
        enabled: Enabled,
    ) -> Done {
        let (size, before) = (
            usize::from(destination.data_type.size()),
            destination.offset % 4,
        );
        if destination.saturate || before + size > 4 {
            return Err(NoTemplate);
        }
        let bytes = 4 * c.lanes;
        let offset = destination.offset - before + chunk * bytes;
        let to = self.file(offset, bytes)?;
        let part = u32::MAX >> bits(4 - size) << bits(before);
        let (own, others) = (self.dwords(part), self.dwords(!part));
        self.load_bytes(0, to, bytes)?;
        if before != 0 {
            self.v2i(c, ops::SHL_D_IMM, from, c.register(from), bits(before));
        }
        self.v3m(c, ops::AND, from, from, own);
        self.v3m(c, ops::AND, 3, 0, others);
        self.v3(c, ops::OR, from, from, 3);
        if enabled != Enabled::All && c.lanes > 1 {
            self.blend(c, chunk, from, 0, from, enabled)?;
        }
        self.overwritten(offset, bytes);
        self.store_bytes(to, from, bytes)
    }

    /// Stores the lanes of a chunk to the low halves of elements of 64 bits. Registers 3 to 7 are lost.
    fn store_low_halves(
        &mut self,
        c: Chunks,
        chunk: usize,
        from: u32,
        destination: &Destination,
        enabled: Enabled,
    ) -> Done {
        if destination.saturate {
            return Err(NoTemplate);
        }
        let qwords = Chunks::new(self.features, 8, c.lanes * c.count);
        let bytes = 8 * qwords.lanes;
        let high = self.qwords(u64::MAX << 32);
        for part in 0..c.lanes / qwords.lanes {
            let half = |n: u32| if qwords.zmm { ymm(n) } else { xmm(n) };
            let mut dwords = from;
            if part != 0 {
                let code = if c.zmm {
                    Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8
                } else {
                    Code::VEX_Vextracti128_xmmm128_ymm_imm8
                };
                self.asm.op2i(code, half(3), c.register(from), 1);
                dwords = 3;
            }
            let code = if qwords.zmm {
                Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256
            } else {
                Code::VEX_Vpmovzxdq_ymm_xmmm128
            };
            self.asm.op2(code, qwords.register(3), half(dwords));
            let chunk = chunk * (c.lanes / qwords.lanes) + part;
            let offset = destination.offset + chunk * bytes;
            let to = self.file(offset, bytes)?;
            self.load_bytes(4, to, bytes)?;
            self.v3m(qwords, ops::AND, 5, 4, high);
            self.v3(qwords, ops::OR, 5, 5, 3);
            if enabled != Enabled::All && qwords.lanes > 1 {
                self.blend(qwords, chunk, 5, 4, 5, enabled)?;
            }
            self.overwritten(offset, bytes);
            self.store_bytes(to, 5, bytes)?;
        }
        Ok(())
    }

    /// Packs the low parts of lanes.
    pub(crate) fn narrow(&mut self, c: Chunks, n: u32, size: usize) -> Done {
        if c.lanes == 1 {
            return Ok(());
        }
        if self.features == Features::Avx512 {
            let (code, to) = match (c.zmm, c.lane, size) {
                (true, 4, 2) => (Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, ymm(n)),
                (true, 4, 1) => (Code::EVEX_Vpmovdb_xmmm128_k1z_zmm, xmm(n)),
                (true, 8, 4) => (Code::EVEX_Vpmovqd_ymmm256_k1z_zmm, ymm(n)),
                (true, 8, 2) => (Code::EVEX_Vpmovqw_xmmm128_k1z_zmm, xmm(n)),
                (true, 8, 1) => (Code::EVEX_Vpmovqb_xmmm64_k1z_zmm, xmm(n)),
                (false, 4, 2) => (Code::EVEX_Vpmovdw_xmmm128_k1z_ymm, xmm(n)),
                (false, 4, 1) => (Code::EVEX_Vpmovdb_xmmm64_k1z_ymm, xmm(n)),
                (false, 8, 4) => (Code::EVEX_Vpmovqd_xmmm128_k1z_ymm, xmm(n)),
                (false, 8, 2) => (Code::EVEX_Vpmovqw_xmmm64_k1z_ymm, xmm(n)),
                (false, 8, 1) => (Code::EVEX_Vpmovqb_xmmm32_k1z_ymm, xmm(n)),
                _ => return Err(NoTemplate),
            };
            self.asm.op2(code, to, c.register(n));
            return Ok(());
        }
        match (c.lane, size) {
            (4, 2) => {
                let low = self.dwords(0xffff);
                self.v3m(c, ops::AND, n, n, low);
                let y = ymm(n);
                self.asm.op3(Code::VEX_Vpackusdw_ymm_ymm_ymmm256, y, y, y);
                self.asm
                    .op2i(Code::VEX_Vpermq_ymm_ymmm256_imm8, y, y, 0b1000);
            }
            (4, 1) => {
                let low = self.dwords(0xff);
                self.v3m(c, ops::AND, n, n, low);
                let y = ymm(n);
                self.asm.op3(Code::VEX_Vpackusdw_ymm_ymm_ymmm256, y, y, y);
                self.asm.op3(Code::VEX_Vpackuswb_ymm_ymm_ymmm256, y, y, y);
                // Four bytes in each half.
                let halves = self.each_dword(|lane| u32::try_from(lane % 2 * 4).unwrap_or(0));
                self.load_bytes(7, halves, 32)?;
                self.asm.op3(Code::VEX_Vpermd_ymm_ymm_ymmm256, y, ymm(7), y);
            }
            (8, 4) => {
                let even = self.each_dword(|lane| u32::try_from((2 * lane) & 7).unwrap_or(0));
                self.load_bytes(7, even, 32)?;
                let y = ymm(n);
                self.asm.op3(Code::VEX_Vpermd_ymm_ymm_ymmm256, y, ymm(7), y);
            }
            _ => return Err(NoTemplate),
        }
        Ok(())
    }
}
