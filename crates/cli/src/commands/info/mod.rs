//! `visakit info`: what objects contain.

mod report;
mod text;

use crate::output::{self, Failure, stdout};
use crate::reading::{Reading, open};
use crate::{Status, input, render};
use report::File;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit::parse;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Objects or texts, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only this routine, by name or number (kernels first, then functions).
    #[arg(long, value_name = "NAME|INDEX")]
    routine: Option<String>,
    #[command(flatten)]
    reading: Reading,
}

/// The JSON document.
#[derive(Serialize)]
struct Document {
    files: Vec<File>,
}

/// Reads a file, or reports why it cannot be read.
fn report(path: &Path, args: &Args) -> Result<File, Failure> {
    let opened = open(path)?;
    let name = input::name(&opened.path);
    if opened.is_object() {
        let bytes = opened.bytes();
        let decoded = parse::read_with(bytes, args.reading.options());
        let container = parse::Container::parse(bytes);
        return match decoded.and_then(|decoded| Ok((decoded, container?))) {
            Ok((decoded, container)) => {
                let others = &decoded.candidates;
                let faults = &decoded.errors;
                chosen(
                    File::new(name, &decoded.object, Some(&container), others, faults),
                    args,
                )
            }
            Err(error) => {
                render::read_error(path, bytes, &error);
                Err(Failure::Told(Status::Unusable))
            }
        };
    }
    let linked = args.reading.object(&opened)?;
    let object = &linked.object;
    // 4.2 has no binary form, and so no sizes and offsets to report.
    let bytes = visakit::encode::write(object).unwrap_or_default();
    let container = parse::Container::parse(&bytes).ok();
    let fits = [object.dialect];
    let mut file = File::new(name, object, container.as_ref(), &fits, &[]);
    file.text = opened.sources.iter().map(|source| source.bytes.len()).sum();
    chosen(file, args)
}

/// Keeps only the selected routine.
fn chosen(mut file: File, args: &Args) -> Result<File, Failure> {
    let Some(wanted) = &args.routine else {
        return Ok(file);
    };
    let named = file.routines.iter().position(|r| r.name == *wanted);
    let number = named.or_else(|| wanted.parse().ok().filter(|n| *n < file.routines.len()));
    let Some(number) = number else {
        let names: Vec<_> = file.routines.iter().map(|r| r.name.as_str()).collect();
        return Err(Failure::Other(format!(
            "{}: no routine {wanted:?}; there are: {}",
            file.file,
            names.join(", ")
        )));
    };
    file.routines = file.routines.drain(number..=number).collect();
    Ok(file)
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut status = Status::Clean;
    let mut document = Document { files: Vec::new() };
    let mut first = true;
    for path in &args.files {
        let file = match report(path, args) {
            Ok(file) => file,
            Err(failure) => {
                status = status.max(failure.tell()?);
                continue;
            }
        };
        if !file.faults.is_empty() {
            status = status.max(Status::Findings);
        }
        if args.reading.json {
            document.files.push(file);
            continue;
        }
        let mut out = stdout();
        if !first {
            writeln!(out)?;
        }
        first = false;
        text::write(&mut out, &file)?;
        // Messages about the next file go to standard error and should appear after this.
        out.flush()?;
    }
    if args.reading.json {
        output::json(&document)?;
    }
    Ok(status)
}
