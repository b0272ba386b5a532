//! Errors for people: the place, the bytes around it, and what to do.

use crate::output::{self, printable};
use crate::{Status, input};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use visakit::parse;
use visakit::snippets::{Message, Severity, one_byte_each};
use visakit::text::asm::Diagnostic;
use visakit_launch::{LaunchError, Source};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();
const DIM: Style = AnsiColor::BrightBlack.on_default();

/// Bytes per line of the hex window.
const ROW: u64 = 16;

/// A message: for people on standard error, for programs in the document.
#[derive(Serialize, Default, Clone)]
pub(crate) struct Problem {
    severity: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Place in a binary file.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    /// Place in a text, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// Bytes that the place has in the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<usize>,
    /// The place in the object, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl Problem {
    fn new(severity: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            ..Self::default()
        }
    }

    /// Reports it; people get the text.
    fn tell(self, text: impl FnOnce(&Self) -> String) {
        if let Some(problem) = output::keep(self) {
            output::say(text(&problem).trim_end_matches('\n'));
        }
    }
}

/// Reports why the tool gives up.
pub(crate) fn failure(message: &str) {
    Problem::new("error", message).tell(|p| format!("{ERROR}error{ERROR:#}: {}", p.message));
}

/// Reports why the tool gives up, with advice.
pub(crate) fn failure_with_help(message: &str, help: &str) {
    let problem = Problem {
        help: Some(help.to_owned()),
        ..Problem::new("error", message)
    };
    problem.tell(|p| {
        format!(
            "{ERROR}error{ERROR:#}: {}\n  {HELP}help{HELP:#}: {help}",
            p.message
        )
    });
}

/// Reports a fault of a running kernel, with the place in the source and in the routine.
pub(crate) fn fault(
    message: &str,
    file: Option<String>,
    line: Option<u32>,
    place: &str,
    help: Option<&str>,
) {
    let problem = Problem {
        file: file.map(|file| printable(file.as_bytes())),
        line: line.and_then(|line| usize::try_from(line).ok()),
        context: Some(place.to_owned()),
        help: help.map(ToOwned::to_owned),
        ..Problem::new("error", message)
    };
    problem.tell(|p| {
        let mut text = format!("{ERROR}error{ERROR:#}: {message}\n  {DIM}-->{DIM:#} ");
        if let (Some(file), Some(line)) = (&p.file, p.line) {
            let _ = write!(text, "{file}:{line}, in ");
        }
        text.push_str(place);
        if let Some(help) = help {
            let _ = write!(text, "\n  {HELP}help{HELP:#}: {help}");
        }
        text
    });
}

/// Prints a warning.
pub(crate) fn warning(message: &str) {
    Problem::new("warning", message)
        .tell(|p| format!("{WARNING}warning{WARNING:#}: {}", p.message));
}

/// Prints a note that is not an error, once.
pub(crate) fn note(message: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.insert(message.to_owned()) {
        return;
    }
    drop(told);
    Problem::new("note", message).tell(|p| format!("{HELP}note{HELP:#}: {}", p.message));
}

/// What to do about an object that cannot be read; the option is the tool's, not the library's.
fn help(error: &parse::Error) -> String {
    let help = error.help().to_string();
    help.replace("lenient reading", "lenient reading (--lenient)")
}

/// Reports what is wrong with an object.
pub(crate) fn read_error(path: &Path, bytes: &[u8], error: &parse::Error) {
    let context = error.context().to_string();
    let problem = Problem {
        file: Some(input::name(path)),
        offset: Some(error.offset()),
        context: (!context.is_empty()).then(|| printable(context.as_bytes())),
        help: Some(help(error)),
        ..Problem::new("error", printable(error.kind().to_string().as_bytes()))
    };
    problem.tell(|_| explain(path, bytes, error));
}

