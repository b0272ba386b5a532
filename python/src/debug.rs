//! A kernel under control.

use crate::RunError;
use crate::watch::watched;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};
use visakit::exec::Limits;
use visakit::launch::{Kernel, Prepared};
use visakit_debug::{
    Console, DebugError, Expression, Listing, MemorySpace, Number, Place, PointKind, Session,
    Sources, Step, Stop, Target, VariableView,
};

/// A kernel on its grid, stopped until it is told to continue.
#[pyclass(frozen, module = "visakit")]
pub(crate) struct Debugger(Mutex<Console>);

/// The position of a run: name of the routine, number and text of the instruction, source file and line.
type Standing = (String, usize, String, Option<String>, Option<u32>);

fn failed(error: &DebugError) -> PyErr {
    RunError::new_err(error.to_string())
}

fn how(step: &str) -> PyResult<Step> {
    Ok(match step {
        "instruction" => Step::Instruction,
        "over-instruction" => Step::OverInstruction,
        "line" => Step::Line,
        "over-line" => Step::OverLine,
        "out" => Step::Out,
        "group" => Step::Group,
        _ => {
            let known =
                "a step is one of instruction, over-instruction, line, over-line, out, group";
            return Err(PyValueError::new_err(known));
        }
    })
}

/// A number of the program as one of Python.
fn number(py: Python<'_>, number: Number) -> PyResult<Py<PyAny>> {
    Ok(match number {
        Number::Int(n) => n.into_pyobject(py)?.into_any().unbind(),
        Number::Float(f) => f.into_pyobject(py)?.into_any().unbind(),
    })
}

/// An element as libraries show it.
pub(crate) fn element(py: Python<'_>, text: &str) -> PyResult<Py<PyAny>> {
    match text.parse() {
        Ok(n) => number(py, Number::Int(n)),
        Err(_) => number(py, Number::Float(text.parse().unwrap_or(f64::NAN))),
    }
}

fn elements(py: Python<'_>, variable: &VariableView) -> PyResult<Vec<Py<PyAny>>> {
    let elements = variable.elements();
    elements.iter().map(|text| element(py, text)).collect()
}

impl Debugger {
    pub(crate) fn new(kernel: &Kernel<'_>, launch: Prepared, source: Vec<PathBuf>) -> PyResult<Self> {
        let code = launch.program().code();
        let listing = Listing::new(kernel.object(), code, kernel.grf_bytes);
        let target = Target::kernel(launch, Limits::default());
        let session = Session::new(target, listing).map_err(|e| failed(&e))?;
        Ok(Self(Mutex::new(Console::new(
            session,
            Sources::new(source),
        ))))
    }

    /// Never waits for another thread's run: waiting would hold the interpreter, which that run needs to see Ctrl-C.
    fn lock(&self) -> PyResult<MutexGuard<'_, Console>> {
        match self.0.try_lock() {
            Ok(console) => Ok(console),
            Err(TryLockError::Poisoned(console)) => Ok(console.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(RunError::new_err("the debugger runs in another thread"))
            }
        }
    }

    /// Runs an action that may take long; Ctrl-C stops it.
    fn moved<T: Send>(
        &self,
        py: Python<'_>,
        go: impl FnOnce(&mut Console) -> Result<T, DebugError> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut guard = self.lock()?;
            let console: &mut Console = &mut guard;
            let interrupt = console.session.interrupt().clone();
            let done = watched(&interrupt, None, || go(console));
            interrupt.lower();
            done?.map_err(|e| failed(&e))
        })
    }

    fn standing(session: &Session, place: Place) -> Option<Standing> {
        let listing = session.listing();
        let routine = listing.routines.get(place.routine)?;
        let source = session.source(place);
        let file = source.and_then(|s| listing.files.get(s.file)).cloned();
        let text = listing.row(place).map(|row| row.text.clone());
        let line = source.map(|s| s.line);
        Some((
            routine.name.clone(),
            place.instruction,
            text.unwrap_or_default(),
            file,
            line,
        ))
    }
}

#[pymethods]
impl Debugger {
    /// Runs a command of `visakit debug`; returns its output.
    fn execute(&self, py: Python<'_>, command: &str) -> PyResult<String> {
        self.moved(py, |console| console.run(command).map(|reply| reply.text))
    }

    /// Stops at a place: an instruction's number, a label, a routine, `FILE:LINE`; the number of the breakpoint.
    #[pyo3(signature = (place, condition = None))]
    fn break_at(&self, place: &str, condition: Option<&str>) -> PyResult<u32> {
        let mut console = self.lock()?;
        let places = console.session.places(place).map_err(|e| failed(&e))?;
        let condition = condition.map(Expression::parse).transpose();
        let condition = condition.map_err(|e| failed(&e))?;
        Ok(console
            .session
            .add(PointKind::Code(places), condition, place))
    }

    /// Removes a breakpoint.
    fn remove(&self, point: u32) -> PyResult<()> {
        self.lock()?.session.remove(point).map_err(|e| failed(&e))
    }

    /// Continues until something stops the run.
    fn go_on(&self, py: Python<'_>) -> PyResult<String> {
        self.moved(py, |console| console.session.go_on().map(drop))?;
        self.stop()
    }

    /// Goes back to what would have stopped the run.
    fn go_back(&self, py: Python<'_>) -> PyResult<String> {
        self.moved(py, |console| console.session.go_back().map(drop))?;
        self.stop()
    }

