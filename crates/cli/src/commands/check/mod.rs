//! `visakit check`: finds faults in running kernels.

mod document;
pub(crate) mod sarif;
mod symbolic;
mod text;
pub(crate) mod told;

use super::checking::{Checking, Format};
use super::roundtrip::progress;
use super::run;
use crate::Status;
use crate::output::{self, Failure, stdout};
use crate::{input, render};
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit_check::{Checks, Finding, Kind, Level, Report, Suppressions, Verdict};
use visakit_debug::Sources;
use visakit_launch::Case;

#[derive(Clone, clap::Args)]
#[command(
    after_long_help = "Kinds of checks: memory, uninitialized, race, sync; all of these (the default); and, only by
name, arithmetic and lockstep.

Examples:
  visakit check --case cases/*
  visakit check k.visaasm --zeinfo k.zeinfo --global 1024 --local 64 \\
      --arg zeros:4096 --arg buffer:a.bin
  visakit check k.visaasm --zebin k.bin --global 64 \\
      --arg uninitialized:256 --check race --json
  visakit check --case cases/vecadd/dg2 --symbolic  whatever is in the buffers"
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    run: run::Args,
    /// Whatever is in the buffers: look for contents for which something is wrong, or prove that there are none.
    #[arg(long)]
    symbolic: bool,
    /// With --symbolic: the scalar argument N has any value.
    #[arg(long, value_name = "N", value_delimiter = ',', requires = "symbolic")]
    any_value: Vec<usize>,
    /// With --symbolic: how many generated contents are tried before anything is proven.
    #[arg(long, value_name = "N", default_value_t = 8, requires = "symbolic")]
    trials: u64,
    /// With --symbolic: most seconds for a proof.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        requires = "symbolic"
    )]
    time: u64,
    /// With --symbolic: write a launch in which something is wrong into a new folder, as a case.
    #[arg(long, value_name = "DIR", requires = "symbolic")]
    witness: Option<PathBuf>,
}

/// A launch and what was found in it, with the output of the kernel.
pub(crate) struct Checked {
    case: String,
    result: Result<Report<Vec<u8>>, String>,
}

/// The checks of these names.
pub(crate) fn checks(names: &[String]) -> Result<Checks, Failure> {
    let mut checks = Checks::NONE;
    for name in names {
        checks = checks.with(name).ok_or_else(|| {
            let known = Checks::NAMES.join(", ");
            Failure::Other(format!("`{name}` is no kind of check; there are {known}"))
        })?;
    }
    Ok(checks)
}

pub(crate) fn run(args: &CheckArgs) -> Result<Status, Failure> {
    if args.symbolic {
        return symbolic::run(args);
    }
    let kinds = args.run.kinds();
    let all = ["all".to_owned()];
    check(&args.run, if kinds.is_empty() { &all } else { kinds })
}

/// `run --check`.
pub(crate) fn of_run(args: &run::Args) -> Result<Status, Failure> {
    check(args, args.kinds())
}

/// Checks what `run` would run.
fn check(run: &run::Args, kinds: &[String]) -> Result<Status, Failure> {
    run.named()?;
    run.pool()?.install(|| with(run, kinds, run.checking()))
}

fn with(run: &run::Args, kinds: &[String], options: &Checking) -> Result<Status, Failure> {
    let checks = checks(kinds)?;
    let suppressions = match &options.suppress {
        Some(path) => suppressions(path)?,
        None => Suppressions::default(),
    };
    let fails = Failing::new(&options.fail_on)?;
    let fails = |finding: &Finding| fails.has(finding.kind);
    let mut checked = if !run.widths().is_empty() {
        let widths = run.widths().iter().map(|width| {
            let (case, args) = run.of_width(*width);
            Ok(Checked {
                case,
                result: Ok(run::check(&args, checks)?),
            })
        });
        widths.collect::<Result<_, Failure>>()?
    } else if run.cases().is_empty() {
        vec![Checked {
            case: run.name(),
            result: Ok(run::check(run, checks)?),
        }]
    } else {
        cases(run, checks)?
    };
    let mut used = Vec::new();
    for one in &mut checked {
        if let Ok(report) = &mut one.result {
            report.findings.retain(|finding| {
                let known = used.len();
                used.extend(suppressions.covering(&one.case, finding));
                used.len() == known
            });
        }
    }
    if let Some(path) = &options.suppress {
        for line in suppressions.lines().filter(|line| !used.contains(line)) {
            let place = input::name(path);
            render::note(&format!(
                "{place}, line {line}: nothing was found that it is for"
            ));
        }
    }
    let compared = match run.widths() {
        [] | [_] => None,
        _ => Some(run::simd::compare(run)?),
    };
    let cases = document::cases(&checked);
    if let Some(path) = &options.sarif {
        write(path, &sarif::log(&cases))?;
    }
    for one in &checked {
        one.tell(run.json());
    }
    if run.json() {
        output::json(&json!({ "cases": cases }))?;
    } else {
        let mut out = stdout();
        if run.printf() {
            for report in checked.iter().filter_map(|one| one.result.as_ref().ok()) {
                out.write_all(&report.outcome)?;
            }
        }
        let mut sources = Sources::new(run.folders());
        text::print(&mut out, &checked, &mut sources)?;
        if options.format == Format::Github {
            told::annotate(&mut out, &cases)?;
        }
        out.flush()?;
    }
    let statuses = checked.iter().map(|one| one.status(fails));
    Ok(statuses.chain(compared).max().unwrap_or(Status::Clean))
}

/// Writes a document of its own into a file.
pub(crate) fn write(path: &Path, document: &Value) -> Result<(), Failure> {
    let text = serde_json::to_vec_pretty(document);
    let text = text.map_err(|error| Failure::Other(error.to_string()))?;
    output::file(path, &text)
}

impl Checked {
    /// The status of the command if there were no other launch.
    fn status(&self, fails: impl Fn(&Finding) -> bool) -> Status {
        let Ok(report) = &self.result else {
            return Status::Unusable;
        };
        match report.verdict(fails) {
            Verdict::Clean => Status::of_run(true, false),
            Verdict::Findings => Status::of_run(true, true),
            Verdict::Unfinished => Status::of_run(false, false),
        }
    }

    /// Says what prevented it from running. What stopped it is told with the findings, and in documents as a problem.
    fn tell(&self, document: bool) {
        let message = match &self.result {
            Err(message) => Some(message.clone()),
            Ok(report) => report.end.stopped().filter(|_| document).map(run::why),
        };
        if let Some(message) = message {
            render::failure(&format!("{}: {message}", self.case));
        }
    }
}

/// All findings of a single launch with some arguments.
pub(crate) fn find(run: &run::Args) -> Result<Vec<Finding>, Failure> {
    let report = match run.cases() {
        [folder] => {
            let case = run
                .open_case(folder)
                .map_err(|e| Failure::Other(e.to_string()))?;
            let texts = run.takes_texts();
            let report = visakit_check::check_case(&case, texts, &run.config(), Checks::ALL);
            let report = report.map_err(|e| Failure::Other(e.to_string()))?;
            report.map(|outcome| outcome.printed)
        }
        _ => run::check(run, Checks::ALL)?,
    };
    match report.end.stopped() {
        Some(stopped) if report.findings.is_empty() => Err(Failure::Other(format!(
            "nothing was found until the run under checks was {}",
            run::why(stopped)
        ))),
        _ => Ok(report.findings),
    }
}

fn cases(run: &run::Args, checks: Checks) -> Result<Vec<Checked>, Failure> {
    let config = run.config();
    let folders = run::case::folders(run.cases())?;
    let check = |path: &PathBuf| {
        let opened = run.open_case(path);
        let case = opened
            .as_ref()
            .map_or_else(|_| input::name(path), Case::name);
        let report = opened
            .and_then(|case| visakit_check::check_case(&case, run.takes_texts(), &config, checks));
        let result = report.map(|report| report.map(|outcome| outcome.printed));
        Checked {
            case,
            result: result.map_err(|error| run::case::why_not(path, &error)),
        }
    };
    let bar = progress(folders.len());
    Ok(folders.par_iter().progress_with(bar).map(check).collect())
}

fn suppressions(path: &Path) -> Result<Suppressions, Failure> {
    let place = input::name(path);
    let text = input::read_text(path).map_err(Failure::Other)?;
    Suppressions::parse(&text).map_err(|error| Failure::Other(format!("{place}, {error}")))
}

/// Which findings make a command fail.
pub(crate) struct Failing {
    kinds: Vec<Kind>,
    least: Option<Level>,
}

impl Failing {
    /// By the names of levels and kinds; warnings if there are none.
    pub(crate) fn new(words: &[String]) -> Result<Self, Failure> {
        let mut failing = Self {
            kinds: Vec::new(),
            least: words.is_empty().then_some(Level::Warning),
        };
        for word in words {
            let level = LEVELS.iter().find(|level| level.name() == word);
            let kind = Kind::ALL.iter().find(|kind| kind.name() == word);
            match (level, kind) {
                (Some(level), _) => {
                    let least = failing.least.map_or(*level, |least| least.min(*level));
                    failing.least = Some(least);
                }
                (None, Some(kind)) => failing.kinds.push(*kind),
                (None, None) => {
                    let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
                    let known = known.join(", ");
                    return Err(Failure::Other(format!(
                        "`{word}` is no level and no kind; there are error, warning, note, {known}"
                    )));
                }
            }
        }
        Ok(failing)
    }

    fn has(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind) || self.least.is_some_and(|least| kind.level() >= least)
    }

    /// Whether the document of a launch does: without a verdict it always does.
    pub(crate) fn fails(&self, case: &Value) -> bool {
        let kind = |finding: &Value| {
            let name = finding["kind"].as_str().unwrap_or_default();
            Kind::ALL.iter().copied().find(|kind| kind.name() == name)
        };
        let mut findings = case["findings"].as_array().into_iter().flatten();
        told::told(case).is_some()
            || findings.any(|finding| kind(finding).is_none_or(|kind| self.has(kind)))
    }
}

/// All levels.
const LEVELS: [Level; 3] = [Level::Error, Level::Warning, Level::Note];
