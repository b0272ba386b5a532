//! `visakit similar`: where a kernel is again.

use crate::output::{self, Failure, stdout};
use crate::reading::{Reading, told, with};
use crate::table::{Align, Columns};
use crate::{Status, input, render};
use rayon::prelude::*;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use visakit_corpus::fingerprint::Fingerprint;
use visakit_corpus::similar::{Collection, Relation, THRESHOLD};
use visakit_launch::{Input, LaunchError, Linked};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The object or text whose routines are looked for.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Objects, texts, and folders that are searched for *.isa and *.visaasm.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Least score, 0 to 1, that says two routines come from one source.
    #[arg(long, value_name = "SCORE", default_value_t = THRESHOLD, value_parser = score)]
    threshold: f64,
    /// Also show unrelated routines, at most this many of all for each routine of FILE.
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    #[command(flatten)]
    reading: Reading,
}

fn score(text: &str) -> Result<f64, String> {
    let score: Option<f64> = text.parse().ok();
    let score = score.filter(|score| (0.0..=1.0).contains(score));
    score.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

fn fingerprints(
    input: &Input,
    reading: Reading,
) -> Result<Vec<(String, Fingerprint)>, Vec<LaunchError>> {
    let Linked { object, faults, .. } = input.object(&reading.how(None))?;
    if !faults.is_empty() {
        crate::found_something();
    }
    let routines = object.routines().filter_map(|(_, routine)| {
        let name = output::printable(&routine.name);
        Some((name, Fingerprint::of(routine.body()?, object.format())))
    });
    Ok(routines.collect())
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let file = args.reading.open(&args.file)?;
    let wanted = fingerprints(&file, args.reading);
    let wanted = wanted.map_err(|errors| told(&errors, &file.sources))?;
    let found = input::find(&args.paths, input::Wanted::Programs);
    let read: Vec<_> = found
        .files
        .par_iter()
        .map(|path| {
            with(path, args.reading, |input| {
                fingerprints(input, args.reading)
            })
        })
        .collect();
    let mut errors = found.errors;
    let mut status = if errors.is_empty() {
        Status::Clean
    } else {
        Status::Unusable
    };
    let mut collection = Collection::default();
    let mut places = Vec::new();
    for (path, routines) in found.files.iter().zip(read) {
        match routines {
            Err(error) => {
                status = status.max(error.status);
                errors.push(error.to_string());
            }
            Ok(routines) => {
                for (name, fingerprint) in routines {
                    collection.add(fingerprint);
                    places.push((input::name(path), name));
                }
            }
        }
    }
    let mut table = Columns::new(&[
        ("routine", Align::Left),
        ("score", Align::Right),
        ("relation", Align::Left),
        ("flow", Align::Left),
        ("found in", Align::Left),
        ("as", Align::Left),
    ]);
    let mut documents = Vec::new();
    for (name, fingerprint) in &wanted {
        let similar = collection
            .similar_to(fingerprint, args.threshold)
            .into_iter();
        let related = similar.filter(|s| args.top.is_some() || s.relation < Relation::Unrelated);
        for one in related.take(args.top.unwrap_or(usize::MAX)) {
            let Some((file, routine)) = places.get(one.entry) else {
                continue;
            };
            let flow = if one.same_flow { "same" } else { "differs" };
            table.row([
                name.clone(),
                format!("{:.3}", one.score),
                one.relation.name().to_owned(),
                flow.to_owned(),
                file.clone(),
                routine.clone(),
            ]);
            documents.push(json!({
                "routine": name,
                "file": file,
                "similar": routine,
                "score": one.score,
                "relation": one.relation.name(),
                "same_flow": one.same_flow,
            }));
        }
    }
    if !args.reading.json {
        let mut out = stdout();
        write!(out, "{table}")?;
        out.flush()?;
    }
    for error in &errors {
        render::failure(error);
    }
    // It has what was told.
    if args.reading.json {
        output::json(&json!({ "similar": documents, "errors": errors }))?;
    }
    Ok(status)
}
