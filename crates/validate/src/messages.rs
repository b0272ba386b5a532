//! Messages: data port, sampler, SVM, sends and the rest.

use crate::checker::{Checker, Looked};
use crate::rules;
use alloc::string::ToString;
use visakit_isa::enums::atomic_op as atomic;
use visakit_isa::operand::{Modifier, SamplerOpFlags, VectorOperand};
use visakit_isa::table::Group;
use visakit_isa::{DataType, Features, FieldName as F, Op, Value};

pub(crate) fn check(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    match at.op {
        Op::MEDIA_LD | Op::MEDIA_ST => media(checker, at),
        Op::GATHER | Op::SCATTER => element_type(checker, at),
        Op::GATHER4_TYPED | Op::SCATTER4_TYPED => typed(checker, at),
        Op::DWORD_ATOMIC => dword_atomic(checker, at),
        Op::GATHER_SCALED | Op::SCATTER_SCALED => {
            let size = at.byte(F::BlockSize);
            if size != 0 {
                checker.add_named(&rules::BLOCK_SIZE, at, F::BlockSize, || {
                    alloc::format!("block size {size}, expected 0 (byte)")
                });
            }
        }
        Op::SAMPLE | Op::LOAD => sample(checker, at),
        Op::SAMPLE_UNORM | Op::AVS => {
            // Bits 4 and 5 of the channel byte are a format.
            channels(checker, at, at.byte(F::Channels) & 0xf);
        }
        Op::SAMPLE_3D | Op::LOAD_3D | Op::GATHER4_3D => sampler(checker, at),
        Op::URB_WRITE_3D => urb_write(checker, at),
        Op::RAW_SEND => send(checker, at),
        Op::RAW_SENDS => send_lengths(
            checker,
            at,
            &[(F::NumSrc0, 1, 32), (F::NumSrc1, 0, 32), (F::NumDst, 0, 32)],
        ),
        Op::DPAS | Op::DPASW => dpas(checker, at),
        _ => {}
    }
    match at.def.group {
        Group::Svm => svm(checker, at),
        Group::DataPort => scaled(checker, at),
        _ => {}
    }
    local_surface(checker, at);
}

/// Media, typed and sampler messages leave shared local memory alone.
fn local_surface(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let typed = matches!(at.op, Op::GATHER4_TYPED | Op::SCATTER4_TYPED);
    let media = matches!(at.op, Op::MEDIA_LD | Op::MEDIA_ST);
    let samples = matches!(at.op, Op::SAMPLE_UNORM | Op::SAMPLE | Op::LOAD | Op::AVS);
    let analytics = matches!(at.op.opcode(), 0x44 | 0x4d);
    if !(typed || media || samples || analytics) {
        return;
    }
    for name in [F::Surface, F::DstSurface] {
        let Some(Value::Surface(surface)) = at.instruction.get(name) else {
            continue;
        };
        let stateless = typed && surface.0 == 5;
        // Before 3.2 typed messages had another form, which is not looked at.
        let new = checker.format.features().contains(Features::SINCE_3_2);
        if (surface.0 == 0 || stateless) && (!typed || new) {
            let mnemonic = at.def.mnemonic();
            checker.add_named(&rules::LOCAL_SURFACE, at, name, || {
                alloc::format!("{mnemonic} on surface {surface}")
            });
        }
    }
}

fn media(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let (width, height) = (at.byte(F::BlockWidth), at.byte(F::BlockHeight));
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
        checker.add_named(&rules::MEDIA_BLOCK, at, field, || {
            alloc::format!("a block of {width} bytes by {height} rows")
        });
    }
}

/// The type of the variable of a raw operand; `None` for null and predefined ones.
fn raw_type(checker: &Checker<'_, '_>, at: &Looked<'_>, name: F) -> Option<DataType> {
    let general = checker.general(at.raw(name)?.variable)?;
    general.declared.is_some().then_some(general.ty)
}

fn element_type(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    for name in [F::Dst, F::Src] {
        if let Some(ty) = raw_type(checker, at, name)
            && ty.size() != 4
        {
            checker.add_named(&rules::DATA_SIZE, at, name, || {
                alloc::format!("data of type {ty}")
            });
        }
    }
}

