//! Columns, built on all cores and exported through the Arrow C data interface.

use crate::ReadError;
use crate::object::{File, Object};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, SchemaRef, ffi::FFI_ArrowSchema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;
use visakit::launch::Reading;
use visakit_corpus::arrow::{batch, schema as schema_of};
use visakit_corpus::{Select, Source, Tables, fill_file};

fn arrow_error(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// One table: an Arrow stream of record batches.
#[pyclass(frozen, module = "visakit")]
pub(crate) struct Columns {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Columns {
    /// Number of rows.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may ask for another schema, and a producer need not comply.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema =
            FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(|e| arrow_error(&e))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

/// Size of a record batch in bytes of columns: offsets of strings have 31 bits.
const BATCH: usize = 256 << 20;

/// A path and its content.
type Given = (String, Content);

/// Bytes that were given, or those of an object.
enum Content {
    Bytes(Vec<u8>),
    File(Arc<File>),
}

impl Content {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::File(file) => &file.bytes,
        }
    }
}

/// The batches of each table. Neighbours go to the same thread, so that rows stay in the order of the sources.
fn gather(sources: &[Given], select: Select) -> Result<Vec<Vec<RecordBatch>>, ArrowError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let total: usize = sources
        .iter()
        .map(|(_, content)| content.bytes().len())
        .sum();
    let share = total / threads + 1;
    let mut parts: Vec<&[Given]> = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (end, (_, content)) in sources.iter().enumerate() {
        size += content.bytes().len();
        if size >= share || end + 1 == sources.len() {
            parts.push(&sources[start..=end]);
            (start, size) = (end + 1, 0);
        }
    }
    let made: Vec<_> = std::thread::scope(|scope| {
        let work: Vec<_> = parts
            .iter()
            .map(|part| scope.spawn(|| one(part, select)))
            .collect();
        let lost = || Err(ArrowError::ComputeError("a thread was lost".to_owned()));
        work.into_iter()
            .map(|work| work.join().unwrap_or_else(|_| lost()))
            .collect()
    });
    let mut all: Vec<Vec<RecordBatch>> = Tables::DEFS.iter().map(|_| Vec::new()).collect();
    for part in made {
        for (all, batches) in all.iter_mut().zip(part?) {
            all.extend(batches);
        }
    }
    Ok(all)
}

fn one(sources: &[Given], select: Select) -> Result<Vec<Vec<RecordBatch>>, ArrowError> {
    let mut tables = Tables::default();
    let mut batches: Vec<Vec<RecordBatch>> = Tables::DEFS.iter().map(|_| Vec::new()).collect();
    let mut flush = |tables: &mut Tables| -> Result<(), ArrowError> {
        for (table, batches) in tables.all_mut().zip(&mut batches) {
            if table.rows() > 0 {
                batches.push(batch(table)?);
            }
        }
        Ok(())
    };
    let how = Reading::default();
    for (path, content) in sources {
        // What cannot be read gets a row that states why.
        let source = Source::new(path, content.bytes());
        fill_file(&source, &how, select, &mut tables).ok();
        if tables.size() >= BATCH {
            flush(&mut tables)?;
        }
    }
    flush(&mut tables)?;
    Ok(batches)
}

/// The tables of objects, by name.
#[pyfunction]
#[pyo3(signature = (objects, tables = None))]
pub(crate) fn columns(
    py: Python<'_>,
    objects: Vec<Bound<'_, PyAny>>,
    tables: Option<Vec<String>>,
) -> PyResult<Vec<(&'static str, Columns)>> {
    let select = match &tables {
        Some(names) => Select::of(names.iter().map(String::as_str)),
        None => Ok(Select::ALL),
    };
    let select = select.map_err(|e| PyValueError::new_err(e.to_string()))?;
    let mut sources = Vec::new();
    for object in objects {
        match object.cast::<Object>() {
            Ok(object) => {
                let object = object.borrow();
                sources.push(match &object.shared.file {
                    Some(file) => (file.path.clone(), Content::File(Arc::clone(file))),
                    None => (String::new(), Content::Bytes(object.bytes()?)),
                });
            }
            Err(_) => {
                let (path, bytes) = crate::source(&object)?;
                sources.push((path, Content::Bytes(bytes)));
            }
        }
    }
    let made = py.detach(|| gather(&sources, select));
    let made = made.map_err(|e| ReadError::new_err((e.to_string(), None::<u64>)))?;
    let named = Tables::DEFS
        .iter()
        .zip(made)
        .filter(|(def, _)| select.has(def.name));
    let make = |(def, batches): (&visakit_corpus::TableDef, Vec<RecordBatch>)| {
        (
            def.name,
            Columns {
                schema: schema_of(def),
                batches,
            },
        )
    };
    Ok(named.map(make).collect())
}

/// The tables: name, sentence, and columns as (name, type, may be absent, sentence).
#[pyfunction]
#[allow(clippy::type_complexity)]
pub(crate) fn schema() -> Vec<(
    &'static str,
    &'static str,
    Vec<(&'static str, &'static str, bool, &'static str)>,
)> {
    let make = |def: &visakit_corpus::TableDef| {
        let columns = def
            .columns
            .iter()
            .map(|c| (c.name, c.ty.name(), c.nullable, c.doc.trim()));
        (def.name, def.doc.trim(), columns.collect())
    };
    Tables::DEFS.iter().map(make).collect()
}
