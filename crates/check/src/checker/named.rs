//! Named barriers: who signals them and waits for them, and whether the threads agree.
//!
//! The rules are those of the compiler's description of `NBARRIER`: all threads of a phase name the same counts, each
//! of them signals once, only consumers wait, after their signal, and a barrier can be used by others when its phase is
//! over. Numbers begin at 1, as 0 is the barrier of the group; the number available to the group is given by the
//! attribute `NBarrierCnt` and by the metadata.

use super::{Cause, Checker, small};
use crate::finding::{Kind, Other, Space};
use crate::race::NAMED;
use crate::shadow::element;
use hashbrown::HashMap;
use visakit_exec::InstructionEvent;
use visakit_exec::code::{Action, Code, Scalar};
use visakit_isa::object::{Attribute, Body};

/// Numbers of named barriers are below this.
const MOST: u64 = 32;

/// Roles of threads in a phase: both, only producers, only consumers.
const PRODUCER: u64 = 1;
const CONSUMER: u64 = 2;

/// A signal.
#[derive(Clone, Copy, Debug)]
struct Signal {
    thread: usize,
    step: u32,
    /// The time, in the order of accesses.
    time: u32,
}

/// A named barrier of the group that runs.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Phases that are over.
    phase: u64,
    /// Producers and consumers of the current phase, as stated by the first signal, and how many have arrived.
    counts: [u64; 2],
    come: [u64; 2],
    signals: Vec<Signal>,
    /// The phase before.
    earlier: Vec<Signal>,
    /// The phase that a thread has signalled last and not yet waited for, and whether it may wait.
    owed: HashMap<usize, (u64, bool)>,
    /// Something is wrong with it in this group.
    faulty: bool,
}

impl Named {
    /// Who has arrived in the current phase, out of how many.
    fn progress(&self) -> String {
        let ([producers, consumers], [come, of]) = (self.counts, self.come);
        if producers == consumers && come == of {
            return format!("{come} of {producers} threads have come");
        }
        format!("{come} of {producers} producers and {of} of {consumers} consumers have come")
    }
}

/// The named barriers a program may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barriers {
    /// Numbers are below this.
    pub(crate) end: u64,
    /// The program also uses the barrier of the group, whose number is 0.
    own: bool,
}

impl Barriers {
    /// The number of barriers of the group, from the code of a kernel and its metadata.
    pub(crate) fn new(code: &Code, body: Option<&Body<'_>>, metadata: Option<u32>) -> Self {
        let attribute = |name| body.and_then(|body| body.attribute(name));
        let stated = attribute("NBarrierCnt").and_then(Attribute::number);
        // The compiler for CM counts the group's barrier, the one for other languages does not. `Target` is 0 for CM,
        // which is also the default.
        let is_cm = attribute("Target").and_then(Attribute::number).unwrap_or(0) == 0;
        let stated = stated.map(|count| count.saturating_add(u64::from(!is_cm)));
        let end = stated.into_iter().chain(metadata.map(u64::from));
        let own = |action: &Action| matches!(action, Action::Barrier | Action::Signal);
        Self {
            end: end.min().unwrap_or(MOST).min(MOST),
            own: code.steps.iter().any(|step| own(&step.action)),
        }
    }
}

/// The number of a phase of a barrier, as the order of accesses has it.
const fn key(number: u64, phase: u64) -> u64 {
    NAMED + (phase << 5 | number)
}

/// A misuse of a named barrier.
#[derive(Clone, Copy)]
enum Misuse {
    Number,
    OfGroup,
    Type,
    Size,
    Counts,
    Twice,
    TooMany,
    Unsignalled,
    Producer,
    Open,
}

fn read(scalar: Scalar, event: &InstructionEvent<'_>) -> u64 {
    match scalar {
        Scalar::Constant(number) => number,
        Scalar::Register { offset, data_type } => {
            element(event.registers, offset, data_type.size().into())
        }
        Scalar::Indirect {
            address,
            offset,
            data_type,
        } => {
            let base = element(event.registers, address, 2);
            let at = usize::try_from(base).unwrap_or(usize::MAX);
            let at = at.saturating_add_signed(offset.into());
            element(event.registers, at, data_type.size().into())
        }
    }
}

impl Checker {
    /// A thread signals: number, type, producers, consumers.
    pub(super) fn named_signal(&mut self, event: &InstructionEvent<'_>, operands: [Scalar; 4]) {
        let [number, kind, producers, consumers] = operands.map(|scalar| read(scalar, event));
        let (thread, step) = (event.thread, small(event.step));
        self.look_at_lanes(event);
        if !self.look_at_number(step, number) {
            return;
        }
        let counts = [producers, consumers];
        let phase = self.group.named.entry(number).or_default().phase;
        let time = self.order.arrive(thread, key(number, phase));
        if self.checks.sync {
            self.look_at_signal(step, thread, (number, kind, counts));
        }
        let named = self.group.named.entry(number).or_default();
        if named.signals.is_empty() {
            named.counts = counts;
        }
        named.signals.push(Signal { thread, step, time });
        let [produce, consume] = &mut named.come;
        *produce += u64::from(kind != CONSUMER);
        *consume += u64::from(kind != PRODUCER);
        let over = *produce >= producers && *consume >= consumers;
        named.owed.insert(thread, (phase, kind != PRODUCER));
        if over {
            named.phase += 1;
            named.come = [0; 2];
            named.earlier = std::mem::take(&mut named.signals);
            self.forget_phases(number, phase);
        }
    }

