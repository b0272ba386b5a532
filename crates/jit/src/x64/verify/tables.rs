//! Which instructions code may consist of: of each, what is read, written and accessed. Any other is refused.

use super::LaneOp;
use iced_x86::{Code, Instruction};

/// What an instruction does, as far as it matters for addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Push,
    Pop,
    Return,
    /// Code never comes here, or the host ends it.
    Trap,
    Jump,
    Call,
    /// What vectors hold is lost.
    ClearUpper,
    Nothing,
    LoadControl,
    Arithmetic(Arithmetic),
    /// The address of a place that is not accessed.
    Address,
    /// A number, from a register or from memory.
    Move,
    Immediate,
    /// Any number of so many bytes.
    Number,
    /// The second operand if the first one was above it.
    Smaller,
    /// Bits that are set.
    Count,
    /// The place of the lowest bit that is set. The first operand stays if there is none.
    LowestBit,
    WithoutLowest,
    AndNot,
    BitTest,
    /// Bits of a mask.
    BitsOf,
    /// Signs of lanes of 64 bits.
    SignsOf,
    /// If memory holds the number in `rax` it is written; otherwise `rax` is.
    Exchange,
    /// A lane of a vector.
    LaneOf,
    /// A whole register goes to memory.
    Store,
    /// A number that is part of the code goes to memory.
    StoreNumber,
    /// A whole vector, from a register or from memory.
    Load,
    /// A vector that is zero but for its first lane.
    First,
    /// A vector of lanes that all are the first one of another vector, of so many bytes.
    Broadcast(u8),
    /// A vector of lanes that all are a number of 64 bits.
    BroadcastNumber,
    Lanes(LaneOp),
    /// Whether lanes are equal: all ones where they are.
    Equal,
    /// One half of a vector.
    UpperHalf,
    /// The lower half of a vector, and another one.
    Halves,
    /// The lower dword of each qword of a vector.
    Narrow,
    /// Two dwords of each half of a vector, then of another one.
    Dwords,
    /// Qwords of a vector.
    Qwords,
    /// A comparison of unsigned lanes of 64 bits, as a mask.
    AtMost,
    /// Which lanes have common bits, as a mask.
    CommonMask,
    /// Whether vectors have common bits.
    Common,
    AnyOfMask,
    /// A comparison of floats.
    Compare,
    Gather,
    Scatter,
    /// Lanes of either source: a mask does not keep any of the first operand.
    Blend,
    /// A vector or a mask of which nothing is known.
    Vector,
}

/// Instructions on numbers that have two operands, of which the first changes or is compared, or one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Compare,
    Test,
    ShiftLeft,
    ShiftRight,
    Other,
}

/// The first operand is read as well, if it is a register.
pub(super) const READS: u8 = 1;
/// The first operand is not written.
pub(super) const KEEPS: u8 = 2;
/// Flags are set.
pub(super) const SETS: u8 = 4;
/// Flags are read.
pub(super) const TAKES: u8 = 8;
/// The result does not depend on a register that is both sources.
pub(super) const ALIKE: u8 = 16;

/// What is known of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) kind: Kind,
    /// Bytes of numbers, of whole vectors, or of a lane.
    pub(super) bytes: u8,
    does: u8,
}

impl Row {
    pub(super) const fn does(self, what: u8) -> bool {
        self.does & what != 0
    }

    /// Whether code does not go on after it.
    pub(super) const fn is_last(self) -> bool {
        matches!(self.kind, Kind::Return | Kind::Trap | Kind::Jump)
    }
}

/// No code has such a number.
const CODES: usize = 8192;

/// The row of an instruction, if it may be part of code.
#[inline]
pub(super) fn row(code: Code) -> Option<Row> {
    ROWS.get(code as usize).copied().flatten()
}

/// `KIND, BYTES, [WHAT IT DOES]: INSTRUCTIONS;`
macro_rules! rows {
    ($($kind:expr, $bytes:literal, [$($does:ident)*]: $($code:ident)*;)*) => {
        /// The rows, by the numbers of codes.
        #[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
        static ROWS: [Option<Row>; CODES] = {
            let mut rows = [None; CODES];
            $({
                let row = Some(Row {
                    kind: $kind,
                    bytes: $bytes,
                    does: 0 $(| $does)*,
                });
                $(rows[Code::$code as usize] = row;)*
            })*
            rows
        };
    };
}

