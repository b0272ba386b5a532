//! Bits and shifts.

use super::field::short::*;
use super::{Group, instructions};

const GROUP: Group = Group::Logic;

const FUNCTION_OF_THREE: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text(".x"),
    Part::HexDigits(F::BooleanFunc),
    Part::Saturation,
    Part::Text(" "),
    Part::ExecSize,
    Part::Operands,
];

const FEEDBACK: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text("."),
    Part::Named(F::FuncCtrl),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operands,
];

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __logic_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Bitwise and.
    AND = plain(0x20) ["and"] .spec(NO_SAT, LOGIC_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI.union(P), T::INTEGERS), src(F::Src0, GIM.union(P), T::INTEGERS),
            src(F::Src1, GIM.union(P), T::INTEGERS),
        ];

    /// Bitwise or.
    OR = plain(0x21) ["or"] .spec(NO_SAT, LOGIC_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI.union(P), T::INTEGERS), src(F::Src0, GIM.union(P), T::INTEGERS),
            src(F::Src1, GIM.union(P), T::INTEGERS),
        ];

    /// Bitwise exclusive or.
    XOR = plain(0x22) ["xor"] .spec(NO_SAT, LOGIC_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI.union(P), T::INTEGERS), src(F::Src0, GIM.union(P), T::INTEGERS),
            src(F::Src1, GIM.union(P), T::INTEGERS),
        ];

    /// Bitwise complement.
    NOT = plain(0x23) ["not"] .spec(NO_SAT, LOGIC_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI.union(P), T::INTEGERS), src(F::Src0, GIM.union(P), T::INTEGERS),
        ];

    /// Shifts left.
    SHL = plain(0x24) ["shl"]
        .traits(Traits::SHIFTS) .spec(SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, T::INTEGERS), src(F::Src0, GIM, T::INTEGERS),
            src(F::Src1, GIM, T::INTEGERS),
        ];

    /// Shifts right, filling with zeros.
    SHR = plain(0x25) ["shr"]
        .traits(Traits::SHIFTS) .spec(SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, T::INTEGERS), src(F::Src0, GIM, T::INTEGERS),
            src(F::Src1, GIM, T::INTEGERS),
        ];

    /// Shifts right, filling with the sign.
    ASR = plain(0x26) ["asr"]
        .traits(Traits::SHIFTS) .spec(UNLISTED_SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, T::B.union(T::W).union(T::D).union(T::Q)),
            src(F::Src0, GIM, T::B.union(T::W).union(T::D).union(T::Q)), src(F::Src1, GIM, T::INTEGERS),
        ];

    /// Number of set bits.
    CBIT = plain(0x27) ["cbit"]
        .traits(Traits::NO_QWORDS) .spec(NO_SAT, NO_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::UD), src(F::Src0, GIM, T::INTEGERS)];

    /// Position of the lowest set bit.
    FBL = plain(0x2e) ["fbl"]
        .traits(Traits::NO_QWORDS) .spec(NO_SAT, NO_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::UD), src(F::Src0, GIM, T::UD)];

    /// Position of the highest bit that differs from the sign.
    FBH = plain(0x2f) ["fbh"]
        .traits(Traits::NO_QWORDS) .spec(NO_SAT, NO_MODS, ALL)
        => &[EXEC, PRED, dst(GI, T::UD), src(F::Src0, GIM, DWORDS)];

    /// Extracts a bit field.
    BFE = plain(0x46) ["bfe"]
        .traits(Traits::BIT_FIELDS) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, DWORDS), src(F::Src0, GIM, DWORDS), src(F::Src1, GIM, DWORDS),
            src(F::Src2, GIM, DWORDS),
        ];

    /// Inserts a bit field.
    BFI = plain(0x47) ["bfi"]
        .traits(Traits::BIT_FIELDS) .spec(NO_SAT, NO_MODS, ALL)
        .note("Source order in the stream and in text: width, offset, insert value, base value.")
        => &[
            EXEC, PRED, dst(GI, DWORDS), src(F::Src0, GIM, DWORDS), src(F::Src1, GIM, DWORDS),
            src(F::Src2, GIM, DWORDS), src(F::Src3, GIM, DWORDS),
        ];

    /// Reverses the bits.
    BFREV = plain(0x48) ["bfrev"] .spec(NO_SAT, NO_MODS, ALL)
        => &[EXEC, PRED, dst(GI, DWORDS), src(F::Src0, GIM, DWORDS)];

    /// Rotates left.
    ROL = plain(0x80) ["rol"]
        .traits(Traits::STRICT_INTEGERS.union(Traits::ROTATES)) .spec(NO_SAT, NO_MODS, SINCE_ICL).since_platform(Platform::Icllp)
        => &[
            EXEC, PRED, dst(GI, WORDS_TO_QWORDS), src(F::Src0, GIM, WORDS_TO_QWORDS),
            src(F::Src1, GIM, WORDS_TO_QWORDS),
        ];

    /// Rotates right.
    ROR = plain(0x81) ["ror"]
        .traits(Traits::STRICT_INTEGERS.union(Traits::ROTATES)) .spec(NO_SAT, NO_MODS, SINCE_ICL).since_platform(Platform::Icllp)
        => &[
            EXEC, PRED, dst(GI, WORDS_TO_QWORDS), src(F::Src0, GIM, WORDS_TO_QWORDS),
            src(F::Src1, GIM, WORDS_TO_QWORDS),
        ];

    /// Any bitwise function of three sources.
    BFN = plain(0x85) ["bfn"]
        .since_platform(Platform::XeHpSdv) .text(FUNCTION_OF_THREE) .spec(NO_SAT, NO_MODS, NONE).since("2021-06")
        => &[
            EXEC, PRED, dst(GI, WORDS_DWORDS), src(F::Src0, GIM, WORDS_DWORDS),
            src(F::Src1, GIM, WORDS_DWORDS), src(F::Src2, GIM, WORDS_DWORDS), u8(F::BooleanFunc),
        ];

    /// Linear-feedback shift register.
    LFSR = plain(0x98) ["lfsr"]
        .text(FEEDBACK) .unsupported(UNDEFINED) .text_only().since_platform(Platform::Xe3pCri).since("2025-12")
        .note("Descriptor only (IGC 2.26+, Xe3P); no binary reader case. No bytes exist.")
        => &[
            EXEC, PRED, u8(F::FuncCtrl).named(&enums::LFSR_FUNC), dst(G, T::UD),
            src(F::Src0, G, T::UD), src(F::Src1, GM, T::UD),
        ];
        }
    };
}
__logic_rows! { [instructions] }
