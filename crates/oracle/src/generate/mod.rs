//! Routines of random instructions.
//!
//! [`Pool`] makes single instructions and messages of the table's rows, [`program`] programs of a [`Style`].

pub mod edges;
mod instruction;
mod message;
mod pool;
mod typing;
mod written;

pub use instruction::{Undefined, generated, undefined};
pub use message::messages;
pub use pool::Pool;
pub use written::{object, program};

use crate::memory::Binding;

use visakit_isa::object::{Object, RoutineId, RoutineKind};

/// What a program is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// `goto`, `jmp`, `switchjmp` and labels in any order.
    Goto,
    /// Control flow with subroutines.
    Subroutines,
    /// Control flow with functions that may call themselves.
    Functions,
    /// `if`, `else`, `endif`, `do`, `while`, `break`, `cont` of the older versions.
    Structured,
    /// Nested branches and loops of `goto`.
    Joins,
    /// A loop with many variables.
    Loops,
    /// Predicates, most bits of which nobody uses.
    Predicates,
    /// Products of sums by powers of two, in a loop.
    Products,
    /// Addresses that follow each other, or nearly so.
    Addresses,
    /// Several threads that share local memory.
    Threads,
}

impl Style {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Goto,
        Self::Subroutines,
        Self::Functions,
        Self::Structured,
        Self::Joins,
        Self::Loops,
        Self::Predicates,
        Self::Products,
        Self::Addresses,
        Self::Threads,
    ];
}

/// How a thread starts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Start {
    /// Lanes that are live.
    pub mask: u32,
    /// Variables by name, with their bytes.
    pub sets: Vec<(String, Vec<u8>)>,
}

/// A routine, and how it is run.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The object; its first kernel runs.
    pub object: Object<'static>,
    /// Bytes of a register.
    pub grf: usize,
    /// The control register.
    pub cr0: u32,
    /// The threads of a group, for each time that it is run. The slow machine runs the first launch, if it has one thread.
    pub launches: Vec<Vec<Start>>,
    /// Whether machine code leaves the registers of the interpreter at the end, bits of predicates that nobody reads among
    /// them.
    pub registers: bool,
    /// Buffers by first content.
    pub buffers: Vec<Vec<u8>>,
    /// Flat addresses of the buffers.
    pub addresses: Vec<u64>,
    /// Bytes of shared local memory.
    pub local_bytes: usize,
    /// Surfaces: whole buffers.
    pub bindings: Vec<(Binding, usize)>,
    /// Binding-table indices that are images of [`crate::memory::Memory::ROW`] bytes a row, with the
    /// bytes of a texel: one, or four dwords.
    pub images: Vec<(u32, usize)>,
    /// Append counters by binding-table index: buffer and offset.
    pub counters: Vec<(u32, (usize, u64))>,
}

impl Case {
    /// The kernel that runs.
    pub const KERNEL: RoutineId = RoutineId::new(RoutineKind::Kernel, 0);

    /// A case that is never run, without memory.
    #[must_use]
    pub fn of(object: Object<'static>) -> Self {
        Self {
            object,
            grf: 32,
            cr0: 0x4c0,
            launches: Vec::new(),
            registers: true,
            buffers: Vec::new(),
            addresses: Vec::new(),
            local_bytes: 0,
            bindings: Vec::new(),
            images: Vec::new(),
            counters: Vec::new(),
        }
    }

    /// A case that a thread runs, without memory.
    #[must_use]
    pub fn of_thread(object: Object<'static>, mask: u32, sets: Vec<(String, Vec<u8>)>) -> Self {
        Self {
            launches: vec![vec![Start { mask, sets }]],
            ..Self::of(object)
        }
    }

    /// How the thread starts that runs alone in the first launch.
    #[must_use]
    pub fn start(&self) -> Option<&Start> {
        match self.launches.first().map(Vec::as_slice) {
            Some([start]) => Some(start),
            _ => None,
        }
    }

    /// The first content of a variable in that thread.
    #[must_use]
    pub fn set(&self, name: &[u8]) -> Option<&[u8]> {
        let mut sets = self.start()?.sets.iter();
        let found = sets.find(|(own, _)| own.as_bytes() == name);
        found.map(|(_, bytes)| bytes.as_slice())
    }
}
