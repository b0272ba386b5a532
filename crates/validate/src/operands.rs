//! Operands and other fields, one by one.

use crate::checker::{Checker, Looked, Slot};
use crate::structure::out_of_range;
use crate::{region, rules, types};
use alloc::string::ToString;
use visakit_isa::object::Variable;
use visakit_isa::operand::{
    AddressOperand, ElementCount, ExecMask, GeneralOperand, ImmediateOperand, IndirectOperand,
    Modifier, Predicate, PredicateCombine, PredicateOperand, RawOperand, StateClass, StateOperand,
    VectorOperand,
};
use visakit_isa::table::{Group, Role, SourceModifiers};
use visakit_isa::{
    AddressId, DataType, Features, Op, PredicateId, SamplerId, SurfaceId, Value, VarId,
};

/// Readers of 3.0 objects allow for six predefined surfaces, as newer tools count them.
const MOST_PREDEFINED_SURFACES: usize = 6;

/// Looks at a field of any kind.
pub(crate) fn field(checker: &mut Checker<'_, '_>, at: &Looked<'_>, slot: Slot<'_>, key: u16) {
    match slot.value {
        Value::Vector(operand) => vector(checker, at, slot, operand),
        Value::Raw(operand) => raw(checker, at, slot, *operand),
        Value::ExecSize(size) => {
            if size.is_wire_legal(checker.format) {
                lanes(checker, slot, at.lanes, at.mask);
            } else {
                checker.add_to(&rules::EXEC_SIZE_CODE, slot, || {
                    alloc::format!("execution-size byte {:#04x}", size.bits())
                });
            }
        }
        Value::ElementCount(count) => element_count(checker, slot, *count),
        Value::Predicate(word) => predicate(checker, at, slot, *word),
        Value::Label(id) => {
            index(
                checker,
                slot,
                "label",
                id.0.into(),
                checker.body.labels.len(),
            );
        }
        Value::String(id) => {
            index(checker, slot, "string", id.0, checker.body.strings.len());
        }
        Value::Surface(id) => surface(checker, slot, *id),
        Value::Sampler(id) => sampler(checker, slot, id.0.into()),
        Value::Lifetime(id) => match key >> 4 & 3 {
            0 => variable(checker, slot, *id),
            1 => index(checker, slot, "address", id.0, checker.body.addresses.len()),
            2 => {
                let end = checker.body.predicates.len() + 1;
                index(checker, slot, "predicate", id.0, end);
            }
            _ => checker.add_to(&rules::LIFETIME, slot, || {
                "the lifetime of no kind of variable".to_string()
            }),
        },
        Value::SamplerOp(op) => {
            if !op.is_wire_legal() {
                checker.add_to(&rules::SAMPLER_CODE, slot, || {
                    alloc::format!("sampler operation {:#06x}", op.bits())
                });
            } else if visakit_isa::enums::SAMPLER_OP.name_of(op.code()).is_none() {
                checker.add_to(&rules::SAMPLER_OPERATION, slot, || {
                    alloc::format!("sampler operation {}", op.code())
                });
            }
        }
        Value::U8(code) => enumeration(checker, at, slot, *code),
        Value::U16(_) | Value::U32(_) | Value::I32(_) => {}
    }
}

fn index(checker: &mut Checker<'_, '_>, slot: Slot<'_>, table: &str, index: u32, end: usize) {
    if usize::try_from(index).is_ok_and(|i| i >= end) {
        checker.add_to(&rules::INDEX, slot, || out_of_range(table, index, end));
    }
}

fn variable(checker: &mut Checker<'_, '_>, slot: Slot<'_>, id: VarId) {
    let first = usize::try_from(checker.format.predefined_variable_count()).unwrap_or(0);
    index(
        checker,
        slot,
        "variable",
        id.0,
        checker.body.variables.len() + first,
    );
    if usize::try_from(id.0).is_ok_and(|i| i < first)
        && checker.format.predefined_variable(id).is_none()
    {
        let version = checker.object.version;
        checker.add_to(&rules::PREDEFINED_UNKNOWN, slot, || {
            alloc::format!("{id} means nothing in version {version}")
        });
    }
}

