//! The report for people.

use super::report::{AttributeValue, BinaryContent, BodyInfo, File, RoutineInfo};
use crate::output::{Failure, heading};
use crate::table::Align::{self, Left, Right};
use crate::table::Columns;
use std::io::Write;

pub(super) fn write(out: &mut impl Write, file: &File) -> Result<(), Failure> {
    writeln!(out, "{}", heading(&file.file))?;
    let mut table = Columns::pairs();
    table.row(["version".to_owned(), file.version.clone()]);
    let dialect = match file.other_dialects.as_slice() {
        [] if !file.dialect_fits => format!("{} (none fits)", file.dialect),
        [] => file.dialect.to_owned(),
        others => format!("{} (also fits {})", file.dialect, others.join(", ")),
    };
    table.row(["dialect".to_owned(), dialect]);
    let size = match (file.text, file.size) {
        (0, size) if file.padding > 0 => {
            let (header, padding) = (file.header_size, file.padding);
            format!("{size} bytes, header {header}, padding {padding}")
        }
        (0, size) => format!("{size} bytes, header {}", file.header_size),
        (text, 0) => format!("{text} bytes of text; {} has no binary form", file.version),
        (text, size) => format!("{text} bytes of text, an object of {size} bytes"),
    };
    table.row(["size".to_owned(), size]);
    write!(out, "{table}")?;

    if !file.routines.is_empty() {
        let table = routines(file, &ALL);
        let title = heading("routines");
        if table.fits() {
            write!(out, "\n{title}\n{table}")?;
        } else {
            let (code, tables) = (routines(file, &CODE), routines(file, &TABLES));
            write!(
                out,
                "\n{title}\n{code}\n{}\n{tables}",
                heading("tables of the routines")
            )?;
        }
    }
    if !file.file_variables.is_empty() {
        let title = heading("file-scope variables");
        write!(out, "\n{title}\n{}", file_variables(file))?;
    }
    for routine in &file.routines {
        details(out, routine)?;
    }
    if !file.faults.is_empty() {
        writeln!(out, "\n{}", heading("faults"))?;
        for fault in &file.faults {
            writeln!(out, "  {}", fault.error)?;
        }
    }
    Ok(())
}

/// The columns shown for each routine: the heading, and whether it is a number.
const COLUMNS: [(&str, Align); 13] = [
    ("kind", Left),
    ("#", Right),
    ("offset", Right),
    ("size", Right),
    ("instructions", Right),
    ("strings", Right),
    ("vars", Right),
    ("addrs", Right),
    ("preds", Right),
    ("labels", Right),
    ("samplers", Right),
    ("surfaces", Right),
    ("name", Left),
];

