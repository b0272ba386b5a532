//! Load/store cache messages.

use crate::checker::{Checker, Looked};
use crate::rules;
use alloc::string::ToString;
use visakit_isa::enums::{
    lsc_addr_size as address, lsc_addr_type as model, lsc_caching as cache, lsc_data_elems,
    lsc_data_order as order, lsc_data_size as size, lsc_fence_op, lsc_scope, lsc_sfid as sfid,
};
use visakit_isa::operand::{RawOperand, VectorOperand};
use visakit_isa::semantics::Action;
use visakit_isa::{FieldName as F, Op, Platform, VarId};

/// Whether the operation moves the enabled ones of four channels.
pub(crate) fn is_quad(op: Op) -> bool {
    matches!(
        op,
        Op::LSC_LOAD_QUAD
            | Op::LSC_STORE_QUAD
            | Op::LSC_LOAD_QUAD_STATUS
            | Op::LSC_TYPED_LOAD_QUAD
            | Op::LSC_TYPED_STORE_QUAD
            | Op::LSC_TYPED_LOAD_QUAD_MSRT
            | Op::LSC_TYPED_STORE_QUAD_MSRT
            | Op::LSC_TYPED_LOAD_QUAD_STATUS
    )
}

/// What rules ask of a message most.
struct Message {
    sfid: u8,
    action: Action,
}

impl Message {
    const fn is_atomic(&self) -> bool {
        self.action.is_atomic()
    }
}

pub(crate) fn check(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    if at.op == Op::LSC_FENCE {
        return fence(checker, at);
    }
    let typed = at.instruction.get(F::Sfid).is_none();
    let message = Message {
        sfid: if typed { sfid::TGM } else { at.byte(F::Sfid) },
        action: at
            .def
            .memory
            .map_or(Action::Compression, |memory| memory.action),
    };
    caching(checker, at, &message);
    match at.op {
        Op::LSC_LOAD_BLOCK2D | Op::LSC_STORE_BLOCK2D => {
            block(checker, at);
            data_operands(checker, at, &message);
            return;
        }
        Op::LSC_TYPED_LOAD_BLOCK2D | Op::LSC_TYPED_STORE_BLOCK2D => {
            typed_block(checker, at);
        }
        _ => shape(checker, at, &message),
    }
    addresses(checker, at, &message);
    surface(checker, at, &message);
    data_operands(checker, at, &message);
    pitch(checker, at);
    let null = at.raw(F::Src0U).is_some_and(RawOperand::is_null);
    if typed && null {
        checker.add_named(&rules::LSC_COORDINATES, at, F::Src0U, || {
            "the coordinate u is null".to_string()
        });
    }
}

fn fence(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    if at.byte(F::Sfid) != sfid::SLM {
        return;
    }
    if at.byte(F::FenceOp) != lsc_fence_op::NONE {
        checker.add_named(&rules::LSC_FENCE, at, F::FenceOp, || {
            "a fence of slm with an operation".to_string()
        });
    }
    if at.byte(F::Scope) != lsc_scope::GROUP {
        checker.add_named(&rules::LSC_FENCE, at, F::Scope, || {
            "a fence of slm beyond the group".to_string()
        });
    }
}

/// Whether two caching controls may stand together.
fn cached(l1: u8, l3: u8, action: Action, new: bool) -> bool {
    let loads = matches!(
        action,
        Action::Load | Action::Status | Action::Query | Action::CacheControl
    );
    let atomic = action.is_atomic();
    match (l1, l3) {
        (cache::DF, cache::DF) | (cache::UC, cache::UC) => true,
        (cache::UC, cache::CA)
        | (cache::CA, cache::UC | cache::CA)
        | (cache::ST, cache::CA)
        | (cache::RI, cache::CA) => loads,
        (cache::ST, cache::UC) => !atomic,
        (cache::RI, cache::RI) | (cache::UC | cache::CA, cache::CC) => loads && new,
        (cache::UC, cache::WB) => !loads,
        (cache::WT, cache::UC | cache::WB) | (cache::ST | cache::WB, cache::WB) => {
            !loads && !atomic
        }
        _ => false,
    }
}

fn caching(checker: &mut Checker<'_, '_>, at: &Looked<'_>, message: &Message) {
    let (l1, l3) = (at.byte(F::CacheL1), at.byte(F::CacheL3));
    let platform = checker.platform;
    let new = platform.is_none_or(|p| p >= Platform::Xe2);
    let name = |code| visakit_isa::enums::LSC_CACHING.name_of(code).unwrap_or("?");
    if !new && matches!(message.sfid, sfid::TGM | sfid::UGML) {
        if (l1, l3) != (cache::DF, cache::DF) {
            checker.add_named(&rules::LSC_CACHING_DEFAULT, at, F::CacheL1, || {
                alloc::format!("caching .{}.{}", name(l1), name(l3))
            });
        }
        return;
    }
    if !cached(l1, l3, message.action, new) {
        checker.add_named(&rules::LSC_CACHING, at, F::CacheL1, || {
            alloc::format!("caching .{}.{}", name(l1), name(l3))
        });
    }
}