fn surface(checker: &mut Checker<'_, '_>, slot: Slot<'_>, id: SurfaceId) {
    let end = checker.body.surfaces.len() + MOST_PREDEFINED_SURFACES;
    index(checker, slot, "surface", id.0.into(), end);
}

fn sampler(checker: &mut Checker<'_, '_>, slot: Slot<'_>, id: u32) {
    if id != u32::from(SamplerId::BINDLESS.0) {
        index(checker, slot, "sampler", id, checker.body.samplers.len());
    }
}

/// A code that its enumeration does not know, or calls invalid.
fn enumeration(checker: &mut Checker<'_, '_>, at: &Looked<'_>, slot: Slot<'_>, code: u8) {
    let Some(known) = slot.def.enumeration else {
        return;
    };
    // Quad messages keep their channel mask in both bytes.
    if crate::lsc::is_quad(at.op) && slot.def.name == visakit_isa::FieldName::DataElems {
        return;
    }
    if known.name_of(code).is_none_or(|name| name == "invalid") {
        checker.add_to(&rules::ENUMERATION, slot, || {
            alloc::format!("{} {} means nothing", known.name, known.code_of(code))
        });
    }
}

fn lanes(checker: &mut Checker<'_, '_>, slot: Slot<'_>, lanes: u8, mask: ExecMask) {
    if mask.first_lane + lanes > 32 {
        checker.add_to(&rules::MASK_RANGE, slot, || {
            alloc::format!("{lanes} lanes from lane {} on", mask.first_lane)
        });
    } else if !mask.first_lane.is_multiple_of(lanes.max(1)) {
        checker.add_to(&rules::MASK_ALIGNMENT, slot, || {
            alloc::format!("{lanes} lanes from lane {} on", mask.first_lane)
        });
    }
}

fn element_count(checker: &mut Checker<'_, '_>, slot: Slot<'_>, count: ElementCount) {
    match (count.lanes(), count.mask(checker.format)) {
        (Some(lanes), Some(mask)) if count.is_wire_legal(checker.format) => {
            self::lanes(checker, slot, lanes, mask);
        }
        _ => checker.add_to(&rules::EXEC_SIZE_CODE, slot, || {
            alloc::format!("element-count byte {:#04x}", count.bits())
        }),
    }
}

/// The declaration of a predicate, said to be missing if it is.
fn declared(checker: &mut Checker<'_, '_>, slot: Slot<'_>, id: PredicateId) -> Option<u16> {
    let end = checker.body.predicates.len() + 1;
    let place = usize::from(id.0).checked_sub(1);
    let found = place.and_then(|n| checker.body.predicates.get(n));
    let found = found.map(|d| d.elements);
    if found.is_none() {
        checker.add_to(&rules::INDEX, slot, || {
            out_of_range("predicate", id.0.into(), end)
        });
    }
    found
}

fn predicate(checker: &mut Checker<'_, '_>, at: &Looked<'_>, slot: Slot<'_>, word: Predicate) {
    if word.is_none() {
        return;
    }
    if !word.is_wire_legal() {
        checker.add_to(&rules::PREDICATE_CODE, slot, || {
            alloc::format!("predicate word {:#06x}", word.bits())
        });
        return;
    }
    // A word with a combination but no predicate enables all lanes.
    if word.id().0 == 0 {
        return;
    }
    if let Some(elements) = declared(checker, slot, word.id())
        && word.combine() == PredicateCombine::PerLane
    {
        predicate_size(checker, at, slot, elements);
    }
}

fn predicate_size(checker: &mut Checker<'_, '_>, at: &Looked<'_>, slot: Slot<'_>, elements: u16) {
    if at.sized && elements < u16::from(at.lanes) {
        let lanes = at.lanes;
        checker.add_to(&rules::PREDICATE_SIZE, slot, || {
            alloc::format!("{elements} elements for {lanes} lanes")
        });
    }
}

