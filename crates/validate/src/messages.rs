//! Messages: data port, sampler, SVM, sends and the rest.

use crate::checker::{Checker, Site};
use crate::{rules, systolic};
use alloc::format;
use alloc::string::ToString;
use visakit_isa::operand::{SamplerOpFlags, VectorOperand};
use visakit_isa::semantics::{
    AtomicOp, Count, DataLayout, ElementSize, Ending, Memory, Storage, Traits,
};
use visakit_isa::table::{Group, Status};
use visakit_isa::{DataType, Features, FieldName as F, Op, Value};

pub(crate) fn check(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let def = site.def;
    if let Some(memory) = &def.memory {
        accesses(checker, site, memory);
    } else if def.ending != Ending::Never {
        send(checker, site);
    } else if def.traits.contains(Traits::SYSTOLIC) {
        systolic::check(checker, site);
    }
    match def.group {
        Group::Svm => svm(checker, site),
        Group::DataPort => data_port(checker, site),
        _ => {}
    }
    if def.traits.contains(Traits::IMAGES_ONLY) {
        local_surface(checker, site);
    }
}

/// Messages with a memory column.
fn accesses(checker: &mut Checker<'_, '_>, site: &Site<'_>, memory: &Memory) {
    if let Count::Channels(name) = memory.count {
        channels(checker, site, name);
    }
    if memory.storage == Storage::Urb {
        return urb_write(checker, site);
    }
    match site.def.group {
        Group::ThreeD if memory.layout == DataLayout::Sampled => sampler(checker, site),
        Group::DataPort => match memory.element {
            ElementSize::Log2 => element_type(checker, site),
            ElementSize::BlockSize => block_size(checker, site),
            ElementSize::AtomicCode if memory.storage == Storage::Surface && site.sized => {
                atomic(checker, site);
            }
            _ if memory.layout == DataLayout::Rectangle
                && site.def.traits.contains(Traits::IMAGES_ONLY) =>
            {
                media(checker, site);
            }
            _ => {}
        },
        _ => {}
    }
}

/// Media, typed and sampler messages leave shared local memory alone.
fn local_surface(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let typed = site.def.group == Group::DataPort
        && site
            .def
            .memory
            .is_some_and(|m| m.layout == DataLayout::Texels);
    // Before 3.2 typed messages had another form, which is not checked.
    if typed && !checker.format.features().contains(Features::SINCE_3_2) {
        return;
    }
    for name in [F::Surface, F::DstSurface] {
        let Some(Value::Surface(surface)) = site.instruction.get(name) else {
            continue;
        };
        let stateless = typed && surface.0 == 5;
        if surface.0 == 0 || stateless {
            let mnemonic = site.def.mnemonic();
            checker.add_named(&rules::LOCAL_SURFACE, site, name, || {
                format!("{mnemonic} on surface {surface}")
            });
        }
    }
}

fn media(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let (width, height) = (site.byte(F::BlockWidth), site.byte(F::BlockHeight));
    let most = match width {
        1..=4 => 64,
        5..=8 => 32,
        9..=16 => 16,
        17..=32 => 8,
        33..=64 => 4,
        _ => 0,
    };
    let size = u32::from(width) * u32::from(height);
    if most == 0 || height == 0 || height > most || size > 256 {
        let field = if most == 0 {
            F::BlockWidth
        } else {
            F::BlockHeight
        };
        checker.add_named(&rules::MEDIA_BLOCK, site, field, || {
            format!("a block of {width} bytes by {height} rows")
        });
    }
}

fn element_type(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    for name in [F::Dst, F::Src] {
        if let Some(ty) = checker.raw_type(site, name)
            && ty.size() != 4
        {
            checker.add_named(&rules::DATA_SIZE, site, name, || {
                format!("data of type {ty}")
            });
        }
    }
}

fn block_size(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let size = site.byte(F::BlockSize);
    if size != 0 {
        checker.add_named(&rules::BLOCK_SIZE, site, F::BlockSize, || {
            format!("block size {size}, expected 0 (byte)")
        });
    }
}

/// The channels that the low four bits of a field enable; bits 4 and 5 may be a format, or lanes.
fn channels(checker: &mut Checker<'_, '_>, site: &Site<'_>, name: F) {
    // The effects of 3D messages without channels and of retired messages are not specified
    // anywhere.
    if site.def.group == Group::ThreeD || site.def.status == Status::Retired {
        return;
    }
    let Some(mask) = site.number(name) else {
        return;
    };
    if mask & 0xf == 0 {
        checker.add_named(&rules::PIXEL_MASK, site, name, || {
            "no channel is enabled".to_string()
        });
    }
    // The old sampler messages keep their lanes in the same byte.
    if name == F::Mode && mask >> 4 & 3 > 1 {
        checker.add_named(&rules::SAMPLE_LANES, site, name, || {
            format!("lane code {}, expected 0 or 1", mask >> 4 & 3)
        });
    }
}

