//! Sizes of operands without a region.

use crate::checker::{Checker, Site};
use crate::rules;
use crate::storage::{Place, places};
use alloc::format;
use visakit_isa::semantics::{DataLayout, Payload, Traits};

/// Bytes of an OWord.
const OWORD: u32 = 16;

/// There is space for what the instruction reads and writes. If all lanes are disabled or out of bounds nothing is
/// transferred, so that programs may be correct nevertheless.
pub(crate) fn check(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    // Smaller registers never need more.
    let grf = checker.registers.least;
    let payload = Payload::of(site.instruction, grf);
    // Compilers move data that does not fill the last OWord of a block.
    let unused = match site.def.memory {
        Some(memory) if memory.layout == DataLayout::Block => OWORD - 1,
        _ => 0,
    };
    let regions = !site.def.traits.contains(Traits::SYSTOLIC);
    for (slot, place) in places(site) {
        if regions && matches!(place, Place::General(_)) {
            continue;
        }
        let Some(general) = checker.general(place.variable()) else {
            continue;
        };
        let (Some(size), Some(bytes)) =
            (general.root_size, payload.bytes(slot.def.name, general.ty))
        else {
            continue;
        };
        let start = general
            .offset
            .saturating_add(place.offset(general.ty.size().into(), grf));
        let left = size.saturating_sub(start);
        // What begins outside has a rule of its own.
        if left > 0 && bytes > left.saturating_add(unused) {
            checker.add_to(&rules::RAW_SIZE, slot, || {
                format!("{bytes} bytes of data where {left} are left of the variable")
            });
        }
    }
}
