//! Accesses without an order.

use super::group::{OfLane, PlainRead};
use super::messages::{Located, Reached};
use super::report::OF_LOCAL;
use super::{Cause, Checker};
use crate::finding::{Access, Between, Class, Kind, Other, Space};
use crate::objects::Known;
use crate::race::{Conflict, LANES, Now, Record};
use crate::shadow::element;
use visakit_exec::MemoryAccess;
use visakit_exec::code::{Action, Code};
use visakit_launch::ObjectKind;

impl Checker {
    /// Whether work-items may be in conflict over an object.
    pub(super) fn is_shared(&self, object: usize) -> bool {
        let known = self.objects.get(object);
        known.is_some_and(|known| {
            !matches!(known.object.kind, ObjectKind::Private | ObjectKind::Printf)
                && !known.constant
        })
    }

    pub(super) fn look_for_races(
        &mut self,
        access: &MemoryAccess,
        located: &Located,
        registers: &[u8],
    ) {
        let local = match located.reached {
            Reached::Local => true,
            Reached::Scratch => return,
            Reached::Flat(object, _) if self.is_shared(object) => false,
            Reached::Flat(..) => return,
        };
        let thread = self.current.1;
        let time = self.group.threads.get(thread).and_then(Option::as_ref);
        let time = time.map_or(0, |t| t.time);
        let mut now = Now {
            record: Record {
                group: self.group.number,
                time,
                step: self.current.0,
                thread: u16::try_from(thread).unwrap_or(u16::MAX),
            },
            lane: self.thread_lane(access.lane).unwrap_or(LANES),
            bytes: 0,
            // A compare and exchange that fails is an atomic read.
            writes: access.write && !access.fails,
            atomic: access.atomic,
            value: None,
        };
        let first = located.address;
        let last = first.saturating_add(located.inside as u64);
        let mut cell = first / 4;
        while cell * 4 < last && !self.astray {
            let from = first.max(cell * 4);
            let to = last.min(cell * 4 + 4);
            let inside = from - cell * 4;
            let mask = (1u8 << (to - from)) - 1;
            now.bytes = mask << inside;
            now.value = None;
            if access.write
                && let Some(data) = access.data.filter(|_| !access.atomic)
            {
                let skip = usize::try_from(from - first).unwrap_or(0);
                let count = usize::try_from(to - from).unwrap_or(0);
                let value = element(registers, data.offset + skip, count);
                now.value = u32::try_from(value << (8 * inside)).ok();
            }
            let cells = if local {
                &mut self.group.local_cells
            } else {
                &mut self.flat_cells
            };
            self.order
                .access(cells, (local, cell), &now, &mut self.conflicts);
            cell += 1;
        }
        if self.exchanges {
            let of = OfLane {
                local,
                address: first,
                thread,
                lane: now.lane,
            };
            self.look_at_exchange(access, of, registers);
        }
        if access.atomic {
            self.order.synchronize(thread, local, first / 4);
            if let Some(Some(state)) = self.group.threads.get_mut(thread) {
                state.time = self.order.message(thread);
            }
        }
        if !self.conflicts.is_empty() {
            self.races(access, located);
        }
    }

    /// Reports the conflicts of an access.
    #[cold]
    fn races(&mut self, access: &MemoryAccess, located: &Located) {
        let local = matches!(located.reached, Reached::Local);
        let mut conflicts = std::mem::take(&mut self.conflicts);
        for (conflict, now) in conflicts.drain(..) {
            let intended = conflict.between == Between::Lockstep && local && self.sub_groups;
            // `work_group_any` and `work_group_all` are made so: whoever finds it true writes that.
            let made_so = conflict.other.same_value
                && local
                && self.objects.is_the_compilers(located.address);
            if !made_so && (!intended || self.checks.lockstep) {
                self.race(access, located, &conflict, &now);
            }
        }
        self.conflicts = conflicts;
    }

