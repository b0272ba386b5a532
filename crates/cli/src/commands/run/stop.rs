//! Stops a run from outside: Ctrl-C and `--timeout`.

use super::Args;
use crate::output::{Failure, count};
use crate::render;
use crate::signals::on_stop;
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;
use visakit_exec::Interrupt;
use visakit_launch::{Reason, Stopped};

static INTERRUPT: LazyLock<Interrupt> = LazyLock::new(Interrupt::new);

/// Why it was raised first.
static WHY: OnceLock<String> = OnceLock::new();

/// As shells have it for a program that Ctrl-C ended.
const KILLED: i32 = 130;

/// The flag that stops the run.
pub(super) fn interrupt() -> &'static Interrupt {
    &INTERRUPT
}

fn stop(why: String) {
    let _ = WHY.set(why);
    INTERRUPT.raise();
}

/// Starts to watch for Ctrl-C, and for the end of the allowed time.
pub(super) fn watch(args: &Args) -> Result<(), Failure> {
    let handler = || {
        if INTERRUPT.is_raised() {
            // The first one has had no effect.
            std::process::exit(KILLED);
        }
        stop("stopped by a signal".to_owned());
    };
    on_stop(handler)?;
    if let Some(time) = args.timeout {
        let watch = move || {
            std::thread::sleep(time);
            stop(format!("stopped after {} seconds", time.as_secs_f64()));
        };
        let thread = std::thread::Builder::new().spawn(watch);
        thread.map_err(|error| Failure::Other(error.to_string()))?;
    }
    Ok(())
}

/// Reports that a run was stopped, and how far it got.
pub(super) fn tell(how_far: &str) {
    let why = interrupted();
    render::failure(&format!(
        "{why}: {how_far}; what follows was computed so far"
    ));
}

fn interrupted() -> &'static str {
    WHY.get().map_or("stopped", String::as_str)
}

/// Why a launch did not run to its end, and how far it got.
pub(crate) fn why(stopped: &Stopped) -> String {
    let why = match &stopped.reason {
        Reason::Interrupted => interrupted().to_owned(),
        reason => format!("stopped: {reason}"),
    };
    let Stopped { ended, groups, .. } = stopped;
    format!("{why}; {ended} of {} had ended", count(*groups, "group"))
}

/// Seconds, with a fraction.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}
