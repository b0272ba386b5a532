//! Regions: what they may be, and where they end.

use crate::checker::{Checker, Looked, Slot};
use crate::rules;
use crate::storage::General;
use alloc::string::ToString;
use visakit_isa::operand::{GeneralOperand, IndirectOperand, RegionCode};
use visakit_isa::table::{Group, Role};
use visakit_isa::{FieldName, Op, Region, VarId};

/// Whether the region of an operand is looked at by anyone.
fn matters(at: &Looked<'_>, slot: Slot<'_>) -> bool {
    let computes = matches!(
        at.def.group,
        Group::Arithmetic | Group::Logic | Group::Move | Group::Compare | Group::Address
    );
    // The region of an operand whose address is taken, and those of PLANE, are ignored.
    let address_of = at.op == Op::ADDR_ADD && slot.def.name == FieldName::Src0;
    computes && !slot.def.scalar && !address_of && at.op != Op::PLANE
}

/// The horizontal stride, if it is sound.
fn stride(checker: &mut Checker<'_, '_>, slot: Slot<'_>, code: RegionCode) -> Option<u32> {
    let elements = code.elements();
    match elements {
        Some(0) if slot.def.role == Role::Destination => {
            checker.add_to(&rules::DESTINATION_STRIDE, slot, || {
                "horizontal stride 0: all lanes write to the same element".to_string()
            });
            None
        }
        Some(stride @ (0 | 1 | 2 | 4)) => Some(stride.into()),
        _ => {
            checker.add_to(&rules::REGION_STRIDE, slot, || match elements {
                Some(stride) => alloc::format!("horizontal stride {stride}"),
                None => "no horizontal stride".to_string(),
            });
            None
        }
    }
}

/// The width of a source, if it is sound.
fn width(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    slot: Slot<'_>,
    code: RegionCode,
) -> Option<u32> {
    let Some(width) = code.elements() else {
        checker.add_to(&rules::REGION_ABSENT, slot, || {
            "the region has no width".to_string()
        });
        return None;
    };
    if width == 0 || width > 16 {
        checker.add_to(&rules::REGION_WIDTH, slot, || {
            alloc::format!("width {width}")
        });
        return None;
    }
    if width > at.lanes {
        let lanes = at.lanes;
        checker.add_to(&rules::REGION_EXEC_SIZE, slot, || {
            alloc::format!("width {width} for {lanes} lanes")
        });
        return None;
    }
    Some(width.into())
}

/// The last element that is accessed, counted from the first, if the region is sound.
fn last_element(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    slot: Slot<'_>,
    region: Region,
) -> Option<u32> {
    let lanes = u32::from(at.lanes);
    if slot.def.role == Role::Destination {
        let stride = stride(checker, slot, region.horizontal_stride())?;
        return Some((lanes - 1) * stride);
    }
    let stride = stride(checker, slot, region.horizontal_stride());
    let width = width(checker, at, slot, region.width());
    let Some(vertical) = region.vertical_stride().elements() else {
        checker.add_to(&rules::REGION_ABSENT, slot, || {
            "the region has no vertical stride".to_string()
        });
        return None;
    };
    let (stride, width) = (stride?, width?);
    Some((lanes / width - 1) * u32::from(vertical) + (width - 1) * stride)
}

pub(crate) fn general(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    slot: Slot<'_>,
    operand: &GeneralOperand,
    found: General,
) {
    if operand.variable == VarId::NULL {
        return;
    }
    let size = u32::from(found.ty.size());
    let registers = checker.registers;
    let column = u32::from(operand.column) * size;
    if column >= registers.most {
        checker.add_to(&rules::COLUMN, slot, || {
            alloc::format!("column {} of type {}", operand.column, found.ty)
        });
    }
    let last = if matters(at, slot) {
        last_element(checker, at, slot, operand.region)
    } else {
        Some(0)
    };
    let (Some(last), Some((_, storage))) = (last, found.declared) else {
        return;
    };
    let first = u32::from(operand.row) * registers.least + column;
    let end = first + last * size + size;
    if end > found.size {
        checker.add_to(&rules::REGION_BOUNDS, slot, || {
            alloc::format!("accesses byte {} of {}", end - 1, found.size)
        });
        return;
    }
    let exempt = !matches!(at.def.group, Group::Address);
    if matters(at, slot) && !exempt {
        let most = registers.most;
        let start = storage.offset + u32::from(operand.row) * most + column;
        let end = start + last * size + size - 1;
        if end / most > start / most + 1 {
            checker.add_to(&rules::REGION_REGISTERS, slot, || {
                alloc::format!("accesses bytes {start} to {end}")
            });
        }
    }
}

pub(crate) fn indirect(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
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
        if matters(at, slot) {
            let _ = stride(checker, slot, region.horizontal_stride());
        }
    } else if !matters(at, slot) {
        // One address.
    } else if absent {
        let _ = stride(checker, slot, region.horizontal_stride());
        let Some(width) = width(checker, at, slot, region.width()) else {
            return;
        };
        used = u32::from(at.lanes) / width;
        let most = checker.registers.addresses;
        if used > most {
            checker.add_to(&rules::ADDRESS_COUNT, slot, || {
                alloc::format!("{used} addresses, {most} are possible")
            });
            return;
        }
    } else {
        let _ = last_element(checker, at, slot, region);
    }
    let end = u32::from(operand.address_offset) + used;
    if elements.is_some_and(|n| end > n) {
        checker.add_to(&rules::ADDRESS_BOUNDS, slot, || {
            alloc::format!("address {} of {}", end - 1, elements.unwrap_or(0))
        });
    }
}
