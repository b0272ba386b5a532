//! Routines of random instructions.

pub mod edges;
mod instruction;
mod pool;
mod typing;

pub use instruction::{Undefined, generated, undefined};
pub use pool::Pool;

use visakit_isa::object::{Object, RoutineId, RoutineKind};

/// A routine, and what stands in its variables when it starts.
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
}

impl Case {
    /// The kernel that runs.
    pub const KERNEL: RoutineId = RoutineId::new(RoutineKind::Kernel, 0);
}
