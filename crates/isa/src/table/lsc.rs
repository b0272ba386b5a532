//! Load/store cache messages.

use super::field::short::*;
use super::lsc_text as text;
use super::{Group, instructions};

const GROUP: Group = Group::Lsc;

pub(super) const fn atomic(op: AtomicOp) -> Memory {
    Memory::lsc(Action::Atomic(op))
}

const fn texel_atomic(op: AtomicOp) -> Memory {
    Memory::lsc_image(Action::Atomic(op))
}

const fn texel_channels(action: Action) -> Memory {
    Memory::lsc_image(action).count(Count::Channels(F::ChMask))
}

const SFID: FieldDef = u8(F::Sfid).named(&enums::LSC_SFID);
const CACHE_L1: FieldDef = u8(F::CacheL1).named(&enums::LSC_CACHING);
const CACHE_L2: FieldDef = u8(F::CacheL2)
    .named(&enums::LSC_CACHING)
    .when(since(Features::SINCE_4_2));
const CACHE_L3: FieldDef = u8(F::CacheL3).named(&enums::LSC_CACHING);
const OVERFETCH: FieldDef = u8(F::Overfetch).when(since(Features::SINCE_4_2));
const MULTI_SAMPLED: FieldDef = u8(F::MultiSampled).when(since(Features::SINCE_4_2));
const CACHE_OP: FieldDef = u8(F::CacheOp)
    .named(&enums::LSC_CACHE_OP)
    .when(since(Features::SINCE_4_2));
const CACHE_SIZE: FieldDef = u8(F::CacheSize)
    .named(&enums::LSC_CACHE_SIZE)
    .when(since(Features::SINCE_4_2));
/// Immediate offsets of a block, including the one in its address payload.
const BLOCK_X: FieldDef = i32(F::UOffset).when(since(Features::SINCE_4_2));
const BLOCK_Y: FieldDef = i32(F::VOffset).when(since(Features::SINCE_4_2));
const ADDR_TYPE: FieldDef = u8(F::AddrType).named(&enums::LSC_ADDR_TYPE);
const ADDR_SIZE: FieldDef = u8(F::AddrSize).named(&enums::LSC_ADDR_SIZE);
const DATA_SIZE: FieldDef = u8(F::DataSize).named(&enums::LSC_DATA_SIZE);
const DATA_ORDER: FieldDef = u8(F::DataOrder).named(&enums::LSC_DATA_ORDER);
const DATA_ELEMS: FieldDef = u8(F::DataElems).named(&enums::LSC_DATA_ELEMS);
const CH_MASK: FieldDef = u8(F::ChMask).note(
    "bits 0-3 channels X to W; a copy of the element count in other than quad operations, 0 in strided ones",
);
const BASE: FieldDef = src(F::Surface, GM.union(A).union(S), T::UD.union(T::UQ))
    .note("surface base; immediate 0 for flat; immediate or general for bti/ss/bss");
const SURFACE_INDEX: FieldDef = u32(F::SurfaceIndex).when(since(Features::LSC_SURFACE_INDEX));
const U_OFFSET: FieldDef = i32(F::UOffset).when(since(Features::LSC_SURFACE_INDEX));
const V_OFFSET: FieldDef = i32(F::VOffset).when(since(Features::LSC_SURFACE_INDEX));
const R_OFFSET: FieldDef = i32(F::ROffset).when(since(Features::LSC_SURFACE_INDEX));

/// The fields of an access to the address of each lane, including those that only some have.
macro_rules! untyped {
    ($($more:expr),*) => {
        &[
            EXEC,
            PRED,
            SFID,
            CACHE_L1,
            CACHE_L2,
            CACHE_L3,
            $($more,)*
            ADDR_TYPE,
            u16(F::AddrScale),
            i32(F::AddrOffset),
            ADDR_SIZE,
            DATA_SIZE,
            DATA_ORDER,
            DATA_ELEMS,
            CH_MASK,
            BASE,
            SURFACE_INDEX,
            raw_to(F::Dst, ANY),
            raw(F::Src0Addrs, ANY),
            raw(F::Src1Data, ANY),
            raw(F::Src2Data, ANY),
        ]
    };
}

