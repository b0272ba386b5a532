//! Local ids, local sizes and numbers of groups.
//!
//! Up to 3.3 they are predefined variables of two dimensions. Up to 3.2 the host appends them to
//! the inputs of a thread, without a word of it in the object; since 3.3 it fills inputs that are
//! declared with an implicit kind. A kernel that names the predefined ones is given such inputs,
//! and aliases of them under names that let them come back.

use crate::edit::{References, renumber, renumber_down, retain};
use crate::error::Error;
use crate::location::{Location, Reference, Table};
use std::collections::{BTreeMap, BTreeSet};
use visakit_isa::enums::{alignment, implicit_input};
use visakit_isa::object::{
    Alignment, Body, Input, InputKind, Object, RoutineId, RoutineKind, Variable, VariableProperties,
};
use visakit_isa::{DataType, Format, StringId, VarId};

/// The values provided by the host, with the kind of their input, in the order of the old payload.
const PROVIDED: [(&str, u8); 3] = [
    ("local_size", implicit_input::LOCAL_SIZE),
    ("group_count", implicit_input::GROUP_COUNT),
    ("local_id", implicit_input::LOCAL_ID),
];

/// The dimensions that the predefined variables have.
const AXES: [&str; 2] = ["x", "y"];

/// Bytes of the value for one dimension.
const AXIS_BYTES: u16 = 4;

/// The mark at the beginning of the names of the variables that replace them.
const MARK: &str = "@";

/// The least size of a register: an input does not lie in two of them.
const REGISTER: i16 = 32;

/// The number of a predefined variable.
fn predefined(format: Format, group: &str, axis: &str) -> Option<u32> {
    let is = |name: &str| name.strip_prefix(group).and_then(|n| n.strip_prefix('_')) == Some(axis);
    let found = format
        .predefined_variables()
        .iter()
        .position(|v| is(v.name));
    found.and_then(|id| u32::try_from(id).ok())
}

/// Whether the format has them as predefined variables.
pub(super) fn predefines(format: Format) -> bool {
    PROVIDED
        .iter()
        .any(|(group, _)| predefined(format, group, "x").is_some())
}

/// An input that the host fills implicitly.
const fn input_kind(implicit: u8) -> InputKind {
    InputKind(implicit << 3 | InputKind::GENERAL.0)
}

fn array(name: StringId, elements: u16) -> Variable<'static> {
    Variable {
        name,
        properties: VariableProperties::new(DataType::Ud, Alignment(alignment::DWORD)),
        elements,
        ..Variable::default()
    }
}

/// Declares inputs for the predefined variables that kernels use. The object keeps its format.
/// Returns the kernels that were changed.
pub(super) fn declare(object: &mut Object<'_>, errors: &mut Vec<Error>) -> BTreeSet<usize> {
    let format = object.format();
    let first = Table::Variable.first(format);
    let mut changed = BTreeSet::new();
    for (index, kernel) in object.kernels.iter_mut().enumerate() {
        let Some(body) = kernel.body_mut() else {
            continue;
        };
        let inputs = body.inputs.len();
        let declared = declare_in(body, format, first);
        if body.inputs.len() != inputs {
            changed.insert(index);
        }
        let id = RoutineId::new(RoutineKind::Kernel, index);
        errors.extend(declared.err().map(|e| e.within(id, &kernel.name)));
    }
    changed
}

