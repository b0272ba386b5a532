//! Load/store cache messages.

use crate::checker::{Checker, Site};
use crate::storage::places;
use crate::{blocks, rules};
use alloc::format;
use alloc::string::ToString;
use visakit_isa::enums::{
    LSC_ADDR_SIZE, LSC_CACHING, LSC_DATA_SIZE, lsc_addr_size as address, lsc_addr_type as model,
    lsc_caching as cache, lsc_data_order as order, lsc_data_size as size, lsc_fence_op, lsc_scope,
    lsc_sfid as sfid,
};
use visakit_isa::operand::{RawOperand, VectorOperand};
use visakit_isa::semantics::{
    Action, AddressWidth, AtomicOp, Count, DataLayout, ElementSize, Storage,
};
use visakit_isa::{DataType, FieldName as F, Platforms, Value, VarId};

/// Whether the message transfers the enabled ones of four channels.
pub(crate) fn has_channels(site: &Site<'_>) -> bool {
    let count = site.def.memory.map(|memory| memory.count);
    count == Some(Count::Channels(F::ChMask))
}

/// The action, and the fields that rules use most.
struct Message<'i> {
    action: Action,
    channels: bool,
    sfid: u8,
    fields: Fields<'i>,
}

#[derive(Default)]
struct Fields<'i> {
    l1: u8,
    l2: u8,
    l3: u8,
    address: u8,
    model: u8,
    scale: u16,
    offset: i32,
    size: u8,
    order: u8,
    elements: u8,
    mask: u8,
    surface: Option<&'i VectorOperand>,
    dst: Option<RawOperand>,
    src1: Option<RawOperand>,
    src2: Option<RawOperand>,
}

impl<'i> Message<'i> {
    /// Takes the fields in one pass.
    fn of(site: &Site<'i>, action: Action) -> Self {
        // Messages to images have no field for the shared function.
        let (mut sfid, mut fields) = (sfid::TGM, Fields::default());
        for field in &site.instruction.fields {
            match (field.name, &field.value) {
                (F::Sfid, Value::U8(v)) => sfid = *v,
                (F::CacheL1, Value::U8(v)) => fields.l1 = *v,
                (F::CacheL2, Value::U8(v)) => fields.l2 = *v,
                (F::CacheL3, Value::U8(v)) => fields.l3 = *v,
                (F::AddrSize, Value::U8(v)) => fields.address = *v,
                (F::AddrType, Value::U8(v)) => fields.model = *v,
                (F::AddrScale, Value::U16(v)) => fields.scale = *v,
                (F::AddrOffset, Value::I32(v)) => fields.offset = *v,
                (F::DataSize, Value::U8(v)) => fields.size = *v,
                (F::DataOrder, Value::U8(v)) => fields.order = *v,
                (F::DataElems, Value::U8(v)) => fields.elements = *v,
                (F::ChMask, Value::U8(v)) => fields.mask = *v,
                (F::Surface, Value::Vector(v)) => fields.surface = Some(v),
                (F::Dst, Value::Raw(v)) => fields.dst = Some(*v),
                (F::Src1Data, Value::Raw(v)) => fields.src1 = Some(*v),
                (F::Src2Data, Value::Raw(v)) => fields.src2 = Some(*v),
                _ => {}
            }
        }
        Self {
            action,
            channels: has_channels(site),
            sfid,
            fields,
        }
    }

    fn transposed(&self) -> bool {
        self.fields.order == order::TRANSPOSE
    }

    fn size_name(&self) -> &'static str {
        LSC_DATA_SIZE.name_of(self.fields.size).unwrap_or("?")
    }
}

pub(crate) fn check(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let Some(memory) = site.def.memory else {
        return;
    };
    if memory.action == Action::Fence {
        return fence(checker, site);
    }
    let typed = memory.storage == Storage::LscImage;
    let message = Message::of(site, memory.action);
    caching(checker, site, &message);
    match memory.layout {
        DataLayout::Rectangle if typed => blocks::texels(checker, site),
        DataLayout::Rectangle => {
            blocks::elements(checker, site, message.action);
            data_operands(checker, site, &message);
            return;
        }
        _ => shape(checker, site, &message),
    }
    addresses(checker, site, &message);
    surface(checker, site, &message);
    data_operands(checker, site, &message);
    if memory.layout == DataLayout::Strided {
        pitch(checker, site);
    }
    if typed && site.raw(F::Src0U).is_some_and(RawOperand::is_null) {
        checker.add_named(&rules::LSC_COORDINATES, site, F::Src0U, || {
            "the coordinate u is null".to_string()
        });
    }
}

