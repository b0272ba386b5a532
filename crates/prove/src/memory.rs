//! Memory whose bytes are terms, and who accesses them.

use crate::term::{Term, Terms, Variable};
use crate::unknown::Unknown;
use hashbrown::{HashMap, HashSet};
use std::ops::Range;
use visakit_exec::code::AtomicOp;
use visakit_launch::{MemoryObject, ObjectKind, Prepared};

/// When a thread accesses memory. Threads of a group are ordered by its barriers: what one read before its signal is before
/// what another does after the wait for it. What it wrote is if a fence is between it and the signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment {
    pub(crate) group: u64,
    pub(crate) thread: usize,
    pub(crate) signals: u64,
    pub(crate) waits: u64,
}

impl Moment {
    /// Whether a read is before what has run later.
    const fn is_before(self, later: Self) -> bool {
        self.group == later.group && (self.thread == later.thread || self.signals < later.waits)
    }
}

/// The fences of the threads of a group, for one kind of memory: of each, the thread's signals before it.
#[derive(Debug, Default)]
pub(crate) struct Fences(Vec<Vec<u64>>);

impl Fences {
    /// A thread runs a fence.
    pub(crate) fn add(&mut self, now: Moment) {
        if self.0.len() <= now.thread {
            self.0.resize(now.thread + 1, Vec::new());
        }
        if let Some(own) = self.0.get_mut(now.thread) {
            own.push(now.signals);
        }
    }

    /// A write that happens now.
    fn write(&self, now: Moment) -> Write {
        Write {
            at: now,
            fences: Some(self.0.get(now.thread).map_or(0, Vec::len)),
        }
    }
}

/// A write. Others see it after the first fence that follows it.
#[derive(Clone, Copy, Debug)]
struct Write {
    at: Moment,
    /// How many fences its thread had run. Nothing if a fence has followed, as many signals after the start as `at` has.
    fences: Option<usize>,
}

impl Write {
    /// The signals of its thread before the fence that follows it, if there has been one.
    fn seen(self, fences: &Fences) -> Option<u64> {
        match self.fences {
            None => Some(self.at.signals),
            Some(before) => fences.0.get(self.at.thread)?.get(before).copied(),
        }
    }

    /// Whether it is before what has run later.
    fn is_before(self, later: Moment, fences: &Fences) -> bool {
        self.at.group == later.group
            && (self.at.thread == later.thread
                || self
                    .seen(fences)
                    .is_some_and(|signals| signals < later.waits))
    }
}

/// A byte of an element that an atomic operation changes. Operations commute on the same element: where a part of it is
/// changed by itself, carries and comparisons show which came first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Element {
    /// One that stands for all with which it may be exchanged.
    pub(crate) op: AtomicOp,
    /// The number of the byte in the element.
    pub(crate) byte: u32,
    /// Bytes of the element.
    pub(crate) bytes: u32,
}

/// Accesses that commute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Operations that return nothing.
    Atomic(Element),
    /// Operations that return nothing, with these operands: once is as often as several times.
    Again(Element, [Term; 2]),
    /// Writes of this value, whatever else holds.
    Same(Term),
}

/// How a byte is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    Write,
    /// One that may be exchanged with others of its kind.
    Commuting(Kind),
    /// Any other atomic operation.
    Atomic,
}

/// Who has read a byte since it was written.
#[derive(Clone, Copy, Debug, Default)]
enum Readers {
    #[default]
    None,
    One(Moment),
    /// Several threads: their group, if it is one, and the latest moment.
    Many(Option<u64>, u64),
}

impl Readers {
    fn add(&mut self, now: Moment) {
        *self = match *self {
            Self::None => Self::One(now),
            Self::One(old) if old.group == now.group && old.thread == now.thread => Self::One(now),
            Self::One(old) => Self::Many(
                (old.group == now.group).then_some(now.group),
                old.signals.max(now.signals),
            ),
            Self::Many(group, latest) => Self::Many(
                group.filter(|group| *group == now.group),
                latest.max(now.signals),
            ),
        };
    }

    fn are_before(self, now: Moment) -> bool {
        match self {
            Self::None => true,
            Self::One(old) => old.is_before(now),
            Self::Many(group, latest) => group == Some(now.group) && latest < now.waits,
        }
    }
}

/// Accesses that commute, of several threads: the group and the thread if it is one, and the latest moment.
#[derive(Clone, Copy, Debug)]
struct Commuting {
    of: Kind,
    /// The last one.
    last: Write,
    /// The latest moment at which others see those of other threads. Nothing if there are none.
    others: Option<u64>,
    /// Whether something is after all of them: not if they are of several groups, or some were never fenced.
    has_end: bool,
}

