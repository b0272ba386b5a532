//! Speed of the validator, next to wasmparser's validator in the same run.
//!
//! `cargo bench -p visakit --bench validate`. The input is every object under
//! `../shared/corpus/isa`, or the committed fixtures where that folder is not there; objects are
//! read beforehand, so that the rules alone are measured. Figures are for each instruction.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use std::sync::LazyLock;
use visakit::isa::object::Object;
use visakit::validate::{Options, Platform, object};

fn main() {
    let input = &*INPUT;
    println!(
        "input: {} objects from {}, {} instructions",
        input.objects.len(),
        input.from,
        input.instructions
    );
    divan::main();
}

struct Input {
    from: &'static str,
    objects: Vec<Object<'static>>,
    instructions: usize,
}

static INPUT: LazyLock<Input> = LazyLock::new(|| {
    let (from, files) = visakit_testing::corpus::measured();
    let objects: Vec<_> = files
        .iter()
        .map(|file| visakit::parse::read(file).unwrap().into_owned())
        .collect();
    let instructions = objects
        .iter()
        .flat_map(Object::routines)
        .filter_map(|(_, routine)| routine.body())
        .map(|body| body.instructions().count())
        .sum();
    Input {
        from,
        objects,
        instructions,
    }
});

fn validate(bencher: Bencher, platform: Option<Platform>) {
    let options = Options {
        platform,
        ..Options::default()
    };
    bencher
        .counter(ItemsCount::new(INPUT.instructions))
        .bench_local(|| {
            for input in &INPUT.objects {
                black_box(object(input, &options));
            }
        });
}

#[divan::bench]
fn without_platform(bencher: Bencher) {
    validate(bencher, None);
}

#[divan::bench(args = [Platform::Skl, Platform::Tgllp])]
fn of_platform(bencher: Bencher, platform: Platform) {
    validate(bencher, Some(platform));
}

/// wasmparser's validator on a real module (this project compiled to WebAssembly): sections and
/// the operators of every function. It reads while it validates.
#[divan::bench]
fn peer_wasmparser(bencher: Bencher) {
    static MODULE: &[u8] = include_bytes!("../../../fixtures/bench/visakit.wasm");
    let operators: usize = wasmparser::Parser::new(0)
        .parse_all(MODULE)
        .filter_map(|payload| match payload.unwrap() {
            wasmparser::Payload::CodeSectionEntry(body) => Some(body),
            _ => None,
        })
        .map(|body| body.get_operators_reader().unwrap().into_iter().count())
        .sum();
    bencher
        .counter(ItemsCount::new(operators))
        .bench_local(|| wasmparser::validate(black_box(MODULE)).unwrap());
}
