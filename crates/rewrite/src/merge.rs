//! Links objects into one.
//!
//! The result has the kernels of all objects; functions and variables of the file are resolved by
//! name, according to their linkage:
//!
//! | linkage | function | variable of the file |
//! |---|---|---|
//! | extern | replaced by that of another object | the same; an undefined one is kept |
//! | static | belongs to its object; renamed where the name is taken | belongs to its object |
//! | global | defined once | defined once among the objects |
//!
//! Writers since 2019 store code 0, extern, for every function. So a function is extern only if it
//! has no code.

use crate::error::{Error, ErrorKind};
use crate::extract::say_all;
use crate::rename::rename_calls;
use crate::strip::called;
use std::collections::{BTreeMap, BTreeSet};
use visakit_isa::object::{Body, Content, Linkage, Object, RoutineId};
use visakit_isa::{FieldName, enums};

/// The result of merging.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged<'a> {
    /// The object.
    pub object: Object<'a>,
    /// Undefined names, in order of the routines that use them.
    pub unresolved: Vec<Unresolved>,
    /// Static functions that got another name: old and new.
    pub renamed: Vec<(String, String)>,
}

/// An undefined name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The name.
    pub name: String,
    /// Its use.
    pub used: UnresolvedUse,
}

/// The use of an undefined name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnresolvedUse {
    /// A routine calls a function of that name.
    Call(RoutineId),
    /// A routine takes the address. That of data is filled in by the loader.
    Address(RoutineId),
    /// A function without code.
    Function,
    /// A variable of the file that is extern.
    FileVariable,
}

const EXTERN: Linkage = Linkage(enums::linkage::EXTERN);
const STATIC: Linkage = Linkage(enums::linkage::STATIC);

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Whether an entry of the function table only declares a function.
pub(crate) fn is_extern(routine: &visakit_isa::object::Routine<'_>) -> bool {
    let empty = match &routine.content {
        Content::Body(body) => *body == Body::default(),
        Content::Raw(raw) => raw.bytes.is_empty(),
        Content::Missing(_) => true,
    };
    empty && routine.linkage == EXTERN
}

/// Links objects of one format into one.
///
/// # Errors
/// The formats differ; a kernel, a global function or a global variable of the file is defined
/// twice; a table of the header would overflow.
pub fn merge<'a>(objects: Vec<Object<'a>>) -> Result<Merged<'a>, Error> {
    let mut objects = objects.into_iter();
    let Some(mut whole) = objects.next() else {
        return Err(ErrorKind::NoEntry("object", 0).into());
    };
    let first = whole.format();
    let mut renamed = Vec::new();
    for mut object in objects {
        if object.format() != first {
            let found = object.format();
            return Err(ErrorKind::FormatsDiffer { found, first }.into());
        }
        let taken: BTreeSet<Vec<u8>> = whole.kernels.iter().map(|k| k.name.to_vec()).collect();
        if let Some(twice) = object.kernels.iter().find(|k| taken.contains(&*k.name)) {
            return Err(duplicate("kernel", &twice.name));
        }
        statics(&mut whole, &mut object, &mut renamed)?;
        file_variables(&mut whole, &mut object)?;
        functions(&mut whole, &mut object)?;
        whole.kernels.append(&mut object.kernels);
        whole.functions.append(&mut object.functions);
    }
    whole.arrangement = whole.usual_arrangement();
    let unresolved = unresolved(&whole);
    Ok(Merged {
        object: whole,
        unresolved,
        renamed,
    })
}

fn duplicate(what: &'static str, name: &[u8]) -> Error {
    let name = text(name);
    ErrorKind::Duplicate { what, name }.into()
}

