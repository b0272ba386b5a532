//! Findings: one for each cause, and their messages.

use super::origins::{Area, Missed, Origin};
use super::{Cause, Checker, small};
use crate::finding::{Access, Finding, Kind, Other, Space, Target};
use crate::objects::Known;
use crate::shadow::OriginId;
use visakit_exec::MemoryAccess;

/// In causes: local memory, private memory and registers, which are no objects.
pub(super) const OF_LOCAL: usize = usize::MAX;
pub(super) const OF_PRIVATE: usize = usize::MAX - 2;
const OF_REGISTERS: usize = usize::MAX - 3;

impl Checker {
    pub(super) fn cause(&self, kind: Kind, other: u32, object: usize) -> Cause {
        let mut cause = Cause {
            other,
            object,
            ..Cause::new(kind, self.key(self.current.0))
        };
        cause.class.accesses[0] = self.accessing;
        cause
    }

    pub(super) fn target(&self, object: usize, offset: i64) -> Option<Target> {
        let known = self.objects.get(object)?;
        Some(Target {
            name: known.name.clone(),
            argument: known.argument,
            bytes: known.object.bytes,
            offset,
        })
    }

    /// The key under which findings of a step are counted: its source line, if that is known.
    pub(super) fn key(&self, step: u32) -> u32 {
        self.keys
            .get(step as usize)
            .copied()
            .unwrap_or(small(step as usize))
    }

    /// Counts a finding, and creates it if its cause is new.
    pub(super) fn find(&mut self, cause: Cause, make: impl FnOnce(&Self) -> Finding) {
        if self.found.counts(&cause, self.moment()) {
            return;
        }
        let mut finding = make(self);
        finding.access = finding.access.or(cause.class.accesses[0]);
        self.found.put(cause, finding);
    }

    /// Now: the group, counted from 0, and how many instructions its threads have run.
    fn moment(&self) -> (u64, u64) {
        (
            u64::from(self.group.number.saturating_sub(1)),
            self.group.instructions.saturating_sub(1),
        )
    }

    pub(super) fn finding(
        &self,
        kind: Kind,
        space: Space,
        message: String,
        lane: Option<u8>,
    ) -> Finding {
        let (step, thread) = self.current;
        Finding {
            kind,
            space,
            access: None,
            between: None,
            place: self.place(step),
            message,
            target: None,
            item: Some(self.item(thread, self.thread_lane(lane))),
            address: None,
            bytes: None,
            value: None,
            other: None,
            moment: self.moment(),
            count: 1,
        }
    }

    /// Undefined bits have reached something that they must not.
    pub(super) fn undefined(&mut self, what: &str, origin: OriginId, lane: Option<u8>, at: usize) {
        let (read, variable) = match self.origin(origin, at) {
            Origin::Missed(missed) => {
                if self.checks.memory {
                    self.misses(missed, lane, Access::Read);
                }
                return;
            }
            Origin::Beside => return,
            Origin::Unwritten(from) => (Some(from), None),
            Origin::Register(at) => (None, self.variable(at)),
        };
        // After a failed barrier, the values others were to write are missing.
        let local = read.is_some_and(|from| from.space == Space::Local);
        if !self.checks.uninitialized || self.group.diverged && local {
            return;
        }
        let detail = match what {
            "a branch" => 0,
            "an address" => 1,
            "a predicate" => 2,
            _ => 3,
        };
        let object = read.map_or(OF_REGISTERS, |from| match (from.object, from.space) {
            (Some(object), _) => object,
            (None, Space::Local) => OF_LOCAL,
            (None, _) => OF_PRIVATE,
        });
        let cause = Cause {
            detail,
            object,
            ..Cause::new(Kind::Uninitialized, self.key(self.current.0))
        };
        self.find(cause, |this| {
            let message = format!("{what} depends on bits that were never written");
            let (what, place, space) = match read {
                Some(from) => {
                    let of = from.object.and_then(|o| this.objects.get(o));
                    let of = of.map_or_else(String::new, |k| format!(" of `{}`", k.name));
                    let space = from.space.name();
                    let what = format!("read from {space} memory{of} that was never written");
                    (what, Some(this.place(from.step)), from.space)
                }
                None => {
                    let what = variable.map_or_else(
                        || "a register that was never written".to_owned(),
                        |name| format!("variable {name} was never written in this lane"),
                    );
                    (what, None, Space::Register)
                }
            };
            let mut finding = this.finding(Kind::Uninitialized, space, message, lane);
            finding.other = Some(Other {
                what,
                place,
                item: None,
                access: None,
            });
            finding
        });
    }

    /// A value that was read outside of an object is used, or something is written there.
    pub(super) fn misses(&mut self, missed: Missed, lane: Option<u8>, access: Access) {
        let mut cause = Cause {
            object: missed.area.key(),
            ..Cause::new(Kind::OutOfBounds, self.key(missed.step))
        };
        cause.class.accesses[0] = Some(access);
        self.find(cause, |this| {
            let space = this.space_of(missed.area);
            let mut finding = this.finding(Kind::OutOfBounds, space, String::new(), lane);
            finding.place = this.place(missed.step);
            finding.bytes = Some(missed.bytes);
            this.outside(
                &mut finding,
                missed.area,
                missed.offset,
                missed.bytes,
                access.noun(),
            );
            finding
        });
    }

    pub(super) fn space_of(&self, area: Area) -> Space {
        match area {
            Area::Object(object) => self.objects.get(object).map_or(Space::Global, Known::space),
            Area::Local => Space::Local,
            Area::Variable(_) => Space::Private,
        }
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

    /// Adds a description of the access, and the value it would have written.
    pub(super) fn with_access(&self, mut finding: Finding, access: &MemoryAccess) -> Finding {
        finding.address = Some(access.address);
        finding.bytes = Some(access.bytes);
        finding.value = finding.value.or(self.stored);
        finding
    }

    /// Describes how an access misses what it was meant for. The offset is the address in local memory.
    pub(super) fn outside(
        &self,
        finding: &mut Finding,
        area: Area,
        offset: i64,
        bytes: u32,
        verb: &str,
    ) {
        let target = match area {
            Area::Object(object) => self.target(object, offset),
            Area::Local => self.objects.local_near(offset.cast_unsigned()),
            Area::Variable(of) => self.addressed.get(of).map(|(range, name)| Target {
                name: name.clone(),
                argument: None,
                bytes: range.len() as u64,
                offset,
            }),
        };
        finding.message = target.as_ref().map_or_else(
            || "access to local memory, of which the kernel has none".to_owned(),
            |t| missed(&t.name, t.bytes, t.offset, bytes, verb),
        );
        finding.target = target;
    }
}

/// A description of how an access misses an object.
pub(super) fn missed(name: &str, size: u64, offset: i64, bytes: u32, verb: &str) -> String {
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

pub(super) const fn verb(access: &MemoryAccess) -> &'static str {
    Access::new(access.write, access.atomic).noun()
}
