//! Machine code of a program, and its entry points.

use crate::Jit;
use crate::flow;
use crate::pages::Pages;
use visakit_exec::code::{Code, Liveness};
use visakit_exec::{Entry, Host, Native, NativeFault, NativeThread};

/// Machine code of a program.
#[derive(Debug)]
pub(crate) struct Machine {
    pages: Pages,
}

impl Machine {
    /// Compiles a program. `None` if nothing of it can be compiled.
    pub(crate) fn new(code: &Code, live: Option<&Liveness>, jit: Jit) -> Option<Self> {
        // Places of operands are checked against this; see the safety comments in `pages/mod.rs`.
        code.verify().ok()?;
        Some(Self {
            pages: Pages::new(flow::compile(code, live, jit)?)?,
        })
    }
}

impl Native for Machine {
    fn entries(&self) -> &[Entry] {
        &self.pages.compiled().entries
    }

    fn run(&self, thread: &mut NativeThread, host: &mut dyn Host) -> Result<(), NativeFault> {
        self.pages.run(thread, host)
    }
}
