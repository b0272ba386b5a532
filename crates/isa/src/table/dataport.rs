//! Data-port messages.

use super::field::short::*;
use super::{Group, instructions};

const GROUP: Group = Group::DataPort;

const ATOMIC_SIZE: Part = Part::Choice(&Choice {
    field: F::Op,
    mask: 0xe0,
    cases: &[(0x20, ".16"), (0x40, ".64"), (0x60, ".64")],
    otherwise: "",
});

/// Surrounds the parts of one kind with the mnemonic before, and the surface and all operands after.
macro_rules! message {
    ($($part:expr),* $(,)?) => {
        &[
            Part::Mnemonic,
            $($part,)*
            Part::Text(" "),
            Part::Surface(F::Surface),
            Part::Operands,
        ]
    };
}

/// Messages with lanes that may be disabled.
macro_rules! predicated {
    ($($part:expr),* $(,)?) => {
        &[
            Part::Predicate,
            Part::Mnemonic,
            Part::Text("."),
            $($part,)*
            Part::Text(" "),
            Part::ExecSize,
            Part::Text(" "),
            Part::Surface(F::Surface),
            Part::Operands,
        ]
    };
}

/// Whether the surface was written before, which Intel's printer does not show.
const MODIFIED: Part = Part::NotIntel(&[Part::If(
    Test::Bits(F::IsModified, 1),
    &[Part::Text(".mod")],
)]);

const OWORDS: &[Part] = &[
    Part::Mnemonic,
    MODIFIED,
    Part::Text(" ("),
    Part::PowerOfTwo(F::Size, 7),
    Part::Text(") "),
    Part::Surface(F::Surface),
    Part::Operands,
];

const MEDIA: &[Part] = &[
    Part::Mnemonic,
    Part::Text("."),
    Part::Named(F::Modifier),
    Part::Text(" ("),
    Part::Number(F::BlockWidth),
    Part::Text(","),
    Part::Number(F::BlockHeight),
    Part::Text(") "),
    Part::Surface(F::Surface),
    Part::Text(" "),
    Part::MayOmit(&[Part::Number(F::Plane)]),
    Part::Operands,
];

const TRANSPOSED: &[Part] = &[
    Part::Mnemonic,
    Part::Text(" ("),
    Part::Number(F::BlockWidth),
    Part::Text(","),
    Part::Number(F::BlockHeight),
    Part::Text(") "),
    Part::Surface(F::Surface),
    Part::Operands,
];

const ELEMENTS: &[Part] = message!(
    Part::Text("."),
    Part::PowerOfTwo(F::EltSize, 3),
    Part::Text(" "),
    Part::Lanes(F::NumElts),
    MODIFIED,
);

const UNTYPED_CHANNELS: &[Part] = message!(
    MODIFIED,
    Part::Text("."),
    Part::ChannelsInverted(F::Channels, "RGBA"),
    Part::Text(" "),
    Part::Lanes(F::NumElts),
);

const UNTYPED: &[Part] = message!(
    Part::Text("."),
    Part::Named(F::Op),
    Part::Text(" "),
    Part::Lanes(F::NumElts),
);

const TYPED_CHANNELS: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text("."),
    Part::Channels(F::Channels, "RGBA"),
    Part::ChannelsInverted(F::ChannelsInv, "RGBA"),
    Part::Text(" "),
    Part::If(Test::Present(F::Channels), &[Part::ExecSize]),
    Part::If(Test::Absent(F::Channels), &[Part::FixedLanes(8)]),
    Part::Text(" "),
    Part::Surface(F::Surface),
    Part::Operand(F::U),
    Part::Operand(F::V),
    Part::Operand(F::R),
    Part::Operand(F::Lod),
    Part::If(Test::Absent(F::Lod), &[Part::Text(" %null.0")]),
    Part::Operand(F::Src),
    Part::Operand(F::Dst),
];

const CHANNELS: &[Part] = predicated!(Part::Channels(F::Channels, "RGBA"),);