#[rustfmt::skip]
rows! {
    // The stack, and ways through the code.
    Kind::Push, 8, []: Push_r64;
    Kind::Pop, 8, []: Pop_r64;
    Kind::Return, 0, []: Retnq;
    Kind::Trap, 0, []: Ud2;
    Kind::Jump, 8, [READS KEEPS]: Jmp_rm64;
    Kind::Call, 8, [READS KEEPS]: Call_rm64;
    Kind::ClearUpper, 0, []: VEX_Vzeroupper;
    Kind::Nothing, 0, []: Mfence Nopd;
    Kind::LoadControl, 4, [KEEPS]: VEX_Vldmxcsr_m32;
    // Numbers: the first operand changes, or is only compared.
    Kind::Arithmetic(Arithmetic::Add), 4, [READS SETS]: Add_r32_rm32 Add_rm32_imm32 Add_rm32_imm8;
    Kind::Arithmetic(Arithmetic::Add), 8, [READS SETS]: Add_r64_rm64 Add_rm64_r64 Add_rm64_imm32 Add_rm64_imm8;
    Kind::Arithmetic(Arithmetic::Sub), 4, [READS SETS]: Sub_r32_rm32 Sub_rm32_imm32 Sub_rm32_imm8;
    Kind::Arithmetic(Arithmetic::Sub), 8, [READS SETS]: Sub_r64_rm64 Sub_rm64_imm32 Sub_rm64_imm8;
    Kind::Arithmetic(Arithmetic::And), 4, [READS SETS]: And_r32_rm32 And_rm32_imm32 And_rm32_imm8;
    Kind::Arithmetic(Arithmetic::And), 8, [READS SETS]: And_r64_rm64 And_rm64_imm32 And_rm64_imm8;
    Kind::Arithmetic(Arithmetic::Or), 4, [READS SETS]: Or_r32_rm32 Or_rm32_r32 Or_rm32_imm32 Or_rm32_imm8;
    Kind::Arithmetic(Arithmetic::Or), 8, [READS SETS]: Or_r64_rm64 Or_rm64_r64 Or_rm64_imm32 Or_rm64_imm8;
    Kind::Arithmetic(Arithmetic::Xor), 4, [READS SETS ALIKE]: Xor_r32_rm32 Xor_rm32_imm32 Xor_rm32_imm8;
    Kind::Arithmetic(Arithmetic::Xor), 8, [READS SETS ALIKE]: Xor_r64_rm64 Xor_rm64_imm32 Xor_rm64_imm8;
    Kind::Arithmetic(Arithmetic::Compare), 2, [READS KEEPS SETS]: Cmp_r16_rm16;
    Kind::Arithmetic(Arithmetic::Compare), 4, [READS KEEPS SETS]: Cmp_r32_rm32 Cmp_rm32_imm32 Cmp_rm32_imm8;
    Kind::Arithmetic(Arithmetic::Compare), 8, [READS KEEPS SETS]: Cmp_r64_rm64 Cmp_rm64_imm32 Cmp_rm64_imm8;
    Kind::Arithmetic(Arithmetic::Test), 4, [READS KEEPS SETS]: Test_rm32_r32 Test_rm32_imm32;
    Kind::Arithmetic(Arithmetic::Test), 8, [READS KEEPS SETS]: Test_rm64_r64 Test_rm64_imm32;
    Kind::Arithmetic(Arithmetic::ShiftLeft), 4, [READS SETS]: Shl_rm32_imm8;
    Kind::Arithmetic(Arithmetic::ShiftLeft), 8, [READS SETS]: Shl_rm64_imm8;
    Kind::Arithmetic(Arithmetic::ShiftRight), 4, [READS SETS]: Shr_rm32_imm8;
    Kind::Arithmetic(Arithmetic::ShiftRight), 8, [READS SETS]: Shr_rm64_imm8;
    Kind::Arithmetic(Arithmetic::Other), 4, [READS SETS]: Inc_rm32 Dec_rm32 Neg_rm32;
    Kind::Arithmetic(Arithmetic::Other), 8, [READS SETS]: Inc_rm64 Dec_rm64 Neg_rm64;
    Kind::Arithmetic(Arithmetic::Other), 4, [READS SETS TAKES ALIKE]: Sbb_r32_rm32 Sbb_rm32_imm32 Sbb_rm32_imm8;
    Kind::Arithmetic(Arithmetic::Other), 8, [READS SETS TAKES ALIKE]: Sbb_r64_rm64 Sbb_rm64_imm32 Sbb_rm64_imm8;
    Kind::Arithmetic(Arithmetic::Other), 4, [READS]: Not_rm32;
    Kind::Arithmetic(Arithmetic::Other), 8, [READS]: Not_rm64;
    // Numbers: the first operand is written.
    Kind::Address, 8, []: Lea_r64_m;
    Kind::Move, 4, []: Mov_r32_rm32;
    Kind::Move, 8, []: Mov_r64_rm64;
    Kind::Immediate, 4, []: Mov_r32_imm32;
    Kind::Number, 1, []: Movzx_r32_rm8 VEX_Vmovmskps_r32_ymm;
    Kind::Number, 2, []: Movzx_r32_rm16;
    Kind::Number, 4, []: Movsx_r32_rm8 Movsx_r32_rm16;
    Kind::Number, 8, []: Movsx_r64_rm8 Movsx_r64_rm16 Movsxd_r64_rm32;
    Kind::Number, 4, [SETS]: Imul_r32_rm32_imm32;
    Kind::Number, 4, [READS TAKES]:
        Cmovo_r32_rm32 Cmovb_r32_rm32 Cmovae_r32_rm32 Cmove_r32_rm32 Cmovne_r32_rm32 Cmovbe_r32_rm32 Cmova_r32_rm32
        Cmovp_r32_rm32 Cmovl_r32_rm32 Cmovge_r32_rm32 Cmovle_r32_rm32 Cmovg_r32_rm32;
    Kind::Number, 8, [READS TAKES]:
        Cmovo_r64_rm64 Cmovb_r64_rm64 Cmovae_r64_rm64 Cmove_r64_rm64 Cmovne_r64_rm64 Cmovbe_r64_rm64 Cmovp_r64_rm64
        Cmovl_r64_rm64 Cmovge_r64_rm64 Cmovle_r64_rm64 Cmovg_r64_rm64;
    Kind::Smaller, 8, [READS TAKES]: Cmova_r64_rm64;
    Kind::Count, 4, [SETS]: Popcnt_r32_rm32;
    Kind::LowestBit, 4, [READS SETS]: Bsf_r32_rm32;
    Kind::WithoutLowest, 4, [SETS]: VEX_Blsr_r32_rm32;
    Kind::AndNot, 4, [SETS]: VEX_Andn_r32_r32_rm32;
    Kind::BitTest, 4, [READS KEEPS SETS]: Bt_rm32_imm8;
    Kind::BitsOf, 4, []: VEX_Kmovd_r32_kr;
    Kind::SignsOf, 32, []: VEX_Vmovmskpd_r32_ymm;
    Kind::Exchange, 0, [READS SETS]: Cmpxchg_rm16_r16 Cmpxchg_rm32_r32 Cmpxchg_rm64_r64;
    // Numbers and lanes that go to a register or to memory.
    Kind::LaneOf, 4, []:
        VEX_Vmovd_rm32_xmm EVEX_Vmovd_rm32_xmm VEX_Vpextrd_rm32_xmm_imm8 EVEX_Vpextrd_rm32_xmm_imm8;
    Kind::LaneOf, 8, []:
        VEX_Vmovq_rm64_xmm EVEX_Vmovq_rm64_xmm VEX_Vpextrq_rm64_xmm_imm8 EVEX_Vpextrq_rm64_xmm_imm8;
    Kind::Number, 1, []: VEX_Vpextrb_r32m8_xmm_imm8 EVEX_Vpextrb_r32m8_xmm_imm8;
    Kind::Number, 2, []: VEX_Vpextrw_r32m16_xmm_imm8 EVEX_Vpextrw_r32m16_xmm_imm8;
    Kind::Store, 0, []: Mov_rm8_r8 Mov_rm16_r16 Mov_rm32_r32 Mov_rm64_r64
        VEX_Vmovdqu_xmmm128_xmm VEX_Vmovdqu_ymmm256_ymm EVEX_Vmovdqu32_xmmm128_k1z_xmm EVEX_Vmovdqu32_ymmm256_k1z_ymm
        EVEX_Vmovdqu32_zmmm512_k1z_zmm;
    Kind::StoreNumber, 0, []: Mov_rm8_imm8 Mov_rm64_imm32;
    // Vectors whose lanes may be compared with bounds.
    Kind::Load, 16, []: VEX_Vmovdqu_xmm_xmmm128 EVEX_Vmovdqu32_xmm_k1z_xmmm128;
    Kind::Load, 32, []: VEX_Vmovdqu_ymm_ymmm256 EVEX_Vmovdqu32_ymm_k1z_ymmm256;
    Kind::Load, 64, []: EVEX_Vmovdqu32_zmm_k1z_zmmm512;
    Kind::First, 4, []: VEX_Vmovd_xmm_rm32 EVEX_Vmovd_xmm_rm32;
    Kind::First, 8, []: VEX_Vmovq_xmm_rm64 EVEX_Vmovq_xmm_rm64;
    Kind::Broadcast(4), 32, []: VEX_Vpbroadcastd_ymm_xmmm32;
    Kind::Broadcast(4), 64, []: EVEX_Vpbroadcastd_zmm_k1z_xmmm32;
    Kind::Broadcast(8), 32, []: VEX_Vpbroadcastq_ymm_xmmm64;
    Kind::Broadcast(8), 64, []: EVEX_Vpbroadcastq_zmm_k1z_xmmm64;
    Kind::BroadcastNumber, 64, []: EVEX_Vpbroadcastq_zmm_k1z_r64;
    Kind::Lanes(LaneOp::Or), 32, []: VEX_Vpor_ymm_ymm_ymmm256;
    Kind::Lanes(LaneOp::Or), 64, []: EVEX_Vpord_zmm_k1z_zmm_zmmm512b32;
    Kind::Lanes(LaneOp::Xor), 16, [ALIKE]: VEX_Vpxor_xmm_xmm_xmmm128;
    Kind::Lanes(LaneOp::Xor), 32, [ALIKE]: VEX_Vpxor_ymm_ymm_ymmm256;
    Kind::Lanes(LaneOp::Xor), 64, [ALIKE]: EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32;
    Kind::Lanes(LaneOp::MaxD), 32, []: VEX_Vpmaxud_ymm_ymm_ymmm256;
    Kind::Lanes(LaneOp::MaxD), 64, []: EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32;
    Kind::Lanes(LaneOp::MinD), 32, []: VEX_Vpminud_ymm_ymm_ymmm256;
    Kind::Lanes(LaneOp::MinD), 64, []: EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32;
    Kind::Lanes(LaneOp::SubD), 32, []: VEX_Vpsubd_ymm_ymm_ymmm256;
    Kind::Lanes(LaneOp::SubD), 64, []: EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32;
    Kind::Lanes(LaneOp::SubQ), 32, []: VEX_Vpsubq_ymm_ymm_ymmm256;
    Kind::Lanes(LaneOp::SubQ), 64, []: EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64;
    Kind::Lanes(LaneOp::GreaterQ), 32, []: VEX_Vpcmpgtq_ymm_ymm_ymmm256;
    Kind::Equal, 32, [ALIKE]: VEX_Vpcmpeqd_ymm_ymm_ymmm256 VEX_Vpcmpeqq_ymm_ymm_ymmm256;
    Kind::Equal, 2, [ALIKE]: VEX_Kxnorw_kr_kr_kr;
    Kind::UpperHalf, 16, []: VEX_Vextracti128_xmmm128_ymm_imm8;
    Kind::UpperHalf, 32, []: EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
    Kind::Halves, 64, []: EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
    Kind::Narrow, 32, []: EVEX_Vpmovqd_ymmm256_k1z_zmm;
    Kind::Dwords, 32, []: VEX_Vshufps_ymm_ymm_ymmm256_imm8;
    Kind::Qwords, 32, []: VEX_Vpermq_ymm_ymmm256_imm8;
    Kind::AtMost, 64, []: EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8;
    Kind::CommonMask, 64, []: EVEX_Vptestmd_kr_k1_zmm_zmmm512b32 EVEX_Vptestmq_kr_k1_zmm_zmmm512b64;
    // What only sets flags.
    Kind::Common, 32, [READS KEEPS SETS]: VEX_Vptest_ymm_ymmm256;
    Kind::AnyOfMask, 2, [READS KEEPS SETS]: VEX_Kortestw_kr_kr;
    Kind::Compare, 0, [READS KEEPS SETS]: VEX_Vucomiss_xmm_xmmm32 VEX_Vucomisd_xmm_xmmm64;
    // Lanes from anywhere in memory, and to it, by the bytes of an index.
    Kind::Gather, 4, []: VEX_Vpgatherdd_ymm_vm32y_ymm VEX_Vpgatherdq_ymm_vm32x_ymm
        EVEX_Vpgatherdd_ymm_k1_vm32y EVEX_Vpgatherdd_zmm_k1_vm32z EVEX_Vpgatherdq_zmm_k1_vm32y;
    Kind::Gather, 8, []: VEX_Vpgatherqd_xmm_vm64y_xmm EVEX_Vpgatherqd_ymm_k1_vm64z;
    Kind::Scatter, 4, []: EVEX_Vpscatterdd_vm32y_k1_ymm EVEX_Vpscatterdd_vm32z_k1_zmm EVEX_Vpscatterdq_vm32y_k1_zmm;
    Kind::Scatter, 8, []: EVEX_Vpscatterqd_vm64z_k1_ymm;
    // All others, of whose results nothing is known.
    Kind::Blend, 0, []:
        EVEX_Vpblendmd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32
        EVEX_Vpblendmq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64;
    Kind::Vector, 0, [READS]:
        VEX_Vfmadd213ps_ymm_ymm_ymmm256 EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er VEX_Vfmadd213pd_ymm_ymm_ymmm256
        EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er VEX_Vfmadd132ps_ymm_ymm_ymmm256
        EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er VEX_Vfmadd132pd_ymm_ymm_ymmm256
        EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er VEX_Vfnmadd213ps_ymm_ymm_ymmm256
        EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er VEX_Vfnmadd213pd_ymm_ymm_ymmm256
        EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er VEX_Vfmadd231pd_ymm_ymm_ymmm256
        EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er EVEX_Vpternlogd_ymm_k1z_ymm_ymmm256b32_imm8
        EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8 EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8
        EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32 EVEX_Vpermi2q_zmm_k1z_zmm_zmmm512b64;
    Kind::Vector, 0, [ALIKE]: VEX_Kxorw_kr_kr_kr;
    Kind::Vector, 0, []:
        VEX_Vaddps_ymm_ymm_ymmm256 EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er VEX_Vaddpd_ymm_ymm_ymmm256
        EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er VEX_Vsubps_ymm_ymm_ymmm256 EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er
        VEX_Vsubpd_ymm_ymm_ymmm256 EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er VEX_Vmulps_ymm_ymm_ymmm256
        EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er VEX_Vmulpd_ymm_ymm_ymmm256 EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er
        VEX_Vdivps_ymm_ymm_ymmm256 EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er VEX_Vdivpd_ymm_ymm_ymmm256
        EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er VEX_Vminps_ymm_ymm_ymmm256 EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae
        VEX_Vminpd_ymm_ymm_ymmm256 EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae VEX_Vmaxps_ymm_ymm_ymmm256
        EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae VEX_Vmaxpd_ymm_ymm_ymmm256 EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae
        VEX_Vsqrtps_ymm_ymmm256 EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er VEX_Vsqrtpd_ymm_ymmm256
        EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er VEX_Vroundps_ymm_ymmm256_imm8 EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae
        VEX_Vroundpd_ymm_ymmm256_imm8 EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae VEX_Vpaddd_xmm_xmm_xmmm128
        VEX_Vpaddd_ymm_ymm_ymmm256 EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 VEX_Vpaddq_ymm_ymm_ymmm256
        EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64 VEX_Vpsubw_ymm_ymm_ymmm256 EVEX_Vpsubw_zmm_k1z_zmm_zmmm512
        VEX_Vpmulld_ymm_ymm_ymmm256 EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32 VEX_Vpmuludq_ymm_ymm_ymmm256
        EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64 VEX_Vpand_ymm_ymm_ymmm256 EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32
        VEX_Vpandn_ymm_ymm_ymmm256 EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32 VEX_Vpminsd_ymm_ymm_ymmm256
        EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32 VEX_Vpmaxsd_ymm_ymm_ymmm256 EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32
        VEX_Vpsllvd_ymm_ymm_ymmm256 EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32 VEX_Vpsllvq_ymm_ymm_ymmm256
        EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64 VEX_Vpsrlvd_ymm_ymm_ymmm256 EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32
        VEX_Vpsrlvq_ymm_ymm_ymmm256 EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64 VEX_Vpsravd_ymm_ymm_ymmm256
        EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32 VEX_Vpsrlq_ymm_ymm_imm8 EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8
        VEX_Vpsllq_ymm_ymm_imm8 EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8 VEX_Vpslld_ymm_ymm_imm8
        EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8 VEX_Vpsrld_ymm_ymm_imm8 EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8
        VEX_Vpsrad_ymm_ymm_imm8 EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8 VEX_Vcvtdq2ps_ymm_ymmm256
        EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er VEX_Vcvttps2dq_ymm_ymmm256 EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae
        VEX_Vpbroadcastw_ymm_xmmm16 EVEX_Vpbroadcastw_zmm_k1z_xmmm16 VEX_Vcvtph2ps_ymm_xmmm128
        EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae VEX_Vpmovzxbd_ymm_xmmm64 EVEX_Vpmovzxbd_zmm_k1z_xmmm128
        VEX_Vpmovsxbd_ymm_xmmm64 EVEX_Vpmovsxbd_zmm_k1z_xmmm128 VEX_Vpmovzxwd_ymm_xmmm128
        EVEX_Vpmovzxwd_zmm_k1z_ymmm256 VEX_Vpmovsxwd_ymm_xmmm128 EVEX_Vpmovsxwd_zmm_k1z_ymmm256
        VEX_Vpmovzxbq_ymm_xmmm32 EVEX_Vpmovzxbq_zmm_k1z_xmmm64 VEX_Vpmovsxbq_ymm_xmmm32 EVEX_Vpmovsxbq_zmm_k1z_xmmm64
        VEX_Vpmovzxwq_ymm_xmmm64 EVEX_Vpmovzxwq_zmm_k1z_xmmm128 VEX_Vpmovsxwq_ymm_xmmm64
        EVEX_Vpmovsxwq_zmm_k1z_xmmm128 VEX_Vpmovzxdq_ymm_xmmm128 EVEX_Vpmovzxdq_zmm_k1z_ymmm256
        VEX_Vpmovsxdq_ymm_xmmm128 EVEX_Vpmovsxdq_zmm_k1z_ymmm256 VEX_Vcvtps2pd_ymm_xmmm128
        EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae VEX_Vcvtpd2ps_xmm_ymmm256 EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er
        VEX_Vcvtps2ph_xmmm128_ymm_imm8 EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae EVEX_Vpmovdw_xmmm128_k1z_ymm
        EVEX_Vpmovdw_ymmm256_k1z_zmm EVEX_Vpmovdb_xmmm64_k1z_ymm EVEX_Vpmovdb_xmmm128_k1z_zmm
        EVEX_Vpmovqd_xmmm128_k1z_ymm EVEX_Vpmovqw_xmmm64_k1z_ymm
        EVEX_Vpmovqw_xmmm128_k1z_zmm EVEX_Vpmovqb_xmmm32_k1z_ymm EVEX_Vpmovqb_xmmm64_k1z_zmm
        VEX_Vcvtdq2pd_ymm_xmmm128 EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er EVEX_Vcvtudq2pd_ymm_k1z_xmmm128b32
        EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32
        EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32
        EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae VEX_Vcvttpd2dq_xmm_ymmm256 EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae
        EVEX_Vcvttpd2udq_xmm_k1z_ymmm256b64 EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae
        EVEX_Vpmullq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64 EVEX_Vpsravq_ymm_k1z_ymm_ymmm256b64
        EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64 EVEX_Vpabsq_ymm_k1z_ymmm256b64 EVEX_Vpabsq_zmm_k1z_zmmm512b64
        EVEX_Vprolvd_zmm_k1z_zmm_zmmm512b32 EVEX_Vprolvq_zmm_k1z_zmm_zmmm512b64 EVEX_Vprorvd_zmm_k1z_zmm_zmmm512b32
        EVEX_Vprorvq_zmm_k1z_zmm_zmmm512b64 EVEX_Vmovdqa32_ymm_k1z_ymmm256 EVEX_Vmovdqa32_zmm_k1z_zmmm512
        EVEX_Vmovdqa64_ymm_k1z_ymmm256 EVEX_Vmovdqa64_zmm_k1z_zmmm512 EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32
        EVEX_Vpandq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64 EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8
        EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae EVEX_Vcmppd_kr_k1_ymm_ymmm256b64_imm8
        EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8
        EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8 EVEX_Vpcmpq_kr_k1_ymm_ymmm256b64_imm8
        EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8 EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8
        EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8 EVEX_Vptestnmq_kr_k1_zmm_zmmm512b64 EVEX_Vpmovm2d_zmm_kr
        EVEX_Vpmovm2q_zmm_kr VEX_Vcmpps_ymm_ymm_ymmm256_imm8 VEX_Vcmppd_ymm_ymm_ymmm256_imm8
        VEX_Vpcmpgtd_ymm_ymm_ymmm256 VEX_Vpblendvb_ymm_ymm_ymmm256_ymm VEX_Vpabsd_ymm_ymmm256
        EVEX_Vpabsd_zmm_k1z_zmmm512b32 VEX_Vpackusdw_ymm_ymm_ymmm256 VEX_Vpackuswb_ymm_ymm_ymmm256
        VEX_Vpermd_ymm_ymm_ymmm256 EVEX_Vpermd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32
        VEX_Vpunpckldq_ymm_ymm_ymmm256 VEX_Vpunpckhdq_ymm_ymm_ymmm256 VEX_Vpunpcklqdq_ymm_ymm_ymmm256
        VEX_Vpunpckhqdq_ymm_ymm_ymmm256 VEX_Vperm2i128_ymm_ymm_ymmm256_imm8
        VEX_Vpermilps_xmm_xmm_xmmm128 VEX_Vshufps_xmm_xmm_xmmm128_imm8
        VEX_Vextractf128_xmmm128_ymm_imm8 EVEX_Vextractf64x4_ymmm256_k1z_zmm_imm8
        EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8 VEX_Vinserti128_ymm_ymm_xmmm128_imm8
        VEX_Vinsertf128_ymm_ymm_xmmm128_imm8
        EVEX_Vinsertf64x4_zmm_k1z_zmm_ymmm256_imm8 VEX_Vmovq_xmm_xmmm64 EVEX_Vmovq_xmm_xmmm64 VEX_Vmovq_xmmm64_xmm
        EVEX_Vmovq_xmmm64_xmm VEX_Vaddss_xmm_xmm_xmmm32 VEX_Vaddsd_xmm_xmm_xmmm64 VEX_Vsubss_xmm_xmm_xmmm32
        VEX_Vsubsd_xmm_xmm_xmmm64 VEX_Kmovd_kr_r32 VEX_Kmovw_kr_km16 EVEX_Vpcmpuq_kr_k1_ymm_ymmm256b64_imm8
        VEX_Vpminuw_ymm_ymm_ymmm256 EVEX_Vpminuw_zmm_k1z_zmm_zmmm512
        VEX_Vpmaxuw_ymm_ymm_ymmm256 EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512 VEX_Vpsraw_ymm_ymm_imm8
        EVEX_Vpsraw_zmm_k1z_zmmm512_imm8 VEX_Vpmaddwd_ymm_ymm_ymmm256 EVEX_Vpmaddwd_zmm_k1z_zmm_zmmm512;
}

/// Low bits, of so many bytes.
pub(super) const fn low(bytes: usize) -> u64 {
    if bytes >= 8 {
        u64::MAX
    } else {
        (1 << (8 * bytes)) - 1
    }
}

/// Numbers up to this one have no other bits.
pub(super) const fn up_to(most: u64) -> u64 {
    match most.checked_ilog2() {
        None => 0,
        Some(bit) => u64::MAX >> (63 - bit),
    }
}

/// Bytes that an instruction accesses, or that each lane does.
#[inline]
pub(super) fn accessed(instruction: &Instruction) -> usize {
    instruction.memory_size().size()
}

/// The number that is part of an instruction, if the operand is one.
pub(super) fn immediate(instruction: &Instruction, operand: u32) -> Option<u64> {
    instruction.try_immediate(operand).ok()
}
