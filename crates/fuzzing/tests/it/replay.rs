//! The bodies of the fuzz targets over all fixtures and over damaged versions of them.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use std::collections::BTreeSet;
use visakit_fuzzing::{
    assembled, decode, executed, launched, made_decode, made_exec, made_roundtrip, made_text,
    made_validate, printed, texts as exact_law, validate, written,
};
use visakit_smith::input_of_seed;
use visakit_testing::layouts::{Case, Random, cases, objects, texts};

fn both(data: &[u8]) {
    decode(data);
    written(data);
    validate(data);
}

#[test]
fn fixtures_run() {
    for (_, bytes) in objects() {
        executed(&bytes);
    }
    for case in cases() {
        executed(&case.bytes);
    }
}

#[test]
fn damaged_objects_run() {
    for (_, bytes) in objects() {
        for at in (0..bytes.len()).step_by(97) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            executed(&damaged);
        }
    }
    for case in a_few() {
        for at in 0..case.bytes.len() {
            let mut damaged = case.bytes.clone();
            damaged[at] = damaged[at].wrapping_add(1);
            executed(&damaged);
        }
    }
}

/// One generated case for each layout file and version, so that each kind of damage meets each
/// width.
fn a_few() -> Vec<Case> {
    let mut seen = BTreeSet::new();
    let mut cases = cases();
    cases.retain(|case| {
        let file = case.place.split(':').next().unwrap().to_owned();
        seen.insert((file, case.format.wide_indices(), case.format.dialect()))
    });
    cases
}

#[test]
fn fixtures() {
    for (_, bytes) in objects() {
        both(&bytes);
    }
    for case in cases() {
        both(&case.bytes);
    }
}

#[test]
fn truncated_objects() {
    for (_, bytes) in objects() {
        // Every length is tried up to the first instructions, then every few.
        let step = |at: usize| if at < 3000 { 1 } else { 61 };
        let mut at = 0;
        while at < bytes.len() {
            decode(&bytes[..at]);
            validate(&bytes[..at]);
            at += step(at);
        }
    }
}

#[test]
fn truncated_layouts() {
    for case in cases() {
        let tail = case.bytes.len() - 60;
        for end in tail..case.bytes.len() {
            decode(&case.bytes[..end]);
        }
    }
    for case in a_few() {
        for end in 0..case.bytes.len() {
            both(&case.bytes[..end]);
        }
    }
}

#[test]
fn corrupted_bytes() {
    for case in a_few() {
        let mut bytes = case.bytes.clone();
        for at in 0..bytes.len() {
            let good = bytes[at];
            for bad in [
                0,
                1,
                0x7f,
                0x80,
                0xff,
                good ^ 1,
                good ^ 0x10,
                good.wrapping_add(1),
            ] {
                bytes[at] = bad;
                both(&bytes);
            }
            bytes[at] = good;
        }
    }
}

#[test]
fn huge_counts() {
    for case in a_few() {
        for width in [2, 4] {
            for at in 0..=case.bytes.len() - width {
                let mut bytes = case.bytes.clone();
                bytes[at..at + width].fill(0xff);
                both(&bytes);
            }
        }
    }
}

#[test]
fn shuffled_pieces() {
    let mut random = Random::of_seed(0x9e37_79b9_7f4a_7c15);
    let few = a_few();
    for _ in 0..4000 {
        let mut bytes = few[random.below(few.len())].bytes.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.word() as u8,
                1 => {
                    bytes.remove(at);
                }
                2 => bytes.insert(at, random.word() as u8),
                _ => {
                    let other = &few[random.below(few.len())].bytes;
                    let from = random.below(other.len());
                    let part = &other[from..(from + 16).min(other.len())];
                    bytes.splice(at..at, part.iter().copied());
                }
            }
        }
        both(&bytes);
    }
}

#[test]
fn nothing_zeros_and_noise() {
    both(&[]);
    let mut random = Random::of_seed(0x2545_f491_4f6c_dd1d);
    for length in [1, 3, 4, 5, 6, 7, 12, 100, 5000] {
        both(&vec![0; length]);
        both(&vec![0xff; length]);
        for version in visakit_isa::Version::SUPPORTED {
            let head = [b'C', b'I', b'S', b'A', version.major, version.minor];
            let with = |fill: &mut dyn FnMut() -> u8| {
                let mut bytes = head.to_vec();
                bytes.extend((0..length).map(|_| fill()));
                both(&bytes);
            };
            with(&mut || 0);
            with(&mut || 0xff);
            with(&mut || random.word() as u8);
            with(&mut || (random.word() % 3) as u8);
        }
    }
}

#[test]
fn objects_print() {
    for (_, bytes) in objects() {
        for end in [bytes.len(), bytes.len() - 1, bytes.len() / 2] {
            printed(&bytes[..end]);
        }
    }
    for case in a_few() {
        printed(&case.bytes);
        let mut damaged = case.bytes;
        let at = damaged.len() / 2;
        damaged[at] ^= 0xff;
        printed(&damaged);
    }
}

#[test]
fn texts_and_pieces_of_them() {
    for (_, text) in texts() {
        assembled(&text);
        // The length chooses the dialect.
        for cut in 1..=12 {
            assembled(&text[..text.len() * cut / 13]);
        }
    }
}

#[test]
fn fixtures_obey_the_law_of_texts() {
    for (_, bytes) in objects() {
        for end in [bytes.len(), bytes.len() - 1, bytes.len() / 2] {
            exact_law(&bytes[..end]);
        }
    }
}

/// Generated objects, whole and with edits.
#[test]
fn generated_objects() {
    let mut random = Random::of_seed(0x1234_5678_9abc_def1);
    for seed in 0..60 {
        let whole = input_of_seed(seed);
        let mut damaged = whole.clone();
        damaged[3] = 6 + (seed % 6) as u8;
        let edits = (0..8 * usize::from(damaged[3] - 5)).map(|_| random.word() as u8);
        damaged.splice(4..4, edits.collect::<Vec<_>>());
        for input in [whole, damaged] {
            made_decode(&input);
            made_roundtrip(&input);
            made_text(&input);
            made_validate(&input);
            made_exec(&input);
        }
    }
}

/// Launches with metadata, grids and arguments of all kinds.
#[test]
fn launches() {
    let mut random = Random::of_seed(0x0dd0_1a0c_4e51_1e5d);
    for seed in 0..60 {
        let mut input = input_of_seed(seed);
        launched(&input);
        for _ in 0..20 {
            // The end, from which metadata are drawn.
            input.extend((0..16).map(|_| random.word() as u8));
            launched(&input);
        }
    }
}
