//! Documents of launches, read again: for SARIF logs and for annotations.

use crate::commands::validate::github::{data, property};
use crate::output::{Failure, relative};
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// Why a launch gives no verdict.
pub(crate) struct Told<'a> {
    pub(crate) message: &'a str,
    /// Where its threads were.
    pub(crate) places: Vec<&'a Value>,
}

/// Why a launch gives no verdict, if so.
pub(crate) fn told(case: &Value) -> Option<Told<'_>> {
    if let Some(message) = case["error"].as_str() {
        return Some(Told {
            message,
            places: Vec::new(),
        });
    }
    let stopped = case.get("stopped")?;
    Some(Told {
        message: stopped["message"].as_str().unwrap_or_default(),
        places: stopped["places"].as_array().into_iter().flatten().collect(),
    })
}

/// Workflow commands of GitHub Actions: a line for each finding, and for each launch without a verdict.
pub(crate) fn annotate(out: &mut impl Write, cases: &[Value]) -> Result<(), Failure> {
    for case in cases {
        let name = case["case"].as_str().unwrap_or_default();
        for finding in case["findings"].as_array().into_iter().flatten() {
            let level = match finding["level"].as_str() {
                Some("note") => "notice",
                Some(level) => level,
                None => "error",
            };
            let kind = finding["kind"].as_str().unwrap_or_default();
            let message = finding["message"].as_str().unwrap_or_default();
            let routine = finding["routine"].as_str().unwrap_or_default();
            let times = match finding["count"].as_u64() {
                Some(times) if times > 1 => format!(", {times} times"),
                _ => String::new(),
            };
            write!(out, "::{level} {}title={}", place(finding), property(kind))?;
            writeln!(
                out,
                "::{}",
                data(&format!("{message} (in {routine}, {name}{times})"))
            )?;
        }
        if let Some(Told { message, places }) = told(case) {
            let at = places.first().map_or_else(String::new, |at| place(at));
            write!(out, "::error {at}title=not ended")?;
            writeln!(out, "::{}", data(&format!("{name}: {message}")))?;
        }
    }
    Ok(())
}

/// `file=…,line=…,` where it is known.
fn place(of: &Value) -> String {
    match (of["file"].as_str(), of["line"].as_u64()) {
        (Some(file), Some(line)) => {
            let file = relative(Path::new(file));
            format!("file={},line={line},", property(&file.to_string_lossy()))
        }
        _ => String::new(),
    }
}
