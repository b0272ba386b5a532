//! `visakit fmt`: texts in the form of the printer.

use super::asm::one_byte_each;
use crate::output::Failure;
use crate::{Status, input, render};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use visakit::text::Style;
use visakit::text::asm::Options;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Texts, or - for standard input. What they become goes to standard output.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the texts back to their files, those that change.
    #[arg(short, long, conflicts_with = "check")]
    write: bool,
    /// Only name the files that would change, and end with exit code 1 if there are any.
    #[arg(long)]
    check: bool,
    /// Whose spacing the texts get.
    #[arg(long, value_enum, value_name = "STYLE", default_value_t)]
    style: StyleName,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum StyleName {
    /// That of `visakit dis`.
    #[default]
    Printer,
    /// That of the compiler's dumps, with numbers after instructions.
    Compiler,
}

impl From<StyleName> for Style {
    fn from(name: StyleName) -> Self {
        match name {
            StyleName::Printer => Self::Printer,
            StyleName::Compiler => Self::Compiler,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut status = Status::Clean;
    let mut out = io::stdout().lock();
    for path in &args.files {
        if args.write && path.as_os_str() == "-" {
            let message = "standard input cannot be written back: leave --write out";
            return Err(Failure::Other(message.to_owned()));
        }
        let text = input::read_text(path).map_err(Failure::Other)?;
        let tidy = match visakit::text::format_as(&text, &Options::default(), args.style.into()) {
            Ok(tidy) => tidy,
            Err(faults) => {
                let shown = one_byte_each(&text);
                for fault in &faults {
                    render::text_error(path, &shown, fault);
                }
                status = status.max(Status::Findings);
                continue;
            }
        };
        if args.check {
            if tidy != text {
                writeln!(out, "{}", input::name(path))?;
                status = status.max(Status::Findings);
            }
        } else if !args.write {
            out.write_all(&tidy)?;
        } else if tidy != text {
            fs::write(path, tidy)
                .map_err(|error| Failure::Other(format!("{}: {error}", input::name(path))))?;
        }
    }
    out.flush()?;
    Ok(status)
}
