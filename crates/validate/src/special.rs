//! Instructions that compute, and demand more than their operands do.

use crate::checker::{Checker, Site};
use crate::rules;
use alloc::format;
use alloc::string::ToString;
use visakit_isa::operand::{Modifier, OperandClass, OperandClasses, StateClass, VectorOperand};
use visakit_isa::semantics::Traits;
use visakit_isa::table::{Group, Role};
use visakit_isa::{DataType, FieldName, Op, Platforms, Predicate, Region, TypeSet};

/// Traits that have a rule here.
const SPECIAL: Traits = Traits::SELECTS
    .union(Traits::BIT_FIELDS)
    .union(Traits::PREDICATE_FROM_BITS)
    .union(Traits::COPIES_STATE);

/// Types that are moved, and computed with nowhere.
const SMALL_FLOATS: TypeSet = TypeSet::of(DataType::Tf32)
    .union(TypeSet::of(DataType::Bf8))
    .union(TypeSet::of(DataType::Hf8));

#[inline]
pub(crate) fn check(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let def = site.def;
    if def.traits.intersects(SPECIAL)
        || site.classes.contains(OperandClasses::PREDICATE)
        || site.types.contains(TypeSet::BF)
        || matches!(def.group, Group::Address | Group::Compare)
        || !def.conversions.is_empty()
        || site.types.intersects(SMALL_FLOATS)
    {
        rules_of(checker, site);
    }
}

fn rules_of(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let (def, traits) = (site.def, site.def.traits);
    match def.group {
        Group::Address => address_of(checker, site),
        Group::Compare => compare(checker, site),
        _ if site.classes.contains(OperandClasses::PREDICATE) => predicates(checker, site),
        _ => {}
    }
    if traits.contains(Traits::BIT_FIELDS) {
        bit_field(checker, site);
    }
    if traits.contains(Traits::PREDICATE_FROM_BITS) {
        predicate_from_bits(checker, site);
    }
    if traits.contains(Traits::COPIES_STATE) {
        state_copy(checker, site);
    }
    let predicate = site.instruction.predicate();
    if traits.contains(Traits::SELECTS) && predicate.is_some_and(Predicate::is_none) {
        let name = def.mnemonic();
        checker.add_named(&rules::SELECTOR, site, FieldName::Pred, || {
            format!("{name} without a predicate")
        });
    }
    if !def.conversions.is_empty() {
        conversion(checker, site);
    }
    if site.instruction.op == Op::MOV && site.types.intersects(SMALL_FLOATS) {
        small_float(checker, site);
    }
    if site.types.contains(TypeSet::BF) && !traits.contains(Traits::MOVES_BRAIN_FLOAT) {
        brain_float(checker, site);
    }
}

/// Moves from and to floats that nothing computes with: each is converted from and to one other type.
#[cold]
fn small_float(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    use DataType::{Bf8, F as Float, Hf, Hf8, Tf32};
    let [dst, src] = [FieldName::Dst, FieldName::Src0].map(|name| checker.type_at(site, name));
    let source = site.vector(FieldName::Src0).map(VectorOperand::modifier);
    let modified = source.is_some_and(|modifier| modifier != Modifier::NONE);
    let (Some(dst), Some(src)) = (dst, src) else {
        return;
    };
    if dst == src && !modified && !site.saturates {
        return;
    }
    let (small, other, platforms) = match (dst, src) {
        (Tf32, _) | (_, Tf32) => (Tf32, Float, Platforms::TENSOR_FLOATS),
        (Bf8, _) | (_, Bf8) => (Bf8, Hf, Platforms::BF8),
        _ => (Hf8, Hf, Platforms::HF8),
    };
    let pair = (dst, src) == (small, other) || (dst, src) == (other, small);
    if !pair || !checker.allows(site, platforms) {
        checker.add(&rules::SMALL_FLOAT, || {
            format!("a move from {src} to {dst}")
        });
        return;
    }
    // A tensor float is a float already.
    if (dst, src) == (Float, Tf32) {
        return;
    }
    let predicated = site.instruction.predicate().is_some_and(|p| !p.is_none());
    if predicated || modified || (small == Tf32 && site.saturates) {
        checker.add(&rules::SMALL_FLOAT, || {
            format!("a move from {src} to {dst} with a predicate or modifier")
        });
    }
}