impl Commuting {
    fn is_before(self, now: Moment, fences: &Fences) -> bool {
        self.has_end
            && self.last.is_before(now, fences)
            && self.others.is_none_or(|signals| signals < now.waits)
    }

    /// A write that is before what all of them are before.
    fn as_write(self, fences: &Fences) -> Write {
        match (self.others, self.last.seen(fences)) {
            (None, _) => self.last,
            (Some(others), Some(last)) => Write {
                at: Moment {
                    // No thread is after them by its own order.
                    thread: usize::MAX,
                    signals: others.max(last),
                    ..self.last.at
                },
                fences: None,
            },
            // Nothing is.
            (Some(_), None) => Write {
                at: Moment {
                    thread: usize::MAX,
                    ..self.last.at
                },
                fences: Some(0),
            },
        }
    }

    /// With another one of its kind.
    fn and(self, now: Write, fences: &Fences) -> Self {
        let one_group = self.last.at.group == now.at.group;
        let next = Self {
            last: now,
            has_end: self.has_end && one_group,
            ..self
        };
        if self.last.at.thread == now.at.thread {
            return next;
        }
        let seen = self.last.seen(fences);
        Self {
            others: seen.max(self.others),
            has_end: next.has_end && seen.is_some(),
            ..next
        }
    }
}

/// A byte. Accesses that are before the last write, which is before all others, are forgotten.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    value: Option<Term>,
    writer: Option<Write>,
    commuting: Option<Commuting>,
    /// Who has read it since it was written, and since accesses commute.
    readers: [Readers; 2],
}

impl Cell {
    fn access(&mut self, now: Moment, access: Access, fences: &Fences) -> Result<(), Unknown> {
        let race = Unknown::race(match access {
            Access::Atomic => "the result of an atomic operation depends on the order of threads",
            _ => "threads access a byte without an order, and one of them writes it",
        });
        let same_kind = |c: Commuting| access == Access::Commuting(c.of);
        let is_open = |c: Commuting| !same_kind(c) && !c.is_before(now, fences);
        if self.writer.is_some_and(|w| !w.is_before(now, fences))
            || self.commuting.is_some_and(is_open)
            || access != Access::Read && !self.readers.iter().all(|r| r.are_before(now))
        {
            return Err(race);
        }
        match access {
            Access::Read => {
                let [before, since] = &mut self.readers;
                let readers = match self.commuting {
                    Some(_) => since,
                    None => before,
                };
                readers.add(now);
            }
            Access::Write | Access::Atomic => {
                self.writer = Some(fences.write(now));
                self.commuting = None;
                self.readers = Default::default();
            }
            Access::Commuting(of) => {
                self.commuting = match self.commuting {
                    Some(old) if old.of == of => Some(old.and(fences.write(now), fences)),
                    old => {
                        // What is before everything else is as good as a write.
                        if let Some(old) = old {
                            self.writer = Some(old.as_write(fences));
                            self.readers = [self.readers[1], Readers::None];
                        }
                        Some(Commuting {
                            of,
                            last: fences.write(now),
                            others: None,
                            has_end: true,
                        })
                    }
                };
            }
        }
        Ok(())
    }
}

/// Bytes by address.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    cells: HashMap<u64, Cell>,
    pub(crate) fences: Fences,
}

impl Bytes {
    /// Notes an access; an error if it is a race.
    pub(crate) fn access(
        &mut self,
        address: u64,
        now: Moment,
        access: Access,
    ) -> Result<(), Unknown> {
        let cell = self.cells.entry(address).or_default();
        cell.access(now, access, &self.fences)
    }

    pub(crate) fn get(&self, address: u64) -> Option<Term> {
        self.cells.get(&address)?.value
    }

    pub(crate) fn set(&mut self, address: u64, value: Term) {
        self.cells.entry(address).or_default().value = Some(value);
    }

    /// All addresses with a value.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        let set = self.cells.iter().filter(|(_, cell)| cell.value.is_some());
        set.map(|(address, _)| *address)
    }
}

/// What an object holds before the kernel runs.
#[derive(Debug)]
enum Content {
    /// The bytes of an argument, which nobody knows.
    Argument(u32),
    Known(Vec<u8>),
    Undefined,
    /// Output that is not compared.
    Output,
}

/// The byte of an argument of that size before the kernel runs. Dwords are whole, as kernels mostly load them.
pub(crate) fn input(terms: &mut Terms, argument: u32, offset: u64, bytes: u64) -> Term {
    let first = offset & !3;
    if bytes - first < 4 {
        return terms.variable(Variable::Input { argument, offset }, 8);
    }
    let offset_in = u8::try_from(8 * (offset & 3)).unwrap_or(0);
    let dword = Variable::Input {
        argument,
        offset: first,
    };
    let dword = terms.variable(dword, 32);
    terms.extract(dword, offset_in, 8)
}

