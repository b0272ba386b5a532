//! Storage that the routines of an object share.
//!
//! Objects of 3.0 to 3.2 declare variables of the file, whose storage variables of routines share.
//! No reader since 2019 accepts them. A kernel that calls no functions cannot distinguish such a
//! variable from one of its own, and it becomes one: a variable named after a mark and the name,
//! number and linkage of the file variable, so that it can be recognised.

use super::of_routine;
use crate::edit::{References, renumber, resolve};
use crate::error::{Error, ErrorKind};
use crate::location::{Location, Reference, Table};
use std::borrow::Cow;
use std::collections::BTreeMap;
use visakit_isa::VarId;
use visakit_isa::object::{
    FileVariable, Linkage, Object, Relocation, Routine, Variable, VariableProperties,
};

/// The mark at the beginning of the names of such variables.
const MARK: &str = "@file";

/// A variable of the file becomes one of each kernel that uses it.
pub(super) fn to_routines(object: &mut Object<'_>, errors: &mut Vec<Error>) {
    if !object.functions.is_empty() {
        let what =
            "functions and kernels share variables of the file, which no version since 3.3 has";
        errors.push(ErrorKind::Inexpressible(what.to_owned()).into());
        return;
    }
    let files = std::mem::take(&mut object.file_variables);
    if files.iter().any(|f| !f.attributes.is_empty()) {
        let what = "a variable of the file has attributes, whose names nobody knows";
        errors.push(ErrorKind::Inexpressible(what.to_owned()).into());
    }
    let first = Table::Variable.first(object.format());
    for (id, routine) in object.routines_mut() {
        if let Err(error) = to_routine(routine, &files, first) {
            errors.push(error.within(id, &routine.name));
        }
        if !routine.function_relocations.is_empty() {
            let what = "relocations of functions, of which there are none";
            errors.push(of_routine(id, &routine.name, what));
        }
        routine.variable_relocations.clear();
    }
}

fn to_routine(
    routine: &mut Routine<'_>,
    files: &[FileVariable<'_>],
    first: u32,
) -> Result<(), Error> {
    // File variables in use, each with the number of its new variable.
    let mut used: BTreeMap<u32, u32> = BTreeMap::new();
    let variables = routine.body().map_or(&[][..], |b| &b.variables);
    for (entry, variable) in variables.iter().enumerate() {
        if variable.alias_scope != 0 {
            let file = resolve(routine, variable.alias.0);
            let known = usize::try_from(file).is_ok_and(|f| f < files.len());
            if !known {
                let kind = ErrorKind::NotDeclared(Reference::new(Table::FileVariable, file));
                return Err(Error::at(kind, Location::Entry(Table::Variable, entry)));
            }
            used.insert(file, 0);
        }
    }
    for (next, number) in (first..).zip(used.values_mut()) {
        *number = next;
    }
    let relocated = |routine: &Routine<'_>, alias: VarId| {
        let file = resolve(routine, alias.0);
        used.get(&file).copied().map(VarId)
    };
    let aliases: Vec<Option<VarId>> = variables
        .iter()
        .map(|v| {
            (v.alias_scope != 0)
                .then(|| relocated(routine, v.alias))
                .flatten()
        })
        .collect();
    let Some(body) = routine.body_mut() else {
        return Ok(());
    };
    let count = u32::try_from(used.len()).unwrap_or(u32::MAX);
    renumber(body, Table::Variable, |id| {
        if id < first {
            id
        } else {
            id.saturating_add(count)
        }
    })?;
    for (variable, alias) in body.variables.iter_mut().zip(aliases) {
        if let Some(alias) = alias {
            variable.alias = alias;
            variable.alias_scope = 0;
        }
    }
    let mut own = Vec::with_capacity(used.len() + body.variables.len());
    for file in used.keys() {
        let Some(shared) = usize::try_from(*file).ok().and_then(|f| files.get(f)) else {
            continue;
        };
        let mut name = format!("{MARK}{file}.{}.", shared.linkage.0).into_bytes();
        name.extend_from_slice(&shared.name);
        own.push(Variable {
            name: body.add_string(name),
            properties: shared.properties,
            elements: shared.elements,
            ..Variable::default()
        });
    }
    own.append(&mut body.variables);
    body.variables = own;
    Ok(())
}

