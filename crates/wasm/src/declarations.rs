//! Declarations with live ranges, and how many registers are in use.
//!
//! A variable is live where a write of it may have happened and a read of it may follow, along the edges of the control
//! flow. A write never ends a range: lanes that are off keep what they had, and regions may be partial. So ranges are as
//! long as they may be. What goes through addresses is not seen.

use crate::Answer;
use crate::file::File;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use visakit::isa::object::{Body, InputKind, Item};
use visakit::isa::semantics::Resource;
use visakit::isa::{AnyInstruction, VarId};
use visakit::rewrite::graph::Cfg;

/// Bits, one for each variable.
type Bits = Vec<u64>;

fn set(bits: &mut Bits, number: usize) {
    if let Some(word) = bits.get_mut(number / 64) {
        *word |= 1 << (number % 64);
    }
}

fn has(bits: &Bits, number: usize) -> bool {
    bits.get(number / 64)
        .is_some_and(|word| word >> (number % 64) & 1 == 1)
}

/// Adds bits, and tells whether any was new.
fn add(to: &mut Bits, from: &Bits) -> bool {
    let mut new = false;
    for (to, from) in to.iter_mut().zip(from) {
        new |= *from & !*to != 0;
        *to |= from;
    }
    new
}

/// What a block does with variables.
#[derive(Clone, Default)]
struct Block {
    code: Range<usize>,
    /// First write and last read of a variable, by its number.
    first: BTreeMap<usize, usize>,
    last: BTreeMap<usize, usize>,
    before: Vec<usize>,
    after: Vec<usize>,
    /// What may have been written before the block or in it, and what may be read in it or after it.
    written: Bits,
    read: Bits,
}

/// How a variable is used.
#[derive(Clone, Default)]
struct Use {
    reads: usize,
    writes: usize,
}

/// Numbers of variables whose storage is the same: that of the one that all are aliases of.
fn roots(body: &Body<'_>, first: usize) -> Vec<usize> {
    let root = |index: usize| {
        let mut number = index + first;
        for _ in 0..16 {
            let variable = number
                .checked_sub(first)
                .and_then(|i| body.variables.get(i));
            match variable {
                Some(v) if v.alias_scope == 0 && v.alias != VarId(0) => {
                    number = usize::try_from(v.alias.0).unwrap_or(number);
                }
                _ => break,
            }
        }
        number
    };
    (0..body.variables.len()).map(root).collect()
}

/// The declarations of a routine and its register pressure.
pub(crate) fn declarations(file: &File, routine: usize) -> Answer {
    let id = file.id(routine)?;
    let body = file.object.routine(id).and_then(|r| r.body());
    let Some(body) = body else {
        return Err("the routine could not be decoded".to_owned());
    };
    let format = file.object.format();
    let first = format.predefined_variable_count() as usize;
    let roots = roots(body, first);
    let root = |number: usize| match number.checked_sub(first) {
        Some(index) => roots.get(index).copied().unwrap_or(number),
        None => number,
    };
    let count = first + body.variables.len();
    let mut uses: HashMap<Resource, Use> = HashMap::new();
    let mut blocks = blocks(body, count);
    let inputs = body
        .inputs
        .iter()
        .filter(|i| i.kind.class() == InputKind::GENERAL);
    for input in inputs {
        if let (Ok(number), Some(block)) = (usize::try_from(input.index), blocks.first_mut()) {
            block.first.insert(root(number), block.code.start);
        }
    }
    for block in &mut blocks {
        for index in block.code.clone() {
            let Some(Item::Instruction(instruction)) = body.code.get(index) else {
                continue;
            };
            for access in instruction.reads() {
                uses.entry(access.resource).or_default().reads += 1;
                if let Resource::General(VarId(n)) = access.resource
                    && let Ok(n) = usize::try_from(n)
                {
                    block.last.insert(root(n), index);
                }
            }
            for access in instruction.writes() {
                uses.entry(access.resource).or_default().writes += 1;
                if let Resource::General(VarId(n)) = access.resource
                    && let Ok(n) = usize::try_from(n)
                {
                    block.first.entry(root(n)).or_insert(index);
                }
            }
        }
        for number in block.first.keys() {
            set(&mut block.written, *number);
        }
        for number in block.last.keys() {
            set(&mut block.read, *number);
        }
    }
    spread(&mut blocks);
    let ranges = ranges(&blocks, count);
    let grf = file.grf_bytes();
    let pressure = pressure(body, first, &roots, &ranges, grf);
    let name = |id| {
        let name = body.string(id).unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    };
    let used = |resource| uses.get(&resource).cloned().unwrap_or_default();
    let mut rows = Vec::new();
    for (index, variable) in body.variables.iter().enumerate() {
        let number = index + first;
        let resource = Resource::General(VarId(u32::try_from(number).unwrap_or(u32::MAX)));
        let Use { reads, writes } = used(resource);
        let alias = variable.alias_scope == 0 && variable.alias.0 != 0;
        let input = body.inputs.iter().any(|i| {
            i.kind.class() == InputKind::GENERAL && usize::try_from(i.index) == Ok(number)
        });
        rows.push(json!({
            "name": name(variable.name),
            "kind": "variable",
            "type": variable.properties.data_type().name(),
            "elements": variable.elements,
            "bytes": variable.size(),
            "alias": alias.then(|| alias_name(body, format, variable.alias, first)),
            "input": input,
            "reads": reads,
            "writes": writes,
            "live": ranges.get(root(number)).cloned().unwrap_or_default()
                .iter().map(|r| json!([r.start, r.end])).collect::<Vec<_>>(),
        }));
    }
    Ok(json!({
        "declarations": rows,
        "pressure": pressure,
        "grf": grf,
        "instructions": body.code.len(),
    }))
}

