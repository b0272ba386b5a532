//! Atomic messages.

use super::addresses::{Addresses, LaneAddresses, enabled};
use super::data::Data;
use super::lanes::outside;
use super::plain::plain;
use super::plain::{Element, LaneAtomic, LaneMessage, LaneSpace};
use super::reach::{Reach, with_target};
use crate::fault::{FaultKind, Outcome, Trap};
use crate::machine::Registers;
use crate::memory::atomic::AtomicElement;
use crate::memory::target::Target;
use crate::memory::{Local, Memory};
use crate::observe::{Extent, InRegister, MemoryAccess, Observer, Space};
use visakit_isa::semantics::AtomicOp;

/// Element of an atomic message. A word travels in the lower half of a dword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AtomicWidth {
    W16,
    W32,
    W64,
}

impl AtomicWidth {
    /// Bytes in memory.
    pub(crate) const fn memory(self) -> usize {
        match self {
            Self::W16 => 2,
            Self::W32 => 4,
            Self::W64 => 8,
        }
    }

    /// Bytes of a lane in a register.
    pub(crate) const fn register(self) -> usize {
        match self {
            Self::W16 | Self::W32 => 4,
            Self::W64 => 8,
        }
    }
}

/// The operands of an atomic message that are not addresses. An absent source is zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AtomicData {
    pub(crate) op: AtomicOp,
    pub(crate) width: AtomicWidth,
    pub(crate) a: Option<Data>,
    pub(crate) b: Option<Data>,
    pub(crate) dst: Option<Data>,
}

impl AtomicData {
    /// The operation on each enabled lane, lowest lane first.
    pub(crate) fn apply<T: Target>(
        &self,
        registers: &mut Registers,
        target: &mut T,
        addresses: &[u64],
        mask: u32,
    ) -> Outcome {
        let a = self.source(self.a.as_ref(), registers, addresses.len())?;
        let b = self.source(self.b.as_ref(), registers, addresses.len())?;
        let mut results: LaneAddresses = [0; 32];
        let drops = target.drops();
        let operands = a.iter().zip(&b).zip(&mut results);
        for ((lane, address), ((a, b), result)) in (0u8..).zip(addresses).zip(operands) {
            if mask >> lane & 1 == 0 {
                continue;
            }
            match target.locate(*address, self.width.memory() as u64) {
                Some((space, at)) => *result = self.one(space, at, *a, *b),
                None if drops => {}
                None => return Err(outside(true, self.width.memory(), lane, *address)),
            }
        }
        if let Some(dst) = &self.dst {
            let out = dst.write(registers)?;
            let size = self.width.register();
            for ((lane, out), result) in (0u8..).zip(out.chunks_exact_mut(size)).zip(results) {
                if lane < 32 && mask >> lane & 1 != 0 {
                    for (to, from) in out.iter_mut().zip(result.to_le_bytes()) {
                        *to = from;
                    }
                }
            }
        }
        Ok(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "elements have this width")]
    pub(crate) fn one<S: crate::memory::space::Space>(
        &self,
        space: &mut S,
        at: usize,
        a: u64,
        b: u64,
    ) -> u64 {
        match self.width {
            AtomicWidth::W16 => space.atomic16(at, self.op, a as u16, b as u16).into(),
            AtomicWidth::W32 => space.atomic32(at, self.op, a as u32, b as u32).into(),
            AtomicWidth::W64 => space.atomic64(at, self.op, a, b),
        }
    }

    /// Whether it compares, and exchanges only if that succeeds.
    const fn is_conditional(&self) -> bool {
        matches!(
            self.op,
            AtomicOp::CompareExchange | AtomicOp::FloatCompareExchange
        )
    }

    /// The lanes, a bit each, whose compare and exchange is about to leave memory as it is.
    #[cold]
    pub(crate) fn failing<T: Target>(
        &self,
        registers: &Registers,
        target: &mut T,
        addresses: &[u64],
        mask: u32,
    ) -> Result<u32, Box<Trap>> {
        if !self.is_conditional() {
            return Ok(0);
        }
        let expected = self.source(self.a.as_ref(), registers, addresses.len())?;
        let new = self.source(self.b.as_ref(), registers, addresses.len())?;
        let load = Self {
            op: AtomicOp::Load,
            ..self.clone()
        };
        // What earlier lanes of this message will have written.
        let mut written: Vec<(u64, u64)> = Vec::new();
        let mut failing = 0;
        for (lane, address) in enabled(mask, addresses) {
            let place = usize::from(lane);
            let of = |values: &LaneAddresses| values.get(place).copied().unwrap_or(0);
            let before = written.iter().rev().find(|(at, _)| *at == address);
            let before = match before {
                Some((_, value)) => Some(*value),
                None => target
                    .locate(address, self.width.memory() as u64)
                    .map(|(space, at)| load.one(space, at, 0, 0)),
            };
            match before {
                Some(before) if self.succeeds(before, of(&expected)) => {
                    written.push((address, of(&new)));
                }
                _ => failing |= 1 << lane,
            }
        }
        Ok(failing)
    }

