//! Which instructions there are, by what matters for addresses. Of others the first operand is written, and nothing else.

use super::LaneOp;
use iced_x86::{Code, Instruction};

/// Instructions on numbers that have two operands, of which the first changes, or one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    And,
    Or,
    Compare,
    Test,
    ShiftLeft,
    ShiftRight,
    /// Any other that sets the flags.
    Other,
}

/// What an instruction on numbers does, and the bytes of them.
#[rustfmt::skip]
pub(super) const fn arithmetic(code: Code) -> Option<(Arithmetic, usize)> {
    use Code::*;
    Some(match code {
        Add_r32_rm32 | Add_rm32_imm32 | Add_rm32_imm8 => (Arithmetic::Add, 4),
        Add_r64_rm64 | Add_rm64_r64 | Add_rm64_imm32 | Add_rm64_imm8 => (Arithmetic::Add, 8),
        Sub_r32_rm32 | Sub_rm32_imm32 | Sub_rm32_imm8 => (Arithmetic::Sub, 4),
        Sub_r64_rm64 | Sub_rm64_imm32 | Sub_rm64_imm8 => (Arithmetic::Sub, 8),
        And_r32_rm32 | And_rm32_imm32 | And_rm32_imm8 => (Arithmetic::And, 4),
        And_r64_rm64 | And_rm64_imm32 | And_rm64_imm8 => (Arithmetic::And, 8),
        Or_r32_rm32 | Or_rm32_r32 | Or_rm32_imm32 | Or_rm32_imm8 | Xor_r32_rm32 | Xor_rm32_imm32 | Xor_rm32_imm8 => (Arithmetic::Or, 4),
        Or_r64_rm64 | Or_rm64_r64 | Or_rm64_imm32 | Or_rm64_imm8 | Xor_r64_rm64 | Xor_rm64_imm32 | Xor_rm64_imm8 => (Arithmetic::Or, 8),
        Cmp_r16_rm16 => (Arithmetic::Compare, 2),
        Cmp_r32_rm32 | Cmp_rm32_imm32 | Cmp_rm32_imm8 => (Arithmetic::Compare, 4),
        Cmp_r64_rm64 | Cmp_rm64_imm32 | Cmp_rm64_imm8 => (Arithmetic::Compare, 8),
        Test_rm32_r32 | Test_rm32_imm32 => (Arithmetic::Test, 4),
        Test_rm64_r64 | Test_rm64_imm32 => (Arithmetic::Test, 8),
        Shl_rm32_imm8 => (Arithmetic::ShiftLeft, 4),
        Shl_rm64_imm8 => (Arithmetic::ShiftLeft, 8),
        Shr_rm32_imm8 => (Arithmetic::ShiftRight, 4),
        Shr_rm64_imm8 => (Arithmetic::ShiftRight, 8),
        Sbb_r32_rm32 | Sbb_rm32_imm32 | Sbb_rm32_imm8 | Inc_rm32 | Dec_rm32 | Neg_rm32 => (Arithmetic::Other, 4),
        Sbb_r64_rm64 | Sbb_rm64_imm32 | Sbb_rm64_imm8 | Inc_rm64 | Dec_rm64 | Neg_rm64 => (Arithmetic::Other, 8),
        _ => return None,
    })
}

/// Whether a register that is the first operand is read as well, or only read, and the instruction is none of
/// [`arithmetic`].
#[rustfmt::skip]
pub(super) const fn reads_first(code: Code) -> bool {
    use Code::*;
    matches!(code,
        Not_rm32 | Not_rm64 | Bt_rm32_imm8 | Push_r64 | Jmp_rm64 | Call_rm64
        | Cmovo_r32_rm32 | Cmovb_r32_rm32 | Cmovae_r32_rm32 | Cmove_r32_rm32 | Cmovne_r32_rm32 | Cmovbe_r32_rm32
        | Cmova_r32_rm32 | Cmovp_r32_rm32 | Cmovl_r32_rm32 | Cmovge_r32_rm32 | Cmovle_r32_rm32 | Cmovg_r32_rm32
        | Cmovo_r64_rm64 | Cmovb_r64_rm64 | Cmovae_r64_rm64 | Cmove_r64_rm64 | Cmovne_r64_rm64 | Cmovbe_r64_rm64
        | Cmova_r64_rm64 | Cmovp_r64_rm64 | Cmovl_r64_rm64 | Cmovge_r64_rm64 | Cmovle_r64_rm64 | Cmovg_r64_rm64
        | VEX_Vfmadd213ps_ymm_ymm_ymmm256 | EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er
        | VEX_Vfmadd213pd_ymm_ymm_ymmm256 | EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er
        | VEX_Vfmadd132ps_ymm_ymm_ymmm256 | EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er
        | VEX_Vfmadd132pd_ymm_ymm_ymmm256 | EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er
        | VEX_Vfnmadd213ps_ymm_ymm_ymmm256 | EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er
        | VEX_Vfnmadd213pd_ymm_ymm_ymmm256 | EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er
        | EVEX_Vpternlogd_ymm_k1z_ymm_ymmm256b32_imm8 | EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8
        | EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8
        | VEX_Vptest_ymm_ymmm256 | VEX_Vucomiss_xmm_xmmm32 | VEX_Vucomisd_xmm_xmmm64 | VEX_Kortestw_kr_kr)
}

