//! Messages as functions: what the same message does with the same memory is the same.
//!
//! Nothing is known of memory but that it is the same for both programs when a segment begins. What changes memory, or is seen
//! by other threads, is an event; programs with equal events in one order leave the same memory. What is loaded is a function
//! of the address, and of the events before.

use crate::decide::{Decisions, SAMPLES};
use crate::machine::Machine;
use crate::term::{Node, Term, Terms, Variable, ones};
use crate::thread::{Mask, Thread};
use crate::unknown::Unknown;
use hashbrown::{HashMap, HashSet};
use std::ops::Range;
use visakit_exec::code::{AtomicOp, Element, LaneSpace, Message, Step};
use visakit_exec::{Extent, Reached};

/// What happens, apart from operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    /// A byte is loaded.
    Load(Space),
    /// A lane stores bytes; of a message of one lane, for all of them.
    Store(Space, Option<usize>),
    /// An element of a lane is changed, of so many bytes.
    Atomic(Space, AtomicOp, usize),
    /// A message of a thread, by its text without the places that it names.
    Whole(String),
    /// A step that other threads see, likewise.
    Step(String),
}

/// Memory that a lane reaches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Space {
    Global,
    Local,
    /// A surface, by where it is.
    Surface(Extent),
}

/// Something that changes memory or that others see, if a condition holds.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) kind: Kind,
    pub(super) operands: Vec<Term>,
    pub(super) condition: Term,
    /// The number of its group.
    pub(super) group: usize,
}

/// The numbers of variables for what is loaded begin here.
pub(super) const LOADED: u32 = 1 << 27;

const LOCAL_FENCE: &str = "a fence of local memory";
const GLOBAL_FENCE: &str = "a fence of global memory";

/// Addresses with equal values that are compared.
const MOST_ALIKE: usize = 4;

/// Bytes of a surface at most.
const MOST_SURFACE: u64 = 1 << 31;

/// Bytes of the results of a message at most.
const MOST_BYTES: u32 = 1 << 12;

/// What is loaded: after how many groups of events, how, and by which operands.
type Key = (usize, Kind, Vec<Term>);

/// What is loaded from an address with these values.
type Alike = (usize, Kind, [u64; SAMPLES]);

/// What both programs have loaded in a segment: for equal operands after equal events, the same.
#[derive(Debug)]
pub(super) struct Loads {
    known: HashMap<Key, u32>,
    /// Addresses, to find equal ones that are made of other terms.
    addresses: HashMap<Alike, Vec<(Term, u32)>>,
    /// How many different ones there are.
    count: u32,
    /// Whether surfaces have the same names in both programs.
    alike: bool,
}

impl Loads {
    /// Nothing so far.
    pub(super) fn new(alike: bool) -> Self {
        Self {
            known: HashMap::new(),
            addresses: HashMap::new(),
            count: 0,
            alike,
        }
    }

    /// Begins with another segment.
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.addresses.clear();
        self.count = 0;
    }

    /// The number of what is loaded.
    fn number(&mut self, (terms, decisions): (&mut Terms, &mut Decisions), key: Key) -> u32 {
        if let Some(number) = self.known.get(&key) {
            return *number;
        }
        let address = match (&key.1, &key.2[..]) {
            (Kind::Load(_), [base, further]) => Some(terms.add(*base, *further)),
            _ => None,
        };
        let values = address.and_then(|address| decisions.values_of(terms, address));
        let mut found = None;
        if let (Some(address), Some(values)) = (address, values) {
            let alike = (key.0, key.1.clone(), values);
            let others = self.addresses.entry(alike).or_default();
            let mut few = others.iter().take(MOST_ALIKE);
            found = few.find(|(other, _)| decisions.are_equal(terms, address, *other));
            let number = found.map_or(self.count, |(_, number)| *number);
            others.push((address, number));
            found = others.last();
        }
        let number = found.map_or(self.count, |(_, number)| *number);
        self.count = self.count.max(number + 1);
        self.known.insert(key, number);
        number
    }
}

/// The events of a segment, in order.
pub(super) struct Events<'l> {
    pub(super) all: Vec<Event>,
    /// Groups of events so far: what lanes store one after the other is one group, as long as nothing is loaded.
    groups: usize,
    /// Whether more may be stored in the last one.
    is_open: bool,
    /// The numbers of what has been loaded, and under which condition.
    pub(super) loaded: HashSet<(u32, Term)>,
    pub(super) loads: &'l mut Loads,
}

