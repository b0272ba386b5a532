//! Machine code of a program, and where it is entered.

use crate::Features;
use crate::flow;
use crate::pages::Pages;
use std::collections::BTreeMap;
use visakit_exec::code::Code;
use visakit_exec::{Host, Native, NativeFault, NativeThread};

/// Machine code of a program.
#[derive(Debug)]
pub(crate) struct Machine {
    pages: Pages,
    entries: Vec<u32>,
    places: BTreeMap<usize, [usize; 2]>,
    full: u32,
}

impl Machine {
    /// Compiles a program. `None` if nothing of it can be compiled.
    pub(crate) fn new(code: &Code, features: Features) -> Option<Self> {
        // Places of operands are checked against this; see the safety comments of the pages.
        code.verify().ok()?;
        let compiled = flow::compile(code, features)?;
        Some(Self {
            pages: Pages::new(&compiled.bytes, compiled.constants, code.register_bytes)?,
            entries: compiled.entries,
            places: compiled.places,
            full: compiled.full,
        })
    }
}

impl Native for Machine {
    fn entries(&self) -> &[u32] {
        &self.entries
    }

    fn run(&self, thread: &mut NativeThread, host: &mut dyn Host) -> Result<(), NativeFault> {
        let Some([full, other]) = self.places.get(&thread.place) else {
            return Ok(());
        };
        // Lanes that the program has no instruction for are left to the interpreter.
        if thread.running & !self.full != 0 {
            return Ok(());
        }
        let place = if thread.running == self.full {
            *full
        } else {
            *other
        };
        self.pages.run(place, thread, host)
    }
}