/// Bytes of an element in registers; 0 where the code means nothing.
const fn element_bytes(code: u8) -> u32 {
    match code {
        size::D8 => 1,
        size::D16 => 2,
        size::D32 | size::D8C32 | size::D16C32 | size::D16C32H => 4,
        size::D64 => 8,
        _ => 0,
    }
}

/// Elements of a vector; 0 where the code means nothing.
const fn vector_elements(code: u8) -> u32 {
    match code {
        lsc_data_elems::N1 => 1,
        lsc_data_elems::N2 => 2,
        lsc_data_elems::N3 => 3,
        lsc_data_elems::N4 => 4,
        lsc_data_elems::N8 => 8,
        lsc_data_elems::N16 => 16,
        lsc_data_elems::N32 => 32,
        lsc_data_elems::N64 => 64,
        _ => 0,
    }
}

fn shape(checker: &mut Checker<'_, '_>, at: &Looked<'_>, message: &Message) {
    let bytes = element_bytes(at.byte(F::DataSize));
    let quad = is_quad(at.op);
    let transposed = at.byte(F::DataOrder) == order::TRANSPOSE;
    if bytes == 0 {
        return;
    }
    if transposed && (quad || at.lanes != 1 || message.is_atomic()) {
        let lanes = at.lanes;
        checker.add_named(&rules::LSC_TRANSPOSE, at, F::DataOrder, || {
            alloc::format!("transposed with execution size {lanes}")
        });
    }
    let elements = if quad {
        let mask = at.byte(F::ChMask);
        quad_mask(checker, at, mask);
        (mask & 0xf).count_ones()
    } else {
        let elements = vector_elements(at.byte(F::DataElems));
        if elements > 0 {
            vector(checker, at, message, elements, transposed);
        }
        elements
    };
    if message.is_atomic() && !quad && !transposed {
        atomic(checker, at, message);
    }
    let moved = bytes * elements * if transposed { 1 } else { u32::from(at.lanes) };
    data_bounds(checker, at, moved);
    let registers = checker.registers.most;
    let filled = if transposed {
        (elements * bytes / registers).max(1)
    } else {
        elements * (bytes * u32::from(at.lanes) / registers).max(1)
    };
    if elements > 0 && filled > 8 {
        checker.add_named(&rules::LSC_PAYLOAD, at, F::DataElems, || {
            alloc::format!("data of {filled} registers")
        });
    }
}

/// What all lanes move has a place.
fn data_bounds(checker: &mut Checker<'_, '_>, at: &Looked<'_>, moved: u32) {
    // Where all lanes are off or out of bounds nothing is moved, so that programs may be right all the same.
    let status = matches!(at.op, Op::LSC_LOAD_STATUS | Op::LSC_LOAD_QUAD_STATUS);
    for name in [F::Dst, F::Src1Data, F::Src2Data] {
        let Some(left) = at.raw(name).and_then(|raw| checker.bytes_behind(raw)) else {
            continue;
        };
        if left < moved && !(status && name == F::Dst) {
            checker.add_named(&rules::LSC_DATA_BOUNDS, at, name, || {
                alloc::format!("{moved} bytes of data where {left} are left of the variable")
            });
        }
    }
}

fn quad_mask(checker: &mut Checker<'_, '_>, at: &Looked<'_>, mask: u8) {
    let gaps = !(mask & 0xf).wrapping_add(1).is_power_of_two();
    // From Xe3P on only stores to tgm need them without gaps; no platform named says nothing of it.
    let stores = at.def.memory.is_some_and(|m| m.action == Action::Store)
        && checker.platform.is_none_or(|p| p < Platform::Xe3pCri);
    if mask & 0xf == 0 || mask > 0xf || (stores && gaps) {
        checker.add_named(&rules::LSC_CHANNELS, at, F::ChMask, || {
            alloc::format!("channel mask {mask:#x}")
        });
    }
}

fn vector(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    message: &Message,
    elements: u32,
    transposed: bool,
) {
    let code = at.byte(F::DataSize);
    let wide = matches!(code, size::D32 | size::D64);
    let converted = matches!(code, size::D8C32 | size::D16C32 | size::D16C32H);
    if elements > 1 && ((!transposed && !wide) || converted) {
        checker.add_named(&rules::LSC_DATA_SIZE, at, F::DataSize, || {
            let name = visakit_isa::enums::LSC_DATA_SIZE
                .name_of(code)
                .unwrap_or("?");
            alloc::format!("vectors of {elements} {name}")
        });
    }
    let sound = match message.sfid {
        _ if message.is_atomic() => elements == 1,
        _ if transposed => true,
        sfid::UGML => matches!(elements, 1 | 2 | 4),
        sfid::SLM | sfid::UGM => matches!(elements, 1 | 2 | 3 | 4 | 8),
        _ => true,
    };
    if !sound {
        checker.add_named(&rules::LSC_VECTOR, at, F::DataElems, || {
            alloc::format!("vectors of {elements} elements")
        });
    }
}

