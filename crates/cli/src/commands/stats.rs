//! `visakit stats`: what many objects consist of, in numbers.

use super::roundtrip::progress;
use crate::input::Wanted;
use crate::output::{self, Failure, heading, stdout};
use crate::reading::{Reading, Rejected, routine, with};
use crate::table::{Align, Columns};
use crate::{Status, input, render};
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit::parse::Container;
use visakit::stats::{Operands, Sizes, Stats};
use visakit_launch::{Input, LaunchError};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Objects, texts, folders that are searched for *.isa and *.visaasm, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only the routines of this name or number (kernels first, then functions).
    #[arg(long, value_name = "NAME|INDEX")]
    routine: Option<String>,
    #[command(flatten)]
    reading: Reading,
}

/// The results of all files together.
#[derive(Default)]
struct Outcome {
    stats: Stats,
    /// Faults that lenient reading passed over.
    faults: u64,
    /// Files with the routine that was asked for.
    having: usize,
    /// What to say if no file has it: of the first one.
    lacking: Option<Failure>,
    /// Files that could not be read.
    rejected: Vec<Rejected>,
}

impl Outcome {
    fn of(path: &Path, args: &Args) -> Self {
        match with(path, args.reading, |input| count(input, args)) {
            Ok(counted) => counted,
            Err(rejected) => Self {
                rejected: vec![rejected],
                ..Self::default()
            },
        }
    }

    fn and(mut self, mut other: Self) -> Self {
        self.stats += other.stats;
        self.faults += other.faults;
        self.having += other.having;
        self.lacking = self.lacking.or(other.lacking);
        self.rejected.append(&mut other.rejected);
        self
    }

    fn status(&self) -> Status {
        let rejected = self.rejected.iter().map(|r| r.status).max();
        let faults = if self.faults > 0 {
            Status::Findings
        } else {
            Status::Clean
        };
        rejected.unwrap_or(Status::Clean).max(faults)
    }
}

fn count(input: &Input, args: &Args) -> Result<Outcome, Vec<LaunchError>> {
    let mut linked = input.object(&args.reading.how(None))?;
    // A text counts with the size of the object it assembles to, if it does.
    let sizes = |bytes: &[u8]| Container::parse(bytes).map(|container| Sizes::of(&container));
    let sizes = if input.is_object() {
        sizes(input.bytes()).ok()
    } else {
        let bytes = visakit::encode::write(&linked.object).ok();
        bytes.and_then(|bytes| sizes(&bytes).ok())
    };
    let mut lacking = None;
    if let Some(wanted) = &args.routine {
        let object = &mut linked.object;
        let one = routine(&input.path, object, wanted);
        let is = |id| one.as_ref().ok() == Some(&id);
        let mut keep = object
            .routines()
            .map(|(id, _)| is(id))
            .collect::<Vec<_>>()
            .into_iter();
        object.kernels.retain(|_| keep.next().unwrap_or(false));
        object.functions.retain(|_| keep.next().unwrap_or(false));
        lacking = one.err();
    }
    Ok(Outcome {
        stats: Stats::of(&linked.object, sizes.unwrap_or_default()),
        faults: linked.faults.len() as u64,
        having: usize::from(lacking.is_none()),
        lacking,
        rejected: Vec::new(),
    })
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let found = input::find(&args.paths, Wanted::Programs);
    // The order of the files is kept: results are summed in it.
    let mut outcome = found
        .files
        .par_iter()
        .progress_with(progress(found.files.len()))
        .map(|path| Outcome::of(path, args))
        .reduce(Outcome::default, Outcome::and);
    for error in &found.errors {
        render::failure(error);
    }
    if let (0, Some(failure)) = (outcome.having, outcome.lacking.take()) {
        return Err(failure);
    }
    if args.reading.json {
        output::json(&document(&outcome))?;
    } else {
        text(&outcome)?;
    }
    let unfound = if found.errors.is_empty() {
        Status::Clean
    } else {
        Status::Unusable
    };
    Ok(outcome.status().max(unfound))
}

fn share(n: u64, total: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)] // a share of three digits
    let share = n as f64 / total.max(1) as f64;
    share
}

fn percent(n: u64, total: u64) -> String {
    format!("{:.1}%", 100.0 * share(n, total))
}

