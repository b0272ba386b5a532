//! Machine code for whole programs: segments of steps, in two versions, and the ways between them.
//!
//! A segment is a run of steps that is entered only at its first one. The version for full masks assumes that all lanes
//! of the program run; the other one works with the running lanes. When lanes diverge or join, the host determines
//! which of them continue. A segment that computes floats has further forms of each version, for float modes other than
//! the usual one (`mode.rs`).

use crate::Jit;
use crate::apart::apart;
use crate::compiled::Compiled;
use crate::count::Counts;
use crate::exits::{Exit, Way};
use crate::fused::{Branch, fused};
use crate::kept::Kept;
use crate::linear::Linear;
use crate::loops::Turn;
use crate::mode::Form;
use crate::origin::Origins;
use crate::pages::place as fields;
use crate::pair::{Pair, own_bytes};
use crate::path::Path;
use crate::predicates::local;
use crate::scaled::Products;
use crate::vector::{
    CONTEXT, Constants, FILE, LANE_OPERATIONS, LEFT, NoTemplate, RUNNING, SCRATCH, Writer, field,
};
use crate::x64::{
    Assembler, Condition, Label, Note, R12, R13, R14, R15, RBP, RBX, RDI, RSP, Width,
};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use visakit_exec::code::{Action, Code, Flag, Lane, Liveness, Modes, Operation, Step, Walk};

/// A run of steps.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) steps: Range<usize>,
    /// Instructions that run if it is not left before its end.
    pub(crate) cost: u32,
    /// Whether its results depend on the float mode.
    pub(crate) usual_mode: bool,
    /// Whether it may be entered in a mode that flushes denormals, too.
    flushes: bool,
    /// Whether it may well be entered in a mode that rounds to one side.
    rounds: bool,
    /// For full masks, and for others.
    labels: [Label; 2],
}

impl Segment {
    /// The start of a version: 0 for full masks.
    pub(crate) fn label(&self, version: usize) -> Label {
        let [full, other] = self.labels;
        if version == 0 { full } else { other }
    }
}

/// Whether machine code ends before this step.
fn leaves(action: &Action) -> bool {
    !(action.is_straight()
        || matches!(
            action,
            Action::Join
                | Action::Jump { .. }
                | Action::Goto { .. }
                | Action::ExecutionMask(_)
                | Action::UpdateMode(_)
                | Action::Count(_)
        ))
}

/// Whether the result of a step depends on the float mode.
fn depends_on_mode(step: &Step) -> bool {
    matches!(&step.action, Action::Compute(compute)
        if matches!(compute.lane, Lane::F32 | Lane::F64)
            || matches!(compute.operation, Operation::Convert(_) | Operation::IntegerToFloat))
}

/// The runs of steps that can be entered.
fn segments(code: &Code, modes: &[Modes], writer: &mut Writer) -> BTreeMap<usize, Segment> {
    let mut starts: BTreeSet<usize> = BTreeSet::new();
    starts.extend(code.blocks().iter().map(|b| b.steps.start));
    for (place, step) in code.steps.iter().enumerate() {
        if leaves(&step.action) {
            // One for the step itself, which is not an entry, and one for what follows.
            starts.extend([place, place + 1]);
        }
    }
    let mut segments = BTreeMap::new();
    let mut after = starts.iter().skip(1).copied();
    for start in starts.iter().copied() {
        let end = after.next().unwrap_or(code.steps.len());
        let steps = code.steps.get(start..end).unwrap_or(&[]);
        let cost = steps.iter().filter(|s| s.action.is_instruction()).count();
        if steps.is_empty() || steps.iter().any(|s| leaves(&s.action)) {
            continue;
        }
        let modes = modes.get(start).copied().unwrap_or_default();
        let segment = Segment {
            steps: start..end,
            cost: u32::try_from(cost).unwrap_or(u32::MAX),
            usual_mode: steps.iter().any(depends_on_mode),
            flushes: modes.may_flush(),
            rounds: modes.may_round(),
            labels: [writer.asm.label(), writer.asm.label()],
        };
        segments.insert(start, segment);
    }
    segments
}

