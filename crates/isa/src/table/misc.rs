//! Synchronisation, raw messages, DPAS and the rest.

use super::field::short::*;
use super::{Group, instructions};

const GROUP: Group = Group::Miscellaneous;

const RAW_MESSAGE: &str = "it is a raw message to a shared function of the hardware";

const BARE: &[Part] = &[Part::Mnemonic];

const SOURCE_FILE: &[Part] = &[Part::Text("FILE "), Part::Quoted(F::FileName)];

const SOURCE_LINE: &[Part] = &[Part::Text("LOC "), Part::Number(F::Line)];

const SOURCE_FILE_NOW: &[Part] = &[Part::Mnemonic, Part::Text(" "), Part::Quoted(F::FileName)];

const SOURCE_LINE_NOW: &[Part] = &[Part::Mnemonic, Part::Text(" "), Part::Number(F::Line)];

const WAIT_MASK: &[Part] = &[
    Part::Mnemonic,
    Part::Operand(F::Mask),
    Part::If(Test::Absent(F::Mask), &[Part::Text(" 0x0:uw")]),
];

const FENCE_MASK: &[Part] = &[
    Part::Choice(&Choice {
        field: F::Mask,
        mask: 0xa0,
        cases: &[(0, "fence_global"), (0x20, "fence_local")],
        otherwise: "fence_sw",
    }),
    Part::If(
        Test::NoBits(F::Mask, 0x80),
        &[
            Part::If(Test::Bits(F::Mask, 0xff), &[Part::Text(".")]),
            Part::Flags(
                F::Mask,
                &[(0, "E"), (1, "I"), (2, "S"), (3, "C"), (4, "R"), (6, "L1")],
            ),
        ],
    ),
];

const SEND: &[Part] = &[
    Part::Predicate,
    Part::Choice(&Choice {
        field: F::Modifier,
        mask: 0xff,
        cases: &[(1, "raw_sendc ")],
        otherwise: "raw_send ",
    }),
    Part::ExecSize,
    Part::Text(" "),
    Part::Hex(F::ExMsgDesc),
    Part::Text(" "),
    Part::Number(F::NumSrc),
    Part::Text(" "),
    Part::Number(F::NumDst),
    Part::Text(" "),
    Part::Operands,
];

/// Surrounds the beginning of a split message with what all split messages have in common.
macro_rules! split_send {
    ($($part:expr),* $(,)?) => {
        &[
            Part::Predicate,
            $($part,)*
            Part::Number(F::NumSrc0),
            Part::Text("."),
            Part::Number(F::NumSrc1),
            Part::Text("."),
            Part::Number(F::NumDst),
            Part::Text(" "),
            Part::ExecSize,
            Part::Text(" "),
            Part::Operands,
        ]
    };
}

const SPLIT_SEND: &[Part] = split_send!(
    Part::Choice(&Choice {
        field: F::Modifier,
        mask: 1,
        cases: &[(1, "raw_sendsc.")],
        otherwise: "raw_sends.",
    }),
    Part::Number(F::Ffid),
    Part::If(Test::Absent(F::Ffid), &[Part::Text("0")]),
    Part::Text("."),
    Part::If(Test::Bits(F::Modifier, 2), &[Part::Text("eot.")]),
);

/// The end-of-thread flag in the mnemonic.
const SPLIT_SEND_END: &[Part] = split_send!(
    Part::Choice(&Choice {
        field: F::Modifier,
        mask: 3,
        cases: &[(2, "raw_sends_eot."), (3, "raw_sendsc_eot.")],
        otherwise: "<<0?>>",
    }),
    Part::Number(F::Ffid),
    Part::Text("."),
);

/// Without a shared-function number.
const SPLIT_SEND_SHORT: &[Part] = split_send!(Part::Choice(&Choice {
    field: F::Modifier,
    mask: 3,
    cases: &[(1, "raw_sendsc."), (3, "raw_sendsc_eot.")],
    otherwise: "<<0?>>",
}));

const NAMED_BARRIER: &[Part] = &[
    Part::Choice(&Choice {
        field: F::Mode,
        mask: 3,
        cases: &[(0, "nbarrier.wait")],
        otherwise: "nbarrier.signal",
    }),
    Part::Operand(F::BarrierId),
    Part::If(
        Test::Bits(F::Mode, 3),
        &[
            Part::Operand(F::NumThreads),
            Part::If(Test::Bits(F::Mode, 2), &[Part::Operand(F::Type)]),
            Part::Operand(F::NumProducers),
            Part::If(Test::Bits(F::Mode, 2), &[Part::Operand(F::NumConsumers)]),
        ],
    ),
];

