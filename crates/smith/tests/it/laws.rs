//! Properties of every generated object: encodable, readable, printable, assemblable.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing
)]

use visakit_isa::object::Object;
use visakit_isa::{Op, Version};
use visakit_smith::{
    Classes, Config, PIECE, PLATFORMS, Platform, bytes_of_seed, from_seed, generate,
};

fn configurations() -> impl Iterator<Item = (Config, u64)> {
    (0..1000).map(|seed| {
        let platform = PLATFORMS[usize::try_from(seed).unwrap() % PLATFORMS.len()];
        (Config::for_platform(platform), seed)
    })
}

pub(crate) fn printer<'o, 'a>(
    object: &'o Object<'a>,
    platform: Platform,
) -> visakit_text::Printer<'o, 'a> {
    let options = visakit_text::Options {
        grf_bytes: Some(platform.grf_bytes()),
        ..visakit_text::Options::default()
    };
    visakit_text::Printer::new(object, options)
}

fn text_of(object: &Object<'_>, platform: Platform) -> Vec<u8> {
    let printer = printer(object, platform);
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
            grf_bytes: Some(config.platform.grf_bytes()),
            ..visakit_text::asm::Options::default()
        };
        let back = visakit_text::asm::assemble(&text, &options)
            .unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{}", String::from_utf8_lossy(&text)));
        let again = back.kernels[0].body().unwrap();
        let first = object.kernels[0].body().unwrap();
        assert_eq!(again.code.len(), first.code.len(), "seed {seed}");
    }
}

