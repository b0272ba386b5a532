//! Aligns the entries of two lists.

use imara_diff::{Algorithm, Diff, Interner, NoSliderHeuristic, Token};
use std::hash::Hash;
use std::ops::Range;

/// Entries of the first list, and the corresponding ones of the second.
pub(super) struct Run {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
    /// Whether they are equal one by one.
    pub(super) same: bool,
}

/// At most this many entries can be aligned.
const MOST: usize = i32::MAX as usize - 1;

/// Aligns two lists; the runs cover both in order. The work grows with the length of the lists
/// times the number of differences, up to a limit beyond which an alignment need not be the
/// shortest. The result depends only on the lists.
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
    // This algorithm ignores the number of distinct entries.
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
