//! Where results go.

use crate::input;
use anstyle::Style;
use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

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

/// Why a command could not go on.
pub(crate) enum Failure {
    /// The reader of standard output has gone.
    Closed,
    /// Anything else.
    Other(String),
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

/// Whether what goes to standard output is to have colours.
pub(crate) fn has_colours() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Standard output with a buffer, free of escape codes unless they are wanted.
pub(crate) fn stdout() -> BufWriter<impl Write> {
    BufWriter::with_capacity(1 << 16, anstream::stdout().lock())
}

/// Writes a JSON document and a line end.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// Refuses to write an object to a terminal; to be asked before any work is done.
pub(crate) fn needs_place(output: Option<&Path>) -> Result<(), Failure> {
    let standard = output.is_none_or(|path| path.as_os_str() == "-");
    if standard && io::stdout().is_terminal() {
        let message = "an object is not text for a terminal: name a file with -o";
        return Err(Failure::Other(message.to_owned()));
    }
    Ok(())
}

/// Writes an object to a file, or to standard output.
pub(crate) fn object(output: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match output {
        Some(path) if path.as_os_str() != "-" => fs::write(path, bytes)
            .map_err(|error| Failure::Other(format!("{}: {error}", input::name(path)))),
        _ => {
            let mut out = io::stdout().lock();
            out.write_all(bytes)?;
            Ok(out.flush()?)
        }
    }
}

/// The title of a section of the output.
pub(crate) fn heading(text: &str) -> String {
    const HEADING: Style = Style::new().bold();
    format!("{HEADING}{text}{HEADING:#}")
}

/// Bytes as text that a terminal takes without harm: control characters escaped, and replacement
/// characters where it is not UTF-8.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