pub(super) const UNTYPED: &[FieldDef] = untyped!();
const UNTYPED_LOAD: &[FieldDef] = untyped!(OVERFETCH);
const CACHE_CONTROL: &[FieldDef] = untyped!(CACHE_OP, CACHE_SIZE);

const UNTYPED_STRIDED: &[FieldDef] = &[
    EXEC,
    PRED,
    SFID,
    CACHE_L1,
    CACHE_L2,
    CACHE_L3,
    ADDR_TYPE,
    u16(F::AddrScale),
    i32(F::AddrOffset),
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK,
    BASE,
    SURFACE_INDEX,
    raw_to(F::Dst, ANY),
    raw(F::Src0AddrBase, ANY),
    src(F::Src0AddrPitch, GM, ANY),
    raw(F::Src1Data, ANY),
];

const UNTYPED_BLOCK2D: &[FieldDef] = &[
    EXEC,
    PRED,
    SFID,
    CACHE_L1,
    CACHE_L2,
    CACHE_L3,
    DATA_SIZE,
    DATA_ORDER,
    u8(F::Blocks),
    u16(F::BlockWidth).note("elements"),
    u16(F::BlockHeight),
    u8(F::Vnni),
    raw_to(F::Dst, ANY),
    src(F::SurfaceBase, GM, ANY),
    src(F::SurfaceWidth, GM, ANY),
    src(F::SurfaceHeight, GM, ANY),
    src(F::SurfacePitch, GM, ANY),
    src(F::X, GM, ANY),
    BLOCK_X,
    src(F::Y, GM, ANY),
    BLOCK_Y,
    raw(F::Src1Data, ANY),
];

const UNTYPED_COUNTER: &[FieldDef] = &[
    EXEC,
    PRED,
    SFID,
    CACHE_L1,
    CACHE_L2,
    CACHE_L3,
    ADDR_TYPE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK,
    BASE,
    SURFACE_INDEX,
    raw_to(F::Dst, ANY),
    raw(F::Src0Data, ANY),
];

/// The fields of an access to the texel of each lane, including those that only some have.
macro_rules! typed {
    ($($more:expr),*) => {
        &[
            EXEC,
            PRED,
            CACHE_L1,
            CACHE_L2,
            CACHE_L3,
            $($more,)*
            ADDR_TYPE,
            ADDR_SIZE,
            DATA_SIZE,
            DATA_ORDER,
            DATA_ELEMS,
            CH_MASK,
            BASE,
            SURFACE_INDEX,
            raw_to(F::Dst, ANY),
            raw(F::Src0U, ANY),
            U_OFFSET,
            raw(F::Src0V, ANY),
            V_OFFSET,
            raw(F::Src0R, ANY),
            R_OFFSET,
            raw(F::Src0Lod, ANY),
            raw(F::Src1Data, ANY),
            raw(F::Src2Data, ANY),
        ]
    };
}

const TYPED: &[FieldDef] = typed!();
const TYPED_ATOMIC: &[FieldDef] = typed!(MULTI_SAMPLED);

