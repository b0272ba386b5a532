//! The observer that checks.

use crate::definedness::{self, follow, undefined_lanes};
use crate::finding::{Checks, Finding, Item, Kind, Other, Place, Space, Target};
use crate::listing::{Fence, Listing};
use crate::objects::{Known, Objects};
use crate::race::{Cells, Order};
use crate::shadow::{OriginId, Pages, Shadow};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::ops::Range;
use std::sync::Arc;
use visakit_exec::code::{Action, Code, Compute, MessageOperands, Region, Scalar, Step};
use visakit_exec::{InstructionEvent, MemoryAccess, Observer};
use visakit_isa::Op;
use visakit_isa::object::RoutineId;

/// What a step is to the checks.
#[derive(Debug)]
enum Role {
    Nothing,
    Compute {
        compute: Arc<Compute>,
        /// Parts of the register file that are read, if addresses do not tell.
        reads: Option<Vec<(usize, usize)>>,
        /// Variables that an address operand may mean are taken from these sources.
        address: bool,
        indirect: bool,
    },
    Message {
        operands: Box<MessageOperands>,
        /// What is loaded is told access by access.
        by_access: bool,
    },
    /// Registers that are written whatever was there.
    Writes(Range<usize>),
    Fence(Fence),
    Barrier {
        signals: bool,
        waits: bool,
    },
    /// A signal to a named barrier, else a wait.
    Named(Option<Scalar>, bool),
    Branch,
}

#[derive(Debug)]
struct StepInfo {
    role: Role,
    no_mask: bool,
    lanes: usize,
    first: u8,
}

/// What is known of a thread.
#[derive(Debug)]
struct Thread {
    live: u32,
    shadow: Shadow,
    scratch: Pages,
    /// For elements of address variables: the variable that they point into, by its number.
    points_at: HashMap<usize, usize>,
    /// Barriers that it came to, and that it has left.
    signals: u64,
    waits: u64,
    pending: Option<u64>,
    time: u32,
}

/// Where undefined bits come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Origin {
    /// A register that was never written.
    Register,
    /// Memory that was never written, read by this step.
    Memory(Space, u32, Option<usize>),
    /// Bytes past the end of an object, read by this step.
    Outside(u32, usize, i64, u32),
}

/// What one finding stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Cause {
    kind: Kind,
    step: u32,
    other: u32,
    object: usize,
    detail: u8,
}

/// No step or object.
const NONE: u32 = u32::MAX;

/// Watches a launch and collects what is wrong.
#[derive(Debug)]
pub(crate) struct Checker {
    checks: Checks,
    code: Code,
    steps: Vec<StepInfo>,
    names: Vec<(RoutineId, String)>,
    listing: Listing,
    objects: Objects,
    template: Shadow,
    /// Variables whose address is taken: their places with exact sizes, and names.
    addressed: Vec<(Range<usize>, String)>,
    variables: Vec<(Range<usize>, String)>,
    ids: Ids,
    group: ([u32; 3], [u32; 3]),
    number: u32,
    threads: Vec<Option<Thread>>,
    local: Pages,
    flat: Pages,
    local_cells: Cells,
    flat_cells: Cells,
    order: Order,
    /// The barrier that threads come to, and the first of them.
    barrier: Option<(u64, u32, u32)>,
    origins: Vec<Origin>,
    origin_numbers: HashMap<Origin, OriginId>,
    /// Private memory of the lanes follows each other; `None` as long as it is not known.
    contiguous: Option<bool>,
    /// Lanes of the current message in private memory that are where such a layout would have them, and others.
    votes: (u32, u32),
    /// The lane and object that the current message reached last.
    reached: Option<(Option<u8>, usize)>,
    /// Number of the source line of each step.
    keys: Vec<u32>,
    sub_groups: bool,
    /// Lanes of the thread that run.
    running: u32,
    /// Bytes of the register file that some step reads.
    ever_read: Vec<bool>,
    /// Groups in each dimension.
    groups: [u32; 3],
    current: (u32, usize),
    findings: Vec<Finding>,
    causes: HashMap<Cause, usize>,
}

/// How lanes are work-items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids {
    pub(crate) simd: u32,
    pub(crate) walk: [usize; 3],
    pub(crate) local: [u32; 3],
    pub(crate) offset: [u32; 3],
}

