//! Kernels on arrays.

use crate::RunError;
use crate::object::{Object, Shared};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::time::Duration;
use visakit::exec::{Interrupt, Limits};
use visakit::launch::{Argument, Config, Kernel as Launch, LaunchError, NdRange, ZeInfo};

fn run_error(error: &LaunchError) -> PyErr {
    RunError::new_err(error.to_string())
}

/// An OpenCL kernel with what its compiler says of its arguments.
#[pyclass(frozen, module = "visakit")]
pub(crate) struct Kernel {
    shared: Shared,
    name: String,
    zeinfo: ZeInfo,
    grf_bytes: Option<u32>,
}

/// What a run did.
#[pyclass(frozen, get_all, module = "visakit")]
pub(crate) struct Outcome {
    instructions: u64,
    lane_operations: u64,
    groups: u64,
    seconds: f64,
    translation_seconds: f64,
    printf: Vec<u8>,
}

#[pymethods]
impl Outcome {
    fn __repr__(&self) -> String {
        let Self {
            instructions,
            groups,
            seconds,
            ..
        } = self;
        format!("<Outcome {instructions} instructions, {groups} groups, {seconds:.3} s>")
    }
}

/// An array: its bytes can be looked at and written.
struct Array {
    buffer: PyBuffer<u8>,
    argument: usize,
}

/// What an argument of `run` is for the launch.
fn argument(
    value: &Bound<'_, PyAny>,
    number: usize,
    arrays: &mut Vec<Array>,
) -> PyResult<Argument> {
    let py = value.py();
    if value.is_none() {
        return Ok(Argument::Null);
    }
    if let Ok(local) = value.getattr("local_bytes") {
        return Ok(Argument::Local(local.extract()?));
    }
    // A scalar of numpy has a type and no dimensions.
    let scalar = value
        .getattr("ndim")
        .and_then(|n| n.extract::<usize>())
        .is_ok_and(|n| n == 0);
    if scalar {
        return Ok(Argument::Value(value.call_method0("tobytes")?.extract()?));
    }
    let is_number = value.extract::<f64>().is_ok();
    if is_number {
        let message = format!(
            "argument {number} is a number without a size: give numpy.int32({value}), numpy.float32({value}) or the like"
        );
        return Err(PyTypeError::new_err(message));
    }
    if let Ok(bytes) = value.extract::<Vec<u8>>()
        && value.is_instance_of::<pyo3::types::PyBytes>()
    {
        return Ok(Argument::Value(bytes));
    }
    let view = py
        .import("builtins")?
        .getattr("memoryview")?
        .call1((value,));
    let view = view.map_err(|_| {
        PyTypeError::new_err(format!("argument {number} is no array, number or None"))
    })?;
    let view = view.call_method1("cast", ("B",)).map_err(|_| {
        PyTypeError::new_err(format!(
            "argument {number} is not contiguous: give numpy.ascontiguousarray of it"
        ))
    })?;
    let buffer = PyBuffer::<u8>::get(&view)?;
    // The same array twice is one buffer of the device.
    let same = arrays.iter().find(|a| {
        a.buffer.buf_ptr() == buffer.buf_ptr() && a.buffer.len_bytes() == buffer.len_bytes()
    });
    if let Some(same) = same {
        return Ok(Argument::SameAs(same.argument));
    }
    let content = buffer.to_vec(py)?;
    arrays.push(Array {
        buffer,
        argument: number,
    });
    Ok(Argument::Buffer(content))
}

#[pymethods]
impl Kernel {
    /// The kernel of an object (the only one without a name); `zeinfo` is the text of the compiler's
    /// metadata, `.ze_info`.
    #[new]
    #[pyo3(signature = (object, zeinfo, name = None, *, grf_bytes = None))]
    fn new(
        object: &Object,
        zeinfo: &str,
        name: Option<&str>,
        grf_bytes: Option<u32>,
    ) -> PyResult<Self> {
        let zeinfo = ZeInfo::parse(zeinfo).map_err(|e| run_error(&e))?;
        let name = match name {
            Some(name) => name.to_owned(),
            None => {
                let found = visakit::launch::find_kernel(object.isa(), None);
                found
                    .map_err(|e| run_error(&e))?
                    .1
                    .display_name()
                    .into_owned()
            }
        };
        Launch::new(object.isa(), &name, &zeinfo).map_err(|e| run_error(&e))?;
        Ok(Self {
            shared: object.shared.clone(),
            name,
            zeinfo,
            grf_bytes,
        })
    }

