//! Arithmetic and mathematics.

use super::field::short::*;
use super::{Group, instructions};

const GROUP: Group = Group::Arithmetic;

/// What SRND converts.
const STOCHASTIC: &[Conversion] = &[
    Conversion {
        to: BYTES,
        from: T::HF.union(T::BF),
        unmasked: true,
    },
    Conversion {
        to: T::HF,
        from: T::F,
        unmasked: true,
    },
];

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __arith_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Adds two sources.
    ADD = plain(0x01) ["add"]
        .traits(Traits::BRAIN_FLOAT) .spec(SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, T::ALL_NUMBERS), src(F::Src0, GIM, T::ALL_NUMBERS),
            src(F::Src1, GIM, T::ALL_NUMBERS),
        ];

    /// Rounded average of two integers.
    AVG = plain(0x02) ["avg"]
        .traits(Traits::ONE_TYPE) .spec(SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, UP_TO_DWORDS), src(F::Src0, GIM, UP_TO_DWORDS),
            src(F::Src1, GIM, UP_TO_DWORDS),
        ];

    /// Divides the first source by the second.
    DIV = plain(0x03) ["div"]
        .traits(Traits::BRAIN_FLOAT.union(Traits::STRICT_INTEGERS).union(Traits::DIVIDES).union(Traits::EXACT_DOUBLE)) .spec(FLOAT_ONLY_SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, T::ALL_NUMBERS), src(F::Src0, GIM, NO_QWORDS),
            src(F::Src1, GIM, NO_QWORDS),
        ];

    /// Dot product of two elements of each group of four.
    DP2 = plain(0x04) ["dp2"]
        .traits(Traits::ACROSS_LANES)
        => &[
            EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F),
            src(F::Src1, GIM, T::F),
        ];

    /// Dot product of three elements of each group of four.
    DP3 = plain(0x05) ["dp3"]
        .traits(Traits::ACROSS_LANES)
        => &[
            EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F),
            src(F::Src1, GIM, T::F),
        ];

    /// Dot product of groups of four elements.
    DP4 = plain(0x06) ["dp4"]
        .traits(Traits::ACROSS_LANES)
        => &[
            EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F),
            src(F::Src1, GIM, T::F),
        ];

    /// Homogeneous dot product of groups of four elements.
    DPH = plain(0x07) ["dph"]
        .traits(Traits::ACROSS_LANES)
        => &[
            EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F),
            src(F::Src1, GIM, T::F),
        ];

    /// Two to the power of the source.
    EXP = plain(0x08) ["exp"]
        .traits(Traits::BRAIN_FLOAT) .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, SINGLE_FLOATS), src(F::Src0, GIM, SINGLE_FLOATS)];

    /// Fractional part.
    FRC = plain(0x09) ["frc"] .spec(NO_SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F)];

    /// Linear equation of pixel coordinates.
    LINE = plain(0x0a) ["line"]
        .traits(Traits::ACROSS_LANES)
        => &[
            EXEC, PRED, dst(GI, T::INTEGERS.union(T::F)),
            src(F::Src0, GIM, T::INTEGERS.union(T::F)),
            src(F::Src1, GIM, T::INTEGERS.union(T::F)),
        ];

    /// Logarithm to the base of two.
    LOG = plain(0x0b) ["log"]
        .traits(Traits::BRAIN_FLOAT) .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, SINGLE_FLOATS), src(F::Src0, GIM, SINGLE_FLOATS)];

    /// Product of the first two sources plus the third.
    MAD = plain(0x0c) ["mad"]
        .traits(Traits::BRAIN_FLOAT) .spec(FLOAT_ONLY_SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, T::ALL_NUMBERS), src(F::Src0, GIM, T::ALL_NUMBERS),
            src(F::Src1, GIM, T::ALL_NUMBERS), src(F::Src2, GIM, T::ALL_NUMBERS),
        ];

    /// Upper half of the product of two 32-bit integers.
    MULH = plain(0x0d) ["mulh"]
        .traits(Traits::ONE_TYPE) .spec(NO_SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, DWORDS), src(F::Src0, GIM, DWORDS), src(F::Src1, GIM, DWORDS),
        ];

    /// Linear interpolation between two sources.
    LRP = plain(0x0e) ["lrp"]
        .traits(Traits::REGIONS_IGNORED) .spec(SAT, ARITH_MODS, UP_TO_BXT)
        => &[
            EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F),
            src(F::Src1, GIM, T::F), src(F::Src2, GIM, T::F),
        ];

    // The specification lists saturation, but the reference implementation rejects it.
    /// Remainder of the division of two integers.
    MOD = plain(0x0f) ["mod"]
        .traits(Traits::DIVIDES) .spec(NO_SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, UP_TO_DWORDS), src(F::Src0, GIM, UP_TO_DWORDS),
            src(F::Src1, GIM, UP_TO_DWORDS),
        ];

    /// Multiplies two sources.
    MUL = plain(0x10) ["mul"]
        .traits(Traits::BRAIN_FLOAT.union(Traits::STRICT_INTEGERS)) .spec(FLOAT_SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, T::ALL_NUMBERS), src(F::Src0, GIM, NO_QWORDS),
            src(F::Src1, GIM, NO_QWORDS),
        ];

    /// First source to the power of the second.
    POW = plain(0x11) ["pow"]
        .traits(Traits::BRAIN_FLOAT) .spec(SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, SINGLE_FLOATS), src(F::Src0, GIM, SINGLE_FLOATS),
            src(F::Src1, GIM, SINGLE_FLOATS),
        ];

    /// Rounds down to an integer.
    RNDD = plain(0x12) ["rndd"] .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F)];

    /// Rounds up to an integer.
    RNDU = plain(0x13) ["rndu"] .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F)];

    /// Rounds to the nearest integer, ties to even.
    RNDE = plain(0x14) ["rnde"] .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F)];

    /// Rounds towards zero to an integer.
    RNDZ = plain(0x15) ["rndz"] .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F)];

    /// Sum of absolute differences of pairs of bytes.
    SAD2 = plain(0x16) ["sad2"]
        .traits(Traits::STRICT_INTEGERS.union(Traits::ACROSS_LANES))
        .lacking(Platforms::since(Platform::Tgllp)) .spec(SAT, ARITH_MODS, UP_TO_BXT)
        => &[
            EXEC, PRED, dst(GI, T::W.union(T::UW)), src(F::Src0, GIM, BYTES),
            src(F::Src1, GIM, BYTES),
        ];

    /// Sine.
    SIN = plain(0x17) ["sin"]
        .traits(Traits::BRAIN_FLOAT) .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, SINGLE_FLOATS), src(F::Src0, GIM, SINGLE_FLOATS)];

    /// Cosine.
    COS = plain(0x18) ["cos"]
        .traits(Traits::BRAIN_FLOAT) .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, SINGLE_FLOATS), src(F::Src0, GIM, SINGLE_FLOATS)];

    /// Square root.
    SQRT = plain(0x19) ["sqrt"]
        .traits(Traits::BRAIN_FLOAT.union(Traits::TAKES_INTEGERS).union(Traits::EXACT_DOUBLE)) .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::ALL_FLOATS), src(F::Src0, GIM, T::ALL_FLOATS)];

    /// Reciprocal square root.
    RSQRT = plain(0x1a) ["rsqrt"]
        .traits(Traits::BRAIN_FLOAT.union(Traits::TAKES_INTEGERS)) .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, SINGLE_FLOATS), src(F::Src0, GIM, SINGLE_FLOATS)];

    /// Reciprocal.
    INV = plain(0x1b) ["inv"]
        .traits(Traits::BRAIN_FLOAT.union(Traits::TAKES_INTEGERS).union(Traits::EXACT_DOUBLE)) .spec(SAT, ARITH_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::ALL_FLOATS), src(F::Src0, GIM, T::ALL_FLOATS)];

    /// Stochastic rounding to a narrower float.
    SRND = plain(0x1e) ["srnd"]
        .traits(Traits::MOVES_BRAIN_FLOAT)
        .converts(STOCHASTIC) .spec(UNLISTED_SAT, NO_MODS, NONE).since_platform(Platform::PvcXt)
        .since("2021-11")
        .note("No predicate field in the stream although the written spec lists one.")
        => &[
            EXEC, dst(GI, T::UB.union(T::B).union(T::HF)),
            src(F::Src0, GIM, T::HF.union(T::BF).union(T::F)),
            src(F::Src1, GIM, T::UB.union(T::UW).union(T::UD).union(T::F).union(T::HF)),
        ];

    /// Number of leading zero bits.
    LZD = plain(0x1f) ["lzd"] .spec(NO_SAT, NO_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::UD), src(F::Src0, GIM, T::UD)];

    /// Adds two integers and gives the carry.
    ADDC = plain(0x49) ["addc"]
        .traits(Traits::STRICT_INTEGERS) .spec(UNLISTED_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, T::UD), to(F::Carry, GI, T::UD), src(F::Src0, GIM, T::UD),
            src(F::Src1, GIM, T::UD),
        ];

    /// Subtracts two integers and gives the borrow.
    SUBB = plain(0x4a) ["subb"]
        .traits(Traits::STRICT_INTEGERS) .spec(SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, T::UD), to(F::Borrow, GI, T::UD), src(F::Src0, GIM, T::UD),
            src(F::Src1, GIM, T::UD),
        ];

    /// Sum of absolute differences of pairs of bytes, accumulated.
    SAD2ADD = plain(0x6a) ["sad2add"]
        .traits(Traits::STRICT_INTEGERS.union(Traits::ACROSS_LANES))
        .lacking(Platforms::since(Platform::Tgllp)) .spec(SAT, NO_MODS, UP_TO_BXT)
        => &[
            EXEC, PRED, dst(GI, T::W.union(T::UW)), src(F::Src0, GIM, BYTES),
            src(F::Src1, GIM, BYTES), src(F::Src2, GIM, T::W.union(T::UW)),
        ];

    /// Plane equation of pixel coordinates.
    PLANE = plain(0x6b) ["plane"]
        .traits(Traits::ACROSS_LANES.union(Traits::REGIONS_IGNORED))
        .lacking(Platforms::since(Platform::Xe3pCri)) .spec(SAT, NO_MODS, UP_TO_BXT)
        => &[EXEC, PRED, dst(GI, T::F), src(F::Src0, GIM, T::F), src(F::Src1, GIM, T::F)];

    /// Square root, correctly rounded.
    SQRTM = plain(0x7e) ["sqrtm"]
        .traits(Traits::EXACT) .spec(SAT, NO_MODS, Platforms::SKL)
        => &[EXEC, PRED, dst(GI, T::FLOATS), src(F::Src0, GIM, T::FLOATS)];

    /// Division, correctly rounded.
    DIVM = plain(0x7f) ["divm"]
        .traits(Traits::EXACT) .spec(SAT, NO_MODS, Platforms::SKL)
        => &[
            EXEC, PRED, dst(GI, T::FLOATS), src(F::Src0, GIM, T::FLOATS),
            src(F::Src1, GIM, T::FLOATS),
        ];

    /// Dot product of four bytes, accumulated.
    DP4A = plain(0x82) ["dp4a"]
        .traits(Traits::STRICT_INTEGERS) .spec(SAT, NO_MODS, Platforms::TGLLP)
        .since_platform(Platform::Tgllp)
        .note("Real objects have constants as src0; the specification lists none for src0 and src1.")
        => &[
            EXEC, PRED, dst(GI, DWORDS), src(F::Src0, GIM, DWORDS), src(F::Src1, GIM, DWORDS),
            src(F::Src2, GIM, DWORDS),
        ];

    /// Adds three sources.
    ADD3 = plain(0x84) ["add3"]
        .traits(Traits::STRICT_INTEGERS)
        .since_platform(Platform::XeHpSdv) .spec(SAT, ARITH_MODS, NONE).since("2021-06")
        => &[
            EXEC, PRED, dst(GI, WORDS_DWORDS), src(F::Src0, GIM, WORDS_DWORDS),
            src(F::Src1, GIM, WORDS_DWORDS), src(F::Src2, GIM, WORDS_DWORDS),
        ];

    /// Product of two 32-bit integers plus a third, 64 bits wide.
    MADW = plain(0x91) ["madw"]
        .traits(Traits::ONE_TYPE.union(Traits::WIDE_RESULT)) .spec(NO_SAT, ARITH_MODS, ALL).since("2021-05")
        => &[
            EXEC, PRED, dst(GI, DWORDS), src(F::Src0, GIM, DWORDS), src(F::Src1, GIM, DWORDS),
            src(F::Src2, GIM, DWORDS),
        ];

    /// Adds three sources and gives the overflow.
    ADD3O = plain(0x92) ["add3.o"]
        .traits(Traits::STRICT_INTEGERS.union(Traits::WRITES_PREDICATE))
        .since_platform(Platform::Pvc) .spec(UNLISTED_SAT, ARITH_MODS, NONE).since("2021-09")
        => &[
            EXEC, PRED, dst(GI, WORDS_DWORDS), src(F::Src0, GIM, WORDS_DWORDS),
            src(F::Src1, GIM, WORDS_DWORDS), src(F::Src2, GIM, WORDS_DWORDS),
        ];

    /// Hyperbolic tangent.
    TANH = plain(0x96) ["tanh"]
        .traits(Traits::BRAIN_FLOAT) .since_platform(Platform::Xe3pCri).since("2025-12")
        .note("IGC 2.26+ (Xe3P); readable by the generic path, but no public binary writer.")
        => &[EXEC, PRED, dst(GI, SINGLE_FLOATS), src(F::Src0, GIM, SINGLE_FLOATS)];

    /// Sigmoid.
    SIGM = plain(0x97) ["sigm"]
        .traits(Traits::BRAIN_FLOAT) .since_platform(Platform::Xe3pCri).since("2025-12")
        .note("IGC 2.26+ (Xe3P); readable by the generic path, but no public binary writer.")
        => &[EXEC, PRED, dst(GI, SINGLE_FLOATS), src(F::Src0, GIM, SINGLE_FLOATS)];

    /// First step of a correctly rounded division.
    INVM = plain(0x9b) ["invm"]
        .traits(Traits::EXACT.union(Traits::STEP)) .spec(NO_SAT, ARITH_MODS, Platforms::SKL).since("2024-09")
        .note("Predicate field: the reader of IGC 2.x expects a pred u16 here, the descriptor table has none. Added after the last public binary writer, so no bytes exist to prove it.")
        => &[
            EXEC, PRED, dst(GI, T::FLOATS), to(F::PredDst, P, T::UD.union(T::UW)),
            src(F::Src0, GIM, T::FLOATS), src(F::Src1, GIM, T::FLOATS),
        ];

    /// First step of a correctly rounded reciprocal square root.
    RSQTM = plain(0x9c) ["rsqtm"]
        .traits(Traits::EXACT.union(Traits::STEP)) .spec(NO_SAT, ARITH_MODS, Platforms::SKL).since("2024-09")
        .note("Same remark as INVM.")
        => &[
            EXEC, PRED, dst(GI, T::FLOATS), to(F::PredDst, P, T::UD.union(T::UW)),
            src(F::Src0, GIM, T::FLOATS),
        ];
        }
    };
}
__arith_rows! { [instructions] }