const TYPED_BLOCK2D: &[FieldDef] = &[
    EXEC,
    PRED,
    CACHE_L1,
    CACHE_L2,
    CACHE_L3,
    ADDR_TYPE,
    u16(F::BlockWidth).note("bytes"),
    u16(F::BlockHeight),
    BASE,
    SURFACE_INDEX,
    raw_to(F::Dst, ANY),
    src(F::X, GM, ANY),
    BLOCK_X,
    src(F::Y, GM, ANY),
    BLOCK_Y,
    raw(F::Src1Data, ANY),
];

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __lsc_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Loads elements from the address of each lane.
    LSC_LOAD = sub(0x89, 0x00) ["lsc_load"] .memory(Memory::lsc(Action::Load)) .text(text::LOAD) .lsc() => UNTYPED_LOAD;

    /// Loads elements at a constant distance.
    LSC_LOAD_STRIDED = sub(0x89, 0x01) ["lsc_load_strided"] .memory(Memory::lsc(Action::Load).layout(DataLayout::Strided)) .text(text::LOAD_STRIDED) .lsc() => UNTYPED_STRIDED;

    /// Loads the enabled channels from the address of each lane.
    LSC_LOAD_QUAD = sub(0x89, 0x02) ["lsc_load_quad"] .memory(Memory::lsc(Action::Load).layout(DataLayout::Channels).count(Count::Channels(F::ChMask))) .text(text::LOAD_QUAD) .lsc() => UNTYPED_LOAD;

    /// Loads rectangles of a 2D surface.
    LSC_LOAD_BLOCK2D = sub(0x89, 0x03) ["lsc_load_block2d"] .memory(Memory::lsc(Action::Load).layout(DataLayout::Rectangle).count(Count::Rectangle).address(AddressWidth::Bits(64))) .text(text::LOAD_BLOCK) .lsc()
        .note("Writers from 2023-04-28 (commit c51e87ea4) to 2023-09-25 add an i32 after x, then y, and drop everything after it while declaring the full size: such objects are malformed and no reader accepts them.")
        => UNTYPED_BLOCK2D;

    /// Stores elements to the address of each lane.
    LSC_STORE = sub(0x89, 0x04) ["lsc_store"] .memory(Memory::lsc(Action::Store)) .text(text::STORE) .lsc() => UNTYPED;

    /// Stores elements at a constant distance.
    LSC_STORE_STRIDED = sub(0x89, 0x05) ["lsc_store_strided"] .memory(Memory::lsc(Action::Store).layout(DataLayout::Strided)) .text(text::STORE_STRIDED) .lsc() => UNTYPED_STRIDED;

    /// Stores the enabled channels to the address of each lane.
    LSC_STORE_QUAD = sub(0x89, 0x06) ["lsc_store_quad"] .memory(Memory::lsc(Action::Store).layout(DataLayout::Channels).count(Count::Channels(F::ChMask))) .text(text::STORE_QUAD) .lsc() => UNTYPED;

    /// Stores a rectangle of a 2D surface.
    LSC_STORE_BLOCK2D = sub(0x89, 0x07) ["lsc_store_block2d"] .memory(Memory::lsc(Action::Store).layout(DataLayout::Rectangle).count(Count::Rectangle).address(AddressWidth::Bits(64))) .text(text::STORE_BLOCK) .lsc()
        .note("Writers from 2023-04-28 (commit c51e87ea4) to 2023-09-25 add an i32 after x, then y, and drop everything after it while declaring the full size: such objects are malformed and no reader accepts them.")
        => UNTYPED_BLOCK2D;

    /// Atomic increment.
    LSC_ATOMIC_IINC = sub(0x89, 0x08) ["lsc_atomic_iinc"] .memory(atomic(AtomicOp::Increment)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic decrement.
    LSC_ATOMIC_IDEC = sub(0x89, 0x09) ["lsc_atomic_idec"] .memory(atomic(AtomicOp::Decrement)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic load.
    LSC_ATOMIC_LOAD = sub(0x89, 0x0a) ["lsc_atomic_load"] .memory(atomic(AtomicOp::Load)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic store.
    LSC_ATOMIC_STORE = sub(0x89, 0x0b) ["lsc_atomic_store"] .memory(atomic(AtomicOp::Store)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic integer addition.
    LSC_ATOMIC_IADD = sub(0x89, 0x0c) ["lsc_atomic_iadd"] .memory(atomic(AtomicOp::Add)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic integer subtraction.
    LSC_ATOMIC_ISUB = sub(0x89, 0x0d) ["lsc_atomic_isub"] .memory(atomic(AtomicOp::Sub)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic signed minimum.
    LSC_ATOMIC_SMIN = sub(0x89, 0x0e) ["lsc_atomic_smin"] .memory(atomic(AtomicOp::SignedMin)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic signed maximum.
    LSC_ATOMIC_SMAX = sub(0x89, 0x0f) ["lsc_atomic_smax"] .memory(atomic(AtomicOp::SignedMax)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic unsigned minimum.
    LSC_ATOMIC_UMIN = sub(0x89, 0x10) ["lsc_atomic_umin"] .memory(atomic(AtomicOp::UnsignedMin)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic unsigned maximum.
    LSC_ATOMIC_UMAX = sub(0x89, 0x11) ["lsc_atomic_umax"] .memory(atomic(AtomicOp::UnsignedMax)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic integer compare and swap.
    LSC_ATOMIC_ICAS = sub(0x89, 0x12) ["lsc_atomic_icas"] .memory(atomic(AtomicOp::CompareExchange)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic float addition.
    LSC_ATOMIC_FADD = sub(0x89, 0x13) ["lsc_atomic_fadd"] .memory(atomic(AtomicOp::FloatAdd)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic float subtraction.
    LSC_ATOMIC_FSUB = sub(0x89, 0x14) ["lsc_atomic_fsub"] .memory(atomic(AtomicOp::FloatSub)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic float minimum.
    LSC_ATOMIC_FMIN = sub(0x89, 0x15) ["lsc_atomic_fmin"] .memory(atomic(AtomicOp::FloatMin)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic float maximum.
    LSC_ATOMIC_FMAX = sub(0x89, 0x16) ["lsc_atomic_fmax"] .memory(atomic(AtomicOp::FloatMax)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic float compare and swap.
    LSC_ATOMIC_FCAS = sub(0x89, 0x17) ["lsc_atomic_fcas"] .memory(atomic(AtomicOp::FloatCompareExchange)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic and.
    LSC_ATOMIC_AND = sub(0x89, 0x18) ["lsc_atomic_and"] .memory(atomic(AtomicOp::And)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic or.
    LSC_ATOMIC_OR = sub(0x89, 0x19) ["lsc_atomic_or"] .memory(atomic(AtomicOp::Or)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Atomic exclusive or.
    LSC_ATOMIC_XOR = sub(0x89, 0x1a) ["lsc_atomic_xor"] .memory(atomic(AtomicOp::Xor)) .text(text::ATOMIC) .lsc() => UNTYPED;

    /// Loads, and gives for each lane whether the page is resident.
    LSC_LOAD_STATUS = sub(0x89, 0x1b) ["lsc_load_status"] .memory(Memory::lsc(Action::Status)) .text(text::LOAD) .lsc() => UNTYPED_LOAD;

    /// Stores without compression.
    LSC_STORE_UNCOMPRESSED = sub(0x89, 0x1c) ["lsc_store_uncompressed"] .memory(Memory::lsc(Action::Store)) .text(text::STORE) .lsc() => UNTYPED;

    /// Updates the compression state.
    LSC_CCS_UPDATE = sub(0x89, 0x1d) ["lsc_ccs_update"] .memory(Memory::lsc(Action::Compression)) .text(text::STORE) .lsc() => UNTYPED;

    /// Atomic brain-float addition.
    LSC_ATOMIC_BFADD = sub(0x89, 0x21) ["lsc_atomic_bfadd"] .memory(atomic(AtomicOp::BrainAdd)) .text(text::ATOMIC) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        => UNTYPED;

    /// Atomic brain-float subtraction.
    LSC_ATOMIC_BFSUB = sub(0x89, 0x22) ["lsc_atomic_bfsub"] .memory(atomic(AtomicOp::BrainSub)) .text(text::ATOMIC) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        => UNTYPED;

    /// Atomic brain-float minimum.
    LSC_ATOMIC_BFMIN = sub(0x89, 0x23) ["lsc_atomic_bfmin"] .memory(atomic(AtomicOp::BrainMin)) .text(text::ATOMIC) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        => UNTYPED;

    /// Atomic brain-float maximum.
    LSC_ATOMIC_BFMAX = sub(0x89, 0x24) ["lsc_atomic_bfmax"] .memory(atomic(AtomicOp::BrainMax)) .text(text::ATOMIC) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        => UNTYPED;

    /// Atomic brain-float compare and swap.
    LSC_ATOMIC_BFCAS = sub(0x89, 0x25) ["lsc_atomic_bfcas"] .memory(atomic(AtomicOp::BrainCompareExchange)) .text(text::ATOMIC) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        => UNTYPED;

    /// Adds to the append counter of a surface.
    LSC_APNDCTR_ATOMIC_ADD = sub(0x89, 0x28) ["lsc_apndctr_atomic_add"] .memory(atomic(AtomicOp::Add).layout(DataLayout::Counter).address(AddressWidth::Nothing)) .text(text::COUNTER) .spec(NO_SAT, NO_MODS, NONE).since_platform(Platform::Dg2)
        .since("2023-11")
        .note("Defined after the last public binary writer: layout known only from the reader and the written spec.")
        => UNTYPED_COUNTER;

    /// Subtracts from the append counter of a surface.
    LSC_APNDCTR_ATOMIC_SUB = sub(0x89, 0x29) ["lsc_apndctr_atomic_sub"] .memory(atomic(AtomicOp::Sub).layout(DataLayout::Counter).address(AddressWidth::Nothing)) .text(text::COUNTER) .spec(NO_SAT, NO_MODS, NONE).since_platform(Platform::Dg2)
        .since("2023-11")
        .note("Defined after the last public binary writer: layout known only from the reader and the written spec.")
        => UNTYPED_COUNTER;

    /// Sets the append counter of a surface.
    LSC_APNDCTR_ATOMIC_STORE = sub(0x89, 0x2a) ["lsc_apndctr_atomic_store"]
        .unsupported("what it gives and takes is not publicly defined")
        .memory(atomic(AtomicOp::Store).layout(DataLayout::Counter).address(AddressWidth::Nothing)) .syntax(Syntax::of(text::ATOMIC).or(&[text::COUNTER_STORE])) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        => UNTYPED;

    /// Controls caches.
    LSC_EXTENDED_CACHE_CTRL = sub(0x89, 0x33) ["lsc_extended_cache_ctrl"] .memory(Memory::lsc(Action::CacheControl)) .text(text::CACHE_CONTROL) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        => CACHE_CONTROL;

    /// Loads channels, and gives for each lane whether the page is resident.
    LSC_LOAD_QUAD_STATUS = sub(0x89, 0x36) ["lsc_load_quad_status"]
        .unsupported("what it gives and takes is not publicly defined")
        .memory(Memory::lsc(Action::Status).layout(DataLayout::Channels).count(Count::Channels(F::ChMask))) .text(text::LOAD_QUAD) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        => UNTYPED_LOAD;

    /// Loads the enabled channels from the coordinates of each lane.
    LSC_TYPED_LOAD_QUAD = sub(0x8a, 0x02) ["lsc_load_quad.tgm"] .memory(texel_channels(Action::Load)) .text(text::TYPED_LOAD_QUAD) .lsc() => TYPED;

    /// Loads rectangles of a 2D surface.
    LSC_TYPED_LOAD_BLOCK2D = sub(0x8a, 0x03) ["lsc_load_block2d.tgm"] .memory(Memory::lsc_image(Action::Load).layout(DataLayout::Rectangle).count(Count::Rectangle).element(ElementSize::Bytes(1)).address(AddressWidth::Bits(32))) .syntax(Syntax::of(text::TYPED_LOAD_BLOCK).or(&[text::TYPED_LOAD_BLOCK_BARE])) .lsc()
        .note("Reader since 2023-12; no public writer ever emitted it. The reader consumes neither immediate X/Y offset although the IGC 2.x descriptor lists both.")
        => TYPED_BLOCK2D;

    /// Stores the enabled channels to the coordinates of each lane.
    LSC_TYPED_STORE_QUAD = sub(0x8a, 0x06) ["lsc_store_quad.tgm"] .memory(texel_channels(Action::Store)) .text(text::TYPED_STORE_QUAD) .lsc() => TYPED;

    /// Stores a rectangle of a 2D surface.
    LSC_TYPED_STORE_BLOCK2D = sub(0x8a, 0x07) ["lsc_store_block2d.tgm"] .memory(Memory::lsc_image(Action::Store).layout(DataLayout::Rectangle).count(Count::Rectangle).element(ElementSize::Bytes(1)).address(AddressWidth::Bits(32))) .syntax(Syntax::of(text::TYPED_STORE_BLOCK).or(&[text::TYPED_STORE_BLOCK_BARE])) .lsc()
        .note("Reader since 2023-12; no public writer ever emitted it. The reader consumes neither immediate X/Y offset although the IGC 2.x descriptor lists both.")
        => TYPED_BLOCK2D;

    /// Atomic increment.
    LSC_TYPED_ATOMIC_IINC = sub(0x8a, 0x08) ["lsc_atomic_iinc.tgm"] .memory(texel_atomic(AtomicOp::Increment)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic decrement.
    LSC_TYPED_ATOMIC_IDEC = sub(0x8a, 0x09) ["lsc_atomic_idec.tgm"] .memory(texel_atomic(AtomicOp::Decrement)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic load.
    LSC_TYPED_ATOMIC_LOAD = sub(0x8a, 0x0a) ["lsc_atomic_load.tgm"] .memory(texel_atomic(AtomicOp::Load)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic store.
    LSC_TYPED_ATOMIC_STORE = sub(0x8a, 0x0b) ["lsc_atomic_store.tgm"] .memory(texel_atomic(AtomicOp::Store)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic integer addition.
    LSC_TYPED_ATOMIC_IADD = sub(0x8a, 0x0c) ["lsc_atomic_iadd.tgm"] .memory(texel_atomic(AtomicOp::Add)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic integer subtraction.
    LSC_TYPED_ATOMIC_ISUB = sub(0x8a, 0x0d) ["lsc_atomic_isub.tgm"] .memory(texel_atomic(AtomicOp::Sub)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic signed minimum.
    LSC_TYPED_ATOMIC_SMIN = sub(0x8a, 0x0e) ["lsc_atomic_smin.tgm"] .memory(texel_atomic(AtomicOp::SignedMin)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic signed maximum.
    LSC_TYPED_ATOMIC_SMAX = sub(0x8a, 0x0f) ["lsc_atomic_smax.tgm"] .memory(texel_atomic(AtomicOp::SignedMax)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic unsigned minimum.
    LSC_TYPED_ATOMIC_UMIN = sub(0x8a, 0x10) ["lsc_atomic_umin.tgm"] .memory(texel_atomic(AtomicOp::UnsignedMin)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic unsigned maximum.
    LSC_TYPED_ATOMIC_UMAX = sub(0x8a, 0x11) ["lsc_atomic_umax.tgm"] .memory(texel_atomic(AtomicOp::UnsignedMax)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic integer compare and swap.
    LSC_TYPED_ATOMIC_ICAS = sub(0x8a, 0x12) ["lsc_atomic_icas.tgm"] .memory(texel_atomic(AtomicOp::CompareExchange)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic float addition.
    LSC_TYPED_ATOMIC_FADD = sub(0x8a, 0x13) ["lsc_atomic_fadd.tgm"] .memory(texel_atomic(AtomicOp::FloatAdd)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic float subtraction.
    LSC_TYPED_ATOMIC_FSUB = sub(0x8a, 0x14) ["lsc_atomic_fsub.tgm"] .memory(texel_atomic(AtomicOp::FloatSub)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic float minimum.
    LSC_TYPED_ATOMIC_FMIN = sub(0x8a, 0x15) ["lsc_atomic_fmin.tgm"] .memory(texel_atomic(AtomicOp::FloatMin)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic float maximum.
    LSC_TYPED_ATOMIC_FMAX = sub(0x8a, 0x16) ["lsc_atomic_fmax.tgm"] .memory(texel_atomic(AtomicOp::FloatMax)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic float compare and swap.
    LSC_TYPED_ATOMIC_FCAS = sub(0x8a, 0x17) ["lsc_atomic_fcas.tgm"] .memory(texel_atomic(AtomicOp::FloatCompareExchange)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic and.
    LSC_TYPED_ATOMIC_AND = sub(0x8a, 0x18) ["lsc_atomic_and.tgm"] .memory(texel_atomic(AtomicOp::And)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic or.
    LSC_TYPED_ATOMIC_OR = sub(0x8a, 0x19) ["lsc_atomic_or.tgm"] .memory(texel_atomic(AtomicOp::Or)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Atomic exclusive or.
    LSC_TYPED_ATOMIC_XOR = sub(0x8a, 0x1a) ["lsc_atomic_xor.tgm"] .memory(texel_atomic(AtomicOp::Xor)) .text(text::TYPED_ATOMIC) .lsc() => TYPED_ATOMIC;

    /// Loads, and gives for each lane whether the page is resident.
    LSC_TYPED_LOAD_STATUS = sub(0x8a, 0x1b) ["lsc_load_status.tgm"] .memory(Memory::lsc_image(Action::Status)) .text(text::TYPED_LOAD) .lsc() => TYPED;

    /// Stores without compression.
    LSC_TYPED_STORE_UNCOMPRESSED = sub(0x8a, 0x1c) ["lsc_store_uncompressed.tgm"] .memory(Memory::lsc_image(Action::Store)) .text(text::TYPED_STORE)
        .lsc()
        => TYPED;

    /// Updates the compression state.
    LSC_TYPED_CCS_UPDATE = sub(0x8a, 0x1d) ["lsc_ccs_update.tgm"] .memory(Memory::lsc_image(Action::Compression)) .text(text::TYPED_STORE) .lsc() => TYPED;

    /// Reads properties of the surface.
    LSC_TYPED_READ_STATE_INFO = sub(0x8a, 0x1e) ["lsc_read_state_info.tgm"]
        .unsupported("what it gives and takes is not publicly defined")
        .memory(Memory::lsc_image(Action::Query).layout(DataLayout::Nothing)) .text(text::SURFACE_STATE) .lsc() => TYPED;

    /// Loads samples of a multi-sampled render target.
    LSC_TYPED_LOAD_QUAD_MSRT = sub(0x8a, 0x31) ["lsc_load_quad_msrt.tgm"]
        .unsupported("what it gives and takes is not publicly defined")
        .memory(texel_channels(Action::Load)) .text(text::TYPED_LOAD_QUAD) .lsc()
        .note("IGC 2.x only")
        => TYPED;

    /// Stores samples of a multi-sampled render target.
    LSC_TYPED_STORE_QUAD_MSRT = sub(0x8a, 0x32) ["lsc_store_quad_msrt.tgm"]
        .unsupported("what it gives and takes is not publicly defined")
        .memory(texel_channels(Action::Store)) .text(text::TYPED_STORE_QUAD) .lsc()
        .note("IGC 2.x only")
        => TYPED;

    /// Loads channels, and gives for each lane whether the page is resident.
    LSC_TYPED_LOAD_QUAD_STATUS = sub(0x8a, 0x36) ["lsc_load_quad_status.tgm"]
        .unsupported("what it gives and takes is not publicly defined")
        .memory(texel_channels(Action::Status)) .text(text::TYPED_LOAD_QUAD) .lsc() => TYPED;

    /// Orders memory accesses of the load/store cache.
    LSC_FENCE = plain(0x8b) ["lsc_fence"] .memory(Memory::control(Action::Fence)) .text(text::FENCE) .spec(NO_SAT, NO_MODS, NONE)
        .lsc()
        .note("Exec size is 1 and pred null in practice.")
        => &[
            EXEC, PRED, u8(F::Sfid).named(&enums::LSC_SFID),
            u8(F::FenceOp).named(&enums::LSC_FENCE_OP), u8(F::Scope).named(&enums::LSC_SCOPE),
        ];
        }
    };
}
__lsc_rows! { [instructions] }
