//! `visakit search`: patterns of instructions.

use crate::output::{self, Failure, stdout};
use crate::reading::{Reading, with};
use crate::{Status, input, render};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use visakit::isa::object::{Item, Object, RoutineId};
use visakit::text::{Form, Options, Printer};
use visakit_corpus::search::{Found, Match, Pattern, search};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit search 'lsc_load.* data_size=d64' drivers/
  visakit search 'mul dst=$x ->8 add reads=$x' k.isa
      a product that is added soon after
  visakit search 'lsc_load.ugm dst=$x mask=$m ->4 * reads=$x mask!=$m' drivers/
  visakit search '* memory=store dst=$x ->any without(* memory=fence) barrier' k.isa

A step is a mnemonic with wildcards and conditions KEY=VALUE; `->4` leads to a step within four
instructions of control flow; `$x` takes a value and compares it later. See docs/corpus.md.")]
pub(crate) struct Args {
    /// Steps with arrows between them.
    #[arg(value_name = "PATTERN")]
    pattern: Pattern,
    /// Objects, texts, folders that are searched for *.isa and *.visaasm, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let found = input::find(&args.paths, input::Wanted::Programs);
    let results: Vec<_> = found
        .files
        .par_iter()
        .map(|path| {
            with(path, args.reading, |input| {
                let linked = input.object(&args.reading.how(None))?;
                if !linked.faults.is_empty() {
                    crate::found_something();
                }
                let found = search(&linked.object, &args.pattern);
                let mut texts = Texts::new();
                let mut shown = |found| shown(&linked.object, &mut texts, found);
                let shown = found.matches.iter().map(&mut shown).collect::<Vec<_>>();
                Ok((shown, found))
            })
        })
        .collect();
    let mut errors = found.errors;
    let mut status = if errors.is_empty() {
        Status::Clean
    } else {
        Status::Unusable
    };
    let mut out = stdout();
    let (mut matches, mut given_up) = (Vec::new(), 0);
    for (path, result) in found.files.iter().zip(results) {
        match result {
            Err(error) => {
                status = status.max(error.status);
                errors.push(error.to_string());
            }
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
    out.flush()?;
    for error in &errors {
        render::failure(error);
    }
    if given_up > 0 {
        render::note(&format!(
            "{given_up} routines were too much work: use distances instead of `any`"
        ));
    }
    // It has what was told.
    if args.reading.json {
        output::json(&json!({ "matches": matches, "errors": errors, "given_up": given_up }))?;
    }
    Ok(status)
}

/// The instructions of routines as text.
type Texts = HashMap<RoutineId, Vec<String>>;

/// The name of the routine, and number and text of each instruction.
fn shown(object: &Object<'_>, texts: &mut Texts, found: &Match) -> (String, Vec<String>) {
    let routine = object.routine(found.routine);
    let name = routine
        .map(|r| output::printable(&r.name))
        .unwrap_or_default();
    let code = texts.entry(found.routine).or_insert_with(|| {
        let options = Options {
            form: Form::Intel,
            grf_bytes: None,
        };
        let items = routine.and_then(|r| r.body()).map(|body| &body.code);
        let items = items.into_iter().flatten();
        let lines = Printer::new(object, options).code(found.routine);
        let code = items
            .zip(lines)
            .filter(|(item, _)| matches!(item, Item::Instruction(_)));
        code.map(|(_, line)| line).collect()
    });
    let lines = found.instructions.iter().filter_map(|number| {
        let text = code.get(*number)?;
        Some(format!(
            "{number:>6}  {}",
            output::printable(text.as_bytes())
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
