//! Moves, comparison and addresses.

use super::field::short::*;
use super::{Group, instructions};

const GROUP: Group = Group::Move;

/// The conversions of FCVT: 8-bit floats are passed as bytes, `tf32` as a dword.
const NARROW_FLOATS: &[Conversion] = &[
    Conversion {
        to: BYTES,
        from: T::HF,
        unmasked: true,
    },
    Conversion {
        to: T::HF,
        from: BYTES,
        unmasked: false,
    },
    Conversion {
        to: T::UD,
        from: T::F,
        unmasked: false,
    },
    Conversion {
        to: T::F,
        from: T::UD,
        unmasked: false,
    },
];

const ADDRESS: &[Part] = &[
    Part::Mnemonic,
    Part::Text(" "),
    Part::ExecSize,
    Part::Operand(F::Dst),
    Part::AddressOf(F::Src0),
    Part::Operand(F::Src1),
];

/// The relation that assemblers store if the text names none.
const NO_RELATION: u16 = 6;

const COMPARE: Syntax = Syntax::of(&[
    Part::Mnemonic,
    Part::If(
        Test::Not(F::RelOp, NO_RELATION),
        &[Part::Text("."), Part::Named(F::RelOp)],
    ),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operands,
])
// Intel's printer shows an absent relation like this.
.or(&[&[
    Part::Mnemonic,
    Part::Text(". "),
    Part::ExecSize,
    Part::Operands,
]]);

const MINIMUM_OR_MAXIMUM: &[Part] = &[
    Part::Choice(&Choice {
        field: F::Op,
        mask: 0xff,
        cases: &[(0, "min")],
        otherwise: "max",
    }),
    Part::Saturation,
    Part::Text(" "),
    Part::ExecSize,
    Part::Operands,
];

