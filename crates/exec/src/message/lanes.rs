//! Loads and stores with an address for each lane.

use super::addresses::{Addresses, GROUP, LaneAddresses, Relation, enabled, is_run, padded};
use super::data::Data;
use super::narrow::Narrow;
use super::reach::{Opened, Reach, with_target};
use super::unit::{self, Unit, UnitKind, with_unit};
use crate::fault::{FaultKind, Outcome, Trap};
use crate::lanes::simd::{Host, Kernel};
use crate::machine::Registers;
use crate::machine::file::merge;
use crate::memory::space::Space as Storage;
use crate::memory::target::{Flat, Target, Window};
use crate::memory::{Local, Memory};
use crate::observe::{Extent, Observer, Space};
use crate::operands::full;
use bytemuck::{Pod, Zeroable, bytes_of, pod_read_unaligned};
use std::marker::PhantomData;

/// One element of a lane: where it is, relative to the lane's address and to the lane's place in
/// the data operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) memory: usize,
    pub(crate) register: usize,
}

/// A load or store of one or more elements at the address of each lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LaneAccess {
    pub(crate) reach: Reach,
    pub(crate) addresses: Addresses,
    pub(crate) lanes: usize,
    pub(crate) unit: UnitKind,
    pub(crate) parts: Box<[Part]>,
    /// Distance of the lanes in the data operand.
    pub(crate) lane_pitch: usize,
    /// The data operand. Without one a load is a prefetch: it has no effect.
    pub(crate) data: Option<Data>,
    pub(crate) store: bool,
    /// Bytes from a lane's address to the end of its last element.
    pub(crate) span: usize,
    /// Bytes of all lanes, if addresses that follow each other make one run of bytes of them; else 0.
    pub(crate) run_bytes: usize,
    /// Its shape, if it is narrow.
    pub(super) narrow: Option<Narrow>,
}

/// Place of an address that is known to be inside.
#[expect(
    clippy::cast_possible_truncation,
    reason = "it is below the size of the storage"
)]
#[inline]
fn offset(address: u64, base: u64) -> usize {
    address.wrapping_sub(base) as usize
}

impl LaneAccess {
    pub(crate) fn new(
        (reach, addresses): (Reach, Addresses),
        lanes: usize,
        (unit, parts, lane_pitch): (UnitKind, Box<[Part]>, usize),
        data: Option<Data>,
        store: bool,
    ) -> Self {
        let elements = parts.len();
        let span = parts.iter().map(|p| p.memory).max().unwrap_or(0) + unit.memory();
        // One element of each lane, or all elements of the only lane.
        let packed = parts
            .iter()
            .enumerate()
            .all(|(i, p)| p.memory == i * unit.memory() && p.register == i * unit.register());
        let is_run = match &*parts {
            [part] => part.register == 0 && lane_pitch == unit.register(),
            _ => lanes == 1 && packed && unit.memory() == unit.register(),
        };
        let mut access = Self {
            reach,
            addresses,
            lanes,
            unit,
            parts,
            lane_pitch,
            data,
            store,
            span,
            run_bytes: if is_run {
                lanes * elements * unit.memory()
            } else {
                0
            },
            narrow: None,
        };
        access.find_shape();
        access
    }

