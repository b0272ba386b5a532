//! Long work without the interpreter lock, which Ctrl-C and deadlines stop.

use crate::RunError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::time::{Duration, Instant};
use visakit::exec::Interrupt;

/// Does work on a separate thread while this one, which holds no lock, watches for Ctrl-C and the deadline.
///
/// # Errors
/// Why the work was stopped.
pub(crate) fn watched<T: Send>(
    interrupt: &Interrupt,
    timeout: Option<Duration>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let work = scope.spawn(work);
        let begin = Instant::now();
        let mut why = None;
        // Short runs are not kept waiting.
        let mut pause = Duration::from_micros(20);
        while !work.is_finished() {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
            if why.is_some() {
                continue;
            }
            if timeout.is_some_and(|timeout| begin.elapsed() > timeout) {
                why = Some(RunError::new_err("the time is up"));
            } else if pause >= Duration::from_millis(20) {
                why = Python::attach(|py| py.check_signals()).err();
            }
            if why.is_some() {
                interrupt.raise();
            }
        }
        match (work.join(), why) {
            (_, Some(why)) => Err(why),
            (Ok(done), None) => Ok(done),
            (Err(_), None) => Err(PyKeyboardInterrupt::new_err("the run was lost")),
        }
    })
}