/// Type, producers and consumers given separately.
const NAMED_BARRIER_GENERAL: &[Part] = &[
    Part::Choice(&Choice {
        field: F::Mode,
        mask: 3,
        cases: &[(2, "nbarrier.signal")],
        otherwise: "<<0?>>",
    }),
    Part::Operand(F::BarrierId),
    Part::Operand(F::Type),
    Part::Operand(F::NumProducers),
    Part::Operand(F::NumConsumers),
];

/// The shared function by its name.
const WIDE_SEND_NAMED: &[Part] = &[
    Part::Predicate,
    Part::Choice(&Choice {
        field: F::Modifier,
        mask: 3,
        cases: &[(0, "raw_sendg."), (1, "raw_sendgc."), (2, "raw_sendg_eot.")],
        otherwise: "raw_sendgc_eot.",
    }),
    Part::Choice(&Choice {
        field: F::Sfid,
        mask: 0xffff,
        cases: &[
            (0, "null"),
            (2, "smpl"),
            (3, "gtwy"),
            (5, "rc"),
            (6, "urb"),
            (7, "btd"),
            (8, "rta"),
            (13, "tgm"),
            (14, "ugm"),
            (15, "slm"),
        ],
        otherwise: "<<0?>>",
    }),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operand(F::Dst),
    Part::Text("/"),
    Part::Number(F::DstLen),
    Part::Operand(F::Src0),
    Part::Text("/"),
    Part::Number(F::Src0Len),
    Part::Operand(F::Src1),
    Part::Text("/"),
    Part::Number(F::Src1Len),
    Part::Operand(F::Ind0),
    Part::Operand(F::Ind1),
    Part::Text(" "),
    Part::HexPair(F::DescHi, F::DescLo),
];

const WIDE_SEND: &[Part] = &[
    Part::Predicate,
    Part::Choice(&Choice {
        field: F::Modifier,
        mask: 3,
        cases: &[(0, "raw_sendg."), (1, "raw_sendgc."), (2, "raw_sendg_eot.")],
        otherwise: "raw_sendgc_eot.",
    }),
    Part::Hex(F::Sfid),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operand(F::Dst),
    Part::Text("/"),
    Part::Number(F::DstLen),
    Part::Operand(F::Src0),
    Part::Text("/"),
    Part::Number(F::Src0Len),
    Part::Operand(F::Src1),
    Part::Text("/"),
    Part::Number(F::Src1Len),
    Part::Operand(F::Ind0),
    Part::Operand(F::Ind1),
    Part::Text(" "),
    Part::HexPair(F::DescHi, F::DescLo),
];

const LIFETIME_MARK: &[Part] = &[
    Part::Choice(&Choice {
        field: F::Properties,
        mask: 1,
        cases: &[(0, "lifetime.start ")],
        otherwise: "lifetime.end ",
    }),
    Part::Variable(F::Variable),
];

const SPLIT_BARRIER: &[Part] = &[Part::Choice(&Choice {
    field: F::Mode,
    mask: 0xff,
    cases: &[(0, "sbarrier.wait")],
    otherwise: "sbarrier.signal",
})];

const SYSTOLIC: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Precision(F::PrecisionInfo),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operand(F::Dst),
    Part::Operand(F::Src0),
    Part::Operand(F::Src1),
    Part::NoRegion(F::Src2),
];

const BLOCK_SCALED: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Precision(F::PrecisionInfo),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operand(F::Dst),
    Part::Operand(F::Src0),
    Part::Operand(F::Src1),
    Part::Operand(F::Src2),
    Part::NoRegion(F::Src3),
    Part::NoRegion(F::Src4),
];