impl Ids {
    fn local_id(&self, size: [u32; 3], thread: u32, lane: u32) -> [u32; 3] {
        let number = thread.saturating_mul(self.simd).saturating_add(lane);
        visakit_launch::local_id(number, size, self.walk)
    }
}

/// What a checker needs to know before the launch.
pub(crate) struct Setting {
    pub(crate) checks: Checks,
    pub(crate) code: Code,
    pub(crate) listing: Listing,
    pub(crate) fences: BTreeMap<(RoutineId, usize), Fence>,
    pub(crate) objects: Objects,
    pub(crate) defined: Vec<Range<usize>>,
    pub(crate) addressed: Vec<Range<usize>>,
    pub(crate) variables: Vec<(Range<usize>, String)>,
    pub(crate) ids: Ids,
    pub(crate) groups: [u32; 3],
    /// The program counts on sub-groups: what lockstep orders is meant.
    pub(crate) sub_groups: bool,
}

fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(NONE)
}

fn is_indirect(region: &Region) -> bool {
    matches!(region, Region::Indirect { .. } | Region::Rows { .. })
}

fn role(step: &Step, code: &Code, setting: &Setting) -> Role {
    if step
        .origin
        .op
        .is_some_and(|op| matches!(op, Op::FENCE | Op::LSC_FENCE))
    {
        let routine = code.routines.get(step.origin.routine as usize);
        let key = routine.map(|r| (r.id, step.origin.instruction as usize));
        let fence = key.and_then(|key| setting.fences.get(&key)).copied();
        return Role::Fence(fence.unwrap_or(Fence {
            local: true,
            global: true,
        }));
    }
    match &step.action {
        Action::Compute(compute) => {
            let used = compute.operation.sources();
            let lanes = usize::from(step.lanes.count);
            let sources = compute.sources.iter().take(used);
            let mut reads = Some(Vec::new());
            for source in sources.clone() {
                match (definedness::bounds(source, lanes), &mut reads) {
                    (Some((at, bytes)), Some(reads)) if bytes > 0 => reads.push((at, bytes)),
                    (Some(_), _) => {}
                    (None, _) => reads = None,
                }
            }
            let flags = compute.flags.iter().take(compute.operation.flags());
            if let Some(reads) = &mut reads {
                reads.extend(flags.map(|flag| (flag.offset as usize, 4)));
            }
            let indirect = sources.clone().any(|s| is_indirect(&s.region));
            let target = matches!(
                compute.destination.target,
                visakit_exec::code::Target::Indirect { .. }
            );
            Role::Compute {
                address: step.origin.op == Some(Op::ADDR_ADD),
                indirect: indirect || target,
                reads: reads.filter(|_| !target),
                compute: Arc::clone(compute),
            }
        }
        Action::Message(message) => Role::Message {
            operands: Box::new(message.operands()),
            by_access: matches!(message.name(), "load" | "block" | "atomic" | "counter"),
        },
        Action::Systolic(s) => Role::Writes(s.result()..s.result() + s.result_bytes()),
        Action::Barrier => Role::Barrier {
            signals: true,
            waits: true,
        },
        Action::Signal => Role::Barrier {
            signals: true,
            waits: false,
        },
        Action::Wait => Role::Barrier {
            signals: false,
            waits: true,
        },
        Action::NamedSignal(operands) => Role::Named(operands.first().copied(), true),
        Action::NamedWait(number) => Role::Named(Some(*number), false),
        Action::Jump { .. }
        | Action::Goto { .. }
        | Action::Call { .. }
        | Action::CallAddress { .. }
        | Action::Return { .. } => Role::Branch,
        _ => Role::Nothing,
    }
}

