//! Declarations with live ranges, and how many registers are in use.

use crate::Answer;
use crate::file::File;
use serde_json::json;
use std::collections::HashMap;
use visakit::analysis::{Liveness, Pressure, Root};
use visakit::isa::object::{Body, InputKind, Item};
use visakit::isa::semantics::Resource;
use visakit::isa::{AnyInstruction, VarId};

/// How often a variable is read and written, by its own name.
#[derive(Clone, Copy, Default)]
struct Use {
    reads: usize,
    writes: usize,
}

fn uses(body: &Body<'_>) -> HashMap<usize, Use> {
    let mut uses: HashMap<usize, Use> = HashMap::new();
    let number = |resource| match resource {
        Resource::General(VarId(number)) => usize::try_from(number).ok(),
        _ => None,
    };
    for item in &body.code {
        let Item::Instruction(instruction) = item else {
            continue;
        };
        for number in instruction.reads().filter_map(|a| number(a.resource)) {
            uses.entry(number).or_default().reads += 1;
        }
        for number in instruction.writes().filter_map(|a| number(a.resource)) {
            uses.entry(number).or_default().writes += 1;
        }
    }
    uses
}

/// The declarations of a routine and its register pressure.
pub(crate) fn declarations(file: &File, routine: usize) -> Answer {
    let object = &file.object;
    let id = file.id(routine)?;
    let body = object.routine(id).and_then(|r| r.body());
    let Some(body) = body else {
        return Err("the routine could not be decoded".to_owned());
    };
    let grf = file.grf_bytes();
    let liveness = Liveness::of(object, body, grf);
    let pressure = Pressure::of(&liveness, grf);
    let live: HashMap<Root, _> = liveness.ranges.iter().map(|r| (r.root, &r.code)).collect();
    let first = object.format().predefined_variable_count() as usize;
    let uses = uses(body);
    let declarations = body.variables.iter().enumerate().map(|(index, variable)| {
        let number = index + first;
        let Use { reads, writes } = uses.get(&number).copied().unwrap_or_default();
        let root = root(body, first, index);
        let input = body.inputs.iter().any(|input| {
            input.kind.class() == InputKind::GENERAL && usize::try_from(input.index) == Ok(number)
        });
        let ranges = live.get(&root).into_iter().flat_map(|ranges| ranges.iter());
        json!({
            "name": Root::Own(index).name(object, body),
            "type": variable.properties.data_type().name(),
            "elements": variable.elements,
            "bytes": variable.size(),
            "alias": (root != Root::Own(index)).then(|| root.name(object, body)),
            "input": input,
            "reads": reads,
            "writes": writes,
            "live": ranges.map(|r| [r.start, r.end]).collect::<Vec<_>>(),
        })
    });
    Ok(json!({
        "declarations": declarations.collect::<Vec<_>>(),
        "pressure": pressure.points.iter().map(|p| p.registers).collect::<Vec<_>>(),
        "grf": grf,
        "instructions": body.code.len(),
    }))
}

/// The variable that owns the storage. Cycles, which damaged objects may have, are cut.
fn root(body: &Body<'_>, first: usize, index: usize) -> Root {
    let mut own = index;
    for _ in 0..body.variables.len() {
        let Some(variable) = body.variables.get(own).filter(|v| v.is_alias()) else {
            break;
        };
        let Ok(number) = usize::try_from(variable.alias.0) else {
            break;
        };
        if variable.alias_scope != 0 {
            return Root::File(number);
        }
        match number.checked_sub(first) {
            Some(index) => own = index,
            None => return Root::Predefined(variable.alias.0),
        }
    }
    Root::Own(own)
}
