//! The properties of an instruction that patterns test.

use super::pattern::{self, Number, Relation};
use crate::fingerprint::operand_type;
use crate::names;
use std::cmp::Ordering;
use visakit_isa::object::{Body, Item};
use visakit_isa::operand::{ImmediateValue, StateClass};
use visakit_isa::semantics::{Access, Flow, Resource};
use visakit_isa::{
    AnyInstruction, FieldName, Format, Instruction, SamplerId, SurfaceId, Value, VarId,
    VectorOperand,
};

/// An answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Fact {
    Text(&'static str),
    Number(i64),
    /// A floating-point constant.
    Float {
        /// Its bits.
        bits: i64,
        /// The number as the bits of a double.
        double: u64,
    },
    /// A variable, as the one whose storage it shares.
    Resource(Resource),
}

impl Fact {
    /// Whether a number has this relation to one of a pattern. Floats compare by value; for equality their bits will do,
    /// too.
    pub(super) fn compares(&self, relation: Relation, wanted: Number) -> bool {
        #[allow(clippy::cast_precision_loss)] // constants that large are compared by their bits
        let order = match (self, wanted) {
            (Self::Number(number), Number::Integer(wanted)) => number.partial_cmp(&wanted),
            (Self::Number(number), Number::Float(wanted)) => (*number as f64).partial_cmp(&wanted),
            (Self::Float { bits, .. }, Number::Integer(wanted))
                if relation == Relation::Equal && *bits == wanted =>
            {
                Some(Ordering::Equal)
            }
            (Self::Float { double, .. }, Number::Integer(wanted)) => {
                f64::from_bits(*double).partial_cmp(&(wanted as f64))
            }
            (Self::Float { double, .. }, Number::Float(wanted)) => {
                f64::from_bits(*double).partial_cmp(&wanted)
            }
            (Self::Text(_) | Self::Resource(_), _) => None,
        };
        order.is_some_and(|order| match relation {
            Relation::Equal => order.is_eq(),
            Relation::NotEqual => order.is_ne(),
            Relation::Less => order.is_lt(),
            Relation::Greater => order.is_gt(),
            Relation::AtMost => order.is_le(),
            Relation::AtLeast => order.is_ge(),
        })
    }

    /// The number, if it is one.
    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(Number::Integer(*number)),
            Self::Float { double, .. } => Some(Number::Float(f64::from_bits(*double))),
            Self::Text(_) | Self::Resource(_) => None,
        }
    }
}

