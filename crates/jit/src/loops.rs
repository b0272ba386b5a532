//! Loops whose operands stay in vector registers from one turn to the next.
//!
//! The innermost loops of a program have a form besides their segments: all steps of a turn one after the other, for full
//! masks and for others, entered with operands in registers. What these are is found by writing a turn on trial: what it
//! reads from the register file before it writes it. Before the first turn they are loaded, at the end of each they are
//! where the next one wants them, and ways out store what the file does not have. Whoever leaves a loop, or enters it
//! elsewhere than at its start, is in the code of its segments.

use crate::Features;
use crate::apart::apart;
use crate::count::Counts;
use crate::exits::Way;
use crate::flow::Compiler;
use crate::kept::{Content, KEPT, Kept, Masks};
use crate::masks::mask_register;
use crate::mode::Form;
use crate::pages::place as fields;
use crate::path::Path;
use crate::pending::{Holder, Stores, meet};
use crate::scaled::{Products, Scaled};
use crate::vector::{Chunks, Done, LEFT, RUNNING, Writer, field};
use crate::x64::{Condition, Label, Note, Width, ops};
use std::collections::HashMap;
use std::ops::Range;
use visakit_exec::code::{Action, Step};

/// Most steps of a turn: in longer ones registers are needed for other things long before the next turn.
const MOST_STEPS: usize = 96;

/// Steps of a loop for each message of lanes, at least, and most machine instructions for each step: where lanes are
/// gathered, operands in registers do not matter.
const STEPS_OF_MESSAGES: usize = 8;
const MOST_INSTRUCTIONS: usize = 10;

/// Registers that a loop leaves to its steps, of all that are kept and of those that short instructions can name.
const FOR_STEPS: usize = 6;
const FOR_SHORT: usize = 4;

/// A loop: segments that follow each other, of which the last one goes to the first.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// The first steps of its segments.
    starts: Vec<usize>,
    pub(crate) steps: Range<usize>,
    /// Instructions of a turn.
    cost: u32,
    pub(crate) usual_mode: bool,
}

/// An operand that a turn finds in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Carried {
    pub(crate) content: Content,
    /// Whether only the first 16 registers can hold it.
    short: bool,
    /// Whether a turn gives it another value.
    pub(crate) changes: bool,
}

/// The turn that is being written.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The step that it begins with, and ends with a jump to.
    header: usize,
    again: Label,
    /// What registers hold at its start.
    start: Kept,
    /// Values that the file has if a turn has stored them: the number of their stores at its start, and at its end.
    links: Vec<(usize, usize)>,
    /// What registers held when it jumped to its start.
    end: Option<Kept>,
}

/// What a turn does with the register file.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    /// Reads it as the content of a register, which may be one of this many.
    Read(Content, usize),
    Write(Range<usize>),
}

impl Content {
    /// Bytes of the register file.
    pub(crate) const fn place(&self) -> Option<Range<usize>> {
        match *self {
            Self::Bytes { offset, bytes } | Self::Each { offset, bytes, .. } => {
                Some(offset..offset + bytes)
            }
            Self::Scaled(Scaled { offset, bytes, .. }) => Some(offset..offset + bytes),
            Self::Running { .. } => None,
        }
    }
}

/// Whether a step is a message of several lanes.
fn is_of_lanes(step: &Step) -> bool {
    match &step.action {
        Action::Message(message) => message.lanes().is_none_or(|message| message.lanes > 1),
        _ => false,
    }
}

