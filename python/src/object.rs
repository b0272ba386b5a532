//! Objects.

use crate::argument::{bytes_in, memory_view};
use crate::routine::{Routine, place};
use crate::{ReadError, WriteError};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use visakit::isa::object::{Object as Isa, RoutineId, RoutineKind};
use visakit::isa::{Dialect, Version};
use visakit::parse::{Container, ReadOptions, read_with};
use visakit::rewrite::graph::{CallGraph, Theme, dot, svg};
use visakit::text::{Form, Options, Printer, Utf8};

/// The bytes that an object was read from.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    /// Offsets of the instructions of each routine.
    offsets: OnceLock<Vec<(RoutineId, Vec<u64>)>>,
}

/// A state of an object; a change copies it if somebody else still uses it.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) object: Arc<Isa<'static>>,
    pub(crate) file: Option<Arc<File>>,
}

impl Shared {
    pub(crate) fn offset(&self, id: RoutineId, index: usize) -> Option<u64> {
        let file = self.file.as_ref()?;
        let all = file.offsets.get_or_init(|| {
            let Ok(container) = Container::parse(&file.bytes) else {
                return Vec::new();
            };
            let dialect = self.object.dialect;
            let of = |id| {
                let reader = container.routine(id).ok()?.with_dialect(dialect);
                let offsets = reader
                    .instructions()
                    .map_while(Result::ok)
                    .map(|i| i.offset());
                Some((id, offsets.collect()))
            };
            self.object
                .routines()
                .filter_map(|(id, _)| of(id))
                .collect()
        });
        all.iter()
            .find(|(known, _)| *known == id)?
            .1
            .get(index)
            .copied()
    }
}

/// A vISA object.
#[pyclass(module = "visakit", from_py_object)]
#[derive(Clone)]
pub(crate) struct Object {
    pub(crate) shared: Shared,
}

/// Bytes of whatever has them.
pub(crate) fn bytes_of(data: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let view = bytes_in(&memory_view(data)?)?;
    PyBuffer::<u8>::get(&view)?.to_vec(data.py())
}

impl Object {
    pub(crate) fn of(shared: Shared) -> Self {
        Self { shared }
    }

    pub(crate) fn made(object: Isa<'static>) -> Self {
        let object = Arc::new(object);
        Self::of(Shared { object, file: None })
    }

    pub(crate) fn isa(&self) -> &Isa<'static> {
        &self.shared.object
    }

    /// The object, for changing: the knowledge about its file is dropped.
    pub(crate) fn change(&mut self) -> &mut Isa<'static> {
        self.shared.file = None;
        Arc::make_mut(&mut self.shared.object)
    }

    /// The bytes of the object: of the file, where it was not changed.
    pub(crate) fn bytes(&self) -> PyResult<Vec<u8>> {
        match &self.shared.file {
            Some(file) => Ok(file.bytes.clone()),
            None => visakit::write(self.isa()).map_err(|e| WriteError::new_err(e.to_string())),
        }
    }

    pub(crate) fn from_bytes(
        path: String,
        bytes: Vec<u8>,
        lenient: bool,
        dialect: Option<&str>,
    ) -> PyResult<(Self, Vec<String>)> {
        let dialect = dialect.map(parse_dialect).transpose()?;
        let decoded = read_with(&bytes, ReadOptions { lenient, dialect });
        let decoded = decoded.map_err(|e| ReadError::new_err((e.to_string(), e.offset())))?;
        let faults = decoded.errors.iter().map(ToString::to_string).collect();
        let object = Arc::new(decoded.object.into_owned());
        let offsets = OnceLock::new();
        let file = Some(Arc::new(File {
            path,
            bytes,
            offsets,
        }));
        Ok((Self::of(Shared { object, file }), faults))
    }
}

pub(crate) fn parse_dialect(name: &str) -> PyResult<Dialect> {
    Dialect::from_name(name).ok_or_else(|| {
        let names = Dialect::ALL.map(Dialect::name).join(", ");
        PyValueError::new_err(format!("no dialect is called `{name}`; there are {names}"))
    })
}

pub(crate) fn parse_version(text: &str) -> PyResult<Version> {
    let parsed = text
        .split_once('.')
        .and_then(|(a, b)| Some(Version::new(a.parse().ok()?, b.parse().ok()?)));
    let known = parsed.filter(|version| version.is_supported() || *version == Version::V4_2);
    known.ok_or_else(|| {
        let names = Version::SUPPORTED.map(|v| v.to_string()).join(", ");
        PyValueError::new_err(format!("no version is called `{text}`; there are {names}"))
    })
}

pub(crate) fn print(object: &Isa<'_>, id: Option<RoutineId>, form: &str) -> PyResult<String> {
    let form = match form {
        "plain" => Form::Plain,
        "exact" => Form::Exact,
        "intel" => Form::Intel,
        _ => return Err(PyValueError::new_err("form is one of plain, exact, intel")),
    };
    let printer = Printer::new(
        object,
        Options {
            form,
            grf_bytes: None,
        },
    );
    let mut text = Utf8(String::new());
    let done = match id {
        Some(id) => printer.routine(id, &mut text),
        None => printer.object(&mut text),
    };
    done.map_err(|e| WriteError::new_err(e.to_string()))?;
    Ok(text.0)
}

