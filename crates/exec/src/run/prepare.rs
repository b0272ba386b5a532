//! How a thread gets ready to start.

#![allow(
    clippy::result_large_err,
    reason = "a fault ends the run; it is made once"
)]

use super::thread::{Pause, Thread};
use crate::fault::{Fault, FaultKind};
use crate::lanes::mode::FloatMode;
use crate::machine::Registers;
use crate::program::{Program, ThreadStart};
use crate::variables::InputClass;
use std::collections::TryReserveError;

/// Makes a list of zeroes of it, in the memory that it has where that will do.
pub(super) fn zeroed(list: &mut Vec<u8>, bytes: usize) -> Result<(), TryReserveError> {
    list.clear();
    list.try_reserve_exact(bytes)?;
    list.resize(bytes, 0);
    Ok(())
}

/// Fills the registers of a thread of a group that takes so many bytes.
pub(super) fn prepare(
    thread: &mut Thread,
    program: &Program,
    start: &ThreadStart,
    bytes: u64,
) -> Result<(), Fault> {
    let none = |_| Fault::at_start(FaultKind::OutOfMemory(bytes));
    let mut file = std::mem::take(&mut thread.registers.file);
    file.clear();
    file.try_reserve_exact(program.image.len()).map_err(none)?;
    file.extend_from_slice(&program.image);
    let mut scratch = std::mem::take(&mut thread.scratch);
    zeroed(&mut scratch, start.scratch_bytes).map_err(none)?;
    let waiting = std::mem::take(&mut thread.waiting);
    let frames = std::mem::take(&mut thread.frames);
    *thread = Thread {
        registers: Registers {
            file,
            mode: FloatMode::from_cr0(start.cr0),
            taken: std::sync::Arc::clone(&program.taken),
            simd: thread.registers.simd,
        },
        scratch,
        waiting,
        frames,
        ..Thread::default()
    };
    thread.waiting.clear();
    thread.frames.clear();
    thread.running = start.mask;
    thread.pc = program.code().routines.first().map_or(0, |r| r.entry);
    if start.mask == 0 {
        thread.pause = Pause::Ended;
    }

    let r0 = start.image.get(..program.grf_bytes() as usize);
    let r0 = r0.unwrap_or(&start.image);
    if let Some(slot) = &program.entry.r0 {
        write(&mut thread.registers, slot.offset, r0, slot.bytes);
    }
    for (fact, slot) in &program.entry.facts {
        let words = (fact.words)(start).map(u32::to_le_bytes);
        let bytes = words.as_flattened();
        let bytes = bytes.get(..fact.bytes).unwrap_or(bytes);
        write(&mut thread.registers, slot.offset, bytes, slot.bytes);
    }
    for input in program.inputs() {
        let from = start.image.get(input.image_offset..).unwrap_or(&[]);
        let from = from.get(..input.size).unwrap_or(from);
        let room = match input.class {
            InputClass::General => program.image.len().saturating_sub(input.place),
            InputClass::Sampler | InputClass::Surface => input.size,
        };
        write(&mut thread.registers, input.place, from, room);
    }
    for (slot, bytes) in &start.sets {
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

fn write(registers: &mut Registers, offset: usize, bytes: &[u8], room: usize) {
    let count = bytes.len().min(room);
    if let (Some(to), Some(from)) = (registers.bytes_mut(offset, count), bytes.get(..count)) {
        to.copy_from_slice(from);
    }
}
