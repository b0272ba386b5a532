//! `visakit check --symbolic`: what a launch may do wrong for some contents of its buffers.
//!
//! Runs under checks on generated contents, and on those for which the proof comes to what it does not understand, find
//! faults. What they do not find is proven absent, or unknown.

use super::{CheckArgs, Checked, Failing, document, text};
use crate::commands::prove::{assumptions, fit, witness};
use crate::commands::run;
use crate::output::{self, Failure, heading, printable, stdout};
use crate::{Status, input};
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use visakit_check::{Checks, Report, check};
use visakit_debug::Sources;
use visakit_launch::{Argument, Case, Config, Kernel, LaunchError, NdRange};
use visakit_prove::{Options, Side, Verdict, contents, examine};

/// A launch with any contents.
struct Launched<'a> {
    name: String,
    kernel: &'a Kernel<'a>,
    range: NdRange,
    arguments: &'a [Argument],
    /// Arguments that nobody has written yet.
    uninitialized: Vec<usize>,
}

/// What is known of it.
struct Known {
    kernel: String,
    verdict: &'static str,
    reason: Option<String>,
    assumed: Vec<String>,
    seconds: f64,
    /// The findings, and for which arguments.
    checked: Checked,
    witness: Option<Vec<Argument>>,
}

/// Instructions of a run: with generated contents loops may be long.
const MOST_STEPS: u64 = 2_000_000;

/// What a clean launch does not do.
const NEVER: &str =
    "access memory outside of all objects, race, part at a barrier, put out what was never written";

pub(super) fn run(args: &CheckArgs) -> Result<Status, Failure> {
    let pool = args.run.pool()?;
    pool.install(|| {
        if args.run.cases().is_empty() {
            return run::kernel::with_kernel(&args.run, |kernel, range, arguments| {
                let arguments = arguments.all()?;
                let launched = Launched {
                    name: args.run.name(),
                    kernel,
                    range: *range,
                    arguments: &arguments,
                    uninitialized: args.run.uninitialized(),
                };
                let known = known(args, &launched)?;
                let zeinfo = || run::kernel::zeinfo_text(&args.run);
                told(args, &[known.written(args, &launched, &zeinfo)?])
            });
        }
        let folders = run::case::folders(args.run.cases())?;
        let all = folders.iter().map(|path| case(args, path));
        told(args, &all.collect::<Result<Vec<_>, _>>()?)
    })
}

fn case(args: &CheckArgs, path: &Path) -> Result<Known, Failure> {
    let case: Case = args.run.open_case(path)?;
    let config = visakit_check::config(args.run.config());
    let mut done = None;
    case.launch(
        args.run.takes_texts(),
        &config,
        |object| object,
        |kernel, arguments, launch| {
            let launched = Launched {
                name: case.name(),
                kernel,
                range: *launch.range(),
                arguments,
                uninitialized: case.uninitialized(),
            };
            let zeinfo = || witness::zeinfo_of_case(path);
            let found = known(args, &launched);
            done = Some(found.and_then(|known| known.written(args, &launched, &zeinfo)));
            Ok::<(), LaunchError>(())
        },
    )?;
    done.unwrap_or_else(|| Err(Failure::Other("the case has no launch".to_owned())))
}

/// Runs the launch under checks with these arguments.
fn checked(
    args: &CheckArgs,
    launched: &Launched<'_>,
    arguments: &[Argument],
) -> Result<Report<Vec<u8>>, Failure> {
    let config = visakit_check::config(args.run.config());
    let config = Config {
        max_steps: config.max_steps.min(MOST_STEPS),
        ..config
    };
    let kernel = launched.kernel;
    let launch = kernel.prepare(&launched.range, arguments, &config)?;
    let report = check(
        kernel,
        launch,
        &config,
        Checks::ALL,
        &launched.uninitialized,
    )?;
    Ok(report.map(|outcome| outcome.printed))
}

