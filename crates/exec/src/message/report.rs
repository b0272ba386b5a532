//! Reports loads and stores by lanes to observers.

use super::addresses::enabled;
use super::data::Data;
use super::lanes::{LaneAccess, Part};
use super::unit::UnitKind;
use crate::machine::Registers;
use crate::observe::{Extent, InRegister, LanesAccess, MemoryAccess, Observer, Space};

impl LaneAccess {
    /// Whether low bits of addresses are ignored by the message, so that a lane's address may be wrong
    /// although it is accepted here.
    const fn drops_bits(&self) -> bool {
        self.addresses.mask & 3 == 0
    }

    /// The data in the register file, with that of lanes that are off, and whether all of it is accessed.
    fn all_data(&self, mask: u32) -> (Option<(usize, usize)>, bool) {
        let Some(start) = self.data.as_ref().and_then(Data::place) else {
            return (None, false);
        };
        let bytes = Self::data_bytes(&self.parts, self.unit, self.lanes, self.lane_pitch);
        let used = self.parts.len() * self.lanes * self.unit.register();
        let all = u64::from(mask) == (1u64 << self.lanes) - 1;
        (Some((start, bytes)), all && used == bytes)
    }

    /// Reports a run of bytes to an observer. Returns whether it needs no more.
    #[cold]
    pub(super) fn report_run<O: Observer>(
        &self,
        observer: &mut O,
        registers: &Registers,
        (space, extent): (Space, Option<Extent>),
        address: u64,
    ) -> bool {
        if self.drops_bits() {
            return false;
        }
        let (data, whole) = self.all_data(u32::MAX >> (32 - self.lanes.clamp(1, 32)));
        let access = LanesAccess {
            space,
            address,
            bytes: self.run_bytes as u64,
            low_bits: address & (self.unit.memory() as u64 - 1),
            element: u32::try_from(self.unit.memory()).unwrap_or(1),
            write: self.store,
            extent,
            data,
            whole,
            misaligned: false,
        };
        observer.lanes(&access, &registers.file)
    }

    /// Reports all lanes together to an observer. Returns whether it needs no more.
    #[cold]
    pub(super) fn report_lanes<O: Observer>(
        &self,
        observer: &mut O,
        registers: &Registers,
        (space, extent): (Space, Option<Extent>),
        addresses: &[u64],
        mask: u32,
    ) -> bool {
        if self.drops_bits() {
            return false;
        }
        let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
        for (_, address) in enabled(mask, addresses) {
            low = low.min(address);
            high = high.max(address);
            bits |= address;
        }
        let places = self.parts.iter().map(|part| part.memory as u64);
        let first = places.clone().min().unwrap_or(0);
        let misaligned = bits & (self.addresses.align.max(1) - 1) != 0;
        let span = (self.span as u64).saturating_sub(first);
        let (Some(low), Some(end)) = (
            low.checked_add(first),
            high.checked_add(first)
                .and_then(|high| high.checked_add(span)),
        ) else {
            return false;
        };
        let (data, whole) = self.all_data(mask);
        let access = LanesAccess {
            space,
            address: low,
            bytes: end.saturating_sub(low),
            low_bits: places.fold(bits, |bits, place| bits | place)
                & (self.unit.memory() as u64 - 1),
            element: u32::try_from(self.unit.memory()).unwrap_or(1),
            write: self.store,
            extent,
            data,
            whole,
            misaligned,
        };
        observer.lanes(&access, &registers.file)
    }

    #[cold]
    pub(super) fn report<O: Observer>(
        &self,
        observer: &mut O,
        registers: &Registers,
        (space, extent): (Space, Option<Extent>),
        addresses: &[u64],
        mask: u32,
    ) {
        let data = self.data.as_ref().and_then(Data::place);
        let (memory, register) = (self.unit.memory(), self.unit.register());
        let first = if self.unit == UnitKind::D16High { 2 } else { 0 };
        let align = self.addresses.align.max(1);
        // Low bits that the message ignores.
        let mut whole = [0; 32];
        let dropped = self.addresses.mask & 3 == 0;
        if dropped {
            let mut exact = self.addresses.clone();
            exact.mask |= 3;
            let _ = exact.fill(registers, self.lanes, mask, &mut whole);
        }
        for (lane, address) in enabled(mask, addresses) {
            let low = whole.get(usize::from(lane)).copied().unwrap_or(0) & 3;
            let mut parts = self.parts.iter().peekable();
            while let Some(part) = parts.next() {
                let mut bytes = memory;
                // Elements that are neighbours in memory and in registers are one access.
                let is_next = |next: &&Part, bytes| {
                    memory == register
                        && next.memory == part.memory + bytes
                        && next.register == part.register + bytes
                };
                while parts.next_if(|next| is_next(next, bytes)).is_some() {
                    bytes += memory;
                }
                let at = data.map(|d| d + usize::from(lane) * self.lane_pitch + part.register);
                let access = MemoryAccess {
                    lane: Some(lane),
                    element: u32::try_from(memory).unwrap_or(1),
                    extent,
                    data: at.map(|whole| InRegister {
                        offset: whole + first,
                        whole,
                        whole_bytes: bytes.max(register),
                    }),
                    misaligned: address & (align - 1) != 0 || low != 0,
                    ..MemoryAccess::plain(
                        space,
                        address.wrapping_add(part.memory as u64),
                        u32::try_from(bytes).unwrap_or(u32::MAX),
                        self.store,
                    )
                };
                observer.memory(&access, &registers.file);
            }
        }
    }
}
