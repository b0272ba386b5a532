//! Findings: one for each cause, and their messages.

use super::{Cause, Checker, Origin, small};
use crate::finding::{Access, Finding, Kind, Other, Space, Target};
use crate::objects::Known;
use crate::shadow::{OriginId, register_of};
use visakit_exec::MemoryAccess;

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

    pub(super) fn intern(&mut self, origin: Origin) -> OriginId {
        if let Some(number) = self.origin_numbers.get(&origin) {
            return *number;
        }
        let number = small(self.origins.len());
        self.origins.push(origin.clone());
        self.origin_numbers.insert(origin, number);
        number
    }

    /// Undefined bits have reached something that they must not.
    pub(super) fn undefined(
        &mut self,
        what: &str,
        space: Space,
        origin: OriginId,
        lane: Option<u8>,
        at: usize,
    ) {
        let (step, _) = self.current;
        let (known, at) = match register_of(origin) {
            Some(place) => (Origin::Register, place),
            None => {
                let known = self.origins.get(origin as usize).cloned();
                (known.unwrap_or(Origin::Register), at)
            }
        };
        // After a failed barrier, the values others were to write are missing.
        if self.group.diverged && matches!(known, Origin::Memory(Space::Local, ..)) {
            return;
        }
        if let Origin::Outside(from, object, offset, bytes) = known {
            // A value read past the end is used: the read is a fault.
            let mut cause = Cause {
                object,
                ..Cause::new(Kind::OutOfBounds, self.key(from))
            };
            cause.class.accesses[0] = Some(Access::Read);
            self.find(cause, |this| {
                let mut finding = this.finding(
                    Kind::OutOfBounds,
                    this.objects.get(object).map_or(Space::Global, Known::space),
                    String::new(),
                    lane,
                );
                finding.place = this.place(from);
                finding.bytes = Some(bytes);
                this.outside(&mut finding, object, offset, bytes, "read");
                finding
            });
            return;
        }
        let detail = match what {
            "a branch" => 0,
            "an address" => 1,
            "a predicate" => 2,
            _ => 3,
        };
        let cause = Cause {
            detail,
            ..Cause::new(Kind::Uninitialized, self.key(step))
        };
        self.find(cause, |this| {
            let message = format!("{what} depends on bits that were never written");
            let (other, space) = match &known {
                Origin::Register => {
                    let name = this.variable(at);
                    let what = name.map_or_else(
                        || "a register that was never written".to_owned(),
                        |name| format!("variable {name} was never written in this lane"),
                    );
                    let other = Other {
                        what,
                        place: None,
                        item: None,
                        access: None,
                    };
                    (other, Space::Register)
                }
                Origin::Memory(from, step, object) => {
                    let of = object.and_then(|o| this.objects.get(o));
                    let of = of.map_or_else(String::new, |k| format!(" of `{}`", k.name));
                    let other = Other {
                        what: format!(
                            "read from {} memory{of} that was never written",
                            from.name()
                        ),
                        place: Some(this.place(*step)),
                        item: None,
                        access: None,
                    };
                    (other, *from)
                }
                Origin::Outside(..) => (
                    Other {
                        what: String::new(),
                        place: None,
                        item: None,
                        access: None,
                    },
                    space,
                ),
            };
            let mut finding = this.finding(Kind::Uninitialized, space, message, lane);
            finding.other = Some(other);
            finding
        });
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

    /// Describes how an access misses an object.
    pub(super) fn outside(
        &self,
        finding: &mut Finding,
        object: usize,
        offset: i64,
        bytes: u32,
        verb: &str,
    ) {
        let Some(known) = self.objects.get(object) else {
            return;
        };
        let size = known.object.bytes;
        finding.message = missed(&known.name, size, offset, bytes, verb);
        finding.target = Some(Target {
            name: known.name.clone(),
            argument: known.argument,
            bytes: size,
            offset,
        });
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