    /// Recognises a narrow shape; to be called again when its operands have other places.
    pub(super) fn find_shape(&mut self) {
        self.narrow = Narrow::of(self);
    }

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
        if self.data.is_none() || mask == 0 {
            return Ok(());
        }
        if !O::MEMORY && self.run_narrow(registers, local, memory, mask) {
            return Ok(());
        }
        if self.lanes == 1 && self.addresses.pitch.is_none() {
            // It needs no vectors.
            let first = self.addresses.only(registers)?;
            let is_aligned = first & self.addresses.align.saturating_sub(1) == 0;
            if !O::MEMORY && is_aligned && self.run_alone(first, registers, local, memory)? {
                return Ok(());
            }
            let found = Found {
                first,
                misaligned: (!is_aligned).then_some((0, first)),
                is_run: self.run_bytes != 0 && is_aligned,
            };
            let addresses = &mut [first; GROUP];
            return self.access((found, addresses), registers, local, memory, mask, observer);
        }
        let mut addresses = [0; 32];
        let found = registers.simd.run(Find {
            access: self,
            registers,
            mask,
            out: &mut addresses,
        })?;
        let addresses = addresses.get_mut(..padded(self.lanes)).unwrap_or_default();
        self.access((found, addresses), registers, local, memory, mask, observer)
    }

    /// Opens the storage and transfers the elements at these addresses.
    #[inline]
    fn access<O: Observer>(
        &self,
        (found, addresses): (Found, &mut [u64]),
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
        mask: u32,
        observer: &mut O,
    ) -> Outcome {
        if let Some((lane, address)) = found.misaligned
            && !memory.is_lenient()
        {
            return Err(Trap::at(FaultKind::Misaligned, lane, address));
        }
        // The frequent ones by themselves: hosts wait for structures that are moved right after they were written.
        let mut at = At {
            first: found.first,
            is_run: found.is_run,
            addresses,
            mask,
            reach: (Space::Global, None),
        };
        match self.reach {
            Reach::Flat => {
                let target = &mut Flat::new(memory, at.first);
                self.transfer(target, at, registers, observer)
            }
            Reach::Local => {
                at.reach.0 = Space::Local;
                let target = &mut Window::whole(local.slm());
                self.transfer(target, at, registers, observer)
            }
            _ => {
                let Opened {
                    target,
                    base,
                    space,
                } = self.reach.open(registers, local, memory, at.first)?;
                for address in at.addresses.iter_mut().chain([&mut at.first]) {
                    *address = address.wrapping_add(base);
                }
                at.reach.0 = space;
                if O::MEMORY {
                    at.reach.1 = self.reach.extent(registers, memory);
                }
                with_target!(target, |target| self.transfer(
                    &mut target,
                    at,
                    registers,
                    observer
                ))
            }
        }
    }

    /// Transfers the elements at addresses of an opened storage.
    fn transfer<T: Target, O: Observer>(
        &self,
        target: &mut T,
        at: At<'_>,
        registers: &mut Registers,
        observer: &mut O,
    ) -> Outcome {
        let Some(data) = &self.data else {
            return Ok(());
        };
        let At {
            addresses,
            mask,
            reach,
            ..
        } = at;
        let is_done =
            at.is_run && self.run_at_once(data, registers, target, reach, at.first, observer)?;
        if is_done {
            return Ok(());
        }
        if O::MEMORY && !self.report_lanes(observer, registers, reach, addresses, mask) {
            self.report(observer, registers, reach, addresses, mask);
        }
        self.run_by_lane(data, registers, target, addresses, mask)
    }

    /// All lanes together are one run of bytes, in memory and in the register. Transfers it if it is in one
    /// storage, and returns whether it did.
    #[inline]
    pub(super) fn run_at_once<T: Target, O: Observer>(
        &self,
        data: &Data,
        registers: &mut Registers,
        target: &mut T,
        reach: (Space, Option<Extent>),
        first: u64,
        observer: &mut O,
    ) -> Result<bool, Box<Trap>> {
        let address = first.wrapping_add(self.parts.first().map_or(0, |p| p.memory as u64));
        let Some((space, at)) = target.locate(address, self.run_bytes as u64) else {
            return Ok(false);
        };
        if O::MEMORY && !self.report_run(observer, registers, reach, address) {
            return Ok(false);
        }
        if self.store {
            let from = data.read(registers)?;
            with_unit!(self.unit, |U| unit::store_run::<U, _>(space, at, from));
        } else {
            let out = data.write(registers)?;
            with_unit!(self.unit, |U| unit::load_run::<U, _>(space, at, out));
        }
        Ok(true)
    }

    #[inline]
    fn run_by_lane<T: Target>(
        &self,
        data: &Data,
        registers: &mut Registers,
        target: &mut T,
        addresses: &[u64],
        mask: u32,
    ) -> Outcome {
        let simd = registers.simd;
        let lanes = Lanes {
            access: self,
            target,
            addresses,
            mask,
        };
        if self.store {
            let way = Out(data.read(registers)?);
            with_unit!(self.unit, |U| simd.run(Transfer::<U, _, _>(
                lanes,
                way,
                PhantomData
            )))
        } else {
            let way = In(data.write(registers)?);
            with_unit!(self.unit, |U| simd.run(Transfer::<U, _, _>(
                lanes,
                way,
                PhantomData
            )))
        }
    }
}

/// Where the lanes of a message are in an opened storage.
struct At<'a> {
    /// That of the first enabled lane.
    first: u64,
    /// Whether all lanes together are one run of bytes.
    is_run: bool,
    addresses: &'a mut [u64],
    mask: u32,
    /// How it is reported to an observer.
    reach: (Space, Option<Extent>),
}

