//! Profiles for people.

use crate::output::{Failure, count, heading, printable};
use crate::table::Align::{Left, Right};
use crate::table::Columns;
use std::io::Write;
use std::path::Path;
use visakit_debug::Sources;
use visakit_profile::{Counts, InstructionProfile, KernelProfile, Reach};

/// A number with a comma every three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(super) fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// A time in a unit that fits.
pub(super) fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n if n < 1e9 => format!("{:.2} ms", n / 1e6),
        n => format!("{:.2} s", n / 1e9),
    }
}

pub(super) fn lanes(counts: &Counts) -> String {
    let part = counts.efficiency();
    part.map_or_else(String::new, |part| format!("{:.0} %", part * 100.0))
}

/// File without its folders, and line.
pub(super) fn place(file: Option<&str>, line: Option<u32>) -> String {
    let Some(line) = line else {
        return String::new();
    };
    let file = file.map_or("?", |file| {
        let name = Path::new(file).file_name().and_then(|n| n.to_str());
        name.unwrap_or(file)
    });
    format!("{}:{line}", printable(file.as_bytes()))
}

fn at(instruction: &InstructionProfile) -> String {
    place(instruction.file.as_deref(), instruction.line)
}

fn sum(kernel: &KernelProfile, of: impl Fn(&InstructionProfile) -> u64) -> u64 {
    kernel
        .instructions
        .iter()
        .map(of)
        .fold(0, u64::saturating_add)
}

pub(super) fn summary(out: &mut impl Write, kernel: &KernelProfile) -> Result<(), Failure> {
    let name = printable(kernel.kernel.as_bytes());
    let launches = match kernel.launches {
        1 => String::new(),
        n => format!("{n} launches, "),
    };
    writeln!(
        out,
        "{}: {launches}{} of SIMD{} in {}, on {} ({})",
        heading(&name),
        count(grouped(kernel.work.threads), "thread"),
        kernel.simd,
        count(grouped(kernel.groups), "work-group"),
        kernel.product,
        kernel.platform
    )?;
    let mut facts = Columns::pairs();
    let mut fact = |name: &str, value: String| facts.row([name.to_owned(), value]);
    fact(
        "simulated time",
        format!(
            "{}, limited by {}",
            duration(kernel.nanoseconds),
            kernel.limit()
        ),
    );
    fact("instructions", grouped(kernel.total.executions));
    if let Some(part) = kernel.total.efficiency() {
        let parted = count(grouped(sum(kernel, |i| i.parted.unwrap_or(0))), "time");
        fact(
            "enabled lanes",
            format!("{}, parted {parted}", percent(part)),
        );
    }
    let asked = kernel.asked_bytes();
    if asked > 0 {
        let moved = kernel.moved_bytes();
        fact(
            "bytes",
            format!("{} asked for, {} moved", grouped(asked), grouped(moved)),
        );
    }
    let local = kernel.local_bytes();
    if local > 0 {
        fact("local memory", format!("{} bytes", grouped(local)));
    }
    let spilled = sum(kernel, |i| i.expected(|seen| seen.spill_bytes));
    if spilled > 0 {
        fact(
            "spills",
            format!("{} bytes of private and scratch memory", grouped(spilled)),
        );
    }
    if kernel.watched_groups < kernel.groups {
        fact(
            "sampled",
            format!(
                "addresses in {} of {} work-groups",
                grouped(kernel.watched_groups),
                grouped(kernel.groups)
            ),
        );
    }
    write!(out, "{facts}")?;
    Ok(())
}

pub(super) fn tables(
    out: &mut impl Write,
    kernel: &KernelProfile,
    top: usize,
    sources: &mut Sources,
) -> Result<(), Failure> {
    if kernel.routines.len() > 1 {
        routines(out, kernel)?;
    }
    lines(out, kernel, top, sources)?;
    instructions(out, kernel, top)?;
    mnemonics(out, kernel, top)?;
    messages(out, kernel, top)?;
    divergence(out, kernel, top)?;
    barriers(out, kernel, top)
}

fn table(out: &mut impl Write, title: &str, rows: &Columns) -> Result<(), Failure> {
    writeln!(out, "\n{}", heading(title))?;
    write!(out, "{rows}")?;
    Ok(())
}

/// A title that states how many of all are shown.
fn title(what: &str, all: usize, top: usize) -> String {
    if all > top {
        format!("{what} ({top} of {all})")
    } else {
        what.to_owned()
    }
}

fn routines(out: &mut impl Write, kernel: &KernelProfile) -> Result<(), Failure> {
    let mut rows = Columns::new(&[
        ("share", Right),
        ("calls", Right),
        ("executions", Right),
        ("lanes", Right),
        ("routine", Left),
    ]);
    for routine in &kernel.routines {
        rows.row([
            percent(kernel.share(&routine.counts)),
            grouped(routine.calls),
            grouped(routine.counts.executions),
            lanes(&routine.counts),
            printable(routine.name.as_bytes()),
        ]);
    }
    table(out, "Routines", &rows)
}

fn lines(
    out: &mut impl Write,
    kernel: &KernelProfile,
    top: usize,
    sources: &mut Sources,
) -> Result<(), Failure> {
    if kernel.lines.is_empty() {
        return Ok(());
    }
    let mut rows = Columns::new(&[
        ("share", Right),
        ("executions", Right),
        ("lanes", Right),
        ("line", Left),
        ("source", Left),
    ]);
    let hottest = kernel.hottest_lines();
    for line in hottest.iter().take(top) {
        let file = line.file.as_deref();
        let text = file.and_then(|file| sources.line(file, line.line));
        rows.row([
            percent(kernel.share(&line.counts)),
            grouped(line.counts.executions),
            lanes(&line.counts),
            place(file, Some(line.line)),
            printable(text.unwrap_or_default().trim().as_bytes()),
        ]);
    }
    table(out, &title("Source lines", hottest.len(), top), &rows)
}

