//! One instruction or one operand as a row.

use crate::column::Name;
use crate::fingerprint::{operand_type, type_of};
use crate::names;
use crate::schema::{InstructionRow, OperandRow};
use visakit_isa::object::Body;
use visakit_isa::operand::{ImmediateValue, Modifier, Predicate, Region, StateClass};
use visakit_isa::semantics::AddressSpace;
use visakit_isa::table::FieldDef;
use visakit_isa::{AnyInstruction, DataType, FieldName, Format, Instruction, Value, VectorOperand};

fn int(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

/// The row of an instruction; its place is not filled in.
#[must_use]
pub fn describe(instruction: &Instruction, body: &Body<'_>, format: Format) -> InstructionRow {
    let def = instruction.def();
    let flow = instruction.flow();
    // A field would be sought in vain in most instructions.
    let memory = def.memory.and_then(|_| instruction.memory());
    let (mut exec_size, mut predicate, mut label, mut saturate) = (None, None, None, false);
    let (mut destination, mut source) = (None, None);
    for field in &instruction.fields {
        match field.value {
            Value::ExecSize(size) => exec_size = Some(size),
            Value::Predicate(word) if !word.is_none() => predicate = Some(word),
            Value::Label(id) => label = label.or(Some(i32::from(id.0))),
            Value::Vector(operand) => {
                let place = if field.name.is_destination() {
                    saturate |= operand.modifier() == Modifier::SAT;
                    &mut destination
                } else {
                    &mut source
                };
                if place.is_none() {
                    *place = operand_type(body, format, &operand);
                }
            }
            _ => {}
        }
    }
    let named = |name| match instruction.value(name) {
        Some(Value::U8(byte)) => {
            let field = def.fields.iter().find(|field| field.name == name);
            field
                .and_then(|field| field.enumeration?.name_of(byte))
                .map(Name)
        }
        _ => None,
    };
    let (cache_l1, cache_l3) = match memory {
        Some(_) => (named(FieldName::CacheL1), named(FieldName::CacheL3)),
        None => (None, None),
    };
    InstructionRow {
        object: 0,
        routine: 0,
        instruction: 0,
        offset: None,
        bytes: None,
        name: Name(def.name),
        mnemonic: Name(def.mnemonic()),
        opcode: instruction.op.opcode().into(),
        sub_op: def.sub_op.map(i32::from),
        group: Name(def.group.name()),
        exec_size: exec_size
            .and_then(visakit_isa::ExecSize::lanes)
            .map(i32::from),
        mask: exec_size
            .and_then(|size| size.mask(format))
            .map(|mask| Name(names::mask(mask))),
        predicate: predicate.map(|p| p.id().0.into()),
        inverted: predicate.is_some_and(Predicate::is_inverted),
        combine: predicate.map(|p| Name(names::combine(p.combine()))),
        ty: destination.or(source).map(|ty: DataType| Name(ty.name())),
        saturate,
        flow: Name(names::flow(flow.flow)),
        diverges: flow.diverges,
        label,
        memory: memory.map(|m| Name(names::action(m.action))),
        space: memory.map(|m| Name(names::space(m.space))),
        surface: memory.and_then(|m| match m.space {
            AddressSpace::Surface(surface) => Some(surface.0.into()),
            _ => None,
        }),
        layout: memory.map(|m| Name(names::layout(m.layout))),
        element_bytes: memory.and_then(|m| m.element_bytes).map(int),
        elements: memory.and_then(|m| m.elements).map(int),
        address_bits: memory.and_then(|m| m.address_bits).map(i32::from),
        access_bytes: memory.and_then(|m| m.bytes()).map(int),
        cache_l1,
        cache_l3,
        line: None,
    }
}

/// Vertical stride, width and horizontal stride in elements, if they are present.
fn region(region: Region, row: &mut OperandRow) {
    row.vertical = region.vertical_stride().elements().map(i32::from);
    row.width = region.width().elements().map(i32::from);
    row.horizontal = region.horizontal_stride().elements().map(i32::from);
}

/// The row of an instruction's field; its place is not filled in.
#[must_use]
pub fn describe_operand(
    def: &FieldDef,
    value: &Value,
    body: &Body<'_>,
    format: Format,
) -> OperandRow {
    let mut row = OperandRow {
        object: 0,
        routine: 0,
        instruction: 0,
        operand: 0,
        field: Name(def.name.as_str()),
        role: Name(names::role(def.role)),
        class: Name(names::class(value)),
        ty: None,
        modifier: None,
        index: None,
        row: None,
        column: None,
        vertical: None,
        width: None,
        horizontal: None,
        value: None,
        number: None,
        value_name: None,
    };
    operand_row(body, format, value, &mut row);
    if let (Some(enumeration), Value::U8(byte)) = (def.enumeration, value) {
        row.value_name = enumeration.name_of(*byte).map(Name);
    }
    row
}

fn operand_row(body: &Body<'_>, format: Format, value: &Value, row: &mut OperandRow) {
    match value {
        Value::Vector(operand) => {
            row.ty = operand_type(body, format, operand).map(|ty| Name(ty.name()));
            row.modifier = names::modifier(operand.modifier()).map(Name);
            match operand {
                VectorOperand::General(o) => {
                    row.index = Some(int(o.variable.0));
                    row.row = Some(o.row.into());
                    row.column = Some(o.column.into());
                    region(o.region, row);
                }
                VectorOperand::Address(o) => {
                    row.index = Some(o.address.0.into());
                    row.row = Some(o.offset.into());
                    row.width = 1i32.checked_shl(o.width.into());
                }
                VectorOperand::Predicate(o) => row.index = Some(o.predicate.id().0.into()),
                VectorOperand::Indirect(o) => {
                    row.index = Some(o.address.0.into());
                    row.row = Some(o.address_offset.into());
                    row.column = Some(o.offset.into());
                    region(o.region, row);
                }
                VectorOperand::Immediate(o) => match o.value() {
                    // Unsigned 64-bit values keep their bits.
                    ImmediateValue::Integer(_) if o.data_type() == DataType::Uq => {
                        row.value = Some(o.bits().cast_signed());
                    }
                    ImmediateValue::Integer(n) => row.value = i64::try_from(n).ok(),
                    ImmediateValue::Float(n) => row.number = Some(n),
                    ImmediateValue::Packed(n) => row.value = Some(n.into()),
                },
                VectorOperand::State(o) => {
                    row.index = Some(o.index.into());
                    row.row = Some(o.offset.into());
                    let surface = o.class == StateClass::SURFACE;
                    row.class = Name(if surface { "surface" } else { "sampler" });
                }
            }
        }
        Value::Raw(o) => {
            row.ty = type_of(body, format, o.variable).map(|ty| Name(ty.name()));
            row.index = Some(int(o.variable.0));
            row.column = Some(o.offset.into());
        }
        Value::Predicate(p) => row.index = Some(p.id().0.into()),
        Value::ExecSize(size) => row.value = size.lanes().map(i64::from),
        Value::U8(_) | Value::U16(_) | Value::U32(_) | Value::I32(_) => {
            row.value = value.as_number();
        }
        Value::Label(id) => row.index = Some(id.0.into()),
        Value::String(id) => row.index = Some(int(id.0)),
        Value::Surface(id) => row.index = Some(id.0.into()),
        Value::Sampler(id) => row.index = Some(id.0.into()),
        Value::Lifetime(id) => row.index = Some(int(id.0)),
        Value::ElementCount(count) => row.value = count.lanes().map(i64::from),
        Value::SamplerOp(op) => row.value = Some(op.bits().into()),
    }
}
