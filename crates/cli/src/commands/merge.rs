//! `visakit merge`: links objects.

use super::change::{self, Output};
use crate::output::{Failure, needs_place};
use crate::{Status, input, render};
use std::path::PathBuf;
use visakit::isa::object::{Object, RoutineId};
use visakit::rewrite::{UnresolvedUse, merge};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The objects, or - for standard input. The routines keep this order.
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
    let read = args.files.iter().map(|path| input::read(path));
    let bytes = read
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::Other)?;
    let mut objects = Vec::with_capacity(bytes.len());
    for (path, bytes) in args.files.iter().zip(&bytes) {
        match change::decode(path, bytes, args.out.reading) {
            Some(object) => objects.push(object),
            None => return Ok(Status::Unusable),
        }
    }
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
