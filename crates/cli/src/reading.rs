//! The flags that all verbs share, and the one way from a path to an object.

use crate::input::STDIN;
use crate::output::{Failure, printable};
use crate::sources::{self, Building, Unopened};
use crate::{Status, names, render};
use std::borrow::Cow;
use std::path::Path;
use visakit::isa::object::{Object, RoutineId};
use visakit::isa::{Dialect, Platform, Version};
use visakit::parse::ReadOptions;
use visakit::rewrite::{ErrorKind, find_routine};
use visakit_compile::CompileError;
use visakit_launch::{Input, LaunchError, Linked, Source};

/// How files are read and results are told, the same in all verbs.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct Reading {
    /// Continue after faults of an object: keep what cannot be decoded as raw bytes.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Dialect, for layouts that share version 4.1. [default: found out]
    #[arg(long, value_name = "NAME", value_parser = names::dialect())]
    pub(crate) dialect: Option<Dialect>,
    /// Platform, or a product of it, which gives the size of a register. [default: found out]
    #[arg(long, value_name = "NAME", value_parser = names::platform(), hide_possible_values = true)]
    pub(crate) platform: Option<Platform>,
    /// Print one JSON document, results and errors (docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) building: Building,
}

impl Reading {
    pub(crate) fn options(self) -> ReadOptions {
        ReadOptions {
            lenient: self.lenient,
            dialect: self.dialect,
        }
    }

    pub(crate) fn grf_bytes(self) -> Option<u32> {
        self.platform.map(Platform::grf_bytes)
    }

    pub(crate) fn how(self, version: Option<Version>) -> visakit_launch::Reading {
        visakit_launch::Reading {
            lenient: self.lenient,
            dialect: self.dialect,
            version,
            grf_bytes: self.grf_bytes(),
        }
    }

    /// Opens a file, a folder of dumps, or standard input for `-`; sources are compiled. Returns why it is of no use.
    pub(crate) fn open(self, path: &Path) -> Result<Input, Failure> {
        Ok(sources::open(path, self)?.input(path)?)
    }

    /// The object in a file; reports what is wrong with it.
    pub(crate) fn object(self, input: &Input) -> Result<Linked<'_>, Failure> {
        let linked = input.object(&self.how(None));
        let linked = linked.map_err(|errors| told(&errors, &input.sources))?;
        tell_faults(&linked, &input.sources);
        Ok(linked)
    }

    /// The object in a file as the bytes of a binary one: texts are assembled and written.
    pub(crate) fn binary(self, input: &Input) -> Result<Cow<'_, [u8]>, Failure> {
        if input.is_object() {
            return Ok(Cow::Borrowed(input.bytes()));
        }
        let linked = self.object(input)?;
        match visakit::encode::write(&linked.object) {
            Ok(bytes) => Ok(Cow::Owned(bytes)),
            Err(error) => {
                let error = visakit::rewrite::ErrorKind::from(error).into();
                render::change_error(&input.path, &error);
                Err(Failure::Told(Status::Findings))
            }
        }
    }
}

/// Opens a file, or standard input for `-`, that is no source; returns why it is of no use.
pub(crate) fn open(path: &Path) -> Result<Input, Failure> {
    let input = if path.as_os_str() == STDIN {
        match crate::input::stdin() {
            Ok(stdin) => Input::of("<stdin>".as_ref(), stdin),
            Err(error) => return Err(Failure::Other(format!("<stdin>: {error}"))),
        }
    } else if path.is_dir() {
        Input::open(path)
    } else {
        match visakit_files::open(path) {
            Ok(file) => Input::of(path, file),
            Err(source) => Err(sources::cannot_read(path, source)),
        }
    };
    input.map_err(|error| told(&[error], &[]))
}

/// The routine that was asked for, by name or number.
pub(crate) fn routine(
    path: &Path,
    object: &Object<'_>,
    wanted: &str,
) -> Result<RoutineId, Failure> {
    find_routine(object, wanted).map_err(|error| {
        let names = object.routines().map(|(_, routine)| &*routine.name);
        match error.kind {
            ErrorKind::Ambiguous(_) => {
                not_found(path, "several routines are called", wanted, names)
            }
            _ => not_found(path, "no routine", wanted, names),
        }
    })
}

