//! Files, references, names.

use crate::report::{Location, Scope, Sink};
use crate::rule::Rule;
use crate::rules;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use visakit_isa::object::{
    Attribute, Content, FileVariable, Object, Relocation, Routine, RoutineId, RoutineKind,
};
use visakit_parse::{Error, ErrorKind};

/// The reader's faults. Faults of meaning are left out: all of them are checked again.
pub(crate) fn faults(faults: &[Error], sink: &mut Sink) {
    for fault in faults.iter().filter(|f| !f.kind().is_legality()) {
        let rule: &'static Rule = match fault.kind() {
            ErrorKind::Inconsistent { .. }
            | ErrorKind::CodeRemoved { .. }
            | ErrorKind::NotZero { .. } => &rules::INCONSISTENT_NUMBER,
            ErrorKind::OutsideOfFile { .. } | ErrorKind::Overlap { .. } => &rules::MISPLACED_PIECE,
            ErrorKind::Uncovered { .. } => &rules::UNCLAIMED_BYTES,
            _ => &rules::UNDECODABLE,
        };
        let context = fault.context();
        let mut location = Location {
            routine: context.routine.as_ref().map(|(id, _)| *id),
            ..Location::FILE
        };
        if let Some(number) = context.instruction {
            let op = context.def.map(|d| d.op);
            location.scope = Scope::Instruction { number, op };
        } else if let Some((table, Some(index))) = context.path.first() {
            location.scope = Scope::Entry {
                table,
                index: *index,
            };
        }
        if let Some(name) = context.field {
            location = location.field(name, 0);
        }
        let message = || fault.kind().to_string();
        sink.add_at(rule, location, Some(fault.offset()), message);
    }
}

/// Checks of the file as a whole.
pub(crate) fn object(object: &Object<'_>, sink: &mut Sink) {
    let mut names: BTreeMap<(RoutineKind, &[u8]), RoutineId> = BTreeMap::new();
    for (id, routine) in object.routines() {
        if let Some(first) = names.insert((id.kind, &routine.name), id) {
            sink.add(&rules::DUPLICATE_NAME, Location::of_routine(id), || {
                format!("has the name of {} {}", first.kind.name(), first.index)
            });
        }
    }
    for (index, variable) in object.file_variables.iter().enumerate() {
        file_variable(index, variable, sink);
    }
}

fn file_variable(index: usize, variable: &FileVariable<'_>, sink: &mut Sink) {
    let location = Location::FILE.entry("file_variables", index);
    let ty = variable.properties.data_type();
    if ty.is_packed() || ty == visakit_isa::DataType::Bool {
        sink.add(
            &rules::VARIABLE_TYPE,
            location.field("properties", 0),
            || format!("a variable of type {ty}"),
        );
    }
    if variable.properties.alignment().bytes(32).is_none() {
        sink.add(&rules::ALIGNMENT, location.field("properties", 0), || {
            format!("alignment code {}", variable.properties.alignment().0)
        });
    }
    if variable.elements == 0 {
        sink.add(
            &rules::VARIABLE_ELEMENTS,
            location.field("elements", 0),
            || "no elements".to_string(),
        );
    }
}

/// Checks of what the file states about a routine.
pub(crate) fn routine(object: &Object<'_>, id: RoutineId, routine: &Routine<'_>, sink: &mut Sink) {
    let location = Location::of_routine(id);
    if routine.name.is_empty() {
        sink.add(&rules::ROUTINE_NAME, location.field("name", 0), || {
            "the name is empty".to_string()
        });
    }
    if let Content::Body(body) = &routine.content {
        let at_name = location.field("name", 0);
        match body.string(body.name) {
            None => sink.index(at_name, "string", body.name.0, body.strings.len()),
            Some(inner) if inner != routine.name.as_ref() && !routine.name.is_empty() => {
                let (outer, inner) = (routine.display_name(), String::from_utf8_lossy(inner));
                let message = || format!("the file says {outer:?}, the routine {inner:?}");
                sink.add(&rules::ROUTINE_NAME, at_name, message);
            }
            Some(_) => {}
        }
    }
    relocations(
        location,
        "variable_relocations",
        &routine.variable_relocations,
        object.file_variables.len(),
        sink,
    );
    relocations(
        location,
        "function_relocations",
        &routine.function_relocations,
        object.functions.len(),
        sink,
    );
    for (index, binary) in routine.binaries.iter().enumerate() {
        if binary.platform.name().is_none() && binary.platform.0 != 0 {
            let location = location.entry("binaries", index).field("platform", 0);
            sink.add(&rules::NATIVE_PLATFORM, location, || {
                format!("platform {} has no name", binary.platform.0)
            });
        }
    }
}

fn relocations(
    location: Location,
    table: &'static str,
    list: &[Relocation],
    end: usize,
    sink: &mut Sink,
) {
    for (index, relocation) in list.iter().enumerate() {
        if usize::from(relocation.resolved) >= end {
            let location = location.entry(table, index).field("resolved", 0);
            sink.add(&rules::RELOCATION, location, || {
                format!("resolves to {}, the file has {end}", relocation.resolved)
            });
        }
    }
}

/// The names of attributes exist, and their values have a size.
pub(crate) fn attributes(
    location: Location,
    list: &[Attribute<'_>],
    strings: usize,
    sink: &mut Sink,
) {
    for attribute in list {
        let location = location.field("attributes", 0);
        sink.index(location, "string", attribute.name.0, strings);
    }
}
