//! Which lanes an instruction works on.

use crate::machine::Registers;
use crate::program::Masking;

/// Enabled lanes of an instruction, its first lane at bit 0.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn enabled(step: &Masking, running: u32, registers: &Registers) -> u32 {
    let mut mask = step.window;
    if !step.no_mask {
        mask &= running >> step.first;
    }
    if let Some(predicate) = &step.predicate {
        mask &= predicate.read(&registers.file);
    }
    mask
}

/// The lanes selected by a predicate, as lanes of the thread; all running lanes if the instruction
/// has one lane.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn taken(step: &Masking, running: u32, registers: &Registers, inverted: bool) -> u32 {
    let mut mask = step.window;
    if let Some(predicate) = &step.predicate {
        mask = predicate.read(&registers.file);
        if inverted {
            mask = !mask & step.window;
        }
    }
    running & (mask << step.first)
}

/// Whether the first lane of the predicate is set.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn condition(step: &Masking, registers: &Registers) -> bool {
    step.predicate
        .as_ref()
        .is_none_or(|p| p.read(&registers.file) & 1 != 0)
}
