//! The Python package `visakit`: the Rust libraries as Python objects.
//!
//! The docstrings of the stub `visakit/__init__.pyi` are what users read; this crate only translates.

mod argument;
mod check;
mod debug;
mod grid;
mod html;
mod instruction;
mod names;
mod object;
mod profile;
mod routine;
mod run;
mod table;
mod trace;
mod variables;
mod watch;

use instruction::{Instruction, Instructions, Operand};
use object::{Object, bytes_of, parse_dialect, parse_version};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use routine::Routine;
use std::path::PathBuf;
use visakit::isa::{Format, Platform, table as rows};
use visakit::text::asm;

create_exception!(
    visakit,
    ReadError,
    PyException,
    "Bytes that are no object, or a damaged one: (message, offset)."
);
create_exception!(
    visakit,
    WriteError,
    PyException,
    "An object that cannot be written or printed."
);
create_exception!(
    visakit,
    AsmError,
    PyException,
    "A text with faults: a list of Diagnostic."
);
create_exception!(
    visakit,
    EditError,
    PyException,
    "A change that cannot be made: (message, help)."
);
create_exception!(
    visakit,
    RunError,
    PyException,
    "A kernel that cannot be started or that faulted."
);

/// A fault of a text.
#[pyclass(frozen, get_all, module = "visakit")]
struct Diagnostic {
    line: usize,
    column: usize,
    length: usize,
    message: String,
    expected: Option<String>,
    help: Option<String>,
}

#[pymethods]
impl Diagnostic {
    fn __repr__(&self) -> String {
        format!(
            "<Diagnostic {}:{}: {}>",
            self.line, self.column, self.message
        )
    }

    fn __str__(&self) -> String {
        let help = self
            .help
            .as_ref()
            .map(|help| format!(" ({help})"))
            .unwrap_or_default();
        let expected = self
            .expected
            .as_ref()
            .map(|e| format!(", expected {e}"))
            .unwrap_or_default();
        format!(
            "{}:{}: {}{expected}{help}",
            self.line, self.column, self.message
        )
    }
}

/// The faults of a text as Python objects, in a tuple: the arguments of an [`AsmError`].
fn faults(text: &[u8], faults: &[asm::Diagnostic]) -> (Vec<Py<Diagnostic>>,) {
    let make = |fault: &asm::Diagnostic| {
        let (line, column) = fault.span.place(text);
        let diagnostic = Diagnostic {
            line,
            column,
            length: fault.span.len,
            message: fault.message.clone(),
            expected: fault.expected.clone(),
            help: fault.hint.clone(),
        };
        Python::attach(|py| Py::new(py, diagnostic).ok())
    };
    (faults.iter().filter_map(make).collect(),)
}

/// Tuples with names for their parts: of a class in `visakit.records`.
fn records<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    class: &str,
    rows: impl IntoIterator<Item = T>,
) -> PyResult<Vec<Py<PyAny>>> {
    let class = py.import("visakit.records")?.getattr(class)?;
    let made = rows
        .into_iter()
        .map(|row| Ok(class.call_method1("_make", (row,))?.unbind()));
    made.collect()
}

/// An error of the system as Python has it: with number and name of the file, of the class of the number.
fn os_error(path: &std::path::Path, error: &std::io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            let text = text
                .split(" (os error")
                .next()
                .unwrap_or_default()
                .to_owned();
            PyOSError::new_err((number, text, path.as_os_str().to_owned()))
        }
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    }
}

/// A path, or the bytes of whatever has a buffer.
fn source(data: &Bound<'_, PyAny>) -> PyResult<(String, Vec<u8>)> {
    match data.extract::<PathBuf>() {
        Ok(path) => match std::fs::read(&path) {
            Ok(bytes) => Ok((path.display().to_string(), bytes)),
            Err(error) => Err(os_error(&path, &error)),
        },
        Err(_) => Ok((String::new(), bytes_of(data)?)),
    }
}