    /// A thread waits.
    pub(super) fn named_wait(&mut self, event: &InstructionEvent<'_>, number: Scalar) {
        let number = read(number, event);
        let step = small(event.step);
        self.look_at_lanes(event);
        if !self.look_at_number(step, number) {
            return;
        }
        let named = self.group.named.entry(number).or_default();
        let owed = named.owed.get(&event.thread).copied();
        let phase = owed.map_or(named.phase, |(phase, _)| phase);
        if let Some(Some(thread)) = self.group.threads.get_mut(event.thread) {
            thread.pending = Some((key(number, phase), step));
        }
        match owed {
            Some((_, true)) => {}
            Some(_) => self.misuse(step, number, Misuse::Producer, None, || {
                "a thread waits that signalled as a producer only".to_owned()
            }),
            None => self.misuse(step, number, Misuse::Unsignalled, None, || {
                "a thread waits that has not signalled since it waited last".to_owned()
            }),
        }
    }

    /// A thread continues after a named barrier.
    pub(super) fn left_named(&mut self, thread: usize, barrier: u64) {
        let (number, phase) = ((barrier - NAMED) % MOST, (barrier - NAMED) / MOST);
        if let Some(named) = self.group.named.get_mut(&number) {
            named.owed.remove(&thread);
        }
        self.forget_phases(number, phase);
    }

    /// Forgets what was published in a phase that is over and that nobody will wait for any more.
    fn forget_phases(&mut self, number: u64, phase: u64) {
        let Some(named) = self.group.named.get(&number) else {
            return;
        };
        let waits = |(of, waits): &(u64, bool)| *of == phase && *waits;
        if phase < named.phase && !named.owed.values().any(waits) {
            self.order.forget(key(number, phase));
        }
    }

    /// All lanes of a thread arrive together.
    fn look_at_lanes(&mut self, event: &InstructionEvent<'_>) {
        let live = self
            .group
            .threads
            .get(event.thread)
            .and_then(Option::as_ref);
        let live = live.map_or(0, |thread| thread.live);
        let missing = live & !event.running;
        if missing != 0 && self.checks.sync {
            let come = event.running.count_ones();
            self.diverged(small(event.step), come, live.count_ones(), missing);
        }
    }

    /// Whether the barrier exists.
    fn look_at_number(&mut self, step: u32, number: u64) -> bool {
        let Barriers { end, own } = self.barriers;
        if number >= end {
            self.misuse(step, number, Misuse::Number, None, || {
                format!("the group has {end} barriers, so that numbers are below that")
            });
        } else if number == 0 && own {
            self.misuse(step, number, Misuse::OfGroup, None, || {
                "this is the number of the barrier of the group, which the program also uses"
                    .to_owned()
            });
        }
        number < MOST
    }

    fn look_at_signal(
        &mut self,
        step: u32,
        thread: usize,
        (number, kind, counts): (u64, u64, [u64; 2]),
    ) {
        let [producers, consumers] = counts;
        if kind > CONSUMER {
            self.misuse(step, number, Misuse::Type, None, || {
                format!("{kind} is no type of thread; there are 0, 1 and 2")
            });
        }
        let size = self.threads_of_group();
        if counts.iter().any(|count| *count == 0 || *count > size) {
            self.misuse(step, number, Misuse::Size, None, || {
                format!(
                    "{producers} producers and {consumers} consumers are to come in a group of {size} threads"
                )
            });
        }
        let Some(named) = self.group.named.get(&number) else {
            return;
        };
        let first = named.signals.first().copied();
        let again = named.signals.iter().find(|s| s.thread == thread).copied();
        let earlier = named
            .earlier
            .iter()
            .find(|s| s.thread != thread && !self.order.knows(thread, s.thread, s.time));
        let (earlier, was_there) = (
            earlier.copied(),
            named.earlier.iter().any(|s| s.thread == thread),
        );
        let [first_producers, first_consumers] = named.counts;
        let [come, of] = named.come;
        let over = come + u64::from(kind != CONSUMER) > first_producers
            || of + u64::from(kind != PRODUCER) > first_consumers;
        if let Some(first) = first
            && counts != named.counts
        {
            let other = Some((first, "the first signal of the phase"));
            self.misuse(step, number, Misuse::Counts, other, || {
                format!(
                    "{producers} producers and {consumers} consumers are to come, \
                     {first_producers} and {first_consumers} at the first signal"
                )
            });
        } else if let Some(first) = again {
            let other = Some((first, "its signal before"));
            self.misuse(step, number, Misuse::Twice, other, || {
                "a thread signals twice in one phase".to_owned()
            });
        } else if let Some(first) = first
            && over
        {
            let other = Some((first, "the first signal of the phase"));
            self.misuse(step, number, Misuse::TooMany, other, || {
                format!(
                    "more threads signal than are to come: \
                     {first_producers} producers and {first_consumers} consumers"
                )
            });
        } else if let Some(earlier) = earlier {
            let other = Some((earlier, "a signal of the phase before, without an order"));
            let (what, message) = if was_there {
                (
                    Misuse::Twice,
                    "a thread signals again before it knows that the phase is over",
                )
            } else {
                (
                    Misuse::TooMany,
                    "more threads signal than are to come: nothing says that the phase is over",
                )
            };
            self.misuse(step, number, what, other, || message.to_owned());
        }
    }

