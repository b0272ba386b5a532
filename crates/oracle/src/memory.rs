//! Memory as lists of bytes.

use crate::state::{Result, View};
use visakit_isa::Instruction;

/// What messages act on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory {}

impl Memory {
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
