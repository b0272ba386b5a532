//! `visakit diff`: what differs between two objects.

use super::{Reading, change};
use crate::output::{self, Failure, printable, stdout};
use crate::{Status, input};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use visakit::rewrite::{Change, Diff, RoutineDiff, diff};

const OLD: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Green.on_default();

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The first object, or - for standard input.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The second object.
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// For programs.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Report<'d> {
    object: Vec<Entry<'d>>,
    routines: Vec<Routine<'d>>,
    same_routines: usize,
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
    let old_bytes = input::read(&args.old).map_err(Failure::Other)?;
    let new_bytes = input::read(&args.new).map_err(Failure::Other)?;
    let old = change::decode(&args.old, &old_bytes, args.reading);
    let new = change::decode(&args.new, &new_bytes, args.reading);
    let (Some(old), Some(new)) = (old, new) else {
        return Ok(Status::Unusable);
    };
    let found = diff(&old, &new);
    if args.json {
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
        old: place(change.old.as_ref()),
        new: place(change.new.as_ref()),
    }
}

fn place(side: Option<&(usize, String)>) -> Option<Text<'_>> {
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
            "{kind} {name}: {other} changed, {gone} removed, {fresh} added; {} instructions the same",
            routine.same
        );
        writeln!(out, "{}", output::heading(&title))?;
        lines(&mut out, &routine.changes)?;
    }
    let routines = if diff.same == 1 {
        "routine"
    } else {
        "routines"
    };
    writeln!(
        out,
        "{} {routines} the same, {} different",
        diff.same,
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
