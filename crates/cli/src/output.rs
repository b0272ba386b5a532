//! Where results go.

use crate::render::Problem;
use crate::{Status, input};
use anstyle::Style;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
pub(crate) use visakit::snippets::printable;

/// When to use colours.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Always.
    Always,
}

impl Color {
    /// Configures the streams of `anstream`, which all output goes through.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Never => anstream::ColorChoice::Never,
            Self::Always => anstream::ColorChoice::Always,
        }
        .write_global();
    }
}

/// Why a command could not continue.
pub(crate) enum Failure {
    /// The reader of standard output has gone.
    Closed,
    /// It has already been reported.
    Told(Status),
    /// Anything else.
    Other(String),
}

/// The version of the documents; docs/json.md describes its scope.
const SCHEMA: u32 = 1;

/// The state of `--json`.
struct Documents {
    command: String,
    /// Problems reported since the last document.
    problems: Vec<Problem>,
    written: bool,
}

/// Set only if everything is reported as JSON.
static DOCUMENTS: Mutex<Option<Documents>> = Mutex::new(None);

fn documents<T>(with: impl FnOnce(&mut Documents) -> T) -> Option<T> {
    let mut lock = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    lock.as_mut().map(with)
}

/// From now on everything is printed as JSON.
pub(crate) fn use_json(command: &str) {
    let mut lock = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    *lock = Some(Documents {
        command: command.to_owned(),
        problems: Vec::new(),
        written: false,
    });
}

/// Whether everything is printed as JSON.
pub(crate) fn is_json() -> bool {
    documents(|_| ()).is_some()
}

/// Keeps a problem for the document; returns it if there will be no document.
pub(crate) fn keep(problem: Problem) -> Option<Problem> {
    let mut problem = Some(problem);
    documents(|d| d.problems.extend(problem.take()));
    problem
}

/// The common beginning of all documents.
#[derive(Serialize)]
struct Envelope<'a, T: Serialize> {
    schema: u32,
    command: &'a str,
    problems: Vec<Problem>,
    #[serde(flatten)]
    content: T,
}

/// Writes a JSON document and a line end. The value must be a map.
pub(crate) fn json(content: &impl Serialize) -> Result<(), Failure> {
    let written = documents(|documents| {
        documents.written = true;
        let envelope = Envelope {
            schema: SCHEMA,
            command: &documents.command,
            problems: std::mem::take(&mut documents.problems),
            content,
        };
        plain_json(&envelope)
    });
    written.unwrap_or_else(|| plain_json(content))
}

/// Where a command ended without a document, one that lists the problems.
pub(crate) fn finish() -> Result<(), Failure> {
    if documents(|d| !d.written).unwrap_or(false) {
        return json(&serde_json::Map::new());
    }
    Ok(())
}