    /// Whether a compare and exchange exchanges.
    #[expect(clippy::cast_possible_truncation, reason = "elements have this width")]
    fn succeeds(&self, before: u64, expected: u64) -> bool {
        let other = !before;
        match self.width {
            AtomicWidth::W16 => {
                let other = other as u16;
                u16::apply(self.op, before as u16, expected as u16, other) == other
            }
            AtomicWidth::W32 => {
                let other = other as u32;
                u32::apply(self.op, before as u32, expected as u32, other) == other
            }
            AtomicWidth::W64 => u64::apply(self.op, before, expected, other) == other,
        }
    }

    /// Reports the operation of each lane to an observer; those of `failing` change nothing.
    #[cold]
    fn report<O: Observer>(
        &self,
        observer: &mut O,
        registers: &Registers,
        (space, extent, align): (Space, Option<Extent>, u64),
        addresses: &[u64],
        (mask, failing): (u32, u32),
    ) {
        for (lane, address) in enabled(mask, addresses) {
            let access = MemoryAccess {
                extent,
                misaligned: address & (align - 1) != 0,
                fails: failing >> lane & 1 != 0,
                ..self.access(space, lane, address)
            };
            observer.memory(&access, &registers.file);
        }
    }

    /// The operation of a lane, for an observer.
    pub(crate) fn access(&self, space: Space, lane: u8, address: u64) -> MemoryAccess {
        let place = |data: &Option<Data>| {
            let first = data.as_ref().and_then(Data::place)?;
            Some(first + usize::from(lane) * self.width.register())
        };
        let bytes = u32::try_from(self.width.memory()).unwrap_or(u32::MAX);
        MemoryAccess {
            lane: Some(lane),
            read: true,
            atomic: true,
            data: place(&self.dst).map(|offset| InRegister {
                offset,
                whole: offset,
                whole_bytes: self.width.register(),
            }),
            operands: [place(&self.a), place(&self.b), None, None],
            overwrites: self.op == AtomicOp::Store,
            conditional: self.is_conditional(),
            ..MemoryAccess::plain(space, address, bytes, true)
        }
    }

    fn source(
        &self,
        data: Option<&Data>,
        registers: &Registers,
        lanes: usize,
    ) -> Result<LaneAddresses, Box<Trap>> {
        let mut out = [0; 32];
        let Some(data) = data else { return Ok(out) };
        let bytes = data.read(registers)?;
        let size = self.width.register();
        for (to, from) in out.iter_mut().zip(bytes.chunks_exact(size)).take(lanes) {
            let mut word = [0; 8];
            for (w, b) in word.iter_mut().zip(from) {
                *w = *b;
            }
            *to = u64::from_le_bytes(word);
        }
        Ok(out)
    }
}

/// An atomic operation at the address of each lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AtomicAccess {
    pub(crate) reach: Reach,
    pub(crate) addresses: Addresses,
    pub(crate) lanes: usize,
    pub(crate) data: AtomicData,
}

impl AtomicAccess {
    /// As an access of that memory that compilers may have code for.
    pub(crate) fn plain(&self, space: LaneSpace) -> Option<LaneMessage> {
        let data = &self.data;
        let place = |data: &Option<Data>| match data {
            Some(data) => data.place().map(Some),
            None => Some(None),
        };
        Some(LaneMessage {
            lanes: self.lanes,
            element: Element {
                memory: data.width.memory(),
                register: data.width.register(),
                low: 0,
            },
            atomic: Some(LaneAtomic {
                op: data.op,
                operands: [place(&data.a)?, place(&data.b)?],
                result: place(&data.dst)?,
            }),
            span: data.width.memory() as u64,
            ..plain(space, &self.addresses)?
        })
    }

    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
        mask: u32,
        observer: &mut O,
    ) -> Outcome {
        if mask == 0 {
            return Ok(());
        }
        let mut addresses = [0; 32];
        let first = self
            .addresses
            .fill(registers, self.lanes, mask, &mut addresses)?;
        let addresses = addresses.get_mut(..self.lanes).unwrap_or_default();
        if let Some((lane, address)) = self.addresses.misaligned(addresses, mask)
            && !memory.is_lenient()
        {
            return Err(Trap::at(FaultKind::Misaligned, lane, address));
        }
        let opened = self.reach.open(registers, local, memory, first)?;
        for address in &mut *addresses {
            *address = address.wrapping_add(opened.base);
        }
        with_target!(opened.target, |target| {
            if O::MEMORY {
                let extent = self.reach.extent(registers, memory);
                let reach = (opened.space, extent, self.addresses.align.max(1));
                let failing = self.data.failing(registers, &mut target, addresses, mask)?;
                let lanes = (mask, failing);
                self.data
                    .report(observer, registers, reach, addresses, lanes);
            }
            self.data.apply(registers, &mut target, addresses, mask)
        })
    }
}

/// An atomic operation on the append counter of a surface, once for each lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CounterAccess {
    pub(crate) reach: Reach,
    pub(crate) lanes: usize,
    pub(crate) data: AtomicData,
}

impl CounterAccess {
    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        memory: &Memory,
        mask: u32,
        observer: &mut O,
    ) -> Outcome {
        if mask == 0 {
            return Ok(());
        }
        let (mut counter, index) = self.reach.counter(registers, memory)?;
        let addresses = [0; 32];
        let addresses = addresses.get(..self.lanes).unwrap_or_default();
        if O::MEMORY {
            let space = Space::Surface(index);
            let reach = (space, None, 1);
            self.data
                .report(observer, registers, reach, addresses, (mask, 0));
        }
        self.data.apply(registers, &mut counter, addresses, mask)
    }
}