const SCALE_DOWN: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text("."),
    Part::Named(F::ConvertType),
    Part::Text("."),
    Part::Named(F::Mode),
    Part::Text("."),
    Part::Named(F::RoundMode),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operands,
];

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __mov_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Converts between floating-point formats, narrow ones included.
    FCVT = plain(0x1d) ["fcvt"]
        .converts(NARROW_FLOATS) .spec(UNLISTED_SAT, NO_MODS, NONE).since_platform(Platform::Pvc)
        .since("2021-11")
        .note("No pred field.")
        => &[
            EXEC, dst(G, T::UB.union(T::B).union(T::UD).union(T::HF).union(T::F)),
            src(F::Src0, GM, T::UB.union(T::B).union(T::UD).union(T::HF).union(T::F)),
        ];

    /// Computes an address: base plus offset.
    ADDR_ADD = plain(0x28) ["addr_add"] .text(ADDRESS) .group(Group::Address).spec(UNLISTED_SAT, ARITH_MODS, ALL)
        .note("No pred field. There is no separate address-of operand class on the wire (class 4 exists in the enum but is never written or read).")
        => &[
            EXEC, dst(A, T::UW),
            src(F::Src0, G.union(A).union(S), ANY).note("general: address-of a general variable, region ignored; state: address-of a surface or sampler variable"),
            src(F::Src1, GIM, T::UW).note("indirect: real objects have it, the specification does not"),
        ];

    /// Copies and converts.
    MOV = plain(0x29) ["mov"]
        .traits(Traits::MOVES_BRAIN_FLOAT) .spec(SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI.union(A), ANY),
            src(F::Src0, GIM.union(P).union(A).union(S), ANY).note("state: real objects have it, the specification does not"),
        ];

    /// Selects one of two sources by a predicate.
    SEL = plain(0x2a) ["sel"]
        .traits(Traits::BRAIN_FLOAT.union(Traits::ONE_TYPE).union(Traits::SELECTS)) .spec(SAT, ARITH_MODS, ALL)
        .note("The pred field is the selector; a null pred is invalid.")
        => &[EXEC, PRED, dst(GI, ANY), src(F::Src0, GIM, ANY), src(F::Src1, GIM, ANY)];

    /// Sets a predicate from the bits of a source.
    SETP = plain(0x2b) ["setp"]
        .traits(Traits::MOVES_BRAIN_FLOAT.union(Traits::PREDICATE_FROM_BITS)) .spec(UNLISTED_SAT, NO_MODS, ALL)
        => &[EXEC, dst(P, ANY), src(F::Src0, GIM, T::INTEGERS)];

    /// Compares two sources and sets a predicate or a general variable.
    CMP = plain(0x2c) ["cmp"]
        .traits(Traits::BRAIN_FLOAT) .syntax(COMPARE) .group(Group::Compare).spec(UNLISTED_SAT, ARITH_MODS, ALL)
        .note("No pred field. The destination is an ordinary vector operand: class 2 (predicate) for a flag destination, class 0 (general) for a per-lane all-ones/zero destination.")
        => &[
            EXEC, u8(F::RelOp).named(&enums::RELATION), dst(G.union(P), ANY),
            src(F::Src0, GIM, ANY), src(F::Src1, GIM, ANY),
        ];

    /// Copies a state variable, or copies into one.
    MOVS = plain(0x2d) ["movs"]
        .traits(Traits::MOVES_BRAIN_FLOAT.union(Traits::COPIES_STATE)) .spec(UNLISTED_SAT, NO_MODS, ALL)
        => &[EXEC, dst(G.union(S), ANY), src(F::Src0, GIM.union(S), T::UD)];

    /// Minimum or maximum of two sources.
    FMINMAX = plain(0x45) ["min", "max"]
        .traits(Traits::BRAIN_FLOAT.union(Traits::ONE_TYPE)) .text(MINIMUM_OR_MAXIMUM) .spec(SAT, ARITH_MODS, ALL)
        .note("No pred field.")
        => &[
            EXEC, u8(F::Op).named(&enums::MIN_MAX), dst(GI, ANY), src(F::Src0, GIM, ANY),
            src(F::Src1, GIM, ANY),
        ];

    /// Converts between float and brain float.
    BF_CVT = plain(0x88) ["bf_cvt"]
        .traits(Traits::MOVES_BRAIN_FLOAT)
        .retired(since(Features::SINCE_3_8).and(before(Features::SINCE_4_1)))
        .note("Conversion between f and bf; public sources 2021-06 to 2022-08 only; reserved in every other release. No file has it.")
        => &[
            EXEC, dst(GIM, T::UW.union(T::F).union(T::BF)),
            src(F::Src0, GIM, T::UW.union(T::F).union(T::BF)),
        ];

    /// Shuffles lanes by indices.
    SHFL_IDX4 = plain(0x95) ["shfl_idx4"]
        .text_only().since_platform(Platform::Xe3pCri).since("2025-12")
        .note("Descriptor only (IGC 2.26+, Xe3P); the generic reader path would treat dst as a vector operand. No bytes exist.")
        => &[
            EXEC, PRED, raw_to(F::Dst, T::UD), src(F::Src0, G, T::UD),
            src(F::Src1, G, T::UW.union(T::UB)),
        ];

    /// Scales down to narrower elements.
    DNSCL = plain(0x9a) ["dnscl"]
        .text(SCALE_DOWN) .text_only().since_platform(Platform::Xe3pCri).since("2025-12")
        .note("Descriptor only (IGC 2.26+, Xe3P); no binary reader case. No bytes exist.")
        => &[
            EXEC, PRED, u8(F::ConvertType).named(&enums::DNSCL_CONVERT_TYPE),
            u8(F::Mode).named(&enums::DNSCL_MODE),
            u8(F::RoundMode).named(&enums::DNSCL_ROUND_MODE), raw_to(F::Dst, T::UD),
            raw(F::Src0, T::UD), raw(F::Src1, T::UD), raw(F::Src2, T::UD),
        ];
        }
    };
}
__mov_rows! { [instructions] }
