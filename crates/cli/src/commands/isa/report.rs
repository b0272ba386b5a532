//! The table's information about an instruction, as data.

use serde::Serialize;
use visakit::isa::enums::Enumeration;
use visakit::isa::operand::OperandClass;
use visakit::isa::semantics::Flow;
use visakit::isa::table::{FieldDef, InstructionDef, KeyTest, Role, Saturation, SourceModifiers};
use visakit::isa::{DataType, Dialect, Features, Format, Platform, Platforms, Version};

/// A row of the table.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) mnemonics: &'static [&'static str],
    pub(super) opcode: u8,
    pub(super) sub_op: Option<u8>,
    #[serde(skip)]
    pub(super) number: String,
    pub(super) summary: &'static str,
    pub(super) group: &'static str,
    pub(super) status: &'static str,
    /// When the number means this instruction, as text.
    pub(super) condition: String,
    /// The versions in which it does.
    pub(super) versions: Vec<String>,
    /// Instructions that have the number in other versions.
    pub(super) same_number: Vec<&'static str>,
    /// Unmarked features that the layout depends on.
    pub(super) features: Vec<Feature>,
    pub(super) fields: Vec<Field>,
    pub(super) enumerations: Vec<Names>,
    pub(super) saturation: Option<&'static str>,
    pub(super) source_modifiers: Option<&'static str>,
    pub(super) flow: Option<&'static str>,
    pub(super) memory: Option<String>,
    /// Why it cannot be executed; `None` if it can.
    pub(super) unsupported: Option<&'static str>,
    /// The columns of the written specification.
    pub(super) platforms: Vec<&'static str>,
    /// The platforms that have it, as far as is known.
    pub(super) runs_on: Vec<&'static str>,
    pub(super) since_platform: Option<&'static str>,
    pub(super) since: Option<String>,
    pub(super) note: Option<&'static str>,
}

/// A change of layout that no version number marks.
#[derive(Serialize)]
pub(super) struct Feature {
    pub(super) name: String,
    /// The dialects that have it.
    pub(super) dialects: Vec<&'static str>,
}

/// A field, in stream order.
#[derive(Serialize)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) role: Option<&'static str>,
    /// Whether only one element is used.
    pub(super) scalar: bool,
    /// Whether other fields depend on the value of this one.
    pub(super) is_key: bool,
    /// Formats that have it; `None`: all.
    pub(super) condition: Option<String>,
    /// The value another field must have for this one to be present.
    pub(super) only_if: Option<String>,
    pub(super) classes: Vec<&'static str>,
    pub(super) types: Vec<&'static str>,
    pub(super) enumeration: Option<&'static str>,
    pub(super) note: Option<&'static str>,
}

/// An enumeration.
#[derive(Serialize)]
pub(super) struct Names {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// The bits of the byte that hold the code.
    pub(super) mask: u8,
    pub(super) values: Vec<Named>,
}

/// A value of an enumeration.
#[derive(Serialize)]
pub(super) struct Named {
    pub(super) code: u8,
    pub(super) name: &'static str,
}

impl Row {
    pub(super) fn new(def: &'static InstructionDef) -> Self {
        let condition = if !def.has_layout() {
            "no version".to_owned()
        } else if def.when.is_always() {
            "every version".to_owned()
        } else {
            def.when.to_string()
        };
        let exists = |v: &Version| def.exists_in(Format::new(*v, Dialect::default()));
        let key = def.fields.iter().find(|f| f.is_key);
        let key = key.map_or("", |f| f.name.as_str());
        Self {
            name: def.name,
            mnemonics: def.mnemonics,
            opcode: def.op.opcode(),
            sub_op: def.sub_op,
            number: crate::commands::number(def.op),
            summary: def.summary,
            group: def.group.name(),
            status: def.status.name(),
            condition,
            versions: Version::SUPPORTED
                .iter()
                .filter(|v| exists(v))
                .map(ToString::to_string)
                .collect(),
            same_number: super::same_number(def).map(|d| d.name).collect(),
            features: def.unmarked.iter_names().map(feature).collect(),
            fields: def.fields.iter().map(|f| Field::new(f, key)).collect(),
            enumerations: enumerations(def),
            saturation: match def.saturation {
                Saturation::Unspecified => None,
                Saturation::No => Some("no"),
                Saturation::Yes => Some("yes"),
                Saturation::Unlisted => Some("not listed"),
                Saturation::Float | Saturation::FloatOnly => Some("floating-point destinations"),
            },
            source_modifiers: match def.source_modifiers {
                SourceModifiers::Unspecified => None,
                SourceModifiers::None => Some("none"),
                SourceModifiers::Arithmetic => Some("absolute value, negation"),
                SourceModifiers::Logic => Some("complement"),
            },
            flow: (def.flow != Flow::Next).then(|| def.flow.name()),
            memory: def.memory.map(|memory| memory.to_string()),
            unsupported: some(def.unsupported),
            platforms: platforms(def.platforms),
            runs_on: Platform::ALL
                .iter()
                .filter(|p| def.runs_on(**p).is_ok())
                .map(|p| p.name())
                .collect(),
            since_platform: def.since_platform.map(Platform::name),
            since: def.since.map(|month| month.to_string()),
            note: some(def.note),
        }
    }
}

impl Field {
    fn new(field: &FieldDef, key: &str) -> Self {
        Self {
            name: field.name.as_str(),
            kind: field.kind.name(),
            role: match field.role {
                Role::Control => None,
                Role::Destination => Some("destination"),
                Role::Source => Some("source"),
            },
            scalar: field.scalar,
            is_key: field.is_key,
            condition: (!field.when.is_always()).then(|| field.when.to_string()),
            only_if: field.only_if.map(|test| match test {
                KeyTest::Equals(value) => format!("{key} is {value}"),
                KeyTest::Bit(bit) => format!("bit {bit} of {key}"),
            }),
            classes: field.classes.classes().map(OperandClass::name).collect(),
            types: field.types.types().map(DataType::name).collect(),
            enumeration: field.enumeration.map(|e| e.name),
            note: some(field.note),
        }
    }
}

fn some(text: &'static str) -> Option<&'static str> {
    (!text.is_empty()).then_some(text)
}

fn platforms(platforms: Platforms) -> Vec<&'static str> {
    platforms.platforms().map(Platform::name).collect()
}

fn feature((name, feature): (&'static str, Features)) -> Feature {
    let has = |d: &Dialect| d.features().contains(feature);
    let dialects = Dialect::ALL.into_iter().filter(has);
    Feature {
        name: name.to_lowercase(),
        dialects: dialects.map(Dialect::name).collect(),
    }
}

/// The enumerations that fields use, each once.
fn enumerations(def: &InstructionDef) -> Vec<Names> {
    let mut used: Vec<&'static Enumeration> = Vec::new();
    for enumeration in def.fields.iter().filter_map(|f| f.enumeration) {
        if !used.contains(&enumeration) {
            used.push(enumeration);
        }
    }
    used.into_iter()
        .map(|enumeration| Names {
            name: enumeration.name,
            summary: enumeration.summary.trim(),
            mask: enumeration.mask,
            values: enumeration
                .entries
                .iter()
                .map(|&(code, name)| Named { code, name })
                .collect(),
        })
        .collect()
}
