//! Handwritten programs, run without a launch contract, compared with their definitions.

#![allow(missing_docs)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

use std::path::Path;
use visakit_launch::{Bare, BareOutcome, Config, LaunchError, Source, find_kernel};

fn start(
    file: &str,
    sets: &[(&str, &[u32])],
    change: impl FnOnce(&mut Bare),
) -> Result<BareOutcome, LaunchError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/programs")
        .join(file);
    let source = Source::open(&path)?;
    let object = source.object(32)?;
    let (id, _) = find_kernel(&object, None)?;
    let mut bare = Bare::new(&object, id, 32, &Config::default())?;
    for (name, values) in sets {
        let values: Vec<_> = values.iter().map(u32::to_string).collect();
        bare.set(name, &values.join(","))?;
    }
    change(&mut bare);
    bare.run(&mut ())
}

fn run(file: &str, sets: &[(&str, &[u32])]) -> BareOutcome {
    start(file, sets, |_| {}).unwrap()
}

fn words(outcome: &BareOutcome, name: &str) -> Vec<u32> {
    let variable = outcome.variable(name).unwrap();
    variable
        .bytes
        .as_chunks()
        .0
        .iter()
        .map(|b| u32::from_le_bytes(*b))
        .collect()
}

#[test]
fn bit_field_insert() {
    let widths = [
        0,
        1,
        4,
        8,
        31,
        32,
        33,
        16,
        5,
        12,
        0xffff_ffff,
        7,
        3,
        24,
        2,
        9,
    ];
    let offsets = [0, 31, 28, 4, 1, 0, 32, 16, 30, 40, 3, 33, 0, 8, 31, 23];
    let values: [u32; 16] = core::array::from_fn(|i| 0x9e37_79b9_u32.wrapping_mul(i as u32 + 1));
    let bases: [u32; 16] = core::array::from_fn(|i| 0x85eb_ca6b_u32.wrapping_mul(i as u32 + 7));
    let outcome = run(
        "bfi.visaasm",
        &[
            ("WIDTH", &widths),
            ("OFFSET", &offsets),
            ("VALUE", &values),
            ("BASE", &bases),
        ],
    );
    let want: Vec<u32> = (0..16)
        .map(|i| {
            let (width, offset) = (widths[i] & 31, offsets[i] & 31);
            let mask = ((1_u32 << width) - 1) << offset;
            (values[i] << offset) & mask | bases[i] & !mask
        })
        .collect();
    assert_eq!(words(&outcome, "RESULT"), want);
}

#[test]
fn loops_of_goto() {
    let numbers = [6, 7, 9, 1, 0, 27, 2, 3, 97, 16, 5, 871, 12, 31, 8, 19];
    let outcome = run("loops.visaasm", &[("N", &numbers)]);
    let mut longest = 0;
    for (lane, number) in numbers.into_iter().enumerate() {
        let (mut n, mut steps, mut odd) = (number, 0, 0);
        while n > 1 && steps < 40 {
            if n % 2 == 0 {
                n /= 2;
            } else {
                n = 3 * n + 1;
                odd += 1;
            }
            steps += 1;
        }
        longest = longest.max(steps);
        let got = [
            words(&outcome, "N")[lane],
            words(&outcome, "STEPS")[lane],
            words(&outcome, "ODD")[lane],
        ];
        assert_eq!(got, [n, steps, odd], "lane {lane}, number {number}");
    }
    // The lanes go through the loop together.
    assert_eq!(words(&outcome, "TURNS"), [longest]);
}

#[test]
fn divergent_calls() {
    let inputs: [u32; 16] = core::array::from_fn(|i| (i * 5 % 16) as u32);
    let outcome = run("calls.visaasm", &[("INPUT", &inputs)]);
    let want: Vec<u32> = inputs
        .iter()
        .map(|input| match input & 3 {
            1 => input + 1000 + 10_000 + 100_000 + 10_000,
            3 => input + 1000 + 10_000,
            _ => input + 10_000,
        })
        .collect();
    assert_eq!(words(&outcome, "RESULT"), want);
    assert_eq!(words(&outcome, "ENTRIES"), [1, 2]);
    assert_eq!(words(&outcome, "AFTER"), [1]);
    assert_eq!(words(&outcome, "MET"), [1; 16]);
}

#[test]
fn only_live_lanes_take_part() {
    let inputs: [u32; 16] = core::array::from_fn(|i| i as u32);
    let outcome = start("calls.visaasm", &[("INPUT", &inputs)], |bare| {
        bare.mask = 0x00f0;
    })
    .unwrap();
    let met: Vec<u32> = (0..16)
        .map(|lane| u32::from((4..8).contains(&lane)))
        .collect();
    assert_eq!(words(&outcome, "MET"), met);
}

#[test]
fn an_endless_loop_is_found() {
    // 27 takes more than 100 instructions.
    let fault = start("loops.visaasm", &[("N", &[27])], |bare| {
        bare.limits.max_steps = 100;
    })
    .unwrap_err();
    assert!(
        fault.to_string().contains("more than 100 instructions"),
        "{fault}"
    );
}

#[test]
fn what_is_wrong_with_a_variable() {
    let fault = start("bfi.visaasm", &[("NOTHING", &[1])], |_| {})
        .unwrap_err()
        .to_string();
    assert!(
        fault.contains("no variable `NOTHING`") && fault.contains("WIDTH"),
        "{fault}"
    );
    let fault = start("bfi.visaasm", &[("WIDTH", &[0; 17])], |_| {})
        .unwrap_err()
        .to_string();
    assert_eq!(fault, "WIDTH: takes 64 bytes, not 68");
}
