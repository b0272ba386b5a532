//! Findings for people.

use super::Checked;
use crate::input;
use crate::output::{Failure, printable};
use anstyle::{AnsiColor, Style};
use std::collections::HashSet;
use std::io::Write;
use visakit::validate::{Finding, Severity};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();

/// Prints all findings, and what to do about a rule where it is met first.
pub(super) fn print(out: &mut impl Write, checked: &[Checked]) -> Result<(), Failure> {
    let mut explained = HashSet::new();
    let [mut routines, mut errors, mut warnings] = [0u64; 3];
    for one in checked {
        let report = &one.report;
        routines += report.routines;
        errors += report.errors;
        warnings += report.warnings;
        let file = input::name(&one.path);
        for (n, finding) in report.findings.iter().enumerate() {
            let line = one.lines.get(n).copied().flatten();
            print_one(out, &file, one, finding, line)?;
            if explained.insert(finding.rule.number) {
                writeln!(out, "  {HELP}help{HELP:#}: {}", finding.rule.action)?;
            }
        }
        if report.more() > 0 {
            writeln!(out, "{file}: {} more, see --limit", report.more())?;
        }
    }
    let objects = checked.len();
    writeln!(
        out,
        "{objects} objects, {routines} routines: {errors} errors, {warnings} warnings"
    )?;
    Ok(())
}

fn print_one(
    out: &mut impl Write,
    file: &str,
    one: &Checked,
    finding: &Finding,
    line: Option<(usize, usize)>,
) -> Result<(), Failure> {
    write!(out, "{file}")?;
    if let Some((line, column)) = line {
        write!(out, ":{line}:{column}")?;
    }
    let style = match finding.rule.severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
    };
    write!(
        out,
        ": {style}{}{style:#}[{}]",
        finding.rule.severity.name(),
        finding.rule.id()
    )?;
    let place = finding.location.to_string();
    if !place.is_empty() {
        write!(out, " {place}")?;
    }
    if let Some(name) = finding.location.routine.and_then(|id| one.names.get(id)) {
        write!(out, " of {}", short(name))?;
    }
    if let Some(offset) = finding.offset {
        write!(out, " @ {offset:#x}")?;
    }
    writeln!(out, ": {}", printable(finding.message.as_bytes()))?;
    Ok(())
}

/// A name that may be of any length.
fn short(name: &str) -> String {
    const MOST: usize = 60;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or(name)),
        None => name.to_owned(),
    }
}
