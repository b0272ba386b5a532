//! Comparisons and the branches on them.
//!
//! Most branches test the predicate that the step before them has set. Who runs the two as one need not find out again
//! what the second does. Both remain steps: of the budget, of observers, and as places where a thread can be.

use crate::code::Code;

/// Marks comparisons with a branch on their outcome right after them.
pub(super) fn fuse(code: &mut Code) {
    let mut steps = code.steps.as_mut_slice();
    while let [step, rest @ ..] = steps {
        step.fused = rest.first().is_some_and(|next| step.is_tested_by(next));
        steps = rest;
    }
}
