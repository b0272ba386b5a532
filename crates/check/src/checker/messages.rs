//! Accesses to memory.

use super::Checker;
use super::steps::Role;
use crate::finding::Space;
use visakit_exec::{InRegister, InstructionEvent, MemoryAccess};

/// Where an access goes to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reached {
    Local,
    Scratch,
    /// An object in flat memory, and the address.
    Flat(usize, u64),
}

/// What is at an address, of an access of so many bytes.
pub(super) struct Located {
    pub(super) reached: Reached,
    pub(super) address: u64,
    /// Bytes that are inside, from the first one on.
    pub(super) inside: usize,
}

impl Checker {
    /// A message is about to run: its operands.
    pub(super) fn message(&mut self, event: &InstructionEvent<'_>) {
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
        let Some(Some(thread)) = self.threads.get_mut(event.thread) else {
            return;
        };
        let mut wrong = None;
        if self.checks.uninitialized {
            let shadow = &thread.shadow;
            if event.mask != 0 {
                for operand in &operands.addresses {
                    let bytes = operand.bytes * operand.lanes;
                    if shadow.is_defined(operand.offset, bytes) {
                        continue;
                    }
                    let lanes = (0..operand.lanes).filter(|lane| event.mask >> lane & 1 != 0);
                    for lane in lanes {
                        let at = operand.offset + lane * operand.bytes;
                        if !shadow.is_defined(at, operand.bytes) {
                            wrong = wrong.or(Some((at, operand.bytes, lane)));
                        }
                    }
                }
                for range in &operands.scalars {
                    if !shadow.is_defined(range.start, range.len()) {
                        wrong = wrong.or(Some((range.start, range.len(), 0)));
                    }
                }
            }
        }
        if let Some(range) = &operands.loaded
            && !by_access
            && event.mask != 0
        {
            thread.shadow.define(range.start, range.len());
        }
        if let Some((at, bytes, lane)) = wrong {
            let origin = thread.shadow.origin(at, bytes);
            let lane = u8::try_from(lane).ok();
            self.undefined("an address", Space::Register, origin, lane, at);
        }
        if self.checks.uninitialized
            && let Some((at, lane)) = self.unsure(event)
            && let Some(Some(thread)) = self.threads.get(event.thread)
        {
            let origin = thread.shadow.origin(at, 4);
            self.undefined("a predicate", Space::Register, origin, Some(lane), at);
        }
        if self.contiguous.is_none() && self.votes.0 + self.votes.1 >= 2 {
            self.contiguous = Some(self.votes.1 == 0);
        }
        self.votes = (0, 0);
        self.reached = None;
        let time = self.order.message(event.thread);
        if let Some(Some(thread)) = self.threads.get_mut(event.thread) {
            thread.time = time;
        }
    }

    /// Memory is about to be accessed.
    pub(super) fn access(&mut self, access: &MemoryAccess, registers: &[u8]) {
        // Compilers load what lies between two elements that they want.
        if access.read
            && !access.write
            && let Some(data) = access.data
            && let Some(to) = self
                .ever_read
                .get(data.whole..data.whole + data.whole_bytes)
            && !to.contains(&true)
        {
            self.define(data);
            return;
        }
        let Some(located) = self.locate(access) else {
            // Nothing is there: what is loaded is zero.
            if let Some(data) = access.data.filter(|_| access.read) {
                self.define(data);
            }
            return;
        };
        if self.checks.memory {
            self.look_at_alignment(access, &located);
        }
        if self.checks.race {
            self.look_for_races(access, &located, registers);
        }
        if self.checks.uninitialized || self.checks.memory {
            self.move_definedness(access, &located);
        }
    }

    pub(super) fn define(&mut self, data: InRegister) {
        if let Some(Some(thread)) = self.threads.get_mut(self.current.1) {
            thread.shadow.define(data.whole, data.whole_bytes);
        }
    }
}