/// Reads an object from a path, bytes or a buffer.
#[pyfunction]
#[pyo3(signature = (source, *, dialect = None))]
fn read(source: &Bound<'_, PyAny>, dialect: Option<&str>) -> PyResult<Object> {
    let (path, bytes) = crate::source(source)?;
    Ok(Object::from_bytes(path, bytes, false, dialect)?.0)
}

/// Reads a damaged object as far as possible: the object, and what is wrong with it.
#[pyfunction]
#[pyo3(signature = (source, *, dialect = None))]
fn read_lenient(
    source: &Bound<'_, PyAny>,
    dialect: Option<&str>,
) -> PyResult<(Object, Vec<String>)> {
    let (path, bytes) = crate::source(source)?;
    Object::from_bytes(path, bytes, true, dialect)
}

fn asm_options(
    version: Option<&str>,
    dialect: Option<&str>,
    grf_bytes: Option<u32>,
) -> PyResult<asm::Options> {
    Ok(asm::Options {
        version: version.map(parse_version).transpose()?,
        dialect: dialect.map(parse_dialect).transpose()?,
        grf_bytes,
    })
}

/// Assembles a text.
#[pyfunction(name = "asm")]
#[pyo3(signature = (text, *, version = None, dialect = None, platform = None, grf_bytes = None))]
fn assemble(
    text: &str,
    version: Option<&str>,
    dialect: Option<&str>,
    platform: Option<&str>,
    grf_bytes: Option<u32>,
) -> PyResult<Object> {
    let platform = platform.map(parse_platform).transpose()?;
    let grf_bytes = grf_bytes.or(platform.map(Platform::grf_bytes));
    let options = asm_options(version, dialect, grf_bytes)?;
    let text = text.as_bytes();
    let made = asm::assemble_in_any_dialect(text, &options);
    let made = made.map_err(|e| AsmError::new_err(faults(text, &e)))?;
    if let Some(fault) = &made.undecided {
        let fault = std::slice::from_ref(fault);
        return Err(AsmError::new_err(faults(text, fault)));
    }
    Ok(Object::made(made.object.into_owned()))
}

/// A text in the form of the printer; comments are kept.
#[pyfunction]
fn fmt(text: &str) -> PyResult<String> {
    let bytes = text.as_bytes();
    let done = visakit::text::format(bytes, &asm::Options::default());
    let done = done.map_err(|e| AsmError::new_err(faults(bytes, &e)))?;
    Ok(String::from_utf8_lossy(&done).into_owned())
}

fn parse_platform(name: &str) -> PyResult<Platform> {
    let unknown = || PyValueError::new_err(format!("no platform is called `{name}`"));
    Platform::from_name(name).ok_or_else(unknown)
}

