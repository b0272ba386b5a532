//! Platforms, and the rules about them.

use crate::checker::{Checker, Site};
use crate::rules;
use alloc::format;
use visakit_isa::object::Object;
use visakit_isa::operand::OperandClass;
use visakit_isa::semantics::{DataLayout, Storage, Traits};
use visakit_isa::table::{Group, Lack, Role};
use visakit_isa::{DataType, FieldName, Platform, Platforms, SurfaceId, TypeSet, Value};

/// What is known about the platform and its registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Registers {
    /// The platforms that the object may be for: the one that is named, else those of its native code, else all.
    pub(crate) target: Platforms,
    /// The smallest that it can be.
    pub(crate) least: u32,
    /// The largest that it can be.
    pub(crate) most: u32,
    /// Elements of the address register.
    pub(crate) addresses: u32,
}

impl Registers {
    pub(crate) fn of(object: &Object<'_>, platform: Option<Platform>) -> Self {
        let binaries = object.kernels.iter().flat_map(|k| &k.binaries);
        let native = binaries.filter(|b| b.platform.name().is_some());
        // Platforms older than all that are listed have the smaller registers, too.
        let listed = native.clone().map(|b| {
            let listed = Platform::from_native(b.platform.0);
            listed.map_or(Platforms::BDW, Platform::set)
        });
        let target = match platform {
            Some(platform) => platform.set(),
            None => listed.collect(),
        };
        let target = if target.is_empty() {
            Platforms::all()
        } else {
            target
        };
        let sizes = target.platforms().map(Platform::grf_bytes);
        let (least, most) = sizes.fold((64, 32), |(a, b), n| (a.min(n), b.max(n)));
        let addresses = target.platforms().map(Platform::address_elements).max();
        Self {
            target,
            least,
            most,
            addresses: addresses.unwrap_or(16),
        }
    }

    /// This platform with registers of this size.
    pub(crate) const fn of_bytes(self, bytes: u32) -> Self {
        Self {
            least: bytes,
            most: bytes,
            ..self
        }
    }
}

/// Types that arithmetic of the platform lacks.
pub(crate) fn lacking(platform: Platform) -> TypeSet {
    let all = DataType::ALL.into_iter();
    all.filter(|ty| !platform.has_type(*ty))
        .map(TypeSet::of)
        .collect()
}

pub(crate) fn check(checker: &mut Checker<'_, '_>, site: &Site<'_>, platform: Platform) {
    let def = site.def;
    if let Err(lack) = def.runs_on(platform) {
        lacks(checker, site, platform, lack);
    }
    if def.traits.intersects(MATHEMATICS) {
        mathematics(checker, site, platform);
    }
    match def.group {
        Group::DataPort if platform < Platform::Icllp => blocks(checker, site, platform),
        Group::ThreeD if platform < Platform::Xe2 => sampler(checker, site, platform),
        _ => {}
    }
    let rotates = def.traits.contains(Traits::ROTATES) && platform < Platform::Pvc;
    if rotates || site.types.intersects(checker.lacking) {
        operand_types(checker, site, platform, rotates);
    }
}

#[cold]
fn lacks(checker: &mut Checker<'_, '_>, site: &Site<'_>, platform: Platform, lack: Lack) {
    let name = site.def.mnemonic();
    match lack {
        Lack::NotYet(first) => checker.add(&rules::NOT_YET, || {
            format!("{name} exists since {first}, {platform} has none")
        }),
        Lack::NoLonger => checker.add(&rules::NO_LONGER, || format!("{platform} has no {name}")),
        // The last column speaks for later platforms, but not as a list.
        Lack::NotListed if Platforms::SPECIFIED.contains(platform.set()) => {
            checker.add(&rules::NOT_LISTED, || {
                format!("{name} is not listed for {platform}")
            });
        }
        Lack::NotListed => {}
    }
}

/// Traits of mathematics that not all platforms have.
const MATHEMATICS: Traits = Traits::DIVIDES
    .union(Traits::EXACT)
    .union(Traits::EXACT_DOUBLE);

fn mathematics(checker: &mut Checker<'_, '_>, site: &Site<'_>, platform: Platform) {
    let (name, traits) = (site.def.mnemonic(), site.def.traits);
    let dst = checker.type_at(site, FieldName::Dst);
    if traits.contains(Traits::DIVIDES)
        && !platform.divides_integers()
        && dst.is_some_and(|ty| !ty.is_float())
    {
        checker.add(&rules::INTEGER_DIVISION, || {
            format!("{platform} divides no integers")
        });
    }
    if platform.has_type(DataType::Df) {
        return;
    }
    let double = traits.contains(Traits::EXACT_DOUBLE) && dst == Some(DataType::Df);
    if double || traits.contains(Traits::EXACT) {
        let of = if double { " of df" } else { "" };
        checker.add(&rules::EXACT_MATHS, || {
            format!("{platform} has no {name}{of}")
        });
    }
}

/// Blocks of OWords in shared local memory.
fn blocks(checker: &mut Checker<'_, '_>, site: &Site<'_>, platform: Platform) {
    let memory = site.def.memory;
    let blocks =
        memory.is_some_and(|m| m.layout == DataLayout::Block && m.storage == Storage::Surface);
    let slm = Value::Surface(SurfaceId(0));
    if blocks && site.instruction.get(FieldName::Surface) == Some(&slm) {
        let name = site.def.mnemonic();
        checker.add_named(&rules::LOCAL_BLOCKS, site, FieldName::Surface, || {
            format!("{platform} reaches no shared local memory by {name}")
        });
    }
}

fn sampler(checker: &mut Checker<'_, '_>, site: &Site<'_>, platform: Platform) {
    let paired = site.raw(FieldName::PairedSurface);
    if paired.is_some_and(|operand| !operand.is_null()) {
        checker.add_named(
            &rules::PAIRED_SURFACE,
            site,
            FieldName::PairedSurface,
            || format!("{platform} has no paired surfaces"),
        );
    }
}

fn operand_types(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    platform: Platform,
    rotates: bool,
) {
    let computes = matches!(site.def.group, Group::Arithmetic | Group::Logic);
    let shifts = site.def.traits.contains(Traits::SHIFTS) && platform == Platform::Dg2;
    let mut said = false;
    for (slot, operand) in site.vectors() {
        let Some(ty) = checker.type_of(operand) else {
            continue;
        };
        let constant = operand.class() == OperandClass::Immediate;
        let wide = matches!(ty, DataType::Q | DataType::Uq);
        if rotates && wide {
            checker.add_to(&rules::WIDE_ROTATE, slot, || {
                format!("{platform} does not rotate {ty}")
            });
            continue;
        }
        if !checker.lacking.has(ty) {
            continue;
        }
        if ty == DataType::Bf {
            if !constant {
                checker.add_to(&rules::BRAIN_FLOAT_PLATFORM, slot, || {
                    format!("{platform} has no bf")
                });
            }
        } else if !computes || said {
            // One finding of an instruction will do.
        } else if wide && shifts && slot.def.role == Role::Destination {
            checker.add_to(&rules::WIDE_SHIFT, slot, || {
                format!("{platform} does not shift {ty}")
            });
            said = true;
        } else if wide && !constant {
            checker.add_to(&rules::WIDE_INTEGERS, slot, || {
                format!("{platform} has no arithmetic of {ty}")
            });
            said = true;
        } else if !wide {
            checker.add_to(&rules::DOUBLE, slot, || format!("{platform} has no df"));
            said = true;
        }
    }
}
