//! Operations on vectors, with the instructions that do them.

use iced_x86::Code;

/// An operation on vectors, and its instructions by the widest vector that they name: those of AVX2, and those of
/// AVX-512, which name all 32 registers and work under masks. A width that has no instruction is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Op {
    /// For 128 and 256 bits.
    pub(super) short: [Code; 2],
    /// For 128, 256 and 512 bits.
    pub(super) long: [Code; 3],
}

/// `NAME = [128 256 bits of AVX2] [128 256 512 bits of AVX-512];` with `_` where there is none.
macro_rules! ops {
    ($($name:ident = [$($short:tt)*] [$($long:tt)*];)*) => {$(
        pub(crate) const $name: Op = Op { short: [$(ops!(@ $short)),*], long: [$(ops!(@ $long)),*] };
    )*};
    (@ _) => { Code::INVALID };
    (@ $code:ident) => { Code::$code };
}

#[rustfmt::skip]
ops! {
    ADD_PS = [_ VEX_Vaddps_ymm_ymm_ymmm256] [_ _ EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er];
    ADD_PD = [_ VEX_Vaddpd_ymm_ymm_ymmm256] [_ _ EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er];
    SUB_PS = [_ VEX_Vsubps_ymm_ymm_ymmm256] [_ _ EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er];
    SUB_PD = [_ VEX_Vsubpd_ymm_ymm_ymmm256] [_ _ EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er];
    MUL_PS = [_ VEX_Vmulps_ymm_ymm_ymmm256] [_ _ EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er];
    MUL_PD = [_ VEX_Vmulpd_ymm_ymm_ymmm256] [_ _ EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er];
    DIV_PS = [_ VEX_Vdivps_ymm_ymm_ymmm256] [_ _ EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er];
    DIV_PD = [_ VEX_Vdivpd_ymm_ymm_ymmm256] [_ _ EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er];
    MIN_PS = [_ VEX_Vminps_ymm_ymm_ymmm256] [_ _ EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae];
    MIN_PD = [_ VEX_Vminpd_ymm_ymm_ymmm256] [_ _ EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae];
    MAX_PS = [_ VEX_Vmaxps_ymm_ymm_ymmm256] [_ _ EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae];
    MAX_PD = [_ VEX_Vmaxpd_ymm_ymm_ymmm256] [_ _ EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae];
    SQRT_PS = [_ VEX_Vsqrtps_ymm_ymmm256] [_ _ EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er];
    SQRT_PD = [_ VEX_Vsqrtpd_ymm_ymmm256] [_ _ EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er];
    // a = a * b + c
    FMA_PS = [_ VEX_Vfmadd213ps_ymm_ymm_ymmm256] [_ _ EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er];
    FMA_PD = [_ VEX_Vfmadd213pd_ymm_ymm_ymmm256] [_ _ EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er];
    // a = a * c + b
    FMA_BY_PS = [_ VEX_Vfmadd132ps_ymm_ymm_ymmm256] [_ _ EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er];
    FMA_BY_PD = [_ VEX_Vfmadd132pd_ymm_ymm_ymmm256] [_ _ EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er];
    // a = a + b * c
    FMA_SUM_PD = [_ VEX_Vfmadd231pd_ymm_ymm_ymmm256] [_ _ EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er];
    // a = c - a * b
    FNMA_PS = [_ VEX_Vfnmadd213ps_ymm_ymm_ymmm256] [_ _ EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er];
    FNMA_PD = [_ VEX_Vfnmadd213pd_ymm_ymm_ymmm256] [_ _ EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er];
    ROUND_PS = [_ VEX_Vroundps_ymm_ymmm256_imm8] [_ _ EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae];
    ROUND_PD = [_ VEX_Vroundpd_ymm_ymmm256_imm8] [_ _ EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae];
    ADD_D = [VEX_Vpaddd_xmm_xmm_xmmm128 VEX_Vpaddd_ymm_ymm_ymmm256] [_ _ EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32];
    ADD_Q = [_ VEX_Vpaddq_ymm_ymm_ymmm256] [_ _ EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64];
    SUB_D = [_ VEX_Vpsubd_ymm_ymm_ymmm256] [_ _ EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32];
    SUB_W = [_ VEX_Vpsubw_ymm_ymm_ymmm256] [_ _ EVEX_Vpsubw_zmm_k1z_zmm_zmmm512];
    SUB_Q = [_ VEX_Vpsubq_ymm_ymm_ymmm256] [_ _ EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64];
    MUL_D = [_ VEX_Vpmulld_ymm_ymm_ymmm256] [_ _ EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32];
    MUL_UDQ = [_ VEX_Vpmuludq_ymm_ymm_ymmm256] [_ _ EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64];
    AND = [_ VEX_Vpand_ymm_ymm_ymmm256] [_ _ EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32];
    ANDN = [_ VEX_Vpandn_ymm_ymm_ymmm256] [_ _ EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32];
    OR = [_ VEX_Vpor_ymm_ymm_ymmm256] [_ _ EVEX_Vpord_zmm_k1z_zmm_zmmm512b32];
    XOR = [VEX_Vpxor_xmm_xmm_xmmm128 VEX_Vpxor_ymm_ymm_ymmm256] [_ _ EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32];
    MIN_UD = [_ VEX_Vpminud_ymm_ymm_ymmm256] [_ _ EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32];
    MAX_UD = [_ VEX_Vpmaxud_ymm_ymm_ymmm256] [_ _ EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32];
    MIN_UW = [_ VEX_Vpminuw_ymm_ymm_ymmm256] [_ _ EVEX_Vpminuw_zmm_k1z_zmm_zmmm512];
    MAX_UW = [_ VEX_Vpmaxuw_ymm_ymm_ymmm256] [_ _ EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512];
    MIN_SD = [_ VEX_Vpminsd_ymm_ymm_ymmm256] [_ _ EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32];
    MAX_SD = [_ VEX_Vpmaxsd_ymm_ymm_ymmm256] [_ _ EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32];
    SHL_D = [_ VEX_Vpsllvd_ymm_ymm_ymmm256] [_ _ EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32];
    SHL_Q = [_ VEX_Vpsllvq_ymm_ymm_ymmm256] [_ _ EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64];
    SHR_D = [_ VEX_Vpsrlvd_ymm_ymm_ymmm256] [_ _ EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32];
    SHR_Q = [_ VEX_Vpsrlvq_ymm_ymm_ymmm256] [_ _ EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64];
    SAR_D = [_ VEX_Vpsravd_ymm_ymm_ymmm256] [_ _ EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32];
    SHR_Q_IMM = [_ VEX_Vpsrlq_ymm_ymm_imm8] [_ _ EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8];
    SHL_Q_IMM = [_ VEX_Vpsllq_ymm_ymm_imm8] [_ _ EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8];
    SHL_D_IMM = [_ VEX_Vpslld_ymm_ymm_imm8] [_ _ EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8];
    SHR_D_IMM = [_ VEX_Vpsrld_ymm_ymm_imm8] [_ _ EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8];
    SAR_D_IMM = [_ VEX_Vpsrad_ymm_ymm_imm8] [_ _ EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8];
    SAR_W_IMM = [_ VEX_Vpsraw_ymm_ymm_imm8] [_ _ EVEX_Vpsraw_zmm_k1z_zmmm512_imm8];
    // Sums of two products of words that follow each other.
    MUL_ADD_W = [_ VEX_Vpmaddwd_ymm_ymm_ymmm256] [_ _ EVEX_Vpmaddwd_zmm_k1z_zmm_zmmm512];
    FROM_D_PS = [_ VEX_Vcvtdq2ps_ymm_ymmm256] [_ _ EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er];
    TO_D_PS = [_ VEX_Vcvttps2dq_ymm_ymmm256] [_ _ EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae];
    BROADCAST_D = [_ VEX_Vpbroadcastd_ymm_xmmm32] [_ _ EVEX_Vpbroadcastd_zmm_k1z_xmmm32];
    BROADCAST_W = [_ VEX_Vpbroadcastw_ymm_xmmm16] [_ _ EVEX_Vpbroadcastw_zmm_k1z_xmmm16];
    BROADCAST_Q = [_ VEX_Vpbroadcastq_ymm_xmmm64] [_ _ EVEX_Vpbroadcastq_zmm_k1z_xmmm64];
    // Of lanes that are words or halves of vectors of half the width, and back.
    WIDEN_HF = [_ VEX_Vcvtph2ps_ymm_xmmm128] [_ _ EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae];
    WIDEN_UB_D = [_ VEX_Vpmovzxbd_ymm_xmmm64] [_ _ EVEX_Vpmovzxbd_zmm_k1z_xmmm128];
    WIDEN_B_D = [_ VEX_Vpmovsxbd_ymm_xmmm64] [_ _ EVEX_Vpmovsxbd_zmm_k1z_xmmm128];
    WIDEN_UW_D = [_ VEX_Vpmovzxwd_ymm_xmmm128] [_ _ EVEX_Vpmovzxwd_zmm_k1z_ymmm256];
    WIDEN_W_D = [_ VEX_Vpmovsxwd_ymm_xmmm128] [_ _ EVEX_Vpmovsxwd_zmm_k1z_ymmm256];
    WIDEN_UB_Q = [_ VEX_Vpmovzxbq_ymm_xmmm32] [_ _ EVEX_Vpmovzxbq_zmm_k1z_xmmm64];
    WIDEN_B_Q = [_ VEX_Vpmovsxbq_ymm_xmmm32] [_ _ EVEX_Vpmovsxbq_zmm_k1z_xmmm64];
    WIDEN_UW_Q = [_ VEX_Vpmovzxwq_ymm_xmmm64] [_ _ EVEX_Vpmovzxwq_zmm_k1z_xmmm128];
    WIDEN_W_Q = [_ VEX_Vpmovsxwq_ymm_xmmm64] [_ _ EVEX_Vpmovsxwq_zmm_k1z_xmmm128];
    WIDEN_UD_Q = [_ VEX_Vpmovzxdq_ymm_xmmm128] [_ _ EVEX_Vpmovzxdq_zmm_k1z_ymmm256];
    WIDEN_D_Q = [_ VEX_Vpmovsxdq_ymm_xmmm128] [_ _ EVEX_Vpmovsxdq_zmm_k1z_ymmm256];
    WIDEN_F_DF = [_ VEX_Vcvtps2pd_ymm_xmmm128] [_ _ EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae];
    NARROW_DF_F = [_ VEX_Vcvtpd2ps_xmm_ymmm256] [_ _ EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er];
    NARROW_F_HF = [_ VEX_Vcvtps2ph_xmmm128_ymm_imm8] [_ _ EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae];
    NARROW_D_W = [_ _] [_ EVEX_Vpmovdw_xmmm128_k1z_ymm EVEX_Vpmovdw_ymmm256_k1z_zmm];
    NARROW_D_B = [_ _] [_ EVEX_Vpmovdb_xmmm64_k1z_ymm EVEX_Vpmovdb_xmmm128_k1z_zmm];
    NARROW_Q_D = [_ _] [_ EVEX_Vpmovqd_xmmm128_k1z_ymm EVEX_Vpmovqd_ymmm256_k1z_zmm];
    NARROW_Q_W = [_ _] [_ EVEX_Vpmovqw_xmmm64_k1z_ymm EVEX_Vpmovqw_xmmm128_k1z_zmm];
    NARROW_Q_B = [_ _] [_ EVEX_Vpmovqb_xmmm32_k1z_ymm EVEX_Vpmovqb_xmmm64_k1z_zmm];
    // Between floats and integers.
    FROM_D_PD = [_ VEX_Vcvtdq2pd_ymm_xmmm128] [_ _ EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er];
    FROM_UD_PD = [_ _] [_ EVEX_Vcvtudq2pd_ymm_k1z_xmmm128b32 EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er];
    FROM_UD_PS = [_ _] [_ EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32 EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er];
    TO_UD_PS = [_ _] [_ EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32 EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae];
    TO_D_PD = [_ VEX_Vcvttpd2dq_xmm_ymmm256] [_ _ EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae];
    TO_UD_PD = [_ _] [_ EVEX_Vcvttpd2udq_xmm_k1z_ymmm256b64 EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae];
    // Only with AVX-512.
    MUL_Q = [_ _] [_ EVEX_Vpmullq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64];
    SAR_Q = [_ _] [_ EVEX_Vpsravq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64];
    ABS_Q = [_ _] [_ EVEX_Vpabsq_ymm_k1z_ymmm256b64 EVEX_Vpabsq_zmm_k1z_zmmm512b64];
    ROL_D = [_ _] [_ _ EVEX_Vprolvd_zmm_k1z_zmm_zmmm512b32];
    ROL_Q = [_ _] [_ _ EVEX_Vprolvq_zmm_k1z_zmm_zmmm512b64];
    ROR_D = [_ _] [_ _ EVEX_Vprorvd_zmm_k1z_zmm_zmmm512b32];
    ROR_Q = [_ _] [_ _ EVEX_Vprorvq_zmm_k1z_zmm_zmmm512b64];
    TERNARY_D = [_ _] [_ EVEX_Vpternlogd_ymm_k1z_ymm_ymmm256b32_imm8 EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8];
    TERNARY_Q = [_ _] [_ _ EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8];
    BLEND_D = [_ _] [_ EVEX_Vpblendmd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32];
    BLEND_Q = [_ _] [_ EVEX_Vpblendmq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64];
    // Under a mask register, which the instruction after has.
    MASKED_MOVE_D = [_ _] [_ EVEX_Vmovdqa32_ymm_k1z_ymmm256 EVEX_Vmovdqa32_zmm_k1z_zmmm512];
    MASKED_MOVE_Q = [_ _] [_ EVEX_Vmovdqa64_ymm_k1z_ymmm256 EVEX_Vmovdqa64_zmm_k1z_zmmm512];
    MASKED_AND_D = [_ _] [_ EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32];
    MASKED_AND_Q = [_ _] [_ EVEX_Vpandq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64];
    // Comparisons whose outcome is in a mask register.
    MASK_OF_PS = [_ _] [_ EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8 EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae];
    MASK_OF_PD = [_ _] [_ EVEX_Vcmppd_kr_k1_ymm_ymmm256b64_imm8 EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae];
    MASK_OF_D = [_ _] [_ EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8 EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8];
    MASK_OF_Q = [_ _] [_ EVEX_Vpcmpq_kr_k1_ymm_ymmm256b64_imm8 EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8];
    MASK_OF_UD = [_ _] [_ EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8 EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8];
    MASK_OF_UQ = [_ _] [_ EVEX_Vpcmpuq_kr_k1_ymm_ymmm256b64_imm8 EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8];
    MASK_OF_BITS_D = [_ _] [_ _ EVEX_Vptestmd_kr_k1_zmm_zmmm512b32];
    MASK_OF_BITS_Q = [_ _] [_ _ EVEX_Vptestmq_kr_k1_zmm_zmmm512b64];
    MASK_OF_NO_BITS_Q = [_ _] [_ _ EVEX_Vptestnmq_kr_k1_zmm_zmmm512b64];
    // All ones in lanes of a mask.
    FROM_MASK_D = [_ _] [_ _ EVEX_Vpmovm2d_zmm_kr];
    FROM_MASK_Q = [_ _] [_ _ EVEX_Vpmovm2q_zmm_kr];
    // Comparisons whose outcome is all ones or zeros in each lane.
    COMPARE_PS = [_ VEX_Vcmpps_ymm_ymm_ymmm256_imm8] [_ _ _];
    COMPARE_PD = [_ VEX_Vcmppd_ymm_ymm_ymmm256_imm8] [_ _ _];
    EQUAL_D = [_ VEX_Vpcmpeqd_ymm_ymm_ymmm256] [_ _ _];
    EQUAL_Q = [_ VEX_Vpcmpeqq_ymm_ymm_ymmm256] [_ _ _];
    GREATER_D = [_ VEX_Vpcmpgtd_ymm_ymm_ymmm256] [_ _ _];
    GREATER_Q = [_ VEX_Vpcmpgtq_ymm_ymm_ymmm256] [_ _ _];
    BLEND_BYTES = [_ VEX_Vpblendvb_ymm_ymm_ymmm256_ymm] [_ _ _];
    ABS_D = [_ VEX_Vpabsd_ymm_ymmm256] [_ _ EVEX_Vpabsd_zmm_k1z_zmmm512b32];
    // `NotEqual` if there are common bits.
    TEST = [_ VEX_Vptest_ymm_ymmm256] [_ _ _];
    // Bits of lanes, as a number.
    SIGNS_PS = [_ VEX_Vmovmskps_r32_ymm] [_ _ _];
    SIGNS_PD = [_ VEX_Vmovmskpd_r32_ymm] [_ _ _];
    // Between lanes.
    PACK_D_W = [_ VEX_Vpackusdw_ymm_ymm_ymmm256] [_ _ _];
    PACK_W_B = [_ VEX_Vpackuswb_ymm_ymm_ymmm256] [_ _ _];
    PERMUTE_D = [_ VEX_Vpermd_ymm_ymm_ymmm256] [_ EVEX_Vpermd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32];
    // By an index that the first operand has, and loses.
    PERMUTE_TWO_D = [_ _] [_ _ EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32];
    PERMUTE_TWO_Q = [_ _] [_ _ EVEX_Vpermi2q_zmm_k1z_zmm_zmmm512b64];
    UNPACK_LOW_D = [_ VEX_Vpunpckldq_ymm_ymm_ymmm256] [_ _ _];
    UNPACK_HIGH_D = [_ VEX_Vpunpckhdq_ymm_ymm_ymmm256] [_ _ _];
    UNPACK_LOW_Q = [_ VEX_Vpunpcklqdq_ymm_ymm_ymmm256] [_ _ _];
    UNPACK_HIGH_Q = [_ VEX_Vpunpckhqdq_ymm_ymm_ymmm256] [_ _ _];
    PERMUTE_HALVES = [_ VEX_Vperm2i128_ymm_ymm_ymmm256_imm8] [_ _ _];
    PERMUTE_PS = [VEX_Vpermilps_xmm_xmm_xmmm128 _] [_ _ _];
    PERMUTE_Q_IMM = [_ VEX_Vpermq_ymm_ymmm256_imm8] [_ _ _];
    SHUFFLE_PS = [VEX_Vshufps_xmm_xmm_xmmm128_imm8 VEX_Vshufps_ymm_ymm_ymmm256_imm8] [_ _ _];
    // Halves and quarters of vectors.
    EXTRACT_HALF = [_ VEX_Vextracti128_xmmm128_ymm_imm8] [_ _ EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8];
    EXTRACT_HALF_F = [_ VEX_Vextractf128_xmmm128_ymm_imm8] [_ _ EVEX_Vextractf64x4_ymmm256_k1z_zmm_imm8];
    EXTRACT_QUARTER = [_ _] [_ _ EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8];
    INSERT_HALF = [_ VEX_Vinserti128_ymm_ymm_xmmm128_imm8] [_ _ EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8];
    INSERT_HALF_F = [_ VEX_Vinsertf128_ymm_ymm_xmmm128_imm8] [_ _ EVEX_Vinsertf64x4_zmm_k1z_zmm_ymmm256_imm8];
    // Lanes from anywhere in memory, and to it. The first letter is the index, the second the lane.
    GATHER_D_D = [_ VEX_Vpgatherdd_ymm_vm32y_ymm] [_ _ _];
    GATHER_D_Q = [_ VEX_Vpgatherdq_ymm_vm32x_ymm] [_ _ _];
    GATHER_Q_D = [_ VEX_Vpgatherqd_xmm_vm64y_xmm] [_ _ _];
    MASKED_GATHER_D_D = [_ _] [_ EVEX_Vpgatherdd_ymm_k1_vm32y EVEX_Vpgatherdd_zmm_k1_vm32z];
    MASKED_GATHER_D_Q = [_ _] [_ _ EVEX_Vpgatherdq_zmm_k1_vm32y];
    MASKED_GATHER_Q_D = [_ _] [_ _ EVEX_Vpgatherqd_ymm_k1_vm64z];
    SCATTER_D_D = [_ _] [_ EVEX_Vpscatterdd_vm32y_k1_ymm EVEX_Vpscatterdd_vm32z_k1_zmm];
    SCATTER_D_Q = [_ _] [_ _ EVEX_Vpscatterdq_vm32y_k1_zmm];
    SCATTER_Q_D = [_ _] [_ _ EVEX_Vpscatterqd_vm64z_k1_ymm];
    // Whole vectors, and single numbers: those that are loaded clear the rest of the register.
    MOVE = [VEX_Vmovdqu_xmm_xmmm128 VEX_Vmovdqu_ymm_ymmm256] [EVEX_Vmovdqu32_xmm_k1z_xmmm128 EVEX_Vmovdqu32_ymm_k1z_ymmm256 EVEX_Vmovdqu32_zmm_k1z_zmmm512];
    STORE = [VEX_Vmovdqu_xmmm128_xmm VEX_Vmovdqu_ymmm256_ymm] [EVEX_Vmovdqu32_xmmm128_k1z_xmm EVEX_Vmovdqu32_ymmm256_k1z_ymm EVEX_Vmovdqu32_zmmm512_k1z_zmm];
    LOAD_D = [VEX_Vmovd_xmm_rm32 _] [EVEX_Vmovd_xmm_rm32 _ _];
    LOAD_Q = [VEX_Vmovq_xmm_xmmm64 _] [EVEX_Vmovq_xmm_xmmm64 _ _];
    STORE_D = [VEX_Vmovd_rm32_xmm _] [EVEX_Vmovd_rm32_xmm _ _];
    STORE_Q = [VEX_Vmovq_xmmm64_xmm _] [EVEX_Vmovq_xmmm64_xmm _ _];
    FROM_Q = [VEX_Vmovq_xmm_rm64 _] [EVEX_Vmovq_xmm_rm64 _ _];
    TO_Q = [VEX_Vmovq_rm64_xmm _] [EVEX_Vmovq_rm64_xmm _ _];
    EXTRACT_B = [VEX_Vpextrb_r32m8_xmm_imm8 _] [EVEX_Vpextrb_r32m8_xmm_imm8 _ _];
    EXTRACT_W = [VEX_Vpextrw_r32m16_xmm_imm8 _] [EVEX_Vpextrw_r32m16_xmm_imm8 _ _];
    EXTRACT_D = [VEX_Vpextrd_rm32_xmm_imm8 _] [EVEX_Vpextrd_rm32_xmm_imm8 _ _];
    EXTRACT_Q = [VEX_Vpextrq_rm64_xmm_imm8 _] [EVEX_Vpextrq_rm64_xmm_imm8 _ _];
    BROADCAST_NUMBER_Q = [_ _] [_ _ EVEX_Vpbroadcastq_zmm_k1z_r64];
    // The first lane alone.
    ADD_SS = [VEX_Vaddss_xmm_xmm_xmmm32 _] [_ _ _];
    ADD_SD = [VEX_Vaddsd_xmm_xmm_xmmm64 _] [_ _ _];
    SUB_SS = [VEX_Vsubss_xmm_xmm_xmmm32 _] [_ _ _];
    SUB_SD = [VEX_Vsubsd_xmm_xmm_xmmm64 _] [_ _ _];
    COMPARE_SS = [VEX_Vucomiss_xmm_xmmm32 _] [_ _ _];
    COMPARE_SD = [VEX_Vucomisd_xmm_xmmm64 _] [_ _ _];
}
