//! `visakit profile`: what runs how often, with which lanes, and how long it takes.

mod annotate;
mod diff;
mod text;

use super::roundtrip::progress;
use super::run;
use crate::output::{self, Failure, stdout};
use crate::{Status, input, render};
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit::isa::Platform;
use visakit_debug::Sources;
use visakit_profile::{KernelCode, KernelProfile, Profile, Watched};

#[derive(clap::Args)]
#[group(skip)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "--platform chooses the device whose costs count, if the program runs there as well.

Examples:
  visakit profile --case cases/vecadd/skl
  visakit profile k.cl --device dg2 --options=-g --global 1024 \\
      --arg zeros:4096 --annotate
  visakit profile k.visaasm --zeinfo k.zeinfo --global 1024 \\
      --arg zeros:4096 --html k.html
  visakit profile --case cases/vecadd/skl \\
      --folded - | inferno-flamegraph > k.svg
  visakit profile --case old/k --json > old.json; visakit profile \\
      --case new/k --json > new.json;
  visakit profile diff old.json new.json"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    run: run::Args,
    /// Print all instructions and source lines with what they cost.
    #[arg(long)]
    annotate: bool,
    /// Write a page with tables, source and instructions.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write folded stacks for flame graphs, with cycles; - for standard output.
    #[arg(long, value_name = "FILE", conflicts_with = "annotate")]
    folded: Option<PathBuf>,
    /// Work-groups whose addresses and waits at barriers are examined: none, all, or at most so many, spread over the
    /// grid.
    #[arg(long, value_name = "none|all|N", value_parser = watched, default_value = "4")]
    memory: Watched,
    /// Rows of each table. [default: 10]
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        hide_default_value = true
    )]
    top: usize,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Compare two profiles, which --json wrote.
    Diff(diff::Args),
}

fn watched(text: &str) -> Result<Watched, String> {
    match text {
        "none" => Ok(Watched::None),
        "all" => Ok(Watched::All),
        number => number
            .parse()
            .map(Watched::Groups)
            .map_err(|_| "expected none, all, or a number of work-groups".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    if let Some(Verb::Diff(args)) = &args.verb {
        return diff::run(args);
    }
    if args.run.cases().is_empty() && args.run.is_empty() {
        return Err(Failure::Other(
            "no program: name an object or a text, or cases with --case".to_owned(),
        ));
    }
    let pool = args.run.pool()?;
    pool.install(|| profile(args))
}

fn profile(args: &Args) -> Result<Status, Failure> {
    let mut status = Status::Clean;
    let mut profile = Profile::default();
    let mut printed = Vec::new();
    if args.run.cases().is_empty() {
        let (kernel, text) = run::kernel::profile(&args.run, args.memory)?;
        profile.add(kernel);
        printed.extend(text);
    } else {
        for (name, result) in cases(args)? {
            match result {
                Ok((kernel, text)) => {
                    profile.add(kernel);
                    printed.extend(text);
                }
                Err(error) => {
                    render::failure(&format!("{name}: {error}"));
                    status = Status::Unusable;
                }
            }
        }
    }
    let complete = !profile.kernels.iter().any(|kernel| kernel.stopped);
    if !complete {
        run::told_stopped();
    }
    status = status.max(Status::of_run(complete, false));
    let mut sources = Sources::new(args.run.folders());
    if let Some(path) = &args.html {
        let text = |file: &str| Some(sources.lines(file)?.join("\n"));
        let page = visakit_profile::html::page(&profile, &args.run.title(), text);
        output::file(path, page.as_bytes())?;
    }
    if let Some(path) = &args.folded {
        let stacks = visakit_profile::folded(&profile);
        if !output::is_stdout(Some(path)) {
            output::file(path, stacks.as_bytes())?;
        } else if !output::is_json() {
            output::text(None, stacks.as_bytes())?;
            return Ok(status);
        }
    }
    if output::is_json() {
        output::json(&json!({ "kernels": profile.kernels }))?;
        return Ok(status);
    }
    let mut out = stdout();
    if args.run.printf() {
        out.write_all(&printed)?;
    }
    for (number, kernel) in profile.kernels.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        text::summary(&mut out, kernel)?;
        if args.annotate {
            annotate::print(&mut out, kernel, &mut sources)?;
        } else {
            text::tables(&mut out, kernel, args.top, &mut sources)?;
        }
    }
    out.flush()?;
    Ok(status)
}

/// A case, its profile, and the output of its kernel.
type OfCase = (String, Result<(KernelProfile, Vec<u8>), String>);

fn cases(args: &Args) -> Result<Vec<OfCase>, Failure> {
    let folders = run::case::folders(args.run.cases())?;
    let bar = progress(folders.len());
    let folders = folders.par_iter().progress_with(bar);
    Ok(folders.map(|path| case(args, path)).collect())
}

fn case(args: &Args, path: &Path) -> OfCase {
    let case = match args.run.open_case(path) {
        Ok(case) => case,
        Err(error) => return (input::name(path), Err(run::case::why_not(path, &error))),
    };
    let config = visakit_profile::config(args.run.config());
    let platform = args.run.platform();
    let platform = platform.or_else(|| Platform::from_name(case.device()));
    let result = case.launch(
        args.run.takes_texts(),
        &config,
        |object| object,
        |kernel, _, launch| {
            let code = KernelCode::new(kernel.object(), launch.program(), platform);
            let (profile, outcome) = visakit_profile::run(&code, launch, &config, args.memory)?;
            Ok((profile, outcome.printed))
        },
    );
    let result = result.map_err(|error| run::case::why_not(path, &error));
    (case.name(), result)
}
