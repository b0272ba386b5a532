//! Instructions on vectors.

use iced_x86::Code;

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
    MAX_PD = VEX_Vmaxpd_ymm_ymm_ymmm256 EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae;
    SQRT_PS = VEX_Vsqrtps_ymm_ymmm256 EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er;
    SQRT_PD = VEX_Vsqrtpd_ymm_ymmm256 EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er;
    // a = a * b + c
    FMA_PS = VEX_Vfmadd213ps_ymm_ymm_ymmm256 EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
    FMA_PD = VEX_Vfmadd213pd_ymm_ymm_ymmm256 EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
    // a = a * c + b
    FMA_BY_PS = VEX_Vfmadd132ps_ymm_ymm_ymmm256 EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er;
    FMA_BY_PD = VEX_Vfmadd132pd_ymm_ymm_ymmm256 EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er;
    // a = c - a * b
    FNMA_PS = VEX_Vfnmadd213ps_ymm_ymm_ymmm256 EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
    FNMA_PD = VEX_Vfnmadd213pd_ymm_ymm_ymmm256 EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
    ROUND_PS = VEX_Vroundps_ymm_ymmm256_imm8 EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae;
    ROUND_PD = VEX_Vroundpd_ymm_ymmm256_imm8 EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
    ADD_D = VEX_Vpaddd_ymm_ymm_ymmm256 EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
    ADD_Q = VEX_Vpaddq_ymm_ymm_ymmm256 EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64;
    SUB_D = VEX_Vpsubd_ymm_ymm_ymmm256 EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32;
    SUB_W = VEX_Vpsubw_ymm_ymm_ymmm256 EVEX_Vpsubw_zmm_k1z_zmm_zmmm512;
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
    SHR_D_IMM = VEX_Vpsrld_ymm_ymm_imm8 EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8;
    SAR_D_IMM = VEX_Vpsrad_ymm_ymm_imm8 EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8;
    FROM_D_PS = VEX_Vcvtdq2ps_ymm_ymmm256 EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er;
    TO_D_PS = VEX_Vcvttps2dq_ymm_ymmm256 EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae;
    MOVE = VEX_Vmovdqu_ymm_ymmm256 EVEX_Vmovdqu32_zmm_k1z_zmmm512;
    BROADCAST_D = VEX_Vpbroadcastd_ymm_xmmm32 EVEX_Vpbroadcastd_zmm_k1z_xmmm32;
    BROADCAST_W = VEX_Vpbroadcastw_ymm_xmmm16 EVEX_Vpbroadcastw_zmm_k1z_xmmm16;
    BROADCAST_Q = VEX_Vpbroadcastq_ymm_xmmm64 EVEX_Vpbroadcastq_zmm_k1z_xmmm64;
}
