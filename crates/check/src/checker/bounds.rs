//! Where accesses go, and which of them miss every object or are misaligned.

use super::messages::{Located, Reached};
use super::origins::{Area, Missed};
use super::report::{OF_PRIVATE, missed, verb};
use super::{Checker, NONE};
use crate::finding::{Kind, Space, Target};
use crate::shadow::OriginId;
use visakit_exec::{MemoryAccess, MissedTexel, Space as ExecSpace};

impl Checker {
    /// Finds the object that an access hits, and reports an access outside all objects. `None` if no part of it is
    /// inside.
    pub(super) fn locate(&mut self, access: &MemoryAccess) -> Option<Located> {
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
                if self.objects.has_local(access.address, size) {
                    self.reached = Some((access.lane, Area::Local));
                    return whole(Reached::Local, access.address);
                }
                let inside = self.objects.local_bytes(access.address);
                let located = Located {
                    reached: Reached::Local,
                    address: access.address,
                    inside: usize::try_from(inside).unwrap_or(0),
                };
                let place = i64::try_from(access.address).unwrap_or(i64::MAX);
                self.partly_inside(access, Area::Local, place, located)
            }
            ExecSpace::Scratch => {
                // Offsets have 32 bits; a large one was meant to be negative.
                let own = u32::try_from(access.address)
                    .map_or(access.address.cast_signed(), |a| a.cast_signed().into());
                let scratch = self.objects.scratch;
                if self.is_own(access, own, (scratch.bytes, scratch.item), OF_PRIVATE) {
                    return whole(Reached::Scratch, access.address);
                }
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
                // Offsets have 32 bits; a large one was meant to be negative.
                let offset = u32::try_from(access.address)
                    .map_or(access.address.cast_signed(), |a| a.cast_signed().into());
                let address = extent.base.wrapping_add_signed(offset);
                let (object, at) = self.objects.find(extent.base)?;
                let at = at.saturating_add(offset);
                self.part_inside(access, object, at, address)
            }
        }
    }

    /// What an access begins inside of, if that is not private memory.
    pub(super) fn area(&self, access: &MemoryAccess) -> Option<Area> {
        let address = match access.space {
            ExecSpace::Local => {
                let inside = self.objects.local_bytes(access.address) > 0;
                return inside.then_some(Area::Local);
            }
            ExecSpace::Scratch => return None,
            ExecSpace::Global => access.address,
            ExecSpace::Surface(_) => access.extent?.base.wrapping_add(access.address),
        };
        let (object, offset) = self.objects.find(address)?;
        let size = self.objects.get(object)?.object.bytes;
        let inside = u64::try_from(offset).is_ok_and(|offset| offset < size);
        inside.then_some(Area::Object(object))
    }

    fn locate_flat(&mut self, access: &MemoryAccess, address: u64) -> Option<Located> {
        if address >> 32 == 0 {
            self.null(access, &format!("address {address:#x}"));
            return None;
        }
        self.objects.reach(address);
        let found = self.objects.find(address);
        let near = |object: &(usize, i64)| {
            let size = self.objects.get(object.0).map_or(0, |k| k.object.bytes);
            object.1 - i64::try_from(size).unwrap_or(i64::MAX) < 1 << 31
        };
        // An address far past the end was meant to be before the next object.
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
                    this.with_access(finding, access)
                });
            }
            return None;
        };
        self.part_inside(access, object, offset, address)
    }

    /// An access to an object: the part of it that is inside.
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
        if known.released {
            self.dangling(access, object, offset);
            return None;
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
                    this.with_access(finding, access)
                });
            }
            self.reached = Some((access.lane, Area::Object(object)));
            return Some(Located {
                reached: Reached::Flat(object, address),
                address,
                inside: access.bytes as usize,
            });
        }
        let inside = if offset < 0 { 0 } else { size - offset };
        let located = Located {
            reached: Reached::Flat(object, address),
            address,
            inside: usize::try_from(inside).unwrap_or(0),
        };
        self.partly_inside(access, Area::Object(object), offset, located)
    }

    /// An access that is not inside of what it was meant for, but for the first bytes. Compilers load more than they
    /// use: what a lane reads outside after something inside is a fault only if it is used.
    fn partly_inside(
        &mut self,
        access: &MemoryAccess,
        area: Area,
        offset: i64,
        located: Located,
    ) -> Option<Located> {
        let follows = located.inside > 0 || self.reached == Some((access.lane, area));
        if access.read && !access.write && follows && !access.texel {
            let missed = Missed {
                step: self.current.0,
                area,
                offset,
                bytes: access.bytes,
            };
            let origin = self.origins.missed(missed);
            if let Some(data) = access.data {
                self.define(data);
                self.tracks |= self.checks.memory;
                self.mark_outside(access, (area, offset), data.offset, origin);
            }
            if located.inside > 0 {
                self.reached = Some((access.lane, area));
            }
            return Some(located);
        }
        if self.checks.memory {
            let kind = if access.texel {
                Kind::Dropped
            } else {
                Kind::OutOfBounds
            };
            let cause = self.cause(kind, NONE, area.key());
            self.find(cause, |this| {
                let space = this.space_of(area);
                let mut finding = this.finding(kind, space, String::new(), access.lane);
                this.outside(&mut finding, area, offset, access.bytes, verb(access));
                this.with_access(finding, access)
            });
        }
        None
    }

    /// Marks the elements of a read that are not whole inside of what it was meant for.
    fn mark_outside(
        &mut self,
        access: &MemoryAccess,
        (area, offset): (Area, i64),
        to: usize,
        origin: OriginId,
    ) {
        let Some(Some(thread)) = self.group.threads.get_mut(self.current.1) else {
            return;
        };
        let size = match area {
            Area::Object(object) => self.objects.get(object).map(|known| known.object.bytes),
            Area::Local | Area::Variable(_) => None,
        };
        let size = size.and_then(|bytes| i64::try_from(bytes).ok());
        let is_inside = |byte: usize| {
            let at = offset.saturating_add(i64::try_from(byte).unwrap_or(i64::MAX));
            match size {
                Some(size) => (0..size).contains(&at),
                None => self.objects.has_local(at.cast_unsigned(), 1),
            }
        };
        let bytes = access.bytes as usize;
        // Blocks are read by dwords.
        let element = match access.lane {
            Some(_) => access.element.max(1) as usize,
            None => 4,
        };
        for first in (0..bytes).step_by(element) {
            let element = first..bytes.min(first + element);
            if element.clone().all(is_inside) {
                continue;
            }
            for byte in element {
                let origin = if is_inside(byte) {
                    OriginId::BESIDE
                } else {
                    origin
                };
                thread.shadow.set_element(to + byte, 1, 0xff, origin);
            }
        }
    }

    /// An access to a buffer that is no more.
    fn dangling(&mut self, access: &MemoryAccess, object: usize, offset: i64) {
        if !self.checks.memory {
            return;
        }
        let cause = self.cause(Kind::Dangling, NONE, object);
        self.find(cause, |this| {
            let name = this.objects.get(object).map_or("", |k| k.name.as_str());
            let message = format!(
                "{} of {} bytes through a pointer to {name}, which was released",
                verb(access),
                access.bytes
            );
            let space = Space::Global;
            let mut finding = this.finding(Kind::Dangling, space, message, access.lane);
            finding.target = this.target(object, offset);
            this.with_access(finding, access)
        });
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
        let inside = self.is_own(access, own, (private.thread, private.item), object);
        inside.then_some(Located {
            reached: Reached::Flat(object, address),
            address,
            inside: access.bytes as usize,
        })
    }

    /// Whether an access to private memory is inside the part of the work-item, or else of the thread, of this many
    /// bytes; reports it if not. `own` is relative to the start of the thread's memory.
    fn is_own(
        &mut self,
        access: &MemoryAccess,
        own: i64,
        (thread, item): (u64, Option<u64>),
        object: usize,
    ) -> bool {
        let bytes = i64::from(access.bytes);
        let (mut low, mut high) = (0, i64::try_from(thread).unwrap_or(i64::MAX));
        let mut name = "private memory of the thread";
        if let (Some(item), Some(lane)) = (item, self.thread_lane(access.lane))
            && let Ok(item) = i64::try_from(item)
        {
            let first = item.saturating_mul(lane.into());
            let matches = own >= first && own + bytes <= first + item;
            match self.contiguous {
                Some(true) => {
                    (low, high) = (first, first + item);
                    name = "private memory of the work-item";
                }
                Some(false) => {}
                None if matches => self.votes.0 += 1,
                None => self.votes.1 += 1,
            }
            if access.space == ExecSpace::Scratch && self.contiguous.is_none() {
                let simd = i64::from(self.ids.simd.max(1));
                self.interleaved.retain(|element| {
                    own.rem_euclid(simd * element).div_euclid(*element) == i64::from(lane)
                });
            }
        }
        if own >= low && own + bytes <= high {
            return true;
        }
        if self.checks.memory {
            let cause = self.cause(Kind::OutOfBounds, NONE, object);
            self.find(cause, |this| {
                let size = u64::try_from(high - low).unwrap_or(0);
                let message = missed(name, size, own - low, access.bytes, verb(access));
                let space = Space::Private;
                let mut finding = this.finding(Kind::OutOfBounds, space, message, access.lane);
                finding.target = Some(Target {
                    name: name.to_owned(),
                    argument: None,
                    bytes: size,
                    offset: own - low,
                });
                this.with_access(finding, access)
            });
        }
        false
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
            this.with_access(finding, access)
        });
    }

    pub(super) fn look_at_alignment(&mut self, access: &MemoryAccess, located: &Located) {
        let mut wrong = access.misaligned;
        let mut object = usize::MAX;
        let mut space = Space::Global;
        let mut offset = located.address;
        let element = u64::from(access.element);
        // Whether compilers may have merged parts of something into one element.
        let mut unsure = !access.texel;
        match located.reached {
            Reached::Local => space = Space::Local,
            Reached::Scratch => (space, unsure) = (Space::Private, false),
            Reached::Flat(index, address) => {
                object = index;
                if let Some(known) = self.objects.get(index) {
                    space = known.space();
                    offset = address.wrapping_sub(known.object.address);
                    // The layout of other memory is chosen by the compiler, which knows what is allowed.
                    unsure &= !known.structure && known.argument.is_some();
                    // Elements as wide as the declared type are assumed to be its elements.
                    if known.element > 1 && element == known.element && !access.texel {
                        wrong |= !offset.is_multiple_of(element);
                        if !wrong && let Some(data) = access.data {
                            self.widths
                                .moved(data.whole, data.whole_bytes, access.element);
                        }
                    }
                }
            }
        }
        let mut unconfirmed = None;
        if !wrong {
            // Low bits of an address of several bytes: a fault if the program uses them as one number.
            let data = access.data.filter(|_| unsure);
            // Numbers of two bytes are often written as bytes.
            let bytes = element < 2 || element == 2 && access.write;
            if bytes || offset.is_multiple_of(element) {
                return;
            }
            let Some(data) = data else { return };
            unconfirmed = Some((data.whole..data.whole + data.whole_bytes, access.element));
        }
        let cause = self.cause(Kind::Misaligned, NONE, object);
        let known = self.found.has(&cause);
        self.find(cause, |this| {
            let verb = verb(access);
            let (bytes, address) = (access.bytes, access.address);
            let message = format!("{verb} of {bytes} bytes at {address:#x}, which is not aligned");
            let mut finding = this.finding(Kind::Misaligned, space, message, access.lane);
            finding.target = this.target(object, offset.cast_signed());
            this.with_access(finding, access)
        });
        match (known, unconfirmed) {
            (false, Some(what)) => {
                self.unconfirmed.insert(cause, what);
            }
            (true, None) => {
                self.unconfirmed.remove(&cause);
            }
            _ => {}
        }
    }

    /// A lane addresses a texel that an image does not have. In programs for media that is intended: they read the colour
    /// of the border, and what they write is dropped.
    pub(super) fn look_at_missed(&mut self, texel: &MissedTexel) {
        let media = !self.ids.of_lanes;
        let defined = !texel.write && (media || texel.bordered && self.bordered);
        if !self.checks.memory || defined {
            return;
        }
        let base = texel.extent.map_or(0, |extent| extent.base);
        let object = self.objects.find(base).map_or(usize::MAX, |found| found.0);
        let kind = if media {
            Kind::Dropped
        } else {
            Kind::OutOfBounds
        };
        let cause = self.cause(kind, NONE, object);
        self.find(cause, |this| {
            let target = this.target(object, 0);
            let name = target.as_ref().map_or("an image", |t| t.name.as_str());
            let verb = if texel.write { "write" } else { "read" };
            // Dimensions that are not there have one texel, and are at 0.
            let last = |d: &usize| {
                let of = |numbers: Option<&i64>| numbers.copied().unwrap_or(0);
                texel.size.get(*d).is_some_and(|n| *n > 1) || of(texel.at.get(*d)) != 0
            };
            let count = (0..3).rev().find(last).unwrap_or(0) + 1;
            let at: Vec<_> = texel.at.iter().take(count).map(i64::to_string).collect();
            let size: Vec<_> = texel.size.iter().take(count).map(u32::to_string).collect();
            let message = format!(
                "{verb} of texel ({}) of `{name}`, which has {}",
                at.join(", "),
                size.join(" x ")
            );
            let mut finding = this.finding(kind, Space::Global, message, Some(texel.lane));
            finding.target = target;
            finding
        });
    }

    /// A message accessed memory that does not exist. Reading zeroes there is intended.
    pub(super) fn look_at_dropped(&mut self, access: &MemoryAccess) {
        if !self.checks.memory || !access.write {
            return;
        }
        let base = access.extent.map_or(access.address, |extent| extent.base);
        let object = self.objects.find(base).map_or(usize::MAX, |found| found.0);
        let cause = self.cause(Kind::Dropped, NONE, object);
        self.find(cause, |this| {
            let known = this.objects.get(object);
            let name = known.map_or("a surface", |k| k.name.as_str());
            let verb = verb(access);
            let message =
                format!("{verb} outside of the rectangle that `{name}` is, which is dropped");
            let space = Space::Global;
            let mut finding = this.finding(Kind::Dropped, space, message, access.lane);
            finding.target = known.map(|k| Target {
                name: k.name.clone(),
                argument: k.argument,
                bytes: k.object.bytes,
                offset: 0,
            });
            finding.bytes = Some(access.bytes);
            finding
        });
    }
}