/// Global memory of a launch.
#[derive(Debug)]
pub(crate) struct Global {
    /// By address.
    objects: Vec<(MemoryObject, Content)>,
    pub(crate) bytes: Bytes,
    /// Addresses of images that samplers read: nobody writes them.
    sampled: Vec<Range<u64>>,
}

impl Global {
    /// The memory of a launch. The contents of the arguments in `known` are as they are.
    pub(crate) fn new(launch: &Prepared, known: &HashSet<usize>) -> Self {
        let mut objects: Vec<(MemoryObject, Content)> = Vec::new();
        for object in launch.objects() {
            let read = || {
                let found = launch.memory().find(object.address);
                let all = found.map(|(buffer, at)| (launch.memory().read(buffer), at));
                let part = all.and_then(|(bytes, at)| {
                    let at = usize::try_from(at).ok()?;
                    let end = at.checked_add(usize::try_from(object.bytes).ok()?)?;
                    Some(bytes.get(at..end)?.to_vec())
                });
                part.map_or(Content::Undefined, Content::Known)
            };
            let content = match &object.kind {
                ObjectKind::Argument(number) if known.contains(number) => read(),
                ObjectKind::Argument(number) => {
                    Content::Argument(u32::try_from(*number).unwrap_or(u32::MAX))
                }
                ObjectKind::Data(_) | ObjectKind::Other => read(),
                ObjectKind::Private => Content::Undefined,
                ObjectKind::Printf => Content::Output,
            };
            // The first of several arguments that are one buffer speaks for it.
            if !objects.iter().any(|(o, _)| o.address == object.address) {
                objects.push((object, content));
            }
        }
        objects.sort_by_key(|(object, _)| object.address);
        Self {
            objects,
            bytes: Bytes::default(),
            sampled: Vec::new(),
        }
    }

    /// Another group begins: its threads have the private memory of those before, with any content.
    pub(crate) fn begin_group(&mut self) {
        self.bytes.fences = Fences::default();
        for (object, _) in &self.objects {
            if object.kind == ObjectKind::Private {
                let range = object.address..object.address.saturating_add(object.bytes);
                self.bytes
                    .cells
                    .retain(|address, _| !range.contains(address));
            }
        }
    }

    fn object(&self, address: u64) -> Option<(&MemoryObject, &Content)> {
        let after = self.objects.partition_point(|(o, _)| o.address <= address);
        let (object, content) = self.objects.get(after.checked_sub(1)?)?;
        (address - object.address < object.bytes).then_some((object, content))
    }

    /// The byte at an address, now.
    pub(crate) fn read(&mut self, terms: &mut Terms, address: u64) -> Term {
        if let Some(value) = self.bytes.get(address) {
            return value;
        }
        let value = match self.object(address) {
            Some((object, Content::Argument(argument))) => {
                input(terms, *argument, address - object.address, object.bytes)
            }
            Some((object, Content::Known(bytes))) => {
                let offset = usize::try_from(address - object.address).ok();
                let byte = offset.and_then(|offset| bytes.get(offset)).copied();
                terms.constant(byte.unwrap_or(0).into(), 8)
            }
            _ => terms.undefined(),
        };
        self.bytes.set(address, value);
        value
    }

    /// The argument whose image, at these addresses, a sampler reads: nobody has written it, or will.
    pub(crate) fn sampled(&mut self, image: Range<u64>) -> Result<u32, Unknown> {
        let Some((object, Content::Argument(argument))) = self.object(image.start) else {
            return Err(Unknown::new("a sampler reads what is no argument"));
        };
        if object.address != image.start || image.end - image.start != object.bytes {
            return Err(Unknown::new("a sampler reads a part of an argument"));
        }
        let argument = *argument;
        if !self.sampled.contains(&image) {
            let mut written = self.bytes.cells.iter().filter(|(address, cell)| {
                image.contains(address) && (cell.writer.is_some() || cell.commuting.is_some())
            });
            if written.next().is_some() {
                return Err(Unknown::new("a sampler reads an image that is written"));
            }
            self.sampled.push(image);
        }
        Ok(argument)
    }

    /// Whether a byte may be written: an object has it, whose end is compared, and no sampler reads it.
    pub(crate) fn check_write(&self, address: u64) -> Result<(), Unknown> {
        if self.sampled.iter().any(|image| image.contains(&address)) {
            return Err(Unknown::new("a write to an image that a sampler reads"));
        }
        match self.object(address) {
            Some((_, Content::Output)) => Err(Unknown::new("the kernel prints")),
            Some(_) => Ok(()),
            None => Err(Unknown::new("a write outside of all objects")),
        }
    }

