//! Predefined variables that hold facts of a thread when it starts.

use super::ThreadStart;
use crate::memory::Memory;
use crate::program::VariableSlot;

/// A predefined variable and what it holds.
#[derive(Debug)]
pub(crate) struct Fact {
    name: &'static str,
    /// Bytes that are set.
    pub(crate) bytes: usize,
    pub(crate) words: fn(&ThreadStart) -> [u32; 4],
}

const fn fact(name: &'static str, bytes: usize, words: fn(&ThreadStart) -> [u32; 4]) -> Fact {
    Fact { name, bytes, words }
}

static FACTS: [Fact; 16] = [
    fact("sr0", 16, |start| start.sr0),
    fact("scratchloc", 8, |_| [Memory::SCRATCH_STATE, 0, 0, 0]),
    fact("hw_id", 4, |start| [start.hw_id, 0, 0, 0]),
    fact("cr0", 4, |start| [start.cr0, 0, 0, 0]),
    fact("thread_x", 2, |start| [start.thread_x.into(), 0, 0, 0]),
    fact("thread_y", 2, |start| [start.thread_y.into(), 0, 0, 0]),
    fact("color", 2, |start| [start.color.into(), 0, 0, 0]),
    fact("group_id_x", 4, |start| [start.group_id[0], 0, 0, 0]),
    fact("group_id_y", 4, |start| [start.group_id[1], 0, 0, 0]),
    fact("group_id_z", 4, |start| [start.group_id[2], 0, 0, 0]),
    fact("group_count_x", 4, |start| [start.group_count[0], 0, 0, 0]),
    fact("group_count_y", 4, |start| [start.group_count[1], 0, 0, 0]),
    fact("local_id_x", 4, |start| [start.local_id[0], 0, 0, 0]),
    fact("local_id_y", 4, |start| [start.local_id[1], 0, 0, 0]),
    fact("local_size_x", 4, |start| [start.local_size[0], 0, 0, 0]),
    fact("local_size_y", 4, |start| [start.local_size[1], 0, 0, 0]),
];

/// Where the facts go, looked up once for a program.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    /// The thread header.
    pub(crate) r0: Option<VariableSlot>,
    pub(crate) facts: Vec<(&'static Fact, VariableSlot)>,
}

impl Entry {
    /// Asks for the place of each predefined variable.
    pub(crate) fn new(find: impl Fn(&str) -> Option<VariableSlot>) -> Self {
        let facts = FACTS.iter();
        Self {
            r0: find("r0"),
            facts: facts
                .filter_map(|fact| Some((fact, find(fact.name)?)))
                .collect(),
        }
    }
}
