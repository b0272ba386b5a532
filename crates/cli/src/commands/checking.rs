//! Options of commands that check launches.

use super::check::Failing;
use crate::output::Failure;
use std::path::PathBuf;

/// What is looked for and how it is told.
#[derive(Clone, clap::Args)]
pub(crate) struct Checking {
    /// Leave out the findings that the rules in a file cover: a rule a line, of words like kind=race, routine=NAME,
    /// file=NAME, line=N, argument=NAME and case=NAME; * stands for anything.
    #[arg(long, value_name = "FILE")]
    pub(crate) suppress: Option<PathBuf>,
    /// Findings that make the command fail: error, warning, note, or kinds. [default: warning]
    #[arg(long, value_name = "LEVEL|KIND", value_delimiter = ',', value_parser = level_or_kind)]
    pub(crate) fail_on: Vec<String>,
    /// Where the sources are that line numbers speak of, or folders above them. They are also searched for below the
    /// folder of the program, and nowhere else.
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,
    /// Write the findings as a SARIF log.
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Print the findings for people, or as annotations of GitHub Actions.
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        hide_default_value = true
    )]
    pub(crate) format: Format,
}

/// How findings are printed.
#[derive(Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// A workflow command for each finding, beside the text.
    Github,
}

/// A word of `--fail-on`.
pub(crate) fn level_or_kind(word: &str) -> Result<String, String> {
    Failing::new(&[word.to_owned()]).map_err(|failure| match failure {
        Failure::Other(message) => message,
        _ => "expected a level or a kind".to_owned(),
    })?;
    Ok(word.to_owned())
}
