//! Kernels that try to leave their memory. They run in processes of their own: what leaves its memory may end its process.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test that reports

use std::process::Command;

/// Kernels, of three launches each.
const KERNELS: u64 = 1500;

/// A kernel in machine code stays inside its memory, and leaves what the interpreter leaves.
#[test]
fn hostile_kernels_stay_inside() {
    let count = std::env::var("VISAKIT_HOSTILE_KERNELS");
    let count = count.map_or(KERNELS, |count| count.parse().unwrap());
    let output = Command::new(env!("CARGO_BIN_EXE_visakit-oracle"))
        .args(["--hostile", "--show", "3", "--count", &count.to_string()])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(output.status.success(), "kernels differ: {text}");
}

/// Most texts are kernels.
#[test]
fn hostile_texts_are_kernels() {
    let refused: Vec<String> = (0..200)
        .filter_map(|seed| visakit_oracle::hostile::text(seed).1)
        .collect();
    assert!(refused.len() < 20, "{refused:?}");
}
