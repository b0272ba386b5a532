//! The host's memory: the storage of buffers, and spans named by callers.

use crate::pages::Pages;
use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use visakit_exec::Memory;
use visakit_exec::memory::{Lent, Storage, Word};

/// Bytes of a page on devices with their own memory.
const PAGE: usize = 1 << 16;

/// Bytes of the host's smallest page.
const SMALLEST: usize = 4096;

/// The region of the first buffer with a fixed address: 256 GiB, which Linux leaves free.
pub const FIRST_SHARED: u32 = 0x40;

const FIRST_REGION: usize = FIRST_SHARED as usize;

/// The region after the last one of blocks with a fixed address: 64 TiB.
pub const END_SHARED: u32 = 0x4000;

const END_REGION: usize = END_SHARED as usize;

/// A mapping of zeroed pages; ends with the last storage of it.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    /// Bytes that were asked for.
    bytes: usize,
    mapped: usize,
    region: Option<(usize, usize)>,
    /// What other processes can map, too.
    pages: OnceLock<Pages>,
}

// SAFETY: a block is an address range; access to the bytes is the responsibility of those who share them.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

/// Regions that were given back, the first one first, with how many they are.
static FREE: Mutex<VecDeque<(usize, usize)>> = Mutex::new(VecDeque::new());
static NEXT: AtomicUsize = AtomicUsize::new(FIRST_REGION);

