//! Kernels that try to leave their memory. They run in processes of their own: what leaves its memory may end its process.

use std::process::Command;

/// Kernels, of eight launches each.
const KERNELS: u64 = 600;

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
    let all = 200;
    let refused: Vec<String> = (0..all)
        .filter_map(|seed| visakit_oracle::hostile::text(seed).1)
        .collect();
    assert!(10 * refused.len() < all as usize, "{refused:?}");
}
