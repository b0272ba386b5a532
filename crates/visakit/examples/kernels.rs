//! Prints the kernels and functions of objects with their instruction mix.
//!
//! `cargo run --example kernels -- FILE...`

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use visakit::isa::object::Body;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        println!("{path}\n{}", mix(&std::fs::read(path.as_str())?)?);
    }
    Ok(())
}

/// Each routine with its operations, the most frequent ones first.
pub(crate) fn mix(file: &[u8]) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for (id, routine) in visakit::read(file)?.routines() {
        let mut mix = BTreeMap::new();
        for instruction in routine.body().into_iter().flat_map(Body::instructions) {
            *mix.entry(instruction.op).or_insert(0) += 1;
        }
        let mut mix: Vec<_> = mix.into_iter().collect();
        mix.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        writeln!(text, "{} {}", id.kind.name(), routine.display_name())?;
        for (op, count) in mix {
            writeln!(text, "{count:>6} {}", op.def().mnemonic())?;
        }
    }
    Ok(text)
}
