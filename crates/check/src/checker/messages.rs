//! Accesses to memory.

use super::{Cause, Checker, NONE, Origin, Role, small};
use crate::finding::{Finding, Kind, Other, Space, Target};
use crate::objects::Known;
use crate::race::{ATOMIC, CONDITIONAL, Conflict, LANES, Mark};
use crate::shadow::{element, low_bytes};
use visakit_exec::{InRegister, InstructionEvent, MemoryAccess, Space as ExecSpace};
use visakit_launch::ObjectKind;

/// Where an access goes to.
#[derive(Clone, Copy, Debug)]
enum Reached {
    Local,
    Scratch,
    /// An object in flat memory, and the address.
    Flat(usize, u64),
}

/// What is at an address, of an access of so many bytes.
struct Located {
    reached: Reached,
    address: u64,
    /// Bytes that are inside, from the first one on.
    inside: usize,
}

impl Checker {
    /// A message is about to run: its operands.
    pub(super) fn message(&mut self, event: &InstructionEvent<'_>) {
        let Some(info) = self.steps.get(event.step) else {
            return;
        };
        let Role::Message {
            operands,
            by_access,
        } = &info.role
        else {
            return;
        };
        let Some(Some(thread)) = self.threads.get_mut(event.thread) else {
            return;
        };
        let mut wrong = None;
        if self.checks.uninitialized {
            let shadow = &thread.shadow;
            if event.mask != 0 {
                for operand in &operands.addresses {
                    let bytes = operand.bytes * operand.lanes;
                    if shadow.is_defined(operand.offset, bytes) {
                        continue;
                    }
                    let lanes = (0..operand.lanes).filter(|lane| event.mask >> lane & 1 != 0);
                    for lane in lanes {
                        let at = operand.offset + lane * operand.bytes;
                        if !shadow.is_defined(at, operand.bytes) {
                            wrong = wrong.or(Some((at, operand.bytes, lane)));
                        }
                    }
                }
                for range in &operands.scalars {
                    if !shadow.is_defined(range.start, range.len()) {
                        wrong = wrong.or(Some((range.start, range.len(), 0)));
                    }
                }
            }
        }
        if let Some(range) = &operands.loaded
            && !by_access
            && event.mask != 0
        {
            thread.shadow.define(range.start, range.len());
        }
        if let Some((at, bytes, lane)) = wrong {
            let origin = thread.shadow.origin(at, bytes);
            let lane = u8::try_from(lane).ok();
            self.undefined("an address", Space::Register, origin, lane, at);
        }
        if self.checks.uninitialized
            && let Some((at, lane)) = self.unsure(event)
            && let Some(Some(thread)) = self.threads.get(event.thread)
        {
            let origin = thread.shadow.origin(at, 4);
            self.undefined("a predicate", Space::Register, origin, Some(lane), at);
        }
        if self.contiguous.is_none() && self.votes.0 + self.votes.1 >= 2 {
            self.contiguous = Some(self.votes.1 == 0);
        }
        self.votes = (0, 0);
        self.reached = None;
        let time = self.order.message(event.thread);
        if let Some(Some(thread)) = self.threads.get_mut(event.thread) {
            thread.time = time;
        }
    }

    /// Memory is about to be accessed.
    pub(super) fn access(&mut self, access: &MemoryAccess, registers: &[u8]) {
        // Compilers load what lies between two elements that they want.
        if access.read
            && !access.write
            && let Some(data) = access.data
            && let Some(to) = self
                .ever_read
                .get(data.whole..data.whole + data.whole_bytes)
            && !to.contains(&true)
        {
            self.define(data);
            return;
        }
        let Some(located) = self.locate(access) else {
            // Nothing is there: what is loaded is zero.
            if let Some(data) = access.data.filter(|_| access.read) {
                self.define(data);
            }
            return;
        };
        if self.checks.memory {
            self.look_at_alignment(access, &located);
        }
        if self.checks.race {
            self.look_for_races(access, &located, registers);
        }
        if self.checks.uninitialized || self.checks.memory {
            self.move_definedness(access, &located);
        }
    }