impl Checker {
    pub(crate) fn new(setting: Setting) -> Self {
        let code = &setting.code;
        let steps = code.steps.iter().map(|step| StepInfo {
            role: role(step, code, &setting),
            lanes: usize::from(step.lanes.count),
            first: step.lanes.first,
            no_mask: step.lanes.no_mask,
        });
        let steps = steps.collect();
        let names = code.routines.iter().map(|r| (r.id, r.name.clone()));
        let names = names.collect();
        let mut template = Shadow::new(code.register_bytes, true);
        // Below the first variable is nothing, and wide reads may run into what follows the last one.
        for range in &setting.defined {
            template.define(range.start, range.len());
        }
        let addressed = setting.addressed.iter().map(|range| {
            let exact = setting
                .variables
                .iter()
                .filter(|(of, _)| of.start == range.start)
                .max_by_key(|(of, _)| of.len());
            exact.map_or_else(
                || (range.clone(), "a variable".to_owned()),
                |(of, name)| (of.clone(), name.clone()),
            )
        });
        Self {
            checks: setting.checks,
            steps,
            names,
            listing: setting.listing,
            objects: setting.objects,
            template,
            addressed: addressed.collect(),
            variables: setting.variables,
            ids: setting.ids,
            group: ([0; 3], [1; 3]),
            number: 0,
            threads: Vec::new(),
            local: Pages::default(),
            flat: Pages::default(),
            local_cells: Cells::default(),
            flat_cells: Cells::default(),
            order: Order::default(),
            barrier: None,
            origins: vec![Origin::Register],
            origin_numbers: HashMap::new(),
            contiguous: None,
            votes: (0, 0),
            reached: None,
            sub_groups: setting.sub_groups,
            running: 0,
            ever_read: ever_read(code, &setting.addressed),
            groups: setting.groups,
            keys: Vec::new(),
            current: (NONE, 0),
            findings: Vec::new(),
            causes: HashMap::new(),
            code: setting.code,
        }
        .number_lines()
    }

    /// Gives every step the number of its source line.
    fn number_lines(mut self) -> Self {
        let mut lines = HashMap::new();
        let keys = (0..small(self.code.steps.len())).map(|step| {
            let place = self.place(step);
            match place.line {
                Some(line) => *lines.entry((place.file, line)).or_insert(step),
                None => step,
            }
        });
        self.keys = keys.collect();
        self
    }

    /// What was found. What a read saw that came before the write that it races with is no finding of its own.
    pub(crate) fn findings(self) -> Vec<Finding> {
        let is_race = |kind| matches!(kind, Kind::Race | Kind::RaceSameValue);
        let races = self.findings.iter().filter(|f| is_race(f.kind));
        let races: Vec<_> = races
            .flat_map(|f| {
                let other = f.other.as_ref().and_then(|o| o.place.clone());
                std::iter::once(f.place.clone()).chain(other)
            })
            .collect();
        let same = |a: &Place, b: &Place| {
            a.routine == b.routine
                && (a.instruction == b.instruction || a.line.is_some() && a.line == b.line)
        };
        let mut findings = self.findings;
        findings.retain(|finding| {
            let from = finding.other.as_ref().and_then(|o| o.place.as_ref());
            finding.kind != Kind::Uninitialized
                || !from.is_some_and(|from| races.iter().any(|race| same(race, from)))
        });
        findings
    }

    fn thread(&mut self, number: usize, live: u32) -> &mut Thread {
        if self.threads.len() <= number {
            self.threads.resize_with(number + 1, || None);
        }
        let template = &self.template;
        let place = self.threads.get_mut(number);
        #[expect(clippy::unwrap_used, reason = "the list was made long enough")]
        place.unwrap().get_or_insert_with(|| Thread {
            live,
            shadow: template.clone(),
            scratch: Pages::default(),
            points_at: HashMap::new(),
            signals: 0,
            waits: 0,
            pending: None,
            time: 0,
        })
    }

    fn place(&self, step: u32) -> Place {
        let origin = self.code.steps.get(step as usize).map(|s| s.origin);
        let Some(origin) = origin else {
            return Place::default();
        };
        match self.names.get(origin.routine as usize) {
            Some((id, name)) => self.listing.place((*id, name), origin.instruction as usize),
            None => Place::default(),
        }
    }

    fn item(&self, thread: usize, lane: Option<u8>) -> Item {
        let (group, size) = self.group;
        let thread = small(thread);
        let local = lane.map(|lane| self.ids.local_id(size, thread, lane.into()));
        let global = local.map(|local| {
            std::array::from_fn(|d| {
                let of = |a: &[u32; 3]| a.get(d).copied().unwrap_or(0);
                of(&group)
                    .wrapping_mul(of(&self.ids.local))
                    .wrapping_add(of(&local))
                    .wrapping_add(of(&self.ids.offset))
            })
        });
        Item {
            group,
            global,
            local,
            thread,
            lane,
        }
    }