    /// The arguments that are buffers or images, with address and size.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (usize, u64, u64)> + '_ {
        self.objects
            .iter()
            .filter_map(|(object, _)| match object.kind {
                ObjectKind::Argument(number) => Some((number, object.address, object.bytes)),
                _ => None,
            })
    }

    /// Variables of the program that outlive the kernel and that it wrote.
    pub(crate) fn writes_variables(&self) -> bool {
        let mut data = self.objects.iter().filter(|(object, content)| {
            matches!(object.kind, ObjectKind::Data(_)) && matches!(content, Content::Known(_))
        });
        data.any(|(object, _)| {
            let range = object.address..object.address + object.bytes;
            self.bytes.cells.iter().any(|(address, cell)| {
                range.contains(address) && (cell.writer.is_some() || cell.commuting.is_some())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visakit_testing::layouts::Random;

    /// Whether two accesses, the first of which has run earlier, need an order.
    fn conflict(a: Access, b: Access) -> bool {
        match (a, b) {
            (Access::Read, Access::Read) => false,
            (Access::Commuting(a), Access::Commuting(b)) => a != b,
            _ => true,
        }
    }

    /// What is remembered of a byte is enough: no access passes that any earlier one conflicts with, whichever groups,
    /// threads and halves of split barriers they are in, and wherever there are fences.
    #[test]
    fn every_race_is_noticed() {
        let element =
            |op, byte, bytes| Access::Commuting(Kind::Atomic(Element { op, byte, bytes }));
        let mut terms = Terms::new();
        let again = |op, a, b| {
            let element = Element {
                op,
                byte: 0,
                bytes: 4,
            };
            Access::Commuting(Kind::Again(element, [a, b]))
        };
        let numbers = [0, 1].map(|value| terms.constant(value, 32));
        let mut same = |value| Access::Commuting(Kind::Same(terms.constant(value, 8)));
        let kinds = [
            Access::Read,
            Access::Read,
            Access::Write,
            element(AtomicOp::Add, 0, 4),
            element(AtomicOp::Add, 0, 4),
            element(AtomicOp::Add, 0, 2),
            element(AtomicOp::Add, 2, 4),
            element(AtomicOp::Or, 0, 4),
            same(0),
            same(0),
            same(1),
            Access::Atomic,
            again(AtomicOp::CompareExchange, numbers[0], numbers[1]),
            again(AtomicOp::CompareExchange, numbers[0], numbers[1]),
            again(AtomicOp::CompareExchange, numbers[1], numbers[1]),
        ];
        let (mut passed, mut races) = (0, 0);
        for seed in 0..30_000 {
            let mut random = Random::of_seed(seed);
            let mut cell = Cell::default();
            let mut before: Vec<(Moment, Access)> = Vec::new();
            let mut fences = Fences::default();
            // How many accesses came before each fence, and when that was.
            let mut fenced: Vec<(usize, Moment)> = Vec::new();
            // Groups one after the other; threads up to each barrier; signals of split barriers come before their waits.
            let order = (0..2_u64).flat_map(|group| {
                (0..3_u64).flat_map(move |phase| {
                    (0..3_usize).flat_map(move |thread| {
                        (0..2_u64).map(move |half| Moment {
                            group,
                            thread,
                            signals: phase + half,
                            waits: phase,
                        })
                    })
                })
            });
            let mut group = 0;
            for now in order {
                if now.group != group {
                    (group, fences) = (now.group, Fences::default());
                }
                if random.below(3) != 0 {
                    fences.add(now);
                    fenced.push((before.len(), now));
                }
                if random.below(6) != 0 {
                    continue;
                }
                let access = kinds.get(random.below(kinds.len())).copied();
                let access = access.unwrap_or(Access::Read);
                let is_seen = |place: usize, then: Moment| {
                    let mut all = fenced.iter().filter(|(count, _)| *count > place);
                    all.any(|(_, at)| {
                        (at.group, at.thread) == (then.group, then.thread) && at.is_before(now)
                    })
                };
                let races_with = |(place, (then, other)): (usize, &(Moment, Access))| {
                    let is_own = (then.group, then.thread) == (now.group, now.thread);
                    let is_before = match *other {
                        Access::Read => then.is_before(now),
                        _ => is_own || is_seen(place, *then),
                    };
                    conflict(*other, access) && !is_before
                };
                let race = before.iter().enumerate().any(races_with);
                let result = cell.access(now, access, &fences);
                assert!(
                    !race || result.is_err(),
                    "{seed}: {before:?} {now:?} {access:?}"
                );
                if result.is_err() {
                    races += 1;
                    break;
                }
                passed += 1;
                before.push((now, access));
            }
        }
        // Both come about.
        assert!(passed > 25_000 && races > 5_000, "{passed} {races}");
    }
}
