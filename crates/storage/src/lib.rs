//! Bytes that many threads read and write at once.
//!
//! A [`Storage`] is zeroed memory of a fixed size. Threads share it by reference, and every access is atomic: of a
//! byte, or of an aligned word of 16, 32 or 64 bits. Copies in or out use the largest aligned words that fit, so that
//! no aligned element of up to eight bytes is ever seen half written, and no byte outside the copy is touched. Accesses
//! to words at one place by operations of one width are as atomic with respect to each other as those of
//! [`std::sync::atomic`]; order between places is established by fences.
//!
//! # Accesses of different widths
//!
//! Rust does not define the result of unordered accesses of different widths to one place. Programs of GPUs make them,
//! and the processors that this runs on define them: each access is one instruction of its own width, which is never
//! split (x86-64 and AArch64 guarantee it for aligned ones). This crate relies on that, as other emulators' memories
//! do; nothing in it depends on which value such a race yields.
//!
//! Built with `--cfg visakit_shuttle`, accesses are the points at which [shuttle](https://docs.rs/shuttle) changes threads: tests
//! then run in every order of them, accesses of different widths included.
//!
//! # Example
//!
//! ```
//! use std::sync::atomic::Ordering::Relaxed;
//! use visakit_storage::Storage;
//!
//! let storage = Storage::zeroed(16).unwrap();
//! storage.write(3, &[1, 2, 3]);
//! storage.word::<visakit_storage::U32>(4).unwrap().fetch_add(0x100, Relaxed);
//! let mut bytes = [0; 6];
//! storage.read(2, &mut bytes);
//! assert_eq!(bytes, [0, 1, 2, 4, 0, 0]);
//! ```

#![allow(unsafe_code, reason = "see the safety comments at each block")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

#[cfg(all(unix, not(visakit_shuttle)))]
mod fenced;
#[cfg(all(unix, not(visakit_shuttle)))]
pub use fenced::fenced;
#[cfg(visakit_shuttle)]
mod interleaved;
#[cfg(visakit_shuttle)]
pub use interleaved::{U8, U16, U32, U64};
#[cfg(not(visakit_shuttle))]
pub use std::sync::atomic::{AtomicU8 as U8, AtomicU16 as U16, AtomicU32 as U32, AtomicU64 as U64};

/// Bytes of a page: the alignment of an owned [`Storage`].
pub const PAGE: usize = 4096;

/// Zeroed bytes at a fixed place that threads share.
#[derive(Debug)]
pub struct Storage {
    /// The first byte; a multiple of [`PAGE`], or of 8 for lent ones.
    first: NonNull<u8>,
    bytes: usize,
    owner: Owner,
}

/// Whom the bytes belong to.
#[derive(Debug)]
enum Owner {
    /// There are none.
    Nobody,
    /// The owned allocation.
    Storage(NonNull<u8>, Layout),
    /// Somebody else, who keeps them where they are.
    #[expect(dead_code, reason = "is there to be dropped")]
    Other(Arc<dyn Any + Send + Sync>),
}

// SAFETY: the allocation belongs to the value alone, its owner may be sent, and all accesses to its bytes are atomic.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

mod sealed {
    /// Types that represent the bytes of a storage: every content is valid, every access through a shared reference
    /// atomic.
    pub trait Sealed: Sized {}
    impl Sealed for super::U8 {}
    impl Sealed for super::U16 {}
    impl Sealed for super::U32 {}
    impl Sealed for super::U64 {}
}

/// An atomic word: [`U8`], [`U16`], [`U32`] or [`U64`].
pub trait Word: sealed::Sealed {}
impl Word for U8 {}
impl Word for U16 {}
impl Word for U32 {}
impl Word for U64 {}

/// Words that somebody else has, for [`Storage::lent`].
#[derive(Debug)]
pub struct Lent {
    first: NonNull<U64>,
    words: usize,
    owner: Arc<dyn Any + Send + Sync>,
}

impl Lent {
    /// This many words from `first` on.
    ///
    /// # Safety
    /// For as long as `owner` lives, they can be read and written, and others access them as atomic words do. Where that
    /// ends before a storage of them, nobody may access them through the storage any more.
    #[must_use]
    pub const unsafe fn new(
        first: NonNull<U64>,
        words: usize,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self {
            first,
            words,
            owner,
        }
    }
}

