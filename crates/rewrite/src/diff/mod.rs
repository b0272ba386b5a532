//! The differences between two objects, by structure instead of bytes.
//!
//! Routines are paired by kind and name, declarations by their names, and instructions by what they do: operands are
//! compared by what they name, attributes by what they say, not by their numbers and encodings. So a variable that was
//! moved, removed, renamed or added does not make every later instruction different.
//!
//! The result depends only on the two objects.

mod align;
mod attributes;
mod code;
mod numbers;
mod pairs;

use crate::location::Table;
use align::align;
use attributes::of_routine;
use numbers::{Numbers, Side};
use std::collections::BTreeMap;
use std::ops::Range;
use visakit_isa::object::{Body, NativeBinary, NativeCode, Object, Routine, RoutineId};

/// A thing that is in one object, in the other, or in both and different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The kind of entity: `version`, `routine`, `variable`, `instruction` and so on.
    pub what: &'static str,
    /// The entity in the first object: number and text.
    pub old: Option<(usize, String)>,
    /// The entity in the second object.
    pub new: Option<(usize, String)>,
}

/// The differences in a routine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutineDiff {
    /// `kernel` or `function`.
    pub kind: &'static str,
    /// Name of the routine.
    pub name: String,
    /// Whether only one of the objects has it, and which: the first (`false`) or second (`true`).
    pub only_in_new: Option<bool>,
    /// Differences of declarations, inputs, attributes and native code, then of instructions.
    pub changes: Vec<Change>,
    /// Instructions that are the same.
    pub same: usize,
}

/// The differences between two objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// Version, dialect and variables of the file.
    pub object: Vec<Change>,
    /// Routines that differ.
    pub routines: Vec<RoutineDiff>,
    /// Routines without a difference.
    pub same: usize,
}

impl Diff {
    /// Whether there are no differences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.object.is_empty() && self.routines.is_empty()
    }
}

/// Compares two objects.
#[must_use]
pub fn diff(old: &Object<'_>, new: &Object<'_>) -> Diff {
    let mut diff = Diff::default();
    let mut both = |what, a: String, b: String| {
        if a != b {
            diff.object.push(Change {
                what,
                old: Some((0, a)),
                new: Some((0, b)),
            });
        }
    };
    both("version", old.version.to_string(), new.version.to_string());
    both("dialect", old.dialect.to_string(), new.dialect.to_string());
    let files = |o: &Object<'_>| -> Vec<(usize, String)> {
        let text = |v: &visakit_isa::object::FileVariable<'_>| {
            let (name, ty) = (String::from_utf8_lossy(&v.name), v.properties.data_type());
            format!(
                "{name} {ty} x{} align {} linkage {}",
                v.elements,
                v.properties.alignment().0,
                v.linkage.0
            )
        };
        o.file_variables.iter().map(text).enumerate().collect()
    };
    lists("file variable", &files(old), &files(new), &mut diff.object);
    let names = |o: &Object<'_>| -> Vec<(RoutineId, Vec<u8>)> {
        o.routines().map(|(id, r)| (id, r.name.to_vec())).collect()
    };
    let mut later: BTreeMap<(_, Vec<u8>), Vec<RoutineId>> = BTreeMap::new();
    for (id, name) in names(new).into_iter().rev() {
        later.entry((id.kind, name)).or_default().push(id);
    }
    for (id, name) in names(old) {
        let partner = later.get_mut(&(id.kind, name)).and_then(Vec::pop);
        match (
            old.routine(id),
            partner.and_then(|p| new.routine(p).map(|r| (p, r))),
        ) {
            (Some(a), Some((other, b))) => {
                let found = routine((old, id, a), (new, other, b));
                if found.changes.is_empty() {
                    diff.same += 1;
                } else {
                    diff.routines.push(found);
                }
            }
            (Some(a), None) => diff.routines.push(alone(id, a, false)),
            _ => {}
        }
    }
    let mut rest: Vec<RoutineId> = later.into_values().flatten().collect();
    rest.sort_unstable();
    for id in rest {
        if let Some(routine) = new.routine(id) {
            diff.routines.push(alone(id, routine, true));
        }
    }
    diff
}

fn alone(id: RoutineId, routine: &Routine<'_>, only_in_new: bool) -> RoutineDiff {
    RoutineDiff {
        kind: id.kind.name(),
        name: routine.display_name().into_owned(),
        only_in_new: Some(only_in_new),
        changes: Vec::new(),
        same: 0,
    }
}

type Found<'s> = (&'s Object<'s>, RoutineId, &'s Routine<'s>);

