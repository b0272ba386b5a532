//! Pages that hold machine code, and the way into it.
//!
//! All unsafe code of the crate is here: the call of machine code, and the call back from it.

#![allow(unsafe_code, reason = "see the safety comments at each block")]

use memmap2::{Mmap, MmapMut};
use std::mem::offset_of;
use visakit_exec::memory::Region;
use visakit_exec::{Host, NativeFault};

/// What machine code works on. Its address is in a register while machine code runs.
#[repr(C)]
pub(crate) struct Context<'a> {
    /// The register file of the thread.
    file: *mut u8,
    /// Constants of the code.
    constants: *const u8,
    /// Lanes that run.
    pub(crate) running: u64,
    /// Instructions that may still run.
    pub(crate) left: u64,
    /// Enabled lanes so far.
    pub(crate) lane_operations: u64,
    /// The smallest place where lanes wait.
    pub(crate) waiting: u64,
    /// Out: the step to go on with.
    pub(crate) place: u64,
    /// Where machine code is entered.
    target: *const u8,
    /// Calls the interpreter for a step.
    step: extern "sysv64" fn(&mut Context<'_>, u64, u64) -> u64,
    /// Shared local memory of the group, and its bytes.
    local: *mut u8,
    local_bytes: u64,
    /// Storage of global memory, and how many there are.
    storage: *const Region,
    storage_count: u64,
    /// Out: whether a step that the interpreter ran had a fault.
    pub(crate) fault: u64,
    host: &'a mut dyn Host,
    file_bytes: usize,
}

/// Places in [`Context`], for machine code.
pub(crate) mod place {
    use super::{Context, offset_of};

    pub(crate) const FILE: i64 = offset_of!(Context<'_>, file) as i64;
    pub(crate) const CONSTANTS: i64 = offset_of!(Context<'_>, constants) as i64;
    pub(crate) const RUNNING: i64 = offset_of!(Context<'_>, running) as i64;
    pub(crate) const LEFT: i64 = offset_of!(Context<'_>, left) as i64;
    pub(crate) const LANE_OPERATIONS: i64 = offset_of!(Context<'_>, lane_operations) as i64;
    pub(crate) const WAITING: i64 = offset_of!(Context<'_>, waiting) as i64;
    pub(crate) const PLACE: i64 = offset_of!(Context<'_>, place) as i64;
    pub(crate) const TARGET: i64 = offset_of!(Context<'_>, target) as i64;
    pub(crate) const STEP: i64 = offset_of!(Context<'_>, step) as i64;
    pub(crate) const LOCAL: i64 = offset_of!(Context<'_>, local) as i64;
    pub(crate) const LOCAL_BYTES: i64 = offset_of!(Context<'_>, local_bytes) as i64;
    pub(crate) const STORAGE: i64 = offset_of!(Context<'_>, storage) as i64;
    pub(crate) const STORAGE_COUNT: i64 = offset_of!(Context<'_>, storage_count) as i64;
    pub(crate) const FAULT: i64 = offset_of!(Context<'_>, fault) as i64;
}

/// Runs a step in the interpreter. Gives 0, or 1 for a fault.
extern "sysv64" fn step(context: &mut Context<'_>, place: u64, mask: u64) -> u64 {
    let place = usize::try_from(place).unwrap_or(usize::MAX);
    let mask = u32::try_from(mask).unwrap_or(u32::MAX);
    let outcome = context.host.step(place, mask);
    // What was borrowed from the host before is used no more; the file is asked for anew.
    let registers = context.host.registers();
    if outcome.is_err() || registers.len() < context.file_bytes {
        return 1;
    }
    context.file = registers.as_mut_ptr();
    context.local = local(context.host).0;
    0
}

/// Shared local memory: where it is, and its bytes. Machine code counts them in 31 bits.
fn local(host: &mut dyn Host) -> (*mut u8, u64) {
    let local = host.local();
    (local.as_mut_ptr(), local.len().min(0x7fff_ffff) as u64)
}

/// Machine code in memory: pages that are executable and never writable again.
#[derive(Debug)]
pub(crate) struct Pages {
    code: Mmap,
    constants: Vec<u8>,
    /// Bytes of the register file that the code reads and writes.
    file_bytes: usize,
}

impl Pages {
    /// Puts code into pages. Its first instruction takes the address of a [`Context`] as the C calling
    /// convention of System V has it, jumps to the target that stands there, and in the end returns.
    /// It touches the register file below `file_bytes` and these constants only; that is what the
    /// compiler checks for each access that it writes.
    pub(crate) fn new(code: &[u8], constants: Vec<u8>, file_bytes: usize) -> Option<Self> {
        let mut pages = MmapMut::map_anon(code.len().max(1)).ok()?;
        pages.get_mut(..code.len())?.copy_from_slice(code);
        Some(Self {
            code: pages.make_exec().ok()?,
            constants,
            file_bytes,
        })
    }

    /// Runs the code from an offset on.
    pub(crate) fn run(
        &self,
        offset: usize,
        thread: &mut visakit_exec::NativeThread,
        host: &mut dyn Host,
    ) -> Result<(), NativeFault> {
        let registers = host.registers();
        let Some(target) = self.code.get(offset..).map(<[u8]>::as_ptr) else {
            return Ok(());
        };
        if registers.len() < self.file_bytes {
            return Ok(());
        }
        let file = registers.as_mut_ptr();
        let (local, local_bytes) = local(host);
        let storage = host.storage();
        let mut context = Context {
            file,
            local,
            local_bytes,
            storage: storage.as_ptr(),
            storage_count: storage.len() as u64,
            constants: self.constants.as_ptr(),
            running: thread.running.into(),
            left: thread.left,
            lane_operations: thread.lane_operations,
            waiting: thread.waiting as u64,
            place: thread.place as u64,
            target,
            step,
            fault: 0,
            host,
            file_bytes: self.file_bytes,
        };
        // SAFETY: the pages hold a function of this type at their start: it was made by this crate's
        // compiler, saves the registers that the convention asks for, and returns.
        let enter: extern "sysv64" fn(&mut Context<'_>) =
            unsafe { std::mem::transmute(self.code.as_ptr()) };
        // The code goes to `target`, which is one of its own labels, and touches nothing but the
        // context, the constants, its stack, the register file, whose size was compared with what it was
        // compiled for just now and after each call back, and shared local and global memory, whose
        // bounds it compares before each access with those that stand in the context and in the storage
        // that a memory lends. Global memory consists of atomic words: dwords are read and written as
        // relaxed accesses to them are.
        enter(&mut context);
        thread.place = usize::try_from(context.place).unwrap_or(usize::MAX);
        thread.left = context.left;
        thread.lane_operations = context.lane_operations;
        if context.fault == 0 {
            Ok(())
        } else {
            Err(NativeFault)
        }
    }
}
