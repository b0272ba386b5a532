//! Indirect operands, and values that are rarely intended.

use super::origins::{Area, Missed};
use super::{Cause, Checker};
use crate::finding::{Access, Kind, Space};
use crate::shadow::{OriginId, element};
use visakit_exec::InstructionEvent;
use visakit_exec::code::{Action, Compute, Operation};

impl Checker {
    /// Notes which variable the addresses that an instruction computes point into.
    pub(super) fn note_address(
        &mut self,
        compute: &Compute,
        lanes: usize,
        event: &InstructionEvent<'_>,
    ) {
        let [base, ..] = &compute.sources;
        let Some(Some(thread)) = self.group.threads.get_mut(event.thread) else {
            return;
        };
        for lane in (0..lanes).filter(|lane| event.mask >> lane & 1 != 0) {
            let Some(at) = base.place(lane, event.registers) else {
                continue;
            };
            // The address of a variable is a constant.
            let of = if self.code.constant(at).is_some() {
                let address = element(event.registers, at, 2);
                let address = usize::try_from(address).unwrap_or(0);
                self.addressed
                    .iter()
                    .position(|(r, _)| r.contains(&address))
            } else {
                thread.points_at.get(&at).copied()
            };
            if let Some(to) = compute.destination.place(lane, event.registers) {
                match of {
                    Some(of) => thread.points_at.insert(to, of),
                    None => thread.points_at.remove(&to),
                };
            }
        }
    }

    /// Looks whether indirect operands stay inside of the variable that they point into. Of a move the lanes whose source does
    /// not: compilers read more than they use, so that this is a fault only if the value is used.
    pub(super) fn check_indirect(
        &mut self,
        compute: &Compute,
        lanes: usize,
        event: &InstructionEvent<'_>,
    ) -> Vec<(usize, OriginId)> {
        let used = compute.operation.sources();
        let enabled = || (0..lanes).filter(|lane| event.mask >> lane & 1 != 0);
        let step = self.current.0;
        let missed = |of: usize, at: usize, bytes: usize| {
            let (range, _) = self.addressed.get(of).cloned().unwrap_or_default();
            let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
            Missed {
                step,
                area: Area::Variable(of),
                offset: signed(at) - signed(range.start),
                bytes: u32::try_from(bytes).unwrap_or(0),
            }
        };
        let moves = matches!(compute.operation, Operation::Copy | Operation::Convert(_));
        let (mut wrong, mut later) = (None, Vec::new());
        for source in compute.sources.iter().take(used) {
            let bytes = usize::from(source.data_type.size());
            for lane in enabled() {
                let Some(pointer) = source.address(lane) else {
                    continue;
                };
                if let Some(at) = source.place(lane, event.registers)
                    && let Some(of) = self.leaves(event.thread, pointer, at, bytes)
                {
                    match compute.destination.place(lane, event.registers) {
                        Some(to) if moves => later.push((to, missed(of, at, bytes))),
                        _ => wrong = wrong.or(Some((missed(of, at, bytes), lane, Access::Read))),
                    }
                }
            }
        }
        let to = &compute.destination;
        if to.address().is_some() {
            let bytes = usize::from(to.data_type.size());
            for lane in enabled() {
                if let Some(at) = to.place(lane, event.registers)
                    && let Some(of) = self.leaves(event.thread, to.offset, at, bytes)
                {
                    wrong = wrong.or(Some((missed(of, at, bytes), lane, Access::Write)));
                }
            }
        }
        if let Some((missed, lane, access)) = wrong {
            self.misses(missed, u8::try_from(lane).ok(), access);
        }
        let later = later.into_iter();
        later
            .map(|(to, missed)| (to, self.origins.missed(missed)))
            .collect()
    }

    /// The variable that an address points into, if the access is not inside of it.
    fn leaves(&self, thread: usize, pointer: usize, at: usize, bytes: usize) -> Option<usize> {
        let thread = self.group.threads.get(thread)?.as_ref()?;
        let of = *thread.points_at.get(&pointer)?;
        let (range, _) = self.addressed.get(of)?;
        (at < range.start || at + bytes > range.end).then_some(of)
    }

    /// Division by zero, and shifts by more than the width.
    pub(super) fn look_at_arithmetic(&mut self, event: &InstructionEvent<'_>) {
        let Some(step) = self.code.steps.get(event.step) else {
            return;
        };
        let Action::Compute(compute) = &step.action else {
            return;
        };
        let second = compute.sources.get(1);
        let Some(second) = second.filter(|s| !s.data_type.is_float()) else {
            return;
        };
        let bytes = usize::from(second.data_type.size());
        let width = 8 * u64::from(compute.destination.data_type.size());
        let (kind, message) = match compute.operation {
            Operation::Div | Operation::Mod => (Kind::DivisionByZero, "division by zero"),
            Operation::Shl | Operation::Shr => (Kind::Shift, "shift by more than the width"),
            _ => return,
        };
        let wrong = (0..usize::from(step.lanes.count))
            .filter(|lane| event.mask >> lane & 1 != 0)
            .find(|lane| {
                let at = second.place(*lane, event.registers);
                at.is_some_and(|at| {
                    let value = element(event.registers, at, bytes);
                    match kind {
                        Kind::Shift => value >= width,
                        _ => value == 0,
                    }
                })
            });
        let Some(lane) = wrong else { return };
        let cause = Cause::new(kind, self.current.0);
        self.find(cause, |this| {
            let lane = u8::try_from(lane).ok();
            this.finding(kind, Space::Register, message.to_owned(), lane)
        });
    }

    /// NaN and infinity computed from numbers.
    pub(super) fn look_at_results(&mut self, event: &InstructionEvent<'_>) {
        let Some(step) = self.code.steps.get(event.step) else {
            return;
        };
        let Action::Compute(compute) = &step.action else {
            return;
        };
        let to = &compute.destination;
        let bytes = usize::from(to.data_type.size());
        let is_move = matches!(
            compute.operation,
            Operation::Copy | Operation::Convert(_) | Operation::Select
        );
        if !to.data_type.is_float() || is_move {
            return;
        }
        let special = |value: u64| match bytes {
            2 => value & 0x7c00 == 0x7c00,
            4 => value & 0x7f80_0000 == 0x7f80_0000,
            _ => value & 0x7ff0 << 48 == 0x7ff0 << 48,
        };
        let used = compute.operation.sources();
        let made = (0..usize::from(step.lanes.count))
            .filter(|lane| event.mask >> lane & 1 != 0)
            .find(|lane| {
                let at = to.place(*lane, event.registers);
                let result = at.is_some_and(|at| special(element(event.registers, at, bytes)));
                // A source that was overwritten looks like the result, and is not reported.
                result
                    && !compute.sources.iter().take(used).any(|source| {
                        let at = source.place(*lane, event.registers);
                        let size = usize::from(source.data_type.size());
                        source.data_type.is_float()
                            && size == bytes
                            && at.is_some_and(|at| special(element(event.registers, at, size)))
                    })
            });
        let Some(lane) = made else { return };
        let cause = Cause::new(Kind::NotANumber, self.current.0);
        self.find(cause, |this| {
            let lane = u8::try_from(lane).ok();
            let message = "a NaN or an infinity is made of numbers".to_owned();
            this.finding(Kind::NotANumber, Space::Register, message, lane)
        });
    }
}