fn routine(old: Found<'_>, new: Found<'_>) -> RoutineDiff {
    let mut changes = Vec::new();
    let mut same = 0;
    match (old.2.body(), new.2.body()) {
        (Some(a), Some(b)) => {
            let sides = [(a, old.0.format()), (b, new.0.format())];
            let mut numbers = Numbers::of(sides);
            for table in Table::ALL.into_iter().filter(|t| *t != Table::String) {
                numbers.pair(table, sides, &mut changes);
            }
            let inputs = |body: &Body<'_>, side| -> Vec<(usize, String)> {
                let texts = body.inputs.iter().map(|i| numbers.input(i, side));
                texts.enumerate().collect()
            };
            let (x, y) = (inputs(a, Side::Old), inputs(b, Side::New));
            lists("input", &x, &y, &mut changes);
            let x = of_routine(old.0, old.1, a);
            let y = of_routine(new.0, new.1, b);
            lists("attribute", &x, &y, &mut changes);
            same = code::compare(old, new, &numbers, &mut changes);
        }
        (a, b) if a.is_none() && b.is_none() && old.2.content == new.2.content => {}
        _ => changes.push(Change {
            what: "undecoded routine",
            old: Some((0, String::new())),
            new: Some((0, String::new())),
        }),
    }
    let linkage = |r: &Routine<'_>| vec![(0, format!("{}", r.linkage.0))];
    lists("linkage", &linkage(old.2), &linkage(new.2), &mut changes);
    binaries(&old.2.binaries, &new.2.binaries, &mut changes);
    RoutineDiff {
        kind: old.1.kind.name(),
        name: old.2.display_name().into_owned(),
        only_in_new: None,
        changes,
        same,
    }
}

/// The machine code of a native binary.
fn machine_code<'b>(binary: &'b NativeBinary<'_>) -> Option<&'b [u8]> {
    match &binary.code {
        NativeCode::Bytes(code) => Some(code),
        NativeCode::Placeholder { .. } => None,
    }
}

/// What a native binary is for.
fn target(binary: &NativeBinary<'_>) -> String {
    match binary.platform.platform() {
        Some(platform) => format!("for {platform}"),
        None => format!("for platform {}", binary.platform.0),
    }
}

fn binaries(old: &[NativeBinary<'_>], new: &[NativeBinary<'_>], changes: &mut Vec<Change>) {
    let text = |b: &NativeBinary<'_>| match machine_code(b) {
        Some(code) => format!("{}, {} bytes", target(b), code.len()),
        None => format!("{}, none", target(b)),
    };
    let keys = |list| -> Vec<_> {
        let list: &[NativeBinary<'_>] = list;
        list.iter()
            .map(|b| (b.platform.0, machine_code(b)))
            .collect()
    };
    for run in align(keys(old).iter(), keys(new).iter()) {
        if run.same {
            continue;
        }
        let [mut left, mut right] = [(&run.old, old), (&run.new, new)].map(|(range, list)| {
            let binaries = list.get(range.clone()).unwrap_or_default();
            range.clone().zip(binaries)
        });
        loop {
            let (left, right) = (left.next(), right.next());
            if left.is_none() && right.is_none() {
                break;
            }
            let codes = left
                .zip(right)
                .and_then(|((_, a), (_, b))| machine_code(a).zip(machine_code(b)));
            let first = codes.and_then(|(a, b)| a.iter().zip(b).position(|(a, b)| a != b));
            let first = first.map_or_else(String::new, |at| format!(", different from byte {at}"));
            changes.push(Change {
                what: "native binary",
                old: left.map(|(i, b)| (i, text(b))),
                new: right.map(|(i, b)| (i, text(b) + &first)),
            });
        }
    }
}

/// Lists whose entries, after their indices, are compared as text.
fn lists(
    what: &'static str,
    old: &[(usize, String)],
    new: &[(usize, String)],
    changes: &mut Vec<Change>,
) {
    let entries = |range: &Range<usize>, list: &[(usize, String)]| {
        list.get(range.clone()).unwrap_or_default().to_vec()
    };
    let texts = |list| -> Vec<&String> {
        let list: &[(usize, String)] = list;
        list.iter().map(|(_, text)| text).collect()
    };
    let runs = align(texts(old).into_iter(), texts(new).into_iter());
    for run in runs.iter().filter(|r| !r.same) {
        beside(
            what,
            entries(&run.old, old),
            entries(&run.new, new),
            changes,
        );
    }
}

/// Puts the entries of two runs beside each other.
fn beside(
    what: &'static str,
    old: Vec<(usize, String)>,
    new: Vec<(usize, String)>,
    changes: &mut Vec<Change>,
) {
    let (mut old, mut new) = (old.into_iter(), new.into_iter());
    loop {
        let (old, new) = (old.next(), new.next());
        if old.is_none() && new.is_none() {
            return;
        }
        changes.push(Change { what, old, new });
    }
}