fn alias_name(body: &Body<'_>, format: visakit::Format, of: VarId, first: usize) -> String {
    let number = usize::try_from(of.0).unwrap_or(usize::MAX);
    match number.checked_sub(first) {
        Some(index) => {
            let id = body.variables.get(index).map(|v| v.name);
            let name = id.and_then(|id| body.string(id)).unwrap_or_default();
            String::from_utf8_lossy(name).into_owned()
        }
        None => {
            let predefined = format.predefined_variables().get(number);
            predefined.map_or_else(String::new, |v| format!("%{}", v.name))
        }
    }
}

fn blocks(body: &Body<'_>, count: usize) -> Vec<Block> {
    let cfg = Cfg::of(body);
    let words = vec![0; count.div_ceil(64)];
    let nodes = cfg.graph.node_indices().map(|node| Block {
        code: cfg.graph.node_weight(node).map_or(0..0, |b| b.code.clone()),
        after: cfg.graph.neighbors(node).map(|n| n.index()).collect(),
        written: words.clone(),
        read: words.clone(),
        ..Block::default()
    });
    let mut blocks: Vec<Block> = nodes.collect();
    for number in 0..blocks.len() {
        let after = blocks
            .get(number)
            .map(|b| b.after.clone())
            .unwrap_or_default();
        for next in after {
            if let Some(next) = blocks.get_mut(next) {
                next.before.push(number);
            }
        }
    }
    blocks
}

/// Lets writes reach the blocks after them and reads those before them, until nothing changes.
fn spread(blocks: &mut [Block]) {
    let mut waiting: Vec<usize> = (0..blocks.len()).rev().collect();
    while let Some(number) = waiting.pop() {
        let Some(block) = blocks.get(number) else {
            continue;
        };
        let (after, written) = (block.after.clone(), block.written.clone());
        for next in after {
            if blocks
                .get_mut(next)
                .is_some_and(|b| add(&mut b.written, &written))
            {
                waiting.push(next);
            }
        }
    }
    let mut waiting: Vec<usize> = (0..blocks.len()).collect();
    while let Some(number) = waiting.pop() {
        let Some(block) = blocks.get(number) else {
            continue;
        };
        let (before, read) = (block.before.clone(), block.read.clone());
        for last in before {
            if blocks
                .get_mut(last)
                .is_some_and(|b| add(&mut b.read, &read))
            {
                waiting.push(last);
            }
        }
    }
}

/// Where each variable is live, by instructions.
fn ranges(blocks: &[Block], count: usize) -> Vec<Vec<Range<usize>>> {
    let mut ranges: Vec<Vec<Range<usize>>> = vec![Vec::new(); count];
    for block in blocks.iter().filter(|b| !b.code.is_empty()) {
        let into = |number: usize| {
            let mut before = block.before.iter().filter_map(|b| blocks.get(*b));
            before.any(|b| has(&b.written, number))
        };
        let onward = |number: usize| {
            let mut after = block.after.iter().filter_map(|b| blocks.get(*b));
            after.any(|b| has(&b.read, number))
        };
        for (number, ranges) in ranges.iter_mut().enumerate() {
            if !has(&block.written, number) || !has(&block.read, number) {
                continue;
            }
            let start = if into(number) {
                Some(block.code.start)
            } else {
                block.first.get(&number).copied()
            };
            let end = if onward(number) {
                Some(block.code.end)
            } else {
                block.last.get(&number).map(|last| last + 1)
            };
            let (Some(start), Some(end)) = (start, end) else {
                continue;
            };
            if start >= end {
                continue;
            }
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => ranges.push(start..end),
            }
        }
    }
    ranges
}

/// Registers in use at each instruction, each variable with its own size; aliases count with what they are aliases of.
fn pressure(
    body: &Body<'_>,
    first: usize,
    roots: &[usize],
    ranges: &[Vec<Range<usize>>],
    grf: u32,
) -> Vec<Json> {
    let mut change = vec![0_i64; body.code.len() + 1];
    for (index, variable) in body.variables.iter().enumerate() {
        let number = index + first;
        if roots.get(index) != Some(&number) {
            continue;
        }
        for range in ranges.get(number).into_iter().flatten() {
            if let Some(bytes) = change.get_mut(range.start) {
                *bytes += i64::from(variable.size());
            }
            if let Some(bytes) = change.get_mut(range.end) {
                *bytes -= i64::from(variable.size());
            }
        }
    }
    let mut now = 0;
    let numbers = change.iter().take(body.code.len()).map(|change| {
        now += change;
        // Hundredths are enough for a plot.
        let hundredths = now * 100 / i64::from(grf.max(1));
        #[allow(clippy::cast_precision_loss, reason = "a plot")]
        let registers = hundredths as f64 / 100.0;
        json!(registers)
    });
    numbers.collect()
}