/// Something that is wrong with an object.
#[pyclass(frozen, get_all, module = "visakit")]
struct Finding {
    rule: String,
    severity: &'static str,
    place: String,
    routine: Option<(&'static str, usize)>,
    instruction: Option<u32>,
    field: Option<&'static str>,
    offset: Option<u64>,
    cause: Option<&'static str>,
    message: String,
    help: &'static str,
}

#[pymethods]
impl Finding {
    fn __repr__(&self) -> String {
        format!(
            "<Finding {} {}: {}: {}>",
            self.severity, self.rule, self.place, self.message
        )
    }
}

/// Everything that is wrong with an object.
#[pyfunction]
#[pyo3(signature = (object, *, platform = None, limit = visakit::validate::DEFAULT_LIMIT))]
fn validate(object: &Object, platform: Option<&str>, limit: usize) -> PyResult<Vec<Finding>> {
    use visakit::validate::{Options, Scope, bytes, object as check};
    let options = Options {
        platform: platform.map(parse_platform).transpose()?,
        limit,
    };
    // Places are known for objects that were read.
    let report = match &object.shared.file {
        Some(file) => bytes(&file.bytes, Some(object.isa().dialect), &options)
            .map_err(|e| ReadError::new_err((e.to_string(), e.offset())))?,
        None => check(object.isa(), &options),
    };
    let make = |finding: visakit::validate::Finding| Finding {
        rule: finding.rule.id().to_string(),
        severity: finding.rule.severity.name(),
        place: finding.location.to_string(),
        routine: finding
            .location
            .routine
            .map(|id| (id.kind.name(), id.index)),
        instruction: match finding.location.scope {
            Scope::Instruction { number, .. } => Some(number),
            _ => None,
        },
        field: finding.location.field.map(|field| field.name),
        offset: finding.offset,
        cause: finding.cause.map(visakit::validate::Cause::name),
        message: finding.message,
        help: finding.rule.action,
    };
    Ok(report.findings.into_iter().map(make).collect())
}

/// The object in another version of the format.
#[pyfunction]
#[pyo3(signature = (object, to, *, dialect = None, keep_native = false))]
fn convert(
    object: &Object,
    to: &str,
    dialect: Option<&str>,
    keep_native: bool,
) -> PyResult<Object> {
    let version = parse_version(to)?;
    let dialect = dialect.map(parse_dialect).transpose()?.unwrap_or_default();
    let options = visakit::rewrite::ConvertOptions {
        to: Format::new(version, dialect),
        keep_native,
    };
    let converted = visakit::rewrite::convert(object.isa().clone(), options);
    let converted = converted.map_err(|errors| match errors.first() {
        Some(first) => {
            let all: Vec<_> = errors.iter().map(ToString::to_string).collect();
            EditError::new_err((all.join("\n"), first.help()))
        }
        None => EditError::new_err(("the object cannot be converted", "")),
    })?;
    Ok(Object::made(converted))
}

/// An object without what execution does not need.
#[pyfunction]
#[pyo3(signature = (object, *, debug = true, names = true, binaries = true, strings = true, variables = true))]
fn strip(
    object: &Object,
    debug: bool,
    names: bool,
    binaries: bool,
    strings: bool,
    variables: bool,
) -> Object {
    let mut object = object.clone();
    let what = visakit::rewrite::Strip {
        debug,
        names,
        binaries,
        strings,
        variables,
    };
    visakit::rewrite::strip(object.change(), what);
    object
}

type Side = Option<(usize, String)>;

/// The differences: (routine, what, old, new); empty for equal objects.
#[pyfunction]
fn diff(old: &Object, new: &Object) -> Vec<(Option<String>, &'static str, Side, Side)> {
    let diff = visakit::rewrite::diff(old.isa(), new.isa());
    let object = diff
        .object
        .into_iter()
        .map(|c| (None, c.what, c.old, c.new));
    let routines = diff.routines.into_iter().flat_map(|routine| {
        let name = routine.name;
        let only = routine.only_in_new.map(|new| {
            let side = Some((0, name.clone()));
            if new {
                (Some(name.clone()), "routine", None, side)
            } else {
                (Some(name.clone()), "routine", side, None)
            }
        });
        let changes: Vec<_> = routine
            .changes
            .into_iter()
            .map(|c| (Some(name.clone()), c.what, c.old, c.new))
            .collect();
        only.into_iter().chain(changes)
    });
    object.chain(routines).collect()
}

/// A valid object out of a seed.
#[pyfunction]
#[pyo3(signature = (seed, *, platform = "skl", statements = 40))]
fn smith(seed: u64, platform: &str, statements: usize) -> PyResult<Object> {
    let mut config = visakit::smith::Config::default();
    let found = Platform::from_name(platform);
    config.platform = found
        .ok_or_else(|| PyValueError::new_err(format!("no platform is called `{platform}`")))?;
    config.statements = statements;
    Ok(Object::made(visakit::smith::from_seed(seed, &config)))
}

/// A rule of the validator.
#[pyfunction]
fn explain<'py>(py: Python<'py>, rule: &str) -> PyResult<Bound<'py, PyDict>> {
    let found = visakit::validate::Rule::find(rule);
    let found =
        found.ok_or_else(|| PyValueError::new_err(format!("no rule is called `{rule}`")))?;
    let dict = PyDict::new(py);
    dict.set_item("rule", found.id().to_string())?;
    dict.set_item("severity", found.severity.name())?;
    dict.set_item("area", found.area().name())?;
    dict.set_item("what", found.what)?;
    dict.set_item("help", found.action)?;
    dict.set_item("source", found.source)?;
    Ok(dict)
}