impl<'l> Events<'l> {
    /// None so far.
    pub(super) fn new(loads: &'l mut Loads) -> Self {
        Self {
            all: Vec::new(),
            groups: 0,
            is_open: false,
            loaded: HashSet::new(),
            loads,
        }
    }

    fn push(&mut self, kind: Kind, operands: Vec<Term>, condition: Term) {
        let joins = matches!(kind, Kind::Store(_, Some(_)));
        let is_last = |last: &Event| {
            (&last.kind, &last.operands, last.condition) == (&kind, &operands, condition)
        };
        if matches!(kind, Kind::Store(..)) && self.all.last().is_some_and(is_last) {
            // What is stored again is there.
            return;
        }
        if !(joins && self.is_open) {
            self.groups += 1;
        }
        self.is_open = joins;
        self.all.push(Event {
            kind,
            operands,
            condition,
            group: self.groups,
        });
    }

    /// Notes a fence, once where several follow each other.
    fn fence(&mut self, name: &str, here: Term) {
        let is_fence = |event: &&Event| {
            let name = match &event.kind {
                Kind::Step(name) => name.as_str(),
                _ => "",
            };
            event.condition == here && [LOCAL_FENCE, GLOBAL_FENCE].contains(&name)
        };
        let kind = Kind::Step(name.to_owned());
        let mut before = self.all.iter().rev().take_while(is_fence);
        if !before.any(|event| event.kind == kind) {
            self.push(kind, Vec::new(), here);
        }
    }

    /// Bytes of what is loaded now if a condition holds.
    fn results(
        &mut self,
        known: (&mut Terms, &mut Decisions),
        key: (Kind, Vec<Term>),
        condition: Term,
    ) -> Result<u32, Unknown> {
        self.is_open = false;
        let number = self.loads.number(known, (self.groups, key.0, key.1));
        self.loaded.insert((number, condition));
        let first = number.checked_mul(MOST_BYTES);
        let first = first.and_then(|first| first.checked_add(LOADED));
        let first = first.filter(|first| *first < u32::MAX - MOST_BYTES);
        first.ok_or_else(|| Unknown::new("too much is loaded"))
    }

    /// Notes what a step does that is no computation, jump or call.
    pub(super) fn step(
        &mut self,
        machine: &mut Machine<'_>,
        thread: &mut Thread,
        step: &Step,
        message: Option<&Message>,
    ) -> Result<(), Unknown> {
        let Some(message) = message else {
            let here = thread.here(machine.terms);
            self.push(Kind::Step(text(step)), Vec::new(), here);
            return Ok(());
        };
        let enabled = thread.enabled(machine.terms, step)?;
        let here = thread.here(machine.terms);
        let name = message.name();
        let whole = match name {
            // Threads that do not race see nothing of the order of accesses but what barriers make of it, after fences.
            "nothing" | "prefetch" => return Ok(()),
            "fence" => {
                let local = message.fences_local() == Some(true);
                self.fence(if local { LOCAL_FENCE } else { GLOBAL_FENCE }, here);
                return Ok(());
            }
            "load" | "store" | "atomic" | "block2d" => Thread::any(machine.terms, &enabled),
            "block" if step.predicate.is_none() => here,
            _ => return Err(Unknown::new(format!("a message: {name}"))),
        };
        if machine.terms.number(whole) == Some(0) {
            return Ok(());
        }
        if name != "block2d"
            && let Some(reached) = reached(machine, thread, message, here)
        {
            let first = step.lanes.first.into();
            let enabled = match reached.whole {
                true => enabled.map(|_| here),
                false => enabled,
            };
            return self.lanes(machine, thread, &reached, (first, &enabled));
        }
        if !matches!(name, "block" | "block2d") {
            return Err(Unknown::new(format!("a message of lanes: {name}")));
        }
        self.whole(machine, thread, (step, message), whole)
    }

