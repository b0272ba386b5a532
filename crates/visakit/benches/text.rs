//! Speed of the printer, the assembler and the formatter, next to peers in the same run.
//!
//! `cargo bench -p visakit --bench text`. The input is every object under `../shared/corpus/isa`,
//! or the committed fixtures where that folder is not there. The peers print the
//! committed WebAssembly module and parse its text. Throughput counts bytes of text, items are lines.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher, black_box};
use std::sync::LazyLock;
use visakit::isa::object::Object;
use visakit::text::asm::{self, assemble};
use visakit::text::{Form, Options, Printer};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

static OBJECTS: LazyLock<Vec<Object<'static>>> = LazyLock::new(|| {
    let (_, files) = visakit_testing::corpus::measured();
    let read = |file: &Vec<u8>| visakit::parse::read(file).unwrap().into_owned();
    files.iter().map(read).collect()
});

static MODULE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/bench/visakit.wasm"
    );
    std::fs::read(path).unwrap()
});

/// The text of each object, and how it is assembled.
static TEXTS: LazyLock<Vec<(Vec<u8>, asm::Options)>> = LazyLock::new(|| {
    let texts = OBJECTS.iter().map(|object| {
        let printer = Printer::new(object, Options::default());
        let mut text = Vec::new();
        for (id, _) in object.routines() {
            let Ok(()) = printer.routine(id, &mut text);
            text.push(b'\n');
        }
        let options = asm::Options {
            version: Some(object.version),
            dialect: Some(object.dialect),
            grf_bytes: None,
        };
        (text, options)
    });
    // What no text can express makes texts that are rejected.
    let accepted = |(text, options): &(Vec<u8>, asm::Options)| assemble(text, options).is_ok();
    texts.filter(accepted).collect()
});

static MODULE_TEXT: LazyLock<String> =
    LazyLock::new(|| wasmprinter::print_bytes(&*MODULE).unwrap());

fn main() {
    println!("{} objects", OBJECTS.len());
    divan::main();
}

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|b| **b == b'\n').count()
}

/// Prints every object, clearing the previous output.
fn print(text: &mut Vec<u8>, form: Form) {
    text.clear();
    let options = Options {
        form,
        ..Options::default()
    };
    for object in &*OBJECTS {
        let Ok(()) = Printer::new(object, options).object(&mut *text);
    }
}

#[divan::bench(args = [Form::Intel, Form::Plain, Form::Exact])]
fn visakit_text(bencher: Bencher<'_, '_>, form: Form) {
    let mut text = Vec::new();
    print(&mut text, form);
    bencher
        .counter(BytesCount::new(text.len()))
        .counter(ItemsCount::new(lines(&text)))
        .bench_local(|| print(black_box(&mut text), form));
}

#[divan::bench]
fn wasmprinter_text(bencher: Bencher<'_, '_>) {
    let text = wasmprinter::print_bytes(&*MODULE).unwrap();
    bencher
        .counter(BytesCount::new(text.len()))
        .counter(ItemsCount::new(lines(text.as_bytes())))
        .bench_local(|| wasmprinter::print_bytes(black_box(&*MODULE)).unwrap());
}

/// Bytes and lines of all texts.
fn sizes() -> (BytesCount, ItemsCount) {
    let bytes: usize = TEXTS.iter().map(|(text, _)| text.len()).sum();
    let items: usize = TEXTS.iter().map(|(text, _)| lines(text)).sum();
    (BytesCount::new(bytes), ItemsCount::new(items))
}

#[divan::bench]
fn visakit_assemble(bencher: Bencher<'_, '_>) {
    let (bytes, items) = sizes();
    bencher.counter(bytes).counter(items).bench_local(|| {
        for (text, options) in &*TEXTS {
            let _ = black_box(assemble(black_box(text), options));
        }
    });
}

#[divan::bench]
fn visakit_format(bencher: Bencher<'_, '_>) {
    let (bytes, items) = sizes();
    bencher.counter(bytes).counter(items).bench_local(|| {
        for (text, options) in &*TEXTS {
            let _ = black_box(visakit::text::format(black_box(text), options));
        }
    });
}

#[divan::bench]
fn wat_parse(bencher: Bencher<'_, '_>) {
    bencher
        .counter(BytesCount::new(MODULE_TEXT.len()))
        .counter(ItemsCount::new(lines(MODULE_TEXT.as_bytes())))
        .bench_local(|| wat::parse_str(black_box(&*MODULE_TEXT)).unwrap());
}
