//! Runs a launch on terms.

use crate::decide::Decisions;
use crate::lower::apply;
use crate::memory::{Bytes, Global, Moment, input};
use crate::scalars::Scalars;
use crate::term::{Term, Terms};
use crate::thread::{Frame, LANES, Mask, Pause, Thread};
use crate::unknown::Unknown;
use hashbrown::HashSet;
use std::time::Instant;
use visakit_exec::code::{Action, Code, Compute, Destination, Step};
use visakit_exec::{LaneFunction, Limits, Probe, Program};
use visakit_launch::{LaunchError, Prepared};

/// Bounds of a run on terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Budget {
    /// Steps of all threads.
    pub(crate) steps: u64,
    /// Terms of both kernels.
    pub(crate) terms: usize,
    /// When to stop.
    pub(crate) deadline: Option<Instant>,
}

/// Why a run on terms has no result.
#[derive(Debug)]
pub(crate) enum Failed {
    Unknown(Unknown),
    Launch(LaunchError),
}

impl From<Unknown> for Failed {
    fn from(unknown: Unknown) -> Self {
        Self::Unknown(unknown)
    }
}

impl From<LaunchError> for Failed {
    fn from(error: LaunchError) -> Self {
        Self::Launch(error)
    }
}

/// Calls that have not returned; more are a recursion that nothing ends.
const MOST_CALLS: usize = 64;

/// Steps between looks at the clock.
const LOOK: u64 = 256;

/// What runs.
pub(crate) struct Machine<'a> {
    pub(crate) terms: &'a mut Terms,
    pub(crate) decisions: &'a mut Decisions,
    pub(crate) launch: &'a Prepared,
    pub(crate) global: Global,
    /// Local memory of the group.
    pub(crate) local: Bytes,
    /// Scratch memory by thread of the group.
    pub(crate) scratch: Vec<Bytes>,
    pub(crate) probe: Probe,
    /// Bytes of local memory of a group, and of scratch memory of a thread.
    pub(crate) sizes: (u64, u64),
    pub(crate) now: Moment,
    pub(crate) budget: Budget,
    /// Scalar arguments of any value.
    scalars: Option<&'a Scalars>,
    steps: u64,
}