impl Compiler<'_> {
    /// Writes the loops of the program, for full masks and for others.
    pub(crate) fn loops(&mut self) {
        let loops = self.find_loops();
        self.may_pair = self.may_pair(&loops);
        for one in loops {
            self.products = self.products(&one.steps);
            if self.may_pair && self.pair.is_none() {
                self.pair = self.write_pair(&one);
                self.failed = false;
            }
            for version in [0, 1] {
                self.write_loop(&one, version);
            }
            self.go_on_alone(one.steps.start);
        }
        self.products = Products::default();
    }

    /// The innermost loops without other jumps to their start.
    fn find_loops(&self) -> Vec<Loop> {
        let segments: Vec<_> = self.segments.values().collect();
        let last = |segment: usize| {
            let last = segments.get(segment)?.steps.end.checked_sub(1)?;
            self.code.steps.get(last)
        };
        let mut loops = Vec::new();
        // The segment after the last loop.
        let mut after = 0;
        for end in 0..segments.len() {
            let Some(Action::Jump { target, .. } | Action::Goto { target, .. }) =
                last(end).map(|step| &step.action)
            else {
                continue;
            };
            let found = segments.binary_search_by_key(target, |segment| segment.steps.start);
            // Not around another loop, nor half of it, so that every step is in one loop at most.
            let Some(first) = found.ok().filter(|first| (after..=end).contains(first)) else {
                continue;
            };
            after = end + 1;
            let own = segments.get(first..=end).unwrap_or(&[]);
            let (Some(a), Some(z)) = (own.first(), own.last()) else {
                continue;
            };
            let steps = a.steps.start..z.steps.end;
            if steps.len() > MOST_STEPS {
                continue;
            }
            let follow_each_other = own.is_sorted_by(|a, b| a.steps.end == b.steps.start)
                && (first..end).all(|segment| {
                    last(segment).is_some_and(|step| {
                        step.predicate.is_some()
                            || !matches!(step.action, Action::Jump { .. } | Action::Goto { .. })
                    })
                });
            let all = self.code.steps.get(steps.clone()).unwrap_or(&[]);
            let sets_mode = |action: &Action| matches!(action, Action::UpdateMode(_));
            if follow_each_other
                && all.iter().filter(|step| is_of_lanes(step)).count() * STEPS_OF_MESSAGES
                    <= steps.len()
                && !all.iter().any(|step| sets_mode(&step.action))
            {
                loops.push(Loop {
                    starts: own.iter().map(|segment| segment.steps.start).collect(),
                    steps,
                    cost: own.iter().map(|segment| segment.cost).sum(),
                    usual_mode: own.iter().any(|segment| segment.usual_mode),
                });
            }
        }
        loops
    }

    fn write_loop(&mut self, one: &Loop, version: usize) {
        if let Some(label) = self.write_turns(one, version) {
            self.loops.insert((one.steps.start, version), label);
        }
    }

    /// Writes a version of a loop, for one thread or two. Where it begins, if it is of use.
    pub(crate) fn write_turns(&mut self, one: &Loop, version: usize) -> Option<Label> {
        let mark = self.writer.asm.mark();
        self.writer.accesses = Some(Vec::new());
        let trial = self.turn(one, version, &[], &Kept::default());
        let mut accesses = self.writer.accesses.take().unwrap_or_default();
        let instructions = self.writer.asm.instructions_since(mark);
        self.take_back(mark);
        let mut end = trial?;
        let most = MOST_INSTRUCTIONS * one.steps.len() * if self.is_for_pairs() { 2 } else { 1 };
        if self.failed || instructions > most {
            return None;
        }
        self.products.read(0, &mut accesses);
        if let Some(second) = self.writer.second() {
            self.products.read(second, &mut accesses);
        }
        let mut carried = self.writer.wanted(&accesses);
        let label = self.writer.asm.label();
        // Once more, if registers are not enough for all that would be carried.
        for last in [false, true] {
            if carried.is_empty() {
                return None;
            }
            let (start, full) = (one.steps.start, version == 0);
            self.writer.asm.note(Note::Loop { start, full });
            self.writer.asm.place(label);
            self.begin_loop(one, version);
            let Some(own) = self.turn(one, version, &carried, &end) else {
                self.take_back(mark);
                return None;
            };
            let wanted = carried.len();
            carried.retain(|carried| own.contents.contains(&Some(carried.content)));
            if last || carried.len() == wanted {
                self.detours();
                self.leave_by_exits();
                self.writer.remove_stores();
                return Some(label);
            }
            end = own;
            self.take_back(mark);
        }
        None
    }

    /// Before a loop for one thread: whether another one may run side by side with it, and the float mode.
    fn begin_loop(&mut self, one: &Loop, version: usize) {
        if self.writer.pair.is_some() {
            return;
        }
        if let Some(pair) = self
            .pair
            .as_ref()
            .filter(|pair| pair.header == one.steps.start)
        {
            let asm = &mut self.writer.asm;
            asm.cmp_memory(Width::Qword, field(fields::COMPANION), 0);
            asm.jump_if(Condition::NotEqual, pair.attempt);
            let [all, some] = pair.alone;
            asm.place(if version == 0 { all } else { some });
        }
        self.check_mode(one, version);
    }

    /// Removes a turn that was written after a mark.
    pub(crate) fn take_back(&mut self, mark: usize) {
        self.writer.asm.back(mark);
        self.writer.stores.clear();
        self.writer.detours.clear();
        self.exits.clear();
    }

    /// Goes to the code of the first segment in float modes other than the usual one, if they matter.
    fn check_mode(&mut self, one: &Loop, version: usize) {
        if one.usual_mode
            && let Some(segment) = self.segments.get(&one.steps.start)
        {
            let otherwise = segment.label(version);
            let mode = field(fields::MODE);
            let asm = &mut self.writer.asm;
            asm.cmp_memory(Width::Dword, mode, fields::USUAL);
            asm.jump_if(Condition::NotEqual, otherwise);
        }
    }

    /// Loads operands, and writes a turn of a loop. What registers hold at its end; `None` if it does not come to it.
    fn turn(
        &mut self,
        one: &Loop,
        version: usize,
        carried: &[Carried],
        end: &Kept,
    ) -> Option<Kept> {
        self.apart = match version {
            0 => apart(self.code, self.writer.full, one.steps.clone()),
            _ => HashMap::new(),
        };
        self.writer.kept = Kept::default();
        self.writer.form = Form::Usual;
        self.writer.enter(carried, end).ok()?;
        self.check_scaled(carried, one.steps.start, version);
        let again = self.writer.asm.label();
        self.turn = Some(Turn {
            header: one.steps.start,
            again,
            start: self.writer.kept.clone(),
            links: Vec::new(),
            end: None,
        });
        self.writer.asm.place(again);
        let unaffordable = self.exit(one.steps.start, Counts::default(), Way::Leave);
        let asm = &mut self.writer.asm;
        asm.cmp(LEFT, one.cost);
        asm.jump_if(Condition::Below, unaffordable);
        match (self.writer.pair, version) {
            (Some(_), _) => self.writer.takes(Path::Pair),
            (None, 0) => self.writer.takes(Path::Loop),
            (None, _) => self.writer.takes(Path::LoopSome),
        }
        if !self.products.is_empty() {
            self.writer.takes(Path::Scaled);
        }
        let mut counts = Counts::default();
        let mut starts = one.starts.iter().copied().peekable();
        while let Some(start) = starts.next() {
            let end = starts.peek().copied().unwrap_or(one.steps.end);
            self.run_of_steps(start..end, version, &mut counts);
        }
        let goes_on = self.goes_on(one.steps.end - 1);
        if goes_on {
            self.count(counts);
            self.go(one.steps.end, version);
        }
        self.writer.kept = Kept::default();
        let turn = self.turn.take()?;
        // What the file has at the start of a turn, it has from the end of the one before.
        for (start, end) in turn.links {
            self.writer.link(start, end);
        }
        turn.end
    }

    /// Whether the step after this one can follow it.
    fn goes_on(&self, place: usize) -> bool {
        let step = self.code.steps.get(place);
        step.is_none_or(|step| {
            step.predicate.is_some() || !matches!(step.action, Action::Jump { .. })
        })
    }

    /// Inside of a loop: goes to its start, or out of it to the code of a segment. Whether that is so.
    pub(crate) fn go_from_turn(&mut self, step: usize, version: usize) -> bool {
        let Some(mut turn) = self.turn.take() else {
            return false;
        };
        if step != turn.header {
            self.turn = Some(turn);
            let label = self.exit(step, Counts::default(), Way::Go(version));
            if let Some(mut exit) = self.exits.pop() {
                exit.pending.retain(|one| self.is_live(step, &one.bytes));
                self.exits.push(exit);
            }
            self.writer.asm.jump(label);
            return true;
        }
        let own = self.writer.kept.clone();
        turn.end = Some(own.clone());
        for pending in &own.pending {
            let mut start = turn.start.pending.iter();
            match start.find(|start| start.bytes == pending.bytes) {
                Some(start) if start.store == pending.store => {}
                Some(start) => turn.links.push((start.store, pending.store)),
                None => {
                    if self.is_live(step, &pending.bytes) {
                        self.writer.need_bytes(&pending.bytes);
                    }
                }
            }
        }
        if self.writer.move_to(&turn.start).is_err() {
            self.writer.asm.give_up();
        }
        self.writer.asm.jump(turn.again);
        // The steps after a conditional jump find registers as they were.
        self.writer.kept = own;
        self.turn = Some(turn);
        true
    }
}

