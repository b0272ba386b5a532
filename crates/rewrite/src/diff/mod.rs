//! What differs between two objects, by their structure instead of their bytes.
//!
//! Routines are paired by kind and name, declarations by their names in order, and instructions by
//! what they do: operands are compared as what they name, not by their numbers. So a variable
//! that was removed, renamed or added does not make every later instruction different.

mod code;

use crate::place::{Reference, Table};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};
use visakit_isa::Format;
use visakit_isa::object::{Body, Object, Routine, RoutineId};

/// After so long an alignment need not be the shortest any more.
const PATIENCE: Duration = Duration::from_secs(5);

/// A thing that is in one object, in the other, or in both and different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What kind of thing: `version`, `routine`, `variable`, `instruction` and so on.
    pub what: &'static str,
    /// How the first object has it: number and text.
    pub old: Option<(usize, String)>,
    /// How the second object has it.
    pub new: Option<(usize, String)>,
}

/// What differs in a routine.
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

/// What differs between two objects.
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
    /// Whether nothing differs.
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
    let files = |o: &Object<'_>| -> Vec<String> {
        let text = |v: &visakit_isa::object::FileVariable<'_>| {
            let (name, ty) = (String::from_utf8_lossy(&v.name), v.properties.data_type());
            format!(
                "{name} {ty} x{} align {} linkage {}",
                v.elements,
                v.properties.alignment().0,
                v.linkage.0
            )
        };
        o.file_variables.iter().map(text).collect()
    };
    plain("file variable", &files(old), &files(new), &mut diff.object);
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

type Side<'s> = (&'s Object<'s>, RoutineId, &'s Routine<'s>);

fn routine(old: Side<'_>, new: Side<'_>) -> RoutineDiff {
    let mut changes = Vec::new();
    let mut same = 0;
    match (old.2.body(), new.2.body()) {
        (Some(a), Some(b)) => {
            let mut numbers = Numbers::default();
            for table in Table::ALL.into_iter().filter(|t| *t != Table::String) {
                numbers.pair(
                    table,
                    (a, old.0.format()),
                    (b, new.0.format()),
                    &mut changes,
                );
            }
            let inputs = |body: &Body<'_>, side| -> Vec<String> {
                body.inputs.iter().map(|i| numbers.input(i, side)).collect()
            };
            plain(
                "input",
                &inputs(a, Number::Old),
                &inputs(b, Number::New),
                &mut changes,
            );
            let (x, y) = (attributes(a, &a.attributes), attributes(b, &b.attributes));
            plain("attribute", &x, &y, &mut changes);
            same = code::compare(old, new, &mut numbers, &mut changes);
        }
        (a, b) if a.is_none() && b.is_none() && old.2.content == new.2.content => {}
        _ => changes.push(Change {
            what: "undecoded routine",
            old: Some((0, String::new())),
            new: Some((0, String::new())),
        }),
    }
    let linkage = |r: &Routine<'_>| vec![format!("{}", r.linkage.0)];
    plain("linkage", &linkage(old.2), &linkage(new.2), &mut changes);
    let binaries = |r: &Routine<'_>| -> Vec<String> {
        let text = |b: &visakit_isa::object::NativeBinary<'_>| match &b.code {
            visakit_isa::object::NativeCode::Bytes(code) => {
                format!(
                    "platform {}, {} bytes, sum {:016x}",
                    b.platform.0,
                    code.len(),
                    sum(code)
                )
            }
            visakit_isa::object::NativeCode::Placeholder { .. } => {
                format!("platform {}, none", b.platform.0)
            }
        };
        r.binaries.iter().map(text).collect()
    };
    plain(
        "native binary",
        &binaries(old.2),
        &binaries(new.2),
        &mut changes,
    );
    RoutineDiff {
        kind: old.1.kind.name(),
        name: old.2.display_name().into_owned(),
        only_in_new: None,
        changes,
        same,
    }
}