/// Static functions whose name is taken by one of the other object get another one.
fn statics<'a>(
    whole: &mut Object<'a>,
    object: &mut Object<'a>,
    renamed: &mut Vec<(String, String)>,
) -> Result<(), Error> {
    let names = |o: &Object<'_>| -> BTreeSet<Vec<u8>> {
        o.functions.iter().map(|f| f.name.to_vec()).collect()
    };
    let (mine, other) = (names(whole), names(object));
    let mut taken: BTreeSet<Vec<u8>> = mine.union(&other).cloned().collect();
    for (object, theirs) in [(&mut *whole, &other), (&mut *object, &mine)] {
        let clashes: Vec<(usize, Vec<u8>)> = object
            .functions
            .iter()
            .enumerate()
            .filter(|(_, f)| f.linkage == STATIC && theirs.contains(&*f.name))
            .map(|(i, f)| (i, f.name.to_vec()))
            .collect();
        for (index, old) in clashes {
            let mut number = 1u64;
            let new = loop {
                let mut name = old.clone();
                name.extend_from_slice(format!(".{number}").as_bytes());
                if taken.insert(name.clone()) {
                    break name;
                }
                number += 1;
            };
            let name = text(&new);
            let id = RoutineId::new(visakit_isa::object::RoutineKind::Function, index);
            crate::edit::Editor::new(object, id)?.set_name(&name)?;
            rename_calls(object, &old, name.as_bytes())?;
            renamed.push((text(&old), name));
        }
    }
    Ok(())
}

/// Puts the variables of the file together: both objects' relocations are rewritten.
fn file_variables<'a>(whole: &mut Object<'a>, object: &mut Object<'a>) -> Result<(), Error> {
    if object.file_variables.is_empty() {
        return Ok(());
    }
    // Names may repeat inside an object, where they have no meaning.
    let mut defined: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    let mut announced: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    for (index, variable) in whole.file_variables.iter().enumerate() {
        let list = match variable.linkage {
            STATIC => continue,
            EXTERN => &mut announced,
            _ => &mut defined,
        };
        list.entry(variable.name.to_vec()).or_default().push(index);
    }
    let mut numbers = Vec::with_capacity(object.file_variables.len());
    let mut replaced = Vec::new();
    for variable in std::mem::take(&mut object.file_variables) {
        let name = variable.name.to_vec();
        let of =
            |map: &BTreeMap<Vec<u8>, Vec<usize>>| map.get(&name).and_then(|l| l.first().copied());
        let target = match variable.linkage {
            STATIC => None,
            EXTERN => match defined.get(&name).map(Vec::as_slice) {
                Some([one]) => Some(*one),
                Some([_, _, ..]) => return Err(ErrorKind::Ambiguous(text(&name)).into()),
                _ => of(&announced),
            },
            _ if defined.contains_key(&name) => {
                return Err(duplicate("file variable", &name));
            }
            _ => {
                // A definition replaces a declaration.
                let index = of(&announced);
                if let Some(index) = index.filter(|p| !replaced.contains(p)) {
                    if let Some(entry) = whole.file_variables.get_mut(index) {
                        *entry = variable.clone();
                    }
                    replaced.push(index);
                    numbers.push(index);
                    continue;
                }
                None
            }
        };
        numbers.push(target.unwrap_or(whole.file_variables.len()));
        if target.is_none() {
            whole.file_variables.push(variable);
        }
    }
    for (_, routine) in object.routines_mut() {
        say_all(routine);
        for relocation in &mut routine.variable_relocations {
            let new = numbers.get(usize::from(relocation.resolved));
            if let Some(new) = new.and_then(|n| u16::try_from(*n).ok()) {
                relocation.resolved = new;
            }
        }
    }
    limit("file variables", whole.file_variables.len())
}

