//! Goes through an object and asks every rule.

use crate::platform::Registers;
use crate::report::{Part, Place, Sink};
use crate::rule::Rule;
use crate::storage::{End, General, Storage, storages};
use crate::{
    Options, declarations, flow, lsc, messages, operands, platform, rules, special, structure,
    types,
};
use alloc::string::String;
use alloc::vec::Vec;
use visakit_isa::object::{Body, Content, Item, Object, RoutineId};
use visakit_isa::operand::{ExecMask, RawOperand, VectorOperand};
use visakit_isa::table::{FieldDef, FieldKind, Group};
use visakit_isa::{DataType, FieldName, Format, Instruction, InstructionDef, Op, Value, VarId};

/// Looks at a whole object.
pub(crate) fn object(object: &Object<'_>, options: &Options, sink: &mut Sink) {
    structure::object(object, sink);
    let registers = Registers::of(object, options.platform);
    for (id, routine) in object.routines() {
        sink.report.routines += 1;
        structure::routine(object, id, routine, sink);
        if let Content::Body(body) = &routine.content {
            let mut checker = Checker {
                sink,
                object,
                body,
                format: object.format(),
                id,
                platform: options.platform,
                registers,
                storages: storages(body, object.format()),
                place: Place::of_routine(id),
            };
            declarations::check(&mut checker, routine);
            checker.code();
            flow::check(&mut checker);
        }
    }
}

/// A routine that is being looked at.
pub(crate) struct Checker<'c, 'o> {
    pub(crate) sink: &'c mut Sink,
    pub(crate) object: &'c Object<'o>,
    pub(crate) body: &'c Body<'o>,
    pub(crate) format: Format,
    pub(crate) id: RoutineId,
    pub(crate) platform: Option<visakit_isa::Platform>,
    pub(crate) registers: Registers,
    pub(crate) storages: Vec<Storage>,
    /// The instruction that is being looked at.
    pub(crate) place: Place,
}

/// An operand or another field together with its description.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'i> {
    pub(crate) def: &'static FieldDef,
    pub(crate) value: &'i Value,
    pub(crate) position: u32,
}

/// An instruction with what rules ask of it most.
pub(crate) struct Looked<'i> {
    pub(crate) def: &'static InstructionDef,
    pub(crate) instruction: &'i Instruction,
    pub(crate) op: Op,
    /// 1 where it has no execution size.
    pub(crate) lanes: u8,
    /// Whether it has an execution size.
    pub(crate) sized: bool,
    pub(crate) mask: ExecMask,
}

impl Looked<'_> {
    /// The number in a plain field.
    pub(crate) fn number(&self, name: FieldName) -> Option<i64> {
        self.instruction.get(name)?.as_number()
    }

    /// The byte in a plain field, 0 where there is none.
    pub(crate) fn byte(&self, name: FieldName) -> u8 {
        let number = self.number(name).unwrap_or(0);
        u8::try_from(number).unwrap_or(u8::MAX)
    }

    /// The raw operand of that name.
    pub(crate) fn raw(&self, name: FieldName) -> Option<RawOperand> {
        match self.instruction.get(name) {
            Some(Value::Raw(raw)) => Some(*raw),
            _ => None,
        }
    }

    /// The vector operand of that name.
    pub(crate) fn vector(&self, name: FieldName) -> Option<&VectorOperand> {
        match self.instruction.get(name) {
            Some(Value::Vector(operand)) => Some(operand),
            _ => None,
        }
    }
}

/// The fields of an instruction with their descriptions. `None` in place of a description: the row
/// has no such field here.
pub(crate) fn slots(
    instruction: &Instruction,
) -> impl Iterator<Item = (u32, Option<&'static FieldDef>, &Value)> {
    let mut rest = instruction.def().fields;
    let mut position = 0;
    instruction.fields.iter().map(move |field| {
        let here = position;
        position += 1;
        let found = rest.iter().position(|def| def.name == field.name);
        let def = found.and_then(|n| {
            let def = rest.get(n)?;
            // The entries of a list share a description.
            let used = n + usize::from(!def.kind.is_list());
            rest = rest.get(used..).unwrap_or_default();
            Some(def)
        });
        (here, def, &field.value)
    })
}

