//! Extracts one routine and what it needs as a separate object.

use crate::edit::resolve;
use crate::error::{Error, ErrorKind};
use crate::merge::is_extern;
use crate::strip::called;
use std::collections::{BTreeMap, BTreeSet};
use visakit_isa::object::{Arrangement, Object, Relocation, Routine, RoutineId, RoutineKind};

/// Keeps routines and the functions that they call or take the address of, over any number of
/// steps, and the variables of the file that these use. Everything else is dropped.
///
/// ```
/// use visakit_rewrite::{extract, find_routine};
///
/// # let file = include_bytes!("../../../fixtures/objects/subgroups_skl_v36.isa");
/// let mut object = visakit_parse::read(file).unwrap();
/// let kernel = find_routine(&object, "subgroups").unwrap();
/// extract(&mut object, &[kernel]).unwrap();
/// assert_eq!(object.kernels.len(), 1);
/// ```
///
/// # Errors
/// There is no such routine; a routine that is kept could not be decoded.
pub fn extract(object: &mut Object<'_>, wanted: &[RoutineId]) -> Result<(), Error> {
    let mut keep = BTreeSet::new();
    let mut work = wanted.to_vec();
    let mut functions: BTreeMap<&[u8], Vec<RoutineId>> = BTreeMap::new();
    for (index, function) in object.functions.iter().enumerate() {
        let id = RoutineId::new(RoutineKind::Function, index);
        functions.entry(&function.name).or_default().push(id);
    }
    while let Some(id) = work.pop() {
        if keep.contains(&id) {
            continue;
        }
        let routine = object.routine(id).ok_or(ErrorKind::NoRoutine(id))?;
        if is_extern(routine) {
            keep.insert(id);
            continue;
        }
        let undecoded = || Error::from(ErrorKind::Undecoded).within(id, &routine.name);
        let body = routine.body().ok_or_else(undecoded)?;
        for item in &body.code {
            if let visakit_isa::object::Item::Raw(_) = item {
                return Err(undecoded());
            }
            if let Some((_, _, name)) = called(body, item) {
                let callees = functions.get(name.as_slice()).into_iter().flatten();
                work.extend(callees.filter(|id| !keep.contains(id)));
            }
        }
        keep.insert(id);
    }
    drop(functions);
    let kept = |kind, index| keep.contains(&RoutineId::new(kind, index));
    let mut index = 0;
    object.kernels.retain(|_| {
        index += 1;
        kept(RoutineKind::Kernel, index - 1)
    });
    let mut numbers = BTreeMap::new();
    index = 0;
    object.functions.retain(|_| {
        index += 1;
        let kept = kept(RoutineKind::Function, index - 1);
        if kept {
            numbers.insert(index - 1, numbers.len());
        }
        kept
    });
    for (_, routine) in object.routines_mut() {
        renumber(&mut routine.function_relocations, &numbers);
    }
    shared(object);
    if matches!(object.arrangement, Arrangement::Custom(_)) {
        object.arrangement = object.usual_arrangement();
    }
    Ok(())
}

/// Renumbers the targets of relocations, and drops those of removed entries.
fn renumber(relocations: &mut Vec<Relocation>, numbers: &BTreeMap<usize, usize>) {
    relocations.retain_mut(|relocation| {
        let new = numbers.get(&usize::from(relocation.resolved));
        match new.and_then(|n| u16::try_from(*n).ok()) {
            Some(new) => {
                relocation.resolved = new;
                true
            }
            None => false,
        }
    });
}

/// The variables of the file that a routine uses: its own number and the file's.
pub(crate) fn file_variables(routine: &Routine<'_>) -> BTreeMap<u32, u32> {
    let variables = routine.body().map_or(&[][..], |b| &b.variables);
    let shared = variables.iter().filter(|v| v.alias_scope != 0);
    shared
        .map(|v| (v.alias.0, resolve(routine, v.alias.0)))
        .collect()
}

/// Drops the variables of the file that no routine uses.
fn shared(object: &mut Object<'_>) {
    if object.file_variables.is_empty() {
        return;
    }
    let mut used: Vec<bool> = vec![false; object.file_variables.len()];
    for (_, routine) in object.routines() {
        for file in file_variables(routine).into_values() {
            let index = usize::try_from(file).unwrap_or(usize::MAX);
            if let Some(used) = used.get_mut(index) {
                *used = true;
            }
        }
    }
    let mut numbers = BTreeMap::new();
    for (index, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        numbers.insert(index, numbers.len());
    }
    for (_, routine) in object.routines_mut() {
        say_all(routine);
        renumber(&mut routine.variable_relocations, &numbers);
    }
    let mut marks = used.into_iter();
    object
        .file_variables
        .retain(|_| marks.next().unwrap_or(true));
}

/// Lists every variable of the file that a routine uses among its relocations, so that the numbers
/// of the file can change. Real tables are in falling order.
pub(crate) fn say_all(routine: &mut Routine<'_>) {
    let used = file_variables(routine);
    let listed: Vec<u16> = routine
        .variable_relocations
        .iter()
        .map(|r| r.symbolic)
        .collect();
    for (symbolic, resolved) in used.into_iter().rev() {
        if let (Ok(symbolic), Ok(resolved)) = (u16::try_from(symbolic), u16::try_from(resolved))
            && !listed.contains(&symbolic)
        {
            routine
                .variable_relocations
                .push(Relocation { symbolic, resolved });
        }
    }
}
