//! Findings for people.

use super::Checked;
use crate::commands::run::why;
use crate::output::{Failure, count, printable};
use anstyle::{AnsiColor, Style};
use std::io::Write;
use visakit_check::{Finding, Level, Place, Stay};
use visakit_debug::Sources;
use visakit_launch::Stopped;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();
const DIM: Style = AnsiColor::BrightBlack.on_default();
const BOLD: Style = Style::new().bold();

/// The source line of a place, if the file is available and contains it.
fn source_line(sources: &mut Sources, place: &Place) -> Option<String> {
    let line = sources.line(place.file.as_ref()?, place.line?)?;
    Some(line.to_owned())
}

/// Prints all findings.
pub(super) fn print(
    out: &mut impl Write,
    checked: &[Checked],
    sources: &mut Sources,
) -> Result<(), Failure> {
    let (mut all, mut with, mut failed, mut unfinished) = (0, 0, 0, 0);
    for one in checked {
        let Ok(report) = &one.result else {
            failed += 1;
            continue;
        };
        let findings = &report.findings;
        all += findings.len();
        with += usize::from(!findings.is_empty());
        let mut left: Vec<&Finding> = findings.iter().collect();
        while !left.is_empty() {
            // Other aspects of a race are told with the worst one.
            let finding = left.remove(0);
            let (others, rest): (Vec<_>, _) =
                left.into_iter().partition(|of| of.is_aspect_of(finding));
            left = rest;
            print_one(out, &one.case, finding, &others, sources)?;
        }
        if let Some(stopped) = report.end.stopped() {
            unfinished += 1;
            print_stop(out, &one.case, (stopped, &report.stays), sources)?;
        }
    }
    let launches = checked.len() - failed;
    let mut parts = vec![match (all, unfinished) {
        (0, 0) if launches == 0 => "none to its end".to_owned(),
        (0, 0) => "nothing found".to_owned(),
        (0, _) if launches == unfinished => "nothing found until then".to_owned(),
        (0, _) => "nothing found so far".to_owned(),
        _ => format!("{} in {with}", count(all, "finding")),
    }];
    if unfinished != 0 {
        let told = match launches {
            1 => "stopped before its end".to_owned(),
            _ => format!("{unfinished} stopped before the end"),
        };
        parts.insert(0, told);
    }
    if failed != 0 {
        parts.push(format!("{failed} failed"));
    }
    let launches = count(launches, "launch");
    writeln!(out, "{launches} checked: {}", parts.join("; "))?;
    Ok(())
}

/// Places of threads that are printed.
const MOST_PLACES: usize = 5;

/// Why a launch did not run to its end, and where its threads were.
fn print_stop(
    out: &mut impl Write,
    case: &str,
    (stopped, stays): (&Stopped, &[Stay]),
    sources: &mut Sources,
) -> Result<(), Failure> {
    let (reason, why) = (stopped.reason.name(), why(stopped));
    let case = printable(case.as_bytes());
    writeln!(
        out,
        "{ERROR}not ended[{reason}]{ERROR:#}{BOLD}: {case}: {why}{BOLD:#}"
    )?;
    for stay in stays.iter().take(MOST_PLACES) {
        print_place(out, &stay.place, sources)?;
        let verb = match (stay.threads, stay.waits) {
            (1, true) => "waits",
            (_, true) => "wait",
            (1, false) => "was",
            (_, false) => "were",
        };
        let threads = count(
            usize::try_from(stay.threads).unwrap_or(usize::MAX),
            "thread",
        );
        writeln!(
            out,
            "   {DIM}={DIM:#} {threads} {verb} here, first {}",
            stay.item
        )?;
    }
    if let Some(more) = stays.len().checked_sub(MOST_PLACES).filter(|n| *n > 0) {
        writeln!(
            out,
            "   {DIM}={DIM:#} and threads in {}",
            count(more, "other place")
        )?;
    }
    writeln!(out)?;
    Ok(())
}

/// Prints a finding, and what else was found at its place.
fn print_one(
    out: &mut impl Write,
    case: &str,
    finding: &Finding,
    others: &[&Finding],
    sources: &mut Sources,
) -> Result<(), Failure> {
    let level = finding.kind.level();
    let style = match level {
        Level::Error => ERROR,
        Level::Warning => WARNING,
        Level::Note => NOTE,
    };
    let message = printable(finding.message.as_bytes());
    writeln!(
        out,
        "{style}{}[{}]{style:#}{BOLD}: {message}{BOLD:#}",
        level.name(),
        finding.kind.name()
    )?;
    print_place(out, &finding.place, sources)?;
    if let Some(item) = &finding.item {
        writeln!(
            out,
            "   {DIM}={DIM:#} by {item} in {}",
            printable(case.as_bytes())
        )?;
    }
    let mut facts = Vec::new();
    if let Some(target) = &finding.target {
        let name = printable(target.name.as_bytes());
        facts.push(format!(
            "{} memory, `{name}` + {}",
            finding.space.name(),
            target.offset
        ));
    }
    if let Some(address) = finding.address {
        facts.push(format!("address {address:#x}"));
    }
    if let Some(value) = finding.value {
        facts.push(format!("value {value:#x}"));
    }
    if finding.count > 1 {
        facts.push(format!("{} times", finding.count));
    }
    if !facts.is_empty() {
        writeln!(out, "   {DIM}={DIM:#} {}", facts.join(", "))?;
    }
    for other in others {
        let message = printable(other.message.as_bytes());
        let times = match other.count {
            1 => String::new(),
            times => format!(", {times} times"),
        };
        writeln!(out, "   {DIM}={DIM:#} also: {message}{times}")?;
    }
    if let Some(other) = &finding.other {
        write!(
            out,
            "{NOTE}note{NOTE:#}: {}",
            printable(other.what.as_bytes())
        )?;
        match &other.item {
            Some(item) => writeln!(out, ", {item}")?,
            None => writeln!(out)?,
        }
        if let Some(place) = &other.place {
            print_place(out, place, sources)?;
        }
    }
    writeln!(out)?;
    Ok(())
}

fn print_place(out: &mut impl Write, place: &Place, sources: &mut Sources) -> Result<(), Failure> {
    let routine = printable(place.routine.as_bytes());
    match (&place.file, place.line) {
        (Some(file), Some(line)) => {
            let file = printable(file.as_bytes());
            writeln!(out, "  {DIM}-->{DIM:#} {file}:{line}, in {routine}")?;
            if let Some(text) = source_line(sources, place) {
                let number = line.to_string();
                let room = " ".repeat(number.len());
                let text = printable(text.trim_end().as_bytes());
                writeln!(out, " {room} {DIM}|{DIM:#}")?;
                writeln!(out, " {DIM}{number} |{DIM:#} {text}")?;
                writeln!(out, " {room} {DIM}|{DIM:#}")?;
            }
        }
        _ => writeln!(out, "  {DIM}-->{DIM:#} {routine}")?,
    }
    let text = printable(place.text.as_bytes());
    writeln!(
        out,
        "   {DIM}={DIM:#} instruction {}: {text}",
        place.instruction
    )?;
    Ok(())
}
