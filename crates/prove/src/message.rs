//! Messages on terms: what they access is found out by the executor, for addresses that the launch decides.

use crate::machine::Machine;
use crate::memory::Access;
use crate::term::{Function, Output, Term};
use crate::thread::{Mask, Thread};
use crate::unknown::Unknown;
use visakit_exec::code::{AtomicOp, Message, MessageOperands};
use visakit_exec::{MemoryAccess, Space};

/// Where a byte is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Global(u64),
    Local(u64),
    Scratch(u64),
}

/// Operations whose order makes no difference to what is left in memory.
const fn commutes(op: AtomicOp) -> bool {
    matches!(
        op,
        AtomicOp::Add
            | AtomicOp::Sub
            | AtomicOp::Increment
            | AtomicOp::Decrement
            | AtomicOp::UnsignedMin
            | AtomicOp::UnsignedMax
            | AtomicOp::SignedMin
            | AtomicOp::SignedMax
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
    )
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
            "fence" | "nothing" | "prefetch" => return Ok(()),
            // They work whatever lanes run, as long as the thread is here.
            "block" | "media" => false,
            "load" | "store" | "atomic" | "block2d" => true,
            _ => return Err(Unknown::new(format!("a message: {name}"))),
        };
        if by_lane && !Thread::may(self.terms, enabled) {
            return Ok(());
        }
        let here = Thread::any(self.terms, &thread.running);
        let whole = match name {
            "block2d" => Thread::any(self.terms, enabled),
            _ => here,
        };
        let operands = message.operands();
        let mask = self.mask(enabled);
        self.place_operands(thread, &operands, (enabled, here))?;
        let loaded = operands.loaded.clone();
        self.fill(loaded.clone(), 0);
        let found = self.probe.run(message, self.launch.memory(), mask);
        let found = found.map_err(|fault| Unknown::new(fault.to_string()))?;
        if found.partial {
            return Err(Unknown::new("a part of a surface that does not exist"));
        }
        if let Some(range) = loaded {
            self.zeros(thread, message, range, &found.all, (mask, whole))?;
        }
        let op = message.lanes().and_then(|m| m.atomic).map(|a| a.op);
        for access in &found.all {
            let condition = match access.lane {
                Some(lane) => enabled.get(usize::from(lane)).copied(),
                None => Some(whole),
            };
            let condition = condition.ok_or_else(|| Unknown::new("a lane that does not exist"))?;
            match (access.atomic, access.write) {
                (true, _) => {
                    let op = op.ok_or_else(|| Unknown::new("an atomic operation on a surface"))?;
                    self.atomic(thread, access, op, condition)?;
                }
                (false, true) => self.store(thread, access, condition)?,
                (false, false) => self.load(thread, access, condition)?,
            }
        }
        Ok(())
    }

    /// Lanes that may be enabled.
    fn mask(&self, enabled: &Mask) -> u32 {
        let lanes = enabled.iter().enumerate();
        let may = lanes.filter(|(_, lane)| self.terms.number(**lane) != Some(0));
        may.fold(0, |mask, (lane, _)| mask | 1 << lane)
    }

    /// Gives the probe addresses and scalars, which must be numbers.
    fn place_operands(
        &mut self,
        thread: &Thread,
        operands: &MessageOperands,
        (enabled, here): (&Mask, Term),
    ) -> Result<(), Unknown> {
        if operands.indirect {
            return Err(Unknown::new("a scalar by an address of registers"));
        }
        // Where the message does not run, or a lane not, its addresses make no difference.
        let number = |terms: &mut crate::term::Terms, place: usize, condition: Term| {
            let term = terms.under(*thread.file.get(place)?, condition);
            u8::try_from(terms.number(term)?).ok()
        };
        for range in &operands.scalars {
            for place in range.clone() {
                let byte = number(self.terms, place, here)
                    .ok_or_else(|| Unknown::new("an address or a surface depends on data"))?;
                if let Some(to) = self.probe.registers().get_mut(place) {
                    *to = byte;
                }
            }
        }
        for lanes in &operands.addresses {
            for lane in 0..lanes.lanes {
                let condition = enabled.get(lane).copied().unwrap_or(here);
                let off = self.terms.number(condition) == Some(0);
                let first = lanes.offset + lane * lanes.bytes;
                for place in first..first + lanes.bytes {
                    let byte = match number(self.terms, place, condition) {
                        Some(byte) => byte,
                        None if off => 0,
                        None => return Err(Unknown::new("an address depends on data")),
                    };
                    if let Some(to) = self.probe.registers().get_mut(place) {
                        *to = byte;
                    }
                }
            }
        }
        Ok(())
    }

    fn fill(&mut self, range: Option<std::ops::Range<usize>>, byte: u8) {
        if let Some(range) = range
            && let Some(part) = self.probe.registers().get_mut(range)
        {
            part.fill(byte);
        }
    }

    /// Sets registers to zero that a load changes although nothing in memory belongs to them.
    fn zeros(
        &mut self,
        thread: &mut Thread,
        message: &Message,
        range: std::ops::Range<usize>,
        all: &[MemoryAccess],
        (mask, whole): (u32, Term),
    ) -> Result<(), Unknown> {
        let mut covered = vec![false; range.len()];
        for data in all.iter().filter_map(|access| access.data) {
            let first = data.whole.saturating_sub(range.start);
            let part = covered.get_mut(first..first + data.whole_bytes);
            part.ok_or_else(|| Unknown::new("a load beside its operand"))?.fill(true);
        }
        if covered.iter().all(|covered| *covered) {
            return Ok(());
        }
        let before = self.probe.registers().get(range.clone()).map(<[u8]>::to_vec);
        self.fill(Some(range.clone()), 0xff);
        let again = self.probe.run(message, self.launch.memory(), mask);
        again.map_err(|fault| Unknown::new(fault.to_string()))?;
        let after = self.probe.registers().get(range.clone()).map(<[u8]>::to_vec);
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let zero = self.terms.constant(0, 8);
        let bytes = range.zip(covered).zip(before.iter().zip(&after));
        for ((place, covered), (first, second)) in bytes {
            match (covered, first, second) {
                (true, ..) | (_, 0, 0xff) => {}
                // Whose lane it is is not known.
                (_, 0, 0) if self.terms.number(whole) == Some(1) => {
                    thread.set_element(self.terms, place, zero, whole)?;
                }
                _ => return Err(Unknown::new("a load of what is not in memory")),
            }
        }
        Ok(())
    }

    /// Where the first byte of an access is.
    fn place(&self, access: &MemoryAccess) -> Result<Place, Unknown> {
        Ok(match (access.space, access.extent) {
            (Space::Global, _) => Place::Global(access.address),
            (Space::Surface(_), Some(extent)) => {
                Place::Global(extent.base.wrapping_add(access.address))
            }
            (Space::Surface(_), None) => return Err(Unknown::new("a surface that is no buffer")),
            (Space::Local, _) => Place::Local(access.address),
            (Space::Scratch, _) => Place::Scratch(access.address),
        })
    }

    /// The byte at a place, now.
    fn read(&mut self, place: Place, by: u64, access: Access) -> Result<Term, Unknown> {
        let now = self.now;
        Ok(match place {
            Place::Global(address) => {
                let address = address.wrapping_add(by);
                self.global.bytes.access(address, now, access)?;
                self.global.read(self.terms, address)
            }
            Place::Local(address) => {
                let address = address.wrapping_add(by);
                self.local.access(address, now, access)?;
                match self.local.get(address) {
                    Some(value) => value,
                    None => {
                        let value = self.terms.undefined();
                        self.local.set(address, value);
                        value
                    }
                }
            }
            Place::Scratch(address) => {
                let address = address.wrapping_add(by);
                let scratch = self.scratch.get_mut(now.thread);
                let scratch = scratch.ok_or_else(|| Unknown::new("no scratch memory"))?;
                match scratch.get(address) {
                    Some(value) => value,
                    None => {
                        let value = self.terms.undefined();
                        scratch.set(address, value);
                        value
                    }
                }
            }
        })
    }

    /// Writes a byte where a condition holds.
    fn write(
        &mut self,
        place: Place,
        by: u64,
        (value, condition): (Term, Term),
        access: Access,
    ) -> Result<(), Unknown> {
        let old = match self.terms.number(condition) {
            Some(1) => value,
            // The byte keeps its value otherwise; that is no access of the thread.
            _ => match place {
                Place::Global(address) => self.global.read(self.terms, address.wrapping_add(by)),
                _ => self.read(place, by, Access::Write)?,
            },
        };
        let value = self.terms.choice(condition, value, old);
        let now = self.now;
        match place {
            Place::Global(address) => {
                let address = address.wrapping_add(by);
                self.global.check_write(address)?;
                self.global.bytes.access(address, now, access)?;
                self.global.bytes.set(address, value);
            }
            Place::Local(address) => {
                let address = address.wrapping_add(by);
                self.local.access(address, now, access)?;
                self.local.set(address, value);
            }
            Place::Scratch(address) => {
                if let Some(scratch) = self.scratch.get_mut(now.thread) {
                    scratch.set(address.wrapping_add(by), value);
                }
            }
        }
        Ok(())
    }

    fn load(&mut self, thread: &mut Thread, access: &MemoryAccess, condition: Term) -> Result<(), Unknown> {
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

    fn store(&mut self, thread: &Thread, access: &MemoryAccess, condition: Term) -> Result<(), Unknown> {
        let data = access.data;
        let data = data.ok_or_else(|| Unknown::new("a store of what is no run of bytes"))?;
        let place = self.place(access)?;
        for by in 0..u64::from(access.bytes) {
            let at = data.offset + usize::try_from(by).unwrap_or(usize::MAX);
            let value = thread.element(self.terms, at, 1)?;
            self.write(place, by, (value, condition), Access::Write)?;
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        thread: &mut Thread,
        access: &MemoryAccess,
        op: AtomicOp,
        condition: Term,
    ) -> Result<(), Unknown> {
        let place = self.place(access)?;
        let how = match access.data {
            None if commutes(op) => Access::Commuting(op),
            _ => Access::Atomic,
        };
        let bytes = access.bytes as usize;
        let width = u8::try_from(8 * bytes).unwrap_or(64);
        let mut old = Vec::with_capacity(bytes);
        for by in 0..u64::from(access.bytes) {
            old.push(self.read(place, by, how)?);
        }
        let old = self.terms.concat(&old);
        let mut operands = [self.terms.constant(0, width); 2];
        for (to, at) in operands.iter_mut().zip(access.operands) {
            if let Some(at) = at {
                *to = thread.element(self.terms, at, bytes)?;
            }
        }
        let [a, b] = operands;
        let new = self.applied(op, [old, a, b], width);
        let returned = match op {
            AtomicOp::PreDecrement => new,
            _ => old,
        };
        for by in 0..access.bytes {
            let low = u8::try_from(8 * by).unwrap_or(0);
            let byte = self.terms.extract(new, low, 8);
            self.write(place, by.into(), (byte, condition), how)?;
        }
        if let Some(data) = access.data {
            let whole = u8::try_from(8 * data.whole_bytes).unwrap_or(64);
            let value = self.terms.zero_extend(returned, whole);
            thread.set_element(self.terms, data.whole, value, condition)?;
        }
        Ok(())
    }

    /// The element after an atomic operation.
    fn applied(&mut self, op: AtomicOp, [old, a, b]: [Term; 3], width: u8) -> Term {
        let terms = &mut *self.terms;
        let one = terms.constant(1, width);
        match op {
            AtomicOp::Load => old,
            AtomicOp::Store => a,
            AtomicOp::Add => terms.add(old, a),
            AtomicOp::Sub => terms.subtract(old, a),
            AtomicOp::Increment => terms.add(old, one),
            AtomicOp::Decrement | AtomicOp::PreDecrement => terms.subtract(old, one),
            AtomicOp::And => terms.and(old, a),
            AtomicOp::Or => terms.or(old, a),
            AtomicOp::Xor => terms.xor(old, a),
            AtomicOp::CompareExchange => {
                let same = terms.equal(old, a);
                terms.choice(same, b, old)
            }
            AtomicOp::UnsignedMin
            | AtomicOp::UnsignedMax
            | AtomicOp::SignedMin
            | AtomicOp::SignedMax => extreme(terms, op, old, a),
            _ => terms.symbol(Function::Atomic(op, Output::Value), &[old, a, b], width),
        }
    }
}

/// The smallest or largest of all operands of such operations, in an order that does not depend on theirs.
fn extreme(terms: &mut crate::term::Terms, op: AtomicOp, old: Term, a: Term) -> Term {
    let signed = matches!(op, AtomicOp::SignedMin | AtomicOp::SignedMax);
    let least = matches!(op, AtomicOp::SignedMin | AtomicOp::UnsignedMin);
    let less = match signed {
        true => terms.less_signed(a, old),
        false => terms.less(a, old),
    };
    match least {
        true => terms.choice(less, a, old),
        false => terms.choice(less, old, a),
    }
}