/// Numbers that are part of the program, by their places.
fn literals(code: &Code) -> HashMap<usize, u64> {
    let constants = code.constants.iter();
    let known = constants.filter_map(|(at, bytes)| Some((*at, *bytes.first_chunk()?)));
    known
        .map(|(at, bytes)| (at, u64::from_le_bytes(bytes)))
        .collect()
}

/// The bits of predicate variables that steps use, by the places of their words, if nobody else looks at them.
fn flags(code: &Code, live: Option<&Liveness>) -> HashMap<usize, u32> {
    let mut bits = HashMap::new();
    if live.is_none_or(Liveness::includes_end) {
        return bits;
    }
    for step in &code.steps {
        let mut used: Vec<&Flag> = step.predicate.iter().collect();
        if let Action::Compute(compute) = &step.action {
            used.extend(&compute.sets);
            used.extend(&compute.flags);
            // Not the bits of its own lanes.
            if let (Operation::FlagToNumber(_), [flag, _]) = (&compute.operation, &compute.flags) {
                bits.insert(flag.offset as usize, u32::MAX);
            }
        }
        for flag in used {
            *bits.entry(flag.offset as usize).or_default() |= flag.lanes() | flag.read_bits();
        }
    }
    bits
}

/// Whether bytes may be read after lanes have jumped to a step, or go on with it.
fn is_live_at(live: &Liveness, step: usize, bytes: &Range<usize>) -> bool {
    let there = live.at(step).is_none_or(|there| there.any(bytes));
    there || live.anywhere().any(bytes)
}

/// All lanes of the program, by the widest step.
fn full_mask(code: &Code) -> u32 {
    let lanes = code.steps.iter().map(|s| s.lanes.first + s.lanes.count);
    u32::MAX >> (32 - lanes.max().unwrap_or(1).clamp(1, 32))
}

pub(crate) struct Compiler<'c> {
    pub(crate) code: &'c Code,
    /// What must be in the register file; everything if it is not known.
    pub(crate) live: Option<&'c Liveness>,
    /// The last walk through what is live, and the segment that it is of.
    walk: Option<(usize, Walk)>,
    /// Comparisons that run as one with the branch after them.
    fused: HashMap<usize, Branch>,
    /// The float modes that steps may well be reached in.
    modes: Vec<Modes>,
    /// Messages of the segment whose addresses differ by something uniform.
    pub(crate) apart: HashMap<usize, u32>,
    pub(crate) writer: Writer,
    /// Ways out of what is being written.
    pub(crate) exits: Vec<Exit>,
    pub(crate) segments: BTreeMap<usize, Segment>,
    /// Starts of loops that keep operands in registers, by their first step and version.
    pub(crate) loops: HashMap<(usize, usize), Label>,
    /// Where vectors come from, once somebody asks.
    pub(crate) origins: OnceCell<Origins>,
    /// What is known of addresses in the form of the segment that is being written.
    pub(crate) linear: Option<Linear>,
    /// The turn of a loop that is being written.
    pub(crate) turn: Option<Turn>,
    /// Products of the loop that is being written.
    pub(crate) products: Products,
    /// The loop in which two threads may run side by side.
    pub(crate) pair: Option<Pair>,
    /// Whether there may be one.
    pub(crate) may_pair: bool,
    /// Whether code for a thread before its turn is written.
    pub(crate) is_ahead: bool,
    /// Whether there is no such code, nor code for two threads.
    pub(crate) failed: bool,
    pub(crate) end: Label,
    /// Whether there are subroutines or functions, so that not every return ends the thread.
    pub(crate) has_calls: bool,
    /// Where a thread ends that another one follows.
    pub(crate) next: Label,
    pub(crate) calls: BTreeSet<usize>,
}

/// The number of a step in machine code, where it is an immediate. [`compile`] refuses programs that have more steps.
pub(crate) fn step_number(step: usize) -> u32 {
    u32::try_from(step).unwrap_or(u32::MAX)
}

