//! How a thread starts: its initial registers.

use super::VariableSlot;
use crate::memory::Memory;
use std::ops::Range;

/// The initial registers of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadStart {
    /// The register image: r0 first, then the inputs at their offsets.
    pub image: Vec<u8>,
    /// Lanes that are live.
    pub mask: u32,
    /// `%sr0`.
    pub sr0: [u32; 4],
    /// `%hw_id`.
    pub hw_id: u32,
    /// `%thread_x`.
    pub thread_x: u16,
    /// `%thread_y`.
    pub thread_y: u16,
    /// `%group_id_x` to `%group_id_z`.
    pub group_id: [u32; 3],
    /// `%group_count_x` and `_y` of objects before 3.4.
    pub group_count: [u32; 3],
    /// `%local_id_x` and `_y` of objects before 3.4.
    pub local_id: [u32; 3],
    /// `%local_size_x` and `_y` of objects before 3.4.
    pub local_size: [u32; 3],
    /// First content of `%cr0`.
    pub cr0: u32,
    /// `%color`.
    pub color: u16,
    /// Scratch memory of the thread in bytes.
    pub scratch_bytes: usize,
    /// Variables that are set before the first instruction, with their bytes.
    pub sets: Vec<(VariableSlot, Vec<u8>)>,
}

/// A predefined variable and its value.
#[derive(Debug)]
pub(crate) struct Fact {
    name: &'static str,
    /// Bytes that are set.
    pub(crate) bytes: usize,
    /// Whether it is the place of the group.
    of_group: bool,
    /// Its value. (A number stays in registers of the host; a list would go through memory.)
    pub(crate) value: fn(&ThreadStart) -> u128,
}

const fn fact(name: &'static str, bytes: usize, value: fn(&ThreadStart) -> u128) -> Fact {
    Fact {
        name,
        bytes,
        of_group: false,
        value,
    }
}

const fn group(name: &'static str, value: fn(&ThreadStart) -> u128) -> Fact {
    Fact {
        of_group: true,
        ..fact(name, 4, value)
    }
}

impl Fact {
    /// Whether it is `%cr0`.
    pub(crate) fn is_cr0(&self) -> bool {
        self.name == "cr0"
    }

    /// Whether it is the place of the group, which differs from group to group.
    pub(crate) const fn of_group(&self) -> bool {
        self.of_group
    }
}

fn quad([a, b, c, d]: [u32; 4]) -> u128 {
    u128::from(d) << 96 | u128::from(c) << 64 | u128::from(b) << 32 | u128::from(a)
}

static FACTS: [Fact; 16] = [
    fact("sr0", 16, |start| quad(start.sr0)),
    fact("scratchloc", 8, |_| Memory::SCRATCH_STATE.into()),
    fact("hw_id", 4, |start| start.hw_id.into()),
    fact("cr0", 4, |start| start.cr0.into()),
    fact("thread_x", 2, |start| start.thread_x.into()),
    fact("thread_y", 2, |start| start.thread_y.into()),
    fact("color", 2, |start| start.color.into()),
    group("group_id_x", |start| start.group_id[0].into()),
    group("group_id_y", |start| start.group_id[1].into()),
    group("group_id_z", |start| start.group_id[2].into()),
    fact("group_count_x", 4, |start| start.group_count[0].into()),
    fact("group_count_y", 4, |start| start.group_count[1].into()),
    fact("local_id_x", 4, |start| start.local_id[0].into()),
    fact("local_id_y", 4, |start| start.local_id[1].into()),
    fact("local_size_x", 4, |start| start.local_size[0].into()),
    fact("local_size_y", 4, |start| start.local_size[1].into()),
];

/// A predefined variable that the start of a thread sets.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) fact: &'static Fact,
    pub(crate) slot: VariableSlot,
}

impl Set {
    /// The bytes that are set.
    pub(crate) fn range(&self) -> Range<usize> {
        self.slot.offset..self.slot.offset + self.fact.bytes.min(self.slot.bytes)
    }
}

/// The places of the facts, looked up once per program.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    /// The thread header.
    pub(crate) r0: Option<VariableSlot>,
    pub(crate) facts: Vec<Set>,
}

/// What the next start of a thread sets, if only its group is another one: what may have changed, and may be read before
/// it is written.
#[derive(Debug)]
pub(crate) struct Again {
    /// Lanes that must start; otherwise more may be read.
    pub(crate) lanes: u32,
    /// Parts of the initial content.
    pub(crate) parts: Vec<Range<usize>>,
    /// Dwords of the thread header that are read: where they are in it.
    pub(crate) header: Vec<usize>,
    /// Place of `%cr0`, which most programs change.
    pub(crate) cr0: Option<usize>,
    /// The others: numbers in [`Entry::facts`].
    pub(crate) facts: Vec<usize>,
    /// Numbers of inputs.
    pub(crate) inputs: Vec<usize>,
}

impl Entry {
    /// Asks for the place of each predefined variable.
    pub(crate) fn new(find: impl Fn(&str) -> Option<VariableSlot>) -> Self {
        let facts = FACTS.iter();
        let set = |fact: &'static Fact| {
            Some(Set {
                fact,
                slot: find(fact.name)?,
            })
        };
        Self {
            r0: find("r0"),
            facts: facts.filter_map(set).collect(),
        }
    }

    /// The bytes of the thread header that are set, for registers of this size.
    pub(crate) fn header(&self, grf_bytes: u32) -> Option<Range<usize>> {
        let slot = self.r0.as_ref()?;
        Some(slot.offset..slot.offset + slot.bytes.min(grf_bytes as usize))
    }
}