/// The addresses of a message, compiled for the host.
struct Find<'a> {
    access: &'a LaneAccess,
    registers: &'a Registers,
    mask: u32,
    out: &'a mut LaneAddresses,
}

/// Facts about the addresses of a message.
struct Found {
    /// That of the first enabled lane.
    first: u64,
    /// The first enabled lane whose address is not aligned.
    misaligned: Option<(u8, u64)>,
    /// Whether all lanes together are one run of bytes.
    is_run: bool,
}

impl Kernel for Find<'_> {
    type Output = Result<Found, Box<Trap>>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<H: Host>(self, _: H) -> Self::Output {
        let Self {
            access,
            registers,
            mask,
            out,
        } = self;
        let lanes = access.lanes;
        let first = access.addresses.fill(registers, lanes, mask, out)?;
        let all = out.get(..padded(lanes)).unwrap_or_default();
        let misaligned = access.addresses.misaligned(all, mask);
        let step = access.unit.memory() as u64;
        Ok(Found {
            first,
            // Misaligned lanes are reported to observers one by one.
            is_run: access.run_bytes != 0
                && mask == full(lanes)
                && misaligned.is_none()
                && is_run(out.get(..lanes).unwrap_or_default(), step),
            misaligned,
        })
    }
}

/// The lanes of a message whose storage is open.
struct Lanes<'a, T> {
    access: &'a LaneAccess,
    target: &'a mut T,
    addresses: &'a [u64],
    mask: u32,
}

/// A transfer of the elements of all lanes, compiled for the host. Element by element, and lane by lane of each: where lanes
/// store to one place, the last one counts.
struct Transfer<'a, U, T, W>(Lanes<'a, T>, W, PhantomData<U>);

impl<U: Unit, T: Target, W: Way<U>> Kernel for Transfer<'_, U, T, W> {
    type Output = Outcome;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<H: Host>(self, _: H) -> Outcome {
        let Self(lanes, mut way, _) = self;
        let Lanes {
            access,
            target,
            addresses,
            mask,
        } = lanes;
        let not_there = || Trap::new(FaultKind::RegisterOutOfBounds);
        if let Some((space, base)) = target.all(addresses, access.span as u64) {
            // A lane of the data operand after the other: the common shape.
            if access.lane_pitch == U::REGISTER {
                let (groups, _) = addresses.as_chunks();
                for part in &access.parts {
                    let base = base.wrapping_sub(part.memory as u64);
                    for (number, addresses) in groups.iter().enumerate() {
                        let mask = mask >> (number * GROUP) & 0xff;
                        let register = part.register + number * GROUP * U::REGISTER;
                        way.group(space, (addresses, base), mask, register);
                    }
                }
                return Ok(());
            }
            for part in &access.parts {
                for (lane, address) in enabled(mask, addresses) {
                    let register = usize::from(lane) * access.lane_pitch + part.register;
                    let at = offset(address, base) + part.memory;
                    way.one(space, at, register).ok_or_else(not_there)?;
                }
            }
            return Ok(());
        }
        let drops = target.drops();
        for part in &access.parts {
            for (lane, address) in enabled(mask, addresses) {
                let register = usize::from(lane) * access.lane_pitch + part.register;
                let address = address.wrapping_add(part.memory as u64);
                let done = match target.locate(address, U::MEMORY as u64) {
                    Some((space, at)) => way.one(space, at, register),
                    None if drops => way.nothing(register),
                    None => return Err(outside(access.store, U::MEMORY, lane, address)),
                };
                done.ok_or_else(not_there)?;
            }
        }
        Ok(())
    }
}

/// The way that elements take between memory and the data operand; `None` where the operand ends.
trait Way<U: Unit> {
    /// One element, whose places are in bytes.
    fn one<S: Storage>(&mut self, space: &mut S, at: usize, register: usize) -> Option<()>;

    /// An element of each enabled lane of a group, whose addresses are inside of the storage that begins at `base`.
    fn group<S: Storage>(
        &mut self,
        space: &mut S,
        places: (&[u64; GROUP], u64),
        mask: u32,
        register: usize,
    );

    /// An element that is nowhere, and no fault.
    fn nothing(&mut self, register: usize) -> Option<()>;
}

/// Into the operand: a load.
struct In<'a>(&'a mut [u8]);

/// Out of the operand: a store.
struct Out<'a>(&'a [u8]);

