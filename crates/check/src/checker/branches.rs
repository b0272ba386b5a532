//! Branches, and barriers.

use super::{Cause, Checker, NONE, small};
use crate::definedness::undefined_lanes;
use crate::finding::{Finding, Kind, Other, Space};
use visakit_exec::code::{Action, Flag, Scalar};
use visakit_exec::{Fault, FaultKind, InstructionEvent};

impl Checker {
    /// Whether the branch of all lanes that a predicate decides may go either way.
    fn is_open(&self, flag: &Flag, event: &InstructionEvent<'_>, running: u32) -> Option<u8> {
        let shadow = &self.group.threads.get(event.thread)?.as_ref()?.shadow;
        let undefined = undefined_lanes(flag, event.registers, shadow) & running;
        (undefined != 0).then(|| u8::try_from(undefined.trailing_zeros()).unwrap_or(0))
    }

    pub(super) fn branch(&mut self, event: &InstructionEvent<'_>) {
        if !self.tracks {
            return;
        }
        let Some(step) = self.code.steps.get(event.step) else {
            return;
        };
        let first = u32::from(step.lanes.first);
        let running = event.running.checked_shr(first).unwrap_or(0) & step.lanes.window();
        let mut at = None;
        if let Some(flag) = step.predicate {
            let lanes = match step.action {
                // One element decides for all.
                Action::Jump { .. } | Action::Call { uniform: true, .. } => 1,
                _ if step.lanes.count == 1 => 1,
                _ => running,
            };
            let open = self.is_open(&flag, event, lanes);
            at = open.map(|lane| (flag.offset as usize, 4, lane));
        }
        if let Action::CallAddress { address: goal, .. } | Action::Switch { index: goal, .. } =
            &step.action
            && let Scalar::Register { offset, data_type } = goal
        {
            let bytes = usize::from(data_type.size());
            let thread = self
                .group
                .threads
                .get(event.thread)
                .and_then(Option::as_ref);
            if thread.is_some_and(|t| !t.shadow.is_defined(*offset, bytes)) {
                at = Some((*offset, bytes, 0));
            }
        }
        if let Some((offset, bytes, lane)) = at
            && let Some(Some(thread)) = self.group.threads.get_mut(event.thread)
        {
            let origin = thread.shadow.origin(offset, bytes);
            // Reported once: later uses get no findings of their own for it.
            if bytes == 4 {
                thread.shadow.define(offset, bytes);
            }
            self.undefined("a branch", origin, Some(lane), offset);
        }
    }

    pub(super) fn barrier(&mut self, event: &InstructionEvent<'_>, signals: bool, waits: bool) {
        let step = small(event.step);
        let Some(Some(thread)) = self.group.threads.get_mut(event.thread) else {
            return;
        };
        let live = thread.live;
        if signals {
            thread.signals += 1;
            let number = thread.signals;
            self.order.arrive(event.thread, number);
            if self.checks.sync {
                let missing = live & !event.running;
                if missing != 0 {
                    self.diverged(step, event.running.count_ones(), live.count_ones(), missing);
                }
                match self.group.barrier {
                    Some((at, other, by)) if at == number && other != step => {
                        self.two_barriers(step, other, by);
                    }
                    Some((at, ..)) if at >= number => {}
                    _ => self.group.barrier = Some((number, step, small(event.thread))),
                }
            }
        }
        if waits && let Some(Some(thread)) = self.group.threads.get_mut(event.thread) {
            thread.waits += 1;
            thread.pending = Some((thread.waits, step));
        }
    }

    fn divergence(&self, step: u32) -> Cause {
        Cause::new(Kind::BarrierDivergence, self.key(step))
    }