    /// A message of a thread, which runs if a condition holds.
    fn whole(
        &mut self,
        machine: &mut Machine<'_>,
        thread: &mut Thread,
        (step, message): (&Step, &Message),
        condition: Term,
    ) -> Result<(), Unknown> {
        let terms = &mut *machine.terms;
        let operands = message.operands();
        if !self.loads.alike {
            return Err(Unknown::new(format!(
                "surfaces that have other names: {}",
                message.name()
            )));
        }
        if operands.indirect || !operands.addresses.is_empty() || !operands.sources.is_empty() {
            return Err(Unknown::new(format!(
                "the operands of a message: {}",
                message.name()
            )));
        }
        let mut read: Vec<Range<usize>> = operands.scalars;
        read.extend(operands.stored);
        // What is outside of memory may be left as it is.
        read.extend(
            operands
                .loaded
                .clone()
                .filter(|_| message.name() != "block"),
        );
        let mut values = Vec::new();
        for byte in read.into_iter().flatten() {
            let value = thread.element(terms, byte, 1)?;
            values.push(terms.under(value, condition));
        }
        let kind = Kind::Whole(text(step));
        let Some(loaded) = operands.loaded else {
            self.push(kind, values, condition);
            return Ok(());
        };
        if loaded.len() > MOST_BYTES as usize {
            return Err(Unknown::new("too much is loaded"));
        }
        let known = (&mut *terms, &mut *machine.decisions);
        let first = self.results(known, (kind, values), condition)?;
        for (number, at) in (first..).zip(loaded) {
            let value = terms.variable(Variable::Free(number), 8);
            thread.set_element(terms, at, value, condition)?;
        }
        Ok(())
    }

