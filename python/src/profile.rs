//! Where the time of a run goes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use visakit_debug::Sources;

/// What ran how often, with which lanes, what messages accessed, and the simulated time from a cost model.
#[pyclass(frozen, module = "visakit")]
pub(crate) struct Profile(pub(crate) visakit_profile::Profile);

#[pymethods]
impl Profile {
    /// Simulated time on the device, in nanoseconds.
    #[getter]
    fn nanoseconds(&self) -> f64 {
        self.0.nanoseconds()
    }

    /// The profile as JSON, which `visakit profile diff` compares.
    fn json(&self) -> PyResult<String> {
        let kernels = serde_json::to_string(&self.0.kernels);
        let kernels = kernels.map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(format!(
            "{{\"schema\":1,\"command\":\"profile\",\"problems\":[],\"kernels\":{kernels}}}"
        ))
    }

    /// The kernels as in the JSON document.
    #[getter]
    fn kernels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let document = py.import("json")?.call_method1("loads", (self.json()?,))?;
        document.get_item("kernels")
    }

    /// A page that opens alone. Source files are searched for below the folders of `source`.
    #[pyo3(signature = (title = "visakit", *, source = Vec::new()))]
    fn html(&self, title: &str, source: Vec<PathBuf>) -> String {
        let mut sources = Sources::new(source);
        let text = |file: &str| Some(sources.lines(file)?.join("\n"));
        visakit_profile::html::page(&self.0, title, text)
    }

    /// Folded stacks, a line each, for flame graphs.
    fn folded(&self) -> String {
        visakit_profile::folded(&self.0)
    }

    fn __repr__(&self) -> String {
        let names: Vec<_> = self.0.kernels.iter().map(|k| k.kernel.as_str()).collect();
        let time = self.0.nanoseconds() / 1000.0;
        format!(
            "<Profile {}: {time:.1} µs of simulated time>",
            names.join(", ")
        )
    }
}