    fn define(&mut self, data: InRegister) {
        if let Some(Some(thread)) = self.threads.get_mut(self.current.1) {
            thread.shadow.define(data.whole, data.whole_bytes);
        }
    }

    /// Finds what an access reaches, and tells of it if it is outside of everything. `None` if nothing of it is there.
    fn locate(&mut self, access: &MemoryAccess) -> Option<Located> {
        let bytes = access.bytes as usize;
        let whole = |reached, address| {
            Some(Located {
                reached,
                address,
                inside: bytes,
            })
        };
        match access.space {
            ExecSpace::Local => {
                let size = u64::from(access.bytes);
                if self.objects.local_at(access.address, size).is_some() {
                    return whole(Reached::Local, access.address);
                }
                self.outside_local(access);
                None
            }
            ExecSpace::Scratch => {
                let end = access.address.saturating_add(access.bytes.into());
                if end <= self.objects.scratch {
                    return whole(Reached::Scratch, access.address);
                }
                self.outside_scratch(access);
                None
            }
            ExecSpace::Global => self.locate_flat(access, access.address),
            ExecSpace::Surface(index) => {
                let Some(extent) = access.extent else {
                    self.null(
                        access,
                        &format!("surface {index:#x}, to which nothing is bound"),
                    );
                    return None;
                };
                let end = access.address.saturating_add(access.bytes.into());
                if end <= extent.bytes {
                    return self.locate_flat(access, extent.base.wrapping_add(access.address));
                }
                // Offsets have 32 bits; what is large was meant to be negative.
                let offset = u32::try_from(access.address)
                    .map_or(access.address.cast_signed(), |a| a.cast_signed().into());
                let address = extent.base.wrapping_add_signed(offset);
                let (object, at) = self.objects.find(extent.base)?;
                let at = at.saturating_add(offset);
                self.part_inside(access, object, at, address)
            }
        }
    }

    fn locate_flat(&mut self, access: &MemoryAccess, address: u64) -> Option<Located> {
        if address >> 32 == 0 {
            self.null(access, &format!("address {address:#x}"));
            return None;
        }
        let found = self.objects.find(address);
        let near = |object: &(usize, i64)| {
            let size = self.objects.get(object.0).map_or(0, |k| k.object.bytes);
            object.1 - i64::try_from(size).unwrap_or(i64::MAX) < 1 << 31
        };
        // An address far past the end was meant to lie before the next object.
        let next = || {
            let (object, at) = self.objects.find(address.wrapping_add(1 << 31))?;
            (at > 0 && at < 1 << 32).then(|| (object, at - (1 << 31)))
        };
        let Some((object, offset)) = found.filter(near).or_else(next).or(found) else {
            if self.checks.memory {
                let cause = self.cause(Kind::OutOfBounds, NONE, usize::MAX);
                self.find(cause, |this| {
                    let verb = verb(access);
                    let message = format!(
                        "{verb} of {} bytes at {address:#x}, where no object is",
                        access.bytes
                    );
                    let space = Space::Global;
                    let finding = this.finding(Kind::OutOfBounds, space, message, access.lane);
                    with_access(finding, access)
                });
            }
            return None;
        };
        self.part_inside(access, object, offset, address)
    }