impl<'a> Machine<'a> {
    /// Runs all groups of a launch; the contents of arguments in `known` are as they are, and scalars have any value.
    pub(crate) fn run(
        (terms, decisions): (&'a mut Terms, &'a mut Decisions),
        launch: &'a Prepared,
        (known, scalars): (&HashSet<usize>, Option<&'a Scalars>),
        budget: Budget,
    ) -> Result<Global, Failed> {
        let mut machine = Self::new((terms, decisions), launch, (known, scalars), budget)?;
        let limits = Limits::default();
        for number in 0..launch.group_count() {
            machine.group(number, &limits)?;
        }
        if machine.global.writes_variables() {
            return Err(Unknown::new("the kernel writes variables of the program").into());
        }
        Ok(machine.global)
    }

    /// Before anything runs.
    pub(crate) fn new(
        (terms, decisions): (&'a mut Terms, &'a mut Decisions),
        launch: &'a Prepared,
        (known, scalars): (&HashSet<usize>, Option<&'a Scalars>),
        budget: Budget,
    ) -> Result<Self, Failed> {
        let limits = Limits::default();
        let first = launch.start(0, &limits)?;
        let slm = first.slm().len();
        let scratch = first.threads().first().map_or(0, |t| t.scratch().len());
        let probe = Probe::new(launch.program(), slm, scratch)
            .map_err(|fault| Unknown::new(fault.to_string()))?;
        Ok(Self {
            terms,
            decisions,
            launch,
            global: Global::new(launch, known),
            local: Bytes::default(),
            scratch: Vec::new(),
            probe,
            sizes: (slm as u64, scratch as u64),
            now: Moment {
                group: 0,
                thread: 0,
                signals: 0,
                waits: 0,
            },
            budget,
            scalars,
            steps: 0,
        })
    }

    pub(crate) fn program(&self) -> &'a Program {
        self.launch.program()
    }

    /// Runs a group.
    fn group(&mut self, number: u64, limits: &Limits) -> Result<(), Failed> {
        let group = self.launch.start(number, limits)?;
        let program = self.program();
        let defined = program.defined();
        let mut threads = Vec::new();
        let marked = self
            .scalars
            .map(|scalars| Ok((scalars, scalars.start(number, limits)?)));
        let marked = marked.transpose().map_err(Failed::Launch)?;
        for (number, thread) in group.threads().iter().enumerate() {
            let registers = thread.registers();
            let mut file = Vec::with_capacity(registers.len());
            // Registers that nobody reads before they are written need no term of their own.
            let mut is_defined = vec![false; registers.len()];
            for range in &defined {
                if let Some(part) = is_defined.get_mut(range.clone()) {
                    part.fill(true);
                }
            }
            for (place, (byte, is_defined)) in registers.iter().zip(is_defined).enumerate() {
                if let Some((scalars, groups)) = &marked
                    && let Some(byte) = scalars.byte(groups, (number, place), *byte)?
                {
                    file.push(input(self.terms, byte.argument, byte.offset, byte.bytes));
                    continue;
                }
                file.push(match is_defined {
                    true => self.terms.constant((*byte).into(), 8),
                    false => self.terms.undefined(),
                });
            }
            let position = thread.position(program);
            let mut running = [self.terms.constant(0, 1); LANES];
            for (lane, to) in running.iter_mut().enumerate() {
                *to = self
                    .terms
                    .constant((position.running >> lane & 1).into(), 1);
            }
            let cr0 = program
                .predefined_variables()
                .find(|(name, _)| *name == "cr0");
            let cr0 = cr0.and_then(|(_, slot)| {
                let bytes = registers.get(slot.offset..)?.first_chunk::<4>()?;
                Some(u32::from_le_bytes(*bytes))
            });
            let mode = self.terms.constant(cr0.unwrap_or(0).into(), 32);
            let entry = program.code().routines.first().map_or(0, |r| r.entry);
            threads.push(Thread::new((file, mode), (entry, running)));
        }
        self.global.begin_group();
        self.local = Bytes::default();
        self.scratch = threads.iter().map(|_| Bytes::default()).collect();
        loop {
            for (place, thread) in threads.iter_mut().enumerate() {
                if thread.pause == Pause::None {
                    self.now.group = number;
                    self.now.thread = place;
                    self.thread(thread)?;
                }
            }
            if threads.iter().all(|t| t.pause == Pause::Ended) {
                return Ok(());
            }
            if threads.iter().all(|t| t.pause == Pause::Barrier) {
                for thread in &mut threads {
                    thread.pause = Pause::None;
                }
                continue;
            }
            let signals = threads.iter().map(|t| t.signals).min().unwrap_or(0);
            let mut progress = false;
            for thread in &mut threads {
                if thread.pause == Pause::Split && signals > thread.waits {
                    thread.waits += 1;
                    thread.pause = Pause::None;
                    progress = true;
                }
            }
            if !progress {
                return Err(Unknown::new("threads wait at a barrier for ever").into());
            }
        }
    }

    /// Runs a thread until it ends or waits.
    fn thread(&mut self, thread: &mut Thread) -> Result<(), Unknown> {
        let code = self.program().code();
        while thread.pause == Pause::None {
            let Some(step) = code.steps.get(thread.place) else {
                return Err(Unknown::new("the code has no end"));
            };
            self.count()?;
            self.now.signals = thread.signals;
            self.now.waits = thread.waits;
            self.meet(thread);
            let ran = self.step(thread, step);
            ran.map_err(|unknown| {
                let routine = code.routines.get(step.origin.routine as usize);
                unknown.at(
                    routine.map_or("", |routine| &routine.name),
                    step.origin.instruction,
                )
            })?;
        }
        Ok(())
    }

    /// Lanes that wait where a thread is go on with it.
    pub(crate) fn meet(&mut self, thread: &mut Thread) {
        if let Some(mask) = thread.waiting.remove(&thread.place) {
            let met = Thread::zip(self.terms, &thread.running, &mask, Terms::or);
            thread.running = self.decided(&met);
        }
    }

    /// Counts a step, and ends what takes too long.
    pub(crate) fn count(&mut self) -> Result<(), Unknown> {
        self.steps += 1;
        if self.steps > self.budget.steps {
            let most = self.budget.steps;
            return Err(Unknown::new(format!("more than {most} steps")));
        }
        if self.terms.kept() > self.budget.terms {
            let most = self.budget.terms;
            return Err(Unknown::new(format!("more than {most} terms")));
        }
        if self.steps.is_multiple_of(LOOK)
            && self.budget.deadline.is_some_and(|end| Instant::now() > end)
        {
            return Err(Unknown::new("out of time"));
        }
        Ok(())
    }

    /// Runs a step.
    pub(crate) fn step(&mut self, thread: &mut Thread, step: &Step) -> Result<(), Unknown> {
        let next = thread.place + 1;
        match &step.action {
            Action::Compute(compute) => {
                let enabled = thread.enabled(self.terms, step)?;
                if Thread::may(self.terms, &enabled) {
                    self.compute(thread, compute, step, &enabled)?;
                }
                thread.place = next;
            }
            Action::Message(message) => {
                let enabled = thread.enabled(self.terms, step)?;
                self.message(thread, message, &enabled)?;
                thread.place = next;
            }
            Action::Join | Action::Nothing | Action::Count(_) => thread.place = next,
            Action::UpdateMode(place) => {
                // The mode is changed whatever lanes run, as long as the thread is here.
                let cr0 = thread.element(self.terms, *place, 4)?;
                let here = thread.here(self.terms);
                thread.mode = self.terms.choice(here, cr0, thread.mode);
                thread.place = next;
            }
            Action::ExecutionMask(place) => {
                let word = self.terms.concat(&thread.running);
                let here = thread.here(self.terms);
                thread.set_element(self.terms, *place, word, here)?;
                thread.place = next;
            }
            Action::Jump { target, inverted } => {
                let taken = thread.condition(self.terms, step, *inverted)?;
                self.branch(thread, *target, &taken);
            }
            Action::Goto { target, inverted } => {
                let taken = thread.taken(self.terms, step, *inverted)?;
                self.branch(thread, *target, &taken);
            }
            Action::Switch { index, targets } => {
                let index = thread.scalar(self.terms, *index, "the index of a jump")?;
                let target = usize::try_from(index).ok().and_then(|i| targets.get(i));
                let target = target.ok_or_else(|| Unknown::new("a jump without a target"))?;
                let running = thread.running;
                self.branch(thread, *target, &running);
            }
            Action::Call {
                target,
                function,
                uniform,
            } => {
                let entered = self.selected(thread, step, *uniform)?;
                self.call(thread, *target, *function, entered)?;
            }
            Action::CallAddress { address, uniform } => {
                let entered = self.selected(thread, step, *uniform)?;
                if !Thread::may(self.terms, &entered) {
                    thread.place = next;
                    return Ok(());
                }
                let address = thread.scalar(self.terms, *address, "the address of a call")?;
                let function = Code::function_at(address);
                let routine = function.and_then(|f| self.program().code().routines.get(f));
                let routine = routine.ok_or_else(|| Unknown::new("a call of no function"))?;
                self.call(thread, routine.entry, function, entered)?;
            }
            Action::Return { uniform } => {
                let lanes = self.selected(thread, step, *uniform)?;
                self.give_back(thread, &lanes);
            }
            Action::Barrier => {
                self.certain(thread, "a barrier")?;
                (thread.place, thread.pause) = (next, Pause::Barrier);
                thread.signals += 1;
                thread.waits += 1;
            }
            Action::Signal => {
                self.certain(thread, "a barrier")?;
                thread.signals += 1;
                thread.place = next;
            }
            Action::Wait => {
                self.certain(thread, "a barrier")?;
                (thread.place, thread.pause) = (next, Pause::Split);
            }
            Action::Fault(kind) => {
                return Err(Unknown::new(format!("a fault may be reached: {kind}")));
            }
            Action::Systolic(_) => return Err(Unknown::new("a systolic product")),
            Action::Clock(_) => return Err(Unknown::new("the clock is read")),
            Action::NamedSignal(_) | Action::NamedWait(_) => {
                return Err(Unknown::new("a named barrier"));
            }
        }
        Ok(())
    }

    /// Lanes of which it is known whether they run.
    fn decided(&mut self, mask: &Mask) -> Mask {
        mask.map(|lane| self.decisions.bit(self.terms, lane))
    }

    /// Some of the running lanes jump. Where none can go nobody follows.
    fn branch(&mut self, thread: &mut Thread, target: usize, taken: &Mask) {
        let taken = self.decided(taken);
        let rest = Thread::without(self.terms, &thread.running, &taken);
        let rest = self.decided(&rest);
        thread.park(self.terms, target, &taken);
        thread.park(self.terms, thread.place + 1, &rest);
        thread.settle(self.terms);
    }

    /// Checks that lanes run here for sure, before something that is done even without lanes.
    fn certain(&mut self, thread: &Thread, what: &str) -> Result<(), Unknown> {
        let any = thread.here(self.terms);
        let any = self.decisions.bit(self.terms, any);
        match self.terms.number(any) {
            Some(1) => Ok(()),
            _ => Err(Unknown::new(format!(
                "{what} under a condition that depends on data"
            ))),
        }
    }

    /// Lanes that call or return.
    fn selected(&mut self, thread: &Thread, step: &Step, uniform: bool) -> Result<Mask, Unknown> {
        match uniform {
            true => thread.condition(self.terms, step, false),
            false => thread.taken(self.terms, step, false),
        }
    }

    fn call(
        &mut self,
        thread: &mut Thread,
        target: usize,
        function: Option<usize>,
        entered: Mask,
    ) -> Result<(), Unknown> {
        if !Thread::may(self.terms, &entered) {
            thread.place += 1;
            return Ok(());
        }
        let active = function.is_some() && thread.frames.iter().any(|f| f.function == function);
        if active || thread.frames.len() >= MOST_CALLS {
            return Err(Unknown::new("a recursion"));
        }
        let others = Thread::without(self.terms, &thread.running, &entered);
        thread.frames.push(Frame {
            return_to: thread.place + 1,
            entered,
            others,
            waiting: std::mem::take(&mut thread.waiting),
            function,
        });
        thread.place = target;
        thread.running = entered;
        Ok(())
    }

    fn give_back(&mut self, thread: &mut Thread, lanes: &Mask) {
        let rest = Thread::without(self.terms, &thread.running, lanes);
        let next = thread.place + 1;
        thread.park(self.terms, next, &rest);
        if thread.settle(self.terms) {
            return;
        }
        let Some(frame) = thread.frames.pop() else {
            thread.pause = Pause::Ended;
            return;
        };
        thread.waiting = frame.waiting;
        let back = Thread::zip(self.terms, &frame.entered, &frame.others, Terms::or);
        thread.park(self.terms, frame.return_to, &back);
        thread.settle(self.terms);
    }

    /// Runs a computation in lanes whose conditions hold.
    fn compute(
        &mut self,
        thread: &mut Thread,
        compute: &Compute,
        step: &Step,
        enabled: &Mask,
    ) -> Result<(), Unknown> {
        let lanes = usize::from(step.lanes.count);
        if self.predicates(thread, compute, lanes, enabled)? {
            return Ok(());
        }
        let here = thread.here(self.terms);
        let mode = self.terms.under(thread.mode, here);
        let mode = self
            .terms
            .number(mode)
            .and_then(|mode| u32::try_from(mode).ok());
        let mode = mode.ok_or_else(|| Unknown::new("the float mode depends on data"))?;
        let function = LaneFunction::of(compute, mode)
            .ok_or_else(|| Unknown::new(format!("the operation {}", compute.operation.name())))?;
        let zero = self.terms.constant(0, 1);
        let used = compute.operation.sources();
        let selector = match compute.operation.flags() {
            0 => None,
            _ => Some(thread.flag(self.terms, &compute.flags[0])?),
        };
        let program = self.program();
        let mut results = Vec::with_capacity(lanes);
        for (lane, condition) in enabled.iter().enumerate().take(lanes) {
            if self.terms.number(*condition) == Some(0) {
                continue;
            }
            let mut elements = Vec::with_capacity(used);
            for source in compute.sources.iter().take(used) {
                let element = thread.source(
                    (&mut *self.terms, &mut *self.decisions),
                    program,
                    source,
                    (lane, *condition),
                )?;
                elements.push(self.terms.under(element, *condition));
            }
            let flag = selector.map(|mask| mask.get(lane).copied().unwrap_or(zero));
            let found = apply(self.terms, &function, &elements, flag);
            let found = found.ok_or_else(|| {
                Unknown::new(format!("the operation {}", compute.operation.name()))
            })?;
            results.push((lane, *condition, found));
        }
        let first = Some(&compute.destination);
        for (number, to) in [first, compute.second.as_ref()].into_iter().enumerate() {
            let Some(to) = to else { continue };
            for (lane, condition, found) in &results {
                let value = [found.value, found.second].get(number).copied().flatten();
                let Some(value) = value else { continue };
                self.set_lane(thread, to, (*lane, *condition), value)?;
            }
        }
        if let Some(flag) = &compute.sets {
            let mut found = [zero; LANES];
            for (lane, _, result) in &results {
                if let (Some(to), Some(bit)) = (found.get_mut(*lane), result.flag) {
                    *to = bit;
                }
            }
            thread.set_flag(self.terms, flag, &found, enabled)?;
        }
        Ok(())
    }

    /// Writes a lane's element of a destination where a condition holds.
    pub(crate) fn set_lane(
        &mut self,
        thread: &mut Thread,
        to: &Destination,
        lane: (usize, Term),
        value: Term,
    ) -> Result<(), Unknown> {
        let program = self.program();
        let known = (&mut *self.terms, &mut *self.decisions);
        for (place, condition) in thread.destination_places(known, program, to, lane)? {
            thread.set_element(self.terms, place, value, condition)?;
        }
        Ok(())
    }
}
