//! Selects the function that translates an operation.

use super::context::Context;
use super::control::{self, Place};
use super::operand::Problem;
use super::{State, arith, logic, moves, special};
use crate::code::{Operation, Step};
use visakit_isa::{Instruction, Op};

/// How an operation is translated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Translation {
    /// By its row's column [`flow`](visakit_isa::InstructionDef::flow).
    Flow,
    /// By its row's column [`memory`](visakit_isa::InstructionDef::memory).
    Message,
    /// To one step on registers.
    Step(fn(&Context<'_>, &Instruction) -> Result<Step, Problem>),
    /// To steps that ask more than the operands.
    Steps(fn(&State<'_, '_>, &Instruction, &mut Place<'_>) -> Result<(), Problem>),
    /// No visible effect.
    Nothing,
    /// Not at all, for the reason of its row.
    Unsupported,
}

/// How an operation is translated. Every row is listed here, so that a new one does not compile
/// until this is decided.
#[rustfmt::skip]
pub(crate) const fn translation(op: Op) -> Translation {
    use Translation::{Flow, Message, Nothing, Step, Steps, Unsupported};
    match op {
        Op::ADD => Step(|cx, i| arith::binary(cx, i, Operation::Add, arith::sums)),
        Op::MUL => Step(|cx, i| arith::binary(cx, i, Operation::Mul, arith::products)),
        Op::DIV | Op::DIVM => Step(|cx, i| arith::binary(cx, i, Operation::Div, arith::values)),
        Op::MOD => Step(|cx, i| arith::of_values(cx, i, Operation::Mod)),
        Op::AVG => Step(|cx, i| arith::of_values(cx, i, Operation::Avg)),
        Op::FMINMAX => Step(arith::min_max),
        Op::MULH => Step(arith::mulh),
        Op::MAD => Step(arith::mad),
        Op::ADD3 => Step(arith::add3),
        Op::LRP => Step(arith::lrp),
        Op::EXP => Step(|cx, i| arith::unary(cx, i, Operation::Exp)),
        Op::LOG => Step(|cx, i| arith::unary(cx, i, Operation::Log)),
        Op::SIN => Step(|cx, i| arith::unary(cx, i, Operation::Sin)),
        Op::COS => Step(|cx, i| arith::unary(cx, i, Operation::Cos)),
        Op::TANH => Step(|cx, i| arith::unary(cx, i, Operation::Tanh)),
        Op::SIGM => Step(|cx, i| arith::unary(cx, i, Operation::Sigmoid)),
        Op::POW => Step(arith::pow),
        Op::INV => Step(|cx, i| arith::unary(cx, i, Operation::Inv)),
        Op::SQRT | Op::SQRTM => Step(|cx, i| arith::unary(cx, i, Operation::Sqrt)),
        Op::RSQRT => Step(|cx, i| arith::unary(cx, i, Operation::Rsqrt)),
        Op::FRC => Step(|cx, i| arith::unary(cx, i, Operation::Frc)),
        Op::RNDD => Step(|cx, i| arith::unary(cx, i, Operation::Rndd)),
        Op::RNDU => Step(|cx, i| arith::unary(cx, i, Operation::Rndu)),
        Op::RNDE => Step(|cx, i| arith::unary(cx, i, Operation::Rnde)),
        Op::RNDZ => Step(|cx, i| arith::unary(cx, i, Operation::Rndz)),

        Op::AND => Step(|cx, i| logic::binary(cx, i, Operation::And, Operation::FlagAnd)),
        Op::OR => Step(|cx, i| logic::binary(cx, i, Operation::Or, Operation::FlagOr)),
        Op::XOR => Step(|cx, i| logic::binary(cx, i, Operation::Xor, Operation::FlagXor)),
        Op::NOT => Step(logic::not),
        Op::SHL => Step(logic::shl),
        Op::SHR => Step(logic::shr),
        Op::ASR => Step(logic::asr),
        Op::ROL => Step(|cx, i| logic::rotate(cx, i, Operation::Rol)),
        Op::ROR => Step(|cx, i| logic::rotate(cx, i, Operation::Ror)),
        Op::CBIT => Step(logic::cbit),
        Op::LZD => Step(|cx, i| logic::of_bits(cx, i, Operation::LeadingZeros)),
        Op::FBL => Step(|cx, i| logic::of_bits(cx, i, Operation::FirstBitLow)),
        Op::FBH => Step(logic::fbh),
        Op::BFREV => Step(|cx, i| logic::of_bits(cx, i, Operation::ReverseBits)),
        Op::BFE => Step(logic::bfe),
        Op::BFI => Step(logic::bfi),
        Op::BFN => Step(logic::bfn),

        Op::MOV => Step(moves::mov),
        Op::MOVS => Step(moves::movs),
        Op::SEL => Step(moves::select),
        Op::SETP => Step(moves::setp),
        Op::CMP => Step(moves::compare),
        Op::ADDR_ADD => Step(moves::addr_add),
        Op::FCVT | Op::BF_CVT => Step(special::narrow_conversion),
        Op::SRND => Step(special::stochastic),
        Op::SHFL_IDX4 => Step(special::shuffle),
        Op::DNSCL => Step(special::scale_down),

        Op::ADDC => Step(special::addc),
        Op::SUBB => Step(special::subb),
        Op::ADD3O => Step(special::add3_overflow),
        Op::MADW => Step(special::madw),
        Op::DP4A => Step(special::dp4a),
        Op::SAD2 => Step(special::sad2),
        Op::SAD2ADD => Step(special::sad2add),
        Op::DP2 => Step(|cx, i| special::dot_product(cx, i, 2, 0)),
        Op::DP3 => Step(|cx, i| special::dot_product(cx, i, 3, 0)),
        Op::DP4 => Step(|cx, i| special::dot_product(cx, i, 4, 0)),
        Op::DPH => Step(|cx, i| special::dot_product(cx, i, 3, 1)),
        Op::LINE => Step(special::line),
        Op::PLANE => Step(special::plane),
        Op::INVM => Step(special::invm),
        Op::RSQTM => Step(special::rsqtm),
        Op::DPAS | Op::BDPAS => Step(|cx, i| special::systolic(cx, i, false)),
        Op::DPASW => Step(|cx, i| special::systolic(cx, i, true)),

        Op::LABEL | Op::SUBROUTINE | Op::JMP | Op::GOTO | Op::SWITCHJMP
        | Op::CALL | Op::FCALL | Op::IFCALL | Op::RET | Op::FRET
        | Op::IF | Op::ELSE | Op::ENDIF | Op::DO | Op::WHILE | Op::BREAK | Op::CONT
        | Op::FILE | Op::LOC | Op::LIFETIME => Flow,
        Op::FADDR => Steps(control::address),
        Op::BARRIER => Steps(control::barrier),
        Op::SBARRIER => Steps(control::split_barrier),
        Op::NBARRIER => Steps(control::named_barrier),
        // Threads do not overtake their own accesses, and there are no caches.
        Op::SAMPLER_CACHE_FLUSH | Op::WAIT | Op::YIELD | Op::BREAKPOINT => Nothing,

        Op::OWORD_LD | Op::OWORD_LD_UNALIGNED | Op::OWORD_ST | Op::MEDIA_LD | Op::MEDIA_ST
        | Op::GATHER | Op::SCATTER | Op::GATHER4 | Op::SCATTER4
        | Op::GATHER_SCALED | Op::SCATTER_SCALED | Op::GATHER4_SCALED | Op::SCATTER4_SCALED
        | Op::QW_GATHER | Op::QW_SCATTER | Op::UNTYPED_ATOMIC | Op::DWORD_ATOMIC
        | Op::GATHER4_TYPED | Op::SCATTER4_TYPED | Op::TYPED_ATOMIC_3D
        | Op::SVM_BLOCK_LD | Op::SVM_BLOCK_ST | Op::SVM_GATHER | Op::SVM_SCATTER
        | Op::SVM_GATHER4SCALED | Op::SVM_SCATTER4SCALED | Op::SVM_ATOMIC
        | Op::SAMPLE_3D | Op::LOAD_3D | Op::GATHER4_3D | Op::INFO_3D
        | Op::LSC_LOAD | Op::LSC_LOAD_STRIDED | Op::LSC_LOAD_QUAD | Op::LSC_LOAD_BLOCK2D
        | Op::LSC_LOAD_STATUS | Op::LSC_STORE | Op::LSC_STORE_STRIDED | Op::LSC_STORE_QUAD
        | Op::LSC_STORE_BLOCK2D | Op::LSC_STORE_UNCOMPRESSED | Op::LSC_FENCE | Op::FENCE
        | Op::LSC_CCS_UPDATE | Op::LSC_TYPED_CCS_UPDATE | Op::LSC_EXTENDED_CACHE_CTRL
        | Op::LSC_ATOMIC_IINC | Op::LSC_ATOMIC_IDEC | Op::LSC_ATOMIC_LOAD | Op::LSC_ATOMIC_STORE
        | Op::LSC_ATOMIC_IADD | Op::LSC_ATOMIC_ISUB | Op::LSC_ATOMIC_SMIN | Op::LSC_ATOMIC_SMAX
        | Op::LSC_ATOMIC_UMIN | Op::LSC_ATOMIC_UMAX | Op::LSC_ATOMIC_ICAS | Op::LSC_ATOMIC_FADD
        | Op::LSC_ATOMIC_FSUB | Op::LSC_ATOMIC_FMIN | Op::LSC_ATOMIC_FMAX | Op::LSC_ATOMIC_FCAS
        | Op::LSC_ATOMIC_AND | Op::LSC_ATOMIC_OR | Op::LSC_ATOMIC_XOR
        | Op::LSC_ATOMIC_BFADD | Op::LSC_ATOMIC_BFSUB | Op::LSC_ATOMIC_BFMIN
        | Op::LSC_ATOMIC_BFMAX | Op::LSC_ATOMIC_BFCAS
        | Op::LSC_APNDCTR_ATOMIC_ADD | Op::LSC_APNDCTR_ATOMIC_SUB
        | Op::LSC_TYPED_LOAD_QUAD | Op::LSC_TYPED_LOAD_BLOCK2D | Op::LSC_TYPED_LOAD_STATUS
        | Op::LSC_TYPED_STORE_QUAD | Op::LSC_TYPED_STORE_BLOCK2D
        | Op::LSC_TYPED_STORE_UNCOMPRESSED
        | Op::LSC_TYPED_ATOMIC_IINC | Op::LSC_TYPED_ATOMIC_IDEC | Op::LSC_TYPED_ATOMIC_LOAD
        | Op::LSC_TYPED_ATOMIC_STORE | Op::LSC_TYPED_ATOMIC_IADD | Op::LSC_TYPED_ATOMIC_ISUB
        | Op::LSC_TYPED_ATOMIC_SMIN | Op::LSC_TYPED_ATOMIC_SMAX | Op::LSC_TYPED_ATOMIC_UMIN
        | Op::LSC_TYPED_ATOMIC_UMAX | Op::LSC_TYPED_ATOMIC_ICAS | Op::LSC_TYPED_ATOMIC_FADD
        | Op::LSC_TYPED_ATOMIC_FSUB | Op::LSC_TYPED_ATOMIC_FMIN | Op::LSC_TYPED_ATOMIC_FMAX
        | Op::LSC_TYPED_ATOMIC_FCAS | Op::LSC_TYPED_ATOMIC_AND | Op::LSC_TYPED_ATOMIC_OR
        | Op::LSC_TYPED_ATOMIC_XOR => Message,

        Op::LFSR | Op::PBARRIER
        | Op::RAW_SEND | Op::RAW_SENDS | Op::RAW_SENDG
        | Op::TRANSPOSE_LD | Op::STRBUF_LOAD | Op::STRBUF_STORE
        | Op::SAMPLE | Op::LOAD | Op::SAMPLE_UNORM | Op::AVS
        | Op::RT_WRITE_3D | Op::RT_READ | Op::URB_WRITE_3D
        | Op::LSC_LOAD_QUAD_STATUS | Op::LSC_TYPED_LOAD_QUAD_STATUS | Op::LSC_TYPED_READ_STATE_INFO
        | Op::LSC_TYPED_LOAD_QUAD_MSRT | Op::LSC_TYPED_STORE_QUAD_MSRT
        | Op::LSC_APNDCTR_ATOMIC_STORE
        | Op::VME_IME | Op::VME_SIC | Op::VME_FBR | Op::VME_IDM
        | Op::VA_CONVOLVE_2D | Op::VA_MINMAX | Op::VA_MINMAXFILTER | Op::VA_ERODE | Op::VA_DILATE
        | Op::VA_BOOLCENTROID | Op::VA_CENTROID | Op::VA_CONVOLVE_1D_V | Op::VA_CONVOLVE_1D_H
        | Op::VA_CONVOLVE_1PIXEL | Op::VA_FLOODFILL | Op::VA_LBPCREATION | Op::VA_LBPCORRELATION
        | Op::VA_CORRELATIONSEARCH | Op::HDC_CONV | Op::HDC_MMF | Op::HDC_ERODE | Op::HDC_DILATE
        | Op::HDC_LBPCORRELATION | Op::HDC_LBPCREATION | Op::HDC_1DCONV_H | Op::HDC_1DCONV_V
        | Op::HDC_1PIXELCONV => Unsupported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visakit_isa::semantics::Flow;

    /// Every row that does not run states a reason, and no other does.
    #[test]
    fn rows_agree() {
        for op in Op::ALL {
            let def = op.def();
            let how = translation(*op);
            assert_eq!(
                matches!(how, Translation::Unsupported),
                !def.unsupported.is_empty(),
                "{op:?}"
            );
            match how {
                Translation::Flow => assert_ne!(def.flow, Flow::Next, "{op:?}"),
                Translation::Message => assert!(def.memory.is_some(), "{op:?}"),
                _ => assert_eq!(def.flow, Flow::Next, "{op:?}"),
            }
        }
    }
}
