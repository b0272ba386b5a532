//! `visakit fmt`: texts in the form of the printer.

use crate::input::Wanted;
use crate::output::{self, Failure};
use crate::reading::{Reading, open};
use crate::{Status, input, render};
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;
use visakit::snippets::one_byte_each;
use visakit::text::Style;
use visakit::text::asm::Options;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Texts, folders that are searched for *.visaasm, or - for standard input. What they become goes to standard
    /// output.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write the texts back to their files, those that change.
    #[arg(short, long, conflicts_with = "check")]
    write: bool,
    /// Only name the files that would change, and end with exit code 1 if there are any.
    #[arg(long)]
    check: bool,
    /// Whose spacing the texts get.
    #[arg(long, value_enum, value_name = "STYLE", default_value_t)]
    style: StyleName,
    #[command(flatten)]
    reading: Reading,
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
    let found = input::find(&args.paths, Wanted::Texts);
    let mut status = Status::Clean;
    for error in &found.errors {
        render::failure(error);
        status = Status::Unusable;
    }
    let options = Options {
        dialect: args.reading.dialect,
        ..Options::default()
    };
    let mut out = Vec::new();
    let mut changed = Vec::new();
    for path in &found.files {
        if args.write && path.as_os_str() == "-" {
            let message = "standard input cannot be written back: leave --write out";
            return Err(Failure::Other(message.to_owned()));
        }
        let opened = open(path)?;
        super::asm::text_expected(&opened)?;
        let text = opened.bytes();
        let tidy = match visakit::text::format_as(text, &options, args.style.into()) {
            Ok(tidy) => tidy,
            Err(faults) => {
                let shown = one_byte_each(text);
                for fault in &faults {
                    render::text_error(path, &shown, fault);
                }
                status = status.max(Status::Findings);
                continue;
            }
        };
        let changes = tidy != text;
        if changes {
            changed.push(input::name(path));
        }
        if args.check {
            status = status.max(if changes {
                Status::Findings
            } else {
                Status::Clean
            });
        } else if !args.write {
            out.extend(tidy);
        } else if changes {
            output::file(path, &tidy)?;
        }
    }
    if output::is_json() {
        let mut document = json!({ "files": found.files.len(), "changed": changed });
        if let (false, Some(document)) = (args.check || args.write, document.as_object_mut()) {
            document.insert("text".to_owned(), String::from_utf8_lossy(&out).into());
        }
        output::json(&document)?;
    } else if args.check {
        let mut out = output::stdout();
        for name in &changed {
            writeln!(out, "{name}")?;
        }
        out.flush()?;
    } else {
        let mut stdout = io::stdout().lock();
        stdout.write_all(&out)?;
        stdout.flush()?;
    }
    Ok(status)
}