/// Reports why a change is refused.
pub(crate) fn change_error(path: &Path, error: &visakit::rewrite::Error) {
    let mut context = String::new();
    if let Some((id, name)) = &error.routine {
        let name = printable(name.as_bytes());
        let _ = write!(context, "{} {} {name:?}", id.kind.name(), id.index);
    }
    if let Some(at) = &error.location {
        let separator = if context.is_empty() { "" } else { ", " };
        let _ = write!(context, "{separator}{at}");
    }
    let problem = Problem {
        file: Some(input::name(path)),
        context: (!context.is_empty()).then_some(context),
        help: Some(error.help().to_string()),
        ..Problem::new("error", printable(error.kind.to_string().as_bytes()))
    };
    problem.tell(|p| {
        let place = p.file.iter().chain(&p.context).cloned().collect::<Vec<_>>();
        format!(
            "{ERROR}error{ERROR:#}: {}\n  {DIM}-->{DIM:#} {}\n  {HELP}help{HELP:#}: {}",
            p.message,
            place.join(", "),
            error.help()
        )
    });
}

/// Reports why something cannot be opened, linked or run, and returns how the command ends: faults of a text and of a
/// running program are findings, anything else makes the input unusable.
pub(crate) fn launch_error(error: &LaunchError, sources: &[Source]) -> Status {
    let bytes_of = |path: &Path| {
        let source = sources.iter().find(|s| s.path == path);
        source.map_or(&[][..], |source| &source.bytes)
    };
    match error {
        LaunchError::Assemble { path, faults } => {
            let text = one_byte_each(bytes_of(path));
            for fault in faults {
                text_error(path, &text, fault);
            }
        }
        LaunchError::Decode { path, error } => read_error(path, bytes_of(path), error),
        LaunchError::NeedsPlatform { path, fault } => {
            let mut fault = fault.clone();
            if let Some(hint) = &mut fault.hint {
                hint.insert_str(0, "--platform, --zeinfo or --zebin state it; ");
            }
            text_error(path, &one_byte_each(bytes_of(path)), &fault);
        }
        LaunchError::NoSuchKernel { name, known, .. } if name.is_empty() && !known.is_empty() => {
            failure_with_help(
                &printable(error.to_string().as_bytes()),
                "--routine NAME takes one",
            );
        }
        LaunchError::NotAProgram { content, .. } => match content.advice() {
            Some(help) => failure_with_help(&printable(error.to_string().as_bytes()), help),
            None => failure(&printable(error.to_string().as_bytes())),
        },
        _ => failure(&printable(error.to_string().as_bytes())),
    }
    status(error)
}

/// How a command ends that stopped for this reason.
pub(crate) const fn status(error: &LaunchError) -> Status {
    match error {
        LaunchError::Assemble { .. }
        | LaunchError::Fault { .. }
        | LaunchError::Steps(_)
        | LaunchError::Asserted { .. } => Status::Findings,
        _ => Status::Unusable,
    }
}

/// Reports what is wrong with a text, showing the line.
pub(crate) fn text_error(path: &Path, text: &str, fault: &Diagnostic) {
    diagnostic("error", Severity::Error, path, text, fault);
}

/// Reports what looks wrong in a text, showing the line.
pub(crate) fn text_warning(path: &Path, text: &str, warning: &Diagnostic) {
    diagnostic("warning", Severity::Warning, path, text, warning);
}

fn diagnostic(word: &'static str, severity: Severity, path: &Path, text: &str, fault: &Diagnostic) {
    let (line, column) = fault.span.place(text.as_bytes());
    let problem = Problem {
        file: Some(input::name(path)),
        line: Some(line),
        column: Some(column),
        length: Some(fault.span.len),
        expected: fault.expected.as_ref().map(|e| printable(e.as_bytes())),
        help: fault.hint.as_ref().map(|h| printable(h.as_bytes())),
        ..Problem::new(word, printable(fault.message.as_bytes()))
    };
    problem.tell(|_| {
        let message = Message {
            severity,
            ..Message::from(fault)
        };
        message.render(&input::name(path), text, true)
    });
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
    let _ = writeln!(text, "  {HELP}help{HELP:#}: {}", help(error));
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
