//! What ends a long command from outside: Ctrl-C, and on Unix the signals that ask a program to end or tell it that its
//! terminal has gone.

use crate::output::Failure;

/// Calls a function, on a thread of its own, whenever the program is asked to stop. A command has one such function.
pub(crate) fn on_stop(handler: impl FnMut() + Send + 'static) -> Result<(), Failure> {
    watch(handler).map_err(|error| Failure::Other(error.to_string()))
}

#[cfg(unix)]
fn watch(mut handler: impl FnMut() + Send + 'static) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || signals.forever().for_each(|_| handler()))?;
    Ok(())
}

#[cfg(not(unix))]
fn watch(handler: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(handler)
}
