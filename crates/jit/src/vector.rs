//! Vectors of lanes in registers: loading operands, storing results, masks.

use crate::assembler::{Assembler, Operand};
use iced_x86::{Code, MemoryOperand, Register};
use std::collections::HashMap;
use visakit_exec::code::{Combine, Destination, Extension, Flag, Modify, Region, Source, Target};
use visakit_isa::DataType;

/// The register file.
pub(crate) const FILE: Register = Register::RBX;
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

/// What the host has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Features {
    /// AVX2, FMA and BMI.
    Avx2,
    /// Those, and AVX-512 F, BW, DQ and VL.
    Avx512,
}

/// An instruction on vectors of 256 and of 512 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) ymm: Code,
    pub(crate) zmm: Code,
}

/// `op!(Vaddps_ymm_ymm_ymmm256 Vaddps_zmm_k1z_zmm_zmmm512b32_er)`
macro_rules! op {
    ($($name:ident = $ymm:ident $zmm:ident;)*) => {$(
        pub(crate) const $name: Op = Op { ymm: Code::$ymm, zmm: Code::$zmm };
    )*};
}

#[rustfmt::skip]
pub(crate) mod ops {
    use super::{Code, Op};

    op! {
        ADD_PS = VEX_Vaddps_ymm_ymm_ymmm256 EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er;
        ADD_PD = VEX_Vaddpd_ymm_ymm_ymmm256 EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er;
        SUB_PS = VEX_Vsubps_ymm_ymm_ymmm256 EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er;
        SUB_PD = VEX_Vsubpd_ymm_ymm_ymmm256 EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er;
        MUL_PS = VEX_Vmulps_ymm_ymm_ymmm256 EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er;
        MUL_PD = VEX_Vmulpd_ymm_ymm_ymmm256 EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er;
        DIV_PS = VEX_Vdivps_ymm_ymm_ymmm256 EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er;
        DIV_PD = VEX_Vdivpd_ymm_ymm_ymmm256 EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er;
        MIN_PS = VEX_Vminps_ymm_ymm_ymmm256 EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae;
        MIN_PD = VEX_Vminpd_ymm_ymm_ymmm256 EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae;
        MAX_PS = VEX_Vmaxps_ymm_ymm_ymmm256 EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae;
        SQRT_PS = VEX_Vsqrtps_ymm_ymmm256 EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er;
        SQRT_PD = VEX_Vsqrtpd_ymm_ymmm256 EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er;
        // a = a * b + c
        FMA_PS = VEX_Vfmadd213ps_ymm_ymm_ymmm256 EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
        FMA_PD = VEX_Vfmadd213pd_ymm_ymm_ymmm256 EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
        ROUND_PS = VEX_Vroundps_ymm_ymmm256_imm8 EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae;
        ROUND_PD = VEX_Vroundpd_ymm_ymmm256_imm8 EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
        ADD_D = VEX_Vpaddd_ymm_ymm_ymmm256 EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
        ADD_Q = VEX_Vpaddq_ymm_ymm_ymmm256 EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64;
        SUB_D = VEX_Vpsubd_ymm_ymm_ymmm256 EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32;
        SUB_Q = VEX_Vpsubq_ymm_ymm_ymmm256 EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64;
        MUL_D = VEX_Vpmulld_ymm_ymm_ymmm256 EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32;
        MUL_UDQ = VEX_Vpmuludq_ymm_ymm_ymmm256 EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64;
        AND = VEX_Vpand_ymm_ymm_ymmm256 EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32;
        ANDN = VEX_Vpandn_ymm_ymm_ymmm256 EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32;
        OR = VEX_Vpor_ymm_ymm_ymmm256 EVEX_Vpord_zmm_k1z_zmm_zmmm512b32;
        XOR = VEX_Vpxor_ymm_ymm_ymmm256 EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32;
        MIN_UD = VEX_Vpminud_ymm_ymm_ymmm256 EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32;
        MAX_UD = VEX_Vpmaxud_ymm_ymm_ymmm256 EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32;
        MIN_SD = VEX_Vpminsd_ymm_ymm_ymmm256 EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32;
        MAX_SD = VEX_Vpmaxsd_ymm_ymm_ymmm256 EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32;
        SHL_D = VEX_Vpsllvd_ymm_ymm_ymmm256 EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32;
        SHL_Q = VEX_Vpsllvq_ymm_ymm_ymmm256 EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64;
        SHR_D = VEX_Vpsrlvd_ymm_ymm_ymmm256 EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32;
        SHR_Q = VEX_Vpsrlvq_ymm_ymm_ymmm256 EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64;
        SAR_D = VEX_Vpsravd_ymm_ymm_ymmm256 EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32;
        SHR_Q_IMM = VEX_Vpsrlq_ymm_ymm_imm8 EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8;
        SHL_Q_IMM = VEX_Vpsllq_ymm_ymm_imm8 EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8;
        SHL_D_IMM = VEX_Vpslld_ymm_ymm_imm8 EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8;
        SAR_D_IMM = VEX_Vpsrad_ymm_ymm_imm8 EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8;
        FROM_D_PS = VEX_Vcvtdq2ps_ymm_ymmm256 EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er;
        TO_D_PS = VEX_Vcvttps2dq_ymm_ymmm256 EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae;
        MOVE = VEX_Vmovdqu_ymm_ymmm256 EVEX_Vmovdqu32_zmm_k1z_zmmm512;
        BROADCAST_D = VEX_Vpbroadcastd_ymm_xmmm32 EVEX_Vpbroadcastd_zmm_k1z_xmmm32;
        BROADCAST_Q = VEX_Vpbroadcastq_ymm_xmmm64 EVEX_Vpbroadcastq_zmm_k1z_xmmm64;
    }
}

