//! Between which instructions the values of variables matter.

use crate::extent::Extents;
use crate::flow::Blocks;
use crate::storage::{Root, Storage};
use std::collections::BTreeMap;
use std::ops::Range;
use visakit_isa::object::{Body, Item, Object};
use visakit_isa::semantics::Resource;
use visakit_isa::{AnyInstruction, FieldName, Value};

/// Limit of the blocks examined for all variables of a routine together. Real routines need thousands of times less;
/// variables beyond it count as live everywhere.
const BUDGET: usize = 1 << 27;

/// Where a variable with its own storage needs its registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRange {
    /// The variable.
    pub root: Root,
    /// Its size.
    pub bytes: usize,
    /// Instructions of the routine before which its value still matters, or that write it: ascending and apart.
    pub code: Vec<Range<usize>>,
}

/// Where the variables of a routine need their registers.
///
/// Aliases count for the variable whose storage they share. A value is live from the instruction that writes it to the
/// last one that may read it, along every path of control; variables are examined in up to 64 parts, so that a value
/// written in pieces begins with the first one. As in the finalizer's own estimate, a write under a mask ends the old
/// value's life although disabled lanes keep it; one under a predicate, to every other element or through an address
/// does not. Predefined variables are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Liveness {
    /// The variables that are used, in the order of their tables.
    pub ranges: Vec<LiveRange>,
    /// Instructions of the routine.
    pub instructions: usize,
}

/// The effect of an instruction on a variable, bit by bit for its parts.
#[derive(Clone, Copy, Default)]
struct Use {
    at: usize,
    reads: u64,
    writes: bool,
    kills: u64,
}

impl Liveness {
    /// Analyses a routine. `grf_bytes` is the size of a register, 32 or 64, which determines the place of operands'
    /// rows.
    #[must_use]
    pub fn of(object: &Object<'_>, body: &Body<'_>, grf_bytes: u32) -> Self {
        let storage = Storage::of(object, body);
        let extents = Extents {
            storage: &storage,
            grf: grf_bytes as usize,
        };
        let mut uses: BTreeMap<Root, Vec<Use>> = BTreeMap::new();
        // Accesses through addresses may affect any variable whose address is taken.
        let mut through: Vec<Use> = Vec::new();
        for (at, item) in body.code.iter().enumerate() {
            let Item::Instruction(instruction) = item else {
                continue;
            };
            let any = |a: visakit_isa::semantics::Access| a.resource == Resource::AnyGeneral;
            let (reads, writes) = (instruction.reads().any(any), instruction.writes().any(any));
            if reads || writes {
                through.push(Use {
                    at,
                    reads: if reads { u64::MAX } else { 0 },
                    writes,
                    kills: 0,
                });
            }
            let mut add = |root: Root, change: &dyn Fn(&mut Use)| {
                if matches!(root, Root::Predefined(_)) {
                    return;
                }
                let list = uses.entry(root).or_default();
                if list.last().is_none_or(|last| last.at != at) {
                    list.push(Use {
                        at,
                        ..Use::default()
                    });
                }
                list.last_mut().into_iter().for_each(change);
            };
            if let (Some(Value::Lifetime(id)), Some(Value::U8(properties))) = (
                instruction.value(FieldName::Variable),
                instruction.value(FieldName::Properties),
            ) && properties & 0x31 == 0
                && let Some(part) = storage.part(id)
            {
                // The start of a general variable's life: its previous content is irrelevant.
                add(part.root, &|u| u.kills = u64::MAX);
            }
            for extent in extents.reads(instruction) {
                let touched = parts(&extent.bytes, storage.size(extent.root, body), false);
                add(extent.root, &|u| u.reads |= touched);
            }
            for extent in extents.writes(instruction) {
                let filled = parts(&extent.bytes, storage.size(extent.root, body), true);
                add(extent.root, &|u| {
                    u.writes = true;
                    u.kills |= if extent.whole { filled } else { 0 };
                });
            }
        }
        let taken = storage.taken(body);
        for root in &taken {
            if !matches!(root, Root::Predefined(_)) {
                uses.entry(*root).or_default();
            }
        }
        let inputs = storage.inputs(body);
        let blocks = Blocks::of(body);
        let mut solver = Solver::new(&blocks, body.code.len());
        let mut ranges = Vec::with_capacity(uses.len());
        for (root, mut uses) in uses {
            if taken.contains(&root) {
                uses.extend(&through);
                uses.sort_by_key(|u| u.at);
            }
            let code = match root {
                // Other routines may use it.
                Root::File(_) => everywhere(body.code.len()),
                _ => solver.solve(&uses, inputs.contains(&root)),
            };
            ranges.push(LiveRange {
                root,
                bytes: storage.size(root, body),
                code,
            });
        }
        Self {
            ranges,
            instructions: body.code.len(),
        }
    }

    /// The variables that are live at an instruction.
    pub fn at(&self, instruction: usize) -> impl Iterator<Item = &LiveRange> {
        self.ranges.iter().filter(move |range| {
            let after = range.code.partition_point(|r| r.end <= instruction);
            range
                .code
                .get(after)
                .is_some_and(|r| r.start <= instruction)
        })
    }
}

/// The parts of a variable of `size` bytes that some bytes touch, or those that they fill.
fn parts(bytes: &Range<usize>, size: usize, filled: bool) -> u64 {
    let unit = size.div_ceil(64).max(4);
    let start = bytes.start.min(size);
    let end = bytes.end.min(size);
    let (first, last) = if filled {
        let last = if end == size {
            size.div_ceil(unit)
        } else {
            end / unit
        };
        (start.div_ceil(unit), last)
    } else {
        (start / unit, end.div_ceil(unit))
    };
    let below = |n: usize| {
        1u64.checked_shl(u32::try_from(n).unwrap_or(64))
            .map_or(u64::MAX, |bit| bit - 1)
    };
    below(last) & !below(first)
}

