//! Where results go.

use anstyle::Style;
use std::io::{self, BufWriter, Write};

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
    /// Tells the streams of `anstream`, which all output goes through.
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
