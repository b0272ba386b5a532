//! `visakit validate`: everything that is wrong with objects and texts.

mod config;
mod document;
pub(crate) mod github;
mod group;
pub(crate) mod sarif;
mod text;

use super::roundtrip::progress;
use crate::input::{self, Wanted};
use crate::output::{self, Failure, printable, stdout};
use crate::reading::{Reading, Rejected, with};
use crate::{Status, names, render};
use config::Config;
use group::Group;
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit::isa::object::{Object, RoutineId};
use visakit::parse::{self, ReadOptions};
use visakit::snippets::one_byte_each;
use visakit::text::asm::{self, Diagnostic, DiagnosticKind, SourceMap, assemble_in_any_dialect};
use visakit::text::{LineKind, Output, Printer};
use visakit::validate::{
    Finding, Location, Options, Platform, Report, Rule, Scope, decoded_from, object, rules,
};
use visakit_launch::{Input, LaunchError};

#[derive(clap::Args)]
#[command(
    after_help = "A file visakit.toml in the folder of the command or above it holds defaults:
  [validate]
  platform = \"pvc\"
  ignore = [\"V0105\"]
  deny = \"warnings\"

Examples:
  visakit validate k.visaasm
  visakit validate objects/ --platform pvc --statistics
  visakit validate objects/ --format github --deny warnings"
)]
pub(crate) struct Args {
    /// Objects, texts, folders that are searched for *.isa and *.visaasm, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only these rules: V0226, 226, region-bounds or V0226-region-bounds.
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = names::rule(), hide_possible_values = true)]
    select: Vec<&'static Rule>,
    /// Not these rules.
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = names::rule(), hide_possible_values = true)]
    ignore: Vec<&'static Rule>,
    /// Fail for warnings, too.
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Deny>,
    /// How findings are printed.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,
    /// An older word for --format sarif.
    #[arg(long, conflicts_with_all = ["json", "format"], hide = true)]
    sarif: bool,
    /// Print how often each rule was broken, instead of the findings.
    #[arg(long)]
    statistics: bool,
    /// Findings shown of each file, many of one kind counted as one in the text form; all are counted.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Defaults for these options. [default: visakit.toml here or above]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Deny {
    /// Exit code 1 for warnings.
    Warnings,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// With the line of a text and a caret, or the instruction of an object; many of one kind are reported once, with
    /// their places.
    #[default]
    Text,
    /// A line for each finding.
    Short,
    /// One JSON document, as with --json.
    Json,
    /// A SARIF 2.1.0 log, for code review tools.
    Sarif,
    /// Workflow commands of GitHub Actions, which mark lines of a change.
    Github,
}

impl Format {
    const fn is_json(self) -> bool {
        matches!(self, Self::Json)
    }
}

/// Number of findings of a file shown by default.
const LIMIT: usize = 100;

/// If findings are selected, counted or reported together, at most this many are kept until then.
const BEFORE_CHOICE: usize = 1 << 20;

/// The findings of a file.
struct Checked {
    path: PathBuf,
    version: Option<String>,
    report: Report,
    /// The findings that are shown, each with those reported together with it.
    groups: Vec<Group>,
    /// Names of kernels and functions.
    names: Names,
    /// Line and column of each finding in a text.
    lines: Vec<Option<(usize, usize)>>,
    /// The text, if it is one.
    text: Option<String>,
    /// For an object, the instruction of each finding.
    instructions: Vec<Option<String>>,
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

impl Checked {
    /// Number of findings that are counted but not shown.
    fn more(&self) -> u64 {
        let all = self.report.errors + self.report.warnings;
        let shown: usize = self.groups.iter().map(|group| 1 + group.others.len()).sum();
        all.saturating_sub(shown as u64)
    }

