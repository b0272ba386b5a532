//! Products of matrices.

use crate::checker::{Checker, Site, Slot};
use crate::rules;
use crate::storage::{Place, places};
use alloc::format;
use visakit_isa::operand::Modifier;
use visakit_isa::semantics::{Systolic, precision_bits};
use visakit_isa::{DataType, FieldName as F, Platforms};

use DataType::{Bf, D, F as Float, Hf, Ub, Ud, Uw, W};

/// Places of scales in a register where elements have four bits: each multiple of so many bytes below 32.
const FOUR_BIT_SCALES: u32 = 32;

pub(crate) fn check(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    if site.instruction.predicate().is_some_and(|p| !p.is_none()) {
        checker.add_named(&rules::PREDICATION, site, F::Pred, || {
            "dpas is predicated".into()
        });
    }
    // The block-scaled form has its precisions for types.
    let scaled = site.def.field(F::Src3).is_some();
    if !lanes(checker, site, scaled) {
        return;
    }
    types(checker, site, scaled);
    if let Some(shape) = Systolic::of(site.instruction) {
        for (slot, place) in places(site) {
            alignment(checker, site, &shape, scaled, slot, place);
        }
    }
}

/// Whether the execution size is one that there is.
fn lanes(checker: &mut Checker<'_, '_>, site: &Site<'_>, scaled: bool) -> bool {
    let lanes = site.lanes;
    let platforms = match lanes {
        8 if !scaled => Platforms::WIDE_PRODUCTS.complement(),
        16 => Platforms::WIDE_PRODUCTS,
        _ => {
            let wanted = if scaled { "16" } else { "8 or 16" };
            checker.add_named(&rules::DPAS_LANES, site, F::ExecSize, || {
                format!("execution size {lanes}, expected {wanted}")
            });
            return false;
        }
    };
    let sound = checker.allows(site, platforms);
    if !sound {
        checker.add_named(&rules::DPAS_PLATFORM, site, F::ExecSize, || {
            format!("execution size {lanes}, the platform has {}", 24 - lanes)
        });
    }
    sound
}

fn types(checker: &mut Checker<'_, '_>, site: &Site<'_>, scaled: bool) {
    let added: &[DataType] = if scaled {
        &[Float, Hf, Bf]
    } else {
        &[Ud, D, Float, Hf, Bf, Uw, W]
    };
    let multiplied: &[DataType] = if scaled { &[Ud, Hf, Bf] } else { &[Ud, D] };
    for (slot, place) in places(site) {
        let types = match slot.def.name {
            F::Dst | F::Src0 => added,
            F::Src1 | F::Src2 => multiplied,
            _ => &[Ub],
        };
        let Some(ty) = checker.general(place.variable()).map(|general| general.ty) else {
            continue;
        };
        let modified = place.modifier() != Modifier::NONE;
        if !types.contains(&ty) || modified {
            let what = if modified { " with a modifier" } else { "" };
            checker.add_to(&rules::DPAS_TYPES, slot, || format!("type {ty}{what}"));
        } else if matches!(slot.def.name, F::Dst | F::Src0)
            && !matches!(ty, Ud | D | Float)
            && !checker.allows(site, Platforms::WIDE_PRODUCTS)
        {
            checker.add_to(&rules::ACCUMULATOR_TYPE, slot, || {
                format!("the platform does not accumulate {ty}")
            });
        }
    }
}

/// What the place of an operand must be a multiple of, in a register and in its variable.
fn wanted(
    shape: &Systolic,
    scaled: bool,
    name: F,
    size: u32,
    grf: u32,
) -> Option<(u32, Option<u32>)> {
    let whole = |bytes| Some((bytes, None));
    let four = precision_bits(shape.activations) == Some(4);
    match name {
        F::Dst | F::Src0 => whole(shape.lanes * size),
        F::Src1 => whole(grf),
        F::Src2 if scaled => whole(grf),
        F::Src2 => whole(shape.row_bytes().max(1)),
        F::Src3 | F::Src4 => {
            let step = if name == F::Src3 { 16 } else { 8 };
            Some(if four {
                (grf, Some(step))
            } else {
                (step, None)
            })
        }
        _ => None,
    }
}

fn alignment(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    shape: &Systolic,
    scaled: bool,
    slot: Slot<'_>,
    place: Place,
) {
    let Some(general) = checker.general(place.variable()) else {
        return;
    };
    let Some(root) = general.end.root(checker.body) else {
        return;
    };
    let size = u32::from(general.ty.size());
    let declared = |grf: u32| root.properties.alignment().bytes(grf).unwrap_or(1);
    // Inputs are where the host puts them, whatever their declaration says; the finalizer begins a register with what
    // fills one.
    let aligned = |grf: u32| match general.input {
        Some(input) => input,
        None if root.size() >= grf => declared(grf).max(grf),
        None => declared(grf),
    };
    let wanted = |grf| wanted(shape, scaled, slot.def.name, size, grf);
    let at = |grf| general.offset.saturating_add(place.offset(size, grf));
    let inside = |grf: u32| match wanted(grf) {
        Some((_, Some(scales))) => {
            let offset = at(grf) % grf.max(1);
            offset < FOUR_BIT_SCALES && offset.is_multiple_of(scales)
        }
        Some((step, None)) => at(grf).is_multiple_of(step),
        None => true,
    };
    let begins =
        |aligned: u32, grf| wanted(grf).is_none_or(|(step, _)| aligned.is_multiple_of(step));
    let grf = checker.registers.least;
    let step = wanted(grf).map_or(1, |(step, _)| step);
    if !checker.allows_registers(site, |grf| inside(grf) && begins(aligned(grf), grf)) {
        let rule = match slot.def.name {
            F::Src3 | F::Src4 => &rules::DPAS_SCALES,
            _ => &rules::DPAS_ALIGNMENT,
        };
        checker.add_to(rule, slot, || {
            let (at, aligned) = (at(grf), aligned(grf));
            format!("begins at byte {at} of storage that is aligned to {aligned} bytes, expected a multiple of {step}")
        });
    } else if general.input.is_none()
        && !checker.allows_registers(site, |grf| begins(declared(grf), grf))
    {
        checker.add_to(&rules::DPAS_DECLARED_ALIGNMENT, slot, || {
            let declared = declared(grf);
            format!("in a variable that is declared as aligned to {declared} bytes, expected a multiple of {step}")
        });
    }
}
