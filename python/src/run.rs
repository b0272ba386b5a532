//! Kernels on arrays.

use crate::RunError;
use crate::argument::Arguments;
use crate::check::RunFinding;
use crate::debug::Debugger;
use crate::grid::{Grid, Sizes};
use crate::object::{Object, Shared};
use crate::profile::Profile;
use crate::trace::{Recorder, Trace};
use crate::variables::Variables;
use crate::watch::watched;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;
use visakit::exec::{Interrupt, Limits, Pass};
use visakit::launch::{
    Compile, Config, Dump, Input, Kernel as Launch, LaunchError, NdRange, Prepared,
    Reading, Source, Tracer, ZeInfo, Zebin, link, texts_of_kernel,
};
use visakit_check::Checks;
use visakit_jit::Jit;
use visakit_profile::{KernelCode, Watched};

pub(crate) fn run_error(error: &LaunchError) -> PyErr {
    RunError::new_err(error.to_string())
}

/// An OpenCL kernel with its compiler's metadata about its arguments.
#[pyclass(frozen, module = "visakit")]
pub(crate) struct Kernel {
    shared: Shared,
    name: String,
    zeinfo: ZeInfo,
    grf_bytes: Option<u32>,
    variables: Variables,
}

/// The result of a run.
#[pyclass(frozen, get_all, module = "visakit")]
pub(crate) struct Outcome {
    instructions: u64,
    lane_operations: u64,
    groups: u64,
    seconds: f64,
    translation_seconds: f64,
    printf: Vec<u8>,
    printed: String,
    findings: Vec<Py<RunFinding>>,
    stopped: Option<String>,
    profile: Option<Py<Profile>>,
    trace: Option<Py<Trace>>,
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

/// The checks that `check=` names: a name, names, or whether all.
fn checks(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Checks>> {
    let Some(value) = value else {
        return Ok(None);
    };
    if let Ok(all) = value.extract::<bool>() {
        return Ok(Checks::NONE.with("all").filter(|_| all));
    }
    let names = match value.extract::<String>() {
        Ok(name) => vec![name],
        Err(_) => value.extract::<Vec<String>>()?,
    };
    let mut checks = Checks::NONE;
    for name in &names {
        checks = checks.with(name).ok_or_else(|| {
            let known = Checks::NAMES.join(", ");
            PyValueError::new_err(format!("`{name}` is no kind of check; there are {known}"))
        })?;
    }
    Ok(Some(checks).filter(|_| !names.is_empty()))
}

#[pymethods]
impl Kernel {
    /// The kernel of an object (the only one without a name); `zeinfo` is the text of the compiler's
    /// metadata, `.ze_info`.
    #[new]
    #[pyo3(signature = (object, zeinfo, name = None, *, grf_bytes = None, variables = None))]
    fn new(
        object: &Object,
        zeinfo: &str,
        name: Option<&str>,
        grf_bytes: Option<u32>,
        variables: Option<Variables>,
    ) -> PyResult<Self> {
        let zeinfo = ZeInfo::parse(zeinfo).map_err(|e| run_error(&e))?;
        Self::of(
            object,
            zeinfo,
            name,
            grf_bytes,
            variables.unwrap_or_default(),
        )
    }

    /// The kernel of a compiled program (zebin), with its metadata and variables. Where it carries no vISA, `object`
    /// has it.
    #[staticmethod]
    #[pyo3(signature = (zebin, name = None, *, object = None))]
    fn from_zebin(
        zebin: &Bound<'_, PyAny>,
        name: Option<&str>,
        object: Option<&Object>,
    ) -> PyResult<Self> {
        let (path, bytes) = crate::source(zebin)?;
        let parsed = Zebin::parse(&bytes).map_err(|e| run_error(&e))?;
        let zeinfo = ZeInfo::parse(&parsed.zeinfo).map_err(|e| run_error(&e))?;
        let variables = Variables::of_parsed(&parsed)?;
        let grf_bytes = parsed.grf_bytes.or_else(|| zeinfo.grf_bytes());
        let made = match object {
            Some(_) => None,
            None => Some(carried(&path, &bytes, name, grf_bytes)?),
        };
        let object = object.or(made.as_ref());
        let object = object.ok_or_else(|| RunError::new_err("the zebin carries no vISA"))?;
        Self::of(object, zeinfo, name, grf_bytes, variables)
    }

    /// The kernel of OpenCL C or SPIR-V, by Intel's offline compiler: a path, bytes, or a string that is the text itself.
    #[staticmethod]
    #[pyo3(signature = (source, name = None, *, device = visakit_compile::DEFAULT_DEVICE, options = "", simd = None))]
    fn from_source(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        name: Option<&str>,
        device: &str,
        options: &str,
        simd: Option<u32>,
    ) -> PyResult<Self> {
        // No name of a file has braces, and no kernel is without.
        let (path, bytes) = match source.extract::<String>() {
            Ok(text) if text.contains('{') => (String::new(), text.into_bytes()),
            _ => crate::source(source)?,
        };
        let path = if path.is_empty() {
            "source.cl".to_owned()
        } else {
            path
        };
        let program = visakit_compile::Program {
            device,
            options,
            simd,
            ..visakit_compile::Program::new(path.as_ref(), &bytes)
        };
        let folder = py.detach(|| visakit_compile::compile(&program));
        let folder = folder.map_err(|error| {
            let help = error
                .help()
                .map_or_else(String::new, |help| format!(" ({help})"));
            RunError::new_err(format!("{error}{help}"))
        })?;
        Self::of_dump(folder.path(), name)
    }

    /// The kernel of a folder that the compiler dumped into.
    #[staticmethod]
    #[pyo3(signature = (folder, name = None))]
    fn from_dump(folder: std::path::PathBuf, name: Option<&str>) -> PyResult<Self> {
        Self::of_dump(&folder, name)
    }

    /// Program-scope variables of the kernel.
    #[getter]
    fn variables(&self) -> Variables {
        self.variables.clone()
    }

    /// Name of the kernel.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Runs the kernel over a grid. Arrays are written in place once it has ended.
    ///
    /// `args` has, for each parameter, an array (anything with a contiguous buffer: the same array twice is one buffer), a
    /// number with a size (`numpy.int32(1)`), `Local(bytes)`, `Image(...)`, `Sampler(...)`, or `None` for a null pointer.
    #[pyo3(signature = (
        global_size, args, *, local_size = None, global_offset = None, max_steps = None, timeout = None,
        strict = false, jit = "auto", check = None, profile = false, trace = None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        global_size: Sizes,
        args: Arguments,
        local_size: Option<Sizes>,
        global_offset: Option<Sizes>,
        max_steps: Option<u64>,
        timeout: Option<f64>,
        strict: bool,
        jit: &str,
        check: Option<&Bound<'_, PyAny>>,
        profile: bool,
        trace: Option<Limit>,
    ) -> PyResult<Outcome> {
        let grid = Grid {
            global: global_size,
            local: local_size,
            offset: global_offset,
        };
        let kernel = self.launch().map_err(|e| run_error(&e))?;
        let range = grid.range(&kernel)?;
        args.check_types(&kernel)?;
        let checks = checks(check)?;
        let trace = trace.and_then(Limit::steps);
        if usize::from(profile) + usize::from(checks.is_some()) + usize::from(trace.is_some()) > 1 {
            let message =
                "a run is checked, profiled or traced: give one of check, profile and trace";
            return Err(PyValueError::new_err(message));
        }
        let compile = match jit {
            "auto" => Jit::shared().map(Compile::when_it_pays),
            "always" => Jit::shared().map(Compile::always),
            "never" => None,
            _ => return Err(PyValueError::new_err("jit is one of auto, always, never")),
        };
        let timeout = match timeout.map(Duration::try_from_secs_f64) {
            Some(Ok(timeout)) => Some(timeout),
            Some(Err(error)) => return Err(PyValueError::new_err(error.to_string())),
            None => None,
        };
        let interrupt = Interrupt::new();
        let mut config = Config {
            interrupt: Some(&interrupt),
            strict,
            compile,
            ..Config::default()
        };
        if let Some(steps) = max_steps {
            config.max_steps = steps;
            config.limits = Limits {
                max_steps: steps,
                ..config.limits
            };
        }
        let work = || {
            if let Some(checks) = checks {
                let config = visakit_check::config(config);
                let launch = self.prepare(&kernel, &range, &args, &config)?;
                let report = visakit_check::check(&kernel, launch, &config, checks, &[])?;
                let stopped = report
                    .end
                    .stopped()
                    .map(|stopped| stopped.reason.to_string());
                return Ok((report.outcome, Watching::Checked(report.findings, stopped)));
            }
            if profile {
                let config = visakit_profile::config(config);
                let launch = self.prepare(&kernel, &range, &args, &config)?;
                let code = KernelCode::new(kernel.object(), launch.program(), None);
                let (of, outcome) =
                    visakit_profile::run(&code, launch, &config, Watched::default())?;
                let mut all = visakit_profile::Profile::default();
                all.add(of);
                return Ok((outcome, Watching::Profiled(all)));
            }
            if let Some(most) = trace {
                let launch = self.prepare(&kernel, &range, &args, &config)?;
                let tracer = Tracer::new(kernel.object(), kernel.grf_bytes, launch.program());
                let mut recorder = Recorder::new(tracer, most);
                let outcome = launch.run_observed(&config, &mut recorder)?;
                return Ok((outcome, Watching::Traced(recorder.into())));
            }
            let config = Config {
                passes: &Pass::ALL,
                ..config
            };
            let launch = self.prepare(&kernel, &range, &args, &config)?;
            Ok((launch.run(&config)?, Watching::Nothing))
        };
        let done = py.detach(|| watched(&interrupt, timeout, work))?;
        let (outcome, watching) = done.map_err(|e: LaunchError| run_error(&e))?;
        // Only a run that came to its end can be clean.
        if let Watching::Checked(findings, Some(why)) = &watching
            && findings.is_empty()
        {
            let message = format!("nothing was found before the run was stopped: {why}");
            return Err(RunError::new_err(message));
        }
        args.write_back(py, &outcome)?;
        let mut result = Outcome {
            instructions: outcome.counters.instructions,
            lane_operations: outcome.counters.lane_operations,
            groups: outcome.groups,
            seconds: outcome.time.as_secs_f64(),
            translation_seconds: outcome.translation.as_secs_f64(),
            printed: String::from_utf8_lossy(&outcome.printed).into_owned(),
            printf: outcome.printf,
            findings: Vec::new(),
            stopped: None,
            profile: None,
            trace: None,
        };
        match watching {
            Watching::Nothing => {}
            Watching::Checked(findings, stopped) => {
                let findings = findings.iter().map(|f| Py::new(py, RunFinding::new(f)));
                result.findings = findings.collect::<PyResult<_>>()?;
                result.stopped = stopped;
            }
            Watching::Profiled(of) => result.profile = Some(Py::new(py, Profile(of))?),
            Watching::Traced(of) => result.trace = Some(Py::new(py, of)?),
        }
        Ok(result)
    }

    /// The kernel on a grid, stopped before its first instruction. Arrays are read and not written.
    #[pyo3(signature = (global_size, args, *, local_size = None, global_offset = None, source = Vec::new()))]
    fn debug(
        &self,
        py: Python<'_>,
        global_size: Sizes,
        args: Arguments,
        local_size: Option<Sizes>,
        global_offset: Option<Sizes>,
        source: Vec<std::path::PathBuf>,
    ) -> PyResult<Debugger> {
        let grid = Grid {
            global: global_size,
            local: local_size,
            offset: global_offset,
        };
        let kernel = self.launch().map_err(|e| run_error(&e))?;
        let range = grid.range(&kernel)?;
        args.check_types(&kernel)?;
        py.detach(|| {
            let launch = self.prepare(&kernel, &range, &args, &Config::default());
            Debugger::new(&kernel, launch.map_err(|e| run_error(&e))?, source)
        })
    }

    fn __repr__(&self) -> String {
        format!("<Kernel {:?}>", self.name)
    }
}

impl Kernel {
    fn of_dump(folder: &std::path::Path, name: Option<&str>) -> PyResult<Self> {
        let dumped = Dump::open(folder).and_then(|dump| dump.kernel(name));
        let dumped = dumped.map_err(|e| run_error(&e))?;
        let metadata = dumped.metadata.as_ref().ok_or_else(|| {
            let kernel = dumped.name.clone();
            run_error(&LaunchError::NoMetadata { kernel })
        })?;
        let variables = match &metadata.zebin {
            Some(zebin) => Variables::of_parsed(zebin)?,
            None => Variables::default(),
        };
        let stated = metadata.zebin.as_ref().and_then(|zebin| zebin.grf_bytes);
        let grf_bytes = stated.or_else(|| metadata.zeinfo.grf_bytes());
        let object = linked(&dumped.sources, grf_bytes)?;
        Self::of(
            &object,
            metadata.zeinfo.clone(),
            Some(&dumped.name),
            grf_bytes,
            variables,
        )
    }

