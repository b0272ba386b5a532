//! Operands and other fields, one by one.

use crate::checker::{Checker, Site, Slot};
use crate::{region, rules, types};
use alloc::format;
use alloc::string::ToString;
use visakit_isa::operand::{
    AddressOperand, ElementCount, ExecMask, GeneralOperand, ImmediateOperand, IndirectOperand,
    Modifier, OperandClass, OperandClasses, Predicate, PredicateCombine, PredicateOperand,
    RawOperand, StateClass, StateOperand, VectorOperand,
};
use visakit_isa::semantics::{ElementSize, Traits};
use visakit_isa::table::{Group, Role, SourceModifiers};
use visakit_isa::{
    AddressId, DataType, Features, FieldName, Op, PredicateId, SamplerId, SurfaceId, TypeSet,
    Value, VarId,
};

/// Readers of 3.0 objects allow for six predefined surfaces, as newer tools count them.
const MOST_PREDEFINED_SURFACES: usize = 6;

/// Checks a field of any kind, and notes what the rules for whole instructions need.
#[inline]
pub(crate) fn field(checker: &mut Checker<'_, '_>, site: &mut Site<'_>, slot: Slot<'_>, key: u16) {
    let body = checker.body;
    match slot.value {
        Value::Vector(operand) => vector(checker, site, slot, operand),
        Value::Raw(operand) => {
            site.raws |= !operand.is_null();
            raw(checker, site, slot, *operand);
        }
        Value::ExecSize(size) => {
            site.sized = true;
            site.lanes = size.lanes().unwrap_or(1);
            site.mask = size.mask(checker.format).unwrap_or(ExecMask::M1);
            if size.is_wire_legal(checker.format) {
                lanes(checker, slot, site.lanes, site.mask);
            } else {
                let bits = size.bits();
                checker.add_to(&rules::EXEC_SIZE_CODE, slot, || {
                    format!("execution-size byte {bits:#04x}")
                });
            }
        }
        Value::ElementCount(count) => element_count(checker, slot, *count),
        Value::Predicate(word) => predicate(checker, site, slot, *word),
        Value::Label(id) => index(checker, slot, "label", id.0.into(), body.labels.len()),
        Value::String(id) => index(checker, slot, "string", id.0, body.strings.len()),
        Value::Surface(id) => surface(checker, slot, *id),
        Value::Sampler(id) => sampler(checker, slot, id.0.into()),
        Value::Lifetime(id) => match OperandClass::of_lifetime(key) {
            Some(OperandClass::Address) => {
                index(checker, slot, "address", id.0, body.addresses.len());
            }
            Some(OperandClass::Predicate) => {
                index(checker, slot, "predicate", id.0, body.predicates.len() + 1);
            }
            Some(_) => variable(checker, slot, *id),
            None => checker.add_to(&rules::LIFETIME, slot, || {
                "the lifetime of no kind of variable".to_string()
            }),
        },
        Value::SamplerOp(op) => {
            if !op.is_wire_legal() {
                let bits = op.bits();
                checker.add_to(&rules::SAMPLER_CODE, slot, || {
                    format!("sampler operation {bits:#06x}")
                });
            } else if visakit_isa::enums::SAMPLER_OP.name_of(op.code()).is_none() {
                checker.add_to(&rules::SAMPLER_OPERATION, slot, || {
                    format!("sampler operation {}", op.code())
                });
            }
        }
        Value::U8(code) => enumeration(checker, site, slot, *code),
        Value::U16(_) | Value::U32(_) | Value::I32(_) => {}
    }
}

#[inline]
fn index(checker: &mut Checker<'_, '_>, slot: Slot<'_>, table: &str, index: u32, end: usize) {
    if usize::try_from(index).is_ok_and(|i| i >= end) {
        let location = checker
            .location
            .field(slot.def.name.as_str(), slot.position);
        checker.sink.index(location, table, index, end);
    }
}

#[inline]
fn variable(checker: &mut Checker<'_, '_>, slot: Slot<'_>, id: VarId) {
    if checker.general(id).is_none_or(|general| !general.declared) {
        undeclared(checker, slot, id);
    }
}

