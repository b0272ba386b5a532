//! Determines offsets of findings in the file afterwards, so that only these are searched for.

use crate::report::{FieldLocation, Finding, Scope};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;
use visakit_isa::object::{Content, Item, Object, RoutineId};
use visakit_isa::wire::Derived;
use visakit_parse::{Container, Instructions, Leaf, Observer, RoutineReader, Rules};

/// Fills in the offsets that are missing.
pub(crate) fn locate(bytes: &[u8], object: &Object<'_>, findings: &mut [Finding]) {
    let Ok(container) = Container::parse(bytes) else {
        return;
    };
    let mut routines: BTreeMap<RoutineId, Vec<&mut Finding>> = BTreeMap::new();
    for finding in findings.iter_mut().filter(|f| f.offset.is_none()) {
        match finding.location.routine {
            None => finding.offset = Some(0),
            Some(id) => {
                // Unless something better is found: the place of the entry in the header.
                finding.offset = container.extent(id).map(|p| p.stated_at);
                routines.entry(id).or_default().push(finding);
            }
        }
    }
    for (id, mut findings) in routines {
        let wanted = findings.iter().filter_map(|f| entry_of(f)).collect();
        let mut tables = Tables {
            depth: 0,
            entry: None,
            wanted,
            found: BTreeMap::new(),
        };
        let reader = if tables.wanted.is_empty() {
            container.routine(id)
        } else {
            container.routine_with(id, &mut tables)
        };
        let Ok(reader) = reader else {
            continue;
        };
        for finding in &mut findings {
            let name = finding.location.field.map(|f| f.name);
            let Some(key) = entry_of(finding) else {
                continue;
            };
            let field = name.and_then(|name| tables.found.get(&(key.0, key.1, name)));
            let found = field.or_else(|| tables.found.get(&(key.0, key.1, "")));
            if let Some(offset) = found {
                finding.offset = Some(*offset);
            }
        }
        instructions(object, id, &reader, &mut findings);
    }
}

/// The table entry that a finding is about, `("", 0)` if it is not in a table.
fn entry_of(finding: &Finding) -> Option<(&'static str, u32)> {
    match finding.location.scope {
        Scope::Entry { table, index } => Some((table, index)),
        Scope::Whole => Some(("", 0)),
        Scope::Instruction { .. } => None,
    }
}

/// Remembers the offsets of the wanted entries of a routine's tables, and of their fields.
struct Tables {
    depth: u32,
    entry: Option<(&'static str, u32)>,
    wanted: BTreeSet<(&'static str, u32)>,
    found: BTreeMap<(&'static str, u32, &'static str), u64>,
}

impl Tables {
    /// Notes the first place of a field of an entry, or of the entry itself.
    fn find(&mut self, entry: (&'static str, u32), field: &'static str, offset: u64) {
        if self.wanted.contains(&entry) {
            let (table, index) = entry;
            self.found.entry((table, index, field)).or_insert(offset);
        }
    }
}

impl Observer<'_> for Tables {
    fn enter(&mut self, name: &'static str, index: Option<u32>, offset: u64) {
        self.depth += 1;
        // Lists of lists (the attributes of a variable) belong to the entry of the outer one.
        if self.entry.is_none()
            && let Some(index) = index
            && name != "strings"
        {
            self.entry = Some((name, index));
            self.find((name, index), "", offset);
        } else if let Some(entry) = self.entry {
            self.find(entry, name, offset);
        }
    }

    fn leave(&mut self, _: u64) {
        self.depth -= 1;
        if self.depth <= 1 {
            self.entry = None;
        }
    }

    fn leaf(&mut self, name: &'static str, range: Range<u64>, _: Leaf<'_>) {
        match self.entry {
            Some(entry) => self.find(entry, name, range.start),
            None if self.depth == 0 => self.find(("", 0), name, range.start),
            None => {}
        }
    }
}

/// Walks over the code once more, up to the last requested instruction.
fn instructions(
    object: &Object<'_>,
    id: RoutineId,
    reader: &RoutineReader<'_>,
    findings: &mut [&mut Finding],
) {
    let mut wanted: Vec<(u32, Option<FieldLocation>, &mut &mut Finding)> = findings
        .iter_mut()
        .filter_map(|finding| match finding.location.scope {
            Scope::Instruction { number, .. } => Some((number, finding.location.field, finding)),
            _ => None,
        })
        .collect();
    wanted.sort_by_key(|(number, _, _)| *number);
    let Some(routine) = object.routine(id) else {
        return;
    };
    let Content::Body(body) = &routine.content else {
        return;
    };
    // A damaged routine may have bytes between its tables and its first instruction.
    let gap = match body.code.first() {
        Some(Item::Raw(raw)) if !routine.stored.is_empty() => raw.bytes.len(),
        _ => 0,
    };
    let stated = |d: &(Derived, u32)| d.0 == Derived::CodeEntry;
    let gap = if routine.stored.iter().any(stated) {
        gap
    } else {
        0
    };
    let code = reader.code().get(gap..).unwrap_or_default();
    let start = reader.tables_end() + gap as u64;
    let format = object.format();
    let mut walk = Instructions::new(code, start, format, Rules::LENIENT);
    let mut number = 0;
    let mut wanted = wanted.into_iter().peekable();
    while wanted.peek().is_some() {
        let Some(Ok(instruction)) = walk.next() else {
            return;
        };
        while let Some((_, field, finding)) = wanted.next_if(|(n, _, _)| *n == number) {
            let mut offset = instruction.offset();
            // Counts of lists are fields of the file and not of the instruction.
            let mut fields = instruction
                .fields()
                .filter(|f| f.def.kind != visakit_isa::table::FieldKind::Count);
            if let Some(field) = field
                && let Some(position) = usize::try_from(field.position).ok()
                && let Some(found) = fields.nth(position)
            {
                offset += found.start as u64;
            }
            finding.offset = Some(offset);
        }
        number += 1;
    }
}
