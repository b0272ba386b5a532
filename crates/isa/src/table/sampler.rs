//! Sampler, render-target and URB messages.

use super::field::short::*;
use super::{Group, instructions};

const GROUP: Group = Group::Sampler;

const LANES: Part = Part::Choice(&Choice {
    field: F::Mode,
    mask: 0x30,
    cases: &[(0, "8")],
    otherwise: "16",
});

/// Surrounds the middle of a legacy message with its channels and its operands.
macro_rules! legacy {
    ($($part:expr),* $(,)?) => {
        &[
            Part::Mnemonic,
            Part::Text("."),
            Part::Channels(F::Mode, "RGBA"),
            $($part,)*
            Part::Surface(F::Surface),
            Part::Operands,
        ]
    };
}

const SAMPLE_LEGACY: &[Part] = legacy!(
    Part::Text(" ("),
    LANES,
    Part::Text(") "),
    Part::Sampler(F::Sampler),
    Part::Text(" "),
);

/// Eight lanes.
const SAMPLE_LEGACY_8: &[Part] =
    legacy!(Part::Text(" "), Part::Sampler(F::Sampler), Part::Text(" "));

const LOAD_LEGACY: &[Part] = legacy!(Part::Text(" ("), LANES, Part::Text(") "));

/// Eight lanes.
const LOAD_LEGACY_8: &[Part] = legacy!(Part::Text(" "));

const NORMALISED: &[Part] = &[
    Part::Mnemonic,
    Part::Text("."),
    Part::Channels(F::Channels, "RGBA"),
    Part::Text("."),
    Part::Named(F::Channels),
    Part::Text(" "),
    Part::Sampler(F::Sampler),
    Part::Text(" "),
    Part::Surface(F::Surface),
    Part::Operands,
];

const SCALING: &[Part] = &[
    Part::Mnemonic,
    Part::Text("."),
    Part::Channels(F::Channels, "RGBA"),
    Part::Text(" "),
    Part::Surface(F::Surface),
    Part::Text(" "),
    Part::Sampler(F::Sampler),
    Part::Operand(F::UOffset),
    Part::Operand(F::VOffset),
    Part::Operand(F::DeltaU),
    Part::Operand(F::DeltaV),
    Part::Operand(F::U2d),
    Part::Operand(F::GroupId),
    Part::Operand(F::VerticalBlockNumber),
    Part::Text(" AVS_"),
    Part::Named(F::OutputFormat),
    Part::Operand(F::V2d),
    Part::Text(" AVS_"),
    Part::Named(F::ExecMode),
    Part::Operand(F::IefBypass),
    Part::Operand(F::Dst),
];

/// The offsets of the texel, a word before 3.4.
const TEXEL_OFFSETS: Part = Part::If(
    Test::Present(F::Aoffimmi16),
    &[Part::Text(" "), Part::Hex(F::Aoffimmi16), Part::Text(":uw")],
);

const TEXEL_SAMPLER: Part = Part::State(F::Sampler, F::SamplerState, F::SamplerIndex);
const TEXEL_SURFACE: Part = Part::State(F::Surface, F::SurfaceState, F::SurfaceIndex);

const CHANNELS: Part = Part::Channels(F::Channels, "RGBA");

const SWITCHES: Part = Part::Flags(
    F::Op,
    &[(8, "pixel_null_mask."), (9, "cps."), (10, "divS.")],
);

const NULL_MASK: Part = Part::Flags(F::Op, &[(8, "pixel_null_mask.")]);

/// Surrounds operation and sampler with what all messages with parameters have in common.
macro_rules! texels {
    ([$($operation:expr),* $(,)?], [$($sampler:expr),* $(,)?]) => {
        &[
            Part::Predicate,
            $($operation,)*
            TEXEL_OFFSETS,
            Part::Operand(F::Aoffimmi),
            Part::Text(" "),
            $($sampler,)*
            TEXEL_SURFACE,
            Part::Operand(F::Dst),
            Part::Operand(F::PairedSurface),
            Part::List(F::Params),
        ]
    };
}

/// Messages that sample texels: their switches, channels and lanes.
macro_rules! sampled {
    ($operation:expr) => {
        texels!(
            [
                $operation,
                Part::Text("."),
                SWITCHES,
                CHANNELS,
                Part::Text(" "),
                Part::ExecSize,
                Part::Text(" "),
            ],
            [TEXEL_SAMPLER, Part::Text(" ")]
        )
    };
}