impl Writer {
    /// What a turn reads from the register file before it writes it, as far as there are registers for it.
    fn wanted(&self, accesses: &[Access]) -> Vec<Carried> {
        let mut found: Vec<(Carried, usize)> = Vec::new();
        let overlaps = |content: &Content, accesses: &[Access]| {
            let place = content.place().unwrap_or(0..0);
            accesses.iter().any(|access| match access {
                Access::Write(bytes) => meet(bytes, &place),
                Access::Read(..) => false,
            })
        };
        for (number, access) in accesses.iter().enumerate() {
            let Access::Read(content, registers) = access else {
                continue;
            };
            let short = *registers < 32;
            if let Some((_, reads)) = found.iter_mut().find(|(one, _)| one.content == *content) {
                *reads += 1;
                continue;
            }
            let (before, after) = accesses.split_at(number);
            let changes = overlaps(content, after);
            let is_whole = !matches!(content, Content::Each { .. } | Content::Running { .. });
            if !overlaps(content, before) && (is_whole || !changes) {
                let one = Carried {
                    content: *content,
                    short,
                    changes,
                };
                found.push((one, 1));
            }
        }
        found.sort_by_key(|(one, reads)| (!one.changes, std::cmp::Reverse(*reads)));
        let mut short = 16 - KEPT as usize - FOR_SHORT;
        let mut long = match self.features {
            Features::Avx512 => 32 - KEPT as usize - FOR_STEPS,
            Features::Avx2 => short,
        };
        let mut all: Vec<Carried> = found.into_iter().map(|(one, _)| one).collect();
        all.retain(|one| {
            let room = if one.short { &mut short } else { &mut long };
            let fits = *room != 0;
            *room -= usize::from(fits);
            fits
        });
        all
    }

