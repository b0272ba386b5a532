//! `visakit profile diff`.

use super::text::{duration, grouped, percent};
use crate::output::{self, Failure, heading, printable, stdout};
use crate::table::Align::{Left, Right};
use crate::table::Columns;
use crate::{Status, input};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit_profile::{Change, KernelDiff, Profile, Summary};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The old profile: what `visakit profile --json` wrote.
    old: PathBuf,
    /// The new profile.
    new: PathBuf,
    /// Rows of each table. [default: 10]
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        hide_default_value = true
    )]
    top: usize,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let (old, new) = (read(&args.old)?, read(&args.new)?);
    let kernels = visakit_profile::diff(&old, &new);
    let differs = kernels.iter().any(|kernel| !kernel.is_empty());
    if args.json {
        output::json(&json!({ "diff": kernels }))?;
    } else {
        let mut out = stdout();
        for (number, kernel) in kernels.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            print(&mut out, kernel, args.top)?;
        }
        out.flush()?;
    }
    Ok(if differs {
        Status::Findings
    } else {
        Status::Clean
    })
}

fn read(path: &Path) -> Result<Profile, Failure> {
    let bytes = input::read_within(path, input::LARGEST_SOURCE).map_err(Failure::Other)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let name = input::name(path);
        Failure::Other(format!(
            "{name}: is no profile as `visakit profile --json` writes it: {error}"
        ))
    })
}

fn print(out: &mut impl Write, kernel: &KernelDiff, top: usize) -> Result<(), Failure> {
    let name = heading(&printable(kernel.kernel.as_bytes()));
    let (old, new) = match (&kernel.old, &kernel.new) {
        (Some(old), Some(new)) => (old, new),
        (Some(_), None) => return Ok(writeln!(out, "{name}: only in the old profile")?),
        _ => return Ok(writeln!(out, "{name}: only in the new profile")?),
    };
    if kernel.is_empty() {
        return Ok(writeln!(out, "{name}: the same")?);
    }
    writeln!(out, "{name}")?;
    write!(out, "{}", facts(old, new))?;
    for (title, changes) in [
        ("Routines", &kernel.routines),
        ("Source lines", &kernel.lines),
        ("Mnemonics", &kernel.mnemonics),
    ] {
        if !changes.is_empty() {
            writeln!(out, "\n{}", heading(title))?;
            write!(out, "{}", rows(changes, top))?;
        }
    }
    Ok(())
}

fn facts(old: &Summary, new: &Summary) -> Columns {
    let mut table = Columns::new(&[
        ("", Left),
        ("old", Right),
        ("new", Right),
        ("change", Right),
    ]);
    let mut row = |name: &str, old: String, new: String, change: String| {
        table.row([name.to_owned(), old, new, change]);
    };
    let (was, is) = (old.nanoseconds, new.nanoseconds);
    let change = if was > 0.0 && (is / was - 1.0).abs() >= 0.0005 {
        signed(is / was - 1.0)
    } else {
        String::new()
    };
    row("simulated time", duration(was), duration(is), change);
    let mut number = |name: &str, old: u64, new: u64| {
        row(name, grouped(old), grouped(new), relative(old, new));
    };
    number("cycles", old.counts.cycles, new.counts.cycles);
    number("executions", old.counts.executions, new.counts.executions);
    number(
        "instructions of the code",
        old.instructions as u64,
        new.instructions as u64,
    );
    number("bytes asked for", old.asked_bytes, new.asked_bytes);
    number("bytes moved", old.moved_bytes, new.moved_bytes);
    if old.local_bytes + new.local_bytes > 0 {
        number("bytes of local memory", old.local_bytes, new.local_bytes);
    }
    number("lanes parted", old.parted, new.parted);
    let part = |of: &Summary| of.counts.efficiency().map_or_else(String::new, percent);
    row("enabled lanes", part(old), part(new), String::new());
    if old.platform != new.platform {
        row(
            "platform",
            old.platform.clone(),
            new.platform.clone(),
            String::new(),
        );
    }
    table
}

fn rows(changes: &[Change], top: usize) -> Columns {
    let mut table = Columns::new(&[
        ("old cycles", Right),
        ("new cycles", Right),
        ("change", Right),
        ("old executions", Right),
        ("new executions", Right),
        ("where", Left),
    ]);
    for change in changes.iter().take(top) {
        table.row([
            grouped(change.old.cycles),
            grouped(change.new.cycles),
            relative(change.old.cycles, change.new.cycles),
            grouped(change.old.executions),
            grouped(change.new.executions),
            printable(change.name.as_bytes()),
        ]);
    }
    table
}

fn signed(part: f64) -> String {
    format!("{:+.1} %", part * 100.0)
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn relative(old: u64, new: u64) -> String {
    match (old, new) {
        (old, new) if old == new => String::new(),
        (0, _) => "new".to_owned(),
        (_, 0) => "gone".to_owned(),
        (old, new) => signed(new as f64 / old as f64 - 1.0),
    }
}