/// The parts of a marked name: number, linkage, name.
fn told(name: &[u8]) -> Option<(u16, Linkage, &[u8])> {
    let rest = name.strip_prefix(MARK.as_bytes())?;
    let mut parts = rest.splitn(3, |b| *b == b'.');
    let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u16>().ok();
    let (file, linkage) = (number()?, number()?);
    Some((file, Linkage(u8::try_from(linkage).ok()?), parts.next()?))
}

type Declared = (Linkage, VariableProperties, u16, Vec<u8>);

/// Variables of kernels that came from the file go back to it, where all kernels agree.
pub(super) fn from_routines(object: &mut Object<'_>) {
    let mut files: BTreeMap<u16, Declared> = BTreeMap::new();
    for (_, routine) in object.routines() {
        let Some(body) = routine.body() else { return };
        let marked = body.variables.iter().filter_map(|v| {
            let (file, linkage, name) = told(body.string(v.name)?)?;
            Some((file, (linkage, v.properties, v.elements, name.to_vec()), v))
        });
        for (file, declared, variable) in marked {
            let plain = !variable.is_alias() && variable.attributes.is_empty();
            let same = files.entry(file).or_insert_with(|| declared.clone());
            if *same != declared || !plain {
                return;
            }
        }
    }
    // Every number up to the last is taken, or they would have to be made up.
    let Some(last) = files.keys().next_back().copied() else {
        return;
    };
    let unknown = (Linkage(1), VariableProperties(0), 1, Vec::new());
    let first = Table::Variable.first(object.format());
    let marks: Vec<_> = object.routines().map(|(_, r)| marked(r, first)).collect();
    if marks.iter().any(Option::is_none) {
        return;
    }
    for ((_, routine), marks) in object.routines_mut().zip(marks) {
        from_routine(routine, &marks.unwrap_or_default(), first);
        let both = |n| Relocation {
            symbolic: n,
            resolved: n,
        };
        routine.variable_relocations = (0..=last).rev().map(both).collect();
    }
    object.file_variables = (0..=last)
        .map(|file| {
            let declared = files.remove(&file).unwrap_or_else(|| unknown.clone());
            let (linkage, properties, elements, name) = declared;
            FileVariable {
                linkage,
                name: Cow::Owned(name),
                properties,
                elements,
                attributes: Vec::new(),
            }
        })
        .collect();
}

/// The marked variables of a routine, by number; `None` where one is used other than by aliases.
fn marked(routine: &Routine<'_>, first: u32) -> Option<BTreeMap<u32, u16>> {
    let body = routine.body()?;
    let mut marks = BTreeMap::new();
    for (number, variable) in (first..).zip(&body.variables) {
        if let Some((file, ..)) = body.string(variable.name).and_then(told) {
            marks.insert(number, file);
        }
    }
    let direct = |(location, reference): &(Location, Reference)| {
        reference.table == Table::Variable
            && marks.contains_key(&reference.id)
            && !matches!(location, Location::Entry(Table::Variable, _))
    };
    (!References::of(body).iter().any(direct)).then_some(marks)
}

fn from_routine(routine: &mut Routine<'_>, marks: &BTreeMap<u32, u16>, first: u32) {
    let Some(body) = routine.body_mut() else {
        return;
    };
    let mut keep = Vec::with_capacity(body.variables.len());
    for (number, variable) in (first..).zip(&mut body.variables) {
        keep.push(!marks.contains_key(&number));
        if variable.alias_scope == 0
            && let Some(file) = marks.get(&variable.alias.0)
        {
            variable.alias = VarId((*file).into());
            variable.alias_scope = 1;
        }
    }
    // The names of the marked variables are the newest strings, or else they stay as unused ones.
    let names: Vec<_> = marks
        .keys()
        .filter_map(|n| {
            let index = usize::try_from(n.checked_sub(first)?).ok()?;
            body.variables.get(index).map(|v| v.name)
        })
        .collect();
    crate::edit::retain(body, Table::Variable, first, &keep);
    super::drop_newest(body, &names);
}