fn fence(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    if site.byte(F::Sfid) != sfid::SLM {
        return;
    }
    if site.byte(F::FenceOp) != lsc_fence_op::NONE {
        checker.add_named(&rules::LSC_FENCE, site, F::FenceOp, || {
            "a fence of slm with an operation".to_string()
        });
    }
    if site.byte(F::Scope) != lsc_scope::GROUP {
        checker.add_named(&rules::LSC_FENCE, site, F::Scope, || {
            "a fence of slm beyond the group".to_string()
        });
    }
}

/// Whether data comes from caches.
const fn loads(action: Action) -> bool {
    matches!(
        action,
        Action::Load | Action::Status | Action::Query | Action::CacheControl
    )
}

/// Whether two caching controls can be combined on all platforms.
fn cached(l1: u8, l3: u8, action: Action) -> bool {
    let loads = loads(action);
    let atomic = action.is_atomic();
    match (l1, l3) {
        (cache::DF, cache::DF) | (cache::UC, cache::UC) => true,
        (cache::UC, cache::CA)
        | (cache::CA, cache::UC | cache::CA)
        | (cache::ST, cache::CA)
        | (cache::RI, cache::CA) => loads,
        (cache::ST, cache::UC) => !atomic,
        (cache::UC, cache::WB) => !loads,
        (cache::WT, cache::UC | cache::WB) | (cache::ST | cache::WB, cache::WB) => {
            !loads && !atomic
        }
        _ => false,
    }
}

/// Whether newer platforms combine two more caching controls.
fn cached_since(l1: u8, l3: u8, action: Action) -> bool {
    let more = matches!(
        (l1, l3),
        (cache::RI, cache::RI) | (cache::UC | cache::CA, cache::CC)
    );
    loads(action) && more
}

/// Whether the caching controls of three levels can be combined: the outer ones are cached or not, independently,
/// except for a few of stores.
fn cached_by_three(levels: [u8; 3], action: Action) -> bool {
    let loads = loads(action);
    let atomic = action.is_atomic();
    let [l1, outer @ ..] = levels;
    let kept = if loads { cache::CA } else { cache::WB };
    let both = outer == [kept; 2];
    if !outer.into_iter().all(|c| c == cache::UC || c == kept) {
        return loads && levels == [cache::RI; 3];
    }
    match l1 {
        cache::UC => !(atomic && both),
        cache::CA => loads,
        cache::ST => loads || !(atomic || both),
        cache::WT => !loads && !atomic,
        cache::WB => !(loads || atomic || both),
        _ => false,
    }
}

fn caching(checker: &mut Checker<'_, '_>, site: &Site<'_>, message: &Message<'_>) {
    let (l1, l2, l3) = (message.fields.l1, message.fields.l2, message.fields.l3);
    let name = |code| LSC_CACHING.name_of(code).unwrap_or("?");
    if l2 != cache::DF {
        let sound = cached_by_three([l1, l2, l3], message.action);
        if !sound || !checker.allows(site, Platforms::BASED_ADDRESSES) {
            checker.add_named(&rules::LSC_CACHING, site, F::CacheL1, || {
                format!("caching .{}.{}.{}", name(l1), name(l2), name(l3))
            });
        }
        return;
    }
    let controlled = (l1, l3) != (cache::DF, cache::DF);
    if controlled
        && matches!(message.sfid, sfid::TGM | sfid::UGML)
        && !checker.allows(site, Platforms::CACHED_IMAGES)
    {
        checker.add_named(&rules::LSC_CACHING_DEFAULT, site, F::CacheL1, || {
            format!("caching .{}.{}", name(l1), name(l3))
        });
        return;
    }
    let sound = cached(l1, l3, message.action)
        || cached_since(l1, l3, message.action) && checker.allows(site, Platforms::CACHED_IMAGES);
    if !sound {
        checker.add_named(&rules::LSC_CACHING, site, F::CacheL1, || {
            format!("caching .{}.{}", name(l1), name(l3))
        });
    }
}