    /// An access to an object: what of it is inside.
    fn part_inside(
        &mut self,
        access: &MemoryAccess,
        object: usize,
        offset: i64,
        address: u64,
    ) -> Option<Located> {
        let known = self.objects.get(object)?;
        let size = i64::try_from(known.object.bytes).unwrap_or(i64::MAX);
        let end = offset.saturating_add(i64::from(access.bytes));
        if known.is_private() {
            return self.private_inside(access, object, offset, address);
        }
        if offset >= 0 && end <= size {
            if known.constant && access.write && self.checks.memory {
                let cause = self.cause(Kind::WriteToConstant, NONE, object);
                self.find(cause, |this| {
                    let name = this.objects.get(object).map_or("", |k| k.name.as_str());
                    let message = format!("write to `{name}`, which is constant");
                    let kind = Kind::WriteToConstant;
                    let mut finding = this.finding(kind, Space::Constant, message, access.lane);
                    finding.target = this.target(object, offset);
                    with_access(finding, access)
                });
            }
            self.reached = Some((access.lane, object));
            return Some(Located {
                reached: Reached::Flat(object, address),
                address,
                inside: access.bytes as usize,
            });
        }
        let starts_inside = offset >= 0 && offset < size;
        // Compilers load more than they use. What of it is outside is wrong if it is used.
        let earlier = self.reached == Some((access.lane, object));
        if access.read && !access.write && (starts_inside || earlier) && !access.texel {
            let step = self.current.0;
            let origin = Origin::Outside(step, object, offset, access.bytes);
            let inside = usize::try_from(size - offset).unwrap_or(0);
            if let Some(data) = access.data {
                self.define(data);
                let origin = self.intern(origin);
                if let Some(Some(thread)) = self.threads.get_mut(self.current.1) {
                    let at = inside.min(access.bytes as usize);
                    let rest = access.bytes as usize - at;
                    for byte in 0..rest {
                        let place = data.offset + at + byte;
                        thread.shadow.set_element(place, 1, 0xff, origin);
                    }
                }
            }
            if starts_inside {
                self.reached = Some((access.lane, object));
                return Some(Located {
                    reached: Reached::Flat(object, address),
                    address,
                    inside,
                });
            }
            return None;
        }
        if self.checks.memory {
            let space = known.space();
            let kind = if access.texel {
                Kind::Dropped
            } else {
                Kind::OutOfBounds
            };
            let cause = self.cause(kind, NONE, object);
            self.find(cause, |this| {
                let mut finding = this.finding(kind, space, String::new(), access.lane);
                this.outside(&mut finding, object, offset, access.bytes, verb(access));
                with_access(finding, access)
            });
        }
        if let Some(data) = access.data.filter(|_| access.read) {
            self.define(data);
        }
        None
    }

    /// An access to private memory in flat memory.
    fn private_inside(
        &mut self,
        access: &MemoryAccess,
        object: usize,
        offset: i64,
        address: u64,
    ) -> Option<Located> {
        let private = self.objects.private;
        let thread = self.current.1 as u64;
        let start = thread.saturating_mul(private.stride);
        let own = offset.saturating_sub(i64::try_from(start).unwrap_or(i64::MAX));
        let bytes = i64::from(access.bytes);
        let room = i64::try_from(private.thread).unwrap_or(i64::MAX);
        let (mut low, mut high) = (0, room);
        let lane = self.thread_lane(access.lane);
        if let (Some(item), Some(lane)) = (private.item, lane)
            && let Ok(item) = i64::try_from(item)
        {
            let first = item.saturating_mul(lane.into());
            let matches = own >= first && own + bytes <= first + item;
            match self.contiguous {
                Some(true) => (low, high) = (first, first + item),
                Some(false) => {}
                None if matches => self.votes.0 += 1,
                None => self.votes.1 += 1,
            }
        }
        if own >= low && own + bytes <= high {
            return Some(Located {
                reached: Reached::Flat(object, address),
                address,
                inside: access.bytes as usize,
            });
        }
        if self.checks.memory {
            let cause = self.cause(Kind::OutOfBounds, NONE, object);
            self.find(cause, |this| {
                let size = u64::try_from(high - low).unwrap_or(0);
                let name = "private memory of the work-item";
                let message = super::missed(name, size, own - low, access.bytes, verb(access));
                let space = Space::Private;
                let mut finding = this.finding(Kind::OutOfBounds, space, message, access.lane);
                finding.target = Some(Target {
                    name: name.to_owned(),
                    argument: None,
                    bytes: size,
                    offset: own - low,
                });
                with_access(finding, access)
            });
        }
        None
    }

    pub(super) fn cause(&self, kind: Kind, other: u32, object: usize) -> Cause {
        Cause {
            kind,
            step: self.key(self.current.0),
            other,
            object,
            detail: 0,
        }
    }

    fn target(&self, object: usize, offset: i64) -> Option<Target> {
        let known = self.objects.get(object)?;
        Some(Target {
            name: known.name.clone(),
            argument: known.argument,
            bytes: known.object.bytes,
            offset,
        })
    }

