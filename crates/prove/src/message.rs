//! Messages on terms: what they access is found out by the executor, for addresses that the launch decides.

use crate::machine::Machine;
use crate::memory::{Access, Kind};
use crate::solver::Answer;
use crate::term::Term;
use crate::thread::{LANES, Mask, Thread};
use crate::unknown::Unknown;
use hashbrown::HashMap;
use std::ops::Range;
use visakit_exec::code::{Message, MessageOperands};
use visakit_exec::{Accesses, MemoryAccess, Space};

/// Where a byte is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    Global(u64),
    Local(u64),
    Scratch(u64),
}

impl Place {
    /// That many bytes further on.
    pub(crate) const fn after(self, by: u64) -> Self {
        match self {
            Self::Global(address) => Self::Global(address.wrapping_add(by)),
            Self::Local(address) => Self::Local(address.wrapping_add(by)),
            Self::Scratch(address) => Self::Scratch(address.wrapping_add(by)),
        }
    }
}

/// A message that runs, lane by lane or all at once.
pub(crate) struct Sent<'m> {
    message: &'m Message,
    operands: &'m MessageOperands,
    /// Bytes of addresses and scalars, by their places in the register file.
    placed: Vec<(usize, u8)>,
    /// Whether it runs at all.
    whole: Term,
    /// The register file before it.
    before: Vec<Term>,
    /// What it has written, for which lane, and under which condition.
    written: HashMap<Place, Vec<(Option<u8>, Term, Term)>>,
}

/// Addresses that a lane may have; more are not told apart.
const MOST_ADDRESSES: usize = 256;

/// Those of them for which a solver is asked, one by one.
const MOST_ASKED: usize = 64;

/// An address that a lane has under a condition.
struct Way {
    lane: usize,
    condition: Term,
    /// The bytes of the address, by their places in the register file.
    bytes: Vec<(usize, u8)>,
}

