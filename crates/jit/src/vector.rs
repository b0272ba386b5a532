//! Vectors of lanes in registers: loading operands, storing results, masks.

use crate::Features;
use crate::fused::{Branch, Outcome};
use crate::kept::{Content, Detour, Kept};
use crate::load::bits;
use crate::load::widening;
use crate::loops::Access;
use crate::masks::Enabled;
use crate::mode::Form;
use crate::narrow::is_narrow;
use crate::pages::place;
use crate::path::Path;
use crate::pending::{Holder, Stores};
use crate::scaled::Role;
use crate::x64::{
    Assembler, ESI, Label, Memory, Number, Operand, R12D, R13, R14, R15, RBP, RBX, RDI, Vector,
    ops::{self, Op},
    xmm, ymm, zmm,
};
use std::collections::{HashMap, HashSet};
use visakit_exec::code::{Destination, Modify, Region, Source, Target};
use visakit_isa::DataType;

/// The register file.
pub(crate) const FILE: Number = RBX;
/// The register file of the second of two threads that run side by side.
pub(crate) const OTHER_FILE: Number = RDI;
/// Constants of the code.
pub(crate) const CONSTANTS: Number = RBP;
/// Lanes that run.
pub(crate) const RUNNING: Number = R12D;
/// Instructions that may still run.
pub(crate) const LEFT: Number = R13;
/// Enabled lanes so far.
pub(crate) const LANE_OPERATIONS: Number = R14;
/// The context.
pub(crate) const CONTEXT: Number = R15;
/// Enabled lanes of the step, where not all are.
pub(crate) const MASK: Number = ESI;

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
    /// Vector registers for intermediate values that nobody has: see [`Self::with_scratch`].
    pub(crate) scratch: u32,
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
    fn add(&mut self, vector: [u8; 64]) -> Memory {
        let bytes = &mut self.bytes;
        let place = *self.places.entry(vector).or_insert_with(|| {
            bytes.extend_from_slice(&vector);
            i64::try_from(bytes.len() - 64).unwrap_or(0)
        });
        Memory::at(CONSTANTS, place)
    }
}

/// A field of the context.
pub(crate) fn field(place: i64) -> Memory {
    Memory::at(CONTEXT, place)
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

    pub(crate) const fn register(self, n: u32) -> Vector {
        if self.zmm { zmm(n) } else { ymm(n) }
    }

    /// The register that has half as many bytes.
    pub(crate) const fn half(self, n: u32) -> Vector {
        if self.zmm { ymm(n) } else { xmm(n) }
    }

    /// The register that has as many lanes of 32 bits.
    pub(crate) const fn dwords(self, n: u32) -> Vector {
        if self.lane == 4 {
            self.register(n)
        } else {
            self.half(n)
        }
    }

    /// The operation for these lanes: for 32 bits or for 64, for singles or for doubles.
    pub(crate) const fn of(self, dword: Op, qword: Op) -> Op {
        if self.lane == 4 { dword } else { qword }
    }
}

/// Vector registers for intermediate values. Those before them hold the sources of a step, those after them what is
/// kept from step to step.
pub(crate) const SCRATCH: u32 = 0b1111_1000;

impl Writer {
    /// Traced code says that it comes here. Flags and registers stay as they are.
    pub(crate) fn takes(&mut self, path: Path) {
        if self.traced {
            let byte = field(place::PATHS + path as i64);
            self.asm.store_byte(byte, 1);
        }
    }

    /// Lends vector registers for intermediate values, which nobody else has until the end. There is no code if too few
    /// are left.
    pub(crate) fn with_scratch<const N: usize, R>(
        &mut self,
        work: impl FnOnce(&mut Self, [u32; N]) -> R,
    ) -> R {
        let before = self.scratch;
        let registers = std::array::from_fn(|_| {
            let n = self.scratch.trailing_zeros();
            if self.scratch == 0 {
                self.asm.give_up();
            }
            self.scratch &= self.scratch.wrapping_sub(1);
            n
        });
        let result = work(self, registers);
        self.scratch = before;
        result
    }

    /// Bytes of the register file, which the template reads or writes.
    pub(crate) fn file(&mut self, offset: usize, bytes: usize) -> Result<Memory, NoTemplate> {
        let place = self.place(offset, bytes)?;
        self.need_bytes(&(offset..offset + bytes));
        Ok(place)
    }

