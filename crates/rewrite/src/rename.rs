//! Renames routines and symbols.

use crate::edit::{Editor, uses};
use crate::error::{Error, ErrorKind};
use crate::location::{Location, Reference, Table};
use crate::strip::called;
use std::borrow::Cow;
use visakit_isa::object::{Object, RoutineId};
use visakit_isa::{StringId, Value};

/// The routine of that name, or of that number (kernels first, then functions).
///
/// # Errors
/// There is none, or more than one with that name.
pub fn find_routine(object: &Object<'_>, wanted: &str) -> Result<RoutineId, Error> {
    let named = |(_, r): &(RoutineId, _)| {
        let routine: &&visakit_isa::object::Routine<'_> = r;
        routine.name == wanted.as_bytes()
    };
    let mut found = object.routines().filter(named).map(|(id, _)| id);
    match (found.next(), found.next()) {
        (Some(id), None) => Ok(id),
        (Some(_), Some(_)) => Err(ErrorKind::Ambiguous(wanted.to_owned()).into()),
        _ => wanted
            .parse()
            .ok()
            .and_then(|number| object.routines().nth(number))
            .map(|(id, _)| id)
            .ok_or_else(|| ErrorKind::NoRoutineNamed(wanted.to_owned()).into()),
    }
}

/// Renames a routine: in the header, in its string pool, and in every call and address of it in the
/// object.
///
/// # Errors
/// The name is taken by another routine, or does not fit.
pub fn rename_routine(object: &mut Object<'_>, id: RoutineId, name: &str) -> Result<(), Error> {
    let old = object
        .routine(id)
        .ok_or(ErrorKind::NoRoutine(id))?
        .name
        .to_vec();
    if old == name.as_bytes() {
        return Ok(());
    }
    if object.routines().any(|(_, r)| *r.name == *name.as_bytes()) {
        return Err(ErrorKind::NameTaken(name.to_owned()).into());
    }
    Editor::new(object, id)?.set_name(name)?;
    if id.kind == visakit_isa::object::RoutineKind::Function {
        rename_calls(object, &old, name.as_bytes())?;
    }
    Ok(())
}

/// Renames a symbol of a routine.
///
/// # Errors
/// The table has no entry of that name, or several; the name is taken.
pub fn rename_symbol(
    object: &mut Object<'_>,
    id: RoutineId,
    table: Table,
    old: &str,
    new: &str,
) -> Result<(), Error> {
    let mut editor = Editor::new(object, id)?;
    let body = editor.body();
    let names: Vec<StringId> = match table {
        Table::Variable => body.variables.iter().map(|v| v.name).collect(),
        Table::Label => body.labels.iter().map(|l| l.name).collect(),
        Table::Address => body.addresses.iter().map(|d| d.name).collect(),
        Table::Predicate => body.predicates.iter().map(|d| d.name).collect(),
        Table::Sampler => body.samplers.iter().map(|d| d.name).collect(),
        Table::Surface => body.surfaces.iter().map(|d| d.name).collect(),
        Table::String | Table::FileVariable => Vec::new(),
    };
    let is = |id: &StringId, name: &str| body.string(*id) == Some(name.as_bytes());
    if old != new && names.iter().any(|n| is(n, new)) {
        return Err(ErrorKind::NameTaken(new.to_owned()).into());
    }
    let first = table.first(editor.format());
    let mut found = (first..)
        .zip(&names)
        .filter(|(_, n)| is(n, old))
        .map(|(i, _)| i);
    match (found.next(), found.next()) {
        (Some(id), None) => {
            drop(found);
            editor.rename(Reference::new(table, id), new)
        }
        (Some(_), Some(_)) => Err(ErrorKind::Ambiguous(old.to_owned()).into()),
        _ => Err(ErrorKind::NoSymbol(table, old.to_owned()).into()),
    }
}

/// Makes every call and address of a name one of another name.
pub(crate) fn rename_calls(object: &mut Object<'_>, old: &[u8], new: &[u8]) -> Result<(), Error> {
    let ids: Vec<RoutineId> = object.routines().map(|(id, _)| id).collect();
    for id in ids {
        let Some(routine) = object.routine(id) else {
            continue;
        };
        let Some(body) = routine.body() else { continue };
        let calls: Vec<(usize, StringId)> = (0..)
            .zip(&body.code)
            .filter_map(|(i, item)| called(body, item).map(|call| (i, call)))
            .filter(|(_, (_, _, name))| name == old)
            .map(|(i, (_, string, _))| (i, string))
            .collect();
        let Some((_, string)) = calls.first().copied() else {
            continue;
        };
        // One string serves all calls, unless something else uses it as well.
        let only_calls = calls.iter().all(|(_, s)| *s == string)
            && uses(body, Reference::new(Table::String, string.0)).iter().all(|used| {
                matches!(used, Location::Instruction { index, .. } if calls.iter().any(|(i, _)| i == index))
            });
        let mut editor = Editor::new(object, id)?;
        let fresh = if only_calls {
            string
        } else {
            editor.intern(new.to_vec())?
        };
        let Some(body) = crate::edit::body_mut(object, id) else {
            continue;
        };
        if only_calls
            && let Ok(index) = usize::try_from(string.0)
            && let Some(text) = body.strings.get_mut(index)
        {
            *text = Cow::Owned(new.to_vec());
            continue;
        }
        for (index, _) in calls {
            let Some(visakit_isa::object::Item::Instruction(call)) = body.code.get_mut(index)
            else {
                continue;
            };
            for field in &mut call.fields {
                if let Value::String(id) = &mut field.value {
                    *id = fresh;
                }
            }
        }
    }
    Ok(())
}
