//! `visakit diff --prove`: whether kernels whose code differs compute the same.

use super::{Args, side};
use crate::Status;
use crate::commands::prove::{self, Answer, ProveArgs};
use crate::commands::run;
use crate::input::STDIN;
use crate::output::{self, Failure, heading, printable, stdout};
use serde_json::{Value, json};
use std::io::Write;
use visakit::isa::object::{Object, RoutineId};
use visakit::rewrite::{diff, extract};
use visakit_launch::find_kernel;
use visakit_prove::Verdict;

/// Work-items, if no grid is given.
const ITEMS: u32 = 64;

/// A kernel whose code differs, or that of what it calls.
pub(super) struct Of {
    kernel: String,
    found: Found,
}

enum Found {
    Answer(Box<(ProveArgs, Answer)>),
    /// Why it cannot be asked.
    Unasked(String),
    /// Only one of the objects has it.
    Missing {
        in_new: bool,
    },
}

/// Asks about all kernels whose code differs.
pub(super) fn all(args: &Args, old: &Object<'_>, new: &Object<'_>) -> Result<Vec<Of>, Failure> {
    let mut all = Vec::new();
    for (id, name) in kernels(old) {
        let found = match find_kernel(new, Some(&name)) {
            Err(_) => Found::Missing { in_new: false },
            Ok((other, _)) if is_same((old, id), (new, other)) => continue,
            Ok(_) => asked(args, &name)?,
        };
        all.push(Of {
            kernel: printable(name.as_bytes()),
            found,
        });
    }
    let fresh = kernels(new).filter(|(_, name)| find_kernel(old, Some(name)).is_err());
    all.extend(fresh.map(|(_, name)| Of {
        kernel: printable(name.as_bytes()),
        found: Found::Missing { in_new: true },
    }));
    Ok(all)
}

fn kernels(object: &Object<'_>) -> impl Iterator<Item = (RoutineId, String)> {
    let count = object.kernels.len();
    object
        .routines()
        .take(count)
        .map(|(id, routine)| (id, routine.display_name().to_string()))
        .filter(|(_, name)| find_kernel(object, Some(name)).is_ok())
}

/// Whether the code of two kernels, and of what they call, is the same.
fn is_same(old: (&Object<'_>, RoutineId), new: (&Object<'_>, RoutineId)) -> bool {
    fn alone<'o>((object, id): (&Object<'o>, RoutineId)) -> Option<Object<'o>> {
        let mut object = object.clone();
        extract(&mut object, &[id]).ok()?;
        Some(object)
    }
    match (alone(old), alone(new)) {
        (Some(old), Some(new)) => diff(&old, &new).routines.is_empty(),
        _ => false,
    }
}

fn asked(args: &Args, kernel: &str) -> Result<Found, Failure> {
    if [&args.old, &args.new]
        .iter()
        .any(|path| path.as_os_str() == STDIN)
    {
        let why = "--prove reads both programs again: name files instead of standard input";
        return Err(Failure::Other(why.to_owned()));
    }
    let mut launching = args.launching.clone();
    if launching.global.is_empty() {
        launching.global = vec![ITEMS];
    }
    let run = run::Args::of_two([&args.old, &args.new], kernel, &launching, args.reading)?;
    let pool = run.pool()?;
    let witness = args.witness.as_ref().map(|folder| folder.join(kernel));
    let asked = ProveArgs::of(run, args.time, witness)?;
    match pool.install(|| prove::programs(&asked)) {
        Ok(answer) => Ok(Found::Answer(Box::new((asked, answer)))),
        Err(Failure::Other(why)) => Ok(Found::Unasked(why)),
        Err(failure) => Err(failure),
    }
}

impl Of {
    const fn verdict(&self) -> &'static str {
        match &self.found {
            Found::Answer(found) => prove::verdict(&found.1.proof),
            Found::Unasked(_) => "unknown",
            Found::Missing { .. } => "missing",
        }
    }

    fn reason(&self) -> Option<String> {
        match &self.found {
            Found::Answer(_) => None,
            Found::Unasked(why) => Some(printable(why.as_bytes())),
            Found::Missing { in_new } => Some(format!("only in the {} object", side(*in_new))),
        }
    }

    /// For programs.
    pub(super) fn document(&self) -> Value {
        match &self.found {
            Found::Answer(found) => found.1.document(&found.0),
            _ => json!({
                "kernel": self.kernel,
                "verdict": self.verdict(),
                "reason": self.reason(),
            }),
        }
    }
}

/// For people.
pub(super) fn print(all: &[Of]) -> Result<(), Failure> {
    let mut out = stdout();
    for of in all {
        let verdict = match of.verdict() {
            "proven" => "proven equal",
            "missing" => "in one object only",
            other => other,
        };
        let title = format!("kernel {}: differs in text, {verdict}", of.kernel);
        writeln!(out, "{}", heading(&title))?;
        match (&of.found, of.reason()) {
            (Found::Answer(found), _) => {
                found.1.print(&mut out, &found.0)?;
                if of.verdict() == "refuted" && !found.0.has_witness() {
                    writeln!(out, "  to see it  --witness DIR writes it as two cases")?;
                }
            }
            (_, Some(why)) => writeln!(out, "  because    {why}")?,
            (_, None) => {}
        }
    }
    let proven = all.iter().filter(|of| of.verdict() == "proven").count();
    let differ = output::count(all.len(), "kernel");
    writeln!(out, "{differ} in other code: {proven} proven equal")?;
    out.flush()?;
    Ok(())
}

/// Clean if all are proven equal.
pub(super) fn status(all: &[Of]) -> Status {
    let proven =
        |of: &Of| matches!(&of.found, Found::Answer(f) if f.1.proof.verdict == Verdict::Proven);
    match all.iter().all(proven) {
        true => Status::Clean,
        false => Status::Findings,
    }
}