const BLOCKS: &[Part] = predicated!(Part::PowerOfTwo(F::NumBlocks, 3),);

const ATOMIC: &[Part] = predicated!(Part::Named(F::Op), ATOMIC_SIZE,);

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __dataport_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Loads consecutive OWords at an OWord offset.
    OWORD_LD = plain(0x35) ["oword_ld"]
        .memory(Memory::surface(Action::Load, ElementSize::Bytes(16), Count::Power(F::Size, 7)).layout(DataLayout::Block).unit(AddressUnit::Bytes(16))) .text(OWORDS) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Size).named(&enums::OWORD_COUNT), u8(F::IsModified), SURFACE,
            scalar(F::Offset, T::UD), raw_to(F::Dst, ANY),
        ];

    /// Stores consecutive OWords at an OWord offset.
    OWORD_ST = plain(0x36) ["oword_st"]
        .memory(Memory::surface(Action::Store, ElementSize::Bytes(16), Count::Power(F::Size, 7)).layout(DataLayout::Block).unit(AddressUnit::Bytes(16))) .text(OWORDS) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Size).named(&enums::OWORD_COUNT), SURFACE, scalar(F::Offset, T::UD),
            raw(F::Src, ANY),
        ];

    /// Loads a rectangle of a 2D surface.
    MEDIA_LD = plain(0x37) ["media_ld"]
        .traits(Traits::IMAGES_ONLY)
        .memory(Memory::image(Action::Load, DataLayout::Rectangle, Count::Rectangle).element(ElementSize::Bytes(1))) .text(MEDIA) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Modifier).named(&enums::MEDIA_LD_MODIFIER), SURFACE,
            u8(F::Plane).named(&enums::PLANE), u8(F::BlockWidth).note("bytes 1..64"),
            u8(F::BlockHeight).note("rows 1..64"), scalar(F::XOffset, T::UD),
            scalar(F::YOffset, T::UD), raw_to(F::Dst, ANY),
        ];

    /// Stores a rectangle of a 2D surface.
    MEDIA_ST = plain(0x38) ["media_st"]
        .traits(Traits::IMAGES_ONLY)
        .memory(Memory::image(Action::Store, DataLayout::Rectangle, Count::Rectangle).element(ElementSize::Bytes(1))) .text(MEDIA) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Modifier).named(&enums::MEDIA_ST_MODIFIER), SURFACE,
            u8(F::Plane).named(&enums::PLANE), u8(F::BlockWidth).note("bytes"),
            u8(F::BlockHeight), scalar(F::XOffset, T::UD), scalar(F::YOffset, T::UD),
            raw(F::Src, ANY),
        ];

    /// Loads one element for each lane.
    GATHER = plain(0x39) ["gather"]
        .memory(Memory::surface(Action::Load, ElementSize::Log2, Count::One).unit(AddressUnit::Element)) .text(ELEMENTS) .spec(NO_SAT, NO_MODS, NONE)
        => &[
            u8(F::EltSize).named(&enums::ELEMENT_SIZE), u8(F::IsModified), NUM_ELTS, SURFACE,
            scalar(F::GlobalOffset, T::UD).note("in elements"), raw(F::ElementOffset, T::UD),
            raw_to(F::Dst, DATA32),
        ];

    /// Stores one element for each lane.
    SCATTER = plain(0x3a) ["scatter"]
        .memory(Memory::surface(Action::Store, ElementSize::Log2, Count::One).unit(AddressUnit::Element)) .text(ELEMENTS) .spec(NO_SAT, NO_MODS, NONE)
        => &[
            u8(F::EltSize).named(&enums::ELEMENT_SIZE), NUM_ELTS, SURFACE,
            scalar(F::GlobalOffset, T::UD).note("in elements"), raw(F::ElementOffset, T::UD),
            raw(F::Src, DATA32),
        ];

    /// Atomic operation on one dword for each lane.
    UNTYPED_ATOMIC = plain(0x3b) ["untyped_atomic"]
        .memory(Memory::surface(Action::AtomicCode, ElementSize::AtomicCode, Count::One).unit(AddressUnit::Bytes(4))) .text(UNTYPED) .retired(before(Features::SINCE_3_7))
        .note("Removed from the public sources in 2019-03 (commit 89e1dea97) without a version change; the number is reserved since.")
        => &[
            u8(F::Op).named(&enums::ATOMIC_OP), NUM_ELTS, SURFACE,
            scalar(F::GlobalOffset, T::UD).note("dwords"), raw(F::ElementOffset, ANY),
            raw(F::Src0, ANY), raw(F::Src1, ANY), raw_to(F::Dst, ANY),
        ];

    /// Loads consecutive OWords at a byte offset.
    OWORD_LD_UNALIGNED = plain(0x3c) ["oword_ld_unaligned"]
        .memory(Memory::surface(Action::Load, ElementSize::Bytes(16), Count::Power(F::Size, 7)).layout(DataLayout::Block)) .text(OWORDS) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Size).named(&enums::OWORD_COUNT), u8(F::IsModified), SURFACE,
            scalar(F::Offset, T::UD).note("byte offset, dword aligned (oword_ld/oword_st use OWord units)"),
            raw_to(F::Dst, ANY),
        ];

    /// Loads up to four consecutive dwords for each lane.
    GATHER4 = plain(0x3d) ["gather4"]
        .memory(Memory::surface(Action::Load, ElementSize::Bytes(4), Count::ChannelsOff(F::Channels)).layout(DataLayout::Channels).unit(AddressUnit::Bytes(4))) .text(UNTYPED_CHANNELS) .retired(before(Features::SINCE_3_7))
        .note("Removed from the public sources in 2019-03 (commit 89e1dea97) without a version change; the number is reserved since.")
        => &[
            u8(F::Channels), u8(F::IsModified), NUM_ELTS, SURFACE,
            scalar(F::GlobalOffset, T::UD).note("dwords"), raw(F::ElementOffset, ANY),
            raw_to(F::Dst, ANY),
        ];

    /// Stores up to four consecutive dwords for each lane.
    SCATTER4 = plain(0x3e) ["scatter4"]
        .memory(Memory::surface(Action::Store, ElementSize::Bytes(4), Count::ChannelsOff(F::Channels)).layout(DataLayout::Channels).unit(AddressUnit::Bytes(4))) .text(UNTYPED_CHANNELS) .retired(before(Features::SINCE_3_7))
        .note("Removed from the public sources in 2019-03 (commit 89e1dea97) without a version change; the number is reserved since. Seen in real 3.2 objects.")
        => &[
            u8(F::Channels), NUM_ELTS, SURFACE, scalar(F::GlobalOffset, T::UD).note("dwords"),
            raw(F::ElementOffset, ANY), raw(F::Src, ANY),
        ];

    /// Loads a rectangle with rows and columns swapped.
    TRANSPOSE_LD = plain(0x3f) ["transpose_ld"]
        .unsupported("the sources of its time disagree about the unit of its offsets, and no program has it")
        .memory(Memory::image(Action::Load, DataLayout::Rectangle, Count::Rectangle).element(ElementSize::Bytes(4))) .text(TRANSPOSED) .retired(before(Features::SINCE_3_7))
        .note("Removed from the public sources in 2019-03 (commit 89e1dea97) without a version change; the number is reserved since.")
        => &[
            SURFACE, u8(F::BlockWidth), u8(F::BlockHeight), scalar(F::XOffset, T::UD),
            scalar(F::YOffset, T::UD), raw_to(F::Dst, ANY),
        ];

    /// Loads up to four channels of a typed surface for each lane.
    GATHER4_TYPED = plain(0x4b) ["gather4_typed"]
        .traits(Traits::IMAGES_ONLY)
        .memory(Memory::image(Action::Load, DataLayout::Texels, Count::Channels(F::Channels))) .text(TYPED_CHANNELS) .spec(NO_SAT, NO_MODS, ALL)
        .note("Before 3.2 the channel byte comes first, there is no pred and no lod, and the exec size code must be 0 (meaning 8 lanes).")
        => &[
            u8(F::ChannelsInv).when(before(Features::SINCE_3_2)), EXEC,
            PRED.when(since(Features::SINCE_3_2)),
            u8(F::Channels).when(since(Features::SINCE_3_2)), SURFACE, raw(F::U, T::UD),
            raw(F::V, T::UD), raw(F::R, T::UD),
            raw(F::Lod, T::UD).when(since(Features::SINCE_3_2)), raw_to(F::Dst, DATA32),
        ];

    /// Stores up to four channels of a typed surface for each lane.
    SCATTER4_TYPED = plain(0x4c) ["scatter4_typed"]
        .traits(Traits::IMAGES_ONLY)
        .memory(Memory::image(Action::Store, DataLayout::Texels, Count::Channels(F::Channels))) .text(TYPED_CHANNELS) .spec(NO_SAT, NO_MODS, ALL)
        .note("Before 3.2 the channel byte comes first, there is no pred and no lod, and the exec size code must be 0 (meaning 8 lanes).")
        => &[
            u8(F::ChannelsInv).when(before(Features::SINCE_3_2)), EXEC,
            PRED.when(since(Features::SINCE_3_2)),
            u8(F::Channels).when(since(Features::SINCE_3_2)), SURFACE, raw(F::U, T::UD),
            raw(F::V, T::UD), raw(F::R, T::UD),
            raw(F::Lod, T::UD).when(since(Features::SINCE_3_2)), raw(F::Src, DATA32),
        ];

    /// Atomic operation on a typed surface.
    TYPED_ATOMIC_3D = plain(0x73) ["typed_atomic"]
        .memory(Memory::image(Action::AtomicCode, DataLayout::Texels, Count::One).element(ElementSize::AtomicCode)) .text(ATOMIC) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Op).named(&enums::ATOMIC_OP).note("bits 0-4 atomic code; bit 5 = 16-bit data, bit 6 = 64-bit data"),
            EXEC, PRED, SURFACE, raw(F::U, ANY), raw(F::V, ANY), raw(F::R, ANY), raw(F::Lod, ANY),
            raw(F::Src0, ANY), raw(F::Src1, ANY), raw_to(F::Dst, ANY),
        ];

    /// Loads up to four consecutive dwords for each lane at byte offsets.
    GATHER4_SCALED = plain(0x74) ["gather4_scaled"]
        .memory(Memory::surface(Action::Load, ElementSize::Bytes(4), Count::Channels(F::Channels)).layout(DataLayout::Channels)) .text(CHANNELS) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED, u8(F::Channels), u16(F::Scale), SURFACE,
            scalar(F::GlobalOffset, T::UD).note("bytes"), raw(F::ElementOffset, T::UD),
            raw_to(F::Dst, DATA32),
        ];

    /// Stores up to four consecutive dwords for each lane at byte offsets.
    SCATTER4_SCALED = plain(0x75) ["scatter4_scaled"]
        .memory(Memory::surface(Action::Store, ElementSize::Bytes(4), Count::Channels(F::Channels)).layout(DataLayout::Channels)) .text(CHANNELS) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED, u8(F::Channels), u16(F::Scale), SURFACE,
            scalar(F::GlobalOffset, T::UD).note("bytes"), raw(F::ElementOffset, T::UD),
            raw(F::Src, DATA32),
        ];

    /// Loads from a structured buffer.
    STRBUF_LOAD = plain(0x76) ["strbuf_load"]
        .unsupported("it needs surfaces that are structured buffers, with a stride")
        .memory(Memory::surface(Action::Load, ElementSize::Bytes(4), Count::Channels(F::Channels)).layout(DataLayout::Channels)) .text(CHANNELS) .retired(before(Features::SINCE_3_7))
        .note("Removed in 2018 (commit 2c4ae2c6a).")
        => &[
            EXEC, PRED, u8(F::Channels), SURFACE, raw(F::U, ANY), raw(F::V, ANY),
            raw_to(F::Dst, ANY),
        ];

    /// Stores to a structured buffer.
    STRBUF_STORE = plain(0x77) ["strbuf_store"]
        .unsupported("it needs surfaces that are structured buffers, with a stride")
        .memory(Memory::surface(Action::Store, ElementSize::Bytes(4), Count::Channels(F::Channels)).layout(DataLayout::Channels)) .text(CHANNELS) .retired(before(Features::SINCE_3_7))
        .note("Removed in 2018 (commit 2c4ae2c6a).")
        => &[
            EXEC, PRED, u8(F::Channels), SURFACE, raw(F::U, ANY), raw(F::V, ANY),
            raw(F::Src, ANY),
        ];

    /// Loads blocks of bytes for each lane at byte offsets.
    GATHER_SCALED = plain(0x78) ["gather_scaled"]
        .memory(Memory::surface(Action::Load, ElementSize::BlockSize, Count::Power(F::NumBlocks, 3))) .text(BLOCKS) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED,
            u8(F::BlockSize).named(&enums::BLOCK_SIZE).note("must be zero (byte blocks)"),
            u8(F::NumBlocks).named(&enums::BLOCK_COUNT), u16(F::Scale), SURFACE,
            scalar(F::GlobalOffset, T::UD), raw(F::ElementOffset, T::UD), raw_to(F::Dst, DATA32),
        ];

    /// Stores blocks of bytes for each lane at byte offsets.
    SCATTER_SCALED = plain(0x79) ["scatter_scaled"]
        .memory(Memory::surface(Action::Store, ElementSize::BlockSize, Count::Power(F::NumBlocks, 3))) .text(BLOCKS) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED,
            u8(F::BlockSize).named(&enums::BLOCK_SIZE).note("must be zero (byte blocks)"),
            u8(F::NumBlocks).named(&enums::BLOCK_COUNT), u16(F::Scale), SURFACE,
            scalar(F::GlobalOffset, T::UD), raw(F::ElementOffset, T::UD), raw(F::Src, DATA32),
        ];

    /// Atomic operation on one element for each lane.
    DWORD_ATOMIC = plain(0x7d) ["dword_atomic"]
        .memory(Memory::surface(Action::AtomicCode, ElementSize::AtomicCode, Count::One)) .text(ATOMIC) .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Op).named(&enums::ATOMIC_OP).note("bits 0-4 atomic code; bit 5 = 16-bit data, bit 6 = 64-bit data"),
            EXEC, PRED, SURFACE, raw(F::ElementOffset, T::UD), raw(F::Src0, ANY),
            raw(F::Src1, ANY), raw_to(F::Dst, ANY),
        ];

    // Sources name XEHP_SDV for this pair, but compilers write it for SKL, too, and Intel's verifier lets it pass.
    /// Loads qwords for each lane.
    QW_GATHER = plain(0x86) ["qw_gather"]
        .memory(Memory::surface(Action::Load, ElementSize::Bytes(8), Count::Power(F::NumBlocks, 3))) .text(BLOCKS) .spec(NO_SAT, NO_MODS, NONE)
        .since("2021-06")
        => &[
            EXEC, PRED, u8(F::NumBlocks).named(&enums::BLOCK_COUNT), SURFACE,
            raw(F::ElementOffset, T::UD), raw_to(F::Dst, DATA64),
        ];

    /// Stores qwords for each lane.
    QW_SCATTER = plain(0x87) ["qw_scatter"]
        .memory(Memory::surface(Action::Store, ElementSize::Bytes(8), Count::Power(F::NumBlocks, 3))) .text(BLOCKS) .spec(NO_SAT, NO_MODS, NONE)
        .since("2021-06")
        => &[
            EXEC, PRED, u8(F::NumBlocks).named(&enums::BLOCK_COUNT), SURFACE,
            raw(F::ElementOffset, T::UD), raw(F::Src, DATA64),
        ];
        }
    };
}
__dataport_rows! { [instructions] }
