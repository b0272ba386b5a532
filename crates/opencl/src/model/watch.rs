//! Who watches launches: checkers, comparison, dumps. Profilers belong here, too.
//!
//! A watcher stands around a launch: it is given the launch and the rest of the way, looks before, goes on (or runs the
//! launch in its own way), looks after. To add one: implement [`Watcher`], and name it in [`watchers`]. What it has found
//! it tells in [`Watcher::end`], when the program ends.

use crate::model::binary::Binary;
use crate::model::check::Check;
use crate::model::compare::Comparison;
use crate::model::device::Device;
use crate::model::dump::Dumps;
use crate::model::kernel::{Arg, Kernel};
use std::sync::OnceLock;
use visakit_exec::memory::Storage;
use visakit_launch::{Argument, LaunchError, NdRange, Outcome};

/// What is launched.
#[derive(Debug)]
pub(crate) struct Launching<'a> {
    /// The kernel.
    pub(crate) kernel: &'a Kernel,
    /// Its program.
    pub(crate) binary: &'a Binary,
    /// Where it runs.
    pub(crate) device: &'a Device,
    /// Arguments as the host set them.
    pub(crate) args: &'a [Arg],
    /// The same as launches take them.
    pub(crate) arguments: &'a [Argument],
    /// Shared memory that the kernel reaches besides.
    pub(crate) reachable: &'a [(u64, Storage)],
    /// The grid.
    pub(crate) range: &'a NdRange,
}

/// How a launch ends.
pub(crate) type Ending = Result<Outcome, LaunchError>;

/// Watches launches.
pub(crate) trait Watcher: Send + Sync {
    /// Stands around a launch; `go_on` is the rest of the way.
    fn launch(&self, launching: &Launching<'_>, go_on: &mut dyn FnMut() -> Ending) -> Ending;

    /// The program ends.
    fn end(&self) {}
}

/// Those who watch, the outermost first, as the environment asks for them.
fn watchers() -> &'static [Box<dyn Watcher>] {
    static WATCHERS: OnceLock<Vec<Box<dyn Watcher>>> = OnceLock::new();
    WATCHERS.get_or_init(|| {
        let asked: [Option<Box<dyn Watcher>>; 3] = [
            Dumps::asked().map(|w| Box::new(w) as _),
            Comparison::asked().map(|w| Box::new(w) as _),
            Check::asked().map(|w| Box::new(w) as _),
        ];
        let all: Vec<_> = asked.into_iter().flatten().collect();
        if !all.is_empty() {
            crate::ffi::at_exit(end);
        }
        all
    })
}

fn end() {
    watchers().iter().for_each(|w| w.end());
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