fn atomic(checker: &mut Checker<'_, '_>, at: &Looked<'_>, message: &Message) {
    let code = at.byte(F::DataSize);
    if !matches!(code, size::D16C32 | size::D32 | size::D64) {
        checker.add_named(&rules::LSC_DATA_SIZE, at, F::DataSize, || {
            let name = visakit_isa::enums::LSC_DATA_SIZE
                .name_of(code)
                .unwrap_or("?");
            alloc::format!("an atomic of {name}")
        });
    }
    if message.sfid == sfid::SLM && code == size::D64 && at.op != Op::LSC_ATOMIC_ICAS {
        checker.add_named(&rules::LSC_ATOMIC, at, F::DataSize, || {
            "an atomic of 64 bits on slm".to_string()
        });
    }
    let adds = matches!(
        at.op,
        Op::LSC_ATOMIC_FADD
            | Op::LSC_ATOMIC_FSUB
            | Op::LSC_TYPED_ATOMIC_FADD
            | Op::LSC_TYPED_ATOMIC_FSUB
    );
    let after = |first| checker.platform.is_none_or(|p| p >= first);
    let has = match message.sfid {
        sfid::UGM | sfid::UGML => true,
        sfid::TGM => after(Platform::Xe2),
        sfid::SLM => checker.platform.is_some_and(|p| p >= Platform::Xe3pCri),
        _ => false,
    };
    if adds && !has {
        let name = at.def.mnemonic();
        checker.add(&rules::LSC_ATOMIC, || {
            alloc::format!("{name} on a unit that has none")
        });
    }
}

fn addresses(checker: &mut Checker<'_, '_>, at: &Looked<'_>, message: &Message) {
    let code = at.byte(F::AddrSize);
    let sound = match code {
        address::A16 => message.sfid == sfid::SLM,
        address::A64 => !matches!(message.sfid, sfid::TGM | sfid::SLM),
        _ => true,
    };
    if !sound {
        checker.add_named(&rules::LSC_ADDRESS_SIZE, at, F::AddrSize, || {
            let name = visakit_isa::enums::LSC_ADDR_SIZE
                .name_of(code)
                .unwrap_or("?");
            alloc::format!("addresses of size {name}")
        });
    }
    let offset = at.number(F::AddrOffset).unwrap_or(0);
    if code == address::A16 && !(-0x7fff..=0x7fff).contains(&offset) {
        checker.add_named(&rules::LSC_ADDRESS_SIZE, at, F::AddrOffset, || {
            alloc::format!("offset {offset} of a16 addresses")
        });
    }
    let scale = at.number(F::AddrScale).unwrap_or(0);
    if scale & (scale - 1) != 0 {
        let new = checker.platform.is_some_and(|p| p >= Platform::Xe3pCri);
        if !new {
            checker.add_named(&rules::LSC_SCALE, at, F::AddrScale, || {
                alloc::format!("scale {scale}")
            });
        }
    }
}

fn surface(checker: &mut Checker<'_, '_>, at: &Looked<'_>, message: &Message) {
    let Some(base) = at.vector(F::Surface) else {
        return;
    };
    // The newest platforms add a base to flat addresses.
    let newest = checker.platform.is_some_and(|p| p >= Platform::Xe3pCri);
    let wrong = match at.byte(F::AddrType) {
        model::FLAT | model::ARG => {
            let based = match base {
                VectorOperand::Immediate(o) => o.bits() != 0,
                VectorOperand::General(o) => o.variable != VarId::NULL,
                _ => true,
            };
            if message.sfid == sfid::TGM {
                Some("tgm is addressed flat")
            } else if based && !newest {
                Some("a flat address with a base")
            } else {
                None
            }
        }
        model::BSS | model::SS | model::BTI | model::SURF => {
            let null = matches!(base, VectorOperand::General(o) if o.variable == VarId::NULL);
            if message.sfid == sfid::SLM {
                Some("slm is not addressed flat")
            } else if null {
                Some("the surface is null")
            } else {
                None
            }
        }
        _ => None,
    };
    if let Some(wrong) = wrong {
        checker.add_named(&rules::LSC_ADDRESS_MODEL, at, F::AddrType, || {
            wrong.to_string()
        });
    }
}