fn raw(checker: &mut Checker<'_, '_>, at: &Looked<'_>, slot: Slot<'_>, operand: RawOperand) {
    variable(checker, slot, operand.variable);
    if operand.is_null() {
        if operand.offset != 0 {
            checker.add_to(&rules::NULL_OFFSET, slot, || {
                alloc::format!("offset {} of nothing", operand.offset)
            });
        }
        return;
    }
    let Some(general) = checker.general(operand.variable) else {
        return;
    };
    let Some((_, storage)) = general.declared else {
        return;
    };
    let offset = u32::from(operand.offset);
    if let crate::storage::End::Declared(root) = storage.end {
        let root = usize::try_from(root).unwrap_or(usize::MAX);
        let size = checker.body.variables.get(root).map_or(0, Variable::size);
        let total = storage.offset.saturating_add(offset);
        let registers = checker.registers;
        if size >= registers.most && total % registers.least != 0 {
            checker.add_to(&rules::RAW_ALIGNMENT, slot, || {
                alloc::format!("begins at byte {total} of {size}")
            });
        }
    }
    if offset >= general.size {
        checker.add_to(&rules::RAW_BOUNDS, slot, || {
            alloc::format!("begins at byte {offset} of {}", general.size)
        });
    }
    // The data of these two has a rule of its own.
    let gathers = matches!(at.op, Op::GATHER | Op::SCATTER);
    if !gathers && !slot.def.types.is_empty() && !types::same_size(general.ty, slot) {
        checker.add_to(&rules::UNUSUAL_TYPE, slot, || {
            types::unexpected(general.ty, slot)
        });
    }
}

fn vector(checker: &mut Checker<'_, '_>, at: &Looked<'_>, slot: Slot<'_>, operand: &VectorOperand) {
    let (def, class) = (slot.def, operand.class());
    if !def.classes.is_empty() && !def.classes.has(class) {
        checker.add_to(&rules::OPERAND_CLASS, slot, || {
            let mut wanted = alloc::string::String::new();
            for class in def.classes.classes() {
                if !wanted.is_empty() {
                    wanted.push_str(", ");
                }
                wanted.push_str(class.name());
            }
            alloc::format!("an operand of class {}, expected {wanted}", class.name())
        });
    }
    modifier(checker, at, slot, operand);
    match operand {
        VectorOperand::General(o) => general(checker, at, slot, o),
        VectorOperand::Address(o) => address(checker, at, slot, o),
        VectorOperand::Predicate(o) => predicate_data(checker, at, slot, o),
        VectorOperand::Indirect(o) => indirect(checker, at, slot, o),
        VectorOperand::Immediate(o) => immediate(checker, at, slot, o),
        VectorOperand::State(o) => state(checker, slot, o),
    }
    types::operand(checker, at, slot, operand);
}

fn modifier(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    slot: Slot<'_>,
    operand: &VectorOperand,
) {
    let modifier = operand.modifier();
    if modifier == Modifier::NONE {
        return;
    }
    let Some(name) = modifier.name() else {
        checker.add_to(&rules::MODIFIER_CODE, slot, || {
            alloc::format!("operand tag {:#04x}", operand.tag())
        });
        return;
    };
    if slot.def.role == Role::Destination {
        if modifier != Modifier::SAT {
            checker.add_to(&rules::DESTINATION_MODIFIER, slot, || {
                alloc::format!("modifier {name} on a destination")
            });
        }
        return;
    }
    let takes = matches!(
        operand,
        VectorOperand::General(_) | VectorOperand::Indirect(_)
    );
    let logic = at.def.group == Group::Logic;
    let rotates = matches!(at.op, Op::ROL | Op::ROR);
    let shifts = rotates || at.def.source_modifiers == SourceModifiers::Arithmetic;
    let misplaced = match modifier {
        _ if !takes => true,
        Modifier::SAT => true,
        Modifier::NOT => !logic,
        _ => logic && !shifts,
    };
    let arithmetic = modifier != Modifier::NOT;
    if misplaced {
        let (instruction, class) = (at.def.mnemonic(), operand.class().name());
        checker.add_to(&rules::MODIFIER_PLACE, slot, || {
            alloc::format!("modifier {name} on a source of {instruction} of class {class}")
        });
    } else if match at.def.source_modifiers {
        SourceModifiers::None => true,
        SourceModifiers::Arithmetic => !arithmetic,
        SourceModifiers::Logic => arithmetic,
        SourceModifiers::Unspecified => false,
    } {
        let instruction = at.def.mnemonic();
        checker.add_to(&rules::MODIFIER_UNEXPECTED, slot, || {
            alloc::format!("modifier {name} on a source of {instruction}")
        });
    }
}

