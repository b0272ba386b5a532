//! `visakit run --case`.

use super::Args;
use super::show::Stats;
use crate::commands::roundtrip::progress;
use crate::output::{self, Failure, stdout};
use crate::{Status, input, render};
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use visakit_exec::{Counters, Pass};
use visakit_launch::{Config, LaunchError, Verdict};
use walkdir::WalkDir;

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let config = Config {
        passes: &Pass::ALL,
        ..args.config()
    };
    let folders = folders(&args.case)?;
    let results: Vec<(String, Result<Verdict, LaunchError>)> = folders
        .par_iter()
        .progress_with(progress(folders.len()))
        .map(|path| match args.open_case(path) {
            Ok(case) => {
                let name = case.name();
                let verdict = case.run(args.from_text, &config);
                (name, verdict)
            }
            Err(error) => (input::name(path), Err(error)),
        })
        .collect();
    let mut counters = Counters::default();
    let mut time = Duration::ZERO;
    let mut failures = Vec::new();
    let mut status = Status::Clean;
    for (path, (name, result)) in folders.iter().zip(&results) {
        let message = match result {
            Ok(verdict) => {
                counters += verdict.outcome.counters;
                time += verdict.outcome.time;
                verdict.failure()
            }
            Err(error) => Some(why_not(path, error)),
        };
        if let Some(message) = message {
            let this = result
                .as_ref()
                .err()
                .map_or(Status::Findings, render::status);
            status = status.max(this);
            failures.push((name, message));
        }
    }
    let (cases, failed) = (results.len(), failures.len());
    let stats = Stats {
        counters,
        time,
        translation: None,
        compiled: None,
    };
    if args.reading.json {
        let list: Vec<_> = failures
            .iter()
            .map(|(name, message)| json!({ "case": name, "failure": message }))
            .collect();
        let mut all =
            json!({ "cases": cases, "passed": cases - failed, "failed": failed, "failures": list });
        if args.stats
            && let Some(all) = all.as_object_mut()
        {
            all.insert("statistics".to_owned(), stats.json());
        }
        output::json(&all)?;
    } else {
        let mut out = stdout();
        if args.printf {
            for verdict in results
                .iter()
                .filter_map(|(_, result)| result.as_ref().ok())
            {
                out.write_all(&verdict.outcome.printed)?;
            }
        }
        for (name, message) in &failures {
            writeln!(out, "{name}: {message}")?;
        }
        if args.stats {
            stats.print(&mut out)?;
        }
        writeln!(
            out,
            "{}: {} passed, {failed} failed",
            output::count(cases, "case"),
            cases - failed
        )?;
        out.flush()?;
    }
    Ok(status)
}

/// Why a case was not run, without its name, which stands before.
pub(crate) fn why_not(path: &Path, error: &LaunchError) -> String {
    let text = output::printable(error.to_string().as_bytes());
    let name = format!("{}: ", input::name(path));
    text.strip_prefix(&name).unwrap_or(&text).to_owned()
}

/// The cases of folders: each that has a case.json, or else those below it. Files beside them, which wildcards catch, are
/// none.
pub(crate) fn folders(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    /// Devices of a kernel, kernels of a collection.
    const DEPTH: usize = 3;
    let below = |path: &PathBuf| {
        let entries = WalkDir::new(path).max_depth(DEPTH).sort_by_file_name();
        let paths = entries
            .into_iter()
            .flatten()
            .map(walkdir::DirEntry::into_path);
        paths
            .filter(|path| path.is_dir() && is_case(path))
            .collect::<Vec<_>>()
    };
    let cases = named.iter().flat_map(|path| match is_case(path) {
        true => vec![path.clone()],
        false => below(path),
    });
    let cases: Vec<_> = cases.collect();
    if cases.is_empty() {
        return Err(Failure::Other(
            "no folder named, and none below them, has a case.json".to_owned(),
        ));
    }
    Ok(cases)
}

fn is_case(path: &Path) -> bool {
    if path.is_dir() {
        path.join("case.json").exists()
    } else {
        !path.exists() || path.extension().is_some_and(|e| e == "json")
    }
}
