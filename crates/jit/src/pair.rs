//! Two threads side by side in an innermost loop.
//!
//! Turns of a loop are a chain of instructions that wait for each other; two threads of a group are two chains, which the host
//! computes at the same time. A thread that comes to such a loop waits there until the next one comes to it, too. Then
//! both are like one thread of twice as many lanes: the low ones are those of the first thread, the others those of the
//! second, whose operands lie behind those of the first as far as what is known of registers is concerned. When all lanes
//! of one of them have left the loop, they part: the first goes on, and the second one waits where it is until it has its
//! turn.
//!
//! No step is run in another order that anybody could see: the second thread may only run instructions before its turn that
//! access nothing but its own registers ([`Compiler::quiet`] looks for code that does no more), and they are counted when it has
//! its turn.

use crate::count::Counts;
use crate::elementary::is_near;
use crate::exits::{TAKEN, Way};
use crate::flow::{Compiler, step_number};
use crate::follow::of_follower;
use crate::kept::Kept;
use crate::loops::Loop;
use crate::masks::flag_register;
use crate::pages::place::{self as fields, follower, pair as fields_of};
use crate::path::Path;
use crate::pending::Pending;
use crate::vector::{
    CONTEXT, Chunks, Done, FILE, LANE_OPERATIONS, LEFT, OTHER_FILE, RUNNING, Writer, field,
};
use crate::x64::{
    Condition, EAX, ECX, Label, Memory, Number, R12, R14D, RAX, RCX, RDI, Width, ops, ymm,
};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use visakit_exec::code::{
    Action, Combine, Compute, Flag, Lane, Operation, Region, Source, Step, Target,
};
use visakit_isa::DataType;

/// Lanes of a thread: those of two have bits in one word, and dwords of one are a whole vector.
const LANES: [u32; 2] = [8, 16];

/// The step at which threads begin.
const START: usize = 0;

/// Whether the operands of a computation are dwords, or numbers of the program, each in its place.
fn is_of_dwords(compute: &Compute) -> bool {
    let plain = |ty: DataType, float: bool| ty.size() == 4 && ty.is_float() == float;
    let float = compute.lane == Lane::F32;
    let used = compute.sources.iter().take(compute.operation.sources());
    let source = |source: &Source| match source.region {
        Region::Packed => plain(source.data_type, float),
        Region::Scalar => plain(source.data_type, float) || source.constant.is_some(),
        _ => false,
    };
    // These have code of their own, for one thread.
    let other = matches!(
        compute.operation,
        Operation::Convert(_) | Operation::IntegerToFloat
    );
    let to = &compute.destination;
    let written = match compute.sets {
        // Predicate variables have no other destination.
        Some(_) => true,
        None => {
            !matches!(compute.operation, Operation::Compare(_))
                && to.target == Target::Packed
                && plain(to.data_type, float)
        }
    };
    matches!(compute.lane, Lane::U32 | Lane::I32 | Lane::F32)
        && !is_near(compute.operation)
        && !other
        && compute.second.is_none()
        && used.into_iter().all(source)
        && written
}

/// The loop of a program in which two threads may run side by side.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) header: usize,
    /// Where a thread begins that may come to it before its turn.
    pub(crate) start: usize,
    /// Code for such a thread, by first steps and versions of segments.
    segments: HashMap<(usize, usize), Label>,
    /// A thread comes to the loop, and the next one may.
    pub(crate) attempt: Label,
    /// The next one has come there.
    begin: Label,
    give_up: Label,
    split: Label,
    /// The loop for one thread, for full masks and for others, after the look for another thread.
    pub(crate) alone: [Label; 2],
}

impl Pair {
    /// Where the next thread begins.
    pub(crate) fn companion(&self) -> Option<Label> {
        self.segments.get(&(self.start, 0)).copied()
    }
}

/// Whether a step accesses nothing but registers, and machine code needs the host for it at most where lanes diverge.
fn is_quiet(action: &Action) -> bool {
    match action {
        Action::Compute(compute) => !is_near(compute.operation),
        Action::Join
        | Action::Nothing
        | Action::Jump { .. }
        | Action::Goto { .. }
        | Action::UpdateMode(_) => true,
        _ => false,
    }
}