fn channels(checker: &mut Checker<'_, '_>, at: &Looked<'_>, enabled: u8) {
    if enabled == 0 {
        checker.add_named(&rules::PIXEL_MASK, at, F::Channels, || {
            "no channel is enabled".to_string()
        });
    }
}

fn typed(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    if checker.format.features().contains(Features::SINCE_3_2) {
        channels(checker, at, at.byte(F::Channels) & 0xf);
    }
}

fn dword_atomic(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let op = at.byte(F::Op);
    let code = visakit_isa::enums::ATOMIC_OP.code_of(op);
    let (operands, types): (u8, &[DataType]) = match code {
        atomic::INC | atomic::DEC | atomic::PREDEC => (0, &[DataType::Ud]),
        atomic::CMPXCHG => (2, &[DataType::Ud]),
        atomic::FCMPWR => (2, &[DataType::F]),
        atomic::FMAX | atomic::FMIN | atomic::FADD | atomic::FSUB => (1, &[DataType::F]),
        atomic::MINSINT | atomic::MAXSINT => (1, &[DataType::D]),
        atomic::ADD | atomic::SUB => (1, &[DataType::Ud, DataType::D]),
        _ => (1, &[DataType::Ud]),
    };
    for (name, needed) in [(F::Src0, operands > 0), (F::Src1, operands > 1)] {
        let Some(raw) = at.raw(name) else { continue };
        // An operand that is needed may be null where the mask is empty; only too many are refused.
        if !needed && !raw.is_null() {
            checker.add_named(&rules::ATOMIC_OPERANDS, at, name, || {
                alloc::format!("the operation takes {operands} operands, this one must be null")
            });
        }
    }
    // Data of 16 and 64 bits is declared as its producer likes.
    let plain = op & !0x1f == 0;
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
        if let Some(ty) = raw_type(checker, at, *name)
            && !types.contains(&ty)
        {
            checker.add_named(&rules::ATOMIC_TYPES, at, *name, || {
                alloc::format!(
                    "type {ty}, expected {}",
                    types.first().map_or("ud", |t| t.name())
                )
            });
        }
    }
}

fn sample(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let mode = at.byte(F::Mode);
    if mode & 0xf == 0 {
        checker.add_named(&rules::PIXEL_MASK, at, F::Mode, || {
            "no channel is enabled".to_string()
        });
    }
    if mode >> 4 & 3 > 1 {
        checker.add_named(&rules::SAMPLE_LANES, at, F::Mode, || {
            alloc::format!("lane code {}, expected 0 or 1", mode >> 4 & 3)
        });
    }
}