#[pymethods]
impl Object {
    /// Version of the layout, such as `3.6`.
    #[getter]
    fn version(&self) -> String {
        self.isa().version.to_string()
    }

    /// Dialect of the layout.
    #[getter]
    fn dialect(&self) -> &'static str {
        self.isa().dialect.name()
    }

    /// The path it was read from; `None` if it was created or changed.
    #[getter]
    fn path(&self) -> Option<&str> {
        self.shared.file.as_ref().map(|file| file.path.as_str())
    }

    /// Routines that the host starts.
    #[getter]
    fn kernels(slf: &Bound<'_, Self>) -> Vec<Routine> {
        all(slf)
            .into_iter()
            .filter(|r| r.id.kind == RoutineKind::Kernel)
            .collect()
    }

    /// Routines that kernels and functions call.
    #[getter]
    fn functions(slf: &Bound<'_, Self>) -> Vec<Routine> {
        all(slf)
            .into_iter()
            .filter(|r| r.id.kind == RoutineKind::Function)
            .collect()
    }

    /// Kernels, then functions.
    #[getter]
    fn routines(slf: &Bound<'_, Self>) -> Vec<Routine> {
        all(slf)
    }

    fn __len__(&self) -> usize {
        self.isa().kernels.len() + self.isa().functions.len()
    }

    /// A routine by its number or name. Negative numbers count from the end.
    fn __getitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<Routine> {
        let routines = all(slf);
        let found = if let Ok(number) = key.extract::<isize>() {
            let number = place(number, routines.len());
            number.and_then(|number| routines.into_iter().nth(number))
        } else if let Ok(name) = key.extract::<String>() {
            let object = slf.borrow();
            routines.into_iter().find(|r| {
                object
                    .isa()
                    .routine(r.id)
                    .is_some_and(|routine| routine.display_name() == name)
            })
        } else {
            return Err(PyTypeError::new_err("a routine is named by number or name"));
        };
        found.ok_or_else(|| match key.extract::<String>() {
            Ok(name) => {
                let object = slf.borrow();
                let known = object
                    .isa()
                    .routines()
                    .map(|(_, r)| r.display_name().into_owned());
                let known = known.collect::<Vec<_>>().join(", ");
                PyKeyError::new_err(format!("no routine is called {name:?}; there are {known}"))
            }
            Err(_) => PyIndexError::new_err(format!("no routine {key}")),
        })
    }

    /// The object as stored in a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes()?))
    }

    /// Writes the object into a file.
    fn write(&self, path: PathBuf) -> PyResult<()> {
        Ok(visakit_files::write(&path, self.bytes()?)?)
    }

    /// The text: `plain`, `exact` (assembles into the same bytes) or `intel`.
    #[pyo3(signature = (form = "plain"))]
    fn dis(&self, form: &str) -> PyResult<String> {
        print(self.isa(), None, form)
    }

    /// The call graph: `svg` or `dot`.
    #[pyo3(signature = (form = "svg"))]
    fn callgraph(&self, form: &str) -> PyResult<String> {
        let object = self.isa();
        picture(form, CallGraph::of(object).picture(object))
    }

    fn __repr__(&self) -> String {
        let object = self.isa();
        let (kernels, functions) = (object.kernels.len(), object.functions.len());
        format!(
            "<Object vISA {}, {kernels} kernels, {functions} functions>",
            object.version
        )
    }

    fn __str__(&self) -> PyResult<String> {
        self.dis("plain")
    }

    fn _repr_html_(&self) -> PyResult<String> {
        Ok(crate::html::code(&self.dis("plain")?))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.isa() == other.isa()
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    #[allow(clippy::type_complexity)] // a function and its arguments
    fn __reduce__(
        &self,
        py: Python<'_>,
    ) -> PyResult<(Py<PyAny>, (Py<PyAny>, Option<String>, &'static str))> {
        let function = py
            .import("visakit._visakit")?
            .getattr("_unpickle")?
            .unbind();
        let bytes = PyBytes::new(py, &self.bytes()?).into_any().unbind();
        Ok((
            function,
            (bytes, self.path().map(str::to_owned), self.dialect()),
        ))
    }
}

fn all(object: &Bound<'_, Object>) -> Vec<Routine> {
    let ids: Vec<_> = object.borrow().isa().routines().map(|(id, _)| id).collect();
    let make = |id| Routine {
        object: object.clone().unbind(),
        id,
    };
    ids.into_iter().map(make).collect()
}

pub(crate) fn picture(form: &str, picture: visakit::rewrite::graph::Picture) -> PyResult<String> {
    let mut out = String::new();
    let done = match form {
        "svg" => svg(&mut out, &[picture], Theme::Auto),
        "dot" => dot(&mut out, &[picture]),
        _ => return Err(PyValueError::new_err("form is one of svg, dot")),
    };
    done.map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(out)
}

#[pyfunction]
pub(crate) fn _unpickle(bytes: Vec<u8>, path: Option<String>, dialect: &str) -> PyResult<Object> {
    let path_given = path.is_some();
    let (mut object, _) = Object::from_bytes(path.unwrap_or_default(), bytes, true, Some(dialect))?;
    if !path_given {
        object.shared.file = None;
    }
    Ok(object)
}