    pub(super) fn diverged(&mut self, step: u32, come: u32, all: u32, missing: u32) {
        self.group.diverged = true;
        let lane = u8::try_from(missing.trailing_zeros()).ok();
        self.find(self.divergence(step), |this| {
            let message = format!(
                "{come} of {all} work-items of the thread come to this barrier, the others do not"
            );
            let mut finding = this.finding(Kind::BarrierDivergence, Space::Local, message, None);
            finding.other = Some(Other {
                what: "this work-item does not come".to_owned(),
                place: None,
                item: Some(this.item(this.current.1, lane)),
                access: None,
            });
            finding
        });
    }

    fn two_barriers(&mut self, step: u32, other: u32, by: u32) {
        self.group.diverged = true;
        self.find(self.divergence(step), |this| {
            let message = "threads of the group wait at different barriers".to_owned();
            let mut finding = this.finding(Kind::BarrierDivergence, Space::Local, message, None);
            finding.other = Some(Other {
                what: "the other barrier".to_owned(),
                place: Some(this.place(other)),
                item: usize::try_from(by).ok().map(|by| this.item(by, None)),
                access: None,
            });
            finding
        });
    }

    /// The executor could not continue with the group.
    pub(super) fn faulted(&mut self, fault: &Fault) {
        let steps = self.code.steps.iter().position(|step| {
            let routine = self.names.get(step.origin.routine as usize);
            routine.is_some_and(|(id, _)| *id == fault.routine)
                && step.origin.instruction as usize == fault.instruction
                && step.action.is_instruction()
        });
        let step = steps.map_or(NONE, small);
        if let FaultKind::StepLimit(limit) = fault.kind {
            self.group.instructions = limit;
        }
        self.current = (step, fault.thread.unwrap_or(0));
        let (kind, space) = match fault.kind {
            FaultKind::BarrierDivergence { .. } => (Kind::BarrierDivergence, Space::Local),
            FaultKind::RegisterOutOfBounds | FaultKind::IndirectOutOfBounds => {
                (Kind::OutOfBounds, Space::Private)
            }
            _ => (Kind::Fault, Space::Global),
        };
        let wanted = match kind {
            Kind::BarrierDivergence => self.checks.sync,
            Kind::OutOfBounds => self.checks.memory,
            _ => true,
        };
        // An operand that leaves its variable was reported before it ran.
        let key = self.key(step);
        let told = |cause: &Cause| cause.kind == Kind::OutOfBounds && cause.step == key;
        if !wanted
            || kind == Kind::OutOfBounds && self.found.causes().any(told)
            || kind == Kind::BarrierDivergence && self.waits_at_faulty()
        {
            return;
        }
        let cause = Cause::new(kind, self.key(step));
        let waits = match fault.kind {
            FaultKind::BarrierDivergence { .. } => self.where_threads_wait(),
            _ => Vec::new(),
        };
        let mut message = fault.kind.to_string();
        for (text, ..) in &waits {
            message.push_str("; ");
            message.push_str(text);
        }
        self.find(cause, |this| {
            let finding = this.finding(kind, space, message, fault.lane);
            let other = waits.iter().find(|(_, at, _)| *at != step);
            let other = other.map(|(text, at, thread)| Other {
                what: text.clone(),
                place: Some(this.place(*at)),
                item: Some(this.item(*thread, None)),
                access: None,
            });
            Finding {
                address: fault.address,
                other: finding.other.clone().or(other),
                ..finding
            }
        });
    }

    /// Undefined lanes of the predicate of an instruction, among the lanes that run.
    pub(super) fn unsure(&self, event: &InstructionEvent<'_>) -> Option<(usize, u8)> {
        let step = self.code.steps.get(event.step)?;
        let flag = step.predicate?;
        let shadow = &self.group.threads.get(event.thread)?.as_ref()?.shadow;
        let first = u32::from(step.lanes.first);
        let mut lanes = undefined_lanes(&flag, event.registers, shadow);
        if !step.lanes.no_mask {
            lanes &= event.running.checked_shr(first).unwrap_or(0);
        }
        (lanes != 0).then(|| {
            let lane = u8::try_from(lanes.trailing_zeros()).unwrap_or(0);
            (flag.offset as usize, lane)
        })
    }
}