fn map(at: usize, bytes: usize, fixed: bool) -> Option<NonNull<u8>> {
    let hint = std::ptr::without_provenance_mut(at);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let flags = flags | if fixed { libc::MAP_FIXED_NOREPLACE } else { 0 };
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: new pages, which replace none.
    let start = unsafe { libc::mmap(hint, bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    if fixed && start.addr() != at {
        // Kernels before 4.17 take the address for a hint.
        // SAFETY: the pages that were just mapped.
        unsafe { libc::munmap(start, bytes) };
        return None;
    }
    NonNull::new(start.cast())
}

impl Block {
    /// Bytes anywhere.
    pub fn new(bytes: usize) -> Option<Arc<Self>> {
        let mapped = bytes.max(1).checked_next_multiple_of(PAGE)?;
        Some(Arc::new(Self {
            start: map(0, mapped, false)?,
            bytes,
            mapped,
            region: None,
            pages: OnceLock::new(),
        }))
    }

    /// Bytes whose address can be that of a buffer in a [`Memory`], too.
    pub fn at_address(bytes: usize) -> Option<Arc<Self>> {
        let mapped = bytes.max(1).checked_next_multiple_of(PAGE)?;
        let first = usize::try_from(Memory::FIRST).ok()?;
        let count = usize::try_from(Memory::regions_of(mapped)?).ok()?;
        let free = |at: usize| Some(at).filter(|at| at + count <= END_REGION);
        loop {
            let unused = NEXT.fetch_update(Relaxed, Relaxed, |at| free(at).map(|at| at + count));
            let at = unused.ok().or_else(|| {
                // None is left but those that were given back.
                let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
                let first = free.iter().position(|region| region.1 == count)?;
                free.remove(first).map(|region| region.0)
            })?;
            if let Some(start) = map(at << 32 | first, mapped, true) {
                return Some(Arc::new(Self {
                    start,
                    bytes,
                    mapped,
                    region: Some((at, count)),
                    pages: OnceLock::new(),
                }));
            }
        }
    }

    /// Its address.
    pub fn address(&self) -> usize {
        self.start.as_ptr().expose_provenance()
    }

    /// Bytes that were asked for.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Puts a part of `pages` into a part of it, in place of what was there; `None` if the parts are not whole pages, or
    /// not inside. Whoever reads or writes the block meanwhile sees either.
    pub fn map(&self, at: usize, pages: &Pages, from: usize, bytes: usize) -> Option<()> {
        let end = from.checked_add(bytes)?;
        let from = libc::off_t::try_from(from).ok()?;
        let file = pages.as_fd().as_raw_fd();
        (end <= pages.bytes()).then_some(())?;
        self.replace(at, bytes, libc::MAP_SHARED, file, from)
    }

    /// Puts new zeroed pages into a part of it; `None` as with [`Self::map`].
    pub fn clear(&self, at: usize, bytes: usize) -> Option<()> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        self.replace(at, bytes, flags, -1, 0)
    }

    /// The bytes that pages of another process have, at an address that can be that of a buffer in a [`Memory`].
    pub fn of(pages: Pages) -> Option<Arc<Self>> {
        let made = Self::at_address(pages.bytes())?;
        let whole = pages.bytes() / SMALLEST * SMALLEST;
        made.map(0, &pages, 0, whole)?;
        made.pages.set(pages).ok()?;
        Some(made)
    }

    /// Pages of its bytes that other processes can map, too. What others write during the first call may be lost.
    pub fn share(&self) -> Option<&Pages> {
        if let Some(pages) = self.pages.get() {
            return Some(pages);
        }
        let pages = Pages::new(self.mapped)?;
        let copy = Self::new(self.mapped)?;
        copy.map(0, &pages, 0, self.mapped)?;
        let all = |block: &Self| Span {
            start: block.address(),
            bytes: block.mapped,
            _owner: None,
        };
        let (from, to) = (all(self), all(&copy));
        for at in (0..self.mapped).step_by(SMALLEST) {
            // Pages that nobody has written stay without memory.
            if from.read::<SMALLEST>(at)? != [0; SMALLEST] {
                to.copy_from(at, &from, at, SMALLEST)?;
            }
        }
        // Others may have done so first: then their pages count.
        let mut mine = false;
        let pages = self.pages.get_or_init(|| {
            mine = true;
            pages
        });
        if mine {
            self.map(0, pages, 0, self.mapped)?;
        }
        Some(pages)
    }

    fn replace(
        &self,
        at: usize,
        bytes: usize,
        flags: libc::c_int,
        file: libc::c_int,
        from: libc::off_t,
    ) -> Option<()> {
        let end = at.checked_add(bytes)?;
        let whole = at.is_multiple_of(SMALLEST) && bytes.is_multiple_of(SMALLEST) && bytes > 0;
        (whole && end <= self.mapped).then_some(())?;
        let place = self.start.as_ptr().wrapping_add(at).cast();
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = flags | libc::MAP_FIXED;
        // SAFETY: pages of this block, which stay readable and writable: the kernel replaces them at once.
        let start = unsafe { libc::mmap(place, bytes, access, flags, file, from) };
        (start != libc::MAP_FAILED).then_some(())
    }

    /// Its bytes.
    pub fn storage(self: &Arc<Self>) -> Storage {
        self.first(self.bytes)
    }

    /// Its first bytes; all if it has fewer.
    pub fn first(self: &Arc<Self>, bytes: usize) -> Storage {
        let count = self.mapped / size_of::<Word>();
        // SAFETY: the pages exist until the block is dropped, and the storage holds it.
        let words = unsafe { Lent::new(self.start.cast(), count, Arc::<Self>::clone(self)) };
        Storage::lent(words, bytes.min(self.bytes))
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: pages that this block mapped and that nobody else uses: storage holds the block.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.mapped) };
        if let Some(region) = self.region {
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            free.push_back(region);
        }
    }
}

/// Bytes of a host or of a buffer.
///
/// Whoever creates one promises that the bytes stay valid until the commands that use it are done.
#[derive(Clone, Debug)]
pub struct Span {
    start: usize,
    bytes: usize,
    /// Keeps a buffer.
    _owner: Option<Storage>,
}

