//! Steps that compute or access memory: by a template, or by the interpreter's function.

use crate::count::Counts;
use crate::elementary::is_near;
use crate::exits::Way;
use crate::flow::{Compiler, step_number};
use crate::kept::Detour;
use crate::masks::Enabled;
use crate::mode::Form;
use crate::pages::place as fields;
use crate::path::Path;
use crate::pending::Pending;
use crate::vector::{CONTEXT, Done, FILE, MASK, NoTemplate, field};
use crate::x64::{Condition, EAX, EDX, ESI, Label, Note, RDI};
use std::ops::Range;
use visakit_exec::code::{Action, Message, Step};

/// Whether a step is a systolic product, which counts as one lane.
const fn is_systolic(step: &Step) -> bool {
    matches!(step.action, Action::Systolic(_))
}

impl Compiler<'_> {
    /// A computation, a message or a systolic product.
    pub(crate) fn work(&mut self, place: usize, step: &Step, full: bool, counts: &mut Counts) {
        let lanes = step.lanes;
        let window = lanes.window();
        let enabled = lanes.no_mask || (self.writer.full >> lanes.first) & window == window;
        let running = step.predicate.is_none() && window == self.writer.full && lanes.count > 1;
        let how = if step.predicate.is_none() && (lanes.no_mask || full && enabled) {
            Enabled::All
        } else if running {
            Enabled::Running
        } else {
            Enabled::Some
        };
        if self.writer.pair.is_some() && how == Enabled::Some {
            self.failed = true;
        }
        let before = *counts;
        counts.instructions += 1;
        match how {
            // As the interpreter counts them.
            _ if is_systolic(step) => counts.lanes += 1,
            Enabled::All => counts.lanes += u32::from(lanes.count),
            Enabled::Running => counts.running += 1,
            Enabled::Some => {}
        }
        let mark = self.writer.asm.mark();
        let kept = self.writer.kept.clone();
        let stores = self.writer.stores.len();
        let may_leave = match &step.action {
            Action::Message(_) => true,
            Action::Compute(compute) => is_near(compute.operation),
            _ => false,
        };
        let pending = match may_leave {
            true => self.writer.pending(),
            false => Vec::new(),
        };
        let skip = self.writer.asm.label();
        self.writer.outcome = None;
        self.writer.begin();
        let skips = how != Enabled::All && lanes.count == 1;
        let is_compute = matches!(step.action, Action::Compute(_) | Action::Systolic(_));
        self.writer.certain = !(is_compute && (skips || may_leave));
        let changes = match how {
            Enabled::Running if !may_leave && self.may_change_others(step) => Enabled::All,
            _ => how,
        };
        let exits = self.exits.len();
        if self.try_work(place, step, changes, skip, before).is_ok() {
            if let Some(slow) = self.writer.beyond.take() {
                // Stores before it may have been removed for results that are not stored.
                if self.writer.certain {
                    self.writer.asm.give_up();
                }
                let [idle, done] = [(); 2].map(|()| self.writer.asm.label());
                self.writer.forget_masks();
                self.detour(place, step, how, *counts, pending, [slow, idle, done]);
            }
            if skips {
                self.writer.asm.place(skip);
                self.writer.forget_step();
            }
            return;
        }
        self.exits.truncate(exits);
        self.writer.asm.back(mark);
        self.writer.stores.truncate(stores);
        self.writer.kept = kept.clone();
        self.writer.beyond = None;
        self.writer.outcome = None;
        self.writer.certain = true;
        if let Action::Message(message) = &step.action
            && self
                .message(place, step, message, how, *counts, pending)
                .is_ok()
        {
            return;
        }
        self.writer.asm.back(mark);
        self.writer.kept = kept;
        if self.writer.form == Form::Usual && !self.is_for_pairs() {
            self.calls.insert(place);
        }
        self.call(place, step, how, [before, *counts]);
        self.writer.forget();
    }

    /// Whether a step may leave anything in the elements of lanes that do not run.
    fn may_change_others(&self, step: &Step) -> bool {
        let written = step.written();
        self.live.zip(written).is_some_and(|(live, mut written)| {
            let local = &self.writer.local_flags;
            let awaited =
                |bytes: Range<usize>| !local.contains(&bytes.start) && live.is_awaited(&bytes);
            !written.any(awaited)
        })
    }

    /// The interpreter runs a step whose template, which ends here, goes to `slow`.
    fn detour(
        &mut self,
        place: usize,
        step: &Step,
        how: Enabled,
        counts: Counts,
        pending: Vec<Pending>,
        [slow, idle, done]: [Label; 3],
    ) {
        self.writer.asm.place(done);
        self.writer.detours.push(Detour {
            step: place,
            counts,
            window: (how == Enabled::All).then(|| step.lanes.window()),
            slow,
            idle,
            done,
            pending,
            kept: self.writer.kept.clone(),
            used: 0,
        });
    }

    /// A message that has a template.
    fn message(
        &mut self,
        place: usize,
        step: &Step,
        message: &Message,
        how: Enabled,
        counts: Counts,
        pending: Vec<Pending>,
    ) -> Done {
        let lanes = message.lanes();
        if lanes.is_none() && !message.is_fence() {
            return Err(NoTemplate);
        }
        if how != Enabled::All {
            self.writer.exec_mask(step)?;
        }
        if how == Enabled::Some {
            self.count_lanes(MASK);
        }
        let Some(lanes) = lanes else {
            if message.orders_groups() {
                self.writer.asm.fence();
            }
            return Ok(());
        };
        let [slow, idle, done] = [(); 3].map(|()| self.writer.asm.label());
        if how != Enabled::All {
            self.writer.asm.test(MASK, MASK);
            self.writer.asm.jump_if(Condition::Equal, idle);
        }
        let number = self.apart.get(&place).copied();
        let plan = self.linear.as_ref();
        let linear = plan.and_then(|plan| plan.message(place));
        self.writer
            .message(&lanes, number, linear, how != Enabled::All, slow, done)?;
        self.detour(place, step, how, counts, pending, [slow, idle, done]);
        Ok(())
    }

    /// The ways around templates of the steps so far.
    pub(crate) fn detours(&mut self) {
        for detour in std::mem::take(&mut self.writer.detours) {
            self.writer.asm.note(Note::Detour(detour.step));
            self.writer.asm.place(detour.slow);
            self.writer.takes(Path::Detour);
            self.store_pending(&detour.pending);
            self.compute_addresses(detour.step);
            if let Some(window) = detour.window {
                self.writer.asm.mov(MASK, window);
            }
            self.invoke(detour.step, detour.counts);
            if detour.window.is_none() {
                let reload = self.writer.asm.label();
                self.writer.asm.jump(reload);
                self.writer.asm.place(detour.idle);
                self.store_pending(&detour.pending);
                self.writer.asm.place(reload);
            } else {
                self.writer.asm.place(detour.idle);
            }
            if self.writer.reload(&detour).is_err() {
                // Not reached: what registers hold is inside of the file.
                let label = self.exit(detour.step, detour.counts, Way::Leave);
                self.writer.asm.jump(label);
            }
            self.writer.asm.jump(detour.done);
        }
    }

    /// The interpreter runs a step.
    fn call(&mut self, place: usize, step: &Step, how: Enabled, [before, counts]: [Counts; 2]) {
        // The host's thread is another one than that whose registers these are.
        self.failed |= self.writer.pair.is_some();
        if self.is_ahead {
            let label = self.exit(place, before, Way::Leave);
            self.writer.asm.jump(label);
            return;
        }
        self.writer.need_all();
        let message = matches!(step.action, Action::Message(_));
        let all = how == Enabled::All;
        let skip = self.writer.asm.label();
        if all {
            let window = step.lanes.window();
            self.writer.asm.mov(MASK, window);
        } else {
            if self.writer.exec_mask(step).is_err() {
                // Not reached: predicates are inside of the file.
                let label = self.exit(place, counts, Way::Leave);
                self.writer.asm.jump(label);
                return;
            }
            if how == Enabled::Some && !is_systolic(step) {
                self.count_lanes(MASK);
            }
            // Messages of blocks run without lanes, too.
            if !message {
                self.writer.asm.test(MASK, MASK);
                self.writer.asm.jump_if(Condition::Equal, skip);
            }
        }
        self.writer.takes(Path::Call);
        self.invoke(place, counts);
        if !all && !message {
            self.writer.asm.place(skip);
        }
    }

    /// The interpreter runs a step for the lanes in [`MASK`].
    fn invoke(&mut self, place: usize, counts: Counts) {
        let fault = self.exit(place, counts, Way::Fault);
        let directed = self.writer.form == Form::Directed;
        if directed {
            // The interpreter computes in the host's usual mode.
            self.round_as_usual();
        }
        let asm = &mut self.writer.asm;
        asm.mov(RDI, CONTEXT);
        // The second and third arguments: the step and its lanes.
        asm.mov(EDX, MASK);
        let number = step_number(place);
        asm.mov(ESI, number);
        asm.call(field(fields::STEP));
        if directed {
            self.round_as_mode();
        }
        let asm = &mut self.writer.asm;
        asm.test(EAX, EAX);
        asm.jump_if(Condition::NotEqual, fault);
        asm.mov(FILE, field(fields::FILE));
    }

    fn try_work(
        &mut self,
        place: usize,
        step: &Step,
        enabled: Enabled,
        skip: Label,
        before: Counts,
    ) -> Done {
        let compute = match &step.action {
            Action::Compute(compute) => compute,
            Action::Systolic(systolic) if !self.is_ahead => {
                if enabled != Enabled::All {
                    self.writer.exec_mask(step)?;
                }
                // What it does not multiply, the interpreter does, up to where it comes back to machine code.
                let slow = self.exit(place, before, Way::Leave);
                return self.writer.systolic(systolic, enabled, slow);
            }
            _ => return Err(NoTemplate),
        };
        // Code for running lanes loads the mask where it blends; setting predicates always needs it, and so does the
        // interpreter.
        let calls = is_near(compute.operation);
        let sets = compute.sets.is_some();
        if enabled == Enabled::Some || enabled == Enabled::Running && (sets || calls) {
            self.writer.exec_mask(step)?;
        }
        if enabled == Enabled::Some {
            self.count_lanes(MASK);
        }
        if enabled != Enabled::All && step.lanes.count == 1 {
            self.writer.asm.test(MASK, MASK);
            self.writer.asm.jump_if(Condition::Equal, skip);
        }
        self.writer.compute(step, compute, enabled)
    }
}
