//! Instructions that send messages to memory.

use crate::fault::{FaultKind, Outcome, Trap, Unsupported};
use crate::memory::{Local, Memory};
use crate::observe::Observer;
use crate::program::Context;
use crate::run::Registers;
use visakit_isa::Instruction;

/// A translated message.
#[derive(Clone, Debug)]
pub(crate) struct Message {}

/// Translates a message.
pub(crate) fn translate(
    instruction: &Instruction,
    _cx: &Context<'_>,
) -> Result<Message, Unsupported> {
    Err(Unsupported::new(
        instruction.def().mnemonics.first().copied().unwrap_or(""),
        "not there yet",
    ))
}

impl Message {
    /// Runs the message. Bit i of `mask` enables lane i of the instruction (its first lane is bit 0
    /// whatever its mask offset); the bits above the execution size are zero.
    pub(crate) fn run<O: Observer>(
        &self,
        _registers: &mut Registers,
        _local: &mut Local<'_>,
        _memory: &Memory,
        _mask: u32,
        _observer: &mut O,
    ) -> Outcome {
        Err(Trap::new(FaultKind::RegisterOutOfBounds))
    }
}