/// Compiles a program. `None` if nothing of it can be compiled.
pub(crate) fn compile(code: &Code, live: Option<&Liveness>, jit: Jit) -> Option<Compiled> {
    recorded(code, live, jit)?.complete()
}

/// Records the instructions of a program.
pub(crate) fn recorded<'c>(
    code: &'c Code,
    live: Option<&'c Liveness>,
    jit: Jit,
) -> Option<Compiler<'c>> {
    // Steps are numbered by immediates.
    i32::try_from(code.steps.len()).ok()?;
    let mut writer = Writer {
        asm: Assembler::default(),
        features: jit.features,
        traced: jit.traced,
        file_bytes: code.register_bytes,
        full: full_mask(code),
        constants: Constants::default(),
        literals: literals(code),
        flags: flags(code, live),
        local_flags: HashSet::new(),
        kept: Kept::default(),
        detours: Vec::new(),
        scratch: SCRATCH,
        form: Form::Usual,
        beyond: None,
        stores: Vec::new(),
        loads: Vec::new(),
        certain: true,
        accesses: None,
        role: None,
        pair: None,
        branch: None,
        outcome: None,
    };
    let modes = code.modes();
    let segments = segments(code, &modes, &mut writer);
    if segments.is_empty() {
        return None;
    }
    if live.is_some_and(|live| !live.includes_end()) {
        writer.local_flags = local(code, &segments);
    }
    let [end, next] = [(); 2].map(|()| writer.asm.label());
    let mut compiler = Compiler {
        code,
        live,
        walk: None,
        fused: fused(code, live),
        modes,
        apart: HashMap::new(),
        writer,
        exits: Vec::new(),
        segments,
        loops: HashMap::new(),
        origins: OnceCell::new(),
        linear: None,
        turn: None,
        products: Products::default(),
        pair: None,
        may_pair: false,
        is_ahead: false,
        failed: false,
        end,
        has_calls: code.steps.iter().any(|step| {
            let action = &step.action;
            matches!(action, Action::Call { .. } | Action::CallAddress { .. })
        }),
        next,
        calls: BTreeSet::new(),
    };
    compiler.enter_and_leave();
    compiler.loops();
    compiler.go_on_with_follower();
    let starts: Vec<usize> = compiler.segments.keys().copied().collect();
    for start in &starts {
        for version in [0, 1] {
            compiler.segment(*start, version);
        }
    }
    Some(compiler)
}

