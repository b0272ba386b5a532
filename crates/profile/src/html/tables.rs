//! The tables of the page.

use super::{Escaped, Grouped, Heat, Percent, duration};
use crate::data::{Counts, InstructionProfile, KernelProfile, Reach, ratio};
use std::fmt::{self, Write};

/// SIMD efficiency, if there is one.
pub(crate) fn lanes(counts: &Counts) -> String {
    let efficiency = counts.efficiency().filter(|_| counts.executions > 0);
    efficiency.map_or_else(String::new, |part| format!("{:.0} %", part * 100.0))
}

/// The numbers that matter first.
pub(super) fn summary(out: &mut String, kernel: &KernelProfile) -> fmt::Result {
    let sum = |of: fn(&InstructionProfile) -> u64| {
        kernel
            .instructions
            .iter()
            .map(of)
            .fold(0, u64::saturating_add)
    };
    let local = kernel.local_bytes();
    let parted = sum(|i| i.parted.unwrap_or(0));
    let spilled = sum(|i| i.expected(|seen| seen.spill_bytes));
    let plural =
        |n: u64, word: &str| format!("{} {word}{}", Grouped(n), if n == 1 { "" } else { "s" });
    out.push_str("<dl>\n");
    let mut card = |name: &str, value: &str, note: &str| {
        writeln!(
            out,
            "<div><dt>{name}</dt><dd>{}<small>{}</small></dd></div>",
            Escaped(value),
            Escaped(note)
        )
    };
    card(
        "simulated time",
        &duration(kernel.nanoseconds),
        &format!("on {} ({})", kernel.product, kernel.platform),
    )?;
    card(
        "limited by",
        &kernel.limit(),
        &plural(kernel.launches, "launch").replace("launchs", "launches"),
    )?;
    card(
        "instructions",
        &Grouped(kernel.total.executions).to_string(),
        &format!(
            "{}, {}",
            plural(kernel.work.threads, "thread"),
            plural(kernel.groups, "work-group")
        ),
    )?;
    let efficiency = kernel.total.efficiency();
    card(
        "enabled lanes",
        &efficiency.map_or_else(|| "–".to_owned(), |part| Percent(part).to_string()),
        &format!("SIMD{}, {} parted", kernel.simd, plural(parted, "time")),
    )?;
    card(
        "bytes moved",
        &Grouped(kernel.moved_bytes()).to_string(),
        &format!("{} asked for", Grouped(kernel.asked_bytes())),
    )?;
    if local > 0 {
        card(
            "local memory",
            &Grouped(local).to_string(),
            "bytes asked for",
        )?;
    }
    if spilled > 0 {
        let note = "bytes of private and scratch memory";
        card("spills", &Grouped(spilled).to_string(), note)?;
    }
    out.push_str("</dl>\n");
    if kernel.stopped {
        out.push_str("<p><strong>A launch was stopped before its end.</strong></p>\n");
    }
    let (watched, groups) = (kernel.watched_groups, kernel.groups);
    if watched < groups {
        writeln!(
            out,
            "<p class=\"soft\">Addresses were sampled in {} of {} work-groups.</p>",
            Grouped(watched),
            Grouped(groups)
        )?;
    }
    Ok(())
}

/// Begins a table: its title, its caption, and its columns. Those that begin with `<` contain text.
fn begin(out: &mut String, title: &str, caption: &str, columns: &[&str]) {
    let _ = write!(
        out,
        "<h3>{title}</h3>\n<p class=\"soft\">{caption}</p>\n\
         <div class=\"scroll\" role=\"region\" aria-label=\"{title}\" tabindex=\"0\">\n\
         <table class=\"sort\" aria-label=\"{title}\">\n<thead><tr>"
    );
    for column in columns {
        let _ = match column.strip_prefix('<') {
            Some(text) => write!(out, "<th scope=\"col\" class=\"t\">{text}</th>"),
            None => write!(out, "<th scope=\"col\">{column}</th>"),
        };
    }
    out.push_str("</tr></thead>\n<tbody>\n");
}

fn end(out: &mut String) {
    out.push_str("</tbody>\n</table>\n</div>\n");
}

/// A cell with a number and how it is written.
fn number(value: impl fmt::Display, shown: impl fmt::Display) -> String {
    format!("<td data-n=\"{value}\">{shown}</td>")
}

fn whole(value: u64) -> String {
    number(value, Grouped(value))
}

fn text(value: &str) -> String {
    format!("<td class=\"t\">{}</td>", Escaped(value))
}

fn share(kernel: &KernelProfile, counts: &Counts) -> String {
    let part = kernel.share(counts);
    format!(
        "<td class=\"heat\" data-n=\"{part:.6}\">{}</td>",
        Percent(part)
    )
}

/// File without its folders, and line.
pub(super) fn place(instruction: &InstructionProfile) -> String {
    match (&instruction.file, instruction.line) {
        (Some(file), Some(line)) => {
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            format!("{name}:{line}")
        }
        (None, Some(line)) => format!("line {line}"),
        _ => String::new(),
    }
}

fn row(out: &mut String, heat: &Heat, cells: &[String]) -> fmt::Result {
    writeln!(out, "<tr {heat}>{}</tr>", cells.concat())
}