const MASKED_BARRIER: &[Part] = &[Part::Mnemonic, Part::Operands];

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __misc_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Systolic dot product accumulate shared by two execution units.
    DPASW = plain(0x1c) ["dpasw"]
        .traits(Traits::FUSED.union(Traits::SYSTOLIC)).lacking(Platforms::since(Platform::Pvc)) .text(SYSTOLIC) .spec(NO_SAT, NO_MODS, NONE)
        .since_platform(Platform::XeHpSdv).since("2021-06")
        .note("src2 is a vector operand, the other three are raw operands. Text form: dpas.W.A.SD.RC")
        => &[
            EXEC, PRED.when(since(Features::DPAS_PREDICATE)), raw_to(F::Dst, DPAS),
            raw(F::Src0, DPAS), raw(F::Src1, T::D.union(T::UD).union(T::DF)),
            src(F::Src2, G, T::D.union(T::UD).union(T::DF)), u32(F::PrecisionInfo),
        ];

    /// Names the source file of what follows.
    FILE = plain(0x51) [".file"]
        .flow(Flow::Marker) .syntax(Syntax::directive(SOURCE_FILE).or(&[SOURCE_FILE_NOW])) .spec(NO_SAT, NO_MODS, ALL)
        => &[field(F::FileName, FieldKind::StringIndex)];

    /// Names the source line of what follows.
    LOC = plain(0x52) [".loc"]
        .flow(Flow::Marker) .syntax(Syntax::directive(SOURCE_LINE).or(&[SOURCE_LINE_NOW])) .spec(NO_SAT, NO_MODS, ALL)
        => &[u32(F::Line)];

    /// Waits for all threads of the group.
    BARRIER = plain(0x59) ["barrier"] .text(BARE) .group(Group::Sync).spec(NO_SAT, NO_MODS, ALL)
        => &[];

    /// Flushes the sampler cache.
    SAMPLER_CACHE_FLUSH = plain(0x5a) ["sampler_cache_flush"]
        .memory(Memory::control(Action::CacheControl)) .text(BARE) .group(Group::Sync).spec(NO_SAT, NO_MODS, ALL)
        => &[];

    /// Waits for a notification.
    WAIT = plain(0x5b) ["wait"] .text(WAIT_MASK) .group(Group::Sync).spec(NO_SAT, NO_MODS, ALL)
        => &[scalar(F::Mask, T::UB).when(since(Features::SINCE_3_1))];

    /// Orders memory accesses and flushes caches.
    FENCE = plain(0x5c) ["fence"]
        .memory(Memory::control(Action::Fence)) .text(FENCE_MASK) .group(Group::Sync).spec(NO_SAT, NO_MODS, ALL)
        => &[u8(F::Mask).note("bit mask, see enums.fence_mask_bits")];

    /// Sends a message that the program composed.
    RAW_SEND = plain(0x5d) ["raw_send", "raw_sendc"]
        .ending(Ending::Possible)
        .unsupported(RAW_MESSAGE) .text(SEND) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Modifier).note("bit 0: sendc"), EXEC, PRED, u32(F::ExMsgDesc), u8(F::NumSrc),
            u8(F::NumDst), scalar(F::Desc, T::UD), raw(F::Src, ANY), raw_to(F::Dst, ANY),
        ];

    /// Lets another thread run.
    YIELD = plain(0x5f) ["yield"] .text(BARE) .group(Group::Sync).spec(NO_SAT, NO_MODS, ALL)
        => &[];

    /// Named barrier: wait or signal.
    NBARRIER = plain(0x60) ["nbarrier.wait", "nbarrier.signal"] .syntax(Syntax::of(NAMED_BARRIER).or(&[NAMED_BARRIER_GENERAL])) .group(Group::Sync).when(since(Features::SINCE_3_8))
        .spec(NO_SAT, NO_MODS, NONE).since_platform(Platform::Pvc).since("2021-11")
        => &[
            u8(F::Mode).note("bit 0: 0 wait, 1 signal"), scalar(F::BarrierId, T::UB),
            scalar(F::NumThreads, T::UB).when(before(Features::NBARRIER_GENERAL)),
            scalar(F::Type, T::UB.union(T::UW)).when(since(Features::NBARRIER_GENERAL)),
            scalar(F::NumProducers, T::UB).when(since(Features::NBARRIER_GENERAL)),
            scalar(F::NumConsumers, T::UB).when(since(Features::NBARRIER_GENERAL)),
        ];

    /// Sends a message of two payloads that the program composed.
    RAW_SENDS = plain(0x7a) ["raw_sends", "raw_sendsc", "raw_sends_eot", "raw_sendsc_eot"]
        .ending(Ending::IfBit(F::Modifier, 1))
        .unsupported(RAW_MESSAGE) .syntax(Syntax::of(SPLIT_SEND).or(&[SPLIT_SEND_END, SPLIT_SEND_SHORT]))
        .spec(NO_SAT, NO_MODS, ALL)
        .note("The written spec puts the function id before the three size bytes; the bytes have it after them.")
        => &[
            u8(F::Modifier).note("bit 0: sendsc, bit 1: EOT"), EXEC, PRED, u8(F::NumSrc0),
            u8(F::NumSrc1), u8(F::NumDst), u8(F::Ffid).when(since(Features::SINCE_3_6)),
            scalar(F::ExMsgDesc, T::UD), scalar(F::Desc, T::UD), raw(F::Src0, ANY),
            raw(F::Src1, ANY), raw_to(F::Dst, ANY),
        ];

    /// Begins or ends the lifetime of a variable.
    LIFETIME = plain(0x7b) ["lifetime.start", "lifetime.end"]
        .flow(Flow::Marker) .text(LIFETIME_MARK) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Properties).key().note("bit 0: 0 start, 1 end; bits 4-5 operand class: 0 general, 1 address, 2 predicate"),
            field(F::Variable, FieldKind::Lifetime),
        ];

    /// Predicated barrier with a result.
    PBARRIER = reused(0x7c) ["pbarrier"]
        .unsupported(UNDEFINED) .text(MASKED_BARRIER) .group(Group::Sync).retired(before(Features::SINCE_3_6))
        .note("Number reused by SBARRIER in 2018-09 without a version change.")
        => &[scalar(F::Mask, T::UD), raw_to(F::Dst, ANY)];

    /// Split barrier: signal or wait.
    SBARRIER = plain(0x7c) ["sbarrier.signal", "sbarrier.wait"] .text(SPLIT_BARRIER) .group(Group::Sync).when(since(Features::SINCE_3_6))
        .spec(NO_SAT, NO_MODS, ALL)
        .since("2018-09").note("The number was that of a split barrier before.")
        => &[u8(F::Mode).note("0 wait, 1 signal")];

    /// Systolic dot product accumulate.
    DPAS = plain(0x83) ["dpas"] .traits(Traits::SYSTOLIC) .text(SYSTOLIC) .spec(NO_SAT, NO_MODS, NONE).since_platform(Platform::XeHpSdv)
        .since("2021-06")
        .note("src2 is a vector operand, the other three are raw operands. Text form: dpas.W.A.SD.RC")
        => &[
            EXEC, PRED.when(since(Features::DPAS_PREDICATE)), raw_to(F::Dst, DPAS),
            raw(F::Src0, DPAS), raw(F::Src1, T::D.union(T::UD).union(T::DF)),
            src(F::Src2, G, T::D.union(T::UD).union(T::DF)), u32(F::PrecisionInfo),
        ];

    /// Sends a message with 64-bit descriptors that the program composed.
    RAW_SENDG = plain(0x93) ["raw_sendg", "raw_sendgc", "raw_sendg_eot", "raw_sendgc_eot"]
        .ending(Ending::IfBit(F::Modifier, 1))
        .unsupported(RAW_MESSAGE) .syntax(Syntax::of(WIDE_SEND).or(&[WIDE_SEND_NAMED]))
        .since_platform(Platform::Xe3pCri).since("2025-12")
        .note("Reader only (IGC 2.26+); no public binary writer, absent from the written spec. The predicate follows the sfid.")
        => &[
            u8(F::Modifier).note("bit 0 conditional, bit 1 EOT"), EXEC, u32(F::Sfid), PRED,
            raw_to(F::Dst, ANY), u32(F::DstLen), raw(F::Src0, ANY), u32(F::Src0Len),
            raw(F::Src1, ANY), u32(F::Src1Len), src(F::Ind0, GIM, T::UQ),
            src(F::Ind1, GIM, T::UQ), u32(F::DescLo), u32(F::DescHi),
        ];

    /// Stops in the debugger.
    BREAKPOINT = plain(0x94) ["breakpoint"] .text(BARE) .text_only().since("2023-06")
        .note("Known to the descriptor table since 2023-06 (no operands); the binary reader has no case for it and rejects it.")
        => &[];

    /// Systolic dot product accumulate of block-scaled operands.
    BDPAS = plain(0x99) ["bdpas"]
        .traits(Traits::SYSTOLIC) .text(BLOCK_SCALED)
        .text_only().since_platform(Platform::Xe3pCri).since("2025-12")
        .note("Descriptor only (IGC 2.26+, Xe3P); no binary reader case. No bytes exist.")
        => &[
            EXEC, PRED.when(since(Features::SINCE_4_2)), raw_to(F::Dst, T::F.union(T::HF).union(T::BF)),
            raw(F::Src0, T::F.union(T::HF).union(T::BF)),
            raw(F::Src1, T::UD.union(T::HF).union(T::BF)),
            raw(F::Src2, T::UD.union(T::HF).union(T::BF)),
            src(F::Src3, GIM, T::UB).note("scales of src1, E8M0: a byte a lane, the second block of 32 elements 32 bytes on; null is one"),
            src(F::Src4, GIM, T::UB).note("scales of src2: a byte a row, the second block 32 bytes on"), u32(F::PrecisionInfo),
        ];
        }
    };
}
__misc_rows! { [instructions] }