    /// The place of bytes of the register file. Steps that access anything outside have no template. This keeps
    /// machine code inside the file.
    pub(crate) fn place(&self, offset: usize, bytes: usize) -> Result<Memory, NoTemplate> {
        let other = self.pair.is_some() && offset >= self.file_bytes;
        let (file, offset) = match other {
            true => (OTHER_FILE, offset - self.file_bytes),
            false => (FILE, offset),
        };
        let end = offset.checked_add(bytes).ok_or(NoTemplate)?;
        match i32::try_from(offset) {
            Ok(place) if end <= self.file_bytes => Ok(Memory::at(file, place.into())),
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
    pub(crate) fn dwords(&mut self, value: u32) -> Memory {
        let mut vector = [0; 64];
        for to in vector.as_chunks_mut::<4>().0 {
            *to = value.to_le_bytes();
        }
        self.constants.add(vector)
    }

    /// A constant in every lane of 64 bits.
    pub(crate) fn qwords(&mut self, value: u64) -> Memory {
        let mut vector = [0; 64];
        for to in vector.as_chunks_mut::<8>().0 {
            *to = value.to_le_bytes();
        }
        self.constants.add(vector)
    }

    /// A constant for each lane of 32 bits.
    pub(crate) fn each_dword(&mut self, value: impl Fn(usize) -> u32) -> Memory {
        let mut vector = [0; 64];
        for (lane, to) in vector.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *to = value(lane).to_le_bytes();
        }
        self.constants.add(vector)
    }

    /// A constant for each lane of 64 bits.
    pub(crate) fn each_qword(&mut self, value: impl Fn(usize) -> u64) -> Memory {
        let mut vector = [0; 64];
        for (lane, to) in vector.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *to = value(lane).to_le_bytes();
        }
        self.constants.add(vector)
    }

    /// The constant as wide as a lane.
    pub(crate) fn every(&mut self, c: Chunks, dword: u32, qword: u64) -> Memory {
        if c.lane == 4 {
            self.dwords(dword)
        } else {
            self.qwords(qword)
        }
    }

    pub(crate) fn v2(&mut self, c: Chunks, op: Op, to: u32, a: impl Into<Operand>) {
        self.asm.v2(op, c.register(to), a);
    }

    pub(crate) fn v2i(&mut self, c: Chunks, op: Op, to: u32, a: impl Into<Operand>, number: u32) {
        self.asm.v2i(op, c.register(to), a, number);
    }

    pub(crate) fn v3(&mut self, c: Chunks, op: Op, to: u32, a: u32, b: u32) {
        self.asm
            .v3(op, c.register(to), c.register(a), c.register(b));
    }

    pub(crate) fn v3m(&mut self, c: Chunks, op: Op, to: u32, a: u32, b: Memory) {
        self.asm.v3(op, c.register(to), c.register(a), b);
    }

    /// Loads this many bytes: 4 to 64, a power of two.
    pub(crate) fn load_bytes(&mut self, to: u32, from: Memory, bytes: usize) -> Done {
        match bytes {
            4 => self.asm.v2(ops::LOAD_D, xmm(to), from),
            8 => self.asm.v2(ops::LOAD_Q, xmm(to), from),
            16 => self.asm.v2(ops::MOVE, xmm(to), from),
            32 => self.asm.v2(ops::MOVE, ymm(to), from),
            64 => self.asm.v2(ops::MOVE, zmm(to), from),
            _ => return Err(NoTemplate),
        }
        Ok(())
    }

