//! Prepares a thread for its start.

#![allow(
    clippy::result_large_err,
    reason = "a fault ends the run; it is made once"
)]

use super::Counters;
use super::thread::{Pause, Thread};
use crate::fault::{Fault, FaultKind};
use crate::lanes::mode::FloatMode;
use crate::machine::Registers;
use crate::program::{Again as Plan, Program, Set, ThreadStart};
use crate::variables::{InputClass, InputSlot};
use std::collections::TryReserveError;
use std::sync::Arc;

/// Starts threads of a program again, of which only the group is another one than at their last start.
pub(super) struct Again<'p> {
    program: &'p Program,
    plan: &'p Plan,
    /// Place of the thread header in the register file.
    header: usize,
    entry: usize,
}

impl<'p> Again<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self {
            program,
            plan: program.again(),
            header: program.entry.r0.as_ref().map_or(0, |slot| slot.offset),
            entry: entry(program),
        }
    }

    /// Fills those registers that differ from the ones of the last start, and returns whether that suffices: `start` is
    /// that of the thread's last run except for the thread header and the place of the group.
    #[inline]
    pub(super) fn start(&self, thread: &mut Thread, start: &ThreadStart, mode: FloatMode) -> bool {
        let Self { program, plan, .. } = *self;
        let used = thread.image.as_ref();
        let suits = used.is_some_and(|old| Arc::ptr_eq(old, &program.image))
            && start.image.len() >= program.payload_bytes
            && thread.changed.is_empty()
            && start.sets.is_empty()
            && start.mask & plan.lanes == plan.lanes
            && start.scratch_bytes == 0
            && thread.scratch.is_empty();
        if !suits {
            return false;
        }
        let registers = &mut thread.registers;
        registers.mode = mode;
        for part in &plan.parts {
            program
                .image
                .restore_part(&mut registers.file, part.clone());
        }
        for at in &plan.header {
            let dword = start.image.get(*at..).and_then(<[u8]>::first_chunk::<4>);
            if let Some(dword) = dword {
                registers.set_element(self.header + at, *dword);
            }
        }
        if let Some(place) = plan.cr0 {
            registers.set_element(place, start.cr0);
        }
        for number in &plan.facts {
            if let Some(set) = program.entry.facts.get(*number) {
                set_fact(registers, start, set);
            }
        }
        for number in &plan.inputs {
            if let Some(input) = program.inputs().get(*number) {
                set_input(registers, program, start, input);
            }
        }
        restart(thread, start, self.entry);
        true
    }
}

/// Dwords of the headers of all threads of a group: where they are in the header, and their values.
pub type HeaderDwords = [(usize, u32); 4];

/// Starts all threads of a group again that have ended in machine code, for the next group.
pub(super) struct Repeat<'a> {
    pub(super) again: Again<'a>,
    pub(super) mode: FloatMode,
    pub(super) cr0: u32,
    /// The next group, if there is one.
    pub(super) more: &'a mut dyn FnMut() -> Option<HeaderDwords>,
    /// What is written to the register file of each thread: dwords of the header, and `%cr0`.
    pub(super) writes: [(usize, u32); HEADER_DWORDS + 1],
}

const HEADER_DWORDS: usize = size_of::<HeaderDwords>() / size_of::<(usize, u32)>();

impl Again<'_> {
    /// Whether the header is all that differs from group to group, and only in dwords.
    pub(super) const fn is_simple(&self) -> bool {
        self.plan.facts.is_empty() && self.plan.inputs.is_empty()
    }
}

impl Repeat<'_> {
    /// Starts the threads if there is another group, and returns what is to be written to their register files. `changed`
    /// says whether more than these may have changed.
    pub(super) fn start(
        &mut self,
        threads: &mut [Thread],
        changed: &mut bool,
    ) -> Option<&[(usize, u32)]> {
        let dwords = (self.more)()?;
        let Again {
            program,
            plan,
            header,
            ..
        } = self.again;
        if std::mem::take(changed) {
            for thread in &mut *threads {
                thread.registers.mode = self.mode;
                thread.pause = Pause::None;
            }
        }
        for part in &plan.parts {
            for thread in &mut *threads {
                let file = &mut thread.registers.file;
                program.image.restore_part(file, part.clone());
            }
        }
        let read = dwords.iter().filter(|(at, _)| plan.header.contains(at));
        let read = read.map(|(at, value)| (header + at, *value));
        let all = read.chain(plan.cr0.map(|place| (place, self.cr0)));
        let mut count = 0;
        for (to, write) in self.writes.iter_mut().zip(all) {
            *to = write;
            count += 1;
        }
        self.writes.get(..count)
    }
}

/// The first step of the kernel.
fn entry(program: &Program) -> usize {
    program.code().routines.first().map_or(0, |r| r.entry)
}

