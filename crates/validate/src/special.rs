//! Instructions that compute, and demand more than their operands do.

use crate::checker::{Checker, Looked, Slot, slots};
use crate::rules;
use crate::storage::End;
use alloc::string::ToString;
use visakit_isa::object::Variable;
use visakit_isa::operand::{Modifier, OperandClass, StateClass, VectorOperand};
use visakit_isa::table::Role;
use visakit_isa::{DataType, FieldName, Op, Predicate, Region, Value};

pub(crate) fn check(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    match at.op {
        Op::MOV => predicate_copy(checker, at),
        Op::SEL if at.instruction.predicate().is_some_and(Predicate::is_none) => {
            checker.add_named(&rules::SELECTOR, at, FieldName::Pred, || {
                "sel without a predicate".to_string()
            });
        }
        Op::AND | Op::OR | Op::XOR | Op::NOT => predicate_logic(checker, at),
        Op::BFI | Op::BFE => bit_field(checker, at),
        Op::SETP => setp(checker, at),
        Op::ADDR_ADD => address_of(checker, at),
        Op::MOVS => state_copy(checker, at),
        Op::FCVT | Op::SRND => conversion(checker, at),
        Op::CMP => compare(checker, at),
        _ => {}
    }
    brain_float(checker, at);
}

fn class(at: &Looked<'_>, name: FieldName) -> Option<OperandClass> {
    Some(at.vector(name)?.class())
}

fn predicate_copy(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    if class(at, FieldName::Src0) != Some(OperandClass::Predicate) {
        return;
    }
    if at.lanes != 1 {
        let lanes = at.lanes;
        checker.add_named(&rules::PREDICATE_COPY, at, FieldName::ExecSize, || {
            alloc::format!("a predicate is copied with execution size {lanes}")
        });
    }
    if let Some(dst) = at.vector(FieldName::Dst) {
        let ty = checker.type_of(dst);
        if ty.is_some_and(|t| t.is_float() || t.size() > 4) {
            checker.add_named(&rules::PREDICATE_COPY, at, FieldName::Dst, || {
                let ty = ty.map_or("?", DataType::name);
                alloc::format!("a predicate is copied into type {ty}")
            });
        }
        if dst.modifier() == Modifier::SAT {
            checker.add_named(&rules::PREDICATE_COPY, at, FieldName::Dst, || {
                "a copy of a predicate saturates".to_string()
            });
        }
    }
    unpredicated(checker, at, "a copy of a predicate");
}

fn unpredicated(checker: &mut Checker<'_, '_>, at: &Looked<'_>, what: &str) {
    if at.instruction.predicate().is_some_and(|p| !p.is_none()) {
        checker.add_named(&rules::PREDICATED_LOGIC, at, FieldName::Pred, || {
            alloc::format!("{what} is predicated")
        });
    }
}

fn predicate_logic(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let (mut predicates, mut others) = (0, 0);
    for (_, _, value) in slots(at.instruction) {
        if let Value::Vector(operand) = value {
            match operand.class() {
                OperandClass::Predicate => predicates += 1,
                _ => others += 1,
            }
        }
    }
    if predicates > 0 {
        unpredicated(checker, at, "logic on predicates");
    }
    if predicates > 0 && others > 0 {
        checker.add(&rules::PREDICATE_LOGIC, || {
            alloc::format!(
                "{predicates} of {} operands are predicates",
                predicates + others
            )
        });
    }
}

fn bit_field(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    if at.lanes == 2 {
        checker.add_named(&rules::BIT_FIELD_SIZE, at, FieldName::ExecSize, || {
            "execution size 2".to_string()
        });
    }
    if at.lanes == 1 {
        return;
    }
    for (position, def, value) in slots(at.instruction) {
        let (Some(def), Value::Vector(VectorOperand::General(operand))) = (def, value) else {
            continue;
        };
        // One element for all lanes lies where it wants.
        if def.role == Role::Source && operand.region == Region::SCALAR {
            continue;
        }
        let Some(general) = checker.general(operand.variable) else {
            continue;
        };
        let Some((_, storage)) = general.declared else {
            continue;
        };
        let End::Declared(root) = storage.end else {
            continue;
        };
        let variables = &checker.body.variables;
        let root = variables.get(usize::try_from(root).unwrap_or(usize::MAX));
        let size = root.map_or(0, Variable::size);
        let stated = root
            .and_then(|v| v.properties.alignment().bytes(32))
            .unwrap_or(1);
        let aligned = if size >= 32 { 32 } else { stated };
        let offset = storage.offset + u32::from(operand.column) * u32::from(general.ty.size());
        if aligned < 16 || offset % 16 != 0 {
            let slot = Slot {
                def,
                value,
                position,
            };
            checker.add_to(&rules::BIT_FIELD_ALIGNMENT, slot, || {
                alloc::format!("at byte {offset} of storage that is aligned to {aligned} bytes")
            });
        }
    }
}

fn setp(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let scalar = match at.vector(FieldName::Src0) {
        Some(VectorOperand::Immediate(o)) => !o.data_type().is_packed(),
        Some(VectorOperand::General(o)) => o.region == Region::SCALAR,
        _ => false,
    };
    let first = if at.lanes == 32 {
        0
    } else {
        at.mask.first_lane
    };
    let sound =
        at.mask.no_mask && matches!(first, 0 | 16) && (at.lanes < 32 || at.mask.first_lane == 0);
    if scalar && at.lanes > 1 && !sound {
        let mask = at.mask;
        checker.add_named(&rules::SETP_MASK, at, FieldName::ExecSize, || {
            alloc::format!("mask {mask}, expected M1_NM or M5_NM")
        });
    }
}

