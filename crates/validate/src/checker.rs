//! Goes through an object and asks every rule.

use crate::platform::Registers;
use crate::report::{Cause, Finding, Location, Scope, Sink};
use crate::rule::Rule;
use crate::storage::{General, generals};
use crate::{
    Options, declarations, flow, lsc, messages, operands, payload, platform, rules, special,
    structure, types,
};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use visakit_isa::object::{Body, Content, Item, Object, RoutineId};
use visakit_isa::operand::{ExecMask, OperandClasses, RawOperand, VectorOperand};
use visakit_isa::semantics::{Ending, Flow};
use visakit_isa::table::{FieldDef, FieldKind, FieldPattern, Group, Lack};
use visakit_isa::{
    DataType, FieldName, Format, Instruction, InstructionDef, Op, Platform, Platforms, TypeSet,
    Value, VarId,
};

/// Checks a whole object.
///
/// Pieces that did not decode are reported if nothing else reports them.
pub(crate) fn object(object: &Object<'_>, options: &Options, tell_raw: bool, sink: &mut Sink) {
    let registers = Registers::of(object, options.platform);
    let before = sink.report.findings.len();
    check(object, options, registers, tell_raw, sink);
    let Some(findings) = sink.report.findings.get_mut(before..) else {
        return;
    };
    if findings.is_empty() || options.platform.is_none() || registers.least <= SMALL {
        return;
    }
    // A finding that also occurs with small registers is not caused by their size.
    let mut small = Sink::new(usize::MAX);
    check(
        object,
        options,
        registers.of_bytes(SMALL),
        tell_raw,
        &mut small,
    );
    let place = |finding: &Finding| (finding.rule.number, finding.location);
    let mut found: Vec<_> = small.report.findings.iter().map(place).collect();
    found.sort_unstable();
    for finding in findings {
        if found.binary_search(&place(finding)).is_err() {
            finding.cause = Some(Cause::RegisterSize);
        }
    }
}

/// Bytes of a register of platforms before PVC, and of DG2, MTL and ARL.
const SMALL: u32 = 32;

fn check(
    object: &Object<'_>,
    options: &Options,
    registers: Registers,
    tell_raw: bool,
    sink: &mut Sink,
) {
    structure::object(object, sink);
    let lacking = options.platform.map_or(TypeSet::empty(), platform::lacking);
    for (id, routine) in object.routines() {
        sink.report.routines += 1;
        structure::routine(object, id, routine, sink);
        let location = Location::of_routine(id);
        let body = match &routine.content {
            Content::Body(body) => body,
            Content::Raw(raw) if tell_raw => {
                sink.add(&rules::UNDECODABLE, location, || raw.reason.clone());
                continue;
            }
            Content::Missing(reason) if tell_raw => {
                sink.add(&rules::MISPLACED_PIECE, location, || reason.clone());
                continue;
            }
            Content::Raw(_) | Content::Missing(_) => continue,
        };
        let format = object.format();
        let variables = generals(body, format);
        let mut checker = Checker {
            sink,
            object,
            body,
            format,
            id,
            named: options.platform,
            target: registers.target,
            possible: registers.target,
            registers,
            lacking,
            variables: &variables,
            location,
            turns: Vec::new(),
        };
        declarations::check(&mut checker);
        checker.code(tell_raw);
        flow::check(&mut checker);
    }
}

/// The routine being checked, and what rules query about it.
pub(crate) struct Checker<'c, 'o> {
    pub(crate) sink: &'c mut Sink,
    pub(crate) object: &'c Object<'o>,
    pub(crate) body: &'c Body<'o>,
    pub(crate) format: Format,
    pub(crate) id: RoutineId,
    /// The platform that was named.
    named: Option<Platform>,
    /// The platforms that the object may be for.
    pub(crate) target: Platforms,
    /// Those of them that have everything that the instruction has needed so far.
    possible: Platforms,
    pub(crate) registers: Registers,
    /// Types that the platform lacks.
    pub(crate) lacking: TypeSet,
    /// The general variables by number, predefined ones first.
    pub(crate) variables: &'c [General],
    /// The instruction that is checked.
    pub(crate) location: Location,
    /// The places where control may do something else than continue.
    pub(crate) turns: Vec<Turn<'c>>,
}

/// A place in the code where control may do something else than continue.
pub(crate) struct Turn<'c> {
    /// The number of the instruction.
    pub(crate) number: u32,
    /// The previous instruction, if it only continues with the next one.
    pub(crate) before: Option<Op>,
    /// The item itself.
    pub(crate) what: Code<'c>,
}

/// An item of the code.
pub(crate) enum Code<'c> {
    Instruction(&'c Instruction),
    /// Bytes that do not decode.
    Raw,
    /// The end of the routine.
    End,
}

/// An operand or another field together with its description.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'i> {
    pub(crate) def: &'static FieldDef,
    pub(crate) value: &'i Value,
    pub(crate) position: u32,
}

