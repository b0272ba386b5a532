//! Kernels on arrays.

use crate::RunError;
use crate::argument::Arguments;
use crate::check::RunFinding;
use crate::debug::Debugger;
use crate::object::{Object, Shared};
use crate::profile::Profile;
use crate::watch::watched;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use visakit::exec::{Compiler, Interrupt, Limits};
use visakit::launch::{Compile, Config, Kernel as Launch, LaunchError, NdRange, ZeInfo};
use visakit_check::Checks;
use visakit_profile::{KernelCode, Watched};

pub(crate) fn run_error(error: &LaunchError) -> PyErr {
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
    findings: Vec<Py<RunFinding>>,
    profile: Option<Py<Profile>>,
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

/// Machine code for this processor, if there can be any.
fn compiler() -> Option<&'static Arc<dyn Compiler>> {
    static JIT: OnceLock<Option<Arc<dyn Compiler>>> = OnceLock::new();
    let host = || Some(Arc::new(visakit_jit::Jit::host()?) as Arc<dyn Compiler>);
    JIT.get_or_init(host).as_ref()
}

/// One to three sizes.
fn sizes(value: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    value
        .extract::<u32>()
        .map_or_else(|_| value.extract(), |one| Ok(vec![one]))
}

fn grid(
    global: &Bound<'_, PyAny>,
    local: Option<&Bound<'_, PyAny>>,
    offset: Option<&Bound<'_, PyAny>>,
) -> PyResult<NdRange> {
    let global = sizes(global)?;
    let local = match local {
        Some(local) => sizes(local)?,
        None => NdRange::default_local(&global),
    };
    let offset = offset.map(sizes).transpose()?.unwrap_or_default();
    NdRange::new(&global, &local, &offset).map_err(|e| run_error(&e))
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
    #[pyo3(signature = (
        global_size, args, *, local_size = None, global_offset = None, max_steps = None, timeout = None,
        strict = false, jit = "auto", check = None, profile = false
    ))]
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
        jit: &str,
        check: Option<&Bound<'_, PyAny>>,
        profile: bool,
    ) -> PyResult<Outcome> {
        let range = grid(global_size, local_size, global_offset)?;
        let arguments = Arguments::new(&args)?;
        let checks = checks(check)?;
        if profile && checks.is_some() {
            let message = "a run is checked or profiled: give one of check and profile";
            return Err(PyValueError::new_err(message));
        }
        let compile = match jit {
            "auto" => compiler().map(Compile::when_it_pays),
            "always" => compiler().map(|compiler| Compile { compiler, after: 0 }),
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
            let kernel = self.launch()?;
            if let Some(checks) = checks {
                let config = visakit_check::config(config);
                let launch = kernel.prepare(&range, &arguments.values, &config)?;
                let report = visakit_check::check(&kernel, launch, &config, checks, &[])?;
                return Ok((report.outcome, report.findings, None));
            }
            if profile {
                let config = visakit_profile::config(config);
                let launch = kernel.prepare(&range, &arguments.values, &config)?;
                let code = KernelCode::new(kernel.object(), launch.program(), None);
                let (of, outcome) =
                    visakit_profile::run(&code, launch, &config, Watched::default())?;
                return Ok((outcome, Vec::new(), Some(of)));
            }
            let outcome = kernel.run(&range, &arguments.values, &config)?;
            Ok((outcome, Vec::new(), None))
        };
        let done = py.detach(|| watched(&interrupt, timeout, work))?;
        let (outcome, findings, profile) = done.map_err(|e| run_error(&e))?;
        let profile = profile.map(|of| {
            let mut all = visakit_profile::Profile::default();
            all.add(of);
            Py::new(py, Profile(all))
        });
        arguments.write_back(py, &outcome)?;
        let findings = findings.iter().map(|f| Py::new(py, RunFinding::new(f)));
        Ok(Outcome {
            instructions: outcome.counters.instructions,
            lane_operations: outcome.counters.lane_operations,
            groups: outcome.groups,
            seconds: outcome.time.as_secs_f64(),
            translation_seconds: outcome.translation.as_secs_f64(),
            printf: outcome.printf,
            findings: findings.collect::<PyResult<_>>()?,
            profile: profile.transpose()?,
        })
    }

    /// The kernel on a grid, stopped before its first instruction. Arrays are read and not written.
    #[pyo3(signature = (global_size, args, *, local_size = None, global_offset = None, source = Vec::new()))]
    fn debug(
        &self,
        py: Python<'_>,
        global_size: &Bound<'_, PyAny>,
        args: Vec<Bound<'_, PyAny>>,
        local_size: Option<&Bound<'_, PyAny>>,
        global_offset: Option<&Bound<'_, PyAny>>,
        source: Vec<std::path::PathBuf>,
    ) -> PyResult<Debugger> {
        let range = grid(global_size, local_size, global_offset)?;
        let arguments = Arguments::new(&args)?;
        py.detach(|| {
            let kernel = self.launch().map_err(|e| run_error(&e))?;
            let config = Config::default();
            let launch = kernel.prepare(&range, &arguments.values, &config);
            Debugger::new(&kernel, launch.map_err(|e| run_error(&e))?, source)
        })
    }

    fn __repr__(&self) -> String {
        format!("<Kernel {:?}>", self.name)
    }
}

impl Kernel {
    fn launch(&self) -> Result<Launch<'_>, LaunchError> {
        let mut kernel = Launch::new(&self.shared.object, &self.name, &self.zeinfo)?;
        if let Some(bytes) = self.grf_bytes {
            kernel.grf_bytes = bytes;
        }
        Ok(kernel)
    }
}
