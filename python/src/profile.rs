//! Where the time of a run goes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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

    /// A page that opens alone. Source files are read as they are named.
    #[pyo3(signature = (title = "visakit"))]
    fn html(&self, title: &str) -> String {
        let source = |file: &str| std::fs::read_to_string(file).ok();
        visakit_profile::html::page(&self.0, title, source)
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
