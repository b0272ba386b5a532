//! The reference for people.

use super::report::{Field, Names, Row};
use crate::output::{Failure, heading};
use crate::table::Align::{self, Left, Right};
use crate::table::{Columns, paragraph, prose, wrap};
use std::io::Write;
use visakit::isa::{InstructionDef, Platform, Version};

/// One line for each row; on narrow terminals only what distinguishes it from the others.
pub(super) fn list(rows: &[&InstructionDef]) -> Columns {
    let mut table = Columns::new(&[
        ("opcode", Left),
        ("sub-op", Left),
        ("name", Left),
        ("mnemonic", Left),
        ("group", Left),
        ("status", Left),
        ("summary", Left),
    ]);
    let mut narrow = Columns::new(&[("opcode", Left), ("mnemonic", Left), ("summary", Left)]);
    for def in rows {
        table.row([
            format!("{:#04x}", def.op.opcode()),
            def.sub_op.map_or_else(String::new, |s| format!("{s:#04x}")),
            def.name.to_owned(),
            def.mnemonic().to_owned(),
            def.group.name().to_owned(),
            def.status.name().to_owned(),
            def.summary.to_owned(),
        ]);
        narrow.row([
            crate::commands::number(def.op),
            def.mnemonic().to_owned(),
            def.summary.to_owned(),
        ]);
    }
    if table.fits() { table } else { narrow }
}

/// Describes one row in full.
pub(super) fn describe(out: &mut impl Write, row: &Row) -> Result<(), Failure> {
    let title = format!("{}  {}", row.name, row.summary);
    let title = wrap(&title, prose()).join("\n");
    let rest = title.strip_prefix(row.name).unwrap_or_default();
    writeln!(out, "{}{rest}", heading(row.name))?;
    writeln!(out)?;
    let mut table = Columns::pairs();
    facts(row, |name, value| table.row([name.to_owned(), value]));
    write!(out, "{table}")?;
    if !row.fields.is_empty() {
        write!(out, "\n{}\n{}", heading("fields"), fields(&row.fields))?;
    }
    for names in &row.enumerations {
        enumeration(out, names)?;
    }
    if let Some(note) = row.note {
        writeln!(out, "\n{}", heading("note"))?;
        write!(out, "{}", paragraph(note, 2))?;
    }
    Ok(())
}

/// Passes on everything that is known except the fields, by name.
pub(super) fn facts(row: &Row, mut tell: impl FnMut(&'static str, String)) {
    let mut fact = |name: &'static str, value: String| {
        if !value.is_empty() {
            tell(name, value);
        }
    };
    fact("opcode", row.number.clone());
    fact("mnemonics", row.mnemonics.join(", "));
    fact("group", row.group.to_owned());
    fact("status", row.status.to_owned());
    let versions = if row.versions.is_empty() || row.versions.len() == Version::SUPPORTED.len() {
        row.condition.clone()
    } else {
        format!("{} ({})", row.condition, row.versions.join(", "))
    };
    fact("layout in", versions);
    fact("same number", row.same_number.join(", "));
    for feature in &row.features {
        let dialects = feature.dialects.join(", ");
        fact("dialect feature", format!("{} ({dialects})", feature.name));
    }
    fact("saturation", row.saturation.unwrap_or("").to_owned());
    let modifiers = row.source_modifiers.unwrap_or("");
    fact("source modifiers", modifiers.to_owned());
    fact("control flow", row.flow.unwrap_or("").to_owned());
    fact("memory", row.memory.clone().unwrap_or_default());
    fact("not executed", row.unsupported.unwrap_or("").to_owned());
    let everywhere = row.runs_on.len() == Platform::ALL.len();
    fact(
        "runs on",
        if everywhere {
            "every platform".to_owned()
        } else {
            row.runs_on.join(", ")
        },
    );
    fact("listed for", row.platforms.join(", "));
    fact(
        "since platform",
        row.since_platform.unwrap_or_default().to_owned(),
    );
    fact("since", row.since.clone().unwrap_or_default());
}

/// The columns shown for a field.
pub(super) const FIELDS: [(&str, Align); 9] = [
    ("#", Right),
    ("field", Left),
    ("kind", Left),
    ("role", Left),
    ("present", Left),
    ("classes", Left),
    ("types", Left),
    ("values", Left),
    ("note", Left),
];

fn fields(fields: &[Field]) -> Columns {
    let mut table = Columns::new(&FIELDS);
    // On narrow terminals the last columns are one, and roles are short.
    let mut narrow = Columns::new(FIELDS.first_chunk::<8>().unwrap_or(&[("", Left); 8]));
    for (number, field) in fields.iter().enumerate() {
        let cells = cells(number, field);
        let [n, name, kind, role, present, classes, types, values, note] = cells.clone();
        let role = role.replace("destination", "dst").replace("source", "src");
        let separator = if values.is_empty() || note.is_empty() {
            ""
        } else {
            ", "
        };
        let values = format!("{values}{separator}{note}");
        narrow.row([n, name, kind, role, present, classes, types, values]);
        table.row(cells);
    }
    if table.fits() { table } else { narrow }
}

pub(super) fn cells(number: usize, field: &Field) -> [String; 9] {
    let role = match (field.role, field.scalar, field.is_key) {
        (Some(role), true, _) => format!("{role}, one element"),
        (Some(role), false, _) => role.to_owned(),
        (None, _, true) => "key".to_owned(),
        (None, _, false) => String::new(),
    };
    let only_if = field.only_if.as_ref().map(|test| format!("if {test}"));
    let present: Vec<String> = field.condition.iter().cloned().chain(only_if).collect();
    [
        number.to_string(),
        field.name.to_owned(),
        field.kind.to_owned(),
        role,
        present.join(", "),
        field.classes.join(" "),
        field.types.join(" "),
        field.enumeration.unwrap_or("").to_owned(),
        field.note.unwrap_or("").to_owned(),
    ]
}

fn enumeration(out: &mut impl Write, names: &Names) -> Result<(), Failure> {
    write!(out, "\n{}  {}", heading(names.name), names.summary)?;
    if names.mask == 0xff {
        writeln!(out)?;
    } else {
        let low = names.mask.trailing_zeros();
        let high = 7 - names.mask.leading_zeros();
        writeln!(out, " (Bits {low}-{high} of the byte.)")?;
    }
    let values: Vec<String> = names
        .values
        .iter()
        .map(|value| format!("{} = {}", value.code, value.name))
        .collect();
    // Code and name stay on one line.
    let values = values.join(",\u{20}").replace(" = ", "\u{a0}=\u{a0}");
    let lines = paragraph(&values, 2).replace('\u{a0}', " ");
    write!(out, "{lines}")?;
    Ok(())
}
