//! `visakit diff`: the differences between two objects.

mod proof;

use super::run::Launching;
use crate::Status;
use crate::output::{self, Failure, printable, stdout};
use crate::reading::{self, Reading};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use visakit::rewrite::{Change, Diff, RoutineDiff, diff, extract};
use visakit_launch::{KernelTrial, TrialOptions, TrialVerdict, trial};

const OLD: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Green.on_default();

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit diff old.isa new.isa                    what differs in the code
  visakit diff old.isa new.isa --run
      do they do the same on generated inputs?
  visakit diff old.isa new.isa --run --seeds 100  on more of them
  visakit diff old.isa new.isa --prove --zeinfo k.zeinfo --global 64 --arg zeros:256
                                                  are kernels whose code differs the same on all inputs?

With --run the exit code is 1 where kernels do something else, else 2 where one could not be compared, else 0. With
--prove it is 0 if all kernels whose code differs are proven equal, and 1 otherwise; see `visakit prove`.")]
pub(crate) struct Args {
    /// The first object or text, or - for standard input.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The second object or text.
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Only this routine and what it calls, by name or number (kernels first, then functions).
    #[arg(long, value_name = "NAME|INDEX")]
    routine: Option<String>,
    /// Runs kernels of the same name on the same generated inputs and compares the memory that they leave.
    #[arg(long)]
    run: bool,
    /// How many inputs are generated for each kernel.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "run")]
    seeds: u64,
    /// Proves that kernels of the same name compute the same although their code differs, or finds contents of buffers
    /// that tell them apart. What is not given of a launch is assumed, and said: 64 work-items, generated arguments.
    #[arg(long, conflicts_with = "run")]
    prove: bool,
    /// With --prove: most seconds for a kernel.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "prove")]
    time: u64,
    /// With --prove: write inputs that tell kernels apart into a new folder, for each of them two cases for
    /// `visakit run --case`.
    #[arg(long, value_name = "DIR", requires = "prove")]
    witness: Option<PathBuf>,
    #[command(flatten)]
    launching: Launching,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Report<'d> {
    object: Vec<Entry<'d>>,
    routines: Vec<Routine<'d>>,
    same_routines: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    proofs: Option<Vec<serde_json::Value>>,
}

#[derive(Serialize)]
struct Routine<'d> {
    kind: &'static str,
    name: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_in: Option<&'static str>,
    same_instructions: usize,
    changes: Vec<Entry<'d>>,
}

#[derive(Serialize)]
struct Entry<'d> {
    what: &'static str,
    old: Option<Text<'d>>,
    new: Option<Text<'d>>,
}

#[derive(Serialize)]
struct Text<'d> {
    index: usize,
    text: &'d str,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let (old, new) = (args.reading.open(&args.old)?, args.reading.open(&args.new)?);
    let mut old = args.reading.object(&old)?.object;
    let mut new = args.reading.object(&new)?.object;
    if let Some(name) = &args.routine {
        for (object, path) in [(&mut old, &args.old), (&mut new, &args.new)] {
            let one = reading::routine(path, object, name)?;
            if let Err(error) = extract(object, &[one]) {
                crate::render::change_error(path, &error);
                return Ok(Status::Unusable);
            }
        }
    }
    if args.run {
        let mut options = TrialOptions::default();
        options.seeds = args.seeds.max(1);
        options.grf_bytes = args.reading.grf_bytes();
        return ran(&trial(&old, &new, &options), args.reading.json);
    }
    let found = diff(&old, &new);
    if args.prove {
        let proofs = proof::all(args, &old, &new)?;
        if args.reading.json {
            let proofs = Some(proofs.iter().map(proof::Of::document).collect());
            output::json(&Report {
                proofs,
                ..report(&found)
            })?;
        } else {
            text(&found)?;
            proof::print(&proofs)?;
        }
        return Ok(proof::status(&proofs));
    }
    if args.reading.json {
        output::json(&report(&found))?;
    } else {
        text(&found)?;
    }
    Ok(if found.is_empty() {
        Status::Clean
    } else {
        Status::Findings
    })
}

const fn side(new: bool) -> &'static str {
    if new { "new" } else { "old" }
}

fn report(diff: &Diff) -> Report<'_> {
    Report {
        object: entries(&diff.object),
        routines: diff.routines.iter().map(routine).collect(),
        same_routines: diff.same,
        proofs: None,
    }
}

fn routine(diff: &RoutineDiff) -> Routine<'_> {
    Routine {
        kind: diff.kind,
        name: &diff.name,
        only_in: diff.only_in_new.map(side),
        same_instructions: diff.same,
        changes: entries(&diff.changes),
    }
}

fn entries(changes: &[Change]) -> Vec<Entry<'_>> {
    changes.iter().map(entry).collect()
}

fn entry(change: &Change) -> Entry<'_> {
    Entry {
        what: change.what,
        old: numbered(change.old.as_ref()),
        new: numbered(change.new.as_ref()),
    }
}

fn numbered(side: Option<&(usize, String)>) -> Option<Text<'_>> {
    side.map(|(index, text)| Text {
        index: *index,
        text,
    })
}