fn text(outcome: &Outcome) -> Result<(), Failure> {
    let stats = &outcome.stats;
    let mut out = stdout();
    for rejected in &outcome.rejected {
        writeln!(out, "{rejected}")?;
    }
    writeln!(
        out,
        "{}, {}, {}, {} ({} predicated),\n{}: {} rejected, {}",
        output::count(stats.objects, "object"),
        output::count(stats.kernels, "kernel"),
        output::count(stats.functions, "function"),
        output::count(stats.instructions(), "instruction"),
        stats.predicated,
        output::count(stats.sizes.file, "byte"),
        outcome.rejected.len(),
        output::count(outcome.faults, "fault")
    )?;
    if stats.raw_items > 0 {
        writeln!(
            out,
            "{} pieces of code could not be decoded",
            stats.raw_items
        )?;
    }
    if stats.objects == 0 {
        return Ok(out.flush()?);
    }

    let mut section = |title: &str, table: &Columns| -> Result<(), Failure> {
        write!(out, "\n{}\n{table}", heading(title))?;
        Ok(())
    };
    let instructions = stats.instructions();
    let mut table = Columns::new(&[
        ("count", Align::Right),
        ("share", Align::Right),
        ("opcode", Align::Left),
        ("mnemonic", Align::Left),
        ("name", Align::Left),
        ("group", Align::Left),
    ]);
    for (op, n) in stats.by_count() {
        table.row([
            n.to_string(),
            percent(n, instructions),
            super::number(op),
            op.def().mnemonic().to_owned(),
            op.name().to_owned(),
            op.def().group.name().to_owned(),
        ]);
    }
    section("instructions", &table)?;
    let groups = stats.groups();
    let groups = groups.iter().map(|(g, n)| (g.name().to_owned(), *n));
    section("groups", &counts("group", groups.collect(), instructions))?;
    for (title, operands) in [
        ("destinations", stats.destinations),
        ("sources", stats.sources),
    ] {
        section(title, &counts("class", classes(operands), operands.total()))?;
    }
    let sizes: Vec<(String, u64)> = exec_sizes(stats).collect();
    let total = sizes.iter().map(|(_, n)| n).sum();
    section("execution sizes", &counts("lanes", sizes, total))?;
    let bytes = bytes(stats.sizes);
    section("bytes", &counts("part", bytes, stats.sizes.file))?;
    let versions = stats.versions.iter().map(|(v, n)| (v.to_string(), *n));
    let versions = counts("version", versions.collect(), stats.objects);
    section("versions", &versions)?;
    let dialects = stats.dialects.iter().map(|(d, n)| (d.to_string(), *n));
    let dialects = counts("dialect", dialects.collect(), stats.objects);
    section("dialects", &dialects)?;
    out.flush()?;
    Ok(())
}

/// A table of names with their numbers and shares of a total.
fn counts(head: &'static str, rows: Vec<(String, u64)>, total: u64) -> Columns {
    let mut table = Columns::new(&[
        ("count", Align::Right),
        ("share", Align::Right),
        (head, Align::Left),
    ]);
    for (name, n) in rows {
        table.row([n.to_string(), percent(n, total), name]);
    }
    table
}

/// The classes that occur, most frequent first.
fn classes(operands: Operands) -> Vec<(String, u64)> {
    let mut classes: Vec<(String, u64)> = operands
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| (name.to_owned(), n))
        .collect();
    classes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    classes
}

fn exec_sizes(stats: &Stats) -> impl Iterator<Item = (String, u64)> {
    stats.exec_sizes.iter().map(|(lanes, n)| {
        let lanes = lanes.map_or_else(|| "unknown".to_owned(), |lanes| lanes.to_string());
        (lanes, *n)
    })
}

/// The parts of the files; they add up to the whole.
fn bytes(sizes: Sizes) -> Vec<(String, u64)> {
    let mut parts: Vec<(String, u64)> = sizes
        .iter()
        .filter(|(name, _)| *name != "file")
        .map(|(name, n)| (name.to_owned(), n))
        .collect();
    parts.push(("other".to_owned(), sizes.other()));
    parts
}

fn document(outcome: &Outcome) -> Value {
    let stats = &outcome.stats;
    let total = stats.instructions();
    let object = |pairs: Vec<(String, u64)>| -> Map<String, Value> {
        pairs.into_iter().map(|(k, n)| (k, n.into())).collect()
    };
    let mix: Vec<Value> = stats
        .by_count()
        .into_iter()
        .map(|(op, n)| {
            let def = op.def();
            json!({
                "name": def.name,
                "mnemonic": def.mnemonic(),
                "opcode": op.opcode(),
                "sub_op": def.sub_op,
                "group": def.group.name(),
                "count": n,
                "share": share(n, total),
            })
        })
        .collect();
    let groups = stats.groups().into_iter();
    let all =
        |operands: Operands| object(operands.iter().map(|(k, n)| (k.to_owned(), n)).collect());
    let mut sizes = object(bytes(stats.sizes));
    sizes.insert("file".to_owned(), stats.sizes.file.into());
    json!({
        "objects": stats.objects,
        "kernels": stats.kernels,
        "functions": stats.functions,
        "instructions": total,
        "predicated": stats.predicated,
        "raw_items": stats.raw_items,
        "faults": outcome.faults,
        "mix": mix,
        "groups": object(groups.map(|(g, n)| (g.name().to_owned(), n)).collect()),
        "destinations": all(stats.destinations),
        "sources": all(stats.sources),
        "exec_sizes": object(exec_sizes(stats).collect()),
        "bytes": sizes,
        "versions": object(stats.versions.iter().map(|(v, n)| (v.to_string(), *n)).collect()),
        "dialects": object(stats.dialects.iter().map(|(d, n)| (d.to_string(), *n)).collect()),
        "rejected": outcome.rejected,
    })
}