impl<'i> Checker<'_, '_> {
    /// A finding about the place of the checker.
    pub(crate) fn add(&mut self, rule: &'static Rule, message: impl FnOnce() -> String) {
        self.sink.add(rule, self.place, message);
    }

    /// A finding about a field.
    pub(crate) fn add_to(
        &mut self,
        rule: &'static Rule,
        slot: Slot<'_>,
        message: impl FnOnce() -> String,
    ) {
        let place = self.place.field(slot.def.name.as_str(), slot.position);
        self.sink.add(rule, place, message);
    }

    /// A finding about the field of this name.
    pub(crate) fn add_named(
        &mut self,
        rule: &'static Rule,
        at: &Looked<'_>,
        name: FieldName,
        message: impl FnOnce() -> String,
    ) {
        let fields = &at.instruction.fields;
        let place = match fields.iter().position(|f| f.name == name) {
            Some(n) => self
                .place
                .field(name.as_str(), u32::try_from(n).unwrap_or(u32::MAX)),
            None => self.place,
        };
        self.sink.add(rule, place, message);
    }

    fn code(&mut self) {
        let mut number = 0;
        for item in &self.body.code {
            let Item::Instruction(instruction) = item else {
                continue;
            };
            self.place.part = Part::Instruction {
                number,
                op: Some(instruction.op),
            };
            number += 1;
            self.instruction(instruction);
        }
        self.place.part = Part::Whole;
    }

    fn instruction(&mut self, instruction: &'i Instruction) {
        let def = instruction.def();
        if !def.exists_in(self.format) {
            let (version, dialect) = (self.object.version, self.object.dialect);
            let name = def.mnemonic();
            self.add(&rules::NOT_IN_VERSION, || {
                alloc::format!("version {version} (dialect {dialect}) has no {name}")
            });
            return;
        }
        let mut at = Looked {
            def,
            instruction,
            op: instruction.op,
            lanes: 1,
            sized: false,
            mask: ExecMask::M1,
        };
        let mut complete = 0;
        let mut key = 0;
        for (position, slot, value) in slots(instruction) {
            let Some(field) = slot else {
                self.superfluous(instruction, position);
                continue;
            };
            let here = field.when.holds(self.format) && field.only_if.is_none_or(|t| t.holds(key));
            if !here || !value.fits(field.kind) {
                self.superfluous(instruction, position);
                continue;
            }
            complete += 1;
            if field.is_key {
                key = value.key();
            }
            if let Value::ExecSize(size) = value {
                at.sized = true;
                at.lanes = size.lanes().unwrap_or(1);
                at.mask = size.mask(self.format).unwrap_or(ExecMask::M1);
            }
            let slot = Slot {
                def: field,
                value,
                position,
            };
            operands::field(self, &at, slot, key);
        }
        self.missing(&at, complete, key);
        match def.group {
            Group::Arithmetic | Group::Logic | Group::Move | Group::Compare | Group::Address => {
                types::check(self, &at);
                special::check(self, &at);
            }
            Group::Lsc => lsc::check(self, &at),
            Group::Flow | Group::SimdFlow => {}
            _ => messages::check(self, &at),
        }
        if let Some(platform) = self.platform {
            platform::check(self, &at, platform);
        }
    }

    #[cold]
    fn superfluous(&mut self, instruction: &Instruction, position: u32) {
        let index = usize::try_from(position).unwrap_or(usize::MAX);
        let name = instruction
            .fields
            .get(index)
            .map_or("?", |f| f.name.as_str());
        let place = self.place.field(name, position);
        self.sink.add(&rules::FIELDS, place, || {
            alloc::format!("the instruction has no field {name} here, or one of another kind")
        });
    }

    /// Counts the fields that must be there.
    fn missing(&mut self, at: &Looked<'_>, complete: usize, key: u16) {
        let fields = at.def.fields_in(self.format);
        let wanted = fields
            .filter(|f| f.kind != FieldKind::Count && !f.kind.is_list())
            .filter(|f| f.only_if.is_none_or(|t| t.holds(key)))
            .count();
        let lists = at.def.fields.iter().any(|f| f.kind.is_list());
        if complete < wanted || (complete > wanted && !lists) {
            self.add(&rules::FIELDS, || {
                alloc::format!("the instruction has {complete} fields, expected {wanted}")
            });
        }
    }

    /// A general variable; `None` if it does not exist.
    pub(crate) fn general(&self, id: VarId) -> Option<General> {
        let first = self.format.predefined_variable_count();
        let Some(index) = id.0.checked_sub(first) else {
            let known = self.format.predefined_variable(id);
            return Some(General {
                ty: known.map_or(DataType::Ud, |v| v.data_type),
                size: 0,
                declared: None,
            });
        };
        let place = usize::try_from(index).ok()?;
        let variable = self.body.variables.get(place)?;
        Some(General {
            ty: variable.properties.data_type(),
            size: variable.size(),
            declared: Some((index, *self.storages.get(place)?)),
        })
    }

    /// Bytes from the start of a raw operand to the end of the variable with its storage; `None` where that is
    /// not declared here.
    pub(crate) fn bytes_behind(&self, operand: RawOperand) -> Option<u32> {
        let (_, storage) = self.general(operand.variable)?.declared?;
        let End::Declared(root) = storage.end else {
            return None;
        };
        let root = self.body.variables.get(usize::try_from(root).ok()?)?;
        let at = storage.offset.saturating_add(operand.offset.into());
        Some(root.size().saturating_sub(at))
    }

    /// The type of a vector operand: `None` where it has none, or its variable does not exist.
    pub(crate) fn type_of(&self, operand: &VectorOperand) -> Option<DataType> {
        match operand {
            VectorOperand::General(o) if o.variable == VarId::NULL => None,
            VectorOperand::General(o) => Some(self.general(o.variable)?.ty),
            VectorOperand::Indirect(o) => Some(o.property.data_type()),
            VectorOperand::Immediate(o) => Some(o.data_type()),
            VectorOperand::Predicate(_) => Some(DataType::Bool),
            VectorOperand::Address(_) | VectorOperand::State(_) => None,
        }
    }
}