const ALL: [usize; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const CODE: [usize; 6] = [0, 1, 2, 3, 4, 12];
const TABLES: [usize; 9] = [0, 1, 5, 6, 7, 8, 9, 10, 11];

/// The routines with some of the columns.
fn routines<const N: usize>(file: &File, chosen: &[usize; N]) -> Columns {
    let heads: Vec<_> = chosen
        .iter()
        .filter_map(|n| COLUMNS.get(*n).copied())
        .collect();
    let mut table = Columns::new(&heads);
    for routine in &file.routines {
        let count = |n: fn(&BodyInfo) -> usize| {
            let body = routine.body.as_ref();
            body.map_or_else(|| "?".to_owned(), |body| n(body).to_string())
        };
        let instructions = match &routine.body {
            Some(_) if routine.code_removed => "removed".to_owned(),
            Some(body) if body.raw_items > 0 => format!("{} + raw bytes", body.instructions),
            _ => count(|body| body.instructions),
        };
        let cells = [
            routine.kind.to_owned(),
            routine.index.to_string(),
            format!("{:#x}", routine.offset),
            routine.size.to_string(),
            instructions,
            count(|body| body.strings),
            count(|body| body.variables),
            count(|body| body.addresses),
            count(|body| body.predicates),
            count(|body| body.labels),
            count(|body| body.samplers),
            count(|body| body.surfaces),
            routine.name.clone(),
        ];
        table.row(chosen.map(|n| cells.get(n).cloned().unwrap_or_default()));
    }
    table
}

fn file_variables(file: &File) -> Columns {
    let mut table = Columns::new(&[
        ("#", Right),
        ("type", Left),
        ("elements", Right),
        ("alignment", Left),
        ("linkage", Left),
        ("name", Left),
    ]);
    for (index, variable) in file.file_variables.iter().enumerate() {
        table.row([
            index.to_string(),
            variable.data_type.to_owned(),
            variable.elements.to_string(),
            variable.alignment.clone(),
            variable.linkage.clone(),
            variable.name.clone(),
        ]);
    }
    table
}

/// Details that do not fit into the table of routines.
fn details(out: &mut impl Write, routine: &RoutineInfo) -> Result<(), Failure> {
    let of = format!("of {} {} {}", routine.kind, routine.index, routine.name);
    if let Some(reason) = &routine.undecoded {
        let title = heading(&format!("body {of}"));
        write!(out, "\n{title}\n  could not be decoded: {reason}\n")?;
    }
    if routine.code_removed {
        let native = routine.binaries.iter();
        let native = native.filter(|binary| matches!(binary.content, BinaryContent::Code));
        let native: Vec<&str> = native
            .map(|b| b.platform.as_deref().unwrap_or("Gen"))
            .collect();
        let left = match native.as_slice() {
            [] => "no native code is there".to_owned(),
            platforms => format!("native code for {} is there", platforms.join(", ")),
        };
        let title = heading(&format!("code {of}"));
        write!(out, "\n{title}\n  was removed; {left}\n")?;
    }
    if let Some(body) = &routine.body {
        let inputs = inputs(body);
        if !body.inputs.is_empty() {
            write!(out, "\n{}\n{inputs}", heading(&format!("inputs {of}")))?;
        }
        if !body.attributes.is_empty() || routine.linkage.is_some() || routine.relocations > 0 {
            let title = heading(&format!("attributes {of}"));
            write!(out, "\n{title}\n{}", attributes(routine, body))?;
        }
    }
    if !routine.binaries.is_empty() {
        let title = heading(&format!("native binaries {of}"));
        write!(out, "\n{title}\n{}", binaries(routine))?;
    }
    Ok(())
}

fn inputs(body: &BodyInfo) -> Columns {
    let mut table = Columns::new(&[
        ("#", Right),
        ("kind", Left),
        ("index", Right),
        ("offset", Right),
        ("size", Right),
        ("implicit", Left),
        ("name", Left),
    ]);
    for (number, input) in body.inputs.iter().enumerate() {
        table.row([
            number.to_string(),
            input.kind.clone(),
            input.index.to_string(),
            input.offset.to_string(),
            input.size.to_string(),
            input.implicit.clone().unwrap_or_else(|| "-".to_owned()),
            input.name.clone().unwrap_or_else(|| "?".to_owned()),
        ]);
    }
    table
}

fn attributes(routine: &RoutineInfo, body: &BodyInfo) -> Columns {
    let mut table = Columns::pairs();
    if let Some(linkage) = &routine.linkage {
        table.row(["(linkage)".to_owned(), linkage.clone()]);
        let grfs = |n: u8| format!("{n} GRF");
        table.row(["(arguments)".to_owned(), grfs(body.input_size)]);
        table.row(["(return value)".to_owned(), grfs(body.return_value_size)]);
    }
    if routine.relocations > 0 {
        table.row(["(relocations)".to_owned(), routine.relocations.to_string()]);
    }
    for attribute in &body.attributes {
        let value = match &attribute.value {
            AttributeValue::Set(_) => "set".to_owned(),
            AttributeValue::Number(number) => number.to_string(),
            AttributeValue::Text(text) => format!("\"{text}\""),
        };
        table.row([attribute.name.clone(), value]);
    }
    table
}

fn binaries(routine: &RoutineInfo) -> Columns {
    let mut table = Columns::new(&[
        ("#", Right),
        ("platform", Left),
        ("offset", Right),
        ("size", Right),
        ("content", Left),
    ]);
    for (index, binary) in routine.binaries.iter().enumerate() {
        let content = match binary.content {
            BinaryContent::Code => "native code",
            BinaryContent::Placeholder => "none, a placeholder",
            BinaryContent::Missing => "none, the place is outside of the file or taken",
        };
        table.row([
            index.to_string(),
            binary.platform.clone().unwrap_or_else(|| "-".to_owned()),
            format!("{:#x}", binary.offset),
            binary.size.to_string(),
            content.to_owned(),
        ]);
    }
    table
}