fn sampler(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    use visakit_isa::enums::sampler_op as code;
    /// So many parameters has the longest message.
    const MOST: usize = 12;
    let parameters = at.instruction.all(F::Params).count();
    if parameters == 0 || parameters > MOST {
        checker.add(&rules::SAMPLER_PARAMETERS, || {
            alloc::format!("{parameters} parameters")
        });
    }
    let Some(Value::SamplerOp(op)) = at.instruction.get(F::Op) else {
        return;
    };
    if at.op != Op::SAMPLE_3D || !op.flags().contains(SamplerOpFlags::CPS) {
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
    if !has || !matches!(at.lanes, 8 | 16) {
        let lanes = at.lanes;
        checker.add_named(&rules::COARSE_PIXELS, at, F::Op, || {
            alloc::format!(
                "coarse pixels for operation {} with {lanes} lanes",
                op.code()
            )
        });
    }
}

fn urb_write(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let rows = at.byte(F::NumOut);
    if !(1..=8).contains(&rows) {
        checker.add_named(&rules::URB_WRITE, at, F::NumOut, || {
            alloc::format!("{rows} rows")
        });
    }
    let offset = at.number(F::GlobalOffset).unwrap_or(0);
    if offset > 2047 {
        checker.add_named(&rules::URB_WRITE, at, F::GlobalOffset, || {
            alloc::format!("offset {offset}")
        });
    }
    if !matches!(at.lanes, 1 | 8) {
        let lanes = at.lanes;
        checker.add_named(&rules::URB_WRITE, at, F::ExecSize, || {
            alloc::format!("execution size {lanes}")
        });
    }
}

fn send_lengths(checker: &mut Checker<'_, '_>, at: &Looked<'_>, limits: &[(F, u8, u8)]) {
    for (name, least, most) in limits {
        let length = at.byte(*name);
        if !(*least..=*most).contains(&length) {
            checker.add_named(&rules::SEND_LENGTH, at, *name, || {
                alloc::format!("{length} registers, expected {least} to {most}")
            });
        }
    }
}

fn send(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    send_lengths(checker, at, &[(F::NumSrc, 1, 15), (F::NumDst, 0, 16)]);
    let Some(VectorOperand::Immediate(descriptor)) = at.vector(F::Desc) else {
        return;
    };
    // Bits 20 to 24: length of the response; bits 25 to 28: length of the message.
    let bits = descriptor.bits();
    for (name, said) in [
        (F::NumDst, bits >> 20 & 0x1f),
        (F::NumSrc, bits >> 25 & 0xf),
    ] {
        let length = u64::from(at.byte(name));
        if length < said {
            checker.add_named(&rules::SEND_LENGTH, at, name, || {
                alloc::format!("{length} registers, the descriptor says {said}")
            });
        }
    }
}

fn dpas(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    use DataType::{Bf, D, F as Float, Hf, Ud, Uw, W};
    if at.instruction.predicate().is_some_and(|p| !p.is_none()) {
        checker.add_named(&rules::PREDICATION, at, F::Pred, || {
            "dpas is predicated".to_string()
        });
    }
    if !matches!(at.lanes, 8 | 16) {
        let lanes = at.lanes;
        checker.add_named(&rules::DPAS_LANES, at, F::ExecSize, || {
            alloc::format!("execution size {lanes}, expected 8 or 16")
        });
    }
    let types: [(F, &[DataType]); 3] = [
        (F::Dst, &[Ud, D, Float, Hf, Bf, Uw, W]),
        (F::Src0, &[Ud, D, Float, Hf, Bf, Uw, W]),
        (F::Src1, &[Ud, D]),
    ];
    for (name, types) in types {
        if let Some(ty) = raw_type(checker, at, name)
            && !types.contains(&ty)
        {
            checker.add_named(&rules::DPAS_TYPES, at, name, || alloc::format!("type {ty}"));
        }
    }
    let Some(last) = at.vector(F::Src2) else {
        return;
    };
    let ty = checker.type_of(last);
    if ty.is_some_and(|t| !matches!(t, Ud | D)) || last.modifier() != Modifier::NONE {
        checker.add_named(&rules::DPAS_TYPES, at, F::Src2, || {
            let ty = ty.map_or("?", DataType::name);
            alloc::format!("type {ty} or a modifier, expected plain ud or d")
        });
    }
}

fn svm(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    if at.sized && at.lanes == 32 {
        checker.add_named(&rules::MESSAGE_LANES, at, F::ExecSize, || {
            "execution size 32".to_string()
        });
    }
    let blocks = at.byte(F::NumBlocks) & 3;
    if matches!(at.op, Op::SVM_GATHER | Op::SVM_SCATTER) && blocks > 0 && at.lanes < 8 {
        let lanes = at.lanes;
        checker.add_named(&rules::BLOCK_LANES, at, F::NumBlocks, || {
            alloc::format!("{} blocks for {lanes} lanes", 1 << blocks)
        });
    }
    scale(checker, at);
    if matches!(at.op, Op::SVM_GATHER4SCALED | Op::SVM_SCATTER4SCALED) {
        channels(checker, at, at.byte(F::Channels) & 0xf);
    }
}

fn scale(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let scale = at.number(F::Scale).unwrap_or(0);
    if scale != 0 {
        checker.add_named(&rules::SCALE, at, F::Scale, || {
            alloc::format!("scale {scale}")
        });
    }
}

fn scaled(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    scale(checker, at);
    if matches!(at.op, Op::GATHER4_SCALED | Op::SCATTER4_SCALED) {
        channels(checker, at, at.byte(F::Channels) & 0xf);
    }
    let new = checker.format.features().contains(Features::SINCE_3_2);
    if at.sized && new && !matches!(at.lanes, 1 | 8 | 16) {
        let lanes = at.lanes;
        checker.add_named(&rules::SCALED_LANES, at, F::ExecSize, || {
            alloc::format!("execution size {lanes}")
        });
    }
}