    /// Remembers what a lane reads, and whether it then compares with it. The value of a read is known when it has run.
    fn look_at_exchange(&mut self, access: &MemoryAccess, of: OfLane, registers: &[u8]) {
        let bytes = access.bytes as usize;
        if !access.write && bytes <= 8 {
            let data = access
                .data
                .map_or(0..0, |data| data.offset..data.offset + bytes);
            self.reading.push((of, data));
        } else if access.conditional {
            let all = OfLane { lane: LANES, ..of };
            let reads = &self.group.reads;
            let Some(read) = reads.get(&of).or_else(|| reads.get(&all)) else {
                return;
            };
            let [expected, ..] = access.operands;
            let expected = expected.map_or(0, |at| element(registers, at, bytes));
            if read.value.is_none_or(|value| value == expected) {
                self.found.exchanged(read.step);
            }
        }
    }

    /// The current message has run: its reads have their values.
    pub(super) fn have_read(&mut self, registers: &[u8]) {
        for (of, data) in self.reading.drain(..) {
            let value = (!data.is_empty()).then(|| element(registers, data.start, data.len()));
            let read = PlainRead {
                step: self.current.0,
                value,
            };
            self.group.reads.insert(of, read);
        }
    }

    fn race(&mut self, access: &MemoryAccess, located: &Located, conflict: &Conflict, now: &Now) {
        let same_value = conflict.other.same_value;
        let kind = if same_value {
            Kind::RaceSameValue
        } else {
            Kind::Race
        };
        let (object, space, offset) = match located.reached {
            Reached::Flat(object, address) => {
                let known = self.objects.get(object);
                let start = known.map_or(0, |k| k.object.address);
                let space = known.map_or(Space::Global, Known::space);
                (object, space, address.wrapping_sub(start))
            }
            _ => (OF_LOCAL, Space::Local, located.address),
        };
        // After a failed barrier nothing is ordered.
        if self.group.diverged && conflict.between != Between::Groups {
            return;
        }
        let mine = Access::new(now.writes, now.atomic);
        let theirs = Access::new(conflict.other.writes, conflict.other.atomic);
        let other = conflict.other.record;
        let (step, of_other) = (self.key(now.record.step), self.key(other.step));
        let cause = Cause {
            other: step.max(of_other),
            object,
            class: Class {
                between: Some(conflict.between),
                accesses: [Some(mine.min(theirs)), Some(mine.max(theirs))],
            },
            tried: conflict.tried,
            ..Cause::new(kind, step.min(of_other))
        };
        self.find(cause, |this| {
            let local = matches!(located.reached, Reached::Local);
            let remark = if same_value {
                ", of the same value"
            } else if local && this.objects.is_the_compilers(located.address) {
                ", in the compiler's functions of work-groups"
            } else {
                ""
            };
            let message = format!(
                "{} in a data race with {} {} {}{remark}",
                mine.noun(),
                theirs.article(),
                theirs.noun(),
                conflict.between.by()
            );
            let mut finding = this.finding(kind, space, message, access.lane);
            finding.access = Some(mine);
            finding.between = Some(conflict.between);
            finding.target = match located.reached {
                Reached::Flat(object, _) => this.target(object, offset.cast_signed()),
                _ => this.objects.local_near(located.address),
            };
            if access.write && !access.atomic {
                finding.value = now.value.map(Into::into);
            }
            let lane = (conflict.other.lane != LANES).then_some(conflict.other.lane);
            let mut item = this.item(other.thread.into(), lane);
            if conflict.between == Between::Groups {
                let number = other.group.saturating_sub(1);
                item = this.item_of_group(number, other.thread.into(), lane);
            }
            finding.other = Some(Other {
                what: format!("the {}", theirs.noun()),
                place: Some(this.place(other.step)),
                item: Some(item),
                access: Some(theirs),
            });
            this.with_access(finding, access)
        });
    }
}

/// Whether a program may compare and exchange: such an atomic has two operands beside its address.
pub(super) fn exchanges(code: &Code) -> bool {
    code.steps.iter().any(|step| match &step.action {
        Action::Message(message) => message.operands().sources.len() > 1,
        _ => false,
    })
}
