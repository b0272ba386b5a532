//! Findings for people.

use super::Checked;
use super::group::{self, Group};
use crate::input;
use crate::output::{Failure, count, printable};
use crate::table::{Align, Columns, prose, wrap};
use anstyle::{AnsiColor, Style};
use std::collections::HashSet;
use std::io::Write;
use visakit::snippets::{self, Message};
use visakit::text::asm::Span;
use visakit::validate::{Finding, Rule, Severity};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const DIM: Style = AnsiColor::BrightBlack.on_default();
const HELP: Style = AnsiColor::Cyan.on_default().bold();

/// Prints all findings, with advice for a rule at its first finding.
pub(super) fn print(out: &mut impl Write, checked: &[Checked], short: bool) -> Result<(), Failure> {
    let mut explained = HashSet::new();
    for one in checked {
        let file = input::name(&one.path);
        for group in &one.groups {
            let n = group.first;
            let Some(finding) = one.report.findings.get(n) else {
                continue;
            };
            let line = one.lines.get(n).copied().flatten();
            let help = explained
                .insert(finding.rule.number)
                .then_some(finding.rule.action);
            match (&one.text, &finding.span) {
                (Some(text), Some(span)) if !short => {
                    quoted(out, one, finding, text, span, help)?;
                    together(out, one, group)?;
                    writeln!(out)?;
                }
                _ => {
                    print_one(out, &file, one, finding, line)?;
                    let instruction = one.instructions.get(n).and_then(Option::as_ref);
                    if let (Some(instruction), false) = (instruction, short) {
                        writeln!(out, "  {DIM}|{DIM:#} {}", short_text(instruction, 76))?;
                    }
                    if let (Some(help), false) = (help, short) {
                        writeln!(out, "  {HELP}help{HELP:#}: {help}")?;
                    }
                    together(out, one, group)?;
                }
            }
        }
        if one.more() > 0 {
            writeln!(out, "{file}: {} more, see --limit", one.more())?;
        }
    }
    summary(out, checked)
}

fn summary(out: &mut impl Write, checked: &[Checked]) -> Result<(), Failure> {
    let sum = |n: fn(&Checked) -> u64| -> u64 { checked.iter().map(n).sum() };
    writeln!(
        out,
        "{}, {}: {}, {}",
        count(checked.len(), "object"),
        count(sum(|c| c.report.routines), "routine"),
        count(sum(|c| c.report.errors), "error"),
        count(sum(|c| c.report.warnings), "warning")
    )?;
    Ok(())
}

/// How often each rule was broken, the most often first, and in how many files.
pub(super) fn by_rule(checked: &[Checked]) -> Vec<(&'static Rule, u64, u64)> {
    let mut rules: Vec<(&'static Rule, u64, u64)> = Vec::new();
    for one in checked {
        let mut here = HashSet::new();
        for finding in &one.report.findings {
            let first = here.insert(finding.rule.number);
            let place = rules.iter().position(|(rule, ..)| *rule == finding.rule);
            match place.and_then(|place| rules.get_mut(place)) {
                Some((_, n, files)) => {
                    *n += 1;
                    *files += u64::from(first);
                }
                None => rules.push((finding.rule, 1, 1)),
            }
        }
    }
    rules.sort_by_key(|(rule, n, _)| (std::cmp::Reverse(*n), rule.number));
    rules
}

/// The rules that were broken.
pub(super) fn statistics(out: &mut impl Write, checked: &[Checked]) -> Result<(), Failure> {
    let mut table = Columns::new(&[
        ("count", Align::Right),
        ("files", Align::Right),
        ("severity", Align::Left),
        ("rule", Align::Left),
    ]);
    for (rule, n, files) in by_rule(checked) {
        table.row([
            n.to_string(),
            files.to_string(),
            rule.severity.name().to_owned(),
            rule.id().to_string(),
        ]);
    }
    write!(out, "{table}")?;
    summary(out, checked)
}

/// A finding with the line of the text that it is about.
fn quoted(
    out: &mut impl Write,
    one: &Checked,
    finding: &Finding,
    text: &str,
    span: &std::ops::Range<usize>,
    help: Option<&str>,
) -> Result<(), Failure> {
    let severity = match finding.rule.severity {
        Severity::Error => snippets::Severity::Error,
        Severity::Warning => snippets::Severity::Warning,
    };
    let line_end = text
        .get(span.clone())
        .and_then(|line| line.find('\n'))
        .map_or(span.end, |end| span.start + end);
    let field = finding.location.field.map(|field| field.name.to_owned());
    let message = Message {
        severity,
        id: Some(finding.rule.id().to_string()),
        title: &finding.message,
        span: Span::between(span.start, line_end),
        label: field,
        related: None,
        help,
    };
    writeln!(
        out,
        "{}",
        message.render(&input::name(&one.path), text, true)
    )?;
    Ok(())
}

/// What is reported together with a finding: how often, and where.
fn together(out: &mut impl Write, one: &Checked, group: &Group) -> Result<(), Failure> {
    if group.others.is_empty() {
        return Ok(());
    }
    let finding = one.report.findings.get(group.first);
    let because = finding.and_then(|finding| finding.cause);
    let because = because.map_or_else(String::new, |cause| format!(", because {cause}"));
    let text = format!(
        "{} more of this kind{because}: {} (--format short lists each)",
        group.others.len(),
        group::places(one, &group.others)
    );
    let mut label = format!("  {HELP}note{HELP:#}: ");
    for line in wrap(&text, prose().saturating_sub(8)) {
        writeln!(out, "{label}{line}")?;
        "        ".clone_into(&mut label);
    }
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
        write!(out, " of {}", short_text(name, 60))?;
    }
    if let Some(offset) = finding.offset {
        write!(out, " @ {offset:#x}")?;
    }
    writeln!(out, ": {}", printable(finding.message.as_bytes()))?;
    Ok(())
}

/// A text that may be of any length.
fn short_text(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}
