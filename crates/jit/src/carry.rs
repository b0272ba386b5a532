//! Machine code for sums and differences of dwords with their carry or borrow, as compilers use them for integers of 64
//! bits on devices that have none.

use crate::masks::Enabled;
use crate::vector::{Chunks, Done, NoTemplate, Writer};
use crate::x64::ops;
use visakit_exec::code::{Compute, Modify, Operation};

impl Writer {
    /// The low dword goes to the destination, the carry or borrow, 0 or 1, to the second one.
    pub(crate) fn carried(&mut self, lanes: usize, compute: &Compute, enabled: Enabled) -> Done {
        let [a, b, ..] = &compute.sources;
        let second = compute.second.as_ref().ok_or(NoTemplate)?;
        let plain = [a, b].into_iter().all(|source| {
            source.modify == Modify::None
                && source.data_type.size() == 4
                && !source.data_type.is_signed()
        });
        if !plain || second.saturate || compute.destination.saturate {
            return Err(NoTemplate);
        }
        let c = Chunks::new(self.features, 4, lanes);
        let mut results = Vec::with_capacity(c.count);
        for chunk in 0..c.count {
            let x = self.load(c, chunk, 0, a, false)?;
            let y = self.load(c, chunk, 1, b, false)?;
            let (low, high) = (self.take(c)?, self.take(c)?);
            self.with_scratch(|own, [carry]| {
                if compute.operation == Operation::AddCarry {
                    // Both highest bits are set, or one, and that of the sum is not.
                    own.v3(c, ops::ADD_D, low, x, y);
                    own.v3(c, ops::OR, carry, x, y);
                    own.v3(c, ops::ANDN, carry, low, carry);
                    own.v3(c, ops::AND, high, x, y);
                } else {
                    // Only the highest bit of the second is set, or both or none, and that of the difference.
                    own.v3(c, ops::SUB_D, low, x, y);
                    own.v3(c, ops::ANDN, carry, y, x);
                    own.v3(c, ops::ANDN, carry, carry, low);
                    own.v3(c, ops::ANDN, high, x, y);
                }
                own.v3(c, ops::OR, high, high, carry);
            });
            self.v2i(c, ops::SHR_D_IMM, high, c.register(high), 31);
            self.release(x);
            self.release(y);
            results.push((low, high));
        }
        for (chunk, (low, _)) in results.iter().enumerate() {
            self.store(c, chunk, *low, &compute.destination, false, enabled)?;
        }
        for (chunk, (_, high)) in results.iter().enumerate() {
            self.store(c, chunk, *high, second, false, enabled)?;
        }
        Ok(())
    }
}
