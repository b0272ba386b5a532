//! Memory as lists of bytes.

use crate::generate::Case;
use crate::state::{Result, View};
use visakit_isa::Instruction;

/// What messages act on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    buffers: Vec<Vec<u8>>,
}

impl Memory {
    /// Takes the buffers of a case.
    pub fn add(&mut self, case: &Case) {
        self.buffers.clone_from(&case.buffers);
    }

    /// The bytes of a buffer.
    #[must_use]
    pub fn buffer(&self, index: usize) -> &[u8] {
        self.buffers.get(index).map_or(&[], Vec::as_slice)
    }

    /// Executes a message; `None` for other instructions.
    pub fn step(
        &mut self,
        _view: &mut View<'_, '_>,
        _instruction: &Instruction,
        _running: u32,
    ) -> Option<Result<()>> {
        None
    }
}
