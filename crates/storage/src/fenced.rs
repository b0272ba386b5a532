//! Words with a fence around them, for tests.

use super::{PAGE, U64};
use std::ptr::null_mut;

/// Words of so many pages that are all zero, between two pages that nobody may access: whoever goes beyond them ends the
/// process. `None` if the host has no room for them, or larger pages.
///
/// They are never given back, so that [`super::Storage::lent`] takes any part of them.
#[must_use]
pub fn fenced(pages: usize) -> Option<&'static [U64]> {
    let bytes = pages.checked_mul(PAGE)?;
    let with_fences = bytes.checked_add(2 * PAGE)?;
    let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the host chooses the place, so that nobody else has anything there.
    let first = unsafe { libc::mmap(null_mut(), with_fences, libc::PROT_NONE, private, -1, 0) };
    if first == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the page is part of what was mapped just now.
    let first = unsafe { first.byte_add(PAGE) };
    // SAFETY: these pages were mapped just now, and nobody else knows them.
    let opened = unsafe { libc::mprotect(first, bytes, libc::PROT_READ | libc::PROT_WRITE) };
    if opened != 0 {
        return None;
    }
    let words = bytes / size_of::<U64>();
    // SAFETY: the pages are there for as long as the process lives, aligned, and all zero, which is a valid content of
    // atomic words.
    Some(unsafe { std::slice::from_raw_parts(first.cast(), words) })
}