    /// A message of lanes.
    fn lanes(
        &mut self,
        machine: &mut Machine<'_>,
        thread: &mut Thread,
        Reached {
            message,
            surface,
            scale,
            ..
        }: &Reached,
        (first, enabled): (usize, &Mask),
    ) -> Result<(), Unknown> {
        let terms = &mut *machine.terms;
        // All operands are read before any result is written.
        let before = thread.clone();
        let space = match (surface, message.space) {
            (Some(extent), _) if extent.bytes > MOST_SURFACE || message.width > 4 => {
                return Err(Unknown::new("a surface of more than 2 GiB"));
            }
            (Some(extent), _) => Space::Surface(*extent),
            (None, LaneSpace::Local) => Space::Local,
            (None, _) => Space::Global,
        };
        let whole = [(0, 0)];
        let parts = match &message.atomic {
            Some(_) => &whole[..],
            None => &message.parts,
        };
        for (further, data) in parts {
            for (lane, condition) in enabled.iter().enumerate().take(message.lanes) {
                if terms.number(*condition) == Some(0) {
                    continue;
                }
                let place = message.addresses + lane * message.width;
                let address = before.element(terms, place, message.width)?;
                let address = terms.under(address, *condition);
                // Surfaces and local memory are smaller than what 32 bits count: what is inside is where these say.
                let width = match space {
                    Space::Global => 64,
                    Space::Local | Space::Surface(_) => 32,
                };
                let address = terms.zero_extend(address, width);
                let address = terms.scale(address, *scale);
                let add = terms.constant(message.add, width);
                let mask = terms.constant(message.mask, width);
                let address = terms.add(address, add);
                let address = terms.and(address, mask);
                let further = terms.constant((*further).into(), width);
                let address = terms.add(address, further);
                let of_lane = |place: usize| place + lane * message.element.register;
                let one = At {
                    space,
                    lane: (message.lanes > 1).then_some(first + lane),
                    address,
                    condition: *condition,
                };
                match &message.atomic {
                    Some(atomic) => {
                        let places = atomic.operands.map(|place| place.map(of_lane));
                        let result = atomic.result.map(of_lane);
                        let terms = (&mut *terms, &mut *machine.decisions);
                        self.atomic(
                            terms,
                            (thread, &before),
                            one,
                            (atomic.op, places, result, message.element),
                        )?;
                    }
                    None => {
                        let data = of_lane(message.data + *data as usize);
                        match message.store {
                            true => self.store(terms, &before, one, (data, message.element))?,
                            false => {
                                let terms = (&mut *terms, &mut *machine.decisions);
                                self.load(terms, thread, one, (data, message.element))?;
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn load(
        &mut self,
        (terms, decisions): (&mut Terms, &mut Decisions),
        thread: &mut Thread,
        of: At,
        (data, element): (usize, Element),
    ) -> Result<(), Unknown> {
        for byte in 0..element.register {
            let inside = byte.checked_sub(element.low);
            let value = match inside.filter(|inside| *inside < element.memory) {
                None => terms.constant(0, 8),
                Some(inside) => {
                    let further = terms.constant(inside as u64, terms.width(of.address));
                    let address = terms.add(of.address, further);
                    let (base, number) = split(terms, address);
                    let number = terms.constant(number, terms.width(base));
                    let key = (Kind::Load(of.space), vec![base, number]);
                    let known = (&mut *terms, &mut *decisions);
                    let first = self.results(known, key, of.condition)?;
                    terms.variable(Variable::Free(first), 8)
                }
            };
            thread.set_element(terms, data + byte, value, of.condition)?;
        }
        Ok(())
    }

    fn store(
        &mut self,
        terms: &mut Terms,
        before: &Thread,
        of: At,
        (data, element): (usize, Element),
    ) -> Result<(), Unknown> {
        let mut operands = vec![of.address];
        for byte in 0..element.memory {
            let value = before.element(terms, data + element.low + byte, 1)?;
            operands.push(terms.under(value, of.condition));
        }
        self.push(Kind::Store(of.space, of.lane), operands, of.condition);
        Ok(())
    }

    fn atomic(
        &mut self,
        (terms, decisions): (&mut Terms, &mut Decisions),
        (thread, before): (&mut Thread, &Thread),
        of: At,
        (op, places, result, element): (AtomicOp, [Option<usize>; 2], Option<usize>, Element),
    ) -> Result<(), Unknown> {
        let mut values = Vec::new();
        for place in places.into_iter().flatten() {
            let value = before.element(terms, place, element.memory)?;
            values.push(terms.under(value, of.condition));
        }
        // Sums by one are sums.
        let width = u8::try_from(8 * element.memory).unwrap_or(64);
        let (op, values) = match (op, &values[..]) {
            (AtomicOp::Increment, _) => (AtomicOp::Add, vec![terms.constant(1, width)]),
            (AtomicOp::Decrement, _) => (AtomicOp::Add, vec![terms.constant(u64::MAX, width)]),
            (AtomicOp::Sub, [value]) => (AtomicOp::Add, vec![terms.negate(*value)]),
            _ => (op, values),
        };
        let mut operands = vec![of.address];
        operands.extend(values);
        let kind = Kind::Atomic(of.space, op, element.memory);
        if let Some(result) = result {
            let known = (&mut *terms, &mut *decisions);
            let first = self.results(known, (kind.clone(), operands.clone()), of.condition)?;
            for (number, byte) in (first..).zip(0..element.register) {
                let value = match byte < element.memory {
                    true => terms.variable(Variable::Free(number), 8),
                    false => terms.constant(0, 8),
                };
                thread.set_element(terms, result + byte, value, of.condition)?;
            }
        }
        self.push(kind, operands, of.condition);
        Ok(())
    }
}

/// Where a lane reaches memory, if a condition holds.
#[derive(Clone, Copy)]
struct At {
    space: Space,
    /// The lane; none if it is the only one of the message.
    lane: Option<usize>,
    address: Term,
    condition: Term,
}

/// What lanes reach by a message, whose surface is the same for all threads.
fn reached(
    machine: &mut Machine<'_>,
    thread: &Thread,
    message: &Message,
    here: Term,
) -> Option<Reached> {
    let mut operands = message.operands();
    if message.name() == "block" {
        // The last one is the address.
        operands.scalars.pop();
    }
    let placed = machine.scalars(thread, &operands, here).ok()?;
    machine.set_scalars(&placed);
    let memory = machine.launch.memory();
    machine.probe.lanes(message, memory)
}

/// A step without its places.
fn text(step: &Step) -> String {
    format!("{:?}", step.nameless().step)
}

/// A term, and the number that is added to it.
pub(super) fn split(terms: &mut Terms, address: Term) -> (Term, u64) {
    let width = terms.width(address);
    let (mut base, mut all) = (address, 0_u64);
    if let Node::Sum(number, _) = terms.node(base) {
        all = *number;
        let number = terms.constant(all, width);
        base = terms.subtract(base, number);
    }
    match terms.node(base).clone() {
        Node::Constant(number) => (
            terms.constant(0, width),
            all.wrapping_add(number) & ones(width),
        ),
        Node::Concat(parts) => {
            let Some((first, rest)) = parts.split_first() else {
                return (base, all);
            };
            let Some(number) = terms.number(*first) else {
                return (base, all);
            };
            let zero = terms.constant(0, terms.width(*first));
            let parts: Vec<Term> = [zero].iter().chain(rest).copied().collect();
            (terms.concat(&parts), all.wrapping_add(number) & ones(width))
        }
        _ => (base, all),
    }
}
