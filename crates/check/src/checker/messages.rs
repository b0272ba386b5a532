//! Accesses to memory.

use super::origins::Area;
use super::steps::Role;
use super::{Checker, INTERLEAVED};
use crate::shadow::{OriginId, Shadow, element};
use visakit_exec::code::MessageOperands;
use visakit_exec::{InRegister, InstructionEvent, LanesAccess, MemoryAccess, Space as ExecSpace};

/// Where an access goes to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reached {
    Local,
    Scratch,
    /// An object in flat memory, and the address.
    Flat(usize, u64),
}

/// What is at an address, for an access of a given size.
pub(super) struct Located {
    pub(super) reached: Reached,
    pub(super) address: u64,
    /// Bytes that are inside, from the first one on. If there are none, what is read outside may still be unused.
    pub(super) inside: usize,
}

/// What all lanes of a message access together: memory and definedness have been checked, and only races remain to be
/// checked lane by lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    /// The first address, as accesses state it, and the number of bytes.
    address: u64,
    bytes: u64,
    /// The object, and the offset added to the addresses of accesses for those in flat memory; `None` for local memory.
    object: Option<(usize, u64)>,
}

impl Settled {
    fn locate(&self, access: &MemoryAccess) -> Option<Located> {
        let offset = access.address.checked_sub(self.address)?;
        if offset.checked_add(access.bytes.into())? > self.bytes {
            return None;
        }
        let (reached, address) = match self.object {
            Some((object, base)) => {
                let address = access.address.wrapping_add(base);
                (Reached::Flat(object, address), address)
            }
            None => (Reached::Local, access.address),
        };
        Some(Located {
            reached,
            address,
            inside: access.bytes as usize,
        })
    }
}

/// An operand of a message, other than its data, with undefined bits in an enabled lane: its place, lane and origin.
fn undefined_address(
    operands: &MessageOperands,
    mask: u32,
    shadow: &Shadow,
) -> Option<(usize, usize, OriginId)> {
    let lanes = operands.addresses.iter().flat_map(|operand| {
        let all = operand.bytes * operand.lanes;
        let lanes = if shadow.is_defined(operand.offset, all) {
            0
        } else {
            operand.lanes
        };
        let enabled = (0..lanes).filter(|lane| mask >> lane & 1 != 0);
        enabled.map(|lane| (operand.offset + lane * operand.bytes, operand.bytes, lane))
    });
    let scalars = operands.scalars.iter();
    let scalars = scalars.map(|range| (range.start, range.len(), 0));
    let all = lanes.chain(scalars);
    let wrong = all.filter(|(at, bytes, _)| !shadow.is_defined(*at, *bytes));
    let wrong = wrong.map(|(at, bytes, lane)| (at, lane, shadow.origin(at, bytes)));
    wrong.reduce(|one, other| {
        if one.2.or(other.2) == one.2 {
            one
        } else {
            other
        }
    })
}

impl Checker {
    /// A message is about to run: its operands.
    pub(super) fn message(&mut self, event: &InstructionEvent<'_>) {
        self.settled = None;
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
        let Some(Some(thread)) = self.group.threads.get_mut(event.thread) else {
            return;
        };
        let wrong = if self.tracks && event.mask != 0 {
            undefined_address(operands, event.mask, &thread.shadow)
        } else {
            None
        };
        if let Some(range) = &operands.loaded
            && !by_access
            && event.mask != 0
        {
            thread.shadow.define(range.start, range.len());
        }
        self.astray = wrong.is_some();
        if let Some((at, lane, origin)) = wrong {
            let lane = u8::try_from(lane).ok();
            self.undefined("an address", origin, lane, at);
        }
        if self.tracks
            && let Some((at, lane)) = self.unsure(event)
            && let Some(Some(thread)) = self.group.threads.get(event.thread)
        {
            let origin = thread.shadow.origin(at, 4);
            self.undefined("a predicate", origin, Some(lane), at);
        }
        if self.contiguous.is_none() && self.votes.0 + self.votes.1 >= 2 {
            // Addresses that fit both layouts are no evidence.
            let unclear = self.votes.1 == 0 && !self.interleaved.is_empty();
            self.contiguous = (!unclear).then_some(self.votes.1 == 0);
        }
        self.votes = (0, 0);
        self.interleaved.clear();
        if self.contiguous.is_none() && self.objects.scratch.item.is_some() {
            self.interleaved.extend(INTERLEAVED);
        }
        self.reached = None;
        if !self.checks.race {
            return;
        }
        let time = self.order.message(event.thread);
        if let Some(Some(thread)) = self.group.threads.get_mut(event.thread) {
            thread.time = time;
        }
    }

