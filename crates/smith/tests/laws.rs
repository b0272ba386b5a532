//! What every generated object must be: encodable, readable, printable, assemblable.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing
)]

use visakit_isa::object::Object;
use visakit_smith::{Config, PIECE, Platform, bytes_of_seed, from_seed, generate};

fn configurations() -> impl Iterator<Item = (Config, u64)> {
    (0..1000).map(|seed| {
        let platform = Platform::ALL[usize::try_from(seed).unwrap() % Platform::ALL.len()];
        (Config::for_platform(platform), seed)
    })
}

fn text_of(object: &Object<'_>, platform: Platform) -> Vec<u8> {
    let options = visakit_text::Options {
        grf_bytes: Some(platform.grf_bytes().into()),
        ..visakit_text::Options::default()
    };
    let printer = visakit_text::Printer::new(object, options);
    let mut text = Vec::new();
    for (id, _) in object.routines() {
        printer.routine(id, &mut text).unwrap();
    }
    text
}

#[test]
fn a_thousand_seeds_round_trip() {
    for (config, seed) in configurations() {
        let object = from_seed(seed, &config);
        let bytes = visakit_encode::write(&object).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let read = visakit_parse::read(&bytes).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(read, object, "seed {seed}");
    }
}

#[test]
fn a_thousand_seeds_survive_their_text() {
    for (config, seed) in configurations() {
        let object = from_seed(seed, &config);
        let text = text_of(&object, config.platform);
        let options = visakit_text::asm::Options {
            grf_bytes: Some(config.platform.grf_bytes().into()),
            ..visakit_text::asm::Options::default()
        };
        let back = visakit_text::asm::assemble(&text, &options)
            .unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{}", String::from_utf8_lossy(&text)));
        let again = back.kernels[0].body().unwrap();
        let first = object.kernels[0].body().unwrap();
        assert_eq!(again.code.len(), first.code.len(), "seed {seed}");
    }
}

#[test]
fn a_small_change_of_the_input_changes_one_statement() {
    let config = Config::default();
    for seed in 0..100 {
        let bytes = bytes_of_seed(seed, &config);
        let mut changed = bytes.clone();
        // A byte in the middle of the last piece.
        let at = changed.len() - PIECE / 2;
        changed[at] ^= 0x55;
        let (a, b) = (generate(&bytes, &config), generate(&changed, &config));
        let (a, b) = (a.kernels[0].body().unwrap(), b.kernels[0].body().unwrap());
        let same = a
            .code
            .iter()
            .zip(&b.code)
            .take_while(|(a, b)| a == b)
            .count();
        assert!(
            same + 60 > a.code.len(),
            "seed {seed}: {same} of {}",
            a.code.len()
        );
    }
}

#[test]
fn any_bytes_make_an_object() {
    for length in 0..200 {
        for byte in [0, 1, 0x7f, 0xff] {
            let object = generate(&vec![byte; length], &Config::default());
            assert!(visakit_encode::write(&object).is_ok());
        }
    }
}
