//! Types of operands, and which results may saturate.

use crate::checker::{Checker, Site, Slot};
use crate::rules;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use visakit_isa::operand::OperandClass;
use visakit_isa::semantics::Traits;
use visakit_isa::table::{FieldDef, Group, Role, Saturation};
use visakit_isa::{DataType, FieldName, Platform, Platforms, TypeSet};

/// Names in messages: `ud, d`.
pub(crate) fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Whether the field lists the type or one of the same size: messages transfer bytes.
pub(crate) fn same_size(ty: DataType, def: &FieldDef) -> bool {
    def.types.has(ty) || def.types.types().any(|t| t.size() == ty.size())
}

/// A type that the field does not name.
pub(crate) fn unexpected(
    checker: &mut Checker<'_, '_>,
    refused: bool,
    slot: Slot<'_>,
    ty: DataType,
) {
    let rule = if refused {
        &rules::OPERAND_TYPE
    } else {
        &rules::UNUSUAL_TYPE
    };
    checker.add_to(rule, slot, || {
        let wanted = list(slot.def.types.types().map(DataType::name));
        format!("type {ty}, expected {wanted}")
    });
}

/// The type of a vector operand against those that its field names.
#[inline]
pub(crate) fn operand(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    class: OperandClass,
    ty: DataType,
) {
    let types = slot.def.types;
    if types.is_empty() || types.has(ty) || matches!(ty, DataType::Bool | DataType::Bf) {
        return;
    }
    unlisted(checker, site, slot, class, ty);
}

/// A type that the field does not name: refused, unusual, or fine.
fn unlisted(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    class: OperandClass,
    ty: DataType,
) {
    let (group, traits) = (site.def.group, site.def.traits);
    // Compilers shift unsigned numbers by sign where they compute the places of stack frames.
    if traits.contains(Traits::SHIFTS) && !ty.is_float() && same_size(ty, slot.def) {
        return;
    }
    // Conversions have their own rule.
    if !site.def.conversions.is_empty() {
        return;
    }
    let constant = class == OperandClass::Immediate;
    if !matches!(group, Group::Arithmetic | Group::Logic) {
        if !constant && !same_size(ty, slot.def) {
            unexpected(checker, false, slot, ty);
        }
        return;
    }
    if traits.contains(Traits::TAKES_INTEGERS) && !ty.is_float() {
        return unexpected(checker, false, slot, ty);
    }
    let kind = if ty.is_float() {
        TypeSet::ALL_FLOATS
    } else {
        TypeSet::INTEGERS
    };
    if !slot.def.types.intersects(kind) {
        return unexpected(checker, true, slot, ty);
    }
    let wide = matches!(ty, DataType::Q | DataType::Uq);
    // Constants are converted, and packed ones are words.
    if constant && !wide {
        return;
    }
    let refused = ty.is_float()
        || (group == Group::Arithmetic && slot.def.role == Role::Destination)
        || traits.contains(Traits::STRICT_INTEGERS)
        || (wide && traits.contains(Traits::NO_QWORDS));
    unexpected(checker, refused, slot, ty);
}

/// Types of an instruction's operands among each other, and saturation.
#[inline]
pub(crate) fn check(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    if site.saturates {
        saturation(checker, site, site.dst);
    }
    let packed = TypeSet::of(DataType::Vf);
    if site.def.group == Group::Arithmetic
        && site.sources.contains(packed)
        && !checker.allows(site, Platforms::before(Platform::Xe2))
    {
        checker.add(&rules::PACKED_FLOATS, || {
            let name = site.def.mnemonic();
            format!("the platform takes no vf in {name}")
        });
    }
    if site.def.group == Group::Arithmetic
        && let Some(dst) = site.dst
        && !mixable(dst).contains(site.sources)
        && !site.types.has(DataType::Bf)
        && site.def.conversions.is_empty()
    {
        mixed(checker, site, dst);
    }
}

fn saturation(checker: &mut Checker<'_, '_>, site: &Site<'_>, ty: Option<DataType>) {
    let integer = ty.is_some_and(|t| !t.is_float());
    let rule = match site.def.saturation {
        Saturation::No => &rules::SATURATION,
        Saturation::FloatOnly if integer => &rules::SATURATION,
        Saturation::Unlisted => &rules::SATURATION_UNEXPECTED,
        Saturation::Float if integer => &rules::SATURATION_UNEXPECTED,
        _ => return,
    };
    let name = site.def.mnemonic();
    checker.add_named(rule, site, FieldName::Dst, || match ty {
        Some(ty) => format!("{name} into {ty} does not saturate"),
        None => format!("{name} does not saturate"),
    });
}

/// Types of the sources that an arithmetic result of type `dst` can have.
#[inline]
const fn mixable(dst: DataType) -> TypeSet {
    match dst {
        DataType::F => TypeSet::F
            .union(TypeSet::HF)
            .union(TypeSet::of(DataType::Vf)),
        DataType::Hf => TypeSet::HF.union(TypeSet::F),
        _ if dst.is_float() => TypeSet::of(dst),
        _ => TypeSet::INTEGERS
            .union(TypeSet::of(DataType::V))
            .union(TypeSet::of(DataType::Uv)),
    }
}

#[cold]
fn mixed(checker: &mut Checker<'_, '_>, site: &Site<'_>, dst: DataType) {
    for (slot, operand) in site.vectors() {
        if let Some(src) = checker.type_of(operand)
            && slot.def.role == Role::Source
            && !mixable(dst).has(src)
        {
            checker.add_to(&rules::MIXED_TYPES, slot, || {
                format!("a source of type {src} for a result of type {dst}")
            });
        }
    }
}
