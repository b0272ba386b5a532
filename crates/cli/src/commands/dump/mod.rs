//! `visakit dump`: every byte range with its field name and value.

mod json;
mod lines;

use crate::output::{Failure, listing};
use crate::reading::{Reading, not_found};
use crate::{Status, render};
use std::io::Write;
use std::path::PathBuf;
use visakit::dump::{Selection, find_routine, walk};
use visakit::parse::{self, Container};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The object or text, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only this routine, by name or number (kernels first, then functions).
    #[arg(long, value_name = "NAME|INDEX")]
    routine: Option<String>,
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let opened = args.reading.open(&args.file)?;
    let bytes = args.reading.binary(&opened)?;
    let bytes = bytes.as_ref();
    let selection = match &args.routine {
        None => Selection::All,
        Some(wanted) => {
            let container = match Container::parse(bytes) {
                Ok(container) => container,
                Err(error) => {
                    render::read_error(&args.file, bytes, &error);
                    return Ok(Status::Unusable);
                }
            };
            let Some(id) = find_routine(&container, wanted) else {
                let names = container.header().routines().map(|(_, r)| &*r.name);
                return Err(not_found(&args.file, "no routine", wanted, names));
            };
            Selection::Routine(id)
        }
    };
    let options = args.reading.options();
    let (result, faults) = if args.reading.json {
        let mut document = json::Document::default();
        let result = walk(bytes, options, &selection, &mut document);
        let faults = document.faults();
        if result.is_ok() {
            crate::output::json(&document.finish(bytes, options))?;
        }
        (result, faults)
    } else {
        let mut lines = lines::Lines::new(bytes, listing());
        let result = walk(bytes, options, &selection, &mut lines);
        let flushed = lines.out.flush();
        let faults = lines.faults;
        (
            result.and(flushed.map_err(|e| Stop::Output(e.into()))),
            faults,
        )
    };
    match result {
        Ok(()) if faults > 0 => Ok(Status::Findings),
        Ok(()) => Ok(Status::Clean),
        Err(Stop::Output(failure)) => Err(failure),
        Err(Stop::Object(error)) => {
            render::read_error(&args.file, bytes, &error);
            Ok(Status::Unusable)
        }
    }
}

/// Why a walk ended early.
enum Stop {
    Object(parse::Error),
    Output(Failure),
}

impl From<parse::Error> for Stop {
    fn from(error: parse::Error) -> Self {
        Self::Object(error)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error.into())
    }
}