fn instructions(out: &mut impl Write, kernel: &KernelProfile, top: usize) -> Result<(), Failure> {
    let mut rows = Columns::new(&[
        ("share", Right),
        ("executions", Right),
        ("lanes", Right),
        ("number", Right),
        ("instruction", Left),
        ("line", Left),
    ]);
    let hottest = kernel.hottest();
    for instruction in hottest.iter().take(top) {
        rows.row([
            percent(kernel.share(&instruction.counts)),
            grouped(instruction.counts.executions),
            lanes(&instruction.counts),
            instruction.instruction.to_string(),
            printable(instruction.text.as_bytes()),
            at(instruction),
        ]);
    }
    table(out, &title("Instructions", hottest.len(), top), &rows)
}

fn mnemonics(out: &mut impl Write, kernel: &KernelProfile, top: usize) -> Result<(), Failure> {
    let mut rows = Columns::new(&[
        ("share", Right),
        ("executions", Right),
        ("lanes", Right),
        ("mnemonic", Left),
    ]);
    let all = kernel.mnemonics();
    for (name, counts) in all.iter().take(top) {
        rows.row([
            percent(kernel.share(counts)),
            grouped(counts.executions),
            lanes(counts),
            printable(name.as_bytes()),
        ]);
    }
    table(out, &title("Mnemonics", all.len(), top), &rows)
}

fn messages(out: &mut impl Write, kernel: &KernelProfile, top: usize) -> Result<(), Failure> {
    let messages = kernel.messages();
    if messages.is_empty() {
        return Ok(());
    }
    let wide = message_rows(kernel, &messages, top, true);
    let rows = match wide.fits() {
        true => wide,
        false => message_rows(kernel, &messages, top, false),
    };
    table(out, &title("Messages", messages.len(), top), &rows)
}

/// Those of a narrow terminal are without what others tell as well: `moved` and `used` say what was asked for.
fn message_rows(
    kernel: &KernelProfile,
    messages: &[&InstructionProfile],
    top: usize,
    wide: bool,
) -> Columns {
    let mut rows = Columns::new(&[
        ("share", Right),
        ("executions", Right),
        ("asked", Right),
        ("moved", Right),
        ("lines each", Right),
        ("used", Right),
        ("banks", Right),
        ("again", Right),
        ("memory", Left),
        ("number", Right),
        ("message", Left),
        ("line", Left),
    ]);
    for message in messages.iter().take(top) {
        let seen = message.seen.filter(|seen| seen.executions > 0);
        let cell = |of: &dyn Fn(&visakit_profile::Messages) -> String| {
            seen.as_ref().map_or_else(String::new, of)
        };
        rows.row([
            percent(kernel.share(&message.counts)),
            grouped(message.counts.executions),
            cell(&|_| if_wide(wide, || grouped(message.asked_bytes()))),
            cell(&|_| grouped(message.moved_bytes())),
            cell(&|seen| match seen.reach {
                Some(Reach::Local) => String::new(),
                _ => if_wide(wide, || format!("{:.1}", seen.lines_each())),
            }),
            cell(&|seen| percent(seen.coalescing())),
            cell(&|seen| match seen.bank_ideal {
                0 => String::new(),
                _ => format!("{:.1}x", seen.bank_factor()),
            }),
            cell(&|seen| match seen.loaded_bytes {
                0 => String::new(),
                _ => if_wide(wide, || percent(seen.redundancy())),
            }),
            cell(&|seen| seen.reach.map_or("", Reach::name).to_owned()),
            message.instruction.to_string(),
            message.mnemonic.clone(),
            at(message),
        ]);
    }
    rows
}

/// A cell that a narrow table leaves out.
fn if_wide(wide: bool, text: impl FnOnce() -> String) -> String {
    if wide { text() } else { String::new() }
}

fn divergence(out: &mut impl Write, kernel: &KernelProfile, top: usize) -> Result<(), Failure> {
    let parting = kernel.divergence();
    if parting.is_empty() {
        return Ok(());
    }
    let mut rows = Columns::new(&[
        ("executions", Right),
        ("parted", Right),
        ("lanes that jump", Right),
        ("number", Right),
        ("branch", Left),
        ("line", Left),
    ]);
    for branch in parting.iter().take(top) {
        let taken = Counts {
            lanes: branch.taken.unwrap_or(0),
            slots: branch.counts.lanes,
            ..Counts::default()
        };
        rows.row([
            grouped(branch.counts.executions),
            grouped(branch.parted.unwrap_or(0)),
            taken.efficiency().map_or_else(String::new, percent),
            branch.instruction.to_string(),
            printable(branch.text.as_bytes()),
            at(branch),
        ]);
    }
    table(out, &title("Divergence", parting.len(), top), &rows)
}

fn barriers(out: &mut impl Write, kernel: &KernelProfile, top: usize) -> Result<(), Failure> {
    let barriers = kernel.barriers();
    if barriers.is_empty() {
        return Ok(());
    }
    let mut rows = Columns::new(&[
        ("executions", Right),
        ("cycles waited", Right),
        ("number", Right),
        ("barrier", Left),
        ("line", Left),
    ]);
    for barrier in barriers.iter().take(top) {
        rows.row([
            grouped(barrier.counts.executions),
            grouped(barrier.waited()),
            barrier.instruction.to_string(),
            printable(barrier.text.as_bytes()),
            at(barrier),
        ]);
    }
    table(out, &title("Barriers", barriers.len(), top), &rows)
}
