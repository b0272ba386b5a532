//! Memory of the program that nobody allotted for devices: what `malloc` gave, stacks, variables.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use visakit_exec::memory::{Lent, Storage, Word};

static LENT: AtomicBool = AtomicBool::new(false);

/// Lends all memory of the program to whoever asks for it with [`process_memory`], from now on.
///
/// # Safety
/// Whoever accesses memory by the addresses that the program gave it, or by others that it computes, accesses only what the
/// program keeps mapped and accesses as atomics do.
pub unsafe fn lend_process_memory() {
    LENT.store(true, Relaxed);
}

/// The range of a line of Linux's table of a process' memory, if it can be read and written.
fn range(line: &str) -> Option<Range<usize>> {
    let mut fields = line.split(' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    fields.next()?.starts_with("rw").then_some(())?;
    Some(number(start)?..number(end)?)
}

/// The mapping that has an address, with those that follow it and precede it without a gap.
fn around(table: &str, address: usize) -> Option<Range<usize>> {
    let mut found: Option<Range<usize>> = None;
    for range in table.lines().filter_map(range) {
        found = match found {
            Some(before) if before.end == range.start => Some(before.start..range.end),
            Some(before) if before.contains(&address) => return Some(before),
            _ => Some(range),
        };
    }
    found.filter(|found| found.contains(&address))
}

/// The program's memory around an address that can be read and written, and where it begins; `None` if there is none, or if
/// the memory is not lent.
pub fn process_memory(address: usize) -> Option<(usize, Storage)> {
    if !LENT.load(Relaxed) {
        return None;
    }
    let table = std::fs::read_to_string("/proc/self/maps").ok()?;
    let range = around(&table, address)?;
    let start = std::ptr::with_exposed_provenance_mut::<Word>(range.start);
    let count = range.len() / size_of::<Word>();
    // SAFETY: whole pages that can be read and written. When the program unmaps some, nobody accesses them any more: the
    // promise of `lend_process_memory`.
    let words = unsafe { Lent::new(NonNull::new(start)?, count, Arc::new(())) };
    Some((range.start, Storage::lent(words, range.len())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn mappings_are_joined() {
        let table = "1000-2000 r--p 0 0 0 /x\n2000-3000 rw-p 0 0 0 /x\n3000-5000 rw-s 0 0 0\n6000-7000 rw-p 0 0 0 [heap]\n";
        let at = |address| around(table, address);
        assert_eq!(at(0x1800), None);
        for address in [0x2000, 0x2fff, 0x3000, 0x4fff] {
            assert_eq!(at(address), Some(0x2000..0x5000));
        }
        assert_eq!(at(0x5000), None);
        assert_eq!(at(0x6fff), Some(0x6000..0x7000));
        assert_eq!(at(0x7000), None);
    }

    #[test]
    fn memory_is_lent_when_it_was_said() {
        let place = Box::new(7_u64);
        let address = std::ptr::from_ref(&*place).expose_provenance();
        assert!(process_memory(address).is_none());
        // SAFETY: only what this test owns is accessed.
        unsafe { lend_process_memory() };
        let (start, storage) = process_memory(address).unwrap();
        let mut bytes = [0; 8];
        storage.read_into(address - start, &mut bytes);
        assert_eq!(u64::from_ne_bytes(bytes), *place);
        assert!(process_memory(8).is_none());
    }
}