/// An instruction with the results of one pass over its fields.
pub(crate) struct Site<'i> {
    pub(crate) def: &'static InstructionDef,
    pub(crate) instruction: &'i Instruction,
    /// 1 where it has no execution size.
    pub(crate) lanes: u8,
    /// Whether it has an execution size.
    pub(crate) sized: bool,
    pub(crate) mask: ExecMask,
    /// Types of the vector operands.
    pub(crate) types: TypeSet,
    /// Types of those that are sources.
    pub(crate) sources: TypeSet,
    /// Classes of the vector operands.
    pub(crate) classes: OperandClasses,
    /// The type of the destination, if it is a vector operand and has one.
    pub(crate) dst: Option<DataType>,
    /// Whether that saturates.
    pub(crate) saturates: bool,
    /// Whether a raw operand names a variable.
    pub(crate) raws: bool,
}

impl Site<'_> {
    /// The number in a plain field.
    pub(crate) fn number(&self, name: FieldName) -> Option<i64> {
        self.instruction.get(name)?.as_number()
    }

    /// The byte in a plain field, 0 if there is none.
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

    /// The fields with their descriptions.
    pub(crate) fn slots<'s>(&'s self) -> impl Iterator<Item = Slot<'s>> + use<'s> {
        let mut rest = self.def.fields;
        let fields = (0..).zip(&self.instruction.fields);
        fields.filter_map(move |(position, field)| {
            Some(Slot {
                def: next_def(&mut rest, field.name)?,
                value: &field.value,
                position,
            })
        })
    }

    /// The vector operands with their descriptions.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = (Slot<'_>, &VectorOperand)> {
        self.slots().filter_map(|slot| match slot.value {
            Value::Vector(operand) => Some((slot, operand)),
            _ => None,
        })
    }
}

