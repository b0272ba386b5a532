//! `visakit info`: what objects hold.

mod report;
mod text;

use super::Reading;
use crate::output::{self, Failure, stdout};
use crate::{Status, input, render};
use report::File;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit::parse;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// The JSON document.
#[derive(Serialize)]
struct Document {
    files: Vec<Entry>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry {
    Read(Box<File>),
    Unreadable {
        file: String,
        error: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
    },
}

impl Entry {
    /// Reads a file; says on standard error why it cannot be read.
    fn of(path: &Path, args: &Args) -> Self {
        let file = input::name(path);
        let bytes = match input::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                render::failure(&error);
                return Self::Unreadable {
                    file,
                    error,
                    offset: None,
                };
            }
        };
        match Self::read(&file, &bytes, args) {
            Ok(entry) => entry,
            Err(error) => {
                render::read_error(path, &bytes, &error);
                Self::Unreadable {
                    file,
                    error: output::printable(error.to_string().as_bytes()),
                    offset: Some(error.offset()),
                }
            }
        }
    }

    fn read(file: &str, bytes: &[u8], args: &Args) -> Result<Self, parse::Error> {
        let decoded = parse::read_with(bytes, args.reading.options())?;
        let container = parse::Container::parse(bytes)?;
        let file = File::new(file.to_owned(), &container, &decoded);
        Ok(Self::Read(Box::new(file)))
    }

    fn status(&self) -> Status {
        match self {
            Self::Unreadable { .. } => Status::Unusable,
            Self::Read(file) if file.faults.is_empty() => Status::Clean,
            Self::Read(_) => Status::Findings,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut status = Status::Clean;
    if args.json {
        let mut document = Document { files: Vec::new() };
        for path in &args.files {
            let entry = Entry::of(path, args);
            status = status.max(entry.status());
            document.files.push(entry);
        }
        output::json(&document)?;
        return Ok(status);
    }
    let mut out = stdout();
    let mut first = true;
    for path in &args.files {
        let entry = Entry::of(path, args);
        status = status.max(entry.status());
        if let Entry::Read(file) = entry {
            if !first {
                writeln!(out)?;
            }
            first = false;
            text::write(&mut out, &file)?;
            // What is said about the next file goes to standard error and should come after this.
            out.flush()?;
        }
    }
    Ok(status)
}