impl Failure {
    /// Reports it and returns the status, if the command continues with the next file.
    pub(crate) fn tell(self) -> Result<Status, Self> {
        match self {
            Self::Closed => Err(Self::Closed),
            Self::Told(status) => Ok(status),
            Self::Other(message) => {
                crate::render::failure(&message);
                Ok(Status::Unusable)
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Other(error.to_string())
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

/// Whether standard output uses colours.
pub(crate) fn has_colours() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Tells people something, on standard error, the one place where this is done. Whether it can be written (a full disk, a
/// closed pipe) does not change how the command ends.
pub(crate) fn say(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Drops what nobody reads any more, so that a command comes to its verdict, and ends with it, whoever listens.
struct WhoeverListens<W>(W);

impl<W: Write> Write for WhoeverListens<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// Buffered standard output for results, free of escape codes unless they are enabled. A reader that leaves changes
/// nothing.
pub(crate) fn stdout() -> BufWriter<impl Write> {
    buffered(WhoeverListens(io::stdout().lock()))
}

/// What removes escape codes takes them from long pieces, and writes each piece between two of them by itself: there is a
/// buffer above and one below.
fn buffered(to: impl Write + 'static) -> BufWriter<impl Write> {
    let below: Box<dyn Write> = Box::new(BufWriter::with_capacity(1 << 16, to));
    let choice = anstream::AutoStream::choice(&io::stdout());
    BufWriter::with_capacity(1 << 16, anstream::AutoStream::new(below, choice))
}

/// Standard output for long listings without a verdict: they end with their reader, by [`Failure::Closed`].
pub(crate) fn listing() -> BufWriter<impl Write> {
    buffered(io::stdout().lock())
}

/// Writes a value as JSON with a line end, without the envelope of this tool's documents.
pub(crate) fn plain_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut out = BufWriter::new(WhoeverListens(io::stdout().lock()));
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// Whether this is standard output.
pub(crate) fn is_stdout(output: Option<&Path>) -> bool {
    output.is_none_or(|path| path.as_os_str() == "-")
}

/// Refuses to write an object to a terminal, or into a document; to be called before any work is done.
pub(crate) fn needs_place(output: Option<&Path>) -> Result<(), Failure> {
    let message = if !is_stdout(output) {
        return Ok(());
    } else if is_json() {
        "with --json the document goes to standard output: name a file for the object with -o"
    } else if io::stdout().is_terminal() {
        "an object is not text for a terminal: name a file with -o"
    } else {
        return Ok(());
    };
    Err(Failure::Other(message.to_owned()))
}

/// Writes an object to a file, or to standard output.
pub(crate) fn object(output: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match output.filter(|_| !is_stdout(output)) {
        Some(path) => {
            file(path, bytes)?;
            written(path, bytes)
        }
        None => {
            let mut out = io::stdout().lock();
            out.write_all(bytes)?;
            Ok(out.flush()?)
        }
    }
}

/// Writes a text to a file, to standard output, or into the document.
pub(crate) fn text(output: Option<&Path>, text: &[u8]) -> Result<(), Failure> {
    match output.filter(|_| !is_stdout(output)) {
        Some(path) => {
            file(path, text)?;
            written(path, text)
        }
        None if is_json() => json(&serde_json::json!({ "text": String::from_utf8_lossy(text) })),
        None => {
            let mut out = stdout();
            out.write_all(text)?;
            Ok(out.flush()?)
        }
    }
}

/// Writes a file: it is whole or untouched.
pub(crate) fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    visakit_files::write(path, bytes).map_err(|error| at(path, &error))
}

/// The document about a file that was written.
fn written(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_json() {
        json(&serde_json::json!({ "output": input::name(path), "bytes": bytes.len() }))?;
    }
    Ok(())
}

/// The operating system's error for a path.
pub(crate) fn at(path: &Path, error: &io::Error) -> Failure {
    Failure::Other(format!("{}: {error}", input::name(path)))
}

/// A number of things, as in `1 object` and `2 objects`.
pub(crate) fn count(number: impl std::fmt::Display, thing: &str) -> String {
    let text = number.to_string();
    let plural = match thing {
        _ if text == "1" => "",
        _ if thing.ends_with("ch") => "es",
        _ if thing.ends_with('y') => return format!("{text} {}ies", thing.trim_end_matches('y')),
        _ => "s",
    };
    format!("{text} {thing}{plural}")
}

/// The title of a section of the output.
pub(crate) fn heading(text: &str) -> String {
    const HEADING: Style = Style::new().bold();
    format!("{HEADING}{text}{HEADING:#}")
}

/// A path below the current folder, without that folder: for logs that others read elsewhere.
pub(crate) fn relative(path: &Path) -> Cow<'_, Path> {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok());
    Cow::Borrowed(below.unwrap_or(path))
}

/// A text with several lines, each as [`printable`] shows it.
pub(crate) fn printable_lines(text: &str) -> String {
    let lines: Vec<_> = text
        .lines()
        .map(|line| printable(line.as_bytes()))
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals() {
        assert_eq!(count(1, "object"), "1 object");
        assert_eq!(count(0_u64, "object"), "0 objects");
        assert_eq!(count(2, "entry"), "2 entries");
    }
}