fn general(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    slot: Slot<'_>,
    operand: &GeneralOperand,
) {
    variable(checker, slot, operand.variable);
    if !operand.region.is_wire_legal() {
        checker.add_to(&rules::REGION_CODE, slot, || {
            alloc::format!("region word {:#06x}", operand.region.bits())
        });
        return;
    }
    let Some(found) = checker.general(operand.variable) else {
        return;
    };
    if slot.def.role == Role::Destination && found.declared.is_none() {
        read_only(checker, slot, operand, found.ty);
    }
    region::general(checker, at, slot, operand, found);
}

/// A destination that is predefined can be written to.
fn read_only(
    checker: &mut Checker<'_, '_>,
    slot: Slot<'_>,
    operand: &GeneralOperand,
    ty: DataType,
) {
    let Some(known) = checker.format.predefined_variable(operand.variable) else {
        return;
    };
    let byte =
        |grf: u32| u32::from(operand.row) * grf + u32::from(operand.column) * u32::from(ty.size());
    let (least, most) = (byte(checker.registers.least), byte(checker.registers.most));
    let any = |wanted: &[u32]| wanted.contains(&least) || wanted.contains(&most);
    let written = match known.name {
        "null" | "arg" | "retval" | "sp" | "fp" | "cr0" | "dbg0" => true,
        "impl_arg_buf_ptr" | "local_id_buf_ptr" => true,
        "tsc" => any(&[16]),
        "sr0" => any(&[4, 8]),
        _ => false,
    };
    if !written {
        checker.add_to(&rules::READ_ONLY, slot, || {
            alloc::format!("writes to {}, which is read only", known.name)
        });
    }
}

/// Elements of an address variable, said to be missing if it is.
pub(crate) fn address_elements(
    checker: &mut Checker<'_, '_>,
    slot: Slot<'_>,
    id: AddressId,
) -> Option<u32> {
    let addresses = &checker.body.addresses;
    let end = addresses.len();
    let found = addresses
        .get(usize::from(id.0))
        .map(|d| u32::from(d.elements));
    if found.is_none() {
        checker.add_to(&rules::INDEX, slot, || {
            out_of_range("address", id.0.into(), end)
        });
    }
    found
}

fn address(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    slot: Slot<'_>,
    operand: &AddressOperand,
) {
    let elements = address_elements(checker, slot, operand.address);
    let written = slot.def.role == Role::Destination;
    let used = if written {
        u32::from(at.lanes)
    } else if operand.width > 4 {
        checker.add_to(&rules::ADDRESS_WIDTH, slot, || {
            alloc::format!("width code {}, expected 0 to 4", operand.width)
        });
        return;
    } else {
        1 << operand.width
    };
    let end = u32::from(operand.offset) + used;
    let registers = checker.registers.addresses;
    if written && end > registers {
        checker.add_to(&rules::ADDRESS_LANES, slot, || {
            alloc::format!("writes up to element {}, there are {registers}", end - 1)
        });
    } else if elements.is_some_and(|n| end > n) {
        checker.add_to(&rules::ADDRESS_BOUNDS, slot, || {
            let elements = elements.unwrap_or(0);
            alloc::format!("element {} of {elements}", end - 1)
        });
    }
}