fn shape(checker: &mut Checker<'_, '_>, site: &Site<'_>, message: &Message<'_>) {
    let Some(bytes) = ElementSize::register_bytes(message.fields.size) else {
        return;
    };
    let (channels, transposed) = (message.channels, message.transposed());
    if transposed && (channels || site.lanes != 1 || message.action.is_atomic()) {
        let lanes = site.lanes;
        checker.add_named(&rules::LSC_TRANSPOSE, site, F::DataOrder, || {
            format!("transposed with execution size {lanes}")
        });
    }
    let elements = if channels {
        channel_mask(checker, site, message);
        (message.fields.mask & 0xf).count_ones()
    } else {
        let elements = Count::of_data_elems(message.fields.elements).unwrap_or(0);
        if elements > 0 {
            vector(checker, site, message, elements);
        }
        elements
    };
    if message.action.is_atomic() && !transposed {
        atomic(checker, site, message);
    }
    let registers = checker.registers.most;
    let filled = if transposed {
        (elements * bytes / registers).max(1)
    } else {
        elements * (bytes * u32::from(site.lanes) / registers).max(1)
    };
    if elements > 0 && filled > 8 {
        checker.add_named(&rules::LSC_PAYLOAD, site, F::DataElems, || {
            format!("data of {filled} registers")
        });
    }
}

fn channel_mask(checker: &mut Checker<'_, '_>, site: &Site<'_>, message: &Message<'_>) {
    let mask = message.fields.mask;
    let gaps = !(mask & 0xf).wrapping_add(1).is_power_of_two();
    // Stores to images have none anywhere.
    let sound = !gaps
        || message.action != Action::Store
        || message.sfid != sfid::TGM && checker.allows(site, Platforms::BASED_ADDRESSES);
    if mask & 0xf == 0 || mask > 0xf || !sound {
        checker.add_named(&rules::LSC_CHANNELS, site, F::ChMask, || {
            format!("channel mask {mask:#x}")
        });
    }
}

fn vector(checker: &mut Checker<'_, '_>, site: &Site<'_>, message: &Message<'_>, elements: u32) {
    let (code, transposed) = (message.fields.size, message.transposed());
    let wide = matches!(code, size::D32 | size::D64);
    let converted = matches!(code, size::D8C32 | size::D16C32 | size::D16C32H);
    if elements > 1 && ((!transposed && !wide) || converted) {
        checker.add_named(&rules::LSC_DATA_SIZE, site, F::DataSize, || {
            format!("vectors of {elements} {}", message.size_name())
        });
    }
    let sound = match message.sfid {
        _ if message.action.is_atomic() => elements == 1,
        _ if transposed => true,
        sfid::UGML => matches!(elements, 1 | 2 | 4),
        sfid::SLM | sfid::UGM => matches!(elements, 1 | 2 | 3 | 4 | 8),
        _ => true,
    };
    if !sound {
        checker.add_named(&rules::LSC_VECTOR, site, F::DataElems, || {
            format!("vectors of {elements} elements")
        });
    }
}

fn atomic(checker: &mut Checker<'_, '_>, site: &Site<'_>, message: &Message<'_>) {
    let code = message.fields.size;
    if !matches!(code, size::D16C32 | size::D32 | size::D64) {
        checker.add_named(&rules::LSC_DATA_SIZE, site, F::DataSize, || {
            format!("an atomic of {}", message.size_name())
        });
    }
    let Action::Atomic(op) = message.action else {
        return;
    };
    if message.sfid == sfid::SLM && code == size::D64 && op != AtomicOp::CompareExchange {
        checker.add_named(&rules::LSC_ATOMIC, site, F::DataSize, || {
            "an atomic of 64 bits on slm".to_string()
        });
    }
    let adds = matches!(op, AtomicOp::FloatAdd | AtomicOp::FloatSub);
    let units = match message.sfid {
        sfid::UGM => Platforms::all(),
        sfid::UGML => Platforms::GLOBAL_FLOAT_SUMS,
        sfid::TGM => Platforms::FLOAT_SUMS_OF_IMAGES,
        sfid::SLM => Platforms::LOCAL_FLOAT_SUMS,
        _ => Platforms::empty(),
    };
    if adds && !checker.allows(site, units) {
        let name = site.def.mnemonic();
        checker.add(&rules::LSC_ATOMIC, || {
            format!("{name} on a unit that has none")
        });
    }
}