    fn null(&mut self, access: &MemoryAccess, what: &str) {
        if !self.checks.memory {
            return;
        }
        let cause = self.cause(Kind::Null, NONE, usize::MAX);
        self.find(cause, |this| {
            let verb = verb(access);
            let message = format!("{verb} of {} bytes through {what}", access.bytes);
            let finding = this.finding(Kind::Null, Space::Global, message, access.lane);
            with_access(finding, access)
        });
    }

    fn outside_local(&mut self, access: &MemoryAccess) {
        if !self.checks.memory {
            return;
        }
        let cause = self.cause(Kind::OutOfBounds, NONE, usize::MAX - 1);
        self.find(cause, |this| {
            let near = this.objects.local_near(access.address);
            let message = near.as_ref().map_or_else(
                || "access to local memory, of which the kernel has none".to_owned(),
                |t| super::missed(&t.name, t.bytes, t.offset, access.bytes, verb(access)),
            );
            let space = Space::Local;
            let mut finding = this.finding(Kind::OutOfBounds, space, message, access.lane);
            finding.target = near;
            with_access(finding, access)
        });
    }

    fn outside_scratch(&mut self, access: &MemoryAccess) {
        if !self.checks.memory {
            return;
        }
        let cause = self.cause(Kind::OutOfBounds, NONE, usize::MAX - 2);
        self.find(cause, |this| {
            let size = this.objects.scratch;
            // Offsets have 32 bits; what is large was meant to be negative.
            let offset = u32::try_from(access.address)
                .map_or(access.address.cast_signed(), |a| a.cast_signed().into());
            let name = "private memory of the thread";
            let message = super::missed(name, size, offset, access.bytes, verb(access));
            let space = Space::Private;
            let mut finding = this.finding(Kind::OutOfBounds, space, message, access.lane);
            finding.target = Some(Target {
                name: name.to_owned(),
                argument: None,
                bytes: size,
                offset,
            });
            with_access(finding, access)
        });
    }

    fn look_at_alignment(&mut self, access: &MemoryAccess, located: &Located) {
        let mut wrong = access.misaligned;
        let mut object = usize::MAX;
        let mut space = Space::Global;
        let mut offset = 0;
        match located.reached {
            Reached::Local => space = Space::Local,
            Reached::Scratch => space = Space::Private,
            Reached::Flat(index, address) => {
                object = index;
                if let Some(known) = self.objects.get(index) {
                    space = known.space();
                    offset = address.wrapping_sub(known.object.address);
                    // Elements as wide as the declared type are meant to be its elements.
                    let element = known.element;
                    let same = u64::from(access.bytes) == element;
                    wrong |=
                        element > 1 && same && !offset.is_multiple_of(element) && !access.texel;
                }
            }
        }
        if !wrong {
            return;
        }
        let cause = self.cause(Kind::Misaligned, NONE, object);
        self.find(cause, |this| {
            let verb = verb(access);
            let (bytes, address) = (access.bytes, access.address);
            let message = format!("{verb} of {bytes} bytes at {address:#x}, which is not aligned");
            let mut finding = this.finding(Kind::Misaligned, space, message, access.lane);
            finding.target = this.target(object, offset.cast_signed());
            with_access(finding, access)
        });
    }

