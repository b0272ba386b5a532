//! Messages without lanes: consecutive bytes.

use super::data::Data;
use super::lanes::outside;
use super::plain::{Element, LaneMessage, LaneSpace};
use super::reach::{Reach, with_target};
use crate::fault::{FaultKind, Outcome, Trap};
use crate::machine::Registers;
use crate::memory::space::Space as _;
use crate::memory::target::Target;
use crate::memory::{Local, Memory};
use crate::observe::{InRegister, MemoryAccess, Observer, Space};
use crate::operands::Scalar;

/// A load or store of consecutive bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BlockAccess {
    pub(crate) reach: Reach,
    pub(crate) address: Scalar,
    /// Bytes of a unit of the address.
    pub(crate) scale: u64,
    /// Bits of the scaled address that count.
    pub(crate) mask: u64,
    /// The address must be a multiple of this power of two.
    pub(crate) align: u64,
    /// The smallest unit a load of this kind can transfer. Compilers load smaller data anyway, so bytes past the end of
    /// a buffer in the last unit read as zero.
    pub(crate) unit: usize,
    pub(crate) bytes: usize,
    /// The data operand; a load without one is a prefetch.
    pub(crate) data: Option<Data>,
    pub(crate) store: bool,
}

impl BlockAccess {
    /// As dwords of the only lane, at the address in a register times a number.
    pub(crate) fn plain(&self, space: LaneSpace) -> Option<(LaneMessage, u64)> {
        let Scalar::Register { offset, data_type } = self.address else {
            return None;
        };
        let width = data_type.size().into();
        let bytes = u32::try_from(self.bytes)
            .ok()
            .filter(|bytes| bytes % 4 == 0)?;
        let plain = !data_type.is_signed() && matches!(width, 4 | 8);
        plain.then_some(())?;
        let message = LaneMessage {
            space,
            store: self.store,
            lanes: 1,
            element: Element::DWORD,
            atomic: None,
            parts: (0..bytes).step_by(4).map(|at| (at, at)).collect(),
            data: self.data.as_ref()?.place()?,
            addresses: offset,
            width,
            add: 0,
            mask: self.mask,
            align: self.align,
            span: bytes.into(),
        };
        Some((message, self.scale))
    }

    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
        observer: &mut O,
    ) -> Outcome {
        let Some(data) = &self.data else {
            return Ok(());
        };
        let address = self.address.read(registers).wrapping_mul(self.scale) & self.mask;
        let misaligned = address & (self.align - 1) != 0;
        if misaligned && !memory.is_lenient() {
            return Err(Trap::at(FaultKind::Misaligned, 0, address));
        }
        let opened = self.reach.open(registers, local, memory, address)?;
        let address = address.wrapping_add(opened.base);
        if O::MEMORY {
            let access = MemoryAccess {
                extent: self.reach.extent(registers, memory),
                data: in_register(data.place(), self.bytes),
                misaligned,
                ..block_event(opened.space, address, self.bytes, self.store)
            };
            observer.memory(&access, &registers.file);
        }
        with_target!(opened.target, |target| {
            if self.store {
                store_block(&mut target, address, data.read(registers)?)
            } else {
                load_block(&mut target, address, self.unit, data.write(registers)?)
            }
        })
    }
}

/// An access of a message without lanes, for an observer.
pub(super) fn block_event(space: Space, address: u64, bytes: usize, store: bool) -> MemoryAccess {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    MemoryAccess::plain(space, address, bytes, store)
}

/// Bytes of the data operand that belong to an access.
pub(super) fn in_register(place: Option<usize>, bytes: usize) -> Option<InRegister> {
    place.map(|offset| InRegister {
        offset,
        whole: offset,
        whole_bytes: bytes,
    })
}

fn load_block<T: Target>(target: &mut T, address: u64, unit: usize, out: &mut [u8]) -> Outcome {
    if let Some((space, at)) = target.locate(address, out.len() as u64) {
        space.read(at, out);
        return Ok(());
    }
    let drops = target.drops();
    for (i, dword) in out.chunks_mut(4).enumerate() {
        let place = 4 * i;
        let address = address.wrapping_add(place as u64);
        match target.locate(address, dword.len() as u64) {
            Some((space, at)) => space.read(at, dword),
            None if drops || place % unit != 0 => dword.fill(0),
            None => return Err(outside(false, dword.len(), 0, address)),
        }
    }
    Ok(())
}

fn store_block<T: Target>(target: &mut T, address: u64, data: &[u8]) -> Outcome {
    if let Some((space, at)) = target.locate(address, data.len() as u64) {
        space.write(at, data);
        return Ok(());
    }
    let drops = target.drops();
    for (i, dword) in (0u64..).zip(data.chunks(4)) {
        let address = address.wrapping_add(4 * i);
        match target.locate(address, dword.len() as u64) {
            Some((space, at)) => space.write(at, dword),
            None if drops => {}
            None => return Err(outside(true, dword.len(), 0, address)),
        }
    }
    Ok(())
}

/// A signed 32-bit coordinate, and an offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    pub(crate) at: Scalar,
    pub(crate) add: i64,
}

impl From<Scalar> for Edge {
    fn from(at: Scalar) -> Self {
        Self { at, add: 0 }
    }
}

impl Edge {
    #[expect(clippy::cast_possible_truncation, reason = "coordinates have 32 bits")]
    pub(super) fn read(&self, registers: &Registers) -> i64 {
        let at = (self.at.read(registers) as u32).cast_signed();
        i64::from(at).saturating_add(self.add)
    }
}