impl Compiler<'_> {
    /// Writes a loop for two threads, and how they come to it. What is needed to look for another thread before it; `None`
    /// if it cannot run that way.
    pub(crate) fn write_pair(&mut self, one: &Loop) -> Option<Pair> {
        if !self.suits(one) {
            return None;
        }
        let quiet = self.quiet(START, one.steps.start)?;
        let asm = &mut self.writer.asm;
        let [attempt, begin, give_up, split, all, some] = [(); 6].map(|()| asm.label());
        let versions = quiet.iter().flat_map(|start| [(*start, 0), (*start, 1)]);
        let pair = Pair {
            header: one.steps.start,
            start: START,
            segments: versions.clone().map(|key| (key, asm.label())).collect(),
            attempt,
            begin,
            give_up,
            split,
            alone: [all, some],
        };
        let mark = asm.mark();
        self.failed = false;
        self.pair = Some(pair);
        self.writer.pair = Some(self.writer.full.count_ones());
        let both = self.write_turns(one, 1);
        self.writer.pair = None;
        let Some(both) = both.filter(|_| !self.failed) else {
            self.take_back(mark);
            self.pair = None;
            return None;
        };
        self.is_ahead = true;
        for (start, version) in versions {
            self.segment(start, version);
        }
        self.is_ahead = false;
        let pair = self.pair.take()?;
        if self.failed {
            self.take_back(mark);
            return None;
        }
        self.come_together(&pair, one.usual_mode, both);
        self.part_ways(&pair);
        Some(pair)
    }

    /// The segments that lead from the start of a thread to a loop, in which nothing but registers is accessed; others are
    /// left out, as if threads did not go there.
    pub(crate) fn quiet(&self, start: usize, header: usize) -> Option<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        let mut next = vec![start];
        let mut arrives = false;
        while let Some(start) = next.pop() {
            if start == header {
                arrives = true;
                continue;
            }
            let Some(segment) = self.segments.get(&start) else {
                continue;
            };
            let steps = self.code.steps.get(segment.steps.clone())?;
            if found.contains(&start) || !steps.iter().all(|step| is_quiet(&step.action)) {
                continue;
            }
            found.insert(start);
            if let Some(Action::Jump { target, .. } | Action::Goto { target, .. }) =
                steps.last().map(|step| &step.action)
            {
                next.push(*target);
            }
            next.push(segment.steps.end);
        }
        (arrives && found.contains(&start)).then_some(found)
    }

    /// Whether two threads may run side by side in a loop of the program, as far as that is known before it is written.
    pub(crate) fn may_pair(&self, loops: &[Loop]) -> bool {
        let mut loops = loops.iter();
        loops.any(|one| self.suits(one) && self.quiet(START, one.steps.start).is_some())
    }

    /// Whether lanes of two threads can share the steps of a loop: dwords in whole vectors, of which each thread has one, or
    /// numbers.
    fn suits(&self, one: &Loop) -> bool {
        let full = self.writer.full;
        let known = self.live.is_some_and(|live| !live.includes_end());
        let local = |flag: &Flag| {
            flag.first == 0
                && flag.combine == Combine::PerLane
                && self.writer.local_flags.contains(&(flag.offset as usize))
        };
        let steps = self.code.steps.get(one.steps.clone()).unwrap_or(&[]);
        let suits = |step: &Step| {
            let lanes = step.lanes;
            let all = lanes.first == 0 && lanes.window() == full && lanes.count > 1;
            match &step.action {
                Action::Compute(compute) => {
                    let flags = compute.flags.iter().take(compute.operation.flags());
                    let is_one = lanes.count == 1 && lanes.no_mask;
                    step.predicate.is_none()
                        && is_of_dwords(compute)
                        && (all || is_one && flags.len() == 0 && compute.sets.is_none())
                        && flags.chain(&compute.sets).all(local)
                }
                Action::Goto { target, .. } => {
                    all && *target >= one.steps.end && step.predicate.as_ref().is_some_and(local)
                }
                Action::Jump { target, .. } => {
                    *target == one.steps.start && step.predicate.is_none()
                }
                _ => false,
            }
        };
        let is_whole =
            LANES.contains(&full.count_ones()) && full.trailing_ones() == full.count_ones();
        known && !self.has_calls && is_whole && steps.iter().all(suits)
    }

    /// A thread comes to the loop; the next one runs until it comes there, too; both go on.
    fn come_together(&mut self, pair: &Pair, usual_mode: bool, both: Label) {
        let (load, store) = (ops::MOVE, ops::STORE);
        let full = self.writer.full;
        let half = full.count_ones();
        let asm = &mut self.writer.asm;
        // The first one. Where others of its lanes wait, it runs alone.
        asm.place(pair.attempt);
        asm.mov(RCX, field(fields::COMPANION));
        asm.store_number(field(fields::COMPANION), 0);
        let alone = asm.label();
        asm.cmp_memory(Width::Qword, field(fields::WAITING), -1);
        asm.jump_if(Condition::NotEqual, alone);
        asm.mov(RAX, field(fields::FOLLOWER));
        asm.store(field(fields_of::FILE), FILE);
        asm.store(field(fields_of::RUNNING), R12);
        asm.store(field(fields_of::LEFT), LEFT);
        let lanes = field(fields_of::LANE_OPERATIONS);
        asm.store(lanes, LANE_OPERATIONS);
        asm.v2(load, ymm(0), field(fields::STATE));
        asm.v2(store, field(fields_of::STATE), ymm(0));
        asm.v2(load, ymm(0), of_follower(follower::STATE));
        asm.v2(store, field(fields::STATE), ymm(0));
        asm.mov(FILE, of_follower(follower::FILE));
        asm.store(field(fields::FILE), FILE);
        asm.mov(R12, of_follower(follower::RUNNING));
        asm.store(field(fields::RUNNING), R12);
        asm.mov(RAX, field(fields::KNOWN_CR0));
        asm.store(field(fields_of::KNOWN_CR0), RAX);
        asm.store_number(field(fields::KNOWN_CR0), -1);
        let operations = R14D;
        asm.xor(operations, operations);
        self.writer.takes(Path::PairAhead);
        let asm = &mut self.writer.asm;
        asm.jump_to(RCX);
        // The second one.
        asm.place(pair.begin);
        let here = asm.label();
        asm.cmp_memory(Width::Qword, field(fields::WAITING), -1);
        asm.jump_if(Condition::NotEqual, here);
        if usual_mode {
            for mode in [fields::MODE, fields_of::MODE] {
                asm.cmp_memory(Width::Dword, field(mode), fields::USUAL);
                asm.jump_if(Condition::NotEqual, here);
            }
        }
        asm.v2(load, ymm(0), field(fields::STATE));
        asm.v2(store, field(fields_of::OTHER_STATE), ymm(0));
        let lanes = field(fields_of::OTHER_LANE_OPERATIONS);
        asm.store(lanes, LANE_OPERATIONS);
        asm.mov(RCX, field(fields_of::LEFT));
        asm.mov(RAX, RCX);
        asm.sub(RAX, LEFT);
        asm.store(field(fields_of::OTHER_USED), RAX);
        asm.store(field(fields_of::STARTED), RCX);
        asm.mov(LEFT, RCX);
        let lanes = field(fields_of::LANE_OPERATIONS);
        asm.mov(LANE_OPERATIONS, lanes);
        asm.mov(OTHER_FILE, FILE);
        asm.mov(FILE, field(fields_of::FILE));
        asm.shl(RUNNING, half);
        asm.or(RUNNING, field(fields_of::RUNNING));
        asm.jump(both);
        // It cannot go on.
        asm.place(here);
        let number = step_number(pair.header);
        asm.mov(EAX, number);
        asm.store(field(fields::PLACE), RAX);
        asm.place(pair.give_up);
        self.writer.takes(Path::PairGivesUp);
        self.call_for_pair(fields::GIVE_UP);
        let asm = &mut self.writer.asm;
        asm.mov(LEFT, field(fields::LEFT));
        asm.mov(LANE_OPERATIONS, field(fields::LANE_OPERATIONS));
        asm.place(alone);
        let [all, some] = pair.alone;
        asm.cmp(RUNNING, full);
        asm.jump_if(Condition::Equal, all);
        asm.jump(some);
    }

    /// Threads that run alone go to the code of segments, if there is no other code for the loop.
    pub(crate) fn go_on_alone(&mut self, start: usize) {
        let Some(pair) = self.pair.as_ref().filter(|pair| pair.header == start) else {
            return;
        };
        for (version, label) in pair.alone.into_iter().enumerate() {
            if let Some(segment) = self.segments.get(&start)
                && !self.loops.contains_key(&(start, version))
            {
                self.writer.asm.place(label);
                let asm = &mut self.writer.asm;
                asm.jump(segment.label(version));
            }
        }
    }

    /// Two threads part: at the place in the context those go on of which lanes run.
    fn part_ways(&mut self, pair: &Pair) {
        self.writer.asm.place(pair.split);
        self.writer.takes(Path::PairSplit);
        self.call_for_pair(fields::SPLIT);
        self.writer.asm.jump_to(RAX);
    }

    /// Calls a function that changes the thread.
    fn call_for_pair(&mut self, function: i64) {
        let asm = &mut self.writer.asm;
        asm.store(field(fields::LEFT), LEFT);
        asm.store(field(fields::LANE_OPERATIONS), LANE_OPERATIONS);
        asm.store(field(fields::RUNNING), R12);
        asm.mov(RDI, CONTEXT);
        asm.call(field(function));
        asm.mov(FILE, field(fields::FILE));
        asm.mov(R12, field(fields::RUNNING));
    }

    /// Before its turn a thread goes to a step: to the loop, to code of its own, or no further. Whether it is before its turn.
    pub(crate) fn go_ahead(&mut self, step: usize, version: usize) -> bool {
        let Some(pair) = self.pair.as_ref().filter(|_| self.is_ahead) else {
            return false;
        };
        let known = match step == pair.header {
            true => Some(pair.begin),
            false => pair.segments.get(&(step, version)).copied(),
        };
        match known {
            Some(label) => self.writer.asm.jump(label),
            None => self.wait_at(step),
        }
        true
    }

    /// The start of a segment, for a thread before its turn or in it.
    pub(crate) fn label_of(&self, start: usize, version: usize) -> Option<Label> {
        match self.pair.as_ref().filter(|_| self.is_ahead) {
            Some(pair) => pair.segments.get(&(start, version)).copied(),
            None => self
                .segments
                .get(&start)
                .map(|segment| segment.label(version)),
        }
    }

    /// Before its turn a thread waits at a step; of two threads that run side by side both go on there.
    fn wait_at(&mut self, step: usize) {
        let Some(pair) = &self.pair else {
            return;
        };
        let label = if self.is_ahead {
            pair.give_up
        } else {
            pair.split
        };
        let asm = &mut self.writer.asm;
        let number = step_number(step);
        asm.mov(EAX, number);
        asm.store(field(fields::PLACE), RAX);
        asm.jump(label);
    }

    /// Whether what is written is no code for one thread in its turn.
    pub(crate) const fn is_for_pairs(&self) -> bool {
        self.is_ahead || self.writer.pair.is_some()
    }

    /// A way out of such code, after its label. `kept` is what registers hold in the loop.
    pub(crate) fn leave_pair(
        &mut self,
        (place, way): (usize, Way),
        mut counts: Counts,
        pending: &[Pending],
        kept: Option<&Kept>,
    ) {
        match way {
            Way::Leave => {}
            Way::Branch(target, Some(stays)) if self.writer.pair.is_some() => {
                return self.leave_both((place, target), counts, pending, (stays, kept));
            }
            // The host would have to decide; the step is not run.
            Way::Branch(..) | Way::Jump(_) => counts = self.before_branch(place, counts),
            Way::Join => {}
            Way::Fault | Way::Go(_) => {
                self.failed = true;
                return;
            }
        }
        self.store_pending(pending);
        self.count(counts);
        self.wait_at(place);
    }

    /// Lanes of either thread leave the loop, and wait.
    fn leave_both(
        &mut self,
        (place, target): (usize, usize),
        counts: Counts,
        pending: &[Pending],
        (stays, kept): (Label, Option<&Kept>),
    ) {
        let half = self.writer.full.count_ones();
        let host = self.writer.asm.label();
        self.may_park(target, host);
        let live: Vec<_> = pending
            .iter()
            .filter(|one| self.is_live(target, &one.bytes))
            .cloned()
            .collect();
        self.store_pending(&live);
        self.count_both(TAKEN, counts.running, 0);
        self.park();
        let low = self.writer.full;
        let asm = &mut self.writer.asm;
        let apart = asm.label();
        asm.test(RUNNING, low);
        asm.jump_if(Condition::Equal, apart);
        asm.test(RUNNING, low << half);
        asm.jump_if(Condition::Equal, apart);
        if let Some(kept) = kept {
            self.writer.load_running(kept);
        }
        self.writer.asm.jump(stays);
        self.writer.asm.place(apart);
        self.store_pending(pending);
        self.count(counts);
        self.wait_at(place + 1);
        self.writer.asm.place(host);
        let before = self.before_branch(place, counts);
        self.store_pending(pending);
        self.count(before);
        self.wait_at(place);
    }

    /// What was counted before a branch, given what was counted after it. Its predicate is in the register file then, as such code
    /// has no comparisons that run as one with the branch after them.
    fn before_branch(&mut self, place: usize, counts: Counts) -> Counts {
        let step = self.code.steps.get(place).map(|step| &step.action);
        let (known, running) = match step {
            Some(Action::Jump { .. }) => (1, 0),
            // Where all lanes run, their number is counted.
            _ if counts.running == 0 => (self.writer.full.count_ones(), 0),
            _ => (0, 1),
        };
        let before = Counts {
            instructions: counts.instructions.wrapping_sub(1),
            lanes: counts.lanes.wrapping_sub(known),
            running: counts.running.wrapping_sub(running),
        };
        let fits = counts.instructions >= 1 && counts.lanes >= known && counts.running >= running;
        self.failed |= !fits;
        before
    }

    /// Counts this many instructions for the lanes of both threads in a register, and lanes of each. Clobbers `ecx`.
    pub(crate) fn count_both(&mut self, lanes: Number, instructions: u32, known: u32) {
        let Some(half) = self.writer.pair.filter(|_| instructions | known != 0) else {
            return;
        };
        let (ecx, rcx, low) = (ECX, RCX, self.writer.full);
        let asm = &mut self.writer.asm;
        for other in [false, true] {
            asm.mov(ecx, lanes);
            match other {
                false => asm.and(ecx, low),
                true => asm.shr(ecx, half),
            }
            asm.popcnt(ecx, ecx);
            asm.imul(ecx, ecx, instructions);
            if other {
                if known != 0 {
                    asm.add(ecx, known);
                }
                let to = field(fields_of::OTHER_LANE_OPERATIONS);
                asm.add_to(to, rcx);
            } else {
                let (base, known) = (LANE_OPERATIONS, known.into());
                let sum = Memory::at(base, known).indexed(rcx, Width::Byte);
                asm.lea(LANE_OPERATIONS, sum);
            }
        }
    }
}