    /// Memory is about to be accessed.
    pub(super) fn access(&mut self, access: &MemoryAccess, registers: &[u8]) {
        let data = access.data.filter(|_| access.write && !access.atomic);
        // Blocks have no elements; of several elements it is the first.
        let size = access.element.min(access.bytes);
        self.stored = data
            .filter(|_| size > 1 || access.bytes == 1)
            .map(|data| element(registers, data.offset, size as usize));
        // Compilers load what lies between two elements they need.
        if access.read
            && !access.write
            && let Some(data) = access.data
            && let Some(to) = self
                .ever_read
                .get(data.whole..data.whole + data.whole_bytes)
            && !to.contains(&true)
        {
            self.define(data);
            if let Some(area) = self.area(access) {
                self.reached = Some((access.lane, area));
            }
            return;
        }
        if let Some(located) = self.settled.as_ref().and_then(|s| s.locate(access)) {
            if let Reached::Flat(object, _) = located.reached {
                self.reached = Some((access.lane, Area::Object(object)));
            }
            self.look_for_races(access, &located, registers);
            return;
        }
        let Some(located) = self.locate(access) else {
            // There is nothing: the loaded value is zero.
            if let Some(data) = access.data.filter(|_| access.read) {
                self.define(data);
            }
            return;
        };
        if located.inside == 0 {
            return;
        }
        if self.checks.memory {
            self.look_at_alignment(access, &located);
        }
        if self.checks.race {
            self.look_for_races(access, &located, registers);
        }
        if self.tracks {
            self.move_definedness(access, &located);
        }
    }

    /// Called before all lanes of a message access memory. Returns whether nothing can be wrong with any of them and
    /// nothing has to be recorded for single lanes.
    pub(super) fn all_lanes(&mut self, access: &LanesAccess) -> bool {
        self.settled = None;
        if access.misaligned {
            return false;
        }
        let Some((object, address)) = self.all_inside(access) else {
            return false;
        };
        let element = u64::from(access.element);
        let known = object.and_then(|object| self.objects.get(object));
        if let Some(known) = known {
            let offset = address.wrapping_sub(access.address);
            let base = offset.wrapping_sub(known.object.address);
            let base = if access.extent.is_some() {
                base
            } else {
                known.object.address
            };
            let is_number = known.element > 1 && element == known.element;
            if (base | access.low_bits) & (element - 1) != 0 {
                return false;
            }
            if self.checks.memory
                && is_number
                && let Some((at, bytes)) = access.data
                && self.moved.insert(self.current.0)
            {
                self.widths.moved(at, bytes, access.element);
            }
        } else if access.low_bits != 0 {
            return false;
        }
        if self.tracks && !self.all_defined(access, object, address) {
            return false;
        }
        if !self.checks.race || access.space == ExecSpace::Scratch {
            return true;
        }
        if object.is_some_and(|object| !self.is_shared(object)) {
            return true;
        }
        self.settled = Some(Settled {
            address: access.address,
            bytes: access.bytes,
            object: object.map(|object| (object, address.wrapping_sub(access.address))),
        });
        false
    }

    /// Propagates definedness between registers and memory for all lanes, if everything is defined. Anything else is
    /// examined lane by lane.
    fn all_defined(&mut self, access: &LanesAccess, object: Option<usize>, address: u64) -> bool {
        let Some((at, bytes)) = access.data.filter(|_| access.whole) else {
            return false;
        };
        let Some(Some(thread)) = self.group.threads.get_mut(self.current.1) else {
            return false;
        };
        let known = object.and_then(|object| self.objects.get(object));
        let fresh = known.is_none_or(|known| known.uninitialized) && self.checks.uninitialized;
        let pages = match access.space {
            ExecSpace::Local => &self.group.local,
            ExecSpace::Scratch => &thread.scratch,
            ExecSpace::Global | ExecSpace::Surface(_) => &self.flat,
        };
        if access.write {
            let plain = object.is_some() && !fresh && !pages.has(address, access.bytes);
            return plain && thread.shadow.is_defined(at, bytes);
        }
        let defined = pages.is_defined(address, access.bytes, fresh);
        if defined {
            thread.shadow.define(at, bytes);
        }
        defined
    }

    /// The object in flat memory that contains the accesses of all lanes, if there is one, and the first address.
    /// `None` if some lane is outside, or does something illegal.
    fn all_inside(&self, access: &LanesAccess) -> Option<(Option<usize>, u64)> {
        let end = access.address.checked_add(access.bytes)?;
        let address = match access.space {
            ExecSpace::Local => {
                let inside = self.objects.has_local(access.address, access.bytes);
                return inside.then_some((None, access.address));
            }
            ExecSpace::Scratch => {
                let scratch = self.objects.scratch;
                // Lanes are examined one by one.
                let together = scratch.item.is_none() || self.contiguous == Some(false);
                return (together && end <= scratch.bytes).then_some((None, access.address));
            }
            ExecSpace::Global => access.address,
            ExecSpace::Surface(_) => {
                let extent = access.extent.filter(|extent| end <= extent.bytes)?;
                extent.base.wrapping_add(access.address)
            }
        };
        if address >> 32 == 0 {
            return None;
        }
        let (object, offset) = self.objects.find(address)?;
        let known = self.objects.get(object)?;
        let offset = u64::try_from(offset).ok()?;
        let inside = offset.checked_add(access.bytes)? <= known.object.bytes;
        let apart = known.is_private() || known.released || known.constant && access.write;
        (inside && !apart).then_some((Some(object), address))
    }

    pub(super) fn define(&mut self, data: InRegister) {
        if let Some(Some(thread)) = self.group.threads.get_mut(self.current.1) {
            thread.shadow.define(data.whole, data.whole_bytes);
        }
    }
}