    /// Name of the kernel.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Runs the kernel over a grid. Arrays are written in place once it has ended.
    #[pyo3(signature = (global_size, args, *, local_size = None, global_offset = None, max_steps = None, timeout = None, strict = false))]
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        global_size: &Bound<'_, PyAny>,
        args: Vec<Bound<'_, PyAny>>,
        local_size: Option<&Bound<'_, PyAny>>,
        global_offset: Option<&Bound<'_, PyAny>>,
        max_steps: Option<u64>,
        timeout: Option<f64>,
        strict: bool,
    ) -> PyResult<Outcome> {
        let sizes = |value: &Bound<'_, PyAny>| match value.extract::<u32>() {
            Ok(one) => Ok(vec![one]),
            Err(_) => value.extract::<Vec<u32>>(),
        };
        let global = sizes(global_size)?;
        let local = match local_size {
            Some(local) => sizes(local)?,
            None => NdRange::default_local(&global),
        };
        let offset = global_offset.map(sizes).transpose()?.unwrap_or_default();
        let range = NdRange::new(&global, &local, &offset).map_err(|e| run_error(&e))?;
        let mut arrays = Vec::new();
        let mut arguments = Vec::new();
        for (number, value) in args.iter().enumerate() {
            arguments.push(argument(value, number, &mut arrays)?);
        }
        let deadline = match timeout.map(Duration::try_from_secs_f64) {
            Some(Ok(timeout)) => Some(timeout),
            Some(Err(error)) => return Err(PyValueError::new_err(error.to_string())),
            None => None,
        };
        let (outcome, why) =
            py.detach(|| self.watched(&range, &arguments, max_steps, deadline, strict));
        if let Some(why) = why {
            return Err(why);
        }
        let outcome = outcome.map_err(|e| run_error(&e))?;
        for array in &arrays {
            if let Some(memory) = outcome.memory(array.argument)
                && !array.buffer.readonly()
            {
                array.buffer.copy_from_slice(py, memory)?;
            }
        }
        Ok(Outcome {
            instructions: outcome.counters.instructions,
            lane_operations: outcome.counters.lane_operations,
            groups: outcome.groups,
            seconds: outcome.time.as_secs_f64(),
            translation_seconds: outcome.translation.as_secs_f64(),
            printf: outcome.printf,
        })
    }

    fn __repr__(&self) -> String {
        format!("<Kernel {:?}>", self.name)
    }
}

impl Kernel {
    /// Runs on threads of its own while this one looks for Ctrl-C and the deadline.
    fn watched(
        &self,
        range: &NdRange,
        arguments: &[Argument],
        max_steps: Option<u64>,
        timeout: Option<Duration>,
        strict: bool,
    ) -> (Result<visakit::launch::Outcome, LaunchError>, Option<PyErr>) {
        let interrupt = Interrupt::new();
        let mut config = Config {
            interrupt: Some(&interrupt),
            strict,
            ..Config::default()
        };
        if let Some(steps) = max_steps {
            config.max_steps = steps;
            config.limits = Limits {
                max_steps: steps,
                ..config.limits
            };
        }
        std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                let mut kernel = Launch::new(&self.shared.object, &self.name, &self.zeinfo)?;
                if let Some(bytes) = self.grf_bytes {
                    kernel.grf_bytes = bytes;
                }
                kernel.run(range, arguments, &config)
            });
            let begin = std::time::Instant::now();
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
            match work.join() {
                Ok(outcome) => (outcome, why),
                Err(_) => {
                    let lost = || PyKeyboardInterrupt::new_err("the run was lost");
                    (
                        Ok(visakit::launch::Outcome::default()),
                        Some(why.unwrap_or_else(lost)),
                    )
                }
            }
        })
    }
}