fn addresses(checker: &mut Checker<'_, '_>, site: &Site<'_>, message: &Message<'_>) {
    let code = message.fields.address;
    let sound = match code {
        address::A16 => message.sfid == sfid::SLM,
        address::A64 => !matches!(message.sfid, sfid::TGM | sfid::SLM),
        _ => true,
    };
    if !sound {
        checker.add_named(&rules::LSC_ADDRESS_SIZE, site, F::AddrSize, || {
            format!(
                "addresses of size {}",
                LSC_ADDR_SIZE.name_of(code).unwrap_or("?")
            )
        });
    }
    for (slot, place) in places(site) {
        if !matches!(slot.def.name, F::Src0Addrs | F::Src0AddrBase) {
            continue;
        }
        let Some(ty) = checker.general(place.variable()).map(|general| general.ty) else {
            continue;
        };
        let fits = match AddressWidth::of_addr_size(code) {
            Some(64) => matches!(ty, DataType::Q | DataType::Uq),
            Some(32) => matches!(ty, DataType::D | DataType::Ud),
            _ => true,
        };
        if !fits {
            let name = LSC_ADDR_SIZE.name_of(code).unwrap_or("?");
            checker.add_to(&rules::LSC_ADDRESS_TYPE, slot, || {
                format!("{name} addresses of type {ty}")
            });
        }
    }
    let offset = message.fields.offset;
    if code == address::A16 && !(-0x7fff..=0x7fff).contains(&offset) {
        checker.add_named(&rules::LSC_ADDRESS_SIZE, site, F::AddrOffset, || {
            format!("offset {offset} of a16 addresses")
        });
    }
    let scale = message.fields.scale;
    let plain = scale == 0 || scale.is_power_of_two();
    if !plain && !checker.allows(site, Platforms::BASED_ADDRESSES) {
        checker.add_named(&rules::LSC_SCALE, site, F::AddrScale, || {
            format!("scale {scale}")
        });
    }
}

fn surface(checker: &mut Checker<'_, '_>, site: &Site<'_>, message: &Message<'_>) {
    let Some(base) = message.fields.surface else {
        return;
    };
    let wrong = match message.fields.model {
        model::FLAT | model::ARG => {
            let based = match base {
                VectorOperand::Immediate(o) => o.bits() != 0,
                VectorOperand::General(o) => o.variable != VarId::NULL,
                _ => true,
            };
            if message.sfid == sfid::TGM {
                Some("tgm is addressed flat")
            } else if based && !checker.allows(site, Platforms::BASED_ADDRESSES) {
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
        checker.add_named(&rules::LSC_ADDRESS_MODEL, site, F::AddrType, || {
            wrong.to_string()
        });
    }
}

fn data_operands(checker: &mut Checker<'_, '_>, site: &Site<'_>, message: &Message<'_>) {
    // Whether the operand is required; the result may be null except in stores.
    let (dst, src1, src2) = match message.action {
        Action::Load | Action::Status | Action::Query | Action::CacheControl => {
            (None, false, false)
        }
        Action::Store => (Some(false), true, false),
        Action::Atomic(op) => (None, op.operands() > 0, op.operands() > 1),
        _ => return,
    };
    // Counters keep their operand under another name.
    let counter = site.raw(F::Src0Data);
    for (name, operand, needed) in [
        (F::Dst, message.fields.dst, dst),
        (F::Src1Data, message.fields.src1, Some(src1)),
        (F::Src2Data, message.fields.src2, Some(src2)),
        (F::Src0Data, counter, Some(true)),
    ] {
        if let Some(needed) = needed
            && operand.is_some_and(|raw| raw.is_null() == needed)
        {
            let what = if needed {
                "the operand is null, and is needed"
            } else {
                "the operand is not used, and must be null"
            };
            checker.add_named(&rules::LSC_OPERANDS, site, name, || what.to_string());
        }
    }
}

fn pitch(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let wrong = match site.vector(F::Src0AddrPitch) {
        Some(VectorOperand::Immediate(o)) => o.bits() > 0xffff,
        Some(VectorOperand::General(o)) => o.variable == VarId::NULL,
        _ => return,
    };
    if wrong {
        checker.add_named(&rules::LSC_PITCH, site, F::Src0AddrPitch, || {
            "the pitch is null or does not fit into 16 bits".to_string()
        });
    }
}