const SAMPLE: &[Part] = sampled!(Part::Operation(F::Op, 0x0f00_005f_0318_127f));

/// Operations whose codes have another meaning in messages that gather texels.
const SAMPLE_SHARED_CODE: &[Part] = sampled!(Part::Choice(&Choice {
    field: F::Op,
    mask: 0xff,
    cases: &[(17, "sample_d_c_mlod"), (18, "sample_mlod")],
    otherwise: "<<0?>>",
}));

const LOAD_TEXELS: &[Part] = texels!(
    [
        Part::Operation(F::Op, 0x3c00_0080),
        Part::Text("."),
        NULL_MASK,
        CHANNELS,
        Part::Text(" "),
        Part::ExecSize,
        Part::Text(" "),
    ],
    []
);

const GATHER_TEXELS: &[Part] = texels!(
    [
        Part::Operation(F::Op, 0x00a1_e100_00a7_e100),
        Part::Text("."),
        NULL_MASK,
        Part::Choice(&Choice {
            field: F::SrcChannel,
            mask: 0xff,
            cases: &[(0, "R"), (1, "G"), (2, "B"), (3, "A")],
            otherwise: "illegal",
        }),
        Part::Text(" "),
        Part::ExecSize,
    ],
    [TEXEL_SAMPLER, Part::Text(" ")]
);

const PROPERTIES: &[Part] = &[
    Part::Operation(F::Op, 0xc00),
    Part::Text("."),
    Part::Channels(F::Channels, "RGBA"),
    Part::Text(" "),
    Part::ExecSize,
    Part::Text("  "),
    TEXEL_SURFACE,
    Part::Operand(F::Lod),
    Part::Operand(F::Dst),
];

const PIXELS: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::If(Test::Bits(F::Mode, 0x1ffc), &[Part::Text(".")]),
    Part::Flags(
        F::Mode,
        &[
            (2, "<RTI>"),
            (3, "<A>"),
            (4, "<O>"),
            (5, "<Z>"),
            (6, "<ST>"),
            (7, "<LRTW>"),
            (8, "<CPS>"),
            (9, "<PS>"),
            (10, "<CM>"),
            (11, "<SI>"),
            (12, "<NULLRT>"),
        ],
    ),
    Part::Text(" "),
    Part::ExecSize,
    Part::Text(" "),
    Part::Surface(F::Surface),
    Part::Operands,
];

const VERTICES: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text(" "),
    Part::ExecSize,
    Part::Text(" "),
    Part::Number(F::NumOut),
    Part::Text(" "),
    Part::Number(F::GlobalOffset),
    Part::Operands,
];

