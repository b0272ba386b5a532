//! Reports what is wrong with objects: the rules that they break, where, and what to do.
//!
//! `cargo run --example validate --features validate -- FILE...`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fmt::Write;
use visakit::validate::{Options, bytes};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        println!("{path}\n{}", report(&std::fs::read(path.as_str())?)?);
    }
    Ok(())
}

/// The findings of a file, errors and warnings, and their numbers.
pub(crate) fn report(file: &[u8]) -> Result<String, Box<dyn Error>> {
    let report = bytes(file, None, &Options::default())?;
    let mut text = String::new();
    for finding in &report.findings {
        writeln!(text, "{finding}")?;
        writeln!(text, "  help: {}", finding.rule.action)?;
    }
    writeln!(
        text,
        "{} errors, {} warnings",
        report.errors, report.warnings
    )?;
    Ok(text)
}
