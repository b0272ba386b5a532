//! Computations on predicates as a whole.

use crate::lower::bits;
use crate::machine::Machine;
use crate::term::{Term, Terms};
use crate::thread::{LANES, Mask, Thread};
use crate::unknown::Unknown;
use visakit_exec::code::{Compute, Operation, Source};

impl Machine<'_> {
    /// Computations on predicates as a whole; false for others.
    pub(crate) fn predicates(
        &mut self,
        thread: &mut Thread,
        compute: &Compute,
        lanes: usize,
        enabled: &Mask,
    ) -> Result<bool, Unknown> {
        let zero = self.terms.constant(0, 1);
        let [first, second] = &compute.flags;
        let set = match compute.operation {
            Operation::FlagAnd | Operation::FlagOr | Operation::FlagXor => {
                let (a, b) = (
                    thread.flag(self.terms, first)?,
                    thread.flag(self.terms, second)?,
                );
                let of = match compute.operation {
                    Operation::FlagAnd => Terms::and,
                    Operation::FlagOr => Terms::or,
                    _ => Terms::xor,
                };
                Thread::zip(self.terms, &a, &b, of)
            }
            Operation::FlagNot => {
                let mask = thread.flag(self.terms, first)?;
                mask.map(|bit| self.terms.not(bit))
            }
            Operation::FlagFromBits => {
                let [source, ..] = &compute.sources;
                let element = self.unsigned(thread, source, 0)?;
                let mut mask = [zero; LANES];
                for (bit, to) in (0..).zip(&mut mask) {
                    *to = self.terms.extract(element, bit, 1);
                }
                mask
            }
            Operation::FlagFromLanes => {
                let [source, ..] = &compute.sources;
                let mut mask = [zero; LANES];
                for lane in 0..lanes {
                    let element = self.unsigned(thread, source, lane)?;
                    if let Some(to) = mask.get_mut(lane) {
                        *to = self.terms.extract(element, 0, 1);
                    }
                }
                mask
            }
            Operation::FlagToNumber(elements) => {
                let to = &compute.destination;
                if to.saturate || to.data_type.is_float() {
                    return Err(Unknown::new("a predicate as a float, or saturated"));
                }
                let word = thread.element(self.terms, first.offset as usize, 4)?;
                let kept = self.terms.constant((1 << elements.clamp(1, 32)) - 1, 32);
                let word = self.terms.and(word, kept);
                let by = self.terms.constant(first.first.into(), 32);
                let word = self.terms.right(word, by);
                let value = self.terms.zero_extend(word, bits(to.data_type));
                for (lane, condition) in enabled.iter().enumerate().take(lanes) {
                    if self.terms.number(*condition) == Some(0) {
                        continue;
                    }
                    self.set_lane(thread, to, (lane, *condition), value)?;
                }
                return Ok(true);
            }
            _ => return Ok(false),
        };
        if let Some(flag) = &compute.sets {
            thread.set_flag(self.terms, flag, &set, enabled)?;
        }
        Ok(true)
    }

    /// An element as a dword, by its own signedness and without its modifier.
    fn unsigned(&mut self, thread: &Thread, source: &Source, lane: usize) -> Result<Term, Unknown> {
        if source.data_type.is_float() {
            return Err(Unknown::new("a float as the bits of a predicate"));
        }
        let always = self.terms.constant(1, 1);
        let program = self.program();
        let element = thread.source(
            (&mut *self.terms, &mut *self.decisions),
            program,
            source,
            (lane, always),
        )?;
        Ok(match source.data_type.is_signed() {
            true => self.terms.sign_extend(element, 32),
            false => self.terms.zero_extend(element, 32),
        })
    }
}
