//! Interpretation of a fuzzer's bytes.

#![allow(clippy::indexing_slicing, clippy::cast_possible_truncation)]

use visakit_smith::{FuzzInput, from_seed, input_of_seed};

#[test]
fn inputs_of_seeds_are_whole_and_those_objects() {
    for seed in 0..12 {
        let shaped = FuzzInput::new(&input_of_seed(seed));
        assert!(shaped.is_whole());
        assert_eq!(shaped.object, from_seed(seed, &shaped.config));
    }
}

#[test]
fn edits_stay_inside_and_change_something() {
    let object = input_of_seed(3);
    for kind in 0..=255u8 {
        let mut input = vec![0, 0, 0, 6];
        input.extend([kind, 0x11, kind, 0x33, 0, kind, 7, 9]);
        input.extend(&object[4..]);
        let shaped = FuzzInput::new(&input);
        assert!(!shaped.is_whole());
        for length in [0, 1, 2, 15, 300] {
            let bytes: Vec<u8> = (0..length).map(|n: u16| (n % 251) as u8).collect();
            let damaged = shaped.damage(bytes.clone());
            assert!(damaged.len() <= bytes.len() + 1);
        }
    }
}

#[test]
fn any_bytes_are_an_input() {
    for length in 0..80 {
        for byte in [0, 1, 6, 0x7f, 0xff] {
            let shaped = FuzzInput::new(&vec![byte; length]);
            assert!(!shaped.object.kernels.is_empty());
        }
    }
}