/// How the lanes of a step lie in vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunks {
    /// Bytes of a lane: 4 or 8.
    pub(crate) lane: usize,
    /// Lanes of a vector: as many as are used, where it is not full.
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

/// The lanes that a step may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Enabled {
    /// All of its lanes.
    All,
    /// Those that run.
    Running,
    /// Those in [`MASK`].
    Some,
}

/// What a vector register holds besides what a step works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    /// So many bytes of the register file.
    Bytes { offset: usize, bytes: usize },
    /// An element of the register file in every lane of a vector of 256 or 512 bits.
    Each {
        offset: usize,
        bytes: usize,
        zmm: bool,
    },
    /// All ones in the lanes of a chunk that run.
    Running { lane: usize, chunk: usize },
}

/// The first vector register that is kept. Registers 0 to 2 hold sources of a step, 3 to 7 what lies
/// between.
const KEPT: u32 = 8;

/// Registers that hold what the register file holds, too, so that it need not be read again within a
/// segment. What is written goes to the file at once.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Kept {
    contents: [Option<Content>; 32],
    /// Mask registers from `k3` on that hold lanes that run: lanes of a chunk, and which chunk.
    masks: [Option<(usize, usize)>; 4],
    next: u32,
    /// Registers that the step works with.
    busy: u32,
    /// Registers that the step has taken.
    taken: u32,
}

/// Writes machine code for steps.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) asm: Assembler,
    pub(crate) features: Features,
    /// Bytes of the register file.
    pub(crate) file_bytes: usize,
    pub(crate) constants: Constants,
    pub(crate) kept: Kept,
}

impl Writer {
    /// Begins a step.
    pub(crate) fn begin(&mut self) {
        self.kept.busy = 0;
        self.kept.taken = 0;
    }

    /// Nothing is kept: other code ran, or the place is reached from elsewhere.
    pub(crate) fn forget(&mut self) {
        self.kept = Kept::default();
    }

    /// Whether the step ran is not known here.
    pub(crate) fn forget_step(&mut self) {
        for n in 0..32 {
            if self.kept.taken >> n & 1 != 0 {
                self.set(n, None);
            }
        }
        self.kept.masks = [None; 4];
    }

    /// Bytes of the file were written by other means.
    pub(crate) fn overwritten(&mut self, offset: usize, bytes: usize) {
        for content in &mut self.kept.contents {
            let place = match *content {
                Some(Content::Bytes { offset, bytes } | Content::Each { offset, bytes, .. }) => {
                    offset..offset + bytes
                }
                _ => continue,
            };
            if place.start < offset + bytes && offset < place.end {
                *content = None;
            }
        }
    }

