//! Traces of executed instructions.

use crate::debug::element;
use crate::routine::place;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use std::ops::Range;
use visakit::exec::{InstructionEvent, Observer};
use visakit::isa::DataType;
use visakit::isa::object::RoutineId;
use visakit::launch::{Tracer, value};

/// A step as it is kept.
struct Kept {
    group: [u32; 3],
    thread: usize,
    routine: RoutineId,
    instruction: usize,
    mask: u32,
    /// What was written: its type, its lanes, and the place of the bytes of those that were enabled.
    written: Option<(DataType, usize, Range<usize>)>,
}

/// The instructions that a run went through, group after group and thread after thread.
#[pyclass(frozen, module = "visakit")]
pub(crate) struct Trace {
    tracer: Tracer,
    steps: Vec<Kept>,
    bytes: Vec<u8>,
    missed: u64,
}

/// One instruction that ran.
#[pyclass(frozen, get_all, module = "visakit")]
pub(crate) struct TraceStep {
    group: (u32, u32, u32),
    thread: usize,
    routine: (&'static str, usize),
    instruction: usize,
    mask: u32,
    text: String,
    values: Option<Vec<Option<Py<PyAny>>>>,
}

/// Keeps steps while a kernel runs.
pub(crate) struct Recorder {
    trace: Trace,
    most: usize,
    group: [u32; 3],
}

impl Recorder {
    pub(crate) fn new(tracer: Tracer, most: usize) -> Self {
        Self {
            trace: Trace {
                tracer,
                steps: Vec::new(),
                bytes: Vec::new(),
                missed: 0,
            },
            most,
            group: [0; 3],
        }
    }
}

impl From<Recorder> for Trace {
    fn from(recorder: Recorder) -> Self {
        recorder.trace
    }
}

impl Observer for Recorder {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = false;

    fn after(&mut self, event: &InstructionEvent<'_>) {
        let Trace {
            tracer,
            steps,
            bytes,
            missed,
        } = &mut self.trace;
        if steps.len() >= self.most {
            *missed += 1;
            return;
        }
        let written = tracer.written(event).map(|(ty, lanes)| {
            let start = bytes.len();
            for lane in lanes.iter().flatten() {
                bytes.extend_from_slice(lane);
            }
            (ty, lanes.len(), start..bytes.len())
        });
        steps.push(Kept {
            group: self.group,
            thread: event.thread,
            routine: event.routine,
            instruction: event.instruction,
            mask: event.mask,
            written,
        });
    }

    fn group(&mut self, place: [u32; 3], _: [u32; 3]) {
        self.group = place;
    }

    fn turn(&mut self, place: [u32; 3]) {
        self.group = place;
    }
}

impl Trace {
    /// Default for the maximum number of steps kept.
    pub(crate) const USUAL: usize = 1_000_000;

    fn step(&self, py: Python<'_>, kept: &Kept) -> PyResult<TraceStep> {
        let values = kept.written.as_ref().map(|(ty, lanes, place)| {
            let bytes = self.bytes.get(place.clone()).unwrap_or_default();
            let mut elements = value::show(bytes, *ty);
            let lane = |lane: usize| {
                let enabled = kept.mask >> lane & 1 != 0;
                let element_of = |text: String| element(py, &text);
                enabled
                    .then(|| elements.next().map(element_of))
                    .flatten()
                    .transpose()
            };
            (0..*lanes).map(lane).collect()
        });
        Ok(TraceStep {
            group: kept.group.into(),
            thread: kept.thread,
            routine: (kept.routine.kind.name(), kept.routine.index),
            instruction: kept.instruction,
            mask: kept.mask,
            text: self.tracer.line(kept.routine, kept.instruction).to_owned(),
            values: values.transpose()?,
        })
    }
}

#[pymethods]
impl Trace {
    /// Steps that ran after as many were kept as were asked for.
    #[getter]
    fn missed(&self) -> u64 {
        self.missed
    }

    fn __len__(&self) -> usize {
        self.steps.len()
    }

    /// A step by its number; a loop over the trace ends with the error.
    fn __getitem__(&self, py: Python<'_>, index: isize) -> PyResult<TraceStep> {
        let kept = place(index, self.steps.len()).and_then(|index| self.steps.get(index));
        let kept = kept.ok_or_else(|| PyIndexError::new_err("no such step"))?;
        self.step(py, kept)
    }

    fn __repr__(&self) -> String {
        format!("<Trace {} steps, {} more>", self.steps.len(), self.missed)
    }
}

#[pymethods]
impl TraceStep {
    fn __repr__(&self) -> String {
        let Self {
            thread,
            instruction,
            mask,
            text,
            ..
        } = self;
        format!("<TraceStep thread {thread}, instruction {instruction}, mask {mask:#x}: {text}>")
    }
}
