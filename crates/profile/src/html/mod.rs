//! A self-contained page with a profile: it includes style and script, and fetches nothing.

mod tables;

use crate::data::{KernelProfile, LineProfile, Profile};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter, Write};

/// Lines of source that are shown around those that ran.
const AROUND: usize = 3;

/// The page. `source` returns the text of a source file by its name in the object, if it is
/// available.
#[must_use]
pub fn page(
    profile: &Profile,
    title: &str,
    mut source: impl FnMut(&str) -> Option<String>,
) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_page(&mut out, profile, title, &mut source);
    out
}

/// Text as it may be put into the page.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\t' => f.write_str("    ")?,
                c if c.is_control() => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A number with a comma every three digits.
pub(crate) struct Grouped(pub(crate) u64);

impl Display for Grouped {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                f.write_char(',')?;
            }
            f.write_char(digit)?;
        }
        Ok(())
    }
}

/// A part of a whole in per cent.
pub(crate) struct Percent(pub(crate) f64);

impl Display for Percent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} %", self.0 * 100.0)
    }
}

/// A time in a unit that fits.
#[must_use]
pub(crate) fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n if n < 1e9 => format!("{:.2} ms", n / 1e6),
        n => format!("{:.2} s", n / 1e9),
    }
}

type Source<'s> = &'s mut dyn FnMut(&str) -> Option<String>;

fn write_page(out: &mut String, profile: &Profile, title: &str, source: Source<'_>) -> fmt::Result {
    let title = Escaped(title);
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{title} – profile</title>\n<style>\n{}</style>\n</head>\n<body>\n",
        include_str!("style.css")
    )?;
    write!(
        out,
        "<header>\n<h1>{title}</h1>\n\
         <button type=\"button\" class=\"theme\" hidden>Light or dark</button>\n</header>\n<main>\n"
    )?;
    if profile.kernels.is_empty() {
        out.push_str("<p>No kernel was launched.</p>\n");
    }
    if profile.kernels.len() > 1 {
        out.push_str("<nav aria-label=\"Kernels\">\n<ul>\n");
        let all = profile.nanoseconds();
        for (number, kernel) in profile.kernels.iter().enumerate() {
            let name = Escaped(&kernel.kernel);
            let part = Percent(if all > 0.0 {
                kernel.nanoseconds / all
            } else {
                0.0
            });
            writeln!(out, "<li><a href=\"#k{number}\">{name}</a> {part}</li>")?;
        }
        out.push_str("</ul>\n</nav>\n");
    }
    for (number, kernel) in profile.kernels.iter().enumerate() {
        let name = Escaped(&kernel.kernel);
        write!(
            out,
            "<section id=\"k{number}\" aria-labelledby=\"k{number}-name\">\n\
             <h2 id=\"k{number}-name\">{name}</h2>\n"
        )?;
        tables::summary(out, kernel)?;
        tables::routines(out, kernel)?;
        sources(out, number, kernel, source)?;
        tables::messages(out, kernel)?;
        tables::divergence(out, kernel)?;
        tables::barriers(out, kernel)?;
        listing(out, number, kernel)?;
        out.push_str("</section>\n");
    }
    write!(
        out,
        "</main>\n<footer>\n<p>Counts are exact. Times are simulated: cycles of a simple cost model, which \
         <code>docs/profiling.md</code> of visakit states. Sums of messages and waits are scaled from the work-groups \
         that were looked at.</p>\n</footer>\n<script>\n{}</script>\n</body>\n</html>\n",
        include_str!("script.js")
    )
}

/// How hot a row is: its fraction of the hottest one, for colours.
pub(crate) struct Heat(pub(crate) u64, pub(crate) u64);

impl Display for Heat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let part = crate::data::ratio(self.0, self.1);
        write!(f, "class=\"warm\" style=\"--h:{:.0}\"", part * 100.0)
    }
}