/// Bytes of the register file of a thread, of which those of a second one begin at `second` if there is one.
pub(crate) fn own_bytes(bytes: &Range<usize>, second: Option<usize>) -> Range<usize> {
    let before = second.filter(|second| bytes.start >= *second).unwrap_or(0);
    bytes.start - before..bytes.end - before
}

impl Writer {
    /// Where the operands of a second thread begin, if there is one.
    pub(crate) fn second(&self) -> Option<usize> {
        self.pair.map(|_| self.file_bytes)
    }

    /// Lanes of both threads, given those of one.
    pub(crate) const fn lanes_of_both(&self, lanes: u32) -> u32 {
        match self.pair {
            Some(half) => lanes & u32::MAX >> (32 - half) | lanes << half,
            None => lanes,
        }
    }

    /// Vectors of a computation: for two threads one each.
    pub(crate) const fn vectors(&self, c: Chunks) -> usize {
        if self.pair.is_some() { 2 } else { c.count }
    }

    /// How much further than its own place a vector of the second thread lies.
    pub(crate) const fn distance_to(&self, c: Chunks, vector: usize) -> usize {
        match self.pair {
            Some(_) if vector != 0 => self.file_bytes - c.lanes * c.lane,
            _ => 0,
        }
    }

    /// The computation of a vector, and the number of the chunk of its sources.
    pub(crate) fn of_vector<'a>(
        &self,
        vector: usize,
        compute: &'a Compute,
    ) -> (usize, Cow<'a, Compute>) {
        if self.pair.is_none() || vector == 0 {
            return (vector, Cow::Borrowed(compute));
        }
        let mut other = compute.clone();
        for source in &mut other.sources {
            // Numbers of the program are the same.
            if !self.literals.contains_key(&source.offset) {
                source.offset += self.file_bytes;
            }
        }
        other.destination.offset += self.file_bytes;
        (0, Cow::Owned(other))
    }

    /// Stores the word of a predicate variable of the second thread, which is in the upper part of a register.
    pub(crate) fn store_other_flag(&mut self, offset: usize, place: usize) -> Done {
        if let Some(half) = self.pair {
            let to = self.place(offset + self.file_bytes, 4)?;
            let eax = EAX;
            self.asm.mov(eax, flag_register(place));
            self.asm.shr(eax, half);
            self.asm.store(to, eax);
        }
        Ok(())
    }
}