impl Machine<'_> {
    /// Runs a message in lanes whose conditions hold.
    pub(crate) fn message(
        &mut self,
        thread: &mut Thread,
        message: &Message,
        enabled: &Mask,
    ) -> Result<(), Unknown> {
        let name = message.name();
        let by_lane = match name {
            "fence" => {
                self.fence(thread, message);
                return Ok(());
            }
            "nothing" | "prefetch" => return Ok(()),
            // They work whatever lanes run, as long as the thread is here.
            "block" | "media" => false,
            "load" | "store" | "atomic" | "block2d" | "typed" | "texture" => true,
            _ => return Err(Unknown::new(format!("a message: {name}"))),
        };
        if by_lane && !Thread::may(self.terms, enabled) {
            return Ok(());
        }
        let here = thread.here(self.terms);
        let whole = match name {
            "block2d" => Thread::any(self.terms, enabled),
            _ => here,
        };
        let operands = message.operands();
        if operands.indirect {
            return Err(Unknown::new("a scalar by an address of registers"));
        }
        let mut placed = self.scalars(thread, &operands, here)?;
        if name == "texture" {
            return self.texture(thread, message, &placed, enabled);
        }
        let mut rest = *enabled;
        let mut ways: Vec<Way> = Vec::new();
        let mut never = false;
        for (lane, condition) in enabled.iter().enumerate() {
            if self.terms.number(*condition) != Some(0) {
                let before = ways.len();
                let asked = (lane, *condition);
                let here = self.addresses(thread, &operands, asked, &mut placed, &mut ways)?;
                never |= !here;
                if (ways.len() > before || !here)
                    && let Some(lane) = rest.get_mut(lane)
                {
                    *lane = self.terms.constant(0, 1);
                }
            }
        }
        if ways.is_empty() && never {
            return self.message(thread, message, &rest);
        }
        let mut sent = Sent {
            message,
            operands: &operands,
            placed,
            whole,
            // All operands are read before any result is written.
            before: match name {
                "atomic" => thread.file.clone(),
                _ => Vec::new(),
            },
            written: HashMap::new(),
        };
        if ways.is_empty() {
            return self.access(thread, &mut sent, enabled, &[]);
        }
        if !matches!(name, "load" | "store" | "atomic") {
            return Err(Unknown::new("an address depends on data"));
        }
        // Lanes one by one, in their order; a lane for each address that it may have.
        let none = self.terms.constant(0, 1);
        for lane in 0..LANES {
            let mut own = ways.iter().filter(|way| way.lane == lane).peekable();
            let certain = rest.get(lane).copied().unwrap_or(none);
            if own.peek().is_none() && self.terms.number(certain) == Some(0) {
                continue;
            }
            let mut alone = [none; LANES];
            if own.peek().is_none() {
                if let Some(to) = alone.get_mut(lane) {
                    *to = certain;
                }
                self.access(thread, &mut sent, &alone, &[])?;
                continue;
            }
            for way in own {
                self.count()?;
                if let Some(to) = alone.get_mut(lane) {
                    *to = way.condition;
                }
                self.access(thread, &mut sent, &alone, &way.bytes)?;
            }
        }
        Ok(())
    }

    /// Runs a fence. One that the thread may not come to orders nothing.
    fn fence(&mut self, thread: &Thread, message: &Message) {
        let here = thread.here(self.terms);
        if self.terms.number(here) != Some(1) {
            return;
        }
        match message.fences_local() {
            Some(true) => self.local.fences.add(self.now),
            Some(false) => self.global.bytes.fences.add(self.now),
            None => {}
        }
    }

    /// Runs a message in these lanes, with these bytes of addresses besides those that are certain. What is not understood
    /// makes no difference where no lane is.
    fn access(
        &mut self,
        thread: &mut Thread,
        sent: &mut Sent<'_>,
        enabled: &Mask,
        bytes: &[(usize, u8)],
    ) -> Result<(), Unknown> {
        let Err(mut unknown) = self.accessed(thread, sent, enabled, bytes) else {
            return Ok(());
        };
        let any = match sent.message.name() {
            "block" | "media" => sent.whole,
            _ => Thread::any(self.terms, enabled),
        };
        match self.decisions.can(self.terms, any) {
            Answer::Never => return Ok(()),
            Answer::Sometimes(model) => unknown.values = Some(model),
            Answer::Nothing(_) => {}
        }
        Err(unknown)
    }

    fn accessed(
        &mut self,
        thread: &mut Thread,
        sent: &mut Sent<'_>,
        enabled: &Mask,
        bytes: &[(usize, u8)],
    ) -> Result<(), Unknown> {
        let mask = self.mask(enabled);
        let found = self.probed(sent, mask, bytes, 0)?;
        if found.partial {
            return Err(Unknown::new("a part of a surface that does not exist"));
        }
        let texels = self.image(sent.message)?;
        if texels.is_none()
            && let Some(range) = sent.operands.loaded.clone()
        {
            self.zeros(thread, sent, range, &found.all, (mask, bytes))?;
        }
        let op = sent.message.by_lane().and_then(|m| m.atomic).map(|a| a.op);
        for access in &found.all {
            let condition = match access.lane {
                Some(lane) => enabled.get(usize::from(lane)).copied(),
                None => Some(sent.whole),
            };
            let condition = condition.ok_or_else(|| Unknown::new("a lane that does not exist"))?;
            if let Some(image) = &texels {
                self.texel(thread, sent, image, access, condition)?;
                continue;
            }
            match (access.atomic, access.write) {
                (true, _) => {
                    let op = op.ok_or_else(|| Unknown::new("an atomic operation on a surface"))?;
                    self.atomic(thread, &sent.before, access, op, condition)?;
                }
                (false, true) => self.store(thread, sent, access, condition)?,
                (false, false) => self.load(thread, access, condition)?,
            }
        }
        Ok(())
    }

    /// Runs the probe; the registers that are loaded have that byte before.
    fn probed(
        &mut self,
        sent: &Sent<'_>,
        mask: u32,
        bytes: &[(usize, u8)],
        fill: u8,
    ) -> Result<Accesses, Unknown> {
        let registers = self.probe.registers();
        if let Some(range) = sent.operands.loaded.clone()
            && let Some(part) = registers.get_mut(range)
        {
            part.fill(fill);
        }
        self.set_scalars(&sent.placed);
        self.set_scalars(bytes);
        let found = self.probe.run(sent.message, self.launch.memory(), mask);
        found.map_err(|fault| Unknown::new(fault.to_string()))
    }

    /// Puts bytes of addresses and scalars into the registers of the probe.
    pub(crate) fn set_scalars(&mut self, placed: &[(usize, u8)]) {
        let registers = self.probe.registers();
        for (place, byte) in placed {
            if let Some(to) = registers.get_mut(*place) {
                *to = *byte;
            }
        }
    }

    /// Lanes that may be enabled.
    fn mask(&self, enabled: &Mask) -> u32 {
        let lanes = enabled.iter().enumerate();
        let may = lanes.filter(|(_, lane)| self.terms.number(**lane) != Some(0));
        may.fold(0, |mask, (lane, _)| mask | 1 << lane)
    }

    /// What all lanes use, by its places: numbers. Where the message does not run, they make no difference.
    pub(crate) fn scalars(
        &mut self,
        thread: &Thread,
        operands: &MessageOperands,
        here: Term,
    ) -> Result<Vec<(usize, u8)>, Unknown> {
        let mut placed = Vec::new();
        for place in operands.scalars.iter().cloned().flatten() {
            let byte = thread.file.get(place).copied();
            let byte = byte.map(|byte| self.decisions.under(self.terms, byte, here));
            let byte = byte.and_then(|byte| self.only(byte, here));
            let byte = byte.and_then(|byte| u8::try_from(byte).ok());
            let unknown = || Unknown::new("an address or a surface depends on data");
            placed.push((place, byte.ok_or_else(unknown)?));
        }
        Ok(placed)
    }

    /// The value of a term where a bit is set, if it is the only one.
    fn only(&mut self, term: Term, condition: Term) -> Option<u64> {
        self.terms.number(term).or_else(|| {
            let values = self.decisions.values(self.terms, (term, condition), 1)?;
            values.first().copied()
        })
    }

    /// Notes the address of a lane, or else the numbers that it may be; false if the lane never is here.
    fn addresses(
        &mut self,
        thread: &Thread,
        operands: &MessageOperands,
        (lane, condition): (usize, Term),
        placed: &mut Vec<(usize, u8)>,
        ways: &mut Vec<Way>,
    ) -> Result<bool, Unknown> {
        for of in &operands.addresses {
            if lane >= of.lanes {
                continue;
            }
            let place = of.offset + lane * of.bytes;
            let address = thread.element(self.terms, place, of.bytes)?;
            let address = self.decisions.under(self.terms, address, condition);
            let bytes = |value: u64| (place..).zip(value.to_le_bytes().into_iter().take(of.bytes));
            if let Some(value) = self.terms.number(address) {
                placed.extend(bytes(value));
                continue;
            }
            let values = self.terms.possible(address, MOST_ADDRESSES).or_else(|| {
                let asked = (address, condition);
                self.decisions.values(self.terms, asked, MOST_ASKED)
            });
            match values.as_deref() {
                Some([]) => return Ok(false),
                Some([value]) => {
                    placed.extend(bytes(*value));
                    continue;
                }
                _ => {}
            }
            let (Some(values), 1) = (values, operands.addresses.len()) else {
                return Err(Unknown::new("an address depends on data"));
            };
            for value in values {
                let width = self.terms.width(address);
                let number = self.terms.constant(value, width);
                let is = self.terms.equal(address, number);
                let condition = self.terms.and(condition, is);
                if self.terms.number(condition) != Some(0) {
                    ways.push(Way {
                        lane,
                        condition,
                        bytes: bytes(value).collect(),
                    });
                }
            }
        }
        Ok(true)
    }

    /// Sets registers to zero that a load changes although nothing in memory belongs to them.
    fn zeros(
        &mut self,
        thread: &mut Thread,
        sent: &Sent<'_>,
        range: Range<usize>,
        all: &[MemoryAccess],
        (mask, bytes): (u32, &[(usize, u8)]),
    ) -> Result<(), Unknown> {
        let mut covered = vec![false; range.len()];
        for data in all.iter().filter_map(|access| access.data) {
            let first = data.whole.checked_sub(range.start);
            let part = first.and_then(|first| covered.get_mut(first..first + data.whole_bytes));
            part.ok_or_else(|| Unknown::new("a load beside its operand"))?
                .fill(true);
        }
        if covered.iter().all(|covered| *covered) {
            return Ok(());
        }
        let loaded = |machine: &mut Self| {
            let found = machine.probe.registers().get(range.clone());
            found.map(<[u8]>::to_vec).unwrap_or_default()
        };
        let before = loaded(self);
        self.probed(sent, mask, bytes, 0xff)?;
        let after = loaded(self);
        // The bytes of addresses are as they are before the message in both runs.
        let mut own: HashMap<usize, u8> = HashMap::new();
        own.extend(sent.placed.iter().chain(bytes).copied());
        let zero = self.terms.constant(0, 8);
        let all = range.clone().zip(covered).zip(before.iter().zip(&after));
        for ((place, covered), (first, second)) in all {
            let kept = match own.get(&place) {
                Some(byte) => first == byte && second == byte,
                None => (*first, *second) == (0, 0xff),
            };
            if covered || kept {
                continue;
            }
            // Whose lane it is is not known.
            if (*first, *second) != (0, 0) || self.terms.number(sent.whole) != Some(1) {
                return Err(Unknown::new("a load of what is not in memory"));
            }
            thread.set_element(self.terms, place, zero, sent.whole)?;
        }
        Ok(())
    }

    /// Where the first byte of an access is.
    pub(crate) fn place(&self, access: &MemoryAccess) -> Result<Place, Unknown> {
        let end = access.address.checked_add(access.bytes.into());
        // What is outside is read as zero and not written.
        let inside = |bytes: u64| match end {
            Some(end) if end <= bytes => Ok(()),
            _ => Err(Unknown::new(
                "an access outside of local or scratch memory, or of a surface",
            )),
        };
        Ok(match (access.space, access.extent) {
            (Space::Global, _) => Place::Global(access.address),
            (Space::Surface(_), Some(extent)) => {
                inside(extent.bytes)?;
                Place::Global(extent.base.wrapping_add(access.address))
            }
            (Space::Surface(_), None) => return Err(Unknown::new("a surface that is no buffer")),
            (Space::Local, _) => {
                inside(self.sizes.0)?;
                Place::Local(access.address)
            }
            (Space::Scratch, _) => {
                inside(self.sizes.1)?;
                Place::Scratch(access.address)
            }
        })
    }

    /// The byte at a place, which the thread accesses now.
    pub(crate) fn read(&mut self, place: Place, by: u64, access: Access) -> Result<Term, Unknown> {
        self.note(place, by, access)?;
        self.value(place, by)
    }

    /// Notes an access to a byte; an error if it is a race. Nobody else has scratch memory of a thread.
    fn note(&mut self, place: Place, by: u64, access: Access) -> Result<(), Unknown> {
        let now = self.now;
        match place {
            Place::Global(address) => {
                let bytes = &mut self.global.bytes;
                bytes.access(address.wrapping_add(by), now, access)
            }
            Place::Local(address) => self.local.access(address.wrapping_add(by), now, access),
            Place::Scratch(_) => Ok(()),
        }
    }

    /// What is in a byte now.
    fn value(&mut self, place: Place, by: u64) -> Result<Term, Unknown> {
        let (bytes, address) = match place {
            Place::Global(address) => {
                return Ok(self.global.read(self.terms, address.wrapping_add(by)));
            }
            Place::Local(address) => (&mut self.local, address),
            Place::Scratch(address) => {
                let scratch = self.scratch.get_mut(self.now.thread);
                let scratch = scratch.ok_or_else(|| Unknown::new("no scratch memory"))?;
                (scratch, address)
            }
        };
        let address = address.wrapping_add(by);
        Ok(match bytes.get(address) {
            Some(value) => value,
            None => {
                let value = self.terms.undefined();
                bytes.set(address, value);
                value
            }
        })
    }

    /// Writes a byte where a condition holds.
    pub(crate) fn write(
        &mut self,
        place: Place,
        by: u64,
        (value, condition): (Term, Term),
        access: Access,
    ) -> Result<(), Unknown> {
        let old = match self.terms.number(condition) {
            Some(1) => value,
            // The byte keeps its value otherwise; that is no access of the thread.
            _ => self.value(place, by)?,
        };
        let value = self.terms.choice(condition, value, old);
        if let Place::Global(address) = place {
            self.global.check_write(address.wrapping_add(by))?;
        }
        self.note(place, by, access)?;
        match place {
            Place::Global(address) => self.global.bytes.set(address.wrapping_add(by), value),
            Place::Local(address) => self.local.set(address.wrapping_add(by), value),
            Place::Scratch(address) => {
                if let Some(scratch) = self.scratch.get_mut(self.now.thread) {
                    scratch.set(address.wrapping_add(by), value);
                }
            }
        }
        Ok(())
    }

    fn load(
        &mut self,
        thread: &mut Thread,
        access: &MemoryAccess,
        condition: Term,
    ) -> Result<(), Unknown> {
        let data = access.data;
        let data = data.ok_or_else(|| Unknown::new("a load of what is no run of bytes"))?;
        let place = self.place(access)?;
        let zero = self.terms.constant(0, 8);
        let inside = data.offset..data.offset + access.bytes as usize;
        for at in data.whole..data.whole + data.whole_bytes {
            if !inside.contains(&at) {
                thread.set_element(self.terms, at, zero, condition)?;
            }
        }
        for (by, at) in (0..).zip(inside) {
            let value = self.read(place, by, Access::Read)?;
            thread.set_element(self.terms, at, value, condition)?;
        }
        Ok(())
    }

    fn store(
        &mut self,
        thread: &Thread,
        sent: &mut Sent<'_>,
        access: &MemoryAccess,
        condition: Term,
    ) -> Result<(), Unknown> {
        let data = access.data;
        let data = data.ok_or_else(|| Unknown::new("a store of what is no run of bytes"))?;
        let place = self.place(access)?;
        for by in 0..u64::from(access.bytes) {
            let at = data.offset + usize::try_from(by).unwrap_or(usize::MAX);
            let value = thread.element(self.terms, at, 1)?;
            self.store_byte(sent, access.lane, place.after(by), value, condition)?;
        }
        Ok(())
    }

    /// Stores a byte of a lane where a condition holds.
    pub(crate) fn store_byte(
        &mut self,
        sent: &mut Sent<'_>,
        lane: Option<u8>,
        place: Place,
        value: Term,
        condition: Term,
    ) -> Result<(), Unknown> {
        let value = self.decisions.written(self.terms, value, condition);
        // The order of lanes makes no difference to what is the same, or where but one of them writes.
        let written = sent.written.entry(place).or_default();
        for (other, old, holds) in written.iter() {
            if *other == lane || *old == value {
                continue;
            }
            let both = self.terms.and(*holds, condition);
            let never = self.terms.number(both) == Some(0)
                || self.decisions.can(self.terms, both) == Answer::Never;
            if !never {
                return Err(Unknown::new(
                    "lanes of a message write different values to a byte",
                ));
            }
        }
        written.push((lane, value, condition));
        let how = match self.terms.number(condition) {
            Some(1) => Access::Commuting(Kind::Same(value)),
            _ => Access::Write,
        };
        self.write(place, 0, (value, condition), how)
    }
}