/// A variable that is predefined, or does not exist.
fn undeclared(checker: &mut Checker<'_, '_>, slot: Slot<'_>, id: VarId) {
    if checker.general(id).is_none() {
        index(checker, slot, "variable", id.0, checker.variables.len());
    } else if checker.format.predefined_variable(id).is_none() {
        let version = checker.object.version;
        checker.add_to(&rules::PREDEFINED_UNKNOWN, slot, || {
            format!("{id} means nothing in version {version}")
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
fn enumeration(checker: &mut Checker<'_, '_>, site: &Site<'_>, slot: Slot<'_>, code: u8) {
    let Some(known) = slot.def.enumeration else {
        return;
    };
    if known.name_of(code).is_some_and(|name| name != "invalid") {
        return;
    }
    // Messages that count channels keep the mask of these in both bytes.
    if slot.def.name != FieldName::DataElems || !crate::lsc::has_channels(site) {
        checker.add_to(&rules::ENUMERATION, slot, || {
            format!("{} {} means nothing", known.name, known.code_of(code))
        });
    }
}

fn lanes(checker: &mut Checker<'_, '_>, slot: Slot<'_>, lanes: u8, mask: ExecMask) {
    if !mask.has(lanes) {
        checker.add_to(&rules::MASK_RANGE, slot, || {
            format!("{lanes} lanes from lane {} on", mask.first_lane)
        });
    } else if mask.first_lane & (lanes - 1) != 0 {
        checker.add_to(&rules::MASK_ALIGNMENT, slot, || {
            format!("{lanes} lanes from lane {} on", mask.first_lane)
        });
    }
}

fn element_count(checker: &mut Checker<'_, '_>, slot: Slot<'_>, count: ElementCount) {
    match (count.lanes(), count.mask(checker.format)) {
        (Some(lanes), Some(mask)) if count.is_wire_legal(checker.format) => {
            self::lanes(checker, slot, lanes, mask);
        }
        _ => checker.add_to(&rules::EXEC_SIZE_CODE, slot, || {
            format!("element-count byte {:#04x}", count.bits())
        }),
    }
}

/// An entry that its table does not have.
#[cold]
fn absent(checker: &mut Checker<'_, '_>, slot: Slot<'_>, table: &str, id: u16, end: usize) {
    let location = checker
        .location
        .field(slot.def.name.as_str(), slot.position);
    checker.sink.absent(location, table, id.into(), end);
}

/// The declaration of a predicate, said to be missing if it is.
fn declared(checker: &mut Checker<'_, '_>, slot: Slot<'_>, id: PredicateId) -> Option<u16> {
    let predicates = &checker.body.predicates;
    let found = usize::from(id.0)
        .checked_sub(1)
        .and_then(|n| predicates.get(n));
    if found.is_none() {
        absent(checker, slot, "predicate", id.0, predicates.len() + 1);
    }
    found.map(|d| d.elements)
}

fn predicate(checker: &mut Checker<'_, '_>, site: &Site<'_>, slot: Slot<'_>, word: Predicate) {
    if word.is_none() {
        return;
    }
    if !word.is_wire_legal() {
        checker.add_to(&rules::PREDICATE_CODE, slot, || {
            format!("predicate word {:#06x}", word.bits())
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
        predicate_size(checker, site, slot, elements);
    }
}

fn predicate_size(checker: &mut Checker<'_, '_>, site: &Site<'_>, slot: Slot<'_>, elements: u16) {
    if site.sized && elements < u16::from(site.lanes) {
        let lanes = site.lanes;
        checker.add_to(&rules::PREDICATE_SIZE, slot, || {
            format!("{elements} elements for {lanes} lanes")
        });
    }
}

fn raw(checker: &mut Checker<'_, '_>, site: &Site<'_>, slot: Slot<'_>, operand: RawOperand) {
    variable(checker, slot, operand.variable);
    if operand.is_null() {
        if operand.offset != 0 {
            checker.add_to(&rules::NULL_OFFSET, slot, || {
                format!("offset {} of nothing", operand.offset)
            });
        }
        return;
    }
    let Some(general) = checker.general(operand.variable).filter(|g| g.declared) else {
        return;
    };
    let offset = u32::from(operand.offset);
    if let Some(size) = general.root_size {
        let total = general.offset.saturating_add(offset);
        let registers = checker.registers;
        if size >= registers.most && total % registers.least != 0 {
            checker.add_to(&rules::RAW_ALIGNMENT, slot, || {
                format!("begins at byte {total} of {size}")
            });
        }
    }
    if offset >= general.size {
        checker.add_to(&rules::RAW_BOUNDS, slot, || {
            format!("begins at byte {offset} of {}", general.size)
        });
    }
    if !slot.def.types.is_empty() && !types::same_size(general.ty, slot.def) {
        // The data of messages that state the size of their elements has its own rule.
        if site
            .def
            .memory
            .is_none_or(|m| m.element != ElementSize::Log2)
        {
            types::unexpected(checker, false, slot, general.ty);
        }
    }
}

#[inline]
fn vector(
    checker: &mut Checker<'_, '_>,
    site: &mut Site<'_>,
    slot: Slot<'_>,
    operand: &VectorOperand,
) {
    let (def, class) = (slot.def, operand.class());
    site.classes |= OperandClasses::of(class);
    if !def.classes.is_empty() && !def.classes.has(class) {
        let rule = if refused(site, slot, class) {
            &rules::OPERAND_CLASS
        } else {
            &rules::UNUSUAL_CLASS
        };
        checker.add_to(rule, slot, || {
            let wanted = types::list(def.classes.classes().map(OperandClass::name));
            format!("an operand of class {}, expected {wanted}", class.name())
        });
    }
    if operand.modifier() != Modifier::NONE {
        modifier(checker, site, slot, operand);
    }
    let ty = match operand {
        VectorOperand::General(o) => general(checker, site, slot, o),
        VectorOperand::Immediate(o) => Some(immediate(checker, site, slot, o)),
        VectorOperand::Indirect(o) => Some(indirect(checker, site, slot, o)),
        VectorOperand::Predicate(o) => {
            predicate_data(checker, site, slot, o);
            Some(DataType::Bool)
        }
        VectorOperand::Address(o) => {
            address(checker, site, slot, o);
            None
        }
        VectorOperand::State(o) => {
            state(checker, slot, o);
            None
        }
    };
    if def.name == FieldName::Dst {
        site.dst = ty;
        site.saturates = operand.modifier() == Modifier::SAT;
    }
    if let Some(ty) = ty {
        site.types |= TypeSet::of(ty);
        if def.role == Role::Source {
            site.sources |= TypeSet::of(ty);
        }
        types::operand(checker, site, slot, class, ty);
    }
}

/// Whether Intel's verifier refuses a class that the field does not list.
#[cold]
fn refused(site: &Site<'_>, slot: Slot<'_>, class: OperandClass) -> bool {
    let written = slot.def.role == Role::Destination;
    let never = match site.def.group {
        // It lists what these take.
        Group::Arithmetic | Group::Sampler | Group::Lsc => return true,
        // Of a systolic product it does not ask, and other fields of these groups have a list.
        Group::Miscellaneous => return !site.def.traits.contains(Traits::SYSTOLIC),
        Group::Move => {
            return written && class == OperandClass::Immediate || site.def.op != Op::MOV;
        }
        Group::Address | Group::Compare if written => return true,
        Group::Address => OperandClasses::PREDICATE,
        Group::Compare | Group::DataPort => {
            OperandClasses::PREDICATE.union(OperandClasses::ADDRESS)
        }
        Group::Logic => OperandClasses::ADDRESS,
        _ => OperandClasses::empty(),
    };
    never.has(class) || written && class == OperandClass::Immediate
}

fn modifier(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    operand: &VectorOperand,
) {
    let modifier = operand.modifier();
    let Some(name) = modifier.name() else {
        checker.add_to(&rules::MODIFIER_CODE, slot, || {
            format!("operand tag {:#04x}", operand.tag())
        });
        return;
    };
    if slot.def.role == Role::Destination {
        if modifier != Modifier::SAT {
            checker.add_to(&rules::DESTINATION_MODIFIER, slot, || {
                format!("modifier {name} on a destination")
            });
        }
        return;
    }
    let takes = matches!(
        operand,
        VectorOperand::General(_) | VectorOperand::Indirect(_)
    );
    let (def, arithmetic) = (site.def, modifier != Modifier::NOT);
    let instruction = def.mnemonic();
    let rotates = def.traits.contains(Traits::ROTATES);
    let takes_some = matches!(
        def.source_modifiers,
        SourceModifiers::Arithmetic | SourceModifiers::Logic
    );
    let misplaced = match modifier {
        _ if !takes => true,
        Modifier::SAT => true,
        Modifier::NOT => def.group != Group::Logic,
        // Intel's verifier rejects them in all logic instructions, but shipped kernels negate
        // operands of `and`, and run: where hardware complements, it also accepts these.
        _ => def.group == Group::Logic && !takes_some && !rotates,
    };
    if misplaced {
        let class = operand.class().name();
        checker.add_to(&rules::MODIFIER_PLACE, slot, || {
            format!("modifier {name} on a source of {instruction} of class {class}")
        });
    } else if match def.source_modifiers {
        SourceModifiers::None => true,
        SourceModifiers::Arithmetic => !arithmetic,
        SourceModifiers::Logic => arithmetic,
        SourceModifiers::Unspecified => false,
    } {
        checker.add_to(&rules::MODIFIER_UNEXPECTED, slot, || {
            format!("modifier {name} on a source of {instruction}")
        });
    }
}

/// The type of the operand, where it has one.
#[inline]
fn general(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    operand: &GeneralOperand,
) -> Option<DataType> {
    let found = checker.general(operand.variable);
    if found.is_none_or(|found| !found.declared) {
        undeclared(checker, slot, operand.variable);
    }
    if !operand.region.is_wire_legal() {
        checker.add_to(&rules::REGION_CODE, slot, || {
            format!("region word {:#06x}", operand.region.bits())
        });
    } else if let Some(found) = found {
        if slot.def.role == Role::Destination && !found.declared {
            read_only(checker, slot, operand, found.ty);
        }
        region::general(checker, site, slot, operand, found);
    }
    let found = found.filter(|_| operand.variable != VarId::NULL);
    found.map(|found| found.ty)
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
            format!("writes to {}, which is read only", known.name)
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
    let found = addresses.get(usize::from(id.0));
    if found.is_none() {
        absent(checker, slot, "address", id.0, addresses.len());
    }
    found.map(|d| u32::from(d.elements))
}

fn address(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    operand: &AddressOperand,
) {
    let elements = address_elements(checker, slot, operand.address);
    let written = slot.def.role == Role::Destination;
    let used = if written {
        u32::from(site.lanes)
    } else if operand.width > 4 {
        checker.add_to(&rules::ADDRESS_WIDTH, slot, || {
            format!("width code {}, expected 0 to 4", operand.width)
        });
        return;
    } else {
        1 << operand.width
    };
    let end = u32::from(operand.offset) + used;
    let registers = checker.registers.addresses;
    if written && (end > registers || !checker.allows_addresses(site, end)) {
        checker.add_to(&rules::ADDRESS_LANES, slot, || {
            format!("writes up to element {}, there are {registers}", end - 1)
        });
    } else if let Some(elements) = elements.filter(|n| end > *n) {
        checker.add_to(&rules::ADDRESS_BOUNDS, slot, || {
            format!("element {} of {elements}", end - 1)
        });
    }
}

fn predicate_data(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    operand: &PredicateOperand,
) {
    let word = operand.predicate;
    if !word.is_wire_legal() {
        checker.add_to(&rules::PREDICATE_CODE, slot, || {
            format!("predicate word {:#06x}", word.bits())
        });
        return;
    }
    if word.bits() >> 12 != 0 {
        checker.add_to(&rules::PREDICATE_OPERAND, slot, || {
            format!("predicate {word} as data")
        });
    }
    if let Some(elements) = declared(checker, slot, word.id()) {
        predicate_size(checker, site, slot, elements);
    }
}

fn indirect(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    operand: &IndirectOperand,
) -> DataType {
    if !(-512..512).contains(&operand.offset) {
        checker.add_to(&rules::INDIRECT_OFFSET, slot, || {
            format!("offset {}, expected -512 to 511", operand.offset)
        });
    }
    let old = !checker.format.features().contains(Features::SINCE_3_4);
    let allowed = if old { 0x10 } else { 0 };
    if operand.property.reserved() & !allowed != 0 {
        checker.add_to(&rules::INDIRECT_CODE, slot, || {
            format!("property byte {:#04x}", operand.property.bits())
        });
    }
    let ty = operand.property.data_type();
    if ty.is_packed() || ty == DataType::Bool {
        checker.add_to(&rules::INDIRECT_TYPE, slot, || {
            format!("an indirect operand of type {ty}")
        });
    }
    let elements = address_elements(checker, slot, operand.address);
    if !operand.region.is_wire_legal() {
        checker.add_to(&rules::REGION_CODE, slot, || {
            format!("region word {:#06x}", operand.region.bits())
        });
    } else {
        region::indirect(checker, site, slot, operand, elements);
    }
    ty
}

fn immediate(
    checker: &mut Checker<'_, '_>,
    site: &Site<'_>,
    slot: Slot<'_>,
    operand: &ImmediateOperand,
) -> DataType {
    if operand.property.reserved() != 0 {
        checker.add_to(&rules::IMMEDIATE_CODE, slot, || {
            format!("type byte {:#04x}", operand.property.bits())
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
                format!("{bits:#x} as a constant of type {ty}")
            });
        }
    }
    let packed = match ty {
        DataType::V | DataType::Uv => 8,
        DataType::Vf => 4,
        _ => return ty,
    };
    let whole = site.def.traits.contains(Traits::PREDICATE_FROM_BITS);
    if site.sized && site.lanes > packed && !slot.def.scalar && !whole {
        let lanes = site.lanes;
        checker.add_to(&rules::PACKED_LANES, slot, || {
            format!("{packed} elements of {ty} for {lanes} lanes")
        });
    }
    ty
}

fn state(checker: &mut Checker<'_, '_>, slot: Slot<'_>, operand: &StateOperand) {
    match operand.class {
        StateClass::SURFACE => {
            let end = checker.body.surfaces.len() + MOST_PREDEFINED_SURFACES;
            index(checker, slot, "surface", operand.index.into(), end);
        }
        StateClass::SAMPLER => sampler(checker, slot, operand.index.into()),
        StateClass(class) => checker.add_to(&rules::STATE_CLASS, slot, || {
            format!("class {class}, expected 0 or 1")
        }),
    }
}
