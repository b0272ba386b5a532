//! `visakit info`: what objects contain.

mod metadata;
mod report;
mod text;

use crate::output::{self, Failure, stdout};
use crate::reading::{Reading, not_found};
use crate::{Status, input, render, sources};
pub(crate) use metadata::Kernels;
use metadata::Program;
use report::File;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit::parse;
use visakit_launch::{Content, Input, Zebin};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Objects, texts, sources, folders of dumps, compiled programs (zebin) or their metadata, or - for standard input.
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
    /// Metadata of compiled programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    programs: Vec<Program>,
}

/// The metadata of a file and the vISA in it.
struct Found {
    program: Option<Program>,
    code: Option<Input>,
}

fn found(path: &Path, args: &Args) -> Result<Found, Failure> {
    let (metadata, opened) = if input::is_folder(path) {
        (None, Some(sources::open(path, args.reading)?))
    } else {
        // Once: what comes out of a pipe is gone.
        let bytes = sources::bytes(path)?;
        let metadata = program(path, &bytes)?;
        let has_code = metadata.as_ref().is_none_or(|(_, has_code)| *has_code);
        let open = || sources::opened(path, &bytes, args.reading);
        (metadata, has_code.then(open).transpose()?)
    };
    let mut found = Found {
        program: metadata.map(|(program, _)| program),
        code: opened.map(|opened| opened.input(path)).transpose()?,
    };
    // A folder of dumps, or what a source was compiled into.
    if let (None, Some(zebin)) = (
        &found.program,
        found.code.as_ref().and_then(|c| c.zebin.as_ref()),
    ) {
        found.program = Some(Program::of_zebin(input::name(path), zebin)?);
    }
    Ok(found)
}

/// The metadata in a file that has some, and whether it has vISA beside them.
fn program(path: &Path, bytes: &[u8]) -> Result<Option<(Program, bool)>, Failure> {
    let name = input::name(path);
    Ok(match Content::of(bytes) {
        Content::Zebin => {
            let zebin = Zebin::parse(bytes)?;
            let program = Program::of_zebin(name, &zebin)?;
            Some((program, !zebin.texts.is_empty()))
        }
        Content::ZeInfo => {
            let text = String::from_utf8_lossy(bytes);
            Some((Program::of_text(name, &text)?, false))
        }
        _ => None,
    })
}

/// Reads the vISA of a file, or reports why it cannot be read.
fn report(path: &Path, opened: &Input, args: &Args) -> Result<File, Failure> {
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
                    path,
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
    let linked = args.reading.object(opened)?;
    let object = &linked.object;
    // 4.2 has no binary form, and so no sizes and offsets to report.
    let bytes = visakit::encode::write(object).unwrap_or_default();
    let container = parse::Container::parse(&bytes).ok();
    let fits = [object.dialect];
    let mut file = File::new(name, object, container.as_ref(), &fits, &[]);
    file.text = opened.sources.iter().map(|source| source.bytes.len()).sum();
    chosen(path, file, args)
}

/// Keeps only the selected routine.
fn chosen(path: &Path, mut file: File, args: &Args) -> Result<File, Failure> {
    let Some(wanted) = &args.routine else {
        return Ok(file);
    };
    let named = file.routines.iter().position(|r| r.name == *wanted);
    let number = named.or_else(|| wanted.parse().ok().filter(|n| *n < file.routines.len()));
    let Some(number) = number else {
        let names = file.routines.iter().map(|r| &r.name);
        return Err(not_found(path, "no routine", wanted, names));
    };
    file.routines = file.routines.drain(number..=number).collect();
    Ok(file)
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut status = Status::Clean;
    let mut document = Document {
        files: Vec::new(),
        programs: Vec::new(),
    };
    let mut first = true;
    for path in &args.files {
        let found = match found(path, args) {
            Ok(found) => found,
            Err(failure) => {
                status = status.max(failure.tell()?);
                continue;
            }
        };
        if let Some(program) = found.program {
            if args.reading.json {
                document.programs.push(program);
            } else {
                let mut out = stdout();
                if !first {
                    writeln!(out)?;
                }
                first = false;
                program.write(&mut out)?;
                out.flush()?;
            }
        }
        let Some(code) = found.code else { continue };
        let file = match report(path, &code, args) {
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