/// What to say of something that was asked for, and of the names that there are.
pub(crate) fn not_found<N: AsRef<[u8]>>(
    path: &Path,
    what: &str,
    wanted: &str,
    names: impl Iterator<Item = N>,
) -> Failure {
    let names: Vec<_> = names.map(|name| printable(name.as_ref())).collect();
    let name = crate::input::name(path);
    let names = names.join(", ");
    Failure::Other(format!("{name}: {what} {wanted:?}; there are: {names}"))
}

/// Reports errors; returns how the command ends.
pub(crate) fn told(errors: &[LaunchError], sources: &[Source]) -> Failure {
    let told = errors.iter().map(|e| render::launch_error(e, sources));
    Failure::Told(told.max().unwrap_or(Status::Unusable))
}

/// Reports what lenient reading ignored. If there is any, the command does not end clean.
pub(crate) fn tell_faults(linked: &Linked<'_>, sources: &[Source]) {
    for (number, fault) in &linked.faults {
        if let Some(source) = sources.get(*number) {
            render::read_error(&source.path, &source.bytes, fault);
        }
        crate::found_something();
    }
}

/// Why one of many files is of no use, in a line.
#[derive(serde::Serialize)]
pub(crate) struct Rejected {
    pub(crate) file: String,
    pub(crate) error: String,
    /// Place in a binary file.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    /// Place in a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    #[serde(skip)]
    pub(crate) status: Status,
}

impl Rejected {
    pub(crate) fn new(path: &Path, errors: &[LaunchError], sources: &[Source]) -> Self {
        let mut rejected = Self {
            file: crate::input::name(path),
            error: String::new(),
            offset: None,
            line: None,
            status: Status::Unusable,
        };
        let error = match errors.first() {
            Some(LaunchError::Assemble { path, faults }) => {
                rejected.status = Status::Findings;
                let source = sources.iter().find(|source| source.path == *path);
                let fault = faults.first();
                rejected.line = fault.zip(source).map(|(f, s)| f.span.place(&s.bytes).0);
                fault.map_or_else(String::new, ToString::to_string)
            }
            Some(LaunchError::Decode { error, .. }) => {
                rejected.offset = Some(error.offset());
                error.to_string()
            }
            Some(LaunchError::NotAProgram { content, .. }) => format!("is {content}"),
            Some(LaunchError::Read { source, .. }) => source.to_string(),
            Some(LaunchError::NeedsPlatform { fault, .. }) => fault.to_string(),
            other => other.map_or_else(String::new, ToString::to_string),
        };
        rejected.error = crate::output::printable(error.as_bytes());
        rejected
    }

    /// A source that the compiler did not take.
    fn source(path: &Path, error: &CompileError) -> Self {
        let mut rejected = Self::new(path, &[], &[]);
        let help = error
            .help()
            .map_or_else(String::new, |help| format!("; {help}"));
        let text = format!("{error}{help}").replace('\n', " ");
        rejected.error = crate::output::printable(text.as_bytes());
        rejected
    }

    /// A source without a kernel.
    fn no_kernel(path: &Path, error: &Unopened) -> Self {
        let name = format!("{}: ", crate::input::name(path));
        let text = error.to_string().replace('\n', "; ");
        Self {
            error: text.strip_prefix(&name).unwrap_or(&text).to_owned(),
            ..Self::new(path, &[], &[])
        }
    }

    /// Code whose SIMD width is decided.
    fn decided(path: &Path) -> Self {
        let (message, help) = sources::is_decided(path);
        Self {
            error: format!("{message}; {help}"),
            ..Self::new(path, &[], &[])
        }
    }
}

impl std::fmt::Display for Rejected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let line = self
            .line
            .map_or_else(String::new, |line| format!(":{line}"));
        write!(f, "{}{line}: {}", self.file, self.error)
    }
}

/// Opens one of many files, and works on it.
pub(crate) fn with<T>(
    path: &Path,
    reading: Reading,
    work: impl FnOnce(&Input) -> Result<T, Vec<LaunchError>>,
) -> Result<T, Rejected> {
    let reject = |error: Unopened| match error {
        Unopened::Launch(error) => Rejected::new(path, &[error], &[]),
        Unopened::Compile(error) => Rejected::source(path, &error),
        Unopened::Decided(path) => Rejected::decided(&path),
        Unopened::NoKernel(_) => Rejected::no_kernel(path, &error),
    };
    let opened = sources::open(path, reading).map_err(reject)?;
    let input = opened.input(path).map_err(|error| reject(error.into()))?;
    work(&input).map_err(|errors| Rejected::new(path, &errors, &input.sources))
}
