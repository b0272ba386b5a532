//! `visakit roundtrip`: read, write, compare.

use super::Reading;
use crate::output::{Failure, stdout};
use crate::{Status, input, render};
use indicatif::{ParallelProgressIterator, ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::io::Write;
use std::path::PathBuf;
use visakit::verify::{Counts, Outcome, roundtrip};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files, folders that are searched for *.isa, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let found = input::find(&args.paths);
    let options = args.reading.options();
    let outcomes: Vec<Result<Option<Outcome>, String>> = found
        .files
        .par_iter()
        .progress_with(progress(found.files.len()))
        .map(|path| {
            let bytes = input::read(path)?;
            let is_text = input::is_text(path, &bytes);
            Ok((!is_text).then(|| roundtrip(bytes, options)))
        })
        .collect();

    let mut out = stdout();
    let mut total = Counts::default();
    let [mut identical, mut different, mut rejected, mut unread] = [0u64; 4];
    for error in &found.errors {
        unread += 1;
        render::failure(error);
    }
    for (path, outcome) in found.files.iter().zip(outcomes) {
        match outcome {
            Err(error) => {
                unread += 1;
                render::failure(&error);
            }
            Ok(None) => render::note(&format!("{}: vISA text, skipped", input::name(path))),
            Ok(Some(Outcome::Identical(counts))) => {
                identical += 1;
                total += counts;
            }
            Ok(Some(Outcome::Different {
                counts,
                offset,
                written,
            })) => {
                different += 1;
                total += counts;
                let message = format!(
                    "differs from offset {offset:#x} on ({} bytes read, {written} written)",
                    counts.bytes
                );
                writeln!(out, "{}", render::brief(path, &message))?;
            }
            Ok(Some(Outcome::Unwritable(error))) => {
                different += 1;
                let message = format!("was read but cannot be written: {error}");
                writeln!(out, "{}", render::brief(path, &message))?;
            }
            Ok(Some(Outcome::Rejected(error))) => {
                rejected += 1;
                writeln!(out, "{}", render::brief(path, &error))?;
            }
        }
    }
    let objects = identical + different + rejected;
    writeln!(
        out,
        "{objects} objects, {} routines, {} instructions, {} bytes: \
         {identical} identical, {different} different, {rejected} rejected",
        total.routines, total.instructions, total.bytes
    )?;
    out.flush()?;
    Ok(if unread > 0 {
        Status::Unusable
    } else if different + rejected > 0 {
        Status::Findings
    } else {
        Status::Clean
    })
}

/// Shown on a terminal only, and gone when the work is done.
pub(super) fn progress(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}");
    ProgressBar::new(length as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