/// A number that tells native code apart (FNV-1a).
fn sum(code: &[u8]) -> u64 {
    code.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Lists whose entries are compared as text.
fn plain(what: &'static str, old: &[String], new: &[String], changes: &mut Vec<Change>) {
    for op in align(old, new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let run = |range: std::ops::Range<usize>, list: &[String]| -> Vec<(usize, String)> {
            range
                .filter_map(|i| Some((i, list.get(i)?.clone())))
                .collect()
        };
        beside(
            what,
            run(op.old_range(), old),
            run(op.new_range(), new),
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

fn align<T: std::hash::Hash + Eq + Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let deadline = Instant::now().checked_add(PATIENCE);
    capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline)
}

fn attributes(body: &Body<'_>, list: &[visakit_isa::object::Attribute<'_>]) -> Vec<String> {
    let text = |a: &visakit_isa::object::Attribute<'_>| {
        let name = String::from_utf8_lossy(body.string(a.name).unwrap_or_default());
        match std::str::from_utf8(&a.value) {
            Ok(text) if text.chars().all(|c| !c.is_control()) && !text.is_empty() => {
                format!("{name}={text:?}")
            }
            _ => a
                .value
                .iter()
                .fold(format!("{name}="), |text, byte| format!("{text}{byte:02x}")),
        }
    };
    list.iter().map(text).collect()
}

/// Which object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    Old,
    New,
}

/// What declared and predefined entries of both objects are called among each other.
#[derive(Default)]
struct Numbers {
    old: HashMap<Reference, u32>,
    new: HashMap<Reference, u32>,
    next: u32,
    strings: HashMap<Vec<u8>, u32>,
}

/// Name, properties, and what is shown of an alias.
type Entries = Vec<(String, String, String)>;