fn declare_in(body: &mut Body<'_>, format: Format, first: u32) -> Result<(), Error> {
    let seen: BTreeSet<Reference> = References::of(body).into_iter().map(|(_, r)| r).collect();
    let is_used = |id: u32| seen.contains(&Reference::new(Table::Variable, id));
    let next = |body: &Body<'_>| {
        let declared = u32::try_from(body.variables.len()).unwrap_or(u32::MAX);
        first.saturating_add(declared)
    };
    let ends = body
        .inputs
        .iter()
        .map(|i| i.offset.saturating_add_unsigned(i.size));
    // The registers of inputs begin after the header of the thread.
    let mut free = ends.max().unwrap_or(0).max(REGISTER);
    let mut numbers = BTreeMap::new();
    for (group, kind) in PROVIDED {
        let axes = AXES.iter().zip(0u16..).filter_map(|(axis, index)| {
            let id = predefined(format, group, axis).filter(|id| is_used(*id))?;
            Some((id, *axis, index * AXIS_BYTES))
        });
        let axes: Vec<_> = axes.collect();
        if axes.is_empty() {
            continue;
        }
        let base = next(body);
        let name = body.add_string(format!("{MARK}{group}").into_bytes());
        let size = AXIS_BYTES * 2;
        body.variables.push(array(name, 2));
        free = free.saturating_add(AXIS_BYTES.cast_signed() - 1) & -AXIS_BYTES.cast_signed();
        if free % REGISTER + size.cast_signed() > REGISTER {
            free = free.saturating_add(REGISTER - free % REGISTER);
        }
        body.inputs.push(Input {
            kind: input_kind(kind),
            index: base,
            offset: free,
            size,
        });
        free = free.saturating_add_unsigned(size);
        for (id, axis, offset) in axes {
            numbers.insert(id, next(body));
            let name = body.add_string(format!("{MARK}{group}_{axis}").into_bytes());
            let alias = VarId(base);
            let alias_offset = offset;
            body.variables.push(Variable {
                alias,
                alias_offset,
                ..array(name, 1)
            });
        }
    }
    renumber(body, Table::Variable, |id| {
        numbers.get(&id).copied().unwrap_or(id)
    })
}

/// Turns the inputs created by [`declare`] back into predefined variables, unless they were changed
/// otherwise. Returns the kernels that were changed.
pub(super) fn restore(object: &mut Object<'_>) -> BTreeSet<usize> {
    let format = object.format();
    let first = Table::Variable.first(format);
    let mut changed = BTreeSet::new();
    for (index, kernel) in object.kernels.iter_mut().enumerate() {
        if let Some(body) = kernel.body_mut()
            && let Some(made) = made(body, format, first)
        {
            restore_in(body, &made, first);
            changed.insert(index);
        }
    }
    changed
}

/// The declared variables that represent predefined ones: `None` for an input of several of them.
fn made(body: &Body<'_>, format: Format, first: u32) -> Option<BTreeMap<u32, Option<u32>>> {
    let mut found = BTreeMap::new();
    for (number, variable) in (first..).zip(&body.variables) {
        let name = body.string(variable.name)?;
        let Some(rest) = name.strip_prefix(MARK.as_bytes()) else {
            continue;
        };
        for (group, kind) in PROVIDED {
            if rest == group.as_bytes() {
                let input = |i: &&Input| i.kind == input_kind(kind) && i.index == number;
                let inputs = body.inputs.iter().filter(input).count();
                let plain = *variable == array(variable.name, 2) && inputs == 1;
                plain.then_some(())?;
                found.insert(number, None);
            }
            for (axis, index) in AXES.iter().zip(0u16..) {
                if rest == format!("{group}_{axis}").as_bytes() {
                    let alias = VarId(variable.alias.0);
                    let alias_offset = index * AXIS_BYTES;
                    let shape = Variable {
                        alias,
                        alias_offset,
                        ..array(variable.name, 1)
                    };
                    let of_input = found.get(&alias.0) == Some(&None);
                    (*variable == shape && of_input).then_some(())?;
                    found.insert(number, Some(predefined(format, group, axis)?));
                }
            }
        }
    }
    let elsewhere = |(location, reference): &(Location, Reference)| {
        let is_known = match location {
            Location::Entry(Table::Variable, index) => {
                let number = u32::try_from(*index)
                    .ok()
                    .and_then(|i| first.checked_add(i));
                number.is_some_and(|number| found.contains_key(&number))
            }
            Location::Input(_) => true,
            _ => false,
        };
        reference.table == Table::Variable && found.get(&reference.id) == Some(&None) && !is_known
    };
    (!found.is_empty() && !References::of(body).iter().any(elsewhere)).then_some(found)
}

fn restore_in(body: &mut Body<'_>, made: &BTreeMap<u32, Option<u32>>, first: u32) {
    body.inputs.retain(|input| {
        input.kind.class() != InputKind::GENERAL || made.get(&input.index) != Some(&None)
    });
    renumber_down(body, Table::Variable, |id| {
        made.get(&id).copied().flatten().unwrap_or(id)
    });
    let (mut keep, mut names) = (Vec::new(), Vec::new());
    for (number, variable) in (first..).zip(&body.variables) {
        keep.push(!made.contains_key(&number));
        if made.contains_key(&number) {
            names.push(variable.name);
        }
    }
    retain(body, Table::Variable, first, &keep);
    super::drop_newest(body, &names);
}