    fn set(&mut self, n: u32, content: Option<Content>) {
        if let Some(to) = self.kept.contents.get_mut(n as usize) {
            *to = content;
        }
    }

    /// The register that holds this, for instructions on such vectors.
    fn find(&self, c: Chunks, content: Content) -> Option<u32> {
        let mut contents = self.kept.contents.iter().take(c.registers());
        let place = contents.position(|c| *c == Some(content))?;
        u32::try_from(place).ok()
    }

    /// A register for a result.
    pub(crate) fn take(&mut self, c: Chunks) -> Result<u32, NoTemplate> {
        let count = u32::try_from(c.registers()).unwrap_or(16) - KEPT;
        for _ in 0..count {
            let n = KEPT + self.kept.next % count;
            self.kept.next += 1;
            if self.kept.busy >> n & 1 == 0 {
                self.set(n, None);
                self.kept.busy |= 1 << n;
                self.kept.taken |= 1 << n;
                return Ok(n);
            }
        }
        Err(NoTemplate)
    }

    /// The step needs a register no more.
    pub(crate) fn release(&mut self, n: u32) {
        self.kept.busy &= !(1 << n);
    }
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

/// Parts of the vector register of that number.
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

    /// Number of registers that its instructions can name: those of 256 bits are encoded in the short
    /// form, which knows 16.
    const fn registers(self) -> usize {
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
    /// Bytes of the register file. What lies outside of it is not accessed: such a step has no
    /// template. This is what keeps machine code inside of the file.
    pub(crate) fn file(&self, offset: usize, bytes: usize) -> Result<MemoryOperand, NoTemplate> {
        let end = offset.checked_add(bytes).ok_or(NoTemplate)?;
        match i32::try_from(offset) {
            Ok(place) if end <= self.file_bytes => {
                Ok(MemoryOperand::with_base_displ(FILE, place.into()))
            }
            _ => Err(NoTemplate),
        }
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

    /// Loads so many bytes: 4 to 64, a power of two.
    pub(crate) fn load_bytes(&mut self, to: u32, from: MemoryOperand, bytes: usize) -> Done {
        match bytes {
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

    /// Stores so many bytes: 4 to 64, a power of two.
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

    /// The lanes of a chunk of a source, with its modifier, in a register: `to`, or one that is kept
    /// and must not be changed. `float` tells whether lanes are floats.
    pub(crate) fn load(
        &mut self,
        c: Chunks,
        chunk: usize,
        to: u32,
        source: &Source,
        float: bool,
    ) -> Result<u32, NoTemplate> {
        let ty = source.data_type;
        let size = usize::from(ty.size());
        let half = ty == DataType::Hf && float && c.lane == 4;
        let same = if float {
            ty == if c.lane == 4 {
                DataType::F
            } else {
                DataType::Df
            }
        } else {
            size == c.lane && !ty.is_float()
        };
        if !same && !half && (float || ty.is_float()) {
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
            self.modify(c, to, source.modify, float)?;
            return Ok(to);
        };
        // Where results need all registers, none is left for sources.
        let crowded = self.features == Features::Avx2 && c.count > 4;
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
                self.v2(c, ops::MOVE, to, c.register(n));
                self.release(n);
                self.modify(c, to, source.modify, float)?;
                Ok(to)
            }
            None => {
                self.modify(c, to, source.modify, float)?;
                Ok(to)
            }
        }
    }

    fn load_content(&mut self, c: Chunks, to: u32, content: Content) -> Done {
        match content {
            Content::Bytes { offset, bytes } => {
                let from = self.file(offset, bytes)?;
                self.load_bytes(to, from, bytes)
            }
            Content::Each { offset, bytes, .. } => {
                let from = self.file(offset, bytes)?;
                let op = if c.lane == 4 {
                    ops::BROADCAST_D
                } else {
                    ops::BROADCAST_Q
                };
                self.v2(c, op, to, from);
                Ok(())
            }
            Content::Running { .. } => Err(NoTemplate),
        }
    }

    /// Loads the lanes of a chunk of a source that do not stand in the file as they are needed.
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
        let half = ty == DataType::Hf && float && c.lane == 4;
        match &source.region {
            Region::Scalar if !float && is_extended(source) => {
                let from = self.file(source.offset, c.lane)?;
                self.load_bytes(to, from, c.lane)?;
            }
            Region::Scalar => {
                let from = self.file(source.offset, size)?;
                self.load_number(from, ty, c.lane);
                if c.lane == 8 {
                    self.asm
                        .op2(Code::VEX_Vmovq_xmm_rm64, xmm(to), Register::RAX);
                } else {
                    self.asm
                        .op2(Code::VEX_Vmovd_xmm_rm32, xmm(to), Register::EAX);
                }
                if half {
                    self.asm
                        .op2(Code::VEX_Vcvtph2ps_xmm_xmmm64, xmm(to), xmm(to));
                }
                if c.lanes != 1 {
                    let op = if c.lane == 4 {
                        ops::BROADCAST_D
                    } else {
                        ops::BROADCAST_Q
                    };
                    self.v2(c, op, to, xmm(to));
                }
            }
            Region::Packed => {
                // Wider reads than needed stay inside of the file, or there is no template.
                let wide = if c.zmm { 64 } else { 32 } / c.lane * size;
                let from = self.file(source.offset + chunk * c.lanes * size, wide)?;
                let op = widening(ty, c.lane).ok_or(NoTemplate)?;
                self.v2(c, op, to, from);
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
        if ty == DataType::Hf || size > c.lane || c.lane == 8 && size != 8 {
            return Err(NoTemplate);
        }
        let last = (0..c.lanes).map(&offset).max().unwrap_or(0);
        self.file(source.offset, last + c.lane)?;
        // Lanes that are not used read what the first lane reads.
        let lanes = c.lanes;
        let place = |lane: usize| offset(if lane < lanes { lane } else { 0 });
        let index = self.each_dword(|lane| u32::try_from(place(lane)).unwrap_or(0));
        let displacement = i64::try_from(source.offset).map_err(|_| NoTemplate)?;
        let memory = |index: Register| {
            MemoryOperand::with_base_index_scale_displ_size(FILE, index, 1, displacement, 8)
        };
        let (number, ones) = (6, 7);
        let dwords = if c.zmm { 64 } else { 32 } / c.lane * 4;
        self.load_bytes(number, index, dwords)?;
        match (c.zmm, c.lane) {
            (true, lane) => {
                self.asm.op3(
                    Code::VEX_Kxnorw_kr_kr_kr,
                    Register::K2,
                    Register::K2,
                    Register::K2,
                );
                let (code, index) = match lane {
                    4 => (Code::EVEX_Vpgatherdd_zmm_k1_vm32z, Register::ZMM0 + number),
                    _ => (Code::EVEX_Vpgatherdq_zmm_k1_vm32y, ymm(number)),
                };
                self.asm.op2(code, c.register(to), memory(index));
                self.asm.mask(Register::K2);
            }
            (false, lane) => {
                let all = ymm(ones);
                self.asm
                    .op3(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, all, all, all);
                let (code, index) = match lane {
                    4 => (Code::VEX_Vpgatherdd_ymm_vm32y_ymm, ymm(number)),
                    _ => (Code::VEX_Vpgatherdq_ymm_vm32x_ymm, xmm(number)),
                };
                self.asm.gather(code, ymm(to), memory(index), all);
            }
        }
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
    fn load_number(&mut self, from: MemoryOperand, ty: DataType, lane: usize) {
        let (code, register) = match (ty.size(), ty.is_signed(), lane) {
            (1, true, 8) => (Code::Movsx_r64_rm8, Register::RAX),
            (2, true, 8) => (Code::Movsx_r64_rm16, Register::RAX),
            (4, true, 8) => (Code::Movsxd_r64_rm32, Register::RAX),
            (1, true, _) => (Code::Movsx_r32_rm8, Register::EAX),
            (2, true, _) => (Code::Movsx_r32_rm16, Register::EAX),
            (1, false, _) => (Code::Movzx_r32_rm8, Register::EAX),
            (2, false, _) => (Code::Movzx_r32_rm16, Register::EAX),
            // Of a qword the low half; a dword clears the upper half of the register.
            _ => (Code::Mov_r32_rm32, Register::EAX),
        };
        self.asm.op2(code, register, from);
    }

    fn modify(&mut self, c: Chunks, n: u32, modify: Modify, float: bool) -> Done {
        const SIGN: (u32, u64) = (1 << 31, 1 << 63);
        match (modify, float) {
            (Modify::None, _) => {}
            (Modify::Not, _) => {
                let ones = self.dwords(u32::MAX);
                self.v3m(c, ops::XOR, n, n, ones);
            }
            (Modify::Neg, false) => {
                self.v3(c, ops::XOR, 7, 7, 7);
                let op = if c.lane == 4 { ops::SUB_D } else { ops::SUB_Q };
                self.v3(c, op, n, 7, n);
            }
            (_, false) => return Err(NoTemplate),
            (modify, true) => {
                if modify != Modify::Neg {
                    let rest = self.every(c, !SIGN.0, !SIGN.1);
                    self.v3m(c, ops::AND, n, n, rest);
                }
                if modify != Modify::Abs {
                    let sign = self.every(c, SIGN.0, SIGN.1);
                    self.v3m(c, ops::XOR, n, n, sign);
                }
            }
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
        match destination.target {
            Target::Null => return Ok(()),
            Target::Packed => {}
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
        if destination.saturate || !same && (float || ty.is_float() || size > c.lane) {
            return Err(NoTemplate);
        }
        let bytes = c.lanes * size;
        let offset = destination.offset + chunk * bytes;
        let to = self.file(offset, bytes)?;
        if same {
            let content = Content::Bytes { offset, bytes };
            if masked && c.lanes > 1 {
                let old = match self.find(c, content) {
                    Some(n) => {
                        self.kept.busy |= 1 << n;
                        n
                    }
                    None => {
                        self.load_bytes(0, to, bytes)?;
                        0
                    }
                };
                self.blend(c, chunk, from, old, from, enabled)?;
            }
            self.overwritten(offset, bytes);
            self.set(from, Some(content));
            return self.store_bytes(to, from, bytes);
        }
        // Under a mask of a single lane the step is not reached unless the lane is enabled.
        if masked && c.lanes > 1 {
            return Err(NoTemplate);
        }
        self.narrow(c, from, size)?;
        self.overwritten(offset, bytes);
        self.store_bytes(to, from, bytes)
    }

    /// The low parts of lanes, one after the other.
    fn narrow(&mut self, c: Chunks, n: u32, size: usize) -> Done {
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
            (8, 4) => {
                let even = self.each_dword(|lane| u32::try_from(2 * lane & 7).unwrap_or(0));
                self.load_bytes(7, even, 32)?;
                let y = ymm(n);
                self.asm.op3(Code::VEX_Vpermd_ymm_ymm_ymmm256, y, ymm(7), y);
            }
            _ => return Err(NoTemplate),
        }
        Ok(())
    }

    /// `to` becomes `set` in the lanes of a chunk that are enabled, else `clear`.
    fn blend(
        &mut self,
        c: Chunks,
        chunk: usize,
        to: u32,
        clear: u32,
        set: u32,
        enabled: Enabled,
    ) -> Done {
        if enabled != Enabled::Running {
            self.blend_by(c, chunk, to, clear, set, MASK);
            return Ok(());
        }
        if self.features == Features::Avx512 {
            let key = Some((c.lanes, chunk));
            let place = match self.kept.masks.iter().position(|m| *m == key) {
                Some(place) => place,
                None => {
                    let free = self
                        .kept
                        .masks
                        .iter()
                        .position(Option::is_none)
                        .unwrap_or(0);
                    self.lanes_of(c, chunk, RUNNING, Register::K3 + free as u32);
                    if let Some(mask) = self.kept.masks.get_mut(free) {
                        *mask = key;
                    }
                    free
                }
            };
            self.blend_under(c, to, clear, set, Register::K3 + place as u32);
            return Ok(());
        }
        let content = Content::Running {
            lane: c.lane,
            chunk,
        };
        let m = match self.find(c, content) {
            Some(n) => n,
            None => {
                // Results may need all registers that are kept.
                let kept = self.take(c);
                let n = kept.unwrap_or(7);
                self.spread(c, chunk, RUNNING, n);
                if kept.is_ok() {
                    self.set(n, Some(content));
                    self.release(n);
                }
                n
            }
        };
        self.blend_by_vector(to, clear, set, m);
        Ok(())
    }

    /// The same by bits in a register.
    pub(crate) fn blend_by(
        &mut self,
        c: Chunks,
        chunk: usize,
        to: u32,
        clear: u32,
        set: u32,
        bits: Register,
    ) {
        if self.features == Features::Avx512 {
            self.lanes_of(c, chunk, bits, Register::K1);
            self.blend_under(c, to, clear, set, Register::K1);
        } else {
            self.spread(c, chunk, bits, 7);
            self.blend_by_vector(to, clear, set, 7);
        }
    }

    /// The lanes of a chunk in a mask register.
    fn lanes_of(&mut self, c: Chunks, chunk: usize, bits: Register, to: Register) {
        let shift = u32::try_from(chunk * c.lanes).unwrap_or(0);
        let mut from = bits;
        if shift != 0 {
            self.asm.op2(Code::Mov_r32_rm32, Register::EAX, bits);
            self.asm.op1i(Code::Shr_rm32_imm8, Register::EAX, shift);
            from = Register::EAX;
        }
        self.asm.op2(Code::VEX_Kmovd_kr_r32, to, from);
    }

    fn blend_under(&mut self, c: Chunks, to: u32, clear: u32, set: u32, mask: Register) {
        let code = match (c.zmm, c.lane) {
            (true, 4) => Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32,
            (true, _) => Code::EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64,
            (false, 4) => Code::EVEX_Vpblendmd_ymm_k1z_ymm_ymmm256b32,
            (false, _) => Code::EVEX_Vpblendmq_ymm_k1z_ymm_ymmm256b64,
        };
        let (to, clear, set) = (c.register(to), c.register(clear), c.register(set));
        self.asm.op3(code, to, clear, set);
        self.asm.mask(mask);
    }

    /// The lanes of a chunk as all ones or zeros.
    fn spread(&mut self, c: Chunks, chunk: usize, bits: Register, m: u32) {
        self.asm.op2(Code::VEX_Vmovd_xmm_rm32, xmm(m), bits);
        let first = chunk * c.lanes;
        let bit = |lane: usize| u32::try_from(first + lane).unwrap_or(64);
        let (select, equal) = if c.lane == 4 {
            self.v2(c, ops::BROADCAST_D, m, xmm(m));
            let select = self.each_dword(|lane| 1u32.checked_shl(bit(lane)).unwrap_or(0));
            (select, Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256)
        } else {
            self.v2(c, ops::BROADCAST_Q, m, xmm(m));
            let select = self.each_qword(|lane| 1u64.checked_shl(bit(lane)).unwrap_or(0));
            (select, Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256)
        };
        self.v3m(c, ops::AND, m, m, select);
        self.asm.op3(equal, ymm(m), ymm(m), select);
    }

    fn blend_by_vector(&mut self, to: u32, clear: u32, set: u32, m: u32) {
        let code = Code::VEX_Vpblendvb_ymm_ymm_ymmm256_ymm;
        self.asm.op4(code, ymm(to), ymm(clear), ymm(set), ymm(m));
    }

    /// The lanes that a predicate variable enables, the first at bit 0, in a register of 32 bits.
    pub(crate) fn flag(&mut self, flag: &Flag, to: Register) -> Done {
        let word = self.file(flag.offset as usize, 4)?;
        self.asm.op2(Code::Mov_r32_rm32, to, word);
        if flag.first != 0 {
            self.asm.op1i(Code::Shr_rm32_imm8, to, flag.first.into());
        }
        let window = flag.window;
        let narrow = |writer: &mut Self| {
            if window != u32::MAX {
                writer.asm.op1i(Code::And_rm32_imm32, to, window);
            }
        };
        match flag.combine {
            Combine::PerLane => {
                if flag.invert {
                    self.asm.op1(Code::Not_rm32, to);
                }
                narrow(self);
                return Ok(());
            }
            Combine::Any => {
                narrow(self);
                // All ones if any is set.
                self.asm.op1(Code::Neg_rm32, to);
                self.asm.op2(Code::Sbb_r32_rm32, to, to);
            }
            Combine::All => {
                self.asm.op1(Code::Not_rm32, to);
                narrow(self);
                // All ones if none is clear.
                self.asm.op1i(Code::Cmp_rm32_imm32, to, 1);
                self.asm.op2(Code::Sbb_r32_rm32, to, to);
            }
        }
        if flag.invert {
            self.asm.op1(Code::Not_rm32, to);
        }
        narrow(self);
        Ok(())
    }

    /// Writes bits to a predicate variable: to all lanes of the instruction, or to those that
    /// [`MASK`] enables. The bits are lost.
    pub(crate) fn set_flag(&mut self, flag: &Flag, bits: Register, masked: bool) -> Done {
        let word = self.file(flag.offset as usize, 4)?;
        self.overwritten(flag.offset as usize, 4);
        let lanes = flag.window.checked_shl(flag.first.into()).unwrap_or(0);
        let shift = u32::from(flag.first);
        if !masked && lanes == u32::MAX {
            self.asm.op2(Code::Mov_rm32_r32, word, bits);
            return Ok(());
        }
        if masked {
            self.asm.op2(Code::Mov_r32_rm32, Register::EAX, MASK);
            self.asm.op2(Code::And_r32_rm32, bits, MASK);
            if shift != 0 {
                self.asm.op1i(Code::Shl_rm32_imm8, Register::EAX, shift);
            }
            self.asm.op1(Code::Not_rm32, Register::EAX);
        } else {
            self.asm.op1i(Code::Mov_r32_imm32, Register::EAX, !lanes);
            if flag.window != u32::MAX {
                self.asm.op1i(Code::And_rm32_imm32, bits, flag.window);
            }
        }
        if shift != 0 {
            self.asm.op1i(Code::Shl_rm32_imm8, bits, shift);
        }
        self.asm.op2(Code::And_r32_rm32, Register::EAX, word);
        self.asm.op2(Code::Or_r32_rm32, bits, Register::EAX);
        self.asm.op2(Code::Mov_rm32_r32, word, bits);
        Ok(())
    }
}

/// Whether a source is a constant that stands in 64 bits as its type extends it.
fn is_extended(source: &Source) -> bool {
    match source.constant {
        Some(Extension::Sign) => source.data_type.is_signed(),
        Some(Extension::Zero) => !source.data_type.is_signed(),
        None => false,
    }
}

/// Loads that extend integers or halves to lanes.
#[rustfmt::skip]
fn widening(ty: DataType, lane: usize) -> Option<Op> {
    use Code as C;
    let (ymm, zmm) = match (ty.size(), ty.is_signed(), lane) {
        (2, _, 4) if ty == DataType::Hf => (C::VEX_Vcvtph2ps_ymm_xmmm128, C::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae),
        (1, false, 4) => (C::VEX_Vpmovzxbd_ymm_xmmm64, C::EVEX_Vpmovzxbd_zmm_k1z_xmmm128),
        (1, true, 4) => (C::VEX_Vpmovsxbd_ymm_xmmm64, C::EVEX_Vpmovsxbd_zmm_k1z_xmmm128),
        (2, false, 4) => (C::VEX_Vpmovzxwd_ymm_xmmm128, C::EVEX_Vpmovzxwd_zmm_k1z_ymmm256),
        (2, true, 4) => (C::VEX_Vpmovsxwd_ymm_xmmm128, C::EVEX_Vpmovsxwd_zmm_k1z_ymmm256),
        (1, false, 8) => (C::VEX_Vpmovzxbq_ymm_xmmm32, C::EVEX_Vpmovzxbq_zmm_k1z_xmmm64),
        (1, true, 8) => (C::VEX_Vpmovsxbq_ymm_xmmm32, C::EVEX_Vpmovsxbq_zmm_k1z_xmmm64),
        (2, false, 8) => (C::VEX_Vpmovzxwq_ymm_xmmm64, C::EVEX_Vpmovzxwq_zmm_k1z_xmmm128),
        (2, true, 8) => (C::VEX_Vpmovsxwq_ymm_xmmm64, C::EVEX_Vpmovsxwq_zmm_k1z_xmmm128),
        (4, false, 8) => (C::VEX_Vpmovzxdq_ymm_xmmm128, C::EVEX_Vpmovzxdq_zmm_k1z_ymmm256),
        (4, true, 8) => (C::VEX_Vpmovsxdq_ymm_xmmm128, C::EVEX_Vpmovsxdq_zmm_k1z_ymmm256),
        _ => return None,
    };
    Some(Op { ymm, zmm })
}