/// The code of a routine, by the index of items.
pub(super) struct Facts<'a> {
    body: &'a Body<'a>,
    format: Format,
    /// Numbers of instructions: items that do not decode have none.
    numbers: Vec<usize>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(body: &'a Body<'a>, format: Format) -> Self {
        let mut next = 0;
        let numbers = body.code.iter().map(|item| {
            let number = next;
            next += usize::from(matches!(item, Item::Instruction(_)));
            number
        });
        Self {
            body,
            format,
            numbers: numbers.collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.body.code.len()
    }

    pub(super) fn number(&self, place: usize) -> Option<usize> {
        self.numbers.get(place).copied()
    }

    fn at(&self, place: usize) -> Option<&'a Instruction> {
        match self.body.code.get(place) {
            Some(Item::Instruction(instruction)) => Some(instruction),
            _ => None,
        }
    }

    /// Whether it is an instruction that a thread runs.
    pub(super) fn is_code(&self, place: usize) -> bool {
        let flow = self.at(place).map(|instruction| instruction.def().flow);
        flow.is_some_and(|flow| !matches!(flow, Flow::Marker | Flow::Label { .. }))
    }

    pub(super) fn is_called(&self, place: usize, glob: &str) -> bool {
        let Some(instruction) = self.at(place) else {
            return false;
        };
        let def = instruction.def();
        let fits = |name: &str| pattern::fits(&name.to_ascii_lowercase(), glob);
        if glob == "*" || fits(def.name) || def.mnemonics.iter().any(|name| fits(name)) {
            return true;
        }
        let function = name_of(instruction, FieldName::Sfid);
        function.is_some_and(|function| fits(&format!("{}.{function}", def.mnemonic())))
    }

    /// The values for a key; empty if the instruction has none.
    pub(super) fn of(&self, place: usize, key: &str) -> Vec<Fact> {
        let Some(instruction) = self.at(place) else {
            return Vec::new();
        };
        let text = |text: Option<&'static str>| text.map(Fact::Text).into_iter().collect();
        let number = |number: Option<i64>| number.map(Fact::Number).into_iter().collect();
        let def = instruction.def();
        let memory = || instruction.memory();
        match key {
            "group" => text(Some(def.group.name())),
            "flow" => text(Some(names::flow(def.flow))),
            "exec" => number(
                instruction
                    .exec_size()
                    .and_then(visakit_isa::ExecSize::lanes)
                    .map(i64::from),
            ),
            "mask" => {
                let mask = instruction
                    .exec_size()
                    .and_then(|size| size.mask(self.format));
                text(mask.map(names::mask))
            }
            "pred" => match instruction.predicate().filter(|p| !p.is_none()) {
                Some(predicate) => vec![Fact::Resource(Resource::Predicate(predicate.id()))],
                None => vec![Fact::Text("none")],
            },
            "type" => {
                let operand = |written: bool| {
                    instruction
                        .fields
                        .iter()
                        .find_map(move |field| match field.value {
                            Value::Vector(o) if field.name.is_destination() == written => {
                                operand_type(self.body, self.format, &o)
                            }
                            _ => None,
                        })
                };
                text(
                    operand(true)
                        .or_else(|| operand(false))
                        .map(visakit_isa::DataType::name),
                )
            }
            "memory" => text(memory().map(|m| names::action(m.action))),
            "space" => text(memory().map(|m| names::space(m.space))),
            "layout" => text(memory().map(|m| names::layout(m.layout))),
            "bytes" => number(memory().and_then(|m| m.element_bytes).map(i64::from)),
            "elements" => number(memory().and_then(|m| m.elements).map(i64::from)),
            "address" => number(memory().and_then(|m| m.address_bits).map(i64::from)),
            "reads" => self.resources(instruction.reads()),
            "writes" => self.resources(instruction.writes()),
            "imm" => {
                let constants = instruction
                    .fields
                    .iter()
                    .filter_map(|field| match field.value {
                        Value::Vector(VectorOperand::Immediate(_)) => self.value(&field.value),
                        _ => None,
                    });
                constants.collect()
            }
            field => match FieldName::from_name(field) {
                Some(name) => match name_of(instruction, name) {
                    Some(named) => vec![Fact::Text(named)],
                    None => instruction
                        .all(name)
                        .filter_map(|v| self.value(v))
                        .collect(),
                },
                None => Vec::new(),
            },
        }
    }

    fn resources(&self, accesses: impl Iterator<Item = Access>) -> Vec<Fact> {
        let named = accesses.filter(|access| access.field.is_some());
        named.map(|access| self.resource(access.resource)).collect()
    }

    /// A variable is represented by the one whose storage it shares.
    fn resource(&self, resource: Resource) -> Fact {
        let Resource::General(mut id) = resource else {
            return Fact::Resource(resource);
        };
        // An alias names an earlier variable; a circle of them ends at the number of variables.
        for _ in 0..self.body.variables.len() {
            match self.variable(id) {
                Some(variable) if variable.is_alias() && variable.alias_scope == 0 => {
                    id = variable.alias;
                }
                _ => break,
            }
        }
        Fact::Resource(Resource::General(id))
    }

    fn variable(&self, id: VarId) -> Option<&'a visakit_isa::object::Variable<'a>> {
        let index = id.0.checked_sub(self.format.predefined_variable_count())?;
        self.body.variables.get(usize::try_from(index).ok()?)
    }

    fn value(&self, value: &Value) -> Option<Fact> {
        Some(match value {
            Value::Vector(operand) => match operand {
                VectorOperand::General(o) => self.resource(Resource::General(o.variable)),
                VectorOperand::Address(o) => Fact::Resource(Resource::Address(o.address)),
                VectorOperand::Predicate(o) => {
                    Fact::Resource(Resource::Predicate(o.predicate.id()))
                }
                VectorOperand::Indirect(o) => Fact::Resource(Resource::Address(o.address)),
                VectorOperand::Immediate(o) => match o.value() {
                    ImmediateValue::Integer(number) => Fact::Number(i64::try_from(number).ok()?),
                    ImmediateValue::Float(number) => Fact::Float {
                        bits: o.bits().cast_signed(),
                        double: number.to_bits(),
                    },
                    ImmediateValue::Packed(bits) => Fact::Number(bits.into()),
                },
                VectorOperand::State(o) => {
                    let index = u8::try_from(o.index).ok()?;
                    Fact::Resource(if o.class == StateClass::SURFACE {
                        Resource::Surface(SurfaceId(index))
                    } else {
                        Resource::Sampler(SamplerId(index))
                    })
                }
            },
            Value::Raw(raw) => self.resource(Resource::General(raw.variable)),
            Value::Predicate(predicate) => Fact::Resource(Resource::Predicate(predicate.id())),
            Value::Surface(id) => Fact::Resource(Resource::Surface(*id)),
            Value::Sampler(id) => Fact::Resource(Resource::Sampler(*id)),
            Value::Label(id) => Fact::Number(id.0.into()),
            other => Fact::Number(other.as_number()?),
        })
    }

    /// Whether an answer fits a text with wildcards.
    pub(super) fn fits(&self, fact: &Fact, glob: &str) -> bool {
        let text = self.show(fact).to_ascii_lowercase();
        // Predefined variables are known with the sign of text, and without.
        let bare = text.strip_prefix('%');
        pattern::fits(&text, glob) || bare.is_some_and(|text| pattern::fits(text, glob))
    }

    /// An answer as text.
    pub(super) fn show(&self, fact: &Fact) -> String {
        match fact {
            Fact::Text(text) => (*text).to_owned(),
            Fact::Number(number) => number.to_string(),
            Fact::Float { double, .. } => format!("{:?}", f64::from_bits(*double)),
            Fact::Resource(resource) => names::resource(*resource, self.body, self.format),
        }
    }
}

/// The name of a field's number.
fn name_of(instruction: &Instruction, name: FieldName) -> Option<&'static str> {
    let Some(Value::U8(byte)) = instruction.get(name) else {
        return None;
    };
    let field = instruction
        .def()
        .fields
        .iter()
        .find(|field| field.name == name)?;
    field.enumeration?.name_of(*byte)
}
