//! Memory as messages see it.
//!
//! * [`Memory`]: global memory, shared by all threads of a dispatch. Buffers are at 64-bit
//!   addresses, far from each other; surfaces and samplers are reached by binding-table index or
//!   by a bindless handle.
//! * Shared local memory of a work-group and scratch of a thread belong to the group that runs.
//!
//! # Addresses
//!
//! Every buffer starts in its own region of 4 GiB: bits 32 and up of an address select the buffer, the lower 32 bits
//! are its place plus [`Memory::FIRST`]. A null pointer, an address that lost its upper half and an index that leaves
//! its buffer are all detected, except in its last page ([`Memory::set_exact`]).
//!
//! A memory holds the buffers that were added to it. Others, which it finds only when a thread accesses them, are
//! [`Reachable`].

pub(crate) mod atomic;
mod bindings;
mod format;
mod local;
mod regions;
mod sampling;
pub(crate) mod space;
mod storage;
mod surface;
pub(crate) mod target;

pub use format::{ChannelClass, ChannelOrder, ChannelType, Format};
pub(crate) use local::Local;
pub use regions::Region;

pub(crate) use sampling::{Texels, sample, texel_at};
pub use storage::{Lent, Storage, Word};
pub use surface::{Addressing, Filter, Image, ImageShape, Sampler, Surface};

use regions::{Found, Regions};
use space::{Shared, Space};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use target::Window;

/// A buffer of a [`Memory`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BufferId(pub u32);

/// Why global memory could not be set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The limit given to [`Memory::new`].
    #[error("a buffer of {bytes} bytes does not fit: {used} of at most {limit} bytes are in use")]
    Limit {
        /// Size of the buffer that was to be added.
        bytes: u64,
        /// Bytes of the buffers there are.
        used: u64,
        /// The limit.
        limit: u64,
    },
    /// A surface names a buffer that the memory does not have.
    #[error("there is no buffer {0}")]
    NoBuffer(u32),
    /// A buffer cannot be there; see [`Memory::add_storage`].
    #[error("no buffer can be placed at address {0:#x}")]
    Address(u64),
}

/// One buffer and where it is.
#[derive(Debug)]
struct Buffer {
    address: u64,
    bytes: usize,
    /// Whole pages for buffers allocated here: the bytes after the end are zeroes.
    held: Arc<visakit_storage::Storage>,
}

/// The content of a buffer whose memory is gone.
#[derive(Debug)]
pub struct Content {
    held: visakit_storage::Bytes,
    bytes: usize,
}

impl std::ops::Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.held.get(..self.bytes).unwrap_or_default()
    }
}

impl Buffer {
    /// Whether an address is that of one of its bytes, or of the rest of its last page.
    #[inline]
    fn has(&self, address: u64) -> bool {
        let offset = address.checked_sub(self.address);
        offset.is_some_and(|offset| offset < self.held.len() as u64)
    }

    /// Bytes of a surface that begins at an offset: up to `size`, and to the end of the buffer if that is all of them;
    /// else to the end of its last page, unless ends are exact.
    fn extent(&self, offset: u64, size: u64, exact: bool) -> u64 {
        let end = if exact || size == u64::MAX {
            self.bytes
        } else {
            self.held.len()
        };
        size.min((end as u64).saturating_sub(offset))
    }
}

/// A buffer, or where one was, as [`Reachable`] knows it.
#[derive(Clone, Debug)]
pub struct Reached {
    /// Address of its first byte; see [`Memory::add_storage`].
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// What it is called in reports.
    pub name: String,
    /// Its bytes; `None` if it was released.
    pub storage: Option<Storage>,
}

/// Buffers that threads reach through pointers in memory, besides those that a [`Memory`] holds.
///
/// A buffer that was reached stays for as long as the memory does, even if it is released meanwhile.
pub trait Reachable: fmt::Debug + Send + Sync {
    /// The buffer that has the region of this address, or that had it last.
    fn find(&self, address: u64) -> Option<Reached>;
}

/// Numbers of buffers that were reached have this bit.
const REACHED: u32 = 1 << 31;

/// A surface prepared by [`Memory::bind`], and its append counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bound {
    pub(crate) surface: Surface,
    pub(crate) counter: Option<(BufferId, u64)>,
}

