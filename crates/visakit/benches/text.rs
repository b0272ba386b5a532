//! Speed of the printer, next to a peer in the same run.
//!
//! `cargo bench -p visakit --bench text`. The input is every object under `../shared/corpus/isa`,
//! or the committed fixtures where that folder is not there. The peer prints the committed
//! WebAssembly module. Throughput counts bytes of text, items are lines.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher, black_box};
use std::path::Path;
use std::sync::LazyLock;
use visakit::isa::object::Object;
use visakit::text::{Form, Options, Printer};

/// The form of Intel's printer.
fn intel() -> Options {
    Options {
        form: Form::Intel,
        ..Options::default()
    }
}

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

static OBJECTS: LazyLock<Vec<Object<'static>>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = ["../shared/corpus/isa", "fixtures/objects"]
        .into_iter()
        .map(|folder| root.join(folder))
        .find(|folder| folder.is_dir())
        .unwrap();
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let objects = paths.filter(|path| path.extension().is_some_and(|e| e == "isa"));
    objects
        .map(|path| {
            let bytes = std::fs::read(path).unwrap();
            visakit::parse::read(&bytes).unwrap().into_owned()
        })
        .collect()
});

static MODULE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/bench/visakit.wasm"
    );
    std::fs::read(path).unwrap()
});

fn main() {
    println!("{} objects", OBJECTS.len());
    divan::main();
}

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|b| **b == b'\n').count()
}

/// Prints every routine, clearing what was printed before.
fn print(text: &mut Vec<u8>) {
    text.clear();
    for object in &*OBJECTS {
        let printer = Printer::new(object, intel());
        for (id, _) in object.routines() {
            let Ok(()) = printer.routine(id, &mut *text);
        }
    }
}

#[divan::bench]
fn visakit_text(bencher: Bencher<'_, '_>) {
    let mut text = Vec::new();
    print(&mut text);
    bencher
        .counter(BytesCount::new(text.len()))
        .counter(ItemsCount::new(lines(&text)))
        .bench_local(|| print(black_box(&mut text)));
}

#[divan::bench]
fn wasmprinter_text(bencher: Bencher<'_, '_>) {
    let text = wasmprinter::print_bytes(&*MODULE).unwrap();
    bencher
        .counter(BytesCount::new(text.len()))
        .counter(ItemsCount::new(lines(text.as_bytes())))
        .bench_local(|| wasmprinter::print_bytes(black_box(&*MODULE)).unwrap());
}