impl<U: Unit> Way<U> for In<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn one<S: Storage>(&mut self, space: &mut S, at: usize, register: usize) -> Option<()> {
        let out = self.0.get_mut(register..register + U::REGISTER)?;
        unit::load::<U, _>(space, at, out);
        Some(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn group<S: Storage>(
        &mut self,
        space: &mut S,
        (addresses, base): (&[u64; GROUP], u64),
        mask: u32,
        register: usize,
    ) {
        let relation = Relation::of(addresses, U::MEMORY as u64);
        let out = self.0.get_mut(register..).unwrap_or_default();
        load_group::<U, _>(space, relation, addresses, base, mask, out);
    }

    fn nothing(&mut self, register: usize) -> Option<()> {
        self.0.get_mut(register..register + U::REGISTER)?.fill(0);
        Some(())
    }
}

impl<U: Unit> Way<U> for Out<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn one<S: Storage>(&mut self, space: &mut S, at: usize, register: usize) -> Option<()> {
        let from = self.0.get(register..register + U::REGISTER)?;
        unit::store::<U, _>(space, at, from);
        Some(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn group<S: Storage>(
        &mut self,
        space: &mut S,
        (addresses, base): (&[u64; GROUP], u64),
        mask: u32,
        register: usize,
    ) {
        let from = self.0.get(register..).unwrap_or_default();
        store_group::<U, _>(space, addresses, base, mask, from);
    }

    fn nothing(&mut self, _: usize) -> Option<()> {
        Some(())
    }
}

/// Loads an element for each enabled lane of a group; the places of all lanes are inside.
#[cfg_attr(not(debug_assertions), inline(always))]
fn load_group<U: Unit, S: Storage>(
    space: &S,
    relation: Relation,
    addresses: &[u64; GROUP],
    base: u64,
    mask: u32,
    out: &mut [u8],
) {
    // Loops, as the compiler does not always inline `map`; and each written by itself, as it would take the elements
    // that could be one or the other apart.
    let mut elements = [U::Register::zeroed(); GROUP];
    match relation {
        Relation::Run => {
            let run: [U::Memory; GROUP] = space.element(offset(addresses[0], base));
            for (element, from) in elements.iter_mut().zip(run) {
                *element = U::widened(from);
            }
            write_group(out, mask, &elements);
        }
        Relation::Same => {
            let same = U::widened(space.element(offset(addresses[0], base)));
            write_group(out, mask, &[same; GROUP]);
        }
        Relation::Other => {
            for (element, address) in elements.iter_mut().zip(addresses) {
                *element = U::widened(space.element(offset(*address, base)));
            }
            write_group(out, mask, &elements);
        }
    }
}

/// Writes those elements of a group that the mask enables, as far as there is room.
#[cfg_attr(not(debug_assertions), inline(always))]
fn write_group<E: Pod>(out: &mut [u8], mask: u32, elements: &[E; GROUP]) {
    if let Some(out) = out.get_mut(..size_of::<[E; GROUP]>()) {
        if mask == 0xff {
            out.copy_from_slice(bytes_of(elements));
        } else {
            merge(out, mask, elements);
        }
        return;
    }
    for (lane, (out, element)) in out
        .chunks_exact_mut(size_of::<E>())
        .zip(elements)
        .enumerate()
    {
        if mask >> lane & 1 != 0 {
            out.copy_from_slice(bytes_of(element));
        }
    }
}

/// Stores an element of each enabled lane of a group; the places of all lanes are inside.
#[cfg_attr(not(debug_assertions), inline(always))]
fn store_group<U: Unit, S: Storage>(
    space: &mut S,
    addresses: &[u64; GROUP],
    base: u64,
    mask: u32,
    from: &[u8],
) {
    if mask == 0xff
        && Relation::of(addresses, U::MEMORY as u64) == Relation::Run
        && let Some(from) = from.get(..GROUP * U::REGISTER)
    {
        let elements: [U::Register; GROUP] = pod_read_unaligned(from);
        let mut run = [U::Memory::zeroed(); GROUP];
        for (to, element) in run.iter_mut().zip(elements) {
            *to = U::narrowed(element);
        }
        return space.set_element(offset(addresses[0], base), run);
    }
    for (lane, (address, from)) in addresses
        .iter()
        .zip(from.chunks_exact(U::REGISTER))
        .enumerate()
    {
        if mask >> lane & 1 != 0 {
            unit::store::<U, _>(space, offset(*address, base), from);
        }
    }
}

/// A flat access outside of every buffer.
#[cold]
pub(crate) fn outside(write: bool, bytes: usize, lane: u8, address: u64) -> Box<Trap> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    Trap::at(FaultKind::MemoryOutOfBounds { write, bytes }, lane, address)
}
