//! Regions: their allowed values, and their extent.

use crate::checker::{Checker, Site, Slot};
use crate::rules;
use crate::storage::General;
use alloc::format;
use alloc::string::ToString;
use visakit_isa::operand::{GeneralOperand, IndirectOperand, RegionCode};
use visakit_isa::semantics::Traits;
use visakit_isa::table::{Group, Role};
use visakit_isa::{FieldName, Region, VarId};

/// Whether the region of an operand is used.
fn matters(site: &Site<'_>, slot: Slot<'_>) -> bool {
    // Instructions that work across lanes (PLANE) ignore regions in hardware, too; for others that
    // ignore them (LRP) the reference implementation requires valid ones.
    const IGNORED: Traits = Traits::REGIONS_IGNORED.union(Traits::ACROSS_LANES);
    match site.def.group {
        Group::Arithmetic | Group::Logic | Group::Move | Group::Compare => {
            !slot.def.scalar && !site.def.traits.contains(IGNORED)
        }
        // The address of the first operand is taken.
        Group::Address => slot.def.name != FieldName::Src0,
        _ => false,
    }
}

/// The horizontal stride, if it is sound.
fn stride(checker: &mut Checker<'_, '_>, slot: Slot<'_>, code: RegionCode) -> Option<u32> {
    match code.elements() {
        Some(0) if slot.def.role == Role::Destination => {
            checker.add_to(&rules::DESTINATION_STRIDE, slot, || {
                "horizontal stride 0: all lanes write to the same element".to_string()
            });
        }
        Some(stride @ (0 | 1 | 2 | 4)) => return Some(stride.into()),
        other => checker.add_to(&rules::REGION_STRIDE, slot, || match other {
            Some(stride) => format!("horizontal stride {stride}"),
            None => "no horizontal stride".to_string(),
        }),
    }
    None
}

/// The width of a source, if it is sound.
fn width(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    code: RegionCode,
) -> Option<u32> {
    let lanes = site.lanes;
    match code.elements() {
        None => checker.add_to(&rules::REGION_ABSENT, slot, || {
            "the region has no width".to_string()
        }),
        Some(width) if width == 0 || width > 16 => {
            checker.add_to(&rules::REGION_WIDTH, slot, || format!("width {width}"));
        }
        Some(width) if width > lanes => checker.add_to(&rules::REGION_EXEC_SIZE, slot, || {
            format!("width {width} for {lanes} lanes")
        }),
        Some(width) => return Some(width.into()),
    }
    None
}

/// The last element that is accessed, counted from the first, if the region is sound.
fn last_element(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    region: Region,
) -> Option<u32> {
    let lanes = u32::from(site.lanes);
    let stride = stride(checker, slot, region.horizontal_stride());
    if slot.def.role == Role::Destination {
        return Some((lanes - 1) * stride?);
    }
    let width = width(checker, site, slot, region.width());
    let Some(vertical) = region.vertical_stride().elements() else {
        checker.add_to(&rules::REGION_ABSENT, slot, || {
            "the region has no vertical stride".to_string()
        });
        return None;
    };
    let (stride, width) = (stride?, width?);
    Some((lanes / width - 1) * u32::from(vertical) + (width - 1) * stride)
}

/// The check of regions whose parts are all there and sound, which is nearly all.
#[inline]
fn last_of_sound(site: &Site<'_>, slot: Slot<'_>, region: Region) -> Option<u32> {
    let (vertical, width, stride) = (
        region.vertical_stride().code(),
        region.width().code(),
        region.horizontal_stride().code(),
    );
    // Codes 1 to 7 mean 0, 1, 2, 4, 8, 16 and 32 elements.
    let elements = |code: u8| (1u32 << code) >> 2;
    let lanes = u32::from(site.lanes);
    if slot.def.role == Role::Destination {
        return matches!(stride, 2..=4).then(|| (lanes - 1) * elements(stride));
    }
    let sound = matches!((vertical, width, stride), (1..=7, 2..=6, 1..=4));
    (sound && elements(width) <= lanes).then(|| {
        let rows = lanes >> (width - 2);
        (rows - 1) * elements(vertical) + (elements(width) - 1) * elements(stride)
    })
}

#[inline]
pub(crate) fn general(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    operand: &GeneralOperand,
    found: &General,
) {
    if operand.variable == VarId::NULL {
        return;
    }
    let size = u32::from(found.ty.size());
    let registers = checker.registers;
    let column = u32::from(operand.column) * size;
    if column >= registers.most {
        checker.add_to(&rules::COLUMN, slot, || {
            format!("column {} of type {}", operand.column, found.ty)
        });
    }
    let last = if matters(site, slot) {
        last_of_sound(site, slot, operand.region)
            .or_else(|| last_element(checker, site, slot, operand.region))
    } else {
        Some(0)
    };
    let Some(last) = last.filter(|_| found.declared) else {
        return;
    };
    let first = u32::from(operand.row) * registers.least + column;
    let end = first + last * size + size;
    if end > found.size {
        checker.add_to(&rules::REGION_BOUNDS, slot, || {
            format!("accesses byte {} of {}", end - 1, found.size)
        });
        return;
    }
    // Others are split where they span more registers.
    if site.def.group == Group::Address && matters(site, slot) {
        let most = registers.most;
        let start = found.offset + u32::from(operand.row) * most + column;
        let end = start + last * size + size - 1;
        if end / most > start / most + 1 {
            checker.add_to(&rules::REGION_REGISTERS, slot, || {
                format!("accesses bytes {start} to {end}")
            });
        }
    }
}

pub(crate) fn indirect(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    operand: &IndirectOperand,
    elements: Option<u32>,
) {
    let region = operand.region;
    let absent = region.vertical_stride() == RegionCode::ABSENT;
    let mut used = 1;
    if slot.def.role == Role::Destination {
        if absent && region.width() != RegionCode::ABSENT {
            checker.add_to(&rules::MULTI_ADDRESS_DESTINATION, slot, || {
                "a region without vertical stride on a destination".to_string()
            });
        }
        if matters(site, slot) {
            let _ = stride(checker, slot, region.horizontal_stride());
        }
    } else if !matters(site, slot) {
        // One address.
    } else if absent {
        let _ = stride(checker, slot, region.horizontal_stride());
        let Some(width) = width(checker, site, slot, region.width()) else {
            return;
        };
        used = u32::from(site.lanes) / width;
        let most = checker.registers.addresses;
        if used > most || !checker.allows_addresses(site, used) {
            checker.add_to(&rules::ADDRESS_COUNT, slot, || {
                format!("{used} addresses, {most} are possible")
            });
            return;
        }
    } else {
        let _ = last_element(checker, site, slot, region);
    }
    let end = u32::from(operand.address_offset) + used;
    if let Some(elements) = elements.filter(|n| end > *n) {
        checker.add_to(&rules::ADDRESS_BOUNDS, slot, || {
            format!("address {} of {elements}", end - 1)
        });
    }
}