impl Compiler<'_> {
    /// The way in, at the start of the code, and the way out.
    fn enter_and_leave(&mut self) {
        let asm = &mut self.writer.asm;
        asm.note(Note::Entry);
        let saved = [RBX, RBP, R12, R13, R14, R15];
        for register in saved {
            asm.push(register);
        }
        // Calls want the stack in lines of 16 bytes.
        asm.sub(RSP, 8);
        asm.mov(CONTEXT, RDI);
        asm.mov(FILE, field(fields::FILE));
        asm.mov(RBP, field(fields::CONSTANTS));
        asm.mov(R12, field(fields::RUNNING));
        asm.mov(LEFT, field(fields::LEFT));
        asm.mov(LANE_OPERATIONS, field(fields::LANE_OPERATIONS));
        asm.jump_to(field(fields::TARGET));
        asm.place(self.end);
        asm.store(field(fields::LEFT), LEFT);
        asm.store(field(fields::LANE_OPERATIONS), LANE_OPERATIONS);
        asm.clear_upper();
        asm.add(RSP, 8);
        for register in saved.into_iter().rev() {
            asm.pop(register);
        }
        asm.ret();
    }

    pub(crate) fn segment(&mut self, start: usize, version: usize) {
        let Some(segment) = self.segments.get(&start) else {
            return;
        };
        let (steps, cost) = (segment.steps.clone(), segment.cost);
        let usual_mode = segment.usual_mode;
        let forms = [
            (segment.flushes, Form::Flushing, fields::FLUSHING),
            (segment.rounds, Form::Directed, fields::DIRECTED),
        ];
        self.apart = match version {
            0 => apart(self.code, self.writer.full, steps.clone()),
            _ => HashMap::new(),
        };
        let Some(label) = self.label_of(start, version) else {
            return;
        };
        let full = version == 0;
        self.writer.asm.note(Note::Segment { start, full });
        self.writer.asm.place(label);
        self.writer.forget();
        let unaffordable = self.exit(start, Counts::default(), Way::Leave);
        self.writer.asm.cmp(LEFT, cost);
        self.writer.asm.jump_if(Condition::Below, unaffordable);
        if usual_mode {
            let mut others = forms.into_iter().filter(|(exists, ..)| *exists);
            let mut form = Some((true, Form::Usual, fields::USUAL));
            while let Some((_, of, number)) = form {
                form = others.next();
                let other = match form {
                    Some(_) => self.writer.asm.label(),
                    None => unaffordable,
                };
                let mode = field(fields::MODE);
                self.writer.asm.cmp_memory(Width::Dword, mode, number);
                self.writer.asm.jump_if(Condition::NotEqual, other);
                self.writer.form = of;
                match of {
                    Form::Usual => {}
                    Form::Flushing => {
                        self.writer.asm.note(Note::Form("flushing denormals"));
                        self.writer.takes(Path::Flushing);
                    }
                    Form::Directed => {
                        self.writer
                            .asm
                            .note(Note::Form("rounding as the mode says"));
                        self.writer.takes(Path::Directed);
                        self.round_as_mode();
                    }
                }
                if of == Form::Usual {
                    self.forms_of_addresses(&steps, version);
                }
                self.steps(steps.clone(), version);
                self.detours();
                self.writer.form = Form::Usual;
                if form.is_some() {
                    self.writer.asm.place(other);
                    self.writer.forget();
                }
            }
        } else {
            self.forms_of_addresses(&steps, version);
            self.steps(steps, version);
            self.detours();
        }
        self.leave_by_exits();
        self.writer.remove_stores();
        self.writer.form = Form::Usual;
    }

    /// The form of a segment for addresses that grow by the same number from lane to lane; goes on where they do not.
    fn forms_of_addresses(&mut self, steps: &Range<usize>, version: usize) {
        if version != 0 {
            return;
        }
        let Some(plan) = self.find_linear(steps.clone()) else {
            return;
        };
        let otherwise = self.writer.asm.label();
        self.writer
            .asm
            .note(Note::Form("addresses that follow each other"));
        if self.writer.check_roots(&plan, otherwise).is_err() {
            self.writer.asm.give_up();
        }
        self.linear = Some(plan);
        self.steps(steps.clone(), version);
        self.detours();
        self.linear = None;
        self.writer.asm.note(Note::Form("any addresses"));
        self.writer.asm.place(otherwise);
        self.writer.forget();
    }

    /// The steps of a segment, and the way to the next one.
    fn steps(&mut self, steps: Range<usize>, version: usize) {
        let mut counts = Counts::default();
        let walk = self.run_of_steps(steps.clone(), version, &mut counts);
        self.writer.asm.note(Note::End);
        self.count(counts);
        // The rest of a block is not a place that others jump to.
        if let Some(walk) = &walk
            && self.live.is_some_and(|live| live.at(steps.end).is_none())
        {
            self.writer.need_live(|bytes| walk.live().any(bytes));
            self.writer.kept.pending.clear();
        }
        self.go(steps.end, version);
        self.writer.kept.pending.clear();
    }

    /// Follows what is live from the start of a segment, of which each form and version asks for it.
    fn walk(&mut self, start: usize) -> Option<Walk> {
        let live = self.live?;
        match &self.walk {
            Some((place, walk)) if *place == start => Some(walk.clone()),
            _ => {
                let walk = live.walk(self.code, start)?;
                self.walk = Some((start, walk.clone()));
                Some(walk)
            }
        }
    }

    /// Steps of one block. What is live after them, if that is known.
    pub(crate) fn run_of_steps(
        &mut self,
        steps: Range<usize>,
        version: usize,
        counts: &mut Counts,
    ) -> Option<Walk> {
        let code = self.code;
        let mut walk = self.walk(steps.start);
        let end = steps.end;
        for place in steps {
            let Some(step) = code.steps.get(place) else {
                continue;
            };
            self.writer.asm.note(Note::Step(place));
            self.keep_numbers(place);
            let branch = self.fused.get(&place).copied();
            self.writer.role = self.products.role(place);
            let fuses = place + 1 < end && !self.is_for_pairs();
            self.writer.branch = branch.filter(|_| fuses);
            let plan = self.linear.as_ref();
            if plan.is_some_and(|plan| plan.deferred.contains(&place)) {
                self.defer(step, counts);
            } else {
                self.step(place, step, version == 0, counts);
            }
            if let Some(walk) = &mut walk {
                walk.go(place + 1);
                self.writer.retire(|bytes| walk.live().any(bytes));
            }
        }
        walk
    }

    /// Whether bytes, of either thread if there are two, may be read after lanes have jumped to a step, or go on with it.
    pub(crate) fn is_live(&self, step: usize, bytes: &Range<usize>) -> bool {
        let bytes = own_bytes(bytes, self.writer.second());
        self.live.is_none_or(|live| is_live_at(live, step, &bytes))
    }

    /// Goes to a step: in machine code if it is the start of a segment.
    pub(crate) fn go(&mut self, step: usize, version: usize) {
        if self.go_from_turn(step, version) {
            return;
        }
        if let Some(live) = self.live {
            let live = |bytes: &Range<usize>| is_live_at(live, step, bytes);
            self.writer.need_live(live);
        } else {
            self.writer.need_all();
        }
        if self.go_ahead(step, version) {
            return;
        }
        match self.segments.get(&step) {
            Some(segment) => {
                let inner = self.loops.get(&(step, version)).copied();
                let label = inner.unwrap_or(segment.label(version));
                self.writer.asm.jump(label);
            }
            None => {
                self.follow(step, version);
                self.leave(step);
            }
        }
    }

    fn step(&mut self, place: usize, step: &Step, full: bool, counts: &mut Counts) {
        match &step.action {
            // Where all lanes run, none waits.
            Action::Join if full => {}
            Action::Join => {
                let label = self.exit(place, *counts, Way::Join);
                self.meet(place, Condition::Equal, label);
            }
            Action::Nothing => {
                // The interpreter counts one lane.
                counts.instructions += 1;
                counts.lanes += 1;
            }
            Action::ExecutionMask(offset) => match self.writer.file(*offset, 4) {
                Ok(word) => {
                    self.writer.asm.store(word, RUNNING);
                    self.writer.overwritten(*offset, 4);
                }
                Err(NoTemplate) => {
                    let label = self.exit(place, *counts, Way::Leave);
                    self.writer.asm.jump(label);
                }
            },
            Action::UpdateMode(offset) => {
                let label = self.exit(place, *counts, Way::Leave);
                let modes = self.modes.get(place).copied().unwrap_or(Modes::ANY);
                self.update_mode(*offset, modes, label);
                self.writer.takes(Path::ModeWritten);
            }
            Action::Count(count) => {
                let (lanes, window) = (step.lanes, step.lanes.window());
                let enabled =
                    lanes.no_mask || full && (self.writer.full >> lanes.first) & window == window;
                let all = step.predicate.is_none() && enabled;
                if self.writer.tally(step, count, all).is_err() {
                    let label = self.exit(place, *counts, Way::Leave);
                    self.writer.asm.jump(label);
                }
            }
            Action::Compute(_) | Action::Message(_) | Action::Systolic(_) => {
                self.work(place, step, full, counts);
            }
            &Action::Jump { target, inverted } => {
                let before = *counts;
                counts.instructions += 1;
                counts.lanes += 1;
                self.jump(place, step, full, target, inverted, before, *counts);
            }
            &Action::Goto { target, inverted } => {
                self.goto(place, step, full, target, inverted, counts);
            }
            _ => {}
        }
    }
}