fn address_of(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    match at.vector(FieldName::Src0) {
        Some(VectorOperand::General(o)) => {
            let first = checker.format.predefined_variable_count();
            let known = checker.format.predefined_variable(o.variable);
            let name = known.map_or("a reserved variable", |v| v.name);
            if o.variable.0 < first && !matches!(name, "arg" | "retval") {
                checker.add_named(&rules::ADDRESS_OF, at, FieldName::Src0, || {
                    alloc::format!("takes the address of {name}")
                });
            }
        }
        Some(VectorOperand::State(o)) if o.class == StateClass::SURFACE => {
            let first = checker.format.predefined_surface_count();
            if o.index < u16::from(first) {
                checker.add_named(&rules::ADDRESS_OF, at, FieldName::Src0, || {
                    alloc::format!("takes the address of the predefined surface T{}", o.index)
                });
            }
        }
        _ => {}
    }
    let Some(src1) = at.vector(FieldName::Src1) else {
        return;
    };
    let ty = checker.type_of(src1);
    let sound = ty
        .is_none_or(|t| t.size() <= 2 && !t.is_float() || matches!(t, DataType::V | DataType::Uv));
    if !sound {
        checker.add_named(&rules::OPERAND_TYPE, at, FieldName::Src1, || {
            let ty = ty.map_or("?", DataType::name);
            alloc::format!("type {ty}, expected a word or byte")
        });
    }
}

fn state_copy(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let (dst, src) = (at.vector(FieldName::Dst), at.vector(FieldName::Src0));
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

fn conversion(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let types =
        [FieldName::Dst, FieldName::Src0].map(|n| at.vector(n).and_then(|o| checker.type_of(o)));
    let [Some(dst), Some(src)] = types else {
        return;
    };
    use DataType::{B, Bf, F, Hf, Ub, Ud};
    let sound = if at.op == Op::FCVT {
        matches!((dst, src), (Ub | B, Hf) | (Hf, Ub | B) | (Ud, F) | (F, Ud))
    } else {
        matches!((dst, src), (Ub | B, Hf | Bf) | (Hf, F))
    };
    let name = at.def.mnemonic();
    if !sound {
        checker.add(&rules::CONVERSION, || {
            alloc::format!("{name} does not convert {src} to {dst}")
        });
    }
    // The narrow results are written whatever lanes are enabled.
    let masked = at.op == Op::SRND || matches!(dst, Ub | B);
    if masked && !at.mask.no_mask {
        checker.add_named(&rules::CONVERSION, at, FieldName::ExecSize, || {
            alloc::format!("{name} into {dst} needs a NoMask form")
        });
    }
    for source in [FieldName::Src0, FieldName::Src1] {
        if at
            .vector(source)
            .is_some_and(|o| o.modifier() != Modifier::NONE)
        {
            checker.add_named(&rules::CONVERSION, at, source, || {
                alloc::format!("{name} takes no source modifiers")
            });
        }
    }
}

fn compare(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    let types = [FieldName::Dst, FieldName::Src0].map(|n| {
        let operand = at
            .vector(n)
            .filter(|o| o.class() == OperandClass::General)?;
        checker.type_of(operand)
    });
    if let [Some(dst), Some(src)] = types
        && src.is_float()
        && dst.size() != src.size()
    {
        checker.add_named(&rules::CMP_DESTINATION, at, FieldName::Dst, || {
            alloc::format!("a result of type {dst} for sources of type {src}")
        });
    }
}

fn brain_float(checker: &mut Checker<'_, '_>, at: &Looked<'_>) {
    if matches!(at.op, Op::SRND | Op::MOV | Op::BF_CVT | Op::MOVS | Op::SETP) {
        return;
    }
    let mut used = false;
    let mut odd = None;
    for (_, def, value) in slots(at.instruction) {
        let (Some(def), Value::Vector(operand)) = (def, value) else {
            continue;
        };
        let Some(ty) = checker.type_of(operand) else {
            continue;
        };
        used |= ty == DataType::Bf;
        if !matches!(
            ty,
            DataType::Bf | DataType::F | DataType::Bool | DataType::Vf
        ) {
            odd = odd.or(Some((def.name, ty)));
        }
    }
    if !used {
        return;
    }
    let takes = matches!(
        at.op,
        Op::MUL
            | Op::MAD
            | Op::ADD
            | Op::SEL
            | Op::CMP
            | Op::COS
            | Op::DIV
            | Op::EXP
            | Op::INV
            | Op::LOG
            | Op::POW
            | Op::RSQRT
            | Op::SIN
            | Op::SQRT
            | Op::FMINMAX
            | Op::TANH
            | Op::SIGM
    );
    let name = at.def.mnemonic();
    if !takes {
        checker.add(&rules::BRAIN_FLOAT, || alloc::format!("{name} takes no bf"));
    } else if let Some((field, ty)) = odd {
        checker.add_named(&rules::BRAIN_FLOAT, at, field, || {
            alloc::format!("{ty} beside bf")
        });
    }
}