/// Fills the registers of a thread that starts in that float mode, in a group that uses this many bytes.
pub(super) fn prepare(
    thread: &mut Thread,
    program: &Program,
    start: &ThreadStart,
    mode: FloatMode,
    bytes: u64,
) -> Result<(), Fault> {
    thread.registers.mode = mode;
    let image = &program.image;
    let used = thread.image.as_ref();
    let used = used.is_some_and(|old| Arc::ptr_eq(old, image));
    let whole = start.image.len() >= program.payload_bytes;
    let filled = fill(thread, program, start, bytes, (used, whole));
    if filled.is_err() {
        // The content of the registers is unknown.
        thread.image = None;
    } else if !used {
        thread.image = Some(Arc::clone(image));
    }
    filled
}

/// Fills the registers of a thread that has been `used` by the program before, or not.
fn fill(
    thread: &mut Thread,
    program: &Program,
    start: &ThreadStart,
    bytes: u64,
    (used, whole): (bool, bool),
) -> Result<(), Fault> {
    restore(thread, program, used, whole)
        .map_err(|_| Fault::at_start(FaultKind::OutOfMemory(bytes)))?;
    let registers = &mut thread.registers;
    set_header(registers, program, start);
    for set in &program.entry.facts {
        set_fact(registers, start, set);
    }
    for input in program.inputs() {
        set_input(registers, program, start, input);
    }
    for (slot, bytes) in &start.sets {
        thread.changed.push(slot.offset..slot.offset + bytes.len());
        if bytes.len() > slot.bytes {
            let text = format!(
                "{} bytes do not fit a variable of {}",
                bytes.len(),
                slot.bytes
            );
            return Err(Fault::at_start(FaultKind::BadStart(text)));
        }
        write(&mut thread.registers, slot.offset, bytes, slot.bytes);
    }
    if start.scratch_bytes != 0 || !thread.scratch.is_empty() {
        let zeroed = thread.scratch.zero(start.scratch_bytes);
        zeroed.map_err(|_| Fault::at_start(FaultKind::OutOfMemory(bytes)))?;
    }
    restart(thread, start, entry(program));
    Ok(())
}

/// Everything but registers and scratch memory.
#[inline]
fn restart(thread: &mut Thread, start: &ThreadStart, entry: usize) {
    thread.waiting.0.clear();
    thread.frames.clear();
    thread.saved_bytes = 0;
    thread.ahead = Counters::default();
    (thread.signals, thread.waits) = (0, 0);
    thread.named.clear();
    thread.running = start.mask;
    thread.pc = entry;
    thread.pause = if start.mask == 0 {
        Pause::Ended
    } else {
        Pause::None
    };
}

/// Gives a thread the initial content of the registers. `whole` states that the payload fills all inputs.
fn restore(
    thread: &mut Thread,
    program: &Program,
    used: bool,
    whole: bool,
) -> Result<(), TryReserveError> {
    let image = &program.image;
    let file = &mut thread.registers.file;
    if used {
        image.restore(file);
        for part in &thread.changed {
            image.restore_part(file, part.clone());
        }
        if !whole {
            // Parts that the payload does not fill keep their initial content.
            let inputs = program.inputs().iter().map(InputSlot::range);
            let header = program.entry.header(program.grf_bytes());
            for part in header.into_iter().chain(inputs) {
                image.restore_part(file, part);
            }
        }
    } else {
        file.fill(&image.bytes)?;
    }
    thread.changed.clear();
    if !Arc::ptr_eq(&thread.registers.taken, &program.taken) {
        thread.registers.taken = Arc::clone(&program.taken);
    }
    thread.registers.stray_reads = program.stray_reads;
    Ok(())
}

fn set_header(registers: &mut Registers, program: &Program, start: &ThreadStart) {
    let Some(slot) = &program.entry.r0 else {
        return;
    };
    let r0 = start.image.get(..program.grf_bytes() as usize);
    let r0 = r0.unwrap_or(&start.image);
    write(registers, slot.offset, r0, slot.bytes);
}

fn set_fact(registers: &mut Registers, start: &ThreadStart, set: &Set) {
    let value = (set.fact.value)(start);
    let at = set.slot.offset;
    // Copies of known size are no calls.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the low bytes are its value"
    )]
    match set.fact.bytes.min(set.slot.bytes) {
        2 => registers.set_element(at, value as u16),
        4 => registers.set_element(at, value as u32),
        8 => registers.set_element(at, value as u64),
        16 => registers.set_element(at, value),
        room => write(registers, at, &value.to_le_bytes(), room),
    }
}

fn set_input(registers: &mut Registers, program: &Program, start: &ThreadStart, input: &InputSlot) {
    let room = match input.class {
        InputClass::General => program.register_bytes().saturating_sub(input.place),
        InputClass::Sampler | InputClass::Surface => input.size,
    };
    write(registers, input.place, payload(start, input), room);
}

/// The payload's part for an input.
fn payload<'s>(start: &'s ThreadStart, input: &InputSlot) -> &'s [u8] {
    let from = start.image.get(input.image_offset..).unwrap_or(&[]);
    from.get(..input.size).unwrap_or(from)
}

fn write(registers: &mut Registers, offset: usize, bytes: &[u8], room: usize) {
    let count = bytes.len().min(room);
    if let (Some(to), Some(from)) = (registers.bytes_mut(offset, count), bytes.get(..count)) {
        to.copy_from_slice(from);
    }
}
