//! Loads and stores with an address for each lane.

use super::addresses::{Addresses, consecutive, enabled};
use super::fields::Data;
use super::reach::{Reach, with_target};
use super::unit::{self, Unit, UnitKind, with_unit};
use crate::fault::{FaultKind, Outcome, Trap};
use crate::memory::target::Target;
use crate::memory::{Local, Memory};
use crate::observe::{MemoryAccess, Observer, Space};
use crate::run::Registers;

/// One element of a lane: where it is, relative to the lane's address and to the lane's place in
/// the data operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) memory: usize,
    pub(crate) register: usize,
}

/// A load or store of one or more elements at the address of each lane.
#[derive(Clone, Debug)]
pub(crate) struct LaneAccess {
    pub(crate) reach: Reach,
    pub(crate) addresses: Addresses,
    pub(crate) lanes: usize,
    pub(crate) unit: UnitKind,
    pub(crate) parts: Box<[Part]>,
    /// Distance of the lanes in the data operand.
    pub(crate) lane_pitch: usize,
    /// The data operand. Without one a load is a prefetch: it touches nothing.
    pub(crate) data: Option<Data>,
    pub(crate) store: bool,
}

impl LaneAccess {
    /// Bytes of a data operand of this shape.
    pub(crate) fn data_bytes(
        parts: &[Part],
        unit: UnitKind,
        lanes: usize,
        lane_pitch: usize,
    ) -> usize {
        let last = parts.iter().map(|p| p.register).max().unwrap_or(0);
        last + lane_pitch * lanes.saturating_sub(1) + unit.register()
    }

    #[inline]
    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
        mask: u32,
        observer: &mut O,
    ) -> Outcome {
        let Some(data) = &self.data else {
            return Ok(());
        };
        if mask == 0 {
            return Ok(());
        }
        let mut addresses = [0; 32];
        self.addresses.fill(registers, self.lanes, &mut addresses)?;
        let addresses = addresses.get_mut(..self.lanes).unwrap_or_default();
        if let Some((lane, address)) = self.addresses.misaligned(addresses, mask) {
            return Err(Trap::at(FaultKind::Misaligned, lane, address));
        }
        let first = enabled(mask, addresses).next().map_or(0, |(_, a)| a);
        let opened = self.reach.open(registers, local, memory, first)?;
        if opened.base != 0 {
            for address in &mut *addresses {
                *address = address.wrapping_add(opened.base);
            }
        }
        if O::MEMORY {
            self.report(observer, opened.space, addresses, mask);
        }
        with_target!(opened.target, |target| {
            if self.store {
                let from = data.read(registers)?;
                with_unit!(self.unit, |U| self.store::<U, _>(
                    &mut target,
                    addresses,
                    mask,
                    from
                ))
            } else {
                let out = data.write(registers)?;
                with_unit!(self.unit, |U| self.load::<U, _>(
                    &mut target,
                    addresses,
                    mask,
                    out
                ))
            }
        })
    }

    /// Whether all lanes together are one run of bytes, in memory and in the register.
    #[inline]
    fn is_run<U: Unit>(&self, addresses: &[u64], mask: u32) -> bool {
        self.parts.len() == 1
            && self.lane_pitch == U::REGISTER
            && u64::from(mask) == (1u64 << self.lanes) - 1
            && consecutive(addresses, U::MEMORY as u64)
    }

    #[inline]
    fn load<U: Unit, T: Target>(
        &self,
        target: &mut T,
        addresses: &[u64],
        mask: u32,
        out: &mut [u8],
    ) -> Outcome {
        if self.is_run::<U>(addresses, mask)
            && let (Some(first), Some(part)) = (addresses.first(), self.parts.first())
            && let bytes = self.lanes * U::MEMORY
            && let address = first.wrapping_add(part.memory as u64)
            && let Some((space, at)) = target.locate(address, bytes as u64)
            && let Some(out) = out.get_mut(part.register..part.register + self.lanes * U::REGISTER)
        {
            unit::load_run::<U, _>(space, at, out);
            return Ok(());
        }
        for (lane, address) in enabled(mask, addresses) {
            let place = usize::from(lane) * self.lane_pitch;
            for part in &self.parts {
                let at = place + part.register;
                let Some(out) = out.get_mut(at..at + U::REGISTER) else {
                    return Err(Trap::new(FaultKind::RegisterOutOfBounds));
                };
                let address = address.wrapping_add(part.memory as u64);
                match target.locate(address, U::MEMORY as u64) {
                    Some((space, at)) => unit::load::<U, _>(space, at, out),
                    None if T::DROPS => unit::zero(out),
                    None => return Err(outside(false, U::MEMORY, lane, address)),
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn store<U: Unit, T: Target>(
        &self,
        target: &mut T,
        addresses: &[u64],
        mask: u32,
        from: &[u8],
    ) -> Outcome {
        if self.is_run::<U>(addresses, mask)
            && let (Some(first), Some(part)) = (addresses.first(), self.parts.first())
            && let bytes = self.lanes * U::MEMORY
            && let address = first.wrapping_add(part.memory as u64)
            && let Some((space, at)) = target.locate(address, bytes as u64)
            && let Some(from) = from.get(part.register..part.register + self.lanes * U::REGISTER)
        {
            unit::store_run::<U, _>(space, at, from);
            return Ok(());
        }
        for (lane, address) in enabled(mask, addresses) {
            let place = usize::from(lane) * self.lane_pitch;
            for part in &self.parts {
                let at = place + part.register;
                let Some(from) = from.get(at..at + U::REGISTER) else {
                    return Err(Trap::new(FaultKind::RegisterOutOfBounds));
                };
                let address = address.wrapping_add(part.memory as u64);
                match target.locate(address, U::MEMORY as u64) {
                    Some((space, at)) => unit::store::<U, _>(space, at, from),
                    None if T::DROPS => {}
                    None => return Err(outside(true, U::MEMORY, lane, address)),
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn report<O: Observer>(&self, observer: &mut O, space: Space, addresses: &[u64], mask: u32) {
        for (lane, address) in enabled(mask, addresses) {
            let mut parts = self.parts.iter().peekable();
            while let Some(part) = parts.next() {
                // Neighbouring elements are one access.
                let mut bytes = self.unit.memory();
                while let Some(next) = parts.next_if(|p| p.memory == part.memory + bytes) {
                    bytes += self.unit.memory();
                    let _ = next;
                }
                observer.memory(&MemoryAccess {
                    space,
                    address: address.wrapping_add(part.memory as u64),
                    bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
                    lane: Some(lane),
                    read: !self.store,
                    write: self.store,
                    atomic: false,
                });
            }
        }
    }
}

/// A flat access outside of every buffer.
#[cold]
pub(crate) fn outside(write: bool, bytes: usize, lane: u8, address: u64) -> Box<Trap> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    Trap::at(FaultKind::MemoryOutOfBounds { write, bytes }, lane, address)
}