/// Global memory: buffers, surfaces and samplers.
///
/// Set up with `&mut`, then shared by all threads that run.
#[derive(Debug, Default)]
pub struct Memory {
    limit: u64,
    used: u64,
    buffers: Vec<Buffer>,
    regions: Regions,
    others: Option<Arc<dyn Reachable>>,
    /// Those of the others that were reached, and how many.
    found: Found,
    found_count: AtomicU32,
    table: Vec<Option<Bound>>,
    /// The table as machine code reads it: surfaces that are buffers.
    surfaces: Vec<Region>,
    bindless: BTreeMap<u32, Bound>,
    states: BTreeMap<u32, Bound>,
    samplers: Vec<Option<Sampler>>,
    bindless_samplers: BTreeMap<u32, Sampler>,
    arguments: u64,
    exact: bool,
    lenient: bool,
    /// Where the search for free regions starts.
    next: u32,
    empty: visakit_storage::Storage,
}

/// A page of zeroes.
const ZEROES: [u8; 4096] = [0; 4096];

/// Whether a page, or a part of one, is zero.
fn is_zero(page: &[u8]) -> bool {
    ZEROES.get(..page.len()) == Some(page)
}

impl Memory {
    /// Lower 32 bits of the address of every buffer.
    pub const FIRST: u64 = 0x1_0000;

    /// The surface state of the thread's scratch memory: the value of `%scratchloc`. Handles are never this large.
    pub(crate) const SCRATCH_STATE: u32 = 0xffff_ffc0;

    /// Bytes of a page.
    pub const PAGE: u64 = 4096;

    /// Memory that holds at most `limit` bytes of buffers.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Adds a buffer with these contents.
    ///
    /// # Errors
    ///
    /// When the limit is exceeded.
    pub fn add_buffer(&mut self, contents: &[u8]) -> Result<BufferId, MemoryError> {
        let id = self.add_zeroed(contents.len() as u64)?;
        if let Some(mut shared) = self.shared(id) {
            // Pages of zeroes stay untouched, and take no memory of the host.
            let pages = contents.chunks(ZEROES.len());
            let written = pages.enumerate().filter(|(_, page)| !is_zero(page));
            for (number, page) in written {
                shared.write(number * ZEROES.len(), page);
            }
        }
        Ok(id)
    }

    /// Adds a buffer of zeroes.
    ///
    /// # Errors
    ///
    /// When the limit is exceeded.
    pub fn add_zeroed(&mut self, bytes: u64) -> Result<BufferId, MemoryError> {
        let error = MemoryError::Limit {
            bytes,
            used: self.used,
            limit: self.limit,
        };
        let used = self.used.checked_add(bytes).filter(|u| *u <= self.limit);
        let (Some(used), Ok(size)) = (used, usize::try_from(bytes)) else {
            return Err(error);
        };
        let held = storage::zeroes(size).ok_or(error)?;
        let id = self.place(None, size, held).ok_or(error)?;
        self.used = used;
        Ok(id)
    }

    /// Adds a buffer whose bytes stay when the memory goes. It is at `address`, if there is one, whose lower 32
    /// bits are [`Self::FIRST`]: pointers to it mean the same in every memory.
    ///
    /// # Errors
    ///
    /// If the address is invalid, or already used by another buffer.
    pub fn add_storage(
        &mut self,
        storage: &Storage,
        address: Option<u64>,
    ) -> Result<BufferId, MemoryError> {
        let region = match address {
            None => None,
            Some(address) => {
                let placed = address & u64::from(u32::MAX) == Self::FIRST;
                let region = u32::try_from(address >> 32).ok();
                let region = region.filter(|region| placed && *region > 0);
                Some(region.ok_or(MemoryError::Address(address))?)
            }
        };
        let held = Arc::clone(&storage.held);
        self.place(region, storage.bytes(), held)
            .ok_or(MemoryError::Address(address.unwrap_or(0)))
    }

    /// Number of regions of a buffer of this size.
    #[must_use]
    pub fn regions_of(bytes: usize) -> Option<u32> {
        let end = Self::FIRST.checked_add(u64::try_from(bytes).ok()?)?;
        u32::try_from(end >> 32).ok()?.checked_add(1)
    }

    /// Lets threads reach other buffers, of which `count` are likely to be accessed.
    pub fn reach(&mut self, others: Arc<dyn Reachable>, count: usize) {
        self.others = Some(others);
        self.regions.reserve(count, &self.buffers);
    }

    /// The buffers that threads may reach besides.
    #[must_use]
    pub const fn others(&self) -> Option<&Arc<dyn Reachable>> {
        self.others.as_ref()
    }

    /// Assigns a buffer its regions: those from the given one on, or else the first free ones.
    fn place(
        &mut self,
        region: Option<u32>,
        bytes: usize,
        held: Arc<visakit_storage::Storage>,
    ) -> Option<BufferId> {
        let index = u32::try_from(self.buffers.len()).ok()?;
        let index = Some(index).filter(|index| index & REACHED == 0)?;
        let count = Self::regions_of(bytes)?;
        let free = |from: u32| {
            let mut all = from..from.saturating_add(count);
            !all.any(|region| self.regions.find(region).is_some())
        };
        let first = match region {
            Some(region) => Some(region).filter(|r| free(*r))?,
            None => (self.next.max(1)..u32::MAX).find(|r| free(*r))?,
        };
        let after = first.checked_add(count)?;
        if region.is_none() {
            self.next = after;
        }
        self.buffers.push(Buffer {
            address: u64::from(first) << 32 | Self::FIRST,
            bytes,
            held,
        });
        for region in first..after {
            self.regions.add(region, index, &self.buffers);
        }
        Some(BufferId(index))
    }