impl From<&'static [U64]> for Lent {
    /// Words that stay for ever.
    fn from(words: &'static [U64]) -> Self {
        Self {
            first: NonNull::from(words).cast(),
            words: words.len(),
            owner: Arc::new(()),
        }
    }
}

impl Storage {
    /// Zeroes. `None` if the host has no room for them.
    ///
    /// Pages that nobody writes cost no memory if the host's allocator provides zeroed pages.
    #[must_use]
    pub fn zeroed(bytes: usize) -> Option<Self> {
        if bytes == 0 {
            return Some(Self::default());
        }
        // Asking the allocator for an alignment would make it clear, and so touch, every page.
        let layout = Layout::from_size_align(bytes.checked_add(PAGE)?, align_of::<U64>()).ok()?;
        // SAFETY: the size is not zero.
        let allocated = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let skip = allocated.align_offset(PAGE);
        if skip > PAGE {
            // Only when programs are evaluated by the compiler or by an interpreter of them.
            // SAFETY: allocated just now with this layout.
            unsafe { dealloc(allocated.as_ptr(), layout) };
            return None;
        }
        Some(Self {
            // SAFETY: at most a page is skipped, and `bytes` and a page were allocated.
            first: unsafe { allocated.add(skip) },
            bytes,
            owner: Owner::Storage(allocated, layout),
        })
    }

    /// Words that are stored elsewhere.
    ///
    /// They need not be aligned to a page; runs of words are still found by their places in the storage.
    #[must_use]
    pub fn lent(words: impl Into<Lent>) -> Self {
        let Lent {
            first,
            words,
            owner,
        } = words.into();
        Self {
            first: first.cast(),
            bytes: words * size_of::<U64>(),
            owner: Owner::Other(owner),
        }
    }

    /// Number of bytes.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The host's address of the first byte, for machine code. It keeps to the rules of this crate: accesses within
    /// [`Self::len`], each of an aligned word one instruction.
    #[must_use]
    pub fn address(&self) -> usize {
        self.first.as_ptr().expose_provenance()
    }

    /// Consecutive words. `None` if `at` is not a multiple of their size or some of them are outside.
    #[inline]
    #[must_use]
    pub fn words<W: Word>(&self, at: usize, count: usize) -> Option<&[W]> {
        let bytes = count.checked_mul(size_of::<W>())?;
        let room = self.bytes.checked_sub(at)?;
        if bytes > room || !at.is_multiple_of(size_of::<W>()) {
            return None;
        }
        // SAFETY: `at + bytes` is at most the size. The first byte is aligned for any word, so this one is. The types
        // are the atomic ones above: valid with any content, and made for changes behind shared references. The storage
        // outlives the references. Nothing else ever refers to these bytes.
        Some(unsafe { std::slice::from_raw_parts(self.first.add(at).cast::<W>().as_ptr(), count) })
    }

    /// A word. `None` if `at` is not a multiple of its size or it lies outside.
    #[inline]
    #[must_use]
    pub fn word<W: Word>(&self, at: usize) -> Option<&W> {
        self.words(at, 1)?.first()
    }

    /// Copies the bytes from `at` on. Returns whether all of them are inside; otherwise nothing is done.
    #[inline]
    pub fn read(&self, at: usize, out: &mut [u8]) -> bool {
        self.pieces(at, out.len(), |piece| match piece {
            Piece::Long { place, words } => {
                let (chunks, _) = out
                    .get_mut(place..)
                    .unwrap_or_default()
                    .as_chunks_mut::<8>();
                for (chunk, word) in chunks.iter_mut().zip(words) {
                    *chunk = word.load(Relaxed).to_le_bytes();
                }
            }
            Piece::Dword(place, word) => put(out, place, word.load(Relaxed).to_le_bytes()),
            Piece::Word(place, word) => put(out, place, word.load(Relaxed).to_le_bytes()),
            Piece::Byte(place, word) => put(out, place, [word.load(Relaxed)]),
        })
    }

