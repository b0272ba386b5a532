//! Findings as workflow commands of GitHub Actions.

use super::Checked;
use crate::output::Failure;
use std::io::Write;
use visakit::validate::Severity;

/// A line for each finding.
pub(super) fn print(out: &mut impl Write, checked: &[Checked]) -> Result<(), Failure> {
    for one in checked {
        for (n, finding) in one.findings() {
            let level = match finding.rule.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let file = property(&one.path.to_string_lossy());
            write!(out, "::{level} file={file}")?;
            if let Some((line, column)) = one.lines.get(n).copied().flatten() {
                write!(out, ",line={line},col={column}")?;
            }
            let place = finding.location.to_string();
            let place = if place.is_empty() {
                place
            } else {
                format!("{place}: ")
            };
            let message = data(&format!("{place}{}", finding.message));
            writeln!(
                out,
                ",title={}::{message}",
                property(&finding.rule.id().to_string())
            )?;
        }
    }
    Ok(())
}

/// Text after the colons.
pub(crate) fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Text between commas.
pub(crate) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