    /// Loads operands before the first turn of a loop.
    fn enter(&mut self, carried: &[Carried], end: &Kept) -> Done {
        let (mut short, mut long) = (KEPT, 31);
        for one in carried {
            let n = match one.short {
                true => &mut short,
                false => &mut long,
            };
            let register = *n;
            *n = if one.short { *n + 1 } else { *n - 1 };
            self.load_kept(register, one.content)?;
            self.set(register, Some(one.content));
            self.kept.held |= 1 << register;
            if let (true, Content::Bytes { offset, bytes }) = (one.changes, one.content) {
                let holder = Holder::Vector(register);
                self.wait_for_store(holder, offset..offset + bytes, Vec::new());
            }
        }
        self.load_lanes(end)
    }

    /// Loads what a register is to hold, from the file or from another register.
    pub(crate) fn load_kept(&mut self, n: u32, content: Content) -> Done {
        match content {
            Content::Bytes { offset, bytes } => {
                let from = self.file(offset, bytes)?;
                self.load_bytes(n, from, bytes)
            }
            Content::Scaled(scaled) => self.load_scaled(n, scaled),
            Content::Each { bytes, zmm, .. } => {
                let c = Chunks {
                    lane: bytes,
                    lanes: if zmm { 64 } else { 32 } / bytes,
                    count: 1,
                    zmm,
                };
                self.load_content(c, n, content)
            }
            Content::Running { lane, first } => {
                let c = Chunks::new(self.features, lane, 32 / lane);
                self.spread(c, first / c.lanes, RUNNING, n);
                Ok(())
            }
        }
    }

