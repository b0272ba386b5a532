//! `visakit dis`: routines as text.

use super::Reading;
use super::listing::{Listing, Shown};
use crate::output::{Failure, printable};
use crate::{Status, input, render};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use visakit::dump::find_routine;
use visakit::isa::Platform;
use visakit::isa::object::{Object, RoutineId};
use visakit::parse::Container;
use visakit::text::{Form, LineKind, Options, Output, Printer, file_name};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The object, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print in the form of Intel's own printer, byte for byte.
    #[arg(long)]
    intel: bool,
    /// Add directives in comments for what the language cannot say, so that `visakit asm` makes the
    /// same bytes again.
    #[arg(long, conflicts_with = "intel")]
    exact: bool,
    /// Only this routine, by name or number (kernels first, then functions).
    #[arg(long, value_name = "NAME|INDEX")]
    routine: Option<String>,
    /// Write one file for each routine into this folder, named as Intel's printer names it.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Platform whose register size the offsets of address-of operands assume. [default: that of the
    /// object's native code, else one with registers of 32 bytes]
    #[arg(long, value_name = "NAME")]
    platform: Option<Platform>,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    reading: Reading,
}

/// Takes text and keeps errors of the operating system.
struct Sink<W>(W);

impl<W: Write> Output for Sink<W> {
    type Error = io::Error;

    fn line(&mut self, _: LineKind, text: &[u8]) -> io::Result<()> {
        self.0.write_all(text)
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    if args.exact && (args.routine.is_some() || args.output.is_some()) {
        let message = "--exact carries the bytes of a whole object, which no text of one routine can; \
                       `visakit extract FILE --routine NAME` makes an object of one";
        return Err(Failure::Other(message.to_owned()));
    }
    let bytes = input::read(&args.file).map_err(Failure::Other)?;
    let decoded = match visakit::parse::read_with(&bytes, args.reading.options()) {
        Ok(decoded) => decoded,
        Err(error) => {
            render::read_error(&args.file, &bytes, &error);
            return Ok(Status::Unusable);
        }
    };
    for fault in &decoded.errors {
        render::read_error(&args.file, &bytes, fault);
    }
    let object = &decoded.object;
    let routines = chosen(args, &bytes, object).map_err(Failure::Other)?;
    let form = match (args.intel, args.exact) {
        (true, _) => Form::Intel,
        (_, true) => Form::Exact,
        _ => Form::Plain,
    };
    let options = Options {
        form,
        grf_bytes: args.platform.map(Platform::grf_bytes),
    };
    let printer = Printer::new(object, options);
    let colours = crate::output::has_colours();
    match &args.output {
        None if args.shown.any() || colours || !decoded.errors.is_empty() => {
            let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            let path = args.file.as_path();
            let mut listing = Listing::new(out, path, &bytes, object, options, args.shown, colours);
            if args.routine.is_none() {
                listing.whole()?;
            } else {
                for id in routines {
                    listing.routine(id)?;
                }
            }
            listing.flush()?;
        }
        None => {
            let mut out = Sink(BufWriter::with_capacity(1 << 16, io::stdout().lock()));
            if args.routine.is_none() {
                printer.object(&mut out)?;
            } else {
                for id in routines {
                    printer.routine(id, &mut out)?;
                }
            }
            out.0.flush()?;
        }
        Some(folder) => write_files(object, &printer, &routines, folder)?,
    }
    Ok(if decoded.errors.is_empty() {
        Status::Clean
    } else {
        Status::Findings
    })
}

/// The routines that are wanted.
fn chosen(args: &Args, bytes: &[u8], object: &Object<'_>) -> Result<Vec<RoutineId>, String> {
    let Some(wanted) = &args.routine else {
        return Ok(object.routines().map(|(id, _)| id).collect());
    };
    let container = Container::parse(bytes).map_err(|e| e.to_string())?;
    match find_routine(&container, wanted) {
        Some(id) => Ok(vec![id]),
        None => {
            let names: Vec<_> = object.routines().map(|(_, r)| printable(&r.name)).collect();
            Err(format!(
                "{}: no routine {wanted:?}; there are: {}",
                input::name(&args.file),
                names.join(", ")
            ))
        }
    }
}

fn write_files(
    object: &Object<'_>,
    printer: &Printer<'_, '_>,
    routines: &[RoutineId],
    folder: &Path,
) -> Result<(), Failure> {
    let failed =
        |path: &Path, error: io::Error| Failure::Other(format!("{}: {error}", input::name(path)));
    fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
    let mut taken = HashSet::new();
    for &id in routines {
        let path = folder.join(free_name(object, id, &mut taken));
        let write = || {
            let mut out = Sink(BufWriter::new(File::create(&path)?));
            printer.routine(id, &mut out)?;
            out.0.flush()
        };
        write().map_err(|e| failed(&path, e))?;
    }
    Ok(())
}

/// The name that Intel's printer gives the file, else one after the routine; with a number where
/// another routine has it already.
fn free_name(object: &Object<'_>, id: RoutineId, taken: &mut HashSet<String>) -> String {
    const EXTENSION: &str = ".visaasm";
    let stem = match file_name(object, id) {
        Some(name) => String::from_utf8_lossy(&name).into_owned(),
        None => {
            let routine = object.routine(id);
            let name = routine.map(|r| r.display_name().into_owned());
            let plain = |c: char| {
                let legal = !c.is_control() && !"/\\:*?\"<>|".contains(c);
                if legal { c } else { '_' }
            };
            let name: String = name.unwrap_or_default().chars().map(plain).collect();
            name.trim_start_matches('.').to_owned()
        }
    };
    let stem = stem.trim_end_matches(EXTENSION);
    let mut name = format!("{stem}{EXTENSION}");
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{stem}-{number}{EXTENSION}");
        number += 1;
    }
    name
}