fn known(args: &CheckArgs, launched: &Launched<'_>) -> Result<Known, Failure> {
    let options = Options {
        time: Duration::from_secs(args.time),
        symbolic: args.any_value.clone(),
        ..Options::default()
    };
    fit((&[], &args.any_value), launched.arguments)?;
    let known = |verdict, reason, seconds, report, witness| Known {
        kernel: printable(launched.kernel.info().name.as_bytes()),
        verdict,
        reason,
        assumed: assumptions((&[], &args.any_value), &launched.range, launched.arguments),
        seconds,
        checked: Checked {
            case: launched.name.clone(),
            result: Ok(report),
        },
        witness,
    };
    let mut clean = None;
    for seed in 0..args.trials.max(1) {
        let arguments = contents(launched.arguments, &options, seed);
        let report = checked(args, launched, &arguments)?;
        if !report.findings.is_empty() {
            return Ok(known("findings", None, 0.0, report, Some(arguments)));
        }
        clean.get_or_insert(report);
    }
    let side = Side {
        kernel: launched.kernel,
        range: launched.range,
    };
    let config = args.run.config();
    let mut proof = examine(side, launched.arguments, &config, &options)?;
    let seconds = proof.time.as_secs_f64();
    if let Some(arguments) = proof.suspect.take() {
        let report = checked(args, launched, &arguments)?;
        if !report.findings.is_empty() {
            return Ok(known("findings", None, seconds, report, Some(arguments)));
        }
    }
    let (verdict, reason) = match &proof.verdict {
        Verdict::Unknown(unknown) => ("unknown", Some(printable(unknown.to_string().as_bytes()))),
        _ => ("clean", None),
    };
    let clean = clean.ok_or_else(|| Failure::Other("no run".to_owned()))?;
    Ok(known(verdict, reason, seconds, clean, None))
}

impl Known {
    /// Writes the launch that shows the findings, if that is wanted.
    fn written(
        self,
        args: &CheckArgs,
        launched: &Launched<'_>,
        zeinfo: &dyn Fn() -> Result<String, Failure>,
    ) -> Result<Self, Failure> {
        if let (Some(folder), Some(arguments)) = (&args.witness, &self.witness) {
            let name = &launched.kernel.info().name;
            let exact = args.run.config().exact_ends;
            let of = (launched.kernel, &launched.range, exact);
            let left = witness::Left::default();
            witness::write(folder, name, of, arguments, &left, &zeinfo()?)?;
        }
        Ok(self)
    }
}

fn told(args: &CheckArgs, all: &[Known]) -> Result<Status, Failure> {
    let failing = Failing::new(&[])?;
    let status = |known: &Known| match known.verdict {
        "clean" => Status::Clean,
        "unknown" => Status::Findings,
        _ => known.checked.status(|finding| failing.has(finding.kind)),
    };
    if args.run.json() {
        let mut cases = Vec::new();
        for known in all {
            for mut case in document::cases(std::slice::from_ref(&known.checked)) {
                let symbolic = json!({
                    "verdict": known.verdict,
                    "reason": known.reason,
                    "assumed": known.assumed,
                    "seconds": known.seconds,
                });
                if let Some(case) = case.as_object_mut() {
                    case.insert("symbolic".to_owned(), symbolic);
                }
                cases.push(case);
            }
        }
        output::json(&json!({ "cases": cases }))?;
    } else {
        let mut out = stdout();
        let mut sources = Sources::new(args.run.folders());
        for known in all {
            let title = format!("{}: {}", known.checked.case, known.verdict);
            writeln!(out, "{}", heading(&title))?;
            if let Some(reason) = &known.reason {
                writeln!(out, "  because    {reason}")?;
            }
            for line in &known.assumed {
                writeln!(out, "  assumed    {line}")?;
            }
            if known.verdict == "clean" {
                writeln!(out, "  never      {NEVER}")?;
            }
            if let (Some(folder), Some(_)) = (&args.witness, &known.witness) {
                let folder = input::name(folder);
                let name = &known.kernel;
                writeln!(
                    out,
                    "  witness    {folder}: `visakit check --case {folder}/{name}`"
                )?;
            }
            if known.verdict == "findings" {
                text::print(&mut out, std::slice::from_ref(&known.checked), &mut sources)?;
            }
        }
        out.flush()?;
    }
    Ok(all.iter().map(status).max().unwrap_or(Status::Clean))
}