/// The state of a sampler in 4.2.
const SAMPLER_STATE: FieldDef = raw(F::SamplerState, ANY).when(since(Features::SINCE_4_2));
const SAMPLER_INDEX: FieldDef = u32(F::SamplerIndex).when(since(Features::SINCE_4_2));
/// The state of a surface in 4.2.
const SURFACE_STATE: FieldDef = raw(F::SurfaceState, ANY).when(since(Features::SINCE_4_2));
const SURFACE_INDEX: FieldDef = u32(F::SurfaceIndex).when(since(Features::SINCE_4_2));

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __sampler_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Samples a surface, legacy form.
    SAMPLE = plain(0x40) ["sample"]
        .traits(Traits::IMAGES_ONLY)
        .unsupported("this old form of a sampler message has no written definition")
        .memory(Memory::image(Action::Load, DataLayout::Sampled, Count::Channels(F::Mode))) .syntax(Syntax::of(SAMPLE_LEGACY).or(&[SAMPLE_LEGACY_8]))
        .note("Legacy; not in the written spec.")
        => &[
            u8(F::Mode).note("bits 0-3 RGBA channel mask; bits 4-5 SIMD mode: 0 = 8 lanes, non-zero = 16"),
            SAMPLER, SURFACE, raw(F::U, T::F), raw(F::V, T::F), raw(F::R, T::F),
            raw_to(F::Dst, T::F),
        ];

    /// Samples a block of normalised integers.
    SAMPLE_UNORM = plain(0x41) ["sample_unorm"]
        .traits(Traits::IMAGES_ONLY)
        .unsupported("it needs the sampler's block filters")
        .memory(Memory::image(Action::Load, DataLayout::Sampled, Count::Channels(F::Channels))) .text(NORMALISED) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Channels).named(&enums::CHANNEL_OUTPUT_FORMAT).note("bits 0-3 RGBA mask, bits 4-5 output format"),
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            scalar(F::DeltaU, T::F), scalar(F::DeltaV, T::F), raw_to(F::Dst, T::UW),
        ];

    /// Loads texels without filtering, legacy form.
    LOAD = plain(0x42) ["load"]
        .traits(Traits::IMAGES_ONLY)
        .unsupported("this old form of a sampler message has no written definition")
        .memory(Memory::image(Action::Load, DataLayout::Texels, Count::Channels(F::Mode))) .syntax(Syntax::of(LOAD_LEGACY).or(&[LOAD_LEGACY_8]))
        .note("Legacy; not in the written spec.")
        => &[
            u8(F::Mode).note("bits 0-3 RGBA channel mask; bits 4-5 SIMD mode: 0 = 8 lanes, non-zero = 16"),
            SURFACE, raw(F::U, T::UD), raw(F::V, T::UD), raw(F::R, T::UD), raw_to(F::Dst, T::F),
        ];

    /// Adaptive video scaling of a block.
    AVS = plain(0x43) ["avs"]
        .traits(Traits::IMAGES_ONLY)
        .unsupported("it needs the sampler's block filters")
        .memory(Memory::image(Action::Load, DataLayout::Sampled, Count::Channels(F::Channels))) .text(SCALING) .spec(NO_SAT, NO_MODS, UP_TO_ICL)
        => &[
            u8(F::Channels), SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            scalar(F::DeltaU, T::F), scalar(F::DeltaV, T::F), scalar(F::U2d, T::F),
            scalar(F::GroupId, T::UD), scalar(F::VerticalBlockNumber, T::UD),
            u8(F::OutputFormat).named(&enums::AVS_OUTPUT_FORMAT), scalar(F::V2d, T::F),
            u8(F::ExecMode).named(&enums::AVS_EXEC_MODE), scalar(F::IefBypass, T::UB),
            raw_to(F::Dst, ANY),
        ];

    /// Samples a surface.
    SAMPLE_3D = plain(0x6d) ["sample_3d"]
        .memory(Memory::image(Action::Load, DataLayout::Sampled, Count::Channels(F::Channels))) .syntax(Syntax::of(SAMPLE).or(&[SAMPLE_SHARED_CODE])) .group(Group::ThreeD).spec(NO_SAT, NO_MODS, ALL)
        => &[
            field(F::Op, FieldKind::SamplerOp).named(&enums::SAMPLER_OP), EXEC, PRED,
            u8(F::Channels), u16(F::Aoffimmi16).when(before(Features::SINCE_3_4)),
            scalar(F::Aoffimmi, T::UW).when(since(Features::SINCE_3_4)), SAMPLER,
            SAMPLER_STATE, SAMPLER_INDEX, SURFACE, SURFACE_STATE, SURFACE_INDEX, raw_to(F::Dst, ANY),
            raw(F::PairedSurface, ANY).when(since(Features::PAIRED_SURFACE).and(since(Features::SINCE_3_8))),
            field(F::NumParams, FieldKind::Count), field(F::Params, FieldKind::Raws),
        ];

    /// Loads texels without filtering.
    LOAD_3D = plain(0x6e) ["load_3d"]
        .memory(Memory::image(Action::Load, DataLayout::Sampled, Count::Channels(F::Channels))) .text(LOAD_TEXELS) .group(Group::ThreeD).spec(NO_SAT, NO_MODS, ALL)
        => &[
            field(F::Op, FieldKind::SamplerOp).named(&enums::SAMPLER_OP), EXEC, PRED,
            u8(F::Channels), u16(F::Aoffimmi16).when(before(Features::SINCE_3_4)),
            scalar(F::Aoffimmi, T::UW).when(since(Features::SINCE_3_4)), SURFACE,
            SURFACE_STATE, SURFACE_INDEX, raw_to(F::Dst, ANY),
            raw(F::PairedSurface, ANY).when(since(Features::PAIRED_SURFACE).and(since(Features::SINCE_3_8))),
            field(F::NumParams, FieldKind::Count), field(F::Params, FieldKind::Raws),
        ];

    /// Collects one channel of four texels.
    GATHER4_3D = plain(0x6f) ["sample4_3d"]
        .memory(Memory::image(Action::Load, DataLayout::Sampled, Count::Unknown)) .text(GATHER_TEXELS) .group(Group::ThreeD).spec(NO_SAT, NO_MODS, ALL)
        => &[
            field(F::Op, FieldKind::SamplerOp).named(&enums::SAMPLER_OP), EXEC, PRED,
            u8(F::SrcChannel).note("bits 0-1: 0 R, 1 G, 2 B, 3 A (a channel number, not a mask)"),
            u16(F::Aoffimmi16).when(before(Features::SINCE_3_4)),
            scalar(F::Aoffimmi, T::UW).when(since(Features::SINCE_3_4)), SAMPLER,
            SAMPLER_STATE, SAMPLER_INDEX, SURFACE, SURFACE_STATE, SURFACE_INDEX, raw_to(F::Dst, ANY),
            raw(F::PairedSurface, ANY).when(since(Features::PAIRED_SURFACE).and(since(Features::SINCE_3_8))),
            field(F::NumParams, FieldKind::Count), field(F::Params, FieldKind::Raws),
        ];

    /// Asks for the properties of a surface.
    INFO_3D = plain(0x70) ["info_3d", "resinfo", "sampleinfo"]
        .memory(Memory::image(Action::Query, DataLayout::Nothing, Count::Channels(F::Channels))) .text(PROPERTIES) .group(Group::ThreeD).spec(NO_SAT, NO_MODS, ALL)
        .note("No pred field. The sub-op stays ONE byte in every version, also in 4.x where the other three sampler ops widened theirs; the written spec says two bytes.")
        => &[
            u8(F::Op).named(&enums::SAMPLER_OP).key().note("10 resinfo, 11 sampleinfo"), EXEC,
            u8(F::Channels), SURFACE, SURFACE_STATE, SURFACE_INDEX, raw(F::Lod, T::UD).only_if(KeyTest::Equals(10)),
            raw_to(F::Dst, T::UD),
        ];

    /// Writes pixels to a render target.
    RT_WRITE_3D = plain(0x71) ["rt_write_3d"]
        .ending(Ending::Possible)
        .unsupported("it needs render targets")
        .memory(Memory::image(Action::Store, DataLayout::Texels, Count::Unknown).storage(Storage::RenderTarget)) .text(PIXELS) .group(Group::ThreeD).spec(NO_SAT, NO_MODS, ALL)
        .note("R,G,B,A are always present in the stream (unused ones are the null variable).")
        => &[
            EXEC, PRED, u16(F::Mode).key(), SURFACE,
            raw(F::Header, ANY).note("r1 header; null when absent"),
            src(F::SampleIndex, GIM, T::UW).only_if(KeyTest::Bit(11)),
            src(F::CpsCounter, GIM, T::UW).only_if(KeyTest::Bit(8)),
            src(F::RtIndex, GIM, T::UB.union(T::UW).union(T::UD)).only_if(KeyTest::Bit(2)),
            raw(F::Src0Alpha, T::HF.union(T::F)).only_if(KeyTest::Bit(3)),
            raw(F::OMask, T::UW).only_if(KeyTest::Bit(4)), raw(F::Red, ANY), raw(F::Green, ANY),
            raw(F::Blue, ANY), raw(F::Alpha, ANY), raw(F::Z, T::F).only_if(KeyTest::Bit(5)),
            raw(F::Stencil, T::UB).only_if(KeyTest::Bit(6)),
        ];

    /// Writes vertices to the URB.
    URB_WRITE_3D = plain(0x72) ["urb_write_3d"]
        .ending(Ending::Possible)
        .unsupported("it needs the unified return buffer")
        .memory(Memory::surface(Action::Store, ElementSize::Bytes(4), Count::Unknown).storage(Storage::Urb)) .text(VERTICES) .group(Group::ThreeD).spec(NO_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED, u8(F::NumOut), raw(F::ChannelMask, T::UD), u16(F::GlobalOffset),
            raw(F::UrbHandle, T::UD), raw(F::PerSlotOffset, T::UD), raw(F::VertexData, DATA32),
        ];

    /// Reads pixels from a render target.
    RT_READ = plain(0x90) ["rt_read"]
        .when(before(Features::SINCE_4_2))
        .unsupported("it needs render targets")
        .memory(Memory::image(Action::Load, DataLayout::Texels, Count::Unknown).storage(Storage::RenderTarget)) .group(Group::ThreeD).text_only().spec(NO_SAT, NO_MODS, NONE)
        .note("Described by the written specification only; every public source reserves the number.")
        => &[];
        }
    };
}
__sampler_rows! { [instructions] }