    fn launch(&self) -> Result<Launch<'_>, LaunchError> {
        let mut kernel = Launch::new(&self.shared.object, &self.name, &self.zeinfo)?;
        if let Some(bytes) = self.grf_bytes {
            kernel.grf_bytes = bytes;
        }
        Ok(kernel)
    }

    fn of(
        object: &Object,
        zeinfo: ZeInfo,
        name: Option<&str>,
        grf_bytes: Option<u32>,
        variables: Variables,
    ) -> PyResult<Self> {
        let name = match name {
            Some(name) => name.to_owned(),
            None => {
                let found = visakit::launch::find_kernel(object.isa(), None);
                let (_, routine) = found.map_err(|e| run_error(&e))?;
                routine.display_name().into_owned()
            }
        };
        Launch::new(object.isa(), &name, &zeinfo).map_err(|e| run_error(&e))?;
        Ok(Self {
            shared: object.shared.clone(),
            name,
            zeinfo,
            grf_bytes,
            variables,
        })
    }

    /// The kernel with its memory. Variables keep the values of earlier runs.
    fn prepare(
        &self,
        kernel: &Launch<'_>,
        range: &NdRange,
        arguments: &Arguments,
        config: &Config<'_>,
    ) -> Result<Prepared, LaunchError> {
        let loaded = kernel.load(&self.variables.inner, config)?;
        loaded.launch(range, &arguments.values, None, config)
    }
}