fn data_operands(checker: &mut Checker<'_, '_>, at: &Looked<'_>, message: &Message) {
    // Per field: whether it must be null, must not be null, or may be both.
    let rules: [(F, Option<bool>); 3] = match message.action {
        Action::Load | Action::Status | Action::Query | Action::CacheControl => [
            (F::Dst, None),
            (F::Src1Data, Some(false)),
            (F::Src2Data, Some(false)),
        ],
        Action::Store => [
            (F::Dst, Some(false)),
            (F::Src1Data, Some(true)),
            (F::Src2Data, Some(false)),
        ],
        Action::Atomic(op) => [
            (F::Dst, None),
            (F::Src1Data, Some(op.operands() > 0)),
            (F::Src2Data, Some(op.operands() > 1)),
        ],
        _ => return,
    };
    for (name, wanted) in rules {
        let (Some(wanted), Some(raw)) = (wanted, at.raw(name)) else {
            continue;
        };
        if raw.is_null() == wanted {
            checker.add_named(&crate::rules::LSC_OPERANDS, at, name, || {
                if wanted {
                    "the operand is null, and is needed".to_string()
                } else {
                    "the operand is not used, and must be null".to_string()
                }
            });
        }
    }
    // Counters keep their operand under another name.
    if at.raw(F::Src0Data).is_some_and(RawOperand::is_null) {
        checker.add_named(&crate::rules::LSC_OPERANDS, at, F::Src0Data, || {
            "the operand is null, and is needed".to_string()
        });
    }
}

fn pitch(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let wrong = match at.vector(F::Src0AddrPitch) {
        Some(VectorOperand::Immediate(o)) => o.bits() > 0xffff,
        Some(VectorOperand::General(o)) => o.variable == VarId::NULL,
        _ => return,
    };
    if wrong {
        checker.add_named(&rules::LSC_PITCH, at, F::Src0AddrPitch, || {
            "the pitch is null or does not fit into 16 bits".to_string()
        });
    }
}

fn block(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let number = |name| u32::try_from(at.number(name).unwrap_or(0)).unwrap_or(0);
    let (blocks, width, height) = (
        number(F::Blocks),
        number(F::BlockWidth),
        number(F::BlockHeight),
    );
    let bytes = element_bytes(at.byte(F::DataSize));
    let (store, vnni) = (at.op == Op::LSC_STORE_BLOCK2D, at.byte(F::Vnni) != 0);
    let transposed = at.byte(F::DataOrder) == order::TRANSPOSE;
    for (name, origin) in [
        F::SurfaceBase,
        F::SurfaceWidth,
        F::SurfaceHeight,
        F::SurfacePitch,
        F::X,
        F::Y,
    ]
    .map(|name| (name, at.vector(name)))
    {
        if matches!(origin, Some(VectorOperand::General(o)) if o.variable == VarId::NULL) {
            checker.add_named(&rules::LSC_BLOCK_ORIGIN, at, name, || "is null".to_string());
        }
    }
    if bytes == 0 {
        return;
    }
    let platform = checker.platform;
    let newest = platform.is_none_or(|p| p >= Platform::Xe3pCri);
    // A prefetch on the newest platforms may be as large as a cache line pair.
    let prefetch = newest && at.raw(F::Dst).is_some_and(RawOperand::is_null) && !store;
    let row = width.saturating_mul(blocks).saturating_mul(bytes);
    let columns = if transposed { height * bytes } else { row };
    let limit = if store { 512 } else { 64 };
    let rows = if transposed { width } else { height };
    let most = if newest { 64 } else { 32 };
    let sound = width > 0
        && height > 0
        && blocks > 0
        && (row <= limit || columns.min(row) <= limit && transposed || prefetch && row == 256)
        && rows <= most;
    if !sound {
        checker.add_named(&rules::LSC_BLOCK, at, F::BlockWidth, || {
            alloc::format!("{blocks} blocks of {width} by {height} elements of {bytes} bytes")
        });
    }
    let most = match bytes {
        _ if store || (transposed && !vnni) => 1,
        1 | 2 => 4,
        _ if prefetch => 4,
        4 => 2,
        _ => 1,
    };
    if blocks > most || (blocks == 3) || (store && vnni) {
        checker.add_named(&rules::LSC_BLOCK_COUNT, at, F::Blocks, || {
            alloc::format!("{blocks} blocks, {most} at most")
        });
    }
}

fn typed_block(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let (width, height) = (
        at.number(F::BlockWidth).unwrap_or(0),
        at.number(F::BlockHeight).unwrap_or(0),
    );
    if !(1..=64).contains(&width) || height < 1 || width * height > 256 {
        checker.add_named(&rules::LSC_TYPED_BLOCK, at, F::BlockWidth, || {
            alloc::format!("a block of {width} bytes by {height} rows")
        });
    }
}
