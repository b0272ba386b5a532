//! Where variables are written and read.

use crate::symbols::Space;
use crate::{Definition, Document};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;
use visakit_isa::object::{Body, Item, RoutineId};
use visakit_isa::semantics::{Flow, Resource};
use visakit_isa::{
    AddressId, AnyInstruction, FieldName, LabelId, PredicateId, SamplerId, SurfaceId, Value, VarId,
};

/// How a variable is used, by its own name; what goes through addresses and aliases is not seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Life {
    /// Instructions that write it.
    pub writes: usize,
    /// Instructions that read it.
    pub reads: usize,
    /// The lines, up to the one after the last, between which its value may matter, in the order of the text: from
    /// the first use to the last, longer by the loops that carry it.
    pub lines: Option<Range<usize>>,
    /// Variables whose storage is that of this one.
    pub aliases: usize,
}

impl Document {
    /// How a variable is used. `None` for what is no variable of a routine.
    #[must_use]
    pub fn life(&self, definition: &Definition) -> Option<Life> {
        if definition.kind.space() != Space::Variable {
            return None;
        }
        let analysis = self.analysis();
        let (id, resource) = self.resource(definition)?;
        let body = analysis.body(id)?;
        let mut life = Life::default();
        let mut numbers: Option<Range<usize>> = None;
        // It is read before it is written: in a loop the value is that of the turn before.
        let mut carried = false;
        for (number, item) in body.code.iter().enumerate() {
            let Item::Instruction(instruction) = item else {
                continue;
            };
            let writes = instruction.writes().any(|a| a.resource == resource);
            let reads = instruction.reads().any(|a| a.resource == resource);
            life.writes += usize::from(writes);
            life.reads += usize::from(reads);
            if writes || reads {
                carried |= numbers.is_none() && reads;
                let first = numbers.map_or(number, |n| n.start);
                numbers = Some(first..number + 1);
            }
        }
        if let Resource::General(id) = resource {
            let alias =
                |v: &&visakit_isa::object::Variable<'_>| v.alias == id && v.alias_scope == 0;
            life.aliases = body.variables.iter().filter(alias).count();
        }
        life.lines = numbers.and_then(|numbers| {
            let numbers = with_loops(body, numbers, carried);
            let first = analysis.place_of(id, numbers.start)?;
            let last = analysis.place_of(id, numbers.end.checked_sub(1)?)?;
            Some(self.line_at(first.start)..self.line_at(last.start) + 1)
        });
        Some(life)
    }

    /// What a declaration has made.
    fn resource(&self, definition: &Definition) -> Option<(RoutineId, Resource)> {
        let analysis = self.analysis();
        let lines = self.symbols().routine(definition.line)?;
        let start = self.line_start(lines.start)..self.line_start(lines.end);
        let object = analysis.object();
        let map = analysis.source_map();
        let own = |id: &RoutineId| {
            map.routine(*id)
                .is_some_and(|r| start.contains(&r.routine.start))
        };
        let id = object.routines().map(|(id, _)| id).find(own)?;
        let (spans, body) = (map.routine(id)?, analysis.body(id)?);
        let entry = |list: &str, count: usize| {
            let mut all = 0..count;
            all.find(|n| {
                let span = spans.entry(list, *n);
                span.is_some_and(|s| {
                    s.start <= definition.name.start && definition.name.end <= s.end()
                })
            })
        };
        let format = object.format();
        let resource = match definition.kind {
            crate::SymbolKind::Variable => {
                let n = u32::try_from(entry("variables", body.variables.len())?).ok()?;
                Resource::General(VarId(n + format.predefined_variable_count()))
            }
            crate::SymbolKind::Address => {
                let n = entry("addresses", body.addresses.len())?;
                Resource::Address(AddressId(u16::try_from(n).ok()?))
            }
            crate::SymbolKind::Predicate => {
                let n = entry("predicates", body.predicates.len())?;
                Resource::Predicate(PredicateId(u16::try_from(n + 1).ok()?))
            }
            crate::SymbolKind::Sampler => {
                let n = entry("samplers", body.samplers.len())?;
                Resource::Sampler(SamplerId(u8::try_from(n).ok()?))
            }
            crate::SymbolKind::Surface => {
                let n = entry("surfaces", body.surfaces.len())?;
                let first = usize::from(format.predefined_surface_count());
                Resource::Surface(SurfaceId(u8::try_from(n + first).ok()?))
            }
            _ => return None,
        };
        Some((id, resource))
    }
}

/// A range of instructions, longer by the loops that begin in it, and where its value is carried from turn to turn by
/// those that it begins in.
fn with_loops(body: &Body<'_>, mut range: Range<usize>, carried: bool) -> Range<usize> {
    let mut placed: BTreeMap<u16, usize> = BTreeMap::new();
    // Where jumps go back to, and where from.
    let mut loops: Vec<Range<usize>> = Vec::new();
    for (number, item) in body.code.iter().enumerate() {
        let Item::Instruction(instruction) = item else {
            continue;
        };
        let targets = instruction
            .values(FieldName::Label)
            .chain(instruction.values(FieldName::Labels));
        let labels = targets.filter_map(|value| match value {
            Value::Label(LabelId(id)) => Some(id),
            _ => None,
        });
        match instruction.flow().flow {
            Flow::Label { .. } => placed.extend(labels.map(|id| (id, number))),
            Flow::Jump { .. } | Flow::Switch => {
                let back = labels.filter_map(|id| placed.get(&id));
                loops.extend(back.map(|start| *start..number + 1));
            }
            _ => {}
        }
    }
    // In the order of their ends, so that inner loops come before those around them.
    for turn in loops {
        let inside = turn.start < range.end && range.start < turn.end;
        let begins_before = range.start < turn.start;
        if inside && begins_before {
            range.end = range.end.max(turn.end);
        } else if inside && carried {
            range = turn.start..range.end.max(turn.end);
        }
    }
    range
}