/// Observations of a run besides its results.
enum Watching {
    Nothing,
    /// And why the run did not come to its end.
    Checked(Vec<visakit_check::Finding>, Option<String>),
    Profiled(visakit_profile::Profile),
    Traced(Trace),
}

/// Maximum number of steps kept in a trace: the default, or a number.
#[derive(FromPyObject)]
enum Limit {
    Usual(bool),
    Steps(usize),
}

impl Limit {
    fn steps(self) -> Option<usize> {
        match self {
            Self::Usual(traced) => traced.then_some(Trace::USUAL),
            Self::Steps(steps) => Some(steps),
        }
    }
}

/// The object of the texts that a zebin carries: of all, or of the kernel that is named.
fn carried(
    path: &str,
    bytes: &[u8],
    name: Option<&str>,
    grf_bytes: Option<u32>,
) -> PyResult<Object> {
    let input = Input::of(path.as_ref(), bytes).map_err(|e| run_error(&e))?;
    linked(texts_of_kernel(&input.sources, name), grf_bytes)
}

/// The object that sources make.
fn linked(sources: &[Source], grf_bytes: Option<u32>) -> PyResult<Object> {
    let how = Reading {
        grf_bytes,
        ..Reading::default()
    };
    let linked = link(sources, &how).map_err(|errors| {
        let first = errors.first().map(ToString::to_string);
        RunError::new_err(first.unwrap_or_default())
    })?;
    Ok(Object::made(linked.object.into_owned()))
}