    /// Makes a step.
    #[pyo3(signature = (by = "instruction", count = 1))]
    fn step(&self, py: Python<'_>, by: &str, count: u32) -> PyResult<String> {
        let by = how(by)?;
        self.moved(py, |console| {
            for _ in 0..count {
                if !matches!(console.session.step(by)?, Stop::Step) {
                    break;
                }
            }
            Ok(())
        })?;
        self.stop()
    }

    /// Goes a step back.
    #[pyo3(signature = (by = "instruction", count = 1))]
    fn step_back(&self, py: Python<'_>, by: &str, count: u32) -> PyResult<String> {
        let by = how(by)?;
        self.moved(py, |console| {
            for _ in 0..count {
                if !matches!(console.session.step_back(by)?, Stop::Step) {
                    break;
                }
            }
            Ok(())
        })?;
        self.stop()
    }

    /// Selects another thread of the group, and one of its lanes.
    #[pyo3(signature = (thread, lane = 0))]
    fn look_at(&self, thread: usize, lane: u32) -> PyResult<()> {
        self.lock()?
            .session
            .look_at(thread, lane)
            .map_err(|e| failed(&e))
    }

    /// Why the run is stopped.
    #[getter]
    fn stop(&self) -> PyResult<String> {
        Ok(self.lock()?.stop_text())
    }

    /// Whether all groups have ended.
    #[getter]
    fn ended(&self) -> PyResult<bool> {
        Ok(self.lock()?.session.is_ended())
    }

    /// The group that runs, and the steps that it has made.
    #[getter]
    fn time(&self) -> PyResult<(u64, u64)> {
        let time = self.lock()?.session.time();
        Ok((time.group, time.step))
    }

    /// The selected thread and lane.
    #[getter]
    fn focus(&self) -> PyResult<(usize, u32)> {
        Ok(self.lock()?.session.focus())
    }

    /// Name of the routine, number and text of the instruction, source file and line.
    #[getter]
    fn place(&self) -> PyResult<Option<Standing>> {
        let console = self.lock()?;
        let session = &console.session;
        Ok(session
            .place()
            .and_then(|place| Self::standing(session, place)))
    }

    /// The lanes that run the next instruction, and those that it works on, as bits.
    #[getter]
    fn lanes(&self) -> PyResult<Option<(u32, u32)>> {
        let console = self.lock()?;
        let (thread, _) = console.session.focus();
        let position = console.session.position(thread);
        Ok(position.map(|(_, position)| (position.running, position.enabled)))
    }

    /// The calls of the selected thread, the innermost first.
    fn backtrace(&self) -> PyResult<Vec<Standing>> {
        let console = self.lock()?;
        let session = &console.session;
        let places = session.backtrace(session.focus().0).into_iter();
        Ok(places
            .filter_map(|place| Self::standing(session, place))
            .collect())
    }

    /// The threads of the group: number, state, running lanes, and position.
    #[allow(clippy::type_complexity)] // a table's row
    fn threads(&self) -> PyResult<Vec<(usize, String, u32, Option<Standing>)>> {
        let console = self.lock()?;
        let session = &console.session;
        let threads = session.threads().into_iter();
        let told = threads.map(|t| {
            let place = t.place.and_then(|place| Self::standing(session, place));
            (
                t.thread,
                visakit_debug::state_name(t.state),
                t.running,
                place,
            )
        });
        Ok(told.collect())
    }

    /// The elements of a variable of the routine; of a predicate, 0 or 1 for each lane.
    fn variable(&self, py: Python<'_>, name: &str) -> PyResult<Vec<Py<PyAny>>> {
        let found = self.lock()?.session.variable(name);
        match found {
            Some(variable) => elements(py, &variable),
            None => Err(RunError::new_err(format!("no variable `{name}` here"))),
        }
    }

    /// The variables of the routine by name.
    fn variables(&self, py: Python<'_>) -> PyResult<Vec<(String, Vec<Py<PyAny>>)>> {
        let found = self.lock()?.session.variables();
        let told = found.iter().map(|v| Ok((v.name.clone(), elements(py, v)?)));
        told.collect()
    }

    /// The value of an expression for the selected lane.
    fn evaluate(&self, py: Python<'_>, expression: &str) -> PyResult<Py<PyAny>> {
        let console = self.lock()?;
        let value = Expression::parse(expression).and_then(|e| console.session.evaluate(&e));
        number(py, value.map_err(|e| failed(&e))?)
    }

    /// Changes a variable or memory.
    fn set(&self, what: &str, value: &str) -> PyResult<()> {
        let mut console = self.lock()?;
        let mut set = || {
            let (what, value) = (Expression::parse(what)?, Expression::parse(value)?);
            console.session.set(&what, &value)
        };
        set().map_err(|e: DebugError| failed(&e))
    }

    /// The content of the buffer that an argument is.
    fn buffer(&self, argument: usize) -> PyResult<Vec<u8>> {
        let console = self.lock()?;
        let session = &console.session;
        let buffers = session.target().buffers();
        let found = buffers.iter().find(|b| b.argument == Some(argument));
        match found {
            Some(view) => Ok(session.read(MemorySpace::Buffer(view.buffer), 0, view.bytes)),
            None => Err(PyIndexError::new_err(format!(
                "argument {argument} is no buffer"
            ))),
        }
    }

    fn __repr__(&self) -> String {
        let stop = self.stop();
        format!("<Debugger: {}>", stop.unwrap_or_else(|_| "runs".to_owned()))
    }
}
