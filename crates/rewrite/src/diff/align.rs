//! Which entries of two lists belong together.

use imara_diff::{Algorithm, Diff, Interner, NoSliderHeuristic, Token};
use std::hash::Hash;
use std::ops::Range;

/// Entries of the first list, and what the second list has there.
pub(super) struct Run {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
    /// Whether they are the same one by one.
    pub(super) same: bool,
}

/// So many entries can be aligned.
const MOST: usize = i32::MAX as usize - 1;

/// Aligns two lists, whose runs cover both in order. Work grows with the length of the lists times
/// what differs, up to a bound beyond which an alignment need not be the shortest. It depends on
/// the lists alone.
pub(super) fn align<T: Hash + Eq>(
    old: impl Iterator<Item = T>,
    new: impl Iterator<Item = T>,
) -> Vec<Run> {
    let mut interner = Interner::new(0);
    let old: Vec<Token> = old.map(|entry| interner.intern(entry)).collect();
    let new: Vec<Token> = new.map(|entry| interner.intern(entry)).collect();
    tokens(&old, &new)
}

/// Aligns two lists of numbers, equal ones for equal entries.
pub(super) fn tokens(old: &[Token], new: &[Token]) -> Vec<Run> {
    let run = |old, new, same| Run { old, new, same };
    if old.len() > MOST || new.len() > MOST {
        return vec![run(0..old.len(), 0..new.len(), old == new)];
    }
    // This algorithm does not look at how many different entries there are.
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Myers, old, new, 0);
    diff.postprocess_with(old, new, NoSliderHeuristic);
    let mut runs = Vec::new();
    let mut done = (0, 0);
    for hunk in diff.hunks() {
        let size = |range: Range<u32>| range.start as usize..range.end as usize;
        let (before, after) = (size(hunk.before), size(hunk.after));
        runs.push(run(done.0..before.start, done.1..after.start, true));
        done = (before.end, after.end);
        runs.push(run(before, after, false));
    }
    runs.push(run(done.0..old.len(), done.1..new.len(), true));
    runs.retain(|run| !run.old.is_empty() || !run.new.is_empty());
    runs
}