/// The live range of a variable that is live at every instruction.
fn everywhere(instructions: usize) -> Vec<Range<usize>> {
    std::iter::once(0..instructions).collect()
}

/// Finds live ranges of one variable after the other.
struct Solver<'b> {
    blocks: &'b Blocks,
    /// The block of each instruction.
    block: Vec<usize>,
    instructions: usize,
    budget: usize,
    /// States of the current variable, by block.
    of: Vec<State>,
    touched: Vec<usize>,
}

#[derive(Clone, Copy, Default)]
struct State {
    touched: bool,
    queued: bool,
    /// Read before it is written.
    reads: u64,
    kills: u64,
    live_in: u64,
    live_out: u64,
    /// Whether it may hold a value when the block begins.
    held: bool,
}

impl<'b> Solver<'b> {
    fn new(blocks: &'b Blocks, instructions: usize) -> Self {
        let mut block = vec![0; instructions];
        for (number, code) in blocks.code.iter().enumerate() {
            for entry in block.get_mut(code.clone()).into_iter().flatten() {
                *entry = number;
            }
        }
        Self {
            blocks,
            block,
            instructions,
            budget: BUDGET,
            of: vec![State::default(); blocks.code.len()],
            touched: Vec::new(),
        }
    }

    fn state(&mut self, block: usize) -> Option<&mut State> {
        let state = self.of.get_mut(block)?;
        if !state.touched {
            *state = State {
                touched: true,
                ..State::default()
            };
            self.touched.push(block);
        }
        Some(state)
    }

    /// The live range of a variable that is used like that; `held` says whether it holds something at the start.
    fn solve(&mut self, uses: &[Use], held: bool) -> Vec<Range<usize>> {
        for used in uses.iter().rev() {
            let block = self.block.get(used.at).copied().unwrap_or(0);
            if let Some(state) = self.state(block) {
                state.reads = state.reads & !used.kills | used.reads;
                state.kills |= used.kills;
            }
        }
        let mut todo: Vec<usize> = self.touched.clone();
        while let Some(number) = todo.pop() {
            if self.budget == 0 {
                self.forget();
                return everywhere(self.instructions);
            }
            self.budget -= 1;
            let Some(state) = self.state(number) else {
                continue;
            };
            state.queued = false;
            let live_in = state.reads | state.live_out & !state.kills;
            if live_in == state.live_in {
                continue;
            }
            state.live_in = live_in;
            for before in self.blocks.before.get(number).into_iter().flatten() {
                if let Some(state) = self.state(*before)
                    && state.live_out | live_in != state.live_out
                {
                    state.live_out |= live_in;
                    if !state.queued {
                        state.queued = true;
                        todo.push(*before);
                    }
                }
            }
        }
        // Code that reads an unwritten value would make it live from the start.
        let from_start = self.of.first().is_some_and(|s| s.touched && s.live_in != 0);
        if held || !from_start {
            for block in &self.touched {
                if let Some(state) = self.of.get_mut(*block) {
                    state.held = true;
                }
            }
        } else {
            self.hold(uses);
        }
        let ranges = self.ranges(uses);
        self.forget();
        ranges
    }

    /// Marks the blocks that a value may reach.
    fn hold(&mut self, uses: &[Use]) {
        let mut todo: Vec<usize> = uses
            .iter()
            .filter(|used| used.writes)
            .filter_map(|used| self.block.get(used.at).copied())
            .collect();
        todo.dedup();
        while let Some(number) = todo.pop() {
            for next in self.blocks.next.get(number).into_iter().flatten() {
                // It is not live anywhere else.
                if let Some(state) = self.of.get_mut(*next)
                    && state.touched
                    && !state.held
                {
                    state.held = true;
                    self.budget = self.budget.saturating_sub(1);
                    todo.push(*next);
                }
            }
        }
    }

    fn ranges(&mut self, uses: &[Use]) -> Vec<Range<usize>> {
        self.touched.sort_unstable();
        let mut all: Vec<Range<usize>> = Vec::new();
        let mut add = |range: Range<usize>| match all.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => all.push(range),
        };
        for block in &self.touched {
            let (Some(state), Some(code)) = (self.of.get(*block), self.blocks.code.get(*block))
            else {
                continue;
            };
            let first = uses.partition_point(|used| used.at < code.start);
            let end = uses.partition_point(|used| used.at < code.end);
            let inside = uses.get(first..end).unwrap_or_default();
            // What is live before each use, and after the last one.
            let mut live = state.live_out;
            let mut before: Vec<u64> = inside
                .iter()
                .rev()
                .map(|used| {
                    live = live & !used.kills | used.reads;
                    live
                })
                .collect();
            before.reverse();
            let mut from = code.start;
            let mut held = state.held;
            for (used, live) in inside.iter().zip(&before) {
                if *live != 0 && held {
                    add(from..used.at);
                }
                if used.reads != 0 || used.writes {
                    add(used.at..used.at + 1);
                }
                held |= used.writes;
                from = used.at + 1;
            }
            if state.live_out != 0 && held {
                add(from..code.end);
            }
        }
        all
    }

    /// Makes ready for the next variable.
    fn forget(&mut self) {
        for block in self.touched.drain(..) {
            if let Some(state) = self.of.get_mut(block) {
                state.touched = false;
            }
        }
    }
}
