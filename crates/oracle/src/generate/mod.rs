//! Routines of random instructions.

pub mod edges;
mod instruction;
mod message;
mod pool;
mod program;
mod typing;

pub use instruction::{Undefined, generated, undefined};
pub use message::messages;
pub use pool::Pool;
pub use program::{Style, program};

use crate::memory::Binding;

use visakit_isa::object::{Object, RoutineId, RoutineKind};

/// A routine, and the initial values of its variables.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The object; its first kernel runs.
    pub object: Object<'static>,
    /// Bytes of a register.
    pub grf: usize,
    /// Lanes that are live.
    pub mask: u32,
    /// The control register.
    pub cr0: u32,
    /// General variables by name, with their bytes.
    pub sets: Vec<(String, Vec<u8>)>,
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
}
