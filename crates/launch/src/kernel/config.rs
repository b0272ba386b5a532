//! How kernels are run, within which bounds.

use std::sync::Arc;
use visakit_exec::{Compiler, Interrupt, Limits, Pass, Program};

/// How to run.
#[derive(Clone, Copy)]
pub struct Config<'a> {
    /// Bounds for each group.
    pub limits: Limits,
    /// Instructions of all groups together. By default ten times what the largest devices execute before drivers
    /// reset them.
    pub max_steps: u64,
    /// Most bytes of global memory: buffers, images, program-scope variables and private memory.
    pub max_memory: u64,
    /// Stops the run when it is raised, within milliseconds; the outcome then is what was computed so far.
    pub interrupt: Option<&'a Interrupt>,
    /// Whether reads outside of a buffer are a fault even in its last page; see
    /// [`Memory::set_exact_reads`](visakit_exec::Memory::set_exact_reads).
    pub exact_reads: bool,
    /// Whether accesses that would be a fault are dropped, and arguments in local memory are kept apart; see
    /// [`Memory::set_lenient`](visakit_exec::Memory::set_lenient).
    pub lenient: bool,
    /// Whether registers that are read by an address outside of every variable are 0, not a fault; see
    /// [`Program::allow_stray_reads`].
    pub stray_reads: bool,
    /// Whether an unsupported instruction is an error even if it is not reached.
    pub strict: bool,
    /// Makes machine code of the program. Without one the interpreter runs everything.
    pub compile: Option<Compile<'a>>,
    /// Whether programs count what runs; see [`Program::take_counts`].
    pub count: bool,
    /// What is done with the code before it runs. By default what nobody notices who watches it; [`Pass::ALL`] is for
    /// runs that nobody asks for variables.
    pub passes: &'a [Pass],
    /// Is called with the number of groups that have ended since it was called last, from any thread.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

/// When machine code is made, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Compile<'a> {
    /// The compiler.
    pub compiler: &'a Arc<dyn Compiler>,
    /// How often each instruction of the program runs, on average, before it is asked; 0: at once.
    pub after: u64,
}

impl<'a> Compile<'a> {
    /// Runs of each instruction of a program, on average, that pay for compiling it: what compiling
    /// takes is divided by what machine code saves.
    const RUNS: u64 = 1000;

    /// Compiles what runs long enough to pay.
    #[must_use]
    pub const fn when_it_pays(compiler: &'a Arc<dyn Compiler>) -> Self {
        Self {
            compiler,
            after: Self::RUNS,
        }
    }

    /// Compiles at once.
    #[must_use]
    pub const fn always(compiler: &'a Arc<dyn Compiler>) -> Self {
        Self { compiler, after: 0 }
    }

    pub(crate) fn apply(&self, program: &mut Program) {
        let size = u64::try_from(program.instruction_count()).unwrap_or(u64::MAX);
        let after = self.after.saturating_mul(size.max(1));
        program.compile_with(Arc::clone(self.compiler), after);
    }
}

impl Default for Config<'_> {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            max_steps: 1_000_000_000_000_000,
            max_memory: 64 << 30,
            interrupt: None,
            exact_reads: false,
            lenient: false,
            stray_reads: false,
            strict: false,
            compile: None,
            count: false,
            passes: &Pass::UNNOTICED,
            progress: None,
        }
    }
}

impl std::fmt::Debug for Config<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Config");
        out.field("limits", &self.limits)
            .field("max_steps", &self.max_steps)
            .field("max_memory", &self.max_memory)
            .field("exact_reads", &self.exact_reads)
            .field("strict", &self.strict);
        out.finish_non_exhaustive()
    }
}