    /// The findings shown individually, with their numbers.
    fn findings(&self) -> impl Iterator<Item = (usize, &Finding)> {
        let firsts = self.groups.iter().map(|group| group.first);
        firsts.filter_map(|n| Some((n, self.report.findings.get(n)?)))
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let format = if args.sarif {
        Format::Sarif
    } else {
        args.format
    };
    let json = args.reading.json || format.is_json();
    let grouped = format == Format::Text && !json;
    let config = Config::find(args, grouped)?;
    let found = input::find(&args.paths, Wanted::Programs);
    let outcomes: Vec<Result<Checked, Rejected>> = found
        .files
        .par_iter()
        .progress_with(progress(found.files.len()))
        .map(|path| with(path, args.reading, |input| check(input, &config)))
        .collect();
    let mut checked = Vec::new();
    let mut unusable = found.errors;
    for outcome in outcomes {
        match outcome {
            Ok(one) => checked.push(one),
            Err(rejected) => unusable.push(rejected.to_string()),
        }
    }
    for error in &unusable {
        render::failure(error);
    }
    let mut out = stdout();
    match format {
        _ if json => {
            output::json(&document::document(&checked, args.statistics))?;
        }
        Format::Sarif => output::plain_json(&sarif::log(&checked, &unusable))?,
        Format::Github => github::print(&mut out, &checked)?,
        _ if args.statistics => text::statistics(&mut out, &checked)?,
        _ => text::print(&mut out, &checked, format == Format::Short)?,
    }
    out.flush()?;
    let sum = |n: fn(&Report) -> u64| -> u64 { checked.iter().map(|c| n(&c.report)).sum() };
    let denied = config.deny == Some(Deny::Warnings) && sum(|r| r.warnings) > 0;
    Ok(if !unusable.is_empty() {
        Status::Unusable
    } else if sum(|r| r.errors) > 0 || denied {
        Status::Findings
    } else {
        Status::Clean
    })
}

fn check(input: &Input, config: &Config) -> Result<Checked, Vec<LaunchError>> {
    let checked = match input.sources.as_slice() {
        [source] if !source.is_text() => check_object(&source.path, &source.bytes, config)?,
        [source] => check_text(&source.path, &source.bytes, config),
        sources => {
            // The texts of a zebin: one report for all of them.
            let mut all = sources
                .iter()
                .map(|s| check_text(&s.path, &s.bytes, config));
            let Some(mut first) = all.next() else {
                return Err(Vec::new());
            };
            for next in all {
                first.report.errors += next.report.errors;
                first.report.warnings += next.report.warnings;
                first.report.routines += next.report.routines;
                first.report.findings.extend(next.report.findings);
                first.lines.extend(next.lines);
            }
            first.text = None;
            first.groups = config.groups(&first.report.findings);
            first
        }
    };
    Ok(checked)
}

/// How many findings are kept, and the platform of the rules for what states a platform itself.
fn options(config: &Config, stated: Option<Platform>) -> Options {
    let limit = if config.chooses() || config.collects {
        BEFORE_CHOICE
    } else {
        config.limit
    };
    Options {
        platform: config.platform(stated),
        limit,
    }
}

fn check_object(path: &Path, bytes: &[u8], config: &Config) -> Result<Checked, Vec<LaunchError>> {
    let reading = ReadOptions {
        lenient: true,
        dialect: config.dialect,
    };
    let decoded = parse::read_with(bytes, reading).map_err(|error| {
        vec![LaunchError::Decode {
            path: path.to_owned(),
            error: Box::new(error),
        }]
    })?;
    let mut report = decoded_from(bytes, &decoded, &options(config, None));
    config.choose(&mut report);
    let groups = config.groups(&report.findings);
    Ok(Checked {
        path: path.to_owned(),
        version: Some(decoded.object.version.to_string()),
        names: Names::of(&decoded.object),
        lines: vec![None; report.findings.len()],
        instructions: instructions(&decoded.object, &report.findings, &groups),
        text: None,
        groups,
        report,
    })
}

fn check_text(path: &Path, bytes: &[u8], config: &Config) -> Checked {
    let assembled = |platform: Option<Platform>| {
        let options = asm::Options {
            version: None,
            dialect: config.dialect,
            grf_bytes: platform.map(Platform::grf_bytes),
        };
        assemble_in_any_dialect(bytes, &options)
    };
    let mut made = assembled(config.named);
    // The size of a register that the text needs, and states after that or not at all.
    if let Ok(first) = &made
        && first.undecided.is_some()
        && let Some(platform) = config.platform(first.platform)
    {
        made = assembled(Some(platform));
    }
    let mut checked = Checked {
        path: path.to_owned(),
        version: None,
        report: Report::default(),
        groups: Vec::new(),
        names: Names::default(),
        lines: Vec::new(),
        text: None,
        instructions: Vec::new(),
    };
    let limit = options(config, None).limit;
    let finding = |rule, diagnostic: &Diagnostic| Finding {
        rule,
        location: Location::FILE,
        offset: None,
        span: Some(diagnostic.span.start..diagnostic.span.end()),
        message: diagnostic.to_string(),
        cause: None,
    };
    match made {
        Ok(assembled) => {
            let options = options(config, assembled.platform);
            let mut report = object(&assembled.object, &options);
            report.set_spans(|place| span(&assembled.source_map, place));
            checked.version = Some(assembled.object.version.to_string());
            checked.names = Names::of(&assembled.object);
            // Aliases have their own rules, which are checked for every object.
            let warnings = assembled.warnings.iter();
            for warning in warnings.filter(|w| w.kind != DiagnosticKind::AliasBounds) {
                report.add(finding(&rules::TEXT_WARNING, warning), limit);
            }
            checked.report = report;
        }
        Err(faults) => {
            for fault in &faults {
                let finding = finding(&rules::TEXT_FAULT, fault);
                checked.report.add(finding, limit);
            }
        }
    }
    config.choose(&mut checked.report);
    checked.groups = config.groups(&checked.report.findings);
    checked.lines = lines(bytes, &checked.report.findings);
    if !checked.report.findings.is_empty() {
        checked.text = Some(one_byte_each(bytes));
    }
    checked
}

/// The text of the instructions of the findings that are shown.
fn instructions(
    object: &Object<'_>,
    findings: &[Finding],
    groups: &[Group],
) -> Vec<Option<String>> {
    /// Collects the lines of some instructions, given in order of their numbers.
    struct Wanted {
        numbers: Vec<usize>,
        texts: Vec<(usize, String)>,
    }
    impl Output for Wanted {
        /// Returned when all of them were seen.
        type Error = ();

        fn line(&mut self, kind: LineKind, text: &[u8]) -> Result<(), ()> {
            if let LineKind::Instruction(number) = kind
                && self.numbers.last() == Some(&number)
            {
                self.numbers.pop();
                let text = String::from_utf8_lossy(text).trim().replace('\n', " ");
                self.texts.push((number, printable(text.as_bytes())));
            }
            if self.numbers.is_empty() {
                Err(())
            } else {
                Ok(())
            }
        }
    }
    let place = |finding: &Finding| match finding.location.scope {
        Scope::Instruction { number, .. } => {
            Some((finding.location.routine?, usize::try_from(number).ok()?))
        }
        _ => None,
    };
    let shown = groups.iter().filter_map(|group| findings.get(group.first));
    let mut places: Vec<_> = shown.filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    let printer = Printer::new(object, visakit::text::Options::default());
    let mut texts = std::collections::HashMap::new();
    for group in places.chunk_by(|a, b| a.0 == b.0) {
        let Some((id, _)) = group.first() else {
            continue;
        };
        let mut wanted = Wanted {
            numbers: group.iter().rev().map(|(_, number)| *number).collect(),
            texts: Vec::new(),
        };
        // Ending early is intended.
        let _ = printer.routine(*id, &mut wanted);
        texts.extend(wanted.texts.into_iter().map(|(n, text)| ((*id, n), text)));
    }
    let text = |finding| texts.get(&place(finding)?).cloned();
    findings.iter().map(text).collect()
}

/// The place in the text that a finding is about.
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
