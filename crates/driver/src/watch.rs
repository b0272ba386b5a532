//! Who watches launches: checkers, comparison, dumps, the profiler.
//!
//! A watcher wraps a launch: it receives the launch and a continuation, inspects it before, continues (or runs the
//! launch in its own way), and inspects it after. To add one: implement [`Watcher`], and list it in [`watchers`]. It
//! reports its results in [`Watcher::end`], when the program ends.

use crate::binary::Binary;
use crate::check::Check;
use crate::compare::Comparison;
use crate::device::Device;
use crate::dump::Dumps;
use crate::kernel::{Arg, Kernel};
use crate::profile::Profiler;
use crate::stream::settle;
use crate::{check, profile};
use std::cell::OnceCell;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use visakit_exec::Interrupt;
use visakit_launch::{Argument, LaunchError, NdRange, Others, Outcome, Turn};

/// The launch being watched.
#[derive(Debug)]
pub(crate) struct Launching<'a> {
    /// The kernel.
    pub(crate) kernel: &'a Kernel,
    /// Its program.
    pub(crate) binary: &'a Binary,
    /// The device it runs on.
    pub(crate) device: &'a Device,
    /// Arguments as the host set them.
    pub(crate) args: &'a [Arg],
    /// Arguments as launches take them.
    pub(crate) arguments: &'a [Argument],
    /// Memory that the kernel reaches besides.
    pub(crate) others: &'a Others,
    /// The grid.
    pub(crate) range: &'a NdRange,
    /// How groups take turns, if they wait for each other.
    pub(crate) turn: Option<Turn>,
    /// Who runs it says how many nanoseconds it takes on the device, if that is known.
    pub(crate) nanoseconds: &'a OnceCell<f64>,
}

/// The result of a launch.
pub(crate) type Ending = Result<Outcome, LaunchError>;

/// Watches launches.
pub(crate) trait Watcher: Send + Sync {
    /// Wraps a launch; `go_on` continues with it.
    fn launch(&self, launching: &Launching<'_>, go_on: &mut dyn FnMut() -> Ending) -> Ending;

    /// The program ends.
    fn end(&self) {}
}

/// Whether programs should record the source lines of their instructions.
pub(crate) fn wants_lines() -> bool {
    let asked = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    asked(check::VARIABLE) || asked(profile::VARIABLE)
}

/// Whether a file is the program itself: the compiler calls it `1`, or by the name of the file that it was given.
pub(crate) fn is_program(file: &str) -> bool {
    let name = Path::new(file).file_name();
    name.is_none_or(|name| name == "1" || name == "program.cl")
}

/// The watchers enabled by the environment, the outermost first.
fn watchers() -> &'static [Box<dyn Watcher>] {
    static WATCHERS: OnceLock<Vec<Box<dyn Watcher>>> = OnceLock::new();
    WATCHERS.get_or_init(|| {
        let asked: [Option<Box<dyn Watcher>>; 4] = [
            Dumps::asked().map(|w| Box::new(w) as _),
            Comparison::asked().map(|w| Box::new(w) as _),
            Check::asked().map(|w| Box::new(w) as _),
            Profiler::asked().map(|w| Box::new(w) as _),
        ];
        let all: Vec<_> = asked.into_iter().flatten().collect();
        if !all.is_empty() {
            visakit_host::at_exit(end);
        }
        all
    })
}

/// Makes ready what the environment asks for, before the first launch: a program may end without waiting for it.
pub(crate) fn prepare() {
    watchers();
}

/// How long a launch may last after the program has ended. One that waits for the program would last forever.
const PATIENCE: Duration = Duration::from_secs(10);

/// The program ends: launches that it did not wait for are watched to their ends.
fn end() {
    if !settle(PATIENCE) {
        interrupt().raise();
        settle(PATIENCE);
    }
    report();
}

/// Everybody who watches reports.
pub(crate) fn report() {
    watchers().iter().for_each(|w| w.end());
}

/// Stops all launches.
pub(crate) fn interrupt() -> &'static Interrupt {
    static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
    INTERRUPT.get_or_init(Interrupt::new)
}

/// Takes a launch through all watchers to `run`.
pub(crate) fn through(launching: &Launching<'_>, run: &mut dyn FnMut() -> Ending) -> Ending {
    fn step(
        left: &[Box<dyn Watcher>],
        launching: &Launching<'_>,
        run: &mut dyn FnMut() -> Ending,
    ) -> Ending {
        match left.split_first() {
            Some((first, rest)) => {
                first.launch(launching, &mut || step(rest, launching, &mut *run))
            }
            None => run(),
        }
    }
    step(watchers(), launching, run)
}
