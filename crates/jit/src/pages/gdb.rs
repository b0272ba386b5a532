//! Names of machine code for GDB and LLDB, by GDB's interface for compilers at run time: a list of object files in memory, and
//! a function that is called when the list has changed, at which the debugger stops.
//!
//! The names of both, and the layout of what is in memory, are from the chapter "JIT Compilation Interface" of GDB's manual.

use super::Compiled;
use crate::perf::parts;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

/// An object file in memory, in a list that is linked both ways.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    file: *const u8,
    bytes: u64,
}

/// What debuggers look for.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

#[unsafe(no_mangle)]
static mut __jit_debug_descriptor: Descriptor = Descriptor {
    version: 1,
    action: 0,
    relevant: null_mut(),
    first: null_mut(),
};

/// Debuggers have a breakpoint here. The compiler must neither drop nor inline it.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    std::hint::black_box(());
}

/// Whoever holds it may change the list.
static LIST: Mutex<()> = Mutex::new(());

/// Names that the debugger has until this is dropped.
#[derive(Debug)]
pub(super) struct Names {
    entry: *mut Entry,
    /// What the entry refers to.
    file: Box<[u8]>,
}

// SAFETY: the entry is only accessed while the list is locked, or by the thread that made it before it is in the list.
unsafe impl Send for Names {}
// SAFETY: as above; a shared reference gives no access to the entry.
unsafe impl Sync for Names {}

impl Names {
    /// Tells the debugger the names of code that is at an address, if the environment asks for it.
    pub(super) fn new(address: usize, compiled: &Compiled) -> Option<Self> {
        std::env::var_os("VISAKIT_GDB")?;
        let names = parts(&compiled.notes, compiled.bytes.len());
        Some(Self::of(file(address, compiled.bytes.len(), &names).into()))
    }

    fn of(file: Box<[u8]>) -> Self {
        let entry = Box::into_raw(Box::new(Entry {
            next: null_mut(),
            previous: null_mut(),
            file: file.as_ptr(),
            bytes: file.len() as u64,
        }));
        let list = LIST.lock();
        // SAFETY: the list is locked, so that nobody else accesses it. The entry was made above, and those in the list live until
        // they are taken out of it (`Drop`).
        unsafe {
            let descriptor = &raw mut __jit_debug_descriptor;
            (*entry).next = (*descriptor).first;
            if let Some(next) = (*entry).next.as_mut() {
                next.previous = entry;
            }
            (*descriptor).first = entry;
            (*descriptor).relevant = entry;
            (*descriptor).action = REGISTER;
        }
        __jit_debug_register_code();
        drop(list);
        Self { entry, file }
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        let list = LIST.lock();
        // SAFETY: the list is locked. The entry is in it, as are its neighbours, and goes out of it before it is freed; nobody
        // else frees it.
        unsafe {
            let descriptor = &raw mut __jit_debug_descriptor;
            let Entry { next, previous, .. } = *self.entry;
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => (*descriptor).first = next,
            }
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
            (*descriptor).relevant = self.entry;
            (*descriptor).action = UNREGISTER;
            __jit_debug_register_code();
            (*self.entry).file = null();
            drop(Box::from_raw(self.entry));
            (*descriptor).relevant = null_mut();
        }
        drop(list);
        self.file = Box::default();
    }
}

