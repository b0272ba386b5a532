//! `visakit search`: patterns of instructions.

use crate::output::{self, Failure, stdout};
use crate::reading::Reading;
use crate::{Status, input, render};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use visakit::isa::object::Object;
use visakit_corpus::search::{Found, Match, Pattern, search};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit search 'lsc_load.* data_size=d64' drivers/
  visakit search 'mul dst=$x ->8 add reads=$x' k.isa    a product that is added soon after
  visakit search 'lsc_load.ugm dst=$x mask=$m ->4 * reads=$x mask!=$m' drivers/
  visakit search '* memory=store dst=$x ->any without(* memory=fence) barrier' k.isa

A step is a mnemonic with wildcards and conditions KEY=VALUE; `->4` leads to a step within four
instructions of control flow; `$x` takes a value and compares it later. See docs/corpus.md.")]
pub(crate) struct Args {
    /// Steps with arrows between them.
    #[arg(value_name = "PATTERN")]
    pattern: Pattern,
    /// Files, folders that are searched for *.isa, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut found = input::find(&args.paths, input::Wanted::Programs);
    // Objects only, not the texts beside them.
    found
        .files
        .retain(|path| path.extension() != Some("visaasm".as_ref()));
    let results: Vec<_> = found
        .files
        .par_iter()
        .map(|path| {
            let bytes = input::read_any(path)?;
            let decoded = visakit::parse::read_with(&bytes, args.reading.options());
            let decoded = decoded.map_err(|e| format!("{}: {e}", input::name(path)))?;
            let found = search(&decoded.object, &args.pattern);
            let matches = found.matches.iter().map(|m| shown(&decoded.object, m));
            Ok::<_, String>((matches.collect::<Vec<_>>(), found))
        })
        .collect();
    let mut errors = found.errors;
    let mut out = stdout();
    let (mut matches, mut given_up) = (Vec::new(), 0);
    for (path, result) in found.files.iter().zip(results) {
        match result {
            Err(error) => errors.push(error),
            Ok((
                shown,
                Found {
                    matches: places,
                    given_up: lost,
                },
            )) => {
                given_up += lost.len();
                for (found, (name, lines)) in places.iter().zip(shown) {
                    if args.reading.json {
                        matches.push(document(&input::name(path), found, &name));
                        continue;
                    }
                    writeln!(out, "{}: {}{}", input::name(path), name, bound(found))?;
                    for line in lines {
                        writeln!(out, "  {line}")?;
                    }
                }
            }
        }
    }
    if args.reading.json {
        output::json(&json!({ "matches": matches, "errors": errors, "given_up": given_up }))?;
    }
    out.flush()?;
    for error in &errors {
        render::failure(error);
    }
    if given_up > 0 {
        render::note(&format!(
            "{given_up} routines were too much work: use distances instead of `any`"
        ));
    }
    Ok(if errors.is_empty() {
        Status::Clean
    } else {
        Status::Unusable
    })
}

/// The name of the routine, and number and text of each instruction.
fn shown(object: &Object<'_>, found: &Match) -> (String, Vec<String>) {
    let routine = object.routine(found.routine);
    let name = routine
        .map(|r| output::printable(&r.name))
        .unwrap_or_default();
    let code = routine
        .and_then(|r| r.body())
        .into_iter()
        .flat_map(visakit::isa::object::Body::instructions);
    let code: Vec<_> = code.collect();
    let lines = found.instructions.iter().filter_map(|number| {
        let instruction = code.get(*number)?;
        let fields = instruction
            .fields
            .iter()
            .map(|f| format!(" {}={}", f.name.as_str(), f.value));
        let fields: String = fields.collect();
        Some(format!(
            "{number:>6}  {}{fields}",
            instruction.def().mnemonic()
        ))
    });
    (name, lines.collect())
}

fn bound(found: &Match) -> String {
    let bound = found.bound.iter();
    bound
        .map(|(name, value)| format!("  ${name}={}", output::printable(value.as_bytes())))
        .collect()
}

fn document(file: &str, found: &Match, name: &str) -> Value {
    let bound = found
        .bound
        .iter()
        .map(|(k, v)| (k.clone(), v.clone().into()));
    json!({
        "file": file,
        "kind": found.routine.kind.name(),
        "index": found.routine.index,
        "routine": name,
        "instructions": found.instructions,
        "bound": bound.collect::<serde_json::Map<String, Value>>(),
    })
}