/// Declared functions are replaced by those with code.
fn functions<'a>(whole: &mut Object<'a>, object: &mut Object<'a>) -> Result<(), Error> {
    let with_code = |o: &Object<'_>| -> BTreeSet<Vec<u8>> {
        let functions = o.functions.iter().filter(|f| !is_extern(f));
        functions.map(|f| f.name.to_vec()).collect()
    };
    let (mine, theirs) = (with_code(whole), with_code(object));
    if let Some(twice) = mine.intersection(&theirs).next() {
        return Err(duplicate("function", twice));
    }
    let announced: BTreeSet<Vec<u8>> = whole
        .functions
        .iter()
        .filter(|f| is_extern(f))
        .map(|f| f.name.to_vec())
        .collect();
    // Which functions are kept; those of `object` then come after those of `whole`.
    let keep_mine: Vec<bool> = whole
        .functions
        .iter()
        .map(|f| !(is_extern(f) && theirs.contains(&*f.name)))
        .collect();
    let keep_theirs: Vec<bool> = object
        .functions
        .iter()
        .map(|f| !(is_extern(f) && (mine.contains(&*f.name) || announced.contains(&*f.name))))
        .collect();
    let names =
        |o: &Object<'_>| -> Vec<Vec<u8>> { o.functions.iter().map(|f| f.name.to_vec()).collect() };
    let (old_mine, old_theirs) = (names(whole), names(object));
    let kept = |names: &[Vec<u8>], keep: &[bool]| -> Vec<Vec<u8>> {
        let pairs = names.iter().zip(keep).filter(|(_, keep)| **keep);
        pairs.map(|(name, _)| name.clone()).collect()
    };
    let mut after = kept(&old_mine, &keep_mine);
    after.extend(kept(&old_theirs, &keep_theirs));
    let mut indices: BTreeMap<&[u8], u16> = BTreeMap::new();
    for (index, name) in after.iter().enumerate() {
        let Ok(index) = u16::try_from(index) else {
            return limit("functions", after.len());
        };
        indices.entry(name).or_insert(index);
    }
    for (object, old, keep) in [
        (&mut *whole, &old_mine, &keep_mine),
        (&mut *object, &old_theirs, &keep_theirs),
    ] {
        for (_, routine) in object.routines_mut() {
            for relocation in &mut routine.function_relocations {
                let name = old.get(usize::from(relocation.resolved));
                if let Some(index) = name.and_then(|n| indices.get(n.as_slice())) {
                    relocation.resolved = *index;
                }
            }
        }
        let mut keep = keep.iter();
        object
            .functions
            .retain(|_| keep.next().copied().unwrap_or(true));
    }
    limit("kernels", whole.kernels.len() + object.kernels.len())
}

fn limit(what: &'static str, count: usize) -> Result<(), Error> {
    if count <= usize::from(u16::MAX) {
        return Ok(());
    }
    let message = format!("an object has at most 65535 {what}, not {count}");
    Err(ErrorKind::Inexpressible(message).into())
}

/// Undefined names.
#[must_use]
pub fn unresolved(object: &Object<'_>) -> Vec<Unresolved> {
    let functions = object.functions.iter().filter(|f| !is_extern(f));
    let defined: BTreeSet<&[u8]> = functions.map(|f| f.name.as_ref()).collect();
    let mut found = Vec::new();
    let mut told: BTreeSet<(RoutineId, Vec<u8>)> = BTreeSet::new();
    for (id, routine) in object.routines() {
        if is_extern(routine) {
            continue;
        }
        let Some(body) = routine.body() else { continue };
        for (field, _, name) in body.code.iter().filter_map(|item| called(body, item)) {
            if defined.contains(name.as_slice()) || !told.insert((id, name.clone())) {
                continue;
            }
            let used = match field {
                FieldName::FuncName => UnresolvedUse::Call(id),
                _ => UnresolvedUse::Address(id),
            };
            let name = text(&name);
            found.push(Unresolved { name, used });
        }
    }
    let rest = object
        .functions
        .iter()
        .filter(|f| is_extern(f) && !defined.contains(&*f.name));
    found.extend(rest.map(|f| Unresolved {
        name: text(&f.name),
        used: UnresolvedUse::Function,
    }));
    let rest = object.file_variables.iter().filter(|v| v.linkage == EXTERN);
    found.extend(rest.map(|v| Unresolved {
        name: text(&v.name),
        used: UnresolvedUse::FileVariable,
    }));
    found
}