pub(super) fn routines(out: &mut String, kernel: &KernelProfile) -> fmt::Result {
    begin(
        out,
        "Routines",
        "The kernel and what it calls; each with what its own instructions did.",
        &[
            "<routine",
            "share",
            "calls",
            "executions",
            "lanes",
            "cycles",
        ],
    );
    let most = kernel.routines.iter().map(|r| r.counts.cycles).max();
    for routine in &kernel.routines {
        let counts = &routine.counts;
        let cells = [
            text(&routine.name),
            share(kernel, counts),
            whole(routine.calls),
            whole(counts.executions),
            efficiency(counts),
            whole(counts.cycles),
        ];
        row(out, &Heat(counts.cycles, most.unwrap_or(0)), &cells)?;
    }
    end(out);
    Ok(())
}

fn efficiency(counts: &Counts) -> String {
    match counts.efficiency() {
        Some(part) => number(
            format_args!("{part:.4}"),
            format_args!("{:.0} %", part * 100.0),
        ),
        None => number(-1, ""),
    }
}

pub(super) fn messages(out: &mut String, kernel: &KernelProfile) -> fmt::Result {
    let messages = kernel.messages();
    if messages.is_empty() {
        return Ok(());
    }
    begin(
        out,
        "Messages",
        "Bytes that lanes asked for, and bytes of the cache lines that moved; lines of 64 bytes that a message touches, on average. Used is what was asked for by what was moved. Banks \
         tells how many times longer conflicts in local memory make a message. Again is the part of what was loaded that \
         the same thread had loaded before.",
        &[
            "number",
            "<message",
            "<memory",
            "share",
            "executions",
            "lanes",
            "asked",
            "moved",
            "lines each",
            "used",
            "banks",
            "again",
            "<source",
        ],
    );
    let most = messages.first().map_or(0, |m| m.counts.cycles);
    for message in messages {
        let counts = &message.counts;
        let mut cells = vec![whole(message.instruction as u64), text(&message.mnemonic)];
        let seen = message.seen.filter(|seen| seen.executions > 0);
        cells.push(text(seen.and_then(|s| s.reach).map_or("", Reach::name)));
        cells.push(share(kernel, counts));
        cells.push(whole(counts.executions));
        cells.push(efficiency(counts));
        match seen {
            Some(seen) => {
                let each =
                    |value: f64| number(format_args!("{value:.4}"), format_args!("{value:.1}"));
                cells.push(whole(message.asked_bytes()));
                cells.push(whole(message.moved_bytes()));
                cells.push(match seen.reach {
                    Some(Reach::Local) => number(-1, ""),
                    _ => each(seen.lines_each()),
                });
                let used = seen.coalescing();
                cells.push(number(format_args!("{used:.4}"), Percent(used)));
                cells.push(if seen.bank_ideal > 0 {
                    let factor = seen.bank_factor();
                    number(format_args!("{factor:.4}"), format_args!("{factor:.1} ×"))
                } else {
                    number(0, "")
                });
                cells.push(if seen.loaded_bytes > 0 {
                    number(
                        format_args!("{:.4}", seen.redundancy()),
                        Percent(seen.redundancy()),
                    )
                } else {
                    number(-1, "")
                });
            }
            None => cells.extend((0..6).map(|_| number(-1, "not seen"))),
        }
        cells.push(text(&place(message)));
        row(out, &Heat(counts.cycles, most), &cells)?;
    }
    end(out);
    Ok(())
}

pub(super) fn divergence(out: &mut String, kernel: &KernelProfile) -> fmt::Result {
    let parting = kernel.divergence();
    if parting.is_empty() {
        return Ok(());
    }
    begin(
        out,
        "Divergence",
        "Branches at which some lanes of a thread go another way than others.",
        &[
            "number",
            "<branch",
            "executions",
            "parted",
            "parted, part",
            "lanes that jump",
            "<source",
        ],
    );
    let most = parting.first().and_then(|i| i.parted).unwrap_or(0);
    for branch in parting {
        let parted = branch.parted.unwrap_or(0);
        let part = ratio(parted, branch.counts.executions);
        let taken = ratio(branch.taken.unwrap_or(0), branch.counts.lanes);
        let cells = [
            whole(branch.instruction as u64),
            text(&branch.text),
            whole(branch.counts.executions),
            whole(parted),
            number(format_args!("{part:.4}"), Percent(part)),
            number(format_args!("{taken:.4}"), Percent(taken)),
            text(&place(branch)),
        ];
        row(out, &Heat(parted, most), &cells)?;
    }
    end(out);
    Ok(())
}

pub(super) fn barriers(out: &mut String, kernel: &KernelProfile) -> fmt::Result {
    let barriers = kernel.barriers();
    if barriers.is_empty() {
        return Ok(());
    }
    begin(
        out,
        "Barriers",
        "Cycles that threads wait for the last one of their group, by the cost model.",
        &[
            "number",
            "<barrier",
            "executions",
            "cycles waited",
            "cycles each",
            "<source",
        ],
    );
    let most = barriers.first().map_or(0, |i| i.waited());
    for barrier in barriers {
        let waits = barrier.waits.unwrap_or_default();
        let each = ratio(waits.cycles, waits.arrivals);
        let cells = [
            whole(barrier.instruction as u64),
            text(&barrier.text),
            whole(barrier.counts.executions),
            whole(barrier.waited()),
            number(format_args!("{each:.4}"), format_args!("{each:.1}")),
            text(&place(barrier)),
        ];
        row(out, &Heat(barrier.waited(), most), &cells)?;
    }
    end(out);
    Ok(())
}
