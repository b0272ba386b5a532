//! The host's memory: the storage of buffers, and spans named by callers.

use std::any::Any;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use visakit_exec::Memory;
use visakit_exec::memory::{Storage, Word};

/// Bytes of a page on devices with their own memory.
const PAGE: usize = 1 << 16;

/// The region of the first buffer with a fixed address: 256 GiB, which Linux leaves free.
const FIRST_REGION: usize = 0x40;

/// The region after the last one of blocks with a fixed address: 64 TiB. From there on buffers can have addresses that are
/// not the host's.
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
                }));
            }
        }
    }

    /// Its address.
    pub fn address(&self) -> usize {
        self.start.as_ptr().expose_provenance()
    }

    /// Its bytes.
    pub fn storage(self: &Arc<Self>) -> Storage {
        let count = self.mapped / size_of::<Word>();
        let owner: Arc<dyn Any + Send + Sync> = Arc::<Self>::clone(self);
        // SAFETY: the pages exist until the block is dropped, and the storage holds it; words are atomic, so that
        // others may write them, and every bit pattern is valid.
        let words = unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), count) };
        Storage::lent(words, self.bytes, owner)
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
        let start = std::ptr::with_exposed_provenance::<Word>(self.start);
        // SAFETY: the caller's promise; words are atomic and every bit pattern is valid.
        let words = unsafe { std::slice::from_raw_parts(start, self.bytes / whole) };
        Some(Storage::lent(words, self.bytes, Arc::new(())))
    }
}