    /// The buffers, each at the lowest bits of its region's number: there are as many entries as a power of two. Only the
    /// entry itself says which buffer it is of, by its address and size.
    #[must_use]
    pub fn storage(&self) -> &[Region] {
        self.regions.table()
    }

    /// Storage of the surfaces of the binding table, by index.
    #[must_use]
    pub fn surfaces(&self) -> &[Region] {
        &self.surfaces
    }

    /// The buffers, in the order in which they were added.
    pub fn buffers(&self) -> impl ExactSizeIterator<Item = BufferId> + '_ {
        // There are no more than 32 bits count.
        (0..self.buffers.len()).map(|n| BufferId(u32::try_from(n).unwrap_or(u32::MAX)))
    }

    /// Address of the first byte of a buffer; 0 for a buffer of another memory.
    #[must_use]
    pub fn address(&self, buffer: BufferId) -> u64 {
        self.buffer(buffer).map_or(0, |b| b.address)
    }

    /// Bytes of a buffer; 0 for a buffer of another memory.
    #[must_use]
    pub fn len(&self, buffer: BufferId) -> usize {
        self.buffer(buffer).map_or(0, |b| b.bytes)
    }

    /// The contents of a buffer.
    #[must_use]
    pub fn read(&self, buffer: BufferId) -> Vec<u8> {
        let mut bytes = vec![0; self.len(buffer)];
        self.read_into(buffer, 0, &mut bytes);
        bytes
    }

    /// Ends the sharing of all buffers and moves their contents out, in the order they were added. Storage that outlives
    /// this memory ([`Self::add_storage`]) has none.
    #[must_use]
    pub fn into_contents(self) -> Vec<Option<Content>> {
        let buffers = self.buffers.into_iter();
        let contents = buffers.map(|buffer| {
            let held = Arc::into_inner(buffer.held)?.into_bytes().ok()?;
            Some(Content {
                held,
                bytes: buffer.bytes,
            })
        });
        contents.collect()
    }

    /// Reads a part of a buffer; the rest of `out` past the buffer is left unchanged.
    pub fn read_into(&self, buffer: BufferId, offset: usize, out: &mut [u8]) {
        if let Some(shared) = self.shared(buffer)
            && let Some(room) = shared.len().checked_sub(offset)
        {
            let count = out.len().min(room);
            shared.read(offset, out.get_mut(..count).unwrap_or_default());
        }
    }

    /// Overwrites a part of a buffer; data that does not fit is ignored.
    pub fn write(&self, buffer: BufferId, offset: u64, data: &[u8]) {
        if let Some(mut shared) = self.shared(buffer)
            && let Ok(at) = usize::try_from(offset)
            && let Some(room) = shared.len().checked_sub(at)
        {
            shared.write(at, data.get(..room).unwrap_or(data));
        }
    }

    /// The buffer that has this address, and the offset in it.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<(BufferId, u64)> {
        let (id, buffer) = self.of_region(address)?;
        let offset = address.checked_sub(buffer.address)?;
        (offset < buffer.bytes as u64).then_some((id, offset))
    }

    /// Sets every byte of a buffer to zero.
    pub fn clear(&self, buffer: BufferId) {
        if let Some(buffer) = self.buffer(buffer) {
            buffer.held.fill(0);
        }
    }

    /// Whether accesses outside a buffer are a fault even in its last page.
    ///
    /// By default, accesses by address that end within the last [`Self::PAGE`] bytes partly covered by the buffer reach
    /// what is there, at first zeroes: hardware allocates pages, compilers load more than a program asks for, and
    /// libraries rely on both. To be set before surfaces are bound.
    pub const fn set_exact(&mut self, exact: bool) {
        self.exact = exact;
    }

    /// Whether accesses that would be a fault are dropped instead: outside every buffer, misaligned, or to a
    /// nonexistent surface. Checkers continue past faults this way.
    pub const fn set_lenient(&mut self, lenient: bool) {
        self.lenient = lenient;
    }

    pub(crate) const fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// Sets where `arg[…]` addresses start: the address of the indirect kernel arguments. The first dword of a thread's
    /// header, except for its lower six bits, is added to it.
    pub fn set_argument_base(&mut self, address: u64) {
        self.arguments = address;
    }

    /// A memory with the same buffers and bindings.
    #[cfg(test)]
    pub(crate) fn copy(&self) -> Self {
        let mut copy = Self::new(self.limit);
        for index in 0..self.buffers.len() {
            let contents = self.read(BufferId(u32::try_from(index).unwrap()));
            copy.add_buffer(&contents).unwrap();
        }
        copy.table.clone_from(&self.table);
        copy.bindless.clone_from(&self.bindless);
        copy.states.clone_from(&self.states);
        copy.samplers.clone_from(&self.samplers);
        copy.bindless_samplers.clone_from(&self.bindless_samplers);
        copy.arguments = self.arguments;
        copy.exact = self.exact;
        copy.lenient = self.lenient;
        copy
    }

    pub(crate) fn argument_base(&self) -> u64 {
        self.arguments
    }

    pub(crate) fn shared(&self, buffer: BufferId) -> Option<Shared<'_>> {
        self.buffer(buffer).map(|buffer| self.share(buffer))
    }

    /// The buffer whose region has this address, and where it starts. The address may still be
    /// outside of it.
    #[inline]
    pub(crate) fn at(&self, address: u64) -> Option<(u64, Shared<'_>)> {
        let (_, buffer) = self.of_region(address)?;
        Some((buffer.address, self.share(buffer)))
    }

    /// The buffer that has the region of an address.
    #[inline]
    fn of_region(&self, address: u64) -> Option<(BufferId, &Buffer)> {
        let region = u32::try_from(address >> 32).ok()?;
        let index = self
            .regions
            .find(region)
            .or_else(|| self.reach_region(region, address))?;
        let found = (BufferId(index), self.buffer(BufferId(index))?);
        if found.1.has(address) {
            return Some(found);
        }
        self.reach_beside(address).or(Some(found))
    }

    /// Finds a buffer beyond those that were added, which stays from then on.
    #[cold]
    fn reach_region(&self, region: u32, address: u64) -> Option<u32> {
        let others = self.others.as_ref()?;
        self.regions
            .find_or_add(region, || self.keep(others.find(address)?))
    }

    /// Finds a buffer at an address in the region of another one.
    #[cold]
    fn reach_beside(&self, address: u64) -> Option<(BufferId, &Buffer)> {
        let others = self.others.as_ref()?;
        let has = |number| {
            self.buffer(BufferId(number))
                .is_some_and(|b| b.has(address))
        };
        let inside = |reached: &Reached| {
            let offset = address.checked_sub(reached.address);
            offset.is_some_and(|offset| offset < reached.bytes)
        };
        let make = || self.keep(others.find(address).filter(inside)?);
        let id = BufferId(self.regions.find_or_add_beside(address, has, make)?);
        Some((id, self.buffer(id)?))
    }

    /// Keeps a buffer that was found, and numbers it. One thread does at a time.
    fn keep(&self, reached: Reached) -> Option<(u32, &Buffer)> {
        let storage = reached.storage?;
        let count = self.found_count.load(Relaxed);
        let buffer = Buffer {
            address: reached.address,
            bytes: storage.bytes(),
            held: storage.held,
        };
        let buffer = self.found.put(usize::try_from(count).ok()?, buffer)?;
        self.found_count.store(count + 1, Relaxed);
        Some((count | REACHED, buffer))
    }

    #[inline]
    fn share<'m>(&'m self, buffer: &'m Buffer) -> Shared<'m> {
        Shared {
            storage: &buffer.held,
            bytes: buffer.bytes,
            room: if self.exact {
                buffer.bytes
            } else {
                buffer.held.len()
            },
        }
    }

    /// A surface that is a part of a buffer: its storage, and its first byte and size in it.
    #[inline]
    pub(crate) fn window(
        &self,
        buffer: BufferId,
        offset: u64,
        size: u64,
    ) -> Option<Window<Shared<'_>>> {
        let buffer = self.buffer(buffer)?;
        let bytes = buffer.extent(offset, size, self.exact);
        Some(Window {
            space: self.share(buffer),
            start: usize::try_from(offset).ok()?,
            bytes: usize::try_from(bytes).ok()?,
        })
    }

    /// Storage without a byte.
    pub(crate) fn nothing(&self) -> Shared<'_> {
        Shared {
            storage: &self.empty,
            bytes: 0,
            room: 0,
        }
    }

    fn buffer(&self, buffer: BufferId) -> Option<&Buffer> {
        match buffer.0 & REACHED {
            0 => self.buffers.get(usize::try_from(buffer.0).ok()?),
            _ => self.found.get(usize::try_from(buffer.0 ^ REACHED).ok()?),
        }
    }
}

#[cfg(test)]
mod tests;
