//! Loads and stores of one lane whose elements follow each other: how kernels load what all lanes use.

use super::lanes::LaneAccess;
use super::reach::Reach;
use crate::fault::Trap;
use crate::machine::Registers;
use crate::memory::target::{Flat, Target, Window};
use crate::memory::{Local, Memory};
use crate::observe::Space;

impl LaneAccess {
    /// Moves the elements at the address of the only lane, if they are one run of bytes inside of the storage, where nobody
    /// observes that. Returns whether it did; if not, nothing has happened.
    #[inline(never)]
    pub(super) fn run_alone(
        &self,
        address: u64,
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
    ) -> Result<bool, Box<Trap>> {
        match self.reach {
            Reach::Flat => self.run_in(&mut Flat::new(memory, address), address, registers),
            Reach::Local => self.run_in(&mut Window::whole(local.slm()), address, registers),
            reach => match reach.buffer(registers, memory) {
                Some(mut window) => self.run_in(&mut window, address, registers),
                None => Ok(false),
            },
        }
    }

    #[inline]
    fn run_in<T: Target>(
        &self,
        target: &mut T,
        address: u64,
        registers: &mut Registers,
    ) -> Result<bool, Box<Trap>> {
        match &self.data {
            Some(data) if self.run_bytes != 0 => {
                let reach = (Space::Global, None);
                self.run_at_once(data, registers, target, reach, address, &mut ())
            }
            _ => Ok(false),
        }
    }
}
