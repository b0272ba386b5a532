//! Checks that a kernel and its metadata agree: a text with the metadata of another compilation would run, with wrong
//! results.

use crate::error::LaunchError;
use crate::payload::Layout;
use crate::zeinfo::KernelInfo;
use visakit_isa::object::{Attribute, Body};

/// Compares the attributes and inputs of a kernel with the metadata. Inputs are offset and size in bytes.
///
/// # Errors
/// [`LaunchError::Mismatch`] with everything that differs.
pub(crate) fn check(
    body: &Body<'_>,
    info: &KernelInfo,
    inputs: &[(u32, u32)],
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
    let ends = info.payload_arguments.iter();
    let end = ends.map(|a| a.offset.saturating_add(a.size)).max();
    let end = layout.place(end.unwrap_or(0));
    for (at, size) in inputs {
        if *at >= layout.cross && *at >= end {
            let end = at.saturating_add(*size);
            differences.push(format!(
                "an input at bytes {at} to {end} of the payload, of which the metadata know nothing"
            ));
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(LaunchError::Mismatch(format!(
        "{}; take the metadata of the same compilation",
        differences.join("; ")
    )))
}