/// The rows of the instruction table of that name or mnemonic; all of them without one.
#[pyfunction]
#[pyo3(signature = (name = None))]
fn isa<'py>(py: Python<'py>, name: Option<&str>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let wanted = |row: &&visakit::isa::InstructionDef| {
        name.is_none_or(|name| row.name.eq_ignore_ascii_case(name) || row.mnemonics.contains(&name))
    };
    let make = |row: &visakit::isa::InstructionDef| {
        let dict = PyDict::new(py);
        dict.set_item("name", row.name)?;
        dict.set_item("mnemonics", row.mnemonics)?;
        dict.set_item("opcode", row.op.opcode())?;
        dict.set_item("sub_op", row.sub_op)?;
        dict.set_item("group", row.group.name())?;
        dict.set_item("status", row.status.name())?;
        dict.set_item("summary", row.summary)?;
        dict.set_item("flow", row.flow.name())?;
        dict.set_item("memory", row.memory.map(|m| m.to_string()))?;
        dict.set_item("unsupported", row.unsupported)?;
        let fields: Vec<_> = row.fields.iter().map(|f| f.name.as_str()).collect();
        dict.set_item("fields", fields)?;
        Ok(dict)
    };
    rows::rows().filter(wanted).map(make).collect()
}

/// Places where a pattern of instructions fits: (kind, number, instructions, variables).
#[pyfunction]
#[allow(clippy::type_complexity)]
fn search(
    object: &Object,
    pattern: &str,
) -> PyResult<Vec<(&'static str, usize, Vec<usize>, Vec<(String, String)>)>> {
    let pattern: visakit_corpus::search::Pattern = pattern
        .parse()
        .map_err(|e: visakit_corpus::search::PatternError| PyValueError::new_err(e.to_string()))?;
    let found = visakit_corpus::search::search(object.isa(), &pattern);
    let make = |m: visakit_corpus::search::Match| {
        (
            m.routine.kind.name(),
            m.routine.index,
            m.instructions,
            m.bound,
        )
    };
    Ok(found.matches.into_iter().map(make).collect())
}

/// The bytes of an object, as `Object.to_bytes`.
#[pyfunction]
fn write<'py>(py: Python<'py>, object: &Object) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &object.bytes()?))
}

#[pymodule]
fn _visakit(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("SCHEMA_VERSION", visakit_corpus::schema::VERSION)?;
    m.add("ReadError", py.get_type::<ReadError>())?;
    m.add("WriteError", py.get_type::<WriteError>())?;
    m.add("AsmError", py.get_type::<AsmError>())?;
    m.add("EditError", py.get_type::<EditError>())?;
    m.add("RunError", py.get_type::<RunError>())?;
    m.add_class::<Object>()?;
    m.add_class::<Routine>()?;
    m.add_class::<Instruction>()?;
    m.add_class::<Instructions>()?;
    m.add_class::<Operand>()?;
    m.add_class::<Diagnostic>()?;
    m.add_class::<Finding>()?;
    m.add_class::<run::Kernel>()?;
    m.add_class::<run::Outcome>()?;
    m.add_class::<check::RunFinding>()?;
    m.add_class::<debug::Debugger>()?;
    m.add_class::<profile::Profile>()?;
    m.add_class::<trace::Trace>()?;
    m.add_class::<trace::TraceStep>()?;
    m.add_class::<variables::Variables>()?;
    m.add_class::<table::Columns>()?;
    macro_rules! functions {
        ($($function:path),* $(,)?) => {$( m.add_function(wrap_pyfunction!($function, m)?)?; )*};
    }
    functions!(
        read,
        read_lenient,
        write,
        assemble,
        fmt,
        validate,
        convert,
        strip,
        diff,
        smith,
        explain,
        isa,
        search,
        object::_unpickle,
        routine::_instruction,
        routine::_routine,
        names::enumerations,
        table::columns,
        table::schema
    );
    Ok(())
}