/// Objects that only texts can hold: exact text restores them, and plain text keeps its meaning.
#[test]
fn objects_of_the_newest_version_survive_their_text() {
    let config = Config::newest();
    let grf_bytes = Some(config.platform.grf_bytes());
    let options = visakit_text::asm::Options {
        grf_bytes,
        ..visakit_text::asm::Options::default()
    };
    fn assembled<'t>(
        seed: u64,
        text: &'t [u8],
        options: &visakit_text::asm::Options,
    ) -> Object<'t> {
        visakit_text::asm::assemble(text, options)
            .unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{}", String::from_utf8_lossy(text)))
    }
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..600 {
        let object = from_seed(seed, &config);
        let mut exact = Vec::new();
        let form = visakit_text::Options {
            form: visakit_text::Form::Exact,
            grf_bytes,
        };
        let Ok(()) = visakit_text::Printer::new(&object, form).object(&mut exact);
        assert_eq!(assembled(seed, &exact, &options), object, "seed {seed}");

        let text = text_of(&object, config.platform);
        let back = assembled(seed, &text, &options);
        assert_eq!(back.version, Version::V4_2, "seed {seed}");
        let again = text_of(&back, config.platform);
        let [text, again] = [&text, &again].map(|t| String::from_utf8_lossy(t));
        assert_eq!(again, text, "seed {seed}");
        let body = object.kernels[0].body().unwrap();
        seen.extend(body.instructions().map(|i| i.def().name));
    }
    for row in [
        "BDPAS",
        "DNSCL",
        "LFSR",
        "SHFL_IDX4",
        "LSC_EXTENDED_CACHE_CTRL",
        "LSC_LOAD_BLOCK2D",
        "LSC_TYPED_LOAD_BLOCK2D",
        "LSC_APNDCTR_ATOMIC_ADD",
        "LSC_LOAD_QUAD",
        "SAMPLE_3D",
        "LOAD_3D",
        "GATHER4_3D",
        "INFO_3D",
    ] {
        assert!(seen.contains(row), "{row}: {seen:?}");
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

/// Every version but the oldest, which is a format of one platform before all of these.
fn of_versions() -> impl Iterator<Item = (Config, u64)> {
    (0..300).map(|seed| {
        let versions = &Version::SUPPORTED[1..];
        let mut config = Config::for_platform(Platform::Skl);
        config.version = versions[usize::try_from(seed).unwrap() % versions.len()];
        (config, seed)
    })
}

#[test]
fn objects_of_old_versions_round_trip_and_survive_their_text() {
    let mut structured = 0;
    for (config, seed) in of_versions() {
        let object = from_seed(seed, &config);
        let version = config.version;
        let bytes = visakit_encode::write(&object)
            .unwrap_or_else(|e| panic!("seed {seed} of {version}: {e}"));
        let options = visakit_parse::ReadOptions {
            dialect: Some(config.dialect),
            ..visakit_parse::ReadOptions::default()
        };
        let read = visakit_parse::read_with(&bytes, options)
            .unwrap_or_else(|e| panic!("seed {seed} of {version}: {e}"));
        assert_eq!(read.object, object, "seed {seed} of {version}");
        let mut text = Vec::new();
        let form = visakit_text::Options::default();
        let printer = visakit_text::Printer::new(&object, form);
        let Ok(()) = printer.object(&mut text);
        let options = visakit_text::asm::Options {
            version: Some(version),
            ..visakit_text::asm::Options::default()
        };
        let back = visakit_text::asm::assemble(&text, &options)
            .unwrap_or_else(|e| panic!("seed {seed} of {version}: {e:?}"));
        let again = &back.kernels[0].body().unwrap().code;
        let first = &object.kernels[0].body().unwrap().code;
        assert_eq!(again.len(), first.len(), "seed {seed} of {version}");
        structured += ops(&object)
            .filter(|op| *op == Op::WHILE || *op == Op::IF)
            .count();
    }
    assert!(structured > 50, "{structured}");
}

fn ops<'o>(object: &'o Object<'_>) -> impl Iterator<Item = Op> + 'o {
    let code = object
        .routines()
        .filter_map(|(_, r)| r.body())
        .flat_map(|b| &b.code);
    code.filter_map(|item| match item {
        visakit_isa::object::Item::Instruction(i) => Some(i.op),
        visakit_isa::object::Item::Raw(_) => None,
    })
}

/// A class that is chosen is met, and one that is not is not.
#[test]
fn classes_choose_what_is_generated() {
    let of = |class: Classes| match class {
        Classes::SWITCH => (Platform::Skl, &[Op::SWITCHJMP][..]),
        Classes::FUNCTIONS => (Platform::Tgllp, &[Op::FCALL, Op::FRET][..]),
        Classes::SYSTOLIC => (Platform::Pvc, &[Op::DPAS][..]),
        Classes::MEDIA => (Platform::Icllp, &[Op::MEDIA_LD, Op::MEDIA_ST][..]),
        Classes::TYPED => (
            Platform::Dg2,
            &[
                Op::GATHER4_TYPED,
                Op::SCATTER4_TYPED,
                Op::LSC_TYPED_LOAD_QUAD,
                Op::LSC_TYPED_STORE_QUAD,
            ][..],
        ),
        Classes::INDIRECT => (Platform::Pvc, &[Op::ADDR_ADD][..]),
        Classes::SYNC => (Platform::Skl, &[Op::BARRIER, Op::FENCE][..]),
        Classes::FLOW => (Platform::Skl, &[Op::GOTO, Op::CALL][..]),
        Classes::MEMORY => (Platform::Skl, &[Op::GATHER4_SCALED, Op::DWORD_ATOMIC][..]),
        _ => (Platform::Skl, &[][..]),
    };
    for class in Classes::all() {
        let (platform, wanted) = of(class);
        let mut config = Config::for_platform(platform);
        let mut met = std::collections::BTreeSet::new();
        for seed in 0..150 {
            met.extend(ops(&from_seed(seed, &config)));
        }
        for op in wanted {
            assert!(met.contains(op), "{class:?}: {op:?} never");
        }
        config.classes.remove(class);
        for seed in 0..40 {
            let found = ops(&from_seed(seed, &config)).find(|op| wanted.contains(op));
            assert_eq!(found, None, "{class:?} is not chosen");
        }
    }
}
