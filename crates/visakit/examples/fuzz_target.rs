//! A fuzz target: an object that is read strictly is written again unchanged.
//!
//! With cargo-fuzz the function is in `libfuzzer_sys::fuzz_target!(|data: &[u8]| target(data))`.
//! Here it is given generated objects with a bit of each changed:
//!
//! `cargo run --example fuzz_target --features smith`

#![allow(clippy::print_stdout)]

use visakit::ReadOptions;
use visakit::smith::{Config, from_seed};
use visakit::verify::{Outcome, roundtrip};

fn main() -> Result<(), visakit::encode::Error> {
    println!("{} objects of 100 were accepted", run(100)?);
    Ok(())
}

/// Whether the data are an object. Panics if it is not written again unchanged.
pub(crate) fn target(data: &[u8]) -> bool {
    match roundtrip(data.to_vec(), ReadOptions::default()) {
        Outcome::Identical(_) => true,
        Outcome::Rejected(_) => false,
        other => unreachable!("not the same again: {other:?}"),
    }
}

/// Runs the target on objects of as many seeds, and counts those that are accepted.
pub(crate) fn run(seeds: u64) -> Result<usize, visakit::encode::Error> {
    let mut accepted = 0;
    for (number, seed) in (0..seeds).enumerate() {
        let mut object = visakit::write(&from_seed(seed, &Config::default()))?;
        let bit = number * 7919 % (object.len() * 8);
        if let Some(byte) = object.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
        accepted += usize::from(target(&object));
    }
    Ok(accepted)
}