fn atomic(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    use DataType::{D, F as Float, Ud};
    let code = site.byte(F::Op);
    let op = AtomicOp::from_code(code);
    let operands = op.map_or(1, AtomicOp::operands);
    let types: &[DataType] = match op {
        Some(op) if op.is_float() => &[Float],
        Some(AtomicOp::SignedMin | AtomicOp::SignedMax) => &[D],
        Some(AtomicOp::Add | AtomicOp::Sub) => &[Ud, D],
        _ => &[Ud],
    };
    for (name, needed) in [(F::Src0, operands > 0), (F::Src1, operands > 1)] {
        // An operand that is needed may be null where the mask is empty; only too many are refused.
        if !needed && site.raw(name).is_some_and(|raw| !raw.is_null()) {
            checker.add_named(&rules::ATOMIC_OPERANDS, site, name, || {
                format!("the operation takes {operands} operands, this one must be null")
            });
        }
    }
    // Data of 16 and 64 bits is declared as its producer likes.
    let plain = code & !0x1f == 0;
    let all: &[(F, &[DataType])] = &[
        (F::ElementOffset, &[DataType::Ud]),
        (F::Src0, types),
        (F::Src1, types),
        (F::Dst, types),
    ];
    for (name, types) in all
        .iter()
        .filter(|(name, _)| plain || *name == F::ElementOffset)
    {
        if let Some(ty) = checker.raw_type(site, *name)
            && !types.contains(&ty)
        {
            checker.add_named(&rules::ATOMIC_TYPES, site, *name, || {
                format!(
                    "type {ty}, expected {}",
                    types.first().map_or("ud", |t| t.name())
                )
            });
        }
    }
}

fn sampler(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    use visakit_isa::enums::sampler_op as code;
    /// The number of parameters of the longest message.
    const MOST: usize = 12;
    let parameters = site.instruction.all(F::Params).count();
    if parameters == 0 || parameters > MOST {
        checker.add(&rules::SAMPLER_PARAMETERS, || {
            format!("{parameters} parameters")
        });
    }
    let Some(Value::SamplerOp(op)) = site.instruction.get(F::Op) else {
        return;
    };
    // The operation's codes are shared: load and gather have the switch, too, and ignore it.
    let sample = site.instruction.op == Op::SAMPLE_3D;
    if !sample || !op.flags().contains(SamplerOpFlags::CPS) {
        return;
    }
    let has = matches!(
        op.code(),
        code::SAMPLE_3D
            | code::SAMPLE_B
            | code::SAMPLE_C
            | code::SAMPLE_B_C
            | code::LOD
            | code::SAMPLE_PO
            | code::SAMPLE_PO_B
            | code::SAMPLE_PO_C
    );
    if !has || !matches!(site.lanes, 8 | 16) {
        let lanes = site.lanes;
        checker.add_named(&rules::COARSE_PIXELS, site, F::Op, || {
            format!(
                "coarse pixels for operation {} with {lanes} lanes",
                op.code()
            )
        });
    }
}

fn urb_write(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let rows = site.byte(F::NumOut);
    if !(1..=8).contains(&rows) {
        checker.add_named(&rules::URB_WRITE, site, F::NumOut, || {
            format!("{rows} rows")
        });
    }
    let offset = site.number(F::GlobalOffset).unwrap_or(0);
    if offset > 2047 {
        checker.add_named(&rules::URB_WRITE, site, F::GlobalOffset, || {
            format!("offset {offset}")
        });
    }
    if !matches!(site.lanes, 1 | 8) {
        let lanes = site.lanes;
        checker.add_named(&rules::URB_WRITE, site, F::ExecSize, || {
            format!("execution size {lanes}")
        });
    }
}

/// Raw messages, split ones and others.
fn send(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let whole: &[(F, u8, u8)] = &[(F::NumSrc, 1, 15), (F::NumDst, 0, 16)];
    let split: &[(F, u8, u8)] = &[(F::NumSrc0, 1, 32), (F::NumSrc1, 0, 32), (F::NumDst, 0, 32)];
    let has = |name| site.def.field(name).is_some();
    let limits = match (has(F::NumSrc), has(F::NumSrc0)) {
        (true, _) => whole,
        (_, true) => split,
        _ => return,
    };
    for (name, least, most) in limits {
        let length = site.byte(*name);
        if !(*least..=*most).contains(&length) {
            checker.add_named(&rules::SEND_LENGTH, site, *name, || {
                format!("{length} registers, expected {least} to {most}")
            });
        }
    }
    let Some(VectorOperand::Immediate(descriptor)) = site.vector(F::Desc) else {
        return;
    };
    if !has(F::NumSrc) {
        return;
    }
    // Bits 20 to 24: length of the response; bits 25 to 28: length of the message.
    let bits = descriptor.bits();
    for (name, said) in [
        (F::NumDst, bits >> 20 & 0x1f),
        (F::NumSrc, bits >> 25 & 0xf),
    ] {
        let length = u64::from(site.byte(name));
        if length < said {
            checker.add_named(&rules::SEND_LENGTH, site, name, || {
                format!("{length} registers, the descriptor says {said}")
            });
        }
    }
}

fn svm(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    if site.sized && site.lanes == 32 {
        checker.add_named(&rules::MESSAGE_LANES, site, F::ExecSize, || {
            "execution size 32".to_string()
        });
    }
    let blocks = site.byte(F::NumBlocks) & 3;
    if blocks > 0 && site.lanes < 8 {
        let lanes = site.lanes;
        checker.add_named(&rules::BLOCK_LANES, site, F::NumBlocks, || {
            format!("{} blocks for {lanes} lanes", 1 << blocks)
        });
    }
    scale(checker, site);
}

fn scale(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let scale = site.number(F::Scale).unwrap_or(0);
    if scale != 0 {
        checker.add_named(&rules::SCALE, site, F::Scale, || format!("scale {scale}"));
    }
}

fn data_port(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    scale(checker, site);
    let new = checker.format.features().contains(Features::SINCE_3_2);
    if site.sized && new && !matches!(site.lanes, 1 | 8 | 16) {
        let lanes = site.lanes;
        checker.add_named(&rules::SCALED_LANES, site, F::ExecSize, || {
            format!("execution size {lanes}")
        });
    }
}
