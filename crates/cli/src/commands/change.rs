//! Code shared by the commands that change objects.

use crate::output::{Failure, count};
use crate::reading::Reading;
use crate::{Status, render};
use std::path::{Path, PathBuf};
use visakit::isa::object::Object;
use visakit::rewrite::{Error, ErrorKind};

/// Where the object comes from and goes to.
#[derive(clap::Args)]
pub(super) struct Ends {
    /// The object or text, or - for standard input.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) out: Output,
}

/// Where the object goes to.
#[derive(clap::Args)]
pub(super) struct Output {
    /// The new object. [default: standard output, unless that is a terminal]
    #[arg(short, long, value_name = "OUT.isa")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) reading: Reading,
}

/// Why an object is not changed.
pub(super) enum Unchanged {
    /// It cannot be changed so.
    Refused(Vec<Error>),
    /// What was asked for is not in it.
    Failed(Failure),
}

impl From<Vec<Error>> for Unchanged {
    fn from(errors: Vec<Error>) -> Self {
        Self::Refused(errors)
    }
}

impl From<Error> for Unchanged {
    fn from(error: Error) -> Self {
        Self::Refused(vec![error])
    }
}

impl From<Failure> for Unchanged {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Reads the object, changes it, writes it. If the change is refused, nothing is written and it
/// counts as a finding.
pub(super) fn run<'p>(
    ends: &Ends,
    change: impl FnOnce(Object<'_>) -> Result<Object<'_>, Unchanged> + 'p,
) -> Result<Status, Failure> {
    let path = ends.out.output.as_deref();
    crate::output::needs_place(path)?;
    let input = ends.out.reading.open(&ends.file)?;
    let object = ends.out.reading.object(&input)?.object;
    let object = match change(object) {
        Ok(object) => object,
        Err(Unchanged::Refused(errors)) => return Ok(refused(&ends.file, &errors)),
        Err(Unchanged::Failed(failure)) => return Err(failure),
    };
    write(path, &ends.file, &object)
}

/// Reports why a change is refused.
pub(super) fn refused(path: &Path, errors: &[Error]) -> Status {
    for error in errors {
        render::change_error(path, error);
    }
    render::note(&format!(
        "{}, nothing was written",
        count(errors.len(), "fault")
    ));
    let names = |error: &Error| matches!(error.kind, ErrorKind::NoSymbol(..));
    match errors.iter().any(names) {
        true => Status::Unusable,
        false => Status::Findings,
    }
}

/// Writes an object.
pub(super) fn write(
    output: Option<&Path>,
    source: &Path,
    object: &Object<'_>,
) -> Result<Status, Failure> {
    match visakit::encode::write(object) {
        Ok(bytes) => {
            crate::output::object(output, &bytes)?;
            Ok(Status::Clean)
        }
        Err(error) => Ok(refused(source, &[ErrorKind::from(error).into()])),
    }
}