impl Span {
    /// A piece of memory of the caller.
    ///
    /// # Safety
    /// The bytes can be read and, where the span is written to, written until the last command that has it is done.
    pub unsafe fn host(start: *const libc::c_void, bytes: usize) -> Self {
        Self {
            start: start.expose_provenance(),
            bytes,
            _owner: None,
        }
    }

    /// A part of a buffer; `None` if it does not have it.
    pub fn of(storage: &Storage, offset: usize, bytes: usize) -> Option<Self> {
        let end = offset.checked_add(bytes)?;
        (end <= storage.bytes()).then(|| Self {
            start: storage.host_address().wrapping_add(offset),
            bytes,
            _owner: Some(storage.clone()),
        })
    }

    /// Its address.
    pub fn address(&self) -> usize {
        self.start
    }

    /// A part of it.
    pub fn part(&self, offset: usize, bytes: usize) -> Option<Self> {
        let end = offset.checked_add(bytes)?;
        (end <= self.bytes).then(|| Self {
            start: self.start.wrapping_add(offset),
            bytes,
            _owner: self._owner.clone(),
        })
    }

    /// Copies the bytes of another span to an offset; an error if it does not fit in either.
    pub fn copy_from(&self, to: usize, other: &Self, from: usize, bytes: usize) -> Option<()> {
        let inside = |span: &Self, at: usize| Some(at.checked_add(bytes)? <= span.bytes);
        if !inside(self, to)? || !inside(other, from)? {
            return None;
        }
        let source = std::ptr::with_exposed_provenance::<u8>(other.start.wrapping_add(from));
        let target = std::ptr::with_exposed_provenance_mut::<u8>(self.start.wrapping_add(to));
        // SAFETY: both are inside their spans, whose bytes are valid; they may overlap.
        unsafe { std::ptr::copy(source, target, bytes) };
        Some(())
    }

    /// Fills a part with a pattern.
    pub fn fill(&self, at: usize, bytes: usize, pattern: &[u8]) -> Option<()> {
        if pattern.is_empty() || at.checked_add(bytes)? > self.bytes {
            return None;
        }
        let mut filled = pattern.len().min(bytes);
        self.put(at, pattern.get(..filled)?)?;
        while filled < bytes {
            let more = filled.min(bytes - filled);
            self.copy_from(at + filled, &self.clone(), at, more)?;
            filled += more;
        }
        Some(())
    }

    /// Writes bytes at an offset; `None` if they do not fit.
    pub fn put(&self, at: usize, bytes: &[u8]) -> Option<()> {
        if at.checked_add(bytes.len())? > self.bytes {
            return None;
        }
        let target = std::ptr::with_exposed_provenance_mut::<u8>(self.start.wrapping_add(at));
        // SAFETY: inside the span, whose bytes are valid; `bytes` is not part of it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) };
        Some(())
    }

    /// Reads bytes at an offset; `None` if there are not as many.
    #[must_use]
    pub fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        if at.checked_add(N)? > self.bytes {
            return None;
        }
        let source = std::ptr::with_exposed_provenance::<[u8; N]>(self.start.wrapping_add(at));
        // SAFETY: inside the span, whose bytes are valid; arrays of bytes have no alignment.
        Some(unsafe { source.read() })
    }

    /// The words of a caller's span as storage, so that a buffer needs no copy: `None` if they are not whole words.
    ///
    /// # Safety
    /// As of [`Self::host`], for as long as the storage lives.
    pub unsafe fn storage(&self) -> Option<Storage> {
        let whole = size_of::<Word>();
        if self.start == 0
            || !self.start.is_multiple_of(align_of::<Word>())
            || !self.bytes.is_multiple_of(whole)
        {
            return None;
        }
        let start = std::ptr::with_exposed_provenance_mut::<Word>(self.start);
        // SAFETY: the caller's promise.
        let words = unsafe { Lent::new(NonNull::new(start)?, self.bytes / whole, Arc::new(())) };
        Some(Storage::lent(words, self.bytes))
    }
}