/// Source files, with the costs of their lines.
fn sources(
    out: &mut String,
    number: usize,
    kernel: &KernelProfile,
    source: Source<'_>,
) -> fmt::Result {
    let mut files: BTreeMap<&str, BTreeMap<usize, &LineProfile>> = BTreeMap::new();
    for line in &kernel.lines {
        let file = line.file.as_deref().unwrap_or("?");
        let place = usize::try_from(line.line).unwrap_or(usize::MAX);
        files.entry(file).or_default().insert(place, line);
    }
    let most = kernel.lines.iter().map(|l| l.counts.cycles).max();
    for (file, lines) in &files {
        let text = source(file);
        let text: Option<Vec<&str>> = text.as_deref().map(|text| text.lines().collect());
        write!(
            out,
            "<h3>Source: {0}</h3>\n<p class=\"soft\">The number of a line marks its instructions.</p>\n\
             <div class=\"scroll\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\">\n\
             <table class=\"code\" aria-label=\"{0}\">\n<thead><tr>\
             <th scope=\"col\">share</th><th scope=\"col\">executions</th><th scope=\"col\">lanes</th>\
             <th scope=\"col\">line</th><th scope=\"col\" class=\"t\">source</th></tr></thead>\n<tbody>\n",
            Escaped(file)
        )?;
        let shown: BTreeSet<usize> = match &text {
            None => lines.keys().copied().collect(),
            Some(text) => {
                let around = |line: &usize| line.saturating_sub(AROUND).max(1)..=line + AROUND;
                let all = lines.keys().flat_map(around);
                // A line that the file does not have is shown all the same.
                all.filter(|line| *line <= text.len() || lines.contains_key(line))
                    .collect()
            }
        };
        let mut before = 0;
        for place in shown {
            if place != before + 1 && before != 0 {
                out.push_str("<tr class=\"gap\"><td colspan=\"5\">…</td></tr>\n");
            }
            before = place;
            let words = text.as_ref().and_then(|text| text.get(place - 1));
            let words = Escaped(words.copied().unwrap_or_default());
            match lines.get(&place) {
                Some(line) => {
                    let counts = &line.counts;
                    writeln!(
                        out,
                        "<tr {}><td class=\"heat\">{}</td><td>{}</td><td>{}</td><td><button type=\"button\" \
                         aria-pressed=\"false\" data-line=\"{number}:{}:{place}\">{place}</button></td>\
                         <td class=\"t\">{words}</td></tr>",
                        Heat(counts.cycles, most.unwrap_or(0)),
                        Percent(kernel.share(counts)),
                        Grouped(counts.executions),
                        tables::lanes(counts),
                        Escaped(file)
                    )?;
                }
                None => writeln!(
                    out,
                    "<tr><td></td><td></td><td></td><td>{place}</td><td class=\"t\">{words}</td></tr>"
                )?,
            }
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
    }
    Ok(())
}

/// All instructions.
fn listing(out: &mut String, number: usize, kernel: &KernelProfile) -> fmt::Result {
    let most = kernel.instructions.iter().map(|i| i.counts.cycles).max();
    out.push_str(
        "<h3>Instructions</h3>\n<p class=\"soft\">A dashed line begins a basic block.</p>\n\
         <div class=\"scroll\" role=\"region\" aria-label=\"Instructions\" tabindex=\"0\">\n\
         <table class=\"code\" aria-label=\"Instructions\">\n<thead><tr>\
         <th scope=\"col\">share</th><th scope=\"col\">executions</th><th scope=\"col\">lanes</th>\
         <th scope=\"col\">number</th><th scope=\"col\" class=\"t\">instruction</th>\
         <th scope=\"col\" class=\"t\">source</th></tr></thead>\n",
    );
    let mut routine = None;
    let mut block = None;
    for instruction in &kernel.instructions {
        if routine != Some(instruction.routine) {
            if routine.is_some() {
                out.push_str("</tbody>\n");
            }
            routine = Some(instruction.routine);
            out.push_str("<tbody>\n");
            if kernel.routines.len() > 1 {
                let name = kernel.routines.get(instruction.routine);
                let name = Escaped(name.map_or("", |r| r.name.as_str()));
                writeln!(
                    out,
                    "<tr class=\"gap\"><th scope=\"rowgroup\" colspan=\"6\" class=\"t\">{name}</th></tr>"
                )?;
            }
        }
        let counts = &instruction.counts;
        let file = instruction.file.as_deref().unwrap_or("?");
        let place = match instruction.line {
            Some(line) => format!("{file}:{line}"),
            None => String::new(),
        };
        let begins = if block == Some(instruction.block) {
            ""
        } else {
            " block"
        };
        block = Some(instruction.block);
        let heat = if counts.executions == 0 {
            format!("class=\"never{begins}\" style=\"--h:0\"")
        } else {
            let heat = Heat(counts.cycles, most.unwrap_or(0)).to_string();
            heat.replacen("warm", &format!("warm{begins}"), 1)
        };
        writeln!(
            out,
            "<tr {heat} data-line=\"{number}:{}\"><td class=\"heat\">{}</td><td>{}</td><td>{}</td>\
             <td>{}</td><td class=\"t\">{}</td><td class=\"t\">{}</td></tr>",
            Escaped(&place),
            Percent(kernel.share(counts)),
            Grouped(counts.executions),
            tables::lanes(counts),
            instruction.instruction,
            Escaped(&instruction.text),
            Escaped(&tables::place(instruction))
        )?;
    }
    if routine.is_some() {
        out.push_str("</tbody>\n");
    }
    out.push_str("</table>\n</div>\n");
    Ok(())
}
