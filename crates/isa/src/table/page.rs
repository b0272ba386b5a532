//! The table as a page.

use super::{Group, InstructionDef, Op, Status, rows};
use crate::platform::Platform;
use crate::semantics::Flow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// All rows as a Markdown page, `docs/instructions.md` of the repository.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Instructions\n\n\
         This page is written by `visakit_isa::table::page` from the rows of the instruction table; a test keeps it in\n\
         step. `visakit isa NAME` tells more of one: versions, types and classes of each field, values of its enumerations.\n",
    );
    let mut groups: Vec<Group> = Vec::new();
    for row in rows() {
        if !groups.contains(&row.group) {
            groups.push(row.group);
        }
    }
    for group in groups {
        // Writing to a string does not fail.
        let _ = write!(page, "\n## {}\n", capital(group.name()));
        for row in rows().filter(|row| row.group == group) {
            page.push_str(&entry(row));
        }
    }
    page
}

/// A row as Markdown: its heading and its description, as in [`page`].
#[must_use]
pub fn entry(row: &InstructionDef) -> String {
    let mut entry = String::new();
    // Writing to a string does not fail.
    let _ = write_entry(&mut entry, row);
    entry
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn number(op: Op) -> String {
    match op.sub_op() {
        Some(sub) => alloc::format!("{:#04x}.{sub:#04x}", op.opcode()),
        None => alloc::format!("{:#04x}", op.opcode()),
    }
}

fn write_entry(page: &mut String, row: &InstructionDef) -> fmt::Result {
    write!(page, "\n### {}\n\n`", row.name)?;
    page.push_str(&row.mnemonics.join("`, `"));
    write!(page, "`, opcode {}. {}\n\n", number(row.op), row.summary)?;
    let fields: Vec<_> = row.fields.iter().map(|f| f.name.as_str()).collect();
    if !fields.is_empty() {
        writeln!(page, "* Fields: {}", fields.join(", "))?;
    }
    if row.flow != Flow::Next {
        writeln!(page, "* Control flow: {}", row.flow.name())?;
    }
    if let Some(memory) = row.memory {
        writeln!(page, "* Memory: {memory}")?;
    }
    match row.status {
        Status::Active => {}
        Status::Retired => writeln!(page, "* Retired: {}", row.when)?,
        Status::TextOnly => writeln!(page, "* Text only: it has no binary form")?,
    }
    let there: Vec<_> = Platform::ALL
        .iter()
        .filter(|p| row.runs_on(**p).is_ok())
        .map(|p| p.name())
        .collect();
    let all = there.len() == Platform::ALL.len();
    let names = if all { "all".into() } else { there.join(", ") };
    if there.is_empty() {
        writeln!(page, "* Platforms: none is known to have it")?;
    } else {
        writeln!(page, "* Platforms: {names}")?;
    }
    if !row.unsupported.is_empty() {
        writeln!(page, "* Not executed: {}", row.unsupported)?;
    }
    Ok(())
}