    /// Threads of the group that runs.
    fn threads_of_group(&self) -> u64 {
        let size = self.group.size;
        let items = size.iter().map(|n| u64::from(*n)).product::<u64>();
        items.div_ceil(u64::from(self.ids.simd.max(1)))
    }

    fn misuse(
        &mut self,
        step: u32,
        number: u64,
        what: Misuse,
        other: Option<(Signal, &str)>,
        message: impl FnOnce() -> String,
    ) {
        if !self.checks.sync {
            return;
        }
        self.group.diverged = true;
        if let Some(named) = self.group.named.get_mut(&number) {
            named.faulty = true;
        }
        let cause = Cause {
            object: usize::try_from(number).unwrap_or(usize::MAX),
            detail: what as u8,
            ..Cause::new(Kind::NamedBarrier, self.key(step))
        };
        self.find(cause, |this| {
            let message = format!("named barrier {number}: {}", message());
            let mut finding = this.finding(Kind::NamedBarrier, Space::Local, message, None);
            finding.other = other.map(|(signal, what)| Other {
                what: what.to_owned(),
                place: Some(this.place(signal.step)),
                item: Some(this.item(signal.thread, None)),
                access: None,
            });
            finding
        });
    }

    /// The group has ended: phases that began are over.
    pub(super) fn end_of_group(&mut self) {
        let mut open: Vec<_> = self.group.named.iter().filter(|(_, n)| !n.faulty).collect();
        open.sort_unstable_by_key(|(number, _)| **number);
        let open = open.into_iter().filter_map(|(number, named)| {
            let first = named.signals.first()?;
            Some((*number, *first, named.progress()))
        });
        let open: Vec<_> = open.collect();
        self.group.named.clear();
        for (number, first, progress) in open {
            self.current = (first.step, first.thread);
            self.misuse(first.step, number, Misuse::Open, None, || {
                format!("the group ends when {progress}")
            });
        }
    }

    /// Where the threads of a blocked group wait: for what, the place, and one of the threads.
    pub(super) fn where_threads_wait(&self) -> Vec<(String, u32, usize)> {
        let mut places: Vec<((u64, u32), Vec<usize>)> = Vec::new();
        let threads = self.group.threads.iter().enumerate();
        for (number, thread) in threads {
            let pending = thread.as_ref().and_then(|thread| thread.pending);
            let Some(pending) = pending else { continue };
            match places.iter_mut().find(|(at, _)| *at == pending) {
                Some((_, threads)) => threads.push(number),
                None => places.push((pending, vec![number])),
            }
        }
        let told = places.into_iter().filter_map(|((barrier, step), threads)| {
            let who = listed(&threads);
            let text = match barrier.checked_sub(NAMED) {
                Some(named) => {
                    let number = named % MOST;
                    let progress = self.group.named.get(&number).map(Named::progress);
                    let progress = progress.map_or_else(String::new, |p| format!(", where {p}"));
                    format!("{who} at named barrier {number}{progress}")
                }
                None => format!("{who} at the barrier of the group"),
            };
            Some((text, step, *threads.first()?))
        });
        told.collect()
    }

    /// Whether a thread waits at a named barrier that has been reported for another reason.
    pub(super) fn waits_at_faulty(&self) -> bool {
        let threads = self.group.threads.iter().flatten();
        let mut pending = threads.filter_map(|thread| thread.pending?.0.checked_sub(NAMED));
        pending.any(|barrier| {
            let named = self.group.named.get(&(barrier % MOST));
            named.is_some_and(|named| named.faulty)
        })
    }
}

/// Numbers of threads, the first eight of them.
fn listed(threads: &[usize]) -> String {
    let first: Vec<_> = threads.iter().take(8).map(ToString::to_string).collect();
    let more = if threads.len() > first.len() {
        ", …"
    } else {
        ""
    };
    let plural = if threads.len() == 1 { "" } else { "s" };
    format!("thread{plural} {}{more}", first.join(", "))
}