    /// A work-item of the group of that number.
    fn item_of_group(&self, number: u32, thread: usize, lane: Option<u8>) -> Item {
        let [x, y, _] = self.groups.map(|n| n.max(1));
        let group = [number % x, number / x % y, number / x / y];
        let mut item = self.item(thread, lane);
        item.group = group;
        if let Some(local) = item.local {
            item.global = Some(std::array::from_fn(|d| {
                let of = |a: &[u32; 3]| a.get(d).copied().unwrap_or(0);
                of(&group)
                    .wrapping_mul(of(&self.ids.local))
                    .wrapping_add(of(&local))
                    .wrapping_add(of(&self.ids.offset))
            }));
        }
        item
    }

    /// The lane of the thread that a lane of the current step is.
    fn thread_lane(&self, lane: Option<u8>) -> Option<u8> {
        let info = self.steps.get(self.current.0 as usize)?;
        // What ignores the mask works for all work-items together; with one of them running, for that.
        if info.lanes == 1 || info.no_mask {
            let only = self.running.is_power_of_two();
            return u8::try_from(self.running.trailing_zeros())
                .ok()
                .filter(|_| only);
        }
        lane.map(|lane| lane.saturating_add(info.first))
    }

    /// Counts a finding, and makes it if its cause is new.
    fn find(&mut self, cause: Cause, make: impl FnOnce(&Self) -> Finding) {
        if let Some(index) = self.causes.get(&cause) {
            if let Some(finding) = self.findings.get_mut(*index) {
                finding.count += 1;
            }
            return;
        }
        let finding = make(self);
        self.causes.insert(cause, self.findings.len());
        self.findings.push(finding);
    }

    fn finding(&self, kind: Kind, space: Space, message: String, lane: Option<u8>) -> Finding {
        let (step, thread) = self.current;
        Finding {
            kind,
            space,
            place: self.place(step),
            message,
            target: None,
            item: Some(self.item(thread, self.thread_lane(lane))),
            address: None,
            bytes: None,
            value: None,
            other: None,
            count: 1,
        }
    }

    fn intern(&mut self, origin: Origin) -> OriginId {
        if let Some(number) = self.origin_numbers.get(&origin) {
            return *number;
        }
        let number = small(self.origins.len());
        self.origins.push(origin.clone());
        self.origin_numbers.insert(origin, number);
        number
    }

    /// Undefined bits have reached something that they must not.
    fn undefined(
        &mut self,
        what: &str,
        space: Space,
        origin: OriginId,
        lane: Option<u8>,
        at: usize,
    ) {
        let (step, _) = self.current;
        let known = self.origins.get(origin as usize).cloned();
        let known = known.unwrap_or(Origin::Register);
        if let Origin::Outside(from, object, offset, bytes) = known {
            // What was read past the end is used: the read is wrong.
            let cause = Cause {
                kind: Kind::OutOfBounds,
                step: self.key(from),
                other: NONE,
                object,
                detail: 0,
            };
            self.find(cause, |this| {
                let mut finding = this.finding(
                    Kind::OutOfBounds,
                    this.objects.get(object).map_or(Space::Global, Known::space),
                    String::new(),
                    lane,
                );
                finding.place = this.place(from);
                finding.bytes = Some(bytes);
                this.outside(&mut finding, object, offset, bytes, "read");
                finding
            });
            return;
        }
        let detail = match what {
            "a branch" => 0,
            "an address" => 1,
            "a predicate" => 2,
            _ => 3,
        };
        let cause = Cause {
            kind: Kind::Uninitialized,
            step: self.key(step),
            other: 0,
            object: 0,
            detail,
        };
        self.find(cause, |this| {
            let message = format!("{what} depends on bits that were never written");
            let (other, space) = match &known {
                Origin::Register => {
                    let name = this.variable(at);
                    let what = name.map_or_else(
                        || "a register that was never written".to_owned(),
                        |name| format!("variable {name} was never written in this lane"),
                    );
                    let other = Other {
                        what,
                        place: None,
                        item: None,
                    };
                    (other, Space::Register)
                }
                Origin::Memory(from, step, object) => {
                    let of = object.and_then(|o| this.objects.get(o));
                    let of = of.map_or_else(String::new, |k| format!(" of `{}`", k.name));
                    let other = Other {
                        what: format!(
                            "read from {} memory{of} that was never written",
                            from.name()
                        ),
                        place: Some(this.place(*step)),
                        item: None,
                    };
                    (other, *from)
                }
                Origin::Outside(..) => (
                    Other {
                        what: String::new(),
                        place: None,
                        item: None,
                    },
                    space,
                ),
            };
            let mut finding = this.finding(Kind::Uninitialized, space, message, lane);
            finding.other = Some(other);
            finding
        });
    }

