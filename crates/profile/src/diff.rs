//! Two profiles compared.

use crate::data::{Counts, KernelProfile, Profile};
use serde::Serialize;
use std::collections::BTreeMap;

/// A kernel in two profiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelDiff {
    /// Its name; both names where they differ.
    pub kernel: String,
    /// Facts of the old profile; `None` if it is not there.
    pub old: Option<Summary>,
    /// Facts of the new profile.
    pub new: Option<Summary>,
    /// Routines that differ.
    pub routines: Vec<Change>,
    /// Source lines that differ.
    pub lines: Vec<Change>,
    /// Mnemonics that differ.
    pub mnemonics: Vec<Change>,
}

/// A kernel in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Executions, lanes, cycles.
    #[serde(flatten)]
    pub counts: Counts,
    /// Instructions of its code.
    pub instructions: usize,
    /// Simulated nanoseconds.
    pub nanoseconds: f64,
    /// Bytes that lanes asked for.
    pub asked_bytes: u64,
    /// Bytes that were moved.
    pub moved_bytes: u64,
    /// Bytes that lanes asked for of local memory.
    pub local_bytes: u64,
    /// Times that lanes parted.
    pub parted: u64,
    /// The platform.
    pub platform: String,
}

impl Summary {
    fn new(kernel: &KernelProfile) -> Self {
        let sum = |of: fn(&crate::InstructionProfile) -> u64| {
            kernel
                .instructions
                .iter()
                .map(of)
                .fold(0, u64::saturating_add)
        };
        Self {
            counts: kernel.total,
            instructions: kernel.instructions.len(),
            nanoseconds: kernel.nanoseconds,
            asked_bytes: kernel.asked_bytes(),
            moved_bytes: kernel.moved_bytes(),
            local_bytes: kernel.local_bytes(),
            parted: sum(|i| i.parted.unwrap_or(0)),
            platform: kernel.platform.clone(),
        }
    }
}

/// Something that is in both profiles, or in one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The item: a routine, `file:line`, a mnemonic.
    pub name: String,
    /// In the old profile.
    pub old: Counts,
    /// In the new profile.
    pub new: Counts,
}

impl KernelDiff {
    /// Whether anything differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.old == self.new
            && self.routines.is_empty()
            && self.lines.is_empty()
            && self.mnemonics.is_empty()
    }
}

/// Compares profiles, kernel by kernel: by their names, or the only one with the only one. Of several profiles of a
/// kernel the first counts.
#[must_use]
pub fn diff(old: &Profile, new: &Profile) -> Vec<KernelDiff> {
    if let ([old], [new]) = (old.kernels.as_slice(), new.kernels.as_slice()) {
        let name = match old.kernel == new.kernel {
            true => old.kernel.clone(),
            false => format!("{} → {}", old.kernel, new.kernel),
        };
        return vec![pair(name, Some(old), Some(new))];
    }
    let find = |profile: &'_ Profile, name: &str| -> Option<usize> {
        profile.kernels.iter().position(|k| k.kernel == name)
    };
    let mut names: Vec<&str> = Vec::new();
    for kernel in old.kernels.iter().chain(&new.kernels) {
        if !names.contains(&kernel.kernel.as_str()) {
            names.push(&kernel.kernel);
        }
    }
    let pairs = names.into_iter().map(|name| {
        let old = find(old, name).and_then(|i| old.kernels.get(i));
        let new = find(new, name).and_then(|i| new.kernels.get(i));
        pair(name.to_owned(), old, new)
    });
    pairs.collect()
}

fn pair(kernel: String, old: Option<&KernelProfile>, new: Option<&KernelProfile>) -> KernelDiff {
    let many = old.into_iter().chain(new).any(|k| k.routines.len() > 1);
    KernelDiff {
        kernel,
        old: old.map(Summary::new),
        new: new.map(Summary::new),
        // A kernel without calls is its only routine.
        routines: if many {
            changes(old, new, routines)
        } else {
            Vec::new()
        },
        lines: changes(old, new, lines),
        mnemonics: changes(old, new, mnemonics),
    }
}

fn routines(kernel: &KernelProfile) -> Vec<(String, Counts)> {
    let all = kernel.routines.iter();
    all.map(|r| (r.name.clone(), r.counts)).collect()
}

fn lines(kernel: &KernelProfile) -> Vec<(String, Counts)> {
    let name = |line: &crate::LineProfile| {
        let file = line.file.as_deref().unwrap_or("?");
        // The folder of a file differs from machine to machine.
        let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
        format!("{file}:{}", line.line)
    };
    let all = kernel.lines.iter();
    all.map(|line| (name(line), line.counts)).collect()
}

fn mnemonics(kernel: &KernelProfile) -> Vec<(String, Counts)> {
    let all = kernel.instructions.iter();
    all.map(|i| (i.mnemonic.clone(), i.counts)).collect()
}

/// The differences, the largest difference of cycles first.
fn changes(
    old: Option<&KernelProfile>,
    new: Option<&KernelProfile>,
    parts: fn(&KernelProfile) -> Vec<(String, Counts)>,
) -> Vec<Change> {
    let mut all: BTreeMap<String, [Counts; 2]> = BTreeMap::new();
    for (name, counts) in old.map(parts).unwrap_or_default() {
        let [old, _] = all.entry(name).or_default();
        *old += counts;
    }
    for (name, counts) in new.map(parts).unwrap_or_default() {
        let [_, new] = all.entry(name).or_default();
        *new += counts;
    }
    let differing = all.into_iter().filter(|(_, [old, new])| old != new);
    let mut changes: Vec<_> = differing
        .map(|(name, [old, new])| Change { name, old, new })
        .collect();
    changes.sort_by_key(|c| std::cmp::Reverse(c.old.cycles.abs_diff(c.new.cycles)));
    changes
}