/// The description of the next field, out of those that are left; `None`: the row has no such
/// field here.
#[inline]
fn next_def(rest: &mut &'static [FieldDef], name: FieldName) -> Option<&'static FieldDef> {
    let found = match rest.first() {
        Some(first) if first.name == name => 0,
        _ => rest.iter().position(|def| def.name == name)?,
    };
    let def = rest.get(found)?;
    // The entries of a list share a description.
    *rest = rest.get(found + usize::from(!def.kind.is_list())..)?;
    Some(def)
}

impl<'c> Checker<'c, '_> {
    /// A finding about the instruction that is checked.
    #[cold]
    pub(crate) fn add(&mut self, rule: &'static Rule, message: impl FnOnce() -> String) {
        self.sink.add(rule, self.location, message);
    }

    /// A finding about a field.
    #[cold]
    pub(crate) fn add_to(
        &mut self,
        rule: &'static Rule,
        slot: Slot<'_>,
        message: impl FnOnce() -> String,
    ) {
        let location = self.location.field(slot.def.name.as_str(), slot.position);
        self.sink.add(rule, location, message);
    }

    /// A finding about the field of this name.
    #[cold]
    pub(crate) fn add_named(
        &mut self,
        rule: &'static Rule,
        site: &Site<'_>,
        name: FieldName,
        message: impl FnOnce() -> String,
    ) {
        let mut fields = (0..).zip(&site.instruction.fields);
        let location = match fields.find(|(_, field)| field.name == name) {
            Some((position, _)) => self.location.field(name.as_str(), position),
            None => self.location,
        };
        self.sink.add(rule, location, message);
    }

    fn code(&mut self, tell_raw: bool) {
        let body = self.body;
        let (mut number, mut before) = (0, None);
        let turn = |number, before: &mut Option<Op>, what| Turn {
            number,
            before: before.take(),
            what,
        };
        for item in &body.code {
            let instruction = match item {
                Item::Instruction(instruction) => instruction,
                Item::Raw(raw) => {
                    self.turns.push(turn(number, &mut before, Code::Raw));
                    if tell_raw {
                        let location = Location::of_routine(self.id);
                        self.sink
                            .add(&rules::UNDECODABLE, location, || raw.reason.clone());
                    }
                    continue;
                }
            };
            let (op, def) = (instruction.op, instruction.op.def());
            if def.flow == Flow::Next && def.ending == Ending::Never {
                before = Some(op);
            } else {
                let what = Code::Instruction(instruction);
                self.turns.push(turn(number, &mut before, what));
            }
            self.location.scope = Scope::Instruction {
                number,
                op: Some(op),
            };
            self.instruction(def, instruction);
            number += 1;
        }
        self.turns.push(turn(number, &mut before, Code::End));
    }

    fn instruction(&mut self, def: &'static InstructionDef, instruction: &Instruction) {
        if !def.exists_in(self.format) {
            let (version, dialect) = (self.object.version, self.object.dialect);
            let name = def.mnemonic();
            self.add(&rules::NOT_IN_VERSION, || {
                format!("version {version} (dialect {dialect}) has no {name}")
            });
            return;
        }
        self.possible = self.target;
        let mut site = Site {
            def,
            instruction,
            lanes: 1,
            sized: false,
            mask: ExecMask::M1,
            types: TypeSet::empty(),
            sources: TypeSet::empty(),
            classes: OperandClasses::empty(),
            dst: None,
            saturates: false,
            raws: false,
        };
        let conditional = def.pattern == FieldPattern::Conditional;
        let (mut complete, mut key) = (0, 0);
        let mut rest = def.fields;
        for (position, field) in (0..).zip(&instruction.fields) {
            let value = &field.value;
            let found = next_def(&mut rest, field.name).filter(|def| {
                let here = !conditional
                    || (def.when.holds(self.format)
                        && def.only_if.is_none_or(|test| test.holds(key)));
                here && value.fits(def.kind)
            });
            let Some(def) = found else {
                let name = field.name.as_str();
                let location = self.location.field(name, position);
                let message =
                    || format!("the instruction has no field {name} here, or one of another kind");
                self.sink.add(&rules::FIELDS, location, message);
                continue;
            };
            complete += 1;
            if def.is_key {
                key = value.key();
            }
            let slot = Slot {
                def,
                value,
                position,
            };
            operands::field(self, &mut site, slot, key);
        }
        self.missing(def, complete, key);
        if site.raws {
            payload::check(self, &site);
        }
        match def.group {
            Group::Arithmetic | Group::Logic | Group::Move | Group::Compare | Group::Address => {
                types::check(self, &site);
                special::check(self, &site);
            }
            Group::Lsc => lsc::check(self, &site),
            Group::Flow | Group::SimdFlow => {}
            _ => messages::check(self, &site),
        }
        if let Some(platform) = self.named {
            platform::check(self, &site, platform);
        }
    }

    /// Whether the object may be for a platform out of `needed` that has all else that the instruction needs: what differs
    /// by platform is refused only if no platform accepts it, together with the rest of the instruction.
    #[inline]
    pub(crate) fn allows(&mut self, site: &Site<'_>, needed: Platforms) -> bool {
        needed.contains(self.possible) || self.narrow(site.def, needed)
    }

    /// Whether the object may be for a platform with so many elements in the address register.
    pub(crate) fn allows_addresses(&mut self, site: &Site<'_>, count: u32) -> bool {
        count <= 16 || self.allows(site, Platforms::MANY_ADDRESSES)
    }

    /// Whether the object may be for a platform of which this holds, by the size of its registers.
    pub(crate) fn allows_registers(
        &mut self,
        site: &Site<'_>,
        holds: impl Fn(u32) -> bool,
    ) -> bool {
        let sizes = [self.registers.least, self.registers.most].map(&holds);
        if sizes == [true; 2] {
            return true;
        }
        let fits = |platform: &Platform| holds(platform.grf_bytes());
        let fitting = self.possible.platforms().filter(fits);
        let fitting = fitting.map(Platform::set).collect();
        self.allows(site, fitting)
    }

    #[cold]
    fn narrow(&mut self, def: &InstructionDef, needed: Platforms) -> bool {
        let has = |platform: &Platform| {
            let lack = def.runs_on(*platform);
            !matches!(lack, Err(Lack::NotYet(_) | Lack::NoLonger))
        };
        let left = (self.possible & needed).platforms().filter(has);
        let left: Platforms = left.map(Platform::set).collect();
        if left.is_empty() {
            return false;
        }
        self.possible = left;
        true
    }

    /// Counts the fields that must be there.
    #[inline]
    fn missing(&mut self, def: &InstructionDef, complete: usize, key: u16) {
        let (mut wanted, mut lists) = (def.fields.len(), false);
        if def.pattern == FieldPattern::Conditional {
            let fields = def.fields_in(self.format);
            wanted = fields
                .filter(|f| f.kind != FieldKind::Count && !f.kind.is_list())
                .filter(|f| f.only_if.is_none_or(|t| t.holds(key)))
                .count();
            lists = def.fields.iter().any(|f| f.kind.is_list());
        }
        if complete < wanted || (complete > wanted && !lists) {
            self.add(&rules::FIELDS, || {
                format!("the instruction has {complete} fields, expected {wanted}")
            });
        }
    }

    /// A general variable; `None` if it does not exist.
    #[inline]
    pub(crate) fn general(&self, id: VarId) -> Option<&'c General> {
        self.variables.get(usize::try_from(id.0).ok()?)
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

    /// The type of the vector operand of that name.
    pub(crate) fn type_at(&self, site: &Site<'_>, name: FieldName) -> Option<DataType> {
        self.type_of(site.vector(name)?)
    }

    /// The type of the declared variable of the raw operand of that name.
    pub(crate) fn raw_type(&self, site: &Site<'_>, name: FieldName) -> Option<DataType> {
        let general = self.general(site.raw(name)?.variable)?;
        general.declared.then_some(general.ty)
    }
}