    fn variable(&self, at: usize) -> Option<String> {
        let found = self
            .variables
            .iter()
            .filter(|(range, _)| range.contains(&at));
        found
            .min_by_key(|(range, _)| range.len())
            .map(|(_, name)| name.clone())
    }

    /// Puts into words how an access misses an object.
    fn outside(&self, finding: &mut Finding, object: usize, offset: i64, bytes: u32, verb: &str) {
        let Some(known) = self.objects.get(object) else {
            return;
        };
        let size = known.object.bytes;
        finding.message = missed(&known.name, size, offset, bytes, verb);
        finding.target = Some(Target {
            name: known.name.clone(),
            argument: known.argument,
            bytes: size,
            offset,
        });
    }
}

/// How an access misses an object, in words.
fn missed(name: &str, size: u64, offset: i64, bytes: u32, verb: &str) -> String {
    let size_signed = i64::try_from(size).unwrap_or(i64::MAX);
    let end = offset.saturating_add(i64::from(bytes));
    let place = if offset < 0 {
        format!("{} bytes before", offset.unsigned_abs())
    } else if offset >= size_signed {
        match offset - size_signed {
            0 => "just past the end of".to_owned(),
            n => format!("{n} bytes past the end of"),
        }
    } else {
        format!("{} bytes over the end of", end.saturating_sub(size_signed))
    };
    format!("{verb} of {bytes} bytes {place} `{name}` ({size} bytes)")
}

impl Observer for Checker {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = true;

    fn group(&mut self, place: [u32; 3], size: [u32; 3]) {
        self.group = (place, size);
        self.number = self.number.saturating_add(1);
        self.threads.clear();
        self.local.clear();
        self.order.start(self.number);
        self.barrier = None;
        // Groups use the same private memory one after the other.
        let private = self.objects.all().iter().find(|known| known.is_private());
        if let Some(known) = private
            && !self.flat.is_empty()
        {
            let object = &known.object;
            self.flat
                .forget(object.address, object.address.saturating_add(object.bytes));
        }
    }

    fn before(&mut self, event: &InstructionEvent<'_>) -> ControlFlow<()> {
        self.current = (small(event.step), event.thread);
        let running = event.running;
        self.running = running;
        let thread = self.thread(event.thread, running);
        if let Some(barrier) = thread.pending.take() {
            self.order.leave(event.thread, barrier);
        }
        let Some(info) = self.steps.get(event.step) else {
            return ControlFlow::Continue(());
        };
        let lanes = info.lanes;
        match &info.role {
            Role::Nothing => {}
            Role::Writes(range) => {
                let range = range.clone();
                self.thread(event.thread, running)
                    .shadow
                    .define(range.start, range.len());
            }
            Role::Compute {
                compute,
                reads,
                address,
                indirect,
            } => {
                let needs_shadow = self.checks.uninitialized || self.checks.memory;
                if (*address || *indirect) && event.mask != 0 {
                    let (compute, address, indirect) = (Arc::clone(compute), *address, *indirect);
                    if address {
                        self.note_address(&compute, lanes, event);
                    }
                    if indirect && self.checks.memory {
                        self.check_indirect(&compute, lanes, event);
                    }
                    if needs_shadow && let Some(Some(thread)) = self.threads.get_mut(event.thread) {
                        let (mask, shadow) = ((event.mask, 0), &mut thread.shadow);
                        follow(&compute, lanes, mask, event.registers, shadow);
                    }
                } else if needs_shadow
                    && let Some(Some(thread)) = self.threads.get_mut(event.thread)
                {
                    let predicate = self.code.steps.get(event.step).and_then(|s| s.predicate);
                    let shadow = &mut thread.shadow;
                    let unsure = predicate.map_or(0, |flag| {
                        let running = running.checked_shr(info.first.into()).unwrap_or(0);
                        undefined_lanes(&flag, shadow) & running
                    });
                    let defined = |(at, bytes): &(usize, usize)| shadow.is_defined(*at, *bytes);
                    if unsure == 0 && reads.as_ref().is_some_and(|r| r.iter().all(defined)) {
                        define(compute, lanes, event.mask, event.registers, shadow);
                    } else if event.mask | unsure != 0 {
                        let masks = (event.mask, unsure);
                        follow(compute, lanes, masks, event.registers, shadow);
                    }
                }
                if self.checks.arithmetic {
                    self.look_at_arithmetic(event);
                }
            }
            Role::Message { .. } => self.message(event),
            Role::Fence(fence) => {
                let fence = *fence;
                self.order.fence(event.thread, fence);
            }
            Role::Barrier { signals, waits } => {
                let (signals, waits) = (*signals, *waits);
                self.barrier(event, signals, waits);
            }
            Role::Named(number, signals) => {
                let (number, signals) = (*number, *signals);
                self.named_barrier(event, number, signals);
            }
            Role::Branch => self.branch(event),
        }
        ControlFlow::Continue(())
    }

