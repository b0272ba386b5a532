//! Program-scope variables.

use crate::object::bytes_of;
use crate::run::run_error;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::sync::Arc;
use visakit::launch::{self, AddressPart, DataRelocation, DataSection, DataSymbol, Zebin};

/// The program-scope variables of a program with their contents: runs of its kernels see the values left by earlier
/// ones.
#[pyclass(frozen, module = "visakit", from_py_object)]
#[derive(Clone, Default)]
pub(crate) struct Variables {
    pub(crate) inner: Arc<launch::Variables>,
    names: Arc<[String]>,
}

impl Variables {
    fn of(data: &[DataSection], symbols: &[DataSymbol]) -> PyResult<Self> {
        let inner = launch::Variables::new(data, symbols).map_err(|e| run_error(&e))?;
        Ok(Self {
            inner: Arc::new(inner),
            names: symbols.iter().map(|symbol| symbol.name.clone()).collect(),
        })
    }

    pub(crate) fn of_parsed(zebin: &Zebin) -> PyResult<Self> {
        Self::of(&zebin.data, &zebin.symbols)
    }
}

/// A place that receives an address: section, offset, symbol, and addend.
type Relocation = (String, u64, String, i64);

#[pymethods]
impl Variables {
    /// Sections with their first contents, the places of variables in them, and where they hold addresses of variables.
    #[new]
    #[pyo3(signature = (sections, symbols = BTreeMap::new(), relocations = Vec::new()))]
    fn new(
        sections: &Bound<'_, PyDict>,
        symbols: BTreeMap<String, (String, u64)>,
        relocations: Vec<Relocation>,
    ) -> PyResult<Self> {
        let mut data = Vec::new();
        for (name, content) in sections.iter() {
            let name: String = name.extract()?;
            let of_section = relocations.iter().filter(|r| r.0 == name);
            data.push(DataSection {
                address: None,
                relocations: of_section
                    .map(|(_, offset, symbol, addend)| DataRelocation {
                        offset: *offset,
                        symbol: symbol.clone(),
                        addend: *addend,
                        part: AddressPart::Whole,
                    })
                    .collect(),
                bytes: bytes_of(&content)?,
                name,
            });
        }
        let symbols = symbols.into_iter();
        let symbols: Vec<_> = symbols
            .map(|(name, (section, offset))| DataSymbol {
                name,
                section,
                offset,
                bytes: 0,
            })
            .collect();
        Self::of(&data, &symbols)
    }

    /// The variables of a compiled program (zebin).
    #[staticmethod]
    fn from_zebin(zebin: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (_, bytes) = crate::source(zebin)?;
        Self::of_parsed(&Zebin::parse(&bytes).map_err(|e| run_error(&e))?)
    }

    /// Names of the variables.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.to_vec()
    }

    /// The sections with their current content.
    #[getter]
    fn sections<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sections = PyDict::new(py);
        for (name, storage, _) in self.inner.sections() {
            sections.set_item(name, PyBytes::new(py, &storage.read()))?;
        }
        Ok(sections)
    }

    /// The bytes of a variable, and those after it in its section: its end is not recorded.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.of_name(name);
        let bytes = bytes.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __len__(&self) -> usize {
        self.names.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Variables {} bytes: {}>",
            self.inner.bytes(),
            self.names.join(", ")
        )
    }
}
