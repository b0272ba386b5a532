//! Types of operands, and what results may saturate.

use crate::checker::{Checker, Looked, Slot, slots};
use crate::rules;
use alloc::string::String;
use visakit_isa::operand::{Modifier, OperandClass, VectorOperand};
use visakit_isa::table::{Group, Role, Saturation};
use visakit_isa::{DataType, FieldName, Op, TypeSet, Value};

/// The message for a type that the place does not name.
pub(crate) fn unexpected(ty: DataType, slot: Slot<'_>) -> String {
    let mut wanted = String::new();
    for ty in slot.def.types.types() {
        if !wanted.is_empty() {
            wanted.push_str(", ");
        }
        wanted.push_str(ty.name());
    }
    alloc::format!("type {ty}, expected {wanted}")
}

/// Whether the place names the type or one that is as large: messages move bytes.
pub(crate) fn same_size(ty: DataType, slot: Slot<'_>) -> bool {
    slot.def.types.types().any(|t| t.size() == ty.size())
}

/// Instructions of which the reference implementation refuses sources of other integer types than
/// those of their rows.
fn integers_are_told_apart(op: Op) -> bool {
    matches!(
        op,
        Op::MUL
            | Op::DIV
            | Op::ADDC
            | Op::SUBB
            | Op::DP4A
            | Op::ADD3
            | Op::ADD3O
            | Op::SAD2
            | Op::SAD2ADD
            | Op::FBL
            | Op::FBH
            | Op::CBIT
            | Op::ROL
            | Op::ROR
    )
}

/// The type of a vector operand against those that its place names.
pub(crate) fn operand(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    slot: Slot<'_>,
    operand: &VectorOperand,
) {
    let types = slot.def.types;
    // Mixes with bf, and the conversions, have rules of their own.
    if types.is_empty() || matches!(at.op, Op::SRND | Op::FCVT) {
        return;
    }
    let Some(ty) = checker.type_of(operand) else {
        return;
    };
    if ty == DataType::Bool || types.has(ty) || ty == DataType::Bf {
        return;
    }
    let computes = matches!(at.def.group, Group::Arithmetic | Group::Logic);
    if !computes {
        if operand.class() != OperandClass::Immediate && !same_size(ty, slot) {
            checker.add_to(&rules::UNUSUAL_TYPE, slot, || unexpected(ty, slot));
        }
        return;
    }
    let kind = if ty.is_float() {
        TypeSet::ALL_FLOATS
    } else {
        TypeSet::INTEGERS
    };
    // The reference implementation takes integers here, and gives what mathematics of floats gives.
    let maths = matches!(at.op, Op::INV | Op::SQRT | Op::RSQRT) && !ty.is_float();
    if maths {
        checker.add_to(&rules::UNUSUAL_TYPE, slot, || unexpected(ty, slot));
        return;
    }
    if !types.intersects(kind) {
        checker.add_to(&rules::OPERAND_TYPE, slot, || unexpected(ty, slot));
        return;
    }
    // Constants are converted, and packed ones are words.
    if operand.class() == OperandClass::Immediate && !matches!(ty, DataType::Q | DataType::Uq) {
        return;
    }
    let wide = matches!(ty, DataType::Q | DataType::Uq);
    let refused = match (at.def.group, slot.def.role) {
        (Group::Arithmetic, Role::Destination) => true,
        _ if ty.is_float() => true,
        (Group::Logic, _) => match at.op {
            Op::FBL | Op::FBH | Op::CBIT => wide,
            Op::ROL | Op::ROR => !wide,
            _ => false,
        },
        _ => integers_are_told_apart(at.op),
    };
    let rule = if refused {
        &rules::OPERAND_TYPE
    } else {
        &rules::UNUSUAL_TYPE
    };
    checker.add_to(rule, slot, || unexpected(ty, slot));
}

/// Types of an instruction's operands among each other, and saturation.
pub(crate) fn check(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let Some(dst) = at.vector(FieldName::Dst) else {
        return;
    };
    let ty = checker.type_of(dst);
    if dst.modifier() == Modifier::SAT {
        saturation(checker, at, ty);
    }
    if at.def.group == Group::Arithmetic
        && at.op != Op::SRND
        && let Some(ty) = ty
    {
        mixed(checker, at, ty);
    }
}

fn saturation(checker: &mut Checker<'_, '_>, at: &Looked<'_>, ty: Option<DataType>) {
    let integer = ty.is_some_and(|t| !t.is_float());
    let rule = match at.def.saturation {
        Saturation::No => &rules::SATURATION,
        Saturation::FloatOnly if integer => &rules::SATURATION,
        Saturation::Unlisted => &rules::SATURATION_UNEXPECTED,
        Saturation::Float if integer => &rules::SATURATION_UNEXPECTED,
        _ => return,
    };
    let name = at.def.mnemonic();
    checker.add_named(rule, at, FieldName::Dst, || match ty {
        Some(ty) => alloc::format!("{name} into {ty} does not saturate"),
        None => alloc::format!("{name} does not saturate"),
    });
}

fn mixed(checker: &mut Checker<'_, '_>, at: &Looked<'_>, dst: DataType) {
    let mut brain = dst == DataType::Bf;
    for (_, _, value) in slots(at.instruction) {
        if let Value::Vector(operand) = value {
            brain |= checker.type_of(operand) == Some(DataType::Bf);
        }
    }
    if brain {
        return;
    }
    for (position, def, value) in slots(at.instruction) {
        let (Some(def), Value::Vector(operand)) = (def, value) else {
            continue;
        };
        if def.role != Role::Source {
            continue;
        }
        let Some(src) = checker.type_of(operand) else {
            continue;
        };
        let sound = if dst.is_float() || src.is_float() {
            src == dst
                || matches!(
                    (dst, src),
                    (DataType::F, DataType::Vf | DataType::Hf) | (DataType::Hf, DataType::F)
                )
        } else {
            src != DataType::Bool
        };
        if !sound {
            let slot = Slot {
                def,
                value,
                position,
            };
            checker.add_to(&rules::MIXED_TYPES, slot, || {
                alloc::format!("a source of type {src} for a result of type {dst}")
            });
        }
    }
}