    fn look_for_races(&mut self, access: &MemoryAccess, located: &Located, registers: &[u8]) {
        let local = match located.reached {
            Reached::Local => true,
            Reached::Scratch => return,
            Reached::Flat(object, _) => {
                let known = self.objects.get(object);
                let shared = known.is_some_and(|known| {
                    !matches!(known.object.kind, ObjectKind::Private | ObjectKind::Printf)
                        && !known.constant
                });
                if !shared {
                    return;
                }
                false
            }
        };
        let thread = self.current.1;
        let time = self.threads.get(thread).and_then(Option::as_ref);
        let time = time.map_or(0, |t| t.time);
        let mut now = Mark {
            group: self.number,
            time,
            step: self.current.0,
            value: 0,
            thread: u16::try_from(thread).unwrap_or(u16::MAX),
            lane: self.thread_lane(access.lane).unwrap_or(LANES),
            bytes: 0,
        };
        let first = located.address;
        let last = first.saturating_add(located.inside as u64);
        let mut cell = first / 4;
        let mut worst: Option<(Conflict, Mark)> = None;
        while cell * 4 < last {
            let from = first.max(cell * 4);
            let to = last.min(cell * 4 + 4);
            let inside = from - cell * 4;
            let mask = (1u8 << (to - from)) - 1;
            now.bytes = mask << inside;
            if access.atomic {
                now.bytes |= ATOMIC;
            }
            if access.conditional {
                now.bytes |= CONDITIONAL;
            }
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
            let found = self.order.access(cells, (local, cell), now, access.write);
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

    fn race(&mut self, access: &MemoryAccess, located: &Located, conflict: &Conflict, now: &Mark) {
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
        let mine = self.key(now.step);
        let others = self.key(conflict.other.step);
        let cause = Cause {
            kind,
            step: mine.min(others),
            other: mine.max(others),
            object,
            detail: 0,
        };
        let current = (self.number, self.group.0);
        self.find(cause, |this| {
            let verb = |mark: &Mark, writes| match (mark.bytes & ATOMIC != 0, writes) {
                (true, _) => "atomic operation",
                (false, true) => "write",
                (false, false) => "read",
            };
            let mine = verb(now, access.write);
            let theirs = verb(&conflict.other, conflict.other_writes);
            let how = if conflict.same_message {
                "by another lane of the same instruction"
            } else if conflict.lockstep {
                "by another lane of the thread, which only lockstep orders"
            } else if conflict.other.group == now.group {
                "by another thread of the group"
            } else {
                "by another group"
            };
            let same = if conflict.same_value {
                ", of the same value"
            } else {
                ""
            };
            let message = format!("{mine} without an order with a {theirs} {how}{same}");
            let mut finding = this.finding(kind, space, message, access.lane);
            finding.target = match located.reached {
                Reached::Flat(object, _) => this.target(object, offset.cast_signed()),
                _ => {
                    let at = this.objects.local_at(located.address, access.bytes.into());
                    let of = at.and_then(|at| this.objects.local.get(at));
                    of.map(|(object, name)| Target {
                        name: name.clone(),
                        argument: object.argument,
                        bytes: object.bytes,
                        offset: located.address.wrapping_sub(object.start).cast_signed(),
                    })
                }
            };
            if access.write && !access.atomic {
                finding.value = Some(now.value.into());
            }
            let lane = (conflict.other.lane != LANES).then_some(conflict.other.lane);
            let mut item = this.item(conflict.other.thread.into(), lane);
            if conflict.other.group != current.0 {
                let number = conflict.other.group.saturating_sub(1);
                item = this.item_of_group(number, conflict.other.thread.into(), lane);
            }
            finding.other = Some(Other {
                what: format!("the {theirs}"),
                place: Some(this.place(conflict.other.step)),
                item: Some(item),
            });
            with_access(finding, access)
        });
    }

    /// Carries definedness between registers and memory.
    fn move_definedness(&mut self, access: &MemoryAccess, located: &Located) {
        let (object, fresh, shadowed, structure, space) = match located.reached {
            Reached::Local => (None, true, true, false, Space::Local),
            Reached::Scratch => (None, true, true, false, Space::Private),
            Reached::Flat(index, _) => match self.objects.get(index) {
                Some(known) => (
                    Some(index),
                    known.is_private() || known.uninitialized,
                    known.is_private(),
                    known.structure,
                    known.space(),
                ),
                None => return,
            },
        };
        let flat = matches!(located.reached, Reached::Flat(..));
        let Some(Some(thread)) = self.threads.get_mut(self.current.1) else {
            return;
        };
        let pages = match located.reached {
            Reached::Local => &mut self.local,
            Reached::Scratch => &mut thread.scratch,
            Reached::Flat(..) => &mut self.flat,
        };
        // A buffer that is defined, and in which nobody has put anything else.
        let plain = flat && !fresh && pages.is_empty();
        let mut unwritten = None;
        let mut output = None;
        let mut done = 0;
        let total = located.inside.min(access.bytes as usize);
        if access.read
            && let Some(data) = access.data
        {
            if located.inside >= access.bytes as usize {
                thread.shadow.define(data.whole, data.whole_bytes);
            }
            while done < total && !plain {
                let count = (total - done).min(8);
                let (bits, origin) = pages.element(located.address + done as u64, count, fresh);
                if bits != 0 {
                    thread
                        .shadow
                        .set_element(data.offset + done, count, bits, origin);
                    if origin == 0 {
                        unwritten = unwritten.or(Some((data.offset + done, count)));
                    }
                }
                done += count;
            }
        }
        done = 0;
        if access.atomic {
            let mut bits = 0;
            for at in access.operands.iter().flatten() {
                let part = thread.shadow.element(*at, total.min(8));
                if part != 0 {
                    let origin = thread.shadow.origin(*at, total.min(8));
                    output = output.or(Some((*at, origin)));
                    bits |= part;
                }
            }
            if shadowed {
                let origin = output.map_or(0, |(_, origin)| origin);
                output = None;
                let (before, from) = pages.element(located.address, total.min(8), fresh);
                let keeps = !access.overwrites && before != 0;
                let (bits, origin) = if keeps {
                    (before | bits, from)
                } else {
                    (bits, origin)
                };
                pages.set(located.address, total.min(8), bits, origin, fresh);
            } else if fresh && access.overwrites {
                pages.set(located.address, total.min(8), 0, 0, fresh);
            }
        } else if access.write
            && let Some(data) = access.data
        {
            while done < total {
                let count = (total - done).min(8);
                let at = data.offset + done;
                let mut bits = thread.shadow.element(at, count);
                let address = located.address + done as u64;
                if bits == 0 {
                    if !plain {
                        pages.set(address, count, 0, 0, fresh);
                    }
                    done += count;
                    continue;
                }
                let origin = thread.shadow.origin(at, count);
                let filler = object
                    .and_then(|o| self.objects.get(o))
                    .is_some_and(|k| k.is_filler(address.wrapping_sub(k.object.address)));
                if !(shadowed || filler || structure && is_padding(bits, count)) {
                    output = output.or(Some((at, origin)));
                    bits = 0;
                }
                pages.set(address, count, bits, origin, fresh);
                done += count;
            }
        }
        if let Some((at, count)) = unwritten {
            let origin = self.intern(Origin::Memory(space, self.current.0, object));
            if let Some(Some(thread)) = self.threads.get_mut(self.current.1) {
                for at in (at..at + count).chain(at..at + total.min(access.bytes as usize)) {
                    if thread.shadow.origin(at, 1) == 0 {
                        thread.shadow.set_origin(at, 1, origin);
                    }
                }
            }
        }
        if let Some((at, origin)) = output
            && (self.checks.uninitialized
                || matches!(self.origins.get(origin as usize), Some(Origin::Outside(..))))
        {
            self.undefined("an output", space, origin, access.lane, at);
        }
    }
}

/// Some whole bytes of an element are undefined, but not all of any four bytes.
fn is_padding(bits: u64, bytes: usize) -> bool {
    (0..bytes.div_ceil(4)).all(|dword| {
        let size = (bytes - 4 * dword).min(4);
        let part = bits >> (32 * dword) & low_bytes(size);
        part != low_bytes(size)
    })
}

const fn verb(access: &MemoryAccess) -> &'static str {
    if access.atomic {
        "atomic operation"
    } else if access.write {
        "write"
    } else {
        "read"
    }
}

fn with_access(mut finding: Finding, access: &MemoryAccess) -> Finding {
    finding.address = Some(access.address);
    finding.bytes = Some(access.bytes);
    finding
}

impl Checker {
    /// What findings of a step are counted under: its source line, where that is known.
    pub(super) fn key(&self, step: u32) -> u32 {
        self.keys
            .get(step as usize)
            .copied()
            .unwrap_or(small(step as usize))
    }
}
