//! Changes that make an instruction simpler, from the boldest to the smallest.

use visakit_isa::operand::{ImmediateOperand, Modifier};
use visakit_isa::semantics::{Flow, Traits};
use visakit_isa::table::FieldKind;
use visakit_isa::{
    DataType, ExecMask, ExecSize, Format, Instruction, Predicate, Region, Value, VectorOperand,
};

type Change = fn(&mut Instruction, Format);

/// All changes, each of which does nothing where it does not apply.
pub(crate) const CHANGES: &[Change] = &[
    constants,
    one_lane,
    no_predicate,
    no_modifier,
    no_mask_offset,
    plain_regions,
    first_elements,
    zeros,
];

/// Sources that may be constants become 0.
fn constants(instruction: &mut Instruction, _: Format) {
    let def = instruction.def();
    for field in &mut instruction.fields {
        let allows = def.fields.iter().any(|f| {
            f.name == field.name
                && f.kind == FieldKind::Vector
                && f.role == visakit_isa::table::Role::Source
                && f.classes.has(visakit_isa::operand::OperandClass::Immediate)
        });
        if let (true, Value::Vector(operand)) = (allows, &mut field.value) {
            *operand = ImmediateOperand::new(DataType::Ud.into(), 0).into();
        }
    }
}

fn one_lane(instruction: &mut Instruction, format: Format) {
    // Branches and calls keep the size of the kernel.
    if instruction.def().flow != Flow::Next {
        return;
    }
    sized(instruction, |size| {
        let mask = size.mask(format)?;
        ExecSize::new(1, mask, format)
    });
}

fn no_mask_offset(instruction: &mut Instruction, format: Format) {
    sized(instruction, |size| {
        ExecSize::new(size.lanes()?, ExecMask::M1, format)
    });
}

fn sized(instruction: &mut Instruction, change: impl Fn(ExecSize) -> Option<ExecSize>) {
    for field in &mut instruction.fields {
        if let Value::ExecSize(size) = &mut field.value
            && let Some(changed) = change(*size)
        {
            *size = changed;
        }
    }
}

fn no_predicate(instruction: &mut Instruction, _: Format) {
    // A selection without its predicate has no meaning.
    if instruction.def().traits.contains(Traits::SELECTS) {
        return;
    }
    for field in &mut instruction.fields {
        if let Value::Predicate(predicate) = &mut field.value {
            *predicate = Predicate::NONE;
        }
    }
}

fn no_modifier(instruction: &mut Instruction, _: Format) {
    for operand in operands(instruction) {
        match operand {
            VectorOperand::General(o) => o.modifier = Modifier::NONE,
            VectorOperand::Indirect(o) => o.modifier = Modifier::NONE,
            VectorOperand::Predicate(o) => o.modifier = Modifier::NONE,
            _ => {}
        }
    }
}

/// `<0;1,0>` for sources; destinations have no vertical stride and get `<1>`.
fn plain_regions(instruction: &mut Instruction, _: Format) {
    for operand in operands(instruction) {
        if let VectorOperand::General(o) = operand {
            o.region = match o.region.vertical_stride().elements() {
                Some(_) => Region::SCALAR,
                None => Region::destination(1).unwrap_or(o.region),
            };
        }
    }
}

fn first_elements(instruction: &mut Instruction, _: Format) {
    for operand in operands(instruction) {
        if let VectorOperand::General(o) = operand {
            o.row = 0;
            o.column = 0;
        }
    }
}

fn zeros(instruction: &mut Instruction, _: Format) {
    for operand in operands(instruction) {
        if let VectorOperand::Immediate(o) = operand {
            o.set_bits(0);
        }
    }
}

fn operands(instruction: &mut Instruction) -> impl Iterator<Item = &mut VectorOperand> {
    instruction
        .fields
        .iter_mut()
        .filter_map(|f| match &mut f.value {
            Value::Vector(operand) => Some(operand),
            _ => None,
        })
}
