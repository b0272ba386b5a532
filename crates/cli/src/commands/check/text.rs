//! Findings for people.

use super::Checked;
use crate::output::{Failure, printable};
use anstyle::{AnsiColor, Style};
use std::io::Write;
use visakit_check::{Finding, Level, Place};
use visakit_debug::Sources;

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
    let (mut all, mut with, mut failed) = (0, 0, 0);
    for one in checked {
        failed += usize::from(one.result.is_err());
        let findings = one.result.as_deref().unwrap_or(&[]);
        all += findings.len();
        with += usize::from(!findings.is_empty());
        for finding in findings {
            print_one(out, &one.case, finding, sources)?;
        }
    }
    let launches = checked.len() - failed;
    let of = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    write!(
        out,
        "{} checked: ",
        of(launches, "launch").replace("launchs", "launches")
    )?;
    match (all, launches) {
        // Nothing is known of launches that failed or were stopped.
        (_, 0) => write!(out, "none to its end")?,
        (0, _) => write!(out, "nothing found")?,
        _ => write!(out, "{} in {with}", of(all, "finding"))?,
    }
    if failed != 0 {
        write!(out, "; {failed} failed")?;
    }
    writeln!(out)?;
    Ok(())
}

fn print_one(
    out: &mut impl Write,
    case: &str,
    finding: &Finding,
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
