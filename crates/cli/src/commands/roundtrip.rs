//! `visakit roundtrip`: read, write, compare.

use crate::input::Wanted;
use crate::output::{self, Failure, count, printable, stdout};
use crate::reading::{Reading, with};
use crate::{Status, input, render};
use indicatif::{ParallelProgressIterator, ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit::parse;
use visakit::verify::{Counts, Outcome, roundtrip, roundtrip_text};

#[derive(clap::Args)]
#[command(
    after_help = "An object is read and written again; the bytes must be the same. A text is assembled, printed \
and assembled again; the objects must be the same."
)]
pub(crate) struct Args {
    /// Objects, texts, folders that are searched for *.isa and *.visaasm, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

/// The result for a file.
#[derive(Serialize)]
struct Entry {
    file: String,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip)]
    counts: Counts,
    #[serde(skip)]
    status: Status,
}

fn entry(path: &Path, args: &Args) -> Entry {
    let reading = args.reading;
    let mut ignored = 0;
    let outcome = with(path, args.reading, |input| {
        if input.is_object() {
            let bytes = input.bytes();
            if reading.lenient
                && let Ok(read) = parse::read_with(bytes, reading.options())
            {
                ignored = read.errors.len();
            }
            return Ok(roundtrip(bytes.to_vec(), reading.options()));
        }
        let how = reading.how(None);
        let linked = input.object(&how)?;
        Ok(roundtrip_text(&linked.object, linked.grf_bytes))
    });
    let (result, message, counts, status) = match outcome {
        Ok(Outcome::Identical(counts)) if ignored > 0 => {
            let message = format!("{} ignored", count(ignored, "fault"));
            ("identical", Some(message), counts, Status::Findings)
        }
        Ok(Outcome::Identical(counts)) => ("identical", None, counts, Status::Clean),
        Ok(Outcome::Different {
            counts,
            offset,
            written,
        }) => {
            let message = format!(
                "differs from offset {offset:#x} on ({} bytes read, {written} written)",
                counts.bytes
            );
            ("different", Some(message), counts, Status::Findings)
        }
        Ok(Outcome::Unwritable(error)) => {
            let message = format!("was read but cannot be written: {error}");
            (
                "different",
                Some(message),
                Counts::default(),
                Status::Findings,
            )
        }
        Ok(Outcome::Rejected(error)) => {
            let message = Some(error.to_string());
            ("rejected", message, Counts::default(), Status::Unusable)
        }
        Err(rejected) => {
            let line = rejected
                .line
                .map_or_else(String::new, |line| format!("line {line}: "));
            let message = format!("{line}{}", rejected.error);
            (
                "rejected",
                Some(message),
                Counts::default(),
                rejected.status,
            )
        }
    };
    Entry {
        file: input::name(path),
        result,
        message: message.map(|m| printable(m.as_bytes())),
        counts,
        status,
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let found = input::find(&args.paths, Wanted::Programs);
    let entries: Vec<Entry> = found
        .files
        .par_iter()
        .progress_with(progress(found.files.len()))
        .map(|path| entry(path, args))
        .collect();
    let mut status = Status::Clean;
    for error in &found.errors {
        render::failure(error);
        status = Status::Unusable;
    }
    let mut total = Counts::default();
    for entry in &entries {
        total += entry.counts;
        status = status.max(entry.status);
    }
    let of = |result: &str| entries.iter().filter(|e| e.result == result).count();
    let [identical, different, rejected] = ["identical", "different", "rejected"].map(of);
    if args.reading.json {
        output::json(&json!({
            "objects": entries.len(),
            "routines": total.routines,
            "instructions": total.instructions,
            "bytes": total.bytes,
            "identical": identical,
            "different": different,
            "rejected": rejected,
            "files": entries,
        }))?;
        return Ok(status);
    }
    let mut out = stdout();
    for entry in &entries {
        if let Some(message) = &entry.message {
            writeln!(out, "{}: {message}", entry.file)?;
        }
    }
    writeln!(
        out,
        "{}, {}, {}, {}:\n{identical} identical, {different} different, {rejected} rejected",
        count(entries.len(), "object"),
        count(total.routines, "routine"),
        count(total.instructions, "instruction"),
        count(total.bytes, "byte"),
    )?;
    out.flush()?;
    Ok(status)
}

/// Shown only on a terminal, and removed when the work is done.
pub(super) fn progress(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}");
    ProgressBar::new(length as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
