//! The basis for exact reverse execution: snapshots to restart from, and all changes made from outside.

use crate::target::Target;
use std::sync::Arc;
use visakit_exec::{BufferId, Group, Memory};

/// A moment of the run: a number of instructions of a group have run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time {
    /// Number of the group. Groups run one after the other.
    pub group: u64,
    /// Instructions that its threads have run.
    pub step: u64,
}

/// A change from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Edit {
    Register(usize, usize, Vec<u8>),
    Scratch(usize, usize, Vec<u8>),
    Slm(usize, Vec<u8>),
    Global(BufferId, u64, Vec<u8>),
    /// The thread runs next.
    Turn(usize),
}

impl Edit {
    /// Makes the change. Returns false if it is out of bounds.
    pub(crate) fn apply(&self, target: &Target, group: &mut Group) -> bool {
        match self {
            Self::Register(thread, at, bytes) => group
                .thread_mut(*thread)
                .is_some_and(|thread| thread.write(target.program(), *at, bytes)),
            Self::Scratch(thread, at, bytes) => group
                .thread_mut(*thread)
                .is_some_and(|thread| thread.write_scratch(*at, bytes)),
            Self::Slm(at, bytes) => group.write_slm(*at, bytes),
            Self::Global(buffer, at, bytes) => {
                target.memory().write(*buffer, *at, bytes);
                true
            }
            Self::Turn(thread) => {
                group.give_turn(*thread);
                true
            }
        }
    }
}

/// Bytes of memory that snapshots share when they did not change.
const PIECE: usize = 64 << 10;

/// Snapshots that are kept; when there are more, every second one goes.
const MOST: usize = 96;

/// Bytes that all snapshots may take together, about.
const BUDGET: u64 = 1 << 30;

/// Instructions between snapshots, at first.
const INTERVAL: u64 = 1 << 16;

/// A state to start again from.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) time: Time,
    pub(crate) group: Group,
    /// Changes from outside that it has in it.
    pub(crate) edits: usize,
    memory: Vec<Vec<Arc<[u8]>>>,
    bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct History {
    /// Ascending; the first is the beginning.
    pub(crate) snapshots: Vec<Snapshot>,
    /// Ascending by time.
    pub(crate) edits: Vec<(Time, Edit)>,
    /// Instructions of each group that has ended, from the first one on.
    lengths: Vec<u64>,
    interval: u64,
}

impl History {
    /// A group has ended after this many instructions.
    pub(crate) fn ended(&mut self, time: Time) {
        if self.lengths.len() as u64 == time.group {
            self.lengths.push(time.step);
        }
    }

    /// Instructions of the groups before one.
    pub(crate) fn before_group(&self, group: u64) -> u64 {
        let groups = usize::try_from(group).unwrap_or(usize::MAX);
        self.lengths.iter().take(groups).sum()
    }

    /// The moment after this many instructions of all groups, at most those up to `now`.
    pub(crate) fn moment(&self, instructions: u64, now: Time) -> Time {
        let mut step = instructions;
        for (group, length) in (0..now.group).zip(&self.lengths) {
            if step < *length {
                return Time { group, step };
            }
            step -= length;
        }
        Time {
            group: now.group,
            step,
        }
    }

    /// Instructions after which a snapshot is due.
    pub(crate) fn interval(&self) -> u64 {
        self.interval.max(INTERVAL)
    }

    /// Whether a snapshot is due at that time.
    pub(crate) fn is_due(&self, time: Time) -> bool {
        self.snapshots.last().is_none_or(|last| {
            last.time < time
                && (last.time.group != time.group || time.step - last.time.step >= self.interval())
        })
    }

    /// Takes a snapshot.
    pub(crate) fn take(&mut self, time: Time, edits: usize, group: &Group, memory: &Memory) {
        let before = self.snapshots.last().map(|last| last.memory.as_slice());
        let mut bytes = 0;
        let copy = memory.buffers().enumerate().map(|(number, buffer)| {
            let known = before.and_then(|m| m.get(number)).map(Vec::as_slice);
            pieces(memory, buffer, known.unwrap_or(&[]), &mut bytes)
        });
        let copy = copy.collect();
        for thread in group.threads() {
            bytes += (thread.registers().len() + thread.scratch().len()) as u64;
        }
        self.snapshots.push(Snapshot {
            time,
            group: group.clone(),
            edits,
            memory: copy,
            bytes: bytes + group.slm().len() as u64,
        });
        let all: u64 = self.snapshots.iter().map(|s| s.bytes).sum();
        if self.snapshots.len() > MOST || (all > BUDGET && self.snapshots.len() > 4) {
            self.thin();
        }
    }

    fn thin(&mut self) {
        let mut number = 0;
        self.snapshots.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.interval = self.interval().saturating_mul(2);
    }

    /// The place of the last snapshot that is not after that time.
    pub(crate) fn before(&self, time: Time) -> usize {
        let after = self.snapshots.partition_point(|s| s.time <= time);
        after.saturating_sub(1)
    }

    /// Records a change; the known future is no longer valid.
    pub(crate) fn record(&mut self, time: Time, edit: Edit) {
        self.snapshots.retain(|s| s.time <= time);
        self.edits.retain(|(at, _)| *at <= time);
        self.lengths
            .truncate(usize::try_from(time.group).unwrap_or(usize::MAX));
        self.edits.push((time, edit));
    }
}

impl Snapshot {
    /// Puts global memory back.
    pub(crate) fn restore(&self, memory: &Memory) {
        for (buffer, pieces) in memory.buffers().zip(&self.memory) {
            let mut at = 0;
            for piece in pieces {
                memory.write(buffer, at, piece);
                at += piece.len() as u64;
            }
        }
    }
}

fn pieces(
    memory: &Memory,
    buffer: BufferId,
    known: &[Arc<[u8]>],
    bytes: &mut u64,
) -> Vec<Arc<[u8]>> {
    let whole = memory.len(buffer);
    let mut piece = vec![0; PIECE.min(whole)];
    let starts = (0..whole).step_by(PIECE);
    starts
        .enumerate()
        .map(|(number, at)| {
            let size = PIECE.min(whole - at);
            piece.resize(size, 0);
            memory.read_into(buffer, at, &mut piece);
            match known.get(number) {
                Some(same) if **same == *piece => Arc::clone(same),
                _ => {
                    *bytes += size as u64;
                    Arc::from(piece.as_slice())
                }
            }
        })
        .collect()
}
