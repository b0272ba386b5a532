//! Which buffer an address belongs to.
//!
//! Bits 32 and up of an address are the number of its region, and a region belongs to one buffer. A table holds the
//! buffers by the lowest bits of their regions' numbers; it is as large as it must be for the buffers of a launch to
//! have places of their own. What finds its place taken, and what is found only while threads run, is in a map besides.
//! Memory of the host that threads reach has addresses of the host's choice: what shares a region with a buffer that was
//! there before is in a second map.

use super::Buffer;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{
    AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{OnceLock, PoisonError, RwLock};

/// Entries of the smallest table and of the largest one.
const SIZES: (usize, usize) = (16, 1 << 13);

/// Storage of the buffer that has a region of 4 GiB of addresses, or of a surface, as machine code finds it. Only a
/// [`Memory`](super::Memory) makes them, and lends them for as long as it lives.
///
/// An entry is empty, or becomes the one of a buffer once and for all, while others read it: its address is set after its
/// storage and before its size, so that who reads address, size and storage, in this order, never takes an access for
/// one inside by mistake.
#[derive(Debug, Default)]
#[repr(C, align(32))]
pub struct Region {
    /// Address of the buffer's first byte; 0 for surfaces.
    address: AtomicU64,
    /// Size of the buffer in bytes; 0 if there is none.
    bytes: AtomicU64,
    /// Where the bytes are in the host's memory.
    storage: AtomicUsize,
    /// Number of the buffer plus 1; 0 if there is none.
    buffer: AtomicU32,
}

impl Region {
    /// Byte offsets of the fields: address, bytes, storage.
    pub const LAYOUT: [usize; 3] = [
        std::mem::offset_of!(Self, address),
        std::mem::offset_of!(Self, bytes),
        std::mem::offset_of!(Self, storage),
    ];

    /// A part of a buffer, as a surface. One that does not begin at a whole dword is left to the interpreter.
    pub(super) fn part(buffer: &Buffer, offset: u64, bytes: u64) -> Self {
        let region = Self::default();
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        if start.is_multiple_of(4)
            && let Some(storage) = buffer.held.address().checked_add(start)
        {
            region.storage.store(storage, Relaxed);
            region.bytes.store(bytes, Relaxed);
        }
        region
    }

    fn set(&self, buffer: &Buffer, number: u32) {
        self.storage.store(buffer.held.address(), Relaxed);
        self.address.store(buffer.address, Release);
        self.bytes.store(buffer.bytes as u64, Release);
        self.buffer.store(number + 1, Release);
    }

    fn is_empty(&self) -> bool {
        self.buffer.load(Acquire) == 0
    }

    /// The buffer, if it has that region.
    #[inline]
    fn find(&self, region: u32) -> Option<u32> {
        let number = self.buffer.load(Acquire).checked_sub(1)?;
        let (address, bytes) = (self.address.load(Relaxed), self.bytes.load(Relaxed));
        let (first, last) = (address >> 32, address.wrapping_add(bytes) >> 32);
        (first..=last)
            .contains(&u64::from(region))
            .then_some(number)
    }
}

/// Buffers that have no place in the table.
#[derive(Debug, Default)]
struct Rest {
    /// By region.
    regions: HashMap<u32, u32>,
    /// Those whose region is another's, by address.
    beside: BTreeMap<u64, u32>,
}

/// The buffers of a memory by their regions.
#[derive(Debug)]
pub(super) struct Regions {
    /// As many as a power of two.
    table: Vec<Region>,
    /// All regions of buffers that were added, and whose they are.
    added: Vec<(u32, u32)>,
    rest: RwLock<Rest>,
}

impl Default for Regions {
    fn default() -> Self {
        let mut table = Vec::new();
        table.resize_with(SIZES.0, Region::default);
        Self {
            table,
            added: Vec::new(),
            rest: RwLock::default(),
        }
    }
}

impl Regions {
    pub(super) fn table(&self) -> &[Region] {
        &self.table
    }

    /// The number of the buffer that has a region.
    #[inline]
    pub(super) fn find(&self, region: u32) -> Option<u32> {
        let found = self.place(region).and_then(|place| place.find(region));
        found.or_else(|| self.find_apart(region))
    }

    #[cold]
    fn find_apart(&self, region: u32) -> Option<u32> {
        let rest = self.rest.read().unwrap_or_else(PoisonError::into_inner);
        rest.regions.get(&region).copied()
    }

    #[inline]
    fn place(&self, region: u32) -> Option<&Region> {
        let place = usize::try_from(region).ok()? & self.table.len().wrapping_sub(1);
        self.table.get(place)
    }

    /// Makes room for this many buffers whose regions follow each other.
    pub(super) fn reserve(&mut self, count: usize, buffers: &[Buffer]) {
        let wanted = count.saturating_mul(2).min(SIZES.1).next_power_of_two();
        if wanted > self.table.len() {
            self.rebuild(wanted, buffers);
        }
    }

    /// Adds the region of a buffer.
    pub(super) fn add(&mut self, region: u32, number: u32, buffers: &[Buffer]) {
        self.added.push((region, number));
        let Some(buffer) = buffers.get(usize::try_from(number).unwrap_or(usize::MAX)) else {
            return;
        };
        match self.place(region) {
            Some(place) if place.is_empty() => return place.set(buffer, number),
            _ => {}
        }
        let taken = |size: usize| {
            let mut places: Vec<_> = self.added.iter().map(|a| a.0 as usize % size).collect();
            places.sort_unstable();
            places.windows(2).any(|pair| pair.first() == pair.last())
        };
        let mut size = self.table.len();
        while size < SIZES.1 && taken(size) {
            size *= 2;
        }
        self.rebuild(size, buffers);
    }

    fn rebuild(&mut self, size: usize, buffers: &[Buffer]) {
        self.table.clear();
        self.table.resize_with(size, Region::default);
        let mut rest = Rest::default();
        for (region, number) in &self.added {
            let buffer = buffers.get(usize::try_from(*number).unwrap_or(usize::MAX));
            match (self.place(*region), buffer) {
                (Some(place), Some(buffer)) if place.is_empty() => place.set(buffer, *number),
                _ => {
                    rest.regions.insert(*region, *number);
                }
            }
        }
        self.rest = RwLock::new(rest);
    }

    /// Finds the region, or adds it with the buffer that `make` finds and numbers, while threads run. Only one thread
    /// does at a time.
    pub(super) fn find_or_add<'b>(
        &self,
        region: u32,
        make: impl FnOnce() -> Option<(u32, &'b Buffer)>,
    ) -> Option<u32> {
        let mut rest = self.rest.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = rest.regions.get(&region) {
            return Some(*known);
        }
        let (number, buffer) = make()?;
        rest.regions.insert(region, number);
        // Readers may see the size before they see the address; as long as it is less than any address, nothing seems
        // to be inside.
        if (buffer.bytes as u64) < u64::from(u32::MAX)
            && buffer.address >> 32 == region.into()
            && let Some(place) = self.place(region)
            && place.is_empty()
        {
            place.set(buffer, number);
        }
        Some(number)
    }

    /// Finds or adds the buffer of an address in a region that is another buffer's: `has` tells whether a buffer has the address.
    pub(super) fn find_or_add_beside<'b>(
        &self,
        address: u64,
        has: impl Fn(u32) -> bool,
        make: impl FnOnce() -> Option<(u32, &'b Buffer)>,
    ) -> Option<u32> {
        let known = |rest: &Rest| {
            let before = rest.beside.range(..=address).next_back();
            before.map(|known| *known.1).filter(|known| has(*known))
        };
        let found = known(&self.rest.read().unwrap_or_else(PoisonError::into_inner));
        found.or_else(|| {
            let mut rest = self.rest.write().unwrap_or_else(PoisonError::into_inner);
            known(&rest).or_else(|| {
                let (number, buffer) = make()?;
                rest.beside.insert(buffer.address, number);
                Some(number)
            })
        })
    }
}

/// Buffers that are found while threads run: they stay where they are.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Each twice as long as the one before.
    chunks: [OnceLock<Box<[OnceLock<Buffer>]>>; 24],
}

impl Found {
    /// Buffers of the first chunk.
    const FIRST: usize = 16;

    fn place(number: usize) -> Option<(usize, usize)> {
        let counted = number.checked_add(Self::FIRST)?;
        let chunk = usize::try_from((counted / Self::FIRST).ilog2()).ok()?;
        Some((chunk, counted - (Self::FIRST << chunk)))
    }

    pub(super) fn get(&self, number: usize) -> Option<&Buffer> {
        let (chunk, at) = Self::place(number)?;
        self.chunks.get(chunk)?.get()?.get(at)?.get()
    }

    /// Puts a buffer at a number that has none.
    pub(super) fn put(&self, number: usize, buffer: Buffer) -> Option<&Buffer> {
        let (chunk, at) = Self::place(number)?;
        let chunk = self.chunks.get(chunk)?.get_or_init(|| {
            let empty = || OnceLock::new();
            std::iter::repeat_with(empty)
                .take(Self::FIRST << chunk)
                .collect()
        });
        Some(chunk.get(at)?.get_or_init(|| buffer))
    }
}