    /// Stores this many bytes: 4 to 64, a power of two.
    pub(crate) fn store_bytes(&mut self, to: Memory, from: u32, bytes: usize) -> Done {
        match bytes {
            1 => self.asm.v2i(ops::EXTRACT_B, to, xmm(from), 0),
            2 => self.asm.v2i(ops::EXTRACT_W, to, xmm(from), 0),
            4 => self.asm.v2(ops::STORE_D, to, xmm(from)),
            8 => self.asm.v2(ops::STORE_Q, to, xmm(from)),
            16 => self.asm.v2(ops::STORE, to, xmm(from)),
            32 => self.asm.v2(ops::STORE, to, ymm(from)),
            64 => self.asm.v2(ops::STORE, to, zmm(from)),
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

    /// Stores the lanes of a chunk to bytes or words of which every dword has one. Register 0 is lost, and so is the one
    /// stored.
    fn store_parts(
        &mut self,
        c: Chunks,
        chunk: usize,
        from: u32,
        destination: &Destination,
        enabled: Enabled,
    ) -> Done {
        self.with_scratch(|own, [t]| {
            let (size, before) = (
                usize::from(destination.data_type.size()),
                destination.offset % 4,
            );
            if destination.saturate || before + size > 4 {
                return Err(NoTemplate);
            }
            let bytes = 4 * c.lanes;
            let offset = destination.offset - before + chunk * bytes;
            let to = own.file(offset, bytes)?;
            let part = u32::MAX >> bits(4 - size) << bits(before);
            let (written, others) = (own.dwords(part), own.dwords(!part));
            own.load_bytes(0, to, bytes)?;
            if before != 0 {
                own.v2i(c, ops::SHL_D_IMM, from, c.register(from), bits(before));
            }
            own.v3m(c, ops::AND, from, from, written);
            own.v3m(c, ops::AND, t, 0, others);
            own.v3(c, ops::OR, from, from, t);
            if enabled != Enabled::All && c.lanes > 1 {
                own.blend(c, chunk, from, 0, from, enabled)?;
            }
            own.overwritten(offset, bytes);
            own.store_bytes(to, from, bytes)
        })
    }

    /// Stores the lanes of a chunk to the low halves of elements of 64 bits.
    fn store_low_halves(
        &mut self,
        c: Chunks,
        chunk: usize,
        from: u32,
        destination: &Destination,
        enabled: Enabled,
    ) -> Done {
        self.with_scratch(|own, [t, u, v]| {
            if destination.saturate {
                return Err(NoTemplate);
            }
            let qwords = Chunks::new(own.features, 8, c.lanes * c.count);
            let bytes = 8 * qwords.lanes;
            let high = own.qwords(u64::MAX << 32);
            for part in 0..c.lanes / qwords.lanes {
                let mut dwords = from;
                if part != 0 {
                    own.asm
                        .v2i(ops::EXTRACT_HALF, c.half(t), c.register(from), 1);
                    dwords = t;
                }
                own.v2(qwords, ops::WIDEN_UD_Q, t, qwords.half(dwords));
                let chunk = chunk * (c.lanes / qwords.lanes) + part;
                let offset = destination.offset + chunk * bytes;
                let to = own.file(offset, bytes)?;
                own.load_bytes(u, to, bytes)?;
                own.v3m(qwords, ops::AND, v, u, high);
                own.v3(qwords, ops::OR, v, v, t);
                if enabled != Enabled::All && qwords.lanes > 1 {
                    own.blend(qwords, chunk, v, u, v, enabled)?;
                }
                own.overwritten(offset, bytes);
                own.store_bytes(to, v, bytes)?;
            }
            Ok(())
        })
    }

    /// Packs the low parts of lanes.
    pub(crate) fn narrow(&mut self, c: Chunks, n: u32, size: usize) -> Done {
        self.with_scratch(|own, [order]| {
            if c.lanes == 1 {
                return Ok(());
            }
            if own.features == Features::Avx512 {
                let (op, to) = match (c.lane, size) {
                    (4, 2) => (ops::NARROW_D_W, c.half(n)),
                    (4, 1) => (ops::NARROW_D_B, xmm(n)),
                    (8, 4) => (ops::NARROW_Q_D, c.half(n)),
                    (8, 2) => (ops::NARROW_Q_W, xmm(n)),
                    (8, 1) => (ops::NARROW_Q_B, xmm(n)),
                    _ => return Err(NoTemplate),
                };
                own.asm.v2(op, to, c.register(n));
                return Ok(());
            }
            match (c.lane, size) {
                (4, 2) => {
                    let low = own.dwords(0xffff);
                    own.v3m(c, ops::AND, n, n, low);
                    let y = ymm(n);
                    own.asm.v3(ops::PACK_D_W, y, y, y);
                    own.asm.v2i(ops::PERMUTE_Q_IMM, y, y, 0b1000);
                }
                (4, 1) => {
                    let low = own.dwords(0xff);
                    own.v3m(c, ops::AND, n, n, low);
                    let y = ymm(n);
                    own.asm.v3(ops::PACK_D_W, y, y, y);
                    own.asm.v3(ops::PACK_W_B, y, y, y);
                    // Four bytes in each half.
                    let halves = own.each_dword(|lane| u32::try_from(lane % 2 * 4).unwrap_or(0));
                    own.load_bytes(order, halves, 32)?;
                    own.asm.v3(ops::PERMUTE_D, y, ymm(order), y);
                }
                (8, 4) => {
                    let even = own.each_dword(|lane| u32::try_from((2 * lane) & 7).unwrap_or(0));
                    own.load_bytes(order, even, 32)?;
                    let y = ymm(n);
                    own.asm.v3(ops::PERMUTE_D, y, ymm(order), y);
                }
                _ => return Err(NoTemplate),
            }
            Ok(())
        })
    }
}
