//! Helpers shared by the tests of the machine.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)] // helpers of a test

use visakit_exec::{Options, Program};
use visakit_isa::object::{RoutineId, RoutineKind};
use visakit_text::asm;

/// The first kernel of a text, translated.
pub(crate) fn program(text: &str, options: &Options) -> Program {
    let object = asm::assemble(text.as_bytes(), &asm::Options::default())
        .unwrap_or_else(|faults| panic!("{}\n{text}", faults[0].message));
    Program::new(&object, RoutineId::new(RoutineKind::Kernel, 0), options).unwrap()
}
