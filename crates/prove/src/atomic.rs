//! Atomic operations on terms.

use crate::machine::Machine;
use crate::memory::{Access, Element, Kind};
use crate::term::{Function, Output, Term, Terms};
use crate::thread::Thread;
use crate::unknown::Unknown;
use visakit_exec::MemoryAccess;
use visakit_exec::code::AtomicOp;

/// An operation for all those that may be exchanged with each other on an element: their order makes no difference to what is
/// left in memory.
const fn family(op: AtomicOp) -> Option<AtomicOp> {
    match op {
        AtomicOp::Add | AtomicOp::Sub | AtomicOp::Increment | AtomicOp::Decrement => {
            Some(AtomicOp::Add)
        }
        AtomicOp::UnsignedMin
        | AtomicOp::UnsignedMax
        | AtomicOp::SignedMin
        | AtomicOp::SignedMax
        | AtomicOp::And
        | AtomicOp::Or
        | AtomicOp::Xor => Some(op),
        _ => None,
    }
}

/// Whether the order of such operations makes no difference to what is left in memory.
pub(crate) const fn commutes(op: AtomicOp) -> bool {
    family(op).is_some()
}

/// Whether an operation leaves the same in memory once as several times, if its operands are the same: their order makes no
/// difference then.
const fn is_once(op: AtomicOp) -> bool {
    matches!(op, AtomicOp::Store | AtomicOp::CompareExchange)
}

impl Machine<'_> {
    /// An atomic operation of a lane, where a condition holds. The registers are those before the message.
    pub(crate) fn atomic(
        &mut self,
        thread: &mut Thread,
        before: &[Term],
        access: &MemoryAccess,
        op: AtomicOp,
        condition: Term,
    ) -> Result<(), Unknown> {
        let place = self.place(access)?;
        let bytes = access.bytes as usize;
        let width = u8::try_from(8 * bytes).unwrap_or(64);
        let mut operands = [self.terms.constant(0, width); 2];
        for (to, at) in operands.iter_mut().zip(access.operands) {
            if let Some(at) = at {
                let operand = before.get(at..at + bytes);
                let operand = operand
                    .ok_or_else(|| Unknown::new("an operand outside of the register file"))?;
                *to = self.terms.concat(operand);
            }
        }
        let how = |byte: u32| {
            let element = |op| Element {
                op,
                byte,
                bytes: access.bytes,
            };
            match (access.data, family(op)) {
                (None, Some(op)) => Access::Commuting(Kind::Atomic(element(op))),
                (None, None) if is_once(op) => {
                    Access::Commuting(Kind::Again(element(op), operands))
                }
                _ => Access::Atomic,
            }
        };
        let mut old = Vec::with_capacity(bytes);
        for by in 0..access.bytes {
            old.push(self.read(place, by.into(), how(by))?);
        }
        let old = self.terms.concat(&old);
        let [a, b] = operands;
        let new = self.applied(op, [old, a, b], width);
        let returned = match op {
            AtomicOp::PreDecrement => new,
            _ => old,
        };
        for by in 0..access.bytes {
            let low = u8::try_from(8 * by).unwrap_or(0);
            let byte = self.terms.extract(new, low, 8);
            self.write(place, by.into(), (byte, condition), how(by))?;
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
fn extreme(terms: &mut Terms, op: AtomicOp, old: Term, a: Term) -> Term {
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