fn predicate_data(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    slot: Slot<'_>,
    operand: &PredicateOperand,
) {
    let word = operand.predicate;
    if !word.is_wire_legal() {
        checker.add_to(&rules::PREDICATE_CODE, slot, || {
            alloc::format!("predicate word {:#06x}", word.bits())
        });
        return;
    }
    if word.bits() >> 12 != 0 {
        checker.add_to(&rules::PREDICATE_OPERAND, slot, || {
            alloc::format!("predicate {word} as data")
        });
    }
    if let Some(elements) = declared(checker, slot, word.id()) {
        predicate_size(checker, at, slot, elements);
    }
}

fn indirect(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    slot: Slot<'_>,
    operand: &IndirectOperand,
) {
    if !(-512..512).contains(&operand.offset) {
        checker.add_to(&rules::INDIRECT_OFFSET, slot, || {
            alloc::format!("offset {}, expected -512 to 511", operand.offset)
        });
    }
    let old = !checker.format.features().contains(Features::SINCE_3_4);
    let allowed = if old { 0x10 } else { 0 };
    if operand.property.reserved() & !allowed != 0 {
        checker.add_to(&rules::INDIRECT_CODE, slot, || {
            alloc::format!("property byte {:#04x}", operand.property.bits())
        });
    }
    let ty = operand.property.data_type();
    if ty.is_packed() || ty == DataType::Bool {
        checker.add_to(&rules::INDIRECT_TYPE, slot, || {
            alloc::format!("an indirect operand of type {ty}")
        });
    }
    let elements = address_elements(checker, slot, operand.address);
    if !operand.region.is_wire_legal() {
        checker.add_to(&rules::REGION_CODE, slot, || {
            alloc::format!("region word {:#06x}", operand.region.bits())
        });
        return;
    }
    region::indirect(checker, at, slot, operand, elements);
}

fn immediate(
    checker: &mut Checker<'_, '_>,
    at: &Looked<'_>,
    slot: Slot<'_>,
    operand: &ImmediateOperand,
) {
    if operand.property.reserved() != 0 {
        checker.add_to(&rules::IMMEDIATE_CODE, slot, || {
            alloc::format!("type byte {:#04x}", operand.property.bits())
        });
    }
    let (ty, bits) = (operand.data_type(), operand.bits());
    let narrow = match ty.size() {
        1 => Some((0xffu64, 0x80u64)),
        2 => Some((0xffff, 0x8000)),
        _ => None,
    };
    if let Some((mask, sign)) = narrow {
        let upper = bits & 0xffff_ffff & !mask;
        // Compilers extend the sign of unsigned constants, too.
        let extended = bits & sign != 0 && upper == 0xffff_ffff & !mask;
        // A word constant may be stored twice.
        let twice = ty.size() == 2 && bits >> 16 == bits & 0xffff;
        if upper != 0 && !extended && !twice {
            checker.add_to(&rules::IMMEDIATE_RANGE, slot, || {
                alloc::format!("{bits:#x} as a constant of type {ty}")
            });
        }
    }
    let packed = match ty {
        DataType::V | DataType::Uv => 8,
        DataType::Vf => 4,
        _ => return,
    };
    if at.sized && at.lanes > packed && !slot.def.scalar && at.op != Op::SETP {
        let lanes = at.lanes;
        checker.add_to(&rules::PACKED_LANES, slot, || {
            alloc::format!("{packed} elements of {ty} for {lanes} lanes")
        });
    }
}

fn state(checker: &mut Checker<'_, '_>, slot: Slot<'_>, operand: &StateOperand) {
    match operand.class {
        StateClass::SURFACE => {
            let end = checker.body.surfaces.len() + MOST_PREDEFINED_SURFACES;
            index(checker, slot, "surface", operand.index.into(), end);
        }
        StateClass::SAMPLER => sampler(checker, slot, operand.index.into()),
        StateClass(class) => checker.add_to(&rules::STATE_CLASS, slot, || {
            alloc::format!("class {class}, expected 0 or 1")
        }),
    }
}
