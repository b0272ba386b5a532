//! Reads and writes of variables.

use crate::symbols::Space;
use crate::{Definition, Document};
use std::ops::Range;
use visakit_analysis::{Liveness, Root};
use visakit_isa::object::{Body, Item, RoutineId};
use visakit_isa::semantics::Resource;
use visakit_isa::{
    AddressId, AnyInstruction, Format, Platform, PredicateId, SamplerId, SurfaceId, VarId,
};

/// How a variable is used under its own name; uses through addresses and aliases are not included.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Life {
    /// Instructions that write it.
    pub writes: usize,
    /// Instructions that read it.
    pub reads: usize,
    /// The lines, up to the one after the last, between which the value of a general variable, or of those that share
    /// its storage, matters. There may be gaps.
    pub lines: Option<Range<usize>>,
    /// Variables whose storage is that of this one.
    pub aliases: usize,
}

impl Document {
    /// How a variable is used. `None` if it is not a variable of a routine.
    #[must_use]
    pub fn life(&self, definition: &Definition) -> Option<Life> {
        if definition.kind.space() != Space::Variable {
            return None;
        }
        let analysis = self.analysis();
        let (id, resource) = self.resource(definition)?;
        let body = analysis.body(id)?;
        let mut life = Life::default();
        for item in &body.code {
            let Item::Instruction(instruction) = item else {
                continue;
            };
            let writes = instruction.writes().any(|a| a.resource == resource);
            let reads = instruction.reads().any(|a| a.resource == resource);
            life.writes += usize::from(writes);
            life.reads += usize::from(reads);
        }
        if let Resource::General(id) = resource {
            let alias =
                |v: &&visakit_isa::object::Variable<'_>| v.alias == id && v.alias_scope == 0;
            life.aliases = body.variables.iter().filter(alias).count();
        }
        if let Resource::General(variable) = resource {
            let registers = self.platform().map_or(32, Platform::grf_bytes);
            let liveness = Liveness::of(analysis.object(), body, registers);
            let root = root(body, analysis.object().format(), variable);
            let mut ranges = liveness.ranges.into_iter();
            let code = ranges
                .find(|range| Some(range.root) == root)
                .map(|range| range.code);
            life.lines = code.and_then(|code| {
                let first = analysis.place_of(id, code.first()?.start)?;
                let last = analysis.place_of(id, code.last()?.end.checked_sub(1)?)?;
                Some(self.line_at(first.start)..self.line_at(last.start) + 1)
            });
        }
        Some(life)
    }

    /// The entity created by a declaration.
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

/// The variable whose storage a variable has.
fn root(body: &Body<'_>, format: Format, mut id: VarId) -> Option<Root> {
    let first = format.predefined_variable_count();
    // A chain of aliases cannot be longer than there are variables.
    for _ in 0..=body.variables.len() {
        let Some(own) = id.0.checked_sub(first) else {
            return Some(Root::Predefined(id.0));
        };
        let index = usize::try_from(own).ok()?;
        let variable = body.variables.get(index)?;
        if variable.alias_scope != 0 {
            return Some(Root::File(usize::try_from(variable.alias.0).ok()?));
        }
        if variable.alias == VarId::NULL {
            return Some(Root::Own(index));
        }
        id = variable.alias;
    }
    None
}