/// Whether the result does not depend on a register that is both sources.
#[rustfmt::skip]
pub(super) const fn ignores_same(code: Code) -> bool {
    use Code::*;
    matches!(code,
        Xor_r32_rm32 | Xor_r64_rm64 | Sbb_r32_rm32 | Sbb_r64_rm64 | VEX_Kxnorw_kr_kr_kr | VEX_Kxorw_kr_kr_kr
        | VEX_Vpxor_xmm_xmm_xmmm128 | VEX_Vpxor_ymm_ymm_ymmm256 | EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32
        | VEX_Vpcmpeqd_ymm_ymm_ymmm256 | VEX_Vpcmpeqq_ymm_ymm_ymmm256)
}

/// Instructions that only read memory that is their first operand.
pub(super) const fn only_reads(code: Code) -> bool {
    use Code::*;
    matches!(
        code,
        Cmp_rm32_imm32
            | Cmp_rm32_imm8
            | Cmp_rm64_imm32
            | Cmp_rm64_imm8
            | Jmp_rm64
            | Call_rm64
            | VEX_Vldmxcsr_m32
    )
}

/// Bytes of each index of an instruction that takes lanes from anywhere in memory, or puts them there.
#[rustfmt::skip]
pub(super) const fn lane_of_index(code: Code) -> u8 {
    use Code::*;
    match code {
        VEX_Vpgatherqd_xmm_vm64y_xmm | EVEX_Vpgatherqd_ymm_k1_vm64z | EVEX_Vpscatterqd_vm64z_k1_ymm => 8,
        _ => 4,
    }
}

/// An operation on lanes that may be part of a comparison with bounds.
#[rustfmt::skip]
pub(super) const fn lanes(code: Code) -> Option<(LaneOp, u8)> {
    use Code::*;
    Some(match code {
        VEX_Vpor_ymm_ymm_ymmm256 => (LaneOp::Or, 32),
        EVEX_Vpord_zmm_k1z_zmm_zmmm512b32 => (LaneOp::Or, 64),
        VEX_Vpxor_ymm_ymm_ymmm256 => (LaneOp::Xor, 32),
        EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32 => (LaneOp::Xor, 64),
        VEX_Vpmaxud_ymm_ymm_ymmm256 => (LaneOp::MaxD, 32),
        EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32 => (LaneOp::MaxD, 64),
        VEX_Vpminud_ymm_ymm_ymmm256 => (LaneOp::MinD, 32),
        EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32 => (LaneOp::MinD, 64),
        VEX_Vpsubd_ymm_ymm_ymmm256 => (LaneOp::SubD, 32),
        EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32 => (LaneOp::SubD, 64),
        VEX_Vpsubq_ymm_ymm_ymmm256 => (LaneOp::SubQ, 32),
        EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64 => (LaneOp::SubQ, 64),
        VEX_Vpcmpgtq_ymm_ymm_ymmm256 => (LaneOp::GreaterQ, 32),
        _ => return None,
    })
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
pub(super) fn accessed(instruction: &Instruction) -> usize {
    instruction.memory_size().size()
}

/// Whether lanes that are not enabled need not have been written: they are those of another source, or all are
/// enabled.
#[rustfmt::skip]
pub(super) const fn is_free_merge(code: Code) -> bool {
    use Code::*;
    matches!(code,
        EVEX_Vpblendmd_ymm_k1z_ymm_ymmm256b32 | EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32
        | EVEX_Vpblendmq_ymm_k1z_ymm_ymmm256b64 | EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64
        | EVEX_Vpgatherdd_ymm_k1_vm32y | EVEX_Vpgatherdd_zmm_k1_vm32z | EVEX_Vpgatherdq_zmm_k1_vm32y
        | EVEX_Vpgatherqd_ymm_k1_vm64z)
}

/// Whether a mask says which lanes to compare.
pub(super) const fn is_comparison(code: Code) -> bool {
    matches!(code, Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8)
}

pub(super) const fn is_xor(code: Code) -> bool {
    matches!(code, Code::Xor_r32_rm32 | Code::Xor_r64_rm64)
}

pub(super) const fn only_sets_flags(code: Code) -> bool {
    use Code::*;
    matches!(
        code,
        VEX_Vptest_ymm_ymmm256
            | VEX_Vucomiss_xmm_xmmm32
            | VEX_Vucomisd_xmm_xmmm64
            | VEX_Kortestw_kr_kr
    )
}

/// Whether code does not go on after an instruction.
pub(super) const fn is_last(code: Code) -> bool {
    matches!(code, Code::Jmp_rm64 | Code::Retnq | Code::Ud2)
}
