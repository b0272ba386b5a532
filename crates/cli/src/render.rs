//! Errors for people: the place, the bytes around it, and what to do.

use crate::input;
use crate::output::printable;
use annotate_snippets::{Annotation, AnnotationKind, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use std::path::Path;
use visakit::parse;
use visakit::text::asm::{Diagnostic, Span};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();
const DIM: Style = AnsiColor::BrightBlack.on_default();

/// Bytes shown in a line of the hex window.
const ROW: u64 = 16;

/// Says why the tool gives up.
#[allow(clippy::print_stderr)]
pub(crate) fn failure(message: &str) {
    anstream::eprintln!("{ERROR}error{ERROR:#}: {message}");
}

/// Says something that is no error.
#[allow(clippy::print_stderr)]
pub(crate) fn note(message: &str) {
    anstream::eprintln!("{HELP}note{HELP:#}: {message}");
}

/// Says what is wrong with an object.
#[allow(clippy::print_stderr)]
pub(crate) fn read_error(path: &Path, bytes: &[u8], error: &parse::Error) {
    anstream::eprint!("{}", explain(path, bytes, error));
}

/// Says why a change is refused.
#[allow(clippy::print_stderr)]
pub(crate) fn change_error(path: &Path, error: &visakit::rewrite::Error) {
    let message = printable(error.kind.to_string().as_bytes());
    let mut place = input::name(path);
    if let Some((id, name)) = &error.routine {
        let name = printable(name.as_bytes());
        let _ = write!(place, ", {} {} {name:?}", id.kind.name(), id.index);
    }
    if let Some(at) = &error.location {
        let _ = write!(place, ", {at}");
    }
    anstream::eprintln!("{ERROR}error{ERROR:#}: {message}");
    anstream::eprintln!("  {DIM}-->{DIM:#} {place}");
    anstream::eprintln!("  {HELP}help{HELP:#}: {}", error.help());
}

/// One line: file, place and what is wrong.
pub(crate) fn brief(path: &Path, error: &impl std::fmt::Display) -> String {
    format!(
        "{}: {}",
        input::name(path),
        printable(error.to_string().as_bytes())
    )
}

/// Says what is wrong with a text, showing the line.
pub(crate) fn text_error(path: &Path, text: &str, fault: &Diagnostic) {
    diagnostic(Level::ERROR, path, text, fault);
}

/// Says what looks wrong in a text, showing the line.
pub(crate) fn text_warning(path: &Path, text: &str, warning: &Diagnostic) {
    diagnostic(Level::WARNING, path, text, warning);
}

#[allow(clippy::print_stderr)]
fn diagnostic(level: Level<'_>, path: &Path, text: &str, fault: &Diagnostic) {
    let title = level.primary_title(printable(fault.message.as_bytes()));
    let label = fault.expected.as_ref().map(|e| format!("expected {e}"));
    let marked = AnnotationKind::Primary;
    let mut group = title.element(snippet(path, text, fault.span, marked, label));
    if let Some((span, remark)) = fault.related {
        let label = Some(remark.to_owned());
        group = group.element(snippet(path, text, span, AnnotationKind::Context, label));
    }
    if let Some(hint) = &fault.hint {
        group = group.element(Level::HELP.message(printable(hint.as_bytes())));
    }
    anstream::eprintln!("{}", Renderer::styled().render(&[group]));
}

/// The line of a place, with the place marked.
fn snippet<'t>(
    path: &Path,
    text: &'t str,
    span: Span,
    kind: AnnotationKind,
    label: Option<String>,
) -> Snippet<'t, Annotation<'t>> {
    /// Longer lines are cut after the place.
    const AFTER: usize = 200;
    let bytes = text.as_bytes();
    let (line, _) = span.place(bytes);
    let at = span.start.min(bytes.len());
    let mut before = bytes.iter().take(at).rev();
    let start = at - before.position(|&b| b == b'\n').unwrap_or(at);
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.find('\n').unwrap_or(rest.len());
    let cut = whole_character(rest, end.min(span.end().saturating_sub(start) + AFTER));
    let source = rest.get(..cut).unwrap_or(rest);
    let limit = |offset: usize| whole_character(source, offset.saturating_sub(start));
    Snippet::source(source)
        .line_start(line)
        .path(input::name(path))
        .annotation(kind.span(limit(span.start)..limit(span.end())).label(label))
}

/// The place, or the end of the character that it is in.
fn whole_character(text: &str, at: usize) -> usize {
    let mut boundaries = at..text.len();
    boundaries
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(text.len())
}

fn explain(path: &Path, bytes: &[u8], error: &parse::Error) -> String {
    let mut text = format!("{ERROR}error{ERROR:#}: {}\n", error.kind());
    let context = error.context().to_string();
    let separator = if context.is_empty() { "" } else { ", " };
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "  {DIM}-->{DIM:#} {} @ {:#x}{separator}{}",
        input::name(path),
        error.offset(),
        printable(context.as_bytes())
    );
    text.push_str(&hex_window(bytes, error.offset()));
    let _ = writeln!(text, "  {HELP}help{HELP:#}: {}", error.help());
    text
}

/// The line of the faulty byte with the ones before and after, the byte marked below.
fn hex_window(bytes: &[u8], offset: u64) -> String {
    let mut text = String::new();
    let line = offset - offset % ROW;
    for start in [line.checked_sub(ROW), Some(line), line.checked_add(ROW)]
        .into_iter()
        .flatten()
    {
        let index = usize::try_from(start).unwrap_or(usize::MAX);
        let row = bytes.get(index..).unwrap_or_default();
        let row = row.get(..16).unwrap_or(row);
        if row.is_empty() && start != line {
            continue;
        }
        let _ = write!(text, "  {DIM}{start:08x}{DIM:#} |");
        for (i, byte) in (start..).zip(row) {
            if i == offset {
                let _ = write!(text, " {ERROR}{byte:02x}{ERROR:#}");
            } else {
                let _ = write!(text, " {byte:02x}");
            }
        }
        text.push('\n');
        if start == line {
            let column = usize::try_from(offset % ROW).unwrap_or(0) * 3;
            let end = if row.len() * 3 <= column {
                " end of the file"
            } else {
                ""
            };
            let _ = writeln!(text, "           | {:column$}{ERROR}^^{end}{ERROR:#}", "");
        }
    }
    text
}