    /// Overwrites the bytes from `at` on. Returns whether all of them are inside; otherwise nothing is done.
    #[inline]
    pub fn write(&self, at: usize, data: &[u8]) -> bool {
        self.pieces(at, data.len(), |piece| match piece {
            Piece::Long { place, words } => {
                let (chunks, _) = data.get(place..).unwrap_or_default().as_chunks::<8>();
                for (chunk, word) in chunks.iter().zip(words) {
                    word.store(u64::from_le_bytes(*chunk), Relaxed);
                }
            }
            Piece::Dword(place, word) => word.store(u32::from_le_bytes(get(data, place)), Relaxed),
            Piece::Word(place, word) => word.store(u16::from_le_bytes(get(data, place)), Relaxed),
            Piece::Byte(place, word) => word.store(u8::from_le_bytes(get(data, place)), Relaxed),
        })
    }

    /// Sets all bytes to this value.
    pub fn fill(&self, value: u8) {
        self.pieces(0, self.bytes, |piece| match piece {
            Piece::Long { words, .. } => {
                for word in words {
                    word.store(u64::from_le_bytes([value; 8]), Relaxed);
                }
            }
            Piece::Dword(_, word) => word.store(u32::from_le_bytes([value; 4]), Relaxed),
            Piece::Word(_, word) => word.store(u16::from_le_bytes([value; 2]), Relaxed),
            Piece::Byte(_, word) => word.store(value, Relaxed),
        });
    }

    /// Splits a run of bytes into the largest aligned words that fit. Returns whether all of them are inside; otherwise
    /// `each` is not called.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pieces<'a>(&'a self, at: usize, bytes: usize, mut each: impl FnMut(Piece<'a>)) -> bool {
        if self.bytes.checked_sub(at).is_none_or(|room| bytes > room) {
            return false;
        }
        let mut place = 0;
        while place < bytes {
            let (here, left) = (at + place, bytes - place);
            place += if here.is_multiple_of(8) && left >= 8 {
                let count = left / 8;
                if let Some(words) = self.words(here, count) {
                    each(Piece::Long { place, words });
                }
                count * 8
            } else if here.is_multiple_of(4) && left >= 4 {
                if let Some(word) = self.word(here) {
                    each(Piece::Dword(place, word));
                }
                4
            } else if here.is_multiple_of(2) && left >= 2 {
                if let Some(word) = self.word(here) {
                    each(Piece::Word(place, word));
                }
                2
            } else {
                if let Some(word) = self.word(here) {
                    each(Piece::Byte(place, word));
                }
                1
            };
        }
        true
    }
}

impl Default for Storage {
    /// No bytes.
    fn default() -> Self {
        Self {
            first: NonNull::<Page>::dangling().cast(),
            bytes: 0,
            owner: Owner::Nobody,
        }
    }
}

/// The bytes of a [`Storage`] that is shared no more: they are plain bytes, where they were.
#[derive(Debug)]
pub struct Bytes(Storage);

impl Storage {
    /// Ends the sharing; lent storage, which its owner may still write, is given back as it is.
    ///
    /// # Errors
    /// The storage, if it is lent.
    pub fn into_bytes(self) -> Result<Bytes, Self> {
        match self.owner {
            Owner::Other(_) => Err(self),
            Owner::Nobody | Owner::Storage(..) => Ok(Bytes(self)),
        }
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `bytes` bytes were allocated there and zeroed. The storage was given away as a value, so nobody
        // refers to its words any more, and its bytes are only read from now on.
        unsafe { std::slice::from_raw_parts(self.0.first.as_ptr(), self.0.bytes) }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Owner::Storage(allocated, layout) = self.owner {
            // SAFETY: allocated with this layout, and nobody borrows from the value any more.
            unsafe { dealloc(allocated.as_ptr(), layout) };
        }
    }
}

/// For an address without storage: no words are misaligned there.
#[repr(align(4096))]
struct Page;

/// Aligned words of a run of bytes, and their places in it.
enum Piece<'a> {
    Long { place: usize, words: &'a [U64] },
    Dword(usize, &'a U32),
    Word(usize, &'a U16),
    Byte(usize, &'a U8),
}

#[inline]
fn put<const N: usize>(out: &mut [u8], place: usize, value: [u8; N]) {
    if let Some(out) = out.get_mut(place..).and_then(|o| o.first_chunk_mut()) {
        *out = value;
    }
}

#[inline]
fn get<const N: usize>(data: &[u8], place: usize) -> [u8; N] {
    data.get(place..)
        .and_then(|d| d.first_chunk())
        .copied()
        .unwrap_or([0; N])
}
