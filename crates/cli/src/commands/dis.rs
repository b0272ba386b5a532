//! `visakit dis`: routines as text.

use super::listing::{Listing, Shown};
use crate::Status;
use crate::output::{self, Failure};
use crate::reading::{Reading, routine, told};
use std::collections::HashSet;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use visakit::isa::object::{Object, RoutineId};
use visakit::text::{Form, LineKind, Options, Output, Printer, file_name};
use visakit_files::Replacement;
use visakit_launch::Input;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit dis k.isa                     all routines
  visakit dis k.isa --routine add -o add.visaasm one, into a file
  visakit dis *.isa --output-dir texts  a file for each routine
  visakit dis k.visaasm --offsets       where instructions of a text will be")]
pub(crate) struct Args {
    /// Objects or texts, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
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
    /// The text. [default: standard output]
    #[arg(short, long, value_name = "OUT.visaasm", conflicts_with = "output_dir")]
    output: Option<PathBuf>,
    /// Write one file for each routine into this folder, named as Intel's printer names it.
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    reading: Reading,
}

/// Writes text and keeps errors of the operating system.
struct Sink<W>(W);

impl<W: Write> Output for Sink<W> {
    type Error = io::Error;

    fn line(&mut self, _: LineKind, text: &[u8]) -> io::Result<()> {
        self.0.write_all(text)
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    if args.exact && (args.routine.is_some() || args.output_dir.is_some()) {
        let message = "--exact carries the bytes of a whole object, which no text of one routine can; \
                       `visakit extract FILE --routine NAME` makes an object of one";
        return Err(Failure::Other(message.to_owned()));
    }
    if args.exact && args.files.len() > 1 {
        let message = "--exact carries the bytes of one object: name one file";
        return Err(Failure::Other(message.to_owned()));
    }
    let mut status = Status::Clean;
    let mut taken = HashSet::new();
    if let Some(path) = args.output.as_deref().filter(|p| p.as_os_str() != "-") {
        let mut out = Vec::new();
        for file in &args.files {
            status = status.max(one(args, file, &mut out, false, &mut taken)?);
        }
        output::text(Some(path), &out)?;
        return Ok(status);
    }
    if args.reading.json {
        let mut out = Vec::new();
        for file in &args.files {
            status = status.max(one(args, file, &mut out, false, &mut taken)?);
        }
        output::text(None, &out)?;
        return Ok(status);
    }
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    for file in &args.files {
        status = status.max(one(
            args,
            file,
            &mut out,
            output::has_colours(),
            &mut taken,
        )?);
    }
    out.flush()?;
    Ok(status)
}

/// Prints the routines of a file.
fn one(
    args: &Args,
    file: &Path,
    out: &mut impl Write,
    colours: bool,
    taken: &mut HashSet<String>,
) -> Result<Status, Failure> {
    let opened = args.reading.open(file)?;
    if args.shown.any() && !opened.is_object() {
        // Places refer to the object that the text assembles to.
        let bytes = args.reading.binary(&opened)?;
        let made = Input::of(&opened.path, bytes.as_ref());
        return print(
            args,
            &made.map_err(|e| told(&[e], &[]))?,
            out,
            colours,
            taken,
        );
    }
    print(args, &opened, out, colours, taken)
}

fn print(
    args: &Args,
    opened: &Input,
    out: &mut impl Write,
    colours: bool,
    taken: &mut HashSet<String>,
) -> Result<Status, Failure> {
    let linked = args.reading.object(opened)?;
    let object = &linked.object;
    let routines = match &args.routine {
        None => object.routines().map(|(id, _)| id).collect(),
        Some(wanted) => vec![routine(&opened.path, object, wanted)?],
    };
    let form = match (args.intel, args.exact) {
        (true, _) => Form::Intel,
        (_, true) => Form::Exact,
        _ => Form::Plain,
    };
    let options = Options {
        form,
        grf_bytes: args.reading.grf_bytes(),
    };
    let printer = Printer::new(object, options);
    if let Some(folder) = &args.output_dir {
        write_files(object, &printer, &routines, folder, taken)?;
    } else if args.shown.any() || colours || !linked.faults.is_empty() {
        let path = opened.path.as_path();
        let bytes = opened.bytes();
        let mut listing = Listing::new(out, path, bytes, object, options, &args.shown, colours);
        if args.routine.is_none() {
            listing.whole()?;
        } else {
            for id in routines {
                listing.routine(id)?;
            }
        }
        listing.flush()?;
    } else if args.routine.is_none() {
        printer.object(&mut Sink(out))?;
    } else {
        for id in routines {
            printer.routine(id, &mut Sink(&mut *out))?;
        }
    }
    Ok(Status::Clean)
}

fn write_files(
    object: &Object<'_>,
    printer: &Printer<'_, '_>,
    routines: &[RoutineId],
    folder: &Path,
    taken: &mut HashSet<String>,
) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|e| output::at(folder, &e))?;
    for &id in routines {
        let path = folder.join(free_name(object, id, taken));
        let write = || {
            let mut out = Sink(BufWriter::new(Replacement::new(&path)?));
            printer.routine(id, &mut out)?;
            out.0.into_inner()?.commit()
        };
        write().map_err(|e| output::at(&path, &e))?;
    }
    Ok(())
}

/// The name that Intel's printer gives the file, or else one derived from the routine; with a
/// number if another routine already uses it.
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