    fn after(&mut self, event: &InstructionEvent<'_>) {
        if self.checks.arithmetic {
            self.look_at_results(event);
        }
    }

    fn memory(&mut self, access: &MemoryAccess, registers: &[u8]) {
        self.access(access, registers);
    }
}

/// Which bytes of the register file any step may read.
fn ever_read(code: &Code, addressed: &[Range<usize>]) -> Vec<bool> {
    let mut read = vec![false; code.register_bytes];
    let mut mark = |at: usize, bytes: usize| {
        if let Some(to) = read.get_mut(at..at.saturating_add(bytes)) {
            to.fill(true);
        }
    };
    let mut everything = false;
    for step in &code.steps {
        match &step.action {
            Action::Compute(compute) => {
                for source in compute.sources.iter().take(compute.operation.sources()) {
                    // Some operations read elements beside those of their lanes.
                    match definedness::bounds(source, usize::from(step.lanes.count)) {
                        Some((at, bytes)) if source.constant.is_none() => mark(at, bytes.max(16)),
                        Some(_) => {}
                        None => {
                            for range in addressed {
                                mark(range.start, range.len());
                            }
                            mark(source.offset, 64);
                        }
                    }
                }
                if matches!(
                    compute.destination.target,
                    visakit_exec::code::Target::Indirect { .. }
                ) {
                    mark(compute.destination.offset, 2);
                }
            }
            Action::Message(message) => {
                let operands = message.operands();
                for operand in &operands.addresses {
                    mark(operand.offset, operand.bytes * operand.lanes);
                }
                let ranges = operands
                    .scalars
                    .iter()
                    .chain(&operands.stored)
                    .chain(&operands.sources);
                for range in ranges {
                    mark(range.start, range.len());
                }
            }
            Action::Systolic(_) => everything = true,
            Action::Switch { index, .. } => read_scalar(*index, &mut mark),
            Action::CallAddress { address, .. } => read_scalar(*address, &mut mark),
            _ => {}
        }
    }
    if everything {
        read.fill(true);
    }
    read
}

fn read_scalar(scalar: Scalar, mark: &mut impl FnMut(usize, usize)) {
    if let Scalar::Register { offset, .. } = scalar {
        mark(offset, 8);
    }
}

/// Makes what a computation writes defined.
fn define(compute: &Compute, lanes: usize, mask: u32, registers: &[u8], shadow: &mut Shadow) {
    use visakit_exec::code::Target;
    for to in std::iter::once(&compute.destination).chain(&compute.second) {
        let bytes = usize::from(to.data_type.size());
        let whole = u64::from(mask) == (1u64 << lanes) - 1;
        if to.target == Target::Packed && whole {
            shadow.define(to.offset, lanes * bytes);
            continue;
        }
        if to.target == Target::Null {
            continue;
        }
        for lane in (0..lanes).filter(|lane| mask >> lane & 1 != 0) {
            if let Some(at) = definedness::target(to, lane, registers) {
                shadow.define(at, bytes);
            }
        }
    }
    if let Some(flag) = &compute.sets {
        let keep = !((mask & flag.window) << flag.first);
        let word = definedness::flag_word(flag, shadow);
        if word & !keep != 0 {
            let origin = shadow.origin(flag.offset as usize, 4);
            shadow.set_element(flag.offset as usize, 4, (word & keep).into(), origin);
        }
    }
}

mod branches;
mod messages;
mod registers;