/// An executable of ELF without contents: a section at the address of the code, and its symbols.
fn file(address: usize, bytes: usize, names: &[(usize, usize, String)]) -> Vec<u8> {
    const HEADER: usize = 64;
    const SECTION: usize = 64;
    const SYMBOL: usize = 24;
    const SECTIONS: u16 = 4;
    let mut strings = b"\0.text\0.symtab\0.strtab\0".to_vec();
    let [text, symtab, strtab] = [1_u32, 7, 15];
    let mut symbols = vec![0; SYMBOL];
    for (at, size, name) in names {
        let place = u32::try_from(strings.len()).unwrap_or(0);
        strings.extend(b"visakit_");
        strings.extend(name.replace(", ", "_").replace(' ', "_").bytes());
        strings.push(0);
        symbols.extend(place.to_le_bytes());
        // A global function in section 1.
        symbols.extend([0x12, 0, 1, 0]);
        symbols.extend((address.wrapping_add(*at) as u64).to_le_bytes());
        symbols.extend((*size as u64).to_le_bytes());
    }
    let sections_at = HEADER;
    let symbols_at = sections_at + SECTION * usize::from(SECTIONS);
    let strings_at = symbols_at + symbols.len();
    let mut out = Vec::new();
    // 64 bits, little endian, version 1; an executable for x86-64.
    out.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    for half in [2_u16, 62] {
        out.extend(half.to_le_bytes());
    }
    out.extend(1_u32.to_le_bytes());
    for word in [0, 0, sections_at as u64] {
        out.extend(word.to_le_bytes());
    }
    out.extend(0_u32.to_le_bytes());
    // Sizes of this header, of none of the program, of those of sections; their number; the section of strings.
    for half in [64_u16, 0, 0, 64, SECTIONS, 3] {
        out.extend(half.to_le_bytes());
    }
    // Name, type, flags, address, offset, bytes, link, information, alignment, bytes of an entry.
    let mut section =
        |name: u32, kind: u32, [flags, address, at, bytes]: [u64; 4], link: u32, each: u64| {
            out.extend(name.to_le_bytes());
            out.extend(kind.to_le_bytes());
            for word in [flags, address, at, bytes] {
                out.extend(word.to_le_bytes());
            }
            out.extend(link.to_le_bytes());
            // The first global symbol.
            out.extend(u32::from(kind == 2).to_le_bytes());
            out.extend(1_u64.to_le_bytes());
            out.extend(each.to_le_bytes());
        };
    section(0, 0, [0; 4], 0, 0);
    // Allocated and executable, without contents here.
    section(text, 8, [6, address as u64, 0, bytes as u64], 0, 0);
    section(
        symtab,
        2,
        [0, 0, symbols_at as u64, symbols.len() as u64],
        3,
        SYMBOL as u64,
    );
    section(
        strtab,
        3,
        [0, 0, strings_at as u64, strings.len() as u64],
        0,
        0,
    );
    out.extend(symbols);
    out.extend(strings);
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

    fn named(parts: &[(usize, usize, &str)]) -> Vec<(usize, usize, String)> {
        let parts = parts.iter();
        parts
            .map(|(at, size, name)| (*at, *size, (*name).to_owned()))
            .collect()
    }

    #[test]
    fn files_have_the_names_at_their_addresses() {
        let names = named(&[(0, 16, "entry"), (16, 84, "segment of step 0, all lanes")]);
        let file = file(0x7f00_0000, 100, &names);
        let read = object::read::elf::ElfFile64::<object::Endianness>::parse(&*file).unwrap();
        let text = read.section_by_name(".text").unwrap();
        assert_eq!((text.address(), text.size()), (0x7f00_0000, 100));
        let symbols = read.symbols();
        let symbols: Vec<_> = symbols
            .map(|s| (s.address(), s.size(), s.name().unwrap()))
            .collect();
        let expected = [
            (0x7f00_0000, 16, "visakit_entry"),
            (0x7f00_0010, 84, "visakit_segment_of_step_0_all_lanes"),
        ];
        assert_eq!(symbols, expected);
    }

    /// The files in the list, from the first to the last one, and back.
    fn listed() -> Vec<*const u8> {
        let _list = LIST.lock();
        let mut found = Vec::new();
        // SAFETY: the list is locked, and entries live while they are in it.
        unsafe {
            let descriptor = &raw const __jit_debug_descriptor;
            let (mut at, mut before) = ((*descriptor).first, null_mut());
            while let Some(entry) = at.as_ref() {
                assert_eq!(entry.previous, before);
                found.push(entry.file);
                (before, at) = (at, entry.next);
            }
        }
        found
    }

    #[test]
    fn names_are_listed_while_they_live() {
        let made = |n: u8| Names::of(vec![n; 64].into());
        let [a, b, c] = [made(1), made(2), made(3)];
        let places = [&c, &b, &a].map(|names| names.file.as_ptr());
        assert_eq!(listed(), places);
        drop(b);
        assert_eq!(listed(), [places[0], places[2]]);
        drop(c);
        let d = made(4);
        assert_eq!(listed(), [d.file.as_ptr(), places[2]]);
        drop(a);
        drop(d);
        assert!(listed().is_empty());
        let threads = (0..4).map(|n| std::thread::spawn(move || drop((made(n), made(n)))));
        threads
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert!(listed().is_empty());
    }
}
