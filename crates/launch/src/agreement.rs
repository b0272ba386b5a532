//! Checks that a kernel and its metadata agree: a text with the metadata of another compilation would run, with wrong
//! results.

use crate::error::LaunchError;
use crate::payload::Layout;
use crate::zeinfo::{AddrMode, KernelInfo};
use visakit_exec::{InputClass, Program};
use visakit_isa::object::{Attribute, Body};
use visakit_isa::table::Op;
use visakit_isa::{Value, VarId, VectorOperand};

/// The inputs that a program takes from its payload: offset and size in bytes.
pub(crate) fn payload_inputs(program: &Program) -> Vec<(u32, u32)> {
    general(program).map(|(place, _)| place).collect()
}

/// These inputs, with their variables.
fn general(program: &Program) -> impl Iterator<Item = ((u32, u32), VarId)> + '_ {
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let inputs = program.inputs().iter();
    let inputs = inputs.filter(|input| input.class == InputClass::General);
    inputs.map(move |input| {
        let place = (small(input.image_offset), small(input.size));
        (place, VarId(input.index))
    })
}

/// Compares the attributes and inputs of a kernel with the metadata.
///
/// # Errors
/// [`LaunchError::Mismatch`] with everything that differs.
pub(crate) fn check(
    body: &Body<'_>,
    info: &KernelInfo,
    program: &Program,
    layout: &Layout,
) -> Result<(), LaunchError> {
    let stated = |name| body.attribute(name).and_then(Attribute::number);
    let environment = &info.execution_env;
    let mut differences = Vec::new();
    let mut differ = |what: &str, kernel: u64, metadata: u64| {
        differences.push(format!(
            "{what}: {kernel} in the kernel, {metadata} in the metadata"
        ));
    };
    // (attribute, description, value in the metadata, whether the metadata may be larger)
    let scratch = info.scratch_bytes();
    // Code for vectors states the lanes that there are, its metadata the work-items of a thread: one.
    let simd = match environment.simd_size {
        1 => stated("SimdSize").unwrap_or(1),
        simd => simd.into(),
    };
    for (name, what, metadata, or_more) in [
        ("SimdSize", "SIMD size", simd, false),
        (
            "PerThreadInputSize",
            "bytes of data of each thread",
            info.per_thread_registers(layout.grf_bytes).into(),
            false,
        ),
        ("SpillMemOffset", "bytes of scratch memory", scratch, true),
        (
            "NBarrierCnt",
            "barriers",
            environment.barrier_count.into(),
            true,
        ),
    ] {
        if let Some(kernel) = stated(name)
            && kernel != metadata
            && !(or_more && kernel < metadata)
        {
            differ(what, kernel, metadata);
        }
    }
    let unknown = unlisted(body, info, program, layout);
    if differences.is_empty() {
        return match unknown.as_slice() {
            [] => Ok(()),
            unknown => Err(LaunchError::Payload(format!(
                "{} of its payload, and the metadata do not tell what to put there: compilers that write metadata \
                 before version 1.15, such as IGC 1.0.5353, list no samplers, sizes of images, offsets of buffers, \
                 work dimensions or buffers of printf, or the metadata are those of another compilation; compile with \
                 a newer release, or take the metadata of the same compilation",
                unknown.join(", ")
            ))),
        };
    }
    differences.extend(unknown.into_iter().map(|bytes| {
        format!("an input at {bytes} of the payload, of which the metadata know nothing")
    }));
    Err(LaunchError::Mismatch(format!(
        "{}; take the metadata of the same compilation",
        differences.join("; ")
    )))
}

/// Inputs after the local ids that have no byte in common with any piece of the metadata, as `bytes 36 to 40`. Places
/// are those of the `.input` lines. Offsets of buffers are left out: they are 0.
fn unlisted(body: &Body<'_>, info: &KernelInfo, program: &Program, layout: &Layout) -> Vec<String> {
    let pieces = info.payload_arguments.iter().filter(|piece| piece.size > 0);
    let pieces = pieces.map(|piece| {
        let last = piece.offset.saturating_add(piece.size - 1);
        (layout.place(piece.offset), layout.place(last))
    });
    let pieces: Vec<_> = pieces.collect();
    let end = pieces.iter().map(|(_, last)| *last).max().unwrap_or(0);
    let unlisted = general(program).filter(|((at, size), _)| {
        let last = at.saturating_add(size.saturating_sub(1));
        *at >= layout.cross && !pieces.iter().any(|(from, to)| *from <= last && at <= to)
    });
    let unlisted: Vec<_> = unlisted.collect();
    let pointers = info.payload_arguments.iter();
    let pointers = pointers.filter(|piece| piece.addrmode == Some(AddrMode::Stateful));
    let are_offsets = unlisted.len() <= pointers.count();
    let unlisted = unlisted.into_iter().filter(|((at, size), variable)| {
        let is_offset = *size == 4 && *at < end && only_added(body, *variable);
        !(are_offsets && is_offset)
    });
    let bytes =
        |((at, size), _): ((u32, u32), _)| format!("bytes {at} to {}", at.saturating_add(size));
    unlisted.map(bytes).collect()
}

/// Whether a kernel only adds this variable to something, as compilers do it with the offset of a buffer.
fn only_added(body: &Body<'_>, variable: VarId) -> bool {
    let mut aliases = body.variables.iter().map(|known| known.alias);
    let mentions = |value: &Value| match value {
        Value::Vector(VectorOperand::General(operand)) => operand.variable == variable,
        Value::Raw(operand) => operand.variable == variable,
        _ => false,
    };
    let mut instructions = body.instructions();
    !aliases.any(|alias| alias == variable)
        && instructions.all(|i| i.op == Op::ADD || !i.fields.iter().any(|f| mentions(&f.value)))
}
