//! Prepares a thread for its start.

#![allow(
    clippy::result_large_err,
    reason = "a fault ends the run; it is made once"
)]

use super::thread::{Pause, Thread};
use crate::fault::{Fault, FaultKind};
use crate::lanes::mode::FloatMode;
use crate::machine::Registers;
use crate::program::{Program, ThreadStart};
use crate::variables::{InputClass, InputSlot};
use std::collections::TryReserveError;
use std::sync::Arc;

/// Makes a list of zeroes of it, in the memory that it has where that will do.
pub(super) fn zeroed(list: &mut Vec<u8>, bytes: usize) -> Result<(), TryReserveError> {
    list.clear();
    list.try_reserve_exact(bytes)?;
    list.resize(bytes, 0);
    Ok(())
}

/// Fills the registers of a thread, in a group that uses this many bytes. `again` states that the start is that of the
/// thread's last run except for the thread header and the place of the group.
pub(super) fn prepare(
    thread: &mut Thread,
    program: &Program,
    start: &ThreadStart,
    bytes: u64,
    again: bool,
) -> Result<(), Fault> {
    let image = &program.image;
    let used = thread.image.as_ref();
    let used = used.is_some_and(|old| Arc::ptr_eq(old, image));
    let filled = fill(thread, program, start, bytes, (used, again));
    if filled.is_err() {
        // The content of the registers is unknown.
        thread.image = None;
    } else if !used {
        thread.image = Some(Arc::clone(image));
    }
    filled
}

/// The same for a thread that has been `used` by the program before, or not.
fn fill(
    thread: &mut Thread,
    program: &Program,
    start: &ThreadStart,
    bytes: u64,
    (used, again): (bool, bool),
) -> Result<(), Fault> {
    let none = |_| Fault::at_start(FaultKind::OutOfMemory(bytes));
    let image = &program.image;
    let whole = start.image.len() >= program.payload_bytes;
    let again = again && used && whole && thread.changed.is_empty() && start.sets.is_empty();
    let file = &mut thread.registers.file;
    if used {
        if again {
            image.restore_exposed(file, start.mask, (program.code(), &program.taken));
        } else {
            image.restore(file);
        }
        for part in &thread.changed {
            image.restore_part(file, part.clone());
        }
        if !whole {
            // Parts that the payload does not fill keep their initial content.
            let inputs = program.inputs().iter().map(InputSlot::range);
            for part in program
                .entry
                .header(program.grf_bytes())
                .into_iter()
                .chain(inputs)
            {
                image.restore_part(file, part);
            }
        }
    } else {
        file.clear();
        file.try_reserve_exact(image.bytes.len()).map_err(none)?;
        file.extend_from_slice(&image.bytes);
    }
    zeroed(&mut thread.scratch, start.scratch_bytes).map_err(none)?;
    thread.changed.clear();
    thread.registers.mode = FloatMode::from_cr0(start.cr0);
    if !Arc::ptr_eq(&thread.registers.taken, &program.taken) {
        thread.registers.taken = Arc::clone(&program.taken);
    }
    thread.registers.stray_reads = program.stray_reads;
    thread.waiting.0.clear();
    thread.frames.clear();
    thread.saved_bytes = 0;
    thread.pause = Pause::None;
    (thread.signals, thread.waits) = (0, 0);
    thread.named = [0; 32];
    thread.running = start.mask;
    thread.pc = program.code().routines.first().map_or(0, |r| r.entry);
    if start.mask == 0 {
        thread.pause = Pause::Ended;
    }
    set(&mut thread.registers, program, start, again);
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
    Ok(())
}

/// Sets the thread header, predefined variables and inputs: all of them, or those that may differ from the previous
/// start.
fn set(registers: &mut Registers, program: &Program, start: &ThreadStart, again: bool) {
    let r0 = start.image.get(..program.grf_bytes() as usize);
    let r0 = r0.unwrap_or(&start.image);
    if let Some(slot) = &program.entry.r0 {
        write(registers, slot.offset, r0, slot.bytes);
    }
    for set in &program.entry.facts {
        if again && !set.again {
            continue;
        }
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
    let input = |registers: &mut Registers, input: &InputSlot| {
        let from = payload(start, input);
        let room = match input.class {
            InputClass::General => program.register_bytes().saturating_sub(input.place),
            InputClass::Sampler | InputClass::Surface => input.size,
        };
        write(registers, input.place, from, room);
    };
    if again {
        let inputs = program.entry.again.iter();
        for slot in inputs.filter_map(|number| program.inputs().get(*number)) {
            input(registers, slot);
        }
    } else {
        for slot in program.inputs() {
            input(registers, slot);
        }
    }
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
