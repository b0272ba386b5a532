//! Reads files as far as possible, and reports what is wrong with them.
//!
//! `cargo run --example damaged -- FILE...`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fmt::Write;
use visakit::isa::object::{Content, Item};
use visakit::{ReadOptions, parse};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        println!("{path}\n{}", report(&std::fs::read(path.as_str())?)?);
    }
    Ok(())
}

/// What remains of a file, then its faults with their offsets.
pub(crate) fn report(file: &[u8]) -> Result<String, Box<dyn Error>> {
    let options = ReadOptions {
        lenient: true,
        ..ReadOptions::default()
    };
    // Only a file without a usable header is an error.
    let decoded = parse::read_with(file, options)?;
    let mut text = String::new();
    for (id, routine) in decoded.object.routines() {
        write!(text, "{} {}: ", id.kind.name(), routine.display_name())?;
        match &routine.content {
            Content::Body(body) => {
                let raw = body
                    .code
                    .iter()
                    .filter(|i| matches!(i, Item::Raw(_)))
                    .count();
                let all = body.code.len();
                writeln!(text, "{} instructions, {raw} raw pieces", all - raw)?;
            }
            Content::Raw(raw) => writeln!(text, "{} bytes, not decoded", raw.bytes.len())?,
            Content::Missing(reason) => writeln!(text, "missing: {reason}")?,
        }
    }
    for fault in &decoded.errors {
        writeln!(text, "{:#x}: {fault}", fault.offset())?;
    }
    Ok(text)
}
