//! Data-port messages.

use super::field::short::*;
use super::{Group, instructions};

const GROUP: Group = Group::DataPort;

instructions! {
    /// Loads consecutive OWords at an OWord offset.
    OWORD_LD = plain(0x35) ["oword_ld"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Size).named(&enums::OWORD_COUNT), u8(F::IsModified), SURFACE,
            scalar(F::Offset, T::UD), raw_to(F::Dst, ANY),
        ];

    /// Stores consecutive OWords at an OWord offset.
    OWORD_ST = plain(0x36) ["oword_st"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Size).named(&enums::OWORD_COUNT), SURFACE, scalar(F::Offset, T::UD),
            raw(F::Src, ANY),
        ];

    /// Loads a rectangle of a 2D surface.
    MEDIA_LD = plain(0x37) ["media_ld"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Modifier).named(&enums::MEDIA_LD_MODIFIER), SURFACE,
            u8(F::Plane).named(&enums::PLANE), u8(F::BlockWidth).note("bytes 1..64"),
            u8(F::BlockHeight).note("rows 1..64"), scalar(F::XOffset, T::UD),
            scalar(F::YOffset, T::UD), raw_to(F::Dst, ANY),
        ];

    /// Stores a rectangle of a 2D surface.
    MEDIA_ST = plain(0x38) ["media_st"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Modifier).named(&enums::MEDIA_ST_MODIFIER), SURFACE,
            u8(F::Plane).named(&enums::PLANE), u8(F::BlockWidth).note("bytes"),
            u8(F::BlockHeight), scalar(F::XOffset, T::UD), scalar(F::YOffset, T::UD),
            raw(F::Src, ANY),
        ];

    /// Loads one element for each lane.
    GATHER = plain(0x39) ["gather"] .spec(NO_SAT, NO_MODS, NONE)
        => &[
            u8(F::EltSize).named(&enums::ELEMENT_SIZE), u8(F::IsModified), NUM_ELTS, SURFACE,
            scalar(F::GlobalOffset, T::UD).note("in elements"), raw(F::ElementOffset, T::UD),
            raw_to(F::Dst, DATA32),
        ];

    /// Stores one element for each lane.
    SCATTER = plain(0x3a) ["scatter"] .spec(NO_SAT, NO_MODS, NONE)
        => &[
            u8(F::EltSize).named(&enums::ELEMENT_SIZE), NUM_ELTS, SURFACE,
            scalar(F::GlobalOffset, T::UD).note("in elements"), raw(F::ElementOffset, T::UD),
            raw(F::Src, DATA32),
        ];

    /// Atomic operation on one dword for each lane.
    UNTYPED_ATOMIC = plain(0x3b) ["untyped_atomic"] .retired(before(Features::SINCE_3_7))
        .note("Removed from the public sources in 2019-03 (commit 89e1dea97) without a version change; the number is reserved since.")
        => &[
            u8(F::Op).named(&enums::ATOMIC_OP), NUM_ELTS, SURFACE,
            scalar(F::GlobalOffset, T::UD).note("dwords"), raw(F::ElementOffset, ANY),
            raw(F::Src0, ANY), raw(F::Src1, ANY), raw_to(F::Dst, ANY),
        ];

    /// Loads consecutive OWords at a byte offset.
    OWORD_LD_UNALIGNED = plain(0x3c) ["oword_ld_unaligned"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Size).named(&enums::OWORD_COUNT), u8(F::IsModified), SURFACE,
            scalar(F::Offset, T::UD).note("byte offset, dword aligned (oword_ld/oword_st use OWord units)"),
            raw_to(F::Dst, ANY),
        ];

    /// Loads up to four consecutive dwords for each lane.
    GATHER4 = plain(0x3d) ["gather4"] .retired(before(Features::SINCE_3_7))
        .note("Removed from the public sources in 2019-03 (commit 89e1dea97) without a version change; the number is reserved since.")
        => &[
            u8(F::Channels), u8(F::IsModified), NUM_ELTS, SURFACE,
            scalar(F::GlobalOffset, T::UD).note("dwords"), raw(F::ElementOffset, ANY),
            raw_to(F::Dst, ANY),
        ];

    /// Stores up to four consecutive dwords for each lane.
    SCATTER4 = plain(0x3e) ["scatter4"] .retired(before(Features::SINCE_3_7))
        .note("Removed from the public sources in 2019-03 (commit 89e1dea97) without a version change; the number is reserved since. Seen in real 3.2 objects.")
        => &[
            u8(F::Channels), NUM_ELTS, SURFACE, scalar(F::GlobalOffset, T::UD).note("dwords"),
            raw(F::ElementOffset, ANY), raw(F::Src, ANY),
        ];

    /// Loads a rectangle with rows and columns swapped.
    TRANSPOSE_LD = plain(0x3f) ["transpose_ld"] .retired(before(Features::SINCE_3_7))
        .note("Removed from the public sources in 2019-03 (commit 89e1dea97) without a version change; the number is reserved since.")
        => &[
            SURFACE, u8(F::BlockWidth), u8(F::BlockHeight), scalar(F::XOffset, T::UD),
            scalar(F::YOffset, T::UD), raw_to(F::Dst, ANY),
        ];

    /// Loads up to four channels of a typed surface for each lane.
    GATHER4_TYPED = plain(0x4b) ["gather4_typed"] .spec(NO_SAT, NO_MODS, ALL)
        .note("Before 3.2 the channel byte comes first, there is no pred and no lod, and the exec size code must be 0 (meaning 8 lanes).")
        => &[
            u8(F::ChannelsInv).when(before(Features::SINCE_3_2)), EXEC,
            PRED.when(since(Features::SINCE_3_2)),
            u8(F::Channels).when(since(Features::SINCE_3_2)), SURFACE, raw(F::U, T::UD),
            raw(F::V, T::UD), raw(F::R, T::UD),
            raw(F::Lod, T::UD).when(since(Features::SINCE_3_2)), raw_to(F::Dst, DATA32),
        ];

    /// Stores up to four channels of a typed surface for each lane.
    SCATTER4_TYPED = plain(0x4c) ["scatter4_typed"] .spec(NO_SAT, NO_MODS, ALL)
        .note("Before 3.2 the channel byte comes first, there is no pred and no lod, and the exec size code must be 0 (meaning 8 lanes).")
        => &[
            u8(F::ChannelsInv).when(before(Features::SINCE_3_2)), EXEC,
            PRED.when(since(Features::SINCE_3_2)),
            u8(F::Channels).when(since(Features::SINCE_3_2)), SURFACE, raw(F::U, T::UD),
            raw(F::V, T::UD), raw(F::R, T::UD),
            raw(F::Lod, T::UD).when(since(Features::SINCE_3_2)), raw(F::Src, DATA32),
        ];

    /// Atomic operation on a typed surface.
    TYPED_ATOMIC_3D = plain(0x73) ["typed_atomic"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Op).named(&enums::ATOMIC_OP).note("bits 0-4 atomic code; bit 5 = 16-bit data, bit 6 = 64-bit data"),
            EXEC, PRED, SURFACE, raw(F::U, ANY), raw(F::V, ANY), raw(F::R, ANY), raw(F::Lod, ANY),
            raw(F::Src0, ANY), raw(F::Src1, ANY), raw_to(F::Dst, ANY),
        ];

    /// Loads up to four consecutive dwords for each lane at byte offsets.
    GATHER4_SCALED = plain(0x74) ["gather4_scaled"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED, u8(F::Channels), u16(F::Scale), SURFACE,
            scalar(F::GlobalOffset, T::UD).note("bytes"), raw(F::ElementOffset, T::UD),
            raw_to(F::Dst, DATA32),
        ];

    /// Stores up to four consecutive dwords for each lane at byte offsets.
    SCATTER4_SCALED = plain(0x75) ["scatter4_scaled"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED, u8(F::Channels), u16(F::Scale), SURFACE,
            scalar(F::GlobalOffset, T::UD).note("bytes"), raw(F::ElementOffset, T::UD),
            raw(F::Src, DATA32),
        ];

    /// Loads from a structured buffer.
    STRBUF_LOAD = plain(0x76) ["strbuf_load"] .retired(before(Features::SINCE_3_7))
        .note("Removed in 2018 (commit 2c4ae2c6a).")
        => &[
            EXEC, PRED, u8(F::Channels), SURFACE, raw(F::U, ANY), raw(F::V, ANY),
            raw_to(F::Dst, ANY),
        ];

    /// Stores to a structured buffer.
    STRBUF_STORE = plain(0x77) ["strbuf_store"] .retired(before(Features::SINCE_3_7))
        .note("Removed in 2018 (commit 2c4ae2c6a).")
        => &[
            EXEC, PRED, u8(F::Channels), SURFACE, raw(F::U, ANY), raw(F::V, ANY),
            raw(F::Src, ANY),
        ];

    /// Loads blocks of bytes for each lane at byte offsets.
    GATHER_SCALED = plain(0x78) ["gather_scaled"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED,
            u8(F::BlockSize).named(&enums::BLOCK_SIZE).note("must be zero (byte blocks)"),
            u8(F::NumBlocks).named(&enums::BLOCK_COUNT), u16(F::Scale), SURFACE,
            scalar(F::GlobalOffset, T::UD), raw(F::ElementOffset, T::UD), raw_to(F::Dst, DATA32),
        ];

    /// Stores blocks of bytes for each lane at byte offsets.
    SCATTER_SCALED = plain(0x79) ["scatter_scaled"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            EXEC, PRED,
            u8(F::BlockSize).named(&enums::BLOCK_SIZE).note("must be zero (byte blocks)"),
            u8(F::NumBlocks).named(&enums::BLOCK_COUNT), u16(F::Scale), SURFACE,
            scalar(F::GlobalOffset, T::UD), raw(F::ElementOffset, T::UD), raw(F::Src, DATA32),
        ];

    /// Atomic operation on one element for each lane.
    DWORD_ATOMIC = plain(0x7d) ["dword_atomic"] .spec(NO_SAT, NO_MODS, ALL)
        => &[
            u8(F::Op).named(&enums::ATOMIC_OP).note("bits 0-4 atomic code; bit 5 = 16-bit data, bit 6 = 64-bit data"),
            EXEC, PRED, SURFACE, raw(F::ElementOffset, T::UD), raw(F::Src0, ANY),
            raw(F::Src1, ANY), raw_to(F::Dst, ANY),
        ];

    /// Loads qwords for each lane.
    QW_GATHER = plain(0x86) ["qw_gather"] .spec(NO_SAT, NO_MODS, NONE)
        .since_platform(Platforms::XEHP_SDV).since("2021-06")
        => &[
            EXEC, PRED, u8(F::NumBlocks).named(&enums::BLOCK_COUNT), SURFACE,
            raw(F::ElementOffset, T::UD), raw_to(F::Dst, DATA64),
        ];

    /// Stores qwords for each lane.
    QW_SCATTER = plain(0x87) ["qw_scatter"] .spec(NO_SAT, NO_MODS, NONE)
        .since_platform(Platforms::XEHP_SDV).since("2021-06")
        => &[
            EXEC, PRED, u8(F::NumBlocks).named(&enums::BLOCK_COUNT), SURFACE,
            raw(F::ElementOffset, T::UD), raw(F::Src, DATA64),
        ];
}
