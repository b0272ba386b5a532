//! `visakit merge`: links objects.

use super::change::{self, Output};
use crate::output::{Failure, needs_place};
use crate::{Status, render};
use std::path::PathBuf;
use visakit::isa::object::{Object, RoutineId};
use visakit::rewrite::{UnresolvedUse, merge};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The objects or texts, or - for standard input. The routines keep this order.
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    out: Output,
    /// Do not count names that nothing defines as findings.
    #[arg(long)]
    allow_unresolved: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let output = args.out.output.as_deref();
    needs_place(output)?;
    let inputs = args.files.iter().map(|path| args.out.reading.open(path));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let reading = args.out.reading;
    let objects = inputs.iter().map(|input| Ok(reading.object(input)?.object));
    let objects = objects.collect::<Result<Vec<_>, Failure>>()?;
    let last = args
        .files
        .last()
        .map_or(output.unwrap_or("-".as_ref()), PathBuf::as_path);
    let merged = match merge(objects) {
        Ok(merged) => merged,
        Err(error) => return Ok(change::refused(last, &[error])),
    };
    for (old, new) in &merged.renamed {
        render::note(&format!("static function {old:?} is called {new:?} now"));
    }
    let mut findings = false;
    let name = |id: RoutineId| name_of(&merged.object, id);
    for unresolved in &merged.unresolved {
        let used = match unresolved.used {
            UnresolvedUse::Call(id) => format!("called by {}", name(id)),
            // Addresses of data are filled in by the loader.
            UnresolvedUse::Address(id) => {
                let by = name(id);
                render::note(&format!(
                    "{:?} is left to the loader, used by {by}",
                    unresolved.name
                ));
                continue;
            }
            UnresolvedUse::Function => "a function without code".to_owned(),
            UnresolvedUse::FileVariable => "an extern variable of the file".to_owned(),
        };
        render::note(&format!("unresolved {:?}, {used}", unresolved.name));
        findings |= !args.allow_unresolved;
    }
    let written = change::write(output, last, &merged.object)?;
    Ok(if findings {
        written.max(Status::Findings)
    } else {
        written
    })
}

fn name_of(object: &Object<'_>, id: RoutineId) -> String {
    let name = object.routine(id).map(|r| r.display_name().into_owned());
    format!("{} {:?}", id.kind.name(), name.unwrap_or_default())
}
