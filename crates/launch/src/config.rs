//! How kernels are run, and the limits.

use std::sync::Arc;
use visakit_exec::{Compiler, Interrupt, Limits, Options, Pass, Program};

/// Options for runs.
#[derive(Clone, Copy)]
pub struct Config<'a> {
    /// Bounds for each group.
    pub limits: Limits,
    /// Limit of the instructions of all groups together. By default ten times what the largest devices execute before
    /// drivers reset them.
    pub max_steps: u64,
    /// Most bytes of global memory: buffers, images, program-scope variables and private memory.
    pub max_memory: u64,
    /// Stops the run within milliseconds when it is raised; the outcome is then what was computed so far.
    pub interrupt: Option<&'a Interrupt>,
    /// Whether accesses outside of a buffer are a fault even in its last page; see
    /// [`Memory::set_exact`](visakit_exec::Memory::set_exact).
    pub exact_ends: bool,
    /// Whether accesses that would be a fault are dropped, and arguments in local memory and constants are kept
    /// apart; see
    /// [`Memory::set_lenient`](visakit_exec::Memory::set_lenient).
    pub lenient: bool,
    /// Whether accesses outside of every buffer do nothing, and loads there give zeroes, as where a driver maps a page for
    /// them: a plain run of what hardware runs. By default they are faults. Misaligned accesses and those to surfaces that
    /// are not there are no faults then, either, as with [`Self::lenient`].
    pub drops_outside: bool,
    /// Whether reads of registers by an address outside every variable return 0, as the default is, instead of a fault.
    /// Devices read whatever is there; compilers rely on that where nothing uses the value; see
    /// [`Options::stray_reads`].
    pub stray_reads: bool,
    /// Whether an unsupported instruction is an error even if it is not reached.
    pub strict: bool,
    /// Makes machine code of the program. Without one the interpreter runs everything. Machine code leaves in registers
    /// only what the program reads again: groups of [`Prepared::start`](crate::Prepared::start) whose registers are to be
    /// examined are run without it.
    pub compile: Option<Compile<'a>>,
    /// Whether programs are translated with counters; see [`Program::take_counts`].
    pub count: bool,
    /// The passes applied to the code before it runs. By default those that cannot be noticed by observing a program;
    /// [`Pass::ALL`] is for runs whose variables are not queried.
    pub passes: &'a [Pass],
    /// How long a group runs before others take turns with it. By default long enough that few launches notice it.
    pub turn: Option<Turn>,
    /// Is called with the number of groups that have ended since it was called last, from any thread.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

/// How groups take turns that a worker runs: they may wait for each other, as on a device, where many run at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// How many instructions a group runs before another one may begin beside it; 0 if all begin at once.
    pub patience: u64,
    /// How many it then runs in its turn.
    pub steps: u64,
}

impl Turn {
    /// Of groups that are known to wait for each other.
    pub const TOGETHER: Self = Self {
        patience: 0,
        steps: 1 << 14,
    };
}

/// When machine code is made, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Compile<'a> {
    /// The compiler.
    pub compiler: &'a Arc<dyn Compiler>,
    /// How often each instruction of the program runs, on average, before it is compiled; 0: at once.
    pub after: u64,
}

impl<'a> Compile<'a> {
    /// The average number of runs of each instruction that makes compiling worthwhile: the time to compile (3 to 10
    /// microseconds) divided by the time saved (some 10 nanoseconds).
    const RUNS: u64 = 600;

    /// Compiles programs that run long enough for it to pay off.
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

impl Config<'_> {
    /// How programs are translated for a machine whose registers have so many bytes.
    pub(crate) fn options(&self, grf_bytes: u32) -> Options {
        Options {
            grf_bytes,
            strict: self.strict,
            stray_reads: self.stray_reads,
            count: self.count,
            passes: self.passes.to_vec(),
            ..Options::default()
        }
    }
}

impl Default for Config<'_> {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            max_steps: 1_000_000_000_000_000,
            max_memory: 64 << 30,
            interrupt: None,
            exact_ends: false,
            lenient: false,
            drops_outside: false,
            stray_reads: true,
            strict: false,
            compile: None,
            count: false,
            passes: &Pass::UNNOTICED,
            turn: None,
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
            .field("exact_ends", &self.exact_ends)
            .field("strict", &self.strict);
        out.finish_non_exhaustive()
    }
}
