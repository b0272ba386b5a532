//! Writes the fixtures as seed files for all fuzz targets.
//!
//! `cargo run -p visakit --example fuzz_seeds -- fuzz/corpus`

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::PathBuf;

fn main() {
    let folder = PathBuf::from(
        std::env::args_os()
            .nth(1)
            .expect("give the folder to write to"),
    );
    let mut seeds = common::objects();
    for (number, case) in common::cases().into_iter().enumerate() {
        seeds.push((format!("{number:04}-{}", case.def.name), case.bytes));
    }
    for target in ["decode", "roundtrip", "validate", "exec", "print", "texts"] {
        let folder = folder.join(target);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in &seeds {
            std::fs::write(folder.join(name), bytes).unwrap();
        }
        println!("{} seeds in {}", seeds.len(), folder.display());
    }
    let parse = folder.join("parse");
    std::fs::create_dir_all(&parse).unwrap();
    let texts = common::texts();
    for (name, text) in &texts {
        std::fs::write(parse.join(name), text).unwrap();
    }
    println!("{} seeds in {}", texts.len(), parse.display());
    let made: Vec<_> = (0..60).map(visakit::smith::input_of_seed).collect();
    for target in [
        "made_decode",
        "made_roundtrip",
        "made_text",
        "made_validate",
        "made_exec",
        "differential",
    ] {
        let folder = folder.join(target);
        std::fs::create_dir_all(&folder).unwrap();
        for (seed, input) in made.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{seed}")), input).unwrap();
        }
        println!("{} seeds in {}", made.len(), folder.display());
    }
}
