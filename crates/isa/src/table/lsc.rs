//! Load/store cache messages.

use super::field::short::*;
use super::lsc_text as text;
use super::{Access, Group, instructions};

const GROUP: Group = Group::Lsc;

const SFID: FieldDef = u8(F::Sfid).named(&enums::LSC_SFID);
const CACHE_L1: FieldDef = u8(F::CacheL1).named(&enums::LSC_CACHING);
const CACHE_L3: FieldDef = u8(F::CacheL3).named(&enums::LSC_CACHING);
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

const UNTYPED: &[FieldDef] = &[
    EXEC,
    PRED,
    SFID,
    CACHE_L1,
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
    raw(F::Src0Addrs, ANY),
    raw(F::Src1Data, ANY),
    raw(F::Src2Data, ANY),
];

const UNTYPED_STRIDED: &[FieldDef] = &[
    EXEC,
    PRED,
    SFID,
    CACHE_L1,
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
    src(F::Y, GM, ANY),
    raw(F::Src1Data, ANY),
];

const UNTYPED_COUNTER: &[FieldDef] = &[
    EXEC,
    PRED,
    SFID,
    CACHE_L1,
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

const TYPED: &[FieldDef] = &[
    EXEC,
    PRED,
    CACHE_L1,
    CACHE_L3,
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
];

const TYPED_BLOCK2D: &[FieldDef] = &[
    EXEC,
    PRED,
    CACHE_L1,
    CACHE_L3,
    ADDR_TYPE,
    u16(F::BlockWidth).note("bytes"),
    u16(F::BlockHeight),
    BASE,
    SURFACE_INDEX,
    raw_to(F::Dst, ANY),
    src(F::X, GM, ANY),
    src(F::Y, GM, ANY),
    raw(F::Src1Data, ANY),
];

/// Hands the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __lsc_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Loads elements from the address of each lane.
    LSC_LOAD = sub(0x89, 0x00) ["lsc_load"] .text(text::LOAD) .lsc() .access(Access::Load) => UNTYPED;

    /// Loads elements at a constant distance.
    LSC_LOAD_STRIDED = sub(0x89, 0x01) ["lsc_load_strided"] .text(text::LOAD_STRIDED) .lsc() .access(Access::Load) => UNTYPED_STRIDED;

    /// Loads the enabled channels from the address of each lane.
    LSC_LOAD_QUAD = sub(0x89, 0x02) ["lsc_load_quad"] .text(text::LOAD_QUAD) .lsc() .access(Access::Load) => UNTYPED;

    /// Loads rectangles of a 2D surface.
    LSC_LOAD_BLOCK2D = sub(0x89, 0x03) ["lsc_load_block2d"] .text(text::LOAD_BLOCK) .lsc()
        .note("Writers from 2023-04-28 (commit c51e87ea4) to 2023-09-25 add an i32 after x, then y, and drop everything after it while declaring the full size: such objects are malformed and no reader accepts them.")
        .access(Access::Load)
        => UNTYPED_BLOCK2D;

    /// Stores elements to the address of each lane.
    LSC_STORE = sub(0x89, 0x04) ["lsc_store"] .text(text::STORE) .lsc() .access(Access::Store) => UNTYPED;

    /// Stores elements at a constant distance.
    LSC_STORE_STRIDED = sub(0x89, 0x05) ["lsc_store_strided"] .text(text::STORE_STRIDED) .lsc() .access(Access::Store) => UNTYPED_STRIDED;

    /// Stores the enabled channels to the address of each lane.
    LSC_STORE_QUAD = sub(0x89, 0x06) ["lsc_store_quad"] .text(text::STORE_QUAD) .lsc() .access(Access::Store) => UNTYPED;

    /// Stores a rectangle of a 2D surface.
    LSC_STORE_BLOCK2D = sub(0x89, 0x07) ["lsc_store_block2d"] .text(text::STORE_BLOCK) .lsc()
        .note("Writers from 2023-04-28 (commit c51e87ea4) to 2023-09-25 add an i32 after x, then y, and drop everything after it while declaring the full size: such objects are malformed and no reader accepts them.")
        .access(Access::Store)
        => UNTYPED_BLOCK2D;

    /// Atomic increment.
    LSC_ATOMIC_IINC = sub(0x89, 0x08) ["lsc_atomic_iinc"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 0 }) => UNTYPED;

    /// Atomic decrement.
    LSC_ATOMIC_IDEC = sub(0x89, 0x09) ["lsc_atomic_idec"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 0 }) => UNTYPED;

    /// Atomic load.
    LSC_ATOMIC_LOAD = sub(0x89, 0x0a) ["lsc_atomic_load"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 0 }) => UNTYPED;

    /// Atomic store.
    LSC_ATOMIC_STORE = sub(0x89, 0x0b) ["lsc_atomic_store"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic integer addition.
    LSC_ATOMIC_IADD = sub(0x89, 0x0c) ["lsc_atomic_iadd"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic integer subtraction.
    LSC_ATOMIC_ISUB = sub(0x89, 0x0d) ["lsc_atomic_isub"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic signed minimum.
    LSC_ATOMIC_SMIN = sub(0x89, 0x0e) ["lsc_atomic_smin"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic signed maximum.
    LSC_ATOMIC_SMAX = sub(0x89, 0x0f) ["lsc_atomic_smax"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic unsigned minimum.
    LSC_ATOMIC_UMIN = sub(0x89, 0x10) ["lsc_atomic_umin"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic unsigned maximum.
    LSC_ATOMIC_UMAX = sub(0x89, 0x11) ["lsc_atomic_umax"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic integer compare and swap.
    LSC_ATOMIC_ICAS = sub(0x89, 0x12) ["lsc_atomic_icas"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 2 }) => UNTYPED;

    /// Atomic float addition.
    LSC_ATOMIC_FADD = sub(0x89, 0x13) ["lsc_atomic_fadd"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic float subtraction.
    LSC_ATOMIC_FSUB = sub(0x89, 0x14) ["lsc_atomic_fsub"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic float minimum.
    LSC_ATOMIC_FMIN = sub(0x89, 0x15) ["lsc_atomic_fmin"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic float maximum.
    LSC_ATOMIC_FMAX = sub(0x89, 0x16) ["lsc_atomic_fmax"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic float compare and swap.
    LSC_ATOMIC_FCAS = sub(0x89, 0x17) ["lsc_atomic_fcas"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 2 }) => UNTYPED;

    /// Atomic and.
    LSC_ATOMIC_AND = sub(0x89, 0x18) ["lsc_atomic_and"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic or.
    LSC_ATOMIC_OR = sub(0x89, 0x19) ["lsc_atomic_or"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Atomic exclusive or.
    LSC_ATOMIC_XOR = sub(0x89, 0x1a) ["lsc_atomic_xor"] .text(text::ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => UNTYPED;

    /// Loads, and gives for each lane whether the page is resident.
    LSC_LOAD_STATUS = sub(0x89, 0x1b) ["lsc_load_status"] .text(text::LOAD) .lsc() .access(Access::Load) => UNTYPED;

    /// Stores without compression.
    LSC_STORE_UNCOMPRESSED = sub(0x89, 0x1c) ["lsc_store_uncompressed"] .text(text::STORE) .lsc() .access(Access::Store) => UNTYPED;

    /// Updates the compression state.
    LSC_CCS_UPDATE = sub(0x89, 0x1d) ["lsc_ccs_update"] .text(text::STORE) .lsc() => UNTYPED;

    /// Atomic brain-float addition.
    LSC_ATOMIC_BFADD = sub(0x89, 0x21) ["lsc_atomic_bfadd"] .text(text::ATOMIC) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        .access(Access::Atomic { operands: 1 })
        => UNTYPED;

    /// Atomic brain-float subtraction.
    LSC_ATOMIC_BFSUB = sub(0x89, 0x22) ["lsc_atomic_bfsub"] .text(text::ATOMIC) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        .access(Access::Atomic { operands: 1 })
        => UNTYPED;

    /// Atomic brain-float minimum.
    LSC_ATOMIC_BFMIN = sub(0x89, 0x23) ["lsc_atomic_bfmin"] .text(text::ATOMIC) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        .access(Access::Atomic { operands: 1 })
        => UNTYPED;

    /// Atomic brain-float maximum.
    LSC_ATOMIC_BFMAX = sub(0x89, 0x24) ["lsc_atomic_bfmax"] .text(text::ATOMIC) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        .access(Access::Atomic { operands: 1 })
        => UNTYPED;

    /// Atomic brain-float compare and swap.
    LSC_ATOMIC_BFCAS = sub(0x89, 0x25) ["lsc_atomic_bfcas"] .text(text::ATOMIC) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        .access(Access::Atomic { operands: 2 })
        => UNTYPED;

    /// Adds to the append counter of a surface.
    LSC_APNDCTR_ATOMIC_ADD = sub(0x89, 0x28) ["lsc_apndctr_atomic_add"] .text(text::COUNTER) .spec(NO_SAT, NO_MODS, NONE).since_platform(Platforms::DG2)
        .since("readers: IGC 1.0.15468 (2023-11)")
        .note("Defined after the last public binary writer: layout known only from the reader and the written spec.")
        .access(Access::Atomic { operands: 1 })
        => UNTYPED_COUNTER;

    /// Subtracts from the append counter of a surface.
    LSC_APNDCTR_ATOMIC_SUB = sub(0x89, 0x29) ["lsc_apndctr_atomic_sub"] .text(text::COUNTER) .spec(NO_SAT, NO_MODS, NONE).since_platform(Platforms::DG2)
        .since("readers: IGC 1.0.15468 (2023-11)")
        .note("Defined after the last public binary writer: layout known only from the reader and the written spec.")
        .access(Access::Atomic { operands: 1 })
        => UNTYPED_COUNTER;

    /// Sets the append counter of a surface.
    LSC_APNDCTR_ATOMIC_STORE = sub(0x89, 0x2a) ["lsc_apndctr_atomic_store"] .syntax(Syntax::of(text::ATOMIC).or(&[text::COUNTER_STORE])) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        .access(Access::Atomic { operands: 1 })
        => UNTYPED;

    /// Controls caches.
    LSC_EXTENDED_CACHE_CTRL = sub(0x89, 0x33) ["lsc_extended_cache_ctrl"] .text(text::STORE) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        .access(Access::Load)
        => UNTYPED;

    /// Loads channels, and gives for each lane whether the page is resident.
    LSC_LOAD_QUAD_STATUS = sub(0x89, 0x36) ["lsc_load_quad_status"] .text(text::LOAD_QUAD) .lsc()
        .note("Enum value and descriptor exist only in IGC 2.x sources; no public writer.")
        .access(Access::Load)
        => UNTYPED;

    /// Loads the enabled channels from the coordinates of each lane.
    LSC_TYPED_LOAD_QUAD = sub(0x8a, 0x02) ["lsc_load_quad.tgm"] .text(text::TYPED_LOAD_QUAD) .lsc() .access(Access::Load) => TYPED;

    /// Loads rectangles of a 2D surface.
    LSC_TYPED_LOAD_BLOCK2D = sub(0x8a, 0x03) ["lsc_load_block2d.tgm"] .syntax(Syntax::of(text::TYPED_LOAD_BLOCK).or(&[text::TYPED_LOAD_BLOCK_BARE])) .lsc()
        .note("Reader since 2023-12; no public writer ever emitted it. The reader consumes neither immediate X/Y offset although the IGC 2.x descriptor lists both.")
        .access(Access::Load)
        => TYPED_BLOCK2D;

    /// Stores the enabled channels to the coordinates of each lane.
    LSC_TYPED_STORE_QUAD = sub(0x8a, 0x06) ["lsc_store_quad.tgm"] .text(text::TYPED_STORE_QUAD) .lsc() .access(Access::Store) => TYPED;

    /// Stores a rectangle of a 2D surface.
    LSC_TYPED_STORE_BLOCK2D = sub(0x8a, 0x07) ["lsc_store_block2d.tgm"] .syntax(Syntax::of(text::TYPED_STORE_BLOCK).or(&[text::TYPED_STORE_BLOCK_BARE])) .lsc()
        .note("Reader since 2023-12; no public writer ever emitted it. The reader consumes neither immediate X/Y offset although the IGC 2.x descriptor lists both.")
        .access(Access::Store)
        => TYPED_BLOCK2D;

    /// Atomic increment.
    LSC_TYPED_ATOMIC_IINC = sub(0x8a, 0x08) ["lsc_atomic_iinc.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 0 }) => TYPED;

    /// Atomic decrement.
    LSC_TYPED_ATOMIC_IDEC = sub(0x8a, 0x09) ["lsc_atomic_idec.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 0 }) => TYPED;

    /// Atomic load.
    LSC_TYPED_ATOMIC_LOAD = sub(0x8a, 0x0a) ["lsc_atomic_load.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 0 }) => TYPED;

    /// Atomic store.
    LSC_TYPED_ATOMIC_STORE = sub(0x8a, 0x0b) ["lsc_atomic_store.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic integer addition.
    LSC_TYPED_ATOMIC_IADD = sub(0x8a, 0x0c) ["lsc_atomic_iadd.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic integer subtraction.
    LSC_TYPED_ATOMIC_ISUB = sub(0x8a, 0x0d) ["lsc_atomic_isub.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic signed minimum.
    LSC_TYPED_ATOMIC_SMIN = sub(0x8a, 0x0e) ["lsc_atomic_smin.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic signed maximum.
    LSC_TYPED_ATOMIC_SMAX = sub(0x8a, 0x0f) ["lsc_atomic_smax.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic unsigned minimum.
    LSC_TYPED_ATOMIC_UMIN = sub(0x8a, 0x10) ["lsc_atomic_umin.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic unsigned maximum.
    LSC_TYPED_ATOMIC_UMAX = sub(0x8a, 0x11) ["lsc_atomic_umax.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic integer compare and swap.
    LSC_TYPED_ATOMIC_ICAS = sub(0x8a, 0x12) ["lsc_atomic_icas.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 2 }) => TYPED;

    /// Atomic float addition.
    LSC_TYPED_ATOMIC_FADD = sub(0x8a, 0x13) ["lsc_atomic_fadd.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic float subtraction.
    LSC_TYPED_ATOMIC_FSUB = sub(0x8a, 0x14) ["lsc_atomic_fsub.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic float minimum.
    LSC_TYPED_ATOMIC_FMIN = sub(0x8a, 0x15) ["lsc_atomic_fmin.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic float maximum.
    LSC_TYPED_ATOMIC_FMAX = sub(0x8a, 0x16) ["lsc_atomic_fmax.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic float compare and swap.
    LSC_TYPED_ATOMIC_FCAS = sub(0x8a, 0x17) ["lsc_atomic_fcas.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 2 }) => TYPED;

    /// Atomic and.
    LSC_TYPED_ATOMIC_AND = sub(0x8a, 0x18) ["lsc_atomic_and.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic or.
    LSC_TYPED_ATOMIC_OR = sub(0x8a, 0x19) ["lsc_atomic_or.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Atomic exclusive or.
    LSC_TYPED_ATOMIC_XOR = sub(0x8a, 0x1a) ["lsc_atomic_xor.tgm"] .text(text::TYPED_ATOMIC) .lsc() .access(Access::Atomic { operands: 1 }) => TYPED;

    /// Loads, and gives for each lane whether the page is resident.
    LSC_TYPED_LOAD_STATUS = sub(0x8a, 0x1b) ["lsc_load_status.tgm"] .text(text::TYPED_LOAD) .lsc() .access(Access::Load) => TYPED;

    /// Stores without compression.
    LSC_TYPED_STORE_UNCOMPRESSED = sub(0x8a, 0x1c) ["lsc_store_uncompressed.tgm"] .text(text::TYPED_STORE)
        .lsc()
        .access(Access::Store)
        => TYPED;

    /// Updates the compression state.
    LSC_TYPED_CCS_UPDATE = sub(0x8a, 0x1d) ["lsc_ccs_update.tgm"] .text(text::TYPED_STORE) .lsc() => TYPED;

    /// Reads properties of the surface.
    LSC_TYPED_READ_STATE_INFO = sub(0x8a, 0x1e) ["lsc_read_state_info.tgm"] .text(text::SURFACE_STATE) .lsc() .access(Access::Load) => TYPED;

    /// Loads samples of a multi-sampled render target.
    LSC_TYPED_LOAD_QUAD_MSRT = sub(0x8a, 0x31) ["lsc_load_quad_msrt.tgm"] .text(text::TYPED_LOAD_QUAD) .lsc()
        .note("IGC 2.x only")
        .access(Access::Load)
        => TYPED;

    /// Stores samples of a multi-sampled render target.
    LSC_TYPED_STORE_QUAD_MSRT = sub(0x8a, 0x32) ["lsc_store_quad_msrt.tgm"] .text(text::TYPED_STORE_QUAD) .lsc()
        .note("IGC 2.x only")
        .access(Access::Store)
        => TYPED;

    /// Loads channels, and gives for each lane whether the page is resident.
    LSC_TYPED_LOAD_QUAD_STATUS = sub(0x8a, 0x36) ["lsc_load_quad_status.tgm"] .text(text::TYPED_LOAD_QUAD) .lsc() .access(Access::Load) => TYPED;

    /// Orders memory accesses of the load/store cache.
    LSC_FENCE = plain(0x8b) ["lsc_fence"] .text(text::FENCE) .spec(NO_SAT, NO_MODS, NONE)
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
