//! What the slow machine does for each row of the table, or why it does nothing.

use crate::compute::{self, Setting, bits};
use crate::memory::Memory;
use crate::operand::Element;
use crate::state::{Result, View};
use crate::value::Outcome;
use crate::{lsc, typed};
use rustc_apfloat::Round;
use visakit_isa::{Instruction, Op};

/// How an operation is executed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Execution {
    /// Control flow, given by its row, or the address of a routine: see [`crate::run`].
    Flow,
    /// No effect visible to a single thread.
    Nothing,
    /// Lane by lane, each from the elements of its sources.
    Lane(fn(&[Element], Setting) -> Result<Outcome>),
    /// As a whole.
    Whole(fn(&mut View<'_, '_>, &Instruction, u32) -> Result<()>),
    /// A message to memory.
    Message(fn(&mut Memory, &mut View<'_, '_>, &Instruction, u32) -> Result<()>),
    /// Not executed: why there is nothing to compare with.
    Undefined(&'static str),
}

const UNWRITTEN: &str = "no written definition";
const APPROXIMATION: &str = "gives a first approximation that is not specified";
const HARDWARE: &str = "the unit of the hardware is not modelled";
const LATER: &str = "compared by tests of the fast machine only";

/// How an operation is executed. Every row is listed here, so that a new one does not compile until
/// it has a definition or a reason.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "methods of a view are functions of one lifetime"
)]
#[rustfmt::skip]
pub(crate) const fn execution(op: Op) -> Execution {
    use Execution::{Flow, Lane, Message, Nothing, Undefined, Whole};
    use bits::{Bits, Count, Shift};
    use compute::Sum;
    match op {
        Op::MOV => Whole(|v, i, m| v.move_any(i, m)),
        Op::ADD => Lane(|s, set| compute::arithmetic(Sum::Add, s, set)),
        Op::MUL => Lane(|s, set| compute::arithmetic(Sum::Mul, s, set)),
        Op::MAD => Lane(|s, set| compute::arithmetic(Sum::Mad, s, set)),
        Op::ADD3 => Lane(compute::sum_of_three),
        Op::AVG => Lane(compute::average),
        Op::DIV => Lane(compute::quotient),
        Op::DIVM => Lane(compute::exact_quotient),
        Op::MOD => Lane(|s, _| compute::divide(s, |a, b| a % b)),
        Op::MULH => Lane(compute::mulh),
        Op::INV => Lane(compute::inverse),
        Op::SQRT | Op::SQRTM => Lane(compute::root),
        Op::RSQRT => Lane(|s, set| compute::function(s, set, |x| 1.0 / x.sqrt())),
        Op::EXP => Lane(|s, set| compute::function(s, set, f64::exp2)),
        Op::LOG => Lane(|s, set| compute::function(s, set, f64::log2)),
        Op::SIN => Lane(|s, set| compute::wave(s, set, f64::sin)),
        Op::COS => Lane(|s, set| compute::wave(s, set, f64::cos)),
        Op::POW => Lane(compute::power),
        Op::FRC => Lane(compute::fraction),
        Op::RNDD => Lane(|s, set| compute::whole(s, set, Round::TowardNegative)),
        Op::RNDU => Lane(|s, set| compute::whole(s, set, Round::TowardPositive)),
        Op::RNDE => Lane(|s, set| compute::whole(s, set, Round::NearestTiesToEven)),
        Op::RNDZ => Lane(|s, set| compute::whole(s, set, Round::TowardZero)),
        Op::FMINMAX => Lane(compute::extreme),
        Op::AND => Whole(|v, i, m| v.logic(i, m, Bits::And)),
        Op::OR => Whole(|v, i, m| v.logic(i, m, Bits::Or)),
        Op::XOR => Whole(|v, i, m| v.logic(i, m, Bits::Xor)),
        Op::NOT => Whole(|v, i, m| v.logic(i, m, Bits::Not)),
        Op::BFN => Lane(|s, set| bits::bits(Bits::Table, s, set)),
        Op::SHL => Lane(|s, set| bits::shift(Shift::Left, s, set)),
        Op::SHR => Lane(|s, set| bits::shift(Shift::Right, s, set)),
        Op::ASR => Lane(|s, set| bits::shift(Shift::WithSign, s, set)),
        Op::ROL => Lane(|s, set| bits::rotate(true, s, set)),
        Op::ROR => Lane(|s, set| bits::rotate(false, s, set)),
        Op::LZD => Lane(|s, _| bits::count(Count::LeadingZeroes, s)),
        Op::FBH => Lane(|s, _| bits::count(Count::Highest, s)),
        Op::FBL => Lane(|s, _| bits::count(Count::Lowest, s)),
        Op::CBIT => Lane(|s, _| bits::count(Count::Ones, s)),
        Op::BFREV => Lane(|s, _| bits::count(Count::Reversed, s)),
        Op::BFE => Lane(bits::extract),
        Op::BFI => Lane(|s, _| bits::insert(s)),
        Op::DP4A => Lane(|s, _| bits::dot_bytes(s)),
        Op::FCVT => Lane(bits::narrow),
        Op::SHFL_IDX4 => Whole(crate::four_bits::shuffle),
        Op::DNSCL => Whole(crate::four_bits::scale_down),
        Op::SRND => Lane(bits::stochastic),

        Op::SEL => Whole(|v, i, m| v.select(i, m)),
        Op::CMP => Whole(|v, i, m| v.compare(i, m)),
        Op::SETP => Whole(|v, i, m| v.set_predicate(i, m)),
        Op::MOVS => Whole(|v, i, _| v.move_state(i)),
        Op::ADDR_ADD => Whole(|v, i, m| v.add_address(i, m)),
        Op::ADDC => Whole(|v, i, m| v.carry(i, m, true)),
        Op::SUBB => Whole(|v, i, m| v.carry(i, m, false)),
        Op::ADD3O => Whole(|v, i, m| v.add_overflow(i, m)),
        Op::MADW => Whole(|v, i, m| v.wide(i, m)),
        Op::SAD2 => Whole(|v, i, m| v.differences(i, m, false)),
        Op::SAD2ADD => Whole(|v, i, m| v.differences(i, m, true)),
        Op::LRP => Whole(|v, i, m| v.interpolate(i, m)),
        Op::PLANE => Whole(|v, i, m| v.plane(i, m, true)),
        Op::LINE => Whole(|v, i, m| v.plane(i, m, false)),
        Op::DP2 => Whole(|v, i, m| v.dot(i, m, 2, false)),
        Op::DP3 => Whole(|v, i, m| v.dot(i, m, 3, false)),
        Op::DP4 => Whole(|v, i, m| v.dot(i, m, 4, false)),
        Op::DPH => Whole(|v, i, m| v.dot(i, m, 3, true)),
        Op::DPAS | Op::BDPAS => Whole(crate::systolic::run),

        Op::GOTO | Op::JMP | Op::SWITCHJMP | Op::CALL | Op::FCALL | Op::IFCALL | Op::RET | Op::FRET
        | Op::FADDR | Op::IF | Op::ELSE | Op::ENDIF | Op::DO | Op::WHILE | Op::BREAK | Op::CONT => Flow,
        Op::FILE | Op::LOC | Op::LIFETIME | Op::LABEL | Op::SUBROUTINE
        | Op::BARRIER | Op::SBARRIER | Op::FENCE | Op::LSC_FENCE | Op::YIELD | Op::WAIT
        | Op::SAMPLER_CACHE_FLUSH => Nothing,

        Op::GATHER4_SCALED | Op::SCATTER4_SCALED | Op::SVM_GATHER4SCALED
        | Op::SVM_SCATTER4SCALED => Message(Memory::channels),
        Op::GATHER_SCALED | Op::SCATTER_SCALED => Message(Memory::bytes_of_lanes),
        Op::GATHER | Op::SCATTER => Message(Memory::elements),
        Op::SVM_GATHER | Op::SVM_SCATTER => Message(Memory::blocks),
        Op::QW_GATHER | Op::QW_SCATTER => Message(Memory::qwords),
        Op::DWORD_ATOMIC | Op::SVM_ATOMIC => Message(Memory::atomic),
        Op::OWORD_LD | Op::OWORD_ST => Message(|m, v, i, _| m.owords(v, i, 16)),
        Op::OWORD_LD_UNALIGNED | Op::SVM_BLOCK_LD
        | Op::SVM_BLOCK_ST => Message(|m, v, i, _| m.owords(v, i, 1)),
        Op::MEDIA_LD | Op::MEDIA_ST => Message(|m, v, i, _| m.rectangle(v, i)),
        Op::GATHER4_TYPED | Op::SCATTER4_TYPED | Op::LSC_TYPED_LOAD_QUAD | Op::LSC_TYPED_STORE_QUAD
        | Op::LSC_TYPED_STORE_UNCOMPRESSED => Message(typed::texels),
        Op::LSC_LOAD | Op::LSC_LOAD_STRIDED | Op::LSC_STORE | Op::LSC_STORE_STRIDED
        | Op::LSC_STORE_UNCOMPRESSED => Message(lsc::vectors),
        Op::LSC_LOAD_QUAD | Op::LSC_STORE_QUAD => Message(lsc::quads),
        Op::LSC_LOAD_STATUS => Message(lsc::status),
        Op::LSC_LOAD_BLOCK2D => Message(lsc::load_block),
        Op::LSC_STORE_BLOCK2D => Message(lsc::store_block),
        Op::LSC_APNDCTR_ATOMIC_ADD | Op::LSC_APNDCTR_ATOMIC_SUB => Message(lsc::counter),
        Op::LSC_ATOMIC_IINC | Op::LSC_ATOMIC_IDEC | Op::LSC_ATOMIC_LOAD | Op::LSC_ATOMIC_STORE
        | Op::LSC_ATOMIC_IADD | Op::LSC_ATOMIC_ISUB | Op::LSC_ATOMIC_SMIN | Op::LSC_ATOMIC_SMAX
        | Op::LSC_ATOMIC_UMIN | Op::LSC_ATOMIC_UMAX | Op::LSC_ATOMIC_ICAS | Op::LSC_ATOMIC_FADD
        | Op::LSC_ATOMIC_FSUB | Op::LSC_ATOMIC_FMIN | Op::LSC_ATOMIC_FMAX | Op::LSC_ATOMIC_FCAS
        | Op::LSC_ATOMIC_AND | Op::LSC_ATOMIC_OR | Op::LSC_ATOMIC_XOR => Message(lsc::atomic),

        Op::INVM | Op::RSQTM => Undefined(APPROXIMATION),
        Op::TANH | Op::SIGM | Op::LFSR | Op::PBARRIER
        | Op::LSC_ATOMIC_BFADD | Op::LSC_ATOMIC_BFSUB | Op::LSC_ATOMIC_BFMIN | Op::LSC_ATOMIC_BFMAX
        | Op::LSC_ATOMIC_BFCAS | Op::LSC_EXTENDED_CACHE_CTRL | Op::LSC_CCS_UPDATE
        | Op::LSC_TYPED_CCS_UPDATE | Op::LSC_LOAD_QUAD_STATUS | Op::LSC_TYPED_LOAD_QUAD_STATUS
        | Op::LSC_TYPED_LOAD_STATUS | Op::LSC_TYPED_READ_STATE_INFO | Op::LSC_TYPED_LOAD_QUAD_MSRT
        | Op::LSC_TYPED_STORE_QUAD_MSRT | Op::LSC_APNDCTR_ATOMIC_STORE | Op::LSC_TYPED_LOAD_BLOCK2D
        | Op::LSC_TYPED_STORE_BLOCK2D | Op::TRANSPOSE_LD | Op::STRBUF_LOAD | Op::STRBUF_STORE
        | Op::SAMPLE | Op::LOAD | Op::RAW_SEND | Op::RAW_SENDS | Op::RAW_SENDG
        | Op::BREAKPOINT => Undefined(UNWRITTEN),
        Op::BF_CVT => Undefined("no written definition, reserved in every release that is known to have files"),
        Op::DPASW => Undefined("needs a second thread"),
        Op::NBARRIER => Undefined("needs other threads"),
        Op::GATHER4 | Op::SCATTER4 | Op::UNTYPED_ATOMIC => Undefined("retired; the scaled forms are compared"),
        Op::TYPED_ATOMIC_3D | Op::LSC_TYPED_ATOMIC_IINC | Op::LSC_TYPED_ATOMIC_IDEC
        | Op::LSC_TYPED_ATOMIC_LOAD | Op::LSC_TYPED_ATOMIC_STORE | Op::LSC_TYPED_ATOMIC_IADD
        | Op::LSC_TYPED_ATOMIC_ISUB | Op::LSC_TYPED_ATOMIC_SMIN | Op::LSC_TYPED_ATOMIC_SMAX
        | Op::LSC_TYPED_ATOMIC_UMIN | Op::LSC_TYPED_ATOMIC_UMAX | Op::LSC_TYPED_ATOMIC_ICAS
        | Op::LSC_TYPED_ATOMIC_FADD | Op::LSC_TYPED_ATOMIC_FSUB | Op::LSC_TYPED_ATOMIC_FMIN
        | Op::LSC_TYPED_ATOMIC_FMAX | Op::LSC_TYPED_ATOMIC_FCAS | Op::LSC_TYPED_ATOMIC_AND
        | Op::LSC_TYPED_ATOMIC_OR | Op::LSC_TYPED_ATOMIC_XOR
        | Op::SAMPLE_3D | Op::LOAD_3D | Op::GATHER4_3D | Op::INFO_3D => Undefined(LATER),
        Op::SAMPLE_UNORM | Op::AVS | Op::RT_WRITE_3D | Op::RT_READ | Op::URB_WRITE_3D
        | Op::VME_IME | Op::VME_SIC | Op::VME_FBR | Op::VME_IDM
        | Op::VA_CONVOLVE_2D | Op::VA_MINMAX | Op::VA_MINMAXFILTER | Op::VA_ERODE | Op::VA_DILATE
        | Op::VA_BOOLCENTROID | Op::VA_CENTROID | Op::VA_CONVOLVE_1D_V | Op::VA_CONVOLVE_1D_H
        | Op::VA_CONVOLVE_1PIXEL | Op::VA_FLOODFILL | Op::VA_LBPCREATION | Op::VA_LBPCORRELATION
        | Op::VA_CORRELATIONSEARCH | Op::HDC_CONV | Op::HDC_MMF | Op::HDC_ERODE | Op::HDC_DILATE
        | Op::HDC_LBPCORRELATION | Op::HDC_LBPCREATION | Op::HDC_1DCONV_H | Op::HDC_1DCONV_V
        | Op::HDC_1PIXELCONV => Undefined(HARDWARE),
    }
}
