//! Objects of `visakit-smith` in both machines.

use crate::compare::{Verdict, compare, prune};
use crate::generate::Case;
use crate::memory::Binding;
use visakit_isa::object::Object;
use visakit_smith::{FuzzInput, Platform, SURFACE_BYTES, SURFACES, SurfaceKind};

/// A case of an object that the generator calls executable, for one thread with all its lanes.
#[must_use]
pub fn case(object: Object<'static>, platform: Platform) -> Case {
    let simd = object.kernels.first().and_then(|kernel| {
        let attribute = kernel.body()?.attribute("SimdSize")?;
        u32::try_from(attribute.number()?).ok()
    });
    let lanes = simd.unwrap_or(32).clamp(1, 32);
    let bytes = usize::try_from(SURFACE_BYTES).unwrap_or(0);
    Case {
        grf: platform.grf_bytes() as usize,
        buffers: vec![(0..=250u8).cycle().take(bytes).collect(); SURFACES.len()],
        addresses: (1..=SURFACES.len() as u64).map(|n| n << 16).collect(),
        local_bytes: bytes,
        bindings: (0..SURFACES.len())
            .zip(SURFACES)
            .map(|(buffer, (entry, _))| (Binding::Table(entry.into()), buffer))
            .collect(),
        images: SURFACES.into_iter().filter_map(image).collect(),
        ..Case::of_thread(object, u32::MAX >> (32 - lanes), Vec::new())
    }
}

/// Entry of an image, and bytes of its texels.
fn image((entry, kind): (u8, SurfaceKind)) -> Option<(u32, usize)> {
    match kind {
        SurfaceKind::Linear => None,
        SurfaceKind::Bytes => Some((entry.into(), 1)),
        SurfaceKind::Texels => Some((entry.into(), 16)),
    }
}

/// The verdict on the object that a fuzzer's bytes describe. What the definitions leave open is
/// removed first. Edits of the bytes are not applied: a meaningless object has no correct result.
#[must_use]
pub fn run(data: &[u8]) -> Verdict {
    let shaped = FuzzInput::new(data);
    let mut case = case(shaped.object, shaped.config.platform);
    let _ = prune(&mut case);
    compare(&case)
}

/// Body of the fuzz target: both machines agree.
///
/// # Panics
/// If they do not, or the generated object does not run.
pub fn agree(data: &[u8]) {
    match run(data) {
        Verdict::Agree => {}
        Verdict::Differ(differences) => match differences.first() {
            Some(first) => unreachable!("{first}"),
            None => unreachable!("they differ in nothing"),
        },
        Verdict::Fault(message) => unreachable!("the fast machine: {message}"),
        Verdict::Undefined(halt) => unreachable!("the slow machine: {halt:?}"),
    }
}
