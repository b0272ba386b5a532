//! LSC_LOAD_STATUS: which lanes have memory at their addresses.

use super::addresses::{Addresses, enabled};
use super::data::Data;
use super::reach::{Reach, with_target};
use crate::fault::Outcome;
use crate::machine::Registers;
use crate::memory::target::Target;
use crate::memory::{Local, Memory};

/// For each enabled lane a bit: whether all elements of its address are in a buffer or surface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Status {
    pub(crate) reach: Reach,
    pub(crate) addresses: Addresses,
    pub(crate) lanes: usize,
    /// Bytes of a lane.
    pub(crate) bytes: usize,
    pub(crate) dst: Option<Data>,
}

impl Status {
    pub(crate) fn run(
        &self,
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
        mask: u32,
    ) -> Outcome {
        let Some(dst) = &self.dst else {
            return Ok(());
        };
        let mut addresses = [0; 32];
        self.addresses
            .fill(registers, self.lanes, mask, &mut addresses)?;
        let addresses = addresses.get(..self.lanes).unwrap_or_default();
        let opened = self.reach.open(registers, local, memory, 0)?;
        let mut bits = 0u32;
        with_target!(opened.target, |target| {
            for (lane, address) in enabled(mask, addresses) {
                let address = address.wrapping_add(opened.base);
                let there = target.locate(address, self.bytes as u64).is_some();
                bits |= u32::from(there) << lane;
            }
        });
        if let Some(out) = dst.write(registers)?.first_chunk_mut() {
            *out = bits.to_le_bytes();
        }
        Ok(())
    }
}
