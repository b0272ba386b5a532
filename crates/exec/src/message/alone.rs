//! Loads and stores of one lane whose elements follow each other: how kernels load what all lanes use.

use super::data::Data;
use super::lanes::LaneAccess;
use super::reach::Reach;
use crate::machine::Registers;
use crate::memory::space::Space;
use crate::memory::target::{Access, Flat, Target, Window};
use crate::memory::{Local, Memory};

impl LaneAccess {
    /// Moves the bytes at the address of the only lane, if they follow each other, have the same size in registers, and
    /// all of them are inside of the storage. Returns whether it did; if not, nothing has happened.
    #[inline(never)]
    pub(super) fn run_alone(
        &self,
        address: u64,
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
    ) -> bool {
        match self.reach {
            Reach::Flat => self.run_in(&mut Flat::new(memory, address), address, registers),
            Reach::Local => self.run_in(&mut Window::whole(local.slm()), address, registers),
            reach => match reach.buffer(registers, memory) {
                Some(mut window) => self.run_in(&mut window, address, registers),
                None => false,
            },
        }
    }

    #[inline]
    fn run_in<T: Target>(&self, target: &mut T, address: u64, registers: &mut Registers) -> bool {
        let data = self.data.as_ref().and_then(Data::range);
        let Some(bytes) = data.filter(|data| data.len() == self.run_bytes) else {
            return false;
        };
        let first = self.parts.first().map_or(0, |part| part.memory as u64);
        let address = address.wrapping_add(first);
        let access = if self.store {
            Access::Change
        } else {
            Access::Read
        };
        let Some((space, at)) = target.locate(access, address, self.run_bytes as u64) else {
            return false;
        };
        let Some(bytes) = registers.bytes_mut(bytes.start, bytes.len()) else {
            return false;
        };
        match (self.store, bytes.len()) {
            (true, _) => space.write(at, bytes),
            // Of known sizes they are words, not loops.
            (false, 4) => load::<4, _>(space, at, bytes),
            (false, 8) => load::<8, _>(space, at, bytes),
            (false, 16) => load::<16, _>(space, at, bytes),
            (false, _) => space.read(at, bytes),
        }
        true
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn load<const N: usize, S: Space>(space: &S, at: usize, out: &mut [u8]) {
    if let Some(out) = out.first_chunk_mut::<N>() {
        space.read(at, out);
    }
}
