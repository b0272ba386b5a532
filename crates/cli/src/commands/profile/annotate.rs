//! Source and instructions with their costs.

use super::text::{grouped, lanes, percent, place};
use crate::output::{Failure, heading, printable};
use anstyle::{AnsiColor, Style};
use std::collections::BTreeMap;
use std::io::Write;
use visakit_debug::Sources;
use visakit_profile::{Counts, KernelProfile, LineProfile};

/// Lines of source shown around those that ran.
const AROUND: u32 = 2;

const HOT: Style = AnsiColor::Red.on_default().bold();
const WARM: Style = AnsiColor::Yellow.on_default();
const PLAIN: Style = Style::new();
const DIM: Style = AnsiColor::BrightBlack.on_default();

fn heat(part: f64, counts: &Counts) -> Style {
    match part {
        _ if counts.executions == 0 => DIM,
        part if part >= 0.1 => HOT,
        part if part >= 0.02 => WARM,
        _ => PLAIN,
    }
}

pub(super) fn print(
    out: &mut impl Write,
    kernel: &KernelProfile,
    sources: &mut Sources,
) -> Result<(), Failure> {
    let mut files: BTreeMap<&str, Vec<&LineProfile>> = BTreeMap::new();
    for line in &kernel.lines {
        let file = line.file.as_deref().unwrap_or("?");
        files.entry(file).or_default().push(line);
    }
    for (file, lines) in files {
        source(out, kernel, (file, &lines), sources)?;
    }
    let mut routine = None;
    let mut block = None;
    let mut before = None;
    for instruction in &kernel.instructions {
        if routine != Some(instruction.routine) {
            routine = Some(instruction.routine);
            let name = kernel.routines.get(instruction.routine);
            let name = printable(name.map_or("", |r| r.name.as_str()).as_bytes());
            writeln!(out, "\n{}", heading(&name))?;
            writeln!(out, "   share  executions  lanes  number  instruction")?;
        } else if block != Some(instruction.block) {
            writeln!(out)?;
        }
        block = Some(instruction.block);
        let at = place(instruction.file.as_deref(), instruction.line);
        if !at.is_empty() && before.as_ref() != Some(&at) {
            let text = instruction.file.as_deref().zip(instruction.line);
            let text = text.and_then(|(file, line)| sources.line(file, line));
            let text = printable(text.unwrap_or_default().trim().as_bytes());
            writeln!(out, "{DIM}{:>37}{at}: {text}{DIM:#}", "")?;
            before = Some(at);
        }
        let counts = &instruction.counts;
        let part = kernel.share(counts);
        let style = heat(part, counts);
        writeln!(
            out,
            "{style}{:>8}{style:#}  {:>10}  {:>5}  {:>6}  {}",
            percent(part),
            grouped(counts.executions),
            lanes(counts),
            instruction.instruction,
            printable(instruction.text.as_bytes())
        )?;
    }
    Ok(())
}

/// A source file, around its lines that ran.
fn source(
    out: &mut impl Write,
    kernel: &KernelProfile,
    (file, lines): (&str, &[&LineProfile]),
    sources: &mut Sources,
) -> Result<(), Failure> {
    writeln!(out, "\n{}", heading(&printable(file.as_bytes())))?;
    writeln!(out, "   share  executions  lanes    line  source")?;
    let mut shown = 0;
    for (number, line) in lines.iter().enumerate() {
        let first = line.line.saturating_sub(AROUND).max(shown + 1).max(1);
        if first > shown + 1 && shown > 0 {
            writeln!(out, "{DIM}{:>35}{DIM:#}", "...")?;
        }
        let next = lines.get(number + 1).map_or(u32::MAX, |next| next.line);
        let last = line.line.saturating_add(AROUND).min(next - 1);
        for place in first..=last {
            let text = sources.line(file, place);
            if place == line.line {
                let part = kernel.share(&line.counts);
                let style = heat(part, &line.counts);
                let text = printable(text.unwrap_or_default().as_bytes());
                let row = format!(
                    "{style}{:>8}{style:#}  {:>10}  {:>5}  {place:>6}  {text}",
                    percent(part),
                    grouped(line.counts.executions),
                    lanes(&line.counts)
                );
                writeln!(out, "{}", row.trim_end())?;
            } else if let Some(text) = text {
                let row = format!("{:>35}  {}", place, printable(text.as_bytes()));
                writeln!(out, "{}", row.trim_end())?;
            }
        }
        shown = last;
    }
    Ok(())
}
