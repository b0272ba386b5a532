//! Removes what execution does not need.

use crate::edit::{References, retain};
use crate::location::{Location, Reference, Table};
use crate::visit::Visitor;
use std::borrow::Cow;
use visakit_isa::object::{Body, Item, Object};
use visakit_isa::semantics::Flow;
use visakit_isa::table::FieldKind;
use visakit_isa::{FieldName, Op, StringId, Value};

/// What to remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    /// FILE and LOC instructions: names and lines of source files.
    pub debug: bool,
    /// Names of variables, labels and the like. Variables become nameless, labels get short names;
    /// routines and the names used by calls are kept.
    pub names: bool,
    /// Native code.
    pub binaries: bool,
    /// Unused strings.
    pub strings: bool,
    /// Variables, addresses, predicates and labels that no instruction, input or other variable
    /// uses; the marks of their lifetime go with them. Surfaces and samplers stay: the host
    /// binds them.
    pub variables: bool,
}

impl Strip {
    /// Everything.
    pub const ALL: Self = Self {
        debug: true,
        names: true,
        binaries: true,
        strings: true,
        variables: true,
    };
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stripped {
    /// FILE, LOC and LIFETIME instructions.
    pub instructions: usize,
    /// Names that were replaced.
    pub names: usize,
    /// Native binaries.
    pub binaries: usize,
    /// Strings of pools.
    pub strings: usize,
    /// Variables, addresses, predicates and labels.
    pub declarations: usize,
}

/// Removes what execution does not need. Routines whose code could not be decoded lose only native
/// code: their references are not known. Native code is kept unless its removal is requested:
/// nothing else that is removed changes what a kernel does.
///
/// ```
/// use visakit_rewrite::{Strip, strip};
///
/// # let file = include_bytes!("../../../fixtures/objects/subgroups_skl_v36.isa");
/// let mut object = visakit_parse::read(file).unwrap();
/// let stripped = strip(&mut object, Strip::ALL);
/// assert!(stripped.strings > 0 && stripped.binaries == 1);
/// assert!(visakit_encode::write(&object).unwrap().len() < file.len());
/// ```
pub fn strip(object: &mut Object<'_>, what: Strip) -> Stripped {
    let mut done = Stripped::default();
    let format = object.format();
    for (_, routine) in object.routines_mut() {
        let Some(body) = routine.body_mut() else {
            continue;
        };
        if body.code.iter().any(|item| matches!(item, Item::Raw(_))) {
            continue;
        }
        if what.debug {
            done.instructions += remove(body, is_debug);
        }
        if what.variables {
            unused(body, format, &mut done);
        }
        if what.names {
            done.names += anonymous(body);
        }
        if what.strings {
            let used = marks(body, &[Table::String], |_| true);
            let keep = used.into_iter().next().unwrap_or_default();
            done.strings += retain(body, Table::String, 0, &keep);
        }
        routine.stored.clear();
    }
    if what.binaries {
        done.binaries = object.discard_native_of(|_| true);
    }
    done
}

/// Whether an operation marks the beginning or the end of the lifetime of a variable.
fn is_lifetime(op: Op) -> bool {
    op.def()
        .fields
        .iter()
        .any(|f| f.kind == FieldKind::Lifetime)
}

/// Whether an operation is debug information about the source.
fn is_debug(op: Op) -> bool {
    op.def().flow == Flow::Marker && !is_lifetime(op)
}

fn remove(body: &mut Body<'_>, unwanted: impl Fn(Op) -> bool) -> usize {
    let before = body.code.len();
    body.code.retain(|item| match item {
        Item::Instruction(instruction) => !unwanted(instruction.op),
        Item::Raw(_) => true,
    });
    before - body.code.len()
}

/// For each table, which entries are referred to from locations that count.
fn marks(body: &Body<'_>, tables: &[Table], counts: impl Fn(Location) -> bool) -> Vec<Vec<bool>> {
    let mut marks: Vec<Vec<bool>> = tables.iter().map(|t| vec![false; t.len(body)]).collect();
    for (location, reference) in References::of(body) {
        let found = tables.iter().position(|t| *t == reference.table);
        if let Some(marks) = found.and_then(|i| marks.get_mut(i))
            && counts(location)
            && let Ok(index) = usize::try_from(reference.id)
            && let Some(mark) = marks.get_mut(index)
        {
            *mark = true;
        }
    }
    marks
}

/// Removes unused declarations.
fn unused(body: &mut Body<'_>, format: visakit_isa::Format, done: &mut Stripped) {
    const TABLES: [Table; 4] = [
        Table::Variable,
        Table::Address,
        Table::Predicate,
        Table::Label,
    ];
    let mut used: Vec<Vec<bool>> = TABLES.iter().map(|t| vec![false; t.len(body)]).collect();
    let mut mark = |reference: Reference| {
        let table = TABLES.iter().position(|t| *t == reference.table);
        let entry = table
            .and_then(|t| used.get_mut(t))
            .zip(reference.declared(format))
            .and_then(|(marks, index)| marks.get_mut(index));
        if let Some(entry) = entry {
            *entry = true;
        }
    };
    for (location, reference) in References::of(body) {
        match location {
            // An alias counts if it is used itself; the mark of a lifetime is not a use.
            Location::Entry(..) => {}
            Location::Instruction { op, .. } if is_lifetime(op) => {}
            _ => mark(reference),
        }
    }
    let [variables, ..] = used.as_mut_slice() else {
        return;
    };
    let first = Table::Variable.first(format);
    // Attributes say something about a variable: one with some may be known to the outside.
    for (variable, used) in body.variables.iter().zip(variables.iter_mut()) {
        *used |= variable
            .attributes
            .iter()
            .any(|a| body.string(a.name).is_some_and(|name| name == b"Output"));
    }
    // Whatever a used variable shares storage with is used too, transitively. An alias can be
    // declared before its parent.
    let mut work: Vec<usize> = (0..)
        .zip(variables.iter())
        .filter(|(_, u)| **u)
        .map(|(i, _)| i)
        .collect();
    while let Some(index) = work.pop() {
        let parent = body.variables.get(index).filter(|v| v.alias_scope == 0);
        let parent = parent.and_then(|v| v.alias.0.checked_sub(first));
        let parent = parent.and_then(|p| usize::try_from(p).ok());
        if let Some((parent, used)) = parent.and_then(|p| variables.get_mut(p).map(|u| (p, u)))
            && !*used
        {
            *used = true;
            work.push(parent);
        }
    }
    // Lifetime marks of removed variables.
    let before = body.code.len();
    body.code.retain(|item| {
        let Item::Instruction(instruction) = item else {
            return true;
        };
        if !is_lifetime(instruction.op) {
            return true;
        }
        let mut of = References::default();
        of.instruction(0, instruction);
        of.0.iter().all(|(_, reference)| {
            let table = TABLES.iter().position(|t| *t == reference.table);
            let entry = table
                .and_then(|t| used.get(t))
                .zip(reference.declared(format))
                .and_then(|(marks, index)| marks.get(index));
            entry.copied().unwrap_or(true)
        })
    });
    done.instructions += before - body.code.len();
    for (table, keep) in TABLES.into_iter().zip(&used) {
        done.declarations += retain(body, table, table.first(format), keep);
    }
}

/// Takes the names of declarations away.
fn anonymous(body: &mut Body<'_>) -> usize {
    let empty = body.strings.iter().position(|s| s.is_empty());
    let empty = empty.and_then(|i| u32::try_from(i).ok()).map(StringId);
    let empty = empty.unwrap_or_else(|| body.add_string(&b""[..]));
    let mut count = 0;
    let mut take = |name: &mut StringId| {
        count += usize::from(*name != empty);
        *name = empty;
    };
    body.variables.iter_mut().for_each(|v| take(&mut v.name));
    for list in [
        &mut body.addresses,
        &mut body.predicates,
        &mut body.samplers,
        &mut body.surfaces,
    ] {
        list.iter_mut().for_each(|d| take(&mut d.name));
    }
    // Labels are distinguished by their names.
    let mut uses = vec![0u32; body.strings.len()];
    for (_, reference) in References::of(body) {
        if reference.table != Table::String {
            continue;
        }
        let index = usize::try_from(reference.id).unwrap_or(usize::MAX);
        if let Some(uses) = uses.get_mut(index) {
            *uses += 1;
        }
    }
    for index in 0..body.labels.len() {
        let Some(old) = body.labels.get(index).map(|l| l.name) else {
            continue;
        };
        let name = format!("L{index}").into_bytes();
        let string = usize::try_from(old.0).unwrap_or(usize::MAX);
        let alone = uses.get(string) == Some(&1);
        let text = body.strings.get_mut(string);
        count += 1;
        match text {
            Some(text) if alone => *text = Cow::Owned(name),
            _ => {
                let name = body.add_string(name);
                if let Some(label) = body.labels.get_mut(index) {
                    label.name = name;
                }
            }
        }
    }
    count
}

/// The name that an instruction calls or takes the address of.
pub(crate) fn called(body: &Body<'_>, item: &Item<'_>) -> Option<(FieldName, StringId, Vec<u8>)> {
    let Item::Instruction(instruction) = item else {
        return None;
    };
    [FieldName::FuncName, FieldName::Symbol]
        .into_iter()
        .find_map(|name| match instruction.get(name) {
            Some(Value::String(id)) => Some((name, *id, body.string(*id)?.to_vec())),
            _ => None,
        })
}
