//! `visakit run --case`.

use super::Args;
use super::show::Stats;
use crate::commands::roundtrip::progress;
use crate::output::{self, Failure, stdout};
use crate::{Status, input};
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use serde_json::json;
use std::io::Write;
use std::time::Duration;
use visakit_exec::{Counters, Pass};
use visakit_launch::{Config, LaunchError, Verdict};

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let config = Config {
        passes: &Pass::ALL,
        ..args.config()
    };
    // Wildcards catch the files beside the cases.
    let folders: Vec<_> = args.case.iter().filter(|p| is_case(p)).collect();
    if folders.is_empty() {
        return Err(Failure::Other("no folder named has a case.json".to_owned()));
    }
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
    for (name, result) in &results {
        let message = match result {
            Ok(verdict) => {
                counters += verdict.outcome.counters;
                time += verdict.outcome.time;
                verdict.failure()
            }
            Err(error) => Some(output::printable(error.to_string().as_bytes())),
        };
        if let Some(message) = message {
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
    Ok(if failed > 0 {
        Status::Findings
    } else {
        Status::Clean
    })
}

/// A folder with a description, or the description itself. Paths that do not exist are kept, so that
/// they are reported.
pub(crate) fn is_case(path: &std::path::Path) -> bool {
    if path.is_dir() {
        path.join("case.json").exists()
    } else {
        !path.exists() || path.extension().is_some_and(|e| e == "json")
    }
}