/// Predicates as operands: moves copy them, logic instructions combine them.
#[cold]
fn predicates(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let takes = |name| {
        let field = site.def.field(name);
        field.is_some_and(|f| f.classes.has(OperandClass::Predicate))
    };
    match site.def.group {
        Group::Logic if takes(FieldName::Dst) => predicate_logic(checker, site),
        Group::Move if takes(FieldName::Src0) => predicate_copy(checker, site),
        _ => {}
    }
}

fn predicate_copy(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let src = site.vector(FieldName::Src0);
    if !src.is_some_and(|o| o.class() == OperandClass::Predicate) {
        return;
    }
    if site.lanes != 1 {
        let lanes = site.lanes;
        checker.add_named(&rules::PREDICATE_COPY, site, FieldName::ExecSize, || {
            format!("a predicate is copied with execution size {lanes}")
        });
    }
    if let Some(dst) = site.vector(FieldName::Dst) {
        let ty = checker.type_of(dst);
        if ty.is_some_and(|t| t.is_float() || t.size() > 4) {
            let ty = ty.map_or("?", DataType::name);
            checker.add_named(&rules::PREDICATE_COPY, site, FieldName::Dst, || {
                format!("a predicate is copied into type {ty}")
            });
        }
        if dst.modifier() == Modifier::SAT {
            checker.add_named(&rules::PREDICATE_COPY, site, FieldName::Dst, || {
                "a copy of a predicate saturates".to_string()
            });
        }
    }
    unpredicated(checker, site, "a copy of a predicate");
}

fn unpredicated(checker: &mut Checker<'_, '_>, site: &Site<'_>, what: &str) {
    if site.instruction.predicate().is_some_and(|p| !p.is_none()) {
        checker.add_named(&rules::PREDICATED_LOGIC, site, FieldName::Pred, || {
            format!("{what} is predicated")
        });
    }
}

fn predicate_logic(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let is_predicate =
        |(_, operand): &(_, &VectorOperand)| operand.class() == OperandClass::Predicate;
    let operands = site.vectors().count();
    let predicates = site.vectors().filter(is_predicate).count();
    unpredicated(checker, site, "logic on predicates");
    if predicates < operands {
        checker.add(&rules::PREDICATE_LOGIC, || {
            format!("{predicates} of {operands} operands are predicates")
        });
    }
}

fn bit_field(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    if site.lanes == 2 {
        checker.add_named(&rules::BIT_FIELD_SIZE, site, FieldName::ExecSize, || {
            "execution size 2".to_string()
        });
    }
    if site.lanes == 1 {
        return;
    }
    for (slot, operand) in site.vectors() {
        let VectorOperand::General(operand) = operand else {
            continue;
        };
        // One element for all lanes lies where it wants.
        if slot.def.role == Role::Source && operand.region == Region::SCALAR {
            continue;
        }
        let Some(general) = checker.general(operand.variable) else {
            continue;
        };
        let Some(root) = general.end.root(checker.body) else {
            continue;
        };
        let stated = root.properties.alignment().bytes(32).unwrap_or(1);
        let aligned = if root.size() >= 32 { 32 } else { stated };
        let offset = general.offset + u32::from(operand.column) * u32::from(general.ty.size());
        if aligned < 16 || offset % 16 != 0 {
            checker.add_to(&rules::BIT_FIELD_ALIGNMENT, slot, || {
                format!("at byte {offset} of storage that is aligned to {aligned} bytes")
            });
        }
    }
}

/// The bits are set for all lanes, so that the mask says just which half is written.
fn predicate_from_bits(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let scalar = match site.vector(FieldName::Src0) {
        Some(VectorOperand::Immediate(o)) => !o.data_type().is_packed(),
        Some(VectorOperand::General(o)) => o.region == Region::SCALAR,
        _ => false,
    };
    let first = if site.lanes == 32 {
        0
    } else {
        site.mask.first_lane
    };
    let sound = site.mask.no_mask
        && matches!(first, 0 | 16)
        && (site.lanes < 32 || site.mask.first_lane == 0);
    if scalar && site.lanes > 1 && !sound {
        let mask = site.mask;
        checker.add_named(&rules::SETP_MASK, site, FieldName::ExecSize, || {
            format!("mask {mask}, expected M1_NM or M5_NM")
        });
    }
}

