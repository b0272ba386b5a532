//! `visakit validate`: everything that is wrong with objects and texts.

mod document;
mod sarif;
mod text;

use super::roundtrip::progress;
use crate::output::{self, Failure, printable, stdout};
use crate::{Status, input, render};
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit::isa::Dialect;
use visakit::isa::object::{Object, RoutineId};
use visakit::parse::{self, ReadOptions};
use visakit::text::asm::{self, Diagnostic, DiagnosticKind, SourceMap, assemble_in_any_dialect};
use visakit::validate::{
    Finding, Location, Options, Platform, Report, Scope, decoded_from, object, rules,
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Objects, texts (*.visaasm), folders that are searched for *.isa, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Also check that the platform has everything that is used; it sets the register size, too.
    /// [default: no platform; register size of the native code, else whatever size allows more]
    #[arg(long, value_name = "NAME")]
    platform: Option<Platform>,
    /// Fail for warnings, too.
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Deny>,
    /// Print one JSON document.
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print a SARIF 2.1.0 log, for code review tools.
    #[arg(long)]
    sarif: bool,
    /// Findings shown of each file; all are counted.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Read in this dialect instead of detecting it.
    #[arg(long, value_name = "NAME", value_parser = super::dialect)]
    dialect: Option<Dialect>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Deny {
    /// Exit code 1 for warnings.
    Warnings,
}

/// What was found in a file.
struct Checked {
    path: PathBuf,
    version: Option<String>,
    report: Report,
    /// Names of kernels and functions.
    names: Names,
    /// Line and column of each finding in a text.
    lines: Vec<Option<(usize, usize)>>,
}

#[derive(Default)]
struct Names {
    kernels: Vec<String>,
    functions: Vec<String>,
}

impl Names {
    fn of(object: &Object<'_>) -> Self {
        let list = |routines: &[visakit::isa::object::Routine<'_>]| {
            let names = routines.iter().map(|r| printable(&r.name));
            names.collect()
        };
        Self {
            kernels: list(&object.kernels),
            functions: list(&object.functions),
        }
    }

    fn get(&self, id: RoutineId) -> Option<&str> {
        let list = match id.kind {
            visakit::isa::object::RoutineKind::Kernel => &self.kernels,
            visakit::isa::object::RoutineKind::Function => &self.functions,
        };
        list.get(id.index).map(String::as_str)
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let found = input::find(&args.paths);
    let outcomes: Vec<Result<Checked, String>> = found
        .files
        .par_iter()
        .progress_with(progress(found.files.len()))
        .map(|path| check(path, args))
        .collect();
    let mut checked = Vec::new();
    let mut unusable = found.errors;
    for outcome in outcomes {
        match outcome {
            Ok(one) => checked.push(one),
            Err(error) => unusable.push(error),
        }
    }
    for error in &unusable {
        render::failure(error);
    }
    if args.json {
        output::json(&document::document(&checked, &unusable))?;
    } else if args.sarif {
        output::json(&sarif::log(&checked, &unusable))?;
    } else {
        let mut out = stdout();
        text::print(&mut out, &checked)?;
        out.flush()?;
    }
    let sum = |n: fn(&Report) -> u64| -> u64 { checked.iter().map(|c| n(&c.report)).sum() };
    let denied = args.deny == Some(Deny::Warnings) && sum(|r| r.warnings) > 0;
    Ok(if !unusable.is_empty() {
        Status::Unusable
    } else if sum(|r| r.errors) > 0 || denied {
        Status::Findings
    } else {
        Status::Clean
    })
}

fn check(path: &Path, args: &Args) -> Result<Checked, String> {
    let options = Options {
        platform: args.platform,
        limit: args.limit,
    };
    let is_text = path.extension().is_some_and(|e| e == "visaasm");
    let bytes = if is_text {
        input::read_any(path)?
    } else {
        input::read(path)?
    };
    if is_text && !bytes.starts_with(&parse::MAGIC) {
        return Ok(check_text(path, &bytes, args, &options));
    }
    let reading = ReadOptions {
        lenient: true,
        dialect: args.dialect,
    };
    let decoded = parse::read_with(&bytes, reading).map_err(|error| {
        // Nothing of it can be checked.
        render::brief(path, &format!("{error}\n  help: {}", error.help())).replace("\\n", "\n")
    })?;
    let report = decoded_from(&bytes, &decoded, &options);
    Ok(Checked {
        path: path.to_owned(),
        version: Some(decoded.object.version.to_string()),
        names: Names::of(&decoded.object),
        lines: vec![None; report.findings.len()],
        report,
    })
}

fn check_text(path: &Path, bytes: &[u8], args: &Args, options: &Options) -> Checked {
    let assembling = asm::Options {
        version: None,
        dialect: args.dialect,
        grf_bytes: args.platform.map(Platform::grf_bytes),
    };
    let mut checked = Checked {
        path: path.to_owned(),
        version: None,
        report: Report::default(),
        names: Names::default(),
        lines: Vec::new(),
    };
    let finding = |rule, diagnostic: &Diagnostic| Finding {
        rule,
        location: Location::FILE,
        offset: None,
        span: Some(diagnostic.span.start..diagnostic.span.end()),
        message: diagnostic.to_string(),
    };
    match assemble_in_any_dialect(bytes, &assembling) {
        Ok(assembled) => {
            let mut report = object(&assembled.object, options);
            report.set_spans(|place| span(&assembled.source_map, place));
            checked.version = Some(assembled.object.version.to_string());
            checked.names = Names::of(&assembled.object);
            // Aliases have rules of their own, which are asked of every object.
            let warnings = assembled.warnings.iter();
            for warning in warnings.filter(|w| w.kind != DiagnosticKind::AliasBounds) {
                report.add(finding(&rules::TEXT_WARNING, warning), options.limit);
            }
            checked.report = report;
        }
        Err(faults) => {
            for fault in &faults {
                let finding = finding(&rules::TEXT_FAULT, fault);
                checked.report.add(finding, options.limit);
            }
        }
    }
    checked.lines = lines(bytes, &checked.report.findings);
    checked
}

/// Where the text says what a finding is about.
fn span(places: &SourceMap, location: &Location) -> Option<std::ops::Range<usize>> {
    let routine = places.routine(location.routine?)?;
    let span = match location.scope {
        Scope::Whole => routine.routine,
        Scope::Entry { table, index } => routine.entry(table, usize::try_from(index).ok()?)?,
        Scope::Instruction { number, .. } => routine.instruction(usize::try_from(number).ok()?)?,
    };
    Some(span.start..span.end())
}

/// Lines and columns, going over the text once.
fn lines(text: &[u8], findings: &[Finding]) -> Vec<Option<(usize, usize)>> {
    let mut starts = vec![0];
    let ends = text.iter().enumerate().filter(|(_, b)| **b == b'\n');
    starts.extend(ends.map(|(n, _)| n + 1));
    let places = findings.iter().map(|finding| {
        let at = finding.span.as_ref()?.start;
        let line = starts.partition_point(|start| *start <= at);
        let start = starts.get(line.checked_sub(1)?)?;
        Some((line, at - start + 1))
    });
    places.collect()
}
