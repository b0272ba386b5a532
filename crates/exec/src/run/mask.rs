//! Which lanes an instruction works on.

use crate::program::Masking;

/// Enabled lanes of an instruction, its first lane at bit 0.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn enabled(step: &Masking, running: u32, file: &[u8]) -> u32 {
    // Without a branch, as steps of both kinds alternate.
    let always = u32::from(step.no_mask).wrapping_neg();
    let mut mask = step.window & (running >> step.first | always);
    if let Some(predicate) = &step.predicate {
        mask &= predicate.read(file);
    }
    mask
}

/// The lanes selected by a predicate, as lanes of the thread; all running lanes if the instruction
/// has one lane.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn taken(step: &Masking, running: u32, file: &[u8], inverted: bool) -> u32 {
    let mut mask = step.window;
    if let Some(predicate) = &step.predicate {
        mask = predicate.read(file);
        if inverted {
            mask = !mask & step.window;
        }
    }
    running & (mask << step.first)
}

/// Whether the first lane of the predicate is set.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn condition(step: &Masking, file: &[u8]) -> bool {
    step.predicate
        .as_ref()
        .is_none_or(|p| p.read(file) & 1 != 0)
}
