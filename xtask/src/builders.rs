//! The constructors of `visakit_isa::build`, made from the rows of the table.

use std::fmt::Write;
use visakit_isa::semantics::DataLayout;
use visakit_isa::table::{self, FieldDef, FieldKind, Role};
use visakit_isa::{Dialect, FieldName, Format, InstructionDef, Version};

/// The file of the constructors, from the root of the checkout.
pub(crate) const PATH: &str = "crates/isa/src/build/rows.rs";

/// A function with more parameters than this would be hard to call correctly.
const PARAMETERS: usize = 7;

/// Columns of a line.
const WIDTH: usize = 100;

const HEADER: &str = "\
//! A constructor for each row of the table. Made from the rows by `cargo xtask bless`: not to be edited.

/// Calls a macro with every constructor of this module, each as
///
/// ```text
/// /// What the instruction does.
/// fn name = ROW(Field parameter: Type, ...; Field list: [Type]);
/// ```
///
/// where `ROW` is a constant of [`Op`](crate::Op) and `Field` one of
/// [`FieldName`](crate::FieldName).
#[macro_export]
macro_rules! for_each_constructor {
    ($($then:tt)+) => {
        $($then)+! {
";

/// The file of the constructors.
pub(crate) fn source() -> String {
    let mut text = HEADER.to_owned();
    let rows = table::rows().filter(|def| def.has_layout());
    for (number, def) in rows.enumerate() {
        if number > 0 {
            text.push('\n');
        }
        constructor(def, &mut text);
    }
    text.push_str("        }\n    };\n}\n");
    text
}

fn constructor(def: &InstructionDef, text: &mut String) {
    let parameters = parameters(def);
    document(def, &parameters, text);
    let mut line = format!("            fn {} = {}(", identifier(def.name), def.name);
    for (number, field) in parameters.iter().enumerate() {
        let before = match number {
            0 => "",
            _ if field.kind.is_list() => "; ",
            _ => ", ",
        };
        let ty = type_of(field.kind);
        let ty = match field.kind.is_list() {
            true => format!("[{ty}]"),
            false => ty.to_owned(),
        };
        let name = identifier(field.name.as_str());
        let parameter = format!("{:?} {name}: {ty}", field.name);
        if line.len() + before.len() + parameter.len() + 2 > WIDTH {
            let _ = writeln!(text, "{line}{}", before.trim_end());
            line = format!("                {parameter}");
        } else {
            line = line + before + &parameter;
        }
    }
    let _ = writeln!(text, "{line});");
}

/// The fields that are given by position: all that must be set, or only execution size and
/// operands, or only the execution size, whichever is not too long.
fn parameters(def: &InstructionDef) -> Vec<&'static FieldDef> {
    let needed = |f: &&FieldDef| {
        let by_name = matches!(f.name, FieldName::ChMask | FieldName::DataElems);
        f.when.is_always() && f.only_if.is_none() && is_needed(def, f) && !by_name
    };
    let lanes = |f: &&FieldDef| matches!(f.kind, FieldKind::ExecSize | FieldKind::ElementCount);
    let operand = |f: &&FieldDef| lanes(f) || f.role != Role::Control;
    let needed: Vec<_> = def.fields.iter().filter(needed).collect();
    if needed.len() <= PARAMETERS {
        return needed;
    }
    let operands: Vec<_> = needed.iter().copied().filter(operand).collect();
    if operands.len() <= PARAMETERS {
        return operands;
    }
    needed.into_iter().filter(lanes).collect()
}

fn is_needed(def: &InstructionDef, field: &FieldDef) -> bool {
    let newest = Format::new(Version::V4_1, Dialect::Reader2026_04);
    field.kind != FieldKind::Count && def.neutral(field, newest).is_none()
}

fn document(def: &InstructionDef, parameters: &[&FieldDef], text: &mut String) {
    let mut first = format!("`{}`: {}", def.mnemonic(), def.summary);
    if def.fields.iter().any(|f| f.name == FieldName::Pred) {
        first.push_str(" May be predicated.");
    }
    if !def.when.is_always() {
        let _ = write!(first, " Exists {}.", def.when);
    }
    let mut paragraphs = vec![first];
    let rest = def.fields.iter().filter(|f| {
        let silent = f.name == FieldName::Pred || f.name == follows(def);
        let given = parameters.iter().any(|given| given.name == f.name);
        !(silent || given || f.kind == FieldKind::Count)
    });
    let (needed, optional): (Vec<_>, Vec<_>) = rest.partition(|f| is_needed(def, f));
    for (what, fields) in [("To be set", needed), ("May be set", optional)] {
        if !fields.is_empty() {
            let names: Vec<_> = fields.iter().map(|f| mention(def, f)).collect();
            paragraphs.push(format!("{what}: {}.", names.join(", ")));
        }
    }
    for (number, paragraph) in paragraphs.iter().enumerate() {
        if number > 0 {
            text.push_str("            ///\n");
        }
        let mut line = String::from("            ///");
        for word in paragraph.split(' ') {
            if line.len() + 1 + word.len() > WIDTH {
                let _ = writeln!(text, "{line}");
                line = String::from("            ///");
            }
            let _ = write!(line, " {word}");
        }
        let _ = writeln!(text, "{line}");
    }
}

/// A field with the condition for its presence.
fn mention(def: &InstructionDef, field: &FieldDef) -> String {
    let mut name = format!("`{}`", field.name);
    if !field.when.is_always() {
        let _ = write!(name, " ({})", field.when);
    }
    if field.only_if.is_some()
        && let Some(key) = def.fields.iter().find(|f| f.is_key)
    {
        let _ = write!(name, " (as `{}` says)", key.name);
    }
    name
}

/// Element count and channel mask of a load/store cache message follow from each other: this is the
/// one that need not be set.
fn follows(def: &InstructionDef) -> FieldName {
    let layout = def.memory.map(|memory| memory.layout);
    match layout {
        Some(DataLayout::Channels | DataLayout::Texels) => FieldName::DataElems,
        _ => FieldName::ChMask,
    }
}

fn type_of(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::ExecSize | FieldKind::ElementCount => "Lanes",
        FieldKind::Predicate => "Predicate",
        FieldKind::Vector => "VectorOperand",
        FieldKind::Raw | FieldKind::Raws => "RawOperand",
        FieldKind::U8
        | FieldKind::U16
        | FieldKind::U32
        | FieldKind::I32
        | FieldKind::SamplerOp
        | FieldKind::Count => "Code",
        FieldKind::Label | FieldKind::Labels => "LabelId",
        FieldKind::StringIndex16 | FieldKind::StringIndex => "StringId",
        FieldKind::Surface => "SurfaceId",
        FieldKind::Sampler => "SamplerId",
        FieldKind::Lifetime => "VarId",
    }
}

/// Rust keywords that are names of rows, or may become some.
const KEYWORDS: [&str; 14] = [
    "break", "continue", "do", "else", "for", "if", "loop", "match", "mod", "move", "return",
    "type", "while", "yield",
];

fn identifier(name: &str) -> String {
    let mut name = name.to_ascii_lowercase();
    if KEYWORDS.contains(&name.as_str()) {
        name.push('_');
    }
    name
}