impl Numbers {
    /// Aligns the declarations of a table and tells which differ.
    fn pair(
        &mut self,
        table: Table,
        old: (&Body<'_>, Format),
        new: (&Body<'_>, Format),
        changes: &mut Vec<Change>,
    ) {
        self.predefined(table, old.1, new.1);
        let (a, b) = (entries(table, old.0, old.1), entries(table, new.0, new.1));
        let names =
            |e: &Entries| -> Vec<String> { e.iter().map(|(name, ..)| name.clone()).collect() };
        let rest = |e: &Entries, range: std::ops::Range<usize>| -> Vec<String> {
            e.get(range)
                .unwrap_or_default()
                .iter()
                .map(|(_, rest, _)| rest.clone())
                .collect()
        };
        let mut pairs = Vec::new();
        for op in align(&names(&a), &names(&b)) {
            let (left, right) = (op.old_range(), op.new_range());
            if !matches!(op, DiffOp::Replace { .. }) {
                pairs.push((left, right));
                continue;
            }
            // Other names, perhaps of the same things: what else is said of them pairs them.
            let (i, j) = (left.start, right.start);
            for op in align(&rest(&a, left), &rest(&b, right)) {
                let (left, right) = (op.old_range(), op.new_range());
                pairs.push((left.start + i..left.end + i, right.start + j..right.end + j));
            }
        }
        for (mut left, mut right) in pairs {
            loop {
                let (i, j) = (left.next(), right.next());
                if i.is_none() && j.is_none() {
                    break;
                }
                self.next += 1;
                let number = |place: Option<usize>, format| {
                    let place = u32::try_from(place?).ok()?;
                    Some(Reference::new(
                        table,
                        table.first(format).saturating_add(place),
                    ))
                };
                if let Some(reference) = number(i, old.1) {
                    self.old.insert(reference, self.next);
                }
                if let Some(reference) = number(j, new.1) {
                    self.new.insert(reference, self.next);
                }
                let (x, y) = (i.and_then(|i| a.get(i)), j.and_then(|j| b.get(j)));
                // What a declaration aliases is compared by what it is among the two.
                let plain = |e: &(String, String, String)| (e.0.clone(), e.1.clone());
                let same =
                    x.map(plain) == y.map(plain) && self.same_alias(table, (old.0, i), (new.0, j));
                if !same {
                    let text = |e: Option<&(String, String, String)>, i: Option<usize>| {
                        let entry = e.zip(i);
                        entry.map(|((name, rest, alias), i)| (i, format!("{name} {rest}{alias}")))
                    };
                    changes.push(Change {
                        what: table.name(),
                        old: text(x, i),
                        new: text(y, j),
                    });
                }
            }
        }
    }

    /// Predefined entries are the same if they have the same name.
    fn predefined(&mut self, table: Table, old: Format, new: Format) {
        let mut names: HashMap<String, u32> = HashMap::new();
        for side in [Number::Old, Number::New] {
            let format = if side == Number::Old { old } else { new };
            for id in 0..table.first(format) {
                let known = match table {
                    Table::Variable => format
                        .predefined_variable(visakit_isa::VarId(id))
                        .map(|v| v.name.to_owned()),
                    _ => None,
                };
                let name = known.unwrap_or_else(|| id.to_string());
                let next = &mut self.next;
                let number = *names.entry(name).or_insert_with(|| {
                    *next += 1;
                    *next
                });
                let map = if side == Number::Old {
                    &mut self.old
                } else {
                    &mut self.new
                };
                map.insert(Reference::new(table, id), number);
            }
        }
    }

    fn same_alias(
        &self,
        table: Table,
        old: (&Body<'_>, Option<usize>),
        new: (&Body<'_>, Option<usize>),
    ) -> bool {
        if table != Table::Variable {
            return true;
        }
        let alias = |(body, place): (&Body<'_>, Option<usize>), side| {
            let variable = body.variables.get(place?)?;
            Some(match variable.alias_scope {
                0 => {
                    let parent = Reference::new(Table::Variable, variable.alias.0);
                    (false, self.number(parent, side), variable.alias_offset)
                }
                _ => (true, variable.alias.0, variable.alias_offset),
            })
        };
        alias(old, Number::Old) == alias(new, Number::New)
    }

    fn number(&self, reference: Reference, side: Number) -> u32 {
        let map = if side == Number::Old {
            &self.old
        } else {
            &self.new
        };
        // What is not declared is only like itself.
        map.get(&reference)
            .copied()
            .unwrap_or(u32::MAX - reference.id % 0x1000_0000)
    }

    fn input(&self, input: &visakit_isa::object::Input, side: Number) -> String {
        use visakit_isa::object::InputKind;
        let table = match input.kind.class() {
            InputKind::GENERAL => Some(Table::Variable),
            InputKind::SAMPLER => Some(Table::Sampler),
            InputKind::SURFACE => Some(Table::Surface),
            _ => None,
        };
        let number = table.map_or(input.index, |t| {
            self.number(Reference::new(t, input.index), side)
        });
        let class = input.kind.name().unwrap_or("unknown");
        let implicit = input.kind.implicit_name().unwrap_or("explicit");
        format!(
            "{class} {implicit} #{number} offset={} size={}",
            input.offset, input.size
        )
    }
}

/// Names of declarations and what else is said of them.
fn entries(table: Table, body: &Body<'_>, format: Format) -> Entries {
    let name = |id| String::from_utf8_lossy(body.string(id).unwrap_or_default()).into_owned();
    let list = |list: &[visakit_isa::object::Attribute<'_>]| {
        let all = attributes(body, list).join(" ");
        if all.is_empty() {
            all
        } else {
            format!(" {{{all}}}")
        }
    };
    let declared = |d: &visakit_isa::object::Declaration<'_>| {
        (
            name(d.name),
            format!("x{}{}", d.elements, list(&d.attributes)),
            String::new(),
        )
    };
    match table {
        Table::Variable => body
            .variables
            .iter()
            .map(|v| {
                let ty = v.properties.data_type();
                let align = v.properties.alignment();
                let align = align
                    .name()
                    .map_or_else(|| align.0.to_string(), str::to_owned);
                let parent = v.alias.0.checked_sub(table.first(format));
                let parent = parent.and_then(|i| body.variables.get(usize::try_from(i).ok()?));
                let alias = match (v.is_alias(), v.alias_scope, parent) {
                    (false, ..) => String::new(),
                    (_, 0, Some(parent)) => {
                        format!(" alias=<{}, {}>", name(parent.name), v.alias_offset)
                    }
                    (_, 0, None) => {
                        let known = format.predefined_variable(v.alias).map(|p| p.name);
                        format!(" alias=<%{}, {}>", known.unwrap_or("?"), v.alias_offset)
                    }
                    _ => format!(" alias=<@{}, {}>", v.alias.0, v.alias_offset),
                };
                let rest = format!("{ty} x{} align={align}{}", v.elements, list(&v.attributes));
                (name(v.name), rest, alias)
            })
            .collect(),
        Table::Label => body
            .labels
            .iter()
            .map(|l| {
                (
                    name(l.name),
                    format!("kind {}{}", l.kind.0, list(&l.attributes)),
                    String::new(),
                )
            })
            .collect(),
        Table::Address => body.addresses.iter().map(declared).collect(),
        Table::Predicate => body.predicates.iter().map(declared).collect(),
        Table::Sampler => body.samplers.iter().map(declared).collect(),
        Table::Surface => body.surfaces.iter().map(declared).collect(),
        Table::String | Table::FileVariable => Vec::new(),
    }
}