    /// Brings into registers what they hold at the start of a turn.
    fn move_to(&mut self, start: &Kept) -> Done {
        let whole = Chunks {
            lane: 4,
            lanes: 16,
            count: 1,
            zmm: self.features == Features::Avx512,
        };
        let mut moves = Vec::new();
        let mut loads = Vec::new();
        for (to, content) in (0..).zip(start.contents) {
            let Some(content) = content else {
                continue;
            };
            let held = |n: &u32| self.kept.contents.get(*n as usize) == Some(&Some(content));
            match Some(to).filter(held).or_else(|| (0..32).find(held)) {
                Some(from) => {
                    self.uses(from);
                    if from != to {
                        moves.push((from, to));
                    }
                }
                None => loads.push((to, content)),
            }
        }
        while let Some(last) = moves.last().copied() {
            let free = |(_, to): &(u32, u32)| moves.iter().all(|(from, _)| from != to);
            let next = match moves.iter().position(free) {
                Some(next) => moves.remove(next),
                None => {
                    // A circle: one of its values waits in a register that is not kept.
                    let (from, _) = last;
                    for one in moves.iter_mut().filter(|one| one.0 == from) {
                        one.0 = 0;
                    }
                    (from, 0)
                }
            };
            self.v2(whole, ops::MOVE, next.1, whole.register(next.0));
        }
        for (to, content) in loads {
            // Not from registers, which hold other things now.
            self.kept.contents = [None; 32];
            self.load_kept(to, content)?;
        }
        self.load_lanes(start)
    }

    /// Brings running lanes into mask registers, and predicates into registers.
    fn load_lanes(&mut self, like: &Kept) -> Done {
        for (place, flag) in like.flags.into_iter().enumerate() {
            if let Some(offset) = flag
                && !self.local_flags.contains(&offset)
                && self.kept.flags.get(place) != Some(&flag)
            {
                let word = self.file(offset, 4)?;
                self.keep_flag(place, offset, word);
            }
        }
        self.load_masks(&like.masks);
        Ok(())
    }

    /// Brings running lanes into mask registers, except where they are.
    fn load_masks(&mut self, masks: &Masks) {
        for (place, mask) in masks.iter().enumerate() {
            if let (Some((lanes, chunk)), Some(own)) = (*mask, self.kept.masks.get_mut(place))
                && *own != *mask
            {
                *own = *mask;
                let c = Chunks {
                    lane: 4,
                    lanes,
                    count: 1,
                    zmm: false,
                };
                self.lanes_of(c, chunk, RUNNING, mask_register(place));
            }
        }
    }

    /// Brings the running lanes, which have changed, into the registers that hold them.
    pub(crate) fn load_running(&mut self, kept: &Kept) {
        for (n, content) in (0..).zip(kept.contents) {
            if let Some(content @ Content::Running { .. }) = content {
                // It is not in the file, so that there is none without a template.
                if self.load_kept(n, content).is_err() {
                    self.asm.give_up();
                }
            }
        }
        self.kept.masks = [None; 4];
        self.load_masks(&kept.masks);
    }

    /// The values of the first store are those of the second one, a turn later.
    fn link(&mut self, first: usize, second: usize) {
        if self.stores.get(first).is_some_and(Stores::is_needed)
            && let Some(second) = self.stores.get_mut(second)
        {
            second.set_needed();
        }
    }
}