fn address_of(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    match site.vector(FieldName::Src0) {
        Some(VectorOperand::General(o)) => {
            let first = checker.format.predefined_variable_count();
            let known = checker.format.predefined_variable(o.variable);
            let name = known.map_or("a reserved variable", |v| v.name);
            if o.variable.0 < first && !matches!(name, "arg" | "retval") {
                checker.add_named(&rules::ADDRESS_OF, site, FieldName::Src0, || {
                    format!("takes the address of {name}")
                });
            }
        }
        Some(VectorOperand::State(o)) if o.class == StateClass::SURFACE => {
            let first = checker.format.predefined_surface_count();
            if o.index < u16::from(first) {
                checker.add_named(&rules::ADDRESS_OF, site, FieldName::Src0, || {
                    format!("takes the address of the predefined surface T{}", o.index)
                });
            }
        }
        _ => {}
    }
    if let Some(ty) = checker.type_at(site, FieldName::Src1)
        && (ty.size() > 2 || ty.is_float())
        && !matches!(ty, DataType::V | DataType::Uv)
    {
        checker.add_named(&rules::OPERAND_TYPE, site, FieldName::Src1, || {
            format!("type {ty}, expected a word or byte")
        });
    }
}

fn state_copy(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let (dst, src) = (site.vector(FieldName::Dst), site.vector(FieldName::Src0));
    let message = match (dst, src) {
        (Some(VectorOperand::State(a)), Some(VectorOperand::State(b))) if a.class != b.class => {
            "copies between a surface and a sampler"
        }
        (Some(a), Some(b))
            if a.class() != OperandClass::State && b.class() != OperandClass::State =>
        {
            "copies no state"
        }
        _ => return,
    };
    checker.add(&rules::STATE_COPY, || message.to_string());
}

fn conversion(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let types = [FieldName::Dst, FieldName::Src0].map(|name| checker.type_at(site, name));
    let [Some(dst), Some(src)] = types else {
        return;
    };
    let (name, known) = (site.def.mnemonic(), site.def.conversions);
    if !known.iter().any(|c| c.to.has(dst) && c.from.has(src)) {
        checker.add(&rules::CONVERSION, || {
            format!("{name} does not convert {src} to {dst}")
        });
    }
    if !site.mask.no_mask && known.iter().any(|c| c.to.has(dst) && c.unmasked) {
        checker.add_named(&rules::CONVERSION, site, FieldName::ExecSize, || {
            format!("{name} into {dst} needs a NoMask form")
        });
    }
    for source in [FieldName::Src0, FieldName::Src1] {
        let operand = site.vector(source);
        if operand.is_some_and(|o| o.modifier() != Modifier::NONE) {
            checker.add_named(&rules::CONVERSION, site, source, || {
                format!("{name} takes no source modifiers")
            });
        }
    }
}

fn compare(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    let types = [FieldName::Dst, FieldName::Src0].map(|n| {
        let operand = site.vector(n)?;
        let general = operand.class() == OperandClass::General;
        general.then(|| checker.type_of(operand))?
    });
    if let [Some(dst), Some(src)] = types
        && src.is_float()
        && dst.size() != src.size()
    {
        checker.add_named(&rules::CMP_DESTINATION, site, FieldName::Dst, || {
            format!("a result of type {dst} for sources of type {src}")
        });
    }
}

#[cold]
fn brain_float(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    const BESIDE: TypeSet = TypeSet::BF
        .union(TypeSet::F)
        .union(TypeSet::of(DataType::Bool))
        .union(TypeSet::of(DataType::Vf));
    let name = site.def.mnemonic();
    if !site.def.traits.contains(Traits::BRAIN_FLOAT) {
        checker.add(&rules::BRAIN_FLOAT, || format!("{name} takes no bf"));
        return;
    }
    let odd = site.vectors().find_map(|(slot, operand)| {
        let ty = checker.type_of(operand).filter(|ty| !BESIDE.has(*ty))?;
        Some((slot, ty))
    });
    if let Some((slot, ty)) = odd {
        checker.add_to(&rules::BRAIN_FLOAT, slot, || format!("{ty} beside bf"));
    }
}
