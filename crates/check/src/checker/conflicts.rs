//! Accesses without an order.

use super::messages::{Located, Reached};
use super::{Cause, Checker};
use crate::finding::{Kind, Other, Space};
use crate::objects::Known;
use crate::race::{Conflict, LANES, Now, Record};
use crate::shadow::element;
use visakit_exec::MemoryAccess;
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
        let time = self.threads.get(thread).and_then(Option::as_ref);
        let time = time.map_or(0, |t| t.time);
        let mut now = Now {
            record: Record {
                group: self.number,
                time,
                step: self.current.0,
                thread: u16::try_from(thread).unwrap_or(u16::MAX),
            },
            lane: self.thread_lane(access.lane).unwrap_or(LANES),
            bytes: 0,
            writes: access.write,
            atomic: access.atomic,
            conditional: access.conditional,
            value: 0,
        };
        let first = located.address;
        let last = first.saturating_add(located.inside as u64);
        let mut cell = first / 4;
        let mut worst: Option<(Conflict, Now)> = None;
        while cell * 4 < last {
            let from = first.max(cell * 4);
            let to = last.min(cell * 4 + 4);
            let inside = from - cell * 4;
            let mask = (1u8 << (to - from)) - 1;
            now.bytes = mask << inside;
            now.value = 0;
            if access.write
                && let Some(data) = access.data.filter(|_| !access.atomic)
            {
                let skip = usize::try_from(from - first).unwrap_or(0);
                let count = usize::try_from(to - from).unwrap_or(0);
                let value = element(registers, data.offset + skip, count);
                now.value = u32::try_from(value << (8 * inside)).unwrap_or(0);
            }
            let cells = if local {
                &mut self.local_cells
            } else {
                &mut self.flat_cells
            };
            let found = self.order.access(cells, (local, cell), &now);
            if let Some(found) = found
                && worst.is_none_or(|(w, _)| {
                    w.same_value && !found.same_value || w.lockstep && !found.lockstep
                })
            {
                worst = Some((found, now));
            }
            cell += 1;
        }
        if access.atomic {
            self.order.synchronize(thread, local, first / 4);
            if let Some(Some(state)) = self.threads.get_mut(thread) {
                state.time = self.order.message(thread);
            }
        }
        if let Some((conflict, now)) = worst
            && (!conflict.lockstep || !local || !self.sub_groups || self.checks.lockstep)
        {
            self.race(access, located, &conflict, &now);
        }
    }

    fn race(&mut self, access: &MemoryAccess, located: &Located, conflict: &Conflict, now: &Now) {
        let kind = if conflict.same_value {
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
            _ => (usize::MAX, Space::Local, located.address),
        };
        // After a failed barrier nothing is ordered.
        if self.diverged && conflict.other.record.group == now.record.group {
            return;
        }
        let mine = self.key(now.record.step);
        let other = conflict.other.record;
        let others = self.key(other.step);
        let cause = Cause {
            kind,
            step: mine.min(others),
            other: mine.max(others),
            object,
            detail: 0,
        };
        let current = (self.number, self.group.0);
        self.find(cause, |this| {
            let verb = |atomic, writes| match (atomic, writes) {
                (true, _) => ("an", "atomic operation"),
                (false, true) => ("a", "write"),
                (false, false) => ("a", "read"),
            };
            let (_, mine) = verb(now.atomic, now.writes);
            let (article, theirs) = verb(conflict.other.atomic, conflict.other.writes);
            let how = if conflict.same_message {
                "by another lane of the same instruction"
            } else if conflict.lockstep {
                "by another lane of the thread, which only lockstep orders"
            } else if other.group == now.record.group {
                "by another thread of the group"
            } else {
                "by another group"
            };
            let same = if conflict.same_value {
                ", of the same value"
            } else {
                ""
            };
            let message = format!("{mine} without an order with {article} {theirs} {how}{same}");
            let mut finding = this.finding(kind, space, message, access.lane);
            finding.target = match located.reached {
                Reached::Flat(object, _) => this.target(object, offset.cast_signed()),
                _ => this.objects.local_near(located.address),
            };
            if access.write && !access.atomic {
                finding.value = Some(now.value.into());
            }
            let lane = (conflict.other.lane != LANES).then_some(conflict.other.lane);
            let mut item = this.item(other.thread.into(), lane);
            if other.group != current.0 {
                let number = other.group.saturating_sub(1);
                item = this.item_of_group(number, other.thread.into(), lane);
            }
            finding.other = Some(Other {
                what: format!("the {theirs}"),
                place: Some(this.place(other.step)),
                item: Some(item),
            });
            this.with_access(finding, access)
        });
    }
}
