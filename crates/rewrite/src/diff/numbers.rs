//! Common numbers for the declarations of two routines.

use super::Change;
use super::attributes::attributes;
use super::pairs::pairs;
use crate::location::{Reference, Table};
use std::collections::HashMap;
use visakit_isa::object::{Attribute, Body, Declaration, Input, InputKind};
use visakit_isa::{Format, VarId};

/// Which object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Old,
    New,
}

/// A body of each object.
pub(super) type Sides<'b> = [(&'b Body<'b>, Format); 2];

/// Entries of the tables of one object, by their number there.
#[derive(Default)]
struct Tables([Vec<u32>; Table::ALL.len()]);

impl Tables {
    fn set(&mut self, reference: Reference, number: u32) {
        let index = Table::ALL.iter().position(|t| *t == reference.table);
        let table = index.and_then(|i| self.0.get_mut(i));
        if let (Some(table), Ok(id)) = (table, usize::try_from(reference.id)) {
            if table.len() <= id {
                table.resize(id + 1, u32::MAX);
            }
            if let Some(entry) = table.get_mut(id) {
                *entry = number;
            }
        }
    }

    fn get(&self, reference: Reference) -> Option<u32> {
        let index = Table::ALL.iter().position(|t| *t == reference.table)?;
        let entry = self.0.get(index)?.get(usize::try_from(reference.id).ok()?);
        entry.copied().filter(|number| *number != u32::MAX)
    }
}

/// Common numbers for the declared and predefined entries of both objects.
#[derive(Default)]
pub(super) struct Numbers {
    old: Tables,
    new: Tables,
    next: u32,
}

/// The identity of a declaration.
pub(super) struct Entry {
    pub(super) name: String,
    /// Its other properties.
    pub(super) rest: String,
    /// The variable it shares storage with, as text.
    alias: String,
}

impl Numbers {
    /// Equal strings of the pools have equal numbers.
    pub(super) fn of(sides: Sides<'_>) -> Self {
        let mut numbers = Self::default();
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        for (side, (body, _)) in [Side::Old, Side::New].into_iter().zip(sides) {
            for (id, text) in (0..).zip(&body.strings) {
                let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                let number = *known.entry(text).or_insert(next);
                numbers
                    .tables(side)
                    .set(Reference::new(Table::String, id), number);
            }
        }
        numbers
    }

    fn tables(&mut self, side: Side) -> &mut Tables {
        match side {
            Side::Old => &mut self.old,
            Side::New => &mut self.new,
        }
    }

    /// Aligns the declarations of a table and returns which differ.
    pub(super) fn pair(&mut self, table: Table, sides: Sides<'_>, changes: &mut Vec<Change>) {
        self.predefined(table, sides);
        let [old, new] = sides;
        let (a, b) = (entries(table, old), entries(table, new));
        let pairs = pairs(table, sides, [&a, &b]);
        for (i, j) in &pairs {
            self.next += 1;
            for (side, index, format) in [(Side::Old, i, old.1), (Side::New, j, new.1)] {
                if let Some(index) = index.and_then(|i| u32::try_from(i).ok()) {
                    let id = table.first(format).saturating_add(index);
                    let next = self.next;
                    self.tables(side).set(Reference::new(table, id), next);
                }
            }
        }
        for (i, j) in pairs {
            let (x, y) = (i.and_then(|i| a.get(i)), j.and_then(|j| b.get(j)));
            // The alias of a declaration is compared by its common number.
            let same = x.map(|e| (&e.name, &e.rest)) == y.map(|e| (&e.name, &e.rest))
                && self.alias(table, Side::Old, old.0, i) == self.alias(table, Side::New, new.0, j);
            if !same {
                let text = |e: Option<&Entry>, i: Option<usize>| {
                    let (e, i) = e.zip(i)?;
                    Some((i, format!("{} {}{}", e.name, e.rest, e.alias)))
                };
                changes.push(Change {
                    what: table.name(),
                    old: text(x, i),
                    new: text(y, j),
                });
            }
        }
    }

    /// Predefined entries are the same if they have the same name.
    fn predefined(&mut self, table: Table, sides: Sides<'_>) {
        let mut names: HashMap<String, u32> = HashMap::new();
        for (side, (_, format)) in [Side::Old, Side::New].into_iter().zip(sides) {
            for id in 0..table.first(format) {
                let known = match table {
                    Table::Variable => format.predefined_variable(VarId(id)),
                    _ => None,
                };
                let name = known.map_or_else(|| id.to_string(), |v| v.name.to_owned());
                let next = &mut self.next;
                let number = *names.entry(name).or_insert_with(|| {
                    *next += 1;
                    *next
                });
                self.tables(side).set(Reference::new(table, id), number);
            }
        }
    }

    /// What a variable shares its storage with: whether it is one of the file, which, and at which
    /// offset.
    fn alias(
        &self,
        table: Table,
        side: Side,
        body: &Body<'_>,
        index: Option<usize>,
    ) -> Option<(bool, u32, u16)> {
        let index = index.filter(|_| table == Table::Variable)?;
        let variable = body.variables.get(index)?;
        let parent = Reference::new(Table::Variable, variable.alias.0);
        Some(match variable.alias_scope {
            0 => (false, self.number(parent, side), variable.alias_offset),
            _ => (true, variable.alias.0, variable.alias_offset),
        })
    }

    pub(super) fn number(&self, reference: Reference, side: Side) -> u32 {
        let tables = match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        };
        // Undeclared entries are only equal to themselves.
        let undeclared = u32::MAX - reference.id % 0x1000_0000;
        tables.get(reference).unwrap_or(undeclared)
    }

    pub(super) fn input(&self, input: &Input, side: Side) -> String {
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

/// Names of declarations and their other properties.
fn entries(table: Table, (body, format): (&Body<'_>, Format)) -> Vec<Entry> {
    let name = |id| String::from_utf8_lossy(body.string(id).unwrap_or_default()).into_owned();
    let list = |list: &[Attribute<'_>]| {
        let all: Vec<_> = attributes(body, list)
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        let all = all.join(" ");
        if all.is_empty() {
            all
        } else {
            format!(" {{{all}}}")
        }
    };
    let entry = |id, rest, alias| Entry {
        name: name(id),
        rest,
        alias,
    };
    let declared = |d: &Declaration<'_>| {
        let rest = format!("x{}{}", d.elements, list(&d.attributes));
        entry(d.name, rest, String::new())
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
                entry(v.name, rest, alias)
            })
            .collect(),
        Table::Label => body
            .labels
            .iter()
            .map(|l| {
                let rest = format!("kind {}{}", l.kind.0, list(&l.attributes));
                entry(l.name, rest, String::new())
            })
            .collect(),
        Table::Address => body.addresses.iter().map(declared).collect(),
        Table::Predicate => body.predicates.iter().map(declared).collect(),
        Table::Sampler => body.samplers.iter().map(declared).collect(),
        Table::Surface => body.surfaces.iter().map(declared).collect(),
        Table::String | Table::FileVariable => Vec::new(),
    }
}