fn text(diff: &Diff) -> Result<(), Failure> {
    let mut out = stdout();
    lines(&mut out, &diff.object)?;
    for routine in &diff.routines {
        let (kind, name) = (routine.kind, printable(routine.name.as_bytes()));
        if let Some(new) = routine.only_in_new {
            writeln!(
                out,
                "{}",
                output::heading(&format!("{kind} {name}: only in the {} object", side(new)))
            )?;
            continue;
        }
        let count =
            |what: &dyn Fn(&Change) -> bool| routine.changes.iter().filter(|c| what(c)).count();
        let gone = count(&|c| c.old.is_some() && c.new.is_none());
        let fresh = count(&|c| c.old.is_none() && c.new.is_some());
        let other = count(&|c| c.old.is_some() && c.new.is_some());
        let title = format!(
            "{kind} {name}: {other} changed, {gone} removed, {fresh} added; {} the same",
            output::count(routine.same, "instruction")
        );
        writeln!(out, "{}", output::heading(&title))?;
        lines(&mut out, &routine.changes)?;
    }
    writeln!(
        out,
        "{} the same, {} different",
        output::count(diff.same, "routine"),
        diff.routines.len()
    )?;
    out.flush()?;
    Ok(())
}

/// Removed lines of a run, then the added ones.
fn lines(out: &mut impl Write, changes: &[Change]) -> Result<(), Failure> {
    let mut rest = changes;
    while let Some((first, _)) = rest.split_first() {
        // A run ends where the kind of thing or the row of numbers breaks off.
        let mut length = 1;
        for (a, b) in rest.iter().zip(rest.iter().skip(1)) {
            let follows = |a: &Option<(usize, String)>, b: &Option<(usize, String)>| match (a, b) {
                (Some((i, _)), Some((j, _))) => i + 1 == *j,
                (None, Some(_)) => false,
                _ => true,
            };
            if a.what != b.what || !follows(&a.old, &b.old) || !follows(&a.new, &b.new) {
                break;
            }
            length += 1;
        }
        let (run, after) = rest.split_at(length);
        for change in run {
            line(out, OLD, '-', first.what, change.old.as_ref())?;
        }
        for change in run {
            line(out, NEW, '+', first.what, change.new.as_ref())?;
        }
        rest = after;
    }
    Ok(())
}

fn line(
    out: &mut impl Write,
    style: Style,
    sign: char,
    what: &str,
    text: Option<&(usize, String)>,
) -> Result<(), Failure> {
    if let Some((index, text)) = text {
        let text = printable(text.as_bytes());
        writeln!(out, "{style}{sign} {what} {index}: {text}{style:#}")?;
    }
    Ok(())
}

#[derive(Serialize)]
pub(super) struct Trial {
    kernel: String,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl Trial {
    pub(super) fn of(trial: &KernelTrial) -> Self {
        let (result, runs, message) = match &trial.verdict {
            TrialVerdict::Same { runs, wrote: true } => ("same", Some(*runs), None),
            TrialVerdict::Same { runs, wrote: false } => (
                "unseen",
                Some(*runs),
                Some(
                    "both run and change no memory, so that there is nothing to compare".to_owned(),
                ),
            ),
            TrialVerdict::Differs(found) => ("differs", None, Some(found.to_string())),
            TrialVerdict::NotRun(why) => ("not run", None, Some(why.clone())),
            TrialVerdict::Missing { in_new } => {
                let only = format!("only in the {} object", side(*in_new));
                ("missing", None, Some(only))
            }
        };
        Self {
            kernel: printable(&trial.name),
            result,
            runs,
            message,
        }
    }
}

/// Reports the results of the runs.
fn ran(trials: &[KernelTrial], json: bool) -> Result<Status, Failure> {
    if json {
        let all: Vec<_> = trials.iter().map(Trial::of).collect();
        output::json(&serde_json::json!({ "kernels": all }))?;
    } else {
        print_trials(trials)?;
    }
    Ok(status_of_trials(trials))
}

/// Kernels that do the same, those that differ, and those about which nothing is known.
fn sums(trials: &[KernelTrial]) -> [usize; 3] {
    [
        &["same"][..],
        &["differs", "missing"],
        &["not run", "unseen"],
    ]
    .map(|results| {
        let trials = trials.iter().map(Trial::of);
        trials.filter(|t| results.contains(&t.result)).count()
    })
}

/// How a command ends that made these runs.
pub(super) fn status_of_trials(trials: &[KernelTrial]) -> Status {
    match sums(trials) {
        [_, other, _] if other > 0 => Status::Findings,
        [_, _, open] if open > 0 || trials.is_empty() => Status::Unusable,
        _ => Status::Clean,
    }
}

/// Prints the results of the runs.
pub(super) fn print_trials(trials: &[KernelTrial]) -> Result<(), Failure> {
    let mut out = stdout();
    for trial in trials.iter().map(Trial::of) {
        write!(out, "kernel {}: {}", trial.kernel, trial.result)?;
        if let Some(runs) = trial.runs {
            write!(out, " in {}", output::count(runs, "run"))?;
        }
        match &trial.message {
            Some(message) => writeln!(out, ": {}", printable(message.as_bytes()))?,
            None => writeln!(out)?,
        }
    }
    let [same, other, open] = sums(trials);
    writeln!(
        out,
        "{}: {same} the same, {other} different, {open} not compared",
        output::count(trials.len(), "kernel")
    )?;
    Ok(out.flush()?)
}
